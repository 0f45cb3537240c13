//! The native half of the Python package: one function that fits any learner of the registry, one
//! class that is any trained model, one file that converts arrays, and optimisation of functions of
//! the user.
//!
//! Everything that scikit-learn's conventions ask for is Python code beside it.

mod callback;
mod convert;
mod failure;
mod interrupt;
mod linear;
mod model;
mod optimize;

use convert::{Columns, Numbers};
use failure::{raise, warn};
use learnt_core::context::{Context, available_threads};
use learnt_core::data::{Dataset, Frame, Label, Schema, Target};
use learnt_core::error::{Code, Error};
use learnt_core::estimator::AnyEstimator;
use learnt_core::params::LearnerSpec;
use learnt_core::trained::Trained;
use model::Model;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::borrow::Cow;

/// Builds the module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Model>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(update, module)?)?;
    module.add_function(wrap_pyfunction!(capabilities, module)?)?;
    module.add_function(wrap_pyfunction!(linear::regularization_path, module)?)?;
    module.add_function(wrap_pyfunction!(linear::constrained_least_squares, module)?)?;
    module.add_function(wrap_pyfunction!(linear::linear_separability, module)?)?;
    module.add_function(wrap_pyfunction!(linear::masking_report, module)?)?;
    module.add_function(wrap_pyfunction!(linear::simple_regression, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(copied_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(threads_available, module)?)?;
    optimize::register(module)
}

/// Trains a learner. `y` holds numbers, or codes of `classes` where those are given.
#[pyfunction]
#[pyo3(signature = (path, params, x, columns, y, classes, targets, weights, seed, threads))]
#[expect(clippy::too_many_arguments, reason = "one crossing of the boundary, called by one method")]
fn fit<'py>(
    py: Python<'py>,
    path: &str,
    params: &Bound<'py, PyDict>,
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: Option<&Bound<'py, PyAny>>,
    classes: Option<&Bound<'py, PyList>>,
    targets: Vec<String>,
    weights: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let learner = build(py, path, params)?;
    let rows = Rows::read(x, y, classes, weights)?;
    let schema = columns.schema(rows.x.ncols()).map_err(|error| raise(py, error))?;
    rows.learn(py, &schema, seed, threads, |data, run| {
        Trained::fit(learner.as_ref(), data, &targets, run)
    })
}

/// Goes on training the model `before`, or begins one without it.
#[pyfunction]
#[pyo3(signature = (before, path, params, x, columns, y, classes, targets, weights, seed, threads))]
#[expect(clippy::too_many_arguments, reason = "one crossing of the boundary, called by one method")]
fn update<'py>(
    py: Python<'py>,
    before: Option<&Bound<'py, Model>>,
    path: &str,
    params: &Bound<'py, PyDict>,
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: Option<&Bound<'py, PyAny>>,
    classes: Option<&Bound<'py, PyList>>,
    targets: Vec<String>,
    weights: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let learner = build(py, path, params)?;
    let rows = Rows::read(x, y, classes, weights)?;
    let before = before.map(|model| model.get().trained());
    let schema = match before {
        Some(before) => columns.schema_like(&before.history.schema),
        None => columns.schema(rows.x.ncols()).map(Cow::Owned),
    };
    let schema = schema.map_err(|error| raise(py, error))?;
    rows.learn(py, &schema, seed, threads, |data, run| {
        Trained::update(before, learner.as_ref(), data, &targets, run)
    })
}

/// Arrays to learn from, as Python gave them.
struct Rows<'py> {
    x: Numbers<'py>,
    outputs: Option<Numbers<'py>>,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    labels: Option<Vec<Label>>,
    weights: Option<Numbers<'py>>,
}

impl<'py> Rows<'py> {
    fn read(
        x: &Bound<'py, PyAny>,
        y: Option<&Bound<'py, PyAny>>,
        classes: Option<&Bound<'py, PyList>>,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let labels = classes.map(|classes| classes.iter().map(|c| convert::label(&c)).collect());
        let labels: Option<Vec<_>> = labels.transpose()?;
        let (codes, outputs) = match (&labels, y) {
            (Some(_), Some(codes)) => (Some(codes.extract()?), None),
            (None, Some(y)) => (None, Some(Numbers::read(y)?)),
            _ => (None, None),
        };
        let weights = weights.map(Numbers::read).transpose()?;
        Ok(Rows { x: Numbers::read(x)?, outputs, codes, labels, weights })
    }

    /// Calls `work` with the data set, without the interpreter's lock.
    fn learn(
        &self,
        py: Python<'py>,
        schema: &Schema,
        seed: u64,
        threads: usize,
        work: impl FnOnce(&Dataset, &Context) -> learnt_core::error::Result<Trained> + Send,
    ) -> PyResult<Model> {
        let codes = self.codes.as_ref().map(|codes| codes.as_slice()).transpose()?;
        let weights = self.weights.as_ref().map(Numbers::to_contiguous);
        let (x, outputs) = (self.x.view(), self.outputs.as_ref().map(Numbers::view));
        let labels = &self.labels;
        let trained = interrupt::run(py, |observer| {
            let target = match (codes, labels, outputs) {
                (Some(codes), Some(classes), _) => Some(Target::Class { codes, classes }),
                (_, _, Some(values)) => Some(Target::Real(values)),
                _ => None,
            };
            let data = Dataset {
                x: Frame::new(x, schema)?,
                y: target,
                weights: weights.as_deref(),
                groups: None,
            };
            let run =
                Context::default().with_seed(seed).with_threads(threads).observed_by(observer);
            work(&data, &run)
        })?;
        warn(py, &trained.warnings)?;
        Model::new(trained.value).map_err(|error| raise(py, error))
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

/// The number of threads that this process may use.
#[pyfunction]
fn threads_available() -> usize {
    available_threads()
}

/// The error for something that only this file can get wrong.
fn internal(message: &str) -> Error {
    Error::new(Code::Internal, message)
}
