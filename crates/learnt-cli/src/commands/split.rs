//! `learnt split FILE`: cuts a table into files of training, validation and test rows.
//!
//! Lines of CSV stay as they are, byte for byte; other formats are written anew.

use super::{Call, READING};
use crate::ExitCode;
use crate::input;
use crate::output::{print, print_json};
use crate::place;
use learnt::answer::{Cell, Columns};
use learnt::data::{Dataset, Label, Table, Target};
use learnt::dates::{order_of, parse};
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::select::{Parts, Size, holdout};
use learnt_io::{Format, WriteOptions};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn split(call: &Call) -> Result<ExitCode> {
    let input = input::read(call)?;
    let table = &input.table;
    let sizes = [size(call, "validation", 0.0)?, size(call, "test", 0.25)?];
    let none =
        |size: &Size| matches!(size, Size::Rows(0)) || matches!(size, Size::Share(s) if *s == 0.0);
    if sizes.iter().all(none) {
        return Err(Error::parameter("--test", "above 0", "0")
            .hint("--test 0.25 keeps a quarter of the rows, --test 500 so many of them"));
    }
    let by_default = call.text("target").or(input.default_target.as_deref());
    let (parts, how) = divided(call, table, sizes, by_default)?;
    let all = [("train", &parts.train), ("validation", &parts.validation), ("test", &parts.test)];
    let all: Vec<(&str, &Vec<usize>)> =
        all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect();
    let names = all
        .iter()
        .map(|(part, _)| file_name(call, &input.name, part))
        .collect::<Result<Vec<_>>>()?;
    names.iter().try_for_each(|name| place::may_be_written(call, name))?;
    let records = Records::read(call, &input)?;
    for ((_, rows), name) in all.iter().zip(&names) {
        match &records {
            Some(records) => place::pieces(call, name, records.lines(rows))?,
            None => {
                place::table(call, name, &table.frame().gather(rows), &WriteOptions::default())?;
            }
        }
    }
    if call.json {
        let files: Vec<_> = all
            .iter()
            .zip(&names)
            .map(|((part, rows), name)| json!({ "part": part, "rows": rows.len(), "file": name }))
            .collect();
        print_json("split", Some(call.run.seed()), json!({ "parts": files, "how": how }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut shown = Columns::new(&format!("{}: {how}", input.name), &["part", "rows", "file"]);
    for ((part, rows), name) in all.iter().zip(&names) {
        shown.push(vec![(*part).into(), Cell::Count(rows.len() as i64), Cell::Text(name.clone())]);
    }
    print(&call.fitted(&shown));
    let (train, options) = (shell(&names[0]), reading(call, records.is_some()));
    call.next(&match by_default {
        Some(target) => {
            let roles = call.repeated(&["task", "weight", "group", "sequence", "volume"]);
            format!("learnt compare {train} -t {}{options}{roles}", shell(target))
        }
        None => format!("learnt describe {train}{options}"),
    });
    Ok(ExitCode::SUCCESS)
}

/// The options that read the parts as the file was read: all of them where lines stay as they are, and what a table
/// that is written anew does not say of itself.
fn reading(call: &Call, as_they_are: bool) -> String {
    if as_they_are {
        return call.repeated(READING);
    }
    let types = call.texts("type");
    let kept = types.iter().filter(|word| word.ends_with("=cat") || word.contains("=ord("));
    kept.map(|word| format!(" --type {}", shell(word))).collect()
}

/// A share of the rows or a number of them.
fn size(call: &Call, name: &str, usual: f64) -> Result<Size> {
    let Some(word) = call.text(name) else { return Ok(Size::Share(usual)) };
    let bad = || {
        Error::parameter(
            &format!("--{name}"),
            "a share such as 0.25, or a number of rows",
            format!("'{word}'"),
        )
    };
    match word.parse::<usize>() {
        Ok(rows) => Ok(Size::Rows(rows)),
        Err(_) => match word.parse::<f64>() {
            Ok(share) if (0.0..1.0).contains(&share) => Ok(Size::Share(share)),
            _ => Err(bad()),
        },
    }
}

/// The rows of the parts, and how they were chosen.
fn divided(
    call: &Call,
    table: &Table,
    [validation, test]: [Size; 2],
    target: Option<&str>,
) -> Result<(Parts, String)> {
    let (group, time) = (call.text("group"), call.text("time"));
    if let Some(column) = time {
        if group.is_some() || call.text("stratify").is_some() {
            return Err(Error::new(Code::Usage, "a split is by time, by groups or by classes")
                .hint("leave out the others of --time, --group and --stratify"));
        }
        let parts = by_time(&times(table, column)?, validation, test)?;
        return Ok((parts, format!("the last rows by {} are for testing", plain(column))));
    }
    let mut data = Dataset::new(table.frame());
    let codes;
    let mut how = format!("drawn with seed {}", call.run.seed());
    if let Some(column) = group {
        if call.text("stratify").is_some() {
            return Err(Error::new(Code::Usage, "a split is by groups or by classes, not both")
                .hint("leave out --stratify"));
        }
        codes = codes_of(table, column)?.0;
        data.groups = Some(&codes);
        how = format!("{how}, rows of one {} together", plain(column));
        return Ok((holdout(&data, validation, test, false, &call.run)?, how));
    }
    let classes;
    let stratify = call.text("stratify").or(target.filter(|target| has_classes(table, target)));
    if let Some(column) = stratify {
        (codes, classes) = codes_of(table, column)?;
        if 2 * classes.len() > codes.len()
            || !(is_text(table, column) || has_classes(table, column))
        {
            let (name, count) = (plain(column), classes.len());
            let message = format!("{name} has {count} different values, and no shares to keep");
            return Err(Error::new(Code::Usage, message)
                .column(column)
                .hint("--stratify takes a column of classes; leave it out"));
        }
        data.y = Some(Target::Class { codes: &codes, classes: &classes });
        how = format!("{how}, shares of {} kept", plain(column));
    }
    Ok((holdout(&data, validation, test, stratify.is_some(), &call.run)?, how))
}

fn is_text(table: &Table, column: &str) -> bool {
    let schema = table.schema();
    schema.position(column).is_some_and(|j| schema.column(j).levels().is_some())
}

/// Whether a column looks like one of classes: levels, or a few whole numbers.
fn has_classes(table: &Table, column: &str) -> bool {
    const MOST: usize = 20;
    let few = |(_, classes): (Vec<u32>, Vec<Label>)| classes.len() <= MOST;
    codes_of(table, column).is_ok_and(few)
}

/// The values of a column as codes; what is missing is a value too.
fn codes_of(table: &Table, column: &str) -> Result<(Vec<u32>, Vec<Label>)> {
    let j = table.schema().find(column)?;
    let levels = table.schema().column(j).levels();
    let label = |value: f64| match levels.and_then(|levels| levels.get(value as usize)) {
        Some(level) if !value.is_nan() => Label::Text(level.clone()),
        _ if value.is_nan() => Label::Text(String::new()),
        _ => Label::Real(value),
    };
    let labels: Vec<Label> = table.values().column(j).into_iter().map(label).collect();
    Ok(Label::encode(&labels))
}

/// The times of rows: numbers, or dates in any of the usual forms.
fn times(table: &Table, column: &str) -> Result<Vec<f64>> {
    let j = table.schema().find(column)?;
    let values = table.values().column(j);
    let times = match table.schema().column(j).levels() {
        None => values,
        Some(levels) => {
            let texts = levels.iter().map(String::as_str);
            let order = order_of(texts).ok_or_else(|| {
                Error::new(Code::Parse, format!("{} holds no dates", plain(column)))
                    .column(column)
                    .hint("--time takes a column of numbers or of dates")
            })?;
            let parsed: Vec<f64> =
                levels.iter().map(|text| parse(text, order).unwrap_or(f64::NAN)).collect();
            values.iter().map(|&v| if v.is_nan() { v } else { parsed[v as usize] }).collect()
        }
    };
    match times.iter().position(|time| time.is_nan()) {
        None => Ok(times),
        Some(row) => Err(Error::new(
            Code::Missing,
            format!("row {} has no time in {}", row + 1, plain(column)),
        )
        .column(column)
        .hint("leave such rows out, or split by another column")),
    }
}

/// Training rows before those for validation, those before the test rows; rows of one time stay together,
/// on the earlier side.
fn by_time(times: &[f64], validation: Size, test: Size) -> Result<Parts> {
    let n = times.len();
    let rows = |size: Size| match size {
        Size::Share(share) => (share * n as f64).round() as usize,
        Size::Rows(rows) => rows,
    };
    let (v, t) = (rows(validation), rows(test));
    if v.saturating_add(t) >= n {
        let message =
            format!("{n} rows cannot be split: {v} to validate, {t} to test, and some to train");
        return Err(Error::new(Code::TooFew, message));
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]).then(a.cmp(&b)));
    let settled = |mut cut: usize| {
        while cut > 0 && cut < n && times[order[cut - 1]] == times[order[cut]] {
            cut += 1;
        }
        cut
    };
    let (first, second) = (settled(n - v - t), settled(n - t));
    let part = |range: std::ops::Range<usize>| {
        let mut rows = order[range].to_vec();
        rows.sort_unstable();
        rows
    };
    if t > 0 && second == n {
        return Err(Error::new(
            Code::TooFew,
            "the last rows have one time, so none is left to test",
        )
        .hint("ask for more test rows"));
    }
    Ok(Parts { train: part(0..first), validation: part(first..second), test: part(second..n) })
}

/// `parts/churn.csv` for the training rows is `parts/churn-train.csv`.
fn file_name(call: &Call, input: &str, part: &str) -> Result<String> {
    let bundled = input::bundled(input).map(|set| format!("{}.csv", set.name));
    let given = match (call.text("out"), &bundled) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(name)) => PathBuf::from(name),
        (None, None) if input == "-" => {
            return Err(Error::new(Code::Usage, "the parts have no names").hint("add -o NAME.csv"));
        }
        // Beside the caller and not beside the data.
        (None, None) => PathBuf::from(Path::new(input).file_name().unwrap_or_default()),
    };
    let name = given.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
    let packed = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let (stem, ending) = packed.rsplit_once('.').unwrap_or((packed, "csv"));
    let path = given.with_file_name(format!("{stem}-{part}.{ending}"));
    learnt_io::format_of(&path)?;
    Ok(path.display().to_string())
}

/// A text file as its lines: a header and one record a row.
struct Records {
    bytes: Vec<u8>,
    header: Option<std::ops::Range<usize>>,
    rows: Vec<std::ops::Range<usize>>,
}

impl Records {
    /// The records of a plain CSV file, where there are as many as rows; else the table is written anew.
    fn read(call: &Call, input: &input::Input) -> Result<Option<Records>> {
        let path = Path::new(&input.name);
        let to = call.text("out").map_or(path, Path::new);
        let text = |path: &Path| matches!(Format::of_path(path), Some(Format::Csv | Format::Tsv));
        let same = path.extension() == to.extension();
        let untouched = ["encoding", "ragged", "type", "ignore", "rename", "max-features"];
        let plain = untouched.iter().all(|name| call.texts(name).is_empty());
        if !(path.is_file() && text(path) && text(to) && same && plain) {
            return Ok(None);
        }
        let size = std::fs::metadata(path)?.len();
        call.run.claim(2 * size, "the lines of the file")?;
        Ok(Records::of(std::fs::read(path)?, input.table.values().nrows()))
    }

    fn of(bytes: Vec<u8>, rows: usize) -> Option<Records> {
        std::str::from_utf8(&bytes).ok()?;
        let mut found = Vec::with_capacity(rows + 1);
        let (mut start, mut quoted) = (0, false);
        for (i, &byte) in bytes.iter().enumerate() {
            quoted ^= byte == b'"';
            if byte == b'\n' && !quoted {
                found.push(start..i + 1);
                start = i + 1;
            }
        }
        if start < bytes.len() {
            found.push(start..bytes.len());
        }
        let blank = |range: &std::ops::Range<usize>| {
            bytes[range.clone()].iter().all(u8::is_ascii_whitespace)
        };
        found.retain(|range| !blank(range));
        let header = match found.len().checked_sub(rows)? {
            0 => None,
            1 => Some(found.remove(0)),
            _ => return None,
        };
        Some(Records { bytes, header, rows: found })
    }

    /// The header and these rows; a line without an end gets one.
    fn lines<'s>(&'s self, rows: &'s [usize]) -> impl Iterator<Item = &'s [u8]> {
        let header = self.header.clone().into_iter();
        header.chain(rows.iter().map(|&row| self.rows[row].clone())).flat_map(|range| {
            let line = &self.bytes[range];
            let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
            [line, end]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_quotes_with_line_ends_and_their_bytes() {
        let text = "id,note\r\n007,\"a\nb \"\"c\"\"\"\r\n\r\n008,1.50";
        let records = Records::of(text.as_bytes().to_vec(), 2).unwrap();
        let text = |row: usize| {
            let lines: Vec<&[u8]> = records.lines(std::slice::from_ref(&row)).collect();
            String::from_utf8(lines.concat()).unwrap()
        };
        let first = text(0);
        assert_eq!(first, "id,note\r\n007,\"a\nb \"\"c\"\"\"\r\n");
        let second = text(1);
        assert_eq!(second, "id,note\r\n008,1.50\n");
        assert!(Records::of(b"a\n5\" pipe\n6\n7\n".to_vec(), 3).is_none());
    }

    #[test]
    fn rows_of_one_time_stay_together_on_the_earlier_side() {
        let times = [5.0, 1.0, 2.0, 4.0, 4.0, 3.0];
        let parts = by_time(&times, Size::Rows(1), Size::Rows(2)).unwrap();
        assert_eq!(
            (parts.train, parts.validation, parts.test),
            (vec![1, 2, 5], vec![3, 4], vec![0])
        );
        assert_eq!(
            by_time(&[1.0, 1.0], Size::Rows(0), Size::Rows(1)).unwrap_err().code(),
            Code::TooFew
        );
    }
}
