//! Gamma regression with a log link and an L2 penalty.
//!
//! Minimises Σ w (y / μ + ln μ) / Σ w + alpha |b|² / 2 up to a constant, ln μ = a + bᵀx, a free: half
//! the mean deviance plus the penalty. Iteratively reweighted least squares, until no derivative of
//! that mean objective exceeds tol. The target must be above 0.
//!
//! McCullagh and Nelder (1989), Generalized Linear Models, chapter 8.

use super::family::{Family, Law, Link};
use super::fit::{Scoring, Tolerance};
use super::model::GeneralizedModel;
use super::poisson_regressor::GeneralizedSolver;
use learnt_core::estimator::Power;
use learnt_core::prelude::*;

/// Gamma regression: a generalized linear model of positive numbers with a log link function.
///
/// Both solvers are the same Newton steps here. With `alpha=0` the report has tests.
///
/// ```
/// use learnt::{linear::GammaRegressor, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 0.0, 1.0, 1.0]);
/// let data = OwnedDataset::regression(x, vec![1.0, 3.0, 5.0, 9.0]);
/// let learner = GammaRegressor { alpha: 0.0, tol: 1e-9, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// // The means of the groups are 2 and 7.
/// assert!((model.coef[0] - 3.5_f64.ln()).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GammaRegressor {
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

impl Estimator for GammaRegressor {
    type Model = GeneralizedModel;
    type Fit = Scoring;
    const ABOUT: &'static About = &About::regressor("linear_model.GammaRegressor")
        .deviance(Power::Fixed(2.0))
        .alias(&["gamma"])
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

impl FitBy<Scoring> for GammaRegressor {
    fn rounds(&self) -> Scoring {
        Scoring {
            law: Law { family: Family::Power(2.0), link: Link::Log },
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
