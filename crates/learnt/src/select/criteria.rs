//! Criteria that weigh fit against the number of parameters, from a likelihood or a training error.
//!
//! AIC = 2k - 2 ln L; AICc = AIC + 2k(k+1)/(n-k-1), which needs n > k + 1; BIC = k ln n - 2 ln L; the
//! asymptotic description length is BIC / 2. For squared error with noise variance σ², taken from a model of
//! low bias: C_p = err + 2 (d/n) σ² and BIC = (n/σ²) (err + ln(n) (d/n) σ²). Differences of AIC and BIC
//! count, not their size. The Bayes factor of two models is exp(-(BIC₁ - BIC₂)/2).
//!
//! References: Akaike (1973); Hurvich and Tsai (1989); Schwarz (1978); Hastie, Tibshirani and Friedman
//! (2009), sections 7.5 to 7.8.

use learnt_core::prelude::*;

/// AIC, AICc, BIC and description length of a model from its log-likelihood.
#[derive(Params, Clone, Debug)]
pub struct InformationCriteria {
    /// Log-likelihood at its maximum.
    #[param(required, positional)]
    pub log_likelihood: f64,
    /// Number of parameters.
    #[param(required, positional, range = 0..)]
    pub n_parameters: u64,
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n_samples: u64,
}

/// The criteria; less is better.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Criteria {
    /// Akaike's criterion.
    pub aic: f64,
    /// Akaike's criterion for small samples; none for n ≤ k + 1.
    pub aicc: Option<f64>,
    /// Schwarz's criterion.
    pub bic: f64,
    /// Asymptotic description length in nats.
    pub description_length: f64,
}

impl Function for InformationCriteria {
    type Inputs<'a> = ();
    type Output = Criteria;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.information_criteria", FunctionKind::Statistic)
            .alias(&["aic", "bic"])
            .reference("Akaike (1973); Hurvich and Tsai (1989); Schwarz (1978)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<Criteria> {
        let (k, n) = (self.n_parameters as f64, self.n_samples as f64);
        let aic = 2.0 * k - 2.0 * self.log_likelihood;
        let bic = k * n.ln() - 2.0 * self.log_likelihood;
        let small = n > k + 1.0;
        Ok(Criteria {
            aic,
            aicc: small.then(|| aic + 2.0 * k * (k + 1.0) / (n - k - 1.0)),
            bic,
            description_length: bic / 2.0,
        })
    }

    fn notes(&self, found: &Criteria) -> Vec<String> {
        match found.aicc {
            Some(_) => Vec::new(),
            None => vec!["AICc needs more rows than parameters + 1".to_string()],
        }
    }
}

/// C_p and BIC of a model from its training error, for squared error with a known noise variance.
#[derive(Params, Clone, Debug)]
pub struct SquaredErrorCriteria {
    /// Mean squared error on the training rows.
    #[param(required, positional, range = 0.0..)]
    pub training_error: f64,
    /// Number of parameters.
    #[param(required, positional, range = 0..)]
    pub n_parameters: u64,
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n_samples: u64,
    /// Variance of the noise, from a model of low bias.
    #[param(required, positional, above = 0.0)]
    pub noise_variance: f64,
}

/// The criteria; less is better.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ErrorCriteria {
    /// Estimate of the in-sample error.
    pub cp: f64,
    /// Schwarz's criterion for normal noise of this variance.
    pub bic: f64,
    /// By how much the training error is too small on average.
    pub optimism: f64,
}

impl Function for SquaredErrorCriteria {
    type Inputs<'a> = ();
    type Output = ErrorCriteria;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.squared_error_criteria", FunctionKind::Statistic)
            .alias(&["cp"])
            .reference("Hastie, Tibshirani and Friedman (2009), sections 7.5 to 7.7");

    fn call(&self, _inputs: (), _run: &Context) -> Result<ErrorCriteria> {
        let (d, n) = (self.n_parameters as f64, self.n_samples as f64);
        let (error, variance) = (self.training_error, self.noise_variance);
        let optimism = 2.0 * d / n * variance;
        Ok(ErrorCriteria {
            cp: error + optimism,
            bic: n / variance * (error + n.ln() * d / n * variance),
            optimism,
        })
    }
}

/// Bayes factor of the first of two models, from their BIC: exp(-(BIC₁ - BIC₂)/2).
#[derive(Params, Clone, Debug)]
pub struct BayesFactor {
    /// BIC of the first model.
    #[param(required, positional)]
    pub bic: f64,
    /// BIC of the second model.
    #[param(required, positional)]
    pub other_bic: f64,
}

impl Function for BayesFactor {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.bayes_factor", FunctionKind::Statistic)
            .reference("Kass and Raftery (1995)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        Ok((-(self.bic - self.other_bic) / 2.0).exp())
    }
}

/// Criteria as functions.
pub const CRITERIA: &[FunctionEntry] = &[
    function::<InformationCriteria>(),
    function::<SquaredErrorCriteria>(),
    function::<BayesFactor>(),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn criteria(log_likelihood: f64, n_parameters: u64, n_samples: u64) -> Criteria {
        InformationCriteria { log_likelihood, n_parameters, n_samples }.compute(()).unwrap()
    }

    #[test]
    fn the_worked_criteria_and_the_small_sample_that_has_none() {
        let found = criteria(-100.0, 5, 50);
        assert_eq!(found.aic, 210.0);
        assert!((found.aicc.unwrap() - 211.363_636_363_6).abs() < 1e-9);
        assert!((found.bic - 219.560_115_027_1).abs() < 1e-9);
        assert_eq!(found.description_length, found.bic / 2.0);
        assert_eq!(criteria(-10.0, 5, 6).aicc, None);
    }

    #[test]
    fn the_optimism_of_three_parameters_and_equal_models() {
        let function = SquaredErrorCriteria {
            training_error: 0.8,
            n_parameters: 3,
            n_samples: 20,
            noise_variance: 1.0,
        };
        let found = function.compute(()).unwrap();
        assert!((found.optimism - 0.3).abs() < 1e-15 && (found.cp - 1.1).abs() < 1e-15);
        // The criterion of a normal likelihood, up to a constant that models share.
        let twice = SquaredErrorCriteria { n_parameters: 4, ..function }.compute(()).unwrap();
        assert!((twice.bic - found.bic - 20.0_f64.ln()).abs() < 1e-12);
        assert_eq!(BayesFactor { bic: 7.0, other_bic: 7.0 }.compute(()).unwrap(), 1.0);
        assert!(BayesFactor { bic: 5.0, other_bic: 7.0 }.compute(()).unwrap() > 2.7);
    }
}
