//! Cross-validation: fit on the training rows of each split, score on its test rows.
//!
//! A fit or a score that fails is kept with its reason; only a stop by the user ends the whole.
//! The standard error over folds is sd / √k with divisor k - 1. Folds run in parallel, each in a
//! child run of its own seed, so any number of threads gives the same scores.

use super::folds::{Split, Splitter};
use crate::metrics::{Metric, Predictions, Task};
use learnt_core::context::Recorder;
use learnt_core::error::Warning;
use learnt_core::prelude::*;
use learnt_core::stats::summary;
use learnt_core::trained::check_rows;
use std::time::Instant;

/// The scores of a learner on every split.
#[derive(Clone, Debug)]
pub struct CrossValidation {
    /// What was measured.
    pub metrics: Vec<&'static Metric>,
    /// One entry a split.
    pub folds: Vec<Fold>,
}

/// One split.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Number of training rows.
    pub train_rows: usize,
    /// Number of test rows.
    pub test_rows: usize,
    /// What came of it, or why the fit failed.
    pub result: Result<Scored>,
    /// What the user should know about the fit.
    pub warnings: Vec<Warning>,
}

/// A fit and its scores.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The scores in the order of the metrics, or why there is none.
    pub scores: Vec<Result<f64>>,
    /// Seconds to fit.
    pub fit_seconds: f64,
    /// Seconds to predict and score.
    pub score_seconds: f64,
    /// Whether the fit met its convergence criterion.
    pub converged: bool,
}

/// The usual folds: of whole groups or sequences if there are any, stratified for classes, else shuffled.
pub fn usual_splitter(data: &Dataset, n_splits: usize) -> Splitter {
    match (data.groups.is_some() || data.sequences.is_some(), Task::of(data)) {
        (true, _) => Splitter::GroupKFold { n_splits },
        (false, Task::Classification) => Splitter::StratifiedKFold { n_splits, shuffle: true },
        (false, _) => Splitter::KFold { n_splits, shuffle: true },
    }
}

/// Fits and scores the learner on every split.
pub fn cross_validate(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    splits: &[Split],
    metrics: &[&'static Metric],
    run: &Context,
) -> Result<CrossValidation> {
    learner.check().map_err(|error| error.within(learner.about().name()))?;
    let folds = run.try_par_map(splits.len(), |k| {
        one_fold(learner, data, &splits[k], metrics, &run.child(k as u64))
    })?;
    Ok(CrossValidation { metrics: metrics.to_vec(), folds })
}

fn one_fold(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    split: &Split,
    metrics: &[&'static Metric],
    run: &Context,
) -> Result<Fold> {
    let recorder = Recorder::new(run.observer());
    let watched = run.observed_by(&recorder);
    let result = match fit_and_score(learner, data, split, metrics, &watched) {
        Err(error) if error.code() == Code::Cancelled => return Err(error),
        other => other,
    };
    Ok(Fold {
        train_rows: split.train.len(),
        test_rows: split.test.len(),
        result,
        warnings: recorder.warnings(),
    })
}

fn fit_and_score(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    split: &Split,
    metrics: &[&'static Metric],
    run: &Context,
) -> Result<Scored> {
    let mut train = data.gather(&split.train);
    if !learner.any_accepts().weights {
        train.weights = None;
    }
    let test = data.gather(&split.test);
    let start = Instant::now();
    let model = learner.fit_any(&train.view(), run)?;
    let fitted = Instant::now();
    check_rows(learner.about(), model.as_ref(), &test.x.frame(), run)?;
    let predictions = Predictions::of(model.as_ref(), &test.x.frame(), run)?;
    let view = test.view();
    let outcome = predictions.with_truth(&view);
    let scores = metrics.iter().map(|metric| metric.score(&outcome, run)).collect();
    Ok(Scored {
        scores,
        fit_seconds: (fitted - start).as_secs_f64(),
        score_seconds: fitted.elapsed().as_secs_f64(),
        converged: model.converged(),
    })
}

impl CrossValidation {
    /// The scores of the m-th metric, fold by fold; `None` where there is none.
    pub fn scores(&self, m: usize) -> Vec<Option<f64>> {
        let score = |fold: &Fold| fold.result.as_ref().ok()?.scores.get(m)?.as_ref().ok().copied();
        self.folds.iter().map(score).collect()
    }

    /// The scores of the m-th metric if every fold has one.
    pub fn complete(&self, m: usize) -> Option<Vec<f64>> {
        self.scores(m).into_iter().collect::<Option<Vec<f64>>>().filter(|all| !all.is_empty())
    }

    /// The mean of the m-th metric, if every fold has a score.
    pub fn mean(&self, m: usize) -> Option<f64> {
        summary::mean(&self.complete(m)?, None)
    }

    /// The standard error of that mean over the folds; `None` for a single fold.
    pub fn standard_error(&self, m: usize) -> Option<f64> {
        let scores = self.complete(m)?;
        Some(summary::sd(&scores, None, 1.0)? / (scores.len() as f64).sqrt())
    }

    /// The median of the seconds to fit.
    pub fn fit_seconds(&self) -> Option<f64> {
        let seconds = |fold: &Fold| Some(fold.result.as_ref().ok()?.fit_seconds);
        summary::median(&self.folds.iter().filter_map(seconds).collect::<Vec<f64>>())
    }

    /// How many fits failed, and why the first did.
    pub fn failed(&self) -> Option<(usize, &Error)> {
        let mut errors = self.folds.iter().filter_map(|fold| fold.result.as_ref().err());
        let first = errors.next()?;
        Some((1 + errors.count(), first))
    }

    /// In how many folds the m-th metric has no score although the fit went well, and why.
    pub fn unscored(&self, m: usize) -> Option<(usize, &Error)> {
        let results = self.folds.iter().filter_map(|fold| fold.result.as_ref().ok());
        let mut errors = results.filter_map(|scored| scored.scores.get(m)?.as_ref().err());
        let first = errors.next()?;
        Some((1 + errors.count(), first))
    }

    /// How many fits did not converge.
    pub fn not_converged(&self) -> usize {
        let results = self.folds.iter().filter_map(|fold| fold.result.as_ref().ok());
        results.filter(|scored| !scored.converged).count()
    }

    /// What the user should know, each once.
    pub fn warnings(&self) -> Vec<&Warning> {
        let mut all: Vec<&Warning> = Vec::new();
        for warning in self.folds.iter().flat_map(|fold| &fold.warnings) {
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{DummyClassifier, DummyRegressor};
    use crate::metrics::{find, usual};

    #[test]
    fn the_mean_predictor_by_hand() {
        let y = vec![1.0, 2.0, 3.0, 6.0];
        let data = OwnedDataset::regression(Matrix::zeros(4, 1), y);
        let run = Context::default();
        let splitter = Splitter::KFold { n_splits: 2, shuffle: false };
        let splits: Vec<Split> = splitter.splits(&data.view(), &run).unwrap().collect();
        let metrics = [find("mae").unwrap()];
        let learner = DummyRegressor::default();
        let cv = cross_validate(&learner, &data.view(), &splits, &metrics, &run).unwrap();
        assert_eq!(cv.complete(0).unwrap(), [3.0, 3.0]);
        assert_eq!((cv.mean(0), cv.standard_error(0)), (Some(3.0), Some(0.0)));
        assert_eq!(cv.failed(), None);
    }

    #[test]
    fn a_score_that_does_not_exist_is_kept_with_its_reason() {
        let data = OwnedDataset::regression(Matrix::zeros(3, 1), vec![1.0, 2.0, 4.0]);
        let run = Context::default();
        let splits: Vec<Split> =
            Splitter::LeaveOneOut.splits(&data.view(), &run).unwrap().collect();
        let metrics = [find("r2").unwrap(), find("mae").unwrap()];
        let learner = DummyRegressor::default();
        let cv = cross_validate(&learner, &data.view(), &splits, &metrics, &run).unwrap();
        assert_eq!(cv.mean(0), None);
        assert_eq!(cv.unscored(0).unwrap().0, 3);
        assert!(cv.mean(1).is_some());
    }

    #[test]
    fn threads_do_not_change_scores() {
        let data = crate::datasets::load("iris").unwrap();
        let learner = DummyClassifier::default();
        let scores = |threads: usize| {
            let run = Context::default().with_threads(threads);
            let splitter = usual_splitter(&data.view(), 10);
            let splits: Vec<Split> = splitter.splits(&data.view(), &run).unwrap().collect();
            let metrics = usual(Task::Classification);
            let cv = cross_validate(&learner, &data.view(), &splits, &metrics, &run).unwrap();
            (0..3).map(|m| cv.complete(m).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(scores(1), scores(4));
        assert!(scores(1)[1].iter().all(|accuracy| (accuracy - 1.0 / 3.0).abs() < 1e-12));
    }
}
