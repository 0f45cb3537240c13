//! Several files that are one table: rows of the first, then rows of the next.
//!
//! Every file is looked at once. Names and types of columns must agree; levels of categories are those of
//! all files together. After that a file is opened when its rows are asked for, and its content is compared
//! with what it was: a file that has changed is refused.

use crate::address::{self, Place};
use crate::dataset::Distinct;
use crate::input::{self, Bytes, changed, digest_of};
use crate::options::{Format, ReadOptions};
use crate::report::{ColumnReport, ReadReport};
use crate::stream::{RowReader, Scanned, TargetFacts};
#[cfg(feature = "columnar")]
use crate::stream_columns::Columnar;
use crate::stream_counted::Counted;
use crate::stream_csv::Csv;
use learnt_core::context::Context;
use learnt_core::data::{Column, ColumnKind, Schema};
use learnt_core::error::{Code, Error, Result, plain};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The most files that are open at a time.
const MOST_OPEN: usize = 64;

/// A file of a table, and what was found in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) path: String,
    pub(crate) format: Format,
    pub(crate) rows: u64,
    /// SHA-256 of its bytes, if it was asked for.
    pub(crate) digest: String,
    /// Where the rows are, if the file itself does not say.
    pub(crate) pieces: Vec<u64>,
    /// Its length and the time of its last change when it was looked at.
    stamp: Option<Stamp>,
}

type Stamp = (u64, Option<SystemTime>);

impl Part {
    /// Of a file that was just gone over.
    pub(crate) fn new(path: &Path, bytes: &Bytes, scanned: &Scanned) -> Part {
        let path = match address::place(path) {
            Ok(Place::Here(local)) if local.as_os_str() != "-" => {
                std::path::absolute(&local).unwrap_or(local)
            }
            _ => path.to_path_buf(),
        };
        Part {
            path: path.display().to_string(),
            format: scanned.report.format,
            rows: scanned.report.rows,
            digest: scanned.report.digest.clone().unwrap_or_default(),
            pieces: scanned.reader.pieces(),
            stamp: bytes.stamp(),
        }
    }

    /// As a plan says it.
    pub(crate) fn planned(
        path: String,
        format: Format,
        rows: u64,
        digest: String,
        pieces: Vec<u64>,
    ) -> Part {
        Part { path, format, rows, digest, pieces, stamp: None }
    }
}

/// Whether a path stands for several files.
pub(crate) fn is_many(path: &Path) -> bool {
    let local = match address::place(path) {
        Ok(Place::There(text)) => return address::is_many(text),
        Ok(Place::Here(local)) => local,
        Err(_) => return false,
    };
    let path = local.as_path();
    let pattern = path.file_name().is_some_and(|name| name.to_string_lossy().contains('*'));
    path.is_dir() || (pattern && !path.exists())
}

/// The files of a folder, or those whose names match a pattern with `*`, in the order of their names.
/// Names that begin with a dot or an underscore are no tables. Folders and patterns may be addresses.
pub fn expand(path: &Path) -> Result<Vec<PathBuf>> {
    let local = match address::place(path)? {
        Place::There(text) if address::is_many(text) => {
            return address::list(text).map_err(|error| error.within(&plain(text)));
        }
        Place::There(_) => return Ok(vec![path.to_path_buf()]),
        Place::Here(local) => local,
    };
    let path = local.as_path();
    let place = plain(&path.display().to_string());
    let (folder, pattern) = match path.is_dir() {
        true => (path, None),
        false if is_many(path) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (parent.unwrap_or(Path::new(".")), name)
        }
        false => return Ok(vec![path.to_path_buf()]),
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::from(error).within(&place))? {
        let entry = entry?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = match &pattern {
            Some(pattern) => matches(pattern, &name),
            None => Format::of_path(&entry).is_some(),
        };
        if wanted && !name.starts_with(['.', '_']) && entry.is_file() {
            found.push(entry);
        }
    }
    found.sort();
    match found.is_empty() {
        true => {
            Err(Error::new(Code::Empty, format!("{place} holds no CSV, Parquet or Arrow file")))
        }
        false => Ok(found),
    }
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Goes over all files; `scan` looks at one.
pub(crate) fn scan(
    paths: &[PathBuf],
    options: &ReadOptions,
    scan: impl Fn(&Path) -> Result<(Scanned, Part)>,
) -> Result<(Scanned, Vec<Part>)> {
    let mut table: Option<Table> = None;
    for path in paths {
        let (scanned, part) = scan(path)?;
        table = Some(match table {
            None => Table::new(scanned, part)?,
            Some(mut table) => {
                table.add(scanned, part)?;
                table
            }
        });
    }
    let table = table.ok_or_else(|| Error::new(Code::Empty, "no files are named"))?;
    table.finish(options)
}

/// What is known of the files so far.
struct Table {
    columns: Vec<Column>,
    /// Levels of unordered columns of categories.
    levels: Vec<BTreeSet<String>>,
    report: ReadReport,
    target: TargetFacts,
    /// The texts of the target, if it is text.
    classes: BTreeSet<String>,
    counted: Option<Counted>,
    parts: Vec<Part>,
}

impl Table {
    fn new(scanned: Scanned, part: Part) -> Result<Table> {
        let Scanned { schema, report, target, counted, .. } = scanned;
        let notes: Vec<String> =
            report.notes.iter().map(|note| format!("{}: {note}", short(&part.path))).collect();
        let classes = texts_of(&schema, &target);
        let columns = schema.columns().to_vec();
        let levels = columns.iter().map(levels_of).collect();
        let report = ReadReport { notes, digest: None, ..report };
        Ok(Table { columns, levels, report, target, classes, counted, parts: vec![part] })
    }

    fn add(&mut self, scanned: Scanned, part: Part) -> Result<()> {
        let Scanned { schema, report, target, counted, .. } = scanned;
        self.agree(&schema, &part)?;
        for (known, column) in self.levels.iter_mut().zip(schema.columns()) {
            known.extend(levels_of(column));
        }
        self.classes.extend(texts_of(&schema, &target));
        if let (Some(all), Some(counted)) = (&mut self.counted, &counted) {
            all.extend(counted);
        }
        let before = self.report.rows;
        let target = TargetFacts { first_missing: target.first_missing + before, ..target };
        self.target = std::mem::take(&mut self.target).merge(target);
        self.report.rows += report.rows;
        self.report.skipped += report.skipped;
        self.report.blank += report.blank;
        self.report.empty += report.empty;
        for (known, column) in self.report.columns.iter_mut().zip(&report.columns) {
            known.missing += column.missing;
            known.rounded += column.rounded;
            merge_kept(known, column);
        }
        let notes = report.notes.iter().map(|note| format!("{}: {note}", short(&part.path)));
        self.report.notes.extend(notes);
        self.parts.push(part);
        Ok(())
    }

    /// Refuses a file whose columns differ from those of the first, and says in what.
    fn agree(&self, schema: &Schema, part: &Part) -> Result<()> {
        let (here, first) = (short(&part.path), short(&self.parts[0].path));
        let differ = |message: String, column: &str| {
            Err(Error::new(Code::Schema, message).column(column).hint(
                "all files of a table have the same columns; --ignore leaves columns out, --type says what one is",
            ))
        };
        for column in &self.columns {
            if schema.position(&column.name).is_none() {
                let name = plain(&column.name);
                return differ(format!("{here} has no column '{name}', and {first} has"), &name);
            }
        }
        for (j, column) in schema.columns().iter().enumerate() {
            let name = plain(&column.name);
            let Some(known) = self.columns.iter().position(|known| known.name == column.name)
            else {
                return differ(
                    format!("{here} has a column '{name}', and {first} has none"),
                    &name,
                );
            };
            if known != j {
                return differ(
                    format!(
                        "column '{name}' is number {} in {here} and {} in {first}",
                        j + 1,
                        known + 1
                    ),
                    &name,
                );
            }
            let is_text = |column: &Column| column.levels().is_some();
            if is_text(column) != is_text(&self.columns[j]) {
                let word = |text: bool| if text { "text" } else { "numbers" };
                let (this, that) = (word(is_text(column)), word(is_text(&self.columns[j])));
                return differ(
                    format!("column '{name}' is {this} in {here} and {that} in {first}"),
                    &name,
                );
            }
        }
        Ok(())
    }

    fn finish(mut self, options: &ReadOptions) -> Result<(Scanned, Vec<Part>)> {
        for (j, texts) in self.levels.into_iter().enumerate() {
            if let ColumnKind::Categorical { levels, ordered: false } = &mut self.columns[j].kind {
                *levels = Arc::new(texts.into_iter().collect());
            }
            if let Some(levels) = self.columns[j].levels() {
                self.report.columns[j].distinct = Some(levels.len() as u64);
            }
        }
        let schema = Schema::new(self.columns)?;
        if !self.classes.is_empty() {
            let levels = self.target.column.and_then(|j| schema.column(j).levels());
            let place = |class| levels.and_then(|all| all.iter().position(|level| level == class));
            let codes = self.classes.iter().filter_map(place);
            self.target.distinct = Distinct::of_values(codes.map(|code| code as f64).collect());
        }
        let mut hash = Sha256::new();
        self.parts.iter().for_each(|part| hash.update(part.digest.as_bytes()));
        self.report.digest = match self.parts.as_slice() {
            [only] => Some(only.digest.clone()),
            _ => Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        let reader = Box::new(Files::new(self.parts.clone(), schema.clone(), options.clone()));
        let Table { report, target, counted, parts, .. } = self;
        let scanned = Scanned { schema, report, reader, target, counted };
        Ok((scanned, parts))
    }
}

/// How often words for missing values stayed text.
fn merge_kept(known: &mut ColumnReport, column: &ColumnReport) {
    for (token, count) in &column.kept {
        match known.kept.iter_mut().find(|(word, _)| word == token) {
            Some((_, all)) => *all += count,
            None => known.kept.push((token.clone(), *count)),
        }
    }
}

/// The name of a file without its folders.
fn short(path: &str) -> String {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    plain(&name.unwrap_or_else(|| path.to_string()))
}

fn levels_of(column: &Column) -> BTreeSet<String> {
    column.levels().unwrap_or_default().iter().cloned().collect()
}

/// The texts of a target of text that are there.
fn texts_of(schema: &Schema, target: &TargetFacts) -> BTreeSet<String> {
    let Some(levels) = target.column.and_then(|j| schema.column(j).levels()) else {
        return BTreeSet::new();
    };
    target.distinct.values.iter().filter_map(|&code| levels.get(code as usize).cloned()).collect()
}

/// Files that are opened when their rows are asked for.
pub(crate) struct Files {
    parts: Vec<Part>,
    /// The first row of each, and the number of rows.
    starts: Vec<u64>,
    schema: Schema,
    options: ReadOptions,
    open: Mutex<VecDeque<(usize, Reader)>>,
    /// What files were when their content was last compared.
    compared: Mutex<Vec<Option<Stamp>>>,
}

type Reader = Arc<dyn RowReader>;

impl Files {
    pub(crate) fn new(parts: Vec<Part>, schema: Schema, options: ReadOptions) -> Files {
        let mut starts = vec![0];
        for part in &parts {
            starts.push(starts.last().copied().unwrap_or_default() + part.rows);
        }
        let compared = Mutex::new(parts.iter().map(|part| part.stamp).collect());
        Files { parts, starts, schema, options, open: Mutex::default(), compared }
    }

    fn reader(&self, k: usize) -> Result<Reader> {
        let find = |open: &VecDeque<(usize, Reader)>| {
            open.iter().find(|(i, _)| *i == k).map(|(_, reader)| Arc::clone(reader))
        };
        if let Some(reader) = find(&self.open.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(reader);
        }
        let place = plain(&self.parts[k].path);
        let reader = self.open_part(k).map_err(|error| error.within(&place))?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = find(&open) {
            return Ok(reader);
        }
        if open.len() >= MOST_OPEN {
            open.pop_front();
        }
        open.push_back((k, Arc::clone(&reader)));
        Ok(reader)
    }

    fn open_part(&self, k: usize) -> Result<Reader> {
        let (part, options, run) = (&self.parts[k], &self.options, Context::default());
        let near = match address::place(Path::new(&part.path))? {
            Place::There(text) => address::kept(text, &part.digest)?,
            Place::Here(path) => path,
        };
        let input = input::open(&near, options, true, &run)?;
        let stamp = input.bytes.stamp();
        let known = self.compared.lock().unwrap_or_else(PoisonError::into_inner)[k];
        if stamp.is_none() || known != stamp {
            let digest = match &input.digest {
                Some(digest) => digest.clone(),
                None => digest_of(&input.bytes)?,
            };
            if digest != part.digest {
                return Err(other_content());
            }
            self.compared.lock().unwrap_or_else(PoisonError::into_inner)[k] = stamp;
        }
        reopen(&input.bytes, options, part, &self.schema)
    }
}

/// The error for a file that is not the one that was planned with.
pub(crate) fn other_content() -> Error {
    let message = "the file has changed since the table was looked at: its SHA-256 differs";
    Error::new(Code::Io, message).hint("plan the fit again")
}

fn reopen(
    bytes: &Arc<Bytes>,
    options: &ReadOptions,
    part: &Part,
    schema: &Schema,
) -> Result<Reader> {
    match part.format {
        Format::Csv | Format::Tsv => {
            let csv = Csv::reopen(bytes, options, part.format, schema, &part.pieces)?;
            Ok(Arc::new(csv))
        }
        #[cfg(feature = "columnar")]
        _ => Ok(Arc::new(Columnar::reopen(bytes, options, part.format, schema)?)),
        #[cfg(not(feature = "columnar"))]
        format => Err(format.left_out()),
    }
}

impl RowReader for Files {
    fn rows(&self, start: u64, end: u64) -> Result<Vec<f64>> {
        let width = self.schema.len();
        let mut out = Vec::new();
        let mut k = self.starts.partition_point(|&first| first <= start).saturating_sub(1);
        while k < self.parts.len() && self.starts[k] < end {
            let from = start.saturating_sub(self.starts[k]);
            let to = end.min(self.starts[k + 1]) - self.starts[k];
            if from < to {
                let place = plain(&self.parts[k].path);
                let rows = self.reader(k)?.rows(from, to).map_err(|error| error.within(&place))?;
                match out.is_empty() {
                    true => out = rows,
                    false => out.extend(rows),
                }
            }
            k += 1;
        }
        match out.len() as u64 == (end - start) * width as u64 {
            true => Ok(out),
            false => Err(changed()),
        }
    }

    fn settle(&mut self, schema: &Schema) {
        self.schema = schema.clone();
        self.open.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn pieces(&self) -> Vec<u64> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, expected) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.parquet", false),
            ("part-*-x*.pq", "part-01-xy.pq", true),
            ("part-*-x*.pq", "part-01-y.pq", false),
            ("a*", "a", true),
            ("a", "ab", false),
            ("*a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
