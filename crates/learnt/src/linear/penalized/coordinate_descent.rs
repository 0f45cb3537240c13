//! The parameters of coordinate descent, which all learners with an L1 penalty share.

use super::problem::Settings;
use learnt_core::prelude::*;

/// How coefficients with an L1 penalty are found.
#[derive(Params, Clone, Copy, Debug, PartialEq)]
pub struct CoordinateDescent {
    /// Fit an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Maximum number of iterations (passes over the coefficients).
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
    /// Convergence tolerance of the duality gap, as a share of the target's variance.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// Constrain all coefficients to be non-negative.
    #[param(default = false)]
    pub positive: bool,
    /// The order of the coefficients in a pass.
    #[param(default = Selection::Cyclic)]
    pub selection: Selection,
}

/// Orders of coefficients in a pass of coordinate descent.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Selection {
    /// In the order of the columns.
    Cyclic,
    /// In a random order, another one in each pass.
    Random,
}

impl CoordinateDescent {
    /// What the descent needs.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            positive: self.positive,
            max_iter: self.max_iter,
            tol: self.tol,
            random: self.selection == Selection::Random,
        }
    }
}
