//! Splits, resamples, cross-validation, comparison and search. Learners are seen only through the traits and
//! the registry.

mod compare;
mod cross_validate;
mod folds;
mod paired_tests;
mod preparation;
mod report;
mod resample;
mod samples;
mod scoring;
pub mod search;
mod split;
mod splitters;
mod versus;

pub use compare::{Candidate, Comparison, Row, compare, contenders};
pub use cross_validate::{
    CrossValidation, Entrant, Fold, Ledger, Manner, Nobody, Scored, Trials, cross_validate,
    usual_splitter,
};
pub use folds::{Split, Splits, Splitter, TimeOrder};
pub use paired_tests::{
    CorrectedTTest, CriticalDifference, CriticalDifferenceFound, Differences, FiveByTwoTest,
    McNemar, McNemarFound, PAIRED_TESTS, PairedTest, RightRows, ScoreTable, corrected_t_test,
    five_by_two_test, mcnemar,
};
pub use preparation::{
    LEVELS, Request, encoded_width, has_missing, joined, prepared, standard_preparation,
    wants_reference, wants_scaling,
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
pub use scoring::Scoring;
pub use split::{Parts, Size, holdout, train_test};
pub use splitters::{
    ClassAndGroupOfRow, ClassOfRow, Folds, GroupKFold, GroupOfRow, GroupShuffleSplit, KFold,
    LeaveOneGroupOut, LeaveOneOut, PartSize, RepeatedKFold, RepeatedStratifiedKFold, SPLITTERS,
    ShuffleSplit, StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit, TimeSeriesSplit,
};
pub use versus::{Contest, Verdict};
