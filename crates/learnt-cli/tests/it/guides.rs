//! The guides of `docs/guides`: every command in them runs as it stands, in one empty folder a page.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides")
}

/// The lines after `$ ` inside blocks of console text.
fn commands(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            out.push(command.to_string());
        }
    }
    out
}

pub(crate) fn shell(command: &str, place: &Path) {
    let binary = Path::new(env!("CARGO_BIN_EXE_learnt"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut all = vec![binary.parent().unwrap().to_path_buf()];
    all.extend(std::env::split_paths(&paths));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(place)
        .env("PATH", std::env::join_paths(all).unwrap())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{err}");
}

#[test]
#[cfg(unix)]
fn every_command_of_the_guides_runs() {
    let mut run = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let place = tempfile::tempdir().unwrap();
        for command in commands(&page) {
            shell(&command, place.path());
            run += 1;
        }
    }
    assert!(run > 30, "only {run} commands were found");
}

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_runs() {
    let page = std::fs::read_to_string(folder().join("../../README.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("learnt ")).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        shell(command, place.path());
    }
}

#[test]
fn tables_of_the_guides_name_verbs_and_learners_that_are_there() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        for piece in page.split('`').filter(|piece| piece.starts_with("learnt ")) {
            let words: Vec<&str> = piece.split_whitespace().skip(1).take(2).collect();
            let (verb, name) = (words[0], words.get(1).copied().unwrap_or("--help"));
            let call = match verb {
                "fit" | "cv" | "make" | "metric" => vec![verb, name, "--help"],
                _ => vec![verb, "--help"],
            };
            let done = crate::learnt(&call);
            assert_eq!(done.code, 0, "{}: {piece}\n{}", path.display(), done.err);
        }
    }
}
