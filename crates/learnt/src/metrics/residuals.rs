//! Truth and residuals y - f of one output, which the scores of predicted numbers are read off.
//!
//! The mean absolute percentage error does not exist where the truth is 0.

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

    /// Mean of |y - f| / |y|, with |y| at least the machine precision.
    pub fn floored_mape(&self) -> Result<f64> {
        let shares = self.residuals.iter().zip(&self.truth);
        let shares: Vec<f64> = shares.map(|(r, y)| r.abs() / y.abs().max(f64::EPSILON)).collect();
        summary::mean(&shares, self.weights.as_deref())
            .ok_or_else(|| Error::numeric("the residuals overflow"))
    }

    /// Variance of the truth, divisor n.
    pub fn truth_variance(&self) -> Result<f64> {
        self.variance(&self.truth)
    }

    /// Variance of the residuals, divisor n.
    pub fn residual_variance(&self) -> Result<f64> {
        self.variance(&self.residuals)
    }
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
            Residuals::truth_variance,
            Residuals::mape,
            Residuals::median_absolute_error,
            Residuals::residual_variance,
        ];
        for score in scores {
            assert!((score(&weighted).unwrap() - score(&repeated).unwrap()).abs() < 1e-14);
        }
    }

    #[test]
    fn a_zero_truth_has_no_percentage_error() {
        let residuals = Residuals::new(&[0.0, 2.0], &[2.0, 1.0], None).unwrap();
        assert!(residuals.mape().unwrap_err().hint_text().unwrap().contains("mae"));
    }
}
