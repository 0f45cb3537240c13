//! Forests and boosting on odd tables: a defined answer or a clear error, in memory and streamed.

use crate::{fails, file, ok};
use std::path::Path;

/// Learners with few trees.
const LEARNERS: [[&str; 3]; 3] = [
    ["forest", "--n-estimators", "5"],
    ["extra-trees", "--n-estimators", "5"],
    ["boost", "--max-iter", "5"],
];

/// A table of two columns and a target; a function of the number of a row and of two numbers gives each row.
fn table(folder: &Path, name: &str, row: impl Fn(usize, f64, f64) -> String) -> String {
    let mut text = String::from("a,b,y\n");
    for i in 0..300 {
        let (a, b) = (((i * 37) % 101) as f64 - 50.0, ((i * 53) % 89) as f64 - 44.0);
        text += &row(i, a, b);
        text.push('\n');
    }
    file(folder, name, text)
}

fn label(a: f64, b: f64) -> &'static str {
    if a + b > 0.0 { "yes" } else { "no" }
}

/// The words of a fit, in memory and streamed.
fn fits<'a>(learner: &[&'a str], data: &'a str, model: &'a str) -> [Vec<&'a str>; 2] {
    let words = ["fit", learner[0], data, "-t", "y", "-o", model, "-f"];
    let words = [&words, &learner[1..]].concat();
    let streamed = [&words[..], &["--stream"]].concat();
    [words, streamed]
}

/// Fits both ways; what both predict for a table, which is the same.
fn predictions(learner: &[&str], data: &str, asked: &str, folder: &Path) -> String {
    let place = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (model, out) = (place("model.learnt"), place("out.csv"));
    let both = fits(learner, data, &model).map(|words| {
        ok(&words);
        ok(&["predict", &model, asked, "-o", &out, "-f"]);
        std::fs::read_to_string(&out).unwrap()
    });
    assert!(both[0] == both[1], "{learner:?} of {data}: streamed predictions differ");
    both[0].clone()
}

#[test]
fn columns_that_say_nothing_are_not_split_and_trees_without_any_are_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plain = table(folder, "plain.csv", |_, a, b| format!("{a},{b},{}", label(a, a + b)));
    let all_missing = table(folder, "missing.csv", |_, a, b| format!("{a},,{}", label(a, b)));
    let constant = table(folder, "constant.csv", |_, a, b| format!("{a},7,{}", label(a, b)));
    let nothing = table(folder, "nothing.csv", |_, a, b| format!(",7,{}", label(a, b)));
    for learner in LEARNERS {
        for data in [&all_missing, &constant] {
            let predicted = predictions(&learner, data, data, folder);
            assert!(predicted.contains("yes") && predicted.contains("no"), "{learner:?}");
        }
        // Every row is predicted as the class that most rows have.
        let predicted = predictions(&learner, &nothing, &nothing, folder);
        let first = predicted.lines().nth(1).unwrap();
        assert!(predicted.lines().skip(1).all(|line| line == first), "{learner:?}");
        assert!(predictions(&learner, &plain, &plain, folder) != predicted, "{learner:?}");
    }
}

#[test]
fn one_class_and_one_number_are_predicted_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, target) in [("class.csv", "yes"), ("number.csv", "2.5")] {
        let data = table(folder, name, |_, a, b| format!("{a},{b},{target}"));
        for learner in LEARNERS {
            let predicted = predictions(&learner, &data, &data, folder);
            assert!(predicted.lines().skip(1).all(|line| line.contains(target)), "{learner:?}");
        }
    }
}

#[test]
fn a_category_never_seen_is_refused_unless_the_fit_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let levels = |some: &'static [&str]| {
        move |i: usize, a: f64, b: f64| format!("{a},{},{}", some[i % some.len()], label(a, b))
    };
    let data = table(folder, "seen.csv", levels(&["u", "v"]));
    let new = table(folder, "new.csv", levels(&["u", "v", "z"]));
    let place = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (model, out) = (place("model.learnt"), place("out.csv"));
    for learner in LEARNERS {
        for words in fits(&learner, &data, &model) {
            ok(&words);
            fails(&["predict", &model, &new], 3, &["'b'", "'z'", "--unknown"]);
            for policy in ["missing", "other"] {
                ok(&[&words[..], &["--unknown", policy]].concat());
                ok(&["predict", &model, &new, "-o", &out, "-f"]);
            }
        }
    }
}

#[test]
fn a_hundred_thousand_categories_are_fitted_in_memory_and_streamed_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("a,b,y\n");
    for i in 0..100_000_u32 {
        text += &format!("{},id{i},{}\n", i % 97, ["no", "yes"][(i % 97 > 40) as usize]);
    }
    let data = file(folder.path(), "many.csv", text);
    let model = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for learner in [["boost", "--max-iter", "2"], ["forest", "--n-estimators", "2"]] {
        let models = [model("a.learnt"), model("b.learnt")];
        let [memory, _] = fits(&learner, &data, &models[0]);
        let [_, streamed] = fits(&learner, &data, &models[1]);
        for words in [memory, streamed] {
            ok(&[&words[..], &["--type", "b=cat"]].concat());
        }
        let read = |path: &String| std::fs::read(path).unwrap();
        assert!(read(&models[0]) == read(&models[1]), "{learner:?}");
    }
}

#[test]
fn infinities_and_weights_that_do_not_count_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let at =
        |i: usize, bad: &str, good: f64| if i == 17 { bad.to_string() } else { good.to_string() };
    let infinite =
        table(folder, "infinite.csv", |i, a, b| format!("{a},{},{}", at(i, "inf", b), label(a, b)));
    let target = table(folder, "target.csv", |i, a, b| format!("{a},{b},{}", at(i, "-inf", a * b)));
    let none = table(folder, "none.csv", |_, a, b| format!("{a},0,{}", label(a, b)));
    let negative = table(folder, "negative.csv", |i, a, b| {
        format!("{a},{},{}", at(i, "-1", 1.0), label(a, b))
    });
    let half = table(folder, "half.csv", |i, a, b| format!("{a},{},{}", i % 2, label(a, b)));
    let model = folder.join("model.learnt").to_str().unwrap().to_string();
    for learner in LEARNERS {
        for words in fits(&learner, &infinite, &model) {
            fails(&words, 3, &["'b'", "row 18", "infinit"]);
        }
        for words in fits(&learner, &target, &model) {
            fails(&words, 3, &["target", "row 18"]);
        }
        let weighted = |data, parts: &[&str]| {
            for words in fits(&learner, data, &model) {
                fails(&[&words[..], &["--weight", "b"]].concat(), 3, parts);
            }
        };
        weighted(&none, &["all weights are zero"]);
        weighted(&negative, &["weight -1", "row 18"]);
        for words in fits(&learner, &half, &model) {
            ok(&[&words[..], &["--weight", "b"]].concat());
        }
    }
}

#[test]
fn no_trees_are_refused_and_a_depth_of_a_million_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = table(folder, "plain.csv", |_, a, b| format!("{a},{b},{}", label(a, b)));
    let place = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let models = [place("a.learnt"), place("b.learnt")];
    for [name, count, few] in LEARNERS {
        for words in fits(&[name, count, "0"], &data, &models[0]) {
            fails(&words, 2, &["must be a whole number >= 1, got 0"]);
        }
        let deep = fits(&[name, count, few, "--max-depth", "1000000"], &data, &models[0]);
        let free = fits(&[name, count, few], &data, &models[1]);
        for (deep, free) in deep.iter().zip(&free) {
            ok(deep);
            ok(free);
            let drawn = models.each_ref().map(|model| {
                ok(&[
                    "predict",
                    model,
                    &data,
                    "--method",
                    "probabilities",
                    "-o",
                    &place("p.csv"),
                    "-f",
                ]);
                std::fs::read_to_string(place("p.csv")).unwrap()
            });
            assert!(drawn[0] == drawn[1], "{name}");
        }
    }
}

#[test]
fn a_member_that_fails_is_named_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = table(folder, "nothing.csv", |_, a, b| format!("3,7,{}", label(a, b)));
    let model = folder.join("model.learnt").to_str().unwrap().to_string();
    let words = ["fit", "bagging", &data, "-t", "y", "--estimator", "lda", "-o", &model];
    fails(&words, 3, &["member 1", "LinearDiscriminantAnalysis", "rank 0"]);
}
