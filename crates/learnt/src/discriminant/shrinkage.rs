//! Shrunk covariances: a blend with a multiple of the identity, by a fixed share or by the share of
//! least expected squared error.
//!
//! The estimated share works on columns scaled to unit variance within the class and needs
//! Σ w ‖z‖⁴ of the scaled rows, a pass of its own.
//!
//! Ledoit and Wolf (2004), Journal of Multivariate Analysis 88, 365-411.

use super::scatter::ClassScatter;
use learnt_core::prelude::*;

/// How covariances are shrunk towards a multiple of the identity.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Shrinkage {
    /// Not at all.
    #[choice(none)]
    Nothing,
    /// By the share of least expected squared error, for each class.
    Auto,
    /// By this share.
    #[choice(range = 0.0..=1.0)]
    Share(f64),
}

/// (1 - share) S + share trace(S)/p I.
pub(super) fn shrunk(mut covariance: Matrix, share: f64) -> Matrix {
    let p = covariance.nrows();
    let mean = (0..p).map(|j| covariance[(j, j)]).sum::<f64>() / p.max(1) as f64;
    covariance.as_mut_slice().iter_mut().for_each(|value| *value *= 1.0 - share);
    (0..p).for_each(|j| covariance[(j, j)] += share * mean);
    covariance
}

/// Standard deviations within a class, divisor n; 1 of constant columns.
fn scales(all: &ClassScatter, class: usize) -> Vec<f64> {
    let scale = |j: usize| match (all.scatter[class][(j, j)] / all.weight[class]).sqrt() {
        deviation if deviation > 0.0 => deviation,
        _ => 1.0,
    };
    (0..all.mean.ncols()).map(scale).collect()
}

/// Σ w ‖z‖⁴ of each class in one block, with z the rows about the mean in standard deviations.
pub(super) fn fourth_powers(data: &Dataset, all: &ClassScatter) -> Result<Vec<f64>> {
    let (codes, _) = data.class_target()?;
    let scales: Vec<Vec<f64>> = (0..all.weight.len()).map(|k| scales(all, k)).collect();
    let mut out = vec![0.0; all.weight.len()];
    let mut row = vec![0.0; data.x.ncols()];
    for (i, &code) in codes.iter().enumerate() {
        let k = code as usize;
        data.x.values().copy_row(i, &mut row);
        let columns = row.iter().zip(all.mean.row(k)).zip(&scales[k]);
        let square: f64 = columns.map(|((x, mean), scale)| ((x - mean) / scale).powi(2)).sum();
        out[k] += data.weight(i) * square * square;
    }
    Ok(out)
}

/// The scatter of a class, shrunk by the estimated share.
pub(super) fn estimated(all: &ClassScatter, class: usize, fourth: f64) -> Matrix {
    let (n, p) = (all.weight[class], all.mean.ncols());
    if n <= 0.0 {
        return all.scatter[class].clone();
    }
    let scales = scales(all, class);
    let scaled =
        Matrix::from_fn(p, p, |i, j| all.scatter[class][(i, j)] / n / scales[i] / scales[j]);
    let squares: f64 = scaled.as_slice().iter().map(|s| s * s).sum();
    let mean = (0..p).map(|j| scaled[(j, j)]).sum::<f64>() / p as f64;
    let spread = squares - p as f64 * mean * mean;
    let noise = ((fourth / n - squares) / n).min(spread);
    let share = if noise > 0.0 { noise / spread } else { 0.0 };
    let shrunk = shrunk(scaled, share);
    Matrix::from_fn(p, p, |i, j| n * shrunk[(i, j)] * scales[i] * scales[j])
}
