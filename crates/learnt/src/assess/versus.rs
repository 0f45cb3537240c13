//! Two learners against each other: the tests of `select::versus` as a function.

use super::Examples;
use crate::Learner;
use crate::select::{Contest, Verdict};
use learnt_core::prelude::*;

/// Whether two learners differ: corrected resampled t test, 5x2cv F test and McNemar's test.
#[derive(Params, Clone, Debug)]
pub struct Versus {
    /// The first learner.
    #[param(positional, required, learner = any)]
    pub first: Learner,
    /// The second learner.
    #[param(positional, required, learner = any)]
    pub second: Learner,
    /// Number of folds.
    #[param(default = 10, range = 2..)]
    pub cv: usize,
    /// How often the folds are drawn for the t test.
    #[param(default = 1, range = 1..)]
    pub n_repeats: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

impl Function for Versus {
    type Inputs<'a> = Examples<'a>;
    type Output = Verdict;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.versus", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Dietterich (1998), Approximate statistical tests");

    fn call(&self, given: Examples, run: &Context) -> Result<Verdict> {
        let target = given.target(&self.first)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let contest = Contest { metric, folds: self.cv, repeats: self.n_repeats };
        contest.run(self.first.0.as_ref(), self.second.0.as_ref(), &data, run)
    }
}
