//! The look at every value of a prediction, left to the learner: rows are looked at while they are in cache.

use super::{Frame, MatRef, Matrix};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::vectorized;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a learner that looks at rows itself has seen of them.
#[derive(Debug)]
pub struct Look {
    missing_allowed: bool,
    refused: AtomicBool,
    rows: AtomicUsize,
}

impl Look {
    /// Before any row was read.
    pub fn new(missing_allowed: bool) -> Look {
        Look { missing_allowed, refused: AtomicBool::new(false), rows: AtomicUsize::new(0) }
    }

    /// Whether this many rows were looked at, and nothing was found. Otherwise somebody has to look again.
    pub fn is_clean(&self, rows: usize) -> bool {
        !self.refused.load(Ordering::Relaxed) && self.rows.load(Ordering::Relaxed) >= rows
    }

    fn passed(&self, rows: usize, clean: bool) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        if !clean {
            self.refused.store(true, Ordering::Relaxed);
        }
    }
}

impl<'a> Frame<'a> {
    /// The same rows, whose values are looked at by whoever reads them, with [`Frame::read`] or
    /// [`Frame::noticed`].
    #[must_use]
    pub fn looked_at_by<'b>(&self, look: &'b Look) -> Frame<'b>
    where
        'a: 'b,
    {
        let mut frame: Frame<'b> = *self;
        frame.look = Some(look);
        frame
    }

    /// Rows `start..end`, which are looked at now if nobody has. Few enough to stay in the cache of a core
    /// are looked at for next to nothing.
    pub fn read(&self, start: usize, end: usize) -> MatRef<'a> {
        if let Some(look) = self.look {
            let found = first_bad(self.values().rows(start, end), look.missing_allowed);
            look.passed(end - start, found.is_none());
        }
        self.values().rows(start, end)
    }

    /// Says what came of rows `start..end`: sums into which every one of their values has gone, so that
    /// finite sums show finite values. Others are looked at now. Whether the sums are finite.
    pub fn noticed(&self, start: usize, end: usize, sums: &[f64]) -> bool {
        self.noticed_as(start, end, all_finite(sums))
    }

    /// Says whether such sums of rows `start..end` are finite.
    pub fn noticed_as(&self, start: usize, end: usize, finite: bool) -> bool {
        if let Some(look) = self.look {
            let rows = || self.values().rows(start, end);
            look.passed(end - start, finite || first_bad(rows(), look.missing_allowed).is_none());
        }
        finite
    }

    /// The first value that is infinite, or missing where that is not allowed, row by row.
    pub(super) fn first_not_finite(
        &self,
        missing_allowed: bool,
        run: &Context,
    ) -> Option<(usize, usize)> {
        let rows = (1 << 16) / self.ncols().max(1) + 1;
        let found = run.par_ranges(self.nrows(), rows, |range| {
            let found = first_bad(self.values().rows(range.start, range.end), missing_allowed);
            found.map(|(i, j)| (range.start + i, j))
        });
        found.into_iter().flatten().next()
    }
}

/// Refuses numbers made from rows of finite values that are not finite themselves, but in columns that are
/// `endless` for every row: the scores of a class without rows.
pub fn refuse_overflow(made: &Matrix, endless: impl Fn(usize) -> bool) -> Result<()> {
    let bad = |row: &[f64]| row.iter().enumerate().any(|(k, x)| !x.is_finite() && !endless(k));
    match made.rows().position(bad) {
        None => Ok(()),
        Some(i) => {
            let row = i as u64 + 1;
            let message = format!("the numbers for row {row} are too large to compute");
            Err(Error::numeric(message).row(row).hint("divide the columns by a large constant"))
        }
    }
}

fn first_bad(values: MatRef, missing_allowed: bool) -> Option<(usize, usize)> {
    if is_finite(values) {
        return None;
    }
    let bad = |x: f64| if missing_allowed { x.is_infinite() } else { !x.is_finite() };
    (0..values.nrows()).find_map(|i| {
        if values.row_slice(i).is_some_and(all_finite) {
            return None;
        }
        (0..values.ncols()).find(|&j| bad(values.at(i, j))).map(|j| (i, j))
    })
}

fn is_finite(values: MatRef) -> bool {
    let (rows, columns) = (values.nrows(), values.ncols());
    if values.col_stride() == 1 && values.row_stride() == columns {
        return values.memory().get(..rows * columns).is_some_and(all_finite);
    }
    let column = |j: usize| values.column_slice(j).is_some_and(all_finite);
    let row = |i: usize| values.row_slice(i).is_some_and(all_finite);
    if values.row_stride() == 1 { (0..columns).all(column) } else { (0..rows).all(row) }
}

/// Whether no value is infinite or missing: zero times any such value is not zero.
pub fn all_finite(values: &[f64]) -> bool {
    const LANES: usize = 16;
    let (chunks, rest) = values.as_chunks::<LANES>();
    // Sums of the kernel's own: they cannot lie where the values do, so that they stay in registers.
    let sums = vectorized!({
        let mut sums = [0.0; LANES];
        for chunk in chunks {
            for k in 0..LANES {
                sums[k] += chunk[k] * 0.0;
            }
        }
        sums
    });
    sums.iter().chain(rest).all(|x| x * 0.0 == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Table;

    /// Rows side by side, column by column, and with gaps in both directions.
    fn views(table: &Table, see: impl Fn(Frame)) {
        let x = table.values();
        see(table.frame());
        let turned = x.transposed();
        see(Frame::new(turned.view().transposed(), table.schema()).unwrap());
        let wide = Matrix::from_fn(x.nrows(), 2 * x.ncols(), |i, j| match j < x.ncols() {
            true => x[(i, j)],
            false => f64::NAN,
        });
        see(Frame::new(wide.view().columns(0, x.ncols()), table.schema()).unwrap());
        let tall = wide.transposed();
        let rows = tall.view().rows(0, x.ncols()).transposed();
        see(Frame::new(rows, table.schema()).unwrap());
    }

    #[test]
    fn the_first_bad_value_of_any_layout_is_found() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut table = Table::unnamed(Matrix::from_fn(9000, 9, |i, j| (i * 9 + j) as f64));
            for place in [(8999, 8), (8500, 0), (3, 1)] {
                table.values_mut()[place] = value;
                views(&table, |x| {
                    let run = Context::default().with_threads(2);
                    assert_eq!(x.first_not_finite(false, &run), Some(place));
                    let infinite = value.is_infinite().then_some(place);
                    assert_eq!(x.first_not_finite(true, &run), infinite);
                });
            }
        }
    }

    #[test]
    fn a_look_is_clean_once_all_rows_were_read_and_nothing_was_found() {
        let mut table = Table::unnamed(Matrix::from_fn(300, 4, |i, j| (i + j) as f64));
        let look = Look::new(false);
        let x = table.frame().looked_at_by(&look);
        let _ = x.read(0, 200);
        assert!(!look.is_clean(300));
        x.noticed(200, 300, &[1.0, 2.0]);
        assert!(look.is_clean(300));

        let look = Look::new(false);
        table.frame().looked_at_by(&look).noticed(0, 300, &[f64::INFINITY]);
        assert!(look.is_clean(300), "sums overflow, values do not");

        table.values_mut()[(250, 3)] = f64::NAN;
        for (allowed, clean) in [(false, false), (true, true)] {
            let look = Look::new(allowed);
            table.frame().looked_at_by(&look).noticed(0, 300, &[f64::NAN]);
            assert_eq!(look.is_clean(300), clean);
            let look = Look::new(allowed);
            let _ = table.frame().looked_at_by(&look).read(0, 300);
            assert_eq!(look.is_clean(300), clean);
        }
    }

    #[test]
    fn a_part_of_the_rows_is_not_the_look_at_all_of_them() {
        let table = Table::unnamed(Matrix::zeros(10, 2));
        let look = Look::new(false);
        let _ = table.frame().looked_at_by(&look).rows(0, 10).read(0, 10);
        assert!(!look.is_clean(10));
    }
}
