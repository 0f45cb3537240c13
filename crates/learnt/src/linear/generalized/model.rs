//! What the rounds leave behind: coefficients in the units of the columns, and inference.

use super::alias::Aliases;
use super::asked::QUESTIONS;
use super::family::{Family, Law};
use super::inference::GeneralizedInference;
use super::pass::Survey;
use crate::linear::coefficient_table::{with_tests, without_tests};
use crate::linear::evidence::aliasing;
use learnt_core::linalg::dot;
use learnt_core::linalg::linear_predict;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// A fitted generalised linear model.
#[derive(Model, Clone, Debug)]
#[model(regressor, validate = validate, report = table, converged = converged)]
#[model(questions = QUESTIONS, looks)]
pub struct GeneralizedModel {
    /// Coefficients of the columns, on the scale of the link.
    #[shape(columns)]
    #[finite]
    pub coef: Vec<f64>,
    /// The intercept; zero without `fit_intercept`.
    #[finite]
    pub intercept: f64,
    /// Steps made.
    pub n_iter: usize,
    /// Twice the log-likelihood that the fit lacks to a perfect one, times the dispersion.
    pub deviance: f64,
    /// Standard errors and fit, for maximum likelihood that converged to a finite estimate.
    #[model(hidden)]
    pub inference: Option<GeneralizedInference>,
    pub(super) law: Law,
    pub(super) has_intercept: bool,
    converged: bool,
    pub(super) notes: Vec<String>,
    /// The column that is added to the linear predictor as it is.
    #[model(later)]
    pub(super) offset: Option<usize>,
}

/// The end of the rounds.
pub(super) struct Finished {
    pub(super) law: Law,
    pub(super) alpha: f64,
    pub(super) intercept: bool,
    pub(super) names: Vec<String>,
    pub(super) rows: u64,
    pub(super) offset: Option<usize>,
    pub(super) aliases: Aliases,
    pub(super) factor: Vec<f64>,
    pub(super) point: Vec<f64>,
    pub(super) damped: bool,
    pub(super) information: Matrix,
    pub(super) n_iter: usize,
    pub(super) converged: bool,
    pub(super) divergence: Option<String>,
    pub(super) deviance: f64,
    pub(super) null_deviance: f64,
    pub(super) pearson: f64,
    pub(super) survey: Survey,
}

impl Finished {
    pub(super) fn rank(&self) -> usize {
        let all = self.factor.iter().filter(|factor| **factor > 0.0).count();
        all - usize::from(self.offset.is_some())
    }

    pub(super) fn into_model(self, run: &Context) -> Result<GeneralizedModel> {
        let d = self.names.len();
        let mut coef: Vec<f64> =
            self.point.iter().zip(&self.factor).map(|(b, factor)| b * factor).collect();
        self.aliases.share(&mut coef);
        let intercept = match self.intercept {
            true => self.point[d] - dot(&coef, &self.survey.mean),
            false => 0.0,
        };
        if !(coef.iter().all(|b| b.is_finite()) && intercept.is_finite()) {
            return Err(Error::numeric("the estimates overflow; scale the columns"));
        }
        let mut notes = Vec::new();
        if let Some(sentence) = self.aliasing() {
            run.warn(Code::Numeric, sentence.clone());
            notes.push(sentence);
        }
        let inference = match GeneralizedInference::of(&self) {
            Ok(inference) => Some(inference),
            Err(why) => {
                notes.push(why.message().to_string());
                None
            }
        };
        Ok(GeneralizedModel {
            coef,
            intercept,
            n_iter: self.n_iter,
            deviance: self.deviance,
            inference,
            law: self.law,
            has_intercept: self.intercept,
            converged: self.converged && self.divergence.is_none(),
            notes,
            offset: self.offset,
        })
    }

    fn aliasing(&self) -> Option<String> {
        let short = self.rows <= self.names.len() as u64;
        let aliased: &[usize] = if short { &[] } else { &self.aliases.columns };
        let rank = self.rank() + usize::from(self.offset.is_some());
        aliasing(&self.names, aliased, rank, self.rows)
    }
}

impl GeneralizedModel {
    fn validate(&self) -> Result<()> {
        let power = match self.law.family {
            Family::Binomial => true,
            Family::Power(power) => power.is_finite(),
        };
        let offsets = usize::from(self.offset.is_some());
        let terms = (self.coef.len() + usize::from(self.has_intercept)).saturating_sub(offsets);
        if self.offset.is_some_and(|offset| offset >= self.coef.len()) {
            return Err(invalid("an offset beyond the columns"));
        }
        match power && self.inference.as_ref().is_none_or(|inference| inference.fits(terms)) {
            true => Ok(()),
            false => Err(invalid("coefficients do not fit the columns")),
        }
    }

    fn table(&self, names: &Names) -> Answer {
        let family = self.law.family.name();
        let title =
            format!("Generalised linear model: {family} family, {} link", self.law.link.name());
        let mut report = Answer::new(title);
        let tests = self.inference.as_ref().map(|inference| inference.tests(0.95));
        match (tests, &self.inference) {
            (Some(Ok(tests)), Some(inference)) => {
                let letter = inference.scale().letter();
                report.tables.push(with_tests("", letter, &tests, &inference.undetermined()));
                self.add_figures(inference, &mut report);
            }
            (tests, _) => {
                let intercept = self.has_intercept.then_some(self.intercept);
                report.tables.push(without_tests("", intercept, &names.columns, &self.coef));
                report.push("deviance", self.deviance);
                let why = tests.and_then(Result::err).map(|why| why.message().to_string());
                report.notes.extend(why);
            }
        }
        report.notes.extend(self.notes.iter().cloned());
        if let Some(offset) = self.offset.and_then(|offset| names.columns.get(offset)) {
            report.notes.push(format!("{offset} is added to the linear predictor as it is"));
        }
        report
    }

    fn add_figures(&self, inference: &GeneralizedInference, report: &mut Answer) {
        report.push("dispersion", inference.dispersion);
        report.push("df", inference.df);
        inference.likelihood().add_to(report);
    }
}

impl Regressor for GeneralizedModel {
    fn link_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let coef = Matrix::from_vec(1, self.coef.len(), self.coef.clone())?;
        linear_predict(x, &coef, &[self.intercept], run)
    }

    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut out = self.link_in(x, run)?;
        let link = self.law.link;
        run.par_fill(out.as_mut_slice(), 4096, |_, piece| {
            piece.iter_mut().for_each(|eta| *eta = link.mean(*eta));
        });
        match out.as_slice().iter().position(|mean| !mean.is_finite()) {
            None => Ok(out),
            Some(i) => {
                let message = format!("the mean of row {} is not finite with this link", i + 1);
                Err(Error::numeric(message).row(i as u64 + 1))
            }
        }
    }
}
