//! Scores by name, the usual folds, and comparisons of learners, as Python sees them.

use crate::convert::{self, Numbers};
use crate::failure::{raise, warn};
use crate::function::Answer;
use crate::{Given, Rows, interrupt};
use learnt::metrics::{self as scores, Decision, Direction, Metric, Outcome, Task};
use learnt::select::{
    self, Candidate, Comparison, CrossValidation, Fold, Request, Row, Scored, Scoring, Split,
    Splitter,
};
use learnt_core::context::Context;
use learnt_core::data::{Dataset, Label, Matrix, Schema, Target};
use learnt_core::error::{Code, Error, Result};
use learnt_core::estimator::Entry;
use learnt_core::params::{LearnerSpec, Value};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Training and test rows of one split.
pub(crate) type Pair<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Every metric by which models are scored: names, task, whether more is better, and what it is.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(Vec<&'static str>, &'static str, bool, &'static str)> {
    let one = |metric: &Metric| {
        let names = [metric.name].into_iter().chain(metric.aliases().iter().copied()).collect();
        (names, metric.task.name(), metric.direction == Direction::Higher, metric.doc())
    };
    scores::all().iter().map(one).collect()
}

/// What a model predicted, as Python gave it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Predicted<'py> {
    /// Numbers, or codes of `classes`.
    truth: Bound<'py, PyAny>,
    classes: Option<Bound<'py, PyList>>,
    values: Option<Bound<'py, PyAny>>,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    probabilities: Option<Bound<'py, PyAny>>,
    decision_scores: Option<Bound<'py, PyAny>>,
    weights: Option<Bound<'py, PyAny>>,
}

/// The score of predictions by the metric of this name.
#[pyfunction]
pub(crate) fn score<'py>(
    py: Python<'py>,
    metric: &str,
    predicted: Predicted<'py>,
    threads: usize,
) -> PyResult<f64> {
    let metric = scores::find(metric).map_err(|error| raise(py, error))?;
    let read = |part: &Option<Bound<'py, PyAny>>| part.as_ref().map(Numbers::read).transpose();
    let (values, probabilities) = (read(&predicted.values)?, read(&predicted.probabilities)?);
    let (decided, weights) = (read(&predicted.decision_scores)?, read(&predicted.weights)?);
    let weights = weights.as_ref().map(Numbers::to_contiguous);
    let labels = predicted.classes.as_ref().map(labels).transpose()?;
    let codes: Option<PyReadonlyArray1<'py, u32>> =
        labels.as_ref().map(|_| predicted.truth.extract()).transpose()?;
    let numbers = match labels {
        None => Some(Numbers::read(&predicted.truth)?),
        Some(_) => None,
    };
    let truth_codes = codes.as_ref().map(|codes| codes.as_slice()).transpose()?;
    let found_codes = predicted.codes.as_ref().map(|codes| codes.as_slice()).transpose()?;
    let truth = match (&labels, truth_codes, &numbers) {
        (Some(classes), Some(codes), _) => Some(Target::Class { codes, classes }),
        (_, _, Some(numbers)) => Some(Target::Real(numbers.view())),
        _ => None,
    };
    let outcome = Outcome {
        truth,
        values: values.as_ref().map(Numbers::view),
        codes: found_codes,
        probabilities: probabilities.as_ref().map(Numbers::view),
        decision_scores: decided.as_ref().map(Numbers::view),
        weights: weights.as_deref(),
        ..Outcome::default()
    };
    let found = interrupt::run(py, |observer| {
        let run = Context::default().with_threads(threads).observed_by(observer).lenient();
        metric.score(&outcome, &run)
    })?;
    warn(py, &found.warnings)?;
    Ok(found.value)
}

fn labels(classes: &Bound<'_, PyList>) -> PyResult<Vec<Label>> {
    classes.iter().map(|class| convert::label(&class)).collect()
}

/// The folds that comparisons use: stratified for classes, shuffled.
#[pyfunction]
pub(crate) fn usual_splits<'py>(
    py: Python<'py>,
    given: Given<'py>,
    folds: usize,
) -> PyResult<Vec<Pair<'py>>> {
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    let splits = rows.on_data(py, &schema, given.seed, given.threads, false, |data, run| {
        Ok(select::usual_splitter(data, folds).splits(data, run)?.collect::<Vec<Split>>())
    })?;
    Ok(pairs(py, splits))
}

/// Splits as pairs of arrays.
pub(crate) fn pairs<'py>(py: Python<'py>, splits: Vec<Split>) -> Vec<Pair<'py>> {
    let array = |rows: Vec<usize>| PyArray1::from_iter(py, rows.into_iter().map(|i| i as i64));
    splits.into_iter().map(|split| (array(split.train), array(split.test))).collect()
}

/// A row of a comparison that Python has scored: its name, whether it is simple, the scores of each
/// metric in each split, and the seconds of each fit.
type Ready = (String, u8, Vec<Vec<f64>>, Vec<f64>);

/// What is compared, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Contest<'py> {
    /// Names and learners, or nothing for all that suit the target.
    learners: Option<Vec<(Option<String>, Bound<'py, PyAny>)>>,
    skip: Vec<String>,
    metrics: Vec<String>,
    splits: Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>,
    /// Whether learners get their standard preparation.
    prepare: bool,
    ready: Vec<Ready>,
    /// The place of the positive class.
    positive: Option<usize>,
    threshold: Option<f64>,
    /// What mistakes cost: rows are actual classes, columns predicted ones.
    costs: Option<Vec<Vec<f64>>>,
    /// Whether there are tables of what is done with each class.
    by_class: bool,
}

/// How the classes of a target are decided.
fn decision(
    classes: &[Label],
    positive: Option<usize>,
    threshold: Option<f64>,
    costs: Option<&[Vec<f64>]>,
) -> Result<Decision> {
    let mut found = Decision::positive(classes, positive)?;
    if let Some(threshold) = threshold {
        found = found.with_threshold(threshold)?;
    }
    if let Some(costs) = costs {
        found = found.with_costs(Matrix::from_rows(costs)?)?;
    }
    Ok(found)
}

/// The classes that follow from probabilities, by a threshold on those of the positive class or by costs.
#[pyfunction]
pub(crate) fn decide<'py>(
    py: Python<'py>,
    classes: Bound<'py, PyList>,
    probabilities: Bound<'py, PyAny>,
    positive: Option<usize>,
    threshold: Option<f64>,
    costs: Option<Vec<Vec<f64>>>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (classes, values) = (labels(&classes)?, Numbers::read(&probabilities)?);
    let decided = || -> Result<Vec<u32>> {
        let found = decision(&classes, positive, threshold, costs.as_deref())?;
        let codes = found.classes(values.view())?;
        codes.ok_or_else(|| Error::new(Code::Usage, "neither a threshold nor costs to decide by"))
    };
    decided().map(|codes| PyArray1::from_vec(py, codes)).map_err(|error| raise(py, error))
}

/// The metrics that are usual for a target, the first decides.
#[pyfunction]
pub(crate) fn usual_metrics<'py>(
    py: Python<'py>,
    given: Given<'py>,
) -> PyResult<Vec<&'static str>> {
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    rows.on_data(py, &schema, given.seed, given.threads, false, |data, _| {
        Ok(scores::usual_for(Task::of(data), data).iter().map(|metric| metric.name).collect())
    })
}

/// Compares learners on the same splits.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    given: Given<'py>,
    contest: Contest<'py>,
) -> PyResult<Answer> {
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    let named = match &contest.learners {
        None => None,
        Some(learners) => Some(learners.iter().map(chosen).collect::<PyResult<Vec<_>>>()?),
    };
    let splits = contest.splits.iter().map(split).collect::<PyResult<Vec<Split>>>()?;
    let (skip, prepare) = (contest.skip, contest.prepare);
    let (positive, threshold, costs) = (contest.positive, contest.threshold, contest.costs);
    let by_class = contest.by_class;
    let (metric_names, ready) = (contest.metrics, contest.ready);
    rows.on_data(py, &schema, given.seed, given.threads, false, |data, run| {
        let metrics = chosen_metrics(&metric_names, Task::of(data))?;
        let named = match named {
            Some(named) => named.into_iter().map(|one| one.known(data)).collect::<Result<_>>()?,
            None => select::contenders(data, &[], &skip)?.into_iter().map(by_default).collect(),
        };
        let named: Vec<(Option<String>, LearnerSpec)> = named;
        let missing = select::has_missing(data);
        let request = prepare.then_some(Request { missing, ..Request::default() });
        let candidates: Vec<Candidate> = named
            .into_iter()
            .map(|(name, spec)| candidate(name, &spec, data.x.schema(), request))
            .collect::<Result<_>>()?;
        let splitter = Splitter::Given(splits.clone());
        let decision = match data.y {
            Some(Target::Class { classes, .. }) => {
                Some(decision(classes, positive, threshold, costs.as_deref())?)
            }
            _ => None,
        };
        let scoring = Scoring { metrics: &metrics, decision: decision.as_ref() };
        let found = select::compare(&candidates, data, &splitter, scoring, run)?;
        let mut all_rows = found.rows;
        all_rows.extend(ready.into_iter().map(|row| ready_row(row, &splits, &metrics)));
        let ranked = Comparison::ranked(all_rows, &metrics);
        Ok(Answer(match (data.y, decision) {
            (Some(Target::Class { classes, .. }), Some(decision)) if by_class => {
                ranked.report_of_classes(classes, decision.positive_class())
            }
            _ => ranked.report(),
        }))
    })
}

/// A learner with its default parameters.
fn by_default(entry: &Entry) -> (Option<String>, LearnerSpec) {
    (None, LearnerSpec { learner: entry.about.path.to_string(), params: Vec::new() })
}

/// A learner of this package, or the name of one.
enum Chosen {
    Learner(Option<String>, LearnerSpec),
    Name(Option<String>, String),
}

fn chosen((name, learner): &(Option<String>, Bound<'_, PyAny>)) -> PyResult<Chosen> {
    Ok(match convert::value(learner)? {
        Value::Learner(spec) => Chosen::Learner(name.clone(), spec),
        Value::Text(word) => Chosen::Name(name.clone(), word),
        _ => return Err(PyTypeError::new_err("learners are estimators, or names of learners")),
    })
}

impl Chosen {
    fn known(self, data: &Dataset) -> Result<(Option<String>, LearnerSpec)> {
        match self {
            Chosen::Learner(name, spec) => Ok((name, spec)),
            Chosen::Name(name, word) => {
                let found = select::contenders(data, std::slice::from_ref(&word), &[])?;
                let first = found.first().ok_or_else(|| {
                    let task = Task::of(data).name();
                    Error::unsupported(format!("{word} is no learner of {task}"))
                })?;
                Ok((name, by_default(first).1))
            }
        }
    }
}

fn candidate(
    name: Option<String>,
    spec: &LearnerSpec,
    schema: &Schema,
    request: Option<Request>,
) -> Result<Candidate> {
    let learner = learnt::build(spec)?;
    let found = match request {
        Some(request) => Candidate::prepared(learner, schema, request)?,
        None => Candidate::new(learner),
    };
    Ok(match name {
        Some(name) => Candidate { name, ..found },
        None => found,
    })
}

fn chosen_metrics(names: &[String], task: Task) -> Result<Vec<&'static Metric>> {
    if names.is_empty() {
        return Ok(scores::usual(task));
    }
    let found = names.iter().map(|name| scores::find(name)).collect::<Result<Vec<_>>>()?;
    match found.iter().find(|metric| metric.task != task) {
        None => Ok(found),
        Some(wrong) => {
            let (name, own, task) = (wrong.name, wrong.task.name(), task.name());
            let message = format!("{name} is a metric of {own}, and this is {task}");
            Err(Error::new(Code::Usage, message))
        }
    }
}

pub(crate) fn split(
    pair: &(PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, i64>),
) -> PyResult<Split> {
    let rows = |array: &PyReadonlyArray1<'_, i64>| -> PyResult<Vec<usize>> {
        Ok(array.as_slice()?.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect())
    };
    Ok(Split { train: rows(&pair.0)?, test: rows(&pair.1)? })
}

fn ready_row(
    (name, complexity, scores, seconds): Ready,
    splits: &[Split],
    metrics: &[&'static Metric],
) -> Row {
    let fold = |(k, split): (usize, &Split)| {
        let score = |m: usize| match scores[m][k] {
            value if value.is_nan() => Err(Error::new(Code::Undefined, "no score")),
            value => Ok(value),
        };
        Fold {
            train_rows: split.train.len(),
            test_rows: split.test.len(),
            result: Ok(Scored {
                scores: (0..metrics.len()).map(score).collect(),
                train_scores: Vec::new(),
                fit_seconds: seconds[k],
                score_seconds: 0.0,
                converged: true,
                confusion: None,
            }),
            warnings: Vec::new(),
        }
    };
    let folds = splits.iter().enumerate().map(fold).collect();
    let result = Ok(CrossValidation { metrics: metrics.to_vec(), folds });
    Row { name, complexity, baseline: false, result, p_value: None }
}
