//! The log-likelihood of normal errors, as a function.

use crate::linear::diagnostics::gaussian_log_likelihood;
use learnt_core::prelude::*;

/// Gaussian log-likelihood of predictions: -n/2 ln(2πσ²) - Σ(y - f)² / 2σ².
#[derive(Params, Clone, Debug)]
pub struct GaussianLogLikelihood {
    /// Variance of the errors; the most likely one, RSS/n, by default.
    #[param(above = 0.0)]
    pub sigma2: Option<f64>,
}

/// Predicted numbers beside the actual ones.
#[derive(Inputs, Clone, Copy)]
pub struct PredictedNumbers<'a> {
    /// The actual numbers.
    pub y_true: &'a [f64],
    /// The predicted numbers.
    pub y_pred: &'a [f64],
}

impl Function for GaussianLogLikelihood {
    type Inputs<'a> = PredictedNumbers<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.gaussian_log_likelihood", FunctionKind::Analysis);

    fn call(&self, given: PredictedNumbers, _run: &Context) -> Result<f64> {
        let squares = given.y_true.iter().zip(given.y_pred).map(|(y, f)| (y - f) * (y - f));
        let mean = squares.sum::<f64>() / given.y_true.len() as f64;
        gaussian_log_likelihood(given.y_true, given.y_pred, self.sigma2.unwrap_or(mean))
    }
}
