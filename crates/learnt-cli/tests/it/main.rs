//! The command as a user meets it: results, messages, exit codes, files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checkpoint;
mod clusters;
mod curves;
mod faults;
mod files;
mod first_hour;
mod formula;
mod functions;
mod fuzz;
mod guides;
mod hostile_names;
mod jobs;
mod limits;
mod linear;
mod messy;
mod odd_trees;
mod pictures;
mod places;
mod roles;
mod small_things;
mod statistics;
mod streams;
mod tables;
mod trees;
mod tune;
mod verbs;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a call of the command left behind.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Calls `learnt` with these words.
pub(crate) fn learnt(words: &[&str]) -> Done {
    learnt_with(words, b"")
}

/// Calls `learnt` with these words and this standard input.
pub(crate) fn learnt_with(words: &[&str], input: &[u8]) -> Done {
    let mut child = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read its input: a closed pipe is fine.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let done = Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    for text in [&done.out, &done.err] {
        assert!(!text.contains("panicked") && !text.contains(".rs:"), "{words:?}: {text}");
    }
    done
}

pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learnt"));
    command.args(words);
    command
}

/// Calls `learnt` and expects success.
pub(crate) fn ok(words: &[&str]) -> Done {
    let done = learnt(words);
    assert_eq!(done.code, 0, "{words:?}\n{}{}", done.out, done.err);
    done
}

/// Calls `learnt` and expects an exit code and words in the message.
pub(crate) fn fails(words: &[&str], code: i32, parts: &[&str]) -> Done {
    let done = learnt(words);
    assert_eq!(done.code, code, "{words:?}\n{}{}", done.out, done.err);
    for part in parts {
        assert!(done.err.contains(part), "{words:?}: '{part}' is not in\n{}", done.err);
    }
    done
}

/// A file with this content in a folder.
pub(crate) fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_string()
}

/// Rows with a numeric and a categorical column, a target, and holes.
pub(crate) fn houses() -> String {
    let mut text = String::from("area,rooms,street,price\n");
    for i in 0..60 {
        let area = 50 + (i * 37) % 100;
        let street = ["elm", "oak", "ash"][i % 3];
        let rooms = if i % 11 == 3 { String::new() } else { (1 + i % 5).to_string() };
        let price = 3 * area + 20 * (i % 3) + (i * 7) % 5;
        text += &format!("{area},{rooms},{street},{price}\n");
    }
    text
}
