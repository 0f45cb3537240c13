//! Nearest neighbours and the index engine under them.

mod ball;
mod box_tree;
mod geometry;
mod grid;
mod index;
mod k_neighbors_classifier;
mod k_neighbors_regressor;
mod nearest_centroid;
mod neighborhood;
mod proximity;
mod radius_neighbors_classifier;
mod radius_neighbors_regressor;

pub use box_tree::BoxTree;
pub use geometry::{AnyOnLine, AnyWithin, ClosestPair, PairOfPoints, PointsAndLines, TwoSets};
pub use grid::Grid;
pub use index::{Index, Metric, Neighbors, Structure, Within};
pub use k_neighbors_classifier::{KNeighborsClassifier, KNeighborsClassifierModel};
pub use k_neighbors_regressor::{KNeighborsRegressor, KNeighborsRegressorModel};
pub use nearest_centroid::{CentroidMetric, NearestCentroid, NearestCentroidModel};
pub use neighborhood::{Algorithm, MetricName, NeighborWeights};
pub use proximity::{
    AttributeDistances, AttributeScale, CheckDistances, Conversion, DistanceFaults,
    MahalanobisDistances, MixedRows, Proximities, RowsToCompare, ToDistances,
};
pub use radius_neighbors_classifier::{
    OutlierLabel, RadiusNeighborsClassifier, RadiusNeighborsClassifierModel,
};
pub use radius_neighbors_regressor::{RadiusNeighborsRegressor, RadiusNeighborsRegressorModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<KNeighborsClassifier>(),
    entry::<KNeighborsRegressor>(),
    entry::<RadiusNeighborsClassifier>(),
    entry::<RadiusNeighborsRegressor>(),
    entry::<NearestCentroid>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<MahalanobisDistances>(),
    function::<AttributeDistances>(),
    function::<CheckDistances>(),
    function::<ToDistances>(),
    function::<ClosestPair>(),
    function::<AnyWithin>(),
    function::<AnyOnLine>(),
];
