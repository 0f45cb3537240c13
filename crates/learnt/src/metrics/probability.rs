//! Scores of predicted probabilities.
//!
//! Log loss -Σ w ln p(actual) / Σ w with p clipped to [ε, 1 - ε], ε the machine precision; the
//! multi-class Brier score Σ w Σ_k (p_k - [k = actual])² / Σ w, halved for two classes, so that it
//! is the squared error of the second column. Probabilities are taken as they are, not rescaled.

use super::{same_length, undefined, weight_of};
use learnt_core::prelude::*;

/// Mean of -ln p(actual class).
pub fn log_loss(codes: &[u32], probabilities: MatRef, weights: Option<&[f64]>) -> Result<f64> {
    let clip = |p: f64| p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
    mean_over("log-loss", codes, probabilities, weights, |i, k| {
        Ok(-clip(probabilities.at(i, k)).ln())
    })
}

/// Mean squared distance of the probabilities from the truth; half of it for two classes.
pub fn brier_score(codes: &[u32], probabilities: MatRef, weights: Option<&[f64]>) -> Result<f64> {
    let classes = probabilities.ncols();
    let total = mean_over("brier", codes, probabilities, weights, |i, k| {
        let square = |j: usize| {
            let difference = probabilities.at(i, j) - f64::from(j == k);
            difference * difference
        };
        Ok((0..classes).map(square).sum())
    })?;
    Ok(if classes == 2 { total / 2.0 } else { total })
}

fn mean_over(
    name: &str,
    codes: &[u32],
    probabilities: MatRef,
    weights: Option<&[f64]>,
    term: impl Fn(usize, usize) -> Result<f64>,
) -> Result<f64> {
    same_length("probabilities", codes.len(), probabilities.nrows())?;
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, &code) in codes.iter().enumerate() {
        if code as usize >= probabilities.ncols() {
            let expected = format!("a column for each class, so more than {code}");
            return Err(Error::shape("probabilities", expected, probabilities.ncols()));
        }
        sum += weight_of(weights, i) * term(i, code as usize)?;
        total += weight_of(weights, i);
    }
    match total > 0.0 {
        true => Ok(sum / total),
        false => Err(undefined(name, "there are no rows")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_mistake_costs_a_finite_amount() {
        let p = Matrix::from_rows(&[[1.0, 0.0]]).unwrap();
        let loss = log_loss(&[1], p.view(), None).unwrap();
        assert!((loss + f64::EPSILON.ln()).abs() < 1e-9);
    }

    #[test]
    fn a_class_without_a_column_is_refused() {
        let p = Matrix::from_rows(&[[1.0, 0.0]]).unwrap();
        assert_eq!(log_loss(&[2], p.view(), None).unwrap_err().code(), Code::Shape);
    }
}
