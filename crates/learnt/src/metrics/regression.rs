//! Scores of predicted numbers, all read off the residuals y - f.
//!
//! R² = 1 - Σ w (y - f)² / Σ w (y - ȳ)². Several outputs are averaged evenly. The mean absolute
//! percentage error does not exist where the truth is 0.

use super::{same_length, undefined, weight_of};
use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// Truth and prediction of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    truth: Vec<f64>,
    residuals: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Residuals {
    /// Of one output; there must be rows of positive weight, and every number finite.
    pub fn new(truth: &[f64], prediction: &[f64], weights: Option<&[f64]>) -> Result<Self> {
        same_length("prediction", truth.len(), prediction.len())?;
        if let Some(weights) = weights {
            same_length("weights", truth.len(), weights.len())?;
        }
        let kept: Vec<usize> = (0..truth.len()).filter(|&i| weight_of(weights, i) > 0.0).collect();
        if kept.is_empty() {
            return Err(undefined("the score", "there are no rows"));
        }
        let residuals: Vec<f64> = kept.iter().map(|&i| truth[i] - prediction[i]).collect();
        if let Some(k) = residuals.iter().position(|r| !r.is_finite()) {
            let message = format!("the prediction of row {} is not finite", kept[k] + 1);
            return Err(Error::numeric(message).row(kept[k] as u64 + 1));
        }
        Ok(Residuals {
            truth: kept.iter().map(|&i| truth[i]).collect(),
            residuals,
            weights: weights.map(|weights| kept.iter().map(|&i| weights[i]).collect()),
        })
    }

    fn mean_of(&self, f: impl Fn(f64) -> f64) -> Result<f64> {
        let values: Vec<f64> = self.residuals.iter().map(|&r| f(r)).collect();
        summary::mean(&values, self.weights.as_deref())
            .ok_or_else(|| Error::numeric("the residuals overflow"))
    }

    fn variance(&self, values: &[f64]) -> Result<f64> {
        summary::variance(values, self.weights.as_deref(), 0.0)
            .ok_or_else(|| Error::numeric("the residuals overflow"))
    }

    /// Mean of (y - f)².
    pub fn mse(&self) -> Result<f64> {
        self.mean_of(|r| r * r)
    }

    /// Square root of [`Residuals::mse`].
    pub fn rmse(&self) -> Result<f64> {
        self.mse().map(f64::sqrt)
    }

    /// Mean of |y - f|.
    pub fn mae(&self) -> Result<f64> {
        self.mean_of(f64::abs)
    }

    /// Median of |y - f|.
    pub fn median_absolute_error(&self) -> Result<f64> {
        let sizes: Vec<f64> = self.residuals.iter().map(|r| r.abs()).collect();
        let median = match &self.weights {
            None => summary::median(&sizes),
            Some(weights) => summary::weighted_quantile(&sizes, weights, 0.5),
        };
        median.ok_or_else(|| undefined("median-ae", "there are no rows"))
    }

    /// Largest |y - f|.
    pub fn max_error(&self) -> f64 {
        self.residuals.iter().fold(0.0, |largest, r| r.abs().max(largest))
    }

    /// Mean of |y - f| / |y|; an error where y is 0.
    pub fn mape(&self) -> Result<f64> {
        if self.truth.contains(&0.0) {
            return Err(undefined("mape", "the truth holds 0").hint("use mae"));
        }
        let shares: Vec<f64> =
            self.residuals.iter().zip(&self.truth).map(|(r, y)| (r / y).abs()).collect();
        summary::mean(&shares, self.weights.as_deref())
            .ok_or_else(|| undefined("mape", "the truth is too near to 0").hint("use mae"))
    }

    /// Share of the variance of the truth that is not left in the residuals, their mean included.
    pub fn r2(&self) -> Result<f64> {
        let spread = self.variance(&self.truth)?;
        match spread > 0.0 {
            true => Ok(1.0 - self.mse()? / spread),
            false => Err(undefined("r2", "the truth is constant")),
        }
    }

    /// Like [`Residuals::r2`], without the mean of the residuals.
    pub fn explained_variance(&self) -> Result<f64> {
        let spread = self.variance(&self.truth)?;
        match spread > 0.0 {
            true => Ok(1.0 - self.variance(&self.residuals)? / spread),
            false => Err(undefined("explained-variance", "the truth is constant")),
        }
    }
}

/// The mean of a score over the outputs.
pub(super) fn over_outputs(
    truth: MatRef,
    prediction: MatRef,
    weights: Option<&[f64]>,
    score: impl Fn(&Residuals) -> Result<f64>,
) -> Result<f64> {
    let outputs = truth.ncols();
    if prediction.ncols() != outputs || outputs == 0 {
        let expected = format!("{outputs} columns as in the truth");
        return Err(Error::shape("prediction", expected, prediction.ncols()));
    }
    let mut sum = 0.0;
    for j in 0..outputs {
        sum += score(&Residuals::new(&truth.column(j), &prediction.column(j), weights)?)?;
    }
    Ok(sum / outputs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_two_equals_a_repeated_row() {
        let (y, f) = ([1.0, 5.0, 2.0], [1.5, 4.0, 2.5]);
        let weighted = Residuals::new(&y, &f, Some(&[2.0, 1.0, 0.0])).unwrap();
        let repeated = Residuals::new(&[1.0, 1.0, 5.0], &[1.5, 1.5, 4.0], None).unwrap();
        let scores: [fn(&Residuals) -> Result<f64>; 6] = [
            Residuals::mse,
            Residuals::mae,
            Residuals::r2,
            Residuals::mape,
            Residuals::median_absolute_error,
            Residuals::explained_variance,
        ];
        for score in scores {
            assert!((score(&weighted).unwrap() - score(&repeated).unwrap()).abs() < 1e-14);
        }
    }

    #[test]
    fn a_constant_truth_has_no_r2() {
        let residuals = Residuals::new(&[2.0, 2.0], &[2.0, 1.0], None).unwrap();
        assert_eq!(residuals.r2().unwrap_err().code(), Code::Numeric);
    }

    #[test]
    fn a_zero_truth_has_no_percentage_error() {
        let residuals = Residuals::new(&[0.0, 2.0], &[2.0, 1.0], None).unwrap();
        assert!(residuals.mape().unwrap_err().hint_text().unwrap().contains("mae"));
    }
}
