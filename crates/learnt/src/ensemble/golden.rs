//! Cases of reference numbers for ensembles.

use learnt_core::prelude::*;
use serde_json::Value as Json;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/");

/// A case by its name.
pub(super) fn case(id: &str) -> Json {
    let text = std::fs::read_to_string(format!("{GOLDEN}ensemble.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

/// The numbers of a (nested) list.
pub(super) fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

pub(super) fn near(got: f64, expected: f64, tolerance: f64, what: &str) {
    let far = (got - expected).abs() > 1e-8 + tolerance * expected.abs();
    assert!(!far, "{what}: {got}, not {expected}");
}

/// The data set that a case names: quantities, and a target of numbers or of the classes that it maps.
pub(super) fn dataset(case: &Json) -> OwnedDataset {
    let input = &case["input"];
    let name = input["dataset"].as_str().unwrap();
    let text = std::fs::read_to_string(format!("{GOLDEN}data/{name}.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let place = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let target = place(input["target"].as_str().unwrap());
    let features: Vec<usize> = match input["features"].as_array() {
        Some(names) => names.iter().map(|name| place(name.as_str().unwrap())).collect(),
        None => (0..head.len()).filter(|&j| j != target).collect(),
    };
    let x =
        Matrix::from_fn(rows.len(), features.len(), |i, k| rows[i][features[k]].parse().unwrap());
    let schema = Schema::numeric(features.iter().map(|&j| head[j])).unwrap();
    let y = match &input["target_map"] {
        Json::Object(map) => {
            let label = |row: &Vec<&str>| Label::Int(map[row[target]].as_i64().unwrap());
            OwnedTarget::from_labels(&rows.iter().map(label).collect::<Vec<_>>())
        }
        _ => {
            let number = |row: &Vec<&str>| row[target].parse().unwrap();
            OwnedTarget::Real(Matrix::column_vector(rows.iter().map(number).collect()))
        }
    };
    let x = Table::new(x, schema).unwrap();
    OwnedDataset { x, y: Some(y), ..OwnedDataset::default() }
}
