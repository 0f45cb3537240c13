//! Criteria that choose between models by fit and size.
//!
//! From the log-likelihood lnL of k parameters on n rows: AIC = 2k - 2 lnL; AICc = AIC + 2k(k+1)/(n-k-1),
//! which exists for n > k + 1 only; BIC = k ln n - 2 lnL; the description length BIC/2. Differences mean
//! something, values do not. From squared errors with noise variance σ² of a model of low bias:
//! Cp = err + 2 (d/n) σ², BIC = (n/σ²)(err + ln n (d/n) σ²). From draws of a posterior: DIC = D̄ + p_D,
//! p_D = D̄ - D(θ̄), D = -2 lnL. The Bayes factor of two models is exp(-(BIC₁ - BIC₂)/2), or the exact ratio
//! of their evidences.
//!
//! Description lengths: two-part -lnL - ln prior; asymptotic -lnL + (k/2) ln n; with the volume of the
//! Fisher information, -lnL + (k/2) ln(n/2π) + ln ∫√det I.
//!
//! Reference: Akaike (1974); Schwarz (1978); Rissanen (1996); Spiegelhalter et al. (2002); Hastie,
//! Tibshirani and Friedman (2009), sections 7.5 to 7.8.

use learnt_core::prelude::*;
use std::f64::consts::PI;

/// AIC, AICc, BIC and description length from a log-likelihood.
#[derive(Params, Clone, Debug)]
pub struct InformationCriteria {
    /// Log-likelihood of the fit.
    #[param(required, positional)]
    pub log_likelihood: f64,
    /// Number of parameters.
    #[param(required, positional, range = 0..)]
    pub k: u64,
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
}

/// The criteria; less is better.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct InformationCriteriaFound {
    /// 2k - 2 lnL.
    pub aic: f64,
    /// AIC for few rows; nothing for n ≤ k + 1.
    pub aicc: Option<f64>,
    /// k ln n - 2 lnL.
    pub bic: f64,
    /// Asymptotic description length, BIC/2.
    pub description_length: f64,
}

impl Function for InformationCriteria {
    type Inputs<'a> = ();
    type Output = InformationCriteriaFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.information_criteria", FunctionKind::Statistic)
            .alias(&["aic", "bic"])
            .reference("Akaike (1974); Schwarz (1978)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<InformationCriteriaFound> {
        let (k, n) = (self.k as f64, self.n as f64);
        let aic = 2.0 * k - 2.0 * self.log_likelihood;
        let bic = k * n.ln() - 2.0 * self.log_likelihood;
        let spare = n - k - 1.0;
        let aicc = (spare > 0.0).then(|| aic + 2.0 * k * (k + 1.0) / spare);
        Ok(InformationCriteriaFound { aic, aicc, bic, description_length: bic / 2.0 })
    }

    fn notes(&self, found: &InformationCriteriaFound) -> Vec<String> {
        let too_few = format!("no AICc: it needs more than {} rows", self.k + 1);
        found.aicc.is_none().then_some(too_few).into_iter().collect()
    }
}

/// Cp and BIC from the error in sample of a model fitted by least squares.
#[derive(Params, Clone, Debug)]
pub struct SquaredErrorCriteria {
    /// Mean squared error in sample.
    #[param(required, positional, range = 0.0..)]
    pub error: f64,
    /// Number of parameters, or effective degrees of freedom.
    #[param(required, positional, range = 0.0..)]
    pub d: f64,
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Variance of the noise, from a model of low bias.
    #[param(required, positional, above = 0.0)]
    pub sigma2: f64,
}

/// The criteria; less is better.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SquaredErrorCriteriaFound {
    /// err + 2 (d/n) σ²: AIC in the units of the error, Mallows' Cp.
    pub aic: f64,
    /// (n/σ²)(err + ln n (d/n) σ²).
    pub bic: f64,
}

impl Function for SquaredErrorCriteria {
    type Inputs<'a> = ();
    type Output = SquaredErrorCriteriaFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.squared_error_criteria", FunctionKind::Statistic)
            .alias(&["mallows-cp"])
            .reference("Hastie, Tibshirani and Friedman (2009), sections 7.5 and 7.7");

    fn call(&self, _inputs: (), _run: &Context) -> Result<SquaredErrorCriteriaFound> {
        let n = self.n as f64;
        let (share, noise) = (self.d / n, self.sigma2);
        Ok(SquaredErrorCriteriaFound {
            aic: self.error + 2.0 * share * noise,
            bic: n / noise * (self.error + n.ln() * share * noise),
        })
    }
}

/// Deviance information criterion from draws of a posterior.
#[derive(Params, Clone, Debug)]
pub struct DevianceInformation {
    /// Deviance at the mean of the parameters.
    #[param(required, positional)]
    pub deviance_at_mean: f64,
}

/// Deviances of draws.
#[derive(Inputs, Clone, Copy)]
pub struct Deviances<'a> {
    /// -2 lnL of each draw of the parameters.
    pub deviance: &'a [f64],
}

/// The criterion and its parts.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DevianceInformationFound {
    /// D̄ + p_D.
    pub dic: f64,
    /// D̄, the mean deviance.
    pub mean_deviance: f64,
    /// p_D, the effective number of parameters.
    pub effective_parameters: f64,
}

impl Function for DevianceInformation {
    type Inputs<'a> = Deviances<'a>;
    type Output = DevianceInformationFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.deviance_information", FunctionKind::Statistic)
            .alias(&["dic"])
            .reference("Spiegelhalter et al. (2002)");

    fn call(&self, given: Deviances, _run: &Context) -> Result<DevianceInformationFound> {
        let mean_deviance = given.deviance.iter().sum::<f64>() / given.deviance.len() as f64;
        let effective_parameters = mean_deviance - self.deviance_at_mean;
        Ok(DevianceInformationFound {
            dic: mean_deviance + effective_parameters,
            mean_deviance,
            effective_parameters,
        })
    }
}

/// Bayes factor of two models, from their BIC or their log-evidence.
#[derive(Params, Clone, Debug)]
#[params(constraints = one_pair_is_given)]
pub struct BayesFactor {
    /// BIC of the first model.
    pub bic1: Option<f64>,
    /// BIC of the second model.
    pub bic2: Option<f64>,
    /// Logarithm of the evidence of the first model.
    pub log_evidence1: Option<f64>,
    /// Logarithm of the evidence of the second model.
    pub log_evidence2: Option<f64>,
}

/// How much more the rows speak for the first model.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BayesFactorFound {
    /// The Bayes factor of the first model against the second.
    pub bayes_factor: f64,
    /// Its logarithm.
    pub log_bayes_factor: f64,
    /// Probability of the first model if both were equally likely before.
    pub probability: f64,
}

impl BayesFactor {
    /// Half of the difference of BIC, or the difference of evidence.
    fn logarithm(&self) -> Option<f64> {
        match (self.bic1, self.bic2, self.log_evidence1, self.log_evidence2) {
            (Some(one), Some(two), None, None) => Some((two - one) / 2.0),
            (None, None, Some(one), Some(two)) => Some(one - two),
            _ => None,
        }
    }

    fn one_pair_is_given(&self) -> Result<()> {
        let usage = || Error::new(Code::Usage, "neither two BIC nor two log-evidences alone");
        let hint = "give bic1 and bic2, or log_evidence1 and log_evidence2";
        self.logarithm().map(|_| ()).ok_or_else(|| usage().hint(hint))
    }
}

impl Function for BayesFactor {
    type Inputs<'a> = ();
    type Output = BayesFactorFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.bayes_factor", FunctionKind::Statistic)
            .reference("Kass and Raftery (1995)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<BayesFactorFound> {
        let log = self.logarithm().unwrap_or(f64::NAN);
        Ok(BayesFactorFound {
            bayes_factor: log.exp(),
            log_bayes_factor: log,
            probability: learnt_core::stats::special::sigmoid(log),
        })
    }
}

/// Description length of data with a model, in nats.
#[derive(Params, Clone, Debug)]
pub struct DescriptionLength {
    /// Log-likelihood of the fit.
    #[param(required, positional)]
    pub log_likelihood: f64,
    /// Number of parameters.
    #[param(required, positional, range = 0..)]
    pub k: u64,
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Logarithm of the prior density of the parameters, for the two-part code.
    pub log_prior: Option<f64>,
    /// ln ∫√det I over the parameters, for the Fisher information approximation.
    pub log_volume: Option<f64>,
}

/// Lengths of codes, in nats.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DescriptionLengths {
    /// -lnL + (k/2) ln n.
    pub asymptotic: f64,
    /// -lnL - ln prior.
    pub two_part: Option<f64>,
    /// -lnL + (k/2) ln(n/2π) + ln ∫√det I.
    pub fisher: Option<f64>,
}

impl Function for DescriptionLength {
    type Inputs<'a> = ();
    type Output = DescriptionLengths;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.description_length", FunctionKind::Statistic)
            .alias(&["mdl"])
            .reference("Rissanen (1996)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<DescriptionLengths> {
        let (half, n, fit) = (self.k as f64 / 2.0, self.n as f64, -self.log_likelihood);
        Ok(DescriptionLengths {
            asymptotic: fit + half * n.ln(),
            two_part: self.log_prior.map(|prior| fit - prior),
            fisher: self.log_volume.map(|volume| fit + half * (n / (2.0 * PI)).ln() + volume),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_of_a_likelihood_by_hand() {
        let found = InformationCriteria { log_likelihood: -100.0, k: 5, n: 50 };
        let found = found.compute(()).unwrap();
        assert_eq!(found.aic, 210.0);
        assert!((found.aicc.unwrap() - 211.363_636_363_6).abs() < 1e-9);
        assert!((found.bic - 219.560_115_027_1).abs() < 1e-9);
        assert!((found.description_length - 109.780_057_514).abs() < 1e-8);
        let few = InformationCriteria { log_likelihood: -100.0, k: 5, n: 6 };
        assert_eq!(few.compute(()).unwrap().aicc, None);
        let length =
            DescriptionLength { log_likelihood: -100.0, k: 5, n: 50, ..Default::default() };
        assert!((length.compute(()).unwrap().asymptotic - found.bic / 2.0).abs() < 1e-12);
    }

    #[test]
    fn criteria_of_squared_errors_by_hand() {
        let criteria = SquaredErrorCriteria { error: 1.2, d: 3.0, n: 40, sigma2: 0.9 };
        let found = criteria.compute(()).unwrap();
        assert!((found.aic - 1.335).abs() < 1e-12);
        assert!((found.bic - 64.399_971_695_7).abs() < 1e-9);
    }

    #[test]
    fn one_normal_mean_is_one_effective_parameter() {
        // Values 1, 2, 3 with unit variance: D(θ) = 3 ln 2π + 2 + 3(θ - 2)², θ ~ N(2, 1/3).
        let at = |theta: f64| 3.0 * (2.0 * PI).ln() + 2.0 + 3.0 * (theta - 2.0).powi(2);
        let spread = (1.0_f64 / 3.0).sqrt();
        let draws: Vec<f64> = [-1.0, 1.0].map(|z| at(2.0 + z * spread)).to_vec();
        let found = DevianceInformation { deviance_at_mean: at(2.0) }
            .compute(Deviances { deviance: &draws })
            .unwrap();
        assert!((found.effective_parameters - 1.0).abs() < 1e-12);
        assert!((found.dic - 9.513_631_199_2).abs() < 1e-9);
    }

    #[test]
    fn equal_criteria_give_a_factor_of_one() {
        let factor = BayesFactor { bic1: Some(7.0), bic2: Some(7.0), ..Default::default() };
        let found = factor.compute(()).unwrap();
        assert_eq!((found.bayes_factor, found.probability), (1.0, 0.5));
        let exact = BayesFactor {
            log_evidence1: Some(-1.0),
            log_evidence2: Some(-3.0),
            ..Default::default()
        };
        assert!((exact.compute(()).unwrap().log_bayes_factor - 2.0).abs() < 1e-15);
        assert_eq!(BayesFactor::default().compute(()).unwrap_err().code(), Code::Usage);
    }
}
