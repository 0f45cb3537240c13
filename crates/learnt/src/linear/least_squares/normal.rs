//! The normal equations, made from moments, scaled to a unit diagonal and factored.

use super::LeastSquares;
use super::moments::Moments;
use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;
use learnt_core::stop;

/// (XᵀX) B = XᵀY on the columns that vary. A penalised intercept is a last column of ones.
pub(super) struct System {
    /// The input columns in it; `d` stands for the column of ones.
    pub(super) columns: Vec<usize>,
    /// XᵀX without penalty.
    pub(super) gram: Matrix,
    /// YᵀX, (n_outputs × columns).
    pub(super) right: Matrix,
    /// YᵀY.
    pub(super) total: Matrix,
}

impl System {
    pub(super) fn new(moments: &Moments, problem: &LeastSquares, outputs: usize) -> System {
        let d = moments.mean.len() - outputs;
        let ones = problem.penalizes_intercept();
        let shift = if ones { moments.weight } else { 0.0 };
        // Scatter about the mean and the mean's own part give sums about the origin.
        let product = |i: usize, j: usize| {
            moments.scatter[(i, j)] + shift * moments.mean[i] * moments.mean[j]
        };
        let with_ones = |i: usize, j: usize| match (i == d, j == d) {
            (false, false) => product(i, j),
            (true, true) => moments.weight,
            (true, false) => moments.weight * moments.mean[j],
            (false, true) => moments.weight * moments.mean[i],
        };
        let columns: Vec<usize> =
            (0..d + usize::from(ones)).filter(|&j| with_ones(j, j) > 0.0).collect();
        let p = columns.len();
        System {
            gram: Matrix::from_fn(p, p, |i, j| with_ones(columns[i], columns[j])),
            right: Matrix::from_fn(outputs, p, |t, j| match columns[j] == d {
                true => moments.weight * moments.mean[d + t],
                false => product(d + t, columns[j]),
            }),
            total: Matrix::from_fn(outputs, outputs, |t, s| product(d + t, d + s)),
            columns,
        }
    }

    /// XᵀX + alpha I, scaled to a unit diagonal, with the scale: a_ij / (s_i s_j).
    pub(super) fn scaled(&self, alpha: f64) -> (Matrix, Vec<f64>) {
        let p = self.columns.len();
        let scale: Vec<f64> = (0..p).map(|j| (self.gram[(j, j)] + alpha).sqrt()).collect();
        let matrix = Matrix::from_fn(p, p, |i, j| match i == j {
            true => 1.0,
            false => self.gram[(i, j)] / (scale[i] * scale[j]),
        });
        (matrix, scale)
    }

    /// Yᵀ Y - YᵀX B, at the solution B (n_outputs × columns) of the unpenalised equations.
    pub(super) fn residual(&self, coef: &Matrix) -> Matrix {
        let k = coef.nrows();
        Matrix::from_fn(k, k, |t, s| self.total[(t, s)] - dot(self.right.row(t), coef.row(s)))
    }
}

/// Cholesky factor of the scaled matrix.
pub(super) struct Factor {
    cholesky: Cholesky,
    scale: Vec<f64>,
    /// Estimated condition of the scaled matrix, in the 1-norm.
    pub(super) condition: f64,
}

impl Factor {
    /// `None` if the matrix is not positive definite.
    pub(super) fn new(system: &System, alpha: f64) -> Option<Factor> {
        let (matrix, scale) = system.scaled(alpha);
        let cholesky = Cholesky::new(&matrix).filter(|_| !stop::asked())?;
        let norm = matrix.rows().map(one_norm).fold(0.0, f64::max);
        let condition = norm * inverse_norm(&cholesky, scale.len());
        condition.is_finite().then_some(Factor { cholesky, scale, condition })
    }

    /// The solution for one right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = right.iter().zip(&self.scale).map(|(r, s)| r / s).collect();
        self.cholesky.solve_in_place(&mut out);
        out.iter_mut().zip(&self.scale).for_each(|(b, s)| *b /= s);
        out
    }

    /// M with M Mᵀ the inverse of the matrix.
    pub(super) fn inverse_root(&self) -> Matrix {
        let p = self.scale.len();
        let mut out = Matrix::zeros(p, p);
        for j in 0..p {
            // Row j of M is column j of L⁻¹ over the scale.
            let row = out.row_mut(j);
            row[j] = 1.0 / self.scale[j];
            self.cholesky.solve_lower_in_place(row);
        }
        out
    }

    /// Lᵀ in the units of the data: the triangle whose square is the matrix.
    pub(super) fn triangle(&self) -> Matrix {
        let p = self.scale.len();
        Matrix::from_fn(p, p, |i, j| match j >= i {
            true => self.cholesky.lower[(j, i)] * self.scale[j],
            false => 0.0,
        })
    }
}

fn one_norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

/// Estimate of ‖A⁻¹‖₁ from a few solves (Hager 1984, SIAM J. Sci. Stat. Comput. 5, 311-316), with one more for
/// a vector of changing signs and sizes: where two columns are nearly alike the first one misses their
/// difference (Higham 1988, ACM Transactions on Mathematical Software 14, 381-396).
fn inverse_norm(factor: &Cholesky, p: usize) -> f64 {
    const STEPS: usize = 5;
    let size = |i: usize| 1.0 + i as f64 / (p.max(2) - 1) as f64;
    let mut uneven: Vec<f64> =
        (0..p).map(|i| if i % 2 == 0 { size(i) } else { -size(i) }).collect();
    factor.solve_in_place(&mut uneven);
    let mut estimate = 2.0 * one_norm(&uneven) / (3.0 * p.max(1) as f64);
    let mut x = vec![1.0 / p as f64; p];
    for _ in (0..STEPS).take_while(|_| !stop::asked()) {
        let mut y = x.clone();
        factor.solve_in_place(&mut y);
        estimate = estimate.max(one_norm(&y));
        let mut z: Vec<f64> = y.iter().map(|y| 1.0_f64.copysign(*y)).collect();
        factor.solve_in_place(&mut z);
        let steepest = (0..p).fold(0, |best, j| if z[j].abs() > z[best].abs() { j } else { best });
        if z.get(steepest).is_none_or(|slope| slope.abs() <= dot(&z, &x)) {
            break;
        }
        x.fill(0.0);
        x[steepest] = 1.0;
    }
    estimate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_columns_that_are_nearly_alike_is_in_the_estimate() {
        for gap in [1e-6, 1e-9, 1e-12] {
            let correlation = 1.0 - gap;
            let matrix = Matrix::from_fn(4, 4, |i, j| match (i.min(j), i.max(j)) {
                (i, j) if i == j => 1.0,
                (0, 3) => correlation,
                _ => 0.0,
            });
            let factor = Cholesky::new(&matrix).unwrap();
            let estimate = inverse_norm(&factor, 4);
            assert!(estimate > 0.1 / gap && estimate < 10.0 / gap, "{gap}: {estimate}");
        }
    }
}
