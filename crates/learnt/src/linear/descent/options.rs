//! Choices that the learners by descent share.

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
