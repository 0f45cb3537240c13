//! Poisson regression with a log link and an L2 penalty.
//!
//! Minimises Σ w (μ - y ln μ) / Σ w + alpha |b|² / 2 up to a constant, ln μ = a + bᵀx, a free: half
//! the mean deviance plus the penalty. Iteratively reweighted least squares, until no derivative of
//! that mean objective exceeds tol.
//!
//! McCullagh and Nelder (1989), Generalized Linear Models, chapter 6.

use super::family::{Family, Law, Link};
use super::fit::{Scoring, Tolerance};
use super::model::GeneralizedModel;
use learnt_core::estimator::Power;
use learnt_core::prelude::*;

/// Poisson regression: a generalized linear model of counts with a log link function.
///
/// Both solvers are the same Newton steps here. With `alpha=0` the report has tests.
///
/// ```
/// use learnt::{linear::PoissonRegressor, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 2.0, 3.0]);
/// let data = OwnedDataset::regression(x, vec![12.0, 17.0, 22.0, 21.0]);
/// let model = PoissonRegressor::default().fit(&data.view())?;
/// // The optimum is 2.42593 and 0.22586.
/// assert!((model.coef[0] - 0.22586).abs() < 1e-4);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct PoissonRegressor {
    /// Regularization strength (weight of the L2 penalty); 0 is maximum likelihood.
    #[param(default = 1.0, range = 0.0.., search = log(1e-4, 1e2))]
    pub alpha: f64,
    /// Fit an intercept; it is not penalised.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// The optimization algorithm; the optimum is the same.
    #[param(default = GeneralizedSolver::Lbfgs)]
    pub solver: GeneralizedSolver,
    /// Maximum number of iterations.
    #[param(default = 100, range = 1..)]
    pub max_iter: usize,
    /// Convergence tolerance: stop when no entry of the gradient is larger.
    #[param(default = 1e-4, above = 0.0)]
    pub tol: f64,
}

/// Names of methods that all lead to the same optimum by Newton steps.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneralizedSolver {
    /// Accepted: the same as `newton-cholesky`.
    Lbfgs,
    /// Iteratively reweighted least squares by Cholesky.
    #[choice(name = "newton-cholesky")]
    NewtonCholesky,
}

impl Estimator for PoissonRegressor {
    type Model = GeneralizedModel;
    type Fit = Scoring;
    const ABOUT: &'static About = &About::regressor("linear_model.PoissonRegressor")
        .deviance(Power::Fixed(1.0))
        .alias(&["poisson"])
        .weights()
        .threads()
        .iterations()
        .monotone()
        .streaming()
        .positive()
        .complexity(20)
        .cost("n p² time a step, p² memory")
        .reference("McCullagh and Nelder (1989), Generalized Linear Models")
        .exempt(&[("beats_the_dummy", "the default penalty is strong beside a mean deviance")]);
}

impl FitBy<Scoring> for PoissonRegressor {
    fn rounds(&self) -> Scoring {
        Scoring {
            law: Law { family: Family::Power(1.0), link: Link::Log },
            alpha: self.alpha,
            intercept: self.fit_intercept,
            max_iter: self.max_iter,
            tolerance: Tolerance::Gradient(self.tol),
            offset: None,
        }
    }

    fn model(&self, model: GeneralizedModel, _: &Context) -> Result<GeneralizedModel> {
        Ok(model)
    }
}
