//! `cargo xtask bench`: learnt beside its peers, in one run.

use std::process::Command;

use crate::venv;

/// Installs the peers, builds learnt as it is distributed, and runs `benches/peers.py` with the arguments.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let root = venv::root();
    let python = venv::ensure(".venv-bench", &root.join("benches").join("requirements.txt"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = [
        "--package",
        "learnt-cli",
        "--package",
        "learnt-io",
        "--bins",
        "--examples",
        "--all-features",
    ];
    venv::execute(
        Command::new(cargo).args(["build", "--profile", "dist"]).args(built).current_dir(&root),
    )?;
    venv::install_package(&python)?;
    let program = root.join("benches").join("peers.py");
    venv::execute(Command::new(&python).arg(program).args(args).current_dir(&root))
}
