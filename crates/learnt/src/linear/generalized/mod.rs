//! Generalised linear models: one engine for every family and link, and the learners on it.

mod alias;
mod family;
mod fit;
mod gamma_regressor;
mod generalized_linear_model;
mod inference;
mod model;
mod pass;
mod poisson_regressor;
mod tweedie_regressor;

pub use gamma_regressor::GammaRegressor;
pub use generalized_linear_model::{FamilyName, GeneralizedLinearModel, LinkName};
pub use inference::GeneralizedInference;
pub use model::GeneralizedModel;
pub use poisson_regressor::{GeneralizedSolver, PoissonRegressor};
pub use tweedie_regressor::{TweedieLink, TweedieRegressor};

/// The rounds of a learner whose `problem` says what to fit.
macro_rules! generalized_rounds {
    ($learner:ty) => {
        impl Rounds for $learner {
            type State = super::fit::Fit;
            type Summary = super::pass::Summary;
            type Memo = ();

            fn begin(&self, outline: &Outline, run: &Context) -> Result<Self::State> {
                self.problem().begin(outline, run)
            }

            fn summarize(
                &self,
                state: &Self::State,
                block: &Block,
                _memo: &mut (),
                _run: &Context,
            ) -> Result<Self::Summary> {
                self.problem().summarize(state, block)
            }

            fn advance(
                &self,
                state: Self::State,
                all: Self::Summary,
                run: &Context,
            ) -> Result<Step<Self::State, Self::Model>> {
                self.problem().advance(state, all, run)
            }
        }
    };
}
use generalized_rounds;
