//! Regression with a variance that is a power of the mean, and an L2 penalty.
//!
//! Minimises half the mean deviance of the Tweedie family plus alpha |b|² / 2, the intercept free:
//! d(y, μ) = 2 (y^(2-p) / ((1-p)(2-p)) - y μ^(1-p) / (1-p) + μ^(2-p) / (2-p)), with the limits
//! (y - μ)² at p = 0, Poisson's at 1 and gamma's at 2. Iteratively reweighted least squares, until
//! no derivative of that mean objective exceeds tol.
//!
//! Jørgensen (1987), Journal of the Royal Statistical Society B 49(2), 127-162.

use super::family::{Family, Law, Link};
use super::fit::{Scoring, Tolerance};
use super::generalized_linear_model::check_power;
use super::model::GeneralizedModel;
use super::poisson_regressor::GeneralizedSolver;
use learnt_core::estimator::Power;
use learnt_core::prelude::*;

/// Tweedie regression: a generalized linear model whose variance is a power of the mean.
///
/// Powers 0, 1, 2 and 3 are the Gaussian, Poisson, gamma and inverse Gaussian families; between 1
/// and 2 are positive amounts with many zeros. Both solvers are the same Newton steps here. With
/// `alpha=0` the report has tests.
///
/// ```
/// use learnt::{linear::TweedieRegressor, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 0.0, 1.0, 1.0]);
/// let data = OwnedDataset::regression(x, vec![0.0, 4.0, 0.0, 14.0]);
/// let learner = TweedieRegressor { power: 1.5, alpha: 0.0, tol: 1e-9, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// // The means of the groups are 2 and 7.
/// assert!((model.coef[0] - 3.5_f64.ln()).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct TweedieRegressor {
    /// Power of the mean that the variance is proportional to: at most 0, or at least 1.
    #[param(default = 0.0, search = set(0.0, 1.0, 1.5, 2.0))]
    pub power: f64,
    /// Regularization strength (weight of the L2 penalty); 0 is maximum likelihood.
    #[param(default = 1.0, range = 0.0.., search = log(1e-4, 1e2))]
    pub alpha: f64,
    /// Fit an intercept; it is not penalised.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// The link function: what the linear predictor is of the mean.
    #[param(default = TweedieLink::Auto)]
    pub link: TweedieLink,
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

/// Links between mean and linear predictor.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TweedieLink {
    /// `identity` for a power of at most 0, else `log`.
    Auto,
    /// The mean itself.
    Identity,
    /// Its logarithm.
    Log,
}

impl Estimator for TweedieRegressor {
    type Model = GeneralizedModel;
    type Fit = Scoring;
    const ABOUT: &'static About = &About::regressor("linear_model.TweedieRegressor")
        .deviance(Power::Parameter("power"))
        .alias(&["tweedie"])
        .weights()
        .threads()
        .iterations()
        .monotone()
        .streaming()
        .complexity(20)
        .cost("n p² time a step, p² memory")
        .reference("Jørgensen (1987), J. Royal Statistical Society B 49(2), 127-162")
        .exempt(&[("beats_the_dummy", "the default penalty is strong beside a mean deviance")]);
}

impl FitBy<Scoring> for TweedieRegressor {
    fn rounds(&self) -> Scoring {
        Scoring {
            law: Law { family: Family::Power(self.power), link: self.link() },
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

impl TweedieRegressor {
    fn constraints(&self) -> Result<()> {
        check_power(self.power)
    }

    fn link(&self) -> Link {
        match self.link {
            TweedieLink::Identity => Link::Identity,
            TweedieLink::Auto if self.power <= 0.0 => Link::Identity,
            TweedieLink::Auto | TweedieLink::Log => Link::Log,
        }
    }
}
