//! The expected share of distinct rows in a bootstrap sample: 1 - (1 - 1/n)^draws, which tends to
//! 1 - 1/e, about 0.632, for as many draws as rows.

use crate::select::expected_distinct_share;
use learnt_core::prelude::*;

/// Expected share of rows that a sample with replacement draws at least once.
#[derive(Params, Clone, Debug)]
pub struct ExpectedDistinctShare {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: usize,
    /// Number of draws; as many as rows by default.
    #[param(positional)]
    pub draws: Option<usize>,
}

impl Function for ExpectedDistinctShare {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("theory.expected_distinct_share", FunctionKind::Theory);

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        Ok(expected_distinct_share(self.n, self.draws.unwrap_or(self.n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_tend_to_one_less_one_over_e() {
        let share = |n, draws| ExpectedDistinctShare { n, draws }.compute(()).unwrap();
        assert_eq!(share(1, None), 1.0);
        assert!((share(10, Some(5)) - (1.0 - 0.9_f64.powi(5))).abs() < 1e-15);
        assert!((share(1_000_000_000, None) - (1.0 - (-1.0_f64).exp())).abs() < 1e-9);
    }
}
