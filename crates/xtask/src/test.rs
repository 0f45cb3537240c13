//! `cargo xtask test`: everything that must hold before a change is merged.
//!
//! Every crate of the workspace is compiled once for lints, tests and Python: clippy's driver stands in
//! for the compiler, so that one build is also the check, and all targets are built by one call, so that
//! all share the same features. The Python environment is made while the crates compile.

use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::Steps;
use crate::venv::cargo_command;
use crate::{kernels, say, system, tidy, venv};

/// Programs of tests that run again as on processors with narrower vectors, of so many numbers.
const HAVE_KERNELS: [&str; 2] = ["learnt-core units", "learnt units"];
const NARROW: [&str; 2] = ["4", "1"];

/// Runs all steps; the first that fails ends the run.
pub(crate) fn run() -> Result<(), String> {
    timed(|steps| {
        steps.run("format", |_| cargo(&["fmt", "--all", "--check"]))?;
        steps.run("tidy", |_| tidy::check())?;
        let (built, python) = std::thread::scope(|scope| {
            let python = scope.spawn(environment);
            let built = steps.run("build with lints", |_| {
                build(&["--workspace", "--all-targets", "--all-features"], true)
            });
            let python = python.join().map_err(|_| "the environment of Python".to_string());
            (built, python)
        });
        let (built, python) = (built?, python??);
        steps.run("generated files", |_| generated(&built))?;
        steps.run("Rust tests", |steps| {
            // All of them, so that one run shows everything that fails.
            let mut failed: Vec<String> =
                built.tests.iter().filter_map(|test| test.run(None, steps).err()).collect();
            for lanes in NARROW {
                let kernels = built.tests.iter().filter(|test| HAVE_KERNELS.contains(&&*test.name));
                failed.extend(kernels.filter_map(|test| test.run(Some(lanes), steps).err()));
            }
            if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
        })?;
        steps.run("examples in documentation", |_| {
            venv::execute(linted(&mut cargo_command(&[
                "test",
                "--workspace",
                "--all-features",
                "--doc",
                "--quiet",
            ])))
        })?;
        steps.run("kernels", |_| kernels::check())?;
        let browser = steps.run("browser", |_| system::ensure_chromium())?;
        steps.run("Python tests", |_| pytest(&python, &built, &["tests"], Some(&browser)))
    })
}

/// A few minutes' worth: what most often goes wrong, with the builds that are there already.
pub(crate) fn quick() -> Result<(), String> {
    timed(|steps| {
        steps.run("format", |_| cargo(&["fmt", "--all", "--check"]))?;
        steps.run("tidy", |_| tidy::check())?;
        let python = steps.run("environment of Python", |_| environment())?;
        let built = steps.run("build", |_| {
            build(
                &["--package", "generate", "--package", "learnt-python", "--package", "learnt-cli"],
                false,
            )
        })?;
        steps.run("generated files", |_| generated(&built))?;
        for name in changed_crates()? {
            steps.run(&format!("unit tests of {name}"), |_| {
                let units =
                    if name == "learnt-cli" || name == "xtask" { "--bins" } else { "--lib" };
                cargo(&["test", "--quiet", "--package", &name, units])
            })?;
        }
        let few = ["tests/test_scikit_learn.py", "tests/test_inputs.py", "tests/test_stubs.py"];
        steps.run("some Python tests", |_| pytest(&python, &built, &few, None))
    })
}

/// `cargo xtask gen`, with its arguments.
pub(crate) fn generate(args: &[&str]) -> Result<(), String> {
    let run = ["run", "--quiet", "--package", "generate", "--"];
    cargo(&[&run[..], args].concat())
}

fn timed(work: impl FnOnce(&mut Steps) -> Result<(), String>) -> Result<(), String> {
    let mut steps = Steps::default();
    let result = work(&mut steps);
    say(&steps.slowest());
    result
}

fn cargo(args: &[&str]) -> Result<(), String> {
    venv::execute(&mut cargo_command(args))
}

/// Makes clippy's driver the compiler of the workspace, and its warnings errors.
fn linted(command: &mut Command) -> &mut Command {
    command
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings")
}

fn environment() -> Result<PathBuf, String> {
    venv::ensure(".venv", &venv::root().join("python").join("requirements-test.txt"))
}

/// What a build left.
#[derive(Default)]
struct Built {
    tests: Vec<TestProgram>,
    generator: PathBuf,
    module: PathBuf,
}

/// A program of tests, and the folder of its crate, where it runs.
struct TestProgram {
    name: String,
    program: PathBuf,
    folder: PathBuf,
}

fn build(selected: &[&str], lints: bool) -> Result<Built, String> {
    let mut command =
        cargo_command(&["build", "--quiet", "--message-format=json-render-diagnostics"]);
    command.args(selected);
    if lints {
        linted(&mut command);
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    let mut built = Built::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Ok(message) = serde_json::from_str(line) {
            built.note(&message);
        }
    }
    Ok(built)
}

impl Built {
    /// Keeps what one message of cargo says was made.
    fn note(&mut self, message: &Json) {
        let target = message["target"]["name"].as_str().unwrap_or("");
        let manifest = Path::new(message["manifest_path"].as_str().unwrap_or(""));
        let folder = manifest.parent().unwrap_or(Path::new("")).to_path_buf();
        let crate_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(program) = message["executable"].as_str().map(PathBuf::from) {
            if message["profile"]["test"] == true {
                let kind = message["target"]["kind"][0].as_str().unwrap_or("");
                let name =
                    format!("{crate_name} {}", if kind == "test" { target } else { "units" });
                self.tests.push(TestProgram { name, program, folder });
            } else if target == "generate" {
                self.generator = program;
            }
        } else if target == "_native"
            && let Some(module) = message["filenames"][0].as_str()
        {
            self.module = PathBuf::from(module);
        }
    }
}

impl TestProgram {
    /// Runs the tests, with narrow vectors where asked, and keeps their times.
    ///
    /// Times of single tests are an unstable option of the test harness; the variable lets the stable
    /// harness take it.
    fn run(&self, lanes: Option<&str>, steps: &mut Steps) -> Result<(), String> {
        let narrow = lanes.map(|lanes| format!(", vectors of {lanes}")).unwrap_or_default();
        let name = format!("{}{narrow}", self.name);
        steps.run(&name, |steps| {
            let output = Command::new(&self.program)
                .args(["-Z", "unstable-options", "--report-time"])
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_MANIFEST_DIR", &self.folder)
                .envs(lanes.map(|lanes| ("LEARNT_LANES", lanes)))
                .current_dir(&self.folder)
                .stderr(Stdio::inherit())
                .output()
                .map_err(|error| format!("{}: {error}", self.program.display()))?;
            let printed = String::from_utf8_lossy(&output.stdout);
            steps.note_tests(&name, &printed);
            if output.status.success() {
                return Ok(());
            }
            say(&printed);
            Err(output.status.to_string())
        })
    }
}

fn generated(built: &Built) -> Result<(), String> {
    venv::execute(Command::new(&built.generator).arg("--check"))
}

/// Puts the native module beside the Python files and runs pytest on all cores.
fn pytest(
    python: &Path,
    built: &Built,
    tests: &[&str],
    browser: Option<&Path>,
) -> Result<(), String> {
    let package = venv::root().join("python");
    place_module(&built.module, &package.join("learnt"))?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-q", "--numprocesses", "auto", "--dist", "worksteal"])
        .args(["--durations", "10"])
        .args(tests)
        .env("PYTHONPATH", &package)
        .current_dir(&package);
    if let Some(browser) = browser {
        command.env("LEARNT_CHROMIUM", browser);
    }
    venv::execute(&mut command)
}

/// Builds the command and the native module, and puts that beside the Python files.
pub(crate) fn build_module() -> Result<(), String> {
    let both = ["--package", "learnt-python", "--package", "learnt-cli", "--all-features"];
    let built = build(&both, false)?;
    place_module(&built.module, &venv::root().join("python").join("learnt"))
}

/// Copies the native module to the name that Python imports.
fn place_module(built: &Path, package: &Path) -> Result<(), String> {
    let name = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    // A new file, because writing into a library that a process has mapped would crash it.
    let target = package.join(name);
    let fresh = package.join("_native.new");
    fs::copy(built, &fresh)
        .and_then(|_| fs::rename(&fresh, &target))
        .map_err(|error| format!("{}: {error}", target.display()))
}

/// The crates with files that differ from the main branch; all of them have unit tests.
fn changed_crates() -> Result<Vec<String>, String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(venv::root()).output();
        let output = output.map_err(|error| format!("git: {error}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let base = git(&["merge-base", "HEAD", "main"])?;
    let base = if base.trim().is_empty() { "HEAD" } else { base.trim() };
    let changed = git(&["diff", "--name-only", base])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(crates_of(changed.lines().chain(new.lines())))
}

/// The crates that hold these files, each once; learnt-python has its tests in Python.
fn crates_of<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = files
        .filter_map(|file| file.strip_prefix("crates/")?.split_once('/'))
        .map(|(name, _)| name.to_string())
        .filter(|name| !["learnt-python", "learnt-derive", "generate"].contains(&name.as_str()))
        .collect();
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_of_cargo_name_the_programs_of_tests_the_generator_and_the_module() {
        let mut built = Built::default();
        for (name, kind, test, executable, file) in [
            ("it", "test", true, json!("/t/it-1"), "/t/it-1"),
            ("learnt", "lib", true, json!("/t/learnt-1"), "/t/learnt-1"),
            ("learnt", "lib", false, json!(null), "/t/liblearnt.rlib"),
            ("generate", "bin", false, json!("/t/generate"), "/t/generate"),
            ("_native", "cdylib", false, json!(null), "/t/lib_native.so"),
        ] {
            built.note(&json!({
                "reason": "compiler-artifact", "manifest_path": "/c/crates/learnt/Cargo.toml",
                "target": { "name": name, "kind": [kind] }, "profile": { "test": test },
                "executable": executable, "filenames": [file],
            }));
        }
        let names: Vec<&str> = built.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["learnt it", "learnt units"]);
        assert_eq!(built.tests[0].folder, Path::new("/c/crates/learnt"));
        assert_eq!(built.generator, Path::new("/t/generate"));
        assert_eq!(built.module, Path::new("/t/lib_native.so"));
    }

    #[test]
    fn changed_files_name_their_crates_once() {
        let files = [
            "crates/learnt/src/a.rs",
            "README.md",
            "crates/learnt/b.rs",
            "crates/learnt-core/c.rs",
        ];
        assert_eq!(crates_of(files.into_iter()), ["learnt", "learnt-core"]);
    }
}
