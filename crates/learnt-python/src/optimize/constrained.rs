//! Lagrangians of the user's functions.

use super::outcome;
use crate::callback::{Caller, matrix, number, parts, vector};
use learnt_core::context::Context;
use learnt_core::data::Matrix;
use learnt_core::error::Result;
use learnt_core::optimize::{Constrained, Evaluation, Multipliers, dual_function, duality_gap};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(optimize_lagrangian, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_dual, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_gap, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_kkt, module)?)
}

type Function<'py> = Bound<'py, PyAny>;

/// Objective and constraints where `problem` says (f, ∇f, g, ∇g, h, ∇h).
fn constrained(caller: &Caller, problem: &Function, x: &[f64]) -> Result<Constrained> {
    let answer = caller.keep(problem.call1((caller.array(x),)))?;
    let read = || -> PyResult<Constrained> {
        let [f, f_gradient, g, g_gradients, h, h_gradients] = parts(&answer, "the problem")?;
        let gradient = vector(&f_gradient)?;
        let rows = |object: &Function| -> PyResult<Matrix> {
            let rows = matrix(object)?;
            Ok(if rows.nrows() == 0 { Matrix::zeros(0, gradient.len()) } else { rows })
        };
        Ok(Constrained {
            inequalities: vector(&g)?,
            inequality_gradients: rows(&g_gradients)?,
            equalities: vector(&h)?,
            equality_gradients: rows(&h_gradients)?,
            objective: Evaluation { value: number(&f)?, gradient: gradient.clone(), hessian: None },
        })
    };
    caller.keep(read())
}

fn at<'py, T>(
    py: Python<'py>,
    multipliers: (Vec<f64>, Vec<f64>),
    work: impl FnOnce(&Caller<'py>, &Multipliers, &Context) -> Result<T>,
) -> PyResult<T> {
    let (inequalities, equalities) = multipliers;
    let multipliers = Multipliers { inequalities, equalities };
    Caller::run(py, 0, |caller, run| work(caller, &multipliers, run))
}

/// L and its gradient.
#[pyfunction]
fn optimize_lagrangian<'py>(
    py: Python<'py>,
    problem: Function<'py>,
    x: Vec<f64>,
    multipliers: (Vec<f64>, Vec<f64>),
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
    let found = at(py, multipliers, |caller, multipliers, _| {
        constrained(caller, &problem, &x)?.lagrangian(multipliers)
    })?;
    Ok((found.value, PyArray1::from_vec(py, found.gradient)))
}

/// The dual function.
#[pyfunction]
fn optimize_dual<'py>(
    py: Python<'py>,
    problem: Function<'py>,
    start: Vec<f64>,
    multipliers: (Vec<f64>, Vec<f64>),
) -> PyResult<Bound<'py, PyDict>> {
    let dual = at(py, multipliers, |caller, multipliers, run| {
        dual_function(|x| constrained(caller, &problem, x), multipliers, &start, run)
    })?;
    let out = PyDict::new(py);
    out.set_item("fun", dual.value)?;
    out.set_item("x", PyArray1::from_vec(py, dual.x))?;
    outcome(&out, dual.stopped)?;
    Ok(out)
}

/// f(x) less the dual function.
#[pyfunction]
fn optimize_gap<'py>(
    py: Python<'py>,
    problem: Function<'py>,
    x: Vec<f64>,
    multipliers: (Vec<f64>, Vec<f64>),
    tol: f64,
) -> PyResult<f64> {
    at(py, multipliers, |caller, multipliers, run| {
        duality_gap(|x| constrained(caller, &problem, x), &x, multipliers, tol, run)
    })
}

/// The residuals of the conditions, and their description.
#[pyfunction]
fn optimize_kkt<'py>(
    py: Python<'py>,
    problem: Function<'py>,
    x: Vec<f64>,
    multipliers: (Vec<f64>, Vec<f64>),
    tol: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let residuals = at(py, multipliers, |caller, multipliers, _| {
        constrained(caller, &problem, &x)?.kkt(multipliers)
    })?;
    let out = PyDict::new(py);
    out.set_item("stationarity", residuals.stationarity)?;
    out.set_item("primal_feasibility", residuals.primal_feasibility)?;
    out.set_item("dual_feasibility", residuals.dual_feasibility)?;
    out.set_item("complementary_slackness", residuals.complementary_slackness)?;
    out.set_item("success", residuals.hold(tol))?;
    out.set_item("message", residuals.to_string())?;
    Ok(out)
}
