//! Forward stagewise additive fits: f_m = f_{m-1} + rate β b(x), earlier terms frozen.
//!
//! - Regression: f_0 is the best constant. A round fits the learner to the negative gradient of the loss
//!   (least squares), and β is the least of Σ w L(y, f + β b) along it, by bisection of its derivative.
//! - Two classes, y = ±1: f_0 = 0. A round fits a classifier b(x) = ±1 with the weights
//!   w exp(-y f) (exponential loss) or w/(1 + exp(2 y f)) (logistic loss ln(1 + exp(-2 y f))), and β is the
//!   least of the loss; for the exponential one ½ ln((1 - err)/err). So the exponential loss gives AdaBoost's
//!   weights and steps. P(y = 1) = 1/(1 + exp(-2 f)).
//!
//! The training loss never rises: a step that would raise it is not made, and ends the rounds. They end at
//! `n_estimators` or when nothing is left to gain too.
//!
//! Friedman, Hastie and Tibshirani (2000), Annals of Statistics 28, 337-407; Friedman (2001), Annals of
//! Statistics 29, 1189-1232.

use super::super::loss::{Loss, Targets};
use super::super::stopping::tell;
use super::ada_boost_classifier::{fit_weighted, normalise, stump};
use super::ada_boost_regressor::small_tree;
use super::{
    accepts_of_parts, check_classifiers, check_regressors, codes_of, member_report, parts_of,
    predictions_of,
};
use crate::learner::{Fitted, Learner};
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::special::{sigmoid, softplus};

/// Steps of classifiers without an error: as if they had this share.
const LEAST_ERROR: f64 = 1e-10;

/// Forward stagewise additive regressor: any regressor, one term a round, with a step along the loss.
///
/// ```
/// use learnt::{ensemble::StagewiseRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let model = StagewiseRegressor::default().fit(&data.view())?;
/// assert!(model.train_score.windows(2).all(|pair| pair[1] <= pair[0]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct StagewiseRegressor {
    /// The regressor of a term; none is a tree of depth 3.
    #[param(positional, learner = regressor, default = None)]
    pub estimator: Option<Learner>,
    /// The loss.
    #[param(default = StagewiseLoss::SquaredError)]
    pub loss: StagewiseLoss,
    /// Maximum number of rounds.
    #[param(default = 50, range = 1.., search = set(50, 200))]
    pub n_estimators: usize,
    /// Learning rate: steps are multiplied by it.
    #[param(default = 1.0, above = 0.0, range = ..=1.0, search = log(0.01, 1.0))]
    pub learning_rate: f64,
    /// Where the Huber loss turns into a line.
    #[param(default = 1.0, above = 0.0)]
    pub delta: f64,
}

/// The loss of a [`StagewiseRegressor`].
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum StagewiseLoss {
    /// ½ (y - f)².
    SquaredError,
    /// |y - f|.
    AbsoluteError,
    /// Squares up to `delta`, then lines.
    Huber,
}

/// Forward stagewise additive classifier of two classes: any classifier, one term a round.
///
/// With the exponential loss it is AdaBoost.
///
/// ```
/// use learnt::{ensemble::StagewiseClassifier, prelude::*};
/// let data = learnt::datasets::load("breast_cancer")?;
/// let learner = StagewiseClassifier { n_estimators: 10, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// assert!(model.train_score.windows(2).all(|pair| pair[1] <= pair[0]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct StagewiseClassifier {
    /// The classifier of a term; none is a decision stump.
    #[param(positional, learner = classifier, default = None)]
    pub estimator: Option<Learner>,
    /// The loss.
    #[param(default = MarginLoss::Exponential)]
    pub loss: MarginLoss,
    /// Maximum number of rounds.
    #[param(default = 50, range = 1.., search = set(50, 200))]
    pub n_estimators: usize,
    /// Learning rate: steps are multiplied by it.
    #[param(default = 1.0, above = 0.0, range = ..=1.0, search = log(0.01, 1.0))]
    pub learning_rate: f64,
}

/// A loss of the margin y f.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MarginLoss {
    /// exp(-y f).
    Exponential,
    /// ln(1 + exp(-2 y f)).
    LogLoss,
}

/// A fitted [`StagewiseRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct StagewiseRegressorModel {
    /// Step of each term: β times the learning rate.
    #[finite]
    pub estimator_weights: Vec<f64>,
    /// Mean training loss at the start and after each round.
    #[finite]
    pub train_score: Vec<f64>,
    /// The best constant.
    #[finite]
    pub start: f64,
    parts: Vec<Fitted>,
}

/// A fitted [`StagewiseClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct StagewiseClassifierModel {
    /// Step of each term: β times the learning rate.
    #[finite]
    pub estimator_weights: Vec<f64>,
    /// Share of weight that each term got wrong.
    #[share]
    pub estimator_errors: Vec<f64>,
    /// Mean training loss at the start and after each round.
    #[finite]
    pub train_score: Vec<f64>,
    parts: Vec<Fitted>,
    classes: Vec<Label>,
}

/// Where an increasing function is zero, from 0 on; the last number with a finite value if nowhere.
fn root(slope: impl Fn(f64) -> f64) -> f64 {
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        if slope(high) >= 0.0 {
            break;
        }
        low = high;
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if slope(middle) >= 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

impl Estimator for StagewiseRegressor {
    type Model = StagewiseRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.StagewiseRegressor")
        .alias(&["stagewise"])
        .weights()
        .missing()
        .categories()
        .only_by_name()
        .randomness()
        .threads()
        .iterations()
        .complexity(71)
        .cost("a fit of the learner for each round")
        .reference("Friedman (2001)")
        .exempt(&[("seeds_differ", "the default learner draws nothing")]);

    fn accepts(&self) -> Accepts {
        let accepts =
            self.estimator.as_ref().map_or_else(|| small_tree().any_accepts(), |l| l.any_accepts());
        Accepts { many_outputs: false, ..accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<StagewiseRegressorModel> {
        let y = data.real_target()?.column(0);
        let learner = self.estimator.clone().unwrap_or_else(small_tree);
        let loss = match self.loss {
            StagewiseLoss::SquaredError => Loss::Squared,
            StagewiseLoss::AbsoluteError => Loss::Absolute,
            StagewiseLoss::Huber => Loss::Huber(self.delta),
        };
        let targets = Targets { y: &y, weights: data.weights };
        let start = loss.start(&targets)[0];
        let mut scores = vec![start; y.len()];
        let total: f64 = (0..y.len()).map(|i| data.weight(i)).sum();
        let share = |i: usize| data.weight(i) / total;
        let mean = |scores: &[f64]| -> f64 {
            (0..y.len()).map(|i| share(i) * loss.value(y[i], &scores[i..=i])).sum()
        };
        let mut model = StagewiseRegressorModel {
            estimator_weights: Vec::new(),
            train_score: vec![mean(&scores)],
            start,
            parts: Vec::new(),
        };
        for round in 0..self.n_estimators {
            let residuals: Vec<f64> =
                (0..y.len()).map(|i| -loss.derivatives(y[i], scores[i]).0).collect();
            let column = Matrix::column_vector(residuals);
            let data = data.with_target(Target::Real(column.view()));
            let inner = run.child(round as u64).with_threads(run.threads());
            let part = Fitted::fit(&*learner, &format!("round {}", round + 1), &data, &inner)?;
            let term = predictions_of(&part, &data.x, run)?;
            let slope = |beta: f64| -> f64 {
                let at = |i: usize| loss.derivatives(y[i], scores[i] + beta * term[i]).0 * term[i];
                (0..y.len()).map(|i| share(i) * at(i)).sum()
            };
            let step = self.learning_rate * root(slope);
            let next: Vec<f64> = scores.iter().zip(&term).map(|(f, b)| f + step * b).collect();
            let (before, after) = (model.train_score[round], mean(&next));
            let gains = step != 0.0 && after.is_finite() && after <= before;
            if !gains && !model.parts.is_empty() {
                break;
            }
            model.parts.push(part);
            model.estimator_weights.push(if gains { step } else { 0.0 });
            model.train_score.push(if gains { after } else { before });
            if gains {
                scores = next;
            }
            tell(round + 1, self.n_estimators, (&model.train_score, &[]), run)?;
            if !gains {
                break;
            }
        }
        match model.train_score.iter().all(|loss| loss.is_finite()) {
            true => Ok(model),
            false => Err(Error::numeric("the target is too large for this loss; divide it first")),
        }
    }
}

impl StagewiseRegressorModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.parts)?;
        let fits = self.estimator_weights.len() == self.parts.len()
            && self.train_score.len() == self.parts.len() + 1;
        if fits { Ok(()) } else { Err(invalid("steps that do not fit the terms")) }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("Stagewise fit", &self.parts, "step", &self.estimator_weights)
    }
}

impl Regressor for StagewiseRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut scores = vec![self.start; x.nrows()];
        for (part, step) in self.parts.iter().zip(&self.estimator_weights) {
            let term = predictions_of(part, x, run)?;
            scores.iter_mut().zip(term).for_each(|(score, b)| *score += step * b);
        }
        Ok(Matrix::column_vector(scores))
    }
}

impl MarginLoss {
    fn value(self, margin: f64) -> f64 {
        match self {
            MarginLoss::Exponential => (-margin).exp(),
            MarginLoss::LogLoss => softplus(-2.0 * margin),
        }
    }

    /// Minus its derivative: the weight of a row for the next term.
    fn weight(self, margin: f64) -> f64 {
        match self {
            MarginLoss::Exponential => (-margin).exp(),
            MarginLoss::LogLoss => 2.0 * sigmoid(-2.0 * margin),
        }
    }
}

impl Estimator for StagewiseClassifier {
    type Model = StagewiseClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.StagewiseClassifier")
        .alias(&["stagewise"])
        .weights()
        .missing()
        .categories()
        .two_classes()
        .decision_scores()
        .only_by_name()
        .randomness()
        .threads()
        .iterations()
        .complexity(71)
        .cost("a fit of the learner for each round")
        .reference("Friedman, Hastie and Tibshirani (2000)")
        .exempt(&[("seeds_differ", "the default learner draws nothing")]);

    fn accepts(&self) -> Accepts {
        let accepts =
            self.estimator.as_ref().map_or_else(|| stump().any_accepts(), |l| l.any_accepts());
        Accepts { many_outputs: false, weights: true, ..accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<StagewiseClassifierModel> {
        let (codes, classes) = data.class_target()?;
        if classes.len() < 2 {
            let message = "the target has one class, and a stagewise fit needs two classes";
            return Err(Error::new(Code::Target, message));
        }
        let learner = self.estimator.clone().unwrap_or_else(stump);
        let side = |code: u32| 2.0 * f64::from(code) - 1.0;
        let mut given: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
        normalise(&mut given);
        let mut margins = vec![0.0; data.nrows()];
        let mean = |margins: &[f64]| -> f64 {
            given.iter().zip(margins).map(|(w, &margin)| w * self.loss.value(margin)).sum()
        };
        let mut model = StagewiseClassifierModel {
            estimator_weights: Vec::new(),
            estimator_errors: Vec::new(),
            train_score: vec![mean(&margins)],
            parts: Vec::new(),
            classes: classes.to_vec(),
        };
        for round in 0..self.n_estimators {
            let pairs = given.iter().zip(&margins);
            let mut weights: Vec<f64> = pairs.map(|(w, &m)| w * self.loss.weight(m)).collect();
            normalise(&mut weights);
            let name = format!("round {}", round + 1);
            let part = fit_weighted(&learner, (&name, round), data, &weights, run)?;
            let called = codes_of(&part, classes.len(), &data.x, run)?;
            let agree: Vec<f64> =
                called.iter().zip(codes).map(|(&a, &b)| side(a) * side(b)).collect();
            let wrong = agree.iter().zip(&weights).filter(|(a, _)| **a < 0.0);
            let error: f64 = wrong.map(|(_, w)| w).sum();
            if error >= 0.5 - 1e-12 {
                break;
            }
            let step = self.learning_rate * self.step(error, &given, &margins, &agree);
            margins.iter_mut().zip(&agree).for_each(|(margin, a)| *margin += step * a);
            model.parts.push(part);
            model.estimator_errors.push(error.clamp(0.0, 1.0));
            model.estimator_weights.push(step);
            model.train_score.push(mean(&margins));
            tell(round + 1, self.n_estimators, (&model.train_score, &[]), run)?;
            if error <= LEAST_ERROR {
                break;
            }
        }
        match model.parts.is_empty() {
            false => Ok(model),
            true => {
                let message =
                    "the first term is no better than guessing, so there is nothing to add";
                Err(Error::new(Code::Undefined, message).hint("give another estimator"))
            }
        }
    }
}

impl StagewiseClassifier {
    /// The least of the loss along a term that agrees (+1) or not (-1) with rows.
    fn step(&self, error: f64, given: &[f64], margins: &[f64], agree: &[f64]) -> f64 {
        let exact = 0.5 * ((1.0 - error) / error.max(LEAST_ERROR)).ln();
        if self.loss == MarginLoss::Exponential || error <= LEAST_ERROR {
            return exact;
        }
        root(|beta| {
            let at = |i: usize| -agree[i] * self.loss.weight(margins[i] + beta * agree[i]);
            (0..given.len()).map(|i| given[i] * at(i)).sum()
        })
    }
}

impl StagewiseClassifierModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        let fits = self.estimator_weights.len() == self.parts.len()
            && self.estimator_errors.len() == self.parts.len()
            && self.train_score.len() == self.parts.len() + 1
            && self.classes.len() == 2;
        if fits { Ok(()) } else { Err(invalid("steps that do not fit the terms")) }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("Stagewise fit", &self.parts, "step", &self.estimator_weights)
    }

    fn scores(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; x.nrows()];
        for (part, step) in self.parts.iter().zip(&self.estimator_weights) {
            let called = codes_of(part, 2, x, run)?;
            let side = |code: u32| 2.0 * f64::from(code) - 1.0;
            scores.iter_mut().zip(called).for_each(|(score, code)| *score += step * side(code));
        }
        Ok(scores)
    }
}

impl Classifier for StagewiseClassifierModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        Ok(self.scores(x, run)?.into_iter().map(|f| u32::from(f > 0.0)).collect())
    }

    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(Matrix::column_vector(self.scores(x, run)?))
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let shares = self.scores(x, run)?.into_iter().map(|f| sigmoid(2.0 * f));
        Matrix::from_rows(&shares.map(|p| vec![1.0 - p, p]).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AdaBoostClassifier;
    use super::*;
    use crate::linear::LinearRegression;

    #[test]
    fn exponential_loss_gives_the_steps_and_errors_of_adaboost() {
        let data = crate::datasets::load("breast_cancer").unwrap();
        let stagewise = StagewiseClassifier { n_estimators: 8, ..Default::default() };
        let adaboost = AdaBoostClassifier { n_estimators: 8, ..Default::default() };
        let ours = stagewise.fit(&data.view()).unwrap();
        let theirs = adaboost.fit(&data.view()).unwrap();
        for k in 0..8 {
            assert!((ours.estimator_errors[k] - theirs.estimator_errors[k]).abs() < 1e-12);
            // AdaBoost's weights are the doubled ones.
            let double = 2.0 * ours.estimator_weights[k];
            assert!((double - theirs.estimator_weights[k]).abs() < 1e-10);
        }
        let frame = data.x.frame();
        assert_eq!(ours.classify(&frame).unwrap(), theirs.classify(&frame).unwrap());
        assert!(ours.train_score.windows(2).all(|pair| pair[1] <= pair[0]));
    }

    #[test]
    fn the_training_loss_never_rises_for_any_loss_and_learner() {
        let data = crate::datasets::load("cpu").unwrap();
        for loss in
            [StagewiseLoss::SquaredError, StagewiseLoss::AbsoluteError, StagewiseLoss::Huber]
        {
            for estimator in [None, Some(LinearRegression::default().into())] {
                let learner =
                    StagewiseRegressor { estimator, loss, n_estimators: 12, ..Default::default() };
                let model = learner.fit(&data.view()).unwrap();
                let falls = model.train_score.windows(2).all(|pair| pair[1] <= pair[0]);
                assert!(falls, "{loss:?}: {:?}", model.train_score);
            }
        }
        let cancer = crate::datasets::load("breast_cancer").unwrap();
        let logistic = StagewiseClassifier {
            loss: MarginLoss::LogLoss,
            n_estimators: 8,
            ..Default::default()
        };
        let model = logistic.fit(&cancer.view()).unwrap();
        assert!(model.train_score.windows(2).all(|pair| pair[1] < pair[0]));
        assert!((model.train_score[0] - std::f64::consts::LN_2).abs() < 1e-12);
    }

    #[test]
    fn one_line_is_all_that_lines_can_add() {
        let x = Matrix::from_fn(20, 1, |i, _| i as f64);
        let y = (0..20).map(|i| 3.0 - 2.0 * i as f64).collect();
        let data = OwnedDataset::regression(x, y);
        let line: Option<Learner> = Some(LinearRegression::default().into());
        let learner = StagewiseRegressor { estimator: line, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert!(model.train_score[1] < 1e-18 && (model.estimator_weights[0] - 1.0).abs() < 1e-9);
    }
}
