//! Linear models: least squares with inference, ridge, logistic regression.

pub mod diagnostics;
mod evidence;
mod inference;
mod least_squares;
mod likelihood;
mod linear_regression;
mod logistic_fit;
mod logistic_regression;
mod predict;
mod ridge;
mod subset;

pub use inference::{CoefficientTest, Inference, IntervalKind, Test};
pub use likelihood::inference::LogisticInference;
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
pub use predict::linear_predict;
pub use ridge::{Ridge, RidgeModel, RidgeSolver};
pub use subset::{
    BestSubsetCriterion, BestSubsetRegression, Direction, StepwiseCriterion, StepwiseRegression,
    SubsetRegressionModel,
};

use learnt_core::estimator::{Entry, entry};

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<LinearRegression>(),
    entry::<Ridge>(),
    entry::<LogisticRegression>(),
    entry::<BestSubsetRegression>(),
    entry::<StepwiseRegression>(),
];
