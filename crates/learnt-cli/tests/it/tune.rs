//! `learnt tune` and `learnt versus`.

use super::{command, fails, file, houses, learnt, ok};
use serde_json::Value as Json;
use std::process::Stdio;
use std::time::Duration;

fn json(words: &[&str]) -> Json {
    let mut all = words.to_vec();
    all.push("--json");
    serde_json::from_str(&ok(&all).out).unwrap()
}

#[test]
fn a_grid_prints_its_table_and_saves_the_model_of_the_best_setting() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "h.csv", houses());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (model, table, picture) = (at("m.learnt"), at("t.csv"), at("p.svg"));
    let found = json(&[
        "tune",
        "ridge",
        &data,
        "-t",
        "price",
        "--grid",
        "alpha=0.01,1,100,10000",
        "-o",
        &model,
        "--table",
        &table,
        "--plot",
        &picture,
    ]);
    let best = found["best"]["alpha"].as_f64().unwrap();
    let inspected = json(&["inspect", &model]);
    let steps = inspected["params"]["steps"].as_array().unwrap();
    let last = steps.last().unwrap()[1]["params"]["alpha"].as_f64().unwrap();
    assert_eq!(last, best);
    assert!(steps.len() > 1, "holes and categories are prepared: {steps:?}");
    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(
        text.lines().next().unwrap().split(',').take(3).collect::<Vec<_>>(),
        ["rank", "alpha", "rmse"]
    );
    assert!(text.contains("10000") && std::fs::read_to_string(&picture).unwrap().contains("<svg"));
    ok(&["score", &model, &data]);
    // The scores are those of `learnt cv` with the same folds.
    let cv = json(&[
        "cv", "ridge", &data, "-t", "price", "--folds", "5", "--alpha", "1", "--metric", "rmse",
    ]);
    let rows = found["answer"]["tables"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["alpha"] == "1").unwrap();
    assert_eq!(row["rmse"], cv["answer"]["tables"][0]["rows"][0]["mean"]);
}

#[test]
fn every_method_finds_a_setting_and_says_what_it_cost() {
    for method in ["grid", "random", "halving", "model"] {
        let found = json(&[
            "tune",
            "knn",
            "iris",
            "--grid",
            "n-neighbors=1,3,5,7,9,11,15,25",
            "--method",
            method,
            "--trials",
            "6",
            "--metric",
            "accuracy",
            "--folds",
            "3",
            "--seed",
            "3",
        ]);
        assert!(found["best"]["n_neighbors"].is_i64(), "{method}: {found}");
        let values = &found["answer"]["values"];
        assert!(values.to_string().contains("best_score"), "{method}: {values}");
    }
    let nested = ok(&[
        "tune",
        "tree",
        "iris",
        "--grid",
        "max-depth=1,2,3",
        "--metric",
        "accuracy",
        "--nested",
        "3",
        "--one-se",
        "--budget",
        "20",
    ]);
    assert!(nested.out.contains("nested cross-validation"), "{}", nested.out);
    let declared = ok(&["tune", "ridge", "cpu", "--trials", "4", "--folds", "3"]);
    assert!(declared.err.contains("declared values of alpha"), "{}", declared.err);
}

#[test]
fn bad_searches_are_explained() {
    fails(&["tune", "ridge", "cpu", "--grid", "alhpa=1,2"], 2, &["alpha"]);
    fails(&["tune", "ridge", "cpu", "--grid", "alpha"], 2, &["NAME=VALUES"]);
    fails(&["tune", "ridge", "cpu", "--range", "alpha=1:1"], 2, &["ends"]);
    fails(
        &["tune", "ridge", "cpu", "--range", "alpha=0.1:10", "--method", "grid"],
        2,
        &["range", "random"],
    );
    fails(&["tune", "ridge", "cpu", "--grid", "alpha=1", "--metric", "rmes"], 2, &["rmse"]);
    fails(&["tune", "ridge", "cpu", "--grid", "alpha=1", "--budget", "2"], 2, &["budget"]);
    fails(&["tune", "knn", "iris", "--grid", "n-neighbors=1", "--folds", "80"], 3, &["E031"]);
    let partly = learnt(&["tune", "ridge", "cpu", "--grid", "alpha=-1,1"]);
    assert_eq!(partly.code, 8, "{}", partly.err);
    assert!(partly.out.contains("alpha=-1 failed"), "{}", partly.out);
}

#[test]
fn a_search_that_is_killed_goes_on_from_its_log_with_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (log, other) = (at("search.jsonl"), at("other.jsonl"));
    let search = |log: &str| -> Vec<String> {
        let words = [
            "tune",
            "hist-gradient-boosting-classifier",
            "iris",
            "--range",
            "learning-rate=0.02:0.5:log",
            "--range",
            "max-leaf-nodes=3:40",
            "--trials",
            "24",
            "--metric",
            "log-loss",
            "--seed",
            "2",
            "--json",
            "--log",
            log,
            "--resume",
        ];
        words.iter().map(ToString::to_string).collect()
    };
    let call = |log: &str| {
        let words = search(log);
        ok(&words.iter().map(String::as_str).collect::<Vec<_>>()).out
    };
    let whole: Json = serde_json::from_str(&call(&other)).unwrap();
    let words = search(&log);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let lines = || std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    let mut kills = 0;
    for target in [5, 20, 60] {
        let mut child =
            command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while lines() < target && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(300));
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
    }
    assert!(kills >= 1);
    let before = lines();
    let resumed: Json = serde_json::from_str(&call(&log)).unwrap();
    assert!(before > 1 && lines() == 24 * 5 + 1, "{before} {}", lines());
    assert_eq!(resumed["best"], whole["best"]);
    let scores = |document: &Json| -> Vec<Json> {
        let rows = document["answer"]["tables"][0]["rows"].as_array().unwrap();
        rows.iter().map(|row| row["log_loss"].clone()).collect()
    };
    assert_eq!(scores(&resumed), scores(&whole));
    fails(
        &["tune", "ridge", "cpu", "--grid", "alpha=1", "--log", &log],
        2,
        &["exists", "--resume"],
    );
    fails(
        &["tune", "ridge", "cpu", "--grid", "alpha=1", "--log", &log, "--resume"],
        2,
        &["another search"],
    );
}

#[test]
fn two_models_are_compared_by_three_tests() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (tree, dummy, ridge) = (at("a.learnt"), at("b.learnt"), at("c.learnt"));
    ok(&["fit", "tree", "iris", "-o", &tree]);
    ok(&["fit", "dummy", "iris", "-o", &dummy]);
    ok(&["fit", "ridge", "cpu", "-o", &ridge]);
    let text = ok(&["versus", &tree, &dummy, "iris", "--metric", "accuracy", "--folds", "5"]).out;
    for part in ["corrected resampled t", "5x2cv F", "McNemar, exact", "no evidence"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let same = json(&["versus", &tree, &tree, "iris", "--folds", "3"]);
    assert!(same["answer"]["values"].to_string().contains("\"difference\""), "{same}");
    fails(&["versus", &tree, &ridge, "iris"], 2, &["different classes"]);
}
