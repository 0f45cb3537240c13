//! Programs of the system that tests need: found, or installed where that is possible.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{say, venv};

/// The path of a Chromium, for tests that open the pages that learnt writes.
///
/// It is looked for on `PATH`; where it is missing and the system is Debian's with rights to install,
/// it is installed.
pub(crate) fn ensure_chromium() -> Result<PathBuf, String> {
    const NAMES: &[&str] =
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = || NAMES.iter().find_map(|name| on_path(name));
    if let Some(path) = found() {
        return Ok(path);
    }
    install(&["chromium", "fonts-dejavu-core"])?;
    found().ok_or_else(|| {
        format!(
            "the tests of pages need a browser, and none of {} is on PATH: install chromium",
            NAMES.join(", ")
        )
    })
}

/// A Java, for tests that start Spark; installed as the browser is.
pub(crate) fn ensure_java() -> Result<(), String> {
    if on_path("java").is_none() {
        install(&["openjdk-17-jre-headless"])?;
    }
    match on_path("java") {
        Some(_) => Ok(()),
        None => Err("the tests on Spark need Java 17, and there is no java on PATH".to_string()),
    }
}

/// Installs packages where the system is Debian's and this user may; else does nothing.
fn install(packages: &[&str]) -> Result<(), String> {
    if !is_root() || on_path("apt-get").is_none() {
        return Ok(());
    }
    say(&format!("installing {}", packages.join(" ")));
    venv::execute(Command::new("apt-get").args(["update", "-qq"]))?;
    venv::execute(
        Command::new("apt-get")
            .args(["install", "-y", "-qq"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// The place of a program.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.with_extension("exe").is_file()
}

fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output();
    asked.is_ok_and(|answer| answer.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_what_is_not_there_is_not() {
        assert!(on_path(if cfg!(windows) { "cargo" } else { "sh" }).is_some());
        assert!(on_path("a-program-that-nobody-has").is_none());
    }
}
