//! A table in bins: one byte a value, column after column, shared by all trees of an ensemble.
//!
//! A quantity with at most `max_bins` distinct values has a bin for each; otherwise bins hold about
//! equal numbers of rows, and a value that fills a bin alone has it alone. Cuts lie halfway between
//! neighbouring values. Above 200,000 rows cuts come from a sample drawn from strata of equal size.
//! Levels of a category are bins; where there are too many, the rarest share the last bin. Missing
//! values have a bin of their own. A category with more bins than a byte counts is wide: it has a
//! second byte a value.

use crate::tree::grow::{level, midpoint, unordered_levels};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The bin of a missing value, in columns that are not wide.
pub(crate) const MISSING: u8 = u8::MAX;
/// The most bins of a column that is not wide, the one of missing values apart.
const MOST_BINS: usize = MISSING as usize;
/// The most bins of a wide category.
const MOST_LEVELS: usize = 1 << 12;
/// Instead of a bin, for a level without rows.
const ABSENT: u32 = u32::MAX;
/// Cuts come from at most this many rows.
const SAMPLED_ROWS: usize = 200_000;
/// Columns that are put into bins side by side: their values of a row share a line of the cache where rows stand
/// together.
const TOGETHER: usize = 8;
/// Rows of those columns at a time.
const ROWS: usize = 2048;
/// The random stream of that sample.
const SAMPLE_STREAM: u64 = 0x6269_6e73;

/// The most bins of columns, the one of missing values apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinLimits {
    quantities: usize,
    levels: usize,
}

impl BinLimits {
    /// So many for every column, and never more than a byte counts.
    pub(crate) fn narrow(max_bins: usize) -> Self {
        let bins = max_bins.clamp(2, MOST_BINS);
        BinLimits { quantities: bins, levels: bins }
    }

    /// So many for quantities; categories may be wide.
    pub(crate) fn wide(max_bins: usize) -> Self {
        BinLimits { levels: MOST_LEVELS, ..BinLimits::narrow(max_bins) }
    }
}

/// What the bins of a column stand for.
#[derive(Stored, Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Quantities: smallest and largest value of each bin; before the values were seen, its upper cut.
    Ordered { low: Vec<f64>, high: Vec<f64> },
    /// The bin of each level; `ABSENT` for a level without rows.
    Levels { bin_of: Vec<u32>, bins: usize },
}

impl Kind {
    /// The number of levels; 0 for quantities.
    pub(crate) fn levels(&self) -> u32 {
        match self {
            Kind::Ordered { .. } => 0,
            Kind::Levels { bin_of, .. } => bin_of.len() as u32,
        }
    }

    /// The number of bins, that of missing values apart.
    pub(crate) fn bins(&self) -> usize {
        match self {
            Kind::Ordered { low, .. } => low.len(),
            Kind::Levels { bins, .. } => *bins,
        }
    }

    /// Whether a bin takes two bytes.
    pub(crate) fn is_wide(&self) -> bool {
        self.bins() > MOST_BINS
    }

    /// The bin of missing values, which is the last.
    pub(crate) fn missing(&self) -> usize {
        if self.is_wide() { self.bins() } else { MISSING.into() }
    }

    /// The cut between two bins.
    pub(crate) fn cut(&self, left: usize, right: usize) -> f64 {
        match self {
            Kind::Ordered { low, high } => midpoint(high[left], low[right]),
            Kind::Levels { .. } => f64::INFINITY,
        }
    }

    /// The levels that go left, as bits; levels whose bin is not `present` go to the larger side.
    pub(crate) fn level_bits(
        &self,
        goes_left: &[bool],
        present: impl Fn(usize) -> bool,
        larger_left: bool,
    ) -> Vec<u32> {
        let Kind::Levels { bin_of, .. } = self else { return Vec::new() };
        let mut bits = vec![0; bin_of.len().div_ceil(32)];
        for (level, &bin) in bin_of.iter().enumerate() {
            let left = match bin != ABSENT && present(bin as usize) {
                true => goes_left[bin as usize],
                false => larger_left,
            };
            bits[level / 32] |= u32::from(left) << (level % 32);
        }
        bits
    }

    /// The bins of levels, with the levels.
    pub(crate) fn bins_of_levels(&self) -> impl Iterator<Item = (u32, usize)> {
        let bin_of = match self {
            Kind::Ordered { .. } => &[][..],
            Kind::Levels { bin_of, .. } => bin_of,
        };
        let seen = bin_of.iter().enumerate().filter(|(_, bin)| **bin != ABSENT);
        seen.map(|(level, &bin)| (level as u32, bin as usize))
    }

    /// The bin of a level, as a value of a category.
    fn bin_of_level(&self, bin_of: &[u32], value: f64) -> usize {
        let bin = level(value, bin_of.len()).map_or(ABSENT, |code| bin_of[code as usize]);
        if bin == ABSENT { self.missing() } else { bin as usize }
    }

    /// Puts the values of a column into their bins, of a wide one their lower bytes. Of quantities, the smallest
    /// and largest value of each bin are given back: none is inside where the smallest is infinite.
    pub(crate) fn fill(
        &self,
        x: &Frame,
        j: usize,
        bins: &mut [u8],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        match self {
            Kind::Levels { bin_of, .. } => {
                for (i, bin) in bins.iter_mut().enumerate() {
                    *bin = self.bin_of_level(bin_of, x.values().at(i, j)) as u8;
                }
                None
            }
            Kind::Ordered { high, .. } => Some(fill_ordered(x, j, high, bins)),
        }
    }

    /// The upper bytes of the bins of a wide column; nothing of others.
    pub(crate) fn upper_bytes(&self, x: &Frame, j: usize) -> Vec<u8> {
        match self {
            Kind::Levels { bin_of, .. } if self.is_wide() => {
                let upper = |i| (self.bin_of_level(bin_of, x.values().at(i, j)) >> 8) as u8;
                (0..x.nrows()).map(upper).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A table in bins.
#[derive(Clone, Debug)]
pub(crate) struct BinnedTable {
    pub(crate) kinds: Vec<Kind>,
    /// Bins of the first column by row, then of the second; of wide ones the lower bytes.
    pub(crate) bins: Vec<u8>,
    /// Of each wide column the upper bytes, of others nothing.
    upper: Vec<Vec<u8>>,
    pub(crate) rows: usize,
}

impl BinnedTable {
    pub(crate) fn new(x: &Frame, limits: BinLimits, run: &Context) -> Result<Self> {
        let (rows, columns) = (x.nrows(), x.ncols());
        if u32::try_from(rows).is_err() {
            let message = format!("{rows} rows, and a tree takes at most {}", u32::MAX);
            return Err(Error::new(Code::Memory, message).hint("fit on a sample of the rows"));
        }
        let cells = (rows as u64).saturating_mul(columns as u64);
        run.claim(cells.saturating_add(16 * rows as u64 * run.threads() as u64), "the bins")?;
        let sampled = sampled_rows(rows as u64, 0..rows as u64, run);
        let kinds = run.try_par_map(columns, |j| Ok(kind(x, j, limits, sampled.as_deref())))?;
        let wide = kinds.iter().filter(|kind| kind.is_wide()).count();
        run.claim((rows * wide) as u64, "the bins of many levels")?;
        let upper = run.try_par_map(columns, |j| Ok(kinds[j].upper_bytes(x, j)))?;
        let mut table = BinnedTable { kinds, bins: vec![MISSING; rows * columns], upper, rows };
        table.fill(x, run);
        Ok(table)
    }

    /// The bins of a column by row; of a wide one the lower bytes.
    pub(crate) fn column(&self, j: usize) -> &[u8] {
        &self.bins[j * self.rows..(j + 1) * self.rows]
    }

    /// The upper bytes of the bins of a wide column by row; nothing of others.
    pub(crate) fn upper(&self, j: usize) -> &[u8] {
        &self.upper[j]
    }

    /// Puts each value into its bin; then the ends of bins are those of the values inside.
    fn fill(&mut self, x: &Frame, run: &Context) {
        let BinnedTable { kinds, bins, rows, .. } = self;
        let rows = (*rows).max(1);
        let ends: Mutex<Vec<Option<Ends>>> = Mutex::new(vec![None; kinds.len()]);
        let together = kinds.len().div_ceil(2 * run.threads()).clamp(1, TOGETHER);
        run.par_fill(bins, rows * together, |first, bins| {
            let first = first / rows;
            let mut found: Vec<Option<Ends>> = vec![None; bins.len() / rows];
            for from in (0..rows).step_by(ROWS) {
                let part = x.rows(from, (from + ROWS).min(rows));
                for (k, bins) in bins.chunks_mut(rows).enumerate() {
                    let bins = &mut bins[from..from + part.nrows()];
                    join(&mut found[k], kinds[first + k].fill(&part, first + k, bins));
                }
            }
            let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
            found.into_iter().enumerate().for_each(|(k, found)| ends[first + k] = found);
        });
        let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (kind, ends) in kinds.iter_mut().zip(ends) {
            if let Some((low, high)) = ends {
                *kind = Kind::Ordered { low, high };
            }
        }
    }
}

/// The smallest and largest value of each bin.
type Ends = (Vec<f64>, Vec<f64>);

/// The ends of more rows beside those of the rows before.
fn join(all: &mut Option<Ends>, more: Option<Ends>) {
    match (all, more) {
        (Some((low, high)), Some((less, greater))) => {
            low.iter_mut().zip(less).for_each(|(least, value)| *least = least.min(value));
            high.iter_mut().zip(greater).for_each(|(most, value)| *most = most.max(value));
        }
        (all, more) => *all = more,
    }
}

/// Bins of a column of quantities by its cuts, or by the largest values of bins; smallest and largest value of each bin.
fn fill_ordered(x: &Frame, j: usize, cuts: &[f64], bins: &mut [u8]) -> (Vec<f64>, Vec<f64>) {
    // `cuts` are the upper ends of all bins but the last; the rest are never below a value.
    let mut padded = [f64::INFINITY; 256];
    padded[..cuts.len() - 1].copy_from_slice(&cuts[..cuts.len() - 1]);
    let (mut low, mut high) = ([f64::INFINITY; 256], [f64::NEG_INFINITY; 256]);
    let mut take = |value: f64, bin: &mut u8| {
        let value = value + 0.0;
        if value.is_nan() {
            *bin = MISSING;
            return;
        }
        let mut place = 0_usize;
        for step in [128, 64, 32, 16, 8, 4, 2, 1] {
            place += step * usize::from(padded[(place + step - 1) & 255] < value);
        }
        let place = place & 255;
        *bin = place as u8;
        low[place] = low[place].min(value);
        high[place] = high[place].max(value);
    };
    match x.values().column_slice(j) {
        Some(column) => column.iter().zip(bins).for_each(|(&value, bin)| take(value, bin)),
        None => bins.iter_mut().enumerate().for_each(|(i, bin)| take(x.values().at(i, j), bin)),
    }
    (low[..cuts.len()].to_vec(), high[..cuts.len()].to_vec())
}

/// How many rows the cuts of quantities come from.
pub(crate) fn sampled_count(rows: u64) -> u64 {
    rows.min(SAMPLED_ROWS as u64)
}

/// The rows of a range that the cuts of quantities come from: one of each of equally large strata of the
/// whole table, drawn by the stratum's number; all if they are few enough.
pub(crate) fn sampled_rows(rows: u64, range: Range<u64>, run: &Context) -> Option<Vec<u64>> {
    let strata = SAMPLED_ROWS as u64;
    if rows <= strata {
        return None;
    }
    let begin = |k: u64| (u128::from(k) * u128::from(rows) / u128::from(strata)) as u64;
    let stratum = |row: u64| (u128::from(row) * u128::from(strata) / u128::from(rows)) as u64;
    let draw = |k: u64| {
        let (from, to) = (begin(k), begin(k + 1));
        from + sample::below(&mut run.row_rng(SAMPLE_STREAM, k), to - from)
    };
    // Rounding may put a row into the stratum before or after the one that holds it.
    let first = stratum(range.start).saturating_sub(1);
    let last = (stratum(range.end) + 2).min(strata);
    Some((first..last).map(draw).filter(|row| range.contains(row)).collect())
}

/// The bins of a column. Of quantities, they are known by their upper cuts for now.
fn kind(x: &Frame, j: usize, limits: BinLimits, sampled: Option<&[u64]>) -> Kind {
    let rows = 0..x.nrows();
    match unordered_levels(x.schema().column(j)) {
        Some(levels) => kind_of_counts(&level_counts(x, j, levels), limits),
        None => match sampled {
            Some(rows) => {
                kind_of_values(&counted(x, j, rows.iter().map(|&row| row as usize)), limits)
            }
            None => kind_of_values(&counted(x, j, rows), limits),
        },
    }
}

/// The values of some rows in order, each once, with the number of its rows; missing ones are left out.
pub(crate) fn counted(x: &Frame, j: usize, rows: impl Iterator<Item = usize>) -> Vec<(f64, u64)> {
    let values = x.values();
    let known = |i: usize| Some(values.at(i, j) + 0.0).filter(|value| !value.is_nan());
    let mut sorted = Vec::with_capacity(rows.size_hint().0);
    sorted.extend(rows.filter_map(known));
    sorted.sort_unstable_by(f64::total_cmp);
    let mut counted = Vec::with_capacity(sorted.len());
    counted.extend(sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len() as u64)));
    counted
}

/// The number of rows of each level.
pub(crate) fn level_counts(x: &Frame, j: usize, levels: usize) -> Vec<u64> {
    let mut counts = vec![0; levels];
    for i in 0..x.nrows() {
        if let Some(code) = level(x.values().at(i, j), levels) {
            counts[code as usize] += 1;
        }
    }
    counts
}

/// The bins of quantities from their values in order, each with the number of its rows.
pub(crate) fn kind_of_values(counted: &[(f64, u64)], limits: BinLimits) -> Kind {
    let cuts = cuts(counted, limits.quantities);
    Kind::Ordered { high: cuts.clone(), low: cuts }
}

/// Upper cuts of the bins of values in order; that of the last bin is infinite.
fn cuts(counted: &[(f64, u64)], max_bins: usize) -> Vec<f64> {
    let distinct = counted.len();
    let mut cuts = Vec::with_capacity(distinct.min(max_bins));
    let mut remaining: u64 = counted.iter().map(|(_, count)| count).sum();
    let mut filled = 0;
    let mut last = f64::NAN;
    for &(value, count) in counted {
        // A bin ends once it holds its share of the rows that are left to it and later bins.
        let bins_left = (max_bins - cuts.len()) as u64;
        let full = distinct <= max_bins || filled * bins_left >= remaining;
        // A value that fills a bin alone begins one.
        let alone = filled > 0 && count * bins_left >= remaining;
        if filled > 0 && bins_left > 1 && (full || alone) {
            cuts.push(midpoint(last, value));
            remaining -= filled;
            filled = 0;
        }
        filled += count;
        last = value;
    }
    cuts.push(f64::INFINITY);
    cuts
}

/// The bins of levels from the number of rows of each.
pub(crate) fn kind_of_counts(counts: &[u64], limits: BinLimits) -> Kind {
    let (levels, most) = (counts.len(), limits.levels);
    let mut bin_of = vec![ABSENT; levels];
    let mut seen: Vec<usize> = (0..levels).filter(|&code| counts[code] > 0).collect();
    let own = if seen.len() <= most { seen.len() } else { most - 1 };
    seen.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    let bins = own + usize::from(seen.len() > own);
    seen[own..].iter().for_each(|&code| bin_of[code] = own as u32);
    seen.truncate(own);
    seen.sort_unstable();
    seen.iter().enumerate().for_each(|(bin, &code)| bin_of[code] = bin as u32);
    Kind::Levels { bin_of, bins }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binned(values: Vec<f64>, max_bins: usize) -> BinnedTable {
        let x = Table::unnamed(Matrix::column_vector(values));
        BinnedTable::new(&x.frame(), BinLimits::narrow(max_bins), &Context::default()).unwrap()
    }

    #[test]
    fn bins_keep_the_order_and_never_exceed_their_number() {
        for (rows, repeats) in [(1000, 1), (1000, 3), (10, 1), (300, 2)] {
            let values: Vec<f64> =
                (0..rows).map(|i| ((i * 7919) % rows / repeats) as f64).collect();
            for max_bins in [2, 5, 16, 255] {
                let table = binned(values.clone(), max_bins);
                let Kind::Ordered { low, high } = &table.kinds[0] else { panic!("quantities") };
                assert!(low.len() <= max_bins && low.len() >= 2);
                assert!(high.iter().zip(&low[1..]).all(|(high, next)| high < next));
                for (&bin, value) in table.bins.iter().zip(&values) {
                    assert!(low[bin as usize] <= *value && *value <= high[bin as usize]);
                }
                let share = rows as f64 / low.len() as f64;
                let mut counts = vec![0.0; low.len()];
                table.bins.iter().for_each(|&bin| counts[bin as usize] += 1.0);
                assert!(counts.iter().all(|&n| n <= 2.0 * share + repeats as f64), "{counts:?}");
            }
        }
    }

    #[test]
    fn a_value_of_most_rows_has_its_bin_alone() {
        let values: Vec<f64> = (0..1000).map(|i| if i < 700 { 0.0 } else { i as f64 }).collect();
        let table = binned(values, 10);
        let Kind::Ordered { low, high } = &table.kinds[0] else { panic!("quantities") };
        assert_eq!((low[0], high[0]), (0.0, 0.0));
        assert!(low.len() > 5, "{low:?}");
    }

    #[test]
    fn rare_levels_share_a_bin_and_absent_ones_have_none() {
        let names: Vec<String> = (0..400).map(|i| format!("l{i}")).collect();
        let schema = Schema::new(vec![Column::categorical("c", names)]).unwrap();
        let codes: Vec<f64> = (0..300).flat_map(|l| vec![l as f64; 1 + l % 3]).collect();
        let x = Table::new(Matrix::column_vector(codes.clone()), schema).unwrap();
        let run = Context::default();
        let table = BinnedTable::new(&x.frame(), BinLimits::narrow(255), &run).unwrap();
        let Kind::Levels { bin_of, bins } = &table.kinds[0] else { panic!("levels") };
        assert_eq!(*bins, 255);
        assert!(bin_of[300..].iter().all(|&bin| bin == ABSENT));
        let shared = bin_of.iter().filter(|&&bin| bin == 254).count();
        assert_eq!(shared, 300 - 254);
        assert!((0..300).filter(|l| l % 3 == 2).all(|l| bin_of[l] < 254));
        let wide = BinnedTable::new(&x.frame(), BinLimits::wide(255), &run).unwrap();
        assert!(wide.kinds[0].is_wide() && wide.kinds[0].missing() == 300);
        let bytes = wide.column(0).iter().zip(wide.upper(0));
        let bins = bytes.map(|(&low, &high)| f64::from(low) + 256.0 * f64::from(high));
        assert_eq!(bins.collect::<Vec<_>>(), codes);
        assert!(table.upper(0).is_empty());
    }

    #[test]
    fn missing_values_have_their_own_bin_and_large_tables_are_sampled() {
        let rows = SAMPLED_ROWS + 50_000;
        let values = (0..rows).map(|i| if i % 10 == 0 { f64::NAN } else { (i % 5000) as f64 });
        let table = binned(values.collect(), 255);
        assert!(table.bins.iter().enumerate().all(|(i, &b)| (b == MISSING) == (i % 10 == 0)));
        let Kind::Ordered { low, high } = &table.kinds[0] else { panic!("quantities") };
        assert!(low.len() > 250);
        assert!(high.iter().zip(&low[1..]).all(|(high, next)| high < next));
        let all_missing = binned(vec![f64::NAN; 4], 255);
        assert_eq!(all_missing.bins, [MISSING; 4]);
    }
}
