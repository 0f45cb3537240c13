//! Charts from plain arrays, one file for each kind of thing that is drawn.
//!
//! Learners, questions and comparisons put them into their answers; `plot` makes them from models and
//! rows. These functions say what to draw; `learnt-plot` draws it.

pub mod classification;
pub mod clusters;
pub mod coefficients;
pub mod comparison;
pub mod components;
pub mod groups;
pub mod path;
pub mod regression;
mod smooth;
pub mod tree;
