//! Means with second moments about them, by blocks of rows: as a matrix of sums, or as the triangle
//! of a QR factorisation, which keeps twice the digits of small directions.
//!
//! Blocks merge by S = S₁ + S₂ + (w₁w₂/w) δδᵀ with δ the difference of their means (T. Chan, G. Golub
//! and R. LeVeque, 1983); a triangle takes √(w₁w₂/w) δ as one more row.

use super::{add_gram, add_scaled, mirror_lower, triangle_of};
use crate::data::{Dataset, MatRef, Matrix};
use crate::error::Result;
use crate::rounds::{Merge, Notices, Summarize};
use crate::stop;
use crate::vectorized;
use learnt_derive::Stored;

/// Weight, means and Σ w (x - mean)(x - mean)ᵀ of rows.
#[derive(Stored, Clone, Debug)]
pub struct Scatter {
    /// Number of rows.
    pub rows: u64,
    /// Sum of the weights.
    pub weight: f64,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// The sums of products about the means.
    pub scatter: Matrix,
}

/// Squared distance from the first row to the mean, in variances, from which a block is summed
/// again: up to there at most two digits are lost.
const FAR: f64 = 256.0;

impl Scatter {
    /// Of one block: about its first row, which keeps constant columns exactly constant, and again
    /// about the mean if that row is far from it.
    pub fn of(data: &Dataset) -> Scatter {
        let mut origin = vec![0.0; data.x.ncols()];
        if data.nrows() > 0 {
            data.x.values().copy_row(0, &mut origin);
        }
        let first = Self::about(data, &origin);
        let far = |j: usize| {
            let distance = first.mean[j] - origin[j];
            first.weight * distance * distance > FAR * first.scatter[(j, j)]
        };
        match (0..origin.len()).any(far) {
            true => Self::about(data, &first.mean),
            false => first,
        }
    }

    fn about(data: &Dataset, origin: &[f64]) -> Scatter {
        let width = origin.len();
        let mut sums = vec![0.0; width];
        let mut scatter = Matrix::zeros(width, width);
        let mut weight = 0.0;
        let rows = (65_536 / width.max(1)).clamp(64, 512);
        let mut chunk = vec![0.0; rows * width];
        for start in (0..data.nrows()).step_by(rows).take_while(|_| !stop::asked()) {
            let part = data.rows(start, (start + rows).min(data.nrows()));
            let chunk = &mut chunk[..part.nrows() * width];
            part.x.values().write_rows(chunk);
            vectorized!(centre(chunk, &part, origin, &mut sums));
            weight += (0..part.nrows()).map(|i| part.weight(i)).sum::<f64>();
            if let Ok(chunk) = MatRef::row_major(chunk, part.nrows(), width) {
                add_gram(scatter.as_mut_slice(), chunk);
            }
        }
        let offset: Vec<f64> =
            sums.iter().map(|s| if weight > 0.0 { s / weight } else { 0.0 }).collect();
        for i in 0..width {
            add_scaled(&mut scatter.row_mut(i)[..=i], -weight * offset[i], &offset[..=i]);
            scatter[(i, i)] = scatter[(i, i)].max(0.0);
        }
        mirror_lower(&mut scatter);
        let mean = origin.iter().zip(&offset).map(|(origin, offset)| origin + offset).collect();
        Scatter { rows: data.nrows() as u64, weight, mean, scatter }
    }
}

/// Rows x into √w (x - origin), and Σ w (x - origin) onto `sums`.
#[inline(always)]
fn centre(rows: &mut [f64], data: &Dataset, origin: &[f64], sums: &mut [f64]) {
    for (i, row) in rows.chunks_exact_mut(origin.len().max(1)).enumerate() {
        let weight = data.weight(i);
        let root = weight.sqrt();
        for ((x, origin), sum) in row.iter_mut().zip(origin).zip(sums.iter_mut()) {
            let difference = *x - origin;
            *sum += weight * difference;
            *x = root * difference;
        }
    }
}

impl Summarize for Scatter {
    const NOTICES: Notices = Notices::All;

    fn of(data: &Dataset) -> Result<Self> {
        Ok(Scatter::of(data))
    }

    fn bytes(columns: u64) -> u64 {
        columns.saturating_mul(columns).saturating_mul(8)
    }

    fn is_finite(&self) -> bool {
        self.mean.iter().all(|mean| mean.is_finite())
    }
}

impl Merge for Scatter {
    fn merge(mut self, later: Self) -> Result<Self> {
        if later.weight == 0.0 {
            return Ok(self);
        }
        if self.weight == 0.0 {
            return Ok(later);
        }
        let (delta, between) = join(&mut self.mean, &mut self.weight, &later.mean, later.weight);
        for (i, &factor) in delta.iter().enumerate() {
            let row = self.scatter.row_mut(i);
            add_scaled(row, 1.0, later.scatter.row(i));
            add_scaled(row, between * factor, &delta);
        }
        self.rows += later.rows;
        Ok(self)
    }
}

/// Joins means and weights; gives the difference of the means, and w₁w₂/w.
fn join(mean: &mut [f64], weight: &mut f64, later_mean: &[f64], later: f64) -> (Vec<f64>, f64) {
    let total = *weight + later;
    let delta: Vec<f64> = later_mean.iter().zip(mean.iter()).map(|(b, a)| b - a).collect();
    add_scaled(mean, later / total, &delta);
    let between = *weight * (later / total);
    *weight = total;
    (delta, between)
}

/// Weight, means and a matrix R with RᵀR = Σ w (x - mean)(x - mean)ᵀ, of at most as many rows as
/// columns.
#[derive(Stored, Clone, Debug)]
pub struct Triangle {
    /// Number of rows.
    pub rows: u64,
    /// Sum of the weights.
    pub weight: f64,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// R.
    pub factor: Matrix,
}

impl Triangle {
    /// Of one block.
    pub fn of(data: &Dataset) -> Triangle {
        let (n, width) = (data.nrows(), data.x.ncols());
        let weight: f64 = (0..n).map(|i| data.weight(i)).sum();
        let mut columns = vec![0.0; n * width];
        data.x.values().transposed().write_rows(&mut columns);
        let mut mean = vec![0.0; width];
        for (column, mean) in columns.chunks_exact_mut(n.max(1)).zip(&mut mean) {
            *mean = centre_column(column, data, weight);
        }
        let factor = match MatRef::column_major(&columns, n, width) {
            Ok(centred) if n > width => triangle_of(centred),
            Ok(centred) => centred.to_matrix(),
            Err(_) => Matrix::zeros(0, width),
        };
        Triangle { rows: n as u64, weight, mean, factor }
    }
}

/// Values x into √w (x - mean), about the first value and then about the mean; gives the mean.
fn centre_column(column: &mut [f64], data: &Dataset, weight: f64) -> f64 {
    let Some(&first) = column.first() else { return 0.0 };
    let mut mean = first;
    for _ in 0..2 {
        let sum: f64 = column.iter().enumerate().map(|(i, x)| data.weight(i) * (x - mean)).sum();
        mean += if weight > 0.0 { sum / weight } else { 0.0 };
    }
    for (i, x) in column.iter_mut().enumerate() {
        *x = data.weight(i).sqrt() * (*x - mean);
    }
    mean
}

impl Merge for Triangle {
    fn merge(mut self, later: Self) -> Result<Self> {
        if later.weight == 0.0 {
            return Ok(self);
        }
        if self.weight == 0.0 {
            return Ok(later);
        }
        let (delta, between) = join(&mut self.mean, &mut self.weight, &later.mean, later.weight);
        let root = between.sqrt();
        let mut stacked = self.factor.into_vec();
        stacked.extend_from_slice(later.factor.as_slice());
        stacked.extend(delta.iter().map(|d| root * d));
        let rows = stacked.len() / delta.len().max(1);
        let stacked = Matrix::from_vec(rows, delta.len(), stacked)?;
        self.factor = if rows > delta.len() { triangle_of(stacked.view()) } else { stacked };
        self.rows += later.rows;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::OwnedDataset;
    use crate::linalg::gram;

    fn data(n: usize) -> OwnedDataset {
        let x = Matrix::from_fn(n, 3, |i, j| match j {
            0 => 1e9 + (i * 37 % 101) as f64,
            1 => 0.1,
            _ => (i * i % 17) as f64,
        });
        let weights = (0..n).map(|i| f64::from(1 + i as u32 % 3)).collect();
        OwnedDataset { weights: Some(weights), ..OwnedDataset::unsupervised(x) }
    }

    fn expected(data: &OwnedDataset) -> Matrix {
        let (view, weight): (_, f64) = (data.view(), data.weights.iter().flatten().sum());
        let n = data.x.values().nrows();
        let mean = |j: usize| {
            let shift = data.x.values()[(0, j)];
            let sum: f64 = (0..n).map(|i| view.weight(i) * (data.x.values()[(i, j)] - shift)).sum();
            shift + sum / weight
        };
        let mean: Vec<f64> = (0..3).map(mean).collect();
        gram(
            Matrix::from_fn(n, 3, |i, j| {
                view.weight(i).sqrt() * (data.x.values()[(i, j)] - mean[j])
            })
            .view(),
        )
    }

    #[test]
    fn blocks_merge_to_the_moments_of_the_whole() {
        let data = data(1000);
        let expected = expected(&data);
        let cuts = [(0, 1), (1, 3), (3, 300), (300, 1000)];
        let parts = cuts.map(|(a, b)| Scatter::of(&data.view().rows(a, b)));
        let scatter = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
        let parts = cuts.map(|(a, b)| Triangle::of(&data.view().rows(a, b)));
        let triangle = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
        assert_eq!((scatter.rows, triangle.rows), (1000, 1000));
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 + 1e-9 * b.abs();
        for ((a, b), e) in scatter
            .scatter
            .as_slice()
            .iter()
            .zip(gram(triangle.factor.view()).as_slice())
            .zip(expected.as_slice())
        {
            assert!(close(*a, *e) && close(*b, *e), "{a} {b} {e}");
        }
    }

    #[test]
    fn a_constant_column_scatters_exactly_nothing() {
        let data = data(777);
        let scatter = Scatter::of(&data.view());
        assert_eq!((scatter.scatter[(1, 1)], scatter.mean[1]), (0.0, 0.1));
        let triangle = Triangle::of(&data.view());
        assert_eq!(triangle.mean[1], 0.1);
        assert!((0..3).all(|i| triangle.factor[(i, 1)] == 0.0));
    }
}
