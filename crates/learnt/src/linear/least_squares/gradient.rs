//! The refining pass: residuals at given coefficients, and their products with the inputs.

use super::moments::{fill, for_each_row};
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Sums over residuals r of some coefficients.
#[derive(Stored, Clone, Debug, Merge)]
pub(super) struct Gradient {
    /// Σ w r (x - mean)ᵀ, (n_outputs × n_features).
    pub(super) product: Matrix,
    /// Σ w r.
    pub(super) sum: Vec<f64>,
    /// Σ w r rᵀ, (n_outputs × n_outputs).
    pub(super) squares: Matrix,
}

/// Coefficients around which residuals are taken: r = y - mean_y - offset - (x - mean_x)ᵀ b.
#[derive(Stored, Clone, Debug)]
pub(super) struct Anchor {
    /// Means of inputs, then outputs.
    pub(super) mean: Vec<f64>,
    /// (n_outputs × n_features).
    pub(super) coef: Matrix,
    /// What the fit at the mean of the inputs adds to the mean of each output.
    pub(super) offset: Vec<f64>,
}

impl Gradient {
    /// The sums over one block.
    pub(super) fn of(data: &Dataset, anchor: &Anchor) -> Result<Gradient> {
        let y = data.real_target()?;
        let (d, k) = (data.x.ncols(), y.ncols());
        let mut out = Gradient {
            product: Matrix::zeros(k, d),
            sum: vec![0.0; k],
            squares: Matrix::zeros(k, k),
        };
        let mut centred = vec![0.0; d + k];
        vectorized!({
            for_each_row(
                data,
                y,
                #[inline(always)]
                |i, inputs, outputs| {
                    let weight = data.weight(i);
                    fill(&mut centred, 1.0, inputs, outputs, &anchor.mean);
                    let (x, residual) = centred.split_at_mut(d);
                    for (t, residual) in residual.iter_mut().enumerate() {
                        *residual -= anchor.offset[t] + dot(x, anchor.coef.row(t));
                        out.sum[t] += weight * *residual;
                        add_scaled(out.product.row_mut(t), weight * *residual, x);
                    }
                    for t in 0..k {
                        add_scaled(out.squares.row_mut(t), weight * residual[t], residual);
                    }
                },
            );
        });
        Ok(out)
    }
}
