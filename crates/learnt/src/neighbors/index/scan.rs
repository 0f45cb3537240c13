//! Brute force in the metric's own arithmetic: every query against every row.
//!
//! A block of queries stays in registers and first-level memory while blocks of rows pass by. For a few queries the
//! rows are read as they came.

use super::best::Best;
use super::leaves::{LANES, Lanes, Leaves, sums};
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
    for block in (0..rows.count()).take_while(|_| !stop::asked_in_passing()) {
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
    for block in (0..rows.count()).take_while(|_| !stop::asked_in_passing()) {
        for (query, found) in queries.rows().zip(found.iter_mut()) {
            rows.within(kernel, block, query, radius, found);
        }
    }
}

/// The nearest rows of a few queries, of rows as they came.
#[inline(always)]
pub(super) fn nearest_of_few<K: Kernel>(
    kernel: K,
    rows: &Matrix,
    queries: &Matrix,
    best: &mut [Best],
) {
    let worst = |best: &Best| best.worst();
    each_row(kernel, rows, queries, best, worst, |best, row, sum| best.offer(sum, row));
}

/// All rows within the radius of a few queries, of rows as they came.
#[inline(always)]
pub(super) fn within_of_few<K: Kernel>(
    kernel: K,
    rows: &Matrix,
    queries: &Matrix,
    radius: f64,
    found: &mut [Vec<(u32, f64)>],
) {
    let limit = kernel.limit(radius);
    each_row(
        kernel,
        rows,
        queries,
        found,
        |_| limit,
        |found, row, sum| {
            let distance = kernel.distance(sum);
            if distance <= radius {
                found.push((row, distance));
            }
        },
    );
}

/// Calls `visit` with each row, ascending, whose sum is not above the `limit` of a query. Eight queries lie side by
/// side, so that nothing of the rows needs to be turned.
#[inline(always)]
fn each_row<K: Kernel, S>(
    kernel: K,
    rows: &Matrix,
    queries: &Matrix,
    state: &mut [S],
    limit: impl Fn(&S) -> f64,
    mut visit: impl FnMut(&mut S, u32, f64),
) {
    const ROWS_BETWEEN_LOOKS: usize = 4096;
    for (group, state) in state.chunks_mut(LANES).enumerate() {
        let mut side_by_side: Vec<Lanes> = vec![[0.0; LANES]; queries.ncols()];
        let mut limits = [f64::NEG_INFINITY; LANES];
        for (lane, state) in state.iter().enumerate() {
            limits[lane] = limit(state);
            let query = queries.row(group * LANES + lane);
            side_by_side.iter_mut().zip(query).for_each(|(out, &x)| out[lane] = x);
        }
        for (i, row) in rows.rows().enumerate() {
            if i % ROWS_BETWEEN_LOOKS == 0 && stop::asked() {
                return;
            }
            let sums = sums(kernel, &side_by_side, row);
            if !sums.iter().zip(&limits).fold(false, |hit, (sum, limit)| hit | (sum <= limit)) {
                continue;
            }
            for (lane, state) in state.iter_mut().enumerate() {
                if sums[lane] <= limits[lane] {
                    visit(state, i as u32, sums[lane]);
                    limits[lane] = limit(state);
                }
            }
        }
    }
}
