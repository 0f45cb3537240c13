//! The parametric bootstrap: targets drawn around the fit, y* = ŷ + N(0, σ̂²), and the learner fitted again.
//!
//! σ̂² is the mean squared residual, with divisor n - ddof. The spread of fitted values and coefficients over
//! the samples is what likelihood theory gives for least squares: σ̂² (X'X)⁻¹.
//!
//! The optimism of a learner comes from the same engine with a known mean μ and noise σ: the training error
//! is mean (y - ŷ)², the in-sample error σ² + mean (μ - ŷ)², their difference 2/n Σ Cov(ŷ_i, y_i): for a
//! linear fit of d parameters 2dσ²/n.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), sections 8.2 and 7.4.

use super::regressors::{check_regressor, fit_to, fitted_values, said};
use crate::Learner;
use learnt_core::context::Rng;
use learnt_core::persist::Node;
use learnt_core::prelude::*;
use learnt_core::stats::{sample, summary};

/// Spread of fitted values and coefficients of a regressor, from targets drawn around its fit.
#[derive(Params, Clone, Debug)]
pub struct ParametricBootstrap {
    /// The regressor.
    #[param(positional, required, learner = regressor)]
    pub estimator: Learner,
    /// Number of samples.
    #[param(default = 1000, range = 2..)]
    pub n_resamples: usize,
    /// What the divisor of the noise variance lacks of n.
    #[param(default = 0)]
    pub ddof: usize,
}

/// Inputs and a numeric target.
#[derive(Inputs, Clone, Copy)]
pub struct NumericExamples<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The target.
    pub y: &'a [f64],
}

/// What the samples say.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ParametricBootstrapped {
    /// Variance of the noise.
    pub noise_variance: f64,
    /// Coefficients of the fit, the intercept last, where the model has any.
    pub coefficients: Option<Vec<f64>>,
    /// Their standard deviations over the samples.
    pub coefficient_se: Option<Vec<f64>>,
    /// Fitted values.
    pub fitted: Vec<f64>,
    /// Their standard deviations over the samples.
    pub fitted_se: Vec<f64>,
}

impl Function for ParametricBootstrap {
    type Inputs<'a> = NumericExamples<'a>;
    type Output = ParametricBootstrapped;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.parametric_bootstrap", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 8.2");

    fn call(&self, given: NumericExamples, run: &Context) -> Result<ParametricBootstrapped> {
        check_regressor(&self.estimator)?;
        let n = given.y.len();
        if n <= self.ddof {
            return Err(Error::parameter("ddof", format!("below the {n} rows"), self.ddof));
        }
        run.claim(16 * (n * self.n_resamples) as u64, "the fitted values of the samples")?;
        let target = Matrix::column_vector(given.y.to_vec());
        let model = fit_to(&self.estimator, given.x, &target, run)?;
        let fitted = said(&self.estimator, model.as_ref(), given.x, run)?.view().column(0);
        let squares: f64 = given.y.iter().zip(&fitted).map(|(y, f)| (y - f).powi(2)).sum();
        let noise_variance = squares / (n - self.ddof) as f64;
        let coefficients = coefficients(model.as_ref());
        let samples = run.try_par_map(self.n_resamples, |b| {
            let run = run.child(b as u64).with_threads(1);
            let y = around(&fitted, noise_variance.sqrt(), &mut run.rng(0));
            let model = fit_to(&self.estimator, given.x, &Matrix::column_vector(y), &run)?;
            let fitted = said(&self.estimator, model.as_ref(), given.x, &run)?.view().column(0);
            Ok((fitted, self::coefficients(model.as_ref())))
        })?;
        let spread = |f: &dyn Fn(usize) -> Vec<f64>, count: usize| -> Vec<f64> {
            (0..count).map(|j| summary::sd(&f(j), None, 1.0).unwrap_or(f64::NAN)).collect()
        };
        let fitted_se = spread(&|i| samples.iter().map(|(fitted, _)| fitted[i]).collect(), n);
        let coefficient_se = coefficients.as_ref().map(|known| {
            let one = |j: usize| {
                let value = |found: &Option<Vec<f64>>| found.as_ref()?.get(j).copied();
                samples.iter().map(|(_, found)| value(found).unwrap_or(f64::NAN)).collect()
            };
            spread(&one, known.len())
        });
        Ok(ParametricBootstrapped {
            noise_variance,
            coefficients,
            coefficient_se,
            fitted,
            fitted_se,
        })
    }
}

/// Coefficients and intercept of a model that has them.
fn coefficients(model: &dyn Model) -> Option<Vec<f64>> {
    let attributes = model.attributes();
    let numbers = |name: &str| {
        let (_, node) = attributes.iter().find(|(known, _)| *known == name)?;
        match node {
            Node::Reals(_, values) => Some(values.clone()),
            Node::Real(value) => Some(vec![*value]),
            _ => None,
        }
    };
    let mut out = numbers("coef")?;
    out.extend(numbers("intercept").unwrap_or_default());
    Some(out)
}

fn around(mean: &[f64], sd: f64, rng: &mut Rng) -> Vec<f64> {
    mean.iter().map(|mean| mean + sd * sample::standard_normal(rng)).collect()
}

/// Optimism of the training error of a regressor, by drawing targets around a known mean.
#[derive(Params, Clone, Debug)]
pub struct Optimism {
    /// The regressor.
    #[param(positional, required, learner = regressor)]
    pub estimator: Learner,
    /// Standard deviation of the noise.
    #[param(default = 1.0, above = 0.0)]
    pub noise: f64,
    /// Number of draws.
    #[param(default = 1000, range = 2..)]
    pub draws: usize,
}

/// Inputs and the mean of their targets.
#[derive(Inputs, Clone, Copy)]
pub struct KnownMeans<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The mean of the target at each row.
    pub mean: &'a [f64],
}

/// Errors in sample, averaged over the draws.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct OptimismFound {
    /// Mean training error.
    pub training: f64,
    /// Mean error for new targets at the same inputs.
    pub in_sample: f64,
    /// Their difference.
    pub optimism: f64,
    /// Its standard error over the draws.
    pub standard_error: f64,
    /// 2/n Σ Cov(ŷ_i, y_i), which is the optimism in the limit.
    pub covariance_form: f64,
}

impl Function for Optimism {
    type Inputs<'a> = KnownMeans<'a>;
    type Output = OptimismFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.optimism", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Efron (2004), The estimation of prediction error");

    fn call(&self, given: KnownMeans, run: &Context) -> Result<OptimismFound> {
        check_regressor(&self.estimator)?;
        let n = given.mean.len() as f64;
        let draws = run.try_par_map(self.draws, |b| {
            let run = run.child(b as u64).with_threads(1);
            let y = around(given.mean, self.noise, &mut run.rng(0));
            let fitted = fitted_values(&self.estimator, given.x, &y, &run)?;
            let mut sums = [0.0; 3];
            for ((y, mean), fitted) in y.iter().zip(given.mean).zip(&fitted) {
                sums[0] += (y - fitted).powi(2) / n;
                sums[1] += (mean - fitted).powi(2) / n;
                sums[2] += 2.0 * (y - mean) * fitted / n;
            }
            sums[1] += self.noise * self.noise;
            Ok(sums)
        })?;
        let of = |k: usize| draws.iter().map(|sums| sums[k]).collect::<Vec<f64>>();
        let mean = |k: usize| summary::mean(&of(k), None).unwrap_or(f64::NAN);
        let gaps: Vec<f64> = draws.iter().map(|sums| sums[1] - sums[0]).collect();
        let sd = summary::sd(&gaps, None, 1.0).unwrap_or(f64::NAN);
        Ok(OptimismFound {
            training: mean(0),
            in_sample: mean(1),
            optimism: mean(1) - mean(0),
            standard_error: sd / (self.draws as f64).sqrt(),
            covariance_form: mean(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    #[test]
    fn samples_around_a_line_vary_as_likelihood_theory_says() {
        let mut rng = Context::default().with_seed(4).rng(0);
        let x = Table::unnamed(Matrix::from_fn(50, 1, |_, _| sample::standard_normal(&mut rng)));
        let y: Vec<f64> = (0..50)
            .map(|i| 1.0 + 2.0 * x.values()[(i, 0)] + sample::standard_normal(&mut rng))
            .collect();
        let function = ParametricBootstrap {
            estimator: LinearRegression::default().into(),
            n_resamples: 4000,
            ddof: 0,
        };
        let found = function.compute(NumericExamples { x: x.frame(), y: &y }).unwrap();
        let column = x.values().view().column(0);
        let mean = summary::mean(&column, None).unwrap();
        let spread: f64 = column.iter().map(|x| (x - mean).powi(2)).sum();
        let theory = (found.noise_variance / spread).sqrt();
        let slope = found.coefficient_se.unwrap()[0];
        assert!((slope / theory - 1.0).abs() < 0.04, "{slope} {theory}");
        assert_eq!(found.coefficients.unwrap().len(), 2);
    }

    #[test]
    fn the_optimism_of_three_parameters_on_twenty_rows_is_three_tenths() {
        let mut rng = Context::default().with_seed(1).rng(0);
        let x = Table::unnamed(Matrix::from_fn(20, 3, |_, _| sample::standard_normal(&mut rng)));
        let mean: Vec<f64> = (0..20).map(|i| 2.0 * x.values()[(i, 0)]).collect();
        let plain = LinearRegression { fit_intercept: false, ..Default::default() };
        let function = Optimism { estimator: plain.into(), noise: 1.0, draws: 4000 };
        let found = function.compute(KnownMeans { x: x.frame(), mean: &mean }).unwrap();
        assert!((found.optimism - 0.3).abs() < 0.02, "{found:?}");
        assert!((found.covariance_form - 0.3).abs() < 0.02, "{found:?}");
    }
}
