//! Least squares with penalties and constraints on the coefficients: lasso, elastic net, paths,
//! penalties chosen by cross-validation.

pub(crate) mod quadratic;
mod working_set;
