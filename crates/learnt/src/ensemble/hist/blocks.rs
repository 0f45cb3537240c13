//! Histograms over blocks of four columns.
//!
//! The bins of a row stand together, four columns a word, so that a row is fetched from memory once for
//! all of them. A few thousand rows are taken at a time, block by block, so that they and the
//! histograms of a block stay in the near caches. Gradients are whole numbers: the gradient in units of
//! 2^-61 of their sum, the second derivative with a count of one below it. So sums do not depend on
//! their order, and a child's histogram is exactly its parent's less its sibling's.

use crate::tree::binned::{BinnedTable, Kind};
use learnt_core::prelude::*;

/// Columns of a block.
pub(super) const WIDTH: usize = 4;
/// Histograms of fewer cells than this are made on one thread.
const PARALLEL_CELLS: usize = 1 << 16;
/// Blocks of one task: their words of a row fill a line of the cache.
const BLOCKS: usize = 16;
/// Rows that are taken at a time.
const ROWS: usize = 2048;

/// Sums of gradients and of second derivatives, the latter with a count in their low bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) gradient: i64,
    pub(super) curvature: i64,
}

impl Cell {
    #[inline(always)]
    pub(super) fn add(&mut self, other: Cell) {
        self.gradient = self.gradient.wrapping_add(other.gradient);
        self.curvature = self.curvature.wrapping_add(other.curvature);
    }

    #[inline(always)]
    pub(super) fn less(self, other: Cell) -> Cell {
        Cell {
            gradient: self.gradient.wrapping_sub(other.gradient),
            curvature: self.curvature.wrapping_sub(other.curvature),
        }
    }
}

/// What a unit of the whole numbers stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    gradient: f64,
    curvature: f64,
    /// Units in one.
    inverses: [f64; 2],
    /// Bits of the count.
    bits: u32,
}

impl Scale {
    /// For rows whose absolute gradients and second derivatives have at most these sums.
    pub(super) fn new(rows: usize, gradients: f64, curvatures: f64) -> Self {
        let bits = usize::BITS - rows.leading_zeros();
        let unit = |sum: f64, bits: u32| {
            let unit = sum * 1.001 / 2_f64.powi(bits as i32);
            if unit.is_normal() && (1.0 / unit).is_finite() { unit } else { 1.0 }
        };
        let (gradient, curvature) = (unit(gradients, 61), unit(curvatures, 61 - bits));
        Scale { gradient, curvature, inverses: [1.0 / gradient, 1.0 / curvature], bits }
    }

    #[inline(always)]
    pub(super) fn cell(&self, gradient: f64, curvature: f64) -> Cell {
        Cell {
            gradient: (gradient * self.inverses[0]) as i64,
            curvature: ((curvature * self.inverses[1]) as i64) << self.bits | 1,
        }
    }

    #[inline(always)]
    pub(super) fn gradient(&self, cell: Cell) -> f64 {
        cell.gradient as f64 * self.gradient
    }

    #[inline(always)]
    pub(super) fn curvature(&self, cell: Cell) -> f64 {
        (cell.curvature >> self.bits) as f64 * self.curvature
    }

    #[inline(always)]
    pub(super) fn count(&self, cell: Cell) -> usize {
        (cell.curvature & ((1 << self.bits) - 1)) as usize
    }
}

/// The histograms of a block.
pub(super) type Block = [[Cell; 256]; WIDTH];

/// Histograms of all columns.
pub(super) type Histogram = Vec<Block>;

const EMPTY: Block = [[Cell { gradient: 0, curvature: 0 }; 256]; WIDTH];

/// A table in bins, by column and by row.
pub(super) struct Blocks {
    table: BinnedTable,
    /// Four columns a word, row by row.
    words: Vec<u32>,
    /// Words of a row.
    width: usize,
}

impl Blocks {
    pub(super) fn new(table: BinnedTable, run: &Context) -> Result<Self> {
        let width = table.kinds.len().div_ceil(WIDTH);
        let room = (table.rows * width * size_of::<u32>()) as u64;
        run.claim(room, "bins row by row")?;
        let mut words = vec![0_u32; table.rows * width];
        run.par_fill(&mut words, ROWS * width.max(1), |first, words| {
            let from = first / width;
            for j in 0..table.kinds.len() {
                let bins = &table.column(j)[from..from + words.len() / width];
                let (block, shift) = (j / WIDTH, 8 * (j % WIDTH));
                for (row, &bin) in words.chunks_exact_mut(width).zip(bins) {
                    row[block] |= u32::from(bin) << shift;
                }
            }
        });
        Ok(Blocks { table, words, width })
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.table.kinds
    }

    pub(super) fn columns(&self) -> usize {
        self.table.kinds.len()
    }

    /// The bins of a column, by row.
    pub(super) fn column(&self, column: usize) -> &[u8] {
        self.table.column(column)
    }

    /// The histograms of some rows of a table whose rows have these gradients.
    pub(super) fn histogram(
        &self,
        rows: &[u32],
        cells: &[Cell],
        spare: Option<Histogram>,
        run: &Context,
    ) -> Histogram {
        let mut out = spare.unwrap_or_default();
        out.clear();
        out.resize(self.width, EMPTY);
        if rows.len().saturating_mul(self.columns()) < PARALLEL_CELLS {
            self.add_rows(&mut out, 0, rows, cells);
            return out;
        }
        // Sums are exact, so that the number of parts may depend on that of threads.
        let length = rows.len().div_ceil(2 * run.threads()).max(ROWS);
        let parts = rows.len().div_ceil(length);
        let tasks = run.par_map(parts * out.len().div_ceil(BLOCKS), |task| {
            let (first, part) = (task / parts * BLOCKS, task % parts);
            let rows = &rows[part * length..((part + 1) * length).min(rows.len())];
            let mut sums = vec![EMPTY; BLOCKS.min(self.width - first)];
            self.add_rows(&mut sums, first, rows, cells);
            sums
        });
        for (task, sums) in tasks.iter().enumerate() {
            let whole = out[task / parts * BLOCKS..][..sums.len()].as_flattened_mut();
            let cells = whole.as_flattened_mut().iter_mut();
            let added = sums.as_flattened().as_flattened();
            cells.zip(added).for_each(|(sum, cell)| sum.add(*cell));
        }
        out
    }

    /// Adds rows to the histograms of the blocks from `first` on.
    fn add_rows(&self, out: &mut [Block], first: usize, rows: &[u32], cells: &[Cell]) {
        let mut gathered = [Cell::default(); ROWS];
        for rows in rows.chunks(ROWS) {
            let gathered = &mut gathered[..rows.len()];
            gathered.iter_mut().zip(rows).for_each(|(to, &row)| *to = cells[row as usize]);
            for (place, block) in (first..).zip(out.iter_mut()) {
                self.add_block(block, place, rows, gathered);
            }
        }
    }

    fn add_block(&self, block: &mut Block, place: usize, rows: &[u32], cells: &[Cell]) {
        let [a, b, c, d] = block;
        let words = &self.words[place..];
        for (&row, &cell) in rows.iter().zip(cells) {
            let word = words[row as usize * self.width];
            a[word as usize & 255].add(cell);
            b[(word >> 8) as usize & 255].add(cell);
            c[(word >> 16) as usize & 255].add(cell);
            d[(word >> 24) as usize].add(cell);
        }
    }
}

/// Takes a child's histograms away from its parent's, which become its sibling's.
pub(super) fn subtract(parent: &mut Histogram, child: &Histogram) {
    for (whole, part) in parent.iter_mut().zip(child) {
        let whole = whole.as_flattened_mut();
        whole.iter_mut().zip(part.as_flattened()).for_each(|(sum, c)| *sum = sum.less(*c));
    }
}
