//! CSV and its relatives: fields between delimiters, quotes as in RFC 4180.
//!
//! The file is cut into pieces at row borders, pieces are parsed on all threads straight into the
//! table, and what each found is merged in order, so the result is the same on any number of
//! threads. Lines end with LF or CRLF; a carriage return anywhere else outside quotes is an error with
//! its line. A line without anything on it is skipped and counted; in a table of one column it is a row
//! with a missing value, except at the end of the file. Types are settled by the whole file: a column is numeric if all its values are numbers
//! or missing. A word after [`MIN_NUMBERS`] numbers is an error with its line; a word before makes
//! the column categorical.

mod infer;
mod number;
mod parse;
mod scan;
mod spoilt;
mod tally;

pub(crate) use infer::Dialect;
pub(crate) use number::{Number, NumberStyle, measured};
pub(crate) use parse::valid_text;
pub(crate) use tally::Tally;

use crate::input::{Bytes, changed, with_buffer};
use crate::memory;
use crate::options::{Format, ReadOptions, TypeRule};
use crate::report::{Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::data::{Matrix, Table};
use learnt_core::error::{Code, Error, Result};
use parse::{Field, Layout, Parsed, Trouble, parse_piece};
use scan::{Piece, plan, plan_exactly};
use std::sync::{Mutex, PoisonError};

/// Numbers after which a column is numeric, and a word in it an error.
pub(crate) const MIN_NUMBERS: u64 = 1000;

/// What a byte of text costs at most as a level of its own.
const TEXT_COST: u64 = 10;
const TEXTS: &str = "the different texts of the table";

/// A CSV file whose look is known.
pub(crate) struct CsvFile {
    pub(crate) dialect: Dialect,
    layout: Layout,
    pieces: Vec<Piece>,
    /// Positions of the kept columns among all.
    kept: Vec<usize>,
    rules: Vec<Option<TypeRule>>,
    numeric: Vec<bool>,
}

/// The outcome of parsing all pieces once.
enum Attempt<T> {
    Done(T),
    /// The pieces must be cut again, exactly.
    Recut,
    /// Some columns turned out to be text.
    Retyped,
}

/// Reads the whole file.
pub(crate) fn read(
    bytes: &Bytes,
    options: &ReadOptions,
    format: Format,
    run: &Context,
) -> Result<Loaded> {
    let mut file = CsvFile::open(bytes, options, format, run)?;
    let (values, tally) = file.settle(bytes, run, |file| file.try_read(bytes, run))?;
    bytes.unchanged()?;
    let (columns, reports) = tally.finish(&file.names(), &file.rules, &file.numeric, options)?;
    let mut report = file.report(format, options, &tally);
    report.columns = reports;
    report.note_columns();
    let rows = tally.rows as usize;
    if rows == 0 && !options.allow_empty {
        return Err(Error::new(Code::Empty, "no rows: there is nothing after the header"));
    }
    let values = Matrix::from_vec(rows, columns.len(), values)?;
    Ok(Loaded { table: Table::new(values, columns.schema()?)?, report })
}

impl CsvFile {
    /// Finds out what the file looks like and where its rows are.
    pub(crate) fn open(
        bytes: &Bytes,
        options: &ReadOptions,
        format: Format,
        run: &Context,
    ) -> Result<CsvFile> {
        let dialect = Dialect::infer(bytes, options, format)?;
        let pieces = plan(bytes, &dialect.extent, run)?;
        CsvFile::with_pieces(dialect, options, pieces)
    }

    fn with_pieces(dialect: Dialect, options: &ReadOptions, pieces: Vec<Piece>) -> Result<CsvFile> {
        let names = &dialect.names;
        let kept: Vec<usize> = (0..names.len()).filter(|&j| !options.skips(&names[j])).collect();
        if kept.is_empty() {
            return Err(Error::new(Code::Empty, "no columns: all of them are left out"));
        }
        let rules: Vec<Option<TypeRule>> =
            kept.iter().map(|&j| options.rule(&names[j]).cloned()).collect();
        let numeric = kept
            .iter()
            .zip(&rules)
            .map(|(&j, rule)| match rule {
                None => dialect.numeric[j],
                Some(rule) => matches!(rule, TypeRule::Numeric | TypeRule::Measure),
            })
            .collect();
        let layout = Layout {
            delimiter: dialect.delimiter,
            fields: vec![Field::Skip; names.len()],
            width: kept.len(),
            rewrites: rules.iter().map(|rule| rule.clone().filter(TypeRule::rewrites)).collect(),
            measures: rules.iter().map(|rule| *rule == Some(TypeRule::Measure)).collect(),
            style: dialect.style,
            na: options.na.clone(),
            na_numbers: dialect.style.numbers_among(&options.na),
            ragged: options.ragged,
        };
        let mut file = CsvFile { dialect, layout, pieces, kept, rules, numeric };
        file.assign_fields();
        Ok(file)
    }

    /// A file that was gone over before: its pieces and types are known.
    pub(crate) fn reopen(
        bytes: &Bytes,
        options: &ReadOptions,
        format: Format,
        numeric: Vec<bool>,
        pieces: &[u64],
    ) -> Result<CsvFile> {
        let dialect = Dialect::infer(bytes, options, format)?;
        let piece = |p: &[u64]| Piece { start: p[0], end: p[1], line: p[2], newlines: p[3] };
        let pieces: Vec<Piece> = pieces.chunks_exact(4).map(piece).collect();
        let mut file = CsvFile::with_pieces(dialect, options, pieces)?;
        let inside = |p: &Piece| p.start <= p.end && p.end <= bytes.len();
        if file.numeric.len() != numeric.len() || !file.pieces.iter().all(inside) {
            return Err(changed());
        }
        file.numeric = numeric;
        file.assign_fields();
        Ok(file)
    }

    /// Where its pieces are: start, end, first line and line ends of each.
    pub(crate) fn piece_numbers(&self) -> Vec<u64> {
        self.pieces.iter().flat_map(|p| [p.start, p.end, p.line, p.newlines]).collect()
    }

    /// Names of the kept columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.kept.iter().map(|&j| self.dialect.names[j].clone()).collect()
    }

    /// The types asked for the kept columns.
    pub(crate) fn rules(&self) -> &[Option<TypeRule>] {
        &self.rules
    }

    /// Which of the kept columns are numeric.
    pub(crate) fn numeric(&self) -> &[bool] {
        &self.numeric
    }

    /// Number of kept columns.
    pub(crate) fn width(&self) -> usize {
        self.kept.len()
    }

    /// Number of pieces.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn assign_fields(&mut self) {
        for (out, (&j, &numeric)) in self.kept.iter().zip(&self.numeric).enumerate() {
            self.layout.fields[j] = if numeric { Field::Number(out) } else { Field::Level(out) };
        }
    }

    /// What is known before the columns are.
    pub(crate) fn report(
        &self,
        format: Format,
        options: &ReadOptions,
        tally: &Tally,
    ) -> ReadReport {
        let mut report = ReadReport::new(format);
        report.delimiter = Some(self.dialect.delimiter);
        report.header = Some(self.dialect.header);
        report.rows = tally.rows;
        report.skipped = tally.skipped;
        let extent = &self.dialect.extent;
        report.blank = tally.blank + extent.before + extent.after;
        report.empty = tally.empty;
        report.notes.clone_from(&self.dialect.notes);
        let left_out = self.dialect.names.iter().filter(|name| options.skips(name));
        report.left_out = left_out.cloned().collect();
        report
    }

    /// Tries until cuts and types hold for the whole file; each is mended at most once.
    fn settle<T>(
        &mut self,
        bytes: &Bytes,
        run: &Context,
        attempt: impl Fn(&mut CsvFile) -> Result<Attempt<T>>,
    ) -> Result<T> {
        for _ in 0..3 {
            run.checkpoint()?;
            match attempt(self)? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Retyped => self.assign_fields(),
                Attempt::Recut => {
                    let Dialect { extent, delimiter, .. } = &self.dialect;
                    self.pieces = plan_exactly(bytes, extent, *delimiter, run)?;
                }
            }
        }
        Err(changed())
    }

    /// The most rows that a piece can have.
    fn capacity(&self, k: usize) -> usize {
        let piece = &self.pieces[k];
        let by_size = (piece.end - piece.start) / self.layout.fields.len() as u64;
        let unended = u64::from(k + 1 == self.pieces.len());
        piece.newlines.min(by_size) as usize + unended as usize
    }

    fn parse(
        &self,
        bytes: &Bytes,
        k: usize,
        out: &mut [f64],
    ) -> std::result::Result<Parsed, Trouble> {
        let piece = &self.pieces[k];
        with_buffer(|buffer| {
            let slice = bytes.read(piece.start, piece.end, buffer)?;
            parse_piece(&self.layout, piece, slice, k + 1 == self.pieces.len(), out)
        })
    }

    fn try_read(&mut self, bytes: &Bytes, run: &Context) -> Result<Attempt<(Vec<f64>, Tally)>> {
        let width = self.width();
        let capacities: Vec<usize> = (0..self.pieces()).map(|k| self.capacity(k)).collect();
        let mut values = memory::table(capacities.iter().sum(), width, run)?;
        let slots = slots(&mut values, &capacities, width);
        let texts = self.numeric.iter().any(|numeric| !numeric);
        let outcomes = run.try_par_map(self.pieces(), |k| {
            if texts {
                let piece = &self.pieces[k];
                run.claim(TEXT_COST * (piece.end - piece.start), TEXTS)?;
            }
            let mut out = slots[k].lock().unwrap_or_else(PoisonError::into_inner);
            Ok(self.parse(bytes, k, &mut out))
        })?;
        let mut tally = Tally::new(width);
        let mut maps = Vec::with_capacity(self.pieces());
        for (piece, outcome) in self.pieces.iter().zip(outcomes) {
            if texts {
                run.claim(TEXT_COST * (piece.end - piece.start), TEXTS)?;
            }
            match outcome {
                Ok(parsed) => maps.push((parsed.rows, tally.add(&parsed))),
                Err(Trouble::Misaligned) => return Ok(Attempt::Recut),
                Err(Trouble::Wrong(error)) => return Err(error),
            }
        }
        if self.retype(&tally)? {
            return Ok(Attempt::Retyped);
        }
        let orders = tally.orders(&self.names(), &self.rules, run)?;
        run.try_par_map(maps.len(), |k| {
            let (rows, map) = &maps[k];
            let mut out = slots[k].lock().unwrap_or_else(PoisonError::into_inner);
            recode(&mut out[..rows * width], width, map, &orders);
            Ok(())
        })?;
        drop(slots);
        compact(&mut values, &capacities, &maps, width);
        Ok(Attempt::Done((values, tally)))
    }

    /// Turns columns into text that met a word early; an error for a word that came late.
    fn retype(&mut self, tally: &Tally) -> Result<bool> {
        let mut any = false;
        let mut first: Option<(u64, Error)> = None;
        for (j, name) in self.names().iter().enumerate() {
            let Some((misfit, before)) = tally.misfit(j) else { continue };
            let asked = matches!(self.rules[j], Some(TypeRule::Numeric | TypeRule::Measure));
            let dates = matches!(self.rules[j], Some(TypeRule::Dates(_)));
            if *before >= MIN_NUMBERS || asked || dates {
                let error = match dates {
                    true => parse::no_date(name, misfit),
                    false => parse::misfit_error(name, misfit, *before),
                };
                if first.as_ref().is_none_or(|(line, _)| misfit.line < *line) {
                    first = Some((misfit.line, error));
                }
            }
            self.numeric[j] = false;
            any = true;
        }
        match first {
            Some((_, error)) => Err(error),
            None => Ok(any),
        }
    }

    /// Goes over the whole file piece by piece, without keeping it; `look` sees the rows of each
    /// piece, codes in order of arrival within the piece.
    pub(crate) fn go_over<T: Send>(
        &mut self,
        bytes: &Bytes,
        run: &Context,
        look: impl Fn(usize, &[f64], &Parsed) -> T + Sync,
    ) -> Result<(Tally, Vec<(u64, T)>)> {
        self.settle(bytes, run, |file| {
            let window = 4 * run.threads();
            let mut tally = Tally::new(file.width());
            let mut seen = Vec::with_capacity(file.pieces());
            for first in (0..file.pieces()).step_by(window) {
                let count = window.min(file.pieces() - first);
                let outcomes = run.try_par_map(count, |i| {
                    let k = first + i;
                    let mut out = memory::table(file.capacity(k), file.width(), run)?;
                    let parsed = file.parse(bytes, k, &mut out);
                    Ok(parsed.map(|parsed| {
                        let looked = look(k, &out[..parsed.rows * file.width()], &parsed);
                        (parsed, looked)
                    }))
                })?;
                for outcome in outcomes {
                    match outcome {
                        Ok((parsed, looked)) => {
                            seen.push((tally.rows, looked));
                            tally.add(&parsed);
                        }
                        Err(Trouble::Misaligned) => return Ok(Attempt::Recut),
                        Err(Trouble::Wrong(error)) => return Err(error),
                    }
                }
            }
            Ok(if file.retype(&tally)? { Attempt::Retyped } else { Attempt::Done((tally, seen)) })
        })
    }

    /// The rows of one piece, with what was found in it.
    pub(crate) fn piece(
        &self,
        bytes: &Bytes,
        k: usize,
        run: &Context,
    ) -> Result<(Vec<f64>, Parsed)> {
        let mut out = memory::table(self.capacity(k), self.width(), run)?;
        match self.parse(bytes, k, &mut out) {
            Ok(parsed) => {
                out.truncate(parsed.rows * self.width());
                Ok((out, parsed))
            }
            Err(Trouble::Wrong(error)) => Err(error),
            Err(Trouble::Misaligned) => Err(changed()),
        }
    }
}

/// One slice of the table for each piece.
fn slots<'a>(
    mut values: &'a mut [f64],
    capacities: &[usize],
    width: usize,
) -> Vec<Mutex<&'a mut [f64]>> {
    let mut slots = Vec::with_capacity(capacities.len());
    for &capacity in capacities {
        let (head, tail) = values.split_at_mut(capacity * width);
        slots.push(Mutex::new(head));
        values = tail;
    }
    slots
}

/// Codes of a piece into codes of the table: `map` leads to the order of arrival, `orders` from
/// there to the levels.
fn recode(cells: &mut [f64], width: usize, map: &[Vec<u32>], orders: &[Vec<f64>]) {
    for (j, order) in orders.iter().enumerate().filter(|(_, order)| !order.is_empty()) {
        for cell in cells.iter_mut().skip(j).step_by(width).filter(|cell| !cell.is_nan()) {
            *cell = order[map[j][*cell as usize] as usize];
        }
    }
}

/// Moves the rows of all pieces together.
fn compact(
    values: &mut Vec<f64>,
    capacities: &[usize],
    maps: &[(usize, Vec<Vec<u32>>)],
    width: usize,
) {
    let (mut from, mut to) = (0, 0);
    for (&capacity, &(rows, _)) in capacities.iter().zip(maps) {
        if from != to {
            values.copy_within(from..from + rows * width, to);
        }
        from += capacity * width;
        to += rows * width;
    }
    values.truncate(to);
}
