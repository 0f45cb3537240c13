//! Answers about tables of `float32`: put together from those about some rows at a time, and narrowed where the answer
//! is to be `float32` too.

use crate::convert::{self, SingleTable};
use learnt_core::context::Context;
use learnt_core::data::{Frame, Schema, Table};
use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::trained::{Prediction, Trained};
use learnt_core::vectorized;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// An answer in double or in single precision.
pub(crate) enum Answered {
    Doubles(Prediction),
    Singles(Narrow),
}

/// A transformed table in single precision, row by row.
pub(crate) struct Narrow {
    rows: usize,
    values: Vec<f32>,
    schema: Schema,
}

impl Narrow {
    /// The table narrowed.
    pub(crate) fn of(table: &Table, run: &Context) -> Result<Narrow> {
        const PIECE: usize = 1 << 15;
        let values = table.values().as_slice();
        let rows = table.values().nrows();
        let mut out = Narrow::room(rows, table.schema(), run)?;
        let infinite = AtomicBool::new(false);
        run.par_fill(&mut out, PIECE, |start, piece| {
            infinite.fetch_or(narrow(piece, &values[start..]), Ordering::Relaxed);
        });
        if infinite.into_inner() {
            check(&out, table, 0)?;
        }
        Ok(Narrow { rows, values: out, schema: table.schema().clone() })
    }

    /// Zeros for a table.
    fn room(rows: usize, schema: &Schema, run: &Context) -> Result<Vec<f32>> {
        let count = rows.saturating_mul(schema.len());
        run.claim((count as u64).saturating_mul(size_of::<f32>() as u64), "the transformed rows")?;
        Ok(vec![0.0; count])
    }

    /// The tables that `ask` gives for rows, narrowed while they are in cache; `None` if it has none for some.
    fn of_pieces(
        schema: &Schema,
        (rows, at_once): (usize, usize),
        ask: impl Fn(Range<usize>) -> Result<Option<Prediction>> + Sync,
        run: &Context,
    ) -> Result<Option<Narrow>> {
        let width = schema.len();
        let mut values = Narrow::room(rows, schema, run)?;
        let first_failure = Mutex::new(None);
        run.par_fill(&mut values, at_once * width.max(1), |start, piece| {
            let first = start / width;
            let filled = match ask(first..first + piece.len() / width) {
                Ok(Some(Prediction::Table(table))) if table.schema() == schema => {
                    match narrow(piece, table.values().as_slice()) {
                        true => check(piece, &table, first).map(Some),
                        false => Ok(Some(())),
                    }
                }
                Ok(_) => Ok(None),
                Err(error) => Err(error),
            };
            if !matches!(filled, Ok(Some(()))) {
                let mut failure = first_failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.as_ref().is_none_or(|(before, _)| first < *before) {
                    *failure = Some((first, filled));
                }
            }
        });
        match first_failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(Some(Narrow { rows, values, schema: schema.clone() })),
            Some((_, Err(error))) => Err(error),
            Some(_) => Ok(None),
        }
    }

    /// The values as an array, with the names and levels of their columns.
    pub(crate) fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let shape = [self.rows, self.schema.len()];
        let values = PyArray1::from_vec(py, self.values).reshape(shape)?;
        Ok((values, convert::columns(py, &self.schema)?).into_pyobject(py)?.into_any())
    }
}

/// Rounds values, and says whether one of them is infinite then.
fn narrow(out: &mut [f32], values: &[f64]) -> bool {
    vectorized!({
        let mut infinite = 0_u32;
        for (out, value) in out.iter_mut().zip(values) {
            *out = *value as f32;
            infinite |= u32::from(out.is_infinite());
        }
        infinite != 0
    })
}

/// An error if a number became infinite; the table begins with row `first`.
fn check(narrowed: &[f32], table: &Table, first: usize) -> Result<()> {
    let lost = |(out, value): (&f32, &f64)| out.is_infinite() && value.is_finite();
    let Some(at) = narrowed.iter().zip(table.values().as_slice()).position(lost) else {
        return Ok(());
    };
    let (schema, width) = (table.schema(), table.schema().len());
    let (name, row) = (plain(&schema.column(at % width).name), first + at / width + 1);
    Err(Error::numeric(format!("column '{name}' of row {row} is too large for float32"))
        .hint("pass float64: X.astype(float)"))
}

/// The answer for a table of `float32`, of which some rows at a time are converted. `None` where something is to be said
/// about rows, because the answer for the whole table says it of the right ones; and where an answer of doubles is as
/// large as the table, because then copies of its parts take longer than the conversion.
///
/// Rows are cut so small that a thread converts, asks and narrows in its caches; for models that arrange something at
/// every call, so large that all threads answer together.
pub(crate) fn answer(
    trained: &Trained,
    method: &str,
    x: SingleTable,
    schema: &Schema,
    single: bool,
    run: &Context,
) -> Result<Option<Answered>> {
    const TRIED: usize = 64;
    let alone = run.with_threads(1);
    let (values, side_by_side, inside) = match trained.model.prepares() {
        true => (1 << 19, 1, run),
        false => (1 << 16, 8 * run.threads(), &alone),
    };
    let at_once = (values / x.width.max(1)).max(TRIED);
    let buffers = Mutex::new(Vec::<Vec<f64>>::new());
    let ask = |rows: Range<usize>| {
        run.checkpoint()?;
        let kept = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = kept().pop().unwrap_or_else(|| vec![0.0; at_once.min(x.rows) * x.width]);
        let asked = {
            let block = Frame::new(x.widen(rows, &mut buffer, inside)?, schema)?;
            let asked = trained.ask_rows(method, &block, None, None, inside);
            asked.map(|(answer, rows)| (answer, rows.kept().is_some()))
        };
        kept().push(buffer);
        match asked {
            Ok((answer, false)) => Ok(Some(answer)),
            Err(error) if error.code() == Code::Cancelled => Err(error),
            _ => Ok(None),
        }
    };
    let Some(tried) = ask(0..TRIED.min(x.rows))? else { return Ok(None) };
    if let Prediction::Table(table) = &tried
        && single
    {
        let narrow = Narrow::of_pieces(table.schema(), (x.rows, at_once), ask, run)?;
        return Ok(narrow.map(Answered::Singles));
    }
    if tried.width() > x.width / 2 {
        return Ok(None);
    }
    let mut all = tried.room_for(x.rows)?;
    for first in (0..x.rows).step_by(at_once * side_by_side) {
        let some = (x.rows - first).div_ceil(at_once).min(side_by_side);
        let place = |k: usize| (first + k * at_once).min(x.rows);
        let parts = run.try_par_map(some, |k| ask(place(k)..place(k + 1)))?;
        for (k, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { return Ok(None) };
            if !all.put(place(k), part, run) {
                return Ok(None);
            }
        }
    }
    Ok(Some(Answered::Doubles(all)))
}
