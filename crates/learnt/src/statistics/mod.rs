//! Statistics as functions: distributions, summaries, correlations, special functions, tests of
//! residuals and the bootstrap. The numbers come from `learnt_core::stats`.

mod bootstrap;
mod distributions;
mod residual_tests;
mod special_functions;
mod summaries;

pub use bootstrap::{Bootstrap, Bootstrapped, Interval, OneOrTwo, Statistic};
pub use distributions::{
    Beta, Binomial, ChiSquared, DistributionMoments, DistributionName, Exponential, FisherF, Gamma,
    MeanAndVariance, Normal, Places, Poisson, RandomSample, StudentT, Uniform, What,
};
pub use residual_tests::{DurbinWatson, JarqueBera, NormalPlot, NormalPoints, Residuals};
pub use special_functions::{
    Arguments, BetaInc, BetaLn, Digamma, Erf, Erfc, Expit, GammaInc, GammaLn, LogSoftmax,
    LogSumExp, LogisticSlope, Logit, ShapeAndPlace, ShapesAndPlace, Softmax, SoftmaxJacobian,
    Softplus, TwoShapes,
};
pub use summaries::{
    Correlation, Covariance, Describe, Description, GappyTable, GeometricMean, Mean, Median, Pairs,
    PearsonCorrelation, PlainNumbers, Quantile, Range, StandardDeviation, Tested, Variance,
    WeightedNumbers, WeightedRows, WeightedTable,
};

use learnt_core::prelude::*;

/// The functions of this family, part by part.
pub const FUNCTIONS: &[&[FunctionEntry]] = &[
    distributions::DISTRIBUTIONS,
    &[
        function::<RandomSample>(),
        function::<DistributionMoments>(),
        function::<Bootstrap>(),
    ],
    summaries::SUMMARIES,
    residual_tests::RESIDUAL_TESTS,
    special_functions::OF_ARRAYS,
    special_functions::OF_SEVERAL,
];
