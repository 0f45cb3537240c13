//! How an answer leaves the command: as text, as a JSON document, or as a file.

use super::Call;
use crate::output::{print, print_json};
use crate::place;
use learnt::answer::Answer;
use learnt::error::{Error, Result};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Prints the answer, or writes it to the file of `-o`, whose ending chooses the form. A JSON document
/// has `facts` beside it; text shows at most this many rows of each table.
pub(crate) fn show(
    call: &Call,
    verb: &str,
    seed: Option<u64>,
    facts: Json,
    answer: &Answer,
    most: usize,
) -> Result<()> {
    if let Some(path) = call.text("out").filter(|path| *path != "-") {
        return write(call, path, answer);
    }
    match call.json {
        true => {
            let mut document = facts;
            if let Json::Object(document) = &mut document {
                document.insert("answer".into(), json!(answer.to_json()));
            }
            print_json(verb, seed, document);
        }
        false => print(&answer.to_text_fitted(most, call.line_width())),
    }
    Ok(())
}

/// Writes the answer to a file, whose ending chooses the form.
pub(crate) fn write(call: &Call, path: &str, answer: &Answer) -> Result<()> {
    let ending = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let text = match ending {
        "csv" => answer.to_csv(),
        "json" => format!("{:#}\n", answer.to_json()),
        "md" => answer.to_markdown(),
        "txt" => answer.to_text(),
        _ => {
            let known = ["csv", "json", "md", "txt"];
            return Err(Error::unknown("file format", ending, known)
                .hint("name a file that ends in .csv, .json, .md or .txt"));
        }
    };
    place::bytes(call, path, text.as_bytes())
}
