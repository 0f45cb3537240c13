//! The engine of k-means: rounds that draw the first centres, and rounds that move centres.

mod lead;
mod lloyd;
mod sample;
mod seed;

pub use lead::{Leader, Leaders};
pub use lloyd::{Cost, Sums};
pub(super) use sample::Sample;
pub use seed::{Race, SeedMemo};

pub(super) use lloyd::{farthest, total_shift};
pub(super) use sample::share;
pub(super) use seed::{draw_row, draw_rows, race};

use learnt_core::prelude::*;

/// Rows that are worked on together: few enough to stay in a core's first caches.
const CHUNK: usize = 256;

/// Calls `f` with consecutive rows, stored row by row, and the number of the first.
fn for_each_chunk(values: MatRef, mut f: impl FnMut(usize, MatRef)) {
    let mut copy = Matrix::default();
    for first in (0..values.nrows()).step_by(CHUNK) {
        let rows = values.rows(first, (first + CHUNK).min(values.nrows()));
        if rows.col_stride() == 1 {
            f(first, rows);
            continue;
        }
        if copy.nrows() != rows.nrows() {
            copy = Matrix::zeros(rows.nrows(), rows.ncols());
        }
        rows.write_rows(copy.as_mut_slice());
        f(first, copy.view());
    }
}
