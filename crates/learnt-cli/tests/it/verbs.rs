//! What each verb does when all is well.

use crate::{file, houses, learnt_with, ok};
use serde_json::Value as Json;

fn json(words: &[&str]) -> Json {
    let words = [words, &["--json"]].concat();
    serde_json::from_str(&ok(&words).out).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

#[test]
fn compare_shows_every_classifier_a_baseline_and_the_simplest_good_one() {
    let done = ok(&["compare", "iris", "--folds", "5"]);
    for name in
        ["logistic-regression", "gaussian-nb", "k-neighbors-classifier", "decision-tree-classifier"]
    {
        assert!(done.out.contains(name), "{name} is not in\n{}", done.out);
    }
    for part in
        ["dummy-classifier", "baseline", "best", "p vs best", "≈", "±", "seed 0", "simplest"]
    {
        assert!(done.out.contains(part), "'{part}' is not in\n{}", done.out);
    }
}

#[test]
fn the_same_seed_gives_the_same_comparison_on_any_number_of_threads() {
    let rows = |threads: &str| {
        let mut document =
            json(&["compare", "iris", "--folds", "3", "--threads", threads, "--seed", "5"]);
        let rows = document["answer"]["tables"][0]["rows"].as_array_mut().unwrap();
        assert!(rows.len() > 5);
        for row in rows {
            row.as_object_mut().unwrap().remove("fit_seconds");
        }
        document
    };
    assert_eq!(rows("1"), rows("3"));
}

#[test]
fn a_comparison_has_the_same_columns_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["compare", "iris", "--folds", "3", "--only", "gaussian-nb,tree"];
    let document = json(&words);
    assert_eq!(document["data"]["rows"], 150);
    let rows = &document["answer"]["tables"][0]["rows"];
    assert_eq!(rows[0]["model"], "gaussian-nb");
    let auc = rows[0]["auc"].as_f64().unwrap();
    for ending in ["csv", "json", "md", "txt"] {
        let place = folder.path().join(format!("table.{ending}")).to_str().unwrap().to_string();
        ok(&[&words[..], &["-o", &place]].concat());
        let text = std::fs::read_to_string(&place).unwrap();
        assert!(text.contains("gaussian-nb") && text.contains("baseline"), "{ending}: {text}");
        if ending == "csv" {
            let mut lines = text.lines();
            let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
            assert_eq!(heads[..3], ["model", "auc", "auc_se"]);
            let first: Vec<&str> = lines.next().unwrap().split(',').collect();
            assert_eq!(first[1].parse::<f64>().unwrap(), auc, "all digits of the number");
        }
    }
    let cv = json(&["cv", "gaussian-nb", "iris", "--folds", "3"]);
    let table = &cv["answer"]["tables"][0]["rows"];
    assert_eq!(table[0]["metric"], "auc");
    let folds = ["fold_1", "fold_2", "fold_3"].map(|name| table[0][name].as_f64().unwrap());
    assert!((folds.iter().sum::<f64>() / 3.0 - auc).abs() < 1e-12, "{table}");
}

#[test]
fn a_model_is_fitted_summarised_inspected_verified_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let fit = ok(&["fit", "linear-regression", &data, "-t", "price", "-o", &model]);
    assert!(
        fit.err.contains("missing values filled")
            && fit.err.contains("categories as columns of 0 and 1"),
        "{}",
        fit.err
    );
    assert!(ok(&["summary", &model]).out.contains("std"), "a table of coefficients");
    assert!(ok(&["inspect", &model]).out.contains("pipeline.Pipeline"));
    assert!(ok(&["verify", &model]).out.contains("whole"));
    let predictions = ok(&["predict", &model, &data]).out;
    assert_eq!(predictions.lines().count(), 61);
    assert!(predictions.starts_with("prediction\n"));
    let score = json(&["score", &model, &data]);
    assert!(score["metrics"]["r2"]["value"].as_f64().unwrap() > 0.99, "{score}");
}

#[test]
fn classes_come_back_as_their_labels_with_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "logistic", "iris", "-o", &model]);
    let iris = ok(&["dataset", "iris"]).out;
    let done = learnt_with(&["predict", &model, "-", "--proba"], iris.as_bytes());
    assert_eq!(done.code, 0, "{}", done.err);
    let first: Vec<&str> = done.out.lines().take(2).collect();
    assert_eq!(first[0], "prediction,p_setosa,p_versicolor,p_virginica");
    assert!(first[1].starts_with("setosa,0.9"), "{}", first[1]);
}

#[test]
fn a_file_standard_input_gzip_and_other_formats_give_one_model() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let columnar: &[&str] =
        if cfg!(feature = "columnar") { &["a.parquet", "a.arrow", "a.tsv.zst"] } else { &[] };
    let names = [&["a.ndjson", "a.csv.gz", "a.arff"], columnar].concat();
    for name in &names {
        ok(&["convert", &data, &path(name)]);
    }
    let predict = |source: &str, input: &[u8]| {
        let model = path("one.learnt");
        let done = learnt_with(
            &["fit", "tree", source, "-t", "price", "-o", &model, "-f", "--max-depth", "4"],
            input,
        );
        assert_eq!(done.code, 0, "{source}: {}", done.err);
        ok(&["predict", &model, &data]).out
    };
    let expected = predict(&data, b"");
    assert_eq!(predict("-", houses().as_bytes()), expected, "standard input");
    for name in &names {
        assert_eq!(predict(&path(name), b""), expected, "{name}");
    }
}

#[test]
fn every_verb_speaks_json_with_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let calls: Vec<(&str, Vec<&str>)> = vec![
        ("list", vec!["list"]),
        ("show", vec!["show", "ridge"]),
        ("describe", vec!["describe", &data]),
        ("dataset", vec!["dataset"]),
        ("fit", vec!["fit", "ridge", &data, "-t", "price", "-o", &model]),
        ("predict", vec!["predict", &model, &data]),
        ("score", vec!["score", &model, &data]),
        ("cv", vec!["cv", "ridge", &data, "-t", "price", "--folds", "3"]),
        ("compare", vec!["compare", &data, "-t", "price", "--folds", "3", "--only", "ridge,tree"]),
        ("inspect", vec!["inspect", &model]),
        ("verify", vec!["verify", &model]),
        ("help", vec!["help", "E014"]),
    ];
    for (verb, words) in calls {
        let document = json(&words);
        assert_eq!(document["schema"], format!("learnt.{verb}/1"), "{words:?}");
        assert_eq!(document["tool"]["name"], "learnt");
    }
}

#[test]
fn errors_under_json_are_documents_too() {
    let done = crate::learnt(&["describe", "no-such-file.csv", "--json"]);
    assert_eq!(done.code, 3);
    let document: Json = serde_json::from_str(&done.out).unwrap();
    assert_eq!(document["schema"], "learnt.error/1");
    assert_eq!(document["code"], "E070");
}

#[test]
fn every_learner_can_be_shown_and_every_verb_has_examples() {
    for learner in json(&["list", "learners"])["learners"].as_array().unwrap() {
        let page = ok(&["show", learner["name"].as_str().unwrap()]).out;
        assert!(page.contains("role"), "{page}");
    }
    for verb in [
        "list", "describe", "fit", "predict", "score", "cv", "compare", "summary", "inspect",
        "verify", "convert", "make", "dataset",
    ] {
        assert!(ok(&["help", verb]).out.contains("Examples:"), "{verb}");
    }
}

#[test]
fn generators_draw_the_same_rows_for_the_same_seed() {
    let first = ok(&["make", "moons", "--rows", "50", "--seed", "3"]).out;
    assert_eq!(first.lines().count(), 51);
    assert_eq!(ok(&["make", "moons", "--rows", "50", "--seed", "3", "--threads", "1"]).out, first);
    assert_ne!(ok(&["make", "moons", "--rows", "50", "--seed", "4"]).out, first);
}

#[test]
fn completions_name_learners_and_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let text = ok(&["completions", shell]).out;
        assert!(text.contains("k-neighbors-classifier") && text.contains("n-neighbors"), "{shell}");
    }
}

#[test]
fn a_gate_that_is_missed_has_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "dummy", "iris", "-o", &model]);
    crate::fails(
        &["score", &model, "iris", "--fail-under", "accuracy=0.9"],
        6,
        &["accuracy", "0.9"],
    );
    ok(&["score", &model, "iris", "--fail-under", "accuracy=0.1"]);
}
