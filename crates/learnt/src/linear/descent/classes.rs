//! Two classes are one line, more are one line a class against the others.

use super::effort::Descended;
use super::line::{Line, Plan, Task};
use crate::linear::ClassWeight;
use learnt_core::error::plain;
use learnt_core::linalg::linear_predict;
use learnt_core::prelude::*;

/// Rows of a data set with the classes and weights that descents need.
pub(super) struct ClassRows<'a> {
    pub(super) x: MatRef<'a>,
    pub(super) codes: &'a [u32],
    pub(super) classes: &'a [Label],
    weights: Option<&'a [f64]>,
    factors: Option<Vec<f64>>,
}

/// A copy whose rows are neighbours in memory, where the given ones are not.
pub(super) fn row_copy(x: MatRef, run: &Context) -> Result<Option<Matrix>> {
    if x.nrows() == 0 || x.row_slice(0).is_some() {
        return Ok(None);
    }
    run.claim_table(x.nrows(), x.ncols(), "a copy of the table by rows")?;
    Ok(Some(x.to_matrix()))
}

impl<'a> ClassRows<'a> {
    /// `x` has rows that are neighbours in memory.
    pub(super) fn new(
        x: MatRef<'a>,
        data: &Dataset<'a>,
        class_weight: ClassWeight,
    ) -> Result<Self> {
        let (codes, classes) = data.class_target()?;
        if classes.len() < 2 {
            let message = format!(
                "the target has one class, '{}', and at least two are needed",
                classes.first().map_or(String::new(), ToString::to_string)
            );
            return Err(Error::new(Code::OneClass, message));
        }
        let factors = match class_weight {
            ClassWeight::Equal => None,
            ClassWeight::Balanced => Some(balanced(data, codes, classes.len())),
        };
        Ok(ClassRows { x, codes, classes, weights: data.weights, factors })
    }

    /// Number of lines.
    pub(super) fn lines(&self) -> usize {
        if self.classes.len() == 2 { 1 } else { self.classes.len() }
    }

    /// The class that a line is for.
    fn positive(&self, line: usize) -> u32 {
        if self.classes.len() == 2 { 1 } else { line as u32 }
    }

    /// Weights of the rows in the problem of a line; none if all are 1.
    fn weights_of(&self, line: usize) -> Option<Vec<f64>> {
        if self.weights.is_none() && self.factors.is_none() {
            return None;
        }
        let positive = self.positive(line);
        let two = self.classes.len() == 2;
        let factor = |code: u32| match &self.factors {
            Some(factors) if two || code == positive => factors[code as usize],
            _ => 1.0,
        };
        let weight = |i: usize| self.weights.map_or(1.0, |weights| weights[i]);
        Some(self.codes.iter().enumerate().map(|(i, &code)| weight(i) * factor(code)).collect())
    }

    /// Weights of the rows with the factors of their classes; none if all are 1.
    pub(super) fn row_weights(&self) -> Option<Vec<f64>> {
        if self.weights.is_none() && self.factors.is_none() {
            return None;
        }
        let factor = |code: u32| self.factors.as_ref().map_or(1.0, |f| f[code as usize]);
        let weight = |i: usize| self.weights.map_or(1.0, |weights| weights[i]);
        Some(self.codes.iter().enumerate().map(|(i, &code)| weight(i) * factor(code)).collect())
    }

    /// Calls `work` with the problem of each line, on all threads.
    pub(super) fn each_line(
        &self,
        run: &Context,
        work: impl Fn(usize, &Task, &Context) -> Result<Descended> + Sync,
    ) -> Result<Vec<Descended>> {
        run.claim(16 * self.lines() as u64 * self.codes.len() as u64, "targets of each class")?;
        run.try_par_fits(self.lines(), |k, run| {
            let positive = self.positive(k);
            let sign = |&code: &u32| if code == positive { 1.0 } else { -1.0 };
            let targets: Vec<f64> = self.codes.iter().map(sign).collect();
            let weights = self.weights_of(k);
            let task = Task { x: self.x, targets: &targets, weights: weights.as_deref() };
            work(k, &task, run)
        })
    }
}

/// n / (K n_k), rows counted by their weights.
fn balanced(data: &Dataset, codes: &[u32], classes: usize) -> Vec<f64> {
    let mut counts = vec![0.0; classes];
    for (i, &code) in codes.iter().enumerate() {
        counts[code as usize] += data.weight(i);
    }
    let total: f64 = counts.iter().sum();
    let factor = |&count: &f64| if count > 0.0 { total / (classes as f64 * count) } else { 1.0 };
    counts.iter().map(factor).collect()
}

/// Refuses factors that need all rows at once.
pub(super) fn check_online(class_weight: ClassWeight) -> Result<()> {
    match class_weight {
        ClassWeight::Equal => Ok(()),
        ClassWeight::Balanced => Err(Error::parameter(
            "class_weight",
            "none where training goes on with more rows, because shares of classes are not known yet",
            "balanced",
        )
        .hint("give the factors as row weights")),
    }
}

/// Lines of a model that goes on, if they fit the rows.
pub(super) fn check_lines(lines: &[Line], wanted: usize, columns: usize) -> Result<()> {
    match lines.len() == wanted && lines.iter().all(|line| line.has_width(columns)) {
        true => Ok(()),
        false => Err(Error::shape(
            "rows to go on with",
            format!(
                "{} lines of {} columns",
                lines.len(),
                lines.first().map_or(0, |l| l.weights.len())
            ),
            format!("{wanted} lines of {columns} columns"),
        )),
    }
}

/// The weights of the lines as a matrix, and their intercepts.
pub(super) fn gathered(lines: &[Line], plan: &Plan, columns: usize) -> (Matrix, Vec<f64>) {
    let mut coef = Matrix::zeros(lines.len(), columns);
    let mut intercept = Vec::with_capacity(lines.len());
    for (k, line) in lines.iter().enumerate() {
        let (weights, b) = line.result(plan);
        coef.row_mut(k).copy_from_slice(weights);
        intercept.push(b);
    }
    (coef, intercept)
}

/// Scores of the rows.
pub(super) fn decision_scores(
    x: &Frame,
    coef: &Matrix,
    intercept: &[f64],
    run: &Context,
) -> Result<Matrix> {
    linear_predict(x, coef, intercept, run)
}

/// A table of weights for each line.
pub(super) fn weight_table(title: &str, coef: &Matrix, intercept: &[f64], names: &Names) -> Answer {
    let mut report = Answer::new(title.to_string());
    for k in 0..coef.nrows() {
        let class = plain(&names.scored_class(k, coef.nrows()));
        let title = match names.classes.is_empty() {
            true => "prediction".to_string(),
            false => format!("score of class {class}"),
        };
        let mut table = Columns::new(&title, &["term", "weight"]);
        table.push(vec!["(intercept)".into(), Cell::Number(intercept[k])]);
        for (name, &weight) in names.columns.iter().zip(coef.row(k)) {
            table.push(vec![name.as_str().into(), Cell::Number(weight)]);
        }
        report.tables.push(table);
    }
    report
}

/// Number of classes that have so many lines.
pub(super) fn count_of(lines: usize) -> usize {
    if lines == 1 { 2 } else { lines }
}
