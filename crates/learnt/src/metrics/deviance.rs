//! Tweedie deviances: mean unit deviances of the normal, Poisson, gamma and the distributions between.
//!
//! d = (y - μ)² for power 0, 2 (y ln y/μ - y + μ) for 1, 2 (ln μ/y + y/μ - 1) for 2, else
//! 2 (y^(2-p) / ((1-p)(2-p)) - y μ^(1-p) / (1-p) + μ^(2-p) / (2-p)). D² is 1 less the deviance over that of
//! the mean. Sums run over blocks of rows on all threads, logarithms in vectors: other last digits than `f64::ln`.
//!
//! Reference: Jørgensen (1987), Exponential dispersion models.

use super::regression::compute_noticing;
use super::residuals::{BLOCK, Rows, Sum};
use super::{undefined_or, weighted_mean};
use learnt_core::function::{Scorer, Task};
use learnt_core::linalg::vector_math::ln;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Predicted numbers beside the actual ones, one output.
#[derive(Inputs, Clone, Copy)]
pub struct OneOutput<'a> {
    /// The actual numbers.
    pub y_true: &'a [f64],
    /// The predicted numbers.
    pub y_pred: &'a [f64],
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Mean Tweedie deviance.
#[derive(Params, Clone, Debug)]
#[params(constraints = a_power_that_exists)]
pub struct MeanTweedieDeviance {
    /// Power of the mean that the variance grows with: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian.
    pub power: f64,
}

impl MeanTweedieDeviance {
    fn a_power_that_exists(&self) -> Result<()> {
        known_power(self.power)
    }
}

impl Function for MeanTweedieDeviance {
    type Inputs<'a> = OneOutput<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.mean_tweedie_deviance", FunctionKind::Metric)
            .reference("Jørgensen (1987)");

    fn call(&self, given: OneOutput, run: &Context) -> Result<f64> {
        mean_deviance(&given, self.power, run)
    }

    fn compute_in(&self, given: OneOutput, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

/// Mean Poisson deviance.
#[derive(Params, Clone, Debug)]
pub struct MeanPoissonDeviance {}

impl Function for MeanPoissonDeviance {
    type Inputs<'a> = OneOutput<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.mean_poisson_deviance", FunctionKind::Metric).scores(&[
            Scorer::lower("poisson-deviance", Task::Regression, "Mean Poisson deviance.")
                .alias(&["neg-mean-poisson-deviance"]),
        ]);

    fn call(&self, given: OneOutput, run: &Context) -> Result<f64> {
        mean_deviance(&given, 1.0, run)
    }

    fn compute_in(&self, given: OneOutput, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

/// Mean gamma deviance.
#[derive(Params, Clone, Debug)]
pub struct MeanGammaDeviance {}

impl Function for MeanGammaDeviance {
    type Inputs<'a> = OneOutput<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.mean_gamma_deviance", FunctionKind::Metric)
            .scores(&[Scorer::lower("gamma-deviance", Task::Regression, "Mean gamma deviance.")
                .alias(&["neg-mean-gamma-deviance"])]);

    fn call(&self, given: OneOutput, run: &Context) -> Result<f64> {
        mean_deviance(&given, 2.0, run)
    }

    fn compute_in(&self, given: OneOutput, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

/// D²: the share of the Tweedie deviance of the mean that the predictions explain.
#[derive(Params, Clone, Debug)]
#[params(constraints = a_power_that_exists)]
pub struct D2TweedieScore {
    /// Power of the mean that the variance grows with: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian.
    pub power: f64,
}

impl D2TweedieScore {
    fn a_power_that_exists(&self) -> Result<()> {
        known_power(self.power)
    }
}

impl Function for D2TweedieScore {
    type Inputs<'a> = OneOutput<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.d2_tweedie_score", FunctionKind::Metric);

    fn call(&self, given: OneOutput, run: &Context) -> Result<f64> {
        if given.y_true.len() < 2 {
            return undefined_or(run, "d2", "there is one row", f64::NAN);
        }
        let left = mean_deviance(&given, self.power, run)?;
        let mean = vec![weighted_mean(given.y_true, given.sample_weight); given.y_true.len()];
        let all = mean_deviance(&OneOutput { y_pred: &mean, ..given }, self.power, run)?;
        match (all > 0.0, left > 0.0) {
            (true, _) => Ok(1.0 - left / all),
            (false, some_left) => {
                undefined_or(run, "d2", "the truth is constant", f64::from(!some_left))
            }
        }
    }

    fn compute_in(&self, given: OneOutput, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

fn known_power(power: f64) -> Result<()> {
    match power.is_finite() && !(power > 0.0 && power < 1.0) {
        true => Ok(()),
        false => Err(Error::parameter("power", "at most 0 or at least 1", power)),
    }
}

fn mean_deviance(given: &OneOutput, power: f64, run: &Context) -> Result<f64> {
    let OneOutput { y_true, y_pred, sample_weight } = *given;
    let parts = run.par_ranges(y_true.len(), BLOCK, |range| {
        let rows = Rows::of(y_true, y_pred, sample_weight, range.clone());
        let least = (least(&y_true[range.clone()]), least(&y_pred[range]));
        (deviance(&rows, power), rows.weight(), least)
    });
    let (mut sum, mut weight, mut fault) = (0.0, 0.0, 0.0);
    let (mut least_y, mut least_mean) = (f64::INFINITY, f64::INFINITY);
    for (part, own, (y, mean)) in parts {
        sum += part.value;
        fault += part.fault;
        weight += own;
        (least_y, least_mean) = (least_y.min(y), least_mean.min(mean));
    }
    if fault != 0.0 {
        return Err(Error::numeric("the truth or the prediction is not finite"));
    }
    if least_mean <= 0.0 || least_y <= 0.0 {
        check_signs(given, power)?;
    }
    Ok(sum / weight)
}

/// The smallest of some numbers.
fn least(values: &[f64]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let least: [f64; 8] = vectorized!({
        let mut least = [f64::INFINITY; 8];
        for eight in eights {
            for k in 0..8 {
                least[k] = if eight[k] < least[k] { eight[k] } else { least[k] };
            }
        }
        std::hint::black_box(least)
    });
    least.iter().chain(rest).copied().fold(f64::INFINITY, f64::min)
}

/// Refuses numbers that the distribution does not have.
fn check_signs(given: &OneOutput, power: f64) -> Result<()> {
    let refuse = |name: &str, bound: &str, row: usize| {
        let message =
            format!("`{name}` must be {bound} for power {power}, and row {} is not", row + 1);
        Err(Error::new(Code::Target, message).row(row as u64 + 1))
    };
    if power == 0.0 {
        return Ok(());
    }
    if let Some(row) = given.y_pred.iter().position(|mean| *mean <= 0.0) {
        return refuse("y_pred", "above 0", row);
    }
    if power >= 2.0
        && let Some(row) = given.y_true.iter().position(|y| *y <= 0.0)
    {
        return refuse("y_true", "above 0", row);
    }
    if power >= 1.0
        && let Some(row) = given.y_true.iter().position(|y| *y < 0.0)
    {
        return refuse("y_true", "at least 0", row);
    }
    Ok(())
}

/// Σ w d(y, μ).
fn deviance(rows: &Rows, power: f64) -> Sum {
    if power == 0.0 {
        return vectorized!(rows.sum(|y, mean| (y - mean) * (y - mean)));
    }
    if power == 1.0 {
        return vectorized!(rows.sum(|y, mean| {
            let entropy = y * ln(y / mean);
            2.0 * (if y > 0.0 { entropy } else { 0.0 } - y + mean)
        }));
    }
    if power == 2.0 {
        return vectorized!(rows.sum(|y, mean| 2.0 * (ln(mean / y) + y / mean - 1.0)));
    }
    rows.sum(|y, mean| tweedie(y, mean, power))
}

fn tweedie(y: f64, mean: f64, p: f64) -> f64 {
    let own = y.max(0.0).powf(2.0 - p) / ((1.0 - p) * (2.0 - p));
    2.0 * (own - y * mean.powf(1.0 - p) / (1.0 - p) + mean.powf(2.0 - p) / (2.0 - p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_prediction_has_no_deviance_and_signs_are_checked() {
        let y = [1.0, 2.0, 0.5];
        for power in [-1.0, 0.0, 1.0, 1.5, 2.0, 3.0] {
            let given = OneOutput { y_true: &y, y_pred: &y, sample_weight: None };
            let found = MeanTweedieDeviance { power }.compute(given).unwrap();
            assert!(found.abs() < 1e-12, "{power}: {found}");
        }
        let given = OneOutput { y_true: &[0.0], y_pred: &[1.0], sample_weight: None };
        assert!(MeanPoissonDeviance {}.compute(given).is_ok());
        assert_eq!(MeanGammaDeviance {}.compute(given).unwrap_err().code(), Code::Target);
        assert!(MeanTweedieDeviance { power: 0.5 }.check().is_err());
    }

    #[test]
    fn sums_in_blocks_are_the_formulas_and_signs_are_checked_in_each() {
        let n = 2 * BLOCK + 11;
        let mean: Vec<f64> = (0..n).map(|i| 0.5 + (i % 97) as f64).collect();
        let mut y: Vec<f64> = (0..n).map(|i| 1.0 + (i % 31) as f64).collect();
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        for (power, unit) in [
            (1.0, (|y, mean| 2.0 * (y * f64::ln(y / mean) - y + mean)) as fn(f64, f64) -> f64),
            (2.0, |y, mean| 2.0 * (f64::ln(mean / y) + y / mean - 1.0)),
            (3.0, |y, mean| (y - mean).powi(2) / (y * mean * mean)),
        ] {
            let given = OneOutput { y_true: &y, y_pred: &mean, sample_weight: Some(&weights) };
            let found = MeanTweedieDeviance { power }.compute(given).unwrap();
            let units: Vec<f64> = y.iter().zip(&mean).map(|(&y, &m)| unit(y, m)).collect();
            let expected = weighted_mean(&units, Some(&weights));
            assert!((found - expected).abs() < 1e-12 * expected, "{power}: {found} {expected}");
        }
        for place in [3, BLOCK + 1, n - 1] {
            let before = y[place];
            for (bad, code) in [(-1.0, Code::Target), (f64::NAN, Code::Missing)] {
                y[place] = bad;
                let given = OneOutput { y_true: &y, y_pred: &mean, sample_weight: None };
                assert_eq!(MeanPoissonDeviance {}.compute(given).unwrap_err().code(), code);
            }
            y[place] = before;
        }
    }
}
