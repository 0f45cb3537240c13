//! Minimising a function of a vector, rates of descent, and differences.

use super::{MotionGiven, PaceGiven, RulesGiven, outcome};
use crate::callback::{Caller, matrix, number, parts, vector};
use crate::convert::array;
use learnt_core::data::Matrix;
use learnt_core::error::{Error, Result};
use learnt_core::optimize::{
    BoundedNewton, Bounds, CoordinateDescent, Evaluation, GradientDescent, Lbfgs, Minimizer,
    Minimum, Newton, Stop, learning_rate_study, minimize_until, numeric_gradient, numeric_hessian,
    numeric_hessian_of_gradient, numeric_jacobian,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::Cell;

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(optimize_minimize, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_rates, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_jacobian, module)?)
}

/// The function with its derivatives, and how often each was called.
struct Objective<'a, 'py> {
    caller: &'a Caller<'py>,
    fun: Bound<'py, PyAny>,
    jac: Option<Bound<'py, PyAny>>,
    hess: Option<Bound<'py, PyAny>>,
    /// Whether the function returns value and gradient together.
    both: bool,
    calls: Cell<[usize; 3]>,
}

impl Objective<'_, '_> {
    fn count(&self, which: usize) {
        let mut calls = self.calls.get();
        calls[which] += 1;
        self.calls.set(calls);
    }

    fn value(&self, x: &[f64]) -> Result<f64> {
        self.count(0);
        if !self.both {
            return self.caller.number(&self.fun, x);
        }
        self.pair(x).map(|(value, _)| value)
    }

    fn pair(&self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let answer = self.caller.call(&self.fun, x)?;
        let read = || -> PyResult<(f64, Vec<f64>)> {
            let [value, gradient] = parts(&answer, "fun, with jac=True,")?;
            Ok((number(&value)?, vector(&gradient)?))
        };
        self.caller.keep(read())
    }

    fn gradient(&self, x: &[f64]) -> Result<Vec<f64>> {
        if self.both {
            self.count(0);
            return self.pair(x).map(|(_, gradient)| gradient);
        }
        let gradient = match &self.jac {
            Some(jac) => {
                self.count(1);
                self.caller.vector(jac, x)?
            }
            None => numeric_gradient(|x| self.value(x), x, None)?,
        };
        match gradient.len() == x.len() {
            true => Ok(gradient),
            false => Err(Error::shape("jac", format!("{} values", x.len()), gradient.len())),
        }
    }

    fn hessian(&self, x: &[f64]) -> Result<Matrix> {
        let hessian = match (&self.hess, &self.jac, self.both) {
            (Some(hess), _, _) => {
                self.count(2);
                self.caller.matrix(hess, x)?
            }
            (None, None, false) => numeric_hessian(|x| self.value(x), x, None)?,
            (None, _, _) => numeric_hessian_of_gradient(|x| self.gradient(x), x, None)?,
        };
        match (hessian.nrows(), hessian.ncols()) == (x.len(), x.len()) {
            true => Ok(hessian),
            false => {
                let got = format!("{} x {}", hessian.nrows(), hessian.ncols());
                Err(Error::shape("hess", format!("{0} x {0}", x.len()), got))
            }
        }
    }

    fn evaluate(&self, x: &[f64], second: bool) -> Result<Evaluation> {
        let (value, gradient) = match self.both {
            true => {
                self.count(0);
                let (value, gradient) = self.pair(x)?;
                (value, Some(gradient))
            }
            false => (self.value(x)?, None),
        };
        if !value.is_finite() {
            return Ok(Evaluation { value, gradient: vec![f64::NAN; x.len()], hessian: None });
        }
        let gradient = gradient.map_or_else(|| self.gradient(x), Ok)?;
        let hessian = if second { Some(self.hessian(x)?) } else { None };
        Ok(Evaluation { value, gradient, hessian })
    }
}

/// Minimises a function of a vector.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "one crossing of the boundary, called by one function"
)]
fn optimize_minimize<'py>(
    py: Python<'py>,
    fun: Bound<'py, PyAny>,
    x0: Vec<f64>,
    jac: Option<Bound<'py, PyAny>>,
    hess: Option<Bound<'py, PyAny>>,
    both: bool,
    motion: MotionGiven,
    pace: PaceGiven,
    rules: RulesGiven,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
    equalities: Option<Bound<'py, PyAny>>,
    step: Option<Bound<'py, PyAny>>,
    trace: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let bounds = bounds.map(|(lower, upper)| Bounds { lower, upper });
    let equalities = equalities.map(|rows| matrix(&rows)).transpose()?;
    let (found, calls) = Caller::run(py, 0, |caller, run| {
        let calls = Cell::new([0; 3]);
        let objective = Objective { caller, fun, jac, hess, both, calls };
        let found = match motion.0.as_str() {
            "coordinate" => {
                let method = CoordinateDescent {
                    rules: rules.rules(),
                    bounds,
                    equalities: equalities.as_ref().map(Matrix::view),
                    keep_path: trace,
                };
                match &step {
                    None => method.minimize(x0, |x| objective.value(x), run)?,
                    Some(step) => {
                        let exact = |x: &[f64], j: usize| {
                            let answer = caller.keep(step.call1((caller.array(x), j)))?;
                            caller.keep(number(&answer))
                        };
                        method.minimize_by(x0, |x| objective.value(x), exact, run)?
                    }
                }
            }
            _ => {
                let mut method = method_of(x0, &motion, &pace, bounds)?;
                let second = method.needs_hessian();
                let at = |x: &[f64]| objective.evaluate(x, second);
                minimize_until(method.as_mut(), at, &rules.rules(), trace, run)?
            }
        };
        Ok((found, objective.calls.get()))
    })?;
    describe(py, found, calls)
}

fn method_of(
    x0: Vec<f64>,
    motion: &MotionGiven,
    pace: &PaceGiven,
    bounds: Option<Bounds>,
) -> Result<Box<dyn Minimizer>> {
    const NEVER: Stop = Stop { gradient: 0.0, decrease: 0.0 };
    let name = motion.0.as_str();
    if bounds.is_some() && name != "newton" {
        return Err(Error::unsupported(format!("method '{name}' takes no bounds"))
            .hint("use method='newton' or method='coordinate'"));
    }
    if pace.0 == "backtracking" && name == "gradient-descent" {
        return Ok(Box::new(GradientDescent::backtracking(x0, pace.1)?));
    }
    if pace.0 == "backtracking" && ["momentum", "nesterov", "adam"].contains(&name) {
        return Err(Error::unsupported(format!("method '{name}' has no line search"))
            .hint("use method='gradient-descent' or another schedule"));
    }
    Ok(match (name, bounds) {
        ("lbfgs", _) => Box::new(Lbfgs::new(x0, NEVER)),
        ("newton", None) => Box::new(Newton::new(x0, NEVER)),
        ("newton", Some(bounds)) => Box::new(BoundedNewton::new(x0, bounds, NEVER)?),
        _ => Box::new(GradientDescent::scheduled(x0, pace.schedule()?, motion.motion()?)?),
    })
}

fn describe(py: Python<'_>, found: Minimum, calls: [usize; 3]) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("x", PyArray1::from_vec(py, found.x))?;
    out.set_item("fun", found.value)?;
    let gradient = (!found.gradient.is_empty()).then(|| PyArray1::from_vec(py, found.gradient));
    out.set_item("jac", gradient)?;
    out.set_item("nit", found.iterations)?;
    out.set_item("nfev", calls[0])?;
    out.set_item("njev", calls[1])?;
    out.set_item("nhev", calls[2])?;
    outcome(&out, found.stopped)?;
    out.set_item("history", PyArray1::from_vec(py, found.values))?;
    out.set_item("path", found.path.map(|path| array(py, path)).transpose()?)?;
    Ok(out)
}

/// Descends at several rates.
#[pyfunction]
fn optimize_rates<'py>(
    py: Python<'py>,
    fun: Bound<'py, PyAny>,
    x0: Vec<f64>,
    jac: Option<Bound<'py, PyAny>>,
    both: bool,
    rates: Vec<f64>,
    steps: usize,
) -> PyResult<Bound<'py, PyList>> {
    let curves = Caller::run(py, 0, |caller, run| {
        let calls = Cell::new([0; 3]);
        let objective = Objective { caller, fun, jac, hess: None, both, calls };
        learning_rate_study(|x| objective.evaluate(x, false), &x0, &rates, steps, run)
    })?;
    let out = PyList::empty(py);
    for curve in curves {
        let row = PyDict::new(py);
        row.set_item("rate", curve.rate)?;
        row.set_item("history", PyArray1::from_vec(py, curve.values))?;
        row.set_item("x", PyArray1::from_vec(py, curve.x))?;
        row.set_item("status", curve.stopped.name())?;
        out.append(row)?;
    }
    Ok(out)
}

/// Derivatives of a vector of values by central differences, one row a value.
#[pyfunction]
fn optimize_jacobian<'py>(
    py: Python<'py>,
    fun: Bound<'py, PyAny>,
    x: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let jacobian =
        Caller::run(py, 0, |caller, _| numeric_jacobian(|x| caller.vector(&fun, x), &x, None))?;
    array(py, jacobian)
}
