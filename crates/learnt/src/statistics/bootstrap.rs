//! The bootstrap: how far a statistic varies, from samples drawn with replacement.
//!
//! With the statistic t of the data and t* of B samples, the interval of level 1 - 2α is
//! percentile: the quantiles α and 1 - α of t*; basic: 2t less those, in turn; bca: the quantiles at
//! Φ(z₀ + (z₀ + z) / (1 - a (z₀ + z))) for z = Φ⁻¹(α) and Φ⁻¹(1 - α), where z₀ = Φ⁻¹(share of t*
//! below t, half of the ties) and a = Σ d³ / 6 (Σ d²)^{3/2}, d the deviations of the statistic with
//! one row left out.
//!
//! Reference: Efron and Tibshirani (1993), An introduction to the bootstrap, chapters 13 and 14.

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::{sample, summary};

/// Interval of a statistic by the bootstrap.
#[derive(Params, Clone, Debug)]
pub struct Bootstrap {
    /// The statistic.
    #[param(positional)]
    pub statistic: Statistic,
    /// Number of samples.
    #[param(default = 9999, range = 1..)]
    pub n_resamples: usize,
    /// Share of such intervals that hold the true value.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub confidence_level: f64,
    /// How the interval is made.
    pub method: Interval,
}

/// A statistic of one column, or of two.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
    /// The standard deviation, divisor n - 1.
    Sd,
    /// The variance, divisor n - 1.
    Variance,
    /// The correlation with y.
    Correlation,
}

/// How an interval follows from the samples.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Bias corrected and accelerated.
    #[default]
    Bca,
    /// Quantiles of the samples.
    Percentile,
    /// Quantiles reflected at the statistic.
    Basic,
}

/// One number a row, or two.
#[derive(Inputs, Clone, Copy)]
pub struct OneOrTwo<'a> {
    /// The numbers.
    pub x: &'a [f64],
    /// The second numbers, for the correlation.
    pub y: Option<&'a [f64]>,
}

/// A statistic, its interval and its standard error.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Bootstrapped {
    /// The statistic of the data.
    pub statistic: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Standard deviation of the statistic over the samples.
    pub standard_error: f64,
    /// The statistic of each sample.
    pub distribution: Vec<f64>,
}

impl Function for Bootstrap {
    type Inputs<'a> = OneOrTwo<'a>;
    type Output = Bootstrapped;
    const ABOUT: &'static Callable = &Callable::new("stats.bootstrap", FunctionKind::Statistic)
        .randomness()
        .threads()
        .reference("Efron and Tibshirani (1993), An introduction to the bootstrap");

    fn call(&self, given: OneOrTwo, run: &Context) -> Result<Bootstrapped> {
        if (self.statistic == Statistic::Correlation) != given.y.is_some() {
            let message = match given.y {
                None => "the correlation needs a second column, y",
                Some(_) => "only the correlation takes a second column, y",
            };
            return Err(Error::new(Code::Usage, message));
        }
        run.claim((self.n_resamples as u64).saturating_mul(16), "the samples")?;
        let whole: Vec<usize> = (0..given.x.len()).collect();
        let statistic = self.of(given, &whole).ok_or_else(undefined)?;
        let distribution = run.try_par_map(self.n_resamples, |k| {
            let mut rng = run.child(k as u64).rng(SAMPLE);
            let drawn = self.drawn(given, &mut rng);
            drawn.ok_or_else(undefined)
        })?;
        let (low, high) = self.interval(given, statistic, &distribution)?;
        let standard_error = summary::sd(&distribution, None, 1.0).unwrap_or(f64::NAN);
        Ok(Bootstrapped { statistic, low, high, standard_error, distribution })
    }
}

/// The stream of random numbers of the samples.
const SAMPLE: u64 = 0x0062_6f6f_7400;
/// How often a sample is drawn again whose statistic does not exist.
const TRIES: usize = 100;

fn undefined() -> Error {
    Error::numeric("the statistic does not exist: too few or too equal numbers")
}

impl Bootstrap {
    /// The statistic of these rows.
    fn of(&self, given: OneOrTwo, rows: &[usize]) -> Option<f64> {
        let x: Vec<f64> = rows.iter().map(|&i| given.x[i]).collect();
        match self.statistic {
            Statistic::Mean => summary::mean(&x, None),
            Statistic::Median => summary::median(&x),
            Statistic::Sd => summary::sd(&x, None, 1.0),
            Statistic::Variance => summary::variance(&x, None, 1.0),
            Statistic::Correlation => {
                let y: Vec<f64> = rows.iter().map(|&i| given.y.map_or(0.0, |y| y[i])).collect();
                summary::correlation(&x, &y, None)
            }
        }
    }

    /// The statistic of a sample; samples without one (a constant column) are drawn again.
    fn drawn(&self, given: OneOrTwo, rng: &mut Rng) -> Option<f64> {
        let n = given.x.len();
        (0..TRIES).find_map(|_| {
            let rows: Vec<usize> = (0..n).map(|_| sample::below(rng, n as u64) as usize).collect();
            self.of(given, &rows)
        })
    }

    fn interval(&self, given: OneOrTwo, statistic: f64, samples: &[f64]) -> Result<(f64, f64)> {
        let tail = (1.0 - self.confidence_level) / 2.0;
        let shares = match self.method {
            Interval::Percentile | Interval::Basic => [tail, 1.0 - tail],
            Interval::Bca => self.corrected(given, statistic, samples, tail)?,
        };
        let ends = summary::quantiles(samples, &shares).ok_or_else(undefined)?;
        Ok(match self.method {
            Interval::Basic => (2.0 * statistic - ends[1], 2.0 * statistic - ends[0]),
            _ => (ends[0], ends[1]),
        })
    }

    /// The two shares of the bias-corrected and accelerated interval.
    fn corrected(
        &self,
        given: OneOrTwo,
        statistic: f64,
        samples: &[f64],
        tail: f64,
    ) -> Result<[f64; 2]> {
        let normal = Normal::standard();
        let count = |f: &dyn Fn(f64) -> bool| samples.iter().filter(|&&t| f(t)).count() as f64;
        let below = count(&|t| t < statistic) + 0.5 * count(&|t| t == statistic);
        let bias = normal.quantile(below / samples.len() as f64);
        let n = given.x.len();
        let without = |left_out: usize| {
            let rows: Vec<usize> = (0..n).filter(|&i| i != left_out).collect();
            self.of(given, &rows)
        };
        let kept: Option<Vec<f64>> = (0..n).map(without).collect();
        let kept = kept.ok_or_else(undefined)?;
        let mean = summary::mean(&kept, None).ok_or_else(undefined)?;
        let power = |p: i32| kept.iter().map(|t| (mean - t).powi(p)).sum::<f64>();
        let spread = power(2);
        let acceleration = if spread > 0.0 { power(3) / (6.0 * spread.powf(1.5)) } else { 0.0 };
        let share = |p: f64| {
            let z = bias + normal.quantile(p);
            normal.cdf(bias + z / (1.0 - acceleration * z))
        };
        let shares = [share(tail), share(1.0 - tail)];
        match shares.iter().all(|share| share.is_finite()) {
            true => Ok(shares),
            false => Err(Error::numeric("all samples lie on one side of the statistic")
                .hint("use the method percentile, or more samples")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Vec<f64> {
        (0..60).map(|i| ((i * 37 % 60) as f64 / 10.0).exp().ln_1p()).collect()
    }

    #[test]
    fn the_standard_error_of_a_mean_is_sd_over_root_n() {
        let x = numbers();
        let found = Bootstrap { n_resamples: 4000, ..Default::default() }
            .compute(OneOrTwo { x: &x, y: None })
            .unwrap();
        let wanted = summary::sd(&x, None, 0.0).unwrap() / 60.0_f64.sqrt();
        assert!((found.standard_error / wanted - 1.0).abs() < 0.05);
        assert!(found.low < found.statistic && found.statistic < found.high);
        assert!(((found.high - found.low) / (2.0 * 1.96 * wanted) - 1.0).abs() < 0.06);
    }

    #[test]
    fn basic_reflects_percentile() {
        let x = numbers();
        let of = |method| {
            Bootstrap {
                method,
                n_resamples: 500,
                statistic: Statistic::Median,
                ..Default::default()
            }
            .compute(OneOrTwo { x: &x, y: None })
            .unwrap()
        };
        let (percentile, basic) = (of(Interval::Percentile), of(Interval::Basic));
        assert!((percentile.high + basic.low - 2.0 * basic.statistic).abs() < 1e-12);
    }

    #[test]
    fn the_correlation_needs_two_columns_that_vary() {
        let x = numbers();
        let correlation = Bootstrap { statistic: Statistic::Correlation, ..Default::default() };
        let error = correlation.compute(OneOrTwo { x: &x, y: None }).unwrap_err();
        assert_eq!(error.code(), Code::Usage);
        let constant = vec![1.0; 60];
        assert!(correlation.compute(OneOrTwo { x: &x, y: Some(&constant) }).is_err());
    }
}
