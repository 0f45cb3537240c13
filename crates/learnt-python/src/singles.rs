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
use std::sync::atomic::{AtomicBool, Ordering};

/// An answer in double or in single precision.
pub(crate) enum Answered {
    Doubles(Prediction),
    Singles(Narrow),
}

/// A transformed table in single precision, row by row.
pub(crate) struct Narrow {
    values: Vec<f32>,
    schema: Schema,
}

/// Values of one thread of a conversion.
const PIECE: usize = 1 << 15;

impl Narrow {
    /// The table narrowed.
    pub(crate) fn of(table: &Table, run: &Context) -> Result<Narrow> {
        let mut all = Narrow::room_for(table, table.values().nrows());
        all.put(0, table, run)?;
        Ok(all)
    }

    fn room_for(like: &Table, rows: usize) -> Narrow {
        Narrow { values: vec![0.0; rows * like.schema().len()], schema: like.schema().clone() }
    }

    /// Puts rows in, from row `first` on.
    fn put(&mut self, first: usize, some: &Table, run: &Context) -> Result<()> {
        let (width, values) = (self.schema.len(), some.values().as_slice());
        let place = self.values.get_mut(first * width..first * width + values.len());
        let place = place.filter(|_| some.schema() == &self.schema);
        let place = place.ok_or_else(|| Error::internal("rows of another table"))?;
        let infinite = AtomicBool::new(false);
        run.par_fill(place, PIECE, |start, piece| {
            if narrow(piece, &values[start..]) {
                infinite.store(true, Ordering::Relaxed);
            }
        });
        if !infinite.into_inner() {
            return Ok(());
        }
        let lost = |(out, value): (&f32, &f64)| out.is_infinite() && value.is_finite();
        match place.iter().zip(values).position(lost) {
            None => Ok(()),
            Some(at) => Err(too_large(&self.schema, at % width.max(1), first + at / width.max(1))),
        }
    }

    /// The values as an array, with the names and levels of their columns.
    pub(crate) fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let width = self.schema.len();
        let shape = [self.values.len().checked_div(width).unwrap_or(0), width];
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

fn too_large(schema: &Schema, column: usize, row: usize) -> Error {
    let name = plain(&schema.column(column).name);
    Error::numeric(format!("column '{name}' of row {} is too large for float32", row + 1))
        .hint("pass float64: X.astype(float)")
}

impl Answered {
    fn room_for(like: &Prediction, rows: usize, single: bool) -> Result<Answered> {
        Ok(match like {
            Prediction::Table(table) if single => Answered::Singles(Narrow::room_for(table, rows)),
            _ => Answered::Doubles(like.room_for(rows)?),
        })
    }

    /// Puts the answer for some rows in; false where it is of another kind.
    fn put(&mut self, first: usize, some: Prediction, run: &Context) -> Result<bool> {
        match (self, some) {
            (Answered::Doubles(all), some) => Ok(all.put(first, some, run)),
            (Answered::Singles(all), Prediction::Table(some)) => {
                all.put(first, &some, run).map(|()| true)
            }
            _ => Ok(false),
        }
    }
}

/// The answer for a table of `float32`, of which some rows at a time are converted. `None` where something is to be
/// said about rows, because the answer for the whole table says it of the right ones; and where an answer of doubles is
/// as large as the table, because then copies of its parts take longer than the conversion.
pub(crate) fn answer(
    trained: &Trained,
    method: &str,
    x: SingleTable,
    schema: &Schema,
    single: bool,
    run: &Context,
) -> Result<Option<Answered>> {
    const VALUES: usize = 1 << 19;
    const TRIED: usize = 64;
    let rows = (VALUES / x.width.max(1)).clamp(1, x.rows.max(1));
    let mut buffer = vec![0.0; rows * x.width];
    let mut answer = None;
    let mut first = 0;
    while first < x.rows {
        let end = (first + if first == 0 { TRIED.min(rows) } else { rows }).min(x.rows);
        let block = x.widen(first..end, &mut buffer, run)?;
        let asked = trained.ask_rows(method, &Frame::new(block, schema)?, None, None, run);
        let next = match asked {
            Ok((next, rows)) if rows.kept().is_none() => next,
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            _ => return Ok(None),
        };
        let mut all = match answer.take() {
            Some(all) => all,
            None if !single && next.width() > x.width / 2 => return Ok(None),
            None => Answered::room_for(&next, x.rows, single)?,
        };
        if !all.put(first, next, run)? {
            return Ok(None);
        }
        answer = Some(all);
        first = end;
    }
    Ok(answer)
}
