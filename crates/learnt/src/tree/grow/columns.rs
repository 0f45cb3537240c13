//! Columns as small whole numbers: the rank of a value among the distinct ones, or its bin.
//!
//! Exact columns give every distinct value its own code. Binned columns have at most `max_bins`
//! codes: one for each distinct value where that is enough, else bins of about equal row counts.
//! Unordered categories keep their level as code. Missing values have a code of their own.

use super::scan::entry;
use learnt_core::prelude::*;

/// The code of a missing value in a column of ranks.
pub(crate) const MISSING: u32 = u32::MAX;
/// The code of a missing value in a column of bins.
pub(crate) const MISSING_BIN: u8 = u8::MAX;
/// The most bins of a column.
pub(crate) const MOST_BINS: usize = MISSING_BIN as usize;

/// What the codes of a column stand for.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// Quantities in order: smallest and largest value of each code.
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

    /// Whether all values of a code lie above a number.
    pub(super) fn begins_above(&self, code: u32, value: f64) -> bool {
        match self {
            Codes::Ordered { low, .. } => low[code as usize] > value,
            Codes::Levels(_) => true,
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
}

/// A table made ready for growing trees.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) codes: Vec<Codes>,
    pub(crate) store: Store,
    pub(crate) rows: usize,
}

impl Columns {
    /// Sorted columns, for searching them all in every node.
    pub(crate) fn sorted(x: &Frame, run: &Context) -> Result<Self> {
        claim(x, 16, run)?;
        let parts = run.try_par_map(x.ncols(), |j| Ok(sorted_column(x, j)))?;
        let (codes, lists) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Sorted(lists), rows: x.nrows() })
    }

    /// Ranks by row, for searching few columns in a node.
    pub(crate) fn ranked(x: &Frame, run: &Context) -> Result<Self> {
        claim(x, 16, run)?;
        let parts = run.try_par_map(x.ncols(), |j| {
            let (codes, entries) = sorted_column(x, j);
            let mut ranks = vec![MISSING; x.nrows()];
            for entry in entries {
                ranks[super::scan::row_of(entry)] = super::scan::code_of(entry);
            }
            Ok((codes, ranks))
        })?;
        let (codes, ranks) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Ranks(ranks), rows: x.nrows() })
    }

    /// Sorted columns of these rows alone, numbered anew in their order.
    pub(crate) fn of_rows(&self, rows: &[u32]) -> Self {
        let mut number = vec![u32::MAX; self.rows];
        rows.iter().zip(0..).for_each(|(&row, new)| number[row as usize] = new);
        let kept = |list: &Vec<u64>| -> Vec<u64> {
            list.iter()
                .map(|&e| entry(super::scan::code_of(e), number[super::scan::row_of(e)]))
                .filter(|&e| super::scan::row_of(e) != u32::MAX as usize)
                .collect()
        };
        let store = match &self.store {
            Store::Sorted(lists) => Store::Sorted(lists.iter().map(kept).collect()),
            Store::Ranks(columns) => Store::Ranks(picked(columns, rows)),
            Store::Bins(columns) => Store::Bins(picked(columns, rows)),
        };
        Columns { codes: self.codes.clone(), store, rows: rows.len() }
    }

    /// Bins by row, for histograms.
    pub(crate) fn binned(x: &Frame, max_bins: usize, run: &Context) -> Result<Self> {
        claim(x, 16, run)?;
        let max_bins = max_bins.clamp(2, MOST_BINS);
        let parts = run.try_par_map(x.ncols(), |j| binned_column(x, j, max_bins))?;
        let (codes, bins) = parts.into_iter().unzip();
        Ok(Columns { codes, store: Store::Bins(bins), rows: x.nrows() })
    }
}

fn picked<T: Copy>(columns: &[Vec<T>], rows: &[u32]) -> Vec<Vec<T>> {
    let of_rows = |column: &Vec<T>| rows.iter().map(|&row| column[row as usize]).collect();
    columns.iter().map(of_rows).collect()
}

fn claim(x: &Frame, bytes: u64, run: &Context) -> Result<()> {
    if u32::try_from(x.nrows()).is_err() {
        let message = format!("{} rows, and a tree takes at most {}", x.nrows(), u32::MAX);
        return Err(Error::new(Code::Memory, message).hint("fit on a sample of the rows"));
    }
    run.claim((x.nrows() as u64 * x.ncols() as u64).saturating_mul(bytes), "sorting the columns")
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

fn sorted_column(x: &Frame, j: usize) -> (Codes, Vec<u64>) {
    let mut entries = Vec::with_capacity(x.nrows());
    if let Some(levels) = unordered_levels(x.schema().column(j)) {
        for i in 0..x.nrows() {
            let code = level(x.values().at(i, j), levels).unwrap_or(MISSING);
            entries.push(entry(code, i as u32));
        }
        entries.sort_unstable();
        return (Codes::Levels(levels), entries);
    }
    let (known, missing) = sorted_values(x, j);
    let mut distinct: Vec<f64> = Vec::new();
    for (value, row) in known {
        if distinct.last() != Some(&value) {
            distinct.push(value);
        }
        entries.push(entry(distinct.len() as u32 - 1, row));
    }
    entries.extend(missing.into_iter().map(|row| entry(MISSING, row)));
    (Codes::Ordered { low: distinct.clone(), high: distinct }, entries)
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
