//! Products of columns computed where they are asked for, for tables with fewer rows than columns.

use super::quadratic::Products;
use crate::linear::least_squares::Rows;
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Columns √(w/W) (x - mean), each in one piece.
pub(super) struct Columns {
    /// A row for each column of the table.
    pub(super) values: Matrix,
    diagonal: Vec<f64>,
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
        let width = rows.values.ncols();
        let weight: f64 = rows.weights.iter().sum();
        let roots: Vec<f64> = rows.weights.iter().map(|w| (w / weight).sqrt()).collect();
        let mut values = rows.values.transposed();
        let n = rows.weights.len();
        let means: Vec<f64> = run.par_map(width, |j| match centred {
            true => mean(values.row(j), &rows.weights, weight),
            false => 0.0,
        });
        run.par_fill(values.as_mut_slice(), n.max(1), |start, column| {
            let mean = means[start / n.max(1)];
            column.iter_mut().zip(&roots).for_each(|(x, root)| *x = root * (*x - mean));
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
        let diagonal = run.par_map(values.nrows(), |j| dot(values.row(j), values.row(j)));
        Columns { values, diagonal }
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

/// The first value plus the mean difference from it: exact for a constant column.
fn mean(column: &[f64], weights: &[f64], weight: f64) -> f64 {
    let first = column.first().copied().unwrap_or_default();
    first + column.iter().zip(weights).map(|(x, w)| w * (x - first)).sum::<f64>() / weight
}

impl Products for Columns {
    fn size(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self, j: usize) -> f64 {
        self.diagonal[j]
    }

    fn row(&self, j: usize, others: &[usize], out: &mut [f64]) {
        let column = self.values.row(j);
        vectorized!({
            for (out, &k) in out.iter_mut().zip(others) {
                *out = if k == j { self.diagonal[j] } else { dot(column, self.values.row(k)) };
            }
        });
    }

    fn add(&self, slope: &mut [f64], columns: &[usize], change: &[f64], run: &Context) {
        let mut fit = vec![0.0; self.values.ncols()];
        for (&j, &change) in columns.iter().zip(change) {
            if change != 0.0 {
                add_scaled(&mut fit, change, self.values.row(j));
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
