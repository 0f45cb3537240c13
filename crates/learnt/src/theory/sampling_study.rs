//! How good an estimator is: bias, variance and mean squared error over many samples, against their size.
//!
//! Samples come from a distribution whose true value is known, or are drawn with replacement from a
//! population that is given, whose own value (divisor N) is the true one. mse = bias² + variance exactly,
//! over the same samples. The mean and the variance with divisor n - 1 are unbiased; its root is not.
//!
//! Reference: Lehmann and Casella (1998), Theory of point estimation.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::{sample, summary};

/// Bias, variance and mean squared error of an estimator over repeated samples.
#[derive(Params, Clone, Debug)]
pub struct SamplingStudy {
    /// The estimator.
    #[param(positional)]
    pub estimator: Estimated,
    /// Where samples come from, unless a population is given.
    pub distribution: Law,
    /// Sizes of the samples.
    #[param(default = vec![2, 5, 10, 20, 50, 100], range = 2..)]
    pub sizes: Vec<usize>,
    /// Number of samples of each size.
    #[param(default = 10_000, range = 2..)]
    pub samples: usize,
}

/// What is estimated from a sample.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimated {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
    /// The variance with divisor n - 1.
    Variance,
    /// The variance with divisor n.
    VarianceByN,
    /// The standard deviation with divisor n - 1.
    Sd,
}

/// A distribution with known values.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// Normal with mean 0 and variance 1.
    #[default]
    Normal,
    /// Uniform between 0 and 1.
    Uniform,
    /// Exponential with mean 1.
    Exponential,
}

/// A population to draw from.
#[derive(Inputs, Clone, Copy)]
pub struct Population<'a> {
    /// The values of the whole population.
    pub population: Option<&'a [f64]>,
}

/// The quality of the estimator for each size of samples.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SamplingTable {
    /// Sizes of the samples.
    pub n: Vec<u64>,
    /// Mean estimate.
    pub mean: Vec<f64>,
    /// Mean estimate less the true value.
    pub bias: Vec<f64>,
    /// Standard error of the bias over the samples.
    pub bias_se: Vec<f64>,
    /// Variance of the estimates.
    pub variance: Vec<f64>,
    /// Mean squared error.
    pub mse: Vec<f64>,
    /// The true value.
    pub truth: f64,
}

impl Function for SamplingStudy {
    type Inputs<'a> = Population<'a>;
    type Output = SamplingTable;
    const ABOUT: &'static Callable = &Callable::new("theory.sampling_study", FunctionKind::Study)
        .randomness()
        .threads()
        .reference("Lehmann and Casella (1998), Theory of point estimation");

    fn call(&self, given: Population, run: &Context) -> Result<SamplingTable> {
        let truth = match given.population {
            Some(values) => self.estimator.of_population(values).ok_or_else(undefined)?,
            None => self.estimator.truth(self.distribution),
        };
        run.claim(16 * self.samples as u64, "the estimates")?;
        let mut out = SamplingTable {
            n: self.sizes.iter().map(|&n| n as u64).collect(),
            mean: Vec::new(),
            bias: Vec::new(),
            bias_se: Vec::new(),
            variance: Vec::new(),
            mse: Vec::new(),
            truth,
        };
        for (s, &size) in self.sizes.iter().enumerate() {
            let run = run.child(s as u64).with_threads(run.threads());
            let estimates = run.try_par_map(self.samples, |b| {
                let mut rng = run.child(b as u64).rng(0);
                let drawn: Vec<f64> = (0..size)
                    .map(|_| match given.population {
                        Some(all) => all[sample::below(&mut rng, all.len() as u64) as usize],
                        None => self.distribution.draw(&mut rng),
                    })
                    .collect();
                self.estimator.of(&drawn).ok_or_else(undefined)
            })?;
            let mean = summary::mean(&estimates, None).ok_or_else(undefined)?;
            let variance = summary::variance(&estimates, None, 0.0).ok_or_else(undefined)?;
            out.mean.push(mean);
            out.bias.push(mean - truth);
            out.bias_se.push((variance / (self.samples as f64 - 1.0)).sqrt());
            out.variance.push(variance);
            out.mse.push(variance + (mean - truth).powi(2));
        }
        Ok(out)
    }

    fn chart(&self, found: &SamplingTable) -> Option<Chart> {
        let x: Vec<f64> = found.n.iter().map(|&n| n as f64).collect();
        let squared: Vec<f64> = found.bias.iter().map(|bias| bias * bias).collect();
        let panel = Panel::new("size of the sample", "error")
            .log_x()
            .mark(Mark::line("mean squared error", x.clone(), found.mse.clone()))
            .mark(Mark::line("variance", x.clone(), found.variance.clone()))
            .mark(Mark::line("squared bias", x, squared));
        let about = "Mean squared error, variance and squared bias against the size of the sample.";
        Some(Chart::new("Sampling study", about).panel(panel))
    }
}

fn undefined() -> Error {
    Error::numeric("the estimate does not exist: too few numbers")
}

impl Estimated {
    fn of(self, x: &[f64]) -> Option<f64> {
        match self {
            Estimated::Mean => summary::mean(x, None),
            Estimated::Median => summary::median(x),
            Estimated::Variance => summary::variance(x, None, 1.0),
            Estimated::VarianceByN => summary::variance(x, None, 0.0),
            Estimated::Sd => summary::sd(x, None, 1.0),
        }
    }

    fn of_population(self, x: &[f64]) -> Option<f64> {
        match self {
            Estimated::Variance => summary::variance(x, None, 0.0),
            Estimated::Sd => summary::sd(x, None, 0.0),
            other => other.of(x),
        }
    }

    fn truth(self, law: Law) -> f64 {
        let (mean, median, variance): (f64, f64, f64) = match law {
            Law::Normal => (0.0, 0.0, 1.0),
            Law::Uniform => (0.5, 0.5, 1.0 / 12.0),
            Law::Exponential => (1.0, std::f64::consts::LN_2, 1.0),
        };
        match self {
            Estimated::Mean => mean,
            Estimated::Median => median,
            Estimated::Variance | Estimated::VarianceByN => variance,
            Estimated::Sd => variance.sqrt(),
        }
    }
}

impl Law {
    fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Law::Normal => sample::standard_normal(rng),
            Law::Uniform => sample::uniform(rng),
            Law::Exponential => sample::standard_exponential(rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(estimator: Estimated, population: Option<&[f64]>) -> SamplingTable {
        let sizes = vec![5, 20];
        let study = SamplingStudy { estimator, sizes, samples: 20_000, ..Default::default() };
        study.compute(Population { population }).unwrap()
    }

    #[test]
    fn mean_and_variance_are_unbiased_and_the_deviation_is_not() {
        for estimator in [Estimated::Mean, Estimated::Variance] {
            let found = study(estimator, None);
            for k in 0..2 {
                assert!(found.bias[k].abs() < 4.0 * found.bias_se[k], "{estimator:?} {found:?}");
            }
        }
        // E s = c4 σ with c4(5) = 0.9400, c4(20) = 0.9869; the divisor n loses 1/n of the variance.
        let sd = study(Estimated::Sd, None);
        assert!((sd.mean[0] - 0.9400).abs() < 0.01 && (sd.mean[1] - 0.9869).abs() < 0.005);
        assert!(sd.bias[0] < -4.0 * sd.bias_se[0]);
        let by_n = study(Estimated::VarianceByN, None);
        assert!((by_n.bias[0] + 0.2).abs() < 0.02, "{by_n:?}");
        // The variance of a mean is σ²/n.
        assert!((study(Estimated::Mean, None).variance[1] - 0.05).abs() < 0.003);
    }

    #[test]
    fn a_population_has_its_own_true_value() {
        let found = study(Estimated::Variance, Some(&[1.0, 2.0, 3.0, 4.0]));
        assert_eq!(found.truth, 1.25);
        assert!(found.bias[1].abs() < 4.0 * found.bias_se[1]);
    }
}
