//! Nearest neighbours and the index engine under them.

mod ball;
mod box_tree;
mod class_tiles;
mod count_tree;
mod geometry;
mod grid;
mod index;
mod instance_based;
mod invariance;
mod k_neighbors_classifier;
mod k_neighbors_regressor;
mod nearest_centroid;
mod neighborhood;
mod proximity;
mod questions;
mod radius_neighbors_classifier;
mod radius_neighbors_regressor;
mod searches;
mod voronoi;

pub use box_tree::BoxTree;
pub use count_tree::{ApproximateCounts, CountTree};
pub use geometry::{AnyOnLine, AnyWithin, ClosestPair, PairOfPoints, PointsAndLines, TwoSets};
pub use grid::Grid;
pub use index::{Index, Metric, Neighbors, Structure, Within};
pub use instance_based::{
    AccuracyInterval, InstanceBasedClassifier, InstanceBasedClassifierModel, InstanceRule,
};
pub use invariance::{CheckInvariance, Invariance, RowsTransformed, invariance};
pub use k_neighbors_classifier::{KNeighborsClassifier, KNeighborsClassifierModel};
pub use k_neighbors_regressor::{KNeighborsRegressor, KNeighborsRegressorModel};
pub use nearest_centroid::{CentroidMetric, CentroidPriors, NearestCentroid, NearestCentroidModel};
pub use neighborhood::{Algorithm, MetricName, NeighborWeights, RowDistance};
pub use proximity::{
    AttributeDistances, AttributeScale, CheckDistances, Conversion, DistanceFaults,
    MahalanobisDistances, MixedRows, Proximities, RowsToCompare, ToDistances, distances_by,
};
pub use radius_neighbors_classifier::{
    OutlierLabel, RadiusNeighborsClassifier, RadiusNeighborsClassifierModel,
};
pub use radius_neighbors_regressor::{RadiusNeighborsRegressor, RadiusNeighborsRegressorModel};
pub use searches::{
    KnnEffectiveParameters, NearestRows, RowsAndQueries, RowsFound, RowsNear, RowsOfSmoother,
    RowsWithin, SmootherTrace,
};
pub use voronoi::{Cells, ClassedPoints, KnnRegions, PlanePoints, Regions, VoronoiCells};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<KNeighborsClassifier>(),
    entry::<KNeighborsRegressor>(),
    entry::<RadiusNeighborsClassifier>(),
    entry::<RadiusNeighborsRegressor>(),
    entry::<NearestCentroid>(),
    entry::<InstanceBasedClassifier>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<MahalanobisDistances>(),
    function::<AttributeDistances>(),
    function::<CheckDistances>(),
    function::<ToDistances>(),
    function::<CheckInvariance>(),
    function::<ClosestPair>(),
    function::<AnyWithin>(),
    function::<AnyOnLine>(),
    function::<NearestRows>(),
    function::<RowsWithin>(),
    function::<ApproximateCounts>(),
    function::<KnnEffectiveParameters>(),
    function::<VoronoiCells>(),
    function::<KnnRegions>(),
];
