//! Least squares with bounded coefficients, as a function: Σ b² or Σ |b| at most the bound. The
//! Lagrangian gives the penalty with the same fit.

use super::{RowsAndNumbers, for_each_output, number_each_output};
use crate::linear::penalized::{Intercept, constrained_lasso, norm_constrained};
use learnt_core::prelude::*;

/// Least squares whose coefficients have a bounded sum of squares (L2) or of absolute values (L1).
#[derive(Params, Clone, Debug)]
#[params(constraints = norm_allows_intercept)]
pub struct ConstrainedLeastSquares {
    /// Largest sum.
    #[param(required, positional, range = 0.0..)]
    pub bound: Option<f64>,
    /// What is summed.
    pub norm: BoundedNorm,
    /// What becomes of the intercept.
    pub intercept: BoundedIntercept,
}

/// What is summed.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundedNorm {
    /// Squares of the coefficients, as in ridge regression.
    #[default]
    L2,
    /// Absolute values of the coefficients, as in the lasso.
    L1,
}

/// What becomes of the intercept.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundedIntercept {
    /// Fitted, not bounded.
    #[default]
    Free,
    /// Bounded like a coefficient; with squares only.
    Bounded,
    /// None.
    Absent,
}

/// The bounded fit.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BoundedFit {
    /// Coefficients; one row for each of several targets.
    pub coef: Datum,
    /// Intercept of each target.
    pub intercept: Datum,
    /// The penalty that gives the same fit; 0 where the bound is not reached.
    pub lambda_: Datum,
}

impl ConstrainedLeastSquares {
    fn norm_allows_intercept(&self) -> Result<()> {
        match (self.norm, self.intercept) {
            (BoundedNorm::L1, BoundedIntercept::Bounded) => {
                Err(Error::parameter("intercept", "'free' or 'absent' with norm 'l1'", "bounded"))
            }
            _ => Ok(()),
        }
    }
}

impl Function for ConstrainedLeastSquares {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = BoundedFit;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.constrained_least_squares", FunctionKind::Analysis)
            .threads()
            .exempt(&[("scaled weights", "the penalty with the same fit grows with the weights")]);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<BoundedFit> {
        let (data, bound) = (given.data(), self.bound.unwrap_or(f64::NAN));
        let intercept = match self.intercept {
            BoundedIntercept::Free => Intercept::Free,
            BoundedIntercept::Bounded => Intercept::Penalized,
            BoundedIntercept::Absent => Intercept::Absent,
        };
        let found = match self.norm {
            BoundedNorm::L2 => norm_constrained(&data, bound, intercept, run)?,
            BoundedNorm::L1 => constrained_lasso(&data, bound, intercept == Intercept::Free, run)?,
        };
        Ok(BoundedFit {
            coef: for_each_output(found.coef),
            intercept: number_each_output(found.intercept),
            lambda_: number_each_output(found.lambda),
        })
    }
}
