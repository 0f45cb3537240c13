//! Data: matrices that know what their columns mean, targets, weights, groups and sequences.

mod dataset;
mod label;
mod look;
mod matrix;
mod schema;
mod sequences;
pub mod wording;

pub use dataset::{Dataset, Frame, OwnedDataset, OwnedTarget, Table, Target};
pub use label::Label;
pub use look::{Look, all_finite, refuse_overflow};
pub use matrix::{MatRef, Matrix};
pub use schema::{Column, ColumnKind, Schema, Volume};
pub use sequences::{Sequences, offsets_from_lengths, offsets_of};
