//! Learners made of learners: pipelines and column transformers.

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[];
