//! Scores of predicted classes as a whole, read off the confusion matrix.
//!
//! Accuracy Σ_k n_kk / n; balanced accuracy, the mean recall over the classes that occur; Matthews'
//! correlation; Cohen's kappa 1 - Σ w n / Σ w e with e the counts that the margins alone would give and
//! w = [i ≠ j], |i - j| or (i - j)²; and the mean cost Σ n c / n for a table of costs.
//!
//! References: Cohen (1960); Matthews (1975); Gorodkin (2004) for several classes.

use super::{Predicted, class_positions, undefined_or};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

const TASK: Task = Task::Classification;

/// Accuracy: the share of rows whose class is predicted right.
#[derive(Params, Clone, Debug)]
pub struct AccuracyScore {
    /// Whether to give the share; otherwise the number of rows, or the sum of their weights.
    #[param(default = true)]
    pub normalize: bool,
}

impl Function for AccuracyScore {
    type Inputs<'a> = Predicted<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.accuracy_score", FunctionKind::Metric)
        .scores(&[Scorer::higher(
            "accuracy",
            TASK,
            "Share of rows whose class is predicted right.",
        )
        .alias(&["acc"])]);

    fn call(&self, given: Predicted, _run: &Context) -> Result<f64> {
        let (right, all) = hits(&given)?;
        Ok(if self.normalize { right / all } else { right })
    }
}

/// Zero-one loss: the share of rows whose class is predicted wrong.
#[derive(Params, Clone, Debug)]
pub struct ZeroOneLoss {
    /// Whether to give the share; otherwise the number of rows, or the sum of their weights.
    #[param(default = true)]
    pub normalize: bool,
}

impl Function for ZeroOneLoss {
    type Inputs<'a> = Predicted<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.zero_one_loss", FunctionKind::Metric)
        .scores(&[Scorer::lower("error", TASK, "Share of rows whose class is predicted wrong.")
            .alias(&["error-rate"])]);

    fn call(&self, given: Predicted, _run: &Context) -> Result<f64> {
        let (right, all) = hits(&given)?;
        Ok(if self.normalize { (all - right) / all } else { all - right })
    }
}

/// Weights of the rows predicted right, and of all.
fn hits(given: &Predicted) -> Result<(f64, f64)> {
    let right = given.y_true.codes.iter().zip(given.y_pred.codes).map(|(a, b)| a == b);
    Ok(match given.sample_weight {
        None => (right.filter(|right| *right).count() as f64, given.y_true.codes.len() as f64),
        Some(weights) => {
            let both = right.zip(weights).filter(|(right, _)| *right).map(|(_, weight)| weight);
            (both.sum(), weights.iter().sum())
        }
    })
}

/// Balanced accuracy: the mean recall over the classes that occur.
#[derive(Params, Clone, Debug)]
pub struct BalancedAccuracyScore {
    /// Whether to rescale so that chance has 0 and perfection 1.
    pub adjusted: bool,
}

impl Function for BalancedAccuracyScore {
    type Inputs<'a> = Predicted<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.balanced_accuracy_score", FunctionKind::Metric)
            .scores(&[Scorer::higher("balanced-accuracy", TASK, "Mean recall over the classes.")]);

    fn call(&self, given: Predicted, run: &Context) -> Result<f64> {
        let counts = given.counts()?;
        let recalls: Vec<f64> = (0..counts.classes()).filter_map(|k| counts.recall(k)).collect();
        let classes = recalls.len() as f64;
        let score = recalls.iter().sum::<f64>() / classes;
        match self.adjusted {
            false => Ok(score),
            true if classes < 2.0 => {
                undefined_or(run, "the adjusted score", "there is one class", f64::NAN)
            }
            true => Ok((score - 1.0 / classes) / (1.0 - 1.0 / classes)),
        }
    }
}

/// Matthews' correlation of actual and predicted classes; 0 if either is constant.
#[derive(Params, Clone, Debug)]
pub struct MatthewsCorrcoef {}

impl Function for MatthewsCorrcoef {
    type Inputs<'a> = Predicted<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.matthews_corrcoef", FunctionKind::Metric)
            .reference("Matthews (1975)")
            .scores(&[Scorer::higher(
                "matthews",
                TASK,
                "Matthews' correlation of actual and predicted classes.",
            )
            .alias(&["mcc"])]);

    fn call(&self, given: Predicted, _run: &Context) -> Result<f64> {
        Ok(given.counts()?.matthews())
    }
}

/// Cohen's kappa: agreement of two labelings beyond what their margins would give.
#[derive(Params, Clone, Debug)]
pub struct CohenKappaScore {
    /// The classes to count, in their order; all in sorted order by default.
    pub labels: Option<Vec<Value>>,
    /// How the distance of two classes counts.
    pub weights: Option<Disagreement>,
}

/// How far apart two classes are.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// Their places in the order.
    Linear,
    /// The square of that.
    Quadratic,
}

/// Two labelings of the same rows.
#[derive(Inputs, Clone, Copy)]
pub struct TwoLabelings<'a> {
    /// The first class of each row.
    pub y1: Classes<'a>,
    /// The second class of each row.
    pub y2: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for CohenKappaScore {
    type Inputs<'a> = TwoLabelings<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.cohen_kappa_score", FunctionKind::Metric).reference("Cohen (1960)");

    fn call(&self, given: TwoLabelings, run: &Context) -> Result<f64> {
        let TwoLabelings { y1: y_true, y2: y_pred, sample_weight } = given;
        let counts = Predicted { y_true, y_pred, sample_weight }.counts()?;
        let order = class_positions(self.labels.as_deref(), y_true.classes)?;
        let order: Vec<usize> = order.into_iter().flatten().collect();
        let cell = |i: usize, j: usize| counts.counts()[(order[i], order[j])];
        let k = order.len();
        let rows: Vec<f64> = (0..k).map(|i| (0..k).map(|j| cell(i, j)).sum()).collect();
        let columns: Vec<f64> = (0..k).map(|j| (0..k).map(|i| cell(i, j)).sum()).collect();
        let total: f64 = rows.iter().sum();
        let (mut seen, mut expected) = (0.0, 0.0);
        for i in 0..k {
            for j in 0..k {
                let weight = self.distance(i, j);
                seen += weight * cell(i, j);
                expected += weight * rows[i] * columns[j] / total;
            }
        }
        match expected > 0.0 {
            true => Ok(1.0 - seen / expected),
            false => undefined_or(run, "kappa", "one class is all there is", f64::NAN),
        }
    }
}

impl CohenKappaScore {
    fn distance(&self, i: usize, j: usize) -> f64 {
        let places = i.abs_diff(j) as f64;
        match self.weights {
            None => f64::from(i != j),
            Some(Disagreement::Linear) => places,
            Some(Disagreement::Quadratic) => places * places,
        }
    }
}

/// Mean cost of predictions: what each mistake costs is given.
#[derive(Params, Clone, Debug)]
pub struct CostWeightedError {
    /// The cost of each cell of the confusion matrix, row by row: rows actual, columns predicted, classes
    /// in sorted order.
    #[param(required)]
    pub costs: Vec<Vec<f64>>,
}

impl Function for CostWeightedError {
    type Inputs<'a> = Predicted<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.cost_weighted_error", FunctionKind::Metric).scores(&[
            Scorer::lower("cost", TASK, "Mean cost of predictions, of costs that are given.")
                .alias(&["mean-cost"]),
        ]);

    fn call(&self, given: Predicted, _run: &Context) -> Result<f64> {
        given.counts()?.cost(&Matrix::from_rows(&self.costs)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_of_one_for_each_mistake_is_the_zero_one_loss() {
        let classes = ["a", "b"].map(Label::from);
        let y_true = Classes { codes: &[0, 0, 0, 1], classes: &classes };
        let y_pred = Classes { codes: &[0, 1, 1, 1], classes: &classes };
        let given = Predicted { y_true, y_pred, sample_weight: Some(&[1.0, 2.0, 3.0, 4.0]) };
        let costs = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert_eq!(CostWeightedError { costs }.compute(given).unwrap(), 0.5);
        assert_eq!(ZeroOneLoss::default().compute(given).unwrap(), 0.5);
        assert_eq!(ZeroOneLoss { normalize: false }.compute(given).unwrap(), 5.0);
    }

    #[test]
    fn one_class_has_no_kappa() {
        let classes = ["a"].map(Label::from);
        let y = Classes { codes: &[0, 0], classes: &classes };
        let given = TwoLabelings { y1: y, y2: y, sample_weight: None };
        let error = CohenKappaScore::default().compute(given).unwrap_err();
        assert_eq!(error.code(), Code::Undefined);
    }
}
