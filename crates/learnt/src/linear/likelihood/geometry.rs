//! Shapes of the problem: the whole Hessian, the coordinates of the metric, separating columns.

use learnt_core::linalg::{solve_lower, solve_lower_transposed};
use learnt_core::prelude::*;

/// The Hessian (lower triangle) from its blocks.
pub(crate) fn assemble(blocks: &Matrix, others: usize, columns: usize) -> Matrix {
    let mut out = Matrix::zeros(others * columns, others * columns);
    for k in 0..others {
        for l in 0..=k {
            let block = (k * (k + 1) / 2 + l) * columns;
            for i in 0..columns {
                let end = if k == l { i + 1 } else { columns };
                let row = &blocks.row(block + i)[..end];
                out.row_mut(k * columns + i)[l * columns..l * columns + end].copy_from_slice(row);
            }
        }
    }
    out
}

/// The square root I + c 11' of I + 11' applied to the rows; the identity for two classes.
pub(crate) fn mix_classes(rows: &mut Matrix) {
    let others = rows.nrows();
    if others == 1 {
        return;
    }
    let m = others as f64;
    let c = ((1.0 + m).sqrt() - 1.0) / m;
    for j in 0..rows.ncols() {
        let sum: f64 = (0..others).map(|k| rows[(k, j)]).sum();
        (0..others).for_each(|k| rows[(k, j)] += c * sum);
    }
}

/// g -> L⁻¹ g.
pub(crate) fn into_metric(factor: &Matrix, gradient: &mut [f64]) {
    match factor.nrows() == gradient.len() {
        true => solve_lower(factor, gradient),
        false => gradient.iter_mut().zip(factor.row(0)).for_each(|(g, root)| *g /= root),
    }
}

/// v -> L⁻ᵀ v.
pub(crate) fn from_metric(factor: &Matrix, point: &mut [f64]) {
    match factor.nrows() == point.len() {
        true => solve_lower_transposed(factor, point),
        false => point.iter_mut().zip(factor.row(0)).for_each(|(v, root)| *v /= root),
    }
}

/// v' A v for the lower triangle of A.
pub(crate) fn quadratic_form(a: &Matrix, v: &[f64]) -> f64 {
    let term = |i: usize| {
        let before: f64 = (0..i).map(|j| a[(i, j)] * v[j]).sum();
        v[i] * (2.0 * before + a[(i, i)] * v[i])
    };
    (0..v.len()).map(term).sum()
}

/// The first column with a threshold that has one class on one side and all others on the other.
/// Without intercept the threshold must be 0.
pub(crate) fn separating_column(lows: &Matrix, highs: &Matrix, intercept: bool) -> Option<usize> {
    let classes = lows.nrows();
    let extreme = |rows: &Matrix, j: usize, skip: usize, pick: fn(f64, f64) -> f64, start: f64| {
        (0..classes).filter(|&k| k != skip).map(|k| rows[(k, j)]).fold(start, pick)
    };
    let parts = |below: (f64, f64), above: (f64, f64)| {
        let apart = below.1 <= above.0 && below.0 < above.1;
        let empty = below.0 > below.1 || above.0 > above.1;
        apart && !empty && (intercept || (below.1 <= 0.0 && above.0 >= 0.0))
    };
    (0..lows.ncols()).find(|&j| {
        (0..classes).any(|k| {
            let own = (lows[(k, j)], highs[(k, j)]);
            let rest = (
                extreme(lows, j, k, f64::min, f64::INFINITY),
                extreme(highs, j, k, f64::max, f64::NEG_INFINITY),
            );
            parts(own, rest) || parts(rest, own)
        })
    })
}
