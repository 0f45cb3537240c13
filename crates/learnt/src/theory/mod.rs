//! Learning theory: bounds on how far errors out of sample lie from those in sample, and the counts
//! behind them.

mod bias_variance;
mod chi_square_tail;
mod cover_count;
mod criteria_study;
mod dichotomies;
mod dimension;
mod distinct_share;
mod expected_error;
mod growth_function;
mod hoeffding_bound;
mod hypothesis_class;
mod mistake_bound;
mod pac_bound;
mod polynomial_studies;
mod sampling_study;
mod sauer_bound;
mod vapnik_bound;
mod vc_bound;
mod vc_sample_size;

pub use bias_variance::{BiasVariance, Decomposition, StudyTarget};
pub use chi_square_tail::{ChiSquareTailBound, TailBound};
pub use cover_count::{CoverCount, SeparableLabelings};
pub use criteria_study::{CriteriaStudy, CriteriaTable};
pub use dichotomies::{
    Dichotomies, DichotomiesOfValues, DichotomyList, HypothesisValues, Points, Thresholds,
};
pub use dimension::{
    DimensionTable, NearestNeighborDimensions, NearestPointDistance, NeighborhoodEdge,
};
pub use distinct_share::ExpectedDistinctShare;
pub use expected_error::{
    Design, KnownTarget, LinearErrorAt, LinearErrors, LinearExpectedError, NeighborsErrors,
    NeighborsExpectedError,
};
pub use growth_function::{GrowthFunction, GrowthTable, VcDimension, VcDimensionFound};
pub use hoeffding_bound::{HoeffdingBound, HoeffdingResult};
pub use hypothesis_class::HypothesisClass;
pub use mistake_bound::{MistakeBound, PerceptronBound, SeparatedRows};
pub use pac_bound::{PacBound, PacResult, PacStudy, PacStudyResult};
pub use polynomial_studies::{
    OverfittingStudy, OverfittingTable, RegularizationStudy, RegularizationTable, ValidationStudy,
    ValidationTable,
};
pub use sampling_study::{Estimated, Law, Population, SamplingStudy, SamplingTable};
pub use sauer_bound::{SauerBound, SauerBounds};
pub use vapnik_bound::{VapnikBound, VapnikBounds};
pub use vc_bound::{Growth, VcBound, VcPenalty};
pub use vc_sample_size::{VcRows, VcSampleSize};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<HoeffdingBound>(),
    function::<PacBound>(),
    function::<Dichotomies>(),
    function::<DichotomiesOfValues>(),
    function::<GrowthFunction>(),
    function::<VcDimension>(),
    function::<SauerBound>(),
    function::<VcBound>(),
    function::<VcSampleSize>(),
    function::<VapnikBound>(),
    function::<PerceptronBound>(),
    function::<CoverCount>(),
    function::<ChiSquareTailBound>(),
    function::<NeighborhoodEdge>(),
    function::<NearestPointDistance>(),
    function::<LinearExpectedError>(),
    function::<LinearErrorAt>(),
    function::<NeighborsExpectedError>(),
    function::<ExpectedDistinctShare>(),
    function::<BiasVariance>(),
    function::<PacStudy>(),
    function::<SamplingStudy>(),
    function::<OverfittingStudy>(),
    function::<RegularizationStudy>(),
    function::<ValidationStudy>(),
    function::<CriteriaStudy>(),
    function::<NearestNeighborDimensions>(),
];
