//! Large products and factorisations on all threads of a run, which stop when the user asks.
//!
//! Results are cut into panels of a fixed size, and each number is computed by one thread in an
//! order that the cut alone decides: the bits are the same on any number of threads.

use super::{Cholesky, with_backend};
use crate::data::{MatRef, Matrix};
use crate::prelude::*;
use faer::linalg::matmul::matmul as backend_matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, Par};

/// Rows of a panel.
const PANEL: usize = 128;

/// A B.
pub fn matmul_in(a: MatRef, b: MatRef, run: &Context) -> Result<Matrix> {
    let (n, d) = (a.nrows(), b.ncols());
    let mut out = Matrix::zeros(n, d);
    if n == 0 || d == 0 || a.ncols() == 0 {
        return Ok(out);
    }
    with_backend(b, |b| {
        run.par_fill(out.as_mut_slice(), PANEL * d, |start, piece| {
            if run.checkpoint().is_ok() {
                let (first, rows) = (start / d, piece.len() / d);
                let piece = MatMut::from_row_major_slice_mut(piece, rows, d);
                with_backend(a.rows(first, first + rows), |a| {
                    backend_matmul(piece, Accum::Replace, a, b, 1.0, Par::Seq);
                });
            }
        });
    });
    run.checkpoint()?;
    Ok(out)
}

/// A Aᵀ: the products of rows, both triangles.
pub fn row_products_in(a: MatRef, run: &Context) -> Result<Matrix> {
    let n = a.nrows();
    let mut out = Matrix::zeros(n, n);
    if n == 0 || a.ncols() == 0 {
        return Ok(out);
    }
    with_backend(a, |a| {
        run.par_fill(out.as_mut_slice(), PANEL * n, |start, piece| {
            if run.checkpoint().is_ok() {
                let (first, rows) = (start / n, piece.len() / n);
                let last = first + rows;
                let piece = MatMut::from_row_major_slice_mut(piece, rows, n);
                let right = a.subrows(0, last).transpose();
                let left = a.subrows(first, rows);
                backend_matmul(
                    piece.subcols_mut(0, last),
                    Accum::Replace,
                    left,
                    right,
                    1.0,
                    Par::Seq,
                );
            }
        });
    });
    run.checkpoint()?;
    super::mirror_lower(&mut out);
    Ok(out)
}

impl Cholesky {
    /// Factors the matrix given by its lower triangle, panel by panel; `None` if it is not positive
    /// definite.
    pub fn new_in(mut a: Matrix, run: &Context) -> Result<Option<Cholesky>> {
        let n = a.nrows();
        if n <= 2 * PANEL {
            return Ok(Cholesky::new(&a));
        }
        for first in (0..n).step_by(PANEL) {
            run.checkpoint()?;
            let last = (first + PANEL).min(n);
            let corner =
                Matrix::from_fn(last - first, last - first, |i, j| a[(first + i, first + j)]);
            let Some(corner) = Cholesky::new(&corner) else { return Ok(None) };
            for i in first..last {
                a.row_mut(i)[first..last].copy_from_slice(corner.lower.row(i - first));
                a.row_mut(i)[last..].fill(0.0);
            }
            if last < n {
                let below = solve_below(&mut a, first, last, &corner.lower, run);
                subtract_products(&mut a, last, &below, run);
            }
        }
        run.checkpoint()?;
        match a.as_slice().iter().all(|x| x.is_finite()) {
            true => Ok(Some(Cholesky { lower: a })),
            false => Ok(None),
        }
    }
}

/// The rows below a corner times the corner's inverse transpose, in place and as a copy.
fn solve_below(
    a: &mut Matrix,
    first: usize,
    last: usize,
    corner: &Matrix,
    run: &Context,
) -> Matrix {
    let (n, width) = (a.nrows(), last - first);
    let mut below = Matrix::from_fn(n - last, width, |i, j| a[(last + i, first + j)]);
    with_backend(corner.view(), |corner| {
        run.par_fill(below.as_mut_slice(), PANEL * width, |_, piece| {
            let rows = piece.len() / width;
            let piece = MatMut::from_row_major_slice_mut(piece, rows, width);
            solve_lower_triangular_in_place(corner, piece.transpose_mut(), Par::Seq);
        });
    });
    for (i, row) in below.rows().enumerate() {
        a.row_mut(last + i)[first..last].copy_from_slice(row);
    }
    below
}

/// Subtracts B Bᵀ from the lower triangle of the rows and columns from `last` on.
fn subtract_products(a: &mut Matrix, last: usize, below: &Matrix, run: &Context) {
    let n = a.nrows();
    let rest = &mut a.as_mut_slice()[last * n..];
    with_backend(below.view(), |below| {
        run.par_fill(rest, PANEL * n, |start, piece| {
            let (first, rows) = (start / n, piece.len() / n);
            let piece = MatMut::from_row_major_slice_mut(piece, rows, n);
            let piece = piece.subcols_mut(last, first + rows);
            let left = below.subrows(first, rows);
            let right = below.subrows(0, first + rows).transpose();
            backend_matmul(piece, Accum::Add, left, right, -1.0, Par::Seq);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{gram, matmul};

    fn sample(n: usize, d: usize) -> Matrix {
        Matrix::from_fn(n, d, |i, j| ((i * 7919 + j * 104_729 + i * j) % 97) as f64 / 48.0 - 1.0)
    }

    fn close(a: &Matrix, b: &Matrix) {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() <= 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn products_equal_those_of_one_thread_for_every_shape() {
        let run = Context::default().with_threads(3);
        for (n, d, k) in [(1, 1, 1), (5, 300, 7), (128, 3, 128), (300, 40, 129)] {
            let (a, b) = (sample(n, d), sample(d, k));
            close(&matmul_in(a.view(), b.view(), &run).unwrap(), &matmul(a.view(), b.view()));
            let products = row_products_in(a.view(), &run).unwrap();
            close(&products, &gram(a.view().transposed()));
        }
    }

    #[test]
    fn panels_factor_a_matrix_with_the_same_bits_on_any_number_of_threads() {
        let a = sample(600, 900);
        let mut products = gram(a.view().transposed());
        (0..600).for_each(|i| products[(i, i)] += 1.0);
        let factors = [1, 2, 3].map(|threads| {
            let run = Context::default().with_threads(threads);
            Cholesky::new_in(products.clone(), &run).unwrap().unwrap().lower
        });
        assert!(factors[0] == factors[1] && factors[1] == factors[2]);
        let back = matmul(factors[0].view(), factors[0].view().transposed());
        for (x, y) in back.as_slice().iter().zip(products.as_slice()) {
            assert!((x - y).abs() <= 1e-8, "{x} {y}");
        }
        products[(400, 400)] = -1.0;
        assert!(Cholesky::new_in(products, &Context::default()).unwrap().is_none());
    }

    #[test]
    fn a_factorisation_stops_when_asked() {
        struct Never;
        impl crate::context::Observer for Never {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let run = Context::default().observed_by(&Never);
        let identity = Matrix::from_fn(400, 400, |i, j| f64::from(i == j));
        assert_eq!(Cholesky::new_in(identity, &run).unwrap_err().code(), Code::Cancelled);
    }
}
