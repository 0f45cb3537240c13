//! What the command prints: tables or JSON on standard output, words on standard error.

use learnt::error::{Error, plain};
use serde_json::{Value as Json, json};
use std::io::Write;
use std::process::ExitCode;

/// Prints to standard output; a closed pipe is the reader's right, not an error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
    print(&format!("{document:#}\n"));
}

/// Says something on standard error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells of an error and gives its exit code. Under `--json` the error is a document too.
pub(crate) fn failure(error: &Error, as_json: bool) -> ExitCode {
    if as_json {
        let place = json!({ "column": error.column_name(), "row": error.row_number() });
        let document = json!({
            "schema": "learnt.error/1",
            "code": error.code().to_string(),
            "message": error.message(),
            "hint": error.hint_text(),
            "where": place,
        });
        print(&format!("{document:#}\n"));
    }
    let mut text = format!("error[{}]: {}", error.code(), printable(error.message()));
    if let Some(hint) = error.hint_text() {
        text.push_str(&format!("\n  help: {}", printable(hint)));
    }
    say(&text);
    ExitCode::from(error.code().exit_code())
}

/// Escapes what a terminal would obey, line by line.
fn printable(text: &str) -> String {
    let line = |line: &str| {
        line.chars()
            .collect::<Vec<_>>()
            .chunks(200)
            .map(|c| plain(&c.iter().collect::<String>()))
            .collect::<String>()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n  ")
}

/// Help and version are answers; anything else is a mistake in the call.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(&error.render().to_string());
            ExitCode::SUCCESS
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
