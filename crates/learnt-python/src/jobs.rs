//! Jobs in bytes for `learnt.distributed`: planning, tasks, answers and rounds. What runs them is Python.

use crate::failure::{raise, warn};
use crate::interrupt;
use crate::model::Model;
use learnt_core::context::{Context, Observer};
use learnt_core::error::{Error, Result};
use learnt_core::rounds::{Fitting, Source, Step};
use learnt_core::trained::{Missing, Trained};
use learnt_io::{ColumnRoles, FileSource, ReadOptions, TargetTask, TypeRule, expand, open_streams};
use learnt_jobs::{Apply, ApplySettings, Job as Fit, Settings, plan, plan_apply};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where rows come from: a dictionary with these names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Files {
    /// Files, folders and patterns.
    paths: Vec<String>,
    target: Option<String>,
    weight: Option<String>,
    sequence: Option<String>,
    task: Option<String>,
    /// Columns that are left out.
    ignore: Vec<String>,
    /// Types of columns by name.
    types: Vec<(String, String)>,
    threads: usize,
}

impl Files {
    fn open(&self, observer: &dyn Observer) -> Result<FileSource> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in &self.paths {
            paths.extend(expand(Path::new(path))?);
        }
        let mut options = ReadOptions { digest: true, ..ReadOptions::default() };
        for (name, rule) in &self.types {
            options.types.push((name.clone(), TypeRule::parse(rule)?));
        }
        for name in &self.ignore {
            options.types.push((name.clone(), TypeRule::Skip));
        }
        let targets: Vec<String> = self.target.iter().cloned().collect();
        let roles = ColumnRoles {
            targets: &targets,
            weight: self.weight.as_deref(),
            group: None,
            sequence: self.sequence.as_deref(),
            task: self.task.as_deref().map(TargetTask::parse).transpose()?,
            leaning: None,
        };
        let run = Context::default().with_threads(self.threads).observed_by(observer);
        open_streams(&paths, &options, &roles, &run)
    }
}

/// The bytes of a job that fits a learner to files.
#[pyfunction]
pub(crate) fn plan_fit<'py>(
    py: Python<'py>,
    path: &str,
    params: &Bound<'py, PyDict>,
    files: Files,
    seed: u64,
    any_processor: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let learner = crate::build(py, path, params)?;
    let outcome = interrupt::run(py, |observer| {
        learnt_jobs::distributes(learner.as_ref())?;
        let source = files.open(observer)?;
        let targets = files.target.iter().cloned().collect();
        let settings = Settings { seed, targets, any_processor, ..Settings::default() };
        plan(learner.as_ref(), &source, &settings)
    })?;
    warn(py, &outcome.warnings)?;
    Ok(PyBytes::new(py, &outcome.value))
}

/// What is asked of a model for every row of files: a dictionary with these names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    method: String,
    proba: bool,
    out: Option<String>,
    score: bool,
    missing: Option<String>,
    part_rows: u64,
    any_processor: bool,
}

/// The bytes of a job that asks a model about every row of files.
#[pyfunction]
pub(crate) fn plan_predict<'py>(
    py: Python<'py>,
    model: &[u8],
    files: Files,
    asked: Asked,
) -> PyResult<Bound<'py, PyBytes>> {
    let outcome = interrupt::run(py, |observer| {
        let source = files.open(observer)?;
        let settings = ApplySettings {
            method: asked.method.clone(),
            proba: asked.proba,
            out: asked.out.clone().map(PathBuf::from),
            score: asked.score,
            missing: asked.missing.as_deref().map(Missing::parse).transpose()?,
            part_rows: asked.part_rows,
            any_processor: asked.any_processor,
        };
        plan_apply(model, &source, &settings)
    })?;
    Ok(PyBytes::new(py, &outcome.value))
}

/// A fit between two rounds. `Job.advance` takes it: nothing is left of it then.
#[pyclass(frozen, module = "learnt._native")]
pub(crate) struct State {
    round: u64,
    objective: Option<f64>,
    fitting: Mutex<Option<Fitting>>,
}

impl State {
    fn new(fitting: Fitting) -> State {
        let (round, objective) = (fitting.round(), fitting.objective());
        State { round, objective, fitting: Mutex::new(Some(fitting)) }
    }

    fn take(&self) -> Result<Fitting> {
        let fitting = self.fitting.lock().unwrap_or_else(PoisonError::into_inner).take();
        fitting.ok_or_else(|| Error::internal("a state that was advanced before"))
    }

    fn with<T>(&self, f: impl FnOnce(&Fitting) -> Result<T>) -> Result<T> {
        let fitting = self.fitting.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || Error::internal("a state that was advanced before");
        f(fitting.as_ref().ok_or_else(gone)?)
    }
}

#[pymethods]
impl State {
    /// The round that it begins.
    #[getter]
    fn round(&self) -> u64 {
        self.round
    }

    /// The last objective, if the learner has one.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.objective
    }
}

enum Work {
    Fit(Box<Fit>),
    Apply(Box<Apply>),
}

/// A job in a process that can work on it.
#[pyclass(frozen, module = "learnt._native")]
pub(crate) struct Job {
    work: Work,
}

#[pymethods]
impl Job {
    /// From the bytes of a plan; rows stay in memory up to `keep` bytes.
    #[new]
    fn new(py: Python<'_>, bytes: &[u8], keep: u64) -> PyResult<Job> {
        let outcome = interrupt::run_short(py, |_| {
            Ok(match learnt_jobs::is_fit(bytes)? {
                true => Work::Fit(Box::new(Fit::open(bytes)?.keeping(keep))),
                false => Work::Apply(Box::new(Apply::open(bytes)?)),
            })
        })?;
        Ok(Job { work: outcome.value })
    }

    /// Facts about it, as JSON.
    fn facts(&self) -> String {
        match &self.work {
            Work::Fit(job) => job.facts().to_string(),
            Work::Apply(job) => job.facts().to_string(),
        }
    }

    /// The state before the first round.
    fn begin(&self, py: Python<'_>, threads: usize) -> PyResult<State> {
        let outcome = interrupt::run(py, |observer| {
            self.fit()?.begin(&Context::default().with_threads(threads).observed_by(observer))
        })?;
        warn(py, &outcome.warnings)?;
        Ok(State::new(outcome.value))
    }

    /// The bytes that a fit goes on from.
    fn to_bytes<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| state.with(|fitting| self.fit()?.to_bytes(fitting)));
        Ok(PyBytes::new(py, &bytes.map_err(|error| raise(py, error))?))
    }

    /// A state from the bytes that a fit goes on from.
    fn read(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<State> {
        let fitting = self.fit().and_then(|fit| fit.read(bytes));
        Ok(State::new(fitting.map_err(|error| raise(py, error))?))
    }

    /// The bytes that tasks of the next round get: what they must know of the state.
    fn for_tasks<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| state.with(|fitting| self.fit()?.for_tasks(fitting)));
        Ok(PyBytes::new(py, &bytes.map_err(|error| raise(py, error))?))
    }

    /// The tasks of a round: `count` of them, or for predictions at least so many.
    fn tasks<'py>(
        &self,
        py: Python<'py>,
        round: u64,
        count: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let tasks = match &self.work {
            Work::Fit(job) => job.tasks(round, count),
            Work::Apply(job) => job.tasks(count),
        };
        let tasks = tasks.map_err(|error| raise(py, error))?;
        Ok(tasks.iter().map(|task| PyBytes::new(py, task)).collect())
    }

    /// The answer to a task.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        told: &[u8],
        task: &[u8],
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let outcome = interrupt::run(py, |observer| {
            let run = Context::default().with_threads(threads).observed_by(observer);
            match &self.work {
                Work::Fit(job) => job.answer(told, task, &run),
                Work::Apply(job) => job.answer(task, &run),
            }
        })?;
        // Warnings are in the answer: the driver tells them.
        Ok(PyBytes::new(py, &outcome.value))
    }

    /// The next state, or the model, from all answers of a round.
    fn advance(
        &self,
        py: Python<'_>,
        state: &State,
        answers: Vec<Bound<'_, PyBytes>>,
        threads: usize,
    ) -> PyResult<(Option<State>, Option<Model>)> {
        let answers: Vec<&[u8]> = answers.iter().map(|answer| answer.as_bytes()).collect();
        let outcome = interrupt::run(py, |observer| {
            let run = Context::default().with_threads(threads).observed_by(observer);
            self.fit()?.advance(state.take()?, &answers, &run)
        })?;
        warn(py, &outcome.warnings)?;
        let step: Step<Fitting, Trained> = outcome.value;
        Ok(match step {
            Step::Again(next) => (Some(State::new(next)), None),
            Step::Done(trained) => (None, Some(Model::new(trained))),
        })
    }

    /// Rows, parts and score, from all answers of a job of predictions.
    fn finish(
        &self,
        py: Python<'_>,
        answers: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<(u64, Vec<String>, Option<f64>)> {
        let answers: Vec<&[u8]> = answers.iter().map(|answer| answer.as_bytes()).collect();
        let applied = match &self.work {
            Work::Apply(job) => job.finish(&answers),
            Work::Fit(_) => Err(Error::internal("a fit ends with `advance`")),
        };
        let applied = applied.map_err(|error| raise(py, error))?;
        Ok((applied.rows, applied.parts, applied.score))
    }

    /// Names of the input columns.
    fn columns(&self) -> Vec<String> {
        match &self.work {
            Work::Fit(job) => {
                job.source().outline().schema.names().map(ToString::to_string).collect()
            }
            Work::Apply(_) => Vec::new(),
        }
    }
}

impl Job {
    fn fit(&self) -> Result<&Fit> {
        match &self.work {
            Work::Fit(job) => Ok(job),
            Work::Apply(_) => Err(Error::internal("predictions have no rounds")),
        }
    }
}
