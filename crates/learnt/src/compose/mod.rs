//! Learners made of learners: pipelines, column transformers, multiclass wrappers. They see learners
//! only through [`AnyEstimator`].

mod column_transformer;
mod one_vs_one_classifier;
mod one_vs_rest_classifier;
mod pipeline;
mod transformed_target_regressor;
mod two_class;

pub use column_transformer::{Action, ColumnTransformer, ColumnTransformerModel, Group, Remainder};
pub use one_vs_one_classifier::{OneVsOneClassifier, OneVsOneClassifierModel};
pub use one_vs_rest_classifier::{OneVsRestClassifier, OneVsRestClassifierModel};
pub use pipeline::{Pipeline, PipelineModel};
pub use transformed_target_regressor::{
    TransformedTargetRegressor, TransformedTargetRegressorModel,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<Pipeline>(),
    entry::<ColumnTransformer>(),
    entry::<OneVsOneClassifier>(),
    entry::<OneVsRestClassifier>(),
    entry::<TransformedTargetRegressor>(),
];
