//! Products of columns computed where they are asked for: for tables with fewer rows than columns, and
//! where few of many columns will enter. Once a quarter of the columns of a tall table are in play, all
//! products are formed.

use super::quadratic::Products;
use crate::linear::least_squares::Rows;
use learnt_core::linalg::{add_scaled, dot, lane_sum, matmul_into, row_products_in};
use learnt_core::prelude::*;
use learnt_core::vectorized;
use std::sync::OnceLock;

/// Columns up to which products on demand are always cheap.
const SOME: usize = 128;

/// Columns √(w/W) (x - mean), each in one piece.
pub(super) struct Columns {
    /// A row for each column of the table.
    pub(super) values: Matrix,
    diagonal: Vec<f64>,
    /// All products, once they are formed; none where they never will be.
    whole: OnceLock<Option<Matrix>>,
}

/// Inputs, outputs and means.
pub(super) struct Split {
    pub(super) inputs: Columns,
    pub(super) outputs: Columns,
    pub(super) mean: Vec<f64>,
    pub(super) weight: f64,
}

impl Columns {
    /// The columns of gathered rows, about their means if `centred`.
    pub(super) fn split(
        rows: &Rows,
        outputs: usize,
        centred: bool,
        run: &Context,
    ) -> Result<Split> {
        let mut values = Matrix::zeros(rows.values.ncols(), rows.weights.len());
        transpose(rows.values.view(), values.as_mut_slice(), run);
        Self::from_columns(values, &rows.weights, outputs, centred, run)
    }

    /// The same of a table in memory, without gathering it first.
    pub(super) fn of_data(data: &Dataset, centred: bool, run: &Context) -> Result<Split> {
        let (x, y, n) = (data.x.values(), data.real_target()?, data.nrows());
        let mut values = Matrix::zeros(x.ncols() + y.ncols(), n);
        let (inputs, outputs) = values.as_mut_slice().split_at_mut(x.ncols() * n);
        transpose(x, inputs, run);
        transpose(y, outputs, run);
        let weights: Vec<f64> = (0..n).map(|i| data.weight(i)).collect();
        Self::from_columns(values, &weights, y.ncols(), centred, run)
    }

    /// From raw columns, one a row of `values`.
    fn from_columns(
        mut values: Matrix,
        weights: &[f64],
        outputs: usize,
        centred: bool,
        run: &Context,
    ) -> Result<Split> {
        run.checkpoint()?;
        let (width, n) = (values.nrows(), values.ncols());
        let weight: f64 = weights.iter().sum();
        let roots: Vec<f64> = weights.iter().map(|w| (w / weight).sqrt()).collect();
        let means: Vec<f64> = run.par_map(width, |j| match centred {
            true => vectorized!(mean(values.row(j), weights, weight)),
            false => 0.0,
        });
        run.par_fill(values.as_mut_slice(), n.max(1), |start, column| {
            let mean = means[start / n.max(1)];
            vectorized!(for (x, root) in column.iter_mut().zip(&roots) {
                *x = root * (*x - mean);
            });
        });
        let mut all = values.into_vec();
        let last = all.split_off((width - outputs) * n);
        Ok(Split {
            inputs: Columns::new(Matrix::from_vec(width - outputs, n, all)?, run),
            outputs: Columns::new(Matrix::from_vec(outputs, n, last)?, run),
            mean: means,
            weight,
        })
    }

    fn new(values: Matrix, run: &Context) -> Columns {
        let diagonal =
            run.par_map(values.nrows(), |j| vectorized!(dot(values.row(j), values.row(j))));
        Columns { values, diagonal, whole: OnceLock::new() }
    }

    /// For several outputs, which are solved side by side: all products of a tall table now, or never.
    #[must_use]
    pub(super) fn settled(self, run: &Context) -> Columns {
        let tall = self.values.ncols() >= self.values.nrows();
        let whole = tall.then(|| row_products_in(self.values.view(), run).ok()).flatten();
        Columns { whole: OnceLock::from(whole), ..self }
    }

    #[cfg(test)]
    pub(super) fn has_all_products(&self) -> bool {
        matches!(self.whole.get(), Some(Some(_)))
    }

    /// All products, if so many columns are in play that they pay. Without room for them, products on
    /// demand go on.
    fn whole(&self, in_play: usize, run: &Context) -> Option<&Matrix> {
        let (d, n) = (self.values.nrows(), self.values.ncols());
        let pays = n >= d && 4 * in_play > d && in_play > SOME;
        if pays && self.whole.get().is_none() {
            let whole = row_products_in(self.values.view(), run).ok();
            return self.whole.get_or_init(|| whole).as_ref();
        }
        self.whole.get().and_then(Option::as_ref)
    }

    /// Products of every column with one of another table.
    pub(super) fn against(&self, other: &Columns, t: usize, run: &Context) -> Vec<f64> {
        let mut out = vec![0.0; self.diagonal.len()];
        self.add_products(&mut out, other.values.row(t), run);
        out
    }

    fn add_products(&self, out: &mut [f64], vector: &[f64], run: &Context) {
        let size = (1 << 16) / vector.len().max(1) + 1;
        run.par_fill(out, size, |start, out| {
            vectorized!({
                for (k, out) in out.iter_mut().enumerate() {
                    *out += dot(self.values.row(start + k), vector);
                }
            });
        });
    }
}

/// The first value plus the mean difference from it, in eight interleaved sums: exact for a constant
/// column.
#[inline(always)]
fn mean(column: &[f64], weights: &[f64], weight: f64) -> f64 {
    let first = column.first().copied().unwrap_or_default();
    let (x8, x_rest) = column.as_chunks::<8>();
    let (w8, w_rest) = weights.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, w) in x8.iter().zip(w8) {
        for k in 0..8 {
            sums[k] += w[k] * (x[k] - first);
        }
    }
    let rest: f64 = x_rest.iter().zip(w_rest).map(|(x, w)| w * (x - first)).sum();
    first + (lane_sum(sums) + rest) / weight
}

/// The columns of `x`, one after the other.
fn transpose(x: MatRef, out: &mut [f64], run: &Context) {
    const COLUMNS: usize = 16;
    let n = x.nrows();
    run.par_fill(out, COLUMNS * n.max(1), |start, piece| {
        let first = start / n.max(1);
        if x.row_stride() == 1 {
            for (k, column) in piece.chunks_exact_mut(n).enumerate() {
                x.copy_column(first + k, column);
            }
            return;
        }
        let count = piece.len() / n.max(1);
        for i in 0..n {
            for k in 0..count {
                piece[k * n + i] = x.at(i, first + k);
            }
        }
    });
}

impl Products for Columns {
    fn size(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self, j: usize) -> f64 {
        self.diagonal[j]
    }

    fn rows(&self, new: &[usize], others: &[usize], run: &Context) -> Matrix {
        const PIECE: usize = 32;
        if let Some(whole) = self.whole(others.len(), run) {
            return Products::rows(whole, new, others, run);
        }
        let columns = self.values.view().gather_rows(new);
        let mut turned = Matrix::zeros(others.len(), new.len());
        run.par_fill(turned.as_mut_slice(), PIECE * new.len().max(1), |start, piece| {
            let first = start / new.len();
            let some = &others[first..first + piece.len() / new.len()];
            let some = self.values.view().gather_rows(some);
            matmul_into(piece, false, 1.0, some.view(), columns.view().transposed());
        });
        let mut out = turned.transposed();
        for (i, j) in new.iter().enumerate() {
            for (k, other) in others.iter().enumerate().filter(|(_, other)| *other == j) {
                out[(i, k)] = self.diagonal[*other];
            }
        }
        out
    }

    fn add(&self, slope: &mut [f64], columns: &[usize], change: &[f64], run: &Context) {
        if let Some(Some(whole)) = self.whole.get() {
            return whole.add(slope, columns, change, run);
        }
        let mut fit = vec![0.0; self.values.ncols()];
        for (&j, &change) in columns.iter().zip(change) {
            if change != 0.0 {
                vectorized!(add_scaled(&mut fit, change, self.values.row(j)));
            }
        }
        if change.iter().any(|change| *change != 0.0) {
            self.add_products(slope, &fit, run);
        }
    }

    fn most_new(&self, held: usize) -> usize {
        held.max(64)
    }
}
