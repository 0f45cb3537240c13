//! What a least-squares model can be asked: `learnt ask MODEL QUESTION`, and a method each in Python.

use super::anova::AnovaType;
use super::diagnostics;
use super::estimates::terms_of;
use super::inference::{IntervalKind, Sampling};
use super::linear_regression::LinearRegressionModel;
use super::robust::Robust;
use learnt_core::prelude::*;

/// Which of several targets is asked about.
#[derive(Params, Clone, Debug)]
struct OneOutput {
    /// Which of several targets, from 0.
    pub output: usize,
}

/// How sure an interval is.
#[derive(Params, Clone, Debug)]
struct AtLevel {
    /// Probability that an interval holds the truth.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
    /// Distribution of the estimates.
    pub distribution: SamplingDistribution,
    /// Which of several targets.
    #[param(flatten)]
    pub one: OneOutput,
}

/// Distribution of the estimates.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SamplingDistribution {
    /// Student's t and F.
    #[default]
    T,
    /// The normal and χ² of large samples.
    Normal,
}

/// Which columns are tested.
#[derive(Params, Clone, Debug)]
struct TestedColumns {
    /// Names of the columns.
    pub columns: Option<Vec<String>>,
    /// Which of several targets.
    #[param(flatten)]
    pub one: OneOutput,
}

/// A region and a point that may lie in it.
#[derive(Params, Clone, Debug)]
struct RegionArguments {
    /// The level.
    #[param(flatten)]
    pub at: AtLevel,
    /// Coefficients to look for, the intercept first.
    pub point: Option<Vec<f64>>,
}

/// Intervals for rows.
#[derive(Params, Clone, Debug)]
struct IntervalArguments {
    /// Probability that an interval holds the truth.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
    /// What the interval is for.
    pub kind: IntervalOf,
    /// The scale of the interval, where the model is of a function of the target.
    pub scale: IntervalScale,
    /// Which of several targets.
    #[param(flatten)]
    pub one: OneOutput,
}

/// The band of rows.
#[derive(Params, Clone, Debug)]
struct BandArguments {
    /// The level.
    #[param(flatten)]
    pub at: AtLevel,
    /// The scale of the band, where the model is of a function of the target.
    pub scale: IntervalScale,
}

/// The scale of an interval.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum IntervalScale {
    /// That of the table.
    #[default]
    Response,
    /// That of the model: of its link, or of the function of the target.
    Link,
}

/// What terms are tested against.
#[derive(Params, Clone, Debug)]
struct AnovaArguments {
    /// Which sums of squares.
    pub kind: AnovaType,
    /// Which of several targets.
    #[param(flatten)]
    pub one: OneOutput,
}

/// What an interval is for.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum IntervalOf {
    /// The mean at the row.
    #[default]
    Mean,
    /// A new observation at the row.
    Observation,
}

/// Which robust standard errors.
#[derive(Params, Clone, Debug)]
struct RobustArguments {
    /// How residuals say what the variances are.
    pub kind: Robust,
    /// Probability that an interval holds the truth.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
    /// Which of several targets.
    #[param(flatten)]
    pub one: OneOutput,
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        name: "coefficients",
        doc: "Coefficients with standard errors, tests and confidence intervals.",
        needs: Needs::Nothing,
        arguments: || Box::new(AtLevel::default()),
    },
    Question {
        name: "covariance",
        doc: "Covariance matrix of the coefficients, the intercept first.",
        needs: Needs::Nothing,
        arguments: || Box::new(OneOutput::default()),
    },
    Question {
        name: "test_columns",
        doc: "F test that the coefficients of these columns are all zero.",
        needs: Needs::Nothing,
        arguments: || Box::new(TestedColumns::default()),
    },
    Question {
        name: "region",
        doc: "Axes of the ellipsoid that holds all coefficients together, and whether it holds a point.",
        needs: Needs::Nothing,
        arguments: || Box::new(RegionArguments::default()),
    },
    Question {
        name: "intervals",
        doc: "Interval for the mean or for a new observation at each row.",
        needs: Needs::Rows,
        arguments: || Box::new(IntervalArguments::default()),
    },
    Question {
        name: "band",
        doc: "Band that holds the means of all rows together.",
        needs: Needs::Rows,
        arguments: || Box::new(BandArguments::default()),
    },
    Question {
        name: "robust",
        doc: "Coefficients with standard errors for unequal variances (HC0 to HC3) or for groups of rows, from the training data.",
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
        name: "terms",
        doc: "F test of each term against the model without it; the columns of a category are one term.",
        needs: Needs::Nothing,
        arguments: || Box::new(OneOutput::default()),
    },
    Question {
        name: "anova",
        doc: "Analysis of variance: what each term adds, by sums of squares of type I, II or III.",
        needs: Needs::Nothing,
        arguments: || Box::new(AnovaArguments::default()),
    },
    Question {
        name: "goodness",
        doc: "Rows, degrees of freedom, residual sum of squares, log-likelihood and criteria.",
        needs: Needs::Nothing,
        arguments: || Box::new(OneOutput::default()),
    },
    Question {
        name: "influence",
        doc: "Residual, leverage and Cook's distance of each row of the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(OneOutput::default()),
    },
    Question {
        name: "diagnostics",
        doc: "Tests of the assumptions (linearity, equal variance, independence, normality) and the rows that matter most.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
];

impl LinearRegressionModel {
    pub(super) fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let output = || asked.count("output");
        let sampling = || -> Result<Sampling> {
            let choice = asked.choice("distribution", &["t", "normal"])?;
            Ok([Sampling::Exact, Sampling::LargeSample][choice])
        };
        match asked.name {
            "coefficients" => self.coefficients(output()?, asked.number("level")?, sampling()?),
            "covariance" => self.covariance_table(output()?),
            "test_columns" => self.estimates(output()?)?.column_answer(&asked.words("columns")?),
            "region" => self.region(
                output()?,
                asked.number("level")?,
                sampling()?,
                &asked.numbers("point")?,
            ),
            "intervals" => {
                let kinds = [IntervalKind::Mean, IntervalKind::Observation];
                let kind = kinds[asked.choice("kind", &["mean", "observation"])?];
                let x = &asked.rows()?.x;
                Ok(rows_report(
                    "Intervals",
                    &self.intervals(x, output()?, asked.number("level")?, kind)?,
                ))
            }
            "band" => {
                let x = &asked.rows()?.x;
                Ok(rows_report(
                    "Band",
                    &self.band(x, output()?, asked.number("level")?, sampling()?)?,
                ))
            }
            "robust" => {
                let kind = Robust::of(asked)?;
                self.robust_report(asked.rows()?, output()?, kind, asked.number("level")?)
            }
            "vif" => self.estimates(0)?.inflation_answer(&terms_of(asked, &self.evidence.names)),
            "terms" => {
                let estimates = self.estimates(output()?)?;
                let terms = terms_of(asked, &self.evidence.names);
                estimates.term_answer(&terms, |columns| estimates.of_term(columns))
            }
            "anova" => {
                let terms = terms_of(asked, &self.evidence.names);
                self.anova(output()?, AnovaType::of(asked)?, &terms)
            }
            "goodness" => self.fit_answer(output()?),
            "influence" => self.influence_table(asked.rows()?, output()?),
            "diagnostics" => diagnostics::report(self, asked.rows()?),
            other => Err(Error::unsupported(format!("no answer to '{other}'"))),
        }
    }

    fn coefficients(&self, output: usize, level: f64, sampling: Sampling) -> Result<Answer> {
        let estimates = self.estimates(output)?;
        let scale = sampling.scale(self.evidence.freedom()?);
        let covariance = estimates.covariance.clone();
        estimates.with_covariance(covariance, scale).coefficient_answer("Coefficients", level)
    }

    fn covariance_table(&self, output: usize) -> Result<Answer> {
        self.estimates(output).map(|estimates| estimates.covariance_answer())
    }

    /// How well the model fits, in numbers that models are compared by.
    pub(super) fn fit_answer(&self, output: usize) -> Result<Answer> {
        let found = self.inference(output, 0.95)?;
        let evidence = &self.evidence;
        let mut table = Columns::new("columns", &["term"]);
        evidence.names.iter().for_each(|name| table.push(vec![Cell::Text(name.clone())]));
        let mut answer = Answer { tables: vec![table], ..Answer::new("Fit") };
        answer.push("rows", evidence.rows as f64);
        answer.push("parameters", evidence.rank as f64 + f64::from(evidence.intercept));
        answer.push("df", found.df);
        answer.push("deviance", found.rss);
        if evidence.intercept {
            answer.push("null deviance", evidence.total[output]);
        }
        answer.push("dispersion", found.sigma2);
        answer.push("known dispersion", 0.0);
        answer.push("log-likelihood", found.log_likelihood);
        answer.push("AIC", found.aic);
        answer.push("BIC", found.bic);
        Ok(answer)
    }

    fn region(
        &self,
        output: usize,
        level: f64,
        sampling: Sampling,
        point: &[f64],
    ) -> Result<Answer> {
        let region = self.confidence_region(output, level, sampling)?;
        let intercept = self.evidence.intercept.then_some("(intercept)");
        let names = intercept.into_iter().chain(self.evidence.names.iter().map(String::as_str));
        let head: Vec<&str> = std::iter::once("half length").chain(names).collect();
        let mut table = Columns::new("axes, longest first", &head);
        for (k, &half) in region.half_lengths.iter().enumerate() {
            let direction =
                (0..region.centre.len()).map(|j| Cell::Number(region.directions[(j, k)]));
            table.push(std::iter::once(Cell::Number(half)).chain(direction).collect());
        }
        let mut report = Answer {
            tables: vec![table],
            ..Answer::new(format!("Confidence region, level {level}"))
        };
        if !point.is_empty() {
            report.push("contains point", region.contains(point)?);
        }
        Ok(report)
    }

    fn influence_table(&self, data: &Dataset, output: usize) -> Result<Answer> {
        let found = diagnostics::influence(self, data, output)?;
        let table = Columns::titled("")
            .counts("row", (1..=found.fitted.len() as i64).collect())
            .reals("fitted", found.fitted)
            .reals("residual", found.residual)
            .reals("leverage", found.leverage)
            .reals("standardised", found.standardised)
            .reals("studentised", found.studentised)
            .reals("cook", found.cook);
        let mut answer = Answer { tables: vec![table], ..Answer::new("Influence of rows") };
        answer.push("PRESS", found.press);
        Ok(answer)
    }
}

/// Fit, lower and upper end, a row each.
fn rows_report(title: &str, rows: &Matrix) -> Answer {
    let table = Columns::titled("")
        .counts("row", (1..=rows.nrows() as i64).collect())
        .reals("fit", rows.view().column(0))
        .reals("lower", rows.view().column(1))
        .reals("upper", rows.view().column(2));
    Answer { tables: vec![table], ..Answer::new(title) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    fn fitted() -> (OwnedDataset, LinearRegressionModel) {
        let x = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 8.0]];
        let x = Matrix::from_rows(&x).unwrap();
        let data = OwnedDataset::regression(x, vec![1.0, 3.0, 2.0, 5.0, 4.0]);
        let model = LinearRegression::default().fit(&data.view()).unwrap();
        (data, model)
    }

    fn answer(name: &str, given: &[(&str, Value)]) -> Result<Answer> {
        let (data, model) = fitted();
        let given: Vec<_> = given.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        let question = QUESTIONS.iter().find(|question| question.name == name).unwrap();
        let rows = (question.needs != Needs::Nothing).then(|| data.view());
        model.answer(&question.ask(&given, rows, Context::default())?)
    }

    #[test]
    fn every_question_has_an_answer() {
        for question in QUESTIONS {
            let columns = ("columns", Value::Text("x1".to_string()));
            let given = if question.name == "test_columns" { &[columns][..] } else { &[] };
            let report = answer(question.name, given).unwrap();
            assert!(!report.tables.is_empty(), "{}", question.name);
        }
    }

    #[test]
    fn the_test_of_one_column_is_the_worked_one() {
        let report = answer("test_columns", &[("columns", Value::Text("x1".to_string()))]).unwrap();
        let statistic = report.column("F").unwrap().reals().unwrap()[0];
        assert!((statistic - 40.893_617_021_3).abs() < 1e-8);
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert!(answer("intervals", &[("kind", Value::Text("median".into()))]).is_err());
        assert!(answer("coefficients", &[("level", Value::Real(1.5))]).is_err());
        assert!(answer("covariance", &[("output", Value::Int(7))]).is_err());
    }
}
