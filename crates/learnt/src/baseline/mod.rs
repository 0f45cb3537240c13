//! Baselines: predictions that ignore the inputs, for every other learner to beat.

mod dummy_classifier;
mod dummy_regressor;

pub use dummy_classifier::{ClassifierStrategy, DummyClassifier, DummyClassifierModel};
pub use dummy_regressor::{DummyRegressor, DummyRegressorModel, RegressorStrategy};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<DummyClassifier>(), entry::<DummyRegressor>()];
