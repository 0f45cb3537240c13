//! Errors and warnings as Python's: the classes are in `learnt.errors`, chosen there by code.

use learnt_core::error::{Error, Warning};
use pyo3::prelude::*;

/// The Python exception for an error.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let exception = py.import("learnt.errors")?.getattr("from_native")?.call1((
            error.code().to_string(),
            error.message(),
            error.hint_text(),
            error.column_name(),
            error.row_number(),
        ))?;
        Ok(PyErr::from_value(exception))
    };
    make().unwrap_or_else(|broken| broken)
}

/// Passes warnings on to Python's `warnings`.
pub(crate) fn warn(py: Python<'_>, warnings: &[Warning]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let issue = py.import("learnt.errors")?.getattr("warn_native")?;
    for warning in warnings {
        issue.call1((warning.code.to_string(), &warning.message))?;
    }
    Ok(())
}
