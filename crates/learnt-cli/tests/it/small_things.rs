//! Small things that once went wrong in silence.

use crate::{fails, file, learnt, ok};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn a_number_may_mean_missing() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "t.csv", "a,b\n1,x\n-999,y\n3,-999\n");
    let done = ok(&["describe", &data, "--na", "-999", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["columns"][0]["missing"], 1, "{}", done.out);
    assert_eq!(json["columns"][1]["missing"], 1, "{}", done.out);
    if cfg!(not(feature = "columnar")) {
        return;
    }
    let parquet = folder.path().join("t.parquet").to_str().unwrap().to_string();
    ok(&["convert", &data, &parquet]);
    let done = ok(&["describe", &parquet, "--na", "-999", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["columns"][0]["missing"], 1, "{}", done.out);
}

#[test]
fn bundled_sets_stream_and_give_the_model_of_a_fit_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (whole, streamed) = (place("a.learnt"), place("b.learnt"));
    ok(&["fit", "linear-regression", "cpu", "-o", &whole]);
    ok(&["fit", "linear-regression", "cpu", "-o", &streamed, "--stream"]);
    let predicted = |model: &str| ok(&["predict", model, "cpu"]).out;
    assert_eq!(predicted(&whole), predicted(&streamed));
}

#[test]
fn steps_are_found_by_their_aliases() {
    let steps = r#"[["scale", {"learner": "scale"}], ["model", {"learner": "logistic"}]]"#;
    let done = learnt(&["fit", "pipeline", "iris", "-t", "species", "--steps", steps]);
    let known = ok(&["list", "learners"]).out;
    assert_eq!(done.code, 0, "{}\n{known}", done.err);
    // The last step says that there is a target, and a bundled set which.
    for steps in ["scale,logistic", "standard-scaler,tree"] {
        let found = learnt(&["fit", "pipeline", "iris", "--steps", steps]);
        assert_eq!(found.code, 0, "{steps}: {}", found.err);
    }
    let unsupervised = learnt(&["fit", "pipeline", "iris", "--steps", "scale,pca"]);
    assert_eq!(unsupervised.code, 0, "{}", unsupervised.err);
}

#[test]
fn missing_values_at_prediction_follow_the_policy_said_at_fit_or_now() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (model, lenient) = (place("m.learnt"), place("l.learnt"));
    let holes = "sepal_length,sepal_width,petal_length,petal_width\n5,3.4,1.5,0.2\n6,,4.5,1.5\n";
    let header = ok(&["dataset", "iris"]).out.lines().next().unwrap().to_string();
    let names: Vec<&str> = header.split(',').take(4).collect();
    let holes =
        holes.replacen("sepal_length,sepal_width,petal_length,petal_width", &names.join(","), 1);
    let data = file(folder.path(), "holes.csv", holes);
    ok(&["fit", "logistic", "iris", "-o", &model]);
    ok(&["fit", "logistic", "iris", "-o", &lenient, "--missing", "impute"]);
    fails(&["predict", &model, &data], 3, &["E021", "row 2", "--missing"]);
    let filled = ok(&["predict", &model, &data, "--missing", "impute"]);
    assert!(filled.err.contains("filled 1 missing values"), "{}", filled.err);
    assert_eq!(filled.out, ok(&["predict", &lenient, &data]).out);
    let skipped = ok(&["predict", &model, &data, "--missing", "skip"]);
    assert_eq!(skipped.out.lines().count(), 3, "{}", skipped.out);
    assert!(skipped.out.ends_with("\"\"\n"), "{}", skipped.out);
    fails(&["predict", &lenient, &data, "--missing", "error"], 3, &["E021"]);
}

#[test]
fn unknown_levels_follow_the_policy_said_at_fit() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", crate::houses());
    let new = file(folder.path(), "new.csv", "area,rooms,street\n70,3,birch\n");
    for learner in ["tree", "ridge"] {
        for (policy, code) in [("error", 3), ("missing", 0), ("other", 0)] {
            let model = folder.path().join(format!("{learner}-{policy}.learnt"));
            let model = model.to_str().unwrap();
            ok(&["fit", learner, &data, "-t", "price", "-o", model, "--unknown", policy]);
            let done = learnt(&["predict", model, &new]);
            assert_eq!(done.code, code, "{learner} {policy}: {}", done.err);
            assert!(code == 0 || done.err.contains("'birch' (1)"), "{}", done.err);
        }
    }
}

/// Text in the sources of this workspace that is no test.
fn sources(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir()
            && !["tests", "benches", "target", "xtask", "generate"]
                .iter()
                .any(|n| path.ends_with(n))
        {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_string();
            out.push((path, code));
        }
    }
}

/// The flags that a text names, such as `--max-memory`.
fn flags(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let before = text[..at].chars().next_back();
        let word: String = text[at + 2..]
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
            .collect();
        let starts = before.is_none_or(|c| " `'\"(,=".contains(c));
        if starts && word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.ends_with('-') {
            found.insert(word);
        }
    }
    found
}

#[test]
fn every_flag_that_a_message_names_exists() {
    let mut known = BTreeSet::new();
    let page = ok(&["--help"]).out;
    known.extend(flags(&page));
    let verbs = page.lines().skip_while(|line| !line.starts_with("Verbs:")).skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    for verb in verbs.flat_map(|line| line.split_whitespace().skip(1)) {
        known.extend(flags(&ok(&["help", verb]).out));
    }
    for words in [
        ["fit", "ridge"],
        ["cv", "ridge"],
        ["fit", "dummy-classifier"],
        ["fit", "logistic"],
        ["fit", "qda"],
        ["fit", "glm"],
        ["fit", "lasso"],
        ["fit", "random-forest-classifier"],
        ["fit", "pipeline"],
        ["fit", "column-transformer"],
        ["fit", "voting-classifier"],
        ["metric", "roc-curve"],
        ["curve", "ridge"],
        ["tune", "ridge"],
        ["cluster", "kmeans"],
        ["reduce", "pca"],
        ["plan", "ridge"],
    ] {
        known.extend(flags(&ok(&["help", words[0], words[1]]).out));
    }
    assert!(known.len() > 40, "{known:?}");
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let mut wrong = Vec::new();
    for (path, text) in files {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            // Flags of cargo, in hints about builds.
            let of_cargo = line.contains("cargo ") || line.contains("--features columnar");
            let quoted = line.split('"').skip(1).step_by(2);
            for flag in quoted.flat_map(flags).filter(|flag| !known.contains(flag) && !of_cargo) {
                wrong.push(format!("{}: --{flag}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "flags that do not exist:\n{}", wrong.join("\n"));
}
