//! Columns by their own line: x ↦ (x - shift) / scale, and its inverse. What the scalers share.

use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Applies `f(x, a, b)` to every value, with the numbers `a` and `b` of its column; missing values stay missing.
/// Infinities are looked for on the way.
pub(super) fn map_columns(
    x: &Frame,
    [a, b]: [&[f64]; 2],
    run: &Context,
    f: impl Fn(f64, f64, f64) -> f64 + Sync + Copy,
) -> Result<Table> {
    /// Rows whose numbers lie side by side: so many that vectors are full, if rows are short.
    const TOGETHER: usize = 16;
    let width = a.len();
    check_width(x, width)?;
    let mut out = Matrix::zeros(x.nrows(), width);
    let rows = 1 + 65_536 / width.max(1);
    let in_cache = 1 + 2048 / width.max(1);
    let together = in_cache.min(TOGETHER);
    let (a, b) = (a.repeat(together), b.repeat(together));
    run.par_fill(out.as_mut_slice(), rows * width, |start, piece| {
        for (c, piece) in piece.chunks_mut(in_cache * width).enumerate() {
            let first = start / width + c * in_cache;
            let end = first + piece.len() / width;
            x.values().rows(first, end).write_rows(piece);
            x.noticed(first, end, piece);
            vectorized!({
                // A copy: what it holds is read once, not after every value that is written.
                let own = f;
                for values in piece.chunks_mut(a.len()) {
                    for ((value, &a), &b) in values.iter_mut().zip(&a).zip(&b) {
                        *value = own(*value, a, b);
                    }
                }
            });
        }
    });
    Table::new(out, x.schema().clone())
}

/// A number within limits; what is missing stays missing.
#[inline(always)]
pub(super) fn limited(value: f64, (low, high): (f64, f64)) -> f64 {
    let value = if value < low { low } else { value };
    if value > high { high } else { value }
}

/// What is known of earlier rows, with more rows.
pub(super) fn with_more(
    before: Option<ColumnMoments>,
    data: &Dataset,
    run: &Context,
) -> Result<ColumnMoments> {
    let size = rounds::block_rows(data.x.ncols());
    let parts = run.par_ranges(data.nrows(), size, |range| {
        ColumnMoments::of(&data.rows(range.start, range.end))
    });
    let all = before.into_iter().chain(parts).map(Ok).reduce(|all, part| all?.merge(part?));
    all.unwrap_or_else(|| Err(Error::internal("no rows to learn from")))
}

/// Weights of known values; files of earlier versions have them of no column, and rows in their place.
pub(super) fn known_weights(kept: &[f64], rows: u64, width: usize) -> Vec<f64> {
    if kept.is_empty() { vec![rows as f64; width] } else { kept.to_vec() }
}

/// Refuses rows of another width than the model was fitted on.
pub(super) fn check_width(x: &Frame, width: usize) -> Result<()> {
    match x.ncols() == width {
        true => Ok(()),
        false => Err(Error::shape(
            "x",
            format!("{width} columns as in training"),
            format!("{} columns", x.ncols()),
        )),
    }
}

/// The error for a column whose numbers are too large to square or subtract.
pub(super) fn too_large(schema: &Schema, j: usize) -> Error {
    let name = learnt_core::error::plain(&schema.column(j).name);
    Error::numeric(format!("column '{name}' overflows: its values are too large to scale"))
        .column(name)
        .hint("divide the column by a large constant first")
}
