//! A case of a file of reference numbers.

use crate::golden::{columns, head, labels};
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

/// Mean 0 and deviation 1, with divisor n - ddof.
fn standardise(x: &mut Matrix, ddof: f64) {
    let n = x.nrows() as f64;
    for j in 0..x.ncols() {
        let mean = x.view().column(j).iter().sum::<f64>() / n;
        let squares: f64 = x.view().column(j).iter().map(|v| (v - mean).powi(2)).sum();
        let deviation = (squares / (n - ddof)).sqrt();
        (0..x.nrows()).for_each(|i| x[(i, j)] = (x[(i, j)] - mean) / deviation);
    }
}

impl Case {
    pub(crate) fn new(file: &str, id: &str) -> Case {
        let cases: Vec<Json> = serde_json::from_str(&golden(file)).unwrap();
        Case(cases.into_iter().find(|case| case["id"] == id).unwrap())
    }

    /// A case from its parts.
    pub(crate) fn of(parts: Json) -> Case {
        Case(parts)
    }

    /// The rows given, or those of the data set that the case names: numeric features, scaled as it
    /// says, and a numeric target.
    pub(crate) fn regression(&self) -> OwnedDataset {
        if self.input("X").is_array() {
            return OwnedDataset::regression(matrix(self.input("X")), numbers(self.input("y")));
        }
        let target = self.0["input"]["target"].as_str().unwrap();
        let mut y = columns(self.set(), &[target]).as_slice().to_vec();
        if self.0["input"]["centre_target"] == true {
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            y.iter_mut().for_each(|y| *y -= mean);
        }
        let data = OwnedDataset::regression(Matrix::default(), y);
        OwnedDataset { x: self.features(), ..data }
    }

    /// The same with classes: the texts of the target, or the numbers that the case maps them to.
    pub(crate) fn classification(&self) -> OwnedDataset {
        let target = self.0["input"]["target"].as_str().unwrap();
        let map = &self.0["input"]["target_map"];
        let classes: Vec<Label> = labels(self.set(), target)
            .into_iter()
            .map(|label| map[label.to_string()].as_i64().map_or(label, Label::Int))
            .collect();
        let x = self.features();
        OwnedDataset { x: x.clone(), ..OwnedDataset::classification(x.into_parts().0, &classes) }
    }

    fn set(&self) -> &str {
        self.0["input"]["dataset"].as_str().unwrap()
    }

    pub(crate) fn features(&self) -> Table {
        let input = &self.0["input"];
        let names = match &input["features"] {
            Json::Array(_) => texts(&input["features"]),
            all => {
                let left_out = texts(&all["all_except"]);
                head(self.set()).into_iter().filter(|name| !left_out.contains(name)).collect()
            }
        };
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut x = columns(self.set(), &wanted);
        if let Some(ddof) = input["scale"]["ddof"].as_f64() {
            standardise(&mut x, ddof);
        }
        Table::new(x, Schema::numeric(names).unwrap()).unwrap()
    }

    pub(crate) fn input(&self, key: &str) -> &Json {
        &self.0["input"][key]
    }

    /// The parameters by name.
    pub(crate) fn params(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0["params"].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A parameter.
    pub(crate) fn param(&self, name: &str) -> &Json {
        &self.0["params"][name]
    }

    /// The expectation at a path such as `zscore.mean`, or under a key that has points itself; all
    /// of it at an empty path.
    pub(crate) fn expect(&self, path: &str) -> &Json {
        let all = &self.0["expect"];
        if path.is_empty() {
            return all;
        }
        all.get(path).unwrap_or_else(|| path.split('.').fold(all, |json, key| &json[key]))
    }

    /// Compares numbers with the expectation at a path.
    pub(crate) fn close(&self, path: &str, got: impl AsRef<[f64]>) {
        self.same(path, self.expect(path), got);
    }

    /// Compares numbers with these, within the tolerance of the case.
    pub(crate) fn same(&self, path: &str, expected: &Json, got: impl AsRef<[f64]>) {
        let expected = numbers(expected);
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
