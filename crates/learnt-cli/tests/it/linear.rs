//! Paths of penalties, and questions to models.

use crate::{fails, file, ok};
use serde_json::Value as Json;

fn houses(folder: &std::path::Path) -> String {
    let mut text = String::from("area,rooms,noise,price\n");
    for i in 0..40 {
        let (area, rooms, noise) = (50 + 3 * i, 1 + i % 5, (i * 7) % 11);
        let price = 3 * area + 20 * rooms + (i * 5) % 7;
        text += &format!("{area},{rooms},{noise},{price}\n");
    }
    file(folder, "houses.csv", text)
}

#[test]
fn a_path_is_printed_saved_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (table, figure) = (place("path.csv"), place("path.svg"));
    let words = [
        "path",
        "lasso",
        &data,
        "-t",
        "price",
        "--n-alphas",
        "8",
        "-o",
        &table,
        "--plot",
        &figure,
        "--scale",
    ];
    let done = ok(&words);
    assert!(
        done.out.contains("alpha") && done.err.contains("numbers standardised"),
        "{}",
        done.out
    );
    let saved = std::fs::read_to_string(&table).unwrap();
    assert!(saved.starts_with("alpha,shrinkage,df,r2,(intercept),area,rooms,noise"), "{saved}");
    assert_eq!(saved.lines().count(), 9);
    let first: Vec<f64> =
        saved.lines().nth(1).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!(first[1] == 0.0 && first[2] == 0.0, "no coefficient at the largest penalty");
    let svg = std::fs::read_to_string(&figure).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">area</text>"));
}

#[test]
fn a_path_takes_formulas_and_every_penalty() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    for penalty in ["lasso", "elastic-net", "ridge"] {
        let formula = "price ~ area * rooms";
        let words = ["path", penalty, &data, "--formula", formula, "--n-alphas", "4", "--json"];
        let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
        assert_eq!(
            document["chart"]["title"].as_str().map(str::is_empty),
            Some(false),
            "{penalty}"
        );
        assert_eq!(document["report"]["tables"][0]["rows"].as_array().unwrap().len(), 4);
    }
    fails(&["path", "lasso", &data, "-t", "price", "--l1-ratio", "0.5"], 2, &["elastic-net"]);
    fails(&["path", "lasso", &data, "-t", "prize"], 2, &["price"]);
}

#[test]
fn a_model_goes_on_with_more_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (first, second) = (place("first.learnt"), place("second.learnt"));
    ok(&["fit", "sgd-regressor", &data, "-t", "price", "-o", &first]);
    ok(&["update", &first, &data, "-o", &second]);
    let rows = |model: &str| -> Json {
        let document: Json = serde_json::from_str(&ok(&["inspect", model, "--json"]).out).unwrap();
        document["rows"].clone()
    };
    assert_eq!((rows(&first), rows(&second)), (40.into(), 80.into()));
    fails(&["update", &first, &data, "-o", &second], 2, &["add -f"]);
    let tree = place("tree.learnt");
    ok(&["fit", "tree", &data, "-t", "price", "-o", &tree]);
    fails(&["update", &tree, &data], 2, &["cannot go on training"]);
}

#[test]
fn a_model_lists_its_questions_and_answers_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "ols", &data, "--formula", "price ~ area + rooms", "-o", &model]);
    let listed = ok(&["ask", &model]).out;
    for question in ["intervals", "influence", "diagnostics", "test_columns"] {
        assert!(listed.contains(question), "{listed}");
    }
    let answer = |words: &[&str]| -> Json {
        let words = [&["ask", &model], words, &["--json"]].concat();
        serde_json::from_str(&ok(&words).out).unwrap()
    };
    let rows = answer(&["intervals", &data, "--with", "level=0.9", "--with", "kind=observation"]);
    assert_eq!(rows["report"]["tables"][0]["rows"].as_array().unwrap().len(), 40);
    let test = answer(&["test_columns", "--with", "columns=rooms"]);
    assert!(test["report"]["tables"][0]["rows"][0]["F"].as_f64().unwrap() > 100.0);
    let influence = answer(&["influence", &data]);
    let leverage: f64 = influence["report"]["tables"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["leverage"].as_f64().unwrap())
        .sum();
    assert!((leverage - 3.0).abs() < 1e-9);
    fails(&["ask", &model, "intervalls", &data], 2, &["intervals"]);
    fails(&["ask", &model, "intervals"], 2, &["data file"]);
    fails(&["ask", &model, "intervals", &data, "--with", "levle=0.9"], 2, &["level"]);
}

#[test]
fn a_penalty_means_the_same_at_the_command_line_as_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let model = folder.path().join("ridge.learnt");
    let done = ok(&["fit", "ridge", &data, "-t", "price", "-o", model.to_str().unwrap()]);
    assert!(!done.err.contains("standardised"), "{}", done.err);
    assert_eq!(learnt::load(&model).unwrap().about.name(), "Ridge");
    let scaled = ok(&["fit", "ridge", &data, "-t", "price", "--scale"]);
    assert!(scaled.err.contains("numbers standardised"), "{}", scaled.err);
    assert!(scaled.err.contains("ridge  ") && !scaled.err.contains("pipeline"), "{}", scaled.err);
    assert!(scaled.out.contains("standard deviations"), "{}", scaled.out);
}

#[test]
fn inspect_names_the_parts_of_a_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let model = folder.path().join("ridge.learnt");
    let place = model.to_str().unwrap();
    ok(&["fit", "ridge", &data, "-t", "price", "--scale", "-o", place]);
    let shown = ok(&["inspect", place]).out;
    assert!(shown.contains("preprocessing.StandardScaler") && shown.contains("linear_model.Ridge"));
}

#[test]
fn several_targets_are_fitted_predicted_and_scored_as_they_would_be_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = houses(folder.path());
    let model = folder.path().join("two.learnt").to_str().unwrap().to_string();
    ok(&["fit", "linear-regression", &data, "-t", "price,noise", "-o", &model]);
    let both = ok(&["predict", &model, &data]).out;
    assert!(both.starts_with("prediction_price,prediction_noise\n"), "{both}");
    let single = folder.path().join("one.learnt").to_str().unwrap().to_string();
    let inputs = ["--formula", "price ~ area + rooms"];
    ok(&["fit", "linear-regression", &data, inputs[0], inputs[1], "-o", &single]);
    let number = |text: &str| text.split(',').next().unwrap().parse::<f64>().unwrap();
    for (two, one) in both.lines().zip(ok(&["predict", &single, &data]).out.lines()).skip(1) {
        assert!((number(two) - number(one)).abs() < 1e-9, "{two} {one}");
    }
    assert!(ok(&["score", &model, &data]).out.contains("r2"));
    fails(&["fit", "ridge", &data, "-t", "price,nose"], 2, &["nose", "did you mean 'noise'"]);
}
