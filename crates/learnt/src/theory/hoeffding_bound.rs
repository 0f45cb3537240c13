//! Hoeffding's bound: P(|ν - μ| > ε) ≤ 2 M exp(-2 ε² N) for a share ν of N rows, its expectation μ and
//! M hypotheses that were fixed before the rows were seen (union bound).
//!
//! Any one of ε, N and δ follows from the other two:
//! ε = √(ln(2M/δ) / 2N), N = ⌈ln(2M/δ) / 2ε²⌉. The one-sided form has M in place of 2M.
//!
//! With the error in sample of a hypothesis chosen among the M, E_out ≤ E_in + ε.
//!
//! Reference: Hoeffding (1963), Probability inequalities for sums of bounded random variables.

use learnt_core::prelude::*;

/// How far a share can lie from its expectation: Hoeffding's bound, solved for what is left out.
///
/// Two of `n`, `eps` and `delta` are given, the third is found.
#[derive(Params, Clone, Debug)]
#[params(constraints = two_are_given)]
pub struct HoeffdingBound {
    /// Number of rows.
    #[param(range = 1..)]
    pub n: Option<u64>,
    /// Distance of the share from its expectation.
    #[param(above = 0.0)]
    pub eps: Option<f64>,
    /// Probability with which the distance may be exceeded.
    #[param(above = 0.0)]
    pub delta: Option<f64>,
    /// Number of hypotheses that the bound holds for together.
    #[param(default = 1, range = 1..)]
    pub hypotheses: u64,
    /// Whether only one direction counts.
    pub one_sided: bool,
    /// Error in sample, for a bound on the error out of sample.
    #[param(range = 0.0..=1.0)]
    pub in_sample_error: Option<f64>,
}

/// All three quantities of the bound.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct HoeffdingResult {
    /// Number of rows.
    pub n: u64,
    /// Distance of the share from its expectation.
    pub eps: f64,
    /// Probability with which the distance may be exceeded; above 1 the bound says nothing.
    pub delta: f64,
    /// E_in + ε, which the error out of sample exceeds with probability δ at most.
    pub bound: Option<f64>,
}

impl HoeffdingBound {
    fn two_are_given(&self) -> Result<()> {
        let given = [self.n.is_some(), self.eps.is_some(), self.delta.is_some()];
        match given.iter().filter(|given| **given).count() {
            2 => Ok(()),
            count => Err(Error::new(Code::Usage, format!("{count} of n, eps and delta are given"))
                .hint("give two of them; the third is found")),
        }
    }
}

impl Function for HoeffdingBound {
    type Inputs<'a> = ();
    type Output = HoeffdingResult;
    const ABOUT: &'static Callable = &Callable::new("theory.hoeffding_bound", FunctionKind::Theory)
        .reference("Hoeffding (1963)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<HoeffdingResult> {
        let sides = if self.one_sided { 1.0 } else { 2.0 };
        let count = sides * self.hypotheses as f64;
        let (n, eps, delta) = match (self.n, self.eps, self.delta) {
            (Some(n), Some(eps), _) => (n, eps, count * (-2.0 * eps * eps * n as f64).exp()),
            (Some(n), _, Some(delta)) => {
                (n, ((count / delta).ln() / (2.0 * n as f64)).max(0.0).sqrt(), delta)
            }
            (_, eps, delta) => {
                let (eps, delta) = (eps.unwrap_or(f64::NAN), delta.unwrap_or(f64::NAN));
                let n = ((count / delta).ln() / (2.0 * eps * eps)).ceil().max(1.0);
                (n as u64, eps, delta)
            }
        };
        Ok(HoeffdingResult { n, eps, delta, bound: self.in_sample_error.map(|error| error + eps) })
    }

    fn notes(&self, found: &HoeffdingResult) -> Vec<String> {
        match found.delta > 1.0 {
            true => vec!["a probability above 1 bounds nothing: take more rows".to_string()],
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(n: Option<u64>, eps: Option<f64>, delta: Option<f64>, m: u64) -> HoeffdingResult {
        let bound = HoeffdingBound { n, eps, delta, hypotheses: m, ..Default::default() };
        bound.compute(()).unwrap()
    }

    #[test]
    fn each_quantity_follows_from_the_other_two() {
        assert!((bound(Some(100), Some(0.1), None, 1).delta - 0.270_670_566_473).abs() < 1e-12);
        assert!((bound(Some(1000), Some(0.05), None, 1).delta - 0.013_475_893_998_2).abs() < 1e-12);
        assert!((bound(Some(1000), None, Some(0.05), 100).eps - 0.064_397_397_618_6).abs() < 1e-12);
        assert_eq!(
            [1, 10, 100].map(|m| bound(None, Some(0.05), Some(0.03), m).n),
            [840, 1301, 1761]
        );
    }

    #[test]
    fn a_class_of_many_hypotheses_bounds_the_error_out_of_sample() {
        let bound = HoeffdingBound {
            n: Some(400),
            delta: Some(0.05),
            hypotheses: 1000,
            in_sample_error: Some(0.1),
            ..Default::default()
        };
        let found = bound.compute(()).unwrap();
        assert!((found.bound.unwrap() - 0.215_090_370_65).abs() < 1e-10);
    }

    #[test]
    fn one_quantity_alone_is_too_little() {
        let one = HoeffdingBound { n: Some(10), ..Default::default() };
        assert_eq!(one.compute(()).unwrap_err().code(), Code::Usage);
    }
}
