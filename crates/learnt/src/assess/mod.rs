//! Judging learners by fitting them again: learning and validation curves, bootstrap estimates of error,
//! permutation tests, stability, active learning; and judging models by criteria: AIC, BIC, Cp, DIC,
//! description length, structural risk.

mod active_learning;
mod bootstrap_error;
mod cost_complexity;
mod criteria;
mod curves;
mod density_by_classifier;
mod examples;
mod linear_smoother;
mod outside_task;
mod overfitting_test;
mod parametric_bootstrap;
mod permutation_test;
mod prefix_code;
mod regressors;
mod select_by_validation;
mod stability;
mod structural_risk;
mod versus;

pub use active_learning::{ActiveLearning, QueryCurve, QueryStrategy};
pub use bootstrap_error::{BootstrapError, BootstrapErrors, ResampledExamples};
pub use cost_complexity::{ComplexityTable, CostComplexity, TreeTask};
pub use criteria::{
    BayesFactor, BayesFactorFound, DescriptionLength, DescriptionLengths, DevianceInformation,
    DevianceInformationFound, Deviances, InformationCriteria, InformationCriteriaFound,
    SquaredErrorCriteria, SquaredErrorCriteriaFound,
};
pub use curves::{
    LearningCurve, LearningCurveScores, ValidationCurve, ValidationCurveScores, Values,
};
pub use density_by_classifier::{ClassifiedDensity, DensityByClassifier, RowsAndPoints};
pub use examples::{Examples, GroupedExamples};
pub use linear_smoother::{LinearSmoother, SmoothedRows, SmootherFound};
pub use outside_task::{ClustersForTask, TaskScores};
pub use overfitting_test::{OverfittingFound, OverfittingTest};
pub use parametric_bootstrap::{
    KnownMeans, NumericExamples, Optimism, OptimismFound, ParametricBootstrap,
    ParametricBootstrapped,
};
pub use permutation_test::{PermutationTest, PermutationTestScore};
pub use prefix_code::{HuffmanCode, HuffmanCodeFound, PrefixCode, PrefixCodeFound};
pub use select_by_validation::{SelectByValidation, SelectedByValidation};
pub use stability::{Stability, StabilityFound};
pub use structural_risk::{NestedClasses, StructuralRisk, StructuralRiskFound};
pub use versus::Versus;

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<LearningCurve>(),
    function::<ValidationCurve>(),
    function::<BootstrapError>(),
    function::<PermutationTest>(),
    function::<ParametricBootstrap>(),
    function::<Optimism>(),
    function::<OverfittingTest>(),
    function::<ClustersForTask>(),
    function::<LinearSmoother>(),
    function::<SelectByValidation>(),
    function::<Stability>(),
    function::<Versus>(),
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
    function::<CostComplexity>(),
];
