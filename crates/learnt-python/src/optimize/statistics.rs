//! Descent on rows, expectation maximisation and likelihoods.

use super::{MotionGiven, PaceGiven, RulesGiven, outcome};
use crate::callback::{Caller, matrix, number, parts, vector};
use crate::convert::array;
use learnt_core::context::Context;
use learnt_core::data::Matrix;
use learnt_core::error::{Error, Result};
use learnt_core::optimize::{
    Bounds, ExpectationMaximization, Information, Likelihood, LikelihoodFit, MatrixOf,
    MaximumLikelihood, RowOrder, StochasticDescent,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(optimize_stochastic, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_em, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_likelihood, module)?)
}

/// Descends on a sum over rows.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
fn optimize_stochastic<'py>(
    py: Python<'py>,
    gradient: Bound<'py, PyAny>,
    x0: Vec<f64>,
    n: usize,
    objective: Option<Bound<'py, PyAny>>,
    batch_size: usize,
    order: &str,
    motion: MotionGiven,
    pace: PaceGiven,
    average_from: Option<usize>,
    means: bool,
    rules: RulesGiven,
    trace: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Caller::run(py, seed, |caller, run| {
        let method = StochasticDescent {
            batch_size,
            order: match order {
                "shuffled" => RowOrder::Shuffled,
                "listed" => RowOrder::Listed,
                "replacement" => RowOrder::Replacement,
                other => {
                    let known = ["shuffled", "listed", "replacement"];
                    return Err(Error::unknown("order", other, known));
                }
            },
            schedule: pace.schedule()?,
            motion: motion.motion()?,
            average_from,
            means,
            rules: rules.rules(),
            keep_path: trace,
        };
        let at = |x: &[f64], rows: &[usize]| batch(caller, &gradient, x, rows, means);
        match &objective {
            None => method.run(x0, n, at, None, run),
            Some(objective) => {
                let mut value = |x: &[f64]| caller.number(objective, x);
                method.run(x0, n, at, Some(&mut value), run)
            }
        }
    })?;
    let out = PyDict::new(py);
    out.set_item("x", PyArray1::from_vec(py, fit.x))?;
    out.set_item("last", PyArray1::from_vec(py, fit.last))?;
    out.set_item("fun", fit.values.last())?;
    out.set_item("nit", fit.epochs)?;
    out.set_item("steps", fit.steps)?;
    outcome(&out, fit.stopped)?;
    out.set_item("history", PyArray1::from_vec(py, fit.values))?;
    out.set_item("path", fit.path.map(|path| array(py, path)).transpose()?)?;
    Ok(out)
}

/// The gradient of some rows: one vector, or a row for each.
fn batch<'py>(
    caller: &Caller<'py>,
    gradient: &Bound<'py, PyAny>,
    x: &[f64],
    rows: &[usize],
    means: bool,
) -> Result<Vec<f64>> {
    let rows_array = PyArray1::from_iter(caller.py(), rows.iter().map(|&row| row as i64));
    let answer = caller.keep(gradient.call1((caller.array(x), rows_array)))?;
    let dimensions = || -> PyResult<usize> {
        Ok(if answer.hasattr("ndim")? { answer.getattr("ndim")?.extract()? } else { 1 })
    };
    if caller.keep(dimensions())? < 2 {
        return caller.keep(vector(&answer));
    }
    let each = caller.keep(matrix(&answer))?;
    if each.nrows() != rows.len() {
        return Err(Error::shape("gradient", format!("{} rows", rows.len()), each.nrows()));
    }
    let share = if means { each.nrows() as f64 } else { 1.0 };
    Ok((0..each.ncols()).map(|j| each.column(j).iter().sum::<f64>() / share).collect())
}

/// Expectation maximisation of objects that only the user's functions understand.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
fn optimize_em<'py>(
    py: Python<'py>,
    e_step: Bound<'py, PyAny>,
    m_step: Bound<'py, PyAny>,
    start: Bound<'py, PyAny>,
    max_iter: usize,
    tol: f64,
    n_init: usize,
    strict: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Caller::run(py, 0, |caller: &Caller<'py>, run: &Context| {
        let em = ExpectationMaximization { max_iter, tol, n_init, strict };
        let expect = |parameters: &Bound<'py, PyAny>| {
            let answer = caller.keep(e_step.call1((parameters,)))?;
            let read = || -> PyResult<(Bound<'py, PyAny>, f64)> {
                let [statistics, likelihood] = parts(&answer, "e_step")?;
                let likelihood = number(&likelihood)?;
                Ok((statistics, likelihood))
            };
            caller.keep(read())
        };
        let maximize = |statistics: &Bound<'py, PyAny>| caller.keep(m_step.call1((statistics,)));
        em.run(|index| caller.keep(start.call1((index,))), expect, maximize, run)
    })?;
    let out = PyDict::new(py);
    out.set_item("parameters", fit.parameters)?;
    out.set_item("log_likelihood", fit.log_likelihood)?;
    out.set_item("nit", fit.iterations)?;
    outcome(&out, fit.stopped)?;
    out.set_item("history", PyArray1::from_vec(py, fit.values))?;
    out.set_item("start", fit.start)?;
    out.set_item("starts", PyArray1::from_vec(py, fit.starts))?;
    Ok(out)
}

/// Maximises a likelihood; all functions take θ.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
fn optimize_likelihood<'py>(
    py: Python<'py>,
    log_density: Bound<'py, PyAny>,
    theta0: Vec<f64>,
    score: Option<Bound<'py, PyAny>>,
    hessian: Option<Bound<'py, PyAny>>,
    expected: Option<Bound<'py, PyAny>>,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
    level: f64,
    information: &str,
    max_iter: usize,
    tol: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Caller::run(py, 0, |caller, run| {
        let information = match information {
            "observed" => Information::Observed,
            "outer-product" => Information::OuterProduct,
            "expected" => Information::Expected,
            other => {
                let known = ["observed", "outer-product", "expected"];
                return Err(Error::unknown("information", other, known));
            }
        };
        let bounds = bounds.map(|(lower, upper)| Bounds { lower, upper });
        let method = MaximumLikelihood { bounds, level, information, max_iter, tol };
        let mut model = Likelihood::new(|theta| caller.vector(&log_density, theta));
        let given = |function: Option<Bound<'py, PyAny>>| {
            function.map(|function| -> MatrixOf<'_> {
                Box::new(move |theta| caller.matrix(&function, theta))
            })
        };
        model.score = given(score);
        model.hessian = given(hessian);
        model.expected = given(expected);
        method.fit(theta0, model, run)
    })?;
    describe(py, fit)
}

fn describe(py: Python<'_>, fit: LikelihoodFit) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    let or_nan = |values: Vec<Option<f64>>| -> Vec<f64> {
        values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    };
    let intervals = Matrix::from_fn(fit.intervals.len(), 2, |i, j| {
        fit.intervals[i].map_or(f64::NAN, |(low, high)| if j == 0 { low } else { high })
    });
    out.set_item("x", PyArray1::from_vec(py, fit.theta))?;
    out.set_item("log_likelihood", fit.log_likelihood)?;
    out.set_item("score", PyArray1::from_vec(py, fit.score))?;
    out.set_item("observed_information", array(py, fit.observed)?)?;
    out.set_item("outer_product", array(py, fit.outer_product)?)?;
    out.set_item("expected_information", fit.expected.map(|m| array(py, m)).transpose()?)?;
    out.set_item("covariance", fit.covariance.map(|m| array(py, m)).transpose()?)?;
    out.set_item("standard_errors", PyArray1::from_vec(py, or_nan(fit.standard_errors)))?;
    out.set_item("intervals", array(py, intervals)?)?;
    out.set_item("at_bound", PyArray1::from_vec(py, fit.at_bound))?;
    out.set_item("nit", fit.iterations)?;
    outcome(&out, fit.stopped)?;
    Ok(out)
}
