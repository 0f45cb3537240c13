//! Functions of linear models that are no learners.

use crate::convert::{Columns, Numbers, array};
use crate::failure::{raise, warn};
use crate::function::Answer;
use crate::interrupt;
use learnt::linear::penalized::{self, PathKind, PathOptions};
use learnt_core::context::Context;
use learnt_core::data::{Dataset, Frame, Target};
use learnt_core::error::Result;
use learnt_core::estimator::Accepts;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Calls `work` with a checked table and numeric targets, without the interpreter's lock.
fn on_numbers<'py, T: Send>(
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    threads: usize,
    work: impl FnOnce(&Dataset, &Context) -> Result<T> + Send,
) -> PyResult<T> {
    let py = x.py();
    let (inputs, outputs) = (Numbers::read(x)?, Numbers::read(y)?);
    let schema = columns.schema(inputs.ncols()).map_err(|error| raise(py, error))?;
    let weights = weights.map(Numbers::read).transpose()?;
    let weights = weights.as_ref().map(Numbers::to_contiguous);
    let (x, y) = (inputs.view(), outputs.view());
    let outcome = interrupt::run(py, |observer| {
        let run = Context::default().with_threads(threads).observed_by(observer);
        let x = Frame::new(x, &schema)?;
        let y = Some(Target::Real(y));
        let data = Dataset { y, weights: weights.as_deref(), ..Dataset::new(x) };
        let accepts = Accepts { weights: true, many_outputs: true, ..Accepts::default() };
        data.check(accepts, true, &run)?;
        work(&data, &run)
    })?;
    warn(py, &outcome.warnings)?;
    Ok(outcome.value)
}

/// The path of a penalty: alphas, coefs (one array an output), intercepts and figures. `l1_ratio` 0
/// means ridge; what only people look at comes only if it is `shown`.
#[pyfunction]
#[pyo3(signature = (x, columns, y, weights, l1_ratio, n_alphas, eps, alphas, fit_intercept, max_iter, tol, positive, shown, threads))]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
pub(crate) fn regularization_path<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    l1_ratio: f64,
    n_alphas: usize,
    eps: f64,
    alphas: Option<Vec<f64>>,
    fit_intercept: bool,
    max_iter: usize,
    tol: f64,
    positive: bool,
    shown: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let kind = match l1_ratio {
        1.0 => PathKind::Lasso,
        0.0 => PathKind::Ridge,
        l1_ratio => PathKind::ElasticNet { l1_ratio },
    };
    let options = PathOptions {
        n_alphas,
        eps,
        alphas,
        fit_intercept,
        max_iter,
        tol,
        positive,
        least_squares: shown,
    };
    let path = on_numbers(x, columns, y, weights, threads, |data, run| {
        penalized::path(kind, data, &options, run)
    })?;
    let out = PyDict::new(py);
    out.set_item("names", &path.names)?;
    if shown {
        let report = path.report();
        out.set_item("report", Bound::new(py, Answer(report))?)?;
        out.set_item("svg", learnt_plot::to_svg(&path.chart_with_bic(x.len()?)))?;
    }
    out.set_item("alphas", PyArray1::from_vec(py, path.alphas))?;
    let coefs: Vec<_> =
        path.coefs.into_iter().map(|coef| array(py, coef)).collect::<PyResult<_>>()?;
    out.set_item("coefs", PyList::new(py, coefs)?)?;
    for (name, matrix) in [
        ("intercepts", path.intercepts),
        ("shrinkage", path.shrinkage),
        ("df", path.df),
        ("r2", path.r2),
        ("dual_gaps", path.dual_gaps),
    ] {
        out.set_item(name, array(py, matrix)?)?;
    }
    out.set_item("n_iters", path.n_iters)?;
    Ok(out)
}
