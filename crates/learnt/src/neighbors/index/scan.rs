//! Brute force in the metric's own arithmetic: every query against every row.
//!
//! A block of queries stays in registers and first-level memory while blocks of rows pass by.

use super::best::Best;
use super::leaves::Leaves;
use super::metric::Kernel;
use learnt_core::prelude::*;
use learnt_core::stop;

/// Numbers of a block of rows that stay in first-level memory.
const BLOCK_NUMBERS: usize = 1536;

/// Number of blocks for a table of this size.
pub(super) fn block_count(rows: usize, columns: usize) -> usize {
    rows.div_ceil((BLOCK_NUMBERS / columns.max(1)).max(8))
}

/// The rows in blocks.
pub(super) fn blocks(rows: &Matrix, run: &Context) -> Leaves {
    let order = (0..rows.nrows() as u32).collect();
    Leaves::new(rows, order, block_count(rows.nrows(), rows.ncols()).max(1), run)
}

/// The nearest rows of each query.
#[inline(always)]
pub(super) fn nearest<K: Kernel>(kernel: K, rows: &Leaves, queries: &Matrix, best: &mut [Best]) {
    for block in (0..rows.count()).take_while(|_| !stop::asked()) {
        for (query, best) in queries.rows().zip(best.iter_mut()) {
            rows.nearest(kernel, block, query, best);
        }
    }
}

/// All rows within the radius of each query.
#[inline(always)]
pub(super) fn within<K: Kernel>(
    kernel: K,
    rows: &Leaves,
    queries: &Matrix,
    radius: f64,
    found: &mut [Vec<(u32, f64)>],
) {
    for block in (0..rows.count()).take_while(|_| !stop::asked()) {
        for (query, found) in queries.rows().zip(found.iter_mut()) {
            rows.within(kernel, block, query, radius, found);
        }
    }
}
