//! Linear models: least squares with inference, and shrinkage.

pub mod diagnostics;
mod inference;
mod least_squares;
mod linear_regression;
mod predict;
mod ridge;

pub use inference::{CoefficientTest, Inference, IntervalKind, Test};
pub use linear_regression::{LinearRegression, LinearRegressionModel};
pub use predict::linear_predict;
pub use ridge::{Alpha, Ridge, RidgeModel, RidgeSolver};

use learnt_core::estimator::{Entry, entry};

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<LinearRegression>(), entry::<Ridge>()];
