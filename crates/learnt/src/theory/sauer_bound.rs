//! B(N, k): the most dichotomies of N points if no k of them are shattered.
//!
//! B(N, k) = B(N - 1, k) + B(N - 1, k - 1) with B(N, 1) = 1 and B(1, k) = 2 for k > 1, which is
//! Σ_{i < k} C(N, i), at most N^(k - 1) + 1.
//!
//! Reference: Sauer (1972); Abu-Mostafa, Magdon-Ismail and Lin (2012), section 2.1.2.

use super::growth_function::binomial_sum;
use learnt_core::prelude::*;

/// Sauer's bound on the growth function of a class with a break point.
#[derive(Params, Clone, Debug)]
pub struct SauerBound {
    /// Number of points N.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Break point k: no k points are shattered.
    #[param(required, positional, range = 1..)]
    pub k: u64,
    /// Whether the table of B for all smaller numbers is given too.
    pub table: bool,
}

/// The bound, in its two forms.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SauerBounds {
    /// B(N, k) = Σ_{i < k} C(N, i).
    pub bound: f64,
    /// The polynomial bound N^(k - 1) + 1.
    pub polynomial: f64,
    /// B for 1 to N points (rows) and break points 1 to k (columns), by the recursion.
    pub table: Option<Matrix>,
}

impl Function for SauerBound {
    type Inputs<'a> = ();
    type Output = SauerBounds;
    const ABOUT: &'static Callable =
        &Callable::new("theory.sauer_bound", FunctionKind::Theory).reference("Sauer (1972)");

    fn call(&self, _inputs: (), run: &Context) -> Result<SauerBounds> {
        Ok(SauerBounds {
            bound: binomial_sum(self.n, self.k - 1),
            polynomial: (self.n as f64).powf((self.k - 1) as f64) + 1.0,
            table: if self.table { Some(table(self.n, self.k, run)?) } else { None },
        })
    }
}

fn table(n: u64, k: u64, run: &Context) -> Result<Matrix> {
    run.claim(n.saturating_mul(k).saturating_mul(8), "the table of bounds")?;
    let mut table = Matrix::zeros(n as usize, k as usize);
    for row in 0..n as usize {
        for column in 0..k as usize {
            table[(row, column)] = match (row, column) {
                (_, 0) => 1.0,
                (0, _) => 2.0,
                _ => table[(row - 1, column)] + table[(row - 1, column - 1)],
            };
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_gives_sums_of_binomial_coefficients() {
        let found = SauerBound { n: 6, k: 6, table: true }.compute(()).unwrap();
        let table = found.table.unwrap();
        assert_eq!(table.row(5), [1.0, 7.0, 22.0, 42.0, 57.0, 63.0]);
        assert_eq!(table.row(2), [1.0, 4.0, 7.0, 8.0, 8.0, 8.0]);
        for (n, k) in [(1, 1), (2, 3), (5, 4), (6, 6)] {
            let bound = SauerBound { n, k, table: false }.compute(()).unwrap();
            assert_eq!(bound.bound, table[(n as usize - 1, k as usize - 1)]);
            assert!(bound.bound <= bound.polynomial);
        }
    }
}
