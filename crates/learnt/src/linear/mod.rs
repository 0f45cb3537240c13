//! Linear models: least squares with inference, ridge, logistic regression.

pub mod diagnostics;
mod evidence;
mod inference;
mod inference_report;
mod joint_moments;
mod least_squares;
mod likelihood;
mod linear_regression;
mod logistic_fit;
mod logistic_regression;
mod nested;
mod orthogonalize;
mod predict;
mod region;
mod ridge;
mod simple_regression;
mod subset;

pub use inference::{CoefficientTest, Inference, IntervalKind, Sampling, Test};
pub use joint_moments::JointMoments;
pub use likelihood::inference::LogisticInference;
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
pub use nested::nested_test;
pub use orthogonalize::{Orthogonalization, successive_orthogonalization};
pub use predict::linear_predict;
pub use region::ConfidenceRegion;
pub use ridge::{Ridge, RidgeModel, RidgeSolver};
pub use simple_regression::{SimpleRegression, simple_regression};
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
