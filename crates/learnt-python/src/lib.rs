//! The native half of the Python package: one function that fits any learner of the registry, one
//! class that is any trained model, one file that converts arrays, and optimisation of functions of
//! the user.
//!
//! Everything that scikit-learn's conventions ask for is Python code beside it.

mod callback;
mod compare;
mod convert;
mod failure;
mod formula;
mod function;
mod interrupt;
mod jobs;
mod model;
mod optimize;
mod picture;
mod repeated;
mod search;
mod singles;
mod texts;

use convert::{Columns, Numbers, Singles};
use failure::{raise, warn};
use learnt_core::context::{Context, Observer, available_threads};
use learnt_core::data::{Dataset, Frame, Label, Schema, Sequences, Target};
use learnt_core::error::{Code, Error};
use learnt_core::estimator::AnyEstimator;
use learnt_core::params::LearnerSpec;
use learnt_core::rounds::SinglePrecision;
use learnt_core::trained::{Missing, Trained};
use model::Model;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::borrow::Cow;

#[global_allocator]
static MEMORY: learnt_core::LargePages = learnt_core::LargePages;

/// Builds the module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Model>()?;
    module.add_class::<function::Answer>()?;
    module.add_function(wrap_pyfunction!(function::call, module)?)?;
    module.add_function(wrap_pyfunction!(function::picture, module)?)?;
    module.add_function(wrap_pyfunction!(function::encode, module)?)?;
    module.add_function(wrap_pyfunction!(function::dataset, module)?)?;
    module.add_function(wrap_pyfunction!(function::dataset_names, module)?)?;
    module.add_function(wrap_pyfunction!(formula::formula_sides, module)?)?;
    module.add_function(wrap_pyfunction!(formula::formula_terms, module)?)?;
    module.add_function(wrap_pyfunction!(formula::anova, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(compare::decide, module)?)?;
    module.add_function(wrap_pyfunction!(compare::usual_metrics, module)?)?;
    module.add_function(wrap_pyfunction!(compare::usual_splits, module)?)?;
    module.add_function(wrap_pyfunction!(compare::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(compare::score, module)?)?;
    module.add_function(wrap_pyfunction!(search::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(search::halving_rungs, module)?)?;
    module.add_function(wrap_pyfunction!(search::thinned_splits, module)?)?;
    module.add_function(wrap_pyfunction!(search::suggest, module)?)?;
    module.add_function(wrap_pyfunction!(search::search_report, module)?)?;
    module.add_class::<picture::Picture>()?;
    module.add_function(wrap_pyfunction!(picture::plots, module)?)?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(update, module)?)?;
    module.add_function(wrap_pyfunction!(extend, module)?)?;
    module.add_function(wrap_pyfunction!(fit_members, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(capabilities, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(copied_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(repeated_objects, module)?)?;
    module.add_function(wrap_pyfunction!(text_levels, module)?)?;
    module.add_function(wrap_pyfunction!(threads_available, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_class::<jobs::Job>()?;
    module.add_class::<jobs::State>()?;
    module.add_function(wrap_pyfunction!(jobs::plan_fit, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::plan_predict, module)?)?;
    optimize::register(module)
}

/// Runs the `learnt` command with these words, of which the first is its name; the exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| learnt_cli::main(words).number())
}

/// Trains a learner with the arguments of a dictionary (see [`Given`]).
#[pyfunction]
fn fit<'py>(py: Python<'py>, given: Given<'py>) -> PyResult<Model> {
    let learner = build(py, &given.path, &given.params)?;
    let with_policy = |mut trained: Trained| {
        if let Some(policy) = &given.missing {
            trained.history.missing = Missing::parse(policy)?;
        }
        Ok(trained)
    };
    if given.takes_blocks(learner.as_ref())
        && let Some(singles) = Singles::read(&given.x)?.filter(|x| x.table().by_row)
    {
        let x = singles.table();
        let rest = Beside::read(&given)?;
        let schema = given.columns.schema(x.width).map_err(|error| raise(py, error))?;
        let trained = rest.work(py, given.seed, given.threads, false, |y, weights, run| {
            let source = SinglePrecision::new(x.values, &schema, y, weights)?;
            with_policy(Trained::fit_source(learner.as_ref(), &source, &given.targets, run)?)
        });
        return trained.map(Model::new);
    }
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    let short = is_short(learner.as_ref(), &rows);
    rows.learn(py, &schema, given.seed, given.threads, short, |data, run| {
        with_policy(Trained::fit(learner.as_ref(), data, &given.targets, run)?)
    })
}

/// Whether a fit is over before anybody could interrupt it: a closed form on a small table. Then it
/// needs no thread of its own.
fn is_short(learner: &dyn AnyEstimator, rows: &Rows) -> bool {
    const SIMPLE: u8 = 20;
    let about = learner.about();
    rows.x.len() <= model::FEW_VALUES && !about.uses.iterations && about.complexity <= SIMPLE
}

/// Continues training the model `before` with more rows, or begins one without it.
#[pyfunction]
#[pyo3(signature = (before, given))]
fn update<'py>(
    py: Python<'py>,
    before: Option<&Bound<'py, Model>>,
    given: Given<'py>,
) -> PyResult<Model> {
    let learner = build(py, &given.path, &given.params)?;
    let rows = Rows::read(&given)?;
    let before = before.map(|model| model.get().trained());
    let schema = match before {
        Some(before) => given.columns.schema_like(&before.history.schema),
        None => given.columns.schema(rows.x.ncols()).map(Cow::Owned),
    };
    let schema = schema.map_err(|error| raise(py, error))?;
    rows.learn(py, &schema, given.seed, given.threads, false, |data, run| {
        Trained::update(before, learner.as_ref(), data, &given.targets, run)
    })
}

/// Makes the model `before` larger on the same rows: more members or rounds.
#[pyfunction]
fn extend<'py>(py: Python<'py>, before: &Bound<'py, Model>, given: Given<'py>) -> PyResult<Model> {
    let learner = build(py, &given.path, &given.params)?;
    let rows = Rows::read(&given)?;
    let before = before.get().trained();
    let schema = given.columns.schema_like(&before.history.schema);
    let schema = schema.map_err(|error| raise(py, error))?;
    rows.learn(py, &schema, given.seed, given.threads, false, |data, run| {
        before.extended(learner.as_ref(), data, &given.targets, run)
    })
}

/// Trains the members `first` to `last` of an ensemble; `join` makes one model of all.
#[pyfunction]
fn fit_members<'py>(
    py: Python<'py>,
    given: Given<'py>,
    first: usize,
    last: usize,
) -> PyResult<Model> {
    let learner = build(py, &given.path, &given.params)?;
    let rows = Rows::read(&given)?;
    let schema = given.columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    rows.learn(py, &schema, given.seed, given.threads, false, |data, run| {
        Trained::fit_members(learner.as_ref(), first..last, data, &given.targets, run)
    })
}

/// One model of members that were fitted apart, in the order of their numbers.
#[pyfunction]
fn join<'py>(
    py: Python<'py>,
    path: &str,
    params: &Bound<'py, PyDict>,
    parts: Vec<Bound<'py, Model>>,
) -> PyResult<Model> {
    let learner = build(py, path, params)?;
    let parts: Vec<&Trained> = parts.iter().map(|part| part.get().trained()).collect();
    let joined = Trained::joined(learner.as_ref(), &parts).map_err(|error| raise(py, error))?;
    Ok(Model::new(joined))
}

/// What a fit is given: a dictionary with these names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Given<'py> {
    /// The learner's path in the registry.
    path: String,
    params: Bound<'py, PyDict>,
    x: Bound<'py, PyAny>,
    columns: Columns,
    /// Numbers, or codes of `classes` where those are given.
    y: Option<Bound<'py, PyAny>>,
    classes: Option<Bound<'py, PyList>>,
    /// Names of the target columns.
    targets: Vec<String>,
    weights: Option<Bound<'py, PyAny>>,
    /// The number of rows of each sequence.
    lengths: Option<Vec<usize>>,
    /// The group of each row.
    groups: Option<PyReadonlyArray1<'py, u32>>,
    seed: u64,
    threads: usize,
    /// What predictions do with missing values; refused without one.
    missing: Option<String>,
}

impl Given<'_> {
    /// Whether the learner can take these rows block by block, and gives all that it gives otherwise.
    /// Rows of weight zero are left out of a table at once, which a stream cannot do.
    fn takes_blocks(&self, learner: &dyn AnyEstimator) -> bool {
        let streams = learner.any_job().is_some_and(|job| !job.whole_is_faster())
            && !learner.any_roles().clusterer;
        streams && self.weights.is_none() && self.lengths.is_none() && self.groups.is_none()
    }
}

/// What stands beside the rows: targets and weights.
struct Beside<'py> {
    outputs: Option<Numbers<'py>>,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    labels: Option<Vec<Label>>,
    weights: Option<Numbers<'py>>,
}

impl<'py> Beside<'py> {
    fn read(given: &Given<'py>) -> PyResult<Self> {
        let classes = given.classes.as_ref();
        let labels = classes.map(|classes| classes.iter().map(|c| convert::label(&c)).collect());
        let labels: Option<Vec<_>> = labels.transpose()?;
        let (codes, outputs) = match (&labels, &given.y) {
            (Some(_), Some(codes)) => (Some(codes.extract()?), None),
            (None, Some(y)) => (None, Some(Numbers::read(y)?)),
            _ => (None, None),
        };
        let weights = given.weights.as_ref().map(Numbers::read).transpose()?;
        Ok(Beside { outputs, codes, labels, weights })
    }

    /// Calls `work` with the target and the weights, without the interpreter's lock.
    fn work<T: Send>(
        &self,
        py: Python<'py>,
        seed: u64,
        threads: usize,
        short: bool,
        work: impl FnOnce(Option<Target>, Option<&[f64]>, &Context) -> learnt_core::error::Result<T>
        + Send,
    ) -> PyResult<T> {
        let codes = self.codes.as_ref().map(|codes| codes.as_slice()).transpose()?;
        let weights = self.weights.as_ref().map(Numbers::to_contiguous);
        let (labels, outputs) = (&self.labels, self.outputs.as_ref().map(Numbers::view));
        let body = |observer: &dyn Observer| {
            let y = match (codes, labels, outputs) {
                (Some(codes), Some(classes), _) => Some(Target::Class { codes, classes }),
                (_, _, Some(values)) => Some(Target::Real(values)),
                _ => None,
            };
            let run =
                Context::default().with_seed(seed).with_threads(threads).observed_by(observer);
            work(y, weights.as_deref(), &run)
        };
        let outcome = match short {
            true => interrupt::run_short(py, body)?,
            false => interrupt::run(py, body)?,
        };
        warn(py, &outcome.warnings)?;
        Ok(outcome.value)
    }
}

/// Arrays to learn from, as Python gave them.
struct Rows<'py> {
    x: Numbers<'py>,
    beside: Beside<'py>,
    offsets: Option<Vec<usize>>,
    groups: Option<Vec<u32>>,
}

impl<'py> Rows<'py> {
    fn read(given: &Given<'py>) -> PyResult<Self> {
        let beside = Beside::read(given)?;
        let x = Numbers::read(&given.x)?;
        let offsets = convert::offsets(given.x.py(), given.lengths.as_deref(), &x)?;
        let groups = given.groups.as_ref().map(|groups| groups.as_array().to_vec());
        Ok(Rows { x, beside, offsets, groups })
    }

    /// Trains a model on the data set.
    fn learn(
        &self,
        py: Python<'py>,
        schema: &Schema,
        seed: u64,
        threads: usize,
        short: bool,
        work: impl FnOnce(&Dataset, &Context) -> learnt_core::error::Result<Trained> + Send,
    ) -> PyResult<Model> {
        self.on_data(py, schema, seed, threads, short, work).map(Model::new)
    }

    /// Calls `work` with the data set, without the interpreter's lock.
    fn on_data<T: Send>(
        &self,
        py: Python<'py>,
        schema: &Schema,
        seed: u64,
        threads: usize,
        short: bool,
        work: impl FnOnce(&Dataset, &Context) -> learnt_core::error::Result<T> + Send,
    ) -> PyResult<T> {
        let (x, offsets, groups) = (self.x.view(), self.offsets.as_deref(), self.groups.as_deref());
        self.beside.work(py, seed, threads, short, |y, weights, run| {
            let sequences =
                offsets.map(|offsets| Sequences::new(offsets, x.nrows())).transpose()?;
            let x = Frame::new(x, schema)?;
            work(&Dataset { x, y, weights, groups, sequences }, run)
        })
    }
}

/// A learner with these parameters.
fn build(
    py: Python<'_>,
    path: &str,
    params: &Bound<'_, PyDict>,
) -> PyResult<Box<dyn AnyEstimator>> {
    let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract()?, convert::value(&value)?))
    };
    let params = params.iter().map(pair).collect::<PyResult<_>>()?;
    let spec = LearnerSpec { learner: path.to_string(), params };
    learnt::build(&spec).map_err(|error| raise(py, error))
}

/// Roles and what is accepted with these parameters: a pipeline is what its last step is, and takes
/// what its first step takes. Some parameters take away probabilities.
#[pyfunction]
fn capabilities<'py>(
    py: Python<'py>,
    path: &str,
    params: &Bound<'py, PyDict>,
) -> PyResult<(Vec<&'static str>, Bound<'py, PyDict>)> {
    let learner = build(py, path, params)?;
    let accepts = learner.any_accepts();
    let out = PyDict::new(py);
    out.set_item("missing", accepts.missing)?;
    out.set_item("categories", accepts.categories)?;
    out.set_item("weights", accepts.weights)?;
    out.set_item("many_outputs", accepts.many_outputs)?;
    out.set_item("sequences", accepts.sequences)?;
    out.set_item("volumes", accepts.volumes)?;
    out.set_item("groups", accepts.groups)?;
    out.set_item("classes", learner.any_roles().needs_classes())?;
    out.set_item("probabilities", learner.any_offers().probabilities)?;
    Ok((learner.any_roles().names(), out))
}

/// The registry as JSON text.
#[pyfunction]
fn registry() -> String {
    learnt::catalogue::catalogue().to_string()
}

/// Bytes of input copied so far, because an array was not one that can be read in place.
#[pyfunction]
fn copied_bytes() -> u64 {
    convert::copied()
}

/// The different objects of a column and for each row the number of its own; `None` where they are too many.
#[pyfunction]
fn repeated_objects<'py>(
    column: &Bound<'py, PyArray1<Py<PyAny>>>,
) -> PyResult<repeated::Repeated<'py>> {
    repeated::of(column)
}

/// Codes and sorted levels of a column of texts and missing values; `None` if it holds anything else.
#[pyfunction]
fn text_levels<'py>(column: &Bound<'py, PyArray1<Py<PyAny>>>) -> PyResult<texts::Levels<'py>> {
    texts::levels(column)
}

/// The number of threads that this process may use.
#[pyfunction]
fn threads_available() -> usize {
    available_threads()
}

/// The error for something that only this file can get wrong.
fn internal(message: &str) -> Error {
    Error::new(Code::Internal, message)
}
