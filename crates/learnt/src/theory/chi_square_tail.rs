//! A bound on the tails of the chi-square distribution: for Y with k degrees of freedom and x in
//! [0, 1/2], P(|Y/k - 1| ≥ x) ≤ exp(-3/16 · k x²) on either side, beside the exact probability.
//!
//! The bound is that of one side. It is what lengths of randomly projected vectors obey.
//!
//! Reference: Johnson and Lindenstrauss (1984); Dasgupta and Gupta (2003).

use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous};

/// How far a chi-square variable strays from its mean: a bound, and the exact probability.
#[derive(Params, Clone, Debug)]
pub struct ChiSquareTailBound {
    /// Degrees of freedom.
    #[param(required, positional, range = 1..)]
    pub k: u64,
    /// Relative distance from the mean.
    #[param(required, positional, range = 0.0..=0.5)]
    pub x: f64,
}

/// The bound and the truth.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TailBound {
    /// exp(-3/16 · k x²).
    pub bound: f64,
    /// P(|Y/k - 1| ≥ x).
    pub exact: f64,
}

impl Function for ChiSquareTailBound {
    type Inputs<'a> = ();
    type Output = TailBound;
    const ABOUT: &'static Callable =
        &Callable::new("theory.chi_square_tail_bound", FunctionKind::Theory)
            .reference("Dasgupta and Gupta (2003)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<TailBound> {
        let k = self.k as f64;
        let exact = ChiSquared::new(k)
            .map_or(f64::NAN, |y| y.cdf(k * (1.0 - self.x)) + y.sf(k * (1.0 + self.x)));
        Ok(TailBound { bound: (-3.0 / 16.0 * k * self.x * self.x).exp(), exact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_above_the_exact_tail() {
        let found = ChiSquareTailBound { k: 100, x: 0.2 }.compute(()).unwrap();
        assert!((found.exact - 0.154_74).abs() < 1e-5, "{found:?}");
        assert!((found.bound - 0.472_37).abs() < 1e-5);
        for (k, x) in [(50, 0.5), (400, 0.1), (1000, 0.3)] {
            let found = ChiSquareTailBound { k, x }.compute(()).unwrap();
            assert!(found.exact <= found.bound);
        }
    }
}
