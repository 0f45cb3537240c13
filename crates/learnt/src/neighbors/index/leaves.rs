//! Rows cut into leaves of equal size, stored so that a leaf is scanned in vectors.
//!
//! Leaf i holds the rows at positions n i / m to n (i + 1) / m, so that nothing but the order of rows
//! needs to be stored. Within a leaf, eight rows at a time lie side by side, column by column.

use super::best::Best;
use super::metric::Kernel;
use learnt_core::prelude::*;
use std::ops::Range;

/// Rows that are handled at once.
pub(super) const LANES: usize = 8;

/// One column of eight rows.
pub(super) type Lanes = [f64; LANES];

/// All rows, leaf by leaf.
#[derive(Clone, Debug)]
pub(super) struct Leaves {
    columns: usize,
    count: usize,
    blocks: usize,
    order: Vec<u32>,
    values: Vec<Lanes>,
}

/// First position of node `i` of `count` nodes of equal size.
pub(in crate::neighbors) fn start(rows: usize, i: usize, count: usize) -> usize {
    (rows as u64 * i as u64 / count as u64) as usize
}

impl Leaves {
    /// Bytes that the leaves of such a table take.
    pub(super) fn bytes(rows: usize, columns: usize, count: usize) -> u64 {
        let blocks = count as u64 * rows.div_ceil(count).div_ceil(LANES) as u64;
        blocks * columns as u64 * size_of::<Lanes>() as u64 + rows as u64 * 4
    }

    /// The rows in the given order, cut into `count` leaves.
    pub(super) fn new(rows: &Matrix, order: Vec<u32>, count: usize, run: &Context) -> Leaves {
        let (columns, n) = (rows.ncols(), rows.nrows());
        let blocks = n.div_ceil(count).div_ceil(LANES);
        let mut values = vec![[0.0; LANES]; count * blocks * columns];
        let mut leaves = Leaves { columns, count, blocks, order, values: Vec::new() };
        let piece = (blocks * columns).max(1);
        run.par_fill(&mut values, piece, |first, leaf| {
            for (i, &row) in leaves.order[leaves.range(first / piece)].iter().enumerate() {
                let block = &mut leaf[i / LANES * columns..][..columns];
                for (lanes, &value) in block.iter_mut().zip(rows.row(row as usize)) {
                    lanes[i % LANES] = value;
                }
            }
        });
        leaves.values = values;
        leaves
    }

    /// Number of leaves.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.order.len()
    }

    /// Positions of a leaf.
    pub(super) fn range(&self, leaf: usize) -> Range<usize> {
        start(self.rows(), leaf, self.count)..start(self.rows(), leaf + 1, self.count)
    }

    /// Copies the row at a position of a leaf.
    pub(super) fn copy(&self, leaf: usize, place: usize, out: &mut [f64]) {
        let first = (leaf * self.blocks + place / LANES) * self.columns;
        for (value, lanes) in out.iter_mut().zip(&self.values[first..]) {
            *value = lanes[place % LANES];
        }
    }

    /// All rows in their original order.
    pub(super) fn to_matrix(&self) -> Matrix {
        let mut out = Matrix::zeros(self.rows(), self.columns);
        for leaf in 0..self.count {
            for (place, position) in self.range(leaf).enumerate() {
                self.copy(leaf, place, out.row_mut(self.order[position] as usize));
            }
        }
        out
    }

    /// Offers all rows of a leaf.
    #[inline(always)]
    pub(super) fn nearest<K: Kernel>(
        &self,
        kernel: K,
        leaf: usize,
        query: &[f64],
        best: &mut Best,
    ) {
        let rows = &self.order[self.range(leaf)];
        let values = &self.values[leaf * self.blocks * self.columns..];
        for (block, rows) in values.chunks_exact(self.columns).zip(rows.chunks(LANES)) {
            let sums = sums(kernel, block, query);
            let worst = best.worst();
            if sums.iter().fold(false, |hit, &sum| hit | (sum <= worst)) {
                for (&sum, &row) in sums.iter().zip(rows) {
                    best.offer(sum, row);
                }
            }
        }
    }

    /// Adds all rows of a leaf that lie within the radius.
    #[inline(always)]
    pub(super) fn within<K: Kernel>(
        &self,
        kernel: K,
        leaf: usize,
        query: &[f64],
        radius: f64,
        found: &mut Vec<(u32, f64)>,
    ) {
        let limit = kernel.limit(radius);
        let rows = &self.order[self.range(leaf)];
        let values = &self.values[leaf * self.blocks * self.columns..];
        for (block, rows) in values.chunks_exact(self.columns).zip(rows.chunks(LANES)) {
            let sums = sums(kernel, block, query);
            if sums.iter().fold(false, |hit, &sum| hit | (sum <= limit)) {
                for (&sum, &row) in sums.iter().zip(rows) {
                    let distance = kernel.distance(sum);
                    if distance <= radius {
                        found.push((row, distance));
                    }
                }
            }
        }
    }
}

/// The sums between a query and eight rows, or eight other points.
#[inline(always)]
pub(super) fn sums<K: Kernel>(kernel: K, block: &[Lanes], query: &[f64]) -> Lanes {
    let mut sums = [K::START; LANES];
    for (x, &y) in block.iter().zip(query) {
        for lane in 0..LANES {
            sums[lane] = kernel.add(sums[lane], x[lane], y);
        }
    }
    sums
}
