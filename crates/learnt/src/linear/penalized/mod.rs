//! Least squares with penalties and constraints on the coefficients: lasso, elastic net, paths,
//! penalties chosen by cross-validation.

mod columns;
mod constrained;
mod coordinate_descent;
mod elastic_net;
mod elastic_net_cv;
mod folds;
mod in_memory;
mod lasso;
mod lasso_cv;
mod path;
mod problem;
pub(crate) mod quadratic;
mod quadratic_penalty;
mod ridge_cv;
mod ridge_rows;
mod spectrum;
mod sums;
mod working_set;

pub use constrained::{Constrained, Intercept, constrained_lasso, norm_constrained};
pub use coordinate_descent::{CoordinateDescent, Selection};
pub use elastic_net::{ElasticNet, ElasticNetModel};
pub use elastic_net_cv::{ElasticNetCV, ElasticNetCVModel, L1Ratio};
pub use folds::{Alphas, PenaltySearch};
pub use lasso::Lasso;
pub use lasso_cv::{LassoCV, LassoCVModel};
pub use path::{PathKind, PathOptions, RegularizationPath, elastic_net_path, lasso_path, path};
pub use quadratic_penalty::{QuadraticFit, QuadraticWeights, quadratic_penalty};
pub use ridge_cv::{RidgeCV, RidgeCVModel};
