//! `cargo xtask test`: everything that must hold before a change is merged.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{generate, say, venv};

/// Runs all steps; the first that fails ends the run.
pub(crate) fn run() -> Result<(), String> {
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("lints", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
    })?;
    step("generated files", generate::check)?;
    step("Rust tests", || cargo(&["test", "--workspace", "--quiet"]))?;
    step("Python tests", python)
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    say(&format!("== {name}"));
    let start = std::time::Instant::now();
    work().map_err(|error| format!("{name}: {error}"))?;
    say(&format!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn cargo(args: &[&str]) -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    venv::execute(Command::new(program).args(args).current_dir(venv::root()))
}

/// Builds the native module with the profile of the tests, puts it beside the Python files, and
/// runs pytest in an environment of its own.
fn python() -> Result<(), String> {
    let root = venv::root();
    let package = root.join("python");
    let python = venv::ensure(".venv", &package.join("requirements-test.txt"))?;
    cargo(&["build", "--package", "learnt-python", "--quiet"])?;
    place_module(&root.join("target").join("debug"), &package.join("learnt"))?;
    venv::execute(
        Command::new(python)
            .args(["-m", "pytest", "-q", "tests"])
            .env("PYTHONPATH", &package)
            .current_dir(&package),
    )
}

/// Copies the native module to the name that Python imports.
fn place_module(built: &Path, package: &Path) -> Result<(), String> {
    let (from, to) = if cfg!(windows) {
        ("_native.dll", "_native.pyd")
    } else if cfg!(target_os = "macos") {
        ("lib_native.dylib", "_native.abi3.so")
    } else {
        ("lib_native.so", "_native.abi3.so")
    };
    // A new file, because writing into a library that a process has mapped would crash it.
    let target = package.join(to);
    let fresh = package.join("_native.new");
    fs::copy(built.join(from), &fresh)
        .and_then(|_| fs::rename(&fresh, &target))
        .map_err(|error| format!("{}: {error}", target.display()))
}
