//! Learning curves: scores in and out of sample against the number of training rows. Validation curves:
//! the same against the values of a parameter.
//!
//! Folds are the usual ones of cross-validation; of the rows of a training part, already shuffled, the
//! first so many are taken, so that larger parts hold the smaller ones. Every fit sees its rows only.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 7.10.

use super::Examples;
use super::examples::fitted;
use crate::Learner;
use crate::metrics::{Metric, Predictions};
use crate::select::{Split, usual_splitter};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::params::{Kind, ParamType};
use learnt_core::prelude::*;

/// Scores of a learner in and out of sample, for growing training parts.
#[derive(Params, Clone, Debug)]
pub struct LearningCurve {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Numbers of training rows; up to 1 they are shares of the training parts.
    #[param(default = vec![0.1, 0.325, 0.55, 0.775, 1.0], above = 0.0)]
    pub train_sizes: Vec<f64>,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

/// Scores for each number of training rows and fold.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LearningCurveScores {
    /// Numbers of training rows.
    pub train_sizes: Vec<u64>,
    /// Scores on the training rows: one row a size, one column a fold.
    pub train_scores: Matrix,
    /// Scores on the test rows: one row a size, one column a fold.
    pub test_scores: Matrix,
}

impl Function for LearningCurve {
    type Inputs<'a> = Examples<'a>;
    type Output = LearningCurveScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.learning_curve", FunctionKind::Analysis)
            .randomness()
            .threads();

    fn call(&self, given: Examples, run: &Context) -> Result<LearningCurveScores> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let splits: Vec<Split> = usual_splitter(&data, self.cv).splits(&data, run)?.collect();
        let smallest = splits.iter().map(|split| split.train.len()).min().unwrap_or(0);
        let mut sizes: Vec<usize> =
            self.train_sizes.iter().map(|&size| rows_of(size, smallest)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(&size) = sizes.iter().find(|&&size| size == 0 || size > smallest) {
            let message = format!("{size} training rows, and the training parts have {smallest}");
            return Err(Error::new(Code::Parameter, message)
                .hint("train_sizes are shares up to 1, or numbers of rows"));
        }
        let learners = vec![self.estimator.clone(); sizes.len()];
        let shuffled: Vec<Split> = splits.iter().map(|split| shuffled(split, run)).collect();
        let scores = scored(&learners, &data, metric, run, sizes.len() * splits.len(), |job| {
            let (size, split) = (sizes[job / splits.len()], &shuffled[job % splits.len()]);
            (job / splits.len(), &split.train[..size], &split.test)
        })?;
        let (train_scores, test_scores) = matrices(&scores, sizes.len(), splits.len());
        let train_sizes = sizes.iter().map(|&size| size as u64).collect();
        Ok(LearningCurveScores { train_sizes, train_scores, test_scores })
    }

    fn chart(&self, found: &LearningCurveScores) -> Option<Chart> {
        let x: Vec<f64> = found.train_sizes.iter().map(|&size| size as f64).collect();
        let panel = panel_of("training rows", x, &found.train_scores, &found.test_scores);
        let about = "Mean score on training and test rows against the number of training rows, with one standard deviation.";
        Some(Chart::new("Learning curve", about).panel(panel))
    }
}

fn rows_of(size: f64, available: usize) -> usize {
    match size <= 1.0 {
        true => (size * available as f64).round().max(1.0) as usize,
        false => size as usize,
    }
}

/// The split with its training rows in random order.
fn shuffled(split: &Split, run: &Context) -> Split {
    let mut train = split.train.clone();
    learnt_core::stats::sample::shuffle(&mut run.rng(1), &mut train);
    Split { train, test: split.test.clone() }
}

/// The values that a parameter is tried with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(pub Vec<Value>);

impl ParamType for Values {
    fn kind() -> Kind {
        Kind::List(Box::new(Kind::Any("a value")))
    }
    fn to_value(&self) -> Value {
        Value::List(self.0.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(values) => Some(Values(values.clone())),
            _ => None,
        }
    }
}

/// Scores of a learner in and out of sample, for values of one parameter.
#[derive(Params, Clone, Debug)]
pub struct ValidationCurve {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Name of the parameter; `a__b` reaches inside.
    #[param(required)]
    pub param_name: String,
    /// Values that it is tried with.
    #[param(required)]
    pub param_range: Values,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

/// Scores for each value and fold.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ValidationCurveScores {
    /// Scores on the training rows: one row a value, one column a fold.
    pub train_scores: Matrix,
    /// Scores on the test rows: one row a value, one column a fold.
    pub test_scores: Matrix,
}

impl Function for ValidationCurve {
    type Inputs<'a> = Examples<'a>;
    type Output = ValidationCurveScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.validation_curve", FunctionKind::Analysis)
            .randomness()
            .threads();

    fn call(&self, given: Examples, run: &Context) -> Result<ValidationCurveScores> {
        let set = |value: &Value| {
            let mut learner = self.estimator.clone();
            learner.0.set(&self.param_name, value)?;
            learner.check()?;
            Ok(learner)
        };
        let learners: Vec<Learner> = self.param_range.0.iter().map(set).collect::<Result<_>>()?;
        if learners.is_empty() {
            return Err(Error::parameter("param_range", "at least one value", "none"));
        }
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let splits: Vec<Split> = usual_splitter(&data, self.cv).splits(&data, run)?.collect();
        let scores = scored(&learners, &data, metric, run, learners.len() * splits.len(), |job| {
            let split = &splits[job % splits.len()];
            (job / splits.len(), &split.train, &split.test)
        })?;
        let (train_scores, test_scores) = matrices(&scores, learners.len(), splits.len());
        Ok(ValidationCurveScores { train_scores, test_scores })
    }

    fn chart(&self, found: &ValidationCurveScores) -> Option<Chart> {
        let numbers: Option<Vec<f64>> = self.param_range.0.iter().map(Value::as_real).collect();
        let x =
            numbers.unwrap_or_else(|| (1..=self.param_range.0.len()).map(|i| i as f64).collect());
        let panel = panel_of(&self.param_name, x, &found.train_scores, &found.test_scores);
        let about = "Mean score on training and test rows against the values of the parameter, with one standard deviation.";
        Some(Chart::new("Validation curve", about).panel(panel))
    }
}

/// Scores in and out of sample of every job, in order: which learner, its training and its test rows.
fn scored<'s>(
    learners: &[Learner],
    data: &Dataset,
    metric: &'static Metric,
    run: &Context,
    jobs: usize,
    of: impl Fn(usize) -> (usize, &'s [usize], &'s [usize]) + Sync,
) -> Result<Vec<(f64, f64)>> {
    run.claim(16 * (data.nrows() * data.x.ncols()) as u64, "the rows of a fold")?;
    run.try_par_map(jobs, |job| {
        let run = run.child(job as u64).with_threads(1);
        let (learner, train, test) = of(job);
        let learner = &learners[learner];
        let model = fitted(learner, data, train, &run)?;
        let score = |rows: &[usize]| {
            let part = data.gather(rows);
            let said = Predictions::of(model.as_ref(), &part.view().x, &run)?;
            metric.score(&said.with_truth(&part.view()), &run)
        };
        Ok((score(train)?, score(test)?))
    })
}

fn matrices(scores: &[(f64, f64)], rows: usize, columns: usize) -> (Matrix, Matrix) {
    (
        Matrix::from_fn(rows, columns, |i, j| scores[i * columns + j].0),
        Matrix::from_fn(rows, columns, |i, j| scores[i * columns + j].1),
    )
}

fn panel_of(label: &str, x: Vec<f64>, train: &Matrix, test: &Matrix) -> Panel {
    let mut panel = Panel::new(label, "score");
    for (name, scores) in [("training rows", train), ("test rows", test)] {
        let summary = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let square = row.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / row.len() as f64;
            (mean, square.sqrt())
        };
        let found: Vec<(f64, f64)> = scores.rows().map(summary).collect();
        let line = |f: fn(&(f64, f64)) -> f64| found.iter().map(f).collect::<Vec<f64>>();
        panel = panel
            .mark(Mark::band(name, x.clone(), line(|s| s.0 - s.1), line(|s| s.0 + s.1)))
            .mark(Mark::line(name, x.clone(), line(|s| s.0)));
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearRegression, Ridge};
    use learnt_core::stats::sample;

    /// Five Gaussian inputs that say nothing of a target of unit noise.
    fn linear(n: usize) -> (Table, Vec<f64>) {
        let mut rng = Context::default().with_seed(5).rng(0);
        let x = Matrix::from_fn(n, 5, |_, _| sample::standard_normal(&mut rng));
        let y = (0..n).map(|_| sample::standard_normal(&mut rng)).collect();
        (Table::unnamed(x), y)
    }

    fn coded(y: &[f64]) -> (Vec<u32>, Vec<Label>) {
        Label::encode(&y.iter().map(|&y| Label::Real(y)).collect::<Vec<_>>())
    }

    #[test]
    fn errors_meet_as_rows_are_added() {
        let (x, y) = linear(4000);
        let (codes, classes) = coded(&y);
        let curve = LearningCurve {
            estimator: LinearRegression { fit_intercept: false, ..Default::default() }.into(),
            train_sizes: vec![10.0, 40.0, 100.0],
            cv: 40,
            scoring: Some("mse".into()),
        };
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: x.frame(), y, sample_weight: None };
        let found = curve.compute(given).unwrap();
        assert_eq!(found.train_sizes, [10, 40, 100]);
        let mean = |m: &Matrix, i: usize| m.row(i).iter().sum::<f64>() / 40.0;
        // 1 - p/N and 1 + p/(N - p - 1), over 40 draws of the training rows.
        for (i, (n, room)) in [(10.0, 0.7), (40.0, 0.1), (100.0, 0.06)].into_iter().enumerate() {
            assert!((mean(&found.train_scores, i) - (1.0 - 5.0 / n)).abs() < 0.12, "{found:?}");
            let out = 1.0 + 5.0 / (n - 6.0);
            assert!((mean(&found.test_scores, i) - out).abs() < room, "{n}: {found:?}");
        }
    }

    #[test]
    fn training_scores_fall_with_the_penalty() {
        let (x, y) = linear(60);
        let (codes, classes) = coded(&y);
        let curve = ValidationCurve {
            estimator: Ridge::default().into(),
            param_name: "alpha".into(),
            param_range: Values([0.01, 1.0, 100.0].map(Value::Real).to_vec()),
            ..Default::default()
        };
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: x.frame(), y, sample_weight: None };
        let found = curve.compute(given).unwrap();
        let mean = |i: usize| found.train_scores.row(i).iter().sum::<f64>();
        assert!(mean(0) > mean(1) && mean(1) > mean(2));
        let wrong = ValidationCurve { param_name: "alhpa".into(), ..curve };
        assert!(wrong.compute(given).unwrap_err().to_string().contains("alpha"));
    }
}
