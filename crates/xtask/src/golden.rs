//! `cargo xtask golden`: makes the reference numbers again with the peers, and compares them with
//! those in `tests/golden`.

use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{say, venv};

/// Numbers may differ by this much of their size between releases of the peers.
const TOLERANCE: f64 = 1e-9;

/// Runs every script on a copy of the folder, then compares what it wrote.
pub(crate) fn run() -> Result<(), String> {
    let golden = venv::root().join("tests").join("golden");
    let requirements = golden.join("generate").join("requirements.txt");
    let python = venv::ensure(".venv-golden", &requirements)?;
    let copy = venv::root().join("target").join("golden");
    copy_folder(&golden, &copy)?;
    let mut different = Vec::new();
    for script in files(&copy.join("generate"), "py")? {
        say(&format!("== {}", script.display()));
        venv::execute(Command::new(&python).arg(&script).current_dir(&copy))?;
    }
    for made in files(&copy, "json")? {
        let kept = golden.join(made.file_name().unwrap_or_default());
        match difference(&read(&kept)?, &read(&made)?, "") {
            None => say(&format!("{}: the same", kept.display())),
            Some(place) => different.push(format!("{}: {place}", kept.display())),
        }
    }
    if different.is_empty() { Ok(()) } else { Err(different.join("\n")) }
}

fn read(path: &Path) -> Result<Json, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The first place where two values differ by more than the tolerance.
fn difference(kept: &Json, made: &Json, place: &str) -> Option<String> {
    match (kept, made) {
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| difference(a, b, &format!("{place}[{i}]"))),
        (Json::Object(a), Json::Object(b)) if a.len() == b.len() => {
            a.iter().find_map(|(key, a)| difference(a, b.get(key)?, &format!("{place}.{key}")))
        }
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            let near = (a - b).abs() <= TOLERANCE * a.abs().max(b.abs());
            (!near).then(|| format!("{place}: {a} is now {b}"))
        }
        (a, b) => (a != b).then(|| format!("{place}: {a} is now {b}")),
    }
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    Ok(found)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(fail)?;
    for entry in fs::read_dir(from).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let target = to.join(entry.file_name());
        match entry.file_type().map_err(fail)?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop).map_err(fail)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_changed_number_is_found_and_named() {
        let (a, b) = (json!({"x": [1.0, 2.0]}), json!({"x": [1.0, 2.1]}));
        assert_eq!(difference(&a, &b, ""), Some(".x[1]: 2 is now 2.1".to_string()));
        assert_eq!(difference(&a, &json!({"x": [1.0, 2.0 + 1e-12]}), ""), None);
    }
}
