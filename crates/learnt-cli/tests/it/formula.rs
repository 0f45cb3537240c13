//! Fits by formula.

use crate::{fails, file, learnt, ok};
use serde_json::Value as Json;
use std::path::PathBuf;

fn golden(name: &str) -> String {
    let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/data");
    place.join(name).to_str().unwrap().to_string()
}

fn coefficients(words: &[&str]) -> Vec<(String, f64)> {
    let words = [words, &["--json"]].concat();
    let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
    let rows = document["report"]["tables"][0]["rows"].as_array().unwrap().clone();
    let row = |row: &Json| {
        (row["term"].as_str().unwrap().to_string(), row["coefficient"].as_f64().unwrap())
    };
    rows.iter().map(row).collect()
}

#[test]
fn numbers_categories_interactions_and_powers_give_the_numbers_of_r() {
    let iris = golden("iris.csv");
    let formula = "sepal_length ~ petal_length * species";
    let found = coefficients(&["fit", "linear-regression", &iris, "--formula", formula]);
    let expected = [
        ("(intercept)", 4.21316822303),
        ("petal_length", 0.542292597104),
        ("speciesversicolor", -1.80564511767),
        ("speciesvirginica", -3.15350913213),
        ("petal_length:speciesversicolor", 0.285988364079),
        ("petal_length:speciesvirginica", 0.45344603926),
    ];
    assert_eq!(found.len(), expected.len());
    for ((name, value), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert!((value - expected).abs() < 1e-6, "{name} {value}");
    }
    let names = |formula: &str| -> Vec<String> {
        let found = coefficients(&["fit", "linear-regression", &iris, "--formula", formula]);
        found.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(
        names("sepal_length ~ petal_length^2 + log(petal_width) - 1"),
        ["I(petal_length^2)", "log(petal_width)"]
    );
}

#[test]
fn a_classifier_takes_a_target_of_zeros_and_ones_and_factors_as_in_r() {
    let data = golden("birthwt.csv");
    let formula = "low ~ age + lwt + factor(race) + smoke + ht";
    let found =
        coefficients(&["fit", "logistic", &data, "--formula", formula, "--penalty", "none"]);
    let at = |name: &str| found.iter().find(|(known, _)| known == name).unwrap().1;
    assert!((at("factor(race)2") - 1.23872813469).abs() < 1e-5);
    assert!((at("ht") - 1.73297365127).abs() < 1e-5);
}

#[test]
fn prediction_needs_only_the_columns_of_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let data = golden("mtcars.csv");
    for extra in [&[][..], &["--stream"]] {
        let words =
            ["fit", "linear-regression", &data, "--formula", "mpg ~ wt + hp", "-f", "-o", &model];
        ok(&[&words, extra].concat());
        let new = file(folder.path(), "new.csv", "hp,wt\n110,2.62\n");
        let out = ok(&["predict", &model, &new]).out;
        let value: f64 = out.lines().nth(1).unwrap().parse().unwrap();
        assert!((value - 23.572_329).abs() < 1e-3, "{value}");
    }
}

#[test]
fn mistakes_in_a_formula_are_named() {
    let data = golden("mtcars.csv");
    let said = |formula: &str, extra: &[&str], code: i32, part: &str| {
        let words = ["fit", "linear-regression", &data, "--formula", formula];
        fails(&[&words, extra].concat(), code, &[part]);
    };
    said("mpg ~ wt + hpp", &[], 2, "did you mean 'hp'?");
    said("mgp ~ wt", &[], 2, "mpg");
    said("mpg ~ wt +", &[], 2, "at its end");
    said("mpg ~ log(vs)", &[], 3, "row 1");
    said("abs(mpg) ~ wt", &[], 2, "one column");
    said("mpg ~ wt", &["-t", "hp"], 2, "leave out -t");
}

#[test]
fn columns_may_be_taken_from_all_and_all_pairs_be_had() {
    let names = |formula: &str| -> Vec<String> {
        let found = coefficients(&["fit", "ols", "iris", "--formula", formula]);
        found.into_iter().map(|(name, _)| name).collect()
    };
    let wanted =
        ["(intercept)", "sepal_width", "petal_length", "speciesversicolor", "speciesvirginica"];
    assert_eq!(names("sepal_length ~ . - petal_width"), wanted);
    assert_eq!(names("sepal_length ~ .^2").len(), 15);
    let base = names("sepal_length ~ C(species, virginica)");
    assert_eq!(base, ["(intercept)", "speciessetosa", "speciesversicolor"]);
}

/// The first table of an answer as rows.
fn table(words: &[&str]) -> Vec<serde_json::Value> {
    let document: serde_json::Value =
        serde_json::from_str(&ok(&[words, &["--json"]].concat()).out).unwrap();
    document["answer"]["tables"][0]["rows"].as_array().unwrap().clone()
}

#[test]
fn verbs_that_resample_score_a_logarithm_of_the_target_on_the_scale_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |i: i32| {
        let x = f64::from(i % 13) / 3.0;
        format!("{x},{},{}\n", (0.8 * x + 0.1 * f64::from(i % 5)).exp(), ["a", "b"][i as usize % 2])
    };
    let text: String = (0..80).map(lines).collect();
    let data = file(folder.path(), "a.csv", format!("x,y,kind\n{text}"));
    let formula = "log(y) ~ x + kind";
    let options: [&str; 7] = [&data, "--formula", formula, "--folds", "5", "--metric", "rmse"];
    let alone = table(&[&["cv", "ridge"], &options[..], &[]].concat());
    let mean = alone[0]["mean"].as_f64().unwrap();
    let compared = table(&[&["compare"], &options[..], &["--only", "ridge,tree"]].concat());
    let row = |name: &str| compared.iter().find(|row| row["model"] == name).unwrap();
    assert_eq!(row("ridge")["rmse"].as_f64().unwrap(), mean, "{compared:?}");
    assert!(row("baseline")["rmse"].as_f64().unwrap() > 3.0 * mean, "{compared:?}");
    let tuned = folder.path().join("tuned.learnt").to_str().unwrap().to_string();
    let found = table(
        &[&["tune", "ridge"], &options[..], &["--grid", "alpha=1,1000", "-o", &tuned]].concat(),
    );
    assert_eq!((found[0]["alpha"].as_str(), found[0]["rmse"].as_f64()), (Some("1"), Some(mean)));
    let fitted = folder.path().join("fitted.learnt").to_str().unwrap().to_string();
    ok(&["fit", "ridge", &data, "--formula", formula, "-o", &fitted]);
    assert_eq!(ok(&["predict", &tuned, &data]).out, ok(&["predict", &fitted, &data]).out);
    let curve = table(
        &[&["curve", "ridge"], &options[..], &["--parameter", "alpha", "--values", "1,1000"]]
            .concat(),
    );
    assert_eq!(curve[0]["alpha"], "1");
    assert!((curve[0]["test"].as_f64().unwrap() - mean).abs() < 1e-9, "{curve:?} {mean}");
    let path = ok(&["path", "lasso", &data, "--formula", formula]).out;
    assert!(path.contains("the path is of log(y)"), "{path}");
    let path = ok(&["path", "lasso", &data, "--formula", "log(y) ~ x - 1", "--n-alphas", "2"]).out;
    let last: Vec<&str> =
        path.lines().find(|l| l.contains("0.0")).unwrap().split_whitespace().collect();
    assert!(last.contains(&"0"), "no intercept: {path}");
    let done =
        learnt(&[&["compare"], &options[..], &["--only", "ridge", "--ignore", "x"]].concat());
    assert!(done.code != 0 && done.err.contains('x'), "{}", done.err);
    let wrong = file(folder.path(), "b.csv", "x,y\n1,2\n2,0\n3,4\n");
    let done = learnt(&["compare", &wrong, "--formula", "log(y) ~ x"]);
    assert!(done.code == 3 && done.err.contains("row 2"), "{}", done.err);
}
