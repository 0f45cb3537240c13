//! What a CSV file looks like, from its first rows: delimiter, header, names and types.
//!
//! A first line is a header if text stands over numbers, data if numbers stand over numbers, and
//! an error if both happen. Where all columns are text, it is a header unless one of its words
//! comes again in its own column. A column is numeric if all its values in the sample are numbers
//! or missing; what comes after the sample is judged by [`super::MIN_NUMBERS`].

use super::number::NumberStyle;
use super::parse::{sample, valid_text};
use super::spoilt::note_spoilt;
use crate::input::Bytes;
use crate::names::{check_names, unnamed};
use crate::options::{Format, Header, MISSING_TOKENS, ReadOptions};
use crate::report::FoundHeader;
use learnt_core::error::{Code, Error, Result, plain};
use std::borrow::Cow;

/// Rows that inference looks at.
const SAMPLE_ROWS: usize = 1000;
const CANDIDATES: &[u8] = b",\t;|";

/// What a CSV file looks like.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    /// Between fields.
    pub(crate) delimiter: u8,
    /// Whether the first line names the columns.
    pub(crate) header: FoundHeader,
    /// Names of all columns, those that are left out too.
    pub(crate) names: Vec<String>,
    /// Whether each column is numeric.
    pub(crate) numeric: Vec<bool>,
    /// How numbers are written.
    pub(crate) style: NumberStyle,
    /// Where the rows are.
    pub(crate) extent: Extent,
    /// Sentences for the user.
    pub(crate) notes: Vec<String>,
}

/// Where the rows of a file are.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// Where they begin.
    pub(crate) begin: u64,
    /// Where they end.
    pub(crate) end: u64,
    /// The line they begin on.
    pub(crate) line: u64,
    /// Empty lines before the names of the columns.
    pub(crate) before: u64,
    /// Empty lines behind them that are no rows.
    pub(crate) after: u64,
}

impl Extent {
    /// To the end of the file, or for one column to the empty lines at its end.
    fn find(self, bytes: &Bytes, width: usize) -> Result<Extent> {
        const STEP: u64 = 1 << 16;
        let begin = self.begin;
        let mut extent = Extent { end: bytes.len(), after: 0, ..self };
        if width != 1 {
            return Ok(extent);
        }
        let mut buffer = Vec::new();
        let (mut end, mut lines) = (bytes.len(), 0);
        while end > begin {
            let start = end.saturating_sub(STEP).max(begin);
            let slice = bytes.read(start, end, &mut buffer)?;
            let kept = slice.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
            let blank = &slice[kept.map_or(0, |at| at + 1)..];
            lines += memchr::memchr_iter(b'\n', blank).count() as u64;
            end -= blank.len() as u64;
            if kept.is_some() {
                break;
            }
        }
        // The first of them ends the last row.
        extent.after = if end > begin { lines.saturating_sub(1) } else { lines };
        if extent.after > 0 {
            let slice = bytes.read(end, (end + STEP).min(bytes.len()), &mut buffer)?;
            let line_end = memchr::memchr(b'\n', slice).map_or(0, |at| at as u64 + 1);
            extent.end = if end > begin { end + line_end } else { begin };
        }
        Ok(extent)
    }
}

type Rows<'a> = Vec<Vec<Cow<'a, str>>>;

impl Dialect {
    /// Looks at the start of the file.
    pub(crate) fn infer(bytes: &Bytes, options: &ReadOptions, format: Format) -> Result<Dialect> {
        check_options(options)?;
        let mut buffer = Vec::new();
        let mut size = 1 << 20;
        loop {
            let head = bytes.read(0, size, &mut buffer)?;
            let whole = head.len() as u64 == bytes.len();
            let directed = directed(head, options);
            let options = directed.as_ref().unwrap_or(options);
            if let Some(mut dialect) = Self::from_head(head, whole, options, format)? {
                dialect.extent = dialect.extent.find(bytes, dialect.names.len())?;
                return Ok(dialect);
            }
            if size > 1 << 30 {
                return Err(Error::new(Code::Parse, "line 1 is longer than 1 GB").row(1));
            }
            size *= 8;
        }
    }

    /// From the first bytes; `None` if they hold too few rows to tell.
    fn from_head(
        head: &[u8],
        whole: bool,
        options: &ReadOptions,
        format: Format,
    ) -> Result<Option<Dialect>> {
        let marked = head.starts_with(b"\xef\xbb\xbf");
        let mark = if marked { 3 } else { 0 };
        refuse_utf16(head)?;
        let Some(above) = end_of_lines(&head[mark..], options.skip_lines, whole) else {
            return Ok(None);
        };
        let start = mark + above;
        let end = match whole {
            true => head.len(),
            false => memchr::memrchr(b'\n', head).map_or(start, |at| at + 1),
        };
        let text = valid_text(&head[start..end.max(start)], start as u64)?;
        if whole && !text.contains('\n') && text.trim_end().contains('\r') {
            let message = "lines end with carriage returns alone, as on old Macintoshes";
            return Err(Error::new(Code::Encoding, message).hint("convert the line ends to LF"));
        }
        let delimiter = match (options.delimiter, format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            _ => find_delimiter(text, whole, options)?,
        };
        let rows = sample(text, delimiter, SAMPLE_ROWS + 1, whole)?;
        if rows.len() < 2 && !whole {
            return Ok(None);
        }
        if rows.is_empty() {
            return Err(Error::new(Code::Empty, "no rows: the file is empty"));
        }
        refuse_title(&rows, text, delimiter, options)?;
        Self::from_rows(&rows, text, start as u64, delimiter, options).map(Some)
    }

    fn from_rows(
        rows: &Rows,
        text: &str,
        start: u64,
        delimiter: u8,
        options: &ReadOptions,
    ) -> Result<Dialect> {
        let mut notes = Vec::new();
        let style = find_style(rows, delimiter, options, &mut notes);
        let width = rows[0].len();
        let below = |j: usize| rows[1..].iter().filter_map(move |row| row.get(j));
        let numeric_below: Vec<bool> =
            (0..width).map(|j| all_numbers(below(j), style, options)).collect();
        let header = match options.header {
            Header::Yes => FoundHeader::Stated,
            Header::No => FoundHeader::StatedNone,
            Header::Auto => find_header(rows, &numeric_below, style)?,
        };
        let (names, numeric, begin, line, before) = if header.present() {
            let given = rows[0].iter().map(|name| name.trim().to_string()).collect();
            let (end, lines, blank) = super::parse::first_row_end(text, delimiter)?;
            let names = check_names(given, options, &mut notes)?;
            let line = 1 + (options.skip_lines as u64) + lines;
            (names, numeric_below, start + end as u64, line, blank)
        } else {
            let is_number = |j: usize| is_number_or_missing(&rows[0][j], style, options);
            let numeric = (0..width).map(|j| numeric_below[j] && is_number(j)).collect();
            (unnamed(width), numeric, start, 1 + options.skip_lines as u64, 0)
        };
        options.check_names(&names)?;
        note_header(header, &names, &mut notes);
        let data = if header.present() { &rows[1..] } else { &rows[..] };
        note_spoilt(data, &names, &numeric, style, options, &mut notes);
        note_spaces(rows, delimiter, &mut notes);
        let extent = Extent { begin, end: begin, line, before, after: 0 };
        Ok(Dialect { delimiter, header, names, numeric, style, extent, notes })
    }
}

/// The options that a first line such as `sep=;` gives, which spreadsheets write above the names.
fn directed(head: &[u8], options: &ReadOptions) -> Option<ReadOptions> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (word, [mark]) = line.split_at_checked(4)? else { return None };
    let said = word.eq_ignore_ascii_case(b"sep=") && b",;|\t".contains(mark);
    (said && options.skip_lines == 0).then(|| ReadOptions {
        skip_lines: 1,
        delimiter: options.delimiter.or(Some(*mark)),
        ..options.clone()
    })
}

fn check_options(options: &ReadOptions) -> Result<()> {
    let good = |byte: u8| {
        byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.-+".contains(&byte)
    };
    match options.delimiter {
        Some(delimiter) if !good(delimiter) => {
            let shown = plain(&char::from(delimiter).to_string());
            let message =
                format!("`delimiter` must be one mark such as , ; | or a tab, got '{shown}'");
            return Err(Error::new(Code::Usage, message));
        }
        _ => {}
    }
    let point = if options.decimal_comma { b',' } else { b'.' };
    match options.thousands {
        Some(mark) if mark == point || !b",.'_ ".contains(&mark) => {
            let message =
                "the thousands mark must be one of , . ' _ or a space, and not the decimal mark";
            let error = Error::new(Code::Usage, message);
            Err(match (mark, options.decimal_comma) {
                (b'.', false) => error.hint("add --decimal-comma if 1.234,5 is a number"),
                (b',', true) => error.hint("leave out --decimal-comma if 1,234.5 is a number"),
                _ => error,
            })
        }
        _ => Ok(()),
    }
}

/// How the options say that numbers are written.
fn style_of(options: &ReadOptions) -> NumberStyle {
    NumberStyle { decimal_comma: options.decimal_comma, thousands: options.thousands }
}

/// How numbers are written. Between semicolons and tabs `1,5` is one and a half if some column holds nothing
/// but such numbers and none holds numbers with a point.
fn find_style(
    rows: &Rows,
    delimiter: u8,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> NumberStyle {
    let said = style_of(options);
    if said.decimal_comma || said.thousands.is_some() || !b";\t".contains(&delimiter) {
        return said;
    }
    let comma = NumberStyle { decimal_comma: true, thousands: None };
    let mut example = None;
    for j in 0..rows[0].len() {
        let fields = || rows[1..].iter().filter_map(|row| row.get(j));
        let marked = |mark: char| fields().find(|field| field.contains(mark));
        if let Some(field) = marked(',').filter(|_| all_numbers(fields(), comma, options)) {
            example.get_or_insert(field);
        } else if marked('.').is_some() && all_numbers(fields(), said, options) {
            return said;
        }
    }
    let Some(example) = example else { return said };
    notes.push(format!("numbers have decimal commas, such as '{}'", plain(example.trim())));
    comma
}

/// Where so many lines end; `None` if more bytes are needed to tell.
fn end_of_lines(head: &[u8], lines: usize, whole: bool) -> Option<usize> {
    let mut end = 0;
    for _ in 0..lines {
        end = match memchr::memchr(b'\n', &head[end..]) {
            Some(at) => end + at + 1,
            None if whole => head.len(),
            None => return None,
        };
    }
    Some(end)
}

/// Says that the fields of a single column may be separated by spaces.
fn note_spaces(rows: &Rows, delimiter: u8, notes: &mut Vec<String>) {
    let words = |row: &Vec<Cow<'_, str>>| row.first().map_or(0, |f| f.split_whitespace().count());
    let fields = rows.first().map_or(0, words);
    let alike = rows.iter().all(|row| row.len() == 1 && words(row) == fields);
    let numbers = |row: &Vec<Cow<'_, str>>| row[0].contains(|c: char| c.is_ascii_digit());
    if delimiter != b' ' && fields > 1 && rows.len() > 2 && alike && rows[1..].iter().all(numbers) {
        notes.push(format!(
            "one column of {fields} words a line; --delimiter ' ' reads them as {fields} columns"
        ));
    }
}

/// Refuses a first line of one field above rows of more: the title of a report.
fn refuse_title(rows: &Rows, text: &str, delimiter: u8, options: &ReadOptions) -> Result<()> {
    const ABOVE: usize = 20;
    let filled = |fields: &[Cow<'_, str>]| fields.iter().filter(|f| !f.trim().is_empty()).count();
    let usual = rows.iter().skip(1).take(ABOVE).map(|row| filled(row)).max().unwrap_or(0);
    let asked = options.skip_lines > 0 || options.header != Header::Auto || options.dedupe_names;
    let alone = filled(&rows[0]) == 1 && !rows[0][0].trim().is_empty();
    if asked || !alone || rows.len() < 3 || usual < 3 {
        return Ok(());
    }
    let count = |line: &str| {
        let fields: Vec<Cow<'_, str>> =
            line.split(char::from(delimiter)).map(Cow::Borrowed).collect();
        filled(&fields)
    };
    let lines = text.lines().take(ABOVE).position(|line| count(line) >= usual);
    let Some(lines) = lines.filter(|&lines| lines > 0) else { return Ok(()) };
    let title =
        plain(text.lines().next().unwrap_or_default().trim_end_matches(char::from(delimiter)));
    let message = format!("line 1, '{title}', is a title above the table and no line of names");
    Err(Error::new(Code::Names, message)
        .row(1)
        .hint(format!("--skip-lines {lines} begins at line {}", lines + 1)))
}

/// UTF-16 and UTF-32 are named, because their NUL bytes would be all that is reported otherwise.
fn refuse_utf16(head: &[u8]) -> Result<()> {
    if head.starts_with(&[0xff, 0xfe, 0, 0]) || head.starts_with(&[0, 0, 0xfe, 0xff]) {
        let message = "the file is UTF-32, which is not read (byte 0)";
        return Err(Error::new(Code::Encoding, message).hint("save it as UTF-8"));
    }
    let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let alternating = |from: usize| {
        head.len() >= 8 && head[..8].iter().skip(from).step_by(2).all(|&byte| byte == 0)
    };
    if marked || alternating(0) != alternating(1) {
        let message = "the file is UTF-16, not UTF-8 (byte 0)";
        return Err(Error::new(Code::Encoding, message).hint("say --encoding utf-16"));
    }
    Ok(())
}

/// The one mark that cuts all rows of the sample into the same number of fields, two or more.
fn find_delimiter(text: &str, whole: bool, options: &ReadOptions) -> Result<u8> {
    const ROWS: usize = 200;
    let decimal = |mark: u8| options.decimal_comma && mark == b',';
    let mut consistent = Vec::new();
    let mut most = (1, b',');
    for &mark in CANDIDATES.iter().filter(|&&mark| !decimal(mark)) {
        let Ok(rows) = sample(text, mark, ROWS, whole) else { continue };
        let first = rows.first().map_or(0, Vec::len);
        if first > most.0 {
            most = (first, mark);
        }
        if first > 1 && rows.iter().all(|row| row.len() == first) {
            consistent.push(mark);
        }
    }
    match consistent[..] {
        [only] => Ok(only),
        [] if most.0 == 1 => Ok(below_title(text, whole).unwrap_or(most.1)),
        [] => Ok(most.1),
        // Decimal commas cut rows of semicolons evenly too.
        [b',', b';'] if has_decimal_commas(text, whole) => Ok(b';'),
        _ => {
            let shown: Vec<String> =
                consistent
                    .iter()
                    .map(|&mark| {
                        if mark == b'\t' { "tab".into() } else { format!("'{}'", char::from(mark)) }
                    })
                    .collect();
            let message = format!("the delimiter may be {}", shown.join(" or "));
            Err(Error::new(Code::Parse, message).hint("say which with --delimiter"))
        }
    }
}

/// The mark that cuts most rows below the first into the same number of fields, three or more.
fn below_title(text: &str, whole: bool) -> Option<u8> {
    const ROWS: usize = 200;
    let usual = |mark: u8| {
        let rows = sample(text, mark, ROWS, whole).ok()?;
        let width = rows.last()?.len();
        let same = rows.iter().filter(|row| row.len() == width).count();
        (width > 2 && 2 * same > rows.len()).then_some(mark)
    };
    CANDIDATES.iter().find_map(|&mark| usual(mark))
}

/// Whether text between semicolons has a column of numbers with decimal commas.
fn has_decimal_commas(text: &str, whole: bool) -> bool {
    const ROWS: usize = 200;
    let Ok(rows) = sample(text, b';', ROWS, whole) else { return false };
    let style = find_style(&rows, b';', &ReadOptions::default(), &mut Vec::new());
    rows.len() > 1 && style.decimal_comma
}

fn find_header(rows: &Rows, numeric_below: &[bool], style: NumberStyle) -> Result<FoundHeader> {
    let first = &rows[0];
    let is_number = |field: &str| style.parse(field).is_some();
    let is_text = |field: &str| !field.trim().is_empty() && !is_number(field);
    if rows.len() == 1 {
        let data = first.iter().any(|field| is_number(field));
        return Ok(if data { FoundHeader::FoundNone } else { FoundHeader::Found });
    }
    let some_number_below =
        |j: usize| rows[1..].iter().any(|row| row.get(j).is_some_and(|field| is_number(field)));
    let over_numbers = (0..first.len()).filter(|&j| numeric_below[j] && some_number_below(j));
    let (mut text_over, mut number_over) = (None, None);
    for j in over_numbers {
        if is_text(&first[j]) && !MISSING_TOKENS.contains(&first[j].trim()) {
            text_over.get_or_insert(j);
        } else if is_number(&first[j]) {
            number_over.get_or_insert(j);
        }
    }
    match (text_over, number_over) {
        (Some(_), None) => Ok(FoundHeader::Found),
        (None, Some(_)) => Ok(FoundHeader::FoundNone),
        (Some(text), Some(number)) => Err(doubtful(&format!(
            "the first line has the text '{}' and the number '{}' over columns of numbers",
            plain(&first[text]),
            plain(&first[number])
        ))),
        (None, None) => match (0..first.len()).find(|&j| comes_again(rows, j)) {
            Some(j) => Err(doubtful(&format!(
                "the first line may be names or data: '{}' comes again in its column",
                plain(&first[j])
            ))),
            None => Ok(FoundHeader::Found),
        },
    }
}

fn comes_again(rows: &Rows, j: usize) -> bool {
    let first = &rows[0][j];
    !first.is_empty() && rows[1..].iter().any(|row| row.get(j) == Some(first))
}

fn doubtful(why: &str) -> Error {
    Error::new(Code::Names, why).row(1).hint("say --header yes or --header no")
}

pub(super) fn is_missing(field: &str, options: &ReadOptions) -> bool {
    let word = field.trim_ascii();
    word.is_empty()
        || MISSING_TOKENS.contains(&word)
        || options.na.iter().any(|token| token == field)
}

fn is_number_or_missing(field: &str, style: NumberStyle, options: &ReadOptions) -> bool {
    is_missing(field, options) || style.parse(field).is_some()
}

fn all_numbers<'a>(
    mut fields: impl Iterator<Item = &'a Cow<'a, str>>,
    style: NumberStyle,
    options: &ReadOptions,
) -> bool {
    fields.all(|field| is_number_or_missing(field, style, options))
}

fn note_header(header: FoundHeader, names: &[String], notes: &mut Vec<String>) {
    match header {
        FoundHeader::FoundNone => notes.push(format!(
            "no header: the first line is data, and the columns are named x0 to x{}; --header yes to change",
            names.len().saturating_sub(1)
        )),
        FoundHeader::Stated | FoundHeader::Found | FoundHeader::StatedNone => {}
    }
}
