//! Decision trees on one engine.

mod decision_tree_classifier;
mod decision_tree_regressor;
mod gain_ratio;
pub(crate) mod grow;
mod nodes;
mod options;
mod prune;
mod text;

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod search_tests;

pub use decision_tree_classifier::{
    ClassWeight, DecisionTreeClassifier, DecisionTreeClassifierModel, TreeClassifierCriterion,
};
pub use decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorModel, TreeRegressorCriterion,
};
pub use gain_ratio::{GainRatio, SplitGain};
pub use options::{MaxFeatures, Method, MinSamplesLeaf, MinSamplesSplit, Splitter};
pub use prune::PruningPath;

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] =
    &[entry::<DecisionTreeClassifier>(), entry::<DecisionTreeRegressor>()];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[function::<GainRatio>()];
