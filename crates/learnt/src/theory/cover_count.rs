//! Cover's count: of N points in general position in d dimensions, hyperplanes through the origin give
//! 2 Σ_{k < d} C(N - 1, k) of the 2^N labellings: a share of P(B ≤ d - 1) with B binomial, N - 1 trials
//! of probability 1/2. At N = 2d it is one half.
//!
//! Reference: Cover (1965).

use super::growth_function::binomial_sum;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Binomial, Discrete};

/// Labellings of points in general position that a hyperplane through the origin separates.
#[derive(Params, Clone, Debug)]
pub struct CoverCount {
    /// Number of points.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Dimension of the space.
    #[param(required, positional, range = 1..)]
    pub d: u64,
}

/// Number and share of separable labellings.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SeparableLabelings {
    /// Number of separable labellings.
    pub count: f64,
    /// Their share of all: the probability that a random labelling is separable.
    pub probability: f64,
}

impl Function for CoverCount {
    type Inputs<'a> = ();
    type Output = SeparableLabelings;
    const ABOUT: &'static Callable =
        &Callable::new("theory.cover_count", FunctionKind::Theory).reference("Cover (1965)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<SeparableLabelings> {
        let tosses = Binomial::new(self.n - 1, 0.5);
        Ok(SeparableLabelings {
            count: 2.0 * binomial_sum(self.n - 1, self.d - 1),
            probability: tosses.map_or(f64::NAN, |tosses| tosses.cdf(self.d - 1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_many_points_as_dimensions_are_separable_half_of_the_time() {
        let cases =
            [(4, 2, 8.0, 0.5), (4, 3, 14.0, 0.875), (6, 3, 32.0, 0.5), (20, 10, 524_288.0, 0.5)];
        for (n, d, count, probability) in cases {
            let found = CoverCount { n, d }.compute(()).unwrap();
            assert_eq!(found.count, count);
            assert!((found.probability - probability).abs() < 1e-12);
        }
        let large = CoverCount { n: 100_000, d: 50_000 }.compute(()).unwrap();
        assert!((large.probability - 0.5).abs() < 1e-9);
    }
}
