//! Parameters that the learners by descent share.

use super::effort::Effort;
use super::line::Plan;
use super::loss::Loss;
use learnt_core::prelude::*;

/// Penalties of the weights; the intercept has none.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescentPenalty {
    /// `alpha` times half the sum of squares.
    L2,
    /// `alpha` times the sum of absolute values; weights that it carries across zero stay there.
    L1,
    /// `l1_ratio` of the second, the rest of the first.
    Elasticnet,
    /// None.
    #[choice(none)]
    Nothing,
}

impl DescentPenalty {
    /// The strengths of the squares and of the absolute values.
    pub(super) fn strengths(self, alpha: f64, l1_ratio: f64) -> (f64, f64) {
        match self {
            DescentPenalty::L2 => (alpha, 0.0),
            DescentPenalty::L1 => (0.0, alpha),
            DescentPenalty::Elasticnet => (alpha * (1.0 - l1_ratio), alpha * l1_ratio),
            DescentPenalty::Nothing => (0.0, 0.0),
        }
    }
}

/// How long step t is.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningRate {
    /// `eta0`.
    Constant,
    /// 1 / (`alpha` (t + t0)), with t0 such that the first steps have the size of typical weights.
    Optimal,
    /// `eta0` / t^`power_t`.
    Invscaling,
    /// `eta0`, divided by 5 whenever passes no longer help, down to 1e-6.
    Adaptive,
    /// Passive-aggressive: as long as the hinge needs, at most `eta0`.
    #[choice(name = "pa1")]
    PassiveAggressive1,
    /// Passive-aggressive: hinge / (|x|² + 1 / (2 `eta0`)).
    #[choice(name = "pa2")]
    PassiveAggressive2,
}

impl LearningRate {
    pub(super) fn is_passive_aggressive(self) -> bool {
        matches!(self, LearningRate::PassiveAggressive1 | LearningRate::PassiveAggressive2)
    }

    /// Refuses a rate that needs what is not there.
    pub(super) fn check(self, alpha: f64, eta0: f64) -> Result<()> {
        match self {
            LearningRate::Optimal if alpha <= 0.0 => Err(Error::parameter(
                "alpha",
                "above 0 with learning_rate='optimal', which divides by it",
                alpha,
            )
            .hint("choose learning_rate='invscaling'")),
            LearningRate::Optimal => Ok(()),
            _ if eta0 <= 0.0 => Err(Error::parameter("eta0", "a number > 0", eta0)),
            _ => Ok(()),
        }
    }
}

/// Whether weights are averaged over steps.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Over all steps, or not at all.
    Always(bool),
    /// From this step on.
    #[choice(range = 1..)]
    From(usize),
}

impl Average {
    /// The first step that counts.
    pub(super) fn first_step(self) -> Option<u64> {
        match self {
            Average::Always(false) => None,
            Average::Always(true) => Some(1),
            Average::From(step) => Some(step as u64),
        }
    }
}

/// The steps of stochastic gradient descent, for classes and for numbers.
#[derive(Params, Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// The penalty (regularization) of the weights.
    #[param(default = DescentPenalty::L2)]
    pub penalty: DescentPenalty,
    /// Regularization strength; the learning rate `optimal` divides by it.
    #[param(default = 1e-4, range = 0.0.., search = log(1e-6, 1e-1))]
    pub alpha: f64,
    /// Share of the absolute values in the penalty `elasticnet`.
    #[param(default = 0.15, range = 0.0..=1.0)]
    pub l1_ratio: f64,
    /// Whether there are intercepts; they are not penalised.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Width of the losses `huber`, `epsilon_insensitive` and `squared_epsilon_insensitive`.
    #[param(default = 0.1, range = 0.0..)]
    pub epsilon: f64,
    /// Initial learning rate, for all schedules but `optimal`.
    #[param(default = 0.01, range = 0.0.., search = log(1e-5, 1e0))]
    pub eta0: f64,
    /// Whether the weights are averaged over steps, or the step from which they are.
    #[param(default = Average::Always(false))]
    pub average: Average,
    /// Mini-batch size: rows of a step, whose gradients are averaged.
    #[param(default = 1, range = 1..)]
    pub batch_size: usize,
    /// Momentum: the share of the last step that is repeated.
    #[param(default = 0.0, range = 0.0.., below = 1.0)]
    pub momentum: f64,
}

impl Steps {
    /// As the descent takes them.
    pub(super) fn plan(&self, loss: Loss, learning_rate: LearningRate, power_t: f64) -> Plan {
        Plan {
            loss,
            alpha: self.alpha,
            strengths: self.penalty.strengths(self.alpha, self.l1_ratio),
            learning_rate,
            eta0: self.eta0,
            power_t,
            fit_intercept: self.fit_intercept,
            batch_size: self.batch_size,
            sums: false,
            momentum: self.momentum,
            average: self.average.first_step(),
        }
    }
}

/// The passes of stochastic gradient descent and of the perceptron, and when they end.
#[derive(Params, Clone, Copy, Debug, PartialEq)]
pub struct Passes {
    /// Maximum number of epochs (passes over the rows).
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
    /// Stop when passes lower the mean loss by less than this; none makes all passes, those of a
    /// perceptron up to the first without a mistake.
    #[param(default = Some(1e-3), range = 0.0..)]
    pub tol: Option<f64>,
    /// Whether rows are shuffled before each epoch; else they are taken as listed.
    #[param(default = true)]
    pub shuffle: bool,
    /// Whether the score of held-out rows (accuracy, R²) decides when to stop.
    #[param(default = false)]
    pub early_stopping: bool,
    /// The share of rows held out as a validation set for early stopping.
    #[param(default = 0.1, above = 0.0, below = 1.0)]
    pub validation_fraction: f64,
    /// Epochs without improvement before stopping.
    #[param(default = 5, range = 1..)]
    pub n_iter_no_change: usize,
}

impl Passes {
    /// As the descent takes them; `classes` says whether targets are -1 and 1.
    pub(super) fn effort(&self, classes: bool) -> Effort {
        Effort {
            max_iter: self.max_iter,
            tol: self.tol,
            shuffle: self.shuffle,
            n_iter_no_change: self.n_iter_no_change,
            held_out: self.early_stopping.then_some(self.validation_fraction),
            classes,
            clean_pass_ends: false,
        }
    }
}
