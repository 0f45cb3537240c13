//! Comparison: several learners on the same folds, with a baseline, tests against the best, and the
//! simplest that is not worse.
//!
//! The corrected resampled t test of Nadeau and Bengio (2003) compares fold by fold:
//! t = d̄ / √((1/k + n_test/n_train) s²) with k - 1 degrees of freedom, where the second term stands
//! for the overlap of the training sets. A candidate that fails in any fold keeps its row, with the
//! reason, after the others; no row is ever left out.

use super::cross_validate::{CrossValidation, Ended, Entrant, Manner, Trials};
use super::folds::{Split, Splitter};
use super::paired_tests::corrected_t_test;
use super::preparation::{Request, standard_preparation};
use super::scoring::Scoring;
use crate::metrics::{Metric, Task};
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// A learner to be compared.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What its row is called.
    pub name: String,
    /// What is fitted in front of it on the training rows of each fold; candidates with the same
    /// preparation share it.
    pub preparation: Option<Box<dyn AnyEstimator>>,
    /// The learner.
    pub learner: Box<dyn AnyEstimator>,
    /// Order of simplicity, lower is simpler; that of the last step for a pipeline.
    pub complexity: u8,
}

impl Candidate {
    /// A learner with its own name and complexity.
    pub fn new(learner: Box<dyn AnyEstimator>) -> Self {
        let about = learner.about();
        Candidate {
            name: about.command(),
            preparation: None,
            complexity: about.complexity,
            learner,
        }
    }

    /// The same behind its standard preparation, where it needs one.
    pub fn prepared(
        learner: Box<dyn AnyEstimator>,
        schema: &Schema,
        request: Request,
    ) -> Result<Self> {
        let spec = standard_preparation(learner.as_ref(), schema, request);
        let preparation = spec.map(|spec| crate::build(&spec)).transpose()?;
        Ok(Candidate { preparation, ..Candidate::new(learner) })
    }
}

/// The table of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was measured; the first metric decides.
    pub metrics: Vec<&'static Metric>,
    /// The best first; rows without a mean last, in the order of the candidates.
    pub rows: Vec<Row>,
    /// Position of the simplest row within one standard error of the best.
    pub simplest: Option<usize>,
}

/// One candidate.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Order of simplicity.
    pub complexity: u8,
    /// Whether it looks at the target alone.
    pub baseline: bool,
    /// The folds, or why the learner could not start.
    pub result: Result<CrossValidation>,
    /// Two-sided p-value of the difference from the best row; `None` for that row itself, for a
    /// row without a mean and for fewer than two folds.
    pub p_value: Option<f64>,
}

impl Row {
    /// The mean of the m-th metric, if every fold has a score.
    pub fn mean(&self, m: usize) -> Option<f64> {
        self.result.as_ref().ok()?.mean(m)
    }

    /// The standard error of the m-th metric over the folds.
    pub fn standard_error(&self, m: usize) -> Option<f64> {
        self.result.as_ref().ok()?.standard_error(m)
    }

    /// The class that is predicted for every test row, where these have several.
    pub fn only_class(&self) -> Option<usize> {
        let counts = self.result.as_ref().ok()?.confusion()?;
        let all = counts.total();
        let only = (0..counts.classes()).find(|&k| all > 0.0 && counts.predicted(k) == all);
        only.filter(|&k| counts.actual(k) < all)
    }

    /// Why there is no mean of the first metric: in how many folds, and the first reason.
    pub fn failure(&self) -> Option<(usize, &Error)> {
        match &self.result {
            Err(error) => Some((0, error)),
            Ok(cv) => cv.failed().or_else(|| cv.unscored(0)),
        }
    }
}

/// The learners for the target's task: those that are named, or all that suit it. Composed ones have no
/// parts of their own to compare.
pub fn contenders(data: &Dataset, only: &[String], skip: &[String]) -> Result<Vec<&'static Entry>> {
    let task = Task::of(data);
    let positive = above_zero(data);
    let two_classes = matches!(data.y, Some(Target::Class { classes, .. }) if classes.len() == 2);
    let plays = |roles: Roles| match task {
        Task::Classification => roles.classifier,
        _ => roles.regressor,
    };
    let several = matches!(data.y, Some(Target::Real(y)) if y.ncols() > 1);
    let suits = |about: &About| match task {
        Task::Classification => two_classes || !about.roles.two_classes,
        _ => (positive || !about.positive_target) && (!several || about.accepts.many_outputs),
    };
    let resolve = |name: &String| {
        let found = crate::find_all(name);
        let first = found.iter().find(|entry| plays(entry.about.roles)).or(found.first());
        first.map(|entry| entry.about.path).ok_or_else(|| crate::unknown_learner(name))
    };
    let asked = only;
    let only = only.iter().map(resolve).collect::<Result<Vec<_>>>()?;
    let skip = skip.iter().map(resolve).collect::<Result<Vec<_>>>()?;
    let wanted = |entry: &&'static Entry| {
        let about = entry.about;
        let chosen = match only.is_empty() {
            true => suits(about) && !about.only_by_name,
            false => only.contains(&about.path),
        };
        plays(about.roles) && chosen && !skip.contains(&about.path)
    };
    let unable = |path: &&str| {
        crate::entries().any(|entry| entry.about.path == *path && !plays(entry.about.roles))
    };
    match asked.iter().zip(&only).find(|(_, path)| unable(path)) {
        Some((name, _)) => Err(no_contender(name, task)),
        None => Ok(crate::entries().filter(wanted).collect()),
    }
}

/// The error of a learner that was asked for and cannot learn the target.
fn no_contender(name: &str, task: Task) -> Error {
    let (is, role) = match task {
        Task::Classification => ("has classes", "classifier"),
        _ => ("is numeric", "regressor"),
    };
    let message = format!("the target {is}, and '{}' is no {role}", plain(name));
    Error::new(Code::Target, message)
        .hint(format!("`learnt list learners --role {role}` names those that can be compared"))
}

/// Whether every number of the target is above zero.
fn above_zero(data: &Dataset) -> bool {
    match data.y {
        Some(Target::Real(y)) => (0..y.nrows()).all(|i| (0..y.ncols()).all(|j| y.at(i, j) > 0.0)),
        _ => false,
    }
}

/// Cross-validates every candidate on the same splits; a baseline is added unless one is there.
pub fn compare<'a>(
    candidates: &[Candidate],
    data: &Dataset,
    splitter: &Splitter,
    scoring: impl Into<Scoring<'a>>,
    run: &Context,
) -> Result<Comparison> {
    let scoring = scoring.into();
    let metrics = scoring.metrics;
    if metrics.is_empty() {
        return Err(Error::new(Code::Usage, "a comparison needs a metric"));
    }
    let mut candidates = candidates.to_vec();
    if !candidates.iter().any(is_baseline) {
        candidates.extend(baseline(Task::of(data)));
    }
    let splits: Vec<Split> = splitter.splits(data, run)?.collect();
    let checked: Vec<Result<()>> = candidates.iter().map(check).collect();
    let entrants: Vec<Entrant> = candidates
        .iter()
        .zip(&checked)
        .filter(|(_, checked)| checked.is_ok())
        .map(|(candidate, _)| Entrant {
            preparation: candidate.preparation.as_deref(),
            learner: candidate.learner.as_ref(),
        })
        .collect();
    let fitted = candidates.iter().zip(&checked).filter(|(_, checked)| checked.is_ok());
    let names = fitted.map(|(candidate, _)| candidate.name.clone()).collect();
    let ledger = &Ended::new(names, splits.len(), run);
    let manner = Manner::default();
    let trials = Trials { entrants: &entrants, data, splits: &splits, scoring, ledger, manner };
    let mut results = trials.run(run)?.into_iter();
    let mut rows = Vec::with_capacity(candidates.len());
    for (candidate, checked) in candidates.iter().zip(checked) {
        let mut next =
            || results.next().ok_or_else(|| Error::internal("a candidate without result"));
        rows.push(Row {
            name: candidate.name.clone(),
            complexity: candidate.complexity,
            baseline: is_baseline(candidate),
            result: checked.and_then(|()| next()),
            p_value: None,
        });
    }
    Ok(Comparison::ranked(rows, metrics))
}

/// Refuses parameters out of bounds before any fit.
fn check(candidate: &Candidate) -> Result<()> {
    for learner in candidate.preparation.iter().chain([&candidate.learner]) {
        learner.check().map_err(|error| error.within(learner.about().name()))?;
    }
    Ok(())
}

fn is_baseline(candidate: &Candidate) -> bool {
    candidate.learner.about().baseline
}

/// The registry's baseline for a task.
fn baseline(task: Task) -> Option<Candidate> {
    let fits = |roles: Roles| match task {
        Task::Classification => roles.classifier,
        Task::Regression => roles.regressor,
        Task::Unsupervised => false,
    };
    let entry = crate::entries().find(|entry| entry.about.baseline && fits(entry.about.roles))?;
    let learner = (entry.build)();
    Some(Candidate { name: "baseline".to_string(), preparation: None, complexity: 0, learner })
}

/// Sorts the rows by the first metric, the best first; rows without a mean last.
fn sort(rows: &mut [Row], metric: &Metric) {
    // The sort is stable, so equal means keep the order of the candidates.
    rows.sort_by(|a, b| match (a.mean(0), b.mean(0)) {
        (Some(x), Some(y)) if metric.better(x, y) => std::cmp::Ordering::Less,
        (Some(x), Some(y)) if metric.better(y, x) => std::cmp::Ordering::Greater,
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
}

fn versus(a: &CrossValidation, b: &CrossValidation) -> Option<f64> {
    let (x, y) = (a.complete(0)?, b.complete(0)?);
    let differences: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
    let sum = |f: fn(&super::Fold) -> usize| a.folds.iter().map(f).sum::<usize>() as f64;
    corrected_t_test(&differences, sum(|fold| fold.test_rows) / sum(|fold| fold.train_rows))
        .map(|(_, p)| p)
}

/// The row of lowest complexity whose mean is within one standard error of the best; the better of
/// equals.
fn simplest(rows: &[Row], metric: &Metric) -> Option<usize> {
    let best = rows.first()?;
    let (mean, error) = (best.mean(0)?, best.standard_error(0).unwrap_or(0.0));
    let near = |row: &Row| {
        row.mean(0).is_some_and(|value| (value - mean).abs() <= error || metric.better(value, mean))
    };
    (0..rows.len()).filter(|&i| near(&rows[i])).min_by_key(|&i| (rows[i].complexity, i))
}

impl Comparison {
    /// Rows that were scored on the same splits: sorted, tested against the best, with the simplest
    /// good one. There must be a metric.
    pub fn ranked(mut rows: Vec<Row>, metrics: &[&'static Metric]) -> Comparison {
        let metric = metrics[0];
        sort(&mut rows, metric);
        let best = rows.first().and_then(|row| row.result.as_ref().ok()).cloned();
        for (i, row) in rows.iter_mut().enumerate() {
            let pair = best.as_ref().zip(row.result.as_ref().ok()).filter(|_| i > 0);
            row.p_value = pair.and_then(|(a, b)| versus(a, b));
        }
        let simplest = simplest(&rows, metric);
        Comparison { metrics: metrics.to_vec(), rows, simplest }
    }

    /// Rows without a mean of the first metric.
    pub fn failures(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.mean(0).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{DummyClassifier, DummyRegressor};
    use crate::metrics::find;
    use crate::prepare::StandardScaler;

    fn data() -> OwnedDataset {
        let y = (0..40).map(|i| f64::from(i * i % 17)).collect();
        OwnedDataset::regression(Matrix::from_fn(40, 1, |i, _| i as f64), y)
    }

    fn folds() -> Splitter {
        Splitter::KFold { n_splits: 5, shuffle: true }
    }

    #[test]
    fn identical_learners_differ_by_nothing() {
        let one = Candidate::new(Box::new(DummyRegressor::default()));
        let twin = Candidate { name: "twin".to_string(), ..one.clone() };
        let metrics = [find("rmse").unwrap()];
        let table =
            compare(&[one, twin], &data().view(), &folds(), &metrics, &Context::default()).unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[1].p_value, Some(1.0));
        assert_eq!(table.simplest, Some(0));
    }

    #[test]
    fn a_failing_candidate_keeps_its_row_and_a_baseline_is_added() {
        let wrong =
            Candidate { complexity: 9, ..Candidate::new(Box::new(StandardScaler::default())) };
        let metrics = [find("rmse").unwrap()];
        let table =
            compare(&[wrong], &data().view(), &folds(), &metrics, &Context::default()).unwrap();
        assert_eq!(table.rows.len(), 2);
        assert!(table.rows[0].baseline);
        assert_eq!(table.failures().count(), 1);
        assert!(table.report().notes[1].contains("standard-scaler failed in 5 of 5 folds"));
    }

    #[test]
    fn the_simplest_row_within_one_standard_error_is_named() {
        let constant = |name: &str, complexity, value| Candidate {
            name: name.to_string(),
            complexity,
            preparation: None,
            learner: Box::new(DummyRegressor {
                strategy: crate::baseline::RegressorStrategy::Constant,
                constant: Some(vec![value]),
                ..Default::default()
            }),
        };
        let candidates =
            [constant("best", 50, 8.0), constant("near", 20, 7.5), constant("far", 1, 40.0)];
        let metrics = [find("mae").unwrap()];
        let table =
            compare(&candidates, &data().view(), &folds(), &metrics, &Context::default()).unwrap();
        assert_eq!(table.rows[table.simplest.unwrap()].name, "near");
        assert_eq!(table.rows[2].name, "far");
        assert!(table.rows[2].p_value.unwrap() < 0.05);
    }

    #[test]
    fn a_shared_preparation_gives_the_scores_of_a_pipeline() {
        use crate::compose::Pipeline;
        use crate::linear::Ridge;
        let scaler = StandardScaler::default;
        let ridge = |alpha: f64| Ridge { alpha, ..Default::default() };
        let candidate = |name: &str, preparation: Option<Box<dyn AnyEstimator>>, learner| {
            Candidate { name: name.to_string(), preparation, learner, complexity: 1 }
        };
        let prepared = |name: &str, alpha: f64| {
            candidate(name, Some(Box::new(scaler())), Box::new(ridge(alpha)))
        };
        let whole = Pipeline::default().then("scale", scaler()).then("model", ridge(3.0));
        let candidates = [
            prepared("one", 30.0),
            prepared("two", 3.0),
            candidate("whole", None, Box::new(whole)),
        ];
        let metrics = [find("rmse").unwrap()];
        let scores = |threads: usize| {
            let run = Context::default().with_threads(threads);
            let table = compare(&candidates, &data().view(), &folds(), &metrics, &run).unwrap();
            let of = |name: &str| {
                let row = table.rows.iter().find(|row| row.name == name).unwrap();
                row.result.as_ref().unwrap().complete(0).unwrap()
            };
            assert_eq!(of("two"), of("whole"));
            assert_ne!(of("one"), of("two"));
            of("one")
        };
        assert_eq!(scores(1), scores(4));
    }

    #[test]
    fn every_form_of_a_comparison_has_its_columns() {
        let one = Candidate::new(Box::new(DummyRegressor::default()));
        let wrong = Candidate::new(Box::new(StandardScaler::default()));
        let metrics = [find("rmse").unwrap(), find("r2").unwrap()];
        let run = Context::default();
        let answer = compare(&[one, wrong], &data().view(), &folds(), &metrics, &run).unwrap();
        let answer = answer.report();
        let names: Vec<&str> = answer.tables[0].columns.iter().map(|c| c.name.as_str()).collect();
        let expected =
            ["model", "rmse", "rmse_se", "r2", "r2_se", "fit_seconds", "p_value", "note"];
        assert_eq!(names, expected);
        let rows = &answer.to_json()["tables"][0]["rows"];
        assert_eq!(rows[0]["note"], "best baseline");
        assert!(rows[0]["rmse"].is_number() && rows[1]["rmse"].is_null());
        assert_eq!(rows[1]["rmse_why"], "this score needs predicted numbers");
        assert!(answer.to_text().contains("±") && !answer.to_text().contains("rmse_se"));
        assert!(answer.to_csv().starts_with("model,rmse,rmse_se,"));
        assert_eq!(answer.charts.len(), 1);
    }

    #[test]
    fn contenders_suit_the_task_and_names_choose_them() {
        let names = |only: &[&str], skip: &[&str]| -> Vec<&'static str> {
            let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
            let owned = data();
            let found = contenders(&owned.view(), &words(only), &words(skip)).unwrap();
            found.iter().map(|entry| entry.about.name()).collect()
        };
        assert!(names(&[], &[]).contains(&"Ridge") && !names(&[], &[]).contains(&"GaussianNB"));
        assert!(!names(&[], &["ridge"]).contains(&"Ridge"));
        assert_eq!(names(&["tree"], &[]), ["DecisionTreeRegressor"]);
        // The target has zeros, so learners of positive numbers are left out unless they are named.
        assert!(!names(&[], &[]).contains(&"GammaRegressor"));
        assert_eq!(names(&["gamma-regressor"], &[]), ["GammaRegressor"]);
    }

    #[test]
    fn too_many_stratified_folds_are_refused_by_class_and_count() {
        let labels: Vec<Label> = (0..30).map(|i| Label::Int(i64::from(i < 3))).collect();
        let data = OwnedDataset::classification(Matrix::zeros(30, 1), &labels);
        let splitter = Splitter::StratifiedKFold { n_splits: 10, shuffle: true };
        let metrics = [find("accuracy").unwrap()];
        let candidate = Candidate::new(Box::new(DummyClassifier::default()));
        let error = compare(&[candidate], &data.view(), &splitter, &metrics, &Context::default())
            .unwrap_err();
        assert_eq!(error.code(), Code::TooFew);
        assert!(error.message().contains("class '1' has 3 rows"), "{error}");
    }
}
