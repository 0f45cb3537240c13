//! What comes back from a block.

use super::quantiles::Pieces;
use crate::tree::binned::{BinEnds, ValueCounts};
use learnt_core::prelude::*;

/// What a round learnt from some rows; what it did not ask for is empty.
#[derive(Stored, Clone, Debug, Default)]
pub struct Summary {
    /// Rows that count.
    pub(super) rows: u64,
    /// Values and levels of some columns.
    pub(super) values: ValueCounts,
    /// Rows of each group whose keys lie in each part.
    pub(super) key_counts: Vec<u64>,
    /// Keys of each group on the border of the rows set aside.
    pub(super) keys: Vec<Vec<u64>>,
    /// Ends of the bins of quantities.
    pub(super) ends: BinEnds,
    /// Sums along the tree of rows: weights of classes, moments of targets, or losses and derivatives.
    pub(super) sums: Vec<f64>,
    /// What rows say about quantiles.
    pub(super) pieces: Pieces,
    /// Histograms, node after node.
    pub(super) cells: Vec<i64>,
}

impl Merge for Summary {
    fn merge(mut self, later: Self) -> Result<Self> {
        let lengths = |s: &Self| {
            let keys = (s.key_counts.len(), s.keys.len());
            (keys, s.sums.len(), s.cells.len())
        };
        if lengths(&self) != lengths(&later) {
            return Err(Error::internal("summaries of different rounds"));
        }
        self.rows += later.rows;
        self.values = self.values.merge(later.values)?;
        self.ends = self.ends.merge(later.ends)?;
        self.key_counts.iter_mut().zip(later.key_counts).for_each(|(sum, count)| *sum += count);
        self.keys.iter_mut().zip(later.keys).for_each(|(all, keys)| all.extend(keys));
        self.sums = self.sums.merge(later.sums)?;
        self.pieces = self.pieces.merge(later.pieces)?;
        let cells = self.cells.iter_mut().zip(later.cells);
        cells.for_each(|(sum, cell)| *sum = sum.wrapping_add(cell));
        Ok(self)
    }
}
