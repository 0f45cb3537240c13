//! Clustering.

mod centres;
mod k_means;
mod running_means;

pub use centres::{Cost, Leader, Leaders, Race, SeedMemo, Sums};
pub use k_means::{
    Algorithm, Beginning, Init, KMeans, KMeansModel, KMeansState, KMeansSummary, Restarts,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<KMeans>()];
