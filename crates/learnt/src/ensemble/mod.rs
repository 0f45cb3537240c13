//! Ensembles: many models that answer as one.

mod beginning;
mod boosted;
mod compose;
mod expansion;
mod experts;
mod forest;
mod gradient;
mod guide;
mod hist;
mod loss;
mod losses_study;
mod members;
mod spheres;
mod stopping;
mod votes;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod inspect_tests;
#[cfg(test)]
mod monotone_tests;

pub use beginning::BoostingStart;
pub use boosted::{BoostedClassifierModel, BoostedRegressorModel};
pub use compose::{
    AdaBoostAlgorithm, AdaBoostClassifier, AdaBoostClassifierModel, AdaBoostLoss,
    AdaBoostMHClassifier, AdaBoostMHClassifierModel, AdaBoostRegressor, AdaBoostRegressorModel,
    BaggingClassifier, BaggingClassifierModel, BaggingRegressor, BaggingRegressorModel,
    BaggingShare, BaggingSize, BumpingClassifier, BumpingClassifierModel, BumpingRegressor,
    BumpingRegressorModel, MarginLoss, SimplexRegressor, SimplexRegressorModel, StackMethod,
    StackingClassifier, StackingClassifierModel, StackingRegressor, StackingRegressorModel,
    StagewiseClassifier, StagewiseClassifierModel, StagewiseLoss, StagewiseRegressor,
    StagewiseRegressorModel, Voting, VotingClassifier, VotingClassifierModel, VotingRegressor,
    VotingRegressorModel, WeightConstraint,
};
pub use expansion::{ExponentialLeaf, LeafValue, ManyClasses, MulticlassExpansion};
pub use experts::{
    ExpertSearch, GateChoice, MixtureOfExpertsClassifier, MixtureOfExpertsClassifierModel,
    MixtureOfExpertsRegressor, MixtureOfExpertsRegressorModel,
};
pub use forest::{
    DrawFeatures, ExtraTreesClassifier, ExtraTreesRegressor, ForestClassWeight,
    ForestClassifierModel, ForestGrowth, ForestRegressorModel, MaxSamples, RandomForestClassifier,
    RandomForestRegressor, TreeCorrelation, TreeCorrelations,
};
pub use gradient::{
    BoostingCriterion, BoostingGrowth, BoostingLoss, ClassBoostingLoss, GradientBoostingClassifier,
    GradientBoostingRegressor,
};
pub use guide::{Guide, LearnerGuide};
pub use hist::{
    EarlyStopping, HistGradientBoostingClassifier, HistGradientBoostingRegressor, HistGrowth,
    HistLoss,
};
pub use losses_study::{LocationErrors, LossesOfMargins, MarginLosses, RobustLocation};
pub use spheres::{
    MarginStudy, Margins, NestedSpheres, ShrinkageCurves, ShrinkageStudy, SphereErrors,
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
    entry::<BumpingClassifier>(),
    entry::<BumpingRegressor>(),
    entry::<VotingClassifier>(),
    entry::<VotingRegressor>(),
    entry::<StackingClassifier>(),
    entry::<StackingRegressor>(),
    entry::<AdaBoostMHClassifier>(),
    entry::<StagewiseClassifier>(),
    entry::<StagewiseRegressor>(),
    entry::<MixtureOfExpertsClassifier>(),
    entry::<MixtureOfExpertsRegressor>(),
    entry::<SimplexRegressor>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<MajorityVoteError>(),
    function::<VarianceOfAverage>(),
    function::<BoostingSteps>(),
    function::<MulticlassExpansion>(),
    function::<ExponentialLeaf>(),
    function::<TreeCorrelation>(),
    function::<LearnerGuide>(),
    function::<NestedSpheres>(),
    function::<MarginStudy>(),
    function::<ShrinkageStudy>(),
    function::<MarginLosses>(),
    function::<RobustLocation>(),
];
