//! The report of a least-squares fit: coefficients with their tests, and figures of the whole.

use super::inference::Inference;
use super::linear_regression::LinearRegressionModel;
use learnt_core::prelude::*;

impl LinearRegressionModel {
    /// Tables for people.
    pub(super) fn report(&self) -> Report {
        let mut report = Report::new("Least squares");
        report.notes.extend(self.evidence.aliasing());
        for output in 0..self.coef.nrows() {
            let many = self.coef.nrows() > 1;
            let title = if many { format!("Output {}", output + 1) } else { String::new() };
            match self.inference(output, 0.95) {
                Ok(inference) => inference.add_to(&mut report, &title, many),
                Err(why) => {
                    report.tables.push(self.plain_table(output, &title));
                    report.notes.push(why.message().to_string());
                }
            }
        }
        report
    }

    fn plain_table(&self, output: usize, title: &str) -> ReportTable {
        let mut table = ReportTable::new(title, &["term", "coefficient"]);
        if self.evidence.intercept {
            table.rows.push(vec!["(intercept)".into(), Cell::Number(self.intercept[output])]);
        }
        for (name, &b) in self.evidence.names.iter().zip(self.coef.row(output)) {
            table.rows.push(vec![Cell::Text(name.clone()), Cell::Number(b)]);
        }
        table
    }
}

impl Inference {
    fn add_to(&self, report: &mut Report, title: &str, many: bool) {
        let head = ["term", "coefficient", "std. error", "t", "p", "2.5%", "97.5%"];
        let mut table = ReportTable::new(title, &head);
        for test in &self.coefficients {
            table.rows.push(vec![
                Cell::Text(test.name.clone()),
                Cell::Number(test.estimate),
                Cell::Number(test.standard_error),
                Cell::Number(test.t),
                Cell::Probability(test.p),
                Cell::Number(test.lower),
                Cell::Number(test.upper),
            ]);
        }
        for name in &self.undetermined {
            let mut cells = vec![Cell::Text(name.clone())];
            cells.extend((0..6).map(|_| Cell::Empty("aliased with other columns".into())));
            table.rows.push(cells);
        }
        report.tables.push(table);
        let suffix = if many { format!(" ({title})") } else { String::new() };
        let mut figure = |name: &str, value: Option<f64>| {
            report.figures.extend(value.map(|value| (format!("{name}{suffix}"), value)));
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
