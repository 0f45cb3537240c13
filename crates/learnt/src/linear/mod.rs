//! Linear models: least squares with inference, ridge, logistic regression.

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[];
