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
fn dependence_on_a_category_is_drawn_as_bars_with_the_names_of_levels() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("t.csv");
    let row = |i: usize| {
        format!("{},{},{}\n", ["red", "blue", "green"][i % 3], i % 7, (i % 3) * 10 + i % 7)
    };
    let rows: String = (0..90).map(row).collect();
    std::fs::write(&data, format!("colour,a,y\n{rows}")).unwrap();
    let data = data.to_str().unwrap();
    let model = fitted(folder.path(), &["boost", data, "-t", "y", "--min-samples-leaf", "2"]);
    let words = ["explain", &model, data, "--columns", "colour", "--json"];
    let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
    let charts = document["answer"]["charts"].as_array().unwrap();
    let chart = charts.iter().find(|chart| chart["title"] == "Partial dependence").unwrap();
    let text = chart.to_string();
    assert!(text.contains("\"bar\""), "{text}");
    for name in ["red", "blue", "green"] {
        assert!(text.contains(name), "'{name}' is not in {text}");
    }
}

#[test]
fn a_larger_model_goes_on_from_a_smaller_one_with_the_bytes_of_one_fit() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for (learner, count) in [("boost", "--max-iter"), ("forest", "--n-estimators")] {
        let (small, large, grown) = (at("small"), at("large"), at("grown"));
        let fit = |n: &str, out: &str, more: &[&str]| {
            let words = ["fit", learner, "iris", count, n, "--seed", "3", "-o", out, "-f"];
            ok(&[&words[..], more].concat());
        };
        fit("4", &small, &[]);
        fit("9", &large, &[]);
        fit("9", &grown, &["--continue", &small]);
        let predict =
            |model: &str| ok(&["predict", model, "iris", "--method", "probabilities"]).out;
        assert_eq!(predict(&grown), predict(&large), "{learner}");
        let words = ["fit", learner, "iris", count, "3", "--continue", &large, "-o", &grown, "-f"];
        fails(&words, 2, &["at least 9"]);
    }
    let model = at("small");
    let words = ["fit", "ada-boost-classifier", "iris", "--continue", &model, "-o", &at("x")];
    fails(&words, 2, &["not a model of"]);
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
