//! The logistic function, its inverse and its relatives for several classes, without overflow.
//!
//! logistic(s) = 1 / (1 + exp(-s)), logit(p) = ln(p / (1 - p)), softplus(s) = ln(1 + exp(s));
//! softmax_k(s) = exp(s_k) / Σ_l exp(s_l), shifted by the largest score; its Jacobian is
//! softmax_k ([k = l] - softmax_l).

use learnt_core::prelude::*;
use learnt_core::stats::special;

pub use learnt_core::stats::special::{log_sum_exp, softplus};

/// The logistic function, precise in both tails.
///
/// ```
/// use learnt::linear::logistic_functions::logistic;
/// assert_eq!((logistic(-1000.0), logistic(0.0), logistic(1000.0)), (0.0, 0.5, 1.0));
/// ```
pub fn logistic(score: f64) -> f64 {
    special::sigmoid(score)
}

/// The derivative of [`logistic`], logistic(s) logistic(-s).
pub fn logistic_slope(score: f64) -> f64 {
    special::sigmoid(score) * special::sigmoid(-score)
}

/// The log odds of a probability above 0 and below 1.
pub fn logit(p: f64) -> Result<f64> {
    special::logit(p).ok_or_else(|| Error::parameter("p", "a number above 0 and below 1", p))
}

/// Probabilities from scores.
///
/// ```
/// use learnt::linear::logistic_functions::softmax;
/// let (a, b) = (softmax(&[1.0, 2.0, 3.0]), softmax(&[1001.0, 1002.0, 1003.0]));
/// assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-15));
/// ```
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let mut out = scores.to_vec();
    special::softmax_in_place(&mut out);
    out
}

/// Logarithms of the probabilities from scores, also where these are too small to represent.
pub fn log_softmax(scores: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(scores);
    scores.iter().map(|score| score - total).collect()
}

/// Derivatives of the probabilities (rows) by the scores (columns).
pub fn softmax_jacobian(scores: &[f64]) -> Matrix {
    let p = softmax(scores);
    Matrix::from_fn(p.len(), p.len(), |k, l| p[k] * (f64::from(k == l) - p[l]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_scores_do_not_overflow() {
        assert_eq!(logistic(-1000.0), 0.0);
        assert_eq!(logistic(1000.0), 1.0);
        assert_eq!(softplus(1000.0), 1000.0);
        assert_eq!(softplus(-1000.0), 0.0);
        assert!((log_softmax(&[0.0, -2000.0])[1] + 2000.0).abs() < 1e-9);
        assert!((logistic_slope(0.0) - 0.25).abs() < 1e-16);
    }

    #[test]
    fn logit_undoes_logistic_and_refuses_certainty() {
        for s in [-30.0, -2.0, 0.0, 0.3, 12.0] {
            assert!((logit(logistic(s)).unwrap() - s).abs() < 1e-9);
        }
        for p in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            assert_eq!(logit(p).unwrap_err().code(), Code::Parameter);
        }
    }
}
