//! Fewer columns that keep what matters.

mod krylov;
mod minka;
mod pca;
mod pca_route;

pub use krylov::{Krylov, Product};
pub use pca::{Components, PCA, PCAModel, PCAState, PCASummary, PcaSolver};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<PCA>()];
