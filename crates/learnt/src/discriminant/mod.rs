//! Discriminant analysis: classes as normal clouds, with one covariance or one for each class.

mod axes;
mod gaussians;
mod linear_discriminant_analysis;
mod masking;
mod passes;
mod posterior;
mod quadratic_discriminant_analysis;
mod questions;
mod regularized_discriminant_analysis;
mod rows;
mod scatter;
mod shrinkage;
mod sphered_centroids;
mod sphered_rows;
mod sphering;
mod tables;

pub use linear_discriminant_analysis::{
    CentroidWeights, LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel,
    LinearDiscriminantSolver,
};
pub use masking::{Masking, MaskingCounts, MaskingReport, Predicted, masking};
pub use quadratic_discriminant_analysis::{
    QuadraticDiscriminantAnalysis, QuadraticDiscriminantAnalysisModel, QuadraticDiscriminantSolver,
};
pub use regularized_discriminant_analysis::{
    RegularizedDiscriminantAnalysis, RegularizedDiscriminantAnalysisModel,
};
pub use shrinkage::Shrinkage;
pub use sphered_centroids::SpheredCentroids;
pub use sphered_rows::{RowsToSphere, SphereRows, SpheredRows};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<LinearDiscriminantAnalysis>(),
    entry::<QuadraticDiscriminantAnalysis>(),
    entry::<RegularizedDiscriminantAnalysis>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[function::<MaskingReport>(), function::<SphereRows>()];
