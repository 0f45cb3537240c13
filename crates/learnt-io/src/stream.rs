//! Files larger than memory, as blocks of rows: the same blocks, to the bit, as those of the table
//! that [`read`](crate::read) would give.
//!
//! One pass finds types, levels, classes and where rows are; after that any block can be read on
//! its own. Compressed files and standard input are first copied to a temporary file.

use crate::dataset::{
    Classes, ColumnRoles, Distinct, Places, TargetTask, classes_of, decide, missing_target,
    text_weights,
};
use crate::input::{self, digest_of};
use crate::levels::Levels;
use crate::options::{Format, ReadOptions};
use crate::report::ReadReport;
use crate::sniff::format_of;
#[cfg(feature = "columnar")]
use crate::stream_columns::Columnar;
use crate::stream_counted::{Counted, Offsets, counts};
use crate::stream_csv::Csv;
use crate::stream_files::{self, Part};
use crate::stream_kept::{Kept, Rows};
use learnt_core::context::Context;
use learnt_core::data::{
    ColumnKind, Dataset, Frame, Label, MatRef, Schema, Sequences, Target, Volume,
};
use learnt_core::error::{Code, Error, Result};
use learnt_core::rounds::{Block, Outline, Source, block_rows};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The most classes that numbers of a streamed target may be.
const MOST_CLASSES: usize = 65_536;

/// Rows of a file, by number, in final coding.
pub(crate) trait RowReader: Send + Sync {
    /// Rows `start..end` of all kept columns, row by row.
    fn rows(&self, start: u64, end: u64) -> Result<Vec<f64>>;
    /// Takes the levels of a table that the file is a part of.
    fn settle(&mut self, schema: &Schema);
    /// Where the rows are, if the file itself does not say.
    fn pieces(&self) -> Vec<u64>;
}

/// For each column of categories, its levels with their codes.
pub(crate) fn finals_of(schema: &Schema) -> Vec<Option<(Levels, Vec<f64>)>> {
    let codes = |texts: &[String]| {
        let mut levels = Levels::default();
        let codes = texts.iter().map(|text| f64::from(levels.add(text))).collect();
        (levels, codes)
    };
    schema.columns().iter().map(|column| column.levels().map(codes)).collect()
}

/// What the first pass found.
pub(crate) struct Scanned {
    pub(crate) schema: Schema,
    pub(crate) report: ReadReport,
    pub(crate) reader: Box<dyn RowReader>,
    pub(crate) target: TargetFacts,
    /// How many rows count; `None` without weights.
    pub(crate) counted: Option<Counted>,
}

/// Where the target is among the columns.
pub(crate) fn target_place(names: &[String], roles: &ColumnRoles) -> Result<Option<usize>> {
    let Some(name) = roles.targets.first() else { return Ok(None) };
    let found = names.iter().position(|known| known == name);
    let known = names.iter().map(String::as_str);
    found.map(Some).ok_or_else(|| Error::unknown("column", name, known))
}

/// What the first pass found in the target.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetFacts {
    /// Which column it is.
    pub(crate) column: Option<usize>,
    /// Its different values, or codes.
    pub(crate) distinct: Distinct,
    pub(crate) missing: u64,
    pub(crate) first_missing: u64,
}

impl TargetFacts {
    /// Of the values of some rows, the first of which is row `start`.
    pub(crate) fn of(values: Vec<f64>, start: u64) -> TargetFacts {
        let missing = values.iter().filter(|value| value.is_nan()).count() as u64;
        let first = values.iter().position(|value| value.is_nan()).unwrap_or_default() as u64;
        let mut distinct = Distinct::of_values(values);
        distinct.values.truncate(MOST_CLASSES + 1);
        TargetFacts { column: None, distinct, missing, first_missing: start + first }
    }

    /// Of both; `self` is of earlier rows.
    pub(crate) fn merge(self, later: TargetFacts) -> TargetFacts {
        let whole = self.distinct.whole && later.distinct.whole;
        let first_missing = if self.missing > 0 { self.first_missing } else { later.first_missing };
        let missing = self.missing + later.missing;
        let mut distinct = self.distinct.merge(later.distinct);
        distinct.values.truncate(MOST_CLASSES + 1);
        distinct.whole = whole;
        TargetFacts { column: self.column.or(later.column), distinct, missing, first_missing }
    }
}

/// A file, or several that are one table, as blocks.
pub struct FileSource {
    pub(crate) reader: Box<dyn RowReader>,
    pub(crate) report: ReadReport,
    pub(crate) notes: Vec<String>,
    pub(crate) task: Option<TargetTask>,
    /// The input columns.
    pub(crate) schema: Schema,
    /// All columns that are read.
    pub(crate) all: Schema,
    pub(crate) inputs: Vec<usize>,
    pub(crate) target: Option<usize>,
    pub(crate) weight: Option<usize>,
    /// The different values of a target of classes.
    pub(crate) distinct: Distinct,
    pub(crate) classes: Option<Classes>,
    pub(crate) sequences: Option<FileSequences>,
    /// Which rows count, where some do not: blocks are cut from the others.
    pub(crate) counted: Option<Counted>,
    pub(crate) parts: Vec<Part>,
    pub(crate) options: ReadOptions,
    pub(crate) kept: Kept,
}

/// Where the sequences of a file are.
pub(crate) struct FileSequences {
    /// The first row of each, and the number of rows.
    pub(crate) offsets: Vec<usize>,
    /// Blocks of whole sequences.
    pub(crate) blocks: Vec<Range<usize>>,
}

/// Opens a CSV, Parquet or Arrow file for fitting block by block. A folder, or a name with `*`, is the
/// table of all its files, in the order of their names.
pub fn open_stream(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    roles: &ColumnRoles,
    run: &Context,
) -> Result<FileSource> {
    let path = path.as_ref();
    if stream_files::is_many(path) {
        return open_streams(&stream_files::expand(path)?, options, roles, run);
    }
    let (scanned, part) = scan_file(path, options, roles, run)?;
    let place = learnt_core::error::plain(&path.display().to_string());
    FileSource::new(scanned, roles, vec![part], options).map_err(|error| error.within(&place))
}

/// Opens several files that are one table, in this order.
pub fn open_streams(
    paths: &[PathBuf],
    options: &ReadOptions,
    roles: &ColumnRoles,
    run: &Context,
) -> Result<FileSource> {
    let options = ReadOptions { digest: true, ..options.clone() };
    let (scanned, parts) = stream_files::scan(paths, &options, |path| {
        run.checkpoint()?;
        scan_file(path, &options, roles, run)
    })?;
    FileSource::new(scanned, roles, parts, &options)
}

/// Goes over one file.
fn scan_file(
    path: &Path,
    options: &ReadOptions,
    roles: &ColumnRoles,
    run: &Context,
) -> Result<(Scanned, Part)> {
    let input = input::open(path, options, true, run)?;
    let scanned =
        scan_input(path, &input, options, roles, run).map_err(|error| error.within(&input.name))?;
    let part = Part::new(path, &input.bytes, &scanned);
    Ok((scanned, part))
}

/// The same for bytes that are there already; `name` stands in messages.
pub fn open_stream_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    roles: &ColumnRoles,
    run: &Context,
) -> Result<FileSource> {
    let input = input::from_memory(name, bytes);
    scan_input(Path::new(name), &input, options, roles, run)
        .and_then(|scanned| FileSource::new(scanned, roles, Vec::new(), options))
        .map_err(|error| error.within(&input.name))
}

fn scan_input(
    path: &Path,
    input: &input::Input,
    options: &ReadOptions,
    roles: &ColumnRoles,
    run: &Context,
) -> Result<Scanned> {
    if roles.group.is_some() || roles.targets.len() > 1 {
        return Err(Error::unsupported("a stream takes one target and no groups")
            .hint("leave out --stream"));
    }
    let format = format_of(path, &input.bytes, options)?;
    let mut scanned = match format {
        Format::Csv | Format::Tsv => Csv::scan(&input.bytes, options, format, roles, run)?,
        #[cfg(feature = "columnar")]
        Format::Parquet => Columnar::scan_parquet(&input.bytes, options, roles, run)?,
        #[cfg(feature = "columnar")]
        Format::Arrow => Columnar::scan_arrow(&input.bytes, options, roles, run)?,
        #[cfg(not(feature = "columnar"))]
        Format::Parquet | Format::Arrow => return Err(format.left_out()),
        Format::Arff | Format::Libsvm | Format::Ndjson => {
            let message = format!("{} files cannot be streamed", format.name());
            return Err(
                Error::unsupported(message).hint("`learnt convert` makes a Parquet file of it")
            );
        }
    };
    if scanned.report.rows == 0 {
        return Err(Error::new(Code::Empty, "no rows: the file holds none"));
    }
    scanned.report.packing = input.packing;
    scanned.report.digest = match (&input.digest, options.digest) {
        (None, true) => Some(digest_of(&input.bytes)?),
        (digest, _) => digest.clone(),
    };
    Ok(scanned)
}

impl FileSource {
    fn new(
        scanned: Scanned,
        roles: &ColumnRoles,
        parts: Vec<Part>,
        options: &ReadOptions,
    ) -> Result<FileSource> {
        let Scanned { schema: all, report, reader, target: facts, counted } = scanned;
        let places = Places::find(&all, roles)?;
        let inputs = places.inputs(all.len());
        if inputs.is_empty() {
            return Err(Error::new(Code::Empty, "no input columns are left beside the target"));
        }
        if let Some(j) = places.weight
            && all.column(j).kind != ColumnKind::Numeric
        {
            return Err(text_weights(&all.column(j).name));
        }
        let target = places.targets.first().copied();
        let mut notes = Vec::new();
        let (mut task, mut classes) = (None, None);
        if let Some(j) = target {
            let column = all.column(j);
            if facts.missing > 0 {
                return Err(missing_target(&column.name, facts.missing, facts.first_missing));
            }
            let (found, note) = decide(column, &facts.distinct, report.rows, roles)?;
            if found == TargetTask::Classify {
                if facts.distinct.values.len() > MOST_CLASSES {
                    let message = format!("more than {MOST_CLASSES} classes");
                    return Err(Error::new(Code::Target, message).column(&column.name));
                }
                classes = Some(classes_of(column, &facts.distinct));
            }
            notes.push(note);
            task = Some(found);
        }
        let mut source = FileSource {
            reader,
            report,
            notes,
            task,
            schema: all.select(&inputs),
            all,
            inputs,
            target,
            weight: places.weight,
            distinct: facts.distinct,
            classes,
            sequences: None,
            counted: counted.map_or(Ok(None), Counted::settled)?,
            parts,
            options: options.clone(),
            kept: Kept::default(),
        };
        source.sequences = places.sequence.map(|j| source.sequences(j)).transpose()?;
        Ok(source)
    }

    /// The same file without some of its input columns.
    #[must_use]
    pub fn without(mut self, names: &[String]) -> FileSource {
        let names: BTreeSet<&String> = names.iter().collect();
        let kept: Vec<usize> = (0..self.schema.len())
            .filter(|&j| !names.contains(&self.schema.column(j).name))
            .collect();
        self.inputs = kept.iter().map(|&k| self.inputs[k]).collect();
        self.schema = self.schema.select(&kept);
        self.report.columns.retain(|column| !names.contains(&column.name));
        if let Some(sequences) = &mut self.sequences {
            sequences.blocks = blocks_of(&sequences.offsets, self.inputs.len());
        }
        self
    }

    /// The same file, whose inputs are the cells of a volume.
    pub fn in_volume(mut self, volume: Volume) -> Result<FileSource> {
        self.schema = std::mem::take(&mut self.schema).with_volume(volume)?;
        Ok(self)
    }

    /// The same file, of which blocks of up to this many bytes stay in memory once they were read.
    #[must_use]
    pub fn keeping(self, bytes: u64) -> FileSource {
        FileSource { kept: Kept::new(bytes), ..self }
    }

    /// Whether a block stays in memory.
    pub fn keeps(&self, index: u64) -> bool {
        self.kept.find(index).is_some()
    }

    /// Where the table is: its files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.path.as_str())
    }

    /// How many rows its files have, each.
    pub fn rows_of_files(&self) -> impl Iterator<Item = u64> {
        self.parts.iter().map(|part| part.rows)
    }

    /// One more pass finds where the values of a column change. Equal neighbours are one sequence;
    /// missing values are equal.
    fn sequences(&self, j: usize) -> Result<FileSequences> {
        let rows = self.report.rows;
        let size = block_rows(self.all.len()) as u64;
        let (mut offsets, mut last, mut start) = (Offsets::new(), None, 0);
        while start < rows {
            let end = (start + size).min(rows);
            for row in self.reader.rows(start, end)?.chunks_exact(self.all.len()) {
                let same = |last: f64| last == row[j] || (last.is_nan() && row[j].is_nan());
                let begins = last.is_some_and(|last| !same(last));
                offsets.push(begins, self.weight.is_none_or(|w| counts(row[w])));
                last = Some(row[j]);
            }
            start = end;
        }
        let offsets = offsets.finish();
        let blocks = blocks_of(&offsets, self.inputs.len());
        Ok(FileSequences { offsets, blocks })
    }

    /// The rows of a block, of those that count.
    fn range(&self, index: u64) -> (u64, u64) {
        if let Some(sequences) = &self.sequences {
            let block = sequences.blocks.get(index as usize).cloned().unwrap_or_default();
            return (block.start as u64, block.end as u64);
        }
        let size = block_rows(self.inputs.len()) as u64;
        let start = index.saturating_mul(size).min(self.rows());
        (start, (start + size).min(self.rows()))
    }

    /// The number of rows that count.
    fn rows(&self) -> u64 {
        self.counted.as_ref().map_or(self.report.rows, Counted::total)
    }

    /// Whether an input has missing values.
    pub fn has_missing(&self) -> bool {
        let is_input = |name: &str| self.schema.position(name).is_some();
        self.report.columns.iter().any(|column| column.missing > 0 && is_input(&column.name))
    }

    /// The column with the weights of rows.
    pub fn weight_name(&self) -> Option<&str> {
        self.weight.map(|j| self.all.column(j).name.as_str())
    }

    /// How the file was read.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Sentences about the target that the user should read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What is to be learnt; `None` without a target.
    pub fn task(&self) -> Option<TargetTask> {
        self.task
    }

    /// Reads these blocks at once, if the first is not there, and holds them until they are asked for: pages of
    /// columnar files are longer than blocks, and would be unpacked for each.
    pub fn read_ahead(&self, blocks: Range<u64>) -> Result<()> {
        if blocks.is_empty() || self.kept.has(blocks.start) || self.counted.is_some() {
            return Ok(());
        }
        let (first, last) = (self.range(blocks.start).0, self.range(blocks.end - 1).1);
        let cells = self.reader.rows(first, last)?;
        let width = self.all.len();
        let missing = blocks.filter(|&index| !self.kept.has(index));
        let rows: Vec<(u64, Rows)> = missing
            .map(|index| {
                let (start, end) = self.range(index);
                let part = (start - first) as usize * width..(end - first) as usize * width;
                (index, self.split(start, end, &cells[part]))
            })
            .collect();
        self.kept.read_ahead(rows.into_iter());
        Ok(())
    }

    /// Forgets what was read ahead of these blocks and nobody asked for.
    pub fn forget_ahead(&self, blocks: &Range<u64>) {
        self.kept.forget_ahead(blocks);
    }

    /// The rows of a block, as learners read them. Where some rows of the file do not count, `check` sees all
    /// that are read.
    fn load(&self, index: u64, check: &dyn Fn(&Dataset, u64) -> Result<()>) -> Result<Rows> {
        let (start, end) = self.range(index);
        let Some(counted) = &self.counted else {
            return Ok(self.split(start, end, &self.reader.rows(start, end)?));
        };
        let width = self.all.len();
        let (place, skip) = counted.place(start, end);
        let (mut skip, wanted) = (skip, (end - start) as usize * width);
        let mut kept = Vec::with_capacity(wanted);
        for piece in counted.pieces(place) {
            let cells = self.reader.rows(piece.start, piece.end)?;
            let rows = self.split(piece.start, piece.end, &cells);
            check(&self.dataset(&rows)?, piece.start)?;
            let weighs = |row: &&[f64]| self.weight.is_none_or(|j| counts(row[j]));
            for row in cells.chunks_exact(width).filter(weighs) {
                match skip {
                    0 if kept.len() < wanted => kept.extend_from_slice(row),
                    0 => break,
                    _ => skip -= 1,
                }
            }
        }
        match kept.len() == wanted {
            true => Ok(self.split(start, end, &kept)),
            false => Err(input::changed()),
        }
    }

    /// Cells into inputs, target and weights.
    fn split(&self, start: u64, end: u64, cells: &[f64]) -> Rows {
        let target = self.target.map(|j| self.column(cells, j)).unwrap_or_default();
        let codes = match &self.classes {
            Some(classes) => target.iter().map(|&value| classes.code(value)).collect(),
            None => Vec::new(),
        };
        Rows {
            start,
            count: (end - start) as usize,
            inputs: self.input_cells(cells),
            target: if self.classes.is_some() { Vec::new() } else { target },
            codes,
            weights: self.weight.map(|j| self.column(cells, j)),
        }
    }

    fn dataset<'a>(&'a self, rows: &'a Rows) -> Result<Dataset<'a>> {
        let x = MatRef::row_major(&rows.inputs, rows.count, self.inputs.len())?;
        let mut data = Dataset::new(Frame::new(x, &self.schema)?);
        let (codes, target) = (&rows.codes, &rows.target);
        match (&self.classes, self.target) {
            (Some(classes), _) => {
                data = data.with_target(Target::Class { codes, classes: &classes.labels });
            }
            (None, Some(_)) => data = data.with_target(Target::Real(MatRef::from_column(target))),
            (None, None) => {}
        }
        if let Some(weights) = &rows.weights {
            data = data.with_weights(weights);
        }
        Ok(data)
    }

    fn column(&self, cells: &[f64], j: usize) -> Vec<f64> {
        cells.iter().skip(j).step_by(self.all.len()).copied().collect()
    }

    fn input_cells(&self, cells: &[f64]) -> Vec<f64> {
        let rows = cells.chunks_exact(self.all.len());
        rows.flat_map(|row| self.inputs.iter().map(move |&j| row[j])).collect()
    }
}

/// Blocks of whole sequences, of a table with so many inputs.
pub(crate) fn blocks_of(offsets: &[usize], inputs: usize) -> Vec<Range<usize>> {
    let rows = offsets.last().copied().unwrap_or_default();
    Sequences::new(offsets, rows)
        .map_or(Vec::new(), |sequences| sequences.blocks(block_rows(inputs)))
}

impl Source for FileSource {
    fn outline(&self) -> Outline<'_> {
        let labels: &[Label] = self.classes.as_ref().map_or(&[], |classes| &classes.labels);
        Outline {
            schema: &self.schema,
            rows: self.rows(),
            outputs: usize::from(self.task == Some(TargetTask::Regress)),
            classes: labels,
            weighted: self.weight.is_some(),
            cuts: self.sequences.as_ref().map(|sequences| sequences.blocks.len() as u64),
        }
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        self.with_checked(index, &|_, _| Ok(()), f)
    }

    fn with_checked(
        &self,
        index: u64,
        check: &dyn Fn(&Dataset, u64) -> Result<()>,
        f: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let rows = match self.kept.find(index) {
            Some(rows) => rows,
            None => {
                let ahead = self.kept.take_ahead(index);
                let rows = ahead.map_or_else(|| self.load(index, check), Ok)?;
                self.kept.offer(index, rows)
            }
        };
        let mut data = self.dataset(&rows)?;
        if self.counted.is_none() {
            check(&data, rows.start)?;
        }
        let (start, end) = (rows.start, rows.start + rows.count as u64);
        if let Some(FileSequences { offsets, .. }) = &self.sequences {
            let all = Sequences::new(offsets, self.rows() as usize)?;
            data.sequences = Some(all.rows(start as usize, end as usize));
        }
        f(&Block { index, first_row: start, data })
    }
}
