//! The binary `learnt`.

use std::process::ExitCode;

#[global_allocator]
static MEMORY: learnt::LargePages = learnt::LargePages;

fn main() -> ExitCode {
    ExitCode::from(learnt_cli::main(std::env::args_os()).number())
}
