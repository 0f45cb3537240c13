//! The report of a least-squares fit: coefficients with their tests, and figures of the whole.

use super::coefficient_table::{with_tests, without_tests};
use super::inference::Inference;
use super::linear_regression::LinearRegressionModel;
use learnt_core::prelude::*;

impl LinearRegressionModel {
    /// Tables for people.
    pub(super) fn report(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Least squares");
        report.notes.extend(self.evidence.aliasing());
        for output in 0..self.coef.nrows() {
            let many = self.coef.nrows() > 1;
            let title = if many { names.output(output) } else { String::new() };
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
        let mut figure = |name: &str, value: Option<Datum>| {
            report.push_some(format!("{name}{suffix}"), value);
        };
        figure("sigma", Some(Datum::Real(self.sigma2.sqrt())));
        figure("df", Some(Datum::Real(self.df)));
        figure("R2", self.r2.map(Datum::Real));
        figure("adjusted R2", self.adjusted_r2.map(Datum::Real));
        figure("F", self.f_test.map(|test| Datum::Real(test.statistic)));
        figure("p of F", self.f_test.map(|test| Datum::P(test.p)));
        figure("log-likelihood", Some(Datum::Real(self.log_likelihood)));
        figure("AIC", Some(Datum::Real(self.aic)));
        figure("BIC", Some(Datum::Real(self.bic)));
        figure("condition", self.condition.map(Datum::Real));
    }
}
