//! The gate, and what models in other roles are asked: densities, outliers, states, clusters.

use crate::{fails, file, ok};

/// Rows without a hole, and the same with one.
fn rows(hole: bool) -> String {
    let mut text = String::from("a,b,y\n");
    for i in 0..40 {
        let b = if hole && i == 4 { String::new() } else { format!("{}", (i * 7) % 11) };
        text += &format!("{},{b},{}\n", i % 5, 2 * (i % 5) + (i * 7) % 11);
    }
    text
}

#[test]
fn rows_with_holes_are_refused_or_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let whole = file(folder.path(), "whole.csv", rows(false));
    let holes = file(folder.path(), "holes.csv", rows(true));
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "ridge", &whole, "-t", "y", "-o", &model]);
    fails(&["predict", &model, &holes], 3, &["'b'", "row 5", "--missing skip"]);
    let done = ok(&["predict", &model, &holes, "--missing", "skip"]);
    assert!(done.err.contains("skipped 1 of 40 rows"), "{}", done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 41);
    let empty: Vec<usize> = (1..41).filter(|&i| lines[i].trim_matches('"').is_empty()).collect();
    assert_eq!(empty, [5], "{}", done.out);
    fails(&["score", &model, &holes], 3, &["'b'", "row 5"]);
    assert!(ok(&["score", &model, &holes, "--missing", "skip"]).err.contains("skipped 1 of 40"));
}

#[test]
fn training_rows_get_their_clusters_and_the_file_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv").to_str().unwrap().to_string();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "dbscan", "iris", "--eps", "0.8", "-o", &model, "--labels", &labels]);
    let text = std::fs::read_to_string(&labels).unwrap();
    assert_eq!((text.lines().next(), text.lines().count()), (Some("cluster"), 151));
    fails(&["predict", &model, "iris"], 2, &["does not extend to new rows", "--labels"]);
    fails(&["fit", "ridge", "cpu", "--labels", &labels, "-f"], 2, &["no clusters"]);
}

#[test]
fn the_trace_has_a_line_for_each_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.csv").to_str().unwrap().to_string();
    ok(&["fit", "logistic-regression", "iris", "--trace", &trace]);
    let text = std::fs::read_to_string(&trace).unwrap();
    assert!(text.starts_with("stage,iteration,objective\n"), "{text}");
    assert!(text.lines().count() > 2);
    fails(&["fit", "ridge", "cpu", "--trace", &trace, "-f"], 2, &["recorded no objective"]);
}

#[test]
fn densities_and_detectors_answer_by_method() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "gaussian-detector", "iris", "--contamination", "0.1", "-o", &model]);
    let found = ok(&["predict", &model, "iris"]).out;
    assert_eq!(found.lines().filter(|line| line.contains("outlier")).count(), 15);
    let densities = ok(&["predict", &model, "iris", "--method", "log-density"]).out;
    assert_eq!((densities.lines().next(), densities.lines().count()), (Some("log_density"), 151));
    fails(&["predict", &model, "iris", "--method", "probabilities"], 2, &["needs a classifier"]);
    fails(&["predict", &model, "iris", "--method", "scorse"], 2, &["scores"]);
}

#[test]
fn states_are_decoded_sequence_by_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("day,seen,weather\n");
    for i in 0..60 {
        let wet = (i / 3) % 2 == 0;
        let seen = if wet != (i % 7 == 0) { "umbrella" } else { "none" };
        text += &format!("{},{seen},{}\n", i / 10, if wet { "rain" } else { "sun" });
    }
    let data = file(folder.path(), "days.csv", text);
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let words = ["fit", "supervised-hmm", &data, "-t", "weather", "--sequence", "day"];
    ok(&[&words[..], &["--type", "day=cat", "--pseudocount", "0.5", "-o", &model]].concat());
    let predict = ["predict", &model, &data, "--sequence", "day", "--type", "day=cat"];
    let states = ok(&predict).out;
    assert_eq!(states.lines().count(), 61);
    assert!(states.contains("rain") && states.contains("sun"));
    let likelihood = ok(&[&predict[..], &["--method", "log-likelihood"]].concat()).out;
    assert_eq!(likelihood.lines().count(), 7, "one number a sequence: {likelihood}");
}

#[test]
fn groups_stay_together_in_cross_validation() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("person,a,y\n");
    for i in 0..60 {
        text += &format!("p{},{},{}\n", i / 20, i % 7, 3 * (i % 7) + i % 2);
    }
    let data = file(folder.path(), "people.csv", text);
    let words = ["cv", "ridge", &data, "-t", "y", "--task", "regress", "--group", "person"];
    ok(&[&words[..], &["--folds", "3"]].concat());
    fails(&[&words[..], &["--folds", "4"]].concat(), 3, &["groups"]);
}

#[test]
fn a_streamed_fit_of_sequences_is_the_fit_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("day,seen,level,weather\n");
    for i in 0..40_000 {
        let wet = (i / 3 + i / 1000) % 2 == 0;
        let seen = if wet != (i % 7 == 0) { "umbrella" } else { "none" };
        let day = i / 170 * 170 + i / 9000;
        text += &format!("d{day},{seen},{},{}\n", i % 13, if wet { "rain" } else { "sun" });
    }
    let data = file(folder.path(), "days.csv", text);
    let answers = [&["--stream"][..], &[]].map(|how| {
        let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
        let words = ["fit", "supervised-hmm", &data, "-t", "weather", "--sequence", "day"];
        ok(&[&words[..], &["--pseudocount", "0.5", "-f", "-o", &model], how].concat());
        let predict = ["predict", &model, &data, "--sequence", "day", "--method"];
        ok(&[&predict[..], &["posteriors"]].concat()).out
    });
    assert_eq!(answers[0].lines().count(), 40_001);
    assert!(answers[0] == answers[1], "the streamed model differs");
}

#[test]
fn columns_may_be_the_cells_of_images() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("a,b,c,d,digit\n");
    for i in 0..40 {
        let on = i % 2;
        text += &format!("{on},{},{},{},{}\n", 1 - on, i % 3, i % 5, ["zero", "one"][on]);
    }
    let data = file(folder.path(), "images.csv", text);
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let knn = ["fit", "k-neighbors-classifier", &data, "-t", "digit", "-f", "-o", &model];
    ok(&[&knn[..], &["--volume", "2x2x1"]].concat());
    let shown = ok(&["inspect", &model]).out;
    assert!(shown.contains("2x2x1"), "{shown}");
    let predicted = ok(&["predict", &model, &data]).out;
    assert_eq!(predicted, ok(&["predict", &model, &data, "--volume", "2x2"]).out);
    fails(&["predict", &model, &data, "--volume", "4x1"], 3, &["trained on 2x2x1"]);
    fails(&[&knn[..], &["--volume", "3x3"]].concat(), 3, &["3x3x1"]);
    fails(&[&knn[..], &["--volume", "3by3"]].concat(), 3, &["28x28x1"]);
    let tree = ["fit", "decision-tree-classifier", &data, "-t", "digit", "--volume", "2x2"];
    fails(&tree, 2, &["leave out --volume"]);
}

#[test]
fn groups_stay_together_in_the_folds_of_learners() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("person,a,b,y\n");
    for i in 0..60 {
        text += &format!("p{},{},{},{}\n", i / 20, i % 7, i % 4, 3 * (i % 7) + i % 2);
    }
    let data = file(folder.path(), "people.csv", text);
    for learner in ["lasso-cv", "elastic-net-cv", "ridge-cv"] {
        let words =
            ["fit", learner, &data, "-t", "y", "--task", "regress", "--group", "person", "--cv"];
        ok(&[&words[..], &["3"]].concat());
        fails(&[&words[..], &["4"]].concat(), 3, &["groups"]);
    }
}
