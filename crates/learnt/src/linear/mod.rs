//! Linear models: least squares with inference, subset selection, penalties, generalised linear
//! models, logistic regression, stochastic descent, perceptrons and the classical procedures for
//! separating two classes.

pub mod analyses;
mod anova;
mod coefficient_table;
mod descent;
pub mod diagnostics;
mod estimates;
mod evidence;
mod generalized;
mod geometry;
mod indicator_regression;
mod inference;
mod inference_report;
mod joint_moments;
mod least_squares;
mod likelihood;
mod linear_regression;
mod logistic_fit;
pub mod logistic_functions;
mod logistic_questions;
mod logistic_regression;
mod logistic_route;
mod logistic_wide;
mod marks;
mod nested;
mod orthogonalize;
pub mod penalized;
mod questions;
mod region;
mod ridge;
mod robust;
mod separation;
mod simple_regression;
mod subset;

pub use anova::{AnovaType, compare_fits};
pub use descent::{
    Average, ClassLoss, DescentPenalty, LearningRate, Passes, Perceptron, PerceptronMode,
    PerceptronModel, PerceptronRate, RealLoss, SGDClassifier, SGDClassifierModel, SGDRegressor,
    SGDRegressorModel, Steps, ZeroIs,
};
pub use generalized::{
    FamilyName, GammaRegressor, GeneralizedInference, GeneralizedLinearModel, GeneralizedModel,
    GeneralizedSolver, LinkName, PoissonRegressor, TweedieLink, TweedieRegressor,
};
pub use geometry::{Hyperplane, LinearMachine, OnBoundary};
pub use indicator_regression::{IndicatorRegression, IndicatorRegressionModel};
pub use inference::{CoefficientTest, Inference, IntervalKind, Sampling, Test};
pub use joint_moments::JointMoments;
pub use likelihood::inference::LogisticInference;
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
pub use marks::marked;
pub use nested::nested_test;
pub use orthogonalize::{Orthogonalization, successive_orthogonalization};
pub use penalized::{
    CoordinateDescent, ElasticNet, ElasticNetCV, ElasticNetCVModel, ElasticNetModel, Lasso,
    LassoCV, LassoCVModel, PenaltySearch, RidgeCV, RidgeCVModel,
};
pub use region::ConfidenceRegion;
pub use ridge::{Ridge, RidgeModel, RidgeSolver};
pub use robust::{Robust, RobustCovariance};
pub use separation::{
    HoKashyapClassifier, HoKashyapClassifierModel, MinimumSquaredErrorClassifier,
    MinimumSquaredErrorClassifierModel, Reflected, Separability, SeparationSolver, WidrowHoffRate,
    WidrowHoffUpdates, linear_separability, rectified_margin_step, reflect_rows,
};
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
    entry::<IndicatorRegression>(),
    entry::<Lasso>(),
    entry::<ElasticNet>(),
    entry::<GeneralizedLinearModel>(),
    entry::<PoissonRegressor>(),
    entry::<GammaRegressor>(),
    entry::<TweedieRegressor>(),
    entry::<SGDClassifier>(),
    entry::<SGDRegressor>(),
    entry::<Perceptron>(),
    entry::<MinimumSquaredErrorClassifier>(),
    entry::<HoKashyapClassifier>(),
    entry::<RidgeCV>(),
    entry::<LassoCV>(),
    entry::<ElasticNetCV>(),
];
