//! The VC bound: with probability 1 - δ, E_out ≤ E_in + Ω for every hypothesis of a class of VC
//! dimension d, where Ω = √(8/N · ln(4 m(2N) / δ)) and m is the growth function.
//!
//! m(2N) is bounded by (2N)^d + 1 or by the sum of binomial coefficients Σ_{i ≤ d} C(2N, i) (Sauer).
//! Both are taken in logarithms, so that no dimension overflows.
//!
//! Reference: Vapnik and Chervonenkis (1971); Abu-Mostafa, Magdon-Ismail and Lin (2012), chapter 2.

use learnt_core::prelude::*;
use learnt_core::stats::special::ln_choose;

/// Generalisation bound of Vapnik and Chervonenkis: how far the error can rise out of sample.
#[derive(Params, Clone, Debug)]
pub struct VcBound {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// VC dimension of the class of hypotheses.
    #[param(required, positional, range = 1..)]
    pub d_vc: u64,
    /// Probability with which the bound may fail.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
    /// Bound on the growth function.
    pub growth: Growth,
    /// Error in sample, for a bound on the error out of sample.
    #[param(range = 0.0..=1.0)]
    pub in_sample_error: Option<f64>,
}

/// Bound on the number of ways in which a class can label 2N rows.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// (2N)^d + 1.
    #[default]
    Polynomial,
    /// Σ_{i ≤ d} C(2N, i).
    BinomialSum,
}

/// The penalty and what it says about the error out of sample.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct VcPenalty {
    /// Ω, the largest rise of the error out of sample.
    pub penalty: f64,
    /// E_in + Ω, where the error in sample is given.
    pub bound: Option<f64>,
    /// Whether the bound is above 1 and says nothing.
    pub vacuous: bool,
}

impl Function for VcBound {
    type Inputs<'a> = ();
    type Output = VcPenalty;
    const ABOUT: &'static Callable = &Callable::new("theory.vc_bound", FunctionKind::Theory)
        .reference("Vapnik and Chervonenkis (1971)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<VcPenalty> {
        let log_growth = self.growth.log_at(2.0 * self.n as f64, self.d_vc);
        let penalty = (8.0 / self.n as f64 * (log_growth + (4.0 / self.delta).ln())).sqrt();
        let bound = self.in_sample_error.map(|error| error + penalty);
        Ok(VcPenalty { penalty, bound, vacuous: bound.unwrap_or(penalty) > 1.0 })
    }
}

impl Growth {
    /// Logarithm of the bound at x points, rounded down where it takes a whole number of them.
    pub(super) fn log_at(self, x: f64, d_vc: u64) -> f64 {
        match self {
            Growth::Polynomial => log_polynomial(x, d_vc as f64),
            Growth::BinomialSum => log_binomial_sum(x as u64, d_vc),
        }
    }
}

/// ln(x^d + 1).
fn log_polynomial(x: f64, d: f64) -> f64 {
    let power = d * x.ln();
    power + (-power).exp().ln_1p()
}

/// ln Σ_{i ≤ d} C(n, i): the largest term and those below it that still count. From half of the
/// subsets on, the sum of all, n ln 2, is at most ln 2 too large.
fn log_binomial_sum(n: u64, d: u64) -> f64 {
    if d >= n / 2 {
        return n as f64 * std::f64::consts::LN_2;
    }
    let (mut sum, mut share) = (1.0, 1.0);
    for i in (1..=d).rev() {
        share *= i as f64 / (n - i + 1) as f64;
        sum += share;
        if share < f64::EPSILON * sum {
            break;
        }
    }
    ln_choose(n, d) + f64::ln(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalty(n: u64, d_vc: u64, delta: f64, growth: Growth) -> f64 {
        VcBound { n, d_vc, delta, growth, in_sample_error: None }.compute(()).unwrap().penalty
    }

    #[test]
    fn the_worked_examples_agree() {
        let polynomial = |n, d, delta| penalty(n, d, delta, Growth::Polynomial);
        assert!((polynomial(100, 1, 0.1) - 0.848_159_624_702).abs() < 1e-10);
        assert!((polynomial(1000, 3, 0.05) - 0.466_345).abs() < 1e-6);
        let binomial = |n, d, delta| penalty(n, d, delta, Growth::BinomialSum);
        assert!((binomial(1000, 3, 0.05) - 0.450_714_772_732).abs() < 1e-9);
        assert!((binomial(10_000, 10, 0.05) - 0.265_798_027_917).abs() < 1e-9);
    }

    #[test]
    fn large_dimensions_stay_finite_and_are_called_vacuous() {
        let bound = VcBound { n: 100, d_vc: 1_000_000, ..Default::default() };
        let found = bound.compute(()).unwrap();
        assert!(found.penalty.is_finite() && found.vacuous);
        assert!(penalty(100, 1_000_000, 0.05, Growth::BinomialSum).is_finite());
    }
}
