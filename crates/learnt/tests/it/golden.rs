//! Reads reference cases and their data from `tests/golden` of the repository.

use learnt::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

/// One reference case.
pub(crate) struct Golden(Json);

impl Golden {
    pub(crate) fn load(file: &str, id: &str) -> Golden {
        let text = std::fs::read_to_string(place(&format!("{file}.json"))).unwrap();
        let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
        Golden(cases.into_iter().find(|case| case["id"] == id).unwrap())
    }

    pub(crate) fn expect(&self, key: &str) -> &Json {
        &self.0["expect"][key]
    }

    pub(crate) fn rows(&self, key: &str) -> Vec<Vec<f64>> {
        self.expect(key).as_array().unwrap().iter().map(numbers).collect()
    }

    /// The features and the target that the case names.
    pub(crate) fn classification(&self, target: &str) -> OwnedDataset {
        let input = &self.0["input"];
        let name = input["dataset"].as_str().unwrap();
        let (head, _) = read(name);
        let features: Vec<String> = match &input["features"] {
            Json::Array(names) => names.iter().map(|n| n.as_str().unwrap().to_string()).collect(),
            _ => head.into_iter().filter(|column| column != target).collect(),
        };
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        OwnedDataset::classification(columns(name, &features), &labels(name, target))
    }

    /// Compares numbers with the expected ones, within the tolerance of the case.
    pub(crate) fn check(&self, key: &str, got: &[f64]) {
        let own = &self.0["tol"]["per_key"][key];
        let tol = if own.is_null() { &self.0["tol"] } else { own };
        let (rel, abs) = (tol["rel"].as_f64().unwrap_or(0.0), tol["abs"].as_f64().unwrap_or(0.0));
        close_all(got, &numbers(self.expect(key)), rel, abs);
    }
}

pub(crate) fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().map(|x| x.as_f64().unwrap()).collect(),
        one => vec![one.as_f64().unwrap()],
    }
}

pub(crate) fn close(got: f64, expected: f64, rel: f64, abs: f64) -> bool {
    (got - expected).abs() <= abs + rel * expected.abs()
}

pub(crate) fn close_all(got: &[f64], expected: &[f64], rel: f64, abs: f64) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!(close(*g, *e, rel, abs), "{got:?}\n{expected:?}");
    }
}

/// Head and rows of a data file.
fn read(name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(place(&format!("data/{name}.csv"))).unwrap();
    let mut lines =
        text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

/// The columns of a data file.
pub(crate) fn head(name: &str) -> Vec<String> {
    read(name).0
}

pub(crate) fn columns(name: &str, wanted: &[&str]) -> Matrix {
    let (head, rows) = read(name);
    let places: Vec<usize> =
        wanted.iter().map(|w| head.iter().position(|h| h == w).unwrap()).collect();
    Matrix::from_fn(rows.len(), wanted.len(), |i, j| rows[i][places[j]].parse().unwrap())
}

pub(crate) fn labels(name: &str, wanted: &str) -> Vec<Label> {
    let (head, rows) = read(name);
    let place = head.iter().position(|h| h == wanted).unwrap();
    rows.iter().map(|row| Label::from(row[place].as_str())).collect()
}

/// Training rows whose class the model misses.
pub(crate) fn errors(model: &dyn Classifier, data: &OwnedDataset) -> usize {
    let Some(OwnedTarget::Class { codes, .. }) = &data.y else { panic!("no classes") };
    let got = model.classify(&data.x.frame()).unwrap();
    got.iter().zip(codes).filter(|(a, b)| a != b).count()
}
