//! Trees, forests and boosting at the command line.

use crate::{fails, ok};
use serde_json::Value as Json;

fn fitted(folder: &std::path::Path, words: &[&str]) -> String {
    let model = folder.join("model.learnt").to_str().unwrap().to_string();
    ok(&[&["fit"], words, &["-o", &model, "-f"]].concat());
    model
}

#[test]
fn explain_prints_and_draws_importance_dependence_and_contributions() {
    let folder = tempfile::tempdir().unwrap();
    let model =
        fitted(folder.path(), &["gradient-boosting-classifier", "iris", "--n-estimators", "10"]);
    let page = folder.path().join("explained.html").to_str().unwrap().to_string();
    let words = ["explain", &model, "iris", "--rows", "1,80", "--class", "virginica"];
    let done = ok(&[&words[..], &["--plot", &page]].concat());
    for part in ["Importance", "decrease of the score", "petal", "Contributions", "sum so far"] {
        assert!(done.out.contains(part), "'{part}' is not in\n{}", done.out);
    }
    let drawn = std::fs::read_to_string(&page).unwrap();
    for part in ["Partial dependence", "Contributions to single rows", "<svg"] {
        assert!(drawn.contains(part), "'{part}' is not drawn");
    }
    let document: Json =
        serde_json::from_str(&ok(&[&words[..], &["--json"]].concat()).out).unwrap();
    assert_eq!(document["answer"]["tables"].as_array().unwrap().len(), 5);
    fails(&["explain", &model, "iris", "--rows", "0"], 2, &["from 1"]);
    fails(&["explain", &model, "iris", "--class", "tulip"], 2, &["virginica"]);
}

#[test]
fn boosting_tells_the_losses_of_training_and_of_rows_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.learnt").to_str().unwrap().to_string();
    let words = ["fit", "gradient-boosting-regressor", "cpu", "--n-estimators", "5"];
    let more = ["--n-iter-no-change", "4", "--progress", "json", "-o", &model];
    let said = ok(&[&words[..], &more[..]].concat()).err;
    let events: Vec<Json> = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|event: &Json| event["stage"] == "boosting")
        .collect();
    assert_eq!(events.len(), 5, "{said}");
    for event in &events {
        assert!(event["training_loss"].as_f64().unwrap() > 0.0);
        assert!(event["validation_loss"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn two_columns_are_drawn_as_rectangles_and_surrogates_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["decision-tree-classifier", "iris", "--max-depth", "2", "--max-surrogates", "2"];
    let model = fitted(folder.path(), &words);
    let told = ok(&["ask", &model, "surrogates"]).out;
    assert!(told.contains("goes left if") && told.contains("petal"), "{told}");
    let two = ["--ignore", "sepal_length,sepal_width"];
    let model = fitted(folder.path(), &[&words[..4], &two[..]].concat());
    let page = folder.path().join("tree.html").to_str().unwrap().to_string();
    ok(&["summary", &model, "--plot", &page]);
    assert!(std::fs::read_to_string(&page).unwrap().contains("Partition"));
}

#[test]
fn studies_of_boosting_print_their_numbers_and_draw() {
    let folder = tempfile::tempdir().unwrap();
    for (words, part) in [
        (vec!["two-class-splits"], "0.333333"),
        (vec!["margin-losses"], "exponential"),
        (vec!["robust-location", "--repeats", "50"], "huber"),
        (vec!["nested-spheres", "--rounds", "5", "--rows", "100", "--test-rows", "100"], "stump"),
        (vec!["shrinkage-study", "--rounds", "5", "--rows", "60", "--test-rows", "60"], "best"),
        (vec!["margin-study", "--rounds", "2,5", "--rows", "60"], "median"),
    ] {
        let picture = folder.path().join(format!("{}.svg", words[0]));
        let picture = picture.to_str().unwrap().to_string();
        let done = ok(&[&["study"], &words[..], &["--plot", &picture]].concat());
        assert!(done.out.contains(part), "'{part}' is not in\n{}", done.out);
        assert!(std::fs::read_to_string(&picture).unwrap().contains("<svg"));
    }
}
