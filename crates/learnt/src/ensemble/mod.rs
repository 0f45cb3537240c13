//! Ensembles: many models that answer as one.

mod boosted;
mod compose;
mod forest;
mod gradient;
mod hist;
mod loss;
mod stopping;
mod votes;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod inspect_tests;

pub use boosted::{BoostedClassifierModel, BoostedRegressorModel};
pub use compose::{
    AdaBoostAlgorithm, AdaBoostClassifier, AdaBoostClassifierModel, AdaBoostLoss,
    AdaBoostRegressor, AdaBoostRegressorModel, BaggingClassifier, BaggingClassifierModel,
    BaggingRegressor, BaggingRegressorModel, BaggingShare, BaggingSize, StackMethod,
    StackingClassifier, StackingClassifierModel, StackingRegressor, StackingRegressorModel, Voting,
    VotingClassifier, VotingClassifierModel, VotingRegressor, VotingRegressorModel,
};
pub use forest::{
    ExtraTreesClassifier, ExtraTreesRegressor, ForestClassWeight, ForestClassifierModel,
    ForestGrowth, ForestRegressorModel, MaxSamples, RandomForestClassifier, RandomForestRegressor,
};
pub use gradient::{
    BoostingCriterion, BoostingGrowth, BoostingLoss, ClassBoostingLoss, GradientBoostingClassifier,
    GradientBoostingRegressor,
};
pub use hist::{
    EarlyStopping, HistGradientBoostingClassifier, HistGradientBoostingRegressor, HistGrowth,
    HistLoss,
};
pub use votes::{BoostingSteps, MajorityVoteError, Steps, Ties, VarianceOfAverage, WeightedErrors};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<RandomForestClassifier>(),
    entry::<RandomForestRegressor>(),
    entry::<ExtraTreesClassifier>(),
    entry::<ExtraTreesRegressor>(),
    entry::<HistGradientBoostingClassifier>(),
    entry::<HistGradientBoostingRegressor>(),
    entry::<GradientBoostingClassifier>(),
    entry::<GradientBoostingRegressor>(),
    entry::<AdaBoostClassifier>(),
    entry::<AdaBoostRegressor>(),
    entry::<BaggingClassifier>(),
    entry::<BaggingRegressor>(),
    entry::<VotingClassifier>(),
    entry::<VotingRegressor>(),
    entry::<StackingClassifier>(),
    entry::<StackingRegressor>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<MajorityVoteError>(),
    function::<VarianceOfAverage>(),
    function::<BoostingSteps>(),
];
