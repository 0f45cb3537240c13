//! The minimum squared error procedure for two classes, in closed form or by Widrow and Hoff's rule.
//!
//! Minimises Σ w_i (a·y_i - b_i)² over reflected rows y_i with margins b_i > 0 (1 unless given):
//! a = pinv(Y) b, or steps a ← a - η_k (a·y_i - b_i) y_i along single rows as listed or their sum.
//! Steps of η_k = η_1 / k go to the same a, slowly where columns differ in scale; constant ones stay
//! in its neighbourhood. Stops when the mean gradient is at most `tol`. The vector need not separate
//! classes that can be separated: `separates` says whether all a·y_i > 0. Score 0 is the second class.
//!
//! Widrow and Hoff (1960), IRE WESCON 4, 96–104; Duda, Hart and Stork (2001), Pattern
//! Classification, section 5.8.

use super::least_squares::LeastSquares;
use super::reflection::Reflected;
use learnt_core::linalg::linear_predict;
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;

/// Minimum squared error (Widrow-Hoff, LMS) classifier of two classes.
///
/// ```
/// use learnt::{linear::MinimumSquaredErrorClassifier, prelude::*};
/// let x = Matrix::from_rows(&[[6.0, 9.0], [5.0, 7.0], [5.0, 9.0], [0.0, 4.0]])?;
/// let data = OwnedDataset::classification(x, &[1, 1, 0, 0].map(Label::Int));
/// let model = MinimumSquaredErrorClassifier::default().fit(&data.view())?;
/// assert!(model.separates);
/// assert_eq!(model.classify(&data.x.frame())?, [1, 1, 0, 0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MinimumSquaredErrorClassifier {
    /// The margin of each row, or one for all; none is 1.
    #[param(default = None, above = 0.0)]
    pub margins: Option<Vec<f64>>,
    /// How the vector is found.
    #[param(default = SeparationSolver::Pinv)]
    pub solver: SeparationSolver,
    /// What a step of `widrow-hoff` is made of.
    #[param(default = WidrowHoffUpdates::Sample)]
    pub updates: WidrowHoffUpdates,
    /// The learning rate schedule of `widrow-hoff`.
    #[param(default = WidrowHoffRate::Invscaling)]
    pub learning_rate: WidrowHoffRate,
    /// Initial learning rate of `widrow-hoff`.
    #[param(default = 1.0, above = 0.0)]
    pub eta0: f64,
    /// Maximum number of epochs (passes of `widrow-hoff` over the rows).
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
    /// Stop `widrow-hoff` when no entry of the mean gradient is larger.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
}

/// Ways to the vector.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeparationSolver {
    /// The pseudo-inverse.
    Pinv,
    /// Steps along single rows, or along all.
    #[choice(name = "widrow-hoff")]
    WidrowHoff,
}

/// What a step is made of.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidrowHoffUpdates {
    /// Each row, as listed.
    Sample,
    /// The sum over all rows.
    Batch,
}

/// How long step k is.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidrowHoffRate {
    /// `eta0` / k.
    Invscaling,
    /// `eta0`.
    Constant,
}

/// A fitted [`MinimumSquaredErrorClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, converged = converged, looks)]
pub struct MinimumSquaredErrorClassifierModel {
    /// Weights (1 × n_features); positive scores mean the second class.
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Whether every training row is on the side of its class.
    pub separates: bool,
    /// Σ w (a·y - b)² over the training rows.
    pub squared_error: f64,
    /// Passes made; 1 for the pseudo-inverse.
    pub n_iter: usize,
    converged: bool,
}

impl Estimator for MinimumSquaredErrorClassifier {
    type Model = MinimumSquaredErrorClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("linear_model.MinimumSquaredErrorClassifier")
        .full_rank()
        .alias(&["minimum-squared-error", "widrow-hoff"])
        .weights()
        .decision_scores()
        .without_probabilities()
        .two_classes()
        .iterations()
        .complexity(20)
        .cost("n p² time, n p memory; n p a pass by Widrow and Hoff's rule")
        .reference("Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON 4, 96–104");

    fn train(&self, data: &Dataset, run: &Context) -> Result<MinimumSquaredErrorClassifierModel> {
        let reflected = Reflected::new(data)?;
        let b = margins_of(self.margins.as_deref(), data.nrows())?;
        let (a, n_iter, converged) = match self.solver {
            SeparationSolver::Pinv => {
                (LeastSquares::new(&reflected, data.weights, run)?.solve(&b)?, 1, true)
            }
            SeparationSolver::WidrowHoff => self.widrow_hoff(&reflected, &b, data, run)?,
        };
        let margins = reflected.margins(&a)?;
        let gap = |(i, (margin, b)): (usize, (&f64, &f64))| data.weight(i) * (margin - b).powi(2);
        let squared_error = margins.iter().zip(&b).enumerate().map(gap).sum();
        if self.solver == SeparationSolver::Pinv {
            run.record("pseudo-inverse", 1, squared_error);
        }
        Ok(MinimumSquaredErrorClassifierModel {
            coef: Matrix::from_vec(1, data.x.ncols(), a[1..].to_vec())?,
            intercept: vec![a[0]],
            separates: margins.iter().all(|&margin| margin > 0.0),
            squared_error,
            n_iter,
            converged,
        })
    }
}

/// One margin for each row.
pub(super) fn margins_of(given: Option<&[f64]>, rows: usize) -> Result<Vec<f64>> {
    match given {
        None => Ok(vec![1.0; rows]),
        Some([one]) => Ok(vec![*one; rows]),
        Some(margins) if margins.len() == rows => Ok(margins.to_vec()),
        Some(margins) => Err(Error::parameter(
            "margins",
            format!("one number, or {rows}, one for each row"),
            format!("{} numbers", margins.len()),
        )),
    }
}

impl MinimumSquaredErrorClassifier {
    fn rate(&self, step: u64) -> f64 {
        match self.learning_rate {
            WidrowHoffRate::Constant => self.eta0,
            WidrowHoffRate::Invscaling => self.eta0 / step as f64,
        }
    }

    /// The vector, passes made and whether the gradient became small.
    fn widrow_hoff(
        &self,
        reflected: &Reflected,
        b: &[f64],
        data: &Dataset,
        run: &Context,
    ) -> Result<(Vec<f64>, usize, bool)> {
        let rows = reflected.rows();
        let mut a = vec![0.0; rows.ncols()];
        let mut step = 0;
        let total: f64 = (0..b.len()).map(|i| data.weight(i)).sum();
        let mut monitor = run.monitor("Widrow and Hoff's rule", self.max_iter);
        while monitor.advance()? {
            match self.updates {
                WidrowHoffUpdates::Sample => {
                    for (i, b) in b.iter().enumerate() {
                        step += 1;
                        let gap = data.weight(i) * (dot(rows.row(i), &a) - b);
                        add_scaled(&mut a, -self.rate(step) * gap, rows.row(i));
                    }
                }
                WidrowHoffUpdates::Batch => {
                    step += 1;
                    let slope = gradient(reflected, &a, b, data).0;
                    add_scaled(&mut a, -self.rate(step), &slope);
                }
            }
            let (slope, error) = gradient(reflected, &a, b, data);
            monitor.record(error);
            if !error.is_finite() || a.iter().any(|value| !value.is_finite()) {
                return Err(self.diverged(reflected));
            }
            if slope.iter().all(|slope| slope.abs() <= self.tol * total) {
                monitor.converge();
            }
        }
        let ended = monitor.finish();
        Ok((a, ended.n_iter, ended.converged))
    }

    fn diverged(&self, reflected: &Reflected) -> Error {
        let squares = (0..reflected.rows().nrows()).map(|i| reflected.row_square(i));
        let scale = match self.updates {
            WidrowHoffUpdates::Sample => squares.fold(0.0, f64::max),
            WidrowHoffUpdates::Batch => squares.sum(),
        };
        let message =
            format!("the vector grows without bound: steps with eta0={} are too long", self.eta0);
        Error::numeric(message)
            .hint(format!("put StandardScaler in front, or try eta0={:.0e}", 1.0 / scale))
    }
}

/// Yᵀ W (Y a - b), and the weighted sum of squares.
fn gradient(reflected: &Reflected, a: &[f64], b: &[f64], data: &Dataset) -> (Vec<f64>, f64) {
    let mut slope = vec![0.0; a.len()];
    let mut error = 0.0;
    for (i, b) in b.iter().enumerate() {
        let row = reflected.rows().row(i);
        let gap = dot(row, a) - b;
        add_scaled(&mut slope, data.weight(i) * gap, row);
        error += data.weight(i) * gap * gap;
    }
    (slope, error)
}

impl Classifier for MinimumSquaredErrorClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        linear_predict(x, &self.coef, &self.intercept, run)
    }
}

impl MinimumSquaredErrorClassifierModel {
    fn table(&self, names: &Names) -> Answer {
        let says = if self.separates { "separates" } else { "does not separate" };
        let mut report = line_report(
            &format!("Minimum squared error line, {says} the training rows"),
            &self.coef,
            &self.intercept,
            names,
        );
        report.push("squared error", self.squared_error);
        report
    }
}

/// A table of the weights of a line.
pub(super) fn line_report(title: &str, coef: &Matrix, intercept: &[f64], names: &Names) -> Answer {
    let mut report = Answer::new(title.to_string());
    let class = learnt_core::error::plain(&names.class(1));
    let mut table = Columns::new(&format!("score of class {class}"), &["term", "weight"]);
    table.push(vec!["(intercept)".into(), Cell::Number(intercept[0])]);
    for (name, &weight) in names.columns.iter().zip(coef.as_slice()) {
        table.push(vec![name.as_str().into(), Cell::Number(weight)]);
    }
    report.tables.push(table);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_does_not_reach_the_least_squares_vector() {
        let x = Matrix::column_vector(vec![1.0, 2.0, -1.0, -3.0]);
        let data = OwnedDataset::classification(x, &[1, 1, 0, 0].map(Label::Int));
        let exact = MinimumSquaredErrorClassifier::default().fit(&data.view()).unwrap();
        let steps = |learning_rate, eta0, updates| MinimumSquaredErrorClassifier {
            solver: SeparationSolver::WidrowHoff,
            learning_rate,
            eta0,
            updates,
            max_iter: 20_000,
            tol: 0.0,
            ..Default::default()
        };
        let far = |learner: MinimumSquaredErrorClassifier| {
            let model = learner.fit(&data.view()).unwrap();
            let slope = (model.coef[(0, 0)] - exact.coef[(0, 0)]).abs();
            slope.max((model.intercept[0] - exact.intercept[0]).abs())
        };
        let (sample, batch) = (WidrowHoffUpdates::Sample, WidrowHoffUpdates::Batch);
        assert!(far(steps(WidrowHoffRate::Invscaling, 1.0, sample)) < 1e-4);
        assert!(far(steps(WidrowHoffRate::Constant, 0.05, sample)) > 1e-3);
        assert!(far(steps(WidrowHoffRate::Constant, 0.05, batch)) < 1e-9);
    }

    #[test]
    fn steps_that_are_too_long_are_named_with_a_length_that_works() {
        let x = Matrix::column_vector(vec![100.0, 200.0, -100.0, -300.0]);
        let data = OwnedDataset::classification(x, &[1, 1, 0, 0].map(Label::Int));
        let learner = |eta0| MinimumSquaredErrorClassifier {
            solver: SeparationSolver::WidrowHoff,
            learning_rate: WidrowHoffRate::Constant,
            eta0,
            ..Default::default()
        };
        let error = learner(1.0).fit(&data.view()).unwrap_err();
        let hint = error.hint_text().unwrap();
        let rate: f64 = hint.rsplit('=').next().unwrap().parse().unwrap();
        assert!(learner(rate).fit(&data.view()).is_ok());
    }
}
