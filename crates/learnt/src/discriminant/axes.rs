//! Scores and discriminant coordinates from sphered class means.

use learnt_core::linalg::{add_scaled, dot, matmul, svd};
use learnt_core::prelude::*;

/// Σ π_k μ_k.
pub(super) fn overall_mean(means: &Matrix, priors: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; means.ncols()];
    means.rows().zip(priors).for_each(|(mean, &prior)| add_scaled(&mut out, prior, mean));
    out
}

/// One share for each class that has a prior.
pub(super) fn equal_shares(priors: &[f64]) -> Vec<f64> {
    let present = priors.iter().filter(|prior| **prior > 0.0).count().max(1) as f64;
    priors.iter().map(|&prior| if prior > 0.0 { present.recip() } else { 0.0 }).collect()
}

/// The discriminant coordinates.
pub(super) struct Axes {
    /// In columns.
    pub(super) scalings: Matrix,
    pub(super) ratios: Vec<f64>,
    /// Σ ratio² over all coordinates.
    total: f64,
}

impl Axes {
    pub(super) fn new(
        sphering: &Matrix,
        means: &Matrix,
        xbar: &[f64],
        priors: &[f64],
        weight: f64,
    ) -> Result<Axes> {
        let present = priors.iter().filter(|&&prior| prior > 0.0).count();
        let most = present.saturating_sub(1).max(1);
        let centred = Matrix::from_fn(means.nrows(), means.ncols(), |k, j| {
            let factor = (weight * priors[k] / most as f64).sqrt();
            factor * (means[(k, j)] - xbar[j])
        });
        let between = svd(matmul(centred.view(), sphering.view().transposed()).view())?;
        let count = between.rank().clamp(1, most.min(between.s.len()));
        let mut directions =
            matmul(between.v.view().columns(0, count).transposed(), sphering.view());
        (0..count).for_each(|k| make_largest_positive(directions.row_mut(k)));
        let ratios = between.s[..count].to_vec();
        let total = dot(&ratios, &ratios);
        Ok(Axes { scalings: directions.transposed(), ratios, total })
    }

    pub(super) fn shares(&self, count: usize) -> Vec<f64> {
        let share = |ratio: &f64| if self.total > 0.0 { ratio * ratio / self.total } else { 0.0 };
        self.ratios[..count].iter().map(share).collect()
    }
}

fn make_largest_positive(row: &mut [f64]) {
    let largest = row.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
    if largest < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

/// Weights and intercepts of the scores about an origin; their difference for two classes.
pub(super) fn scores(
    sphering: &Matrix,
    means: &Matrix,
    origin: &[f64],
    priors: &[f64],
) -> (Matrix, Vec<f64>) {
    let centred = Matrix::from_fn(means.nrows(), means.ncols(), |k, j| means[(k, j)] - origin[j]);
    let sphered = matmul(centred.view(), sphering.view().transposed());
    let coef = matmul(sphered.view(), sphering.view());
    let intercept: Vec<f64> = (0..means.nrows())
        .map(|k| {
            let (z, row) = (sphered.row(k), coef.row(k));
            priors[k].ln() - 0.5 * dot(z, z) - dot(origin, row)
        })
        .collect();
    if means.nrows() != 2 {
        return (coef, intercept);
    }
    let difference = Matrix::from_fn(1, coef.ncols(), |_, j| coef[(1, j)] - coef[(0, j)]);
    (difference, vec![intercept[1] - intercept[0]])
}
