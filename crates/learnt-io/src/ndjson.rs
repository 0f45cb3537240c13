//! NDJSON: one JSON object a line. Keys are columns, in the order they are first met; a key that a
//! line leaves out, and null, are missing. Lists and objects as values are refused by name.

use crate::columns::{Collected, assemble};
use crate::csv::{NumberStyle, valid_text};
use crate::input::Bytes;
use crate::memory;
use crate::options::{Format, ReadOptions, TypeRule};
use crate::report::{Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result, plain};
use serde_core::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// What a key holds.
enum Cell {
    Null,
    Bool(bool),
    Integer(i128),
    Real(f64),
    Text(String),
    List,
    Object,
}

/// The keys and values of a line, in order.
struct Record(Vec<(String, Cell)>);

/// What a column has held so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    Number,
    Bool,
    Text,
}

struct Column {
    collected: Collected,
    kind: Kind,
    rule: Option<TypeRule>,
    skipped: bool,
}

/// Reads the whole file.
pub(crate) fn read(bytes: &Bytes, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let all = bytes.all(run)?;
    let text = valid_text(&all, 0)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut columns: Vec<Column> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = 0_usize;
    for (line, number) in text.lines().zip(1_u64..) {
        if line.trim().is_empty() {
            continue;
        }
        run.checkpoint()?;
        let Record(cells) = serde_json::from_str(line).map_err(|error| not_json(&error, number))?;
        for (key, cell) in cells {
            let place = *places.entry(key).or_insert_with_key(|key| {
                columns.push(Column::new(key, options));
                columns.len() - 1
            });
            columns[place].add(cell, rows, line, number)?;
        }
        rows += 1;
        options
            .check_size(bytes.len(), (rows as u64).saturating_mul(8 * (columns.len() as u64)))?;
        if rows.is_multiple_of(1024) {
            memory::growing(rows, columns.len(), run)?;
        }
    }
    let names: Vec<String> = columns.iter().map(|column| column.collected.name.clone()).collect();
    options.check_names(&names)?;
    let mut report = ReadReport::new(Format::Ndjson);
    report.left_out = names.iter().filter(|name| options.skips(name)).cloned().collect();
    let kept = columns.into_iter().filter(|column| !column.skipped);
    let finished = kept.map(|mut column| {
        column.collected.cells.resize(rows, f64::NAN);
        column.collected
    });
    assemble(finished.collect(), rows, report, options, run)
}

fn not_json(error: &serde_json::Error, line: u64) -> Error {
    let message = format!("line {line} is not a JSON object: {}", plain(&error.to_string()));
    Error::new(Code::Parse, message).row(line)
}

impl Column {
    fn new(name: &str, options: &ReadOptions) -> Self {
        Column {
            collected: Collected::numeric(name),
            kind: Kind::Unknown,
            rule: options.rule(name).cloned(),
            skipped: options.skips(name),
        }
    }

    fn add(&mut self, cell: Cell, row: usize, text: &str, line: u64) -> Result<()> {
        if self.skipped {
            return Ok(());
        }
        if self.collected.cells.len() > row {
            let name = plain(&self.collected.name);
            let message = format!("line {line} has the key '{name}' twice");
            return Err(Error::new(Code::Names, message).column(name).row(line));
        }
        self.collected.cells.resize(row, f64::NAN);
        let as_text = self.rule.as_ref().is_some_and(TypeRule::is_text);
        match cell {
            Cell::Null => self.collected.cells.push(f64::NAN),
            Cell::List => return Err(self.nested("a list", line)),
            Cell::Object => return Err(self.nested("an object", line)),
            Cell::Bool(value) => self.add_text(Kind::Bool, &value.to_string(), line)?,
            Cell::Text(value) if self.rule == Some(TypeRule::Numeric) => {
                self.add_number_text(&value, line)?;
            }
            Cell::Text(value) => self.add_text(Kind::Text, &value, line)?,
            Cell::Integer(value) if as_text => {
                self.add_text(Kind::Text, &value.to_string(), line)?
            }
            Cell::Real(value) if as_text => {
                self.collected.rounded += u64::from(value.abs() >= 1e19 && has_long_integer(text));
                self.add_text(Kind::Text, &value.to_string(), line)?;
            }
            Cell::Integer(value) => {
                self.expect(Kind::Number, &value.to_string(), line)?;
                self.collected.push_integer(value);
            }
            Cell::Real(value) => {
                self.expect(Kind::Number, &value.to_string(), line)?;
                self.collected.rounded += u64::from(value.abs() >= 1e19 && has_long_integer(text));
                self.collected.cells.push(value);
            }
        }
        Ok(())
    }

    fn add_text(&mut self, kind: Kind, text: &str, line: u64) -> Result<()> {
        let categorical = self.rule.as_ref().is_some_and(TypeRule::is_text);
        self.expect(if categorical { Kind::Text } else { kind }, text, line)?;
        if text.is_empty() {
            self.collected.levels.get_or_insert_default();
            self.collected.cells.push(f64::NAN);
        } else {
            self.collected.push_text(text);
        }
        Ok(())
    }

    fn add_number_text(&mut self, text: &str, line: u64) -> Result<()> {
        let number = NumberStyle::default().parse(text);
        let missing = text.is_empty() || crate::MISSING_TOKENS.contains(&text);
        match number {
            Some(number) => {
                self.collected.rounded += u64::from(number.rounded);
                self.collected.cells.push(number.value);
            }
            None if missing => self.collected.cells.push(f64::NAN),
            None => return self.expect(Kind::Text, text, line),
        }
        self.expect(Kind::Number, text, line)
    }

    /// A column holds one kind of value.
    fn expect(&mut self, kind: Kind, value: &str, line: u64) -> Result<()> {
        let numeric = self.rule == Some(TypeRule::Numeric);
        if self.kind == Kind::Unknown && !(numeric && kind != Kind::Number) {
            self.kind = kind;
        }
        if self.kind == kind {
            return Ok(());
        }
        let name = plain(&self.collected.name);
        let message = format!(
            "line {line}: '{}' in column '{name}' is of another type than the values before it",
            plain(value)
        );
        let error = Error::new(Code::Parse, message).column(&name).row(line);
        Err(error.hint(format!("--type {name}=cat reads the column as text")))
    }

    fn nested(&self, what: &str, line: u64) -> Error {
        let name = plain(&self.collected.name);
        let message = format!("line {line}: column '{name}' holds {what}, which is not supported");
        Error::unsupported(message)
            .column(&name)
            .row(line)
            .hint(format!("--type {name}=skip leaves it out"))
    }
}

/// Whether a line has an integer of 20 digits or more, which JSON readers make a float.
fn has_long_integer(line: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || c == '.' || c == 'e' || c == 'E';
    line.split(|c| !number(c))
        .any(|run| run.len() >= 20 && run.bytes().all(|byte| byte.is_ascii_digit()))
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Record;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Record, A::Error> {
                let mut cells = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    cells.push(entry);
                }
                Ok(Record(cells))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Cell;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a value")
            }
            fn visit_unit<E>(self) -> std::result::Result<Cell, E> {
                Ok(Cell::Null)
            }
            fn visit_bool<E>(self, value: bool) -> std::result::Result<Cell, E> {
                Ok(Cell::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Cell, E> {
                Ok(Cell::Integer(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Cell, E> {
                Ok(Cell::Integer(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> std::result::Result<Cell, E> {
                Ok(Cell::Real(value))
            }
            fn visit_str<E>(self, value: &str) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_string()))
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> std::result::Result<Cell, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Cell::List)
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Cell, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cell::Object)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
