//! Decision trees on one engine.

pub(crate) mod binned;
pub(crate) mod bundle;
mod c45_classifier;
mod class_changes;
pub(crate) mod contributions;
mod decision_tree_classifier;
mod decision_tree_regressor;
pub(crate) mod dependence;
mod gain_ratio;
pub(crate) mod grow;
mod id3_classifier;
mod impurity;
pub(crate) mod kept;
pub(crate) mod loss;
mod m5_regressor;
pub(crate) mod many;
mod multiway;
pub(crate) mod nodes;
pub(crate) mod oblique_tree_classifier;
mod options;
pub(crate) mod prune;
mod questions;
mod rules;
mod split_numbers;
mod surrogates;
pub(crate) mod text;
mod two_class_splits;

#[cfg(test)]
mod cart_tests;
#[cfg(test)]
mod multiway_tests;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod search_tests;

pub use c45_classifier::{C45Classifier, C45Criterion, C45Pruning, CutAt, MultiwayTreeModel};
pub use class_changes::{ClassChangeCuts, QuantityAndClass};
pub(crate) use decision_tree_classifier::balanced_weights;
pub use decision_tree_classifier::{
    CategoricalSplits, ClassWeight, DecisionTreeClassifier, DecisionTreeClassifierModel,
    TreeClassifierCriterion,
};
pub use decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorModel, TreeRegressorCriterion,
};
pub(crate) use decision_tree_regressor::{check_counts, check_not_negative, no_events};
pub use gain_ratio::{AttributeAndClass, GainRatio, SplitGain};
pub use id3_classifier::ID3Classifier;
pub use impurity::{Impurity, ImpurityKind, InformationGain, NodeCounts, SplitScore, SplitTable};
pub use m5_regressor::{M5Regressor, M5RegressorModel};
pub use multiway::{CostRule, MissingAs};
pub use oblique_tree_classifier::{
    ObliqueTreeClassifier, ObliqueTreeClassifierModel, SplitDirection,
};
pub use options::{Growth, MaxFeatures, Method, MinSamplesLeaf, MinSamplesSplit, Splitter};
pub use prune::PruningPath;
pub use split_numbers::{
    AttributeAndNumber, CategoricalPartitions, CostGains, CostSensitiveGain, Impurities,
    ImpurityCurve, SplitDeviation, Spread,
};
pub use two_class_splits::{SplitScores, TwoClassSplits};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<DecisionTreeClassifier>(),
    entry::<DecisionTreeRegressor>(),
    entry::<C45Classifier>(),
    entry::<ID3Classifier>(),
    entry::<M5Regressor>(),
    entry::<ObliqueTreeClassifier>(),
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
    function::<CategoricalPartitions>(),
    function::<TwoClassSplits>(),
];
