//! Linear models: least squares with inference, ridge, generalised linear models,
//! logistic regression.

mod coefficient_table;
pub mod diagnostics;
mod evidence;
mod generalized;
mod inference;
mod least_squares;
mod likelihood;
mod linear_regression;
mod logistic_fit;
pub mod logistic_functions;
mod logistic_regression;
pub mod penalized;
mod predict;
mod ridge;

pub use generalized::{
    FamilyName, GammaRegressor, GeneralizedInference, GeneralizedLinearModel, GeneralizedModel,
    GeneralizedSolver, LinkName, PoissonRegressor, TweedieLink, TweedieRegressor,
};
pub use inference::{CoefficientTest, Inference, IntervalKind, Test};
pub use likelihood::inference::LogisticInference;
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
pub use penalized::{
    ElasticNet, ElasticNetCV, ElasticNetCVModel, ElasticNetModel, Lasso, LassoCV, LassoCVModel,
    RidgeCV, RidgeCVModel,
};
pub use predict::linear_predict;
pub use ridge::{Ridge, RidgeModel, RidgeSolver};

use learnt_core::estimator::{Entry, entry};

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<LinearRegression>(),
    entry::<Ridge>(),
    entry::<RidgeCV>(),
    entry::<Lasso>(),
    entry::<LassoCV>(),
    entry::<ElasticNet>(),
    entry::<ElasticNetCV>(),
    entry::<LogisticRegression>(),
    entry::<GeneralizedLinearModel>(),
    entry::<PoissonRegressor>(),
    entry::<GammaRegressor>(),
    entry::<TweedieRegressor>(),
];
