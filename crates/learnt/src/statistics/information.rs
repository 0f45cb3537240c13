//! Entropy, code length and divergence, in nats or another unit.
//!
//! H(P) = -Σ p ln p with 0 ln 0 = 0; KL(P, Q) = Σ p ln(p/q), infinite where q = 0 < p; code length
//! -log p; divided by ln of the base. From draws of P: the mean of ln p(x) - ln q(x) with its standard
//! error, which serves mixtures, whose divergence has no closed form.

use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// Probabilities, or counts of them, of one or two distributions.
#[derive(Inputs, Clone, Copy)]
pub struct TwoDistributions<'a> {
    /// Probabilities, or counts; they are divided by their sum.
    pub pk: &'a [f64],
    /// Another distribution over the same values.
    #[input(apart)]
    pub qk: Option<&'a [f64]>,
}

/// Entropy of a distribution, or with a second one the divergence of Kullback and Leibler from it.
#[derive(Params, Clone, Debug)]
pub struct Entropy {
    /// The base of the logarithm: 2 for bits; e by default.
    #[param(positional, above = 1.0)]
    pub base: Option<f64>,
}

impl Function for Entropy {
    type Inputs<'a> = TwoDistributions<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("stats.entropy", FunctionKind::Statistic)
        .alias(&["kl-divergence"])
        .reference("Kullback and Leibler (1951)");

    fn call(&self, given: TwoDistributions, _run: &Context) -> Result<f64> {
        let p = shares("pk", given.pk)?;
        let unit = self.base.map_or(1.0, f64::ln);
        let Some(qk) = given.qk else {
            let term = |p: &f64| if *p > 0.0 { -p * p.ln() } else { 0.0 };
            return Ok(p.iter().map(term).sum::<f64>() / unit);
        };
        if qk.len() != p.len() {
            return Err(Error::shape("qk", format!("{} numbers as in pk", p.len()), qk.len()));
        }
        let q = shares("qk", qk)?;
        let term = |(p, q): (&f64, &f64)| match (*p, *q) {
            (0.0, _) => 0.0,
            (_, 0.0) => f64::INFINITY,
            (p, q) => p * (p / q).ln(),
        };
        Ok(p.iter().zip(&q).map(term).sum::<f64>() / unit)
    }
}

fn shares(name: &str, values: &[f64]) -> Result<Vec<f64>> {
    let sum: f64 = values.iter().sum();
    let bad = values.iter().find(|value| **value < 0.0);
    match bad {
        Some(value) => Err(Error::parameter(name, "numbers >= 0", value)),
        None if sum > 0.0 && sum.is_finite() => Ok(values.iter().map(|v| v / sum).collect()),
        None => Err(Error::parameter(name, "numbers with a finite sum above 0", sum)),
    }
}

/// Probabilities of messages.
#[derive(Inputs, Clone, Copy)]
pub struct Messages<'a> {
    /// Probabilities.
    pub p: &'a [f64],
}

/// Length of the best code of messages with these probabilities: -log p.
#[derive(Params, Clone, Debug)]
pub struct CodeLength {
    /// The base of the logarithm: 2 for bits.
    #[param(positional, default = 2.0, above = 1.0)]
    pub base: f64,
}

impl Function for CodeLength {
    type Inputs<'a> = Messages<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("stats.code_length", FunctionKind::Statistic);

    fn call(&self, given: Messages, _run: &Context) -> Result<Vec<f64>> {
        let length = |p: &f64| match *p {
            p if (0.0..=1.0).contains(&p) => Ok(-p.ln() / self.base.ln() + 0.0),
            p => Err(Error::parameter("p", "probabilities", p)),
        };
        given.p.iter().map(length).collect()
    }
}

/// Log-densities of two distributions at draws from the first.
#[derive(Inputs, Clone, Copy)]
pub struct LogDensities<'a> {
    /// ln p at each draw of P.
    pub log_p: &'a [f64],
    /// ln q at the same draws.
    pub log_q: &'a [f64],
}

/// Divergence of Kullback and Leibler by simulation: the mean of ln p - ln q at draws from P.
#[derive(Params, Clone, Debug)]
pub struct SimulatedDivergence {}

/// A mean with its standard error.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The divergence.
    pub divergence: f64,
    /// Its standard error; none for a single draw.
    pub standard_error: Option<f64>,
}

impl Function for SimulatedDivergence {
    type Inputs<'a> = LogDensities<'a>;
    type Output = Simulated;
    const ABOUT: &'static Callable =
        &Callable::new("stats.simulated_divergence", FunctionKind::Statistic);

    fn call(&self, given: LogDensities, _run: &Context) -> Result<Simulated> {
        let ratios: Vec<f64> = given.log_p.iter().zip(given.log_q).map(|(p, q)| p - q).collect();
        let n = ratios.len() as f64;
        let divergence = summary::mean(&ratios, None)
            .ok_or_else(|| Error::new(Code::Empty, "there are no draws"))?;
        let spread = if ratios.len() > 1 { summary::sd(&ratios, None, 1.0) } else { None };
        Ok(Simulated { divergence, standard_error: spread.map(|sd| sd / n.sqrt()) })
    }
}

/// Entropies and divergences.
pub const INFORMATION: &[FunctionEntry] =
    &[function::<Entropy>(), function::<CodeLength>(), function::<SimulatedDivergence>()];

#[cfg(test)]
mod tests {
    use super::*;

    fn entropy(pk: &[f64], qk: Option<&[f64]>, base: Option<f64>) -> f64 {
        Entropy { base }.compute(TwoDistributions { pk, qk }).unwrap()
    }

    #[test]
    fn the_divergence_is_not_symmetric_and_may_be_infinite() {
        let (fair, biased) = ([0.5, 0.5], [0.99, 0.01]);
        assert!((entropy(&fair, Some(&biased), None) - 1.614_463_080_4).abs() < 1e-10);
        assert!((entropy(&biased, Some(&fair), None) - 0.637_145_646_2).abs() < 1e-10);
        assert_eq!(entropy(&fair, Some(&[1.0, 0.0]), None), f64::INFINITY);
        assert_eq!(entropy(&[1.0, 0.0], Some(&fair), Some(2.0)), 1.0);
    }

    #[test]
    fn entropies_in_bits_and_nats_and_the_mean_code_length() {
        assert!((entropy(&[29.0, 35.0], None, Some(2.0)) - 0.993_650_7).abs() < 1e-7);
        assert!((entropy(&[5.0, 3.0, 2.0], None, None) - 1.029_653).abs() < 1e-6);
        let p = [0.5, 0.25, 0.25];
        let lengths = CodeLength::default().compute(Messages { p: &p }).unwrap();
        assert_eq!(lengths, [1.0, 2.0, 2.0]);
        let mean: f64 = p.iter().zip(&lengths).map(|(p, l)| p * l).sum();
        assert_eq!(mean, entropy(&p, None, Some(2.0)));
        assert!(CodeLength::default().compute(Messages { p: &[1.5] }).is_err());
    }

    #[test]
    fn the_simulated_divergence_of_two_normals_is_near_the_exact_one() {
        let mut rng = Context::default().rng(1);
        let draws: Vec<f64> =
            (0..20_000).map(|_| learnt_core::stats::sample::standard_normal(&mut rng)).collect();
        let log_p: Vec<f64> = draws.iter().map(|x| -0.5 * x * x).collect();
        let log_q: Vec<f64> = draws.iter().map(|x| -0.5 * (x - 1.0) * (x - 1.0)).collect();
        let given = LogDensities { log_p: &log_p, log_q: &log_q };
        let found = SimulatedDivergence {}.compute(given).unwrap();
        assert!((found.divergence - 0.5).abs() < 4.0 * found.standard_error.unwrap());
    }
}
