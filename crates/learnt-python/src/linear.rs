//! Functions of linear models that are no learners.

use crate::convert::{Columns, Numbers, array};
use crate::failure::{raise, warn};
use crate::interrupt;
use learnt::linear::penalized::{self, PathKind, PathOptions};
use learnt_core::context::Context;
use learnt_core::data::{Dataset, Frame, Target};
use learnt_core::estimator::Accepts;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The path of a penalty: alphas, coefs (one array an output), intercepts and figures.
/// `options` has the fields of `PathOptions`; `l1_ratio` 0 means ridge.
#[pyfunction]
#[pyo3(signature = (x, columns, y, weights, l1_ratio, n_alphas, eps, alphas, fit_intercept, max_iter, tol, positive, threads))]
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
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let kind = match l1_ratio {
        1.0 => PathKind::Lasso,
        0.0 => PathKind::Ridge,
        l1_ratio => PathKind::ElasticNet { l1_ratio },
    };
    let options = PathOptions { n_alphas, eps, alphas, fit_intercept, max_iter, tol, positive };
    let (inputs, outputs) = (Numbers::read(x)?, Numbers::read(y)?);
    let schema = columns.schema(inputs.ncols()).map_err(|error| raise(py, error))?;
    let weights = weights.map(Numbers::read).transpose()?;
    let weights = weights.as_ref().map(Numbers::to_contiguous);
    let (x, y) = (inputs.view(), outputs.view());
    let outcome = interrupt::run(py, |observer| {
        let run = Context::default().with_threads(threads).observed_by(observer);
        let data = Dataset {
            x: Frame::new(x, &schema)?,
            y: Some(Target::Real(y)),
            weights: weights.as_deref(),
            groups: None,
        };
        let accepts = Accepts { weights: true, many_outputs: true, ..Accepts::default() };
        data.check(accepts, true, &run)?;
        penalized::path(kind, &data, &options, &run)
    })?;
    warn(py, &outcome.warnings)?;
    let path = outcome.value;
    let out = PyDict::new(py);
    out.set_item("names", &path.names)?;
    out.set_item("report", (path.report().to_text(), path.report().to_json().to_string()))?;
    out.set_item("svg", path.figure().to_svg())?;
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
