//! Decision trees on one engine.

mod decision_tree_classifier;
mod decision_tree_regressor;
mod gain_ratio;
pub(crate) mod grow;
mod impurity;
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
pub use gain_ratio::{AttributeAndClass, GainRatio, SplitGain};
pub use impurity::{Impurity, ImpurityKind, InformationGain, NodeCounts, SplitScore, SplitTable};
pub use options::{Growth, MaxFeatures, Method, MinSamplesLeaf, MinSamplesSplit, Splitter};
pub use prune::PruningPath;

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] =
    &[entry::<DecisionTreeClassifier>(), entry::<DecisionTreeRegressor>()];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<Impurity>(),
    function::<InformationGain>(),
    function::<GainRatio>(),
    function::<SplitScore>(),
];
