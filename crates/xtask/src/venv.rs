//! Python environments inside the checkout, made from a requirements file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Makes the environment `name` under the root, and again when the requirements have changed.
///
/// Returns the path of its Python. The requirements are kept inside as a stamp, written last: an
/// environment whose installation was cut short is made again.
pub(crate) fn ensure(name: &str, requirements: &Path) -> Result<PathBuf, String> {
    let folder = root().join(name);
    let python = scripts(&folder).join(if cfg!(windows) { "python.exe" } else { "python" });
    let wanted =
        fs::read(requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    let stamp = folder.join("requirements.stamp");
    if python.exists() && fs::read(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    execute(Command::new(system).args(["-m", "venv", "--clear"]).arg(&folder))?;
    execute(
        Command::new(&python)
            .args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r"])
            .arg(requirements),
    )?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// Builds the Python package of this checkout as it is distributed and installs it into an environment.
///
/// The build backend is the environment's own, so nothing is fetched; it looks for its program on
/// `PATH`.
pub(crate) fn install_package(python: &Path) -> Result<(), String> {
    let scripts = python.parent().unwrap_or(Path::new("."));
    let mut places = vec![scripts.to_path_buf()];
    if let Some(path) = std::env::var_os("PATH") {
        places.extend(std::env::split_paths(&path));
    }
    let path = std::env::join_paths(places).map_err(|error| format!("PATH: {error}"))?;
    execute(
        Command::new(python)
            .args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"])
            .args(["--no-build-isolation", "--no-deps", "--force-reinstall", "."])
            .env("PATH", path)
            .current_dir(root()),
    )
}

/// A call of cargo in the checkout. Whatever builds takes the versions of `Cargo.lock`, or fails.
pub(crate) fn cargo_command(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    match args {
        ["fmt", ..] => command.args(args),
        [verb, rest @ ..] => command.arg(verb).arg("--locked").args(rest),
        [] => &mut command,
    };
    command
}

/// Runs a command to its end; anything but success is an error that names it.
pub(crate) fn execute(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

/// Where an environment keeps its programs.
fn scripts(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_builds_is_locked() {
        let words = |args: &[&str]| -> Vec<String> {
            let command = cargo_command(args);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(words(&["build", "--release"]), ["build", "--locked", "--release"]);
        assert_eq!(words(&["run", "--", "x"]), ["run", "--locked", "--", "x"]);
        assert_eq!(words(&["fmt", "--check"]), ["fmt", "--check"]);
    }
}
