//! Precision against recall over all thresholds, average precision, gain and lift.
//!
//! Average precision is Σ (R_n - R_{n-1}) P_n. The gain is the share of positives among the rows with the
//! highest scores, the lift that share over the share of rows taken.

use super::precision_recall::Average;
use super::ranking::Steps;
use super::roc_curve::one_against_rest;
use super::{Ranked, Score, undefined, undefined_or};
use crate::charts::classification::{self, Curve};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// Precision and recall over all thresholds.
#[derive(Params, Clone, Debug)]
pub struct PrecisionRecallCurve {
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
    /// Whether to leave out thresholds that change no true positives.
    pub drop_intermediate: bool,
}

/// Points of the curve, from the lowest threshold on; the last has no threshold.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PrecisionRecallPoints {
    /// TP / (TP + FP), 1 at the end.
    pub precision: Vec<f64>,
    /// TP / (TP + FN), falling to 0.
    pub recall: Vec<f64>,
    /// Thresholds, rising.
    pub thresholds: Vec<f64>,
}

impl Function for PrecisionRecallCurve {
    type Inputs<'a> = Ranked<'a>;
    type Output = PrecisionRecallPoints;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.precision_recall_curve", FunctionKind::Metric);

    fn call(&self, given: Ranked, run: &Context) -> Result<PrecisionRecallPoints> {
        let steps = Steps::of_two(&given, self.pos_label.as_ref(), run)?;
        let (hits, _) = steps.totals();
        if hits == 0.0 {
            undefined_or(run, "recall", "there are no positive rows", 1.0)?;
        }
        let (t, f) = (&steps.true_positives, &steps.false_positives);
        let n = t.len();
        let moves = |k: usize| k == 0 || k + 1 == n || t[k] != t[k - 1] || t[k + 1] != t[k];
        let kept = (0..n).rev().filter(|&k| !self.drop_intermediate || moves(k));
        let mut found = PrecisionRecallPoints {
            precision: Vec::with_capacity(n + 1),
            recall: Vec::with_capacity(n + 1),
            thresholds: Vec::with_capacity(n),
        };
        for k in kept {
            found.precision.push(t[k] / (t[k] + f[k]));
            found.recall.push(if hits > 0.0 { t[k] / hits } else { 1.0 });
            found.thresholds.push(steps.thresholds[k]);
        }
        found.precision.push(1.0);
        found.recall.push(0.0);
        Ok(found)
    }

    fn chart(&self, found: &PrecisionRecallPoints) -> Option<Chart> {
        let steps = found.recall.windows(2).zip(&found.precision);
        let curve = Curve {
            class: String::new(),
            x: found.recall.clone(),
            y: found.precision.clone(),
            sum: steps.map(|(recall, precision)| (recall[0] - recall[1]) * precision).sum(),
        };
        Some(classification::precision_recall(&[curve]))
    }
}

/// Average precision: the mean of the precisions at which recall rises.
#[derive(Params, Clone, Debug)]
pub struct AveragePrecisionScore {
    /// How the scores of several classes become one.
    #[param(default = Average::Macro)]
    pub average: Average,
    /// The positive class of two.
    #[param(default = Value::Int(1))]
    pub pos_label: Value,
}

impl Function for AveragePrecisionScore {
    type Inputs<'a> = Ranked<'a>;
    type Output = Score;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.average_precision_score", FunctionKind::Metric).threads().scores(
            &[Scorer::higher(
                "average-precision",
                Task::Classification,
                "Area under precision against recall, by steps; mean over several classes.",
            )
            .alias(&["ap"])],
        );

    fn call(&self, given: Ranked, run: &Context) -> Result<Score> {
        let score = |steps: &Steps| match steps.totals().0 > 0.0 {
            true => Ok(steps.average_precision()),
            false => undefined_or(run, "average precision", "there are no positive rows", 0.0),
        };
        let classes = given.y_true.classes.len();
        if classes <= 2 {
            let steps = Steps::of_two(&given, Some(&self.pos_label), run)?;
            return score(&steps).map(Score::One);
        }
        if given.y_score.ncols() != classes {
            let expected = format!("{classes} columns, one a class");
            return Err(Error::shape("y_score", expected, given.y_score.ncols()));
        }
        let places: Vec<Option<usize>> = (0..classes).map(Some).collect();
        one_against_rest(self.average, &given, &places, run, score)
    }
}

/// Gain and lift: what is found when the rows with the highest scores are taken first.
#[derive(Params, Clone, Debug)]
pub struct LiftCurve {
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
}

/// One point for each distinct score, from the highest on.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LiftPoints {
    /// Share of rows taken.
    pub targeted: Vec<f64>,
    /// Share of positives among them.
    pub gain: Vec<f64>,
    /// Gain over share taken.
    pub lift: Vec<f64>,
}

impl Function for LiftCurve {
    type Inputs<'a> = Ranked<'a>;
    type Output = LiftPoints;
    const ABOUT: &'static Callable = &Callable::new("metrics.lift_curve", FunctionKind::Metric);

    fn call(&self, given: Ranked, run: &Context) -> Result<LiftPoints> {
        let steps = Steps::of_two(&given, self.pos_label.as_ref(), run)?;
        let (hits, misses) = steps.totals();
        if hits == 0.0 {
            return Err(undefined("the gain", "there are no positive rows"));
        }
        let pairs = steps.true_positives.iter().zip(&steps.false_positives);
        let targeted: Vec<f64> = pairs.map(|(t, f)| (t + f) / (hits + misses)).collect();
        let gain: Vec<f64> = steps.true_positives.iter().map(|t| t / hits).collect();
        let lift = gain.iter().zip(&targeted).map(|(gain, share)| gain / share).collect();
        Ok(LiftPoints { targeted, gain, lift })
    }

    fn chart(&self, found: &LiftPoints) -> Option<Chart> {
        let from_nothing = |values: &[f64]| [&[0.0], values].concat();
        let gains = Panel::new("share of rows taken", "share of positives found")
            .mark(Mark::line("chance", vec![0.0, 1.0], vec![0.0, 1.0]).muted().dashed())
            .mark(Mark::line("gain", from_nothing(&found.targeted), from_nothing(&found.gain)));
        let lift = Panel::new("share of rows taken", "lift")
            .mark(Mark::horizontal("chance", vec![1.0]).muted().dashed())
            .mark(Mark::line("lift", found.targeted.clone(), found.lift.clone()));
        let text = "Positives found when the rows with the highest scores are taken first.";
        Some(Chart::new("Gain and lift", text).panel(gains).panel(lift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_curve_ends_at_all_rows_and_all_positives() {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[1, 0, 1], classes: &classes };
        let scores = Matrix::column_vector(vec![1.0, 2.0, 3.0]);
        let given = Ranked { y_true, y_score: scores.view(), sample_weight: None };
        let curve = LiftCurve::default().compute(given).unwrap();
        assert_eq!((curve.targeted[2], curve.gain[2], curve.lift[2]), (1.0, 1.0, 1.0));
    }
}
