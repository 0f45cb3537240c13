//! Tweedie deviances: mean unit deviances of the normal, Poisson, gamma and the distributions between.
//!
//! d = (y - μ)² for power 0, 2 (y ln y/μ - y + μ) for 1, 2 (ln μ/y + y/μ - 1) for 2, else
//! 2 (y^(2-p) / ((1-p)(2-p)) - y μ^(1-p) / (1-p) + μ^(2-p) / (2-p)). D² is 1 less the deviance over that of
//! the mean.
//!
//! Reference: Jørgensen (1987), Exponential dispersion models.

use super::{undefined_or, weighted_mean};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

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

    fn call(&self, given: OneOutput, _run: &Context) -> Result<f64> {
        mean_deviance(&given, self.power)
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

    fn call(&self, given: OneOutput, _run: &Context) -> Result<f64> {
        mean_deviance(&given, 1.0)
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

    fn call(&self, given: OneOutput, _run: &Context) -> Result<f64> {
        mean_deviance(&given, 2.0)
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
        let left = mean_deviance(&given, self.power)?;
        let mean = vec![weighted_mean(given.y_true, given.sample_weight); given.y_true.len()];
        let all = mean_deviance(&OneOutput { y_pred: &mean, ..given }, self.power)?;
        match (all > 0.0, left > 0.0) {
            (true, _) => Ok(1.0 - left / all),
            (false, some_left) => {
                undefined_or(run, "d2", "the truth is constant", f64::from(!some_left))
            }
        }
    }
}

fn known_power(power: f64) -> Result<()> {
    match power.is_finite() && !(power > 0.0 && power < 1.0) {
        true => Ok(()),
        false => Err(Error::parameter("power", "at most 0 or at least 1", power)),
    }
}

fn mean_deviance(given: &OneOutput, power: f64) -> Result<f64> {
    check_signs(given, power)?;
    let pairs = given.y_true.iter().zip(given.y_pred);
    let values: Vec<f64> = pairs.map(|(&y, &mean)| unit_deviance(y, mean, power)).collect();
    Ok(weighted_mean(&values, given.sample_weight))
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

fn unit_deviance(y: f64, mean: f64, p: f64) -> f64 {
    if p == 0.0 {
        return (y - mean) * (y - mean);
    }
    if p == 1.0 {
        let entropy = if y > 0.0 { y * (y / mean).ln() } else { 0.0 };
        return 2.0 * (entropy - y + mean);
    }
    if p == 2.0 {
        return 2.0 * ((mean / y).ln() + y / mean - 1.0);
    }
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
}
