//! Sequences of rows: models with hidden states.

mod chain;
mod emissions;
mod supervised_hmm;

pub use emissions::EmissionCounts;
pub use supervised_hmm::{PathCounts, SupervisedHMM, SupervisedHMMModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<SupervisedHMM>()];
