//! Where results go: never over what is read, never over anything without `-f`, whole or not at all.

use crate::{command, fails, file, houses, learnt, ok};
use std::path::Path;
use std::process::Stdio;

/// A folder with a table and a model of it.
fn stage() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = path(folder.path(), "m.learnt");
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model]);
    (folder, data, model)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_string()
}

#[test]
fn what_is_read_is_never_replaced() {
    let (folder, data, model) = stage();
    let before = (std::fs::read(&data).unwrap(), std::fs::read(&model).unwrap());
    let linked = path(folder.path(), "hard.csv");
    std::fs::hard_link(&data, &linked).unwrap();
    #[cfg(unix)]
    let soft = {
        let soft = path(folder.path(), "soft.csv");
        std::os::unix::fs::symlink(&data, &soft).unwrap();
        soft
    };
    #[cfg(not(unix))]
    let soft = data.clone();
    for force in [&[][..], &["-f"]] {
        for target in [&data, &model, &linked, &soft] {
            let words = [&["predict", &model, &data, "-o", target][..], force].concat();
            fails(&words, 2, &["what is read"]);
        }
        for words in [
            &["convert", &data, &data][..],
            &["fit", "tree", &data, "-t", "price", "-o", &data],
            &["update", &model, &data, "-o", &model],
            &["report", &model, &data, "-o", &data],
            &["plot", "tree", &model, "-o", &model],
        ] {
            fails(&[words, force].concat(), 2, &["what is read"]);
        }
    }
    let after = (std::fs::read(&data).unwrap(), std::fs::read(&model).unwrap());
    assert!(before == after, "an input was changed");
}

#[test]
fn nothing_that_is_there_is_replaced_without_being_told() {
    let (folder, data, model) = stage();
    let old = |name: &str| file(folder.path(), name, "old");
    let (csv, svg, html, learnt_file) =
        (old("o.csv"), old("o.svg"), old("o.html"), old("o.learnt"));
    let all: Vec<Vec<&str>> = vec![
        vec!["predict", &model, &data, "-o", &csv],
        vec!["convert", &data, &csv],
        vec!["dataset", "iris", "-o", &csv],
        vec!["make", "moons", "-o", &csv],
        vec!["path", "lasso", "cpu", "-o", &csv],
        vec!["path", "lasso", "cpu", "--plot", &svg],
        vec!["split", "k-fold", &data, "-o", &csv],
        vec!["plot", "tree", &model, "-o", &svg],
        vec!["report", &model, "-o", &html],
        vec!["fit", "tree", &data, "-t", "price", "-o", &learnt_file],
        vec!["fit", "kmeans", "iris", "--labels", &csv],
    ];
    for words in all {
        let place = words.iter().rev().find(|word| word.contains("/o.")).unwrap();
        fails(&words, 2, &["exists", "-f"]);
        assert_eq!(std::fs::read(place).unwrap(), b"old", "{words:?}");
        ok(&[words.as_slice(), &["-f"]].concat());
        assert_ne!(std::fs::read(place).unwrap(), b"old", "{words:?}");
        std::fs::write(place, "old").unwrap();
    }
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let temporary = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(temporary.count(), 0, "temporary files are left behind");
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_work() {
    let (folder, data, model) = stage();
    let nowhere = path(folder.path(), "no/such/p.csv");
    fails(&["predict", &model, "no-such-file.csv", "-o", &nowhere], 3, &["no folder", "mkdir"]);
    let directory = folder.path().to_str().unwrap();
    fails(&["fit", "tree", &data, "-t", "price", "-o", directory], 3, &["directory"]);
    for odd in ["p.xlsx", "predictions", "p.cvs"] {
        let place = path(folder.path(), odd);
        fails(&["predict", &model, &data, "-o", &place], 2, &["names no file format", ".parquet"]);
        assert!(!Path::new(&place).exists());
    }
}

#[cfg(unix)]
#[test]
fn links_devices_and_pipes_are_written_through_and_modes_are_kept() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let (folder, data, model) = stage();
    std::fs::set_permissions(&model, std::fs::Permissions::from_mode(0o600)).unwrap();
    let link = path(folder.path(), "link.learnt");
    symlink(&model, &link).unwrap();
    ok(&["fit", "ridge", &data, "-t", "price", "-o", &link, "-f"]);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&model).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(ok(&["inspect", &model]).out.contains("Ridge"));

    ok(&["predict", &model, &data, "-o", "/dev/null"]);
    ok(&["fit", "ridge", &data, "-t", "price", "-o", "/dev/null"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let fifo = path(folder.path(), "pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = command(&["convert", &fifo, "-", "--to", "csv", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    ok(&["predict", &model, &data, "-o", &fifo]);
    let read = reader.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout).lines().count(), 61);
    assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo());
}

/// Verbs that print, with words that make them do so.
fn printing<'a>(model: &'a str, data: &'a str) -> Vec<Vec<&'a str>> {
    vec![
        vec!["dataset", "iris"],
        vec!["dataset"],
        vec!["predict", model, data],
        vec!["predict", model, data, "--json"],
        vec!["score", model, data],
        vec!["compare", "iris", "--only", "dummy-classifier", "--folds", "2"],
        vec!["cv", "dummy-classifier", "iris", "--folds", "2"],
        vec!["describe", data],
        vec!["describe", data, "--json"],
        vec!["summary", model],
        vec!["inspect", model],
        vec!["verify", model],
        vec!["convert", data, "-", "--to", "csv"],
        vec!["make", "moons"],
        vec!["list"],
        vec!["show", "ridge"],
        vec!["help", "E014"],
        vec!["plot", "tree", model],
        vec!["theory", "vc-bound", "--n", "1000", "--d-vc", "3"],
        vec!["fit", "tree", data, "-t", "price"],
        vec!["fit", "tree", data, "-t", "price", "-o", "-"],
        vec!["--help"],
        vec!["--version"],
        vec!["fit", "--help"],
        vec!["completions", "bash"],
        vec!["explain", model, data],
        vec!["choose-k", "iris", "--ignore", "species"],
        vec!["path", "lasso", "cpu"],
    ]
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_of_every_verb_that_prints() {
    let (_folder, data, model) = stage();
    for words in printing(&model, &data) {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = command(&words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{words:?}: {said}");
        assert!(said.contains("E070"), "{words:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_every_verb_quietly() {
    let (_folder, data, model) = stage();
    for words in printing(&model, &data) {
        // Closed before the command begins: a quick one would else have written before.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = command(&words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(141), "{words:?}: {said}");
        assert!(!said.contains("error"), "{words:?}: {said}");
    }
}

#[test]
fn files_left_by_a_process_that_died_are_swept() {
    let (folder, data, model) = stage();
    let left = file(folder.path(), ".m.learnt.4294967294-7.tmp", "half");
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model, "-f"]);
    assert!(!cfg!(target_os = "linux") || !Path::new(&left).exists());
    assert!(learnt(&["verify", &model]).code == 0);
}
