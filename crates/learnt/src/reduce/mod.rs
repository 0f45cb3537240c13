//! Fewer columns that keep what matters.

mod pca;

pub use pca::{Components, PCA, PCAModel, PCAState, PCASummary, PcaSolver};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<PCA>()];
