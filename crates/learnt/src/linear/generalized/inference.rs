//! Standard errors, tests and criteria of a generalised linear model.
//!
//! Var(b) = φ (Σ w W x xᵀ)⁻¹ at the maximum. The dispersion φ is 1 for the binomial and Poisson
//! families, else Pearson's Σ w (y - μ)² / V over n - rank, with n the number of rows; statistics
//! are normal with a known dispersion and Student's with an estimated one. Log-likelihoods with an
//! unknown dispersion take it as deviance / Σ w, and AIC and BIC count it as a parameter. Without
//! inputs means with the intercept alone, or a linear predictor of 0 if there is none.

use super::model::Finished;
use super::pass::Survey;
use crate::linear::coefficient_table::{Likelihood, Scale, likelihood_ratio};
use crate::linear::estimates::Estimates;
use crate::linear::evidence::absent;
use crate::linear::inference::{CoefficientTest, Test, f_test_of};
use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;

/// Most estimates whose covariance is kept.
const MOST_TERMS: usize = 1001;

/// What the likelihood says about the estimates.
#[derive(Clone, Debug, PartialEq, Stored)]
pub struct GeneralizedInference {
    /// The intercept, if there is one, then the columns.
    terms: Vec<String>,
    estimates: Vec<f64>,
    standard_errors: Vec<f64>,
    /// Which coefficients the data determine.
    determined: Vec<bool>,
    known: bool,
    /// The variance of a row in units of V(mean).
    pub dispersion: f64,
    /// Residual degrees of freedom.
    pub df: f64,
    /// Independent columns, without the intercept.
    rank: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// The log-likelihood, for families with a density in closed form.
    pub log_likelihood: Option<f64>,
    /// That of the model without inputs.
    pub null_log_likelihood: Option<f64>,
    /// The deviance.
    pub deviance: f64,
    /// That of the model without inputs, if it is finite.
    pub null_deviance: Option<f64>,
    intercept: bool,
    /// Covariance of the estimates; empty with very many, and in files of older releases.
    #[model(later)]
    covariance: Matrix,
    /// Number of rows; 0 in files of older releases, which took the sum of the weights for it.
    #[model(later)]
    rows: f64,
}

impl GeneralizedInference {
    pub(super) fn of(end: &Finished) -> Result<Self> {
        let why = match (&end.divergence, end.converged) {
            _ if end.alpha > 0.0 => Some("the penalty biases the estimates".to_string()),
            (Some(message), _) => Some(message.clone()),
            (None, false) => Some("the steps did not converge".to_string()),
            (None, true) => None,
        };
        if let Some(why) = why {
            return Err(absent(why));
        }
        let rank = end.rank() as f64;
        let Survey { weight, rows, .. } = end.survey;
        let df = rows - rank - f64::from(end.intercept);
        let known = end.law.family.has_known_dispersion();
        let dispersion = if known { 1.0 } else { end.pearson / df };
        let estimated = df > 0.0 && dispersion > 0.0 && dispersion.is_finite();
        if !(known || estimated) {
            return Err(absent("no rows are left to estimate the dispersion from"));
        }
        let (estimates, covariance) = estimates(end, dispersion)?;
        let likelihood = |deviance: f64| end.law.family.log_likelihood(deviance, &end.survey);
        let intercept = end.intercept.then(|| "(intercept)".to_string());
        let extra = usize::from(end.intercept);
        let all: Vec<String> = intercept.into_iter().chain(end.names.iter().cloned()).collect();
        let kept: Vec<usize> =
            (0..all.len()).filter(|&k| end.offset.is_none_or(|j| j + extra != k)).collect();
        let few = kept.len() <= MOST_TERMS;
        let matrix =
            |size: usize| Matrix::from_fn(size, size, |i, j| covariance[(kept[i], kept[j])]);
        let determined = |k: &usize| *k < extra || end.aliases.determines(*k - extra);
        Ok(GeneralizedInference {
            terms: kept.iter().map(|&k| all[k].clone()).collect(),
            estimates: kept.iter().map(|&k| estimates[k]).collect(),
            standard_errors: kept.iter().map(|&k| covariance[(k, k)].sqrt()).collect(),
            determined: kept.iter().map(determined).collect(),
            known,
            dispersion,
            df,
            rank,
            weight,
            rows,
            log_likelihood: likelihood(end.deviance),
            null_log_likelihood: likelihood(end.null_deviance),
            deviance: end.deviance,
            null_deviance: end.null_deviance.is_finite().then_some(end.null_deviance),
            intercept: end.intercept,
            covariance: if few { matrix(kept.len()) } else { Matrix::default() },
        })
    }

    /// The estimates with their covariance, or why there is none.
    pub(super) fn estimates(&self, offset: Option<usize>) -> Result<Estimates> {
        if self.covariance.nrows() != self.terms.len() {
            let message = "no covariance: there are more than 1000 columns, or the file is of an older release";
            return Err(absent(message));
        }
        Ok(Estimates {
            names: self.terms.clone(),
            values: self.estimates.clone(),
            covariance: self.covariance.clone(),
            determined: self.determined.clone(),
            intercept: self.intercept,
            scale: self.scale(),
            offset,
        })
    }

    /// The number of independent estimates.
    pub(super) fn rank_with_intercept(&self) -> f64 {
        self.rank + f64::from(self.intercept)
    }

    /// The distribution of the statistics.
    pub(super) fn scale(&self) -> Scale {
        if self.known { Scale::Normal } else { Scale::Student(self.df) }
    }

    /// The table, with intervals of this level: the intercept, if there is one, then the columns
    /// whose coefficients the data determine.
    pub fn tests(&self, level: f64) -> Result<Vec<CoefficientTest>> {
        let (scale, half) = (self.scale(), self.scale().half_width(level)?);
        let determined = (0..self.terms.len()).filter(|&k| self.determined[k]);
        determined
            .map(|k| scale.test(&self.terms[k], self.estimates[k], self.standard_errors[k], half))
            .collect()
    }

    /// Columns whose coefficients the data do not determine.
    pub fn undetermined(&self) -> Vec<String> {
        let pairs = self.terms.iter().zip(&self.determined);
        pairs.filter(|(_, known)| !**known).map(|(name, _)| name.clone()).collect()
    }

    fn parameters(&self) -> f64 {
        self.rank + f64::from(self.intercept) + f64::from(!self.known)
    }

    /// Akaike's criterion.
    pub fn aic(&self) -> Option<f64> {
        self.log_likelihood.map(|value| 2.0 * self.parameters() - 2.0 * value)
    }

    /// The rows that degrees of freedom were counted from.
    pub(super) fn rows(&self) -> f64 {
        if self.rows > 0.0 { self.rows } else { self.weight }
    }

    /// Schwarz's criterion.
    pub fn bic(&self) -> Option<f64> {
        self.log_likelihood.map(|value| self.rows().ln() * self.parameters() - 2.0 * value)
    }

    /// That all coefficients but the intercept are zero: the likelihood ratio against χ² with a
    /// known dispersion, else the F ratio of the deviances.
    pub fn overall(&self) -> Option<Test> {
        let gained = (self.null_deviance? - self.deviance).max(0.0);
        match self.known {
            true => likelihood_ratio(gained, self.rank),
            false if self.rank > 0.0 => {
                Some(f_test_of(gained / self.rank / self.dispersion, self.rank, self.df))
            }
            false => None,
        }
    }

    pub(super) fn likelihood(&self) -> Likelihood {
        let share = match (self.known, self.log_likelihood, self.null_log_likelihood) {
            (true, Some(value), Some(null)) if null < 0.0 => Some(1.0 - value / null),
            _ => None,
        };
        Likelihood {
            log_likelihood: self.log_likelihood,
            deviance: self.deviance,
            null_deviance: self.null_deviance,
            aic: self.aic(),
            bic: self.bic(),
            pseudo_r2: share,
            overall: self.overall(),
        }
    }

    /// Whether it fits a model of this many terms.
    pub(super) fn fits(&self, terms: usize) -> bool {
        let lengths = [self.estimates.len(), self.standard_errors.len(), self.determined.len()];
        let square = |m: &Matrix| [0, terms].contains(&m.nrows()) && m.nrows() == m.ncols();
        self.terms.len() == terms
            && square(&self.covariance)
            && lengths.iter().all(|&length| length == terms)
            && (self.known || self.df > 0.0)
            && self.weight > 0.0
    }
}

/// Estimates and their covariance in the units of the columns, the intercept first.
fn estimates(end: &Finished, dispersion: f64) -> Result<(Vec<f64>, Matrix)> {
    let d = end.names.len();
    let terms = end.point.len();
    let scale: Vec<f64> = (0..terms).map(|i| end.information[(i, i)].sqrt().recip()).collect();
    let scaled = Matrix::from_fn(terms, terms, |i, j| {
        end.information[(i.max(j), i.min(j))] * scale[i] * scale[j]
    });
    let factor = Cholesky::new(&scaled).filter(|factor| factor.condition_bound() < 1e12);
    let Some(factor) = factor.filter(|_| !end.damped) else {
        return Err(absent("the columns depend on each other too closely"));
    };
    let inverse = factor.inverse();
    let entry = |i: usize, j: usize| dispersion * inverse[(i, j)] * scale[i] * scale[j];
    let unit = |j: usize| if end.offset == Some(j) { 0.0 } else { end.factor[j] };
    let coef: Vec<f64> = (0..d).map(|j| end.point[j] * end.factor[j]).collect();
    if !end.intercept {
        return Ok((coef, Matrix::from_fn(d, d, |i, j| entry(i, j) * unit(i) * unit(j))));
    }
    // The intercept is the level at the centre less the centre times the coefficients.
    let mean = shared_mean(end);
    let along: Vec<f64> = (0..d).map(|j| -mean[j] * unit(j)).chain([1.0]).collect();
    let product: Vec<f64> =
        (0..terms).map(|i| (0..terms).map(|j| entry(i, j) * along[j]).sum()).collect();
    let first = end.point[d] - dot(&coef, &mean);
    let covariance = Matrix::from_fn(terms, terms, |i, j| match (i, j) {
        (0, 0) => dot(&along, &product),
        (0, j) => product[j - 1] * unit(j - 1),
        (i, 0) => product[i - 1] * unit(i - 1),
        (i, j) => entry(i - 1, j - 1) * unit(i - 1) * unit(j - 1),
    });
    Ok(([first].into_iter().chain(coef.iter().copied()).collect(), covariance))
}

/// The centre as the kept columns see it once they share their coefficients with aliased ones.
fn shared_mean(end: &Finished) -> Vec<f64> {
    let mean = &end.survey.mean;
    let shared = |j: usize| {
        let mut unit = vec![0.0; mean.len()];
        unit[j] = 1.0;
        end.aliases.share(&mut unit);
        dot(&unit, mean)
    };
    match end.aliases.columns.is_empty() {
        true => mean.clone(),
        false => (0..mean.len()).map(shared).collect(),
    }
}
