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

use learnt_core::context::piece_rows;
use learnt_core::linalg::Distances;
use learnt_core::prelude::*;

/// Rows that are worked on together: few enough to stay in a core's first caches.
const CHUNK: usize = 256;

/// The summary of a block from those of its parts, which all threads share: a table of one block takes as many rounds
/// as one of many. Parts have several rows for each centre, so that merging their sums is little beside them.
pub(super) fn by_parts<T: Merge + Send>(
    data: &Dataset,
    centres: &Matrix,
    run: &Context,
    of: impl Fn(&Dataset) -> T + Sync,
) -> Result<T> {
    const VALUES: usize = 1 << 16;
    let some = (VALUES / data.x.ncols().max(1)).clamp(64, 4096);
    let rows = some.max(4 * centres.nrows());
    let parts = run.par_ranges(data.nrows(), rows, |range| of(&data.rows(range.start, range.end)));
    let all = parts.into_iter().map(Ok).reduce(|earlier, later| earlier?.merge(later?));
    all.unwrap_or_else(|| Ok(of(data)))
}

/// The distance of each row to each centre, as a table whose columns are called `name` and the cluster.
pub(super) fn distances(centres: &Matrix, name: &str, x: &Frame, run: &Context) -> Result<Table> {
    let clusters = centres.nrows();
    let schema = Schema::numeric((0..clusters).map(|c| format!("{name}{c}")))?;
    let distances = Distances::new(centres);
    run.checkpoint()?;
    let mut out = Matrix::zeros(x.nrows(), clusters);
    let rows = piece_rows(clusters.max(x.ncols()));
    run.par_fill(out.as_mut_slice(), rows * clusters, |start, piece| {
        let (first, end) = (start / clusters, (start + piece.len()) / clusters);
        distances.of(x.values().rows(first, end), piece);
        x.noticed(first, end, piece);
        piece.iter_mut().for_each(|square| *square = square.sqrt());
    });
    run.checkpoint()?;
    Table::new(out, schema)
}

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
