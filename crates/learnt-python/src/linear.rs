//! Functions of linear models that are no learners.

use crate::convert::{self, Columns, Numbers, array};
use crate::failure::{raise, warn};
use crate::function::Answer;
use crate::interrupt;
use learnt::linear::penalized::{self, Constrained, Intercept, PathKind, PathOptions};
use learnt::linear::{self, Separability};
use learnt_core::context::Context;
use learnt_core::data::{Dataset, Frame, Label, Target};
use learnt_core::error::{Error, Result};
use learnt_core::estimator::Accepts;
use numpy::{PyArray1, PyReadonlyArray1};
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

/// The same with codes of classes.
fn on_classes<'py, T: Send>(
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: &Bound<'py, PyAny>,
    classes: &Bound<'py, PyList>,
    threads: usize,
    work: impl FnOnce(&Dataset, &Context) -> Result<T> + Send,
) -> PyResult<T> {
    let py = x.py();
    let inputs = Numbers::read(x)?;
    let schema = columns.schema(inputs.ncols()).map_err(|error| raise(py, error))?;
    let classes: Vec<Label> =
        classes.iter().map(|class| convert::label(&class)).collect::<PyResult<_>>()?;
    let codes: PyReadonlyArray1<'py, u32> = y.extract()?;
    let (x, codes) = (inputs.view(), codes.as_slice()?);
    let outcome = interrupt::run(py, |observer| {
        let run = Context::default().with_threads(threads).observed_by(observer);
        let y = Some(Target::Class { codes, classes: &classes });
        let data = Dataset { y, ..Dataset::new(Frame::new(x, &schema)?) };
        data.check(Accepts::default(), true, &run)?;
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

/// Least squares with Σ|b| or Σb² bounded: coef, intercept and the penalty of each output.
#[pyfunction]
#[pyo3(signature = (x, columns, y, weights, norm, bound, intercept, threads))]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
pub(crate) fn constrained_least_squares<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    columns: Columns,
    y: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    norm: &str,
    bound: f64,
    intercept: &str,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Vec<f64>, Vec<f64>)> {
    let found = on_numbers(x, columns, y, weights, threads, |data, run| {
        let intercept = match intercept {
            "free" => Intercept::Free,
            "bounded" => Intercept::Penalized,
            "absent" => Intercept::Absent,
            other => {
                return Err(Error::parameter("intercept", "'free', 'bounded' or 'absent'", other));
            }
        };
        match norm {
            "l2" => penalized::norm_constrained(data, bound, intercept, run),
            "l1" if intercept != Intercept::Penalized => {
                penalized::constrained_lasso(data, bound, intercept == Intercept::Free, run)
            }
            "l1" => {
                Err(Error::parameter("intercept", "'free' or 'absent' with norm 'l1'", "bounded"))
            }
            other => Err(Error::parameter("norm", "'l1' or 'l2'", other)),
        }
    })?;
    let Constrained { coef, intercept, lambda } = found;
    Ok((array(py, coef)?, intercept, lambda))
}

/// A separating vector, or rows with multipliers.
type Proof = (Option<Vec<f64>>, Vec<(usize, f64)>);

/// Whether a line separates two classes: intercept and weights of one, or rows and multipliers that
/// prove that there is none.
#[pyfunction]
pub(crate) fn linear_separability(
    x: &Bound<'_, PyAny>,
    columns: Columns,
    y: &Bound<'_, PyAny>,
    classes: &Bound<'_, PyList>,
    threads: usize,
) -> PyResult<Proof> {
    let found = on_classes(x, columns, y, classes, threads, linear::linear_separability)?;
    Ok(match found {
        Separability::Yes { vector } => (Some(vector), Vec::new()),
        Separability::No { certificate } => (None, certificate),
    })
}

/// Predictions of each class by indicator regression, with second-degree terms and by
/// discriminant analysis, as text and as JSON text.
#[pyfunction]
pub(crate) fn masking_report(
    x: &Bound<'_, PyAny>,
    columns: Columns,
    y: &Bound<'_, PyAny>,
    classes: &Bound<'_, PyList>,
    threads: usize,
) -> PyResult<Answer> {
    let report =
        on_classes(x, columns, y, classes, threads, learnt::discriminant::masking)?.report();
    Ok(Answer(report))
}

/// A line through points, by name.
#[pyfunction]
#[pyo3(signature = (x, y, weights, through_origin))]
pub(crate) fn simple_regression<'py>(
    py: Python<'py>,
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    through_origin: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let line = linear::simple_regression(&x, &y, weights.as_deref(), through_origin)
        .map_err(|error| raise(py, error))?;
    let out = PyDict::new(py);
    out.set_item("slope", line.slope)?;
    out.set_item("intercept", line.intercept)?;
    out.set_item("slope_standard_error", line.slope_standard_error)?;
    out.set_item("intercept_standard_error", line.intercept_standard_error)?;
    out.set_item("r", line.r)?;
    out.set_item("rss", line.rss)?;
    out.set_item("df", line.df)?;
    Ok(out)
}
