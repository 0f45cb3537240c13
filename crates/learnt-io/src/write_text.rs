//! Tables as text: CSV, TSV, NDJSON, ARFF and LIBSVM.

use crate::write::WriteOptions;
use learnt_core::data::{Column, Frame};
use learnt_core::error::{Code, Error, Result, plain};
use std::io::Write;

/// A number as the shortest text that is read back to the same bits.
fn number(value: f64) -> String {
    let size = value.abs();
    let long = size != 0.0 && !(1e-5..1e16).contains(&size);
    if long && size.is_finite() { format!("{value:e}") } else { format!("{value}") }
}

fn level(column: &Column, value: f64) -> Result<&str> {
    let found = column.levels().and_then(|levels| levels.get(value as usize));
    found.map(String::as_str).ok_or_else(|| Error::internal("a code without its level"))
}

/// CSV or TSV.
pub(crate) fn delimited(
    sink: &mut impl Write,
    table: &Frame,
    delimiter: u8,
    options: &WriteOptions,
) -> Result<()> {
    let columns = table.schema().columns();
    let safe = options.spreadsheet_safe;
    if options.header {
        let names: Vec<String> =
            columns.iter().map(|column| quoted(&column.name, delimiter, safe)).collect();
        writeln!(sink, "{}", names.join(&char::from(delimiter).to_string()))?;
    }
    let texts: Vec<Option<Vec<String>>> = columns
        .iter()
        .map(|column| {
            column
                .levels()
                .map(|levels| levels.iter().map(|level| quoted(level, delimiter, safe)).collect())
        })
        .collect();
    let alone = columns.len() == 1;
    let values = table.values();
    let mut line = Vec::new();
    for i in 0..table.nrows() {
        line.clear();
        for (j, levels) in texts.iter().enumerate() {
            if j > 0 {
                line.push(delimiter);
            }
            let value = values.at(i, j);
            match levels {
                _ if value.is_nan() && alone => line.extend(b"\"\""),
                _ if value.is_nan() => {}
                None => line.extend(number(value).bytes()),
                Some(levels) => match levels.get(value as usize) {
                    Some(text) => line.extend(text.bytes()),
                    None => return Err(Error::internal("a code without its level")),
                },
            }
        }
        line.push(b'\n');
        sink.write_all(&line)?;
    }
    Ok(())
}

/// A text as a field: in quotes if it has to be, defused for spreadsheets if that was asked for.
fn quoted(text: &str, delimiter: u8, safe: bool) -> String {
    let formula = safe && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_string() };
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let mark = text.starts_with('\u{feff}');
    match text.is_empty() || mark || text.bytes().any(special) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn finite(column: &Column, value: f64, format: &str) -> Result<()> {
    match value.is_infinite() {
        false => Ok(()),
        true => {
            let name = plain(&column.name);
            let message = format!("column '{name}' holds {value}, which {format} cannot hold");
            Err(Error::new(Code::NotFinite, message).column(name))
        }
    }
}

/// One JSON object a line.
pub(crate) fn ndjson(sink: &mut impl Write, table: &Frame) -> Result<()> {
    let columns = table.schema().columns();
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let keys: Vec<String> = columns.iter().map(|column| json(&column.name)).collect();
    for i in 0..table.nrows() {
        let mut line = String::from("{");
        for (j, column) in columns.iter().enumerate() {
            let value = table.values().at(i, j);
            finite(column, value, "JSON")?;
            let text = match (value.is_nan(), column.levels()) {
                (true, _) => "null".to_string(),
                (false, None) => number(value),
                (false, Some(_)) => json(level(column, value)?),
            };
            let comma = if j > 0 { "," } else { "" };
            line += &format!("{comma}{}:{text}", keys[j]);
        }
        writeln!(sink, "{line}}}")?;
    }
    Ok(())
}

/// ARFF with dense rows.
pub(crate) fn arff(sink: &mut impl Write, table: &Frame) -> Result<()> {
    let columns = table.schema().columns();
    writeln!(sink, "@relation table\n")?;
    for column in columns {
        let kind = match column.levels() {
            None => "numeric".to_string(),
            Some(levels) => {
                let shown: Vec<String> = levels.iter().map(|level| arff_text(level)).collect();
                format!("{{{}}}", shown.join(","))
            }
        };
        writeln!(sink, "@attribute {} {kind}", arff_text(&column.name))?;
    }
    writeln!(sink, "\n@data")?;
    for i in 0..table.nrows() {
        let mut cells = Vec::with_capacity(columns.len());
        for (j, column) in columns.iter().enumerate() {
            let value = table.values().at(i, j);
            finite(column, value, "ARFF")?;
            cells.push(match (value.is_nan(), column.levels()) {
                (true, _) => "?".to_string(),
                (false, None) => number(value),
                (false, Some(_)) => arff_text(level(column, value)?),
            });
        }
        writeln!(sink, "{}", cells.join(","))?;
    }
    Ok(())
}

/// A word, in quotes unless it is plain.
fn arff_text(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.:/+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_string();
    }
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\\' | '\'' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out + "'"
}

/// LIBSVM: the label, then what is not 0; indices count from 1.
pub(crate) fn libsvm(sink: &mut impl Write, table: &Frame, target: Option<&str>) -> Result<()> {
    let schema = table.schema();
    if schema.is_empty() {
        return Err(Error::new(Code::Empty, "no columns to write"));
    }
    let label = match target {
        Some(name) => schema.find(name)?,
        None => schema.position("label").unwrap_or(0),
    };
    if let Some(column) = schema.columns().iter().find(|column| column.levels().is_some()) {
        let name = plain(&column.name);
        let message = format!("column '{name}' is categorical, and LIBSVM holds only numbers");
        return Err(Error::new(Code::NotNumeric, message).column(name));
    }
    let inputs: Vec<usize> = (0..schema.len()).filter(|&j| j != label).collect();
    for i in 0..table.nrows() {
        let mut line = number(table.values().at(i, label));
        for (k, &j) in inputs.iter().enumerate() {
            let value = table.values().at(i, j);
            if value != 0.0 {
                let text = if value.is_nan() { "nan".to_string() } else { number(value) };
                line += &format!(" {}:{text}", k + 1);
            }
        }
        writeln!(sink, "{line}")?;
    }
    Ok(())
}
