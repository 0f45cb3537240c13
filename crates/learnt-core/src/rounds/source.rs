//! Where blocks come from.

use super::{Block, Outline, block_rows};
use crate::data::Dataset;
use crate::error::Result;
use std::ops::Range;

/// Where blocks come from: memory, a Parquet or CSV file, an engine's partition.
pub trait Source: Sync {
    /// What is known before reading rows.
    fn outline(&self) -> Outline<'_>;
    /// Number of blocks.
    fn blocks(&self) -> u64 {
        self.outline().blocks()
    }
    /// Whether blocks stay in memory, so that memos pay.
    fn in_memory(&self) -> bool {
        false
    }
    /// Lends one block to `f`.
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()>;
}

/// A data set in memory, as blocks.
pub struct InMemory<'a> {
    data: Dataset<'a>,
    cuts: Option<Vec<Range<usize>>>,
}

impl<'a> InMemory<'a> {
    /// Blocks of this data set; where it has sequences, blocks end where sequences end.
    pub fn new(data: Dataset<'a>) -> Self {
        let rows = block_rows(data.x.ncols());
        InMemory { data, cuts: data.sequences.map(|sequences| sequences.blocks(rows)) }
    }
}

impl Source for InMemory<'_> {
    fn outline(&self) -> Outline<'_> {
        Outline::of(&self.data)
    }

    fn in_memory(&self) -> bool {
        true
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        let size = block_rows(self.data.x.ncols());
        let cut = self.cuts.as_ref().and_then(|cuts| cuts.get(index as usize));
        let (start, end) = match cut {
            Some(cut) => (cut.start, cut.end),
            None => (index as usize * size, (index as usize + 1) * size),
        };
        let end = end.min(self.data.nrows());
        f(&Block { index, first_row: start as u64, data: self.data.rows(start, end) })
    }
}
