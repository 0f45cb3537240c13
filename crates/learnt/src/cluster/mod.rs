//! Clustering.

mod agglomerative;
mod approximate_dbscan;
mod bisecting;
mod centres;
mod choose_k;
mod climb;
mod constrained;
mod copies;
mod dbscan;
mod dbscan_grid;
mod dbscan_tree;
mod denclue;
mod dendrogram;
mod density_studies;
mod diana;
mod exemplars;
mod hdbscan;
mod k_means;
mod k_means_views;
mod k_medoids;
mod linkage;
mod mean_shift;
mod mini_batch;
mod multi_centroid;
mod optics;
mod reachability;
mod running_means;
mod small_tables;

pub use crate::neighbors::RowDistance;
pub use agglomerative::{AgglomerativeClustering, AgglomerativeClusteringModel};
pub use approximate_dbscan::{ApproximateDBSCAN, ApproximateDBSCANModel, Sandwich, SandwichTest};
pub use bisecting::{Bisecting, BisectingKMeans, BisectingKMeansModel, DivisionStart};
pub use centres::{Cost, Leader, Leaders, Race, SeedMemo, Sums};
pub use choose_k::{
    ClusterStability, Elbow, ElbowCurve, GapClusters, GapRule, GapStatistic, Gaps, Hopkins,
    ReferenceBox, RowsToCluster, ScoresByK, SilhouetteCurve,
};
pub use climb::{Ascent, Climbs, HillClimb, RowsToClimb};
pub use constrained::{
    ConstrainedClusters, ConstrainedLinkage, ConstrainedLinkageKind, RowsAndPairs,
};
pub use dbscan::{Border, DBSCAN, DBSCANModel};
pub use denclue::{DENCLUE, DENCLUEModel};
pub use dendrogram::{
    Coefficients, Cophenet, Criterion, FlatClusters, IsMonotonic, IsNested, LanceWilliams,
    LinkageTable, Mergers, Nestedness, NumberOfDendrograms, NumberOfPartitions, RowsToLink,
    TreeCounts, TwoPartitions,
};
pub use density_studies::{
    CostExponent, DbscanCost, EpsStudy, KDistance, KDistances, KindsOfPoints, PointTypes,
    RadiusStudy,
};
pub use diana::{Diana, Division, DivisiveTree, NextSplit};
pub use exemplars::{ClusterFigures, ClusterReport, Exemplar, ExemplarFound, ExemplarKind};
pub use hdbscan::{
    Branch, Condensed, HDBSCAN, HDBSCANModel, Reach, Selection, reachability,
    reachability_of_distances,
};
pub use k_means::{
    Algorithm, Beginning, Init, KMeans, KMeansModel, KMeansState, KMeansSummary, Restarts,
};
pub use k_means_views::{HardSteps, KMeansSteps, KMeansWithoutOutliers, WithoutOutliers};
pub use k_medoids::{KMedoids, KMedoidsModel, MedoidStart};
pub use linkage::{
    Connected, Edge, Linkage, LinkageUpdate, Tree, boruvka, link_by, link_connected,
    link_distances, link_rows, link_rows_by, prim,
};
pub use mean_shift::{MeanShift, MeanShiftModel, ShiftWindow};
pub use mini_batch::MiniBatchKMeans;
pub use multi_centroid::{MultiCentroidClassifier, MultiCentroidClassifierModel, distinct_rows};
pub use optics::{Extraction, Limit, OPTICS, OPTICSModel};
pub use reachability::{CutClusters, DensityReachability, HdbscanCut, Reachability};
pub use small_tables::{
    BestPartition, CodedImage, ExhaustiveClustering, Image, VectorQuantization,
};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<KMeans>(),
    entry::<MiniBatchKMeans>(),
    entry::<BisectingKMeans>(),
    entry::<KMedoids>(),
    entry::<DBSCAN>(),
    entry::<HDBSCAN>(),
    entry::<OPTICS>(),
    entry::<MeanShift>(),
    entry::<AgglomerativeClustering>(),
    entry::<ApproximateDBSCAN>(),
    entry::<DENCLUE>(),
    entry::<MultiCentroidClassifier>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<LinkageTable>(),
    function::<FlatClusters>(),
    function::<Cophenet>(),
    function::<IsMonotonic>(),
    function::<IsNested>(),
    function::<LanceWilliams>(),
    function::<NumberOfPartitions>(),
    function::<NumberOfDendrograms>(),
    function::<Diana>(),
    function::<Elbow>(),
    function::<GapStatistic>(),
    function::<SilhouetteCurve>(),
    function::<ClusterStability>(),
    function::<Hopkins>(),
    function::<PointTypes>(),
    function::<KDistance>(),
    function::<EpsStudy>(),
    function::<DbscanCost>(),
    function::<ExhaustiveClustering>(),
    function::<VectorQuantization>(),
    function::<KMeansSteps>(),
    function::<KMeansWithoutOutliers>(),
    function::<Exemplar>(),
    function::<ClusterReport>(),
    function::<DensityReachability>(),
    function::<HdbscanCut>(),
    function::<SandwichTest>(),
    function::<HillClimb>(),
    function::<ConstrainedLinkage>(),
];
