//! Naive Bayes.

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[];
