//! Generalised linear models: one engine for every family and link, and the learners on it.

mod alias;
pub(super) mod asked;
mod by_rows;
pub(super) mod family;
mod fit;
mod gamma_regressor;
mod generalized_linear_model;
mod inference;
mod model;
mod observations;
mod pass;
mod poisson_regressor;
mod profile;
mod root;
mod rows;
mod tweedie_regressor;

pub use gamma_regressor::GammaRegressor;
pub use generalized_linear_model::{FamilyName, GeneralizedLinearModel, LinkName};
pub use inference::GeneralizedInference;
pub use model::GeneralizedModel;
pub use poisson_regressor::{GeneralizedSolver, PoissonRegressor};
pub use tweedie_regressor::{TweedieLink, TweedieRegressor};
