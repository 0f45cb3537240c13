//! Densities of rows, and outliers by them.

mod gaussian;
mod gaussian_density;
mod gaussian_detector;

pub use gaussian::CovarianceType;
pub use gaussian_density::{GaussianDensity, GaussianDensityModel};
pub use gaussian_detector::{GaussianDetector, GaussianDetectorModel};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[entry::<GaussianDensity>(), entry::<GaussianDetector>()];
