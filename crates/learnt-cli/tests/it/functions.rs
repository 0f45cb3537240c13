//! The verbs of functions: splits, programmes, paths, rules of generators.

use crate::{fails, file, houses, ok};
use serde_json::Value as Json;

fn answer(words: &[&str]) -> Json {
    let words = [words, &["--json"]].concat();
    let document: Json = serde_json::from_str(&ok(&words).out).unwrap();
    document["answer"].clone()
}

/// The columns of a table of comma-separated values, without its header.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = heads.iter().position(|head| *head == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().to_string()).collect()
}

#[test]
fn folds_test_every_row_once_and_keep_the_shares_of_classes() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let out = place("folds.csv");
    ok(&["split", "k-fold", "iris", "--n-splits", "4", "-o", &out]);
    let folds = column(&std::fs::read_to_string(&out).unwrap(), "fold");
    assert_eq!(folds.len(), 150);
    let count = |fold: &str| folds.iter().filter(|found| *found == fold).count();
    assert_eq!(["1", "2", "3", "4"].map(count), [38, 38, 37, 37]);
    assert_eq!(folds[0], "1", "without shuffling the first rows are tested first");
    let iris = ok(&["dataset", "iris"]).out;
    let species = column(&iris, "species");
    ok(&[
        "split",
        "stratified-k-fold",
        "iris",
        "--y",
        "species",
        "--n-splits",
        "5",
        "-o",
        &out,
        "-f",
    ]);
    let folds = column(&std::fs::read_to_string(&out).unwrap(), "fold");
    for fold in ["1", "2", "3", "4", "5"] {
        for class in ["setosa", "versicolor", "virginica"] {
            let both = folds.iter().zip(&species).filter(|(f, s)| *f == fold && *s == class);
            assert_eq!(both.count(), 10, "{fold} {class}");
        }
    }
}

#[test]
fn a_split_is_one_column_of_words_and_the_seed_decides() {
    let part = |seed: &str| {
        let words = ["split", "train-test-rows", "iris", "--test-size", "0.2", "--seed", seed];
        let table = answer(&words)["tables"][0]["rows"].clone();
        let rows = table.as_array().unwrap().clone();
        rows.iter().map(|row| row["part"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let first = part("1");
    assert_eq!(first.iter().filter(|word| *word == "test").count(), 30);
    assert_eq!(first.iter().filter(|word| *word == "train").count(), 120);
    assert_eq!(first, part("1"));
    assert_ne!(first, part("2"));
    let shuffled = answer(&["split", "shuffle-split", "iris", "--n-splits", "2", "--seed", "3"]);
    let rows = &shuffled["tables"][0]["rows"];
    assert!(rows[0]["split_1"].is_string() && rows[0]["split_2"].is_string(), "{rows}");
    fails(&["split", "k-fold", "iris", "--n-splits", "200"], 3, &["200"]);
    fails(&["split", "k-fold"], 2, &["learnt split k-fold data.csv", "--n-samples 100"]);
}

#[test]
fn a_quadratic_programme_is_solved_from_lists() {
    let words = [
        "algebra",
        "quadratic-program",
        "--q",
        "[[1, 0], [0, 1]]",
        "--c",
        "[0, -0.5]",
        "--a-eq",
        "[[1, 1]]",
        "--b-eq",
        "[1]",
        "--lower",
        "[0]",
    ];
    let found = answer(&words);
    assert_eq!(found["values"]["status"], "solved");
    let x = found["values"]["x"].as_array().unwrap();
    assert!((x[0].as_f64().unwrap() - 0.25).abs() < 1e-9, "{found}");
    let limit = answer(&["algebra", "stability-limit", "--hessian", "[[4, 0], [0, 1]]"]);
    assert_eq!(limit["values"]["stability_limit"], 0.5);
    fails(
        &["algebra", "quadratic-program", "--q", "[[1]]", "--c", "[0]", "--a-eq", "[[1]]"],
        2,
        &["come together"],
    );
}

#[test]
fn paths_and_sphered_centroids_draw_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let houses = file(folder.path(), "houses.csv", houses());
    let out = folder.path().join("path.svg").to_str().unwrap().to_string();
    let words =
        ["analyze", "regularization-path", &houses, "--y", "price", "--x", "area", "--plot", &out];
    let done = ok(&words);
    assert!(done.out.contains("alpha_bic"), "{}", done.out);
    assert!(std::fs::read_to_string(&out).unwrap().contains("Lasso path"));
    let words = ["analyze", "sphered-centroids", "iris", "--y", "species", "--plot", &out, "-f"];
    ok(&words);
    assert!(std::fs::read_to_string(&out).unwrap().contains("centroids"));
}

#[test]
fn generators_give_the_noiseless_target_and_their_bayes_rule() {
    let drawn = ok(&["make", "sine", "--rows", "5", "--noise", "0", "--return-noiseless"]).out;
    assert_eq!(drawn.lines().next().unwrap(), "x0,y,noiseless");
    for line in drawn.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1], cells[2]);
    }
    assert_eq!(ok(&["make", "sine", "--rows", "5"]).out.lines().next().unwrap(), "x0,y");
    let rule = answer(&["stat", "gaussians-bayes-rule", "--x", "[[0.75, 0.75], [3, 3]]"]);
    assert!((rule["values"]["posterior"][0].as_f64().unwrap() - 0.5).abs() < 1e-12, "{rule}");
    assert!((rule["values"]["error"].as_f64().unwrap() - 0.1444).abs() < 1e-3);
}
