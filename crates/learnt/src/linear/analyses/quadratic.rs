//! Least squares with a general quadratic penalty λ bᵀΓb, as a function.

use super::{RowsAndNumbers, for_each_output, number_each_output};
use crate::linear::penalized::{Intercept, QuadraticWeights, quadratic_penalty};
use learnt_core::prelude::*;

/// Ridge regression with a general quadratic penalty: a weight for each coefficient, or low orders
/// favoured.
#[derive(Params, Clone, Debug)]
pub struct QuadraticPenalty {
    /// Strength of the penalty.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub alpha: f64,
    /// Weight of each coefficient: `uniform`, `low_order` (the order of a term), or one number a
    /// column.
    #[param(default = Value::Text("uniform".to_string()))]
    pub weights: Value,
    /// What becomes of the intercept.
    pub intercept: PenalizedIntercept,
}

/// What becomes of the intercept.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PenalizedIntercept {
    /// Fitted, not penalised.
    #[default]
    Free,
    /// Penalised like a coefficient.
    Penalized,
    /// None.
    Absent,
}

/// The penalised fit.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PenalizedFit {
    /// Coefficients; one row for each of several targets.
    pub coef: Datum,
    /// Intercept of each target.
    pub intercept: Datum,
    /// Effective degrees of freedom.
    pub effective_df: f64,
}

impl Function for QuadraticPenalty {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = PenalizedFit;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.quadratic_penalty", FunctionKind::Analysis)
            .threads()
            .exempt(&[("scaled weights", "the penalty is absolute, as that of ridge regression")]);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<PenalizedFit> {
        let weights = self.weights()?;
        let intercept = match self.intercept {
            PenalizedIntercept::Free => Intercept::Free,
            PenalizedIntercept::Penalized => Intercept::Penalized,
            PenalizedIntercept::Absent => Intercept::Absent,
        };
        let found = quadratic_penalty(&given.data(), self.alpha, &weights, intercept, run)?;
        Ok(PenalizedFit {
            coef: for_each_output(found.coef),
            intercept: number_each_output(found.intercept),
            effective_df: found.effective_df,
        })
    }
}

impl QuadraticPenalty {
    fn weights(&self) -> Result<QuadraticWeights> {
        let wrong = || {
            let expected = "'uniform', 'low_order' or a list of numbers";
            Error::parameter("weights", expected, &self.weights)
        };
        match &self.weights {
            Value::Text(word) if word == "uniform" => Ok(QuadraticWeights::Uniform),
            Value::Text(word) if word == "low_order" => Ok(QuadraticWeights::LowOrder),
            Value::List(items) => {
                let numbers = items.iter().map(Value::as_real).collect::<Option<Vec<f64>>>();
                numbers.map(QuadraticWeights::Diagonal).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}
