//! Distributions: density, both tails, quantiles, moments and draws.
//!
//! Each distribution is one function of `x` whose parameters carry scipy's names; `what` chooses
//! what is computed. Survival functions are computed as such, never as one less the other tail.
//! Discrete distributions have a probability instead of a density; it is 0 between whole numbers.

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::distribution as core;
use learnt_core::stats::distribution::{Continuous, Discrete};

/// What is computed of a distribution.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// The density, or the probability of a whole number.
    Pdf,
    /// Its logarithm.
    LogPdf,
    /// The probability of a value of at most x.
    #[default]
    Cdf,
    /// Its logarithm.
    LogCdf,
    /// The probability of a value above x.
    Sf,
    /// Its logarithm.
    LogSf,
    /// The value with probability x below it.
    Quantile,
    /// The value with probability x above it.
    UpperQuantile,
}

/// Places on the line, or probabilities for quantiles.
#[derive(Inputs, Clone, Copy)]
pub struct Places<'a> {
    /// Where the distribution is looked at; probabilities for quantiles.
    pub x: &'a [f64],
}

/// Normal distribution.
#[derive(Params, Clone, Debug)]
pub struct Normal {
    /// Mean.
    #[param(positional, default = 0.0)]
    pub loc: f64,
    /// Standard deviation.
    #[param(positional, default = 1.0, above = 0.0)]
    pub scale: f64,
    /// What is computed.
    pub what: What,
}

/// Student's t distribution.
#[derive(Params, Clone, Debug)]
pub struct StudentT {
    /// Degrees of freedom.
    #[param(positional, default = 1.0, above = 0.0)]
    pub df: f64,
    /// What is computed.
    pub what: What,
}

/// Chi-squared distribution.
#[derive(Params, Clone, Debug)]
pub struct ChiSquared {
    /// Degrees of freedom.
    #[param(positional, default = 1.0, above = 0.0)]
    pub df: f64,
    /// What is computed.
    pub what: What,
}

/// Fisher's F distribution.
#[derive(Params, Clone, Debug)]
pub struct FisherF {
    /// Degrees of freedom of the numerator.
    #[param(positional, default = 1.0, above = 0.0)]
    pub dfn: f64,
    /// Degrees of freedom of the denominator.
    #[param(positional, default = 1.0, above = 0.0)]
    pub dfd: f64,
    /// What is computed.
    pub what: What,
}

/// Gamma distribution.
#[derive(Params, Clone, Debug)]
pub struct Gamma {
    /// Shape.
    #[param(positional, default = 1.0, above = 0.0)]
    pub a: f64,
    /// Scale.
    #[param(default = 1.0, above = 0.0)]
    pub scale: f64,
    /// What is computed.
    pub what: What,
}

/// Beta distribution.
#[derive(Params, Clone, Debug)]
pub struct Beta {
    /// First shape.
    #[param(positional, default = 1.0, above = 0.0)]
    pub a: f64,
    /// Second shape.
    #[param(positional, default = 1.0, above = 0.0)]
    pub b: f64,
    /// What is computed.
    pub what: What,
}

/// Exponential distribution.
#[derive(Params, Clone, Debug)]
pub struct Exponential {
    /// Mean.
    #[param(default = 1.0, above = 0.0)]
    pub scale: f64,
    /// What is computed.
    pub what: What,
}

/// Uniform distribution on [loc, loc + scale].
#[derive(Params, Clone, Debug)]
pub struct Uniform {
    /// Lower end.
    #[param(positional, default = 0.0)]
    pub loc: f64,
    /// Width.
    #[param(positional, default = 1.0, above = 0.0)]
    pub scale: f64,
    /// What is computed.
    pub what: What,
}

/// Binomial distribution: successes in n trials.
#[derive(Params, Clone, Debug)]
pub struct Binomial {
    /// Number of trials.
    #[param(positional, default = 1)]
    pub n: u64,
    /// Probability of a success.
    #[param(positional, default = 0.5, range = 0.0..=1.0)]
    pub p: f64,
    /// What is computed.
    pub what: What,
}

/// Poisson distribution: rare events.
#[derive(Params, Clone, Debug)]
pub struct Poisson {
    /// Mean.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub mu: f64,
    /// What is computed.
    pub what: What,
}

/// A distribution whose sort no longer matters.
trait Distributed: Sync {
    fn at(&self, what: What, x: f64) -> f64;
    fn mean(&self) -> Option<f64>;
    fn variance(&self) -> Option<f64>;
    fn draw(&self, rng: &mut Rng) -> f64;
}

struct Real<D>(D);
struct Counted<D>(D);

impl<D: Continuous + Sync> Distributed for Real<D> {
    fn at(&self, what: What, x: f64) -> f64 {
        match what {
            What::Pdf => self.0.pdf(x),
            What::LogPdf => self.0.ln_pdf(x),
            What::Cdf => self.0.cdf(x),
            What::LogCdf => self.0.ln_cdf(x),
            What::Sf => self.0.sf(x),
            What::LogSf => self.0.ln_sf(x),
            What::Quantile => self.0.quantile(x),
            What::UpperQuantile => self.0.upper_quantile(x),
        }
    }
    fn mean(&self) -> Option<f64> {
        self.0.mean()
    }
    fn variance(&self) -> Option<f64> {
        self.0.variance()
    }
    fn draw(&self, rng: &mut Rng) -> f64 {
        self.0.sample(rng)
    }
}

impl<D: Discrete + Sync> Distributed for Counted<D> {
    fn at(&self, what: What, x: f64) -> f64 {
        let count = |found: Option<u64>| found.map_or(f64::NAN, |k| k as f64);
        match what {
            What::Quantile => return count(self.0.quantile(x)),
            What::UpperQuantile => return count(self.0.upper_quantile(x)),
            What::Pdf if x < 0.0 || x.fract() != 0.0 => return 0.0,
            What::LogPdf if x < 0.0 || x.fract() != 0.0 => return f64::NEG_INFINITY,
            What::Cdf if x < 0.0 => return 0.0,
            What::LogCdf if x < 0.0 => return f64::NEG_INFINITY,
            What::Sf if x < 0.0 => return 1.0,
            What::LogSf if x < 0.0 => return 0.0,
            _ => {}
        }
        let k = x.floor() as u64;
        match what {
            What::Pdf => self.0.pmf(k),
            What::LogPdf => self.0.ln_pmf(k),
            What::Cdf => self.0.cdf(k),
            What::LogCdf => self.0.ln_cdf(k),
            What::Sf => self.0.sf(k),
            _ => self.0.ln_sf(k),
        }
    }
    fn mean(&self) -> Option<f64> {
        self.0.mean()
    }
    fn variance(&self) -> Option<f64> {
        self.0.variance()
    }
    fn draw(&self, rng: &mut Rng) -> f64 {
        self.0.sample(rng) as f64
    }
}

/// Makes functions of the structs above, and the list of them by name.
macro_rules! distributions {
    ($($type:ident, $path:literal, $aliases:expr, |$d:ident| $build:expr;)*) => {
        $(impl Function for $type {
            type Inputs<'a> = Places<'a>;
            type Output = Vec<f64>;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Statistic).alias($aliases);

            fn call(&self, given: Places, run: &Context) -> Result<Vec<f64>> {
                let found = self.distribution()?;
                let blocks = run.par_ranges(given.x.len(), 4096, |rows| {
                    let at = |i: usize| found.at(self.what, given.x[i]);
                    rows.into_iter().map(at).collect::<Vec<f64>>()
                });
                Ok(blocks.concat())
            }
        }

        impl $type {
            fn distribution(&self) -> Result<Box<dyn Distributed>> {
                let $d = self;
                let built: Option<Box<dyn Distributed>> = $build;
                built.ok_or_else(|| {
                    let message = "the parameters are too extreme for this distribution";
                    Error::new(Code::Parameter, message)
                })
            }
        })*

        /// One function for each distribution.
        pub const DISTRIBUTIONS: &[FunctionEntry] = &[$(function::<$type>(),)*];

        /// The distribution with these values in place of its first parameters.
        fn named(name: DistributionName, parameters: &[f64]) -> Result<Box<dyn Distributed>> {
            match name {
                $(DistributionName::$type => {
                    let mut function = $type::default();
                    let names: Vec<&str> = function
                        .specs()
                        .iter()
                        .map(|spec| spec.name)
                        .filter(|name| *name != "what")
                        .collect();
                    if parameters.len() > names.len() {
                        let expected = format!("at most {}: {}", names.len(), names.join(", "));
                        return Err(Error::parameter("parameters", expected, parameters.len()));
                    }
                    for (name, &value) in names.iter().zip(parameters) {
                        let whole = value.fract() == 0.0 && value.abs() < 9e15 && *name == "n";
                        let value =
                            if whole { Value::Int(value as i64) } else { Value::Real(value) };
                        function.set(name, &value)?;
                    }
                    function.check()?;
                    function.distribution()
                })*
            }
        }
    };
}
distributions! {
    Normal, "stats.normal", &["norm"], |d| core::Normal::new(d.loc, d.scale).map(|d| Box::new(Real(d)) as _);
    StudentT, "stats.student_t", &["t"], |d| core::StudentT::new(d.df).map(|d| Box::new(Real(d)) as _);
    ChiSquared, "stats.chi_squared", &["chi2"], |d| core::ChiSquared::new(d.df).map(|d| Box::new(Real(d)) as _);
    FisherF, "stats.fisher_f", &["f"], |d| core::FisherF::new(d.dfn, d.dfd).map(|d| Box::new(Real(d)) as _);
    Gamma, "stats.gamma", &[], |d| core::Gamma::new(d.a, d.scale).map(|d| Box::new(Real(d)) as _);
    Beta, "stats.beta", &[], |d| core::Beta::new(d.a, d.b).map(|d| Box::new(Real(d)) as _);
    Exponential, "stats.exponential", &["expon"], |d| core::Exponential::new(1.0 / d.scale).map(|d| Box::new(Real(d)) as _);
    Uniform, "stats.uniform", &[], |d| core::Uniform::new(d.loc, d.loc + d.scale).map(|d| Box::new(Real(d)) as _);
    Binomial, "stats.binomial", &["binom"], |d| core::Binomial::new(d.n, d.p).map(|d| Box::new(Counted(d)) as _);
    Poisson, "stats.poisson", &[], |d| core::Poisson::new(d.mu).map(|d| Box::new(Counted(d)) as _);
}

/// The distributions by name.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DistributionName {
    /// loc, scale.
    #[default]
    Normal,
    /// df.
    StudentT,
    /// df.
    ChiSquared,
    /// dfn, dfd.
    FisherF,
    /// a, scale.
    Gamma,
    /// a, b.
    Beta,
    /// scale.
    Exponential,
    /// loc, scale.
    Uniform,
    /// n, p.
    Binomial,
    /// mu.
    Poisson,
}

/// Draws numbers from a distribution.
#[derive(Params, Clone, Debug)]
pub struct RandomSample {
    /// The distribution.
    #[param(positional)]
    pub distribution: DistributionName,
    /// Its parameters in their order; those left out keep their defaults.
    #[param(positional, default = Vec::new())]
    pub parameters: Vec<f64>,
    /// How many numbers.
    #[param(default = 1)]
    pub size: usize,
}

impl Function for RandomSample {
    type Inputs<'a> = ();
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("stats.random_sample", FunctionKind::Statistic).randomness();

    fn call(&self, _inputs: (), run: &Context) -> Result<Vec<f64>> {
        run.claim((self.size as u64).saturating_mul(8), "the numbers")?;
        let found = named(self.distribution, &self.parameters)?;
        let mut rng = run.rng(DRAWS);
        Ok((0..self.size).map(|_| found.draw(&mut rng)).collect())
    }
}

/// The stream of random numbers of draws.
const DRAWS: u64 = 0x0064_7261_7773;

/// Mean and variance of a distribution.
#[derive(Params, Clone, Debug)]
pub struct DistributionMoments {
    /// The distribution.
    #[param(positional)]
    pub distribution: DistributionName,
    /// Its parameters in their order; those left out keep their defaults.
    #[param(positional, default = Vec::new())]
    pub parameters: Vec<f64>,
}

/// The first two moments, where they exist.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct MeanAndVariance {
    /// The expected value.
    pub mean: Option<f64>,
    /// The variance.
    pub variance: Option<f64>,
}

impl Function for DistributionMoments {
    type Inputs<'a> = ();
    type Output = MeanAndVariance;
    const ABOUT: &'static Callable =
        &Callable::new("stats.distribution_moments", FunctionKind::Statistic);

    fn call(&self, _inputs: (), _run: &Context) -> Result<MeanAndVariance> {
        let found = named(self.distribution, &self.parameters)?;
        Ok(MeanAndVariance { mean: found.mean(), variance: found.variance() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_quantiles_and_tails() {
        let normal =
            |what, x: f64| Normal { what, ..Default::default() }.compute(Places { x: &[x] });
        assert!((normal(What::Quantile, 0.975).unwrap()[0] - 1.959_963_984_540_054).abs() < 1e-12);
        assert!(
            (normal(What::Sf, 30.0).unwrap()[0] / 4.906_713_927_148_187e-198 - 1.0).abs() < 1e-10
        );
        assert!((normal(What::LogSf, 40.0).unwrap()[0] + 804.608_442_013_753_9).abs() < 1e-9);
    }

    #[test]
    fn counts_have_probability_at_whole_numbers_only() {
        let binomial = Binomial { n: 3, p: 0.5, what: What::Pdf };
        let found = binomial.compute(Places { x: &[-1.0, 0.0, 0.5, 1.0, 4.0] }).unwrap();
        for (got, wanted) in found.iter().zip([0.0, 0.125, 0.0, 0.375, 0.0]) {
            assert!((got - wanted).abs() < 1e-15, "{found:?}");
        }
        let cdf = Binomial { what: What::Cdf, ..binomial };
        let found = cdf.compute(Places { x: &[-0.5, 1.5] }).unwrap();
        assert!(found[0] == 0.0 && (found[1] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution() {
        let cases: [(DistributionName, &[f64]); 10] = [
            (DistributionName::Normal, &[2.0, 3.0]),
            (DistributionName::StudentT, &[9.0]),
            (DistributionName::ChiSquared, &[4.0]),
            (DistributionName::FisherF, &[6.0, 40.0]),
            (DistributionName::Gamma, &[2.0, 0.5]),
            (DistributionName::Beta, &[2.0, 5.0]),
            (DistributionName::Exponential, &[3.0]),
            (DistributionName::Uniform, &[-1.0, 4.0]),
            (DistributionName::Binomial, &[12.0, 0.25]),
            (DistributionName::Poisson, &[3.5]),
        ];
        for (distribution, parameters) in cases {
            let parameters = parameters.to_vec();
            let size = 20_000;
            let moments = DistributionMoments { distribution, parameters: parameters.clone() };
            let moments = moments.compute(()).unwrap();
            let drawn = RandomSample { distribution, parameters, size }.compute(()).unwrap();
            let mean = drawn.iter().sum::<f64>() / size as f64;
            let error = (moments.variance.unwrap() / size as f64).sqrt();
            assert!((mean - moments.mean.unwrap()).abs() < 5.0 * error, "{distribution:?}: {mean}");
        }
    }

    #[test]
    fn too_many_or_wrong_parameters_are_refused() {
        let with = |parameters: Vec<f64>| {
            RandomSample { parameters, ..Default::default() }.compute(()).unwrap_err().code()
        };
        assert_eq!(with(vec![0.0, 1.0, 2.0]), Code::Parameter);
        assert_eq!(with(vec![0.0, -1.0]), Code::Parameter);
    }
}
