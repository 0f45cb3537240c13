//! `cargo xtask test-engines`: the promises of `learnt.distributed` on Ray, Dask and Spark, in an environment
//! of their own. Installing them takes longer than all that `cargo xtask test` may add, so they are apart.

use std::process::Command;

use crate::{system, test, venv};

/// Makes the environment, builds the native module and runs the tests; more words go to pytest.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let package = venv::root().join("python");
    let python = venv::ensure(".venv-engines", &package.join("requirements-engines.txt"))?;
    system::ensure_java()?;
    test::build_module()?;
    venv::execute(
        Command::new(python)
            .args(["-m", "pytest", "-q", "--durations", "10", "tests_engines"])
            .args(words)
            .env("PYTHONPATH", &package)
            .current_dir(&package),
    )
}
