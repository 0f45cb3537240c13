//! Standard errors and fit of an unpenalised logistic likelihood.
//!
//! The covariance of the estimates is the inverse of the information, the Hessian of the negative
//! log-likelihood at the maximum; z = estimate / standard error is compared with the normal
//! distribution, both tails. AIC = 2 (number of estimates) - 2 ln L.

use learnt_core::linalg::Cholesky;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};

/// What the likelihood says about the estimates. Rows are the classes but the first, which is the
/// reference; columns are the inputs, then the intercept if there is one.
#[derive(Clone, Debug, PartialEq, Stored)]
pub struct LogisticInference {
    /// Estimates relative to the first class.
    pub estimates: Matrix,
    /// Their standard errors.
    pub standard_errors: Matrix,
    /// The log-likelihood.
    pub log_likelihood: f64,
    /// The log-likelihood of the model without inputs.
    pub null_log_likelihood: f64,
}

impl LogisticInference {
    /// From the estimates, the information (lower triangle) and the two log-likelihoods; `None`
    /// where the information has no inverse.
    pub(crate) fn new(
        estimates: Matrix,
        information: &Matrix,
        log_likelihood: f64,
        null_log_likelihood: f64,
    ) -> Option<Self> {
        let d = information.nrows();
        let scale: Vec<f64> = (0..d).map(|i| information[(i, i)].sqrt().recip()).collect();
        let scaled =
            Matrix::from_fn(d, d, |i, j| information[(i.max(j), i.min(j))] * scale[i] * scale[j]);
        let factor = Cholesky::new(&scaled).filter(|f| f.condition_bound() < 1e12)?;
        let inverse = factor.inverse();
        let errors = (0..d).map(|i| inverse[(i, i)].sqrt() * scale[i]).collect();
        let standard_errors =
            Matrix::from_vec(estimates.nrows(), estimates.ncols(), errors).ok()?;
        Some(LogisticInference { estimates, standard_errors, log_likelihood, null_log_likelihood })
    }

    /// Estimates divided by their standard errors.
    pub fn z(&self) -> Matrix {
        let (b, se) = (&self.estimates, &self.standard_errors);
        Matrix::from_fn(b.nrows(), b.ncols(), |k, j| b[(k, j)] / se[(k, j)])
    }

    /// Probabilities of a |z| at least this large if the coefficient is zero.
    pub fn p(&self) -> Matrix {
        let z = self.z();
        let normal = Normal::standard();
        Matrix::from_fn(z.nrows(), z.ncols(), |k, j| 2.0 * normal.sf(z[(k, j)].abs()))
    }

    /// Twice the log-likelihood below that of a model that predicts every row.
    pub fn deviance(&self) -> f64 {
        -2.0 * self.log_likelihood
    }

    /// The deviance without inputs.
    pub fn null_deviance(&self) -> f64 {
        -2.0 * self.null_log_likelihood
    }

    /// Akaike's criterion.
    pub fn aic(&self) -> f64 {
        self.deviance() + 2.0 * self.estimates.as_slice().len() as f64
    }

    /// McFadden's 1 - ln L / ln L0.
    pub fn pseudo_r_squared(&self) -> f64 {
        1.0 - self.log_likelihood / self.null_log_likelihood
    }

    /// Whether it fits a model with this many rows and columns of estimates.
    pub(crate) fn fits(&self, rows: usize, columns: usize) -> bool {
        let shape = |m: &Matrix| (m.nrows(), m.ncols()) == (rows, columns);
        shape(&self.estimates) && shape(&self.standard_errors)
    }
}
