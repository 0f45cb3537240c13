//! Fewer columns that keep what matters.

mod dimension;
mod krylov;
mod minka;
mod pca;
mod pca_route;
mod random_projection;
mod whitening;

pub use dimension::{
    BeforeAndAfter, DistanceDistortion, Distortion, JohnsonLindenstraussMinDim, ProjectionDimension,
};
pub use krylov::{Krylov, Product};
pub use pca::{Components, PCA, PCAModel, PCAState, PCASummary, PcaSolver};
pub use random_projection::{
    GaussianRandomProjection, ProjectionDensity, RandomProjectionModel, SparseRandomProjection,
    Target as ProjectionTarget, least_dimension,
};
pub use whitening::{Whitening, WhiteningForm, WhiteningModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<PCA>(),
    entry::<Whitening>(),
    entry::<GaussianRandomProjection>(),
    entry::<SparseRandomProjection>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<JohnsonLindenstraussMinDim>(),
    function::<ProjectionDimension>(),
    function::<DistanceDistortion>(),
];
