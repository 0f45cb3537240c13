//! The rounds of logistic regression: each takes the sums of one pass and decides what is next.
//!
//! Count classes (only for balanced weights), sums at zero, then Newton or L-BFGS until the method
//! is satisfied; far more columns than rows go another way (`logistic_wide`). The objective is divided by the total weight, so that tolerances do not depend on
//! the number of rows. With m + 1 classes the Hessian at zero is
//! (I - 11'/(m+1)) ⊗ (Σ w z z' / (m+1) + λ D), whose inverse square root gives L-BFGS its
//! coordinates. Both methods stop when a step promises a decrease of at most tol², L-BFGS tol² for every eight
//! weights (Newton without penalty: tol² / 2 over the total weight). Without penalty, estimates that would be infinite are recognised by a
//! column that separates a class from the rest, by weights that put every row on its side, or by a last
//! step along which the likelihood is flat.

use super::likelihood::geometry::{
    assemble, from_metric, into_metric, mix_classes, quadratic_form, separating_column,
};
use super::likelihood::inference::LogisticInference;
use super::likelihood::proximal::Proximal;
use super::likelihood::{Second, Summary};
use super::logistic_regression::{ClassWeight, LogisticRegression, LogisticRegressionModel};
use super::logistic_route;
use learnt_core::error::plain;
use learnt_core::linalg::{Cholesky, dot};
use learnt_core::optimize::{Evaluation, Lbfgs, Minimizer, Newton, Stop, Verdict};
use learnt_core::prelude::*;

/// Columns up to which L-BFGS uses the whole matrix Σ w z z' for its coordinates, not its diagonal.
const WHOLE_METRIC: usize = 1024;
/// Weights for each of which L-BFGS leaves tol² of the mean objective.
const WEIGHTS: f64 = 8.0;
/// A step along which the curvature has fallen below this share of that at zero is divergence, once
/// this many steps have been made.
const FLAT: f64 = 1e-6;
const FLAT_AFTER: usize = 10;
/// Steps of an intercept beside an offset, and what the last may promise of the mean objective.
const NULL_STEPS: usize = 100;
const NULL_DECREASE: f64 = 1e-14;

/// What every block must know in a round.
#[derive(Clone, Debug, Stored)]
pub struct Fit {
    names: Vec<String>,
    classes: Vec<String>,
    rows: u64,
    intercept: bool,
    newton: bool,
    /// Of so many chunks of rows one counts for the coordinates of L-BFGS.
    pub(super) every: usize,
    /// Factors of the row weights by class; empty for none.
    pub(super) factors: Vec<f64>,
    /// Where the next pass is made, one row for every class but the first.
    pub(super) weights: Matrix,
    /// What the next pass is for.
    pub(super) stage: Stage,
    start: Option<Start>,
    /// The column that is added to the score as it is.
    pub(super) offset: Option<usize>,
    /// The log-likelihood of an intercept beside the offset.
    null: Option<f64>,
}

/// What a pass is for.
#[derive(Clone, Debug, Stored)]
pub(super) enum Stage {
    /// Only the weight of each class.
    Count,
    /// All rows, of which there are far fewer than columns.
    Rows,
    /// The sums at zero.
    Start,
    /// An intercept beside an offset, for the null deviance.
    Null(Newton),
    /// A Newton step.
    Newton(Newton),
    /// A quasi-Newton step.
    Lbfgs(Lbfgs),
    /// A proximal Newton step, for an L1 penalty.
    Proximal(Proximal),
}

/// What the sums at zero leave behind.
#[derive(Clone, Debug, Stored)]
struct Start {
    counts: Vec<f64>,
    /// Hessian at zero, for Newton; factor of the metric, for L-BFGS (one row if it is diagonal).
    metric: Matrix,
    /// A column whose values separate a class from the others.
    separating: Option<usize>,
}

impl Fit {
    pub(super) fn new(learner: &LogisticRegression, outline: &Outline) -> Result<Self> {
        let classes: Vec<String> = outline.classes.iter().map(ToString::to_string).collect();
        if classes.len() < 2 {
            return Err(one_class(classes.first()));
        }
        let others = classes.len() - 1;
        let offset = learner.offset.as_deref().map(|name| outline.schema.find(name)).transpose()?;
        if offset.is_some() && others > 1 {
            let message = format!("an offset is for two classes, and there are {}", classes.len());
            return Err(Error::new(Code::Target, message)
                .hint("compare two classes at a time, or leave the offset out"));
        }
        let names = outline.schema.names().enumerate().filter(|(j, _)| Some(*j) != offset);
        let names: Vec<String> = names.map(|(_, name)| name.to_string()).collect();
        let inputs = names.len();
        let columns = inputs + usize::from(learner.fit_intercept);
        let balanced = learner.class_weight == ClassWeight::Balanced;
        Ok(Fit {
            names,
            classes,
            intercept: learner.fit_intercept,
            newton: learner.uses_newton(outline.rows, others, columns),
            every: logistic_route::sampling(outline.rows, columns),
            factors: Vec::new(),
            weights: Matrix::zeros(others, columns),
            stage: if balanced {
                Stage::Count
            } else {
                stage_after_counts(learner, outline.rows, others, inputs)
            },
            rows: outline.rows,
            start: None,
            offset,
            null: None,
        })
    }

    /// The second derivatives that the next pass needs.
    pub(super) fn second(&self) -> Second {
        match &self.stage {
            Stage::Count | Stage::Rows | Stage::Lbfgs(_) => Second::Nothing,
            Stage::Newton(_) | Stage::Null(_) => Second::Hessian,
            Stage::Proximal(proximal) => proximal.second(),
            Stage::Start if self.newton => Second::Hessian,
            Stage::Start if self.weights.ncols() <= WHOLE_METRIC => Second::Gram,
            Stage::Start => Second::Diagonal,
        }
    }

    pub(super) fn advance(
        mut self,
        learner: &LogisticRegression,
        all: Summary,
        run: &Context,
    ) -> Result<Step<Fit, LogisticRegressionModel>> {
        let at_zero = || self.weights.as_slice().iter().all(|&weight| weight == 0.0);
        if !all.value.is_finite() && at_zero() {
            // Finite rows have the logarithm of the number of classes there.
            return Err(Error::new(Code::NotFinite, "a score is not finite")
                .hint("values are too large for double precision: divide them by their largest"));
        }
        if matches!(self.stage, Stage::Count) {
            self.factors = balance(&all.counts);
            let (others, inputs) = (self.weights.nrows(), self.names.len());
            self.stage = stage_after_counts(learner, self.rows, others, inputs);
            return Ok(Step::Again(self));
        }
        if matches!(self.stage, Stage::Rows) {
            self.check_classes(&all)?;
            let rows = all.rows.ok_or_else(|| Error::internal("a pass without its rows"))?;
            return rows.fit(learner, &self.classes, run).map(Step::Done);
        }
        if matches!(self.stage, Stage::Proximal(_)) {
            return self.advance_proximal(learner, &all, run);
        }
        if matches!(self.stage, Stage::Start) {
            self.check_classes(&all)?;
            self.begin_null(learner, &all);
        }
        if matches!(self.stage, Stage::Null(_)) {
            return self.advance_null(&all).map(Step::Again);
        }
        if matches!(self.stage, Stage::Start) {
            self.set_up(learner, &all);
        }
        let margin = all.least_margin;
        let at = self.evaluation(learner.strength(), all);
        let (verdict, iterations, value) = match &mut self.stage {
            Stage::Newton(newton) => (newton.tell(at)?, newton.iterations(), newton.value()),
            Stage::Lbfgs(lbfgs) => (lbfgs.tell(at)?, lbfgs.iterations(), lbfgs.value()),
            Stage::Count | Stage::Rows | Stage::Start | Stage::Null(_) | Stage::Proximal(_) => {
                return Err(Error::internal("a fit without a method"));
            }
        };
        run.record("logistic regression", iterations as u64, value);
        let diverges = learner.is_free() && self.is_flat();
        if verdict == Verdict::Again && iterations < learner.max_iter && !diverges {
            self.weights = self.weights_at(false);
            return Ok(Step::Again(self));
        }
        self.weights = self.weights_at(true);
        let converged = verdict != Verdict::Again;
        Ok(Step::Done(self.finish(learner, converged, margin, run)))
    }

    /// Where tests are wanted beside an offset, the fit without inputs comes first.
    fn begin_null(&mut self, learner: &LogisticRegression, all: &Summary) {
        let wanted = self.offset.is_some() && learner.is_free() && self.newton;
        match (wanted && self.null.is_none(), self.intercept) {
            (false, _) => {}
            (true, false) => self.null = Some(-all.value),
            (true, true) => {
                let stop = Stop { gradient: 0.0, decrease: NULL_DECREASE };
                self.stage = Stage::Null(Newton::new(vec![0.0], stop));
            }
        }
    }

    /// A step of the intercept beside the offset; the sums at zero come again after the last.
    fn advance_null(mut self, all: &Summary) -> Result<Fit> {
        let Stage::Null(newton) = &mut self.stage else {
            return Err(Error::internal("a fit without a method"));
        };
        let total: f64 = all.counts.iter().sum();
        let last = self.weights.ncols() - 1;
        let verdict = newton.tell(Evaluation {
            value: all.value / total,
            gradient: vec![all.gradient[(0, last)] / total],
            hessian: Some(Matrix::column_vector(vec![all.second[(last, last)] / total])),
        })?;
        self.weights = Matrix::zeros(1, self.weights.ncols());
        if verdict == Verdict::Again && newton.iterations() < NULL_STEPS {
            self.weights[(0, last)] = newton.point()[0];
            return Ok(self);
        }
        self.null = Some(-newton.value() * total);
        self.stage = Stage::Start;
        Ok(self)
    }

    fn advance_proximal(
        mut self,
        learner: &LogisticRegression,
        all: &Summary,
        run: &Context,
    ) -> Result<Step<Fit, LogisticRegressionModel>> {
        self.check_classes(all)?;
        let Stage::Proximal(proximal) = &mut self.stage else {
            return Err(Error::internal("a fit without a method"));
        };
        let verdict = proximal.tell(all, run)?;
        if proximal.value().is_finite() {
            run.record("logistic regression", proximal.iterations() as u64, proximal.value());
        }
        if verdict == Verdict::Again && proximal.iterations() < learner.max_iter {
            self.weights = proximal.point();
            return Ok(Step::Again(self));
        }
        Ok(Step::Done(self.finish(learner, verdict != Verdict::Again, f64::NAN, run)))
    }

    fn check_classes(&self, all: &Summary) -> Result<()> {
        match all.counts.iter().filter(|&&count| count > 0.0).count() {
            0 | 1 => {
                let only = all.counts.iter().position(|&count| count > 0.0);
                Err(one_class(only.and_then(|k| self.classes.get(k))))
            }
            _ => Ok(()),
        }
    }

    /// Chooses the method after the sums at zero.
    fn set_up(&mut self, learner: &LogisticRegression, all: &Summary) {
        let size = self.weights.as_slice().len();
        let total: f64 = all.counts.iter().sum();
        let decrease = learner.tol * learner.tol;
        // In these coordinates scikit-learn's rule, no derivative above tol, allows half of tol² a weight.
        let many = decrease * (size as f64 / WEIGHTS).max(1.0);
        let zero = vec![0.0; size];
        let strength = learner.strength();
        let metric = if self.newton {
            let free = strength == 0.0;
            let decrease = if free { decrease / (2.0 * total) } else { decrease };
            self.stage = Stage::Newton(Newton::new(zero, Stop { gradient: 0.0, decrease }));
            assemble(&all.second, self.weights.nrows(), self.weights.ncols())
        } else {
            let stop = Stop { gradient: 0.0, decrease: many };
            let lbfgs = Lbfgs::new(zero, stop).with_first_step(1.0);
            self.stage = Stage::Lbfgs(lbfgs);
            self.metric(all, total, strength)
        };
        let separating = separating_column(&all.lows, &all.highs, self.intercept);
        self.start = Some(Start { counts: all.counts.clone(), metric, separating });
    }

    /// The lower factor of Σ w z z' / (m + 1) + λ D, over the total weight; of many columns the sum is
    /// estimated from some rows.
    fn metric(&self, all: &Summary, total: f64, strength: f64) -> Matrix {
        let second = &all.second;
        let columns = self.weights.ncols();
        let inputs = self.names.len();
        let others = self.weights.nrows() as f64;
        let share = if others == 1.0 { 0.25 } else { 1.0 / (others + 1.0) };
        let diagonal = second.nrows() == 1;
        let entry = |i: usize, j: usize| {
            let penalty = if i == j && i < inputs { strength } else { 0.0 };
            let product = second[(if diagonal { 0 } else { i.max(j) }, i.min(j))];
            share * product / all.sampled + penalty / total
        };
        let roots: Vec<f64> = (0..columns)
            .map(|j| entry(j, j).sqrt())
            .map(|root| if root > 0.0 && root.is_finite() { root } else { 1.0 })
            .collect();
        // A little more than the diagonal, because dependent columns would have no factor.
        let correlation = |i: usize, j: usize| {
            entry(i, j) / (roots[i] * roots[j]) + if i == j { 1e-9 } else { 0.0 }
        };
        let correlations = match diagonal {
            true => Matrix::default(),
            false => Matrix::from_fn(columns, columns, correlation),
        };
        let whole = (!diagonal && !self.is_noise(&correlations))
            .then(|| Cholesky::new(&correlations))
            .flatten();
        match whole {
            Some(factor) => {
                Matrix::from_fn(columns, columns, |i, j| roots[i] * factor.lower[(i, j)])
            }
            None => Matrix::from_fn(1, columns, |_, j| roots[j]),
        }
    }

    /// Whether correlations from a part of the rows are, for the most, what so few rows of independent
    /// columns show too: 1 / rows in the square each. Then the diagonal alone is the better metric.
    fn is_noise(&self, correlations: &Matrix) -> bool {
        if self.every <= 1 {
            return false;
        }
        let columns = correlations.ncols();
        let squares: f64 = (0..columns)
            .map(|i| {
                let before = &correlations.row(i)[..i];
                dot(before, before)
            })
            .sum();
        let pairs = (columns * columns.saturating_sub(1) / 2) as f64;
        squares * (self.rows / self.every as u64) as f64 <= 2.0 * pairs
    }

    /// Value and derivatives of the mean objective, in the coordinates of the method.
    fn evaluation(&self, strength: f64, all: Summary) -> Evaluation {
        let (others, columns) = (self.weights.nrows(), self.weights.ncols());
        let total: f64 = all.counts.iter().sum();
        let inputs = self.names.len();
        let (mut value, mut gradient) = (all.value, all.gradient);
        for j in 0..inputs {
            let mean = penalty_mean(&self.weights, j);
            for k in 0..others {
                let pull = strength * (self.weights[(k, j)] - mean);
                value += 0.5 * pull * self.weights[(k, j)];
                gradient[(k, j)] += pull;
            }
        }
        gradient.as_mut_slice().iter_mut().for_each(|g| *g /= total);
        let hessian = self.newton.then(|| {
            let mut hessian = assemble(&all.second, others, columns);
            let shared = if others == 1 { 0.0 } else { 1.0 / (others as f64 + 1.0) };
            for (k, l) in (0..others).flat_map(|k| (0..=k).map(move |l| (k, l))) {
                for j in 0..inputs {
                    hessian[(k * columns + j, l * columns + j)] +=
                        strength * (f64::from(k == l) - shared);
                }
            }
            hessian.as_mut_slice().iter_mut().for_each(|h| *h /= total);
            hessian
        });
        if let (false, Some(start)) = (self.newton, &self.start) {
            for k in 0..others {
                into_metric(&start.metric, gradient.row_mut(k));
            }
            mix_classes(&mut gradient);
        }
        Evaluation { value: value / total, gradient: gradient.into_vec(), hessian }
    }

    /// The weights at the method's next point, or at its best.
    fn weights_at(&self, best: bool) -> Matrix {
        let (method, newton): (&dyn Minimizer, bool) = match &self.stage {
            Stage::Newton(newton) => (newton, true),
            Stage::Lbfgs(lbfgs) => (lbfgs, false),
            Stage::Count | Stage::Rows | Stage::Start | Stage::Null(_) | Stage::Proximal(_) => {
                return self.weights.clone();
            }
        };
        let point = if best { method.best() } else { method.point() };
        let mut weights = self.weights.clone();
        weights.as_mut_slice().copy_from_slice(point);
        if let (false, Some(start)) = (newton, &self.start) {
            mix_classes(&mut weights);
            for k in 0..weights.nrows() {
                from_metric(&start.metric, weights.row_mut(k));
            }
        }
        weights
    }

    fn finish(
        self,
        learner: &LogisticRegression,
        converged: bool,
        margin: f64,
        run: &Context,
    ) -> LogisticRegressionModel {
        let (value, n_iter): (f64, usize) = match &self.stage {
            Stage::Newton(newton) => (newton.value(), newton.iterations()),
            Stage::Lbfgs(lbfgs) => (lbfgs.value(), lbfgs.iterations()),
            Stage::Proximal(proximal) => (proximal.value(), proximal.iterations()),
            Stage::Count | Stage::Rows | Stage::Start | Stage::Null(_) => (f64::NAN, 0),
        };
        let mut notes = Vec::new();
        let free = learner.is_free();
        let separation = if free { self.separation(margin) } else { None };
        if let Some(message) = &separation {
            run.warn(Code::Separation, message.clone());
            notes.push(format!("no standard errors: {message}"));
        } else if !converged {
            let message = format!(
                "did not converge in {n_iter} iterations, mean objective {value:.6e}; raise max_iter or scale the columns"
            );
            run.warn(Code::NotConverged, message.clone());
            notes.push(message);
        }
        let wanted = free && separation.is_none() && converged && self.factors.is_empty();
        let inference = if wanted { self.inference(value) } else { None };
        if wanted && inference.is_none() {
            notes.push(match self.newton {
                true => "no standard errors: columns depend on each other".to_string(),
                false => "no standard errors: they need solver='newton-cholesky'".to_string(),
            });
        }
        let (coef, intercept) = self.reported();
        let coef = match self.offset {
            None => coef,
            Some(offset) => Matrix::from_fn(coef.nrows(), coef.ncols() + 1, |k, j| match j {
                j if j == offset => 1.0,
                j => coef[(k, j - usize::from(j > offset))],
            }),
        };
        let converged = converged && separation.is_none();
        LogisticRegressionModel {
            coef,
            intercept,
            n_iter: vec![n_iter],
            inference,
            converged,
            notes,
            offset: self.offset,
        }
    }

    /// Why the likelihood has no maximum, if it has none.
    fn separation(&self, margin: f64) -> Option<String> {
        let start = self.start.as_ref()?;
        if let Some(column) = start.separating.and_then(|j| self.names.get(j)) {
            return Some(format!(
                "column '{}' alone separates the classes, so the estimates are infinite and only the predictions mean something; use penalty='l2'",
                plain(column)
            ));
        }
        let kind = match (margin > 0.0, self.is_flat()) {
            (true, _) => "completely",
            (false, true) => "quasi-completely",
            (false, false) => return None,
        };
        Some(format!(
            "a combination of columns separates the classes {kind}, so the estimates are infinite and only the predictions mean something; use penalty='l2'"
        ))
    }

    /// Whether Newton moves on along a direction in which every row is already decided.
    fn is_flat(&self) -> bool {
        let (Stage::Newton(newton), Some(start)) = (&self.stage, &self.start) else { return false };
        if newton.damped() || newton.iterations() < FLAT_AFTER {
            return false;
        }
        let total: f64 = start.counts.iter().sum();
        let now = quadratic_form(newton.hessian(), newton.direction()) * total;
        now < FLAT * quadratic_form(&start.metric, newton.direction())
    }

    fn inference(&self, value: f64) -> Option<LogisticInference> {
        let (Stage::Newton(newton), Some(start)) = (&self.stage, &self.start) else { return None };
        let total: f64 = start.counts.iter().sum();
        let mut information = newton.hessian().clone();
        information.as_mut_slice().iter_mut().for_each(|h| *h *= total);
        let null = match self.intercept {
            _ if self.offset.is_some() => self.null?,
            true => start.counts.iter().filter(|&&n| n > 0.0).map(|n| n * (n / total).ln()).sum(),
            false => -total * (start.counts.len() as f64).ln(),
        };
        if newton.damped() {
            return None;
        }
        let weights = self.weights.clone();
        let found = LogisticInference::new(weights, &information, -value * total, null, total);
        found.map(|found| found.named(&self.names, &self.classes).of_rows(self.rows))
    }

    /// Rows of weights as they are, and intercepts that sum to zero over more than two classes.
    fn reported_rows(&self, weights: &Matrix) -> (Matrix, Vec<f64>) {
        let (rows, inputs) = (weights.nrows(), self.names.len());
        let coef = Matrix::from_fn(rows, inputs, |k, j| weights[(k, j)]);
        if !self.intercept {
            return (coef, vec![0.0; rows]);
        }
        let own = |k: usize| weights[(k, inputs)];
        let mean = if rows == 1 { 0.0 } else { (0..rows).map(own).sum::<f64>() / rows as f64 };
        (coef, (0..rows).map(|k| own(k) - mean).collect())
    }

    /// Weights and intercepts as users see them: symmetric for more than two classes.
    fn reported(&self) -> (Matrix, Vec<f64>) {
        if let Stage::Proximal(proximal) = &self.stage {
            return self.reported_rows(proximal.best());
        }
        let (others, inputs) = (self.weights.nrows(), self.names.len());
        let rows = if others == 1 { 1 } else { others + 1 };
        let value = |k: usize, j: usize| {
            if others == 1 {
                return self.weights[(0, j)];
            }
            let own = if k == 0 { 0.0 } else { self.weights[(k - 1, j)] };
            own - penalty_mean(&self.weights, j)
        };
        let coef = Matrix::from_fn(rows, inputs, value);
        let intercept =
            (0..rows).map(|k| if self.intercept { value(k, inputs) } else { 0.0 }).collect();
        (coef, intercept)
    }
}

/// What the first pass over weighted rows is for.
fn stage_after_counts(
    learner: &LogisticRegression,
    rows: u64,
    others: usize,
    inputs: usize,
) -> Stage {
    let (l1, l2) = learner.strengths();
    if l1 == 0.0 {
        let wide = l2 > 0.0 && learner.offset.is_none() && logistic_route::rows_pay(rows, inputs);
        return if wide { Stage::Rows } else { Stage::Start };
    }
    let sets = if others == 1 { 1 } else { others + 1 };
    let stop = learner.tol * learner.tol;
    Stage::Proximal(Proximal::new(sets, inputs, learner.fit_intercept, (l1, l2), stop))
}

fn one_class(class: Option<&String>) -> Error {
    let name = class.map_or("", String::as_str);
    Error::new(
        Code::OneClass,
        format!(
            "at least two classes are needed, and the target holds one class, '{}'",
            plain(name)
        ),
    )
}

/// n / (K n_k); a class without rows has no factor to need.
fn balance(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let share = total / counts.len() as f64;
    counts.iter().map(|&count| if count > 0.0 { share / count } else { 1.0 }).collect()
}

/// The mean over all classes of column j, the first class having 0; 0 for two classes, whose one
/// row is penalised as it is.
fn penalty_mean(weights: &Matrix, j: usize) -> f64 {
    match weights.nrows() {
        1 => 0.0,
        others => (0..others).map(|k| weights[(k, j)]).sum::<f64>() / (others as f64 + 1.0),
    }
}
