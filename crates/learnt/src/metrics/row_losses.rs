//! Losses of single rows: their values, slopes, means and best constants.
//!
//! Squared r² with minimiser the mean; half-squared r²/2; absolute |r| with minimiser the median and slope
//! sign(r), 0 at 0; Huber ([`super::losses::huber`]), whose minimiser is found by bisection of its slope.
//! r = y - f, and slopes are derivatives by the prediction f. The mean of losses is Σ w e / Σ w, its
//! standard error √(Σ w² (e - ē)²) / Σ w · √(n / (n - 1)), and for losses in [a, b] Hoeffding's bar is
//! (b - a) √(ln(2/δ) / 2n), where n counts rows of weight above 0.

use super::losses::{huber, huber_slope};
use super::weight_of;
use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// Which loss.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowLoss {
    /// r².
    #[default]
    Squared,
    /// r²/2.
    HalfSquared,
    /// |r|.
    Absolute,
    /// r²/2 for |r| ≤ delta, else delta |r| - delta²/2.
    Huber,
}

impl RowLoss {
    /// The loss of a residual.
    pub fn of(self, r: f64, delta: f64) -> f64 {
        match self {
            RowLoss::Squared => r * r,
            RowLoss::HalfSquared => 0.5 * r * r,
            RowLoss::Absolute => r.abs(),
            RowLoss::Huber => huber(r, delta),
        }
    }

    /// Its derivative by the prediction.
    pub fn slope(self, r: f64, delta: f64) -> f64 {
        match self {
            RowLoss::Squared => -2.0 * r,
            RowLoss::HalfSquared => -r,
            RowLoss::Absolute if r == 0.0 => 0.0,
            RowLoss::Absolute => -r.signum(),
            RowLoss::Huber => -huber_slope(r, delta),
        }
    }
}

/// Numbers and their predictions.
#[derive(Inputs, Clone, Copy)]
pub struct NumbersAndPredictions<'a> {
    /// The actual numbers.
    pub y_true: &'a [f64],
    /// The predicted numbers.
    pub y_pred: &'a [f64],
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Loss and slope of each row, their mean, and the constant that would be best.
#[derive(Params, Clone, Debug)]
pub struct RegressionLoss {
    /// Which loss.
    #[param(positional)]
    pub loss: RowLoss,
    /// Where the Huber loss becomes straight.
    #[param(default = 1.0, above = 0.0)]
    pub delta: f64,
}

/// Losses of rows and what follows from them.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LossesOfRows {
    /// The loss of each row.
    pub loss: Vec<f64>,
    /// Its derivative by the prediction.
    pub slope: Vec<f64>,
    /// The mean loss.
    pub mean: f64,
    /// The constant prediction of least mean loss.
    pub best_constant: f64,
}

impl Function for RegressionLoss {
    type Inputs<'a> = NumbersAndPredictions<'a>;
    type Output = LossesOfRows;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.regression_loss", FunctionKind::Metric)
            .reference("Hastie, Tibshirani and Friedman (2009), section 10.6");

    fn call(&self, given: NumbersAndPredictions, _run: &Context) -> Result<LossesOfRows> {
        let residuals: Vec<f64> =
            given.y_true.iter().zip(given.y_pred).map(|(y, f)| y - f).collect();
        let loss: Vec<f64> = residuals.iter().map(|&r| self.loss.of(r, self.delta)).collect();
        let slope = residuals.iter().map(|&r| self.loss.slope(r, self.delta)).collect();
        let mean = super::weighted_mean(&loss, given.sample_weight);
        let best_constant = self.best_constant(given.y_true, given.sample_weight);
        Ok(LossesOfRows { loss, slope, mean, best_constant })
    }
}

impl RegressionLoss {
    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        match self.loss {
            RowLoss::Squared | RowLoss::HalfSquared => super::weighted_mean(y, weights),
            RowLoss::Absolute => weighted_median(y, weights),
            RowLoss::Huber => self.root_of_slope(y, weights),
        }
    }

    /// Where the mean slope of the Huber loss, which rises with the constant, changes its sign.
    fn root_of_slope(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        let mut low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let mut high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slope = |c: f64| -> f64 {
            let one =
                |(i, y): (usize, &f64)| weight_of(weights, i) * self.loss.slope(y - c, self.delta);
            y.iter().enumerate().map(one).sum()
        };
        for _ in 0..200 {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        low + (high - low) / 2.0
    }
}

/// The least value with half of the weight at or below it; the middle of two where that is exact.
fn weighted_median(y: &[f64], weights: Option<&[f64]>) -> f64 {
    let mut order: Vec<usize> = (0..y.len()).filter(|&i| weight_of(weights, i) > 0.0).collect();
    order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
    let total: f64 = order.iter().map(|&i| weight_of(weights, i)).sum();
    let mut sum = 0.0;
    for (k, &i) in order.iter().enumerate() {
        sum += weight_of(weights, i);
        if 2.0 * sum == total && k + 1 < order.len() {
            return y[i] + (y[order[k + 1]] - y[i]) / 2.0;
        }
        if 2.0 * sum >= total {
            return y[i];
        }
    }
    f64::NAN
}

/// Losses that are known, of any kind.
#[derive(Inputs, Clone, Copy)]
pub struct KnownLosses<'a> {
    /// The loss of each row.
    pub losses: &'a [f64],
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Mean of losses of any kind, with its standard error and, for bounded losses, Hoeffding's bar: the
/// estimate of a model's error from rows that were held out.
#[derive(Params, Clone, Debug)]
#[params(constraints = ordered)]
pub struct HoldoutEstimate {
    /// Probability with which the error may lie outside the bar.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
    /// Least possible loss.
    #[param(default = 0.0)]
    pub low: f64,
    /// Largest possible loss; without one there is no bar.
    #[param(default = Some(1.0))]
    pub high: Option<f64>,
}

/// An error with what is known about its uncertainty.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// The mean loss.
    pub mean: f64,
    /// The weighted sum of losses.
    pub sum: f64,
    /// Standard error of the mean; none for a single row.
    pub standard_error: Option<f64>,
    /// Half width of Hoeffding's interval.
    pub bar: Option<f64>,
}

impl HoldoutEstimate {
    fn ordered(&self) -> Result<()> {
        match self.high {
            Some(high) if high <= self.low => {
                Err(Error::parameter("high", format!("a number above {}", self.low), high))
            }
            _ => Ok(()),
        }
    }
}

impl Function for HoldoutEstimate {
    type Inputs<'a> = KnownLosses<'a>;
    type Output = HeldOut;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.holdout_estimate", FunctionKind::Metric)
            .reference("Hoeffding (1963)")
            .exempt(&[("scaled weights", "the sum is a sum of weights")]);

    fn call(&self, given: KnownLosses, _run: &Context) -> Result<HeldOut> {
        let KnownLosses { losses, sample_weight } = given;
        if let Some(high) = self.high
            && let Some(row) = losses.iter().position(|e| *e < self.low || *e > high)
        {
            let (loss, low) = (losses[row], self.low);
            let message = format!("the loss of row {} is {loss}, not in [{low}, {high}]", row + 1);
            return Err(Error::new(Code::Usage, message)
                .hint("say the largest loss with `high`, or that there is none"));
        }
        let mean = super::weighted_mean(losses, sample_weight);
        let count = (0..losses.len()).filter(|&i| weight_of(sample_weight, i) > 0.0).count();
        let n = count as f64;
        let width = self.high.map(|high| high - self.low);
        Ok(HeldOut {
            mean,
            sum: losses.iter().enumerate().map(|(i, e)| weight_of(sample_weight, i) * e).sum(),
            standard_error: (count > 1).then(|| standard_error(losses, sample_weight, mean, n)),
            bar: width.map(|width| width * ((2.0 / self.delta).ln() / (2.0 * n)).sqrt()),
        })
    }
}

fn standard_error(losses: &[f64], weights: Option<&[f64]>, mean: f64, n: f64) -> f64 {
    if weights.is_none() {
        return summary::sd(losses, None, 1.0).map_or(f64::NAN, |sd| sd / n.sqrt());
    }
    let total: f64 = (0..losses.len()).map(|i| weight_of(weights, i)).sum();
    let part = |(i, e): (usize, &f64)| (weight_of(weights, i) * (e - mean)).powi(2);
    let sum: f64 = losses.iter().enumerate().map(part).sum();
    sum.sqrt() / total * (n / (n - 1.0)).sqrt()
}

/// Classes and predictions of training rows, and of other rows.
#[derive(Inputs, Clone, Copy)]
pub struct TrainAndTest<'a> {
    /// The actual class of each training row.
    pub y_train: Classes<'a>,
    /// The predicted class of each training row.
    pub train_pred: Classes<'a>,
    /// The actual class of each test row.
    #[input(apart)]
    pub y_test: Classes<'a>,
    /// The predicted class of each test row.
    #[input(apart)]
    pub test_pred: Classes<'a>,
}

/// Error rates on training and test rows, and their difference, the generalisation gap.
#[derive(Params, Clone, Debug)]
pub struct GeneralizationGap {
    /// Probability with which the error may lie outside Hoeffding's bar around the test error.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
}

/// Errors inside and outside the sample.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Gap {
    /// Share of training rows that are wrong.
    pub train_error: f64,
    /// Share of test rows that are wrong.
    pub test_error: f64,
    /// Test error less training error.
    pub gap: f64,
    /// Standard error of the test error.
    pub standard_error: f64,
    /// Half width of Hoeffding's interval around the test error.
    pub bar: f64,
}

impl Function for GeneralizationGap {
    type Inputs<'a> = TrainAndTest<'a>;
    type Output = Gap;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.generalization_gap", FunctionKind::Metric);

    fn call(&self, given: TrainAndTest, _run: &Context) -> Result<Gap> {
        let (train, _) = error_rate(&given.y_train, &given.train_pred)?;
        let (test, n) = error_rate(&given.y_test, &given.test_pred)?;
        Ok(Gap {
            train_error: train,
            test_error: test,
            gap: test - train,
            standard_error: (test * (1.0 - test) / n).sqrt(),
            bar: ((2.0 / self.delta).ln() / (2.0 * n)).sqrt(),
        })
    }
}

fn error_rate(actual: &Classes, predicted: &Classes) -> Result<(f64, f64)> {
    super::same_length("the predictions", actual.codes.len(), predicted.codes.len())?;
    let wrong = actual.codes.iter().zip(predicted.codes).filter(|(a, b)| a != b).count();
    let n = actual.codes.len() as f64;
    Ok((wrong as f64 / n, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(loss: RowLoss, y: &[f64], f: &[f64]) -> LossesOfRows {
        let given = NumbersAndPredictions { y_true: y, y_pred: f, sample_weight: None };
        RegressionLoss { loss, ..Default::default() }.compute(given).unwrap()
    }

    #[test]
    fn the_best_constant_of_the_absolute_loss_is_the_median_and_of_the_squared_one_the_mean() {
        let (y, f) = ([1.0, 2.0, 10.0], [0.0; 3]);
        assert_eq!(loss(RowLoss::Absolute, &y, &f).best_constant, 2.0);
        assert!((loss(RowLoss::Squared, &y, &f).best_constant - 13.0 / 3.0).abs() < 1e-12);
        let huber = loss(RowLoss::Huber, &y, &f).best_constant;
        // One row pulls up with slope 1; the others, both within the square part, must balance it.
        assert!((huber - 2.0).abs() < 1e-9, "{huber}");
        let given =
            NumbersAndPredictions { y_true: &y, y_pred: &f, sample_weight: Some(&[1.0, 1.0, 5.0]) };
        let absolute = RegressionLoss { loss: RowLoss::Absolute, ..Default::default() };
        assert_eq!(absolute.compute(given).unwrap().best_constant, 10.0);
    }

    #[test]
    fn slopes_are_derivatives_by_the_prediction() {
        let h = 1e-6;
        for kind in [RowLoss::Squared, RowLoss::HalfSquared, RowLoss::Absolute, RowLoss::Huber] {
            for (y, f) in [(1.0, 3.0), (2.0, 1.7), (0.0, -5.0)] {
                let slope = loss(kind, &[y], &[f]).slope[0];
                let risen = loss(kind, &[y], &[f + h]).loss[0];
                let fallen = loss(kind, &[y], &[f - h]).loss[0];
                assert!((slope - (risen - fallen) / (2.0 * h)).abs() < 1e-5, "{kind:?}");
            }
        }
        assert_eq!(loss(RowLoss::HalfSquared, &[1.0], &[3.0]).slope, [2.0], "f - y");
        assert_eq!(loss(RowLoss::Absolute, &[1.0], &[1.0]).slope, [0.0]);
    }

    #[test]
    fn the_bar_of_two_hundred_rows_and_equal_weights_change_no_mean() {
        let losses: Vec<f64> = (0..200).map(|i| f64::from(i % 4 == 0)).collect();
        let given = KnownLosses { losses: &losses, sample_weight: None };
        let found = HoldoutEstimate::default().compute(given).unwrap();
        assert!((found.bar.unwrap() - 0.096_032).abs() < 1e-6);
        let same = KnownLosses { sample_weight: Some(&[2.0; 200]), ..given };
        let weighted = HoldoutEstimate::default().compute(same).unwrap();
        assert!((found.mean - 0.25).abs() < 1e-15 && (weighted.mean - 0.25).abs() < 1e-15);
        let (a, b) = (found.standard_error.unwrap(), weighted.standard_error.unwrap());
        assert!((a - b).abs() < 1e-12, "{a} {b}");
        let far = KnownLosses { losses: &[3.0], sample_weight: None };
        assert!(HoldoutEstimate::default().compute(far).is_err());
    }

    #[test]
    fn the_gap_is_the_difference_of_two_error_rates() {
        let classes = ["a", "b"].map(Label::from);
        let of = |codes: &'static [u32]| codes;
        let y = |codes| Classes { codes, classes: &classes };
        let given = TrainAndTest {
            y_train: y(of(&[0, 1, 1, 0])),
            train_pred: y(of(&[0, 1, 1, 1])),
            y_test: y(of(&[0, 1])),
            test_pred: y(of(&[1, 1])),
        };
        let found = GeneralizationGap::default().compute(given).unwrap();
        assert_eq!((found.train_error, found.test_error, found.gap), (0.25, 0.5, 0.25));
    }
}
