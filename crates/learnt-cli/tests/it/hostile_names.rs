//! Names from outside: what a terminal, a shell, a page, a picture or a spreadsheet would obey is inert.

use crate::{file, learnt, ok};
use std::path::Path;

/// Column names and classes that a terminal, a shell, HTML or Markdown would obey.
const RED: &str = "\u{1b}[31mred\u{7}";
const SHELL: &str = "$(touch x)";
const SCRIPT: &str = "<script>alert(1)</script>";
const TURN: &str = "a\u{202e}b\u{9b}2J|c`d`";

/// A table whose names and classes are hostile.
fn table(folder: &Path) -> String {
    let mut text = format!("\"{RED}\",\"{SCRIPT}\",\"{TURN}\",\"{SHELL}\"\n");
    for i in 0..40 {
        let class = [RED, SCRIPT, TURN][i % 3];
        text += &format!("{i},{},{},\"{class}\"\n", (i * 7) % 5, (i * i) % 11);
    }
    file(folder, "hostile.csv", text)
}

fn tame(text: &str, what: &str) {
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    let found = text.chars().find(|&c| bad(c));
    assert!(found.is_none(), "{what}: {found:?} in\n{}", text.escape_debug());
}

#[test]
fn a_terminal_is_told_nothing_by_names() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let told: Vec<Vec<&str>> = vec![
        vec!["describe", &data, "-t", SHELL],
        vec!["describe", &data, "-t", SHELL, "--json"],
        vec!["fit", "tree", &data, "-t", SHELL, "-o", &model],
        vec!["fit", "logistic", &data, "-t", SHELL, "--json"],
        vec!["inspect", &model],
        vec!["inspect", &model, "--schema"],
        vec!["inspect", &model, "--json"],
        vec!["summary", &model],
        vec!["score", &model, &data],
        vec!["compare", &data, "-t", SHELL, "--only", "dummy-classifier,tree", "--folds", "2"],
        vec!["cv", "tree", &data, "-t", SHELL, "--folds", "2"],
        vec!["path", "lasso", &data, "-t", SCRIPT, "--task", "regress", "--ignore", SHELL],
        vec!["plot", "tree", &model],
        vec!["ask", &model],
        vec!["predict", &model, "no\u{1b}[2Jfile.csv"],
        vec!["fit", "tree", &data, "-t", "no\u{1b}[2Jcolumn"],
        vec!["score", &model, &data, "--metric", "\u{1b}[2J"],
        vec!["fit", "ridge", &data, "-t", SCRIPT, "--formula", "y\u{1b}[2J ~ x"],
        vec!["show", "\u{1b}[2J"],
        vec!["help", "\u{1b}[2J"],
    ];
    for words in told {
        let done = learnt(&words);
        tame(&done.out, &format!("{words:?}"));
        tame(&done.err, &format!("{words:?}"));
    }
}

#[test]
fn commands_that_are_proposed_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let next = |words: &[&str]| {
        let done = ok(words);
        done.err.lines().find(|line| line.contains("next:")).unwrap_or_default().to_string()
    };
    let said = next(&["describe", &data, "-t", SHELL]);
    assert!(said.contains("-t '$(touch x)'"), "{said}");
    let said = next(&["compare", &data, "-t", SHELL, "--only", "tree,knn", "--folds", "2"]);
    assert!(said.contains("-t '$(touch x)'"), "{said}");
    let model = folder.path().join("my $(model).learnt").to_str().unwrap().to_string();
    let said = next(&["fit", "tree", &data, "-t", SHELL, "-o", &model]);
    assert!(said.contains("my $(model).learnt' NEW.csv"), "{said}");
}

#[test]
fn pages_and_pictures_hold_names_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (model, page, tree) = (place("m.learnt"), place("r.html"), place("t.svg"));
    ok(&["fit", "tree", &data, "-t", SHELL, "-o", &model]);
    ok(&["report", &model, &data, "-o", &page]);
    ok(&["plot", "tree", &model, "-o", &tree]);
    for path in [&page, &tree] {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains("<script>alert"), "{path}");
        tame(&text.replace('\t', " "), path);
    }
}

#[test]
fn tables_in_files_give_names_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let columnar = if cfg!(feature = "columnar") { &["t.parquet", "t.arrow"][..] } else { &[] };
    for &name in ["t.csv", "t.tsv", "t.ndjson", "t.arff"].iter().chain(columnar) {
        let (there, back) = (place(name), place(&format!("{name}.back.csv")));
        ok(&["convert", &data, &there]);
        ok(&["convert", &there, &back]);
        let (first, again) = (std::fs::read(&data).unwrap(), std::fs::read(&back).unwrap());
        let fields = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('"', "");
        assert_eq!(fields(&first), fields(&again), "{name}");
    }
    let markdown = place("folds.md");
    let lines = format!("\"a|b{RED}\",y\n1,2\n3,4\n5,6\n7,8\n");
    let small = file(folder.path(), "small.csv", lines);
    ok(&["split", "k-fold", &small, "--n-splits", "2", "-o", &markdown]);
    tame(&std::fs::read_to_string(&markdown).unwrap(), "Markdown");
}
