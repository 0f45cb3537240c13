//! Vapnik's bounds on the error out of sample, with probability 1 - η, for a class of VC dimension h:
//!
//! ε = a₁ (h (ln(a₂ N / h) + 1) - ln(η / 4)) / N;
//! classification: err + ε/2 · (1 + √(1 + 4 err / ε)); regression: err / (1 - c √ε)₊, infinite where the
//! bracket is zero.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 7.9; Cherkassky and Mulier (2007).

use learnt_core::prelude::*;

/// Vapnik's bounds on the error of classification and regression, from the VC dimension.
#[derive(Params, Clone, Debug)]
#[params(constraints = rows_for_the_dimension)]
pub struct VapnikBound {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// VC dimension of the class.
    #[param(required, positional, range = 1..)]
    pub h: u64,
    /// Error in sample.
    #[param(required, positional, range = 0.0..)]
    pub error: f64,
    /// Probability with which the bounds may fail.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub eta: f64,
    /// Factor of ε; between 0 and 4.
    #[param(default = 4.0, above = 0.0, range = ..=4.0)]
    pub a1: f64,
    /// Factor of the number of rows in the logarithm; between 0 and 2.
    #[param(default = 2.0, above = 0.0, range = ..=2.0)]
    pub a2: f64,
    /// Factor of the root in the bound of regression.
    #[param(default = 1.0, above = 0.0)]
    pub c: f64,
}

/// ε and the bounds that follow from it.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct VapnikBounds {
    /// ε.
    pub eps: f64,
    /// Bound on the error of a classifier.
    pub classification: f64,
    /// Bound on the error of a regression; infinite where it says nothing.
    pub regression: f64,
    /// Whether the bound of classification is above 1 and says nothing.
    pub vacuous: bool,
}

impl VapnikBound {
    fn rows_for_the_dimension(&self) -> Result<()> {
        match self.a2 * self.n as f64 * std::f64::consts::E < self.h as f64 {
            true => Err(Error::new(
                Code::Usage,
                format!("{} rows are too few for a VC dimension of {}", self.n, self.h),
            )
            .hint("the bound needs ln(a2 n / h) + 1 above 0")),
            false => Ok(()),
        }
    }
}

impl Function for VapnikBound {
    type Inputs<'a> = ();
    type Output = VapnikBounds;
    const ABOUT: &'static Callable = &Callable::new("theory.vapnik_bound", FunctionKind::Theory)
        .reference("Cherkassky and Mulier (2007)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<VapnikBounds> {
        let (n, h) = (self.n as f64, self.h as f64);
        let eps = self.a1 * (h * ((self.a2 * n / h).ln() + 1.0) - (self.eta / 4.0).ln()) / n;
        let classification = self.error + eps / 2.0 * (1.0 + (1.0 + 4.0 * self.error / eps).sqrt());
        let bracket = 1.0 - self.c * eps.sqrt();
        let regression = if bracket > 0.0 { self.error / bracket } else { f64::INFINITY };
        Ok(VapnikBounds { eps, classification, regression, vacuous: classification > 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(h: u64, n: u64) -> VapnikBounds {
        VapnikBound { n, h, error: 0.1, ..Default::default() }.compute(()).unwrap()
    }

    #[test]
    fn the_worked_bounds_agree() {
        let expected = [
            (3, 1000, 0.107555588589, 0.270600780124, 0.148799933092),
            (3, 10_000, 0.0135186609705, 0.144143212649, 0.113156704797),
            (11, 1000, 0.290460422755, 0.469145053611, 0.21689329987),
        ];
        for (h, n, eps, classification, regression) in expected {
            let found = bounds(h, n);
            assert!((found.eps / eps - 1.0).abs() < 1e-9);
            assert!((found.classification / classification - 1.0).abs() < 1e-9);
            assert!((found.regression / regression - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn few_rows_bound_nothing() {
        let found = bounds(100, 200);
        assert!(found.regression.is_infinite() && found.vacuous);
        let none = VapnikBound { n: 10, h: 1000, error: 0.1, ..Default::default() };
        assert_eq!(none.compute(()).unwrap_err().code(), Code::Usage);
    }
}
