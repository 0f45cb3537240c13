//! Per-column moments of blocks: what scalers, imputers and clusterings begin with.
//!
//! A block is read once, in tiles of some rows that stay in cache: means first, then squares of differences from them.
//! Tiles merge by Chan's formulas, as blocks do, so no large numbers cancel. Sums of a column go row after row, and
//! tiles depend on the width alone, so that bits are the same in any memory order. Missing values are left out, column
//! by column.

use super::column_sums::{ColumnSums, add_differences};
use crate::data::{MatRef, all_finite};
use crate::prelude::*;
use crate::vectorized;

/// Numbers of a tile, as far as its least and its most rows allow.
const TILE: usize = 8192;
const LEAST: usize = 64;
const MOST: usize = 1024;

/// Weight, mean, sum of squared differences, smallest and largest value of each column.
#[derive(Stored, Clone, Debug, PartialEq)]
pub struct ColumnMoments {
    /// Rows, missing or not.
    pub rows: u64,
    /// Weight of the values that are not missing.
    pub weight: Vec<f64>,
    /// Mean; 0 where nothing is known.
    pub mean: Vec<f64>,
    /// Σ w (x - mean)².
    pub squares: Vec<f64>,
    /// Smallest value; infinite where nothing is known.
    pub low: Vec<f64>,
    /// Largest value; minus infinite where nothing is known.
    pub high: Vec<f64>,
}

impl ColumnMoments {
    /// The moments of one block.
    pub fn of(data: &Dataset) -> ColumnMoments {
        let (n, d) = (data.nrows(), data.x.ncols());
        let mut all = ColumnMoments::nothing(d);
        let rows = (TILE / d.max(1)).clamp(LEAST, MOST);
        let mut buffer = Vec::new();
        for start in (0..n).step_by(rows) {
            let end = (start + rows).min(n);
            let tile = by_row(data.x.values().rows(start, end), &mut buffer);
            let weights = data.weights.map(|weights| &weights[start..end]);
            let part =
                ColumnMoments { rows: (end - start) as u64, ..Self::of_tile(tile, d, weights) };
            if start == 0 { all = part } else { all.add(&part) }
        }
        all
    }

    fn nothing(d: usize) -> ColumnMoments {
        ColumnMoments {
            rows: 0,
            weight: vec![0.0; d],
            mean: vec![0.0; d],
            squares: vec![0.0; d],
            low: vec![f64::INFINITY; d],
            high: vec![f64::NEG_INFINITY; d],
        }
    }

    /// The moments of rows that stand one after the other.
    fn of_tile(rows: &[f64], d: usize, weights: Option<&[f64]>) -> ColumnMoments {
        let mut moments = ColumnMoments::nothing(d);
        let mut sums = ColumnSums::new(d);
        vectorized!(sums.add(rows, weights));
        // Missing values, and infinities, would show in the sums.
        if all_finite(&sums.sum) {
            let total = weights.map_or((rows.len() / d.max(1)) as f64, |all| all.iter().sum());
            moments.weight.fill(total);
            (moments.mean, moments.low, moments.high) = (sums.sum, sums.low, sums.high);
            moments.divide();
            let (mut squares, mut drift) = (vec![0.0; d], vec![0.0; d]);
            vectorized!(add_differences(rows, weights, &moments.mean, &mut squares, &mut drift));
            moments.squares = squares;
            moments.correct(&drift);
        } else {
            let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
            vectorized!(moments.add_known_sums(rows, weight));
            moments.divide();
            let mut drift = vec![0.0; d];
            vectorized!(moments.add_known_squares(rows, weight, &mut drift));
            moments.correct(&drift);
        }
        moments
    }

    /// Sums of the values that are not missing.
    #[inline(always)]
    fn add_known_sums(&mut self, rows: &[f64], weight: impl Fn(usize) -> f64) {
        for (i, row) in rows.chunks_exact(self.mean.len().max(1)).enumerate() {
            let weight = weight(i);
            // Two loops: with four arrays to write in one, the compiler uses no vectors.
            for ((&x, sum), total) in row.iter().zip(&mut self.mean).zip(&mut self.weight) {
                *total += weight * f64::from(!x.is_nan());
                *sum += weight * if x.is_nan() { 0.0 } else { x };
            }
            for ((&x, low), high) in row.iter().zip(&mut self.low).zip(&mut self.high) {
                *low = if x < *low { x } else { *low };
                *high = if x > *high { x } else { *high };
            }
        }
    }

    /// Σ w (x - m)² and Σ w (x - m) of the values that are not missing.
    #[inline(always)]
    fn add_known_squares(
        &mut self,
        rows: &[f64],
        weight: impl Fn(usize) -> f64,
        drift: &mut [f64],
    ) {
        for (i, row) in rows.chunks_exact(self.mean.len().max(1)).enumerate() {
            let weight = weight(i);
            let sums = self.squares.iter_mut().zip(&mut *drift);
            for ((&x, mean), (square, drift)) in row.iter().zip(&self.mean).zip(sums) {
                let difference = if x.is_nan() { 0.0 } else { x - mean };
                *square += weight * difference * difference;
                *drift += weight * difference;
            }
        }
    }

    /// Means from sums.
    fn divide(&mut self) {
        for (mean, weight) in self.mean.iter_mut().zip(&self.weight) {
            *mean = if *weight > 0.0 { *mean / weight } else { 0.0 };
        }
    }

    /// Takes away from the squares what the rounding of the means added, and from the means.
    fn correct(&mut self, drift: &[f64]) {
        for (j, drift) in drift.iter().enumerate() {
            if self.weight[j] > 0.0 {
                self.squares[j] -= drift * drift / self.weight[j];
                self.mean[j] += drift / self.weight[j];
            }
        }
    }

    /// Adds the moments of later rows.
    fn add(&mut self, later: &ColumnMoments) {
        for j in 0..self.mean.len() {
            let total = self.weight[j] + later.weight[j];
            if self.weight[j] == 0.0 {
                (self.mean[j], self.squares[j]) = (later.mean[j], later.squares[j]);
            } else if later.weight[j] > 0.0 {
                let difference = later.mean[j] - self.mean[j];
                let share = later.weight[j] / total;
                self.squares[j] +=
                    later.squares[j] + difference * difference * self.weight[j] * share;
                self.mean[j] += difference * share;
            }
            self.weight[j] = total;
            self.low[j] = self.low[j].min(later.low[j]);
            self.high[j] = self.high[j].max(later.high[j]);
        }
        self.rows += later.rows;
    }

    /// Variance with divisor weight - ddof; 0 where there is too little weight.
    pub fn variance(&self, ddof: f64) -> Vec<f64> {
        let variance = |j: usize| {
            let divisor = self.weight[j] - ddof;
            if divisor > 0.0 { (self.squares[j] / divisor).max(0.0) } else { 0.0 }
        };
        (0..self.mean.len()).map(variance).collect()
    }
}

/// Rows one after the other, copied where they are not.
fn by_row<'a>(rows: MatRef<'a>, buffer: &'a mut Vec<f64>) -> &'a [f64] {
    let numbers = rows.nrows() * rows.ncols();
    if rows.col_stride() == 1
        && rows.row_stride() == rows.ncols()
        && let Some(memory) = rows.memory().get(..numbers)
    {
        return memory;
    }
    buffer.resize(numbers, 0.0);
    rows.write_rows(buffer);
    buffer
}

impl Summarize for ColumnMoments {
    const NOTICES: Notices = Notices::Infinite;

    fn of(data: &Dataset) -> Result<Self> {
        Ok(ColumnMoments::of(data))
    }

    fn is_finite(&self) -> bool {
        // Of a column without values the smallest is infinite, and the largest minus infinite.
        let low = |low: &f64| *low > f64::NEG_INFINITY;
        self.low.iter().all(low) && self.high.iter().all(|high| *high < f64::INFINITY)
    }
}

impl Merge for ColumnMoments {
    fn merge(mut self, later: Self) -> Result<Self> {
        self.add(&later);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_halves_equal_the_whole_and_skip_missing_values() {
        let x = Matrix::from_fn(101, 2, |i, j| {
            if (i + j) % 7 == 0 { f64::NAN } else { 1e6 + (i * i % 13) as f64 }
        });
        let table = Table::unnamed(x);
        let whole = Dataset::new(table.frame());
        let merged = ColumnMoments::of(&whole.rows(0, 40))
            .merge(ColumnMoments::of(&whole.rows(40, 101)))
            .unwrap();
        let known: Vec<f64> =
            table.values().column(0).into_iter().filter(|v| !v.is_nan()).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let variance =
            known.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / known.len() as f64;
        assert!((merged.mean[0] - mean).abs() < 1e-9);
        assert!((merged.variance(0.0)[0] - variance).abs() < 1e-9);
        assert_eq!(merged.weight[0], known.len() as f64);
    }
    /// The sums of one column, value after value.
    fn plainly(values: &[f64], weights: Option<&[f64]>) -> (f64, f64) {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let known = || values.iter().enumerate().filter(|(_, x)| !x.is_nan());
        let total: f64 = known().map(|(i, _)| weight(i)).sum();
        let mean = known().map(|(i, x)| weight(i) * x).sum::<f64>() / total;
        (mean, known().map(|(i, x)| weight(i) * (x - mean) * (x - mean)).sum())
    }

    #[test]
    fn any_memory_order_has_the_same_bits_with_weights_and_missing_values() {
        for (n, d) in [(1, 1), (70, 3), (1500, 1), (900, 20), (333, 37), (200, 130)] {
            for missing in [false, true] {
                let x = Matrix::from_fn(n, d, |i, j| match missing && (i * 7 + j) % 41 == 3 {
                    true => f64::NAN,
                    false => ((i * 31 + j * 17) as f64 * 0.37).sin() * 10f64.powi(j as i32 % 5),
                });
                let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
                let turned = x.transposed();
                let wide = Matrix::from_fn(n, 2 * d, |i, j| x[(i, j / 2)]);
                let gaps = MatRef::strided(wide.as_slice(), n, d, 2 * d, 2).unwrap();
                let schema = Schema::unnamed(d);
                for weights in [None, Some(&weights[..])] {
                    let of = |x: MatRef| {
                        let data = Dataset::new(Frame::new(x, &schema).unwrap());
                        ColumnMoments::of(&Dataset { weights, ..data })
                    };
                    let all = of(x.view());
                    assert_eq!(all, of(turned.view().transposed()), "{n} {d} {missing}");
                    assert_eq!(all, of(gaps), "{n} {d} {missing}");
                    assert_eq!(all.rows, n as u64);
                    for j in (0..d).filter(|&j| all.weight[j] > 0.0) {
                        let (mean, squares) = plainly(&x.column(j), weights);
                        let size = 10f64.powi(j as i32 % 5);
                        assert!((all.mean[j] - mean).abs() <= 1e-13 * size);
                        let error = (all.squares[j] - squares).abs();
                        assert!(error <= 1e-12 * size * size * n as f64);
                        let known = || x.column(j).into_iter().filter(|x| !x.is_nan());
                        assert_eq!(all.low[j], known().fold(f64::INFINITY, f64::min));
                        assert_eq!(all.high[j], known().fold(f64::NEG_INFINITY, f64::max));
                    }
                }
            }
        }
    }

    #[test]
    fn an_infinity_and_a_column_whose_first_rows_are_missing_are_noticed() {
        let mut x = Matrix::from_fn(3000, 2, |i, j| {
            if i < 2000 && j == 1 { f64::NAN } else { 1e200 * (i % 3) as f64 }
        });
        let of = |x: &Matrix| {
            let table = Table::unnamed(x.clone());
            ColumnMoments::of(&Dataset::new(table.frame()))
        };
        let moments = of(&x);
        assert!(moments.is_finite() && moments.mean.iter().all(|mean| mean.is_finite()));
        assert_eq!(moments.weight, [3000.0, 1000.0]);
        x[(2999, 0)] = f64::NEG_INFINITY;
        assert!(!of(&x).is_finite());
    }
}
