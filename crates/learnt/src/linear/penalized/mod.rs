//! Least squares with penalties and constraints on the coefficients: lasso, elastic net, paths,
//! penalties chosen by cross-validation.

mod columns;
mod constrained;
mod elastic_net;
mod lasso;
mod path;
mod problem;
pub(crate) mod quadratic;
mod quadratic_penalty;
mod spectrum;
mod working_set;

pub use constrained::{Constrained, Intercept, constrained_lasso, norm_constrained};
pub use elastic_net::{ElasticNet, ElasticNetModel, Selection};
pub use lasso::Lasso;
pub use path::{PathKind, PathOptions, RegularizationPath, elastic_net_path, lasso_path, path};
pub use quadratic_penalty::{QuadraticFit, QuadraticWeights, quadratic_penalty};
