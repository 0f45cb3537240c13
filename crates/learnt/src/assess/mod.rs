//! Judging learners by fitting them again: learning and validation curves, bootstrap estimates of error,
//! permutation tests, stability, active learning; and judging models by criteria: AIC, BIC, Cp, DIC,
//! description length, structural risk.

mod active_learning;
mod bootstrap_error;
mod criteria;
mod curves;
mod density_by_classifier;
mod examples;
mod k_by_task;
mod permutation_test;
mod prefix_code;
mod stability;
mod structural_risk;

pub use active_learning::{ActiveLearning, QueryCurve, QueryStrategy};
pub use bootstrap_error::{BootstrapError, BootstrapErrors};
pub use criteria::{
    BayesFactor, BayesFactorFound, DescriptionLength, DescriptionLengths, DevianceInformation,
    DevianceInformationFound, Deviances, InformationCriteria, InformationCriteriaFound,
    SquaredErrorCriteria, SquaredErrorCriteriaFound,
};
pub use curves::{LearningCurve, LearningCurveScores, ValidationCurve, ValidationCurveScores};
pub use density_by_classifier::{ClassifiedDensity, DensityByClassifier, RowsAndPoints};
pub use examples::Examples;
pub use k_by_task::{KByTask, TaskScores};
pub use permutation_test::{PermutationTest, PermutationTestScore};
pub use prefix_code::{HuffmanCode, HuffmanCodeFound, PrefixCode, PrefixCodeFound};
pub use stability::{Stability, StabilityFound};
pub use structural_risk::{NestedClasses, StructuralRisk, StructuralRiskFound};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<LearningCurve>(),
    function::<ValidationCurve>(),
    function::<BootstrapError>(),
    function::<PermutationTest>(),
    function::<Stability>(),
    function::<KByTask>(),
    function::<DensityByClassifier>(),
    function::<ActiveLearning>(),
    function::<InformationCriteria>(),
    function::<SquaredErrorCriteria>(),
    function::<DevianceInformation>(),
    function::<BayesFactor>(),
    function::<DescriptionLength>(),
    function::<PrefixCode>(),
    function::<HuffmanCode>(),
    function::<StructuralRisk>(),
];
