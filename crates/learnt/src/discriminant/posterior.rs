//! Priors of classes, and scores of two.

use learnt_core::prelude::*;

/// Refuses priors that are not a distribution over the classes.
pub(super) fn check_priors(priors: Option<&[f64]>, classes: usize) -> Result<()> {
    let Some(priors) = priors else { return Ok(()) };
    let sum: f64 = priors.iter().sum();
    match priors.len() == classes && (sum - 1.0).abs() < 1e-8 {
        true => Ok(()),
        false => Err(Error::parameter(
            "priors",
            format!("{classes} numbers, one for each class, that sum to 1"),
            format!("{} that sum to {sum}", priors.len()),
        )),
    }
}

/// The given priors, or the shares of the weights. A class without rows has none.
pub(super) fn priors(given: Option<&[f64]>, weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if given.is_none() && total.is_infinite() {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let shares: Vec<f64> = weights.iter().map(|weight| weight / largest).collect();
        return priors(None, &shares);
    }
    let prior = |(k, &weight): (usize, &f64)| match given {
        Some(given) if weight > 0.0 => given.get(k).copied().unwrap_or(0.0),
        Some(_) => 0.0,
        None => weight / total,
    };
    weights.iter().enumerate().map(prior).collect()
}

/// The second score less the first for two classes; more stay as they are.
pub(super) fn as_decision_scores(scores: Matrix) -> Matrix {
    if scores.ncols() != 2 {
        return scores;
    }
    let margin = |row: &[f64]| match row[1] - row[0] {
        difference if difference.is_nan() => 0.0,
        difference => difference.clamp(f64::MIN, f64::MAX),
    };
    Matrix::column_vector(scores.rows().map(margin).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::estimator::{classes_of_scores, shares_of_scores};

    #[test]
    fn scores_that_overflow_still_give_probabilities() {
        for row in [[f64::NEG_INFINITY; 3], [f64::INFINITY, 1.0, f64::NAN], [0.0, -2000.0, 1e300]] {
            let scores = Matrix::from_rows(&[row]).unwrap();
            let out = shares_of_scores(scores, &Context::default());
            assert!((out.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?} {out:?}");
        }
    }

    #[test]
    fn ties_go_to_the_first_of_many_and_the_second_of_two() {
        let three = Matrix::from_rows(&[[1.0, 2.0, 2.0]]).unwrap();
        assert_eq!(classes_of_scores(&three), [1]);
        let two = as_decision_scores(Matrix::from_rows(&[[2.0, 2.0]]).unwrap());
        assert_eq!(classes_of_scores(&two), [1]);
    }
}
