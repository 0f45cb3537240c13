//! Densities of rows, and outliers by them.

mod choose_k;
mod estimates;
mod gaussian;
mod gaussian_density;
mod gaussian_detector;
mod kernel_density;
mod membership;
mod mixture;
mod profile;
mod window_studies;
mod windows;

pub use choose_k::{ChooseK, NumberOfClusters};
pub use estimates::{
    BandwidthRule, EmpiricalDistribution, KdeGradient, KnnDensity, RowsAndPlaces, RowsOfDensity,
    SelectBandwidth, ValuesAndPlaces,
};
pub use gaussian::CovarianceType;
pub use gaussian_density::{GaussianDensity, GaussianDensityModel};
pub use gaussian_detector::{GaussianDetector, GaussianDetectorModel};
pub use kernel_density::{Bandwidth, Bumps, KernelDensity, KernelDensityModel};
pub use membership::{CovarianceDivisor, KnownMixture, MixtureFromLabels};
pub use mixture::{
    Components, Covariances, GaussianMixture, GaussianMixtureModel, InitParams, MixtureCovariance,
    MixtureState, MixtureStop, MixtureSummary, Moments,
};
pub use profile::window_density;
pub use window_studies::{
    CheckWindow, CountedDensity, CountingDensity, Sequences, WidthSequences, WindowFacts,
    WindowShape, WindowValues,
};
pub use windows::{Window, ln_ball_volume};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[
    entry::<GaussianDensity>(),
    entry::<GaussianDetector>(),
    entry::<GaussianMixture>(),
    entry::<KernelDensity>(),
];

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<ChooseK>(),
    function::<EmpiricalDistribution>(),
    function::<KnnDensity>(),
    function::<KdeGradient>(),
    function::<SelectBandwidth>(),
    function::<CountingDensity>(),
    function::<CheckWindow>(),
    function::<WidthSequences>(),
    function::<MixtureFromLabels>(),
];
