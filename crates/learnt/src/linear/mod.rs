//! Linear models: least squares with inference, ridge, logistic regression.

mod likelihood;
mod logistic_fit;
mod logistic_regression;

pub use likelihood::inference::LogisticInference;
pub use logistic_regression::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<LogisticRegression>()];
