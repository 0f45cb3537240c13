//! Data: matrices that know what their columns mean, targets, weights and groups.

mod dataset;
mod label;
mod matrix;
mod schema;

pub use dataset::{Dataset, Frame, OwnedDataset, OwnedTarget, Table, Target};
pub use label::Label;
pub use matrix::{MatRef, Matrix};
pub use schema::{Column, ColumnKind, Schema};
