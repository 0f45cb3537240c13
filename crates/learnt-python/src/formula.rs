//! Formulas and comparisons of models by their fit.

use crate::convert::Columns;
use crate::failure::raise;
use crate::function::Answer;
use crate::model::Model;
use learnt::prepare::{Formula, Side};
use learnt_core::context::Context;
use pyo3::prelude::*;

/// The sides of a formula: the target, the function of it that is modelled, the terms.
#[pyfunction]
pub(crate) fn formula_sides(
    py: Python<'_>,
    formula: &str,
) -> PyResult<(Option<String>, Option<String>, String)> {
    let side = Side::split(formula).map_err(|error| raise(py, error))?;
    let func = side.response.as_ref().map(|response| response.text().to_string());
    Ok((side.target.clone(), func, side.terms.trim().to_string()))
}

/// What the terms of a formula say about a table: whether there is an intercept, whether there is an offset, and
/// which columns are used.
#[pyfunction]
pub(crate) fn formula_terms(
    py: Python<'_>,
    terms: &str,
    columns: Columns,
    width: usize,
    target: String,
) -> PyResult<(bool, bool, Vec<usize>)> {
    let schema = columns.schema(width).map_err(|error| raise(py, error))?;
    let found = Formula::predicting(terms, &schema, &[target]).map_err(|error| raise(py, error))?;
    Ok((found.intercept(), found.has_offset(), found.columns()))
}

/// Nested models one after the other.
#[pyfunction]
pub(crate) fn anova(
    py: Python<'_>,
    names: Vec<String>,
    models: Vec<PyRef<'_, Model>>,
) -> PyResult<Answer> {
    let mut fits = Vec::new();
    for (name, model) in names.into_iter().zip(&models) {
        let fit = model.trained().ask("goodness", &[], None, &Context::default());
        fits.push((name, fit.map_err(|error| raise(py, error))?));
    }
    learnt::linear::compare_fits(&fits).map(Answer).map_err(|error| raise(py, error))
}
