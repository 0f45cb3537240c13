//! Losses as functions: of a margin z = y f with y = ±1, of decision scores, of residuals, and as curves.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 10.6.

use super::losses;
use super::{Estimated, weighted_mean};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// Loss of a margin, value by value.
#[derive(Params, Clone, Debug)]
pub struct MarginLoss {
    /// Which loss.
    #[param(default = MarginKind::Logistic, positional)]
    pub loss: MarginKind,
}

/// Losses of a margin; each is 1 at 0.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginKind {
    /// 1 if z ≤ 0.
    ZeroOne,
    /// max(0, 1 - z).
    Hinge,
    /// log₂(1 + e⁻ᶻ).
    Logistic,
    /// ln(1 + e⁻²ᶻ) / ln 2.
    Deviance,
    /// e⁻ᶻ.
    Exponential,
    /// (1 - z)².
    Squared,
    /// (1 - z)² below 1, else 0.
    TruncatedSquared,
}

impl MarginKind {
    /// Every loss.
    pub const ALL: [MarginKind; 7] = [
        MarginKind::ZeroOne,
        MarginKind::Hinge,
        MarginKind::Logistic,
        MarginKind::Deviance,
        MarginKind::Exponential,
        MarginKind::Squared,
        MarginKind::TruncatedSquared,
    ];

    /// The loss of a margin.
    pub fn of(self, z: f64) -> f64 {
        match self {
            MarginKind::ZeroOne => losses::zero_one(z),
            MarginKind::Hinge => losses::hinge(z),
            MarginKind::Logistic => losses::logistic(z),
            MarginKind::Deviance => losses::deviance(z),
            MarginKind::Exponential => losses::exponential(z),
            MarginKind::Squared => losses::squared(z),
            MarginKind::TruncatedSquared => losses::truncated_squared(z),
        }
    }
}

/// Margins.
#[derive(Inputs, Clone, Copy)]
pub struct Margins<'a> {
    /// Margins y f, positive where the sign is right.
    pub z: &'a [f64],
}

impl Function for MarginLoss {
    type Inputs<'a> = Margins<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("metrics.margin_loss", FunctionKind::Metric)
        .reference("Hastie, Tibshirani and Friedman (2009), section 10.6");

    fn call(&self, given: Margins, _run: &Context) -> Result<Vec<f64>> {
        Ok(given.z.iter().map(|&z| self.loss.of(z)).collect())
    }
}

/// Hinge loss: the mean of max(0, 1 - margin).
///
/// The margin of two classes is ±score; of several, the score of the actual class less the highest of the
/// others.
#[derive(Params, Clone, Debug)]
pub struct HingeLoss {
    /// All classes, where some do not occur; those that occur by default.
    pub labels: Option<Vec<Value>>,
}

/// Classes and decision scores.
#[derive(Inputs, Clone, Copy)]
pub struct Decided<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// Decision scores: one column for two classes, else one a class.
    pub pred_decision: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for HingeLoss {
    type Inputs<'a> = Decided<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.hinge_loss", FunctionKind::Metric);

    fn call(&self, given: Decided, _run: &Context) -> Result<f64> {
        let (classes, scores) = (given.y_true.classes, given.pred_decision);
        let known = match &self.labels {
            None => classes.to_vec(),
            Some(labels) => {
                let all = labels.iter().map(|value| super::class_of("labels", value));
                Label::encode(&all.collect::<Result<Vec<_>>>()?).1
            }
        };
        let columns = if known.len() > 2 { known.len() } else { 1 };
        if scores.ncols() != columns {
            let expected = format!("{columns} columns for {} classes", known.len());
            return Err(Error::shape("pred_decision", expected, scores.ncols()));
        }
        let place = |class: &Label| {
            super::position(&known, class)
                .ok_or_else(|| Error::parameter("labels", "all classes that occur", "others"))
        };
        let places = classes.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let margin = |(i, &code): (usize, &u32)| {
            let own = places[code as usize];
            match columns {
                1 if own == 1 => scores.at(i, 0),
                1 => -scores.at(i, 0),
                _ => {
                    let others = (0..columns).filter(|&j| j != own).map(|j| scores.at(i, j));
                    scores.at(i, own) - others.fold(f64::NEG_INFINITY, f64::max)
                }
            }
        };
        let values: Vec<f64> =
            given.y_true.codes.iter().enumerate().map(|row| losses::hinge(margin(row))).collect();
        Ok(weighted_mean(&values, given.sample_weight))
    }
}

/// Huber loss: squared for small residuals, absolute for large ones.
#[derive(Params, Clone, Debug)]
pub struct HuberLoss {
    /// The size of a residual from which on the loss grows linearly.
    #[param(default = 1.0, above = 0.0)]
    pub delta: f64,
    /// Whether to double, so that small residuals have their square.
    pub full: bool,
}

impl Function for HuberLoss {
    type Inputs<'a> = Estimated<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.huber_loss", FunctionKind::Metric)
        .reference("Huber (1964)")
        .scores(&[Scorer::lower("huber", Task::Regression, "Mean Huber loss with δ = 1.")]);

    fn call(&self, given: Estimated, _run: &Context) -> Result<f64> {
        let scale = if self.full { 2.0 } else { 1.0 };
        super::regression::check_shapes(&given)?;
        let columns = given.y_true.ncols();
        let values: Vec<f64> = (0..given.y_true.nrows())
            .map(|i| {
                let of = |j: usize| {
                    let residual = given.y_true.at(i, j) - given.y_pred.at(i, j);
                    scale * losses::huber(residual, self.delta)
                };
                (0..columns).map(of).sum::<f64>() / columns as f64
            })
            .collect();
        Ok(weighted_mean(&values, given.sample_weight))
    }
}

/// Losses of a margin over a range, side by side.
#[derive(Params, Clone, Debug)]
#[params(constraints = some_range)]
pub struct LossCurves {
    /// The least margin.
    #[param(default = -3.0)]
    pub start: f64,
    /// The largest margin.
    #[param(default = 3.0)]
    pub stop: f64,
    /// Number of margins.
    #[param(default = 121, range = 2..)]
    pub n_points: usize,
}

/// A column of margins and one for each loss.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LossTable {
    /// Margins.
    pub z: Vec<f64>,
    /// 1 if z ≤ 0.
    pub zero_one: Vec<f64>,
    /// max(0, 1 - z).
    pub hinge: Vec<f64>,
    /// log₂(1 + e⁻ᶻ).
    pub logistic: Vec<f64>,
    /// ln(1 + e⁻²ᶻ) / ln 2.
    pub deviance: Vec<f64>,
    /// e⁻ᶻ.
    pub exponential: Vec<f64>,
    /// (1 - z)².
    pub squared: Vec<f64>,
    /// (1 - z)² below 1, else 0.
    pub truncated_squared: Vec<f64>,
}

impl LossCurves {
    fn some_range(&self) -> Result<()> {
        match self.start < self.stop {
            true => Ok(()),
            false => Err(Error::parameter("stop", format!("above {}", self.start), self.stop)),
        }
    }
}

impl Function for LossCurves {
    type Inputs<'a> = ();
    type Output = LossTable;
    const ABOUT: &'static Callable = &Callable::new("metrics.loss_curves", FunctionKind::Metric)
        .reference("Hastie, Tibshirani and Friedman (2009), figure 10.4");

    fn call(&self, _inputs: (), _run: &Context) -> Result<LossTable> {
        let step = (self.stop - self.start) / (self.n_points - 1) as f64;
        let z: Vec<f64> = (0..self.n_points).map(|k| self.start + step * k as f64).collect();
        let of = |kind: MarginKind| z.iter().map(|&z| kind.of(z)).collect();
        Ok(LossTable {
            zero_one: of(MarginKind::ZeroOne),
            hinge: of(MarginKind::Hinge),
            logistic: of(MarginKind::Logistic),
            deviance: of(MarginKind::Deviance),
            exponential: of(MarginKind::Exponential),
            squared: of(MarginKind::Squared),
            truncated_squared: of(MarginKind::TruncatedSquared),
            z,
        })
    }

    fn chart(&self, found: &LossTable) -> Option<Chart> {
        let curves = [
            ("zero-one", &found.zero_one),
            ("hinge", &found.hinge),
            ("logistic", &found.logistic),
            ("deviance", &found.deviance),
            ("exponential", &found.exponential),
            ("squared", &found.squared),
            ("truncated squared", &found.truncated_squared),
        ];
        let panel = curves
            .into_iter()
            .fold(Panel::new("margin", "loss").range_y(0.0, 4.0), |panel, (name, values)| {
                panel.mark(Mark::line(name, found.z.clone(), values.clone()))
            });
        Some(Chart::new("Losses of a margin", "Each is 1 at a margin of 0.").panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_one_at_zero() {
        let curves = LossCurves { n_points: 3, ..Default::default() }.compute(()).unwrap();
        assert_eq!(curves.z, [-3.0, 0.0, 3.0]);
        assert!(MarginKind::ALL.iter().all(|kind| (kind.of(0.0) - 1.0).abs() < 1e-15));
        let reversed = LossCurves { start: 1.0, stop: 0.0, n_points: 5 };
        assert_eq!(reversed.compute(()).unwrap_err().code(), Code::Parameter);
    }
}
