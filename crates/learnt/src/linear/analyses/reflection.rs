//! Reflected rows of two classes and the perceptron criterion, as functions: see [`Reflected`].

use super::RowsAndClasses;
use crate::linear::Reflected;
use learnt_core::prelude::*;

/// Rows (1, x) with those of the first class negated, so that a separating vector has a positive
/// product with all.
#[derive(Params, Clone, Debug)]
pub struct ReflectRows {}

impl Function for ReflectRows {
    type Inputs<'a> = RowsAndClasses<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.reflect_rows", FunctionKind::Analysis);

    fn call(&self, given: RowsAndClasses, _run: &Context) -> Result<Matrix> {
        Ok(Reflected::new(&given.data())?.rows().clone())
    }
}

/// Perceptron criterion of a vector: the sum of -a·y over the reflected rows that it does not separate.
#[derive(Params, Clone, Debug)]
pub struct PerceptronCriterion {
    /// Intercept and weights.
    #[param(required, positional)]
    pub vector: Vec<f64>,
}

/// The criterion and what it is summed from.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Σ max(0, -a·y).
    pub criterion: f64,
    /// a·y of each row; all positive means separated.
    pub margins: Vec<f64>,
    /// Whether the vector separates the classes.
    pub separates: bool,
}

impl Function for PerceptronCriterion {
    type Inputs<'a> = RowsAndClasses<'a>;
    type Output = Criterion;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.perceptron_criterion", FunctionKind::Analysis);

    fn call(&self, given: RowsAndClasses, _run: &Context) -> Result<Criterion> {
        let rows = Reflected::new(&given.data())?;
        Ok(Criterion {
            criterion: rows.perceptron_criterion(&self.vector)?,
            margins: rows.margins(&self.vector)?,
            separates: rows.is_separated_by(&self.vector)?,
        })
    }
}
