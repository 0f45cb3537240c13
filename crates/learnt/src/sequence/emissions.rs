//! What states emit: in each state, columns are independent; numbers are normal, categories have a
//! table. A missing value has factor one.

use learnt_core::prelude::*;
use std::f64::consts::TAU;

/// Counts and moments of the columns in each state.
#[derive(Stored, Clone, Debug)]
pub struct EmissionCounts {
    /// Number of values (n_states × n_columns), missing ones left out.
    pub(super) count: Matrix,
    /// Mean of the numbers; 0 for categories.
    pub(super) mean: Matrix,
    /// Sum of squared deviations from the mean.
    pub(super) squares: Matrix,
    /// Number of each level (n_states × all levels of all columns).
    pub(super) levels: Matrix,
}

/// How many levels each column has; 0 is a column of numbers.
pub(super) fn level_counts(schema: &Schema) -> Vec<u32> {
    schema.columns().iter().map(|c| c.levels().map_or(0, |levels| levels.len() as u32)).collect()
}

impl EmissionCounts {
    /// Of some rows with their states.
    pub(super) fn of(x: &Frame, codes: &[u32], states: usize) -> EmissionCounts {
        let widths = level_counts(x.schema());
        let all: usize = widths.iter().map(|w| *w as usize).sum();
        let mut counts = EmissionCounts {
            count: Matrix::zeros(states, x.ncols()),
            mean: Matrix::zeros(states, x.ncols()),
            squares: Matrix::zeros(states, x.ncols()),
            levels: Matrix::zeros(states, all),
        };
        let mut first = 0;
        for (j, &width) in widths.iter().enumerate() {
            for (i, &state) in codes.iter().enumerate() {
                let (value, k) = (x.values().at(i, j), state as usize);
                if value.is_nan() {
                    continue;
                }
                counts.count[(k, j)] += 1.0;
                if width > 0 {
                    counts.levels[(k, first + value as usize)] += 1.0;
                } else {
                    // Welford's update.
                    let gap = value - counts.mean[(k, j)];
                    counts.mean[(k, j)] += gap / counts.count[(k, j)];
                    counts.squares[(k, j)] += gap * (value - counts.mean[(k, j)]);
                }
            }
            first += width as usize;
        }
        counts
    }
}

impl Merge for EmissionCounts {
    fn merge(mut self, later: Self) -> Result<Self> {
        for (i, n) in later.count.as_slice().iter().enumerate() {
            let total = self.count.as_slice()[i] + n;
            if *n == 0.0 {
                continue;
            }
            let gap = later.mean.as_slice()[i] - self.mean.as_slice()[i];
            self.squares.as_mut_slice()[i] +=
                later.squares.as_slice()[i] + gap * gap * self.count.as_slice()[i] * (n / total);
            self.mean.as_mut_slice()[i] += gap * (n / total);
            self.count.as_mut_slice()[i] = total;
        }
        self.levels = self.levels.merge(later.levels)?;
        Ok(self)
    }
}

/// Means, variances and tables of all states.
pub(super) struct Emissions<'a> {
    pub(super) means: &'a Matrix,
    pub(super) variances: &'a Matrix,
    pub(super) tables: &'a Matrix,
    pub(super) widths: &'a [u32],
}

impl Emissions<'_> {
    /// ln b(x) of each state for each row, row after row.
    pub(super) fn log_densities(&self, x: &Frame) -> Vec<f64> {
        let states = self.means.nrows();
        let mut out = vec![0.0; x.nrows() * states];
        for (i, row) in out.chunks_exact_mut(states).enumerate() {
            let mut first = 0;
            for (j, &width) in self.widths.iter().enumerate() {
                let value = x.values().at(i, j);
                if !value.is_nan() {
                    for (k, out) in row.iter_mut().enumerate() {
                        *out += match width {
                            0 => self.log_normal(k, j, value),
                            _ => self.tables[(k, first + value as usize)].ln(),
                        };
                    }
                }
                first += width as usize;
            }
        }
        out
    }

    fn log_normal(&self, k: usize, j: usize, value: f64) -> f64 {
        let (gap, variance) = (value - self.means[(k, j)], self.variances[(k, j)]);
        -0.5 * ((TAU * variance).ln() + gap * gap / variance)
    }
}
