//! Decision trees on one engine.

pub(crate) mod binned;
mod c45_classifier;
mod class_changes;
pub(crate) mod contributions;
mod decision_tree_classifier;
mod decision_tree_regressor;
mod gain_ratio;
pub(crate) mod grow;
mod id3_classifier;
mod impurity;
pub(crate) mod loss;
pub(crate) mod many;
mod multiway;
pub(crate) mod nodes;
pub(crate) mod options;
pub(crate) mod prune;
mod rules;
mod split_numbers;
pub(crate) mod text;

#[cfg(test)]
mod multiway_tests;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod search_tests;

pub use c45_classifier::{C45Classifier, C45Criterion, C45Pruning, CutAt, MultiwayTreeModel};
pub use class_changes::{ClassChangeCuts, QuantityAndClass};
pub(crate) use decision_tree_classifier::class_weights;
pub use decision_tree_classifier::{
    ClassWeight, DecisionTreeClassifier, DecisionTreeClassifierModel, TreeClassifierCriterion,
};
pub(crate) use decision_tree_regressor::check_counts;
pub use decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorModel, TreeRegressorCriterion,
};
pub use gain_ratio::{AttributeAndClass, GainRatio, SplitGain};
pub use id3_classifier::ID3Classifier;
pub use impurity::{Impurity, ImpurityKind, InformationGain, NodeCounts, SplitScore, SplitTable};
pub use multiway::{CostRule, MissingAs};
pub use options::{Growth, MaxFeatures, Method, MinSamplesLeaf, MinSamplesSplit, Splitter};
pub use prune::PruningPath;
pub use split_numbers::{
    AttributeAndNumber, CostGains, CostSensitiveGain, Impurities, ImpurityCurve, SplitDeviation,
    Spread,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<DecisionTreeClassifier>(),
    entry::<DecisionTreeRegressor>(),
    entry::<C45Classifier>(),
    entry::<ID3Classifier>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<Impurity>(),
    function::<InformationGain>(),
    function::<GainRatio>(),
    function::<SplitScore>(),
    function::<SplitDeviation>(),
    function::<CostSensitiveGain>(),
    function::<ImpurityCurve>(),
    function::<ClassChangeCuts>(),
];
