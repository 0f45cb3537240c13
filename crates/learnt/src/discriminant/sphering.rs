//! From a covariance to coordinates in which it is the identity.
//!
//! Columns are scaled to unit variance first, so that units do not decide what is singular.

use learnt_core::error::plain;
use learnt_core::linalg::{Cholesky, dot, eigh};
use learnt_core::prelude::*;
use learnt_core::stop;

/// A covariance scaled to unit variances.
pub(super) struct Correlation {
    /// Standard deviations; 0 of constant columns.
    deviations: Vec<f64>,
    /// The correlations; rows and columns of constant columns are zero.
    matrix: Matrix,
}

impl Correlation {
    pub(super) fn new(covariance: &Matrix) -> Correlation {
        let p = covariance.nrows();
        let deviations: Vec<f64> = (0..p).map(|j| covariance[(j, j)].max(0.0).sqrt()).collect();
        let matrix = Matrix::from_fn(p, p, |i, j| match (i == j, deviations[i], deviations[j]) {
            (_, a, b) if a == 0.0 || b == 0.0 => 0.0,
            (true, ..) => 1.0,
            (false, a, b) => covariance[(i, j)] / a / b,
        });
        Correlation { deviations, matrix }
    }

    /// Columns of which earlier ones leave a share of at most `tol`² of the variance.
    pub(super) fn dependent(&self, tol: f64) -> Vec<usize> {
        let p = self.matrix.nrows();
        let mut lower = Matrix::zeros(p, p);
        let mut out = Vec::new();
        for j in (0..p).take_while(|_| !stop::asked()) {
            for i in 0..j {
                let pivot = lower[(i, i)];
                if pivot > 0.0 {
                    let sum = dot(&lower.row(j)[..i], &lower.row(i)[..i]);
                    lower[(j, i)] = (self.matrix[(j, i)] - sum) / pivot;
                }
            }
            let left = self.matrix[(j, j)] - dot(&lower.row(j)[..j], &lower.row(j)[..j]);
            match left > floor(tol, p) {
                true => lower[(j, j)] = left.sqrt(),
                false => {
                    out.push(j);
                    lower.row_mut(j).fill(0.0);
                }
            }
        }
        out
    }

    /// Directions (rank × n_features) on which the covariance is the identity, of singular values
    /// above `tol` in scaled columns, the largest first.
    pub(super) fn sphering(&self, tol: f64) -> Result<Matrix> {
        let p = self.matrix.nrows();
        let eigen = eigh(&self.matrix)?;
        let rank = eigen.values.iter().take_while(|&&value| value > floor(tol, p)).count();
        Ok(Matrix::from_fn(rank, p, |k, j| match self.deviations[j] {
            0.0 => 0.0,
            deviation => eigen.vectors[(j, k)] / eigen.values[k].sqrt() / deviation,
        }))
    }

    /// R (n_features × n_features) with RᵀR the inverse of the covariance, and ln det of the
    /// covariance; `None` if it is singular.
    pub(super) fn inverse_root(&self) -> Option<(Matrix, f64)> {
        if self.deviations.contains(&0.0) {
            return None;
        }
        let p = self.matrix.nrows();
        let cholesky = Cholesky::new(&self.matrix)?;
        let mut columns = Matrix::zeros(p, p);
        for j in (0..p).take_while(|_| !stop::asked()) {
            let column = columns.row_mut(j);
            column[j] = 1.0;
            cholesky.solve_lower_in_place(column);
        }
        let root = Matrix::from_fn(p, p, |i, j| columns[(j, i)] / self.deviations[j]);
        let scales: f64 = self.deviations.iter().map(|d| d.ln()).sum();
        let ln_determinant = cholesky.ln_determinant() + 2.0 * scales;
        let sane = ln_determinant.is_finite() && root.as_slice().iter().all(|x| x.is_finite());
        sane.then_some((root, ln_determinant))
    }
}

/// The share of variance that counts as none: rounding alone leaves that much.
pub(super) fn floor(tol: f64, columns: usize) -> f64 {
    (tol * tol).max(16.0 * columns as f64 * f64::EPSILON)
}

/// The first few columns, by name.
pub(super) fn listed(columns: &[usize], names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> =
        columns.iter().take(SHOWN).map(|&j| format!("'{}'", plain(&names[j]))).collect();
    if columns.len() > SHOWN {
        shown.push(format!("and {} more", columns.len() - SHOWN));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::matmul;

    fn covariance() -> Matrix {
        Matrix::from_rows(&[[4.0, 1.0e-6, 0.5], [1.0e-6, 1e-12, 0.0], [0.5, 0.0, 9.0]]).unwrap()
    }

    #[test]
    fn sphered_covariance_is_the_identity_in_any_units() {
        let covariance = covariance();
        let correlation = Correlation::new(&covariance);
        let (root, ln_determinant) = correlation.inverse_root().unwrap();
        let determinant = 4.0 * 9e-12 - 1e-12 * 9.0 - 0.25e-12;
        assert!((ln_determinant - f64::ln(determinant)).abs() < 1e-9);
        for directions in [correlation.sphering(1e-4).unwrap(), root] {
            let half = matmul(directions.view(), covariance.view());
            let product = matmul(half.view(), directions.view().transposed());
            for i in 0..3 {
                for j in 0..3 {
                    assert!((product[(i, j)] - f64::from(i == j)).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn dependent_and_constant_columns_are_found() {
        let x = Matrix::from_fn(20, 4, |i, j| {
            let (a, b) = ((i * i % 7) as f64, (i % 5) as f64);
            [a, 3.0, b, 1e6 * (a - 2.0 * b)][j]
        });
        let scatter = learnt_core::linalg::Scatter::of(&OwnedDataset::unsupervised(x).view());
        let correlation = Correlation::new(&scatter.scatter);
        assert_eq!(correlation.dependent(1e-4), [1, 3]);
        assert_eq!(correlation.sphering(1e-4).unwrap().nrows(), 2);
        assert!(correlation.inverse_root().is_none());
    }
}
