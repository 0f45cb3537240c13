//! Generalised linear models with a family, a link and tests.
//!
//! g(E y) = a + bᵀx with y of an exponential family. Minimises half the mean deviance plus
//! alpha |b|² / 2, the intercept free; alpha = 0 is maximum likelihood, with standard errors, tests
//! and criteria; a column may be an offset of the linear predictor. Iteratively reweighted least squares with step halving, until the deviance changes
//! by at most tol (|deviance| + 0.1). Weights are known precisions in the tables: a row's dispersion is
//! that of the model over its weight, and n counts rows. Columns that depend on earlier ones are named, and the coefficients are then those of
//! smallest norm, as with no more rows than columns.
//!
//! Nelder and Wedderburn (1972), Journal of the Royal Statistical Society A 135(3), 370-384.

use super::family::{Family, Law, Link};
use super::fit::{Scoring, Tolerance};
use super::model::GeneralizedModel;
use learnt_core::prelude::*;

/// Generalized linear model (GLM): any usual distribution and link function, with inference.
///
/// Predictions are means: for `binomial`, whose target is 0 and 1 or shares between them, they are
/// probabilities.
///
/// ```
/// use learnt::{linear::{FamilyName, GeneralizedLinearModel}, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 0.0, 1.0, 1.0, 1.0]);
/// let data = OwnedDataset::regression(x, vec![1.0, 3.0, 5.0, 6.0, 10.0]);
/// let learner = GeneralizedLinearModel { family: FamilyName::Poisson, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// // The means of the groups are 2 and 7.
/// assert!((model.intercept - 2_f64.ln()).abs() < 1e-9);
/// assert!((model.coef[0] - 3.5_f64.ln()).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct GeneralizedLinearModel {
    /// The distribution of the target.
    #[param(positional, default = FamilyName::Gaussian)]
    pub family: FamilyName,
    /// The link function: what the linear predictor is of the mean.
    #[param(default = LinkName::Auto)]
    pub link: LinkName,
    /// Power of the mean that the variance is proportional to, for `family='tweedie'`.
    #[param(default = 1.5)]
    pub power: f64,
    /// Regularization strength (weight of the L2 penalty); 0 is maximum likelihood.
    #[param(default = 0.0, range = 0.0.., search = log(1e-4, 1e2))]
    pub alpha: f64,
    /// Fit an intercept; it is not penalised.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Maximum number of iterations.
    #[param(default = 100, range = 1..)]
    pub max_iter: usize,
    /// Convergence tolerance: stop when the deviance changes by no more than this share.
    #[param(default = 1e-8, range = 0.0..)]
    pub tol: f64,
    /// A column that is added to the linear predictor as it is, with a coefficient of 1: the logarithm of an
    /// exposure for rates with a log link.
    pub offset: Option<String>,
}

/// Distributions of a target.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyName {
    /// Any numbers, of constant variance.
    Gaussian,
    /// 0 and 1, or shares between them.
    Binomial,
    /// Counts, of variance equal to the mean.
    Poisson,
    /// Positive numbers, of constant coefficient of variation.
    Gamma,
    /// Positive numbers, of variance proportional to the cube of the mean.
    #[choice(name = "inverse-gaussian")]
    InverseGaussian,
    /// Variance proportional to a `power` of the mean.
    Tweedie,
}

/// Links between mean and linear predictor.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkName {
    /// The canonical link of the family; `log` for `tweedie`.
    Auto,
    /// The mean itself.
    Identity,
    /// Its logarithm.
    Log,
    /// The logarithm of its odds.
    Logit,
    /// Its normal quantile.
    Probit,
    /// Its reciprocal.
    Inverse,
    /// The reciprocal of its square.
    #[choice(name = "inverse-squared")]
    InverseSquared,
}

impl Estimator for GeneralizedLinearModel {
    type Model = GeneralizedModel;
    type Fit = Scoring;
    const ABOUT: &'static About = &About::regressor("linear_model.GeneralizedLinearModel")
        .alias(&["glm"])
        .weights()
        .threads()
        .iterations()
        .monotone()
        .streaming()
        .complexity(20)
        .cost("n p² time a step, p² memory")
        .reference("Nelder and Wedderburn (1972), J. Royal Statistical Society A 135(3), 370-384");
}

impl FitBy<Scoring> for GeneralizedLinearModel {
    fn rounds(&self) -> Scoring {
        Scoring {
            law: Law { family: self.family(), link: self.link() },
            alpha: self.alpha,
            intercept: self.fit_intercept,
            max_iter: self.max_iter,
            tolerance: Tolerance::Change(self.tol),
            offset: self.offset.clone(),
        }
    }

    fn model(&self, model: GeneralizedModel, _: &Context) -> Result<GeneralizedModel> {
        Ok(model)
    }
}

impl GeneralizedLinearModel {
    fn constraints(&self) -> Result<()> {
        let binomial_link = matches!(self.link, LinkName::Logit | LinkName::Probit);
        if binomial_link && self.family != FamilyName::Binomial {
            let expected = format!("a link of means above 1 for `family='{}'`", self.family);
            return Err(Error::parameter("link", expected, self.link));
        }
        match self.family {
            FamilyName::Tweedie => check_power(self.power),
            _ => Ok(()),
        }
    }

    fn family(&self) -> Family {
        match self.family {
            FamilyName::Gaussian => Family::Power(0.0),
            FamilyName::Binomial => Family::Binomial,
            FamilyName::Poisson => Family::Power(1.0),
            FamilyName::Gamma => Family::Power(2.0),
            FamilyName::InverseGaussian => Family::Power(3.0),
            FamilyName::Tweedie => Family::Power(self.power),
        }
    }

    fn link(&self) -> Link {
        match (self.link, self.family) {
            (LinkName::Identity, _) | (LinkName::Auto, FamilyName::Gaussian) => Link::Identity,
            (LinkName::Log, _) | (LinkName::Auto, FamilyName::Poisson | FamilyName::Tweedie) => {
                Link::Log
            }
            (LinkName::Logit, _) | (LinkName::Auto, FamilyName::Binomial) => Link::Logit,
            (LinkName::Probit, _) => Link::Probit,
            (LinkName::Inverse, _) | (LinkName::Auto, FamilyName::Gamma) => Link::Inverse,
            (LinkName::InverseSquared, _) | (LinkName::Auto, FamilyName::InverseGaussian) => {
                Link::InverseSquared
            }
        }
    }
}

/// There is no Tweedie distribution with a power between 0 and 1.
pub(super) fn check_power(power: f64) -> Result<()> {
    match power.is_finite() && !(power > 0.0 && power < 1.0) {
        true => Ok(()),
        false => Err(Error::parameter("power", "a number of at most 0 or at least 1", power)),
    }
}
