//! What logistic regression can be asked. Two classes are the binomial family with a logit link and answer as
//! generalised linear models do; more classes have estimates for each but the first.

use super::anova::{AnovaType, Dispersion, Left, deviance_answer};
use super::coefficient_table::Scale;
use super::estimates::{Estimates, ratio_answer, terms_of};
use super::evidence::absent;
use super::generalized::asked::Likely;
use super::generalized::family::{Family, Law, Link};
use super::likelihood::inference::LogisticInference;
use super::logistic_regression::{LogisticRegression, LogisticRegressionModel, Penalty};
use learnt_core::prelude::*;

impl LogisticRegressionModel {
    pub(super) fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let inference = self.tested()?;
        let answer = match self.class_count() {
            2 => self.of_two(inference, asked)?,
            _ => self.of_many(inference, asked)?,
        };
        Ok(answer)
    }

    /// The estimates with tests, or why there are none.
    fn tested(&self) -> Result<&LogisticInference> {
        let Some(inference) = &self.inference else {
            return Err(match self.notes.first() {
                Some(why) => absent(why.strip_prefix("no standard errors: ").unwrap_or(why)),
                None => absent("a penalty biases the estimates")
                    .hint("fit with penalty none (--penalty none)"),
            });
        };
        match inference.covariance.nrows() == inference.estimates.as_slice().len() {
            true => Ok(inference),
            false => Err(absent(
                "the file is of an older release, or there are more than 1000 estimates",
            )
            .hint("fit the model again")),
        }
    }

    /// The order of the estimates with the intercept first in each class.
    fn order(inference: &LogisticInference) -> Vec<usize> {
        let columns = inference.estimates.ncols();
        let inputs = inference.names.len();
        let of_class = |k: usize| {
            let first = (columns > inputs).then_some(k * columns + inputs);
            first.into_iter().chain(k * columns..k * columns + inputs)
        };
        (0..inference.estimates.nrows()).flat_map(of_class).collect()
    }

    fn estimates(inference: &LogisticInference) -> Estimates {
        let order = Self::order(inference);
        let intercept = inference.estimates.ncols() > inference.names.len();
        let own: Vec<String> = intercept
            .then(|| "(intercept)".to_string())
            .into_iter()
            .chain(inference.names.iter().cloned())
            .collect();
        let many = inference.estimates.nrows() > 1;
        let name = |at: usize| match many {
            true => format!("{}: {}", inference.classes[at / own.len() + 1], own[at % own.len()]),
            false => own[at].clone(),
        };
        Estimates {
            names: (0..order.len()).map(name).collect(),
            values: order.iter().map(|&k| inference.estimates.as_slice()[k]).collect(),
            covariance: Matrix::from_fn(order.len(), order.len(), |i, j| {
                inference.covariance[(order[i], order[j])]
            }),
            determined: vec![true; order.len()],
            intercept,
            scale: Scale::Normal,
            offset: None,
        }
    }

    fn of_two(&self, inference: &LogisticInference, asked: &Asked) -> Result<Answer> {
        let estimates = Estimates { offset: self.offset, ..Self::estimates(inference) };
        let likely = Likely {
            law: Law { family: Family::Binomial, link: Link::Logit },
            coef: self.coef.row(0),
            intercept: self.intercept[0],
            has_intercept: estimates.intercept,
            offset: self.offset,
            dispersion: 1.0,
            df: inference.rows() - estimates.names.len() as f64,
            rows: inference.rows(),
            estimates,
        };
        let mut answer = match (asked.name, &asked.data) {
            ("goodness", _) => with_likelihood(likely.fit_answer(), inference),
            (_, Some(data)) if data.y.is_some() => {
                let (codes, _) = data.class_target()?;
                let numbers: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
                let target = Target::Real(MatRef::from_column(&numbers));
                likely.answer(asked, Some(&Dataset { y: Some(target), ..*data }))?
            }
            (_, data) => likely.answer(asked, data.as_ref())?,
        };
        if let [first, second] = inference.classes.as_slice() {
            let (first, second) =
                (learnt_core::error::plain(first), learnt_core::error::plain(second));
            answer.notes.push(format!("of class {second} against {first}"));
        }
        Ok(answer)
    }

    fn of_many(&self, inference: &LogisticInference, asked: &Asked) -> Result<Answer> {
        let estimates = Self::estimates(inference);
        let classes = inference.estimates.nrows();
        let width = inference.estimates.ncols();
        let extra = usize::from(estimates.intercept);
        let of_term = |columns: &[usize]| -> Vec<usize> {
            let one = |k: usize| columns.iter().map(move |&j| k * width + extra + j);
            (0..classes).flat_map(one).collect()
        };
        let terms = || terms_of(asked, &inference.names);
        let level = || asked.number("level");
        let mut answer = match asked.name {
            "coefficients" => estimates.coefficient_answer("Coefficients", level()?)?,
            "ratios" => ratio_answer("odds ratio", &estimates.tests(level()?)?, level()?),
            "covariance" => estimates.covariance_answer(),
            "test_columns" => estimates.column_answer(&asked.words("columns")?)?,
            "terms" => estimates.term_answer(&terms(), of_term)?,
            "goodness" => {
                let mut answer = Answer::new("Fit");
                let count = estimates.names.len() as f64;
                let mut table = Columns::new("columns", &["term"]);
                inference.names.iter().for_each(|name| table.push(vec![Cell::Text(name.clone())]));
                answer.tables.push(table);
                answer.push("rows", inference.rows());
                answer.push("parameters", count);
                answer.push("df", inference.rows() - count);
                answer.push("dispersion", 1.0);
                answer.push("known dispersion", 1.0);
                with_likelihood(answer, inference)
            }
            "anova" => {
                let data = asked.rows()?;
                let dispersion = Dispersion { value: 1.0, df: None };
                deviance_answer(
                    AnovaType::of(asked)?,
                    &terms(),
                    dispersion,
                    inference.rows(),
                    |own| Self::left(inference, data, own, &asked.run),
                )?
            }
            other => {
                let message = format!("'{other}' is answered for two classes only");
                return Err(Error::unsupported(message)
                    .hint("coefficients, ratios, covariance, test_columns, terms, anova and goodness are for any number"));
            }
        };
        if let Some(first) = inference.classes.first() {
            let first = learnt_core::error::plain(first);
            answer.notes.push(format!("every class against {first}"));
        }
        Ok(answer)
    }

    /// How well some columns fit many classes.
    fn left(
        inference: &LogisticInference,
        data: &Dataset,
        columns: &[usize],
        run: &Context,
    ) -> Result<Left> {
        let others = inference.estimates.nrows() as f64;
        let fit_intercept = inference.estimates.ncols() > inference.names.len();
        if columns.is_empty() {
            let rank = others * f64::from(fit_intercept);
            return Ok(Left { deviance: inference.null_deviance(), rank });
        }
        let learner = LogisticRegression {
            penalty: Penalty::Nothing,
            fit_intercept,
            max_iter: 1000,
            tol: 1e-6,
            ..Default::default()
        };
        let x = data.x.select(columns);
        let model = learner.fit_in(&Dataset { x: x.frame(), ..*data }, run)?;
        let found = model.inference.as_ref().ok_or_else(|| {
            absent(
                model
                    .notes
                    .first()
                    .map_or("a smaller model has no finite estimates", String::as_str),
            )
        })?;
        Ok(Left { deviance: found.deviance(), rank: found.estimates.as_slice().len() as f64 })
    }
}

fn with_likelihood(mut answer: Answer, inference: &LogisticInference) -> Answer {
    answer.push("deviance", inference.deviance());
    answer.push("null deviance", inference.null_deviance());
    answer.push("log-likelihood", inference.log_likelihood);
    answer.push("AIC", inference.aic());
    answer.push("BIC", inference.bic());
    answer
}
