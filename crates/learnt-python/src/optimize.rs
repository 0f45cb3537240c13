//! Optimisation of functions of the user. `learnt.optimize` has the signatures; what crosses the
//! boundary here is one call each.

use crate::callback::{Caller, matrix, number, parts, vector};
use crate::convert::array;
use crate::failure::raise;
use learnt_core::context::Context;
use learnt_core::data::Matrix;
use learnt_core::error::{Error, Result};
use learnt_core::optimize::{
    BoundedNewton, Bounds, CoordinateDescent, Evaluation, ExpectationMaximization, GradientDescent,
    Lbfgs, Minimizer, Minimum, Motion, Newton, RowOrder, Rules, Schedule, StochasticDescent, Stop,
    Stopped, learning_rate_study, mean_squares_hessian, minimize_until, numeric_gradient,
    numeric_hessian, numeric_hessian_of_gradient, numeric_jacobian, stability_limit,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::Cell;

/// Adds the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(optimize_minimize, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_stochastic, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_rates, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_stability_limit, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_em, module)?)?;
    module.add_function(wrap_pyfunction!(optimize_jacobian, module)?)
}

/// (max_iter, target, gradient, decrease, change).
#[derive(FromPyObject)]
pub(crate) struct RulesGiven(usize, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

impl RulesGiven {
    fn rules(&self) -> Rules {
        let RulesGiven(max_iter, target, gradient, decrease, change) = *self;
        Rules { max_iter, target, gradient, decrease, change }
    }
}

/// (schedule, rate, factor or power, every).
#[derive(FromPyObject)]
struct PaceGiven(String, f64, f64, usize);

impl PaceGiven {
    fn schedule(&self) -> Result<Schedule> {
        let PaceGiven(name, rate, shape, every) = self;
        let (rate, shape, every) = (*rate, *shape, *every);
        Ok(match name.as_str() {
            "constant" => Schedule::Constant { rate },
            "inverse" => Schedule::Inverse { rate, power: shape },
            "exponential" => Schedule::Exponential { rate, factor: shape },
            "stairs" => Schedule::Stairs { rate, factor: shape, every },
            other => {
                let known = ["constant", "inverse", "exponential", "stairs", "backtracking"];
                return Err(Error::unknown("schedule", other, known));
            }
        })
    }
}

/// (method, momentum or beta1, beta2, epsilon).
#[derive(FromPyObject)]
struct MotionGiven(String, f64, f64, f64);

impl MotionGiven {
    fn motion(&self) -> Result<Motion> {
        let MotionGiven(name, first, beta2, epsilon) = self;
        Ok(match name.as_str() {
            "gradient-descent" => Motion::Plain,
            "momentum" => Motion::Momentum { momentum: *first },
            "nesterov" => Motion::Nesterov { momentum: *first },
            "adam" => Motion::Adam { beta1: *first, beta2: *beta2, epsilon: *epsilon },
            other => return Err(Error::unknown("method", other, METHODS)),
        })
    }
}

const METHODS: [&str; 7] =
    ["lbfgs", "newton", "gradient-descent", "momentum", "nesterov", "adam", "coordinate"];

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
                method.minimize(x0, |x| objective.value(x), run)?
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
    out.set_item("values", PyArray1::from_vec(py, found.values))?;
    out.set_item("path", found.path.map(|path| array(py, path)).transpose()?)?;
    Ok(out)
}

/// success, status and message of the rule that fired.
pub(crate) fn outcome(out: &Bound<'_, PyDict>, stopped: Stopped) -> PyResult<()> {
    out.set_item("success", stopped.is_success())?;
    out.set_item("status", stopped.name())?;
    out.set_item("message", stopped.to_string())
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
    out.set_item("values", PyArray1::from_vec(py, fit.values))?;
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
        row.set_item("values", PyArray1::from_vec(py, curve.values))?;
        row.set_item("x", PyArray1::from_vec(py, curve.x))?;
        row.set_item("status", curve.stopped.name())?;
        out.append(row)?;
    }
    Ok(out)
}

/// 2 / λ_max of a Hessian, or of the mean squared error of a design.
#[pyfunction]
fn optimize_stability_limit(
    py: Python<'_>,
    hessian: Option<&Bound<'_, PyAny>>,
    design: Option<&Bound<'_, PyAny>>,
    fit_intercept: bool,
) -> PyResult<f64> {
    let hessian = match (hessian, design) {
        (Some(hessian), _) => matrix(hessian)?,
        (None, Some(design)) => mean_squares_hessian(matrix(design)?.view(), fit_intercept)
            .map_err(|error| raise(py, error))?,
        (None, None) => Matrix::default(),
    };
    stability_limit(&hessian).map_err(|error| raise(py, error))
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
    out.set_item("values", PyArray1::from_vec(py, fit.values))?;
    out.set_item("start", fit.start)?;
    out.set_item("starts", PyArray1::from_vec(py, fit.starts))?;
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
