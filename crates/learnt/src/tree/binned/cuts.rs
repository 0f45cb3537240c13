//! Bins of a table whose rows come in blocks, as they would be in memory.
//!
//! A first round counts distinct values and levels, some columns at a time: whole numbers on the finest grid
//! there is, so they merge in any order. A second finds the smallest and largest value of each bin.

use super::table::{
    BinLimits, Kind, counted, kind_of_counts, kind_of_values, level_counts, sampled_count,
    sampled_rows,
};
use crate::tree::grow::unordered_levels;
use learnt_core::prelude::*;
use std::ops::Range;

/// About the most bytes of one summary.
pub(crate) const SUMMARY_BYTES: u64 = 32 << 20;

/// Values of some columns and how many rows have them.
#[derive(Stored, Clone, Debug, Default)]
pub(crate) struct ValueCounts {
    /// Values of each column of quantities in order, each once.
    values: Vec<Vec<f64>>,
    /// How many rows have them; of categories, how many rows each level has.
    counts: Vec<Vec<u64>>,
}

/// The columns from this one on whose values are counted in one round.
pub(crate) fn columns_from(outline: &Outline, first: usize) -> Range<usize> {
    let bytes = 16 * sampled_count(outline.rows).max(1);
    let count = (SUMMARY_BYTES / bytes).max(1) as usize;
    first..first.saturating_add(count).min(outline.schema.len())
}

/// Claims what counting values takes.
pub(crate) fn claim_counts(outline: &Outline, run: &Context) -> Result<()> {
    let columns = columns_from(outline, 0).len() as u64;
    let rows = learnt_core::rounds::block_rows(outline.schema.len()) as u64;
    let of_blocks = run.threads() as u64 * rows;
    let values = 3 * sampled_count(outline.rows) + of_blocks.min(outline.rows);
    run.claim(16 * columns * values, &format!("values of {columns} columns"))
}

impl ValueCounts {
    /// Of the columns from `first` on; `numbers` has the numbers of the rows in the whole table, in order.
    pub(crate) fn of(
        outline: &Outline,
        first: usize,
        data: &Dataset,
        numbers: &[u64],
        run: &Context,
    ) -> ValueCounts {
        let range = match numbers {
            [from, .., to] => *from..to + 1,
            [only] => *only..only + 1,
            [] => 0..0,
        };
        // The places of drawn rows.
        let drawn: Option<Vec<usize>> = sampled_rows(outline.rows, range, run)
            .map(|drawn| drawn.iter().filter_map(|row| numbers.binary_search(row).ok()).collect());
        let mut found = ValueCounts::default();
        for j in columns_from(outline, first) {
            let (values, counts) = match unordered_levels(outline.schema.column(j)) {
                Some(levels) => (Vec::new(), level_counts(&data.x, j, levels)),
                None => match &drawn {
                    Some(drawn) => counted(&data.x, j, drawn.iter().copied()).into_iter().unzip(),
                    None => counted(&data.x, j, 0..data.nrows()).into_iter().unzip(),
                },
            };
            found.values.push(values);
            found.counts.push(counts);
        }
        found
    }

    /// Adds the bins of these columns to those of the columns before; the next column, if there is one.
    pub(crate) fn add_kinds(
        &self,
        outline: &Outline,
        limits: BinLimits,
        kinds: &mut Vec<Kind>,
    ) -> Result<Option<usize>> {
        let columns = columns_from(outline, kinds.len());
        if columns.len() != self.counts.len() || columns.len() != self.values.len() {
            return Err(Error::internal("counts of other columns"));
        }
        for (j, (values, counts)) in columns.clone().zip(self.values.iter().zip(&self.counts)) {
            kinds.push(match unordered_levels(outline.schema.column(j)) {
                Some(_) => kind_of_counts(counts, limits),
                None => {
                    let pairs = values.iter().copied().zip(counts.iter().copied());
                    kind_of_values(&pairs.collect::<Vec<_>>(), limits)
                }
            });
        }
        Ok(Some(columns.end).filter(|&end| end < outline.schema.len()))
    }
}

impl Merge for ValueCounts {
    fn merge(mut self, later: Self) -> Result<Self> {
        let lengths = |s: &Self| (s.values.len(), s.counts.len());
        if lengths(&self) != lengths(&later) || self.values.len() != self.counts.len() {
            return Err(Error::internal("summaries of different rounds"));
        }
        for (j, (values, counts)) in later.values.into_iter().zip(later.counts).enumerate() {
            let own = (std::mem::take(&mut self.values[j]), std::mem::take(&mut self.counts[j]));
            (self.values[j], self.counts[j]) = together(own, (values, counts))?;
        }
        Ok(self)
    }
}

/// Smallest and largest values of the bins of quantities, column after column.
#[derive(Stored, Clone, Debug, Default)]
pub(crate) struct BinEnds {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl BinEnds {
    /// Of some rows, whose bins are known by their cuts.
    pub(crate) fn of(kinds: &[Kind], x: &Frame) -> BinEnds {
        let mut found = BinEnds::default();
        let mut bins = vec![0; x.nrows()];
        for (j, kind) in kinds.iter().enumerate() {
            if let Some((low, high)) = kind.fill(x, j, &mut bins) {
                found.low.extend(low);
                found.high.extend(high);
            }
        }
        found
    }

    /// Puts the ends of all rows into the bins.
    pub(crate) fn give(&self, kinds: &mut [Kind]) -> Result<()> {
        let mut ends = self.low.iter().copied().zip(self.high.iter().copied());
        for kind in kinds {
            if let Kind::Ordered { low, high } = kind {
                let (least, most): (Vec<f64>, Vec<f64>) = ends.by_ref().take(low.len()).unzip();
                if least.len() != low.len() {
                    return Err(Error::internal("ends of other bins"));
                }
                (*low, *high) = (least, most);
            }
        }
        Ok(())
    }
}

impl Merge for BinEnds {
    fn merge(mut self, later: Self) -> Result<Self> {
        if (self.low.len(), self.high.len()) != (later.low.len(), later.high.len()) {
            return Err(Error::internal("summaries of different rounds"));
        }
        self.low.iter_mut().zip(later.low).for_each(|(least, value)| *least = least.min(value));
        self.high.iter_mut().zip(later.high).for_each(|(most, value)| *most = most.max(value));
        Ok(self)
    }
}

/// Values with their counts.
type Counted = (Vec<f64>, Vec<u64>);

/// Two lists of values in order as one, with the counts of both; counts of levels add up.
fn together(earlier: Counted, later: Counted) -> Result<Counted> {
    let ((a, m), (b, n)) = (&earlier, &later);
    if a.is_empty() && b.is_empty() && m.len() == n.len() {
        let sums = m.iter().zip(n).map(|(m, n)| m + n).collect();
        return Ok((Vec::new(), sums));
    }
    if a.len() != m.len() || b.len() != n.len() {
        return Err(Error::internal("values without their counts"));
    }
    let most = a.len() + b.len();
    let (mut values, mut counts) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let from_first = j == b.len() || (i < a.len() && a[i] <= b[j]);
        let both = from_first && j < b.len() && a[i] == b[j];
        values.push(if from_first { a[i] } else { b[j] });
        let first = if from_first { m[i] } else { 0 };
        let second = if both || !from_first { n[j] } else { 0 };
        counts.push(first + second);
        i += usize::from(from_first);
        j += usize::from(both || !from_first);
    }
    Ok((values, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_merge_in_order_with_their_counts() {
        let merged = together(
            (vec![1.0, 2.0, 5.0], vec![1, 2, 3]),
            (vec![-1.0, 2.0, 6.0, 7.0], vec![4, 5, 6, 7]),
        );
        let expected = (vec![-1.0, 1.0, 2.0, 5.0, 6.0, 7.0], vec![4, 1, 7, 3, 6, 7]);
        assert_eq!(merged.unwrap(), expected);
        let levels = together((Vec::new(), vec![1, 0]), (Vec::new(), vec![2, 3]));
        assert_eq!(levels.unwrap(), (Vec::new(), vec![3, 3]));
        let one_sided = together((Vec::new(), Vec::new()), (vec![1.0], vec![9]));
        assert_eq!(one_sided.unwrap(), (vec![1.0], vec![9]));
    }
}
