//! A case of a file of reference numbers.

use learnt::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;

/// One case: input, expectation, tolerance.
pub(crate) struct Case(Json);

/// A file below tests/golden.
pub(crate) fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The numbers of a (nested) list.
pub(crate) fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

/// The texts of a list; null is empty.
pub(crate) fn texts(json: &Json) -> Vec<String> {
    let text = |item: &Json| item.as_str().unwrap_or_default().to_string();
    json.as_array().unwrap().iter().map(text).collect()
}

/// A list of rows as a matrix; a list of numbers is one column.
pub(crate) fn matrix(json: &Json) -> Matrix {
    let rows: Vec<Vec<f64>> = json.as_array().unwrap().iter().map(numbers).collect();
    Matrix::from_rows(&rows).unwrap()
}

impl Case {
    pub(crate) fn new(file: &str, id: &str) -> Case {
        let cases: Vec<Json> = serde_json::from_str(&golden(file)).unwrap();
        Case(cases.into_iter().find(|case| case["id"] == id).unwrap())
    }

    pub(crate) fn input(&self, key: &str) -> &Json {
        &self.0["input"][key]
    }

    /// The expectation at a path such as `zscore.mean`.
    pub(crate) fn expect(&self, path: &str) -> &Json {
        path.split('.').fold(&self.0["expect"], |json, key| &json[key])
    }

    /// Compares numbers with the expectation at a path.
    pub(crate) fn close(&self, path: &str, got: impl AsRef<[f64]>) {
        let expected = numbers(self.expect(path));
        let got = got.as_ref();
        assert_eq!(got.len(), expected.len(), "{}: {path}", self.0["id"]);
        let part = |name: &str| self.0["tol"][name].as_f64().unwrap_or(0.0);
        for (got, expected) in got.iter().zip(expected) {
            // Fixtures hold twelve digits.
            let bound = part("abs") + part("rel").max(1e-11) * expected.abs();
            let near = (got - expected).abs() <= bound;
            assert!(near, "{}: {path}: {got} is not {expected}", self.0["id"]);
        }
    }
}
