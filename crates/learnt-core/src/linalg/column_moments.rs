//! Per-column moments of blocks: what scalers, imputers and clusterings begin with.
//!
//! Each block is read twice: means first, then squares of differences from them. Blocks merge by
//! Chan's formulas, so no large numbers cancel. Missing values are left out, column by column.

use crate::prelude::*;
use crate::vectorized;

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
        let d = data.x.ncols();
        let mut moments = ColumnMoments {
            rows: data.nrows() as u64,
            weight: vec![0.0; d],
            mean: vec![0.0; d],
            squares: vec![0.0; d],
            low: vec![f64::INFINITY; d],
            high: vec![f64::NEG_INFINITY; d],
        };
        vectorized!(moments.add_sums(data));
        vectorized!(moments.add_squares(data));
        moments
    }

    #[inline(always)]
    fn add_sums(&mut self, data: &Dataset) {
        for_each_row(
            data,
            #[inline(always)]
            |row, weight| {
                // Two loops: with four arrays to write in one, the compiler uses no vectors.
                for ((&x, sum), total) in row.iter().zip(&mut self.mean).zip(&mut self.weight) {
                    *total += weight * f64::from(!x.is_nan());
                    *sum += weight * if x.is_nan() { 0.0 } else { x };
                }
                for ((&x, low), high) in row.iter().zip(&mut self.low).zip(&mut self.high) {
                    *low = if x < *low { x } else { *low };
                    *high = if x > *high { x } else { *high };
                }
            },
        );
        for (mean, weight) in self.mean.iter_mut().zip(&self.weight) {
            *mean = if *weight > 0.0 { *mean / weight } else { 0.0 };
        }
    }

    /// Σ w (x - m)², less what the rounding of m added.
    #[inline(always)]
    fn add_squares(&mut self, data: &Dataset) {
        let mut drift = vec![0.0; self.mean.len()];
        for_each_row(
            data,
            #[inline(always)]
            |row, weight| {
                let sums = self.squares.iter_mut().zip(&mut drift);
                for ((&x, mean), (square, drift)) in row.iter().zip(&self.mean).zip(sums) {
                    let difference = if x.is_nan() { 0.0 } else { x - mean };
                    *square += weight * difference * difference;
                    *drift += weight * difference;
                }
            },
        );
        for (j, drift) in drift.into_iter().enumerate() {
            if self.weight[j] > 0.0 {
                self.squares[j] -= drift * drift / self.weight[j];
                self.mean[j] += drift / self.weight[j];
            }
        }
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

/// Calls `f` with every row and its weight.
#[inline(always)]
fn for_each_row(data: &Dataset, mut f: impl FnMut(&[f64], f64)) {
    let values = data.x.values();
    let mut buffer = vec![0.0; data.x.ncols()];
    for i in 0..data.nrows() {
        match values.row_slice(i) {
            Some(row) => f(row, data.weight(i)),
            None => {
                values.copy_row(i, &mut buffer);
                f(&buffer, data.weight(i));
            }
        }
    }
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
        for j in 0..self.mean.len() {
            let total = self.weight[j] + later.weight[j];
            if later.weight[j] > 0.0 {
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
}
