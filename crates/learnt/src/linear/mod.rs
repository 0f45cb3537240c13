//! Linear models: least squares with inference, ridge, logistic regression, stochastic descent,
//! perceptrons and the classical procedures for separating two classes.

mod descent;
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
mod separation;

pub use descent::{
    Average, ClassLoss, DescentPenalty, LearningRate, Perceptron, PerceptronMode, PerceptronModel,
    PerceptronRate, RealLoss, SGDClassifier, SGDClassifierModel, SGDRegressor, SGDRegressorModel,
    ZeroIs,
};
pub use inference::{CoefficientTest, Inference, IntervalKind, Test};
pub use likelihood::inference::LogisticInference;
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
pub use predict::linear_predict;
pub use ridge::{Ridge, RidgeModel, RidgeSolver};
pub use separation::{
    HoKashyapClassifier, HoKashyapClassifierModel, MinimumSquaredErrorClassifier,
    MinimumSquaredErrorClassifierModel, Reflected, Separability, SeparationSolver, WidrowHoffRate,
    WidrowHoffUpdates, linear_separability, rectified_margin_step, reflect_rows,
};

use learnt_core::estimator::{Entry, entry};

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<LinearRegression>(),
    entry::<Ridge>(),
    entry::<LogisticRegression>(),
    entry::<SGDClassifier>(),
    entry::<SGDRegressor>(),
    entry::<Perceptron>(),
    entry::<MinimumSquaredErrorClassifier>(),
    entry::<HoKashyapClassifier>(),
];
