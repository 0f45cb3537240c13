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
const ROWS: usize = 512;
/// Rows of one task at least.
const TASK_ROWS: usize = 2048;

/// Sums of gradients and of second derivatives, the latter with a count in their low bits.
#[derive(Stored, Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    words: Words,
}

impl Blocks {
    pub(super) fn new(table: BinnedTable, run: &Context) -> Result<Self> {
        let (rows, columns) = (table.rows, table.kinds.len());
        let mut words = Words::empty(rows, columns, run)?;
        let width = words.width;
        run.par_fill(&mut words.words, TASK_ROWS * width.max(1), |first, words| {
            let from = first / width;
            for j in 0..columns {
                put(words, width, j, &table.column(j)[from..from + words.len() / width]);
            }
        });
        Ok(Blocks { table, words })
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
        let width = self.words.width;
        let mut out = spare.unwrap_or_default();
        if rows.len().saturating_mul(self.columns()) < PARALLEL_CELLS {
            self.words.histogram(rows, cells, &mut out);
            return out;
        }
        out.clear();
        out.resize(width, EMPTY);
        // Sums are exact, so that the number of parts may depend on that of threads.
        let length = rows.len().div_ceil(2 * run.threads()).max(TASK_ROWS);
        let parts = rows.len().div_ceil(length);
        let tasks = run.par_map(parts * out.len().div_ceil(BLOCKS), |task| {
            let (first, part) = (task / parts * BLOCKS, task % parts);
            let rows = &rows[part * length..((part + 1) * length).min(rows.len())];
            let mut sums = vec![EMPTY; BLOCKS.min(width - first)];
            self.words.add_rows(&mut sums, first, rows, cells);
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
}

/// Bins of rows, four columns a word, row by row.
#[derive(Default)]
pub(super) struct Words {
    words: Vec<u32>,
    /// Words of a row.
    width: usize,
}

impl Words {
    /// Room for rows.
    pub(super) fn empty(rows: usize, columns: usize, run: &Context) -> Result<Self> {
        let width = columns.div_ceil(WIDTH);
        run.claim((rows * width * size_of::<u32>()) as u64, "bins row by row")?;
        Ok(Words { words: vec![0; rows * width], width })
    }

    /// Puts in the bins of a column, once.
    pub(super) fn put(&mut self, column: usize, bins: &[u8]) {
        put(&mut self.words, self.width, column, bins);
    }

    /// The bin of a row in a column.
    #[inline(always)]
    pub(super) fn bin(&self, row: usize, column: usize) -> usize {
        let word = self.words[row * self.width + column / WIDTH];
        (word >> (8 * (column % WIDTH))) as usize & 255
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        (self.words.len() * size_of::<u32>()) as u64
    }

    /// The histograms of some rows, on one thread.
    pub(super) fn histogram(&self, rows: &[u32], cells: &[Cell], out: &mut Histogram) {
        out.clear();
        out.resize(self.width, EMPTY);
        self.add_rows(out, 0, rows, cells);
    }

    /// Adds rows to the histograms of the blocks from `first` on. Words and gradients of some rows are copied
    /// block after block first: fetching them does not wait for sums.
    fn add_rows(&self, out: &mut [Block], first: usize, rows: &[u32], cells: &[Cell]) {
        let mut gathered = [Cell::default(); ROWS];
        let mut words = vec![0; ROWS * out.len()];
        for rows in rows.chunks(ROWS) {
            for (place, (to, &row)) in gathered.iter_mut().zip(rows).enumerate() {
                *to = cells[row as usize];
                let from = row as usize * self.width + first;
                let of_row = &self.words[from..from + out.len()];
                for (block, &word) in of_row.iter().enumerate() {
                    words[block * ROWS + place] = word;
                }
            }
            for (block, words) in out.iter_mut().zip(words.chunks_exact(ROWS)) {
                add_block(block, &words[..rows.len()], &gathered[..rows.len()]);
            }
        }
    }
}

fn add_block(block: &mut Block, words: &[u32], cells: &[Cell]) {
    let [a, b, c, d] = block;
    for (&word, &cell) in words.iter().zip(cells) {
        a[word as usize & 255].add(cell);
        b[(word >> 8) as usize & 255].add(cell);
        c[(word >> 16) as usize & 255].add(cell);
        d[(word >> 24) as usize].add(cell);
    }
}

/// Puts the bins of a column into the words of rows.
fn put(words: &mut [u32], width: usize, column: usize, bins: &[u8]) {
    let (block, shift) = (column / WIDTH, 8 * (column % WIDTH));
    for (row, &bin) in words.chunks_exact_mut(width).zip(bins) {
        row[block] |= u32::from(bin) << shift;
    }
}

/// Histograms without a row.
pub(super) fn no_rows(columns: usize) -> Histogram {
    vec![EMPTY; columns.div_ceil(WIDTH)]
}

/// Takes a child's histograms away from its parent's, which become its sibling's.
pub(super) fn subtract(parent: &mut Histogram, child: &Histogram) {
    for (whole, part) in parent.iter_mut().zip(child) {
        let whole = whole.as_flattened_mut();
        whole.iter_mut().zip(part.as_flattened()).for_each(|(sum, c)| *sum = sum.less(*c));
    }
}
