//! What a learning rate does: the objective against the step for several rates, and the limit of
//! stability.
//!
//! On a quadratic with Hessian H the error of gradient descent in the direction of eigenvalue λ is
//! multiplied by 1 - η λ at every step, so a fixed rate converges if and only if η < 2 / λ_max, and
//! 2 / (λ_max + λ_min) is the fastest. For the half mean squared error H = Z'Z / n, Z the design.

use super::{Evaluation, GradientDescent, Rules, Stopped, minimize_until};
use crate::context::{Context, Observer, Progress};
use crate::data::{MatRef, Matrix};
use crate::error::{Error, Result};
use crate::linalg::{eigh, gram};
use std::ops::ControlFlow;

/// The course of descent at one rate.
#[derive(Clone, Debug)]
pub struct RateCurve {
    /// The rate.
    pub rate: f64,
    /// The objective at the start and after every step; it ends where the steps diverge.
    pub values: Vec<f64>,
    /// Where it ended.
    pub x: Vec<f64>,
    /// Why it ended.
    pub stopped: Stopped,
}

/// Descends from the same start at every rate.
///
/// ```
/// use learnt_core::context::Context;
/// use learnt_core::optimize::{Evaluation, learning_rate_study};
/// let square = |x: &[f64]| {
///     Ok(Evaluation { value: x[0] * x[0], gradient: vec![2.0 * x[0]], hessian: None })
/// };
/// let curves = learning_rate_study(square, &[1.0], &[0.1, 0.5, 1.1], 20, &Context::default())?;
/// assert!(curves[1].values[1] == 0.0 && curves[2].values[20] > 1.0);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn learning_rate_study(
    mut function: impl FnMut(&[f64]) -> Result<Evaluation>,
    start: &[f64],
    rates: &[f64],
    steps: usize,
    run: &Context,
) -> Result<Vec<RateCurve>> {
    let silent = Silent(run.observer());
    let run = run.observed_by(&silent);
    let mut curves = Vec::with_capacity(rates.len());
    for &rate in rates {
        let mut method = GradientDescent::new(start.to_vec(), rate)?;
        let found = minimize_until(&mut method, &mut function, &Rules::steps(steps), false, &run)?;
        let mut values = found.values;
        if found.stopped == Stopped::Converged {
            // A step of zero: the objective stays where it is.
            values.resize(steps + 1, found.value);
        }
        curves.push(RateCurve { rate, values, x: found.x, stopped: found.stopped });
    }
    Ok(curves)
}

/// 2 / λ_max of a convex quadratic, above which fixed rates diverge; infinite without curvature.
pub fn stability_limit(hessian: &Matrix) -> Result<f64> {
    if hessian.nrows() != hessian.ncols() || hessian.nrows() == 0 {
        let got = format!("{} x {}", hessian.nrows(), hessian.ncols());
        return Err(Error::shape("hessian", "a square matrix", got));
    }
    let values = eigh(hessian)?.values;
    let (largest, smallest) = (values[0], values[values.len() - 1]);
    if smallest < -1e-10 * largest.abs() {
        let message = format!("the quadratic is not convex: its smallest curvature is {smallest}");
        return Err(Error::numeric(message));
    }
    Ok(if largest > 0.0 { 2.0 / largest } else { f64::INFINITY })
}

/// Z'Z / n, the Hessian of half the mean squared error of a linear model; the column of the
/// intercept, if there is one, comes first.
pub fn mean_squares_hessian(x: MatRef, fit_intercept: bool) -> Result<Matrix> {
    if x.nrows() == 0 {
        return Err(Error::new(crate::error::Code::Empty, "no rows"));
    }
    let first = usize::from(fit_intercept);
    let design = Matrix::from_fn(x.nrows(), x.ncols() + first, |i, j| match j < first {
        true => 1.0,
        false => x.at(i, j - first),
    });
    let mut hessian = gram(design.view());
    hessian.as_mut_slice().iter_mut().for_each(|value| *value /= x.nrows() as f64);
    Ok(hessian)
}

/// Passes progress and cancellation on, and keeps quiet about rates that were meant to fail.
struct Silent<'a>(&'a dyn Observer);

impl Observer for Silent<'_> {
    fn progress(&self, progress: &Progress) -> ControlFlow<()> {
        self.0.progress(progress)
    }
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_limit_descent_converges_and_above_it_diverges() {
        let hessian = Matrix::from_rows(&[[3.0, 1.0], [1.0, 2.0]]).unwrap();
        let limit = stability_limit(&hessian).unwrap();
        let bowl = |x: &[f64]| {
            let gradient = crate::linalg::matvec(hessian.view(), x);
            let value = 0.5 * crate::linalg::dot(x, &gradient);
            Ok(Evaluation { value, gradient, hessian: None })
        };
        let rates = [0.99 * limit, 1.01 * limit, 10.0 * limit];
        let curves =
            learning_rate_study(bowl, &[1.0, 1.0], &rates, 1000, &Context::default()).unwrap();
        assert!(curves[0].values[1000] < 1e-6 * curves[0].values[0]);
        assert!(curves[1].values[1000] > 1e6 * curves[1].values[0]);
        assert_eq!(curves[2].stopped, Stopped::Diverged);
        assert!(curves[2].values.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn quadratics_without_a_minimum_are_refused() {
        assert!(stability_limit(&Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).unwrap()).is_err());
        assert!(stability_limit(&Matrix::zeros(2, 3)).is_err());
        assert_eq!(stability_limit(&Matrix::zeros(2, 2)).unwrap(), f64::INFINITY);
    }
}
