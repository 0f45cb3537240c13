//! Splits, resamples, cross-validation and comparison. Learners are seen only through the traits and
//! the registry.

mod compare;
mod cross_validate;
mod folds;
mod preparation;
mod report;
mod resample;
mod samples;
mod split;
mod splitters;

pub use compare::{Candidate, Comparison, Row, compare, contenders, corrected_t_test};
pub use cross_validate::{CrossValidation, Fold, Scored, cross_validate, usual_splitter};
pub use folds::{Split, Splits, Splitter};
pub use preparation::{
    LEVELS, Request, encoded_width, has_missing, prepared, standard_preparation, wants_reference,
    wants_scaling,
};
pub use resample::{
    Balance, Bootstrap, balanced_class_weights, balanced_sample, bootstrap,
    expected_distinct_share, median_frequency_weights, row_weights, weighted_resample,
};
pub use samples::{
    Balance as SampleBalance, BalancedSample, BootstrapRows, BootstrapSample, ClassWeight,
    ClassWeights, PartRows, Respected, RowWeights, SAMPLES, TrainTestRows, WeightOfRow,
    WeightedClasses, WeightedResample,
};
pub use split::{Parts, Size, holdout, train_test};
pub use splitters::{
    ClassOfRow, Folds, GroupKFold, GroupOfRow, KFold, LeaveOneOut, PartSize, RepeatedKFold,
    RepeatedStratifiedKFold, SPLITTERS, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit,
};
