//! Clustering.

mod agglomerative;
mod bisecting;
mod centres;
mod choose_k;
mod dbscan;
mod dbscan_grid;
mod dendrogram;
mod density_studies;
mod diana;
mod hdbscan;
mod k_means;
mod k_medoids;
mod linkage;
mod mean_shift;
mod mini_batch;
mod optics;
mod running_means;
mod small_tables;

pub use agglomerative::{AgglomerativeClustering, AgglomerativeClusteringModel, RowDistance};
pub use bisecting::{Bisecting, BisectingKMeans, BisectingKMeansModel, DivisionStart};
pub use centres::{Cost, Leader, Leaders, Race, SeedMemo, Sums};
pub use choose_k::{
    ClusterStability, Elbow, ElbowCurve, GapRule, GapStatistic, Gaps, Hopkins, ReferenceBox,
    RowsToCluster, ScoresByK, SilhouetteCurve,
};
pub use dbscan::{DBSCAN, DBSCANModel};
pub use dendrogram::{
    Coefficients, Cophenet, Criterion, FlatClusters, IsMonotonic, LanceWilliams, LinkageTable,
    Mergers, NumberOfDendrograms, NumberOfPartitions, RowsToLink, TreeCounts,
};
pub use density_studies::{
    CostExponent, DbscanCost, EpsStudy, KDistance, KDistances, KindsOfPoints, PointTypes,
    RadiusStudy,
};
pub use diana::{Diana, DivisiveTree};
pub use hdbscan::{Branch, Condensed, HDBSCAN, HDBSCANModel, Reach, Selection, reachability};
pub use k_means::{
    Algorithm, Beginning, Init, KMeans, KMeansModel, KMeansState, KMeansSummary, Restarts,
};
pub use k_medoids::{KMedoids, KMedoidsModel, MedoidStart};
pub use linkage::{Edge, Linkage, Tree, boruvka, link_distances, link_rows, prim};
pub use mean_shift::{MeanShift, MeanShiftModel, ShiftWindow};
pub use mini_batch::MiniBatchKMeans;
pub use optics::{Extraction, Limit, OPTICS, OPTICSModel};
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
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<LinkageTable>(),
    function::<FlatClusters>(),
    function::<Cophenet>(),
    function::<IsMonotonic>(),
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
];
