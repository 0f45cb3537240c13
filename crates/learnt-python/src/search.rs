//! Searches as Python sees them: settings cross-validated, rungs of halving, and suggestions.

use crate::compare::{Pair, pairs, split};
use crate::convert;
use crate::failure::raise;
use crate::function::Answer;
use crate::{Given, Rows};
use learnt::metrics as scores;
use learnt::select::search::{
    Domain, Each, Found, Halving, Setting, Space, Tried, smallest_rows, suggest as next_settings,
    thinned,
};
use learnt::select::{CrossValidation, Fold, Manner, Nobody, Scored, Split};
use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::params::Value;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

type Splits<'py> = Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>;

/// What came of one learner: scores of each metric in each split on test and on training rows, seconds of
/// fits and of scores, and why a split has none.
type Outcome = (Vec<Vec<f64>>, Vec<Vec<f64>>, Vec<f64>, Vec<f64>, Vec<Option<String>>);

/// Cross-validates learners of this package on the same splits.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    given: Given<'py>,
    learners: Vec<Bound<'py, PyAny>>,
    metrics: Vec<String>,
    splits: Splits<'py>,
    train_scores: bool,
) -> PyResult<Vec<Outcome>> {
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    let specs = learners
        .iter()
        .map(|learner| match convert::value(learner)? {
            Value::Learner(spec) => Ok(spec),
            _ => Err(PyTypeError::new_err("a learner of this package is needed")),
        })
        .collect::<PyResult<Vec<_>>>()?;
    let splits = splits.iter().map(split).collect::<PyResult<Vec<Split>>>()?;
    rows.on_data(py, &schema, given.seed, given.threads, false, |data, run| {
        let metrics = metrics.iter().map(|name| scores::find(name)).collect::<Result<Vec<_>>>()?;
        let (splits, metrics) = (splits.as_slice(), metrics.as_slice());
        let ledger = &Nobody;
        let manner = Manner { one_seed: true, train_scores };
        let each = Each { preparation: None, data, splits, metrics, ledger, manner };
        let learners = specs.iter().map(learnt::build).collect();
        let results = each.run(learners, &run.lenient())?;
        let of = |result: &Result<CrossValidation>| outcome(result, splits.len(), metrics.len());
        Ok(results.iter().map(of).collect())
    })
}

fn outcome(result: &Result<CrossValidation>, splits: usize, metrics: usize) -> Outcome {
    let cv = match result {
        Err(error) => {
            let none = vec![f64::NAN; splits];
            let why = vec![Some(error.to_string()); splits];
            let blank = vec![none.clone(); metrics];
            return (blank.clone(), blank, none.clone(), none, why);
        }
        Ok(cv) => cv,
    };
    let number =
        |m: usize| cv.scores(m).into_iter().map(|score| score.unwrap_or(f64::NAN)).collect();
    let seen = |m: usize| {
        let one = |fold: &Fold| {
            let scored = fold.result.as_ref().ok()?;
            scored.train_scores.get(m)?.as_ref().ok().copied()
        };
        cv.folds.iter().map(|fold| one(fold).unwrap_or(f64::NAN)).collect()
    };
    let seconds = |f: fn(&Scored) -> f64| {
        cv.folds.iter().map(|fold| fold.result.as_ref().map_or(f64::NAN, f)).collect()
    };
    let why = |fold: &Fold| match &fold.result {
        Err(error) => Some(error.to_string()),
        Ok(scored) => {
            scored.scores.iter().find_map(|score| score.as_ref().err().map(ToString::to_string))
        }
    };
    (
        (0..metrics).map(number).collect(),
        (0..metrics).map(seen).collect(),
        seconds(|scored| scored.fit_seconds),
        seconds(|scored| scored.score_seconds),
        cv.folds.iter().map(why).collect(),
    )
}

/// Numbers of candidates and resources of the rungs of successive halving.
#[pyfunction]
#[pyo3(signature = (candidates, smallest, factor, least, most, exhaust, aggressive))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the rule, as Python has them")]
pub(crate) fn halving_rungs(
    py: Python<'_>,
    candidates: usize,
    smallest: u64,
    factor: f64,
    least: Option<u64>,
    most: u64,
    exhaust: bool,
    aggressive: bool,
) -> PyResult<Vec<(usize, u64)>> {
    let halving = Halving { factor, least, most, exhaust, aggressive };
    let rungs = halving.rungs(candidates, smallest).map_err(|error| raise(py, error))?;
    Ok(rungs.iter().map(|rung| (rung.candidates, rung.resource)).collect())
}

/// The splits with this share of their training rows, and the least rows that make sense.
#[pyfunction]
pub(crate) fn thinned_splits<'py>(
    py: Python<'py>,
    given: Given<'py>,
    splits: Splits<'py>,
    share: f64,
) -> PyResult<(Vec<Pair<'py>>, u64)> {
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    let splits = splits.iter().map(split).collect::<PyResult<Vec<Split>>>()?;
    let (thin, least) =
        rows.on_data(py, &schema, given.seed, given.threads, true, |data, run| {
            Ok((thinned(&splits, data, share, run), smallest_rows(data, splits.len())))
        })?;
    Ok((pairs(py, thin), least))
}

/// Settings to try next: places of values in lists, and numbers of ranges.
#[pyfunction]
pub(crate) fn suggest<'py>(
    py: Python<'py>,
    space: Vec<(String, Bound<'py, PyAny>)>,
    tried: Vec<(Bound<'py, PyDict>, Option<f64>)>,
    count: usize,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let space = read_space(py, &space)?;
    let tried = tried
        .iter()
        .map(|(setting, loss)| Ok((read_setting(setting)?, *loss)))
        .collect::<PyResult<Vec<_>>>()?;
    let mut rng = Context::default().with_seed(seed).rng(tried.len() as u64);
    let found = match tried.is_empty() {
        true => space.draw(count, &mut rng),
        false => next_settings(&space, &tried, count, &mut rng),
    };
    found.iter().map(|setting| convert::params_object(py, setting)).collect()
}

/// A list stands for the places of its values, a tuple for (first, last, log, whole).
fn read_space(py: Python<'_>, given: &[(String, Bound<'_, PyAny>)]) -> PyResult<Space> {
    let mut domains = Vec::with_capacity(given.len());
    for (name, domain) in given {
        let domain = match domain.cast::<PyTuple>() {
            Ok(range) => {
                let (first, last, log, whole): (f64, f64, bool, bool) = range.extract()?;
                match whole {
                    true => Domain::Whole { first: first as i64, last: last as i64, log },
                    false => Domain::Real { first, last, log },
                }
            }
            Err(_) => Domain::List((0..domain.len()?).map(|i| Value::Int(i as i64)).collect()),
        };
        domain.check().map_err(|error| raise(py, error.within(name)))?;
        domains.push((name.clone(), domain));
    }
    Ok(Space { domains })
}

fn read_setting(setting: &Bound<'_, PyDict>) -> PyResult<Setting> {
    setting.iter().map(|(name, value)| Ok((name.extract()?, convert::value(&value)?))).collect()
}

/// What a search tried: settings in words or numbers, rung, resource, scores of each metric in each
/// split, and seconds of each fit.
type Line<'py> =
    (Bound<'py, PyDict>, usize, Option<u64>, Vec<Vec<f64>>, Vec<f64>, Vec<Option<String>>);

/// The answer about a search that Python did.
#[pyfunction]
pub(crate) fn search_report(
    py: Python<'_>,
    title: String,
    metrics: Vec<String>,
    lines: Vec<Line<'_>>,
    best: usize,
    work: f64,
) -> PyResult<Answer> {
    let metrics = metrics.iter().map(|name| scores::find(name)).collect::<Result<Vec<_>>>();
    let metrics = metrics.map_err(|error| raise(py, error))?;
    let mut tried: Vec<Tried> = Vec::with_capacity(lines.len());
    for (setting, rung, resource, scores, seconds, why) in &lines {
        let fold = |k: usize| {
            let error = || {
                let why = why[k].as_deref().unwrap_or("no score");
                Error::new(Code::Undefined, plain(why))
            };
            let score = |m: usize| match scores[m][k] {
                value if value.is_nan() => Err(error()),
                value => Ok(value),
            };
            let result = Ok(Scored {
                scores: (0..metrics.len()).map(score).collect(),
                train_scores: Vec::new(),
                fit_seconds: seconds[k],
                score_seconds: 0.0,
                converged: true,
                confusion: None,
            });
            Fold { train_rows: 0, test_rows: 0, result, warnings: Vec::new() }
        };
        let folds = (0..seconds.len()).map(fold).collect();
        let (setting, rung, resource) = (read_setting(setting)?, *rung, *resource);
        let result = Ok(CrossValidation { metrics: metrics.clone(), folds });
        tried.push(Tried { setting, rung, resource, result });
    }
    let mut names: Vec<String> = Vec::new();
    for (name, _) in tried.iter().flat_map(|tried| &tried.setting) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let domains = names.into_iter().map(|name| (name, Domain::List(Vec::new()))).collect();
    let found = Found {
        metrics,
        space: Space { domains },
        tried,
        best: Some(best),
        top: Some(best),
        work,
        left_out: 0,
        nested: None,
    };
    Ok(Answer(found.report(title)))
}
