//! From arguments to tables: files, bundled sets, standard input.

use crate::commands::Call;
use learnt::data::{OwnedDataset, Schema, Table};
use learnt::error::{Code, Error, Result};
use learnt_io::{Encoding, Format, Header, Ragged, ReadOptions, Roles, Task, TypeRule};
use std::path::Path;

/// A table, where it came from, and what was noticed on the way.
pub(crate) struct Input {
    pub(crate) table: Table,
    pub(crate) name: String,
    pub(crate) default_target: Option<String>,
    pub(crate) digest: Option<String>,
}

/// A data set with the names of its targets.
pub(crate) struct Supervised {
    pub(crate) data: OwnedDataset,
    pub(crate) targets: Vec<String>,
    pub(crate) name: String,
    pub(crate) digest: Option<String>,
}

/// What the arguments say about reading.
pub(crate) fn options(call: &Call) -> Result<ReadOptions> {
    let mut options = ReadOptions { digest: true, ..ReadOptions::default() };
    options.format = call.text("format").map(Format::parse).transpose()?;
    options.delimiter = call.text("delimiter").map(delimiter).transpose()?;
    options.header = match call.text("header") {
        Some("yes") => Header::Yes,
        Some("no") => Header::No,
        _ => Header::Auto,
    };
    options.na = call.texts("na");
    options.encoding = call.text("encoding").map(Encoding::parse).transpose()?.unwrap_or_default();
    if call.text("ragged") == Some("skip") {
        options.ragged = Ragged::Skip;
    }
    options.dedupe_names = call.flag("dedupe-names");
    options.decimal_comma = call.flag("decimal-comma");
    for pair in call.texts("type") {
        let (column, kind) = pair_of("--type", &pair)?;
        options.types.push((column.to_string(), TypeRule::parse(kind)?));
    }
    for column in call.texts("ignore") {
        options.types.push((column, TypeRule::Skip));
    }
    Ok(options)
}

fn delimiter(word: &str) -> Result<u8> {
    match word {
        "\\t" | "tab" => Ok(b'\t'),
        _ if word.len() == 1 => Ok(word.as_bytes()[0]),
        _ => Err(Error::parameter("--delimiter", "one character, or `tab`", format!("'{word}'"))),
    }
}

fn pair_of<'a>(flag: &str, pair: &'a str) -> Result<(&'a str, &'a str)> {
    pair.rsplit_once('=')
        .ok_or_else(|| Error::parameter(flag, "of the form COLUMN=VALUE", format!("'{pair}'")))
}

/// Reads the table that the arguments name, and says what was inferred.
pub(crate) fn read(call: &Call) -> Result<Input> {
    read_with(call, &options(call)?)
}

pub(crate) fn read_with(call: &Call, options: &ReadOptions) -> Result<Input> {
    let name = call.text("data").unwrap_or_default();
    let bundled = match Path::new(name).exists() || name == "-" {
        true => None,
        false => learnt::datasets::describe(name).ok(),
    };
    let loaded = match bundled {
        Some(set) => learnt_io::read_bytes(set.name, set.text.as_bytes(), options, &call.run)?,
        None => learnt_io::read(name, options, &call.run).map_err(|error| or_bundled(error, name))?,
    };
    if !call.quiet {
        for line in loaded.report.lines() {
            call.say(&line);
        }
    }
    let table = renamed(loaded.table, &call.texts("rename"))?;
    Ok(Input {
        table,
        name: name.to_string(),
        default_target: bundled.and_then(|set| set.target).map(ToString::to_string),
        digest: loaded.report.digest,
    })
}

/// A file that is not there may be a misspelt bundled set.
pub(crate) fn or_bundled(error: Error, name: &str) -> Error {
    if error.code() != Code::Io || Path::new(name).exists() {
        return error;
    }
    let known: Vec<&str> = learnt::datasets::BUNDLED.iter().map(|set| set.name).collect();
    match learnt::error::nearest(name, &known) {
        Some(near) => error.hint(format!("or did you mean the bundled set '{near}'?")),
        None => error.hint("`learnt dataset` lists the bundled sets"),
    }
}

fn renamed(table: Table, pairs: &[String]) -> Result<Table> {
    if pairs.is_empty() {
        return Ok(table);
    }
    let (values, schema) = table.into_parts();
    let mut columns = schema.columns().to_vec();
    for pair in pairs {
        let (old, new) = pair_of("--rename", pair)?;
        columns[schema.find(old)?].name = new.to_string();
    }
    Table::new(values, Schema::new(columns)?)
}

/// What the columns are for, from the arguments.
pub(crate) fn roles(call: &Call, default_target: Option<&str>) -> Result<Roles> {
    let task = match call.text("task") {
        None => None,
        Some("classify" | "classification") => Some(Task::Classify),
        Some("regress" | "regression") => Some(Task::Regress),
        Some(word) => return Err(Error::unknown("task", word, ["classify", "regress"])),
    };
    Ok(Roles {
        targets: call.text("target").or(default_target).map(|t| vec![t.to_string()]).unwrap_or_default(),
        weight: call.text("weight").map(ToString::to_string),
        group: None,
        task,
    })
}

/// Splits a table into inputs, target and weights, and says what the target was taken for.
pub(crate) fn supervised(call: &Call, input: Input, with_target: bool) -> Result<Supervised> {
    let mut roles = roles(call, input.default_target.as_deref())?;
    if !with_target && call.text("target").is_none() {
        // A bundled set's own target is no input of an unsupervised fit.
        let own = input.default_target.iter().filter_map(|t| input.table.schema().position(t));
        let dropped: Vec<usize> = own.collect();
        let kept: Vec<usize> = (0..input.table.schema().len()).filter(|j| !dropped.contains(j)).collect();
        let table = input.table.frame().select(&kept);
        roles.targets.clear();
        let parts = learnt_io::to_dataset(table, &roles)?;
        return Ok(Supervised { data: parts.data, targets: Vec::new(), name: input.name, digest: input.digest });
    }
    if roles.targets.is_empty() {
        let columns: Vec<&str> = input.table.schema().names().collect();
        let last = columns.last().copied().unwrap_or_default();
        return Err(Error::new(Code::Target, "no target column is named")
            .hint(format!("add -t COLUMN, for example -t {last}")));
    }
    let parts = learnt_io::to_dataset(input.table, &roles)?;
    parts.notes.iter().for_each(|note| call.say(note));
    Ok(Supervised { data: parts.data, targets: parts.targets, name: input.name, digest: input.digest })
}
