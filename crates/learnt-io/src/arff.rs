//! ARFF, the attribute-relation file format of Weka: typed attributes, then rows, dense or sparse.
//!
//! Numeric and nominal attributes are read; `?` is missing; a value that a sparse row leaves out is
//! 0, or the first level. Strings, dates and relations are refused by name unless they are skipped;
//! a string attribute may also be declared categorical.

use crate::columns::{Collected, assemble};
use crate::csv::{Number, NumberStyle, valid_text};
use crate::input::Bytes;
use crate::levels::Levels;
use crate::memory;
use crate::names::check_names;
use crate::options::{Format, ReadOptions, TypeRule};
use crate::report::{Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result, plain};
use std::borrow::Cow;

/// What a byte of a declaration costs at most, as part of a short level.
const LEVEL_COST: u64 = 16;

struct Attribute {
    name: String,
    kind: Kind,
}

enum Kind {
    Numeric,
    Nominal(Vec<String>),
    /// Only if it was declared categorical.
    Text,
    /// Left out.
    Skipped,
    /// Not readable, under this name.
    Unsupported(&'static str),
}

/// Reads the whole file.
pub(crate) fn read(bytes: &Bytes, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let all = bytes.all(run)?;
    let text = valid_text(&all, 0)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().zip(1_u64..);
    let mut report = ReadReport::new(Format::Arff);
    let attributes = header(&mut lines, options, &mut report, run)?;
    let mut columns: Vec<Option<Collected>> = attributes.iter().map(empty_column).collect();
    let mut rows = 0_usize;
    for (line, number) in lines {
        let line = line.trim();
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        run.checkpoint()?;
        let added = match line.strip_prefix('{') {
            Some(inner) => sparse_row(inner, &attributes, &mut columns, number),
            None => dense_row(line, &attributes, &mut columns, number),
        };
        added.map_err(|error| error.row(number))?;
        rows += 1;
        if rows.is_multiple_of(4096) {
            options.check_size(bytes.len(), 8 * (rows * columns.len()) as u64)?;
            memory::growing(rows, columns.len(), run)?;
        }
    }
    let kept = columns.into_iter().flatten().collect();
    assemble(kept, rows, report, options, run)
}

fn empty_column(attribute: &Attribute) -> Option<Collected> {
    match &attribute.kind {
        Kind::Numeric => Some(Collected::numeric(&attribute.name)),
        Kind::Text => Some(Collected::text(&attribute.name)),
        Kind::Nominal(declared) => {
            let mut levels = Levels::default();
            for level in declared {
                levels.add_times(level, 0);
            }
            let mut column = Collected::text(&attribute.name);
            column.levels = Some(levels);
            column.declared = Some(declared.clone());
            Some(column)
        }
        Kind::Skipped | Kind::Unsupported(_) => None,
    }
}

fn header<'a>(
    lines: &mut impl Iterator<Item = (&'a str, u64)>,
    options: &ReadOptions,
    report: &mut ReadReport,
    run: &Context,
) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    for (line, number) in lines.by_ref() {
        run.claim(LEVEL_COST * line.len() as u64, "the levels of an attribute")?;
        let line = line.trim();
        let lower: String = line.chars().take(12).collect::<String>().to_ascii_lowercase();
        if line.is_empty() || line.starts_with('%') || lower.starts_with("@relation") {
            continue;
        }
        if lower.starts_with("@data") {
            return finish_header(attributes, options, report);
        }
        if !lower.starts_with("@attribute") {
            let message = format!("line {number}: '{}' is not part of an ARFF header", plain(line));
            return Err(Error::new(Code::Parse, message).row(number));
        }
        let attribute = attribute(&line["@attribute".len()..])
            .ok_or_else(|| wrong(number, "an attribute without name or type"))?;
        attributes.push(attribute);
    }
    Err(Error::new(Code::Empty, "no rows: the file has no @data"))
}

fn finish_header(
    mut attributes: Vec<Attribute>,
    options: &ReadOptions,
    report: &mut ReadReport,
) -> Result<Vec<Attribute>> {
    let names = attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let names = check_names(names, options, &mut report.notes)?;
    options.check_names(&names)?;
    for (attribute, name) in attributes.iter_mut().zip(names) {
        let rule = options.rule(&name);
        attribute.name = name;
        if options.skips(&attribute.name) {
            report.left_out.push(attribute.name.clone());
            attribute.kind = Kind::Skipped;
        }
        let categorical = rule.is_some_and(TypeRule::is_text);
        match attribute.kind {
            Kind::Unsupported("string") if categorical => attribute.kind = Kind::Text,
            Kind::Unsupported(kind) => return Err(unsupported(&attribute.name, kind)),
            _ => {}
        }
    }
    Ok(attributes)
}

fn unsupported(name: &str, kind: &str) -> Error {
    let name = plain(name);
    let message = format!("attribute '{name}' is of type {kind}, which is not supported");
    let hint = match kind {
        "string" => format!("--type {name}=skip leaves it out, --type {name}=cat reads categories"),
        _ => format!("--type {name}=skip leaves it out"),
    };
    Error::unsupported(message).column(name).hint(hint)
}

fn wrong(line: u64, what: &str) -> Error {
    Error::new(Code::Parse, format!("line {line}: {what}")).row(line)
}

/// `name type` or `name {a, b}`.
fn attribute(text: &str) -> Option<Attribute> {
    let (name, rest) = token(text.trim_start(), |c| c.is_whitespace() || c == '{')?;
    let rest = rest.trim();
    if let Some(inner) = rest.strip_prefix('{') {
        let inner = inner.trim_end().strip_suffix('}')?;
        let levels = fields(inner)?.into_iter().map(Cow::into_owned).collect();
        return Some(Attribute { name: name.into_owned(), kind: Kind::Nominal(levels) });
    }
    let word = rest.split_whitespace().next()?.to_ascii_lowercase();
    let kind = match word.as_str() {
        "numeric" | "real" | "integer" => Kind::Numeric,
        "string" => Kind::Unsupported("string"),
        "date" => Kind::Unsupported("date"),
        "relational" => Kind::Unsupported("relational"),
        _ => Kind::Unsupported("unknown to ARFF"),
    };
    Some(Attribute { name: name.into_owned(), kind })
}

/// The first token, quoted or up to a character that `ends` it, and what follows.
fn token(text: &str, ends: impl Fn(char) -> bool) -> Option<(Cow<'_, str>, &str)> {
    let quote = text.chars().next().filter(|&c| c == '\'' || c == '"');
    let Some(quote) = quote else {
        let end = text.find(ends).unwrap_or(text.len());
        let word = text[..end].trim_end();
        return (!word.is_empty()).then_some((Cow::Borrowed(word), &text[end..]));
    };
    let mut unescaped = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => unescaped.push(match characters.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            _ if c == quote => return Some((Cow::Owned(unescaped), &text[at + 1..])),
            _ => unescaped.push(c),
        }
    }
    None
}

/// Values between commas.
fn fields(text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let (field, after) = token(rest, |c| c == ',').unwrap_or((Cow::Borrowed(""), rest));
        let after = after.trim_start();
        found.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return Some(found),
            None => return None,
        }
    }
}

fn dense_row(
    line: &str,
    attributes: &[Attribute],
    columns: &mut [Option<Collected>],
    number: u64,
) -> Result<()> {
    let values = fields(line).ok_or_else(|| wrong(number, "a quote that is not closed"))?;
    if values.len() != attributes.len() {
        if values.last().is_some_and(|last| last.starts_with('{')) {
            let message = format!("line {number}: weights of instances are not supported");
            return Err(Error::unsupported(message));
        }
        let message = format!(
            "line {number} has {} values, and there are {} attributes",
            values.len(),
            attributes.len()
        );
        return Err(Error::new(Code::Ragged, message));
    }
    for ((value, attribute), column) in values.iter().zip(attributes).zip(columns) {
        let quoted = matches!(value, Cow::Owned(_));
        add(value, quoted, attribute, column.as_mut(), number)?;
    }
    Ok(())
}

fn add(
    value: &str,
    quoted: bool,
    attribute: &Attribute,
    column: Option<&mut Collected>,
    number: u64,
) -> Result<()> {
    let Some(column) = column else { return Ok(()) };
    if !quoted && (value == "?" || value.is_empty()) {
        column.cells.push(f64::NAN);
        return Ok(());
    }
    let name = plain(&attribute.name);
    match &attribute.kind {
        Kind::Numeric => match NumberStyle::default().parse(value).or_else(|| zero_padded(value)) {
            Some(found) => {
                column.rounded += u64::from(found.rounded);
                column.cells.push(found.value);
                Ok(())
            }
            None => {
                let what = format!("'{}' in attribute '{name}' is not a number", plain(value));
                Err(wrong(number, &what).column(&attribute.name))
            }
        },
        Kind::Nominal(_) if column.levels.as_ref().is_some_and(|l| l.find(value).is_none()) => {
            let what = format!("'{}' is not a declared value of attribute '{name}'", plain(value));
            Err(Error::new(Code::Category, format!("line {number}: {what}"))
                .column(&attribute.name))
        }
        _ => {
            column.push_text(value);
            Ok(())
        }
    }
}

/// A declared number may have leading zeros.
fn zero_padded(value: &str) -> Option<Number> {
    let value = fast_float2::parse::<f64, _>(value).ok().filter(|value| !value.is_nan())?;
    Some(Number { value, rounded: false })
}

fn sparse_row(
    inner: &str,
    attributes: &[Attribute],
    columns: &mut [Option<Collected>],
    number: u64,
) -> Result<()> {
    let bad = || wrong(number, "a sparse row is written {index value, index value}");
    let inner = inner.trim_end().strip_suffix('}').ok_or_else(bad)?.trim();
    let mut next = 0;
    let pairs = if inner.is_empty() { Vec::new() } else { split_pairs(inner).ok_or_else(bad)? };
    for (index, value, quoted) in pairs {
        if index < next || index >= attributes.len() {
            let what = format!(
                "index {index} is out of order or not below the {} attributes",
                attributes.len()
            );
            return Err(wrong(number, &what));
        }
        absent(&attributes[next..index], &mut columns[next..index]);
        add(&value, quoted, &attributes[index], columns[index].as_mut(), number)?;
        next = index + 1;
    }
    absent(&attributes[next..], &mut columns[next..]);
    Ok(())
}

fn split_pairs(inner: &str) -> Option<Vec<(usize, Cow<'_, str>, bool)>> {
    let mut pairs = Vec::new();
    let mut rest = inner;
    loop {
        let (index, after) = rest.split_once(char::is_whitespace)?;
        let (value, after) = token(after.trim_start(), |c| c == ',')?;
        let quoted = matches!(value, Cow::Owned(_));
        pairs.push((index.parse().ok()?, value, quoted));
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return Some(pairs),
            None => return None,
        }
    }
}

/// What a sparse row leaves out: 0, or the first level.
fn absent(attributes: &[Attribute], columns: &mut [Option<Collected>]) {
    for (attribute, column) in attributes.iter().zip(columns) {
        let Some(column) = column else { continue };
        match &attribute.kind {
            Kind::Nominal(levels) => match levels.first() {
                Some(first) => column.push_text(first),
                None => column.cells.push(f64::NAN),
            },
            Kind::Text => column.cells.push(f64::NAN),
            _ => column.cells.push(0.0),
        }
    }
}
