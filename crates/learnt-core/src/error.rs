//! One error type for the whole toolkit, with codes that stay the same between releases.
//!
//! A message says what was wrong, where, and what was expected; the hint says what to type instead.

use std::fmt;

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing went wrong. The number is stable: `learnt help E014` explains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// The call itself is off: a missing argument, two that exclude each other.
    Usage = 1,
    /// A parameter is outside what it accepts.
    Parameter = 2,
    /// No learner, parameter, column, data set, metric or file format has this name.
    Unknown = 3,
    /// The model or learner cannot do this at all.
    Unsupported = 4,
    /// No rows, or no columns.
    Empty = 10,
    /// A row has more or fewer fields than the header.
    Ragged = 11,
    /// Bytes that are not text in the stated encoding.
    Encoding = 12,
    /// A value that cannot be read as its column's type.
    Parse = 13,
    /// Columns differ from those the model was trained on.
    Schema = 14,
    /// Column names are duplicated, empty or ambiguous.
    Names = 15,
    /// Two shapes that must agree do not.
    Shape = 16,
    /// An infinite or too large value.
    NotFinite = 20,
    /// Missing values where the learner cannot take them.
    Missing = 21,
    /// A category that was not seen in training.
    Category = 22,
    /// Weights that are negative, not finite or all zero.
    Weights = 23,
    /// A categorical column where numbers are needed.
    NotNumeric = 24,
    /// The target is absent or of the wrong type for the task.
    Target = 25,
    /// Fewer than two classes.
    OneClass = 30,
    /// Too few rows, in all or of one class.
    TooFew = 31,
    /// Arithmetic could not go on: singular, not positive definite, overflow.
    Numeric = 40,
    /// The classes are separated completely, so estimates would be infinite.
    Separation = 41,
    /// The iteration limit was reached before convergence.
    NotConverged = 42,
    /// A score that does not exist for these rows.
    Undefined = 43,
    /// A model file whose checksum does not match its content.
    FileDamaged = 50,
    /// A model file that ends too early.
    FileTruncated = 51,
    /// A model file with a valid checksum and invalid content.
    FileInvalid = 52,
    /// A model file of a newer format.
    FileVersion = 53,
    /// Not a model file at all.
    FileKind = 54,
    /// The estimated memory is above the limit.
    Memory = 60,
    /// Stopped by the user.
    Cancelled = 62,
    /// The operating system refused.
    Io = 70,
    /// A mistake in this library.
    Internal = 900,
}

impl Code {
    /// Every code, in order.
    pub const ALL: &[Code] = &[
        Code::Usage,
        Code::Parameter,
        Code::Unknown,
        Code::Unsupported,
        Code::Empty,
        Code::Ragged,
        Code::Encoding,
        Code::Parse,
        Code::Schema,
        Code::Names,
        Code::Shape,
        Code::NotFinite,
        Code::Missing,
        Code::Category,
        Code::Weights,
        Code::NotNumeric,
        Code::Target,
        Code::OneClass,
        Code::TooFew,
        Code::Numeric,
        Code::Separation,
        Code::NotConverged,
        Code::Undefined,
        Code::FileDamaged,
        Code::FileTruncated,
        Code::FileInvalid,
        Code::FileVersion,
        Code::FileKind,
        Code::Memory,
        Code::Cancelled,
        Code::Io,
        Code::Internal,
    ];

    /// The exit code of the command: 2 usage, 3 data, 4 model file, 7 resources, 130 interrupted,
    /// 1 a mistake of ours.
    pub fn exit_code(self) -> u8 {
        match self {
            Code::Usage | Code::Parameter | Code::Unknown | Code::Unsupported => 2,
            Code::FileDamaged
            | Code::FileTruncated
            | Code::FileInvalid
            | Code::FileVersion
            | Code::FileKind => 4,
            Code::NotConverged => 5,
            Code::Memory => 7,
            Code::Cancelled => 130,
            Code::Internal => 1,
            _ => 3,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:03}", *self as u16)
    }
}

/// What went wrong, where, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    details: Box<Details>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    code: Code,
    message: String,
    hint: Option<String>,
    column: Option<String>,
    row: Option<u64>,
}

impl Error {
    /// An error with its message: lower case, no full stop.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let details =
            Details { code, message: message.into(), hint: None, column: None, row: None };
        Error { details: Box::new(details) }
    }

    /// A parameter outside what it accepts.
    pub fn parameter(name: &str, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Error::new(Code::Parameter, format!("`{name}` must be {expected}, got {got}"))
    }

    /// Two shapes that must agree do not; the message names both.
    pub fn shape(what: &str, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Error::new(Code::Shape, format!("{what}: expected {expected}, got {got}"))
    }

    /// Arithmetic could not go on.
    pub fn numeric(message: impl Into<String>) -> Self {
        Error::new(Code::Numeric, message)
    }

    /// The model or learner cannot do this.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Error::new(Code::Unsupported, message)
    }

    /// A name that nothing has, with the nearest one that something has.
    pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let error = Error::new(Code::Unknown, format!("no {kind} named '{}'", plain(name)));
        match nearest(name, &known) {
            Some(best) => error.hint(format!("did you mean '{}'?", plain(best))),
            None if known.is_empty() => error,
            None if known.len() <= 30 => error.hint(format!("known: {}", known.join(", "))),
            None => error,
        }
    }

    /// A mistake in this library.
    pub fn internal(message: impl Into<String>) -> Self {
        Error::new(Code::Internal, message)
    }

    /// Adds what to type instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.details.hint = Some(hint.into());
        self
    }

    /// Adds the column that the error is about.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.details.column = Some(column.into());
        self
    }

    /// Adds the row (or line) that the error is about, counted from 1.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.details.row = Some(row);
        self
    }

    /// Puts the place in front of the message: the learner, the file, the pipeline step.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        let prefix = format!("{place}: ");
        if !self.details.message.starts_with(&prefix) {
            self.details.message.insert_str(0, &prefix);
        }
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.details.code
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.details.message
    }

    /// What to do instead, if something can be done.
    pub fn hint_text(&self) -> Option<&str> {
        self.details.hint.as_deref()
    }

    /// The column in question.
    pub fn column_name(&self) -> Option<&str> {
        self.details.column.as_deref()
    }

    /// The row or line in question, counted from 1.
    pub fn row_number(&self) -> Option<u64> {
        self.details.row
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.details.message)?;
        match &self.details.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::new(Code::Io, error.to_string())
    }
}

/// Something the user should know that did not stop the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The stable code.
    pub code: Code,
    /// What happened, with the numbers in it.
    pub message: String,
}

impl Warning {
    /// A warning with its message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Warning { code, message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// The known name nearest to `name`, if any is near enough to be a typing mistake.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let score = |candidate: &str| strsim::jaro_winkler(&wanted, &candidate.to_lowercase());
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.75).then_some(best)
}

/// Whether a terminal obeys a character, or hides it or what stands around it.
fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Text that is safe to print in a terminal: control and direction-changing characters escaped,
/// and long text cut.
pub fn plain(text: &str) -> String {
    const LONGEST: usize = 200;
    plain_within(text, LONGEST)
}

/// The same with this many characters at most.
pub fn plain_within(text: &str, longest: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == longest {
            out.push('…');
            break;
        }
        match unprintable(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// Lines of text that are safe to print in a terminal, whatever names they hold; not cut.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c != '\n' && unprintable(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// JSON that is safe to print in a terminal: the same document, with such characters escaped.
pub fn printable_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c != '\n' && unprintable(c) {
            true => out += &format!("\\u{:04x}", c as u32),
            false => out.push(c),
        }
    }
    out
}

/// A word of a command as a shell reads it back: in quotes unless it is plain.
pub fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_its_neighbour() {
        let error = Error::unknown("parameter", "alhpa", ["alpha", "solver"]);
        assert_eq!(error.hint_text(), Some("did you mean 'alpha'?"));
    }

    #[test]
    fn escape_sequences_are_not_printed() {
        assert_eq!(plain("a\u{1b}[31mb"), "a\\u{1b}[31mb");
    }

    #[test]
    fn lines_keep_their_ends_and_lose_what_a_terminal_obeys() {
        assert_eq!(printable("a\nb\r\u{9b}2J\u{202e}"), "a\nb\\u{d}\\u{9b}2J\\u{202e}");
        let document = serde_json::json!({ "name": "a\u{9b}b\u{202e}" });
        let safe = printable_json(&document.to_string());
        assert!(safe.is_ascii(), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), document);
    }

    #[test]
    fn words_of_commands_are_quoted() {
        assert_eq!(shell("my.csv"), "my.csv");
        assert_eq!(shell("$(touch x)"), "'$(touch x)'");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(shell(""), "''");
    }

    #[test]
    fn every_code_is_listed_once() {
        let mut sorted = Code::ALL.to_vec();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted, Code::ALL);
    }
}
