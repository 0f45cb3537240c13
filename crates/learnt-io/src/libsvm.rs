//! LIBSVM text: a label, then `index:value` pairs in rising order; what is left out is 0.
//!
//! Columns are `label` and `x` with the index as written. Indices count from 1 unless a 0 is met.

use crate::csv::{Number, NumberStyle, valid_text};
use crate::input::Bytes;
use crate::memory;
use crate::options::{Format, ReadOptions};
use crate::report::{ColumnReport, Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::data::{Matrix, Schema, Table};
use learnt_core::error::{Code, Error, Result, plain};

struct Entries {
    labels: Vec<f64>,
    /// For each row, where its entries end.
    ends: Vec<usize>,
    cells: Vec<(u32, f64)>,
    largest: Option<u32>,
    zero_based: bool,
    /// Numbers that lost digits.
    rounded: u64,
}

/// Reads the whole file.
pub(crate) fn read(bytes: &Bytes, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let all = bytes.all(run)?;
    let entries = entries(valid_text(&all, 0)?, options, run)?;
    let rows = entries.labels.len();
    if rows == 0 && !options.allow_empty {
        return Err(Error::new(Code::Empty, "no rows: the file holds none"));
    }
    let first = u32::from(!entries.zero_based);
    let width = entries.largest.map_or(0, |largest| (largest + 1 - first) as usize);
    options.check_size(bytes.len(), (rows as u64).saturating_mul(8 * (width as u64 + 1)))?;
    let names: Vec<String> = std::iter::once("label".to_string())
        .chain((0..width).map(|j| format!("x{}", j as u32 + first)))
        .collect();
    options.check_names(&names)?;
    let kept: Vec<usize> = (0..names.len()).filter(|&j| !options.skips(&names[j])).collect();
    let mut places = vec![None; names.len()];
    for (place, &j) in kept.iter().enumerate() {
        places[j] = Some(place);
    }
    let mut values = Matrix::from_vec(rows, kept.len(), memory::table(rows, kept.len(), run)?)?;
    let mut start = 0;
    for (i, &end) in entries.ends.iter().enumerate() {
        let row = values.row_mut(i);
        if let Some(place) = places[0] {
            row[place] = entries.labels[i];
        }
        for &(index, value) in &entries.cells[start..end] {
            if let Some(place) = places[(index - first) as usize + 1] {
                row[place] = value;
            }
        }
        start = end;
    }
    let mut report = report(&names, &kept, &values, options);
    report.notes.push(match entries.zero_based {
        true => "libsvm: indices count from 0 (an index 0 was met)".to_string(),
        false => "libsvm: indices count from 1 (no index 0 was met)".to_string(),
    });
    match entries.rounded {
        0 => {}
        lost if options.strict => {
            let message = format!("{lost} numbers have more digits than f64 holds");
            return Err(Error::new(Code::Parse, message));
        }
        lost => {
            report.notes.push(format!("{lost} numbers beyond 2^53, 1.8e308 or 5e-324 lost digits"))
        }
    }
    let schema = Schema::numeric(kept.iter().map(|&j| names[j].as_str()))?;
    Ok(Loaded { table: Table::new(values, schema)?, report })
}

fn report(names: &[String], kept: &[usize], values: &Matrix, options: &ReadOptions) -> ReadReport {
    let mut report = ReadReport::new(Format::Libsvm);
    report.rows = values.nrows() as u64;
    let mut missing = vec![0; kept.len()];
    for row in values.rows() {
        for (count, value) in missing.iter_mut().zip(row) {
            *count += u64::from(value.is_nan());
        }
    }
    let column = |(&j, missing): (&usize, u64)| ColumnReport {
        name: names[j].clone(),
        kind: "num",
        missing,
        ..ColumnReport::default()
    };
    report.columns = kept.iter().zip(missing).map(column).collect();
    report.left_out = names.iter().filter(|name| options.skips(name)).cloned().collect();
    report
}

fn entries(text: &str, options: &ReadOptions, run: &Context) -> Result<Entries> {
    let mut entries = Entries {
        labels: Vec::new(),
        ends: Vec::new(),
        cells: Vec::new(),
        largest: None,
        zero_based: false,
        rounded: 0,
    };
    for (line, number) in text.lines().zip(1_u64..) {
        let content = line.split('#').next().unwrap_or_default();
        let mut tokens = content.split_ascii_whitespace();
        let Some(label) = tokens.next() else { continue };
        run.checkpoint()?;
        if entries.labels.len().is_multiple_of(4096) {
            memory::growing(entries.cells.len(), 2, run)?;
        }
        let label = label_of(label, number)?;
        entries.rounded += u64::from(label.rounded);
        entries.labels.push(label.value);
        let mut last = None;
        for token in tokens {
            let (index, value) = pair(token, number, options)?;
            if last.is_some_and(|last| index <= last) {
                let message =
                    format!("line {number}: index {index} is not above the one before it");
                return Err(Error::new(Code::Parse, message).row(number));
            }
            last = Some(index);
            entries.zero_based |= index == 0;
            entries.largest = entries.largest.max(Some(index));
            entries.rounded += u64::from(value.rounded);
            entries.cells.push((index, value.value));
        }
        entries.ends.push(entries.cells.len());
    }
    Ok(entries)
}

fn label_of(label: &str, line: u64) -> Result<Number> {
    if label.contains(',') {
        let message = format!("line {line}: several labels in a row are not supported");
        return Err(Error::unsupported(message).row(line));
    }
    number(label).ok_or_else(|| {
        let message = format!("line {line}: the label '{}' is not a number", plain(label));
        Error::new(Code::Parse, message).row(line)
    })
}

fn number(text: &str) -> Option<Number> {
    match text {
        "nan" | "NaN" => Some(Number { value: f64::NAN, rounded: false }),
        _ => NumberStyle::default().parse(text),
    }
}

fn pair(token: &str, line: u64, options: &ReadOptions) -> Result<(u32, Number)> {
    let wrong = |what: &str| {
        let message = format!("line {line}: '{}' {what}", plain(token));
        Error::new(Code::Parse, message).row(line)
    };
    let (index, value) = token.split_once(':').ok_or_else(|| wrong("is not index:value"))?;
    if index == "qid" {
        let message = format!("line {line}: query groups (qid) are not supported");
        return Err(Error::unsupported(message).row(line));
    }
    let value = number(value).ok_or_else(|| wrong("has no number after the colon"))?;
    let index: u64 = index.parse().map_err(|_| wrong("has no index >= 0 before the colon"))?;
    match u32::try_from(index) {
        Ok(small) if index <= options.max_features as u64 && small < u32::MAX => Ok((small, value)),
        _ => {
            let message =
                format!("line {line}: index {index}, and the limit is {}", options.max_features);
            Err(Error::new(Code::Memory, message).row(line).hint("raise --max-features"))
        }
    }
}
