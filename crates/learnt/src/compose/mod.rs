//! Learners made of learners: pipelines and column transformers. They see learners only through
//! [`AnyEstimator`](learnt_core::estimator::AnyEstimator).

mod column_transformer;
mod named;
mod pipeline;

pub use column_transformer::{
    Action, ColumnTransformer, ColumnTransformerModel, Group, Groups, Remainder,
};
pub use named::{Part, Steps};
pub use pipeline::{Pipeline, PipelineModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<Pipeline>(), entry::<ColumnTransformer>()];
