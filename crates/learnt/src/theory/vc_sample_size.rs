//! How many rows the VC bound asks for: the fixed point of N = 8/ε² · ln(4 m(2N) / δ).
//!
//! Steps start from `start` and stop when N changes by less than 1e-12 of itself; the right side grows like
//! d ln N, so that they converge wherever the solution is above 8d/ε², where it always is.
//!
//! Reference: Abu-Mostafa, Magdon-Ismail and Lin (2012), section 2.2.1.

use super::vc_bound::Growth;
use learnt_core::prelude::*;

/// Number of rows at which the generalisation bound of Vapnik and Chervonenkis reaches a given size.
#[derive(Params, Clone, Debug)]
pub struct VcSampleSize {
    /// Wanted bound on the rise of the error out of sample.
    #[param(required, positional, above = 0.0)]
    pub eps: f64,
    /// VC dimension of the class of hypotheses.
    #[param(required, positional, range = 1..)]
    pub d_vc: u64,
    /// Probability with which the bound may fail.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
    /// Bound on the growth function.
    pub growth: Growth,
    /// Number of rows from which the steps start.
    #[param(default = 1000.0, range = 1.0..)]
    pub start: f64,
}

/// The number of rows, and the steps to it.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct VcRows {
    /// Smallest number of rows.
    pub n: u64,
    /// The fixed point.
    pub limit: f64,
    /// The steps.
    pub iterates: Vec<f64>,
}

impl Function for VcSampleSize {
    type Inputs<'a> = ();
    type Output = VcRows;
    const ABOUT: &'static Callable = &Callable::new("theory.vc_sample_size", FunctionKind::Theory)
        .reference("Abu-Mostafa, Magdon-Ismail and Lin (2012)");

    fn call(&self, _inputs: (), run: &Context) -> Result<VcRows> {
        let mut monitor = run.monitor("the number of rows", 1000);
        let mut n = self.start;
        let mut iterates = Vec::new();
        while monitor.advance()? {
            let log_growth = self.growth.log_at(2.0 * n, self.d_vc);
            let next = 8.0 / (self.eps * self.eps) * (log_growth + (4.0 / self.delta).ln());
            if next.is_nan() || next >= 1e18 {
                return Err(Error::new(Code::Undefined, "more rows than can be counted")
                    .hint("take a larger eps or a smaller d_vc"));
            }
            let change = (next - n).abs();
            n = next.max(1.0);
            iterates.push(n);
            if change <= 1e-12 * n {
                break;
            }
        }
        Ok(VcRows { n: n.ceil() as u64, limit: n, iterates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(eps: f64, d_vc: u64, delta: f64) -> VcRows {
        VcSampleSize { eps, d_vc, delta, ..Default::default() }.compute(()).unwrap()
    }

    #[test]
    fn steps_and_limits_are_the_worked_ones() {
        let three = rows(0.1, 3, 0.1);
        let steps = [21_193.269_466_3, 28_522.110_234, 29_234.900_468_2, 29_294.141_187_2];
        assert!(three.iterates.iter().zip(steps).all(|(a, b)| (a / b - 1.0).abs() < 1e-8));
        assert!((three.limit / 29_299.433_065_8 - 1.0).abs() < 1e-8);
        let sizes = [1, 2, 3, 4, 5, 10].map(|d| rows(0.1, d, 0.1).n);
        assert_eq!(sizes, [10_947, 19_898, 29_300, 38_998, 48_916, 100_652]);
        assert!((rows(0.05, 10, 0.05).limit / 452_956.864_722 - 1.0).abs() < 1e-8);
    }

    #[test]
    fn the_sum_of_binomial_coefficients_asks_for_fewer_rows() {
        let with = |growth| {
            let size = VcSampleSize { eps: 0.1, d_vc: 3, growth, ..Default::default() };
            size.compute(()).unwrap().n
        };
        assert!(with(Growth::BinomialSum) < with(Growth::Polynomial));
    }
}
