//! Fewer columns that keep what matters.

mod dimension;
mod form;
mod incremental_pca;
mod krylov;
mod minka;
mod pca;
mod pca_route;
mod projection_studies;
mod random_projection;
mod whitening;

pub use dimension::{
    BeforeAndAfter, DistanceDistortion, Distortion, JohnsonLindenstraussMinDim, ProjectionDimension,
};
pub use form::ComponentForm;
pub use incremental_pca::{IncrementalPCA, IncrementalPCAModel};
pub use krylov::{Krylov, Product};
pub use pca::{Components, PCA, PCAModel, PCAState, PCASummary, PcaSolver};
pub use projection_studies::{
    CovarianceReading, PartitionedRows, ProjectedPartition, ProjectedSums, ReadCovariance,
    Reconstruction, ReconstructionError, RowsToReduce,
};
pub use random_projection::{
    GaussianRandomProjection, ProjectionDensity, RandomProjectionModel, SparseRandomProjection,
    Target as ProjectionTarget, least_dimension,
};
pub use whitening::{SmallVariances, Whitening, WhiteningForm, WhiteningModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<PCA>(),
    entry::<IncrementalPCA>(),
    entry::<Whitening>(),
    entry::<GaussianRandomProjection>(),
    entry::<SparseRandomProjection>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<JohnsonLindenstraussMinDim>(),
    function::<ProjectionDimension>(),
    function::<DistanceDistortion>(),
    function::<ReconstructionError>(),
    function::<ReadCovariance>(),
    function::<ProjectedPartition>(),
];
