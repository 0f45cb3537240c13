//! The `learnt` command: results on standard output, everything else on standard error.

mod args;
mod commands;
mod input;
mod learner;
mod observer;
mod output;

use learnt::error::{Code, Error};
use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_panics();
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return output::usage(&error),
    };
    let run = std::panic::AssertUnwindSafe(|| commands::run(&matches));
    let outcome = std::panic::catch_unwind(run);
    let result = outcome.unwrap_or_else(|_| Err(bug()));
    match result {
        Ok(code) => code,
        Err(error) => output::failure(&error, args::wants_json(&matches)),
    }
}

/// A panic is a mistake of ours, told as one line and not as a trace.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

fn bug() -> Error {
    Error::new(Code::Internal, "a mistake in learnt: this must not happen")
        .hint("report the command and, if you can, the data")
}
