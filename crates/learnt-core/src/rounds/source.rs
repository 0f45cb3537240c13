//! Where blocks come from.

use super::{Block, Outline, block_rows};
use crate::data::Dataset;
use crate::error::Result;

/// Where blocks come from: memory, a Parquet or CSV file, an engine's partition.
pub trait Source: Sync {
    /// What is known before reading rows.
    fn outline(&self) -> Outline<'_>;
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
}

impl<'a> InMemory<'a> {
    /// Blocks of this data set.
    pub fn new(data: Dataset<'a>) -> Self {
        InMemory { data }
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
        let start = index as usize * size;
        let end = (start + size).min(self.data.nrows());
        f(&Block { index, first_row: start as u64, data: self.data.rows(start, end) })
    }
}
