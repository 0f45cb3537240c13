//! Statistics as functions: distributions, summaries, correlations, special functions, tests of
//! residuals and the bootstrap. The numbers come from `learnt_core::stats`.

mod bootstrap;
mod distributions;
mod information;
mod residual_tests;
mod special_functions;
mod summaries;

pub use bootstrap::{Bootstrap, Bootstrapped, Interval, OneOrTwo, Statistic};
pub use distributions::{
    Beta, Binomial, ChiSquared, DISTRIBUTIONS, DistributionMoments, DistributionName, Exponential,
    FisherF, Gamma, MeanAndVariance, Normal, Places, Poisson, RandomSample, StudentT, Uniform,
    What,
};
pub use information::{
    CodeLength, Entropy, INFORMATION, LogDensities, Messages, Simulated, SimulatedDivergence,
    TwoDistributions,
};
pub use residual_tests::{
    DurbinWatson, JarqueBera, NormalPlot, NormalPoints, RESIDUAL_TESTS, Residuals,
};
pub use special_functions::{
    Arguments, BetaInc, BetaLn, Digamma, Erf, Erfc, Expit, GammaInc, GammaLn, LogSoftmax,
    LogSumExp, LogisticSlope, Logit, SPECIAL_FUNCTIONS, ShapeAndPlace, ShapesAndPlace, Softmax,
    SoftmaxJacobian, Softplus, TwoShapes,
};
pub use summaries::{
    Correlation, Covariance, Describe, Description, GappyTable, GeometricMean, Mean, Median, Pairs,
    PearsonCorrelation, PlainNumbers, Quantile, Range, SUMMARIES, StandardDeviation, Tested,
    Variance, WeightedNumbers, WeightedRows, WeightedTable,
};

use learnt_core::prelude::*;

/// Draws, moments and the bootstrap.
pub const SAMPLING: &[FunctionEntry] =
    &[function::<RandomSample>(), function::<DistributionMoments>(), function::<Bootstrap>()];
