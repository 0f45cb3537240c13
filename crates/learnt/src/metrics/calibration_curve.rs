//! The calibration curve: how often rows are positive beside how probable they were said to be.
//!
//! Probabilities are put into bins of equal width, or of equal numbers of rows; each bin that has rows
//! gives the mean probability and the share of positives.
//!
//! Reference: DeGroot and Fienberg (1983), The comparison and evaluation of forecasters.

use super::positive_class;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// Calibration curve: observed share of positives beside predicted probability, bin by bin.
#[derive(Params, Clone, Debug)]
pub struct CalibrationCurve {
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
    /// Number of bins.
    #[param(default = 5, range = 1..)]
    pub n_bins: usize,
    /// What the bins have in common.
    #[param(default = Bins::Uniform)]
    pub strategy: Bins,
}

/// What bins have in common.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// Their width.
    Uniform,
    /// Their number of rows.
    Quantile,
}

/// Classes and the probability of the positive one.
#[derive(Inputs, Clone, Copy)]
pub struct PositiveProbability<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// The probability of the positive class.
    pub y_prob: &'a [f64],
}

/// One point for each bin that has rows.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CalibrationPoints {
    /// Share of positive rows.
    pub prob_true: Vec<f64>,
    /// Mean probability.
    pub prob_pred: Vec<f64>,
}

impl Function for CalibrationCurve {
    type Inputs<'a> = PositiveProbability<'a>;
    type Output = CalibrationPoints;
    const ABOUT: &'static Callable =
        &Callable::new("calibration.calibration_curve", FunctionKind::Metric)
            .reference("DeGroot and Fienberg (1983)");

    fn call(&self, given: PositiveProbability, _run: &Context) -> Result<CalibrationPoints> {
        if let Some(i) = given.y_prob.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let message = format!("the probability of row {} is not between 0 and 1", i + 1);
            return Err(Error::new(Code::Parse, message).row(i as u64 + 1));
        }
        let positive = positive_class(self.pos_label.as_ref(), &given.y_true)?;
        let inner = self.inner_edges(given.y_prob);
        let (mut rows, mut hits, mut sums) =
            (vec![0.0; inner.len() + 1], vec![0.0; inner.len() + 1], vec![0.0; inner.len() + 1]);
        for (&p, &code) in given.y_prob.iter().zip(given.y_true.codes) {
            let bin = inner.partition_point(|&edge| edge < p);
            rows[bin] += 1.0;
            sums[bin] += p;
            hits[bin] += f64::from(Some(code) == positive);
        }
        let filled = || (0..rows.len()).filter(|&k| rows[k] > 0.0);
        Ok(CalibrationPoints {
            prob_true: filled().map(|k| hits[k] / rows[k]).collect(),
            prob_pred: filled().map(|k| sums[k] / rows[k]).collect(),
        })
    }

    fn chart(&self, found: &CalibrationPoints) -> Option<Chart> {
        let panel = Panel::new("predicted probability", "share of positives")
            .range_x(0.0, 1.0)
            .range_y(0.0, 1.0)
            .mark(Mark::line("perfect", vec![0.0, 1.0], vec![0.0, 1.0]).muted().dashed())
            .mark(Mark::line("observed", found.prob_pred.clone(), found.prob_true.clone()))
            .mark(
                Mark::points("observed", found.prob_pred.clone(), found.prob_true.clone())
                    .unnamed(),
            );
        let text = "Observed share of positives beside the predicted probability.";
        Some(Chart::new("Calibration", text).panel(panel))
    }
}

impl CalibrationCurve {
    /// The edges between bins.
    fn inner_edges(&self, p: &[f64]) -> Vec<f64> {
        let share = |k: usize| k as f64 / self.n_bins as f64;
        let shares = (1..self.n_bins).map(share);
        match self.strategy {
            Bins::Uniform => shares.collect(),
            Bins::Quantile => {
                let shares: Vec<f64> = shares.collect();
                summary::quantiles(p, &shares).unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_bins_are_left_out() {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[0, 0, 1, 1], classes: &classes };
        let given = PositiveProbability { y_true, y_prob: &[0.1, 0.1, 0.1, 0.9] };
        let found = CalibrationCurve::default().compute(given).unwrap();
        assert_eq!(found.prob_true, [1.0 / 3.0, 1.0]);
        assert_eq!(found.prob_pred.len(), 2);
    }
}
