//! Learning curves: scores in and out of sample against the number of training rows. Validation curves:
//! the same against the values of a parameter.
//!
//! Folds are the usual ones of cross-validation, or of the kind that is named. Of the rows of a training part,
//! shuffled, the first so many are taken, so that larger parts hold the smaller ones; of splits in time the last
//! so many before the test rows. Every fit sees its rows only.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 7.10.

use super::GroupedExamples;
use super::examples::{fitted, metric_for};
use crate::Learner;
use crate::metrics::{Metric, Predictions};
use crate::select::{Split, Splitter, usual_splitter};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::function::Task;
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
    /// How rows are divided: k-fold, stratified, group, stratified-group, leave-one-out, leave-one-group-out,
    /// shuffle or time. By default whole groups where there are some, else stratified for classes, else k-fold.
    pub split: Option<String>,
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
    type Inputs<'a> = GroupedExamples<'a>;
    type Output = LearningCurveScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.learning_curve", FunctionKind::Analysis)
            .randomness()
            .threads();

    fn call(&self, given: GroupedExamples, run: &Context) -> Result<LearningCurveScores> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        self.on(&data, &splitter(self.split.as_deref(), &data, self.cv)?, run)
    }

    fn chart(&self, found: &LearningCurveScores) -> Option<Chart> {
        let x: Vec<f64> = found.train_sizes.iter().map(|&size| size as f64).collect();
        let panel = panel_of("training rows", x, &found.train_scores, &found.test_scores);
        let about = "Mean score on training and test rows against the number of training rows, with one standard deviation.";
        Some(Chart::new("Learning curve", about).panel(panel))
    }
}

impl LearningCurve {
    /// The curve of rows with their target, divided by a splitter.
    pub fn on(
        &self,
        data: &Dataset,
        splitter: &Splitter,
        run: &Context,
    ) -> Result<LearningCurveScores> {
        let metric = metric_for(Task::of(data), self.scoring.as_deref())?;
        let splits: Vec<Split> = splitter.splits(data, run)?.collect();
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
        let in_time = matches!(splitter, Splitter::TimeSeriesSplit(_));
        let ordered = |split: &Split| match in_time {
            true => Split { train: split.train.iter().rev().copied().collect(), ..split.clone() },
            false => shuffled(split, run),
        };
        let ordered: Vec<Split> = splits.iter().map(ordered).collect();
        let scores = scored(&learners, data, metric, run, sizes.len() * splits.len(), |job| {
            let (size, split) = (sizes[job / splits.len()], &ordered[job % splits.len()]);
            (job / splits.len(), &split.train[..size], &split.test)
        })?;
        let (train_scores, test_scores) = matrices(&scores, sizes.len(), splits.len());
        let train_sizes = sizes.iter().map(|&size| size as u64).collect();
        Ok(LearningCurveScores { train_sizes, train_scores, test_scores })
    }
}

/// The splitter of a name, or the usual one.
fn splitter(name: Option<&str>, data: &Dataset, splits: usize) -> Result<Splitter> {
    name.map_or_else(|| Ok(usual_splitter(data, splits)), |name| Splitter::named(name, splits))
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

impl Values {
    /// The learner with each of them for the parameter of this name.
    pub(super) fn learners(&self, learner: &Learner, name: &str) -> Result<Vec<Learner>> {
        let set = |value: &Value| {
            let mut learner = learner.clone();
            learner.0.set(name, value)?;
            learner.check()?;
            Ok(learner)
        };
        self.0.iter().map(set).collect()
    }
}

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
    /// How rows are divided: k-fold, stratified, group, stratified-group, leave-one-out, leave-one-group-out,
    /// shuffle or time. By default whole groups where there are some, else stratified for classes, else k-fold.
    pub split: Option<String>,
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
    type Inputs<'a> = GroupedExamples<'a>;
    type Output = ValidationCurveScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.validation_curve", FunctionKind::Analysis)
            .randomness()
            .threads();

    fn call(&self, given: GroupedExamples, run: &Context) -> Result<ValidationCurveScores> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        self.on(&data, &splitter(self.split.as_deref(), &data, self.cv)?, run)
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

impl ValidationCurve {
    /// The curve of rows with their target, divided by a splitter.
    pub fn on(
        &self,
        data: &Dataset,
        splitter: &Splitter,
        run: &Context,
    ) -> Result<ValidationCurveScores> {
        let learners = self.param_range.learners(&self.estimator, &self.param_name)?;
        if learners.is_empty() {
            return Err(Error::parameter("param_range", "at least one value", "none"));
        }
        let metric = metric_for(Task::of(data), self.scoring.as_deref())?;
        let splits: Vec<Split> = splitter.splits(data, run)?.collect();
        let scores = scored(&learners, data, metric, run, learners.len() * splits.len(), |job| {
            let split = &splits[job % splits.len()];
            (job / splits.len(), &split.train, &split.test)
        })?;
        let (train_scores, test_scores) = matrices(&scores, learners.len(), splits.len());
        Ok(ValidationCurveScores { train_scores, test_scores })
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
            split: None,
        };
        let y = Classes { codes: &codes, classes: &classes };
        let given = GroupedExamples { x: x.frame(), y, sample_weight: None, groups: None };
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
        let given = GroupedExamples { x: x.frame(), y, sample_weight: None, groups: None };
        let found = curve.compute(given).unwrap();
        let mean = |i: usize| found.train_scores.row(i).iter().sum::<f64>();
        assert!(mean(0) > mean(1) && mean(1) > mean(2));
        let wrong = ValidationCurve { param_name: "alhpa".into(), ..curve };
        assert!(wrong.compute(given).unwrap_err().to_string().contains("alpha"));
    }

    #[test]
    fn groups_stay_whole_and_are_no_classes() {
        // Rows of a group are equal, so that one neighbour is right only if a group was divided.
        let x = Table::unnamed(Matrix::from_fn(40, 1, |i, _| (i / 2) as f64));
        let own = |i: usize| Label::Text(["no", "yes"][(i / 2) % 2].to_string());
        let group = |i: usize| Label::Text(format!("group {}", i / 2));
        let all: Vec<Label> = (0..40).map(own).chain((0..40).map(group)).collect();
        let (codes, classes) = Label::encode(&all);
        let given = |groups: bool| GroupedExamples {
            x: x.frame(),
            y: Classes { codes: &codes[..40], classes: &classes },
            sample_weight: None,
            groups: groups.then_some(Classes { codes: &codes[40..], classes: &classes }),
        };
        let nearest =
            crate::neighbors::KNeighborsClassifier { n_neighbors: 1, ..Default::default() };
        let curve = LearningCurve {
            estimator: nearest.into(),
            train_sizes: vec![1.0],
            ..Default::default()
        };
        let mean = |curve: &LearningCurve, groups: bool| {
            let found = curve.compute(given(groups)).unwrap();
            found.test_scores.row(0).iter().sum::<f64>() / found.test_scores.ncols() as f64
        };
        assert!(mean(&curve, false) > 0.6);
        assert_eq!(mean(&curve, true), 0.0);
        let named = LearningCurve { split: Some("group".into()), ..curve.clone() };
        assert_eq!(mean(&named, true), 0.0);
        let wrong = LearningCurve { split: Some("groop".into()), ..curve };
        assert!(wrong.compute(given(true)).unwrap_err().to_string().contains("group"));
    }
}
