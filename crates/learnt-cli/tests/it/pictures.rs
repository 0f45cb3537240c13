//! Pictures and pages, as files and in the terminal.

use crate::{command, fails, file, houses, ok};
use serde_json::Value as Json;
use std::path::Path;

/// A fitted model in this folder.
fn fitted(folder: &Path, learner: &str, data: &str, more: &[&str]) -> String {
    let model = folder.join(format!("{learner}.learnt")).to_str().unwrap().to_string();
    ok(&[&["fit", learner, data, "-o", &model], more].concat());
    model
}

#[test]
fn every_picture_is_listed_and_drawn_for_a_model_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let document: Json = serde_json::from_str(&ok(&["plot", "--json"]).out).unwrap();
    let listed = document["plots"].as_array().unwrap();
    let houses = file(folder.path(), "houses.csv", houses());
    let price = ["-t", "price"];
    let models = [
        (fitted(folder.path(), "linear-regression", &houses, &price), houses.clone()),
        (fitted(folder.path(), "lasso", &houses, &price), houses.clone()),
        (fitted(folder.path(), "logistic-regression", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "decision-tree-classifier", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "pca", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "linear-discriminant-analysis", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "kmeans", "iris", &["--n-clusters", "3"]), "iris".to_string()),
        (fitted(folder.path(), "dbscan", "iris", &["--eps", "0.8"]), "iris".to_string()),
        (fitted(folder.path(), "optics", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "hdbscan", "iris", &[]), "iris".to_string()),
        (fitted(folder.path(), "agglomerative-clustering", "iris", &[]), "iris".to_string()),
        (
            fitted(folder.path(), "gaussian-mixture", "iris", &["--n-components", "3"]),
            "iris".to_string(),
        ),
    ];
    for plot in listed {
        let name = plot["name"].as_str().unwrap();
        let out = place(&format!("{name}.svg"));
        let drawn = models.iter().any(|(model, data)| {
            command(&["plot", name, model, data, "-o", &out]).output().unwrap().status.success()
        });
        assert!(drawn, "{name} is drawn for none of the models");
        let svg = std::fs::read_to_string(&out).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("<desc>"), "{name}");
        assert!(ok(&["plot"]).out.contains(name));
    }
}

#[test]
fn a_path_reaches_the_penalty_of_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = fitted(folder.path(), "lasso", "cpu", &[]);
    let out = folder.path().join("path.json").to_str().unwrap().to_string();
    ok(&["plot", "path", &model, "cpu", "-o", &out]);
    let drawn = std::fs::read_to_string(&out).unwrap();
    let numbers = drawn.split("\"x\":").skip(1).filter_map(|rest| {
        rest.trim_start().split([',', '}', '\n']).next()?.trim().parse::<f64>().ok()
    });
    let least = numbers.filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    assert!(least < 1.0, "the path ends at {least}, and alpha is 1");
}

#[test]
fn the_ending_chooses_the_form_and_the_terminal_is_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let model = fitted(folder.path(), "logistic-regression", "iris", &[]);
    let draw = |out: &str| {
        ok(&["plot", "confusion", &model, "iris", "-o", out]);
        std::fs::read_to_string(out).unwrap()
    };
    let vega: Json = serde_json::from_str(&draw(&place("c.json"))).unwrap();
    assert!(vega["$schema"].as_str().unwrap().contains("vega-lite/v5"));
    assert!(draw(&place("c.html")).starts_with("<!doctype html>"));
    assert!(draw(&place("c.txt")).contains("virginica"));
    assert_eq!(draw(&place("a.svg")), draw(&place("b.svg")), "the same bytes");
    let shown = ok(&["plot", "confusion", &model, "iris"]);
    assert!(shown.out.contains("setosa") && !shown.out.contains('\u{1b}'), "{}", shown.out);
    fails(&["plot", "confusion", &model, "iris", "-o", &place("c.bmp")], 2, &[".svg"]);
}

#[test]
fn a_picture_that_does_not_fit_says_why_and_a_wrong_name_what_is_near() {
    let folder = tempfile::tempdir().unwrap();
    let model = fitted(folder.path(), "logistic-regression", "iris", &[]);
    fails(&["plot", "rok", &model, "iris"], 2, &["roc"]);
    fails(&["plot", "roc", &model], 2, &["needs rows", "learnt plot roc MODEL DATA"]);
    fails(&["plot", "tree", &model], 2, &["has no tree"]);
    fails(&["plot", "residuals", &model, "iris"], 2, &["not a regressor"]);
    fails(&["plot", "roc"], 2, &["model file"]);
}

#[test]
fn answers_draw_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let out = place("compare.svg");
    ok(&["compare", "iris", "--folds", "3", "--only", "gaussian-nb,tree", "--plot", &out]);
    assert!(std::fs::read_to_string(&out).unwrap().contains("gaussian-nb"));
    let model = fitted(folder.path(), "tree", "iris", &[]);
    assert!(ok(&["summary", &model, "--plot", "-"]).out.contains("setosa"));
    let houses = file(folder.path(), "houses.csv", houses());
    let least = fitted(folder.path(), "linear-regression", &houses, &["-t", "price"]);
    let out = place("d.svg");
    ok(&["ask", &least, "diagnostics", &houses, "--plot", &out]);
    assert!(std::fs::read_to_string(&out).unwrap().contains("Leverage"));
    let out = place("c.svg");
    ok(&["ask", &least, "coefficients", "--with", "level=0.9", "--plot", &out]);
    assert!(std::fs::read_to_string(&out).unwrap().contains("Coefficients with 90% intervals"));
    let words = ["ask", &least, "coefficients", "--json"];
    let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
    assert!(document.to_string().contains("Coefficients with 95% intervals"), "charts are in JSON");
    fails(&["ask", &least, "covariance", "--plot", &out, "-f"], 2, &["no picture"]);
}

#[test]
fn a_report_is_one_page_with_scores_pictures_and_the_card() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let houses = file(folder.path(), "houses.csv", houses());
    for (learner, data, more, parts) in [
        (
            "tree",
            "iris",
            &[][..],
            &["Confusion matrix", "ROC curve", "Decision tree", "accuracy"][..],
        ),
        (
            "linear-regression",
            &houses,
            &["-t", "price"],
            &["Predicted against actual", "Coefficients", "rmse"],
        ),
        ("pca", "iris", &[], &["Variance of the components", "Biplot", "Loadings"]),
    ] {
        let model = fitted(folder.path(), learner, data, more);
        let out = place("report.html");
        ok(&["report", &model, data, "-o", &out, "-f"]);
        let page = std::fs::read_to_string(&out).unwrap();
        for part in
            [parts, &["Card of the model", "SHA-256", "seed", "Parameters", "<figure>"]].concat()
        {
            assert!(page.contains(part), "{learner}: {part}");
        }
        assert!(page.len() < 1_000_000 && !page.contains("<script"), "{learner}");
    }
    let model = fitted(folder.path(), "tree", "iris", &["-f"]);
    fails(&["report", &model, "iris", "-o", &place("report.pdf")], 2, &[".html"]);
}
