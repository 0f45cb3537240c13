//! The vocabulary and the numerics of learnt. Knows no learner.
//!
//! Start at [`estimator`] for the contract, [`data`] for what learners read, [`context`] for how
//! they run and [`rounds`] for fits that stream.

extern crate self as learnt_core;

pub mod answer;
pub mod chart;
pub mod clock;
pub mod context;
pub mod data;
pub mod dates;
pub mod error;
pub mod estimator;
pub mod faults;
pub mod function;
mod large_pages;
pub mod linalg;
pub mod memory;
pub mod names;
pub mod optimize;
pub mod params;
pub mod part;
pub mod persist;
mod pool;
pub mod question;
pub mod rounds;
pub mod stats;
pub mod stop;
pub mod trained;

pub use large_pages::LargePages;

/// What a learner's file needs.
pub mod prelude {
    pub use crate::answer::{Answer, Cell, Columns, Datum};
    pub use crate::context::Context;
    pub use crate::data::{
        Column, ColumnKind, Dataset, Frame, Label, MatRef, Matrix, OwnedDataset, OwnedTarget,
        Schema, Sequences, Table, Target,
    };
    pub use crate::error::{Code, Error, Result};
    pub use crate::estimator::{
        About, AnyEstimator, Classifier, Clusterer, Decoder, Density, Detector, Entry, Estimator,
        Model, Regressor, Roles, Transformer, entry,
    };
    pub use crate::function::{
        Callable, Classes, Function, FunctionEntry, FunctionKind, Inputs, Output, function,
    };
    pub use crate::names::Names;
    pub use crate::params::{Params, Value};
    pub use crate::persist::Stored;
    pub use crate::question::{Asked, Needs, Question};
    pub use crate::rounds::{
        self, Block, FitBy, Memo, Merge, Notices, OnePass, Outline, OwnedOutline, Pass, Rounds,
        Step, Summarize, Whole, WholeNoticed,
    };
    pub use learnt_derive::{Choice, Inputs, Merge, Model, Output, Params, Stored};
}
