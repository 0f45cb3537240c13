//! A line through points, as a function: see [`simple_regression`].

use crate::linear::{SimpleRegression, simple_regression};
use learnt_core::prelude::*;

/// Simple linear regression: slope, intercept and their standard errors.
#[derive(Params, Clone, Debug)]
pub struct FitLine {
    /// Whether the line goes through the origin.
    pub through_origin: bool,
}

/// Points of the plane.
#[derive(Inputs, Clone, Copy)]
pub struct Points<'a> {
    /// The input.
    pub x: &'a [f64],
    /// The target.
    pub y: &'a [f64],
    /// How much each point counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for FitLine {
    type Inputs<'a> = Points<'a>;
    type Output = SimpleRegression;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.simple_regression", FunctionKind::Analysis).exempt(&[(
            "scaled weights",
            "weights are known precisions: the residual sum of squares grows with them",
        )]);

    fn call(&self, given: Points, _run: &Context) -> Result<SimpleRegression> {
        simple_regression(given.x, given.y, given.sample_weight, self.through_origin)
    }
}
