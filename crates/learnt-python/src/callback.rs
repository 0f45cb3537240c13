//! Functions of the user called from the library: on the calling thread, with the interpreter's
//! lock, so that thread-local state is the user's own. What they raise comes out unchanged, and
//! signals are looked for at every checkpoint.

use crate::convert::Numbers;
use crate::failure::{raise, warn};
use crate::interrupt::guarded;
use learnt_core::context::{Context, Observer};
use learnt_core::data::Matrix;
use learnt_core::error::{Code, Error, Result, Warning};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// Calls functions of the user, and keeps what they raised.
pub(crate) struct Caller<'py> {
    py: Python<'py>,
    raised: RefCell<Option<PyErr>>,
}

impl<'py> Caller<'py> {
    /// Runs work that calls back.
    pub(crate) fn run<T>(
        py: Python<'py>,
        seed: u64,
        work: impl FnOnce(&Caller<'py>, &Context) -> Result<T>,
    ) -> PyResult<T> {
        let caller = Caller { py, raised: RefCell::new(None) };
        let watch = Watch::default();
        let context = Context::default().with_seed(seed).with_threads(1).observed_by(&watch);
        let result = guarded(|| work(&caller, &context));
        let interrupt = watch.interrupt.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(raised) = caller.raised.into_inner().or(interrupt) {
            return Err(raised);
        }
        let value = result.map_err(|error| raise(py, error))?;
        warn(py, &watch.warnings.into_inner().unwrap_or_else(PoisonError::into_inner))?;
        Ok(value)
    }

    /// The interpreter.
    pub(crate) fn py(&self) -> Python<'py> {
        self.py
    }

    /// Keeps what was raised and ends the work.
    pub(crate) fn keep<T>(&self, result: PyResult<T>) -> Result<T> {
        result.map_err(|raised| {
            self.raised.replace(Some(raised));
            Error::new(Code::Cancelled, "a function raised")
        })
    }

    /// A new array; the function may keep or change it.
    pub(crate) fn array(&self, x: &[f64]) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(self.py, x)
    }

    /// Calls a function of a point.
    pub(crate) fn call(
        &self,
        function: &Bound<'py, PyAny>,
        x: &[f64],
    ) -> Result<Bound<'py, PyAny>> {
        self.keep(function.call1((self.array(x),)))
    }

    /// A function of a point that gives a number.
    pub(crate) fn number(&self, function: &Bound<'py, PyAny>, x: &[f64]) -> Result<f64> {
        let answer = self.call(function, x)?;
        self.keep(number(&answer))
    }

    /// A function of a point that gives a vector.
    pub(crate) fn vector(&self, function: &Bound<'py, PyAny>, x: &[f64]) -> Result<Vec<f64>> {
        let answer = self.call(function, x)?;
        self.keep(vector(&answer))
    }

    /// A function of a point that gives a matrix.
    pub(crate) fn matrix(&self, function: &Bound<'py, PyAny>, x: &[f64]) -> Result<Matrix> {
        let answer = self.call(function, x)?;
        self.keep(matrix(&answer))
    }
}

/// Keeps warnings; cancels when a signal's handler raises.
#[derive(Default)]
struct Watch {
    interrupt: Mutex<Option<PyErr>>,
    warnings: Mutex<Vec<Warning>>,
}

impl Observer for Watch {
    fn warning(&self, warning: &Warning) {
        let mut kept = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains(warning) {
            kept.push(warning.clone());
        }
    }
    fn cancelled(&self) -> bool {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(raised) => {
                let mut kept = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some(raised);
                true
            }
        }
    }
}

/// A number: Python's, NumPy's, or an array of one element.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    let single = object.hasattr("item")? && object.getattr("size")?.extract::<usize>()? == 1;
    let scalar = if single { object.call_method0("item")? } else { object.clone() };
    scalar.extract().map_err(|_| {
        let kind = object.get_type();
        PyTypeError::new_err(format!("the function must return a number, got {kind}"))
    })
}

/// Numbers in one dimension.
pub(crate) fn vector(object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array = numpy(object)?.call_method1("ravel", ())?;
    if is_empty(&array)? {
        return Ok(Vec::new());
    }
    let numbers = Numbers::read(&array)?;
    Ok(numbers.to_contiguous().into_owned())
}

/// Numbers in two dimensions; one dimension is a column.
pub(crate) fn matrix(object: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let array = numpy(object)?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions > 2 {
        return Err(PyValueError::new_err(format!(
            "at most two dimensions are needed, got {dimensions}"
        )));
    }
    if is_empty(&array)? {
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        return Ok(Matrix::zeros(shape[0], shape.get(1).copied().unwrap_or(1)));
    }
    let array = if dimensions == 0 { array.call_method1("reshape", (1, 1))? } else { array };
    Ok(Numbers::read(&array)?.view().to_matrix())
}

/// An empty array has no memory to read in place.
fn is_empty(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(array.getattr("size")?.extract::<usize>()? == 0)
}

fn numpy<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("numpy")?.getattr("asarray")?.call1((object, "float64"))
}

/// The parts of a tuple or list of known length.
pub(crate) fn parts<'py, const N: usize>(
    object: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<[Bound<'py, PyAny>; N]> {
    let sequence = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
    let items: Vec<Bound<'py, PyAny>> =
        if sequence { object.try_iter()?.collect::<PyResult<_>>()? } else { Vec::new() };
    items.try_into().map_err(|_| {
        let kind = object.get_type();
        PyTypeError::new_err(format!("{what} must return {N} values, got {kind}"))
    })
}
