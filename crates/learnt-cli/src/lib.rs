//! The `learnt` command: results on standard output, everything else on standard error.
//!
//! The binary `learnt` and the script of the same name in the Python package both call [`main`].

mod args;
mod commands;
mod input;
mod learner;
mod looks;
mod observer;
mod output;
mod picture;
mod place;

use learnt::error::{Code, Error};
use std::ffi::OsString;

/// How the command ends: 0 is well, `learnt --help` lists the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// All is well.
    pub const SUCCESS: ExitCode = ExitCode(0);

    /// The number that a shell sees.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        ExitCode(number)
    }
}

/// Runs the command with these words, of which the first is its own name.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    quiet_panics();
    std::panic::catch_unwind(|| answer(&words)).unwrap_or_else(|_| output::failure(&bug(), false))
}

fn answer(words: &[OsString]) -> ExitCode {
    if asks_for_version(words) {
        output::print(concat!("learnt ", env!("CARGO_PKG_VERSION"), "\n"));
        return output::printed(ExitCode::SUCCESS);
    }
    let matches = match args::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            let verb = words.get(1).map(|word| word.to_string_lossy().into_owned());
            return output::usage(&error, &verb.unwrap_or_default());
        }
    };
    match commands::run(&matches) {
        Ok(code) => output::printed(code),
        Err(error) => output::failure(&error, args::wants_json(&matches)),
    }
}

/// The version alone, which needs no list of all learners and their flags.
fn asks_for_version(words: &[OsString]) -> bool {
    matches!(words, [_, word] if word == "--version" || word == "-V")
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
