//! The binary `learnt`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(learnt_cli::main(std::env::args_os()).number())
}
