//! Columns as small whole numbers: the rank of a value among the distinct ones, or its bin.
//!
//! Exact columns give every distinct value its own code. Binned columns have at most `max_bins`
//! codes: one for each distinct value where that is enough, else bins of about equal row counts.
//! Unordered categories keep their level as code. Missing values have a code of their own. Cuts that are drawn at
//! random need no order, and their columns stay values.

use super::scan::{code_of, entry, row_of};
use learnt_core::prelude::*;

/// The code of a missing value in a column of ranks.
pub(crate) const MISSING: u32 = u32::MAX;
/// The code of a missing value in a column of bins.
pub(crate) const MISSING_BIN: u8 = u8::MAX;
/// The most bins of a column.
pub(crate) const MOST_BINS: usize = MISSING_BIN as usize;

/// So many values are put in order before another thread is awake.
const FEW_CELLS: u64 = 1 << 13;

/// What the codes of a column stand for.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// Quantities in order: smallest and largest value of each code. Beside sorted entries both lists are
    /// empty: their rows say the values.
    Ordered { low: Vec<f64>, high: Vec<f64> },
    /// Levels of a category; this many.
    Levels(usize),
}

impl Codes {
    /// The number of levels; 0 for quantities.
    pub(super) fn levels(&self) -> u32 {
        match self {
            Codes::Ordered { .. } => 0,
            Codes::Levels(levels) => *levels as u32,
        }
    }

    /// A cut between two codes: the midpoint of the values beside it, or the lower value where
    /// the midpoint rounds to the upper.
    pub(super) fn midpoint(&self, left: u32, right: u32) -> f64 {
        match self {
            Codes::Ordered { low, high } => midpoint(high[left as usize], low[right as usize]),
            Codes::Levels(_) => f64::INFINITY,
        }
    }
}

/// Halfway between two values, or the lower where that rounds to the upper.
pub(crate) fn midpoint(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let middle = if sum.is_finite() { 0.5 * sum } else { 0.5 * a + 0.5 * b };
    if middle >= a && middle < b { middle } else { a }
}

/// The rows of all columns, in the form that a splitter works on.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    /// Entries of each column sorted by code, then row; missing values last.
    Sorted(Vec<Vec<u64>>),
    /// Codes of each column by row.
    Ranks(Vec<Vec<u32>>),
    /// Bins of each column by row.
    Bins(Vec<Vec<u8>>),
    /// Values of each column by row, in no order. Equal ones have equal bits: -0 is 0, and there is one missing value,
    /// which a level that is not one is too.
    Values(Vec<Vec<f64>>),
}

/// The values of rows that may have been numbered anew.
#[derive(Clone, Debug)]
pub(crate) struct Values<'a> {
    x: Frame<'a>,
    /// The row of the table that each row is; empty if they are the same.
    origin: Vec<u32>,
}

impl Values<'_> {
    /// The value of a row in a column.
    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        let row = self.origin.get(row).map_or(row, |&row| row as usize);
        self.x.values().at(row, column) + 0.0
    }

    /// Those of these rows, numbered anew in their order.
    pub(super) fn of_rows(&self, rows: &[u32]) -> Self {
        let origin = match self.origin.is_empty() {
            true => rows.to_vec(),
            false => rows.iter().map(|&row| self.origin[row as usize]).collect(),
        };
        Values { x: self.x, origin }
    }
}

/// A table made ready for growing trees.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    pub(crate) codes: Vec<Codes>,
    pub(crate) store: Store,
    pub(crate) rows: usize,
    /// Beside sorted entries, what their codes stand for.
    pub(super) values: Option<Values<'a>>,
}

impl<'a> Columns<'a> {
    /// Sorted columns, for searching them all in every node.
    pub(crate) fn sorted(x: &Frame<'a>, run: &Context) -> Result<Self> {
        let run = &claim(x, 8, run)?;
        let lists = run.try_par_map(x.ncols(), |j| Ok(sorted_entries(x, j)))?;
        let codes = x.schema().columns().iter().map(|column| match unordered_levels(column) {
            Some(levels) => Codes::Levels(levels),
            None => Codes::Ordered { low: Vec::new(), high: Vec::new() },
        });
        let values = Some(Values { x: *x, origin: Vec::new() });
        Ok(Columns { codes: codes.collect(), store: Store::Sorted(lists), rows: x.nrows(), values })
    }

    /// Ranks by row, for searching few columns in a node.
    pub(crate) fn ranked(x: &Frame, run: &Context) -> Result<Self> {
        let run = &claim(x, 20, run)?;
        let parts = run.try_par_map(x.ncols(), |j| {
            let entries = sorted_entries(x, j);
            let mut ranks = vec![MISSING; x.nrows()];
            for &entry in &entries {
                ranks[row_of(entry)] = code_of(entry);
            }
            Ok((codes_of(x, j, &entries), ranks))
        })?;
        let (codes, ranks) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Ranks(ranks), rows: x.nrows(), values: None })
    }

    /// Values by row, for cuts that are drawn and need no order.
    pub(crate) fn unsorted(x: &Frame, run: &Context) -> Result<Self> {
        let run = &claim(x, 8, run)?;
        let parts = run.try_par_map(x.ncols(), |j| {
            let values = x.values();
            Ok(match unordered_levels(x.schema().column(j)) {
                None => {
                    let one_of = |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
                    let column = (0..x.nrows()).map(|i| one_of(values.at(i, j)));
                    (Codes::Ordered { low: Vec::new(), high: Vec::new() }, column.collect())
                }
                Some(levels) => {
                    let code = |i| level(values.at(i, j), levels).map_or(f64::NAN, f64::from);
                    (Codes::Levels(levels), (0..x.nrows()).map(code).collect())
                }
            })
        })?;
        let (codes, columns) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Values(columns), rows: x.nrows(), values: None })
    }

    /// Sorted columns of these rows alone, numbered anew in their order.
    pub(crate) fn of_rows(&self, rows: &[u32]) -> Self {
        let mut number = vec![u32::MAX; self.rows];
        rows.iter().zip(0..).for_each(|(&row, new)| number[row as usize] = new);
        let kept = |list: &Vec<u64>| -> Vec<u64> {
            list.iter()
                .map(|&e| entry(code_of(e), number[row_of(e)]))
                .filter(|&e| row_of(e) != u32::MAX as usize)
                .collect()
        };
        let store = match &self.store {
            Store::Sorted(lists) => Store::Sorted(lists.iter().map(kept).collect()),
            Store::Ranks(columns) => Store::Ranks(picked(columns, rows)),
            Store::Bins(columns) => Store::Bins(picked(columns, rows)),
            Store::Values(columns) => Store::Values(picked(columns, rows)),
        };
        let values = self.values.as_ref().map(|values| values.of_rows(rows));
        Columns { codes: self.codes.clone(), store, rows: rows.len(), values }
    }

    /// Bins by row, for histograms.
    pub(crate) fn binned(x: &Frame, max_bins: usize, run: &Context) -> Result<Self> {
        let run = &claim(x, 16, run)?;
        let max_bins = max_bins.clamp(2, MOST_BINS);
        let parts = run.try_par_map(x.ncols(), |j| binned_column(x, j, max_bins))?;
        let (codes, bins) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Bins(bins), rows: x.nrows(), values: None })
    }
}

fn picked<T: Copy>(columns: &[Vec<T>], rows: &[u32]) -> Vec<Vec<T>> {
    let of_rows = |column: &Vec<T>| rows.iter().map(|&row| column[row as usize]).collect();
    columns.iter().map(of_rows).collect()
}

/// Claims the memory; the threads that are worth waking.
fn claim<'r>(x: &Frame, bytes: u64, run: &Context<'r>) -> Result<Context<'r>> {
    if u32::try_from(x.nrows()).is_err() {
        let message = format!("{} rows, and a tree takes at most {}", x.nrows(), u32::MAX);
        return Err(Error::new(Code::Memory, message).hint("fit on a sample of the rows"));
    }
    let cells = x.nrows() as u64 * x.ncols() as u64;
    run.claim(cells.saturating_mul(bytes), "sorting the columns")?;
    Ok(if cells < FEW_CELLS { run.with_threads(1) } else { *run })
}

/// The levels of an unordered category; ordered ones are quantities.
pub(crate) fn unordered_levels(column: &Column) -> Option<usize> {
    match &column.kind {
        ColumnKind::Categorical { levels, ordered: false } => Some(levels.len()),
        _ => None,
    }
}

/// The level that a value stands for, if it is one.
#[inline]
pub(crate) fn level(value: f64, levels: usize) -> Option<u32> {
    let code = value as u32;
    (f64::from(code) == value && (code as usize) < levels).then_some(code)
}

/// The rows of a column sorted by value, then row, with the place of each value among the distinct ones; missing
/// values last.
///
/// The upper halves of the values are sorted beside the rows, in place; what they leave equal is sorted by the
/// lower halves, which takes a moment for values that differ and nothing for small whole numbers.
fn sorted_entries(x: &Frame, j: usize) -> Vec<u64> {
    let mut entries = Vec::with_capacity(x.nrows());
    if let Some(levels) = unordered_levels(x.schema().column(j)) {
        for i in 0..x.nrows() {
            let code = level(x.values().at(i, j), levels).unwrap_or(MISSING);
            entries.push(entry(code, i as u32));
        }
        entries.sort_unstable();
        return entries;
    }
    // Adding zero makes -0 and 0 one value.
    let key = |row: usize| sortable(x.values().at(row, j) + 0.0);
    let mut missing = Vec::new();
    for i in 0..x.nrows() {
        let value = x.values().at(i, j) + 0.0;
        match value.is_nan() {
            true => missing.push(entry(MISSING, i as u32)),
            false => entries.push(entry((sortable(value) >> 32) as u32, i as u32)),
        }
    }
    entries.sort_unstable();
    let mut next = 0;
    let mut lower: Vec<u64> = Vec::new();
    for run in entries.chunk_by_mut(|a, b| code_of(*a) == code_of(*b)) {
        if let [alone] = run {
            *alone = entry(next, row_of(*alone) as u32);
            next += 1;
            continue;
        }
        lower.clear();
        lower.extend(run.iter().map(|&e| entry(key(row_of(e)) as u32, row_of(e) as u32)));
        if lower.iter().any(|&e| code_of(e) != code_of(lower[0])) {
            lower.sort_unstable();
        }
        for (place, &e) in lower.iter().enumerate() {
            next += u32::from(place > 0 && code_of(e) != code_of(lower[place - 1]));
            run[place] = entry(next, row_of(e) as u32);
        }
        next += 1;
    }
    entries.extend(missing);
    entries
}

/// What the codes of sorted entries stand for.
fn codes_of(x: &Frame, j: usize, entries: &[u64]) -> Codes {
    if let Some(levels) = unordered_levels(x.schema().column(j)) {
        return Codes::Levels(levels);
    }
    let known = entries.chunk_by(|a, b| code_of(*a) == code_of(*b));
    let known = known.filter(|group| code_of(group[0]) != MISSING);
    let distinct: Vec<f64> = known.map(|group| x.values().at(row_of(group[0]), j) + 0.0).collect();
    Codes::Ordered { low: distinct.clone(), high: distinct }
}

/// Known values with their rows, sorted by both, and the rows without a value.
fn sorted_values(x: &Frame, j: usize) -> (Vec<(f64, u32)>, Vec<u32>) {
    let mut known = Vec::with_capacity(x.nrows());
    let mut missing = Vec::new();
    for i in 0..x.nrows() {
        // Adding zero makes -0 and 0 one value.
        let value = x.values().at(i, j) + 0.0;
        match value.is_nan() {
            true => missing.push(i as u32),
            false => known.push((sortable(value), i as u32)),
        }
    }
    // Stable, so that rows of one value stay in order.
    known.sort_by_key(|&(key, _)| key);
    (known.into_iter().map(|(key, row)| (from_sortable(key), row)).collect(), missing)
}

/// Bits that sort as the numbers do.
fn sortable(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn from_sortable(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
}

fn binned_column(x: &Frame, j: usize, max_bins: usize) -> Result<(Codes, Vec<u8>)> {
    let mut bins = vec![MISSING_BIN; x.nrows()];
    let column = x.schema().column(j);
    if let Some(levels) = unordered_levels(column) {
        if levels > max_bins {
            let name = learnt_core::error::plain(&column.name);
            let message =
                format!("column '{name}' has {levels} levels, and histograms {max_bins} bins");
            return Err(Error::new(Code::Parameter, message)
                .column(name)
                .hint("set method to 'exact', or merge rare levels"));
        }
        for (i, bin) in bins.iter_mut().enumerate() {
            *bin = level(x.values().at(i, j), levels).map_or(MISSING_BIN, |code| code as u8);
        }
        return Ok((Codes::Levels(levels), bins));
    }
    let (known, _) = sorted_values(x, j);
    let distinct = known.chunk_by(|a, b| a.0 == b.0).count();
    let (mut low, mut high): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut rows_before = 0;
    let mut filled = 0;
    for group in known.chunk_by(|a, b| a.0 == b.0) {
        // A bin ends once it holds its share of the rows; each value in one bin.
        let open = distinct > max_bins && filled * max_bins < known.len() && rows_before > 0;
        if open && low.len() <= max_bins {
            high.last_mut().into_iter().for_each(|last| *last = group[0].0);
        } else {
            low.push(group[0].0);
            high.push(group[0].0);
            filled = 0;
        }
        filled += group.len();
        rows_before += group.len();
        for &(_, row) in group {
            bins[row as usize] = (low.len() - 1) as u8;
        }
    }
    Ok((Codes::Ordered { low, high }, bins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_midpoint_that_rounds_up_becomes_the_lower_value() {
        let a = 1.0_f64;
        let b = f64::from_bits(a.to_bits() + 1);
        assert_eq!(midpoint(a, b), a);
        assert_eq!(midpoint(-b, -a), -b);
        assert_eq!(midpoint(f64::MAX, f64::MAX), f64::MAX);
        assert_eq!(midpoint(1.9, 3.0), 2.45);
        assert_eq!(midpoint(-f64::MAX, f64::MAX), 0.0);
    }

    #[test]
    fn entries_are_sorted_by_value_then_row_with_places_among_the_distinct() {
        // Values of one upper half that differ below it, whole numbers, both zeros, gaps.
        let value = |i: usize| match i % 7 {
            0 => 1.0 + ((i * 31) % 50) as f64 * f64::EPSILON,
            1 => ((i * 13) % 9) as f64 - 4.0,
            2 => -0.0,
            3 => 0.0,
            4 => f64::NAN,
            5 => -1e-310 * ((i * 17) % 23) as f64,
            _ => ((i * 7919) % 1000) as f64 * 0.01 - 5.0,
        };
        let values: Vec<f64> = (0..700).map(value).collect();
        let x = Table::unnamed(Matrix::column_vector(values.clone()));
        let mut known: Vec<usize> = (0..700).filter(|&i| !values[i].is_nan()).collect();
        known.sort_by(|&a, &b| (values[a] + 0.0).total_cmp(&(values[b] + 0.0)).then(a.cmp(&b)));
        let mut expected = Vec::new();
        let mut place = 0;
        for (k, &row) in known.iter().enumerate() {
            place += u32::from(k > 0 && values[row] != values[known[k - 1]]);
            expected.push(entry(place, row as u32));
        }
        let missing = (0..700).filter(|&i| values[i].is_nan());
        expected.extend(missing.map(|i| entry(MISSING, i as u32)));
        assert_eq!(sorted_entries(&x.frame(), 0), expected);
    }

    #[test]
    fn bins_never_exceed_their_number_and_keep_the_order() {
        for (rows, repeats) in [(1000, 1), (1000, 3), (10, 1), (300, 2)] {
            let x = Table::unnamed(Matrix::from_fn(rows, 1, |i, _| {
                ((i * 7919) % rows / repeats) as f64
            }));
            for max_bins in [2, 5, 16, 255] {
                let columns = Columns::binned(&x.frame(), max_bins, &Context::default()).unwrap();
                let (Codes::Ordered { low, high }, Store::Bins(bins)) =
                    (&columns.codes[0], &columns.store)
                else {
                    panic!("numbers are ordered")
                };
                assert!(low.len() <= max_bins && low.len() >= 2);
                assert!(low.iter().zip(high).all(|(low, high)| low <= high));
                assert!(high.iter().zip(&low[1..]).all(|(high, next)| high < next));
                for (i, &bin) in bins[0].iter().enumerate() {
                    let value = x.values()[(i, 0)];
                    assert!(low[bin as usize] <= value && value <= high[bin as usize]);
                }
            }
        }
    }
}
