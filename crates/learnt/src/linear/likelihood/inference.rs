//! Standard errors and fit of an unpenalised logistic likelihood.
//!
//! The covariance of the estimates is the inverse of the information, the Hessian of the negative
//! log-likelihood at the maximum; z = estimate / standard error is compared with the normal
//! distribution, both tails. AIC = 2 (number of estimates) - 2 ln L.

use crate::linear::coefficient_table::{Scale, likelihood_ratio};
use crate::linear::inference::{CoefficientTest, Test};
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
    /// The sum of the weights: the number of rows without any.
    pub weight: f64,
    /// Covariance of the estimates, class by class; empty with very many, and in files of older releases.
    #[model(later)]
    pub covariance: Matrix,
    /// Names of the inputs; empty in files of older releases.
    #[model(later)]
    pub names: Vec<String>,
    /// Names of the classes.
    #[model(later)]
    pub classes: Vec<String>,
    /// Number of rows; 0 in files of older releases, which took the sum of the weights for it.
    #[model(later)]
    rows: f64,
}

/// Most estimates whose covariance is kept.
const MOST_TERMS: usize = 1001;

impl LogisticInference {
    /// From the estimates, the information (lower triangle) and the two log-likelihoods; `None`
    /// where the information has no inverse.
    pub(crate) fn new(
        estimates: Matrix,
        information: &Matrix,
        log_likelihood: f64,
        null_log_likelihood: f64,
        weight: f64,
    ) -> Option<Self> {
        let d = information.nrows();
        let scale: Vec<f64> = (0..d).map(|i| information[(i, i)].sqrt().recip()).collect();
        let scaled =
            Matrix::from_fn(d, d, |i, j| information[(i.max(j), i.min(j))] * scale[i] * scale[j]);
        let factor = Cholesky::new(&scaled).filter(|f| f.condition_bound() < 1e12)?;
        let inverse = factor.inverse();
        let covariance = match d <= MOST_TERMS {
            true => Matrix::from_fn(d, d, |i, j| inverse[(i, j)] * scale[i] * scale[j]),
            false => Matrix::default(),
        };
        let errors = (0..d).map(|i| inverse[(i, i)].sqrt() * scale[i]).collect();
        let standard_errors =
            Matrix::from_vec(estimates.nrows(), estimates.ncols(), errors).ok()?;
        Some(LogisticInference {
            estimates,
            standard_errors,
            log_likelihood,
            null_log_likelihood,
            weight,
            covariance,
            names: Vec::new(),
            classes: Vec::new(),
            rows: 0.0,
        })
    }

    /// With the names of inputs and classes.
    pub(crate) fn named(self, names: &[String], classes: &[String]) -> Self {
        LogisticInference { names: names.to_vec(), classes: classes.to_vec(), ..self }
    }

    /// From this many rows, which their weights do not tell.
    pub(crate) fn of_rows(self, rows: u64) -> Self {
        LogisticInference { rows: rows as f64, ..self }
    }

    /// The rows that degrees of freedom are counted from.
    pub(crate) fn rows(&self) -> f64 {
        if self.rows > 0.0 { self.rows } else { self.weight }
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

    /// Schwarz's criterion.
    pub fn bic(&self) -> f64 {
        self.deviance() + self.rows().ln() * self.estimates.as_slice().len() as f64
    }

    /// The test that all coefficients but the intercepts are zero, for a model of `inputs` columns.
    pub fn likelihood_ratio(&self, inputs: usize) -> Option<Test> {
        let df = self.estimates.nrows() * inputs.min(self.estimates.ncols());
        likelihood_ratio(self.null_deviance() - self.deviance(), df as f64)
    }

    /// The rows of the table for class `k + 1`: the intercept, if there is one, then the inputs.
    pub fn tests(&self, k: usize, names: &[String], level: f64) -> Result<Vec<CoefficientTest>> {
        let half = Scale::Normal.half_width(level)?;
        let (d, inputs) = (self.estimates.ncols(), names.len());
        let test = |name: &str, j: usize| {
            let (estimate, error) = (self.estimates[(k, j)], self.standard_errors[(k, j)]);
            Scale::Normal.test(name, estimate, error, half)
        };
        let intercept = (d > inputs).then(|| test("(intercept)", inputs));
        let columns = names.iter().take(d).enumerate().map(|(j, name)| test(name, j));
        intercept.into_iter().chain(columns).collect()
    }

    /// McFadden's 1 - ln L / ln L0.
    pub fn pseudo_r_squared(&self) -> f64 {
        1.0 - self.log_likelihood / self.null_log_likelihood
    }

    /// Whether it fits a model with this many rows and columns of estimates.
    pub(crate) fn fits(&self, rows: usize, columns: usize) -> bool {
        let shape = |m: &Matrix| (m.nrows(), m.ncols()) == (rows, columns);
        let (size, square) = (rows * columns, self.covariance.nrows() == self.covariance.ncols());
        shape(&self.estimates)
            && shape(&self.standard_errors)
            && self.weight > 0.0
            && square
            && [0, size].contains(&self.covariance.nrows())
            && (self.names.is_empty() || [columns, columns - 1].contains(&self.names.len()))
            && [0, rows + 1].contains(&self.classes.len())
    }
}
