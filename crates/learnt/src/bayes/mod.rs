//! Naive Bayes.

mod gaussian_nb;

pub use gaussian_nb::{GaussianNB, GaussianNBModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<GaussianNB>()];
