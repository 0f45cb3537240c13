//! Separating two classes by a line: reflection, the separability test, minimum squared error,
//! Widrow-Hoff and Ho-Kashyap.

mod ho_kashyap;
mod least_squares;
mod minimum_squared_error;
mod reflection;
mod separability;

pub use ho_kashyap::{HoKashyapClassifier, HoKashyapClassifierModel, rectified_margin_step};
pub use minimum_squared_error::{
    MinimumSquaredErrorClassifier, MinimumSquaredErrorClassifierModel, SeparationSolver,
    WidrowHoffRate, WidrowHoffUpdates,
};
pub use reflection::{Reflected, reflect_rows};
pub use separability::{Separability, linear_separability};
