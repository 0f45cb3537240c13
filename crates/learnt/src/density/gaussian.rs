//! The multivariate normal distribution: ln p(x) = -½ (p ln 2π + ln det Σ + ‖L⁻¹ (x - μ)‖²), Σ = L Lᵀ.
//! What the density and the detector share.

use learnt_core::linalg::{Cholesky, Scatter};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use std::f64::consts::TAU;

/// The form of the covariance.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum CovarianceType {
    /// All variances and covariances.
    Full,
    /// Variances alone: the columns are independent.
    Diag,
    /// One variance for all columns, which are independent.
    Spherical,
}

/// Mean and covariance, with the factor of the covariance.
pub(super) struct Gaussian {
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Matrix,
    pub(super) lower: Matrix,
}

impl Gaussian {
    /// Of maximum likelihood, or with divisor n - 1 for `ddof` 1; `reg_covar` is added to the
    /// variances.
    pub(super) fn estimate(
        all: Scatter,
        form: CovarianceType,
        ddof: f64,
        reg_covar: f64,
    ) -> Result<Gaussian> {
        if all.weight <= ddof {
            let message = format!("the rows weigh {}, and more than {ddof} is needed", all.weight);
            return Err(Error::new(Code::TooFew, message));
        }
        let divisor = all.weight - ddof;
        let width = all.mean.len();
        let mean_variance =
            (0..width).map(|j| all.scatter[(j, j)] / divisor / width as f64).sum::<f64>();
        let entry = |i: usize, j: usize| match form {
            CovarianceType::Full => all.scatter[(i, j)] / divisor,
            CovarianceType::Diag if i == j => all.scatter[(i, i)] / divisor,
            CovarianceType::Spherical if i == j => mean_variance,
            _ => 0.0,
        };
        let ridge = |i: usize, j: usize| if i == j { reg_covar } else { 0.0 };
        let covariance = Matrix::from_fn(width, width, |i, j| entry(i, j) + ridge(i, j));
        let finite = all.mean.iter().chain(covariance.as_slice()).all(|v| v.is_finite());
        if !finite {
            return Err(Error::numeric("the covariance overflows: the values are too large"));
        }
        let factor = factor_of(&covariance).ok_or_else(|| {
            Error::numeric("the covariance is singular: columns are constant or dependent")
                .hint("raise reg_covar, or set covariance_type to diag")
        })?;
        Ok(Gaussian { mean: all.mean, covariance, lower: factor.lower })
    }
}

/// The factor of a covariance; none where what is left of a column beside the earlier ones is no
/// more than rounding.
pub(super) fn factor_of(covariance: &Matrix) -> Option<Cholesky> {
    let width = covariance.nrows();
    let least = 16.0 * width as f64 * f64::EPSILON;
    Cholesky::new(covariance).filter(|factor| {
        (0..width).all(|j| factor.lower[(j, j)].powi(2) > least * covariance[(j, j)])
    })
}

/// ln p of each row.
pub(super) fn log_densities(
    mean: &[f64],
    lower: &Matrix,
    x: &Frame,
    run: &Context,
) -> Result<Vec<f64>> {
    const ROWS: usize = 1024;
    if x.ncols() != mean.len() {
        let expected = format!("{} columns as in training", mean.len());
        return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
    }
    run.checkpoint()?;
    let factor = Cholesky { lower: lower.clone() };
    let constant = mean.len() as f64 * TAU.ln() + factor.ln_determinant();
    let mut out = vec![0.0; x.nrows()];
    run.par_fill(&mut out, ROWS, |first, piece| {
        let mut row = vec![0.0; mean.len()];
        for (i, out) in piece.iter_mut().enumerate() {
            x.values().copy_row(first + i, &mut row);
            row.iter_mut().zip(mean).for_each(|(x, mean)| *x -= mean);
            factor.solve_lower_in_place(&mut row);
            *out = -0.5 * (constant + row.iter().map(|z| z * z).sum::<f64>());
        }
    });
    Ok(out)
}

/// Refuses parts that do not fit each other.
pub(super) fn validate(mean: &[f64], covariance: &Matrix, lower: &Matrix) -> Result<()> {
    let width = mean.len();
    let square = |m: &Matrix| (m.nrows(), m.ncols()) == (width, width);
    let fits = width > 0 && square(covariance) && square(lower);
    let finite = mean.iter().chain(lower.as_slice()).all(|v| v.is_finite());
    match fits && finite && (0..width).all(|i| lower[(i, i)] > 0.0) {
        true => Ok(()),
        false => Err(invalid("mean and covariance of a normal distribution do not fit")),
    }
}
