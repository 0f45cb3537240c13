//! One piece of a CSV file into rows of numbers and codes.

use super::number::{Number, NumberStyle, measured, prefix};
use super::scan::{LONGEST_FIELD, Piece, unterminated};
use crate::levels::Levels;
use crate::options::{MISSING_TOKENS, Ragged, TypeRule};
use learnt_core::error::{Code, Error, Result, plain};
use std::borrow::Cow;

/// How rows are written, and what becomes of each field.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Between fields.
    pub(crate) delimiter: u8,
    /// One entry a field.
    pub(crate) fields: Vec<Field>,
    /// Columns that are kept.
    pub(crate) width: usize,
    /// Which of them hold numbers with units.
    pub(crate) measures: Vec<bool>,
    /// The types of those whose texts are written anew.
    pub(crate) rewrites: Vec<Option<TypeRule>>,
    /// How numbers are written.
    pub(crate) style: NumberStyle,
    /// Missing in every column.
    pub(crate) na: Vec<String>,
    /// Those of them that are numbers.
    pub(crate) na_numbers: Vec<f64>,
    /// What happens to rows with a wrong number of fields.
    pub(crate) ragged: Ragged,
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Nothing.
    Skip,
    /// A number in this column.
    Number(usize),
    /// The code of a level in this column.
    Level(usize),
}

/// What was found in a piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) rows: usize,
    pub(crate) skipped: u64,
    pub(crate) blank: u64,
    /// Lines without anything on them that are rows: those of a table of one column.
    pub(crate) empty: u64,
    pub(crate) columns: Vec<Facts>,
}

/// What was found in one column of a piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) missing: u64,
    pub(crate) rounded: u64,
    /// The first value that is no number, in a column of numbers, or no date, in a column of dates.
    pub(crate) misfit: Option<Misfit>,
    /// The levels, in a column of levels; values are their numbers here.
    pub(crate) levels: Levels,
}

/// A value that does not fit its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) line: u64,
    pub(crate) value: String,
    /// Numbers before it in the piece.
    pub(crate) numbers: u64,
}

/// Why a piece has no rows.
pub(crate) enum Trouble {
    /// It does not end with a row: the plan was misled by a quote.
    Misaligned,
    /// Its content is wrong.
    Wrong(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Wrong(error)
    }
}

/// A piece being read.
struct Reader<'l, 'a> {
    layout: &'l Layout,
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    line: u64,
    last: bool,
    parsed: Parsed,
}

/// Reads the rows of a piece into `out`, row by row. `last` says that the file ends with it.
pub(crate) fn parse_piece(
    layout: &Layout,
    piece: &Piece,
    bytes: &[u8],
    last: bool,
    out: &mut [f64],
) -> std::result::Result<Parsed, Trouble> {
    let columns = vec![Facts::default(); layout.width];
    let parsed = Parsed { columns, ..Parsed::default() };
    let text = valid_text(bytes, piece.start)?;
    let mut reader = Reader { layout, bytes, text, at: 0, line: piece.line, last, parsed };
    let mut rows = out.chunks_exact_mut(layout.width.max(1));
    while reader.at < bytes.len() {
        if reader.skip_blank() {
            continue;
        }
        if layout.ragged == Ragged::Skip && reader.skip_ragged()? {
            continue;
        }
        reader.parsed.empty += u64::from(matches!(bytes[reader.at], b'\n' | b'\r'));
        match rows.next() {
            Some(cells) => reader.row(cells)?,
            None => {
                reader.row(&mut vec![0.0; layout.width])?;
                return Err(crate::input::changed().into());
            }
        }
        reader.parsed.rows += 1;
    }
    Ok(reader.parsed)
}

/// The bytes as text, or an error with the offset in the file.
pub(crate) fn valid_text(bytes: &[u8], start: u64) -> Result<&str> {
    if let Some(at) = memchr::memchr(0, bytes) {
        let message =
            format!("a NUL byte at byte {}: this is not text in UTF-8", start + at as u64);
        return Err(Error::new(Code::Encoding, message)
            .hint("if the file is UTF-16, say --encoding utf-16"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = start + error.valid_up_to() as u64;
        let message = format!("byte {offset} is not valid UTF-8");
        Error::new(Code::Encoding, message).hint("say --encoding latin-1 if it is Latin-1")
    })
}

impl<'a> Reader<'_, 'a> {
    /// Passes over a line without anything on it. In a table of one column that is a row.
    fn skip_blank(&mut self) -> bool {
        if self.layout.fields.len() == 1 {
            return false;
        }
        self.pass_blank()
    }

    fn pass_blank(&mut self) -> bool {
        let length = match &self.bytes[self.at..] {
            [b'\n', ..] | [b'\r'] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        self.parsed.blank += 1;
        true
    }

    /// Passes over a row with a wrong number of fields, and counts it.
    fn skip_ragged(&mut self) -> std::result::Result<bool, Trouble> {
        let (start, line) = (self.at, self.line);
        let fields = self.pass_row()?;
        if fields == self.layout.fields.len() {
            (self.at, self.line) = (start, line);
            return Ok(false);
        }
        self.parsed.skipped += 1;
        Ok(true)
    }

    /// Moves behind the row; gives its number of fields.
    fn pass_row(&mut self) -> std::result::Result<usize, Trouble> {
        let mut fields = 0;
        loop {
            self.field()?;
            fields += 1;
            if !self.pass_delimiter() {
                self.pass_line_end();
                return Ok(fields);
            }
        }
    }

    fn row(&mut self, cells: &mut [f64]) -> std::result::Result<(), Trouble> {
        let (start, line) = (self.at, self.line);
        let layout = self.layout;
        let count = layout.fields.len();
        for (i, &field) in layout.fields.iter().enumerate() {
            match field {
                Field::Number(j) => cells[j] = self.number(j)?,
                Field::Level(j) => cells[j] = self.level(j)?,
                Field::Skip => {
                    self.field()?;
                }
            }
            let more = self.pass_delimiter();
            if more != (i + 1 < count) {
                (self.at, self.line) = (start, line);
                let found = self.pass_row()?;
                return Err(ragged(line, found, count).into());
            }
        }
        self.pass_line_end();
        Ok(())
    }

    #[inline]
    fn pass_delimiter(&mut self) -> bool {
        let found = self.bytes.get(self.at) == Some(&self.layout.delimiter);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn pass_line_end(&mut self) {
        let length = match &self.bytes[self.at..] {
            [b'\n', ..] | [b'\r'] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return,
        };
        self.at += length;
        self.line += 1;
    }

    /// The number in the next field; NaN if it is missing or not a number.
    #[inline]
    fn number(&mut self, j: usize) -> std::result::Result<f64, Trouble> {
        let rest = &self.bytes[self.at..];
        if self.layout.style.is_plain()
            && let Some((number, used)) = prefix(rest)
            && self.ends_field(self.at + used)
        {
            self.at += used;
            return Ok(self.known(j, number));
        }
        self.unusual_number(j)
    }

    /// A number, unless it is one that means missing.
    #[inline]
    fn known(&mut self, j: usize, number: Number) -> f64 {
        let facts = &mut self.parsed.columns[j];
        if self.layout.na_numbers.contains(&number.value) {
            facts.missing += 1;
            return f64::NAN;
        }
        facts.rounded += u64::from(number.rounded);
        number.value
    }

    #[inline]
    fn ends_field(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None | Some(b'\n') => true,
            Some(b'\r') => matches!(self.bytes.get(at + 1), None | Some(b'\n')),
            Some(&byte) => byte == self.layout.delimiter,
        }
    }

    fn unusual_number(&mut self, j: usize) -> std::result::Result<f64, Trouble> {
        let line = self.line;
        let field = self.field()?;
        let number = match self.layout.measures[j] {
            true => measured(&field).number(self.layout.style),
            false => self.layout.style.parse(&field),
        };
        if let Some(number) = number {
            return Ok(self.known(j, number));
        }
        let facts = &mut self.parsed.columns[j];
        let word = field.trim_ascii();
        if word.is_empty() || MISSING_TOKENS.contains(&word) || self.layout.is_na(&field) {
            facts.missing += 1;
        } else if facts.misfit.is_none() {
            let numbers = self.parsed.rows as u64 - facts.missing;
            facts.misfit = Some(Misfit { line, value: field.into_owned(), numbers });
        }
        Ok(f64::NAN)
    }

    fn level(&mut self, j: usize) -> std::result::Result<f64, Trouble> {
        let line = self.line;
        let mut field = self.field()?;
        let facts = &mut self.parsed.columns[j];
        let known = !field.is_empty() && !self.layout.is_na(&field);
        if let Some(rule) = self.layout.rewrites.get(j).and_then(Option::as_ref).filter(|_| known) {
            match rule.rewritten(&field) {
                Some(text) => field = Cow::Owned(text),
                None if facts.misfit.is_none() => {
                    let value = field.to_string();
                    facts.misfit = Some(Misfit { line, value, numbers: 0 });
                }
                None => {}
            }
        }
        if field.is_empty() || !known {
            facts.missing += 1;
            return Ok(f64::NAN);
        }
        Ok(f64::from(facts.levels.add(&field)))
    }

    /// The text of the next field, and moves behind it.
    fn field(&mut self) -> std::result::Result<Cow<'a, str>, Trouble> {
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.quoted();
        }
        let rest = &self.bytes[self.at..];
        let mut length = memchr::memchr2(self.layout.delimiter, b'\n', rest).unwrap_or(rest.len());
        let line_ends = matches!(rest.get(length), None | Some(b'\n'));
        if line_ends && length > 0 && rest[length - 1] == b'\r' {
            length -= 1;
        }
        let field = &self.text[self.at..self.at + length];
        if memchr::memchr(b'\r', field.as_bytes()).is_some() {
            return Err(lone_return(self.line).into());
        }
        self.at += length;
        Ok(Cow::Borrowed(field))
    }

    fn quoted(&mut self) -> std::result::Result<Cow<'a, str>, Trouble> {
        let opened = self.line;
        let start = self.at + 1;
        let mut unescaped: Option<String> = None;
        let mut from = start;
        loop {
            let limit = self.bytes.len().min(start + LONGEST_FIELD);
            let Some(length) = memchr::memchr(b'"', &self.bytes[from.min(limit)..limit]) else {
                let cut_off = limit == self.bytes.len() && !self.last;
                let error = Trouble::Wrong(unterminated(opened));
                return Err(if cut_off { Trouble::Misaligned } else { error });
            };
            let close = from + length;
            if self.bytes.get(close + 1) == Some(&b'"') {
                let part = &self.text[from..=close];
                unescaped.get_or_insert_default().push_str(part);
                from = close + 2;
                continue;
            }
            let whole = &self.bytes[start..close];
            self.line += memchr::memchr_iter(b'\n', whole).count() as u64;
            self.at = close + 1;
            if !self.ends_field(self.at) {
                return Err(after_quote(self.line).into());
            }
            return Ok(match unescaped {
                Some(mut text) => {
                    text.push_str(&self.text[from..close]);
                    Cow::Owned(text)
                }
                None => Cow::Borrowed(&self.text[start..close]),
            });
        }
    }
}

impl Layout {
    /// A layout that only knows the delimiter.
    fn bare(delimiter: u8) -> Self {
        Layout {
            delimiter,
            fields: Vec::new(),
            width: 0,
            measures: Vec::new(),
            rewrites: Vec::new(),
            style: NumberStyle::default(),
            na: Vec::new(),
            na_numbers: Vec::new(),
            ragged: Ragged::Error,
        }
    }

    fn is_na(&self, field: &str) -> bool {
        self.na.iter().any(|token| token == field)
    }
}

fn ragged(line: u64, found: usize, expected: usize) -> Error {
    let message = format!("line {line} has {found} fields, and the first line has {expected}");
    Error::new(Code::Ragged, message)
        .row(line)
        .hint("correct it, or leave such rows out with --ragged skip")
}

fn lone_return(line: u64) -> Error {
    let message = format!("line {line} has a carriage return that ends no line");
    Error::new(Code::Parse, message)
        .row(line)
        .hint("end lines with LF or CRLF, and put text that holds carriage returns in quotes")
}

fn after_quote(line: u64) -> Error {
    let message = format!("line {line} has text after a closing quote");
    Error::new(Code::Parse, message).row(line).hint("write a quote inside quotes twice")
}

/// All fields of up to `limit` rows, for inference. A row that is cut off at the end is left out
/// unless the file ends there.
pub(crate) fn sample<'a>(
    text: &'a str,
    delimiter: u8,
    limit: usize,
    last: bool,
) -> Result<Vec<Vec<Cow<'a, str>>>> {
    let layout = Layout::bare(delimiter);
    let parsed = Parsed::default();
    let bytes = text.as_bytes();
    let mut reader = Reader { layout: &layout, bytes, text, at: 0, line: 1, last, parsed };
    let mut rows = Vec::new();
    while reader.at < bytes.len() && rows.len() < limit {
        if reader.skip_blank() {
            continue;
        }
        let mut row = Vec::new();
        loop {
            match reader.field() {
                Ok(field) => row.push(field),
                Err(Trouble::Misaligned) => return Ok(rows),
                Err(Trouble::Wrong(error)) => return Err(error),
            }
            if !reader.pass_delimiter() {
                break;
            }
        }
        if reader.at == bytes.len() && !last {
            break;
        }
        reader.pass_line_end();
        rows.push(row);
    }
    Ok(rows)
}

/// Where the first row that is not blank ends, how many lines that is, and how many of them are blank.
pub(crate) fn first_row_end(text: &str, delimiter: u8) -> Result<(usize, u64, u64)> {
    let layout = Layout::bare(delimiter);
    let parsed = Parsed::default();
    let bytes = text.as_bytes();
    let mut reader = Reader { layout: &layout, bytes, text, at: 0, line: 1, last: true, parsed };
    while reader.pass_blank() {}
    match reader.pass_row() {
        Ok(_) => Ok((reader.at, reader.line - 1, reader.parsed.blank)),
        Err(Trouble::Wrong(error)) => Err(error),
        Err(Trouble::Misaligned) => Err(unterminated(1)),
    }
}

/// The error of a text that is no date.
pub(crate) fn no_date(name: &str, misfit: &Misfit) -> Error {
    let (value, line) = (plain(&misfit.value), misfit.line);
    let column = plain(name);
    let message = format!("line {line}: '{value}' in column '{column}' is no date");
    let other = format!("--na '{value}' reads the value as missing");
    Error::new(Code::Parse, message).column(name).row(line).hint(format!(
        "dates are written as 2024-07-01, 1.7.2024 (dmy) or 7/1/2024 (mdy), with or without a time; {other}"
    ))
}

/// The error for a value that is no number where numbers were.
pub(crate) fn misfit_error(name: &str, misfit: &Misfit, before: u64) -> Error {
    let (column, value) = (plain(name), plain(&misfit.value));
    let line = misfit.line;
    let message = match before {
        0 => format!("line {line}: '{value}' in column '{column}' is not a number"),
        _ => format!(
            "line {line}: '{value}' in column '{column}' is not a number, after {before} that were"
        ),
    };
    Error::new(Code::Parse, message).column(name).row(line).hint(format!(
        "--type {column}=cat reads the column as text, --na '{value}' reads the value as missing"
    ))
}
