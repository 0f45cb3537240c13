//! `cargo xtask bench`: learnt beside its peers, in one run.

use std::process::Command;

use crate::venv;

/// Installs the peers, builds learnt as it is distributed, and runs `benches/peers.py` with the arguments.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let root = venv::root();
    let program = root.join("benches").join("peers.py");
    if args.iter().any(|word| word == "--list") {
        // The table needs no package: nothing is installed or built to show it.
        let system = if cfg!(windows) { "python" } else { "python3" };
        return venv::execute(Command::new(system).arg(program).args(args).current_dir(&root));
    }
    let python = venv::ensure(".venv-bench", &root.join("benches").join("requirements.txt"))?;
    // The package of the wheel is named, though nothing of it is built here, and the features are the wheel's: so that
    // its build finds the same crates compiled. With pictures as PNG, `bytemuck` has more features, and with it faer
    // and all of learnt would be compiled twice.
    let built = [
        "--package",
        "learnt-cli",
        "--package",
        "learnt-io",
        "--package",
        "learnt-python",
        "--bins",
        "--examples",
        "--no-default-features",
        "--features",
        "learnt-cli/columnar,learnt-io/columnar",
    ];
    venv::execute(venv::cargo_command(&["build", "--profile", "dist"]).args(built))?;
    venv::install_package(&python)?;
    venv::execute(Command::new(&python).arg(program).args(args).current_dir(&root))
}
