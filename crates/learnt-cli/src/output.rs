//! What the command prints: tables or JSON on standard output, words on standard error.
//!
//! Names of columns, classes and files come from outside. Here is the one place that prints them: what a
//! terminal would obey is escaped. What cannot be written to standard output ends the command with an
//! error, and a pipe that its reader closed ends it as a pipe does.

use crate::ExitCode;
use learnt::error::{Code, Error, printable, printable_json};
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// What a shell sees of a command that wrote into a closed pipe.
const BROKEN_PIPE: i32 = 141;

/// The first error of standard output.
static LOST: Mutex<Option<Error>> = Mutex::new(None);

/// Standard output.
pub(crate) struct Out;

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        kept(io::stdout().lock().write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        kept(io::stdout().lock().flush())
    }
}

fn kept<T>(outcome: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &outcome {
        if error.kind() == io::ErrorKind::BrokenPipe {
            learnt::persist::place::remove_temporaries();
            std::process::exit(BROKEN_PIPE);
        }
        let lost = Error::new(Code::Io, format!("standard output cannot be written: {error}"));
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lost);
    }
    outcome
}

/// How a command ends that has printed: with this code, unless something went wrong with standard output.
pub(crate) fn printed(code: ExitCode) -> ExitCode {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.map_or(code, |error| failure(&error, false))
}

/// Prints text for people.
pub(crate) fn print(text: &str) {
    print_as_is(&printable(text));
}

/// The characters of a line that a table may use: those of the terminal, or what COLUMNS says; all of them
/// where the output is no terminal.
pub(crate) fn line_width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|width| width.parse().ok());
    let terminal = || {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width))
    };
    said.or_else(terminal).filter(|width| *width > 0).unwrap_or(usize::MAX)
}

/// Prints data and pictures, which are not changed.
pub(crate) fn print_as_is(text: &str) {
    let _ = Out.write_all(text.as_bytes()).and_then(|()| Out.flush());
}

/// Prints a JSON document with the fields that every one has.
pub(crate) fn print_json(verb: &str, seed: Option<u64>, payload: Json) {
    let mut document = json!({
        "schema": format!("learnt.{verb}/1"),
        "tool": { "name": "learnt", "version": env!("CARGO_PKG_VERSION") },
    });
    if let (Json::Object(document), Json::Object(payload)) = (&mut document, payload) {
        if let Some(seed) = seed {
            document.insert("seed".into(), json!(seed));
        }
        document.extend(payload);
    }
    print_document(&document);
}

fn print_document(document: &Json) {
    print_as_is(&(printable_json(&format!("{document:#}")) + "\n"));
}

/// Says something on standard error; on a terminal its first word has a colour.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", coloured(&printable(text), colours_on_stderr()));
}

/// Says something in one write, with a prefix that a terminal may obey: for the handler of Ctrl-C.
pub(crate) fn say_at_once(prefix: &str, text: &str) {
    let _ = io::stderr().write_all(format!("{prefix}{}\n", printable(text)).as_bytes());
}

/// Whether colours are wanted where standard error is: on a terminal that knows them, and where NO_COLOR
/// does not say otherwise.
fn colours_on_stderr() -> bool {
    use std::io::IsTerminal;
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !refused && !plain && io::stderr().is_terminal()
}

/// Words that say what a line is, with their colours.
const MARKS: &[(&str, &str)] = &[
    ("error", "1;31"),
    ("warning:", "1;33"),
    ("next:", "1;32"),
    ("note:", "1;36"),
    ("left out:", "1;36"),
];

/// The text with a colour for its mark.
fn coloured(text: &str, wanted: bool) -> String {
    let found = MARKS.iter().find(|(mark, _)| wanted && text.starts_with(mark));
    match found {
        None => text.to_string(),
        Some((mark, colour)) => {
            let length = match *mark {
                "error" => text.find(':').unwrap_or(mark.len()),
                mark => mark.len(),
            };
            let (head, rest) = text.split_at(length);
            format!("\u{1b}[{colour}m{head}\u{1b}[0m{rest}")
        }
    }
}

/// A message with parameters as they are typed here: `mode='pocket'`, as Python has it, is `--mode pocket`.
pub(crate) fn typed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("='") {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        let is_name = |text: &str| !text.is_empty() && text.chars().all(is_part);
        let name = rest[..at].trim_end_matches(is_part).len();
        match rest[at + 2..].split_once('\'') {
            Some((value, after)) if name < at && is_name(value) => {
                let flag = rest[name..at].replace('_', "-");
                out.push_str(&format!("{}--{flag} {value}", &rest[..name]));
                rest = after;
            }
            _ => {
                out.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    out + rest
}

/// Tells of an error and gives its exit code. Under `--json` the error is a document too.
pub(crate) fn failure(error: &Error, as_json: bool) -> ExitCode {
    if as_json {
        let place = json!({ "column": error.column_name(), "row": error.row_number() });
        print_document(&json!({
            "schema": "learnt.error/1",
            "code": error.code().to_string(),
            "message": error.message(),
            "hint": error.hint_text(),
            "where": place,
        }));
    }
    let indented = |text: &str| text.lines().collect::<Vec<_>>().join("\n  ");
    let mut text = format!("error[{}]: {}", error.code(), indented(error.message()));
    if let Some(hint) = error.hint_text() {
        text.push_str(&format!("\n  help: {}", indented(hint)));
    }
    say(&typed(&text));
    ExitCode::from(error.code().exit_code())
}

/// Help and version are answers; anything else is a mistake in the call.
pub(crate) fn usage(error: &clap::Error, verb: &str) -> ExitCode {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
        && let Some(unknown) = crate::args::unknown_name(verb, name)
    {
        return failure(&unknown, false);
    }
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(unknown) = crate::args::flag_elsewhere(verb, flag)
    {
        return failure(&unknown, false);
    }
    if error.kind() == ErrorKind::MissingSubcommand {
        return failure(&crate::args::without_name(verb), false);
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(&error.render().to_string());
            printed(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say(&error.render().to_string());
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            say(text
                .strip_prefix("error: ")
                .map_or_else(|| text.clone(), |rest| format!("error[E001]: {rest}"))
                .trim_end());
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_colours_only_where_they_are_wanted() {
        assert_eq!(coloured("warning: x", false), "warning: x");
        assert_eq!(coloured("warning: x", true), "\u{1b}[1;33mwarning:\u{1b}[0m x");
        assert_eq!(coloured("error[E001]: y", true), "\u{1b}[1;31merror[E001]\u{1b}[0m: y");
        assert_eq!(coloured("read iris", true), "read iris");
    }

    #[test]
    fn parameters_of_messages_are_typed_as_flags() {
        assert_eq!(typed("use svd_solver='full', or a='b'"), "use --svd-solver full, or --a b");
        for as_it_is in ["a column 'b'", "x ='y'", "a='", "a=''", "City='New York' ='", "é='"] {
            assert_eq!(typed(as_it_is), as_it_is);
        }
    }
}
