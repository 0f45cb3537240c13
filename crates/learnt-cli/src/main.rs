//! The `learnt` command: results on standard output, everything else on standard error.

mod args;
mod commands;
mod input;
mod learner;
mod observer;
mod output;
mod picture;
mod place;

use learnt::error::{Code, Error};
use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_panics();
    std::panic::catch_unwind(answer).unwrap_or_else(|_| output::failure(&bug(), false))
}

fn answer() -> ExitCode {
    if asks_for_version() {
        output::print(concat!("learnt ", env!("CARGO_PKG_VERSION"), "\n"));
        return ExitCode::SUCCESS;
    }
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return output::usage(&error),
    };
    match commands::run(&matches) {
        Ok(code) => match output::lost() {
            None => code,
            Some(error) => output::failure(&error, false),
        },
        Err(error) => output::failure(&error, args::wants_json(&matches)),
    }
}

/// The version alone, which needs no list of all learners and their flags.
fn asks_for_version() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).take(2).collect();
    matches!(words.as_slice(), [word] if word == "--version" || word == "-V")
}

/// A panic is a mistake of ours, told as one line and not as a trace; `LEARNT_TRACE` shows it.
fn quiet_panics() {
    if std::env::var_os("LEARNT_TRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
}

fn bug() -> Error {
    Error::new(Code::Internal, "a mistake in learnt: this must not happen")
        .hint("report the command and, if you can, the data")
}
