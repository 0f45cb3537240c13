//! Cross-validations and comparisons as answers: one table of columns for people and programs.

use super::compare::{Comparison, Row};
use super::cross_validate::CrossValidation;
use crate::charts::comparison::intervals;
use crate::metrics::{CLASSES_SHOWN, by_class};
use learnt_core::answer::{Series, Style, TableColumn};
use learnt_core::chart::Chart;
use learnt_core::error::plain;
use learnt_core::prelude::*;

impl CrossValidation {
    /// The mean of each metric with its standard error, and the score in every fold.
    pub fn report(&self, title: impl Into<String>) -> Answer {
        let metrics = 0..self.metrics.len();
        let names = self.metrics.iter().map(|metric| metric.name.to_string()).collect();
        let why =
            |m: usize| self.failed().or_else(|| self.unscored(m)).map(|(_, error)| reason(error));
        let number = |m: usize, value: Option<f64>| {
            value.ok_or_else(|| why(m).unwrap_or_else(|| "one fold has no spread".to_string()))
        };
        let mean = metrics.clone().map(|m| number(m, self.mean(m)));
        let error = metrics.clone().map(|m| number(m, self.standard_error(m)));
        let mut table = Columns::titled("")
            .texts("metric", names)
            .with(TableColumn::partly("mean", Style::Number, mean))
            .with(TableColumn::partly("standard_error", Style::Number, error).headed("±"));
        for (k, fold) in self.folds.iter().enumerate() {
            let score = |m: usize| match &fold.result {
                Ok(scored) => scored.scores[m].as_ref().copied().map_err(reason),
                Err(error) => Err(reason(error)),
            };
            let scores = metrics.clone().map(score);
            let column = TableColumn::partly(format!("fold_{}", k + 1), Style::Short, scores);
            table = table.with(column.headed((k + 1).to_string()));
        }
        let mut answer = Answer::new(title);
        answer.tables.push(table);
        answer.push("folds", self.folds.len());
        answer.push_some("fit_seconds", self.fit_seconds());
        answer.notes.push("± is the standard error over folds".to_string());
        if let Some((failed, error)) = self.failed() {
            answer.notes.push(format!(
                "failed in {failed} folds: {} ({})",
                reason(error),
                error.code()
            ));
        }
        answer
    }
}

impl CrossValidation {
    /// Tables of what was done with the test rows of each class: precision and recall, and the confusion
    /// matrix where classes are few.
    pub fn by_class(&self, classes: &[Label], positive: Option<usize>) -> Vec<Columns> {
        let Some(counts) = self.confusion() else { return Vec::new() };
        let found = by_class(&counts, classes, positive);
        let shown = classes.len() <= CLASSES_SHOWN;
        [Some(found.classes), Some(found.confusion).filter(|_| shown)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Comparison {
    /// The row whose classes are shown: the simplest of the good ones.
    pub fn shown(&self) -> Option<&Row> {
        self.simplest.or((!self.rows.is_empty()).then_some(0)).map(|i| &self.rows[i])
    }

    /// The report with what the chosen model does with each class, and a word on models that predict one
    /// class only.
    pub fn report_of_classes(&self, classes: &[Label], positive: Option<usize>) -> Answer {
        let mut answer = self.report();
        let Some((row, result)) =
            self.shown().and_then(|row| Some((row, row.result.as_ref().ok()?)))
        else {
            return answer;
        };
        let mut tables = result.by_class(classes, positive);
        if let Some(table) = tables.first_mut() {
            table.title = format!("{} on the test rows of all folds", row.name);
        }
        answer.tables.extend(tables);
        answer
    }

    /// One row a candidate: means with standard errors, time, and the test against the best.
    pub fn report(&self) -> Answer {
        let mut answer = Answer::new(format!("comparison by {}", self.metrics[0].name));
        answer.tables.push(self.table());
        answer.charts.push(self.chart());
        answer.notes.push(
            "± is the standard error over folds; p: corrected resampled t test against the first row; \
             ≈ not distinguishable at 5%"
                .to_string(),
        );
        let folds = self.folds();
        for row in self.failures() {
            if let Some((failed, error)) = row.failure() {
                let (name, why, code) = (&row.name, reason(error), error.code());
                answer
                    .notes
                    .push(format!("{name} failed in {failed} of {folds} folds: {why} ({code})"));
            }
        }
        answer.push("folds", folds);
        answer.push("sorted_by", self.metrics[0].name);
        answer.push_some("simplest", self.simplest.map(|i| self.rows[i].name.clone()));
        if self.simplest.is_some() {
            let what = "simplest: the least complex model within one standard error of the best";
            answer.notes.push(what.to_string());
        }
        answer
    }

    fn folds(&self) -> usize {
        let results = self.rows.iter().filter_map(|row| row.result.as_ref().ok());
        results.map(|cv| cv.folds.len()).max().unwrap_or(0)
    }

    fn table(&self) -> Columns {
        let column = |name: &str, style: Style, m: usize, value: &dyn Fn(&Row) -> Option<f64>| {
            let cell = |row: &Row| value(row).ok_or_else(|| absence(row, m));
            TableColumn::partly(name, style, self.rows.iter().map(cell))
        };
        let names = self.rows.iter().map(|row| row.name.clone()).collect();
        let mut table = Columns::titled("").texts("model", names);
        for (m, metric) in self.metrics.iter().enumerate() {
            let name = metric.name.replace('-', "_");
            let error = format!("{name}_se");
            table = table
                .with(column(&name, Style::Short, m, &|row| row.mean(m)).headed(metric.name))
                .with(column(&error, Style::Short, m, &|row| row.standard_error(m)).headed("±"));
        }
        let seconds = |row: &Row| row.result.as_ref().ok().and_then(CrossValidation::fit_seconds);
        let notes = self.rows.iter().enumerate().map(|(i, row)| note(i, row)).collect();
        table
            .with(column("fit_seconds", Style::Seconds, 0, &seconds).headed("fit"))
            .with(column("p_value", Style::P, 0, &|row| row.p_value).headed("p vs best"))
            .with(TableColumn::new("note", Series::Texts(notes), Style::Number).headed(""))
    }

    /// Means of the first metric with their standard errors.
    pub fn chart(&self) -> Chart {
        let rows: Vec<(&Row, f64)> =
            self.rows.iter().filter_map(|row| Some((row, row.mean(0)?))).collect();
        let names: Vec<String> = rows.iter().map(|(row, _)| row.name.clone()).collect();
        let means: Vec<f64> = rows.iter().map(|(_, mean)| *mean).collect();
        let errors: Vec<f64> =
            rows.iter().map(|(row, _)| row.standard_error(0).unwrap_or(0.0)).collect();
        intervals(self.metrics[0].name, &names, &means, &errors)
    }
}

/// Why a row lacks a number of the m-th metric.
fn absence(row: &Row, m: usize) -> String {
    let unscored = || row.result.as_ref().ok().and_then(|cv| cv.unscored(m));
    match row.failure().or_else(unscored) {
        Some((_, error)) => reason(error),
        None => "not tested".to_string(),
    }
}

fn reason(error: &Error) -> String {
    plain(error.message())
}

/// A word about a row: the best, those it cannot be told from, the baseline, failures.
fn note(i: usize, row: &Row) -> String {
    let mut words = Vec::new();
    match row.p_value {
        _ if row.mean(0).is_none() => words.push("failed"),
        _ if i == 0 => words.push("best"),
        Some(p) if p >= 0.05 => words.push("≈"),
        _ => {}
    }
    if row.baseline {
        words.push("baseline");
    }
    if row.only_class().is_some() {
        words.push("one class");
    }
    words.join(" ")
}
