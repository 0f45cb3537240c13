//! Nearest neighbours and the index engine under them.

mod box_tree;
mod grid;
mod index;
mod k_neighbors_classifier;
mod k_neighbors_regressor;
mod nearest_centroid;
mod neighborhood;

pub use box_tree::BoxTree;
pub use grid::Grid;
pub use index::{Index, Metric, Neighbors, Structure, Within};
pub use k_neighbors_classifier::{KNeighborsClassifier, KNeighborsClassifierModel};
pub use k_neighbors_regressor::{KNeighborsRegressor, KNeighborsRegressorModel};
pub use nearest_centroid::{CentroidMetric, NearestCentroid, NearestCentroidModel};
pub use neighborhood::{Algorithm, MetricName, NeighborWeights};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] =
    &[entry::<KNeighborsClassifier>(), entry::<KNeighborsRegressor>(), entry::<NearestCentroid>()];
