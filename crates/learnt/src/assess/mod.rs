//! Judging learners by fitting them again: learning and validation curves, bootstrap estimates of error,
//! permutation tests, stability, active learning. Each is a function with a learner among its parameters.

mod active_learning;
mod bootstrap_error;
mod curves;
mod examples;
mod permutation_test;
mod stability;

pub use active_learning::{ActiveLearning, QueryCurve, QueryStrategy};
pub use bootstrap_error::{BootstrapError, BootstrapErrors};
pub use curves::{LearningCurve, LearningCurveScores, ValidationCurve, ValidationCurveScores};
pub use examples::Examples;
pub use permutation_test::{PermutationTest, PermutationTestScore};
pub use stability::{Stability, StabilityFound};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<LearningCurve>(),
    function::<ValidationCurve>(),
    function::<BootstrapError>(),
    function::<PermutationTest>(),
    function::<Stability>(),
    function::<ActiveLearning>(),
];
