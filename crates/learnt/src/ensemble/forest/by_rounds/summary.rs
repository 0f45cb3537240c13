//! What comes back from a block.

use crate::tree::binned::{BinEnds, ValueCounts};
use learnt_core::prelude::*;

/// What a round learnt from some rows; what it did not ask for is empty.
#[derive(Stored, Clone, Debug, Default)]
pub struct Summary {
    /// Values and levels of some columns.
    pub(super) values: ValueCounts,
    /// Ends of the bins of quantities.
    pub(super) ends: BinEnds,
    /// Sums along the tree of rows: of targets, of the rows of each tree, or of errors.
    pub(super) sums: Vec<f64>,
    /// How many rows each tree has drawn.
    pub(super) drawn: Vec<u64>,
    /// What the tasks of a round ask for.
    pub(super) parts: Vec<Part>,
}

/// What rows of one node say.
#[derive(Stored, Clone, Debug, Default)]
pub(super) struct Part {
    /// Sums over the rows, then that of their spreads.
    pub(super) sums: Vec<f64>,
    /// Smallest and largest target.
    pub(super) ends: Vec<f64>,
    /// For each column and each of its bins, the sums and the number of rows.
    pub(super) cells: Vec<f64>,
    /// Rows in order: their bins, targets and weights.
    pub(super) bins: Vec<u8>,
    pub(super) targets: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Merge for Summary {
    fn merge(self, later: Self) -> Result<Self> {
        Ok(Summary {
            values: self.values.merge(later.values)?,
            ends: self.ends.merge(later.ends)?,
            sums: self.sums.merge(later.sums)?,
            drawn: self.drawn.merge(later.drawn)?,
            parts: self.parts.merge(later.parts)?,
        })
    }
}

impl Merge for Part {
    fn merge(mut self, later: Self) -> Result<Self> {
        if self.ends.len() != 2 || later.ends.len() != 2 {
            return Err(Error::internal("summaries of different rounds"));
        }
        self.ends = vec![self.ends[0].min(later.ends[0]), self.ends[1].max(later.ends[1])];
        // All numbers lie on grids, so their sums are exact.
        self.sums = self.sums.merge(later.sums)?;
        self.cells = self.cells.merge(later.cells)?;
        self.bins.extend(later.bins);
        self.targets.extend(later.targets);
        self.weights.extend(later.weights);
        Ok(self)
    }
}
