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
    if is_root() && on_path("apt-get").is_some() {
        say("installing chromium");
        venv::execute(Command::new("apt-get").args(["update", "-qq"]))?;
        let packages = ["install", "-y", "-qq", "chromium", "fonts-dejavu-core"];
        venv::execute(
            Command::new("apt-get").args(packages).env("DEBIAN_FRONTEND", "noninteractive"),
        )?;
    }
    found().ok_or_else(|| {
        format!(
            "the tests of pages need a browser, and none of {} is on PATH: install chromium",
            NAMES.join(", ")
        )
    })
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
