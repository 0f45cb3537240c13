//! Dense linear algebra. The only place that names the backend (faer), always on one thread:
//! parallel factorisations would make bits depend on the number of threads.
//!
//! Ranks are decided by `max(n, d) * eps * s1`. Nothing here forms an inverse unless asked for one.

mod column_moments;
mod column_products;
pub(crate) mod column_sums;
mod factor;
mod kernel;
mod linear_predict;
mod lines;
mod nearest;
mod pages;
mod parallel;
mod points;
mod prefetch;
mod rank_update;
mod scatter;
pub mod vector_math;

pub use column_moments::ColumnMoments;
pub use column_products::ColumnProducts;
pub use factor::{
    Cholesky, Eigen, PivotedQr, Svd, eigh, singular_values, solve_lower, solve_lower_transposed,
    svd, triangle_of,
};
#[doc(hidden)]
pub use kernel::limit_lanes;
pub use kernel::{Kernel, Loop, run};
pub use linear_predict::linear_predict;
pub use lines::Lines;
pub use nearest::Nearest;
pub use pages::Pages;
pub use parallel::{matmul_in, row_products_in};
pub use points::{Distances, Projection};
pub use prefetch::{prefetch, prefetch_rows, rows_ahead};
pub use rank_update::RankUpdate;
pub use scatter::{Scatter, Triangle};

use crate::data::{MatRef, Matrix};
use crate::stop;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Par};

/// The backend's view of ours, if the memory order allows one without a copy.
fn borrowed<'a>(a: MatRef<'a>) -> Option<faer::MatRef<'a, f64>> {
    let (n, d) = (a.nrows(), a.ncols());
    if n == 0 || d == 0 {
        return None;
    }
    if a.col_stride() == 1 && a.row_stride() >= d {
        return Some(faer::MatRef::from_row_major_slice_with_stride(
            a.memory(),
            n,
            d,
            a.row_stride(),
        ));
    }
    if a.row_stride() == 1 && a.col_stride() >= n {
        return Some(faer::MatRef::from_column_major_slice_with_stride(
            a.memory(),
            n,
            d,
            a.col_stride(),
        ));
    }
    None
}

/// Calls `f` with the backend's view, of a copy where the strides are unusual.
fn with_backend<T>(a: MatRef, f: impl FnOnce(faer::MatRef<f64>) -> T) -> T {
    match borrowed(a) {
        Some(view) => f(view),
        None => {
            let copy = a.to_matrix();
            f(faer::MatRef::from_row_major_slice(copy.as_slice(), a.nrows(), a.ncols()))
        }
    }
}

/// The same for a call of about so many operations, which nothing interrupts: `None` if this thread was asked to
/// stop meanwhile ([`crate::stop`]).
fn with_backend_apart<T: Send + 'static>(
    a: MatRef,
    operations: f64,
    f: impl FnOnce(faer::MatRef<f64>) -> T + Send + 'static,
) -> Option<T> {
    if !stop::runs_apart(operations) {
        return Some(with_backend(a, f));
    }
    if stop::asked() {
        return None;
    }
    // The bits may depend on the order in memory, so a copy has the same.
    let by_columns = a.row_stride() == 1 && a.col_stride() != 1;
    let copy = if by_columns { a.transposed().to_matrix() } else { a.to_matrix() };
    stop::apart(operations, move || {
        let view = if by_columns { copy.view().transposed() } else { copy.view() };
        with_backend(view, f)
    })
}

fn to_matrix(a: faer::MatRef<f64>) -> Matrix {
    Matrix::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)])
}

/// A B.
pub fn matmul(a: MatRef, b: MatRef) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    matmul_into(out.as_mut_slice(), false, 1.0, a, b);
    out
}

/// Multiplications of one call of the backend, which nothing interrupts; larger products are cut into panels.
/// The cut depends on the shapes alone, so that bits do not depend on who may stop.
const PANEL_OPERATIONS: usize = 1 << 28;
/// The least rows of a panel: fewer waste the backend's packing.
const LEAST_PANEL: usize = 8;

/// Rows of the panels of a product that takes so many multiplications a row.
fn panel_rows(a_row: usize) -> usize {
    (PANEL_OPERATIONS / a_row.max(1)).max(LEAST_PANEL)
}

/// out = alpha A B, or out += alpha A B; `out` is row by row. A caller that was asked to stop meanwhile finds
/// some of its rows as they were.
pub fn matmul_into(out: &mut [f64], accumulate: bool, alpha: f64, a: MatRef, b: MatRef) {
    let (n, d) = (a.nrows(), b.ncols());
    debug_assert_eq!(a.ncols(), b.nrows());
    debug_assert_eq!(out.len(), n * d);
    if n == 0 || d == 0 {
        return;
    }
    if a.ncols() == 0 {
        if !accumulate {
            out.fill(0.0);
        }
        return;
    }
    let rows = panel_rows(a.ncols().saturating_mul(d));
    let accum = if accumulate { Accum::Add } else { Accum::Replace };
    with_backend(b, |b| {
        with_backend(a, |a| {
            for (k, out) in out.chunks_mut(rows * d).enumerate() {
                if k > 0 && stop::asked() {
                    return;
                }
                let height = out.len() / d;
                let out = faer::MatMut::from_row_major_slice_mut(out, height, d);
                let part = a.subrows(k * rows, height);
                faer::linalg::matmul::matmul(out, accum, part, b, alpha, Par::Seq);
            }
        });
    });
}

/// Adds Aᵀ A to the lower triangle of `out` (d × d, row by row). Finish with [`mirror_lower`]. Stops as
/// [`matmul_into`] does.
pub fn add_gram(out: &mut [f64], a: MatRef) {
    let d = a.ncols();
    debug_assert_eq!(out.len(), d * d);
    if a.nrows() == 0 || d == 0 {
        return;
    }
    let rows = panel_rows(a.nrows().saturating_mul(d));
    with_backend(a, |a| {
        for (k, out) in out.chunks_mut(rows * d).enumerate() {
            if k > 0 && stop::asked() {
                return;
            }
            let (first, height) = (k * rows, out.len() / d);
            let out = faer::MatMut::from_row_major_slice_mut(out, height, d);
            let (left, corner) = out.subcols_mut(0, first + height).split_at_col_mut(first);
            let part = a.subcols(first, height);
            if first > 0 {
                let before = a.subcols(0, first);
                let accum = Accum::Add;
                faer::linalg::matmul::matmul(left, accum, part.transpose(), before, 1.0, Par::Seq);
            }
            triangular::matmul(
                corner,
                BlockStructure::TriangularLower,
                Accum::Add,
                part.transpose(),
                BlockStructure::Rectangular,
                part,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
    });
}

/// Copies the lower triangle of a square matrix to the upper one.
pub fn mirror_lower(a: &mut Matrix) {
    // Tile by tile: whole columns would miss the cache at every step.
    const TILE: usize = 32;
    let n = a.nrows();
    for (top, left) in (0..n).step_by(TILE).flat_map(|i| (0..=i).step_by(TILE).map(move |j| (i, j)))
    {
        for i in top..(top + TILE).min(n) {
            for j in left..(left + TILE).min(i) {
                a[(j, i)] = a[(i, j)];
            }
        }
    }
}

/// Aᵀ A.
pub fn gram(a: MatRef) -> Matrix {
    let mut out = Matrix::zeros(a.ncols(), a.ncols());
    add_gram(out.as_mut_slice(), a);
    mirror_lower(&mut out);
    out
}

/// A x.
pub fn matvec(a: MatRef, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.nrows()];
    if a.col_stride() == 1 {
        crate::vectorized!(for (i, out) in out.iter_mut().enumerate() {
            if let Some(row) = a.row_slice(i) {
                *out = dot(row, x);
            }
        });
        return out;
    }
    for (j, &factor) in x.iter().enumerate() {
        match a.column_slice(j) {
            Some(column) => crate::vectorized!(add_scaled(&mut out, factor, column)),
            None => (0..a.nrows()).for_each(|i| out[i] += factor * a.at(i, j)),
        }
    }
    out
}

/// x · y, in eight interleaved sums: a fixed order that the compiler can run in vectors.
#[inline(always)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x8, x_rest) = x.as_chunks::<8>();
    let (y8, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in x8.iter().zip(y8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    lane_sum(sums) + rest
}

/// The sum of eight interleaved sums. They go through memory once: where the compiler sees lanes added
/// up, it halves the vectors of the loop that fills them.
#[inline(always)]
pub fn lane_sum(sums: [f64; 8]) -> f64 {
    let s = std::hint::black_box(sums);
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// y += a x.
#[inline(always)]
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Σ (x - y)², in eight interleaved sums.
#[inline(always)]
pub fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let (x8, x_rest) = x.as_chunks::<8>();
    let (y8, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in x8.iter().zip(y8) {
        for k in 0..8 {
            let difference = a[k] - b[k];
            sums[k] += difference * difference;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    lane_sum(sums) + rest
}

/// Length of a vector, without overflow.
pub fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let scaled: f64 = x.iter().map(|v| (v / largest) * (v / largest)).sum();
    largest * scaled.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, d: usize) -> Matrix {
        Matrix::from_fn(n, d, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0 + 0.1 * j as f64)
    }

    #[test]
    fn products_agree_with_sums_in_every_memory_order() {
        let (a, b) = (sample(5, 3), sample(3, 4));
        let expected = Matrix::from_fn(5, 4, |i, j| (0..3).map(|k| a[(i, k)] * b[(k, j)]).sum());
        let by_column = a.transposed();
        for left in [a.view(), by_column.view().transposed()] {
            let product = matmul(left, b.view());
            for (x, y) in product.as_slice().iter().zip(expected.as_slice()) {
                assert!((x - y).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_gram_matrix_is_symmetric_and_right() {
        let a = sample(20, 4);
        let expected = matmul(a.view().transposed(), a.view());
        let got = gram(a.view());
        for (x, y) in got.as_slice().iter().zip(expected.as_slice()) {
            assert!((x - y).abs() < 1e-10);
        }
        assert_eq!(got, got.transposed());
    }

    /// Large enough for three panels, of which the last is short.
    #[test]
    fn products_in_panels_are_those_of_single_rows() {
        let (n, d) = (2 * panel_rows(1024 * 1024) + 7, 1024);
        let (a, b) = (sample(n, 1024), sample(1024, d));
        let product = matmul(a.view(), b.view());
        for i in [0, 1, 255, 256, n / 2, n - 8, n - 1] {
            let alone = matmul(a.view().rows(i, i + 1), b.view());
            for (x, y) in product.row(i).iter().zip(alone.row(0)) {
                assert!((x - y).abs() < 1e-6, "row {i}: {x} {y}");
            }
        }
        let wide = sample(300, 1100);
        assert!(wide.ncols() > panel_rows(300 * wide.ncols()));
        let got = gram(wide.view());
        for i in (0..wide.ncols()).step_by(97) {
            let column = Matrix::column_vector(wide.column(i));
            let row = matmul(column.view().transposed(), wide.view());
            for (j, (x, y)) in got.row(i).iter().zip(row.row(0)).enumerate() {
                assert!((x - y).abs() < 1e-6, "{i} {j}: {x} {y}");
            }
        }
    }

    #[test]
    fn a_product_stops_between_panels_when_asked() {
        let (a, b) = (sample(600, 1024), sample(1024, 1024));
        let flag = stop::Flag::new(std::sync::atomic::AtomicBool::new(true));
        let product = stop::within(&flag, || matmul(a.view(), b.view()));
        let rows = panel_rows(1024 * 1024);
        assert!(product.row(rows - 1).iter().any(|&x| x != 0.0));
        assert!(product.row(rows).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn the_norm_does_not_overflow() {
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
    }
}
