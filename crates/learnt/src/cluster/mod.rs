//! Clustering.

mod centres;
mod dbscan;
mod k_means;
mod running_means;

pub use centres::{Cost, Leader, Leaders, Race, SeedMemo, Sums};
pub use dbscan::{DBSCAN, DBSCANModel};
pub use k_means::{
    Algorithm, Beginning, Init, KMeans, KMeansModel, KMeansState, KMeansSummary, Restarts,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<KMeans>(), entry::<DBSCAN>()];
