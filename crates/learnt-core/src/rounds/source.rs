//! Where blocks come from.

use super::{Block, Outline, block_rows};
use crate::data::{Dataset, Frame, MatRef, Schema, Target};
use crate::error::{Error, Result};
use crate::vectorized;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// The same, after `check` has seen the rows, with the number of the first in the table. A source that
    /// leaves out rows of weight zero shows it these too.
    fn with_checked(
        &self,
        index: u64,
        check: &dyn Fn(&Dataset, u64) -> Result<()>,
        f: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        self.with(index, &mut |block| {
            check(&block.data, block.first_row)?;
            f(block)
        })
    }
    /// The rows of one block in single precision, where that is how they are kept.
    fn singles(&self, _index: u64) -> Option<Singles<'_>> {
        None
    }
}

/// Rows in single precision, for rounds that use them as they are.
#[derive(Clone, Copy, Debug)]
pub struct Singles<'a> {
    /// The values, row by row.
    pub values: &'a [f32],
    /// The input columns.
    pub schema: &'a Schema,
    /// The target.
    pub y: Option<Target<'a>>,
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

/// A table in single precision, row by row in one piece: each block is converted when it is lent, so
/// that no copy of the whole is ever made. The memory of a block serves the next one: fresh memory for
/// each would cost more than the conversion.
pub struct SinglePrecision<'a> {
    buffers: Mutex<Vec<Vec<f64>>>,
    values: &'a [f32],
    schema: &'a Schema,
    y: Option<Target<'a>>,
    weights: Option<&'a [f64]>,
}

impl<'a> SinglePrecision<'a> {
    /// As many rows as fill the columns of the schema; the target and the weights must have as many.
    pub fn new(
        values: &'a [f32],
        schema: &'a Schema,
        y: Option<Target<'a>>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self> {
        let rows = values.len() / schema.len().max(1);
        let fits = rows * schema.len() == values.len()
            && y.is_none_or(|y| y.nrows() == rows)
            && weights.is_none_or(|weights| weights.len() == rows);
        match fits {
            true => Ok(SinglePrecision { buffers: Mutex::default(), values, schema, y, weights }),
            false => Err(Error::shape("x", "as many rows as the target and the weights", rows)),
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.schema.len().max(1)
    }

    /// The rows of a block.
    fn range(&self, index: u64) -> Range<usize> {
        let size = block_rows(self.schema.len());
        let start = index as usize * size;
        start..(start + size).min(self.rows())
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<f64>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for SinglePrecision<'_> {
    fn outline(&self) -> Outline<'_> {
        Outline::of_rows(self.schema, self.rows() as u64, self.y, self.weights.is_some())
    }

    fn in_memory(&self) -> bool {
        true
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        let width = self.schema.len();
        let Range { start, end } = self.range(index);
        let mut values = self.buffers().pop().unwrap_or_default();
        widen(&self.values[start * width..end * width], &mut values);
        let x = Frame::new(MatRef::strided(&values, end - start, width, width, 1)?, self.schema)?;
        let data = Dataset {
            y: self.y.map(|y| y.rows(start, end)),
            weights: self.weights.map(|weights| &weights[start..end]),
            ..Dataset::new(x)
        };
        let done = f(&Block { index, first_row: start as u64, data });
        self.buffers().push(values);
        done
    }

    fn singles(&self, index: u64) -> Option<Singles<'_>> {
        let (width, Range { start, end }) = (self.schema.len(), self.range(index));
        let rows = Singles {
            values: &self.values[start * width..end * width],
            schema: self.schema,
            y: self.y.map(|y| y.rows(start, end)),
        };
        self.weights.is_none().then_some(rows)
    }
}

/// Single values as double ones.
fn widen(values: &[f32], out: &mut Vec<f64>) {
    out.resize(values.len(), 0.0);
    vectorized!(for (out, &value) in out.iter_mut().zip(values) {
        *out = f64::from(value);
    });
}
