//! The report of a least-squares fit: coefficients with their tests, and figures of the whole.

use super::coefficient_table::{with_tests, without_tests};
use super::inference::Inference;
use super::linear_regression::LinearRegressionModel;
use learnt_core::prelude::*;

impl LinearRegressionModel {
    /// Tables for people.
    pub(super) fn report(&self) -> Answer {
        let mut report = Answer::new("Least squares");
        report.notes.extend(self.evidence.aliasing());
        for output in 0..self.coef.nrows() {
            let many = self.coef.nrows() > 1;
            let title = if many { format!("Output {}", output + 1) } else { String::new() };
            match self.inference(output, 0.95) {
                Ok(inference) => inference.add_to(&mut report, &title, many),
                Err(why) => {
                    let intercept = self.evidence.intercept.then(|| self.intercept[output]);
                    let coef = self.coef.row(output);
                    report.tables.push(without_tests(
                        &title,
                        intercept,
                        &self.evidence.names,
                        coef,
                    ));
                    report.notes.push(why.message().to_string());
                }
            }
        }
        report
    }
}

impl Inference {
    fn add_to(&self, report: &mut Answer, title: &str, many: bool) {
        report.tables.push(with_tests(title, "t", &self.coefficients, &self.undetermined));
        let suffix = if many { format!(" ({title})") } else { String::new() };
        let mut figure = |name: &str, value: Option<f64>| {
            let p = name.starts_with("p of ");
            let datum = value.map(|value| if p { Datum::P(value) } else { Datum::Real(value) });
            report.push_some(format!("{name}{suffix}"), datum);
        };
        figure("sigma", Some(self.sigma2.sqrt()));
        figure("df", Some(self.df));
        figure("R2", self.r2);
        figure("adjusted R2", self.adjusted_r2);
        figure("F", self.f_test.map(|test| test.statistic));
        figure("p of F", self.f_test.map(|test| test.p));
        figure("log-likelihood", Some(self.log_likelihood));
        figure("AIC", Some(self.aic));
        figure("BIC", Some(self.bic));
        figure("condition", self.condition);
    }
}
