//! `learnt cluster`, `learnt choose-k` and `learnt reduce`.

use crate::{fails, file, ok};
use serde_json::Value as Json;

/// Two groups in two columns, and a row far from both.
fn groups() -> String {
    let mut out = String::from("x,y\n");
    for i in 0..40 {
        let (a, b) = (f64::from(i * 7 % 11) / 10.0, f64::from(i * 5 % 13) / 10.0);
        out += &format!("{},{}\n", a + 10.0 * f64::from(i % 2), b);
    }
    out + "60,60\n"
}

#[test]
fn a_table_is_labelled_and_drawn_and_the_model_saved() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let points = file(folder.path(), "points.csv", groups());
    let (labels, plot, model) = (place("labels.csv"), place("clusters.svg"), place("m.learnt"));
    let flags = ["--eps", "1.5", "--no-prepare", "--min-samples", "3"];
    let verb = ["cluster", "dbscan", &points, "-o", &labels, "--plot", &plot, "--save", &model];
    let done = ok(&[&verb[..], &flags].concat());
    assert!(done.out.contains("noise"), "{}", done.out);
    let text = std::fs::read_to_string(&labels).unwrap();
    let codes: Vec<&str> = text.lines().collect();
    assert_eq!((codes[0], codes.len()), ("cluster", 42));
    assert!((0..40).all(|i| codes[i + 1] == ["0", "1"][i % 2]) && codes[41] == "-1");
    let svg = std::fs::read_to_string(&plot).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("cluster 1") && svg.contains("noise"));
    assert!(ok(&["summary", &model]).out.contains("DBSCAN"));
    fails(&verb, 2, &["exists", "-f"]);
}

#[test]
fn clusters_stand_beside_the_input_and_go_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let points = file(folder.path(), "points.csv", groups());
    let done =
        ok(&["cluster", "kmeans", &points, "--n-clusters", "2", "--append", "-o", "-", "-q"]);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!((lines[0], lines.len()), ("x,y,cluster", 42));
    let json = ok(&["cluster", "hdbscan", "iris", "--json"]).out;
    let document: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(document["schema"], "learnt.cluster/1");
    assert_eq!(document["table"].as_array().unwrap().len(), 150);
    fails(&["cluster", "ridge", &points], 2, &[]);
}

#[test]
fn four_judges_choose_a_number_of_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let text = groups().replace("60,60\n", "");
    let points = file(folder.path(), "points.csv", text);
    let plot = place("k.svg");
    let done = ok(&["choose-k", &points, "--k-max", "5", "--json", "--plot", &plot]);
    let document: Json = serde_json::from_str(&done.out).unwrap();
    let values = &document["answer"]["values"];
    assert_eq!(values["choose_k"], 2, "{values}");
    let svg = std::fs::read_to_string(&plot).unwrap();
    assert!(["sum of squares", "gap", "silhouette", "BIC"].iter().all(|name| svg.contains(name)));
    let done = ok(&["choose-k", "iris", "--k-max", "3", "--n-refs", "3"]);
    assert!(done.out.contains("elbow") && !done.err.contains("species"), "{}", done.err);
}

#[test]
fn coordinates_are_written_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (out, plot) = (place("coords.csv"), place("coords.svg"));
    ok(&["reduce", "pca", "iris", "--n-components", "2", "-o", &out, "--plot", &plot]);
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text.lines().count(), 151);
    assert_eq!(text.lines().next(), Some("pca0,pca1"));
    assert!(std::fs::read_to_string(&plot).unwrap().contains("petal_length"));
    for (name, rest) in [
        ("linear-discriminant-analysis", vec!["--n-components", "2"]),
        ("gaussian-random-projection", vec!["--n-components", "2"]),
        ("incremental-pca", vec!["--n-components", "3"]),
    ] {
        let drawn = place(&format!("{name}.svg"));
        let words = [&["reduce", name, "iris", "--plot", &drawn], &rest[..]].concat();
        ok(&words);
        assert!(std::fs::read_to_string(&drawn).unwrap().starts_with("<svg"), "{name}");
    }
    fails(&["reduce", "standard-scaler", "iris"], 2, &[]);
}

#[test]
fn help_begins_with_two_examples_that_run() {
    for verb in ["cluster", "choose-k", "reduce"] {
        let help = ok(&["help", verb]).out;
        assert!(help.starts_with("Examples:\n  learnt "), "{help}");
        assert!(help.lines().skip(1).take(2).all(|line| line.contains(verb)), "{help}");
    }
}

#[test]
fn tables_of_distances_are_clustered_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let place = [0.0, 0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0_f64];
    let mut text: String =
        (0..8).map(|j| format!("d{j}{}", if j < 7 { "," } else { "\n" })).collect();
    for a in place {
        let line: Vec<String> = place.iter().map(|b| (a - b).abs().to_string()).collect();
        text += &(line.join(",") + "\n");
    }
    let table = file(folder.path(), "distances.csv", text);
    let verb = ["cluster", "dbscan", &table, "--metric", "precomputed", "--eps", "1"];
    let flags = ["--min-samples", "4", "-o", "-", "-q"];
    let labels = |more: &[&str]| {
        let out = ok(&[&verb[..], &flags, more].concat()).out;
        out.lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(labels(&[]), ["0", "0", "0", "0", "1", "1", "1", "-1"]);
    assert_eq!(labels(&["--border", "nearest"]), labels(&[]));
    let report = ok(&[&verb[..], &["--min-samples", "4", "--border", "all"]].concat()).out;
    assert!(report.contains("beside the first"), "{report}");
    let rows = ["cluster", "dbscan", "iris", "--metric", "precomputed"];
    fails(&rows, 3, &["square table of distances"]);
}

/// Every clusterer answers what is asked of it, or says why not, without a crash.
#[test]
fn hopeless_tables_have_a_defined_answer_or_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let equal = file(folder.path(), "equal.csv", "x,y\n".to_string() + &"3,4\n".repeat(40));
    let one = file(folder.path(), "one.csv", "x,y\n1,2\n");
    let three = file(folder.path(), "three.csv", "x,y\n1,2\n3,4\n8,1\n");
    let labels = |method: &str, table: &str, more: &[&str]| {
        let head = ["cluster", method, table, "--no-prepare", "-o", "-", "-q"];
        let words = [&head[..], more].concat();
        let out = ok(&words).out;
        out.lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    for method in ["kmeans", "mini-batch-k-means", "bisecting-k-means", "k-medoids", "hierarchical"]
    {
        let found = labels(method, &equal, &["--n-clusters", "2"]);
        assert_eq!(found.len(), 40, "{method}");
        assert_eq!(labels(method, &one, &["--n-clusters", "1"]), ["0"], "{method}");
        let words = ["cluster", method, &three, "--no-prepare", "--n-clusters", "8"];
        fails(&words, 3, &["n_samples=3 should be >= n_clusters=8"]);
    }
    for method in ["dbscan", "approximate-dbscan", "optics"] {
        assert_eq!(labels(method, &equal, &[]), vec!["0"; 40], "{method}");
    }
    for method in ["dbscan", "approximate-dbscan"] {
        assert_eq!(labels(method, &one, &[]), ["-1"], "{method}");
        fails(&["cluster", method, &three, "--eps", "0"], 2, &["eps", "> 0"]);
    }
    let words = ["cluster", "gmm", &three, "--no-prepare", "--n-components", "8"];
    fails(&words, 3, &["n_samples = 3, n_components = 8"]);
}

#[test]
fn clusters_are_scored_over_the_rows_as_the_clustering_saw_them() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let number = |document: &Json, name: &str| document["metrics"][name]["value"].as_f64().unwrap();
    let score = |model: &str, data: &str, more: &[&str]| -> Json {
        let words = [&["score", model, data, "--json", "-q"], more].concat();
        serde_json::from_str(&ok(&words).out).unwrap()
    };
    // scikit-learn on the standardised columns of iris, for the same clusters.
    let model = place("iris.learnt");
    ok(&["fit", "kmeans", "iris", "--n-clusters", "3", "-o", &model]);
    let found = score(&model, "iris", &["-t", "species"]);
    assert!((number(&found, "silhouette") - 0.463_042_036_3).abs() < 1e-9, "{found}");
    assert!((number(&found, "davies-bouldin") - 0.832_416_213_1).abs() < 1e-9, "{found}");
    assert!((number(&found, "adjusted-rand") - 0.592_332_622_2).abs() < 1e-9, "{found}");
    // Holes and categories are no obstacle, because the clustering did not see them either.
    let mut text = String::from("size,colour,weight\n");
    for i in 0..60 {
        let size = if i % 9 == 0 { String::new() } else { (10 * (i % 2) + i % 5).to_string() };
        text += &format!("{size},{},{}\n", ["red", "blue"][i % 2], 1000 * (i % 2) + i);
    }
    let data = file(folder.path(), "things.csv", text);
    let model = place("things.learnt");
    ok(&["fit", "kmeans", &data, "--n-clusters", "2", "-o", &model]);
    assert!(number(&score(&model, &data, &[]), "silhouette") > 0.7);
    assert!(ok(&["cv", "kmeans", &data, "--n-clusters", "2", "--folds", "3"]).out.contains("silh"));
}

#[test]
fn clusters_of_their_own_rows_only_are_scored_where_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let fit = ok(&["fit", "dbscan", "iris", "-o", &model]);
    let next = fit.err.lines().find_map(|line| line.strip_prefix("next: learnt ")).unwrap();
    ok(&next.split(' ').collect::<Vec<_>>());
    let parts = ["does not extend to new rows", "learnt cluster dbscan DATA"];
    fails(&["score", &model, "iris"], 2, &parts);
    let done = ok(&["cluster", "dbscan", "iris", "-t", "species"]);
    assert!(done.out.contains("adjusted-rand") && done.out.contains("silhouette"), "{}", done.out);
}
