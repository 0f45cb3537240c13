//! Histograms over blocks of four columns.
//!
//! The bins of four columns are one word a row, so that a row is fetched once for all four and their
//! histograms stay in the nearest cache. Gradients are whole numbers: the gradient in units of 2^-61 of
//! their sum, the second derivative with a count of one below it. So sums do not depend on their order,
//! and a child's histogram is exactly its parent's less its sibling's.

use crate::tree::binned::{BinnedTable, Kind};
use learnt_core::prelude::*;

/// Columns of a block.
pub(super) const WIDTH: usize = 4;
/// Histograms of fewer cells than this are made on one thread.
const PARALLEL_CELLS: usize = 1 << 16;
/// Rows of one task.
const CHUNK: usize = 1 << 17;

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

/// A table in bins, four columns a word.
pub(super) struct Blocks {
    pub(super) kinds: Vec<Kind>,
    words: Vec<Vec<u32>>,
}

impl Blocks {
    pub(super) fn new(table: BinnedTable, run: &Context) -> Self {
        let (columns, rows) = (table.kinds.len(), table.rows);
        let words = run.par_map(columns.div_ceil(WIDTH), |block| {
            let mut words = vec![0_u32; rows];
            for j in block * WIDTH..columns.min((block + 1) * WIDTH) {
                let shift = 8 * (j % WIDTH);
                let bins = table.column(j);
                words.iter_mut().zip(bins).for_each(|(word, &b)| *word |= u32::from(b) << shift);
            }
            words
        });
        Blocks { kinds: table.kinds, words }
    }

    pub(super) fn columns(&self) -> usize {
        self.kinds.len()
    }

    /// The bins of a column, by row.
    pub(super) fn column(&self, column: usize) -> impl Fn(u32) -> u8 + Sync + '_ {
        let (words, shift) = (&self.words[column / WIDTH], 8 * (column % WIDTH));
        move |row| (words[row as usize] >> shift) as u8
    }

    /// The histograms of these rows, whose gradients are given in their order.
    pub(super) fn histogram(
        &self,
        rows: &[u32],
        cells: &[Cell],
        spare: Option<Histogram>,
        run: &Context,
    ) -> Histogram {
        let mut out = spare.unwrap_or_default();
        out.clear();
        out.resize(self.words.len(), EMPTY);
        if rows.len().saturating_mul(self.columns()) < PARALLEL_CELLS {
            for (block, words) in out.iter_mut().zip(&self.words) {
                add_rows(block, words, rows, cells);
            }
            return out;
        }
        let chunks = rows.len().div_ceil(CHUNK);
        if chunks == 1 {
            run.par_fill(&mut out, 1, |first, blocks| {
                add_rows(&mut blocks[0], &self.words[first], rows, cells);
            });
            return out;
        }
        let parts = run.par_map(chunks * out.len(), |task| {
            let (block, chunk) = (task / chunks, task % chunks);
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(rows.len());
            let mut part = Box::new(EMPTY);
            add_rows(&mut part, &self.words[block], &rows[range.clone()], &cells[range]);
            part
        });
        for (task, part) in parts.iter().enumerate() {
            let whole = out[task / chunks].as_flattened_mut();
            whole.iter_mut().zip(part.as_flattened()).for_each(|(sum, cell)| sum.add(*cell));
        }
        out
    }
}

fn add_rows(block: &mut Block, words: &[u32], rows: &[u32], cells: &[Cell]) {
    let [a, b, c, d] = block;
    // Rows that follow one another need no look-up of their number.
    let dense = match (rows.first(), rows.last()) {
        (Some(&first), Some(&last)) => (last - first) as usize + 1 == rows.len(),
        _ => return,
    };
    let mut add = |word: u32, cell: Cell| {
        a[word as usize & 255].add(cell);
        b[(word >> 8) as usize & 255].add(cell);
        c[(word >> 16) as usize & 255].add(cell);
        d[(word >> 24) as usize].add(cell);
    };
    if dense {
        let words = &words[rows[0] as usize..][..rows.len()];
        words.iter().zip(cells).for_each(|(&word, &cell)| add(word, cell));
    } else {
        rows.iter().zip(cells).for_each(|(&row, &cell)| add(words[row as usize], cell));
    }
}

/// Takes a child's histograms away from its parent's, which become its sibling's.
pub(super) fn subtract(parent: &mut Histogram, child: &Histogram) {
    for (whole, part) in parent.iter_mut().zip(child) {
        let whole = whole.as_flattened_mut();
        whole.iter_mut().zip(part.as_flattened()).for_each(|(sum, c)| *sum = sum.less(*c));
    }
}
