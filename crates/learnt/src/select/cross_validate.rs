//! Cross-validation: fit on the training rows of each split, score on its test rows.
//!
//! A fit or a score that fails is kept with its reason; only a stop by the user ends the whole.
//! The standard error over folds is sd / √k with divisor k - 1.
//!
//! Several learners on the same splits share the work: the rows of a split are gathered once for all
//! of them, a preparation once for those that share it, and settings of one learner share a pass over the
//! rows where it can ([`Estimator::train_together`]). Small tables have their splits in
//! parallel, each with its share of the threads; of a large table there is one split at a time, with
//! all threads inside, so that memory holds it twice or three times and not once a thread. Each
//! split has a child run of its own seed, so any number of threads gives the same scores.

use super::folds::{Split, Splitter};
use super::scoring::{COUNTED, Scoring};
use crate::learner::{Fitted, offered};
use crate::metrics::{ConfusionCounts, Metric, Predictions, Task};
use learnt_core::clock::Moment;
use learnt_core::context::{Progress, Recorder};
use learnt_core::error::Warning;
use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;
use learnt_core::stats::summary;
use learnt_core::trained::check_rows;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a table from which its splits come one at a time.
const LARGE: usize = 4_000_000;

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
    /// The scores on the training rows, where they were asked for.
    pub train_scores: Vec<Result<f64>>,
    /// Seconds to fit.
    pub fit_seconds: f64,
    /// Seconds to predict and score.
    pub score_seconds: f64,
    /// Whether the fit met its convergence criterion.
    pub converged: bool,
    /// Actual against predicted classes of the test rows; none where there are very many classes.
    pub confusion: Option<ConfusionCounts>,
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
pub fn cross_validate<'a>(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    splits: &[Split],
    scoring: impl Into<Scoring<'a>>,
    run: &Context,
) -> Result<CrossValidation> {
    let scoring = scoring.into();
    learner.check().map_err(|error| error.within(learner.about().name()))?;
    let entrants = [Entrant { preparation: None, learner }];
    let ledger = &Ended::new(vec![learner.about().command()], splits.len(), run);
    let manner = Manner::default();
    let trials = Trials { entrants: &entrants, data, splits, scoring, ledger, manner };
    let mut all = trials.run(run)?;
    all.pop().ok_or_else(|| Error::internal("no result of a cross-validation"))
}

/// A learner that is cross-validated, and what stands in front of it.
#[derive(Clone, Copy)]
pub struct Entrant<'a> {
    /// A transformer that is fitted on the training rows of each split.
    pub preparation: Option<&'a dyn AnyEstimator>,
    /// The learner.
    pub learner: &'a dyn AnyEstimator,
}

/// What knows single fits: those that were done before, and each that ends.
pub trait Ledger: Sync {
    /// What came of a learner on a split, both by their place, if that is known.
    fn known(&self, _entrant: usize, _split: usize) -> Option<Fold> {
        None
    }
    /// A fit begins.
    fn begun(&self, _entrant: usize, _split: usize) -> Result<()> {
        Ok(())
    }
    /// A fit has ended.
    fn ended(&self, _entrant: usize, _split: usize, _fold: &Fold) -> Result<()> {
        Ok(())
    }
}

/// A ledger that keeps nothing.
pub struct Nobody;
impl Ledger for Nobody {}

/// Tells which fit is at work: `model 4/13 ridge · fold 6/10`, and how many of all have ended.
pub(super) struct Ended<'a> {
    names: Vec<String>,
    splits: usize,
    done: AtomicU64,
    run: &'a Context<'a>,
}

impl<'a> Ended<'a> {
    pub(super) fn new(names: Vec<String>, splits: usize, run: &'a Context<'a>) -> Self {
        Ended { names, splits, done: AtomicU64::new(0), run }
    }
}

impl Ended<'_> {
    fn tell(&self, entrant: usize, split: usize, done: u64) -> Result<()> {
        let (models, splits, name) = (self.names.len(), self.splits, &self.names[entrant]);
        let stage = format!("model {}/{models} {name} · fold {}/{splits}", entrant + 1, split + 1);
        let total = Some((models * splits) as u64);
        self.run.progress(&Progress { stage: &stage, done, total, objective: None })
    }
}

impl Ledger for Ended<'_> {
    fn begun(&self, entrant: usize, split: usize) -> Result<()> {
        self.tell(entrant, split, self.done.load(Ordering::Relaxed))
    }
    fn ended(&self, entrant: usize, split: usize, _: &Fold) -> Result<()> {
        self.tell(entrant, split, self.done.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Several learners on the same splits. Parameters are checked already.
pub struct Trials<'a> {
    /// The learners.
    pub entrants: &'a [Entrant<'a>],
    /// The rows.
    pub data: &'a Dataset<'a>,
    /// Training and test rows.
    pub splits: &'a [Split],
    /// What is measured.
    pub scoring: Scoring<'a>,
    /// What is known, and who is told.
    pub ledger: &'a dyn Ledger,
    /// How fits run.
    pub manner: Manner,
}

/// How the fits of a cross-validation run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Whether every fit has the seed of the run, and not one of its split.
    pub one_seed: bool,
    /// Whether the training rows are scored too.
    pub train_scores: bool,
}

impl Trials<'_> {
    /// Fits and scores all learners on every split.
    pub fn run(&self, run: &Context) -> Result<Vec<CrossValidation>> {
        let (data, splits) = (self.data, self.splits);
        let groups = Group::all(self.entrants);
        let bytes = 8 * data.nrows() * data.x.ncols();
        run.claim(2 * bytes as u64, "the rows of a split")?;
        let one = |k: usize, threads: usize| {
            let child = run.child(k as u64).with_threads(threads);
            let child = if self.manner.one_seed { child.with_seed(run.seed()) } else { child };
            OneSplit { trials: self, place: k, split: &splits[k] }.run(&groups, &child)
        };
        let by_split: Vec<Vec<Fold>> = match bytes > LARGE {
            true => (0..splits.len()).map(|k| one(k, run.threads())).collect::<Result<_>>()?,
            false => {
                let share = (run.threads() / splits.len().max(1)).max(1);
                run.try_par_map(splits.len(), |k| one(k, share))?
            }
        };
        let empty = |_: &Entrant| CrossValidation {
            metrics: self.scoring.metrics.to_vec(),
            folds: Vec::new(),
        };
        let mut out: Vec<CrossValidation> = self.entrants.iter().map(empty).collect();
        for folds in by_split {
            out.iter_mut().zip(folds).for_each(|(result, fold)| result.folds.push(fold));
        }
        Ok(out)
    }
}

/// Learners that share a preparation, by their positions.
struct Group<'a> {
    preparation: Option<&'a dyn AnyEstimator>,
    key: Option<LearnerSpec>,
    members: Vec<usize>,
}

impl<'a> Group<'a> {
    fn all(entrants: &[Entrant<'a>]) -> Vec<Group<'a>> {
        let mut groups: Vec<Group> = Vec::new();
        for (i, entrant) in entrants.iter().enumerate() {
            let key = entrant.preparation.map(LearnerSpec::of);
            match groups.iter_mut().find(|group| group.key == key) {
                Some(group) => group.members.push(i),
                None => {
                    groups.push(Group { preparation: entrant.preparation, key, members: vec![i] })
                }
            }
        }
        groups
    }
}

/// One split for all learners.
struct OneSplit<'a> {
    trials: &'a Trials<'a>,
    place: usize,
    split: &'a Split,
}

/// The rows of a split, as the learners of a group see them.
#[derive(Clone, Copy)]
struct Rows<'a> {
    train: Dataset<'a>,
    test: Dataset<'a>,
    /// What the preparation took.
    seconds: f64,
}

impl OneSplit<'_> {
    fn run(&self, groups: &[Group], run: &Context) -> Result<Vec<Fold>> {
        let (entrants, ledger) = (self.trials.entrants, self.trials.ledger);
        let mut folds: Vec<Option<Fold>> =
            (0..entrants.len()).map(|member| ledger.known(member, self.place)).collect();
        for group in groups {
            let mut left = group.members.clone();
            left.retain(|&member| folds[member].is_none());
            if left.is_empty() {
                continue;
            }
            for (member, fold) in self.group(group, &left, run)? {
                folds[member] = Some(fold);
            }
        }
        let missing = || Error::internal("a learner without its fold");
        folds.into_iter().map(|fold| fold.ok_or_else(missing)).collect()
    }

    /// Prepares the rows once, then fits these members: those that use threads one after the other,
    /// the others side by side. Rows before the preparation are not kept.
    fn group(&self, group: &Group, members: &[usize], run: &Context) -> Result<Vec<(usize, Fold)>> {
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let mut train = self.trials.data.gather(&self.split.train);
        let mut test = self.trials.data.gather(&self.split.test);
        let prepared = group
            .preparation
            .map_or(Ok(0.0), |preparation| prepare(preparation, &mut train, &mut test, &watched));
        let prepared = match prepared {
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            other => other,
        };
        let rows = prepared.map(|seconds| Rows { train: train.view(), test: test.view(), seconds });
        let fit = |member: usize, shared: Option<Shared>, run: &Context| {
            self.trials.ledger.begun(member, self.place)?;
            let fold = match &rows {
                Ok(rows) => self.fold(member, shared, rows, run)?,
                Err(error) => self.failed(error.clone()),
            };
            self.trials.ledger.ended(member, self.place, &fold)?;
            let mut warnings = recorder.warnings();
            warnings.extend(fold.warnings);
            Ok((member, Fold { warnings, ..fold }))
        };
        let threaded = |member: &usize| self.trials.entrants[*member].learner.about().uses.threads;
        let (inside, beside): (Vec<usize>, Vec<usize>) =
            members.iter().partition(|member| threaded(member));
        let alone = run.with_threads(1);
        let mut out = run.try_par_map(beside.len(), |i| fit(beside[i], None, &alone))?;
        let mut shared = match &rows {
            Ok(rows) => self.together(&inside, rows, &watched),
            Err(_) => BTreeMap::new(),
        };
        for member in inside {
            run.checkpoint()?;
            out.push(fit(member, shared.remove(&member), run)?);
        }
        Ok(out)
    }

    /// Models of members that are one learner with other settings, where those share work. What fails
    /// together is tried apart.
    fn together(&self, members: &[usize], rows: &Rows, run: &Context) -> BTreeMap<usize, Shared> {
        let learner = |member: usize| self.trials.entrants[member].learner;
        let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &member in members {
            kinds.entry(learner(member).about().path).or_default().push(member);
        }
        let mut out = BTreeMap::new();
        for same in kinds.into_values().filter(|same| same.len() > 1) {
            let all: Vec<&dyn AnyEstimator> = same.iter().map(|&member| learner(member)).collect();
            let train = offered(&rows.train, rows.train.x, all[0].any_accepts());
            let start = Moment::now();
            if let Some(Ok(models)) = all[0].fit_together(&all, &train, run) {
                let seconds = start.seconds() / same.len() as f64;
                let shared = models.into_iter().map(|model| Shared { model, seconds });
                out.extend(same.into_iter().zip(shared));
            }
        }
        out
    }

    fn fold(
        &self,
        member: usize,
        shared: Option<Shared>,
        rows: &Rows,
        run: &Context,
    ) -> Result<Fold> {
        let recorder = Recorder::new(run.observer());
        let learner = self.trials.entrants[member].learner;
        match fit_and_score(learner, shared, rows, self.trials, &run.observed_by(&recorder)) {
            Err(error) if error.code() == Code::Cancelled => Err(error),
            Err(error) => Ok(Fold { warnings: recorder.warnings(), ..self.failed(error) }),
            Ok(scored) => Ok(Fold {
                train_rows: self.split.train.len(),
                test_rows: self.split.test.len(),
                result: Ok(scored),
                warnings: recorder.warnings(),
            }),
        }
    }

    fn failed(&self, error: Error) -> Fold {
        Fold {
            train_rows: self.split.train.len(),
            test_rows: self.split.test.len(),
            result: Err(error),
            warnings: Vec::new(),
        }
    }
}

/// Replaces the inputs of a split by what a preparation makes of them that is fitted on those for training;
/// the seconds that it took.
fn prepare(
    preparation: &dyn AnyEstimator,
    train: &mut OwnedDataset,
    test: &mut OwnedDataset,
    run: &Context,
) -> Result<f64> {
    let start = Moment::now();
    let model = Fitted::fit(preparation, "preparation", &train.view(), run)?;
    let transformer = model.transformer()?;
    train.x = transformer.transform_in(&train.view().x, run)?;
    let seconds = start.seconds();
    test.x = transformer.transform_in(&test.view().x, run)?;
    Ok(seconds)
}

/// A model of a fit that several settings shared, and its share of the seconds.
struct Shared {
    model: Box<dyn Model>,
    seconds: f64,
}

fn fit_and_score(
    learner: &dyn AnyEstimator,
    shared: Option<Shared>,
    rows: &Rows,
    trials: &Trials,
    run: &Context,
) -> Result<Scored> {
    let Shared { model, seconds } = match shared {
        Some(shared) => shared,
        None => {
            let train = offered(&rows.train, rows.train.x, learner.any_accepts());
            let start = Moment::now();
            let model = learner.fit_any(&train, run)?;
            Shared { model, seconds: start.seconds() }
        }
    };
    let fitted = Moment::now();
    let score = |data: &Dataset| -> Result<(Vec<Result<f64>>, Option<ConfusionCounts>)> {
        check_rows(learner.about(), model.as_ref(), &data.x, run)?;
        let mut predictions = Predictions::of(model.as_ref(), &data.x, run)?;
        if let Some(decision) = trials.scoring.decision {
            predictions = predictions.decided_if_possible(decision)?;
        }
        let outcome = predictions.with_truth(data);
        let scores =
            trials.scoring.metrics.iter().map(|metric| number(metric, metric.score(&outcome, run)));
        let confusion = match (data.y, outcome.codes) {
            (Some(Target::Class { codes, classes }), Some(found)) if classes.len() <= COUNTED => {
                ConfusionCounts::new(codes, found, classes.len(), data.weights).ok()
            }
            _ => None,
        };
        Ok((scores.collect(), confusion))
    };
    let (scores, confusion) = score(&rows.test)?;
    let score_seconds = fitted.elapsed().as_secs_f64();
    let train_scores = match trials.manner.train_scores {
        true => score(&rows.train)?.0,
        false => Vec::new(),
    };
    Ok(Scored {
        scores,
        train_scores,
        fit_seconds: rows.seconds + seconds,
        score_seconds,
        converged: model.converged(),
        confusion,
    })
}

/// A score, which is a number or has a reason.
fn number(metric: &Metric, score: Result<f64>) -> Result<f64> {
    match score {
        Ok(score) if score.is_nan() => {
            Err(Error::new(Code::Undefined, format!("{} is not a number", metric.name)))
        }
        other => other,
    }
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

    /// Actual against predicted classes of the test rows of all folds.
    pub fn confusion(&self) -> Option<ConfusionCounts> {
        let counts = |fold: &Fold| fold.result.as_ref().ok()?.confusion.clone();
        let all = self.folds.iter().map(counts).collect::<Option<Vec<ConfusionCounts>>>()?;
        let mut all = all.into_iter();
        let first = all.next()?;
        all.try_fold(first, |sum, next| sum.plus(&next).ok())
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
