//! Decision trees on one engine.

pub(crate) mod binned;
pub(crate) mod contributions;
mod decision_tree_classifier;
mod decision_tree_regressor;
mod gain_ratio;
pub(crate) mod grow;
mod impurity;
pub(crate) mod many;
pub(crate) mod nodes;
pub(crate) mod options;
pub(crate) mod prune;
mod split_numbers;
pub(crate) mod text;

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod search_tests;

pub(crate) use decision_tree_classifier::class_weights;
pub use decision_tree_classifier::{
    ClassWeight, DecisionTreeClassifier, DecisionTreeClassifierModel, TreeClassifierCriterion,
};
pub(crate) use decision_tree_regressor::check_counts;
pub use decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorModel, TreeRegressorCriterion,
};
pub use gain_ratio::{AttributeAndClass, GainRatio, SplitGain};
pub use impurity::{Impurity, ImpurityKind, InformationGain, NodeCounts, SplitScore, SplitTable};
pub use options::{Growth, MaxFeatures, Method, MinSamplesLeaf, MinSamplesSplit, Splitter};
pub use prune::PruningPath;
pub use split_numbers::{
    AttributeAndNumber, CostGains, CostSensitiveGain, Impurities, ImpurityCurve, SplitDeviation,
    Spread,
};

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
    function::<SplitDeviation>(),
    function::<CostSensitiveGain>(),
    function::<ImpurityCurve>(),
];
