//! Fitted learners inside a model: the steps of a pipeline, the classifiers of a wrapper.

use crate::data::{Label, Schema};
use crate::estimator::{About, Model};

/// A fitted learner inside a model, with what it was trained on.
#[derive(Debug)]
pub struct FittedPart<'a> {
    /// The name of the part: of the step, the group of columns, the class.
    pub name: String,
    /// The facts about its learner.
    pub about: &'static About,
    /// The model.
    pub model: &'a dyn Model,
    /// The columns that it sees.
    pub schema: Schema,
    /// The classes that it tells apart.
    pub classes: Vec<Label>,
}
