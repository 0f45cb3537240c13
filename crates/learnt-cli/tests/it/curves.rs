//! Curves, and the ways in which rows are divided.

use crate::{file, learnt, ok};
use serde_json::Value as Json;

fn rows(words: &[&str]) -> Vec<Json> {
    let words = [words, &["--json"]].concat();
    let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
    document["answer"]["tables"][0]["rows"].as_array().unwrap().clone()
}

#[test]
fn a_learning_curve_grows_to_all_training_rows() {
    let found = rows(&["curve", "tree", "iris", "--sizes", "0.25,1", "--metric", "accuracy"]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[1]["training rows"], 120);
    assert_eq!(found[1]["train"], 1.0);
    assert!(found[1]["test"].as_f64() > Some(0.9));
}

#[test]
fn a_curve_over_a_parameter_reaches_behind_the_preparation() {
    let words = ["curve", "knn", "iris", "--parameter", "n-neighbors", "--values", "1,119"];
    let found = rows(&[&words[..], &["--metric", "accuracy"]].concat());
    assert_eq!(found[0]["n_neighbors"], "1");
    assert_eq!(found[0]["train"], 1.0);
    assert!(found[1]["train"].as_f64() < Some(0.7), "almost all rows vote");
    let done = learnt(&["curve", "knn", "iris", "--parameter", "neighbors", "--values", "1"]);
    assert!(done.code == 2 && done.err.contains("n_neighbors"), "{}", done.err);
    let done = learnt(&["curve", "knn", "iris", "--values", "1"]);
    assert!(done.code == 2 && done.err.contains("--parameter"), "{}", done.err);
}

#[test]
fn a_curve_keeps_groups_whole_and_splits_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    // Two rows of a group are alike, and groups alternate.
    let lines = |i: i32| format!("{},{},g{}\n", i / 2, ["no", "yes"][(i / 2) as usize % 2], i / 2);
    let text: String = (0..60).map(lines).collect();
    let data = file(folder.path(), "a.csv", format!("x,label,unit\n{text}"));
    let words = ["curve", "knn", &data, "-t", "label", "--n-neighbors", "1", "--sizes", "1"];
    let curve = |more: &[&str]| {
        rows(&[&words[..], &["--metric", "accuracy"], more].concat())[0]["test"].as_f64().unwrap()
    };
    assert!(curve(&["--ignore", "unit"]) > 0.6);
    assert_eq!(curve(&["--group", "unit"]), 0.0);
    assert_eq!(curve(&["--group", "unit", "--cv", "group"]), 0.0);
    let words = [&words[..], &["--ignore", "unit", "--cv", "time", "--folds", "3"]].concat();
    assert!(ok(&words).out.contains("3 splits in time"));
}

#[test]
fn folds_are_made_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |i: i32| format!("{i},{},{}\n", 2 * i + i % 3, i / 10);
    let text: String = (0..60).map(lines).collect();
    let data = file(folder.path(), "a.csv", format!("x,y,block\n{text}"));
    let cv = |more: &[&str]| ok(&[&["cv", "ridge", &data, "-t", "y"], more].concat()).out;
    assert!(cv(&["--cv", "time", "--folds", "4"]).contains("4 splits in time"));
    assert!(cv(&["--cv", "leave-one-out", "--metric", "rmse"]).contains("leave-one-out cv"));
    let blocks = cv(&["--cv", "leave-one-group-out", "--group", "block"]);
    assert!(blocks.contains("leave-one-group-out cv"), "{blocks}");
    assert!(cv(&["--repeats", "3", "--folds", "5"]).contains("3 times 5-fold cv"));
    let done = learnt(&["cv", "ridge", &data, "-t", "y", "--cv", "group"]);
    assert!(done.code != 0 && done.err.contains("--group COLUMN"), "{}", done.err);
}

#[test]
fn the_target_of_a_function_is_the_target_of_other_verbs() {
    let words = ["analyze", "learning-curve", "iris", "--estimator", "gaussian-nb"];
    let named = ok(&[&words[..], &["--y", "species"]].concat()).out;
    assert_eq!(named, ok(&[&words[..], &["-t", "species"]].concat()).out);
}
