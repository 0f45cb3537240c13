//! Least squares with penalties and constraints on the coefficients: lasso, elastic net, paths,
//! penalties chosen by cross-validation.

mod columns;
mod elastic_net;
mod lasso;
mod problem;
pub(crate) mod quadratic;
mod working_set;

pub use elastic_net::{ElasticNet, ElasticNetModel, Selection};
pub use lasso::Lasso;
