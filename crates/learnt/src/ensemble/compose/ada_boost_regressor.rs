//! AdaBoost.R2: regressors one after another on rows drawn by weight; the weighted median of them.
//!
//! A round draws n rows by weight and fits the learner. With e_i = |y - f| / max |y - f| (or its square,
//! or 1 - exp(-e)) and err = Σ w e, β = err / (1 - err): the member's weight is rate ln(1/β), and rows
//! are multiplied by β^(rate (1 - e)). Rounds end at `n_estimators`, without error, or with err >= 1/2,
//! when the member is dropped unless it is the first.
//!
//! Drucker, "Improving regressors using boosting techniques" (1997).

use super::ada_boost_classifier::fit_drawn;
use super::{accepts_of_parts, check_regressors, member_report, parts_of, predictions_of};
use crate::learner::{Fitted, Learner};
use crate::tree::{DecisionTreeRegressor, Growth};
use learnt_core::context::Progress;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// AdaBoost regressor (R2): regressors one after another, on rows that were predicted badly.
///
/// ```
/// use learnt::{ensemble::AdaBoostRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let model = AdaBoostRegressor::default().fit(&data.view())?;
/// assert!(!model.estimator_weights.is_empty());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct AdaBoostRegressor {
    /// The regressor; none is a tree of depth 3.
    #[param(positional, learner = regressor, default = None)]
    pub estimator: Option<Learner>,
    /// Maximum number of rounds.
    #[param(default = 50, range = 1.., search = set(50, 200))]
    pub n_estimators: usize,
    /// Learning rate: weights of members are multiplied by it.
    #[param(default = 1.0, above = 0.0, search = log(0.01, 2.0))]
    pub learning_rate: f64,
    /// How errors between 0 and 1 are weighed.
    #[param(default = AdaBoostLoss::Linear)]
    pub loss: AdaBoostLoss,
}

/// How errors between 0 and 1 are weighed.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum AdaBoostLoss {
    /// As they are.
    Linear,
    /// Their squares.
    Square,
    /// 1 - exp(-e).
    Exponential,
}

/// A fitted [`AdaBoostRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct AdaBoostRegressorModel {
    /// Weight of each member.
    #[nonnegative]
    pub estimator_weights: Vec<f64>,
    /// Weighted error of each member.
    #[share]
    pub estimator_errors: Vec<f64>,
    parts: Vec<Fitted>,
}

pub(super) fn small_tree() -> Learner {
    let growth = Growth { max_depth: Some(3), ..Default::default() };
    DecisionTreeRegressor { growth, ..Default::default() }.into()
}

impl Estimator for AdaBoostRegressor {
    type Model = AdaBoostRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.AdaBoostRegressor")
        .alias(&["adaboost", "ada-boost"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .threads()
        .iterations()
        .complexity(72)
        .cost("a fit of the learner for each round")
        .reference("Drucker (1997)")
        .exempt(&[("weights_repeat", "a weight is a chance to be drawn")]);

    fn accepts(&self) -> Accepts {
        let accepts = self
            .estimator
            .as_ref()
            .map_or_else(|| small_tree().any_accepts(), |learner| learner.any_accepts());
        Accepts { many_outputs: false, weights: true, ..accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<AdaBoostRegressorModel> {
        let y = data.real_target()?.column(0);
        let learner = self.estimator.clone().unwrap_or_else(small_tree);
        let mut model = AdaBoostRegressorModel {
            estimator_weights: Vec::new(),
            estimator_errors: Vec::new(),
            parts: Vec::new(),
        };
        let total: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
        let mut weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i) / total).collect();
        for round in 0..self.n_estimators {
            let name = format!("round {}", round + 1);
            let part = fit_drawn(&learner, (&name, round), data, &weights, run)?;
            let found = predictions_of(&part, &data.x, run)?;
            let errors = self.errors(&y, &found);
            let error: f64 = weights.iter().zip(&errors).map(|(w, e)| w * e).sum();
            let useless = error >= 0.5;
            if useless && !model.parts.is_empty() {
                break;
            }
            let beta = (error / (1.0 - error).max(1e-10)).max(1e-10);
            let weight = if useless { 1.0 } else { self.learning_rate * (1.0 / beta).ln() };
            model.parts.push(part);
            model.estimator_weights.push(weight);
            model.estimator_errors.push(error.clamp(0.0, 1.0));
            run.progress(&Progress {
                stage: "boosting",
                done: round as u64 + 1,
                total: Some(self.n_estimators as u64),
                objective: Some(error),
            })?;
            if useless || error <= 1e-10 {
                break;
            }
            let rate = self.learning_rate;
            weights.iter_mut().zip(&errors).for_each(|(w, e)| *w *= beta.powf(rate * (1.0 - e)));
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
        }
        Ok(model)
    }
}

impl AdaBoostRegressor {
    /// Errors between 0 and 1.
    fn errors(&self, y: &[f64], found: &[f64]) -> Vec<f64> {
        let mut errors: Vec<f64> = y.iter().zip(found).map(|(y, f)| (y - f).abs()).collect();
        let largest = errors.iter().copied().fold(0.0, f64::max);
        for error in &mut errors {
            let share = if largest > 0.0 { *error / largest } else { 0.0 };
            *error = match self.loss {
                AdaBoostLoss::Linear => share,
                AdaBoostLoss::Square => share * share,
                AdaBoostLoss::Exponential => 1.0 - (-share).exp(),
            };
        }
        errors
    }
}

impl AdaBoostRegressorModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.parts)?;
        let fits = self.estimator_weights.len() == self.parts.len()
            && self.estimator_errors.len() == self.parts.len();
        if fits { Ok(()) } else { Err(invalid("weights that do not fit the members")) }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("AdaBoost.R2", &self.parts, "weight", &self.estimator_weights)
    }
}

impl Regressor for AdaBoostRegressorModel {
    /// The weighted median of the members.
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let found = self
            .parts
            .iter()
            .map(|part| predictions_of(part, x, run))
            .collect::<Result<Vec<Vec<f64>>>>()?;
        let total: f64 = self.estimator_weights.iter().sum();
        let median = |i: usize| {
            let mut order: Vec<usize> = (0..found.len()).collect();
            order.sort_by(|&a, &b| found[a][i].total_cmp(&found[b][i]).then(a.cmp(&b)));
            let mut reached = 0.0;
            let place = order.iter().position(|&m| {
                reached += self.estimator_weights[m];
                reached >= 0.5 * total
            });
            found[order[place.unwrap_or(order.len() - 1)]][i]
        };
        Ok(Matrix::column_vector((0..x.nrows()).map(median).collect()))
    }
}
