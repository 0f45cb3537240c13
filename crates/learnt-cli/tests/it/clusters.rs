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
