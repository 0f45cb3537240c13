//! What the first block of training rows tells: the range of each column, and what is usual in it.
//!
//! One pass over the rows, in vectors and on all threads. Sums that overflow are taken again as running means.

use crate::context::Context;
use crate::data::{Dataset, Frame, MatRef, Schema, all_finite};
use crate::linalg::column_sums::ColumnSums;
use crate::rounds::block_rows;
use crate::vectorized;

/// Ranges and usual values of columns.
#[derive(Default)]
pub(super) struct Seen {
    /// Smallest and largest finite value of each column; 0 and 0 if there is none.
    pub(super) ranges: Vec<(f64, f64)>,
    /// What missing values may be filled with: the mean of each column of numbers, the commonest of its
    /// levels; missing where nothing is known.
    pub(super) fills: Vec<f64>,
}

impl Seen {
    /// Of the first rows that count.
    pub(super) fn of_first(data: &Dataset, run: &Context) -> Seen {
        let most = block_rows(data.x.ncols());
        let counted = (0..data.nrows()).filter(|&i| data.weight(i) > 0.0).take(most);
        match data.weights {
            Some(weights) if weights.contains(&0.0) => {
                Seen::of(&data.x.gather(&counted.collect::<Vec<_>>()).frame(), run)
            }
            _ => Seen::of(&data.x.rows(0, most.min(data.nrows())), run),
        }
    }

    /// Of some rows.
    pub(super) fn of(x: &Frame, run: &Context) -> Seen {
        const VALUES: usize = 1 << 16;
        let width = x.ncols();
        let pieces = run.par_ranges(x.nrows(), VALUES / width.max(1), |range| {
            Sums::of(x.values().rows(range.start, range.end))
        });
        let mut sums = Sums::new(width);
        pieces.iter().for_each(|piece| sums.merge(piece));
        let range = |j: usize| match sums.all.low[j] <= sums.all.high[j] {
            true => (sums.all.low[j], sums.all.high[j]),
            false => (0.0, 0.0),
        };
        let fill = |j: usize| match levels_of(x.schema(), j) {
            Some(levels) => commonest(x, j, levels),
            None if sums.count[j] == 0.0 => f64::NAN,
            None => {
                let mean = sums.all.sum[j] / sums.count[j];
                if mean.is_finite() { mean } else { running_mean(x, j) }
            }
        };
        Seen { ranges: (0..width).map(range).collect(), fills: (0..width).map(fill).collect() }
    }
}

/// Numbers of finite values, their sums and extremes, by column.
#[derive(Clone)]
struct Sums {
    count: Vec<f64>,
    all: ColumnSums,
}

impl Sums {
    fn new(width: usize) -> Sums {
        Sums { count: vec![0.0; width], all: ColumnSums::new(width) }
    }

    fn of(x: MatRef) -> Sums {
        const VALUES: usize = 8192;
        let (n, width) = (x.nrows(), x.ncols());
        let rows = (VALUES / width.max(1)).clamp(1, n.max(1));
        let mut chunk = vec![0.0; rows * width];
        let mut sums = Sums::new(width);
        for start in (0..n).step_by(rows) {
            let part = x.rows(start, (start + rows).min(n));
            let chunk = &mut chunk[..part.nrows() * width];
            part.write_rows(chunk);
            sums.add(chunk);
        }
        sums
    }

    fn merge(&mut self, later: &Sums) {
        for j in 0..self.count.len() {
            self.count[j] += later.count[j];
            self.all.sum[j] += later.all.sum[j];
            self.all.low[j] = self.all.low[j].min(later.all.low[j]);
            self.all.high[j] = self.all.high[j].max(later.all.high[j]);
        }
    }

    /// Adds rows. Sums of finite values only are taken without a look at each; what shows in them is taken back.
    fn add(&mut self, rows: &[f64]) {
        let before = self.all.clone();
        vectorized!(self.all.add(rows, None));
        if all_finite(&self.all.sum) {
            let added = (rows.len() / self.count.len().max(1)) as f64;
            self.count.iter_mut().for_each(|count| *count += added);
        } else {
            self.all = before;
            vectorized!(self.add_known(rows));
        }
    }

    #[inline(always)]
    fn add_known(&mut self, rows: &[f64]) {
        for row in rows.chunks_exact(self.count.len().max(1)) {
            // Two loops: with four arrays to write in one, the compiler uses no vectors.
            for ((&x, sum), count) in row.iter().zip(&mut self.all.sum).zip(&mut self.count) {
                let known = x * 0.0 == 0.0;
                *sum += if known { x } else { 0.0 };
                *count += if known { 1.0 } else { 0.0 };
            }
            for ((&x, low), high) in row.iter().zip(&mut self.all.low).zip(&mut self.all.high) {
                let known = x * 0.0 == 0.0;
                *low = if known & (x < *low) { x } else { *low };
                *high = if known & (x > *high) { x } else { *high };
            }
        }
    }
}

fn levels_of(schema: &Schema, j: usize) -> Option<usize> {
    schema.column(j).levels().map(<[String]>::len)
}

/// The first of the commonest levels.
fn commonest(x: &Frame, j: usize, levels: usize) -> f64 {
    let mut counts = vec![0_u64; levels];
    for code in x.values().column(j).into_iter().filter(|code| code.is_finite()) {
        if let Some(count) = counts.get_mut(code as usize) {
            *count += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let found = counts.iter().position(|&count| count == most && most > 0);
    found.map_or(f64::NAN, |code| code as f64)
}

/// The mean of values whose sum overflows.
fn running_mean(x: &Frame, j: usize) -> f64 {
    let known = x.values().column(j).into_iter().filter(|value| value.is_finite());
    let step = |(mean, n): (f64, f64), value: f64| {
        (mean + (value / (n + 1.0) - mean / (n + 1.0)), n + 1.0)
    };
    known.fold((0.0, 0.0), step).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Matrix, Table};

    #[test]
    fn missing_values_and_sums_that_overflow_leave_ranges_and_means() {
        let x = Matrix::from_fn(5000, 4, |i, j| match j {
            0 if i % 3 == 0 => f64::NAN,
            0 => (i % 3) as f64,
            1 => 1.5e308,
            2 => f64::NAN,
            _ => -1.0 - (i % 2) as f64,
        });
        let table = Table::unnamed(x);
        let seen = Seen::of(&table.frame(), &Context::default());
        assert_eq!(seen.ranges, [(1.0, 2.0), (1.5e308, 1.5e308), (0.0, 0.0), (-2.0, -1.0)]);
        assert!((seen.fills[0] - 1.5).abs() < 1e-3 && seen.fills[3] == -1.5);
        assert!((seen.fills[1] / 1.5e308 - 1.0).abs() < 1e-9 && seen.fills[2].is_nan());
    }
}
