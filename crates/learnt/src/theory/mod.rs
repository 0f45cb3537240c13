//! Learning theory: bounds on how far errors out of sample lie from those in sample, and the counts
//! behind them.

mod bias_variance;
mod distinct_share;
mod hoeffding_bound;
mod vc_bound;

pub use bias_variance::{BiasVariance, Decomposition, StudyTarget};
pub use distinct_share::ExpectedDistinctShare;
pub use hoeffding_bound::{HoeffdingBound, HoeffdingResult};
pub use vc_bound::{Growth, VcBound, VcPenalty};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<HoeffdingBound>(),
    function::<VcBound>(),
    function::<BiasVariance>(),
    function::<ExpectedDistinctShare>(),
];
