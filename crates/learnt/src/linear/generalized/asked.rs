//! What a generalised linear model can be asked: `learnt ask MODEL QUESTION`, and a method each in Python. Logistic
//! regression of two classes is the binomial family with a logit link, and answers by the same code.

use super::family::{Family, Law, Link};
use super::model::GeneralizedModel;
use crate::linear::anova::{AnovaType, Dispersion, deviance_answer};
use crate::linear::coefficient_table::Scale;
use crate::linear::estimates::{Estimates, ratio_answer, terms_of};
use crate::linear::evidence::absent;
use crate::linear::questions::{IntervalOf, IntervalScale};
use crate::linear::robust::{Robust, robust_answer};
use learnt_core::prelude::*;

/// How sure an interval is.
#[derive(Params, Clone, Debug)]
pub(in crate::linear) struct Level {
    /// Probability that an interval holds the truth.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
}

/// Which columns are tested.
#[derive(Params, Clone, Debug)]
struct Tested {
    /// Names of the columns.
    pub columns: Option<Vec<String>>,
}

/// Intervals by profile.
#[derive(Params, Clone, Debug)]
struct ProfileArguments {
    /// The level.
    #[param(flatten)]
    pub at: Level,
    /// What the table shows.
    pub show: Shown,
}

/// What a table of estimates shows.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    /// The coefficients.
    #[default]
    Coefficients,
    /// Their exponentials: ratios of odds, rates or means.
    Ratios,
}

/// Which robust standard errors.
#[derive(Params, Clone, Debug)]
struct RobustArguments {
    /// How residuals say what the variances are.
    pub kind: Robust,
    /// The level.
    #[param(flatten)]
    pub at: Level,
    /// What the table shows.
    pub show: Shown,
}

/// Intervals of rows.
#[derive(Params, Clone, Debug)]
struct IntervalArguments {
    /// The level.
    #[param(flatten)]
    pub at: Level,
    /// What the interval is for.
    pub kind: IntervalOf,
    /// The scale of the interval.
    pub scale: IntervalScale,
}

/// What terms are tested against.
#[derive(Params, Clone, Debug)]
struct AnovaArguments {
    /// Which deviances.
    pub kind: AnovaType,
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

pub(in crate::linear) const QUESTIONS: &[Question] = &[
    Question {
        name: "coefficients",
        doc: "Coefficients with standard errors, tests and Wald intervals.",
        needs: Needs::Nothing,
        arguments: || Box::new(Level::default()),
    },
    Question {
        name: "profile",
        doc: "Coefficients with profile-likelihood intervals, from the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(ProfileArguments::default()),
    },
    Question {
        name: "ratios",
        doc: "Ratios of odds (logit link), of rates or of means (log link), with Wald intervals.",
        needs: Needs::Nothing,
        arguments: || Box::new(Level::default()),
    },
    Question {
        name: "covariance",
        doc: "Covariance matrix of the coefficients, the intercept first.",
        needs: Needs::Nothing,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "test_columns",
        doc: "Wald test that the coefficients of these columns are all zero.",
        needs: Needs::Nothing,
        arguments: || Box::new(Tested::default()),
    },
    Question {
        name: "terms",
        doc: "Wald test of each term; the columns of a category are one term.",
        needs: Needs::Nothing,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "anova",
        doc: "Analysis of deviance of type I, II or III, by fits to the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(AnovaArguments::default()),
    },
    Question {
        name: "goodness",
        doc: "Rows, degrees of freedom, deviance, log-likelihood and criteria.",
        needs: Needs::Nothing,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "intervals",
        doc: "Interval for the mean at each row, on the scale of the table or of the link, or for a new observation.",
        needs: Needs::Rows,
        arguments: || Box::new(IntervalArguments::default()),
    },
    Question {
        name: "robust",
        doc: "Coefficients with standard errors for other variances (HC0 to HC3) or for groups of rows, from the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(RobustArguments::default()),
    },
    Question {
        name: "vif",
        doc: "Variance inflation factors of the terms; generalised for those of several columns.",
        needs: Needs::Nothing,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "residuals",
        doc: "Response, Pearson, deviance and working residuals of rows.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "influence",
        doc: "Deviance residual, leverage and Cook's distance of each row of the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
];

/// Maximum-likelihood estimates of one linear predictor, with all that its questions need.
pub(in crate::linear) struct Likely<'a> {
    pub(in crate::linear) law: Law,
    /// Of all columns; 1 for the offset.
    pub(in crate::linear) coef: &'a [f64],
    pub(in crate::linear) intercept: f64,
    pub(in crate::linear) has_intercept: bool,
    pub(in crate::linear) offset: Option<usize>,
    pub(in crate::linear) estimates: Estimates,
    pub(in crate::linear) dispersion: f64,
    /// Residual degrees of freedom, and the number of rows.
    pub(in crate::linear) df: f64,
    pub(in crate::linear) rows: f64,
}

impl GeneralizedModel {
    /// The estimates, or why they have no tests.
    fn likely(&self) -> Result<Likely<'_>> {
        let Some(inference) = &self.inference else {
            let why = self.notes.last().cloned().unwrap_or_default();
            let why = why.strip_prefix("no inference: ").unwrap_or(&why).to_string();
            return Err(absent(why).hint("fit with alpha=0 and columns that the data determine"));
        };
        Ok(Likely {
            law: self.law,
            coef: &self.coef,
            intercept: self.intercept,
            has_intercept: self.has_intercept,
            offset: self.offset,
            estimates: inference.estimates(self.offset)?,
            dispersion: inference.dispersion,
            df: inference.df,
            rows: inference.rows(),
        })
    }

    pub(super) fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let likely = self.likely()?;
        match (asked.name, &self.inference) {
            ("goodness", Some(inference)) => {
                let mut answer = likely.fit_answer();
                answer.push("deviance", inference.deviance);
                answer.push_some("null deviance", inference.null_deviance);
                answer.push_some("log-likelihood", inference.log_likelihood);
                answer.push_some("AIC", inference.aic());
                answer.push_some("BIC", inference.bic());
                Ok(answer)
            }
            _ => likely.answer(asked, asked.data.as_ref()),
        }
    }
}

impl Likely<'_> {
    /// The names of all columns but the offset's.
    fn columns(&self) -> &[String] {
        &self.estimates.names[usize::from(self.has_intercept)..]
    }

    fn is_known(&self) -> bool {
        matches!(self.estimates.scale, Scale::Normal)
    }

    /// The answer to a question; `data` has a target of numbers.
    pub(in crate::linear) fn answer(
        &self,
        asked: &Asked,
        data: Option<&Dataset>,
    ) -> Result<Answer> {
        let rows = || data.ok_or_else(|| Error::internal("a question without its rows"));
        let level = || asked.number("level");
        let ratios = || asked.choice("show", &["coefficients", "ratios"]).map(|at| at == 1);
        match asked.name {
            "coefficients" => self.estimates.coefficient_answer("Coefficients", level()?),
            "profile" => {
                let ends = self.profile(rows()?, level()?, &asked.run)?;
                let title = "Coefficients with profile-likelihood intervals";
                let answer = self.estimates.with_ends(title, &ends, level()?)?;
                match ratios()? {
                    true => {
                        let mut tests = self.estimates.tests(level()?)?;
                        for (test, ends) in tests.iter_mut().zip(&ends) {
                            (test.lower, test.upper) = *ends;
                        }
                        Ok(ratio_answer(self.ratio()?, &tests, level()?))
                    }
                    false => Ok(answer),
                }
            }
            "ratios" => Ok(ratio_answer(self.ratio()?, &self.estimates.tests(level()?)?, level()?)),
            "covariance" => Ok(self.estimates.covariance_answer()),
            "test_columns" => self.estimates.column_answer(&asked.words("columns")?),
            "terms" => {
                let terms = terms_of(asked, self.columns());
                self.estimates.term_answer(&terms, |columns| self.estimates.of_term(columns))
            }
            "vif" => self.estimates.inflation_answer(&terms_of(asked, self.columns())),
            "anova" => {
                let (data, terms) = (rows()?, terms_of(asked, self.columns()));
                let df = (!self.is_known()).then_some(self.df);
                let dispersion = Dispersion { value: self.dispersion, df };
                let kind = AnovaType::of(asked)?;
                deviance_answer(kind, &terms, dispersion, self.rows, |columns| {
                    self.left(data, columns, &asked.run)
                })
            }
            "intervals" => {
                let response = asked.choice("scale", &["response", "link"])? == 0;
                match (asked.choice("kind", &["mean", "observation"])? == 1, response) {
                    (true, true) => self.observation_answer(&rows()?.x, level()?, &asked.run),
                    (true, false) => {
                        Err(Error::parameter("scale", "response for kind=observation", "link"))
                    }
                    (false, _) => self.interval_answer(&rows()?.x, level()?, response),
                }
            }
            "robust" => {
                let kind = Robust::of(asked)?;
                let found = self.robust_covariance(rows()?, kind)?;
                if ratios()? {
                    let estimates = self.estimates.with_covariance(found.matrix, Scale::Normal);
                    let mut answer =
                        ratio_answer(self.ratio()?, &estimates.tests(level()?)?, level()?);
                    answer.notes.push(format!("with {} standard errors", kind.word()));
                    return Ok(answer);
                }
                robust_answer(&self.estimates, found, Scale::Normal, kind, level()?)
            }
            "residuals" => self.residual_answer(rows()?),
            "influence" => self.influence_answer(rows()?),
            other => Err(Error::unsupported(format!("no answer to '{other}'"))),
        }
    }

    /// What exp(b) is a ratio of.
    fn ratio(&self) -> Result<&'static str> {
        match (self.law.link, self.law.family) {
            (Link::Logit, _) => Ok("odds ratio"),
            (Link::Log, Family::Power(1.0)) => Ok("rate ratio"),
            (Link::Log, Family::Binomial) => Ok("risk ratio"),
            (Link::Log, _) => Ok("mean ratio"),
            (link, _) => {
                let message = format!("coefficients of the {} link are no ratios", link.name());
                Err(Error::unsupported(message).hint("ask for `coefficients`"))
            }
        }
    }

    /// What is known of the fit whatever the likelihood.
    pub(in crate::linear) fn fit_answer(&self) -> Answer {
        let mut table = Columns::new("columns", &["term"]);
        self.columns().iter().for_each(|name| table.push(vec![Cell::Text(name.clone())]));
        let mut answer = Answer { tables: vec![table], ..Answer::new("Fit") };
        answer.push("rows", self.rows);
        answer.push("parameters", self.rows - self.df);
        answer.push("df", self.df);
        answer.push("dispersion", self.dispersion);
        answer.push("known dispersion", f64::from(self.is_known()));
        answer
    }

    /// Fit, lower and upper end, a row each: Wald intervals of the linear predictor, through the inverse of
    /// the link where the scale of the table is wanted.
    fn interval_answer(&self, x: &Frame, level: f64, response: bool) -> Result<Answer> {
        let half = self.estimates.scale.half_width(level)?;
        let (eta, variances) = (self.predictor(x)?, self.variances(x));
        let errors: Vec<f64> = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
        let turned = |eta: f64| if response { self.law.link.mean(eta) } else { eta };
        let at = |sign: f64| -> Vec<f64> {
            eta.iter().zip(&errors).map(|(eta, se)| turned(eta + sign * half * se)).collect()
        };
        let falls = response && matches!(self.law.link, Link::Inverse | Link::InverseSquared);
        let (lower, upper) = if falls { (at(1.0), at(-1.0)) } else { (at(-1.0), at(1.0)) };
        let table = Columns::titled("")
            .counts("row", (1..=eta.len() as i64).collect())
            .reals("fit", at(0.0))
            .reals("lower", lower)
            .reals("upper", upper)
            .reals("std. error of link", errors);
        let of = if response { "the mean" } else { "the linear predictor" };
        Ok(Answer {
            tables: vec![table],
            ..Answer::new(format!("Intervals of {of}, level {level}"))
        })
    }
}
