//! Ridge solutions for any number of penalties from one decomposition: G = V diag(λ) Vᵀ, and with
//! q = Vᵀc, b(a) = V q / (λ + a), mean r² = total - Σ q² (λ + 2a)/(λ + a)², df = Σ λ / (λ + a).

use super::problem::{Gram, Problem};
use learnt_core::linalg::{dot, eigh, matvec, svd};
use learnt_core::prelude::*;

/// Eigenvalues above rounding, their vectors, and the right-hand sides along these.
pub(super) struct Spectrum {
    /// λ, largest first.
    pub(super) values: Vec<f64>,
    /// A row for each eigenvalue.
    pub(super) vectors: Matrix,
    /// q of each output.
    pub(super) along: Vec<Vec<f64>>,
}

impl Spectrum {
    pub(super) fn of(problem: &Problem) -> Result<Spectrum> {
        match &problem.gram {
            Gram::Whole(gram) => Self::of_matrix(gram, &problem.right),
            Gram::Columns(columns) => {
                let svd = svd(columns.values.view())?;
                let values = svd.s.iter().map(|s| s * s).collect();
                Ok(Self::cut(values, svd.u.transposed(), &problem.right))
            }
        }
    }

    pub(super) fn of_matrix(gram: &Matrix, right: &[Vec<f64>]) -> Result<Spectrum> {
        let eigen = eigh(gram)?;
        Ok(Self::cut(eigen.values, eigen.vectors.transposed(), right))
    }

    fn cut(values: Vec<f64>, vectors: Matrix, right: &[Vec<f64>]) -> Spectrum {
        let largest = values.first().copied().unwrap_or_default();
        let least = largest * vectors.ncols().max(values.len()) as f64 * f64::EPSILON;
        let kept = values.iter().take_while(|&&value| value > least).count();
        let vectors = vectors.view().rows(0, kept).to_matrix();
        let along = right.iter().map(|c| matvec(vectors.view(), c)).collect();
        Spectrum { values: values[..kept].to_vec(), vectors, along }
    }

    /// b(a) of an output.
    pub(super) fn coef(&self, t: usize, a: f64) -> Vec<f64> {
        let shrunk: Vec<f64> =
            self.along[t].iter().zip(&self.values).map(|(q, value)| q / (value + a)).collect();
        matvec(self.vectors.view().transposed(), &shrunk)
    }

    /// ‖b(a)‖².
    pub(super) fn squared_norm(&self, t: usize, a: f64) -> f64 {
        self.along[t].iter().zip(&self.values).map(|(q, value)| (q / (value + a)).powi(2)).sum()
    }

    /// What the fit takes from the mean of squares.
    pub(super) fn explained(&self, t: usize, a: f64) -> f64 {
        let part = |(q, value): (&f64, &f64)| q * q * (value + 2.0 * a) / (value + a).powi(2);
        self.along[t].iter().zip(&self.values).map(part).sum()
    }

    /// Degrees of freedom without the intercept's.
    pub(super) fn freedom(&self, a: f64) -> f64 {
        self.values.iter().map(|value| value / (value + a)).sum()
    }

    /// The least a at or above zero with ‖b(a)‖² <= bound, by bisection.
    pub(super) fn penalty_for(&self, t: usize, bound: f64) -> f64 {
        if self.squared_norm(t, 0.0) <= bound {
            return 0.0;
        }
        let largest = dot(&self.along[t], &self.along[t]).sqrt() / bound.sqrt();
        let (mut low, mut high) = (0.0, largest);
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return high;
            }
            match self.squared_norm(t, middle) > bound {
                true => low = middle,
                false => high = middle,
            }
        }
    }
}
