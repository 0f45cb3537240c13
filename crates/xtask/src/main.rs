//! Repository tasks: `cargo xtask test [--quick] | test-engines | tidy | kernels | gen [--check] | bench | golden`.

mod bench;
mod engines;
mod golden;
mod kernels;
mod steps;
mod system;
mod test;
mod tidy;
mod venv;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test           everything: format, lints, generated files, Rust tests, Python tests
cargo xtask test --quick   a few minutes' worth: format, tidy, units of changed crates, some Python
cargo xtask test-engines   fits on Ray, Dask and Spark: the same bytes, workers and drivers killed
cargo xtask tidy           rules about the sources: edges, lengths, names, dependencies
cargo xtask kernels        vector kernels: refuses compiled code without wide registers
cargo xtask gen [--check]  write (or compare) the Python classes, stubs and reference pages
cargo xtask bench [...]    time learnt beside its peers
cargo xtask golden         make the reference numbers again and compare them";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => test::run(),
        ["test", "--quick"] => test::quick(),
        ["test-engines", ..] => engines::run(&words[1..]),
        ["tidy"] => tidy::check(),
        ["kernels"] => kernels::check(),
        ["gen", ..] => test::generate(&words[1..]),
        ["bench", ..] => bench::run(&args[1..]),
        ["golden"] => golden::run(),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

/// Tells the person at the terminal.
#[expect(clippy::print_stderr, reason = "this is a program for a terminal")]
pub(crate) fn say(message: &str) {
    eprintln!("{message}");
}
