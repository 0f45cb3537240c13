//! The refining pass: residuals at given coefficients, and their products with the inputs.

use super::moments::{fill, for_each_row};
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::rounds::Singles;
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
    fn zeros(outputs: usize, inputs: usize) -> Gradient {
        Gradient {
            product: Matrix::zeros(outputs, inputs),
            sum: vec![0.0; outputs],
            squares: Matrix::zeros(outputs, outputs),
        }
    }

    /// The sums over one block.
    pub(super) fn of(data: &Dataset, anchor: &Anchor) -> Result<Gradient> {
        let y = data.real_target()?;
        let (d, k) = (data.x.ncols(), y.ncols());
        let mut out = Gradient::zeros(k, d);
        let mut centred = vec![0.0; d + k];
        vectorized!({
            for_each_row(
                data,
                y,
                #[inline(always)]
                |i, inputs, outputs| {
                    fill(&mut centred, 1.0, inputs, outputs, &anchor.mean);
                    out.add(data.weight(i), &mut centred, anchor);
                },
            );
        });
        Ok(out)
    }

    /// The same of rows in single precision, with the bits of their conversion.
    pub(super) fn of_singles(rows: &Singles, anchor: &Anchor) -> Result<Gradient> {
        let Some(Target::Real(y)) = rows.y else {
            return Err(Error::internal("rows without a numeric target"));
        };
        let (d, k) = (rows.schema.len(), y.ncols());
        let mut out = Gradient::zeros(k, d);
        let mut centred = vec![0.0; d + k];
        vectorized!({
            for (i, inputs) in rows.values.chunks_exact(d.max(1)).enumerate() {
                let (x, outputs) = centred.split_at_mut(d);
                y.copy_row(i, outputs);
                for ((x, &input), mean) in x.iter_mut().zip(inputs).zip(&anchor.mean) {
                    *x = f64::from(input) - mean;
                }
                for (output, mean) in outputs.iter_mut().zip(&anchor.mean[d..]) {
                    *output -= mean;
                }
                out.add(1.0, &mut centred, anchor);
            }
        });
        Ok(out)
    }

    /// Adds a row, inputs and outputs less their means.
    #[inline(always)]
    fn add(&mut self, weight: f64, centred: &mut [f64], anchor: &Anchor) {
        let (x, residual) = centred.split_at_mut(anchor.coef.ncols());
        for (t, residual) in residual.iter_mut().enumerate() {
            *residual -= anchor.offset[t] + dot(x, anchor.coef.row(t));
            self.sum[t] += weight * *residual;
            add_scaled(self.product.row_mut(t), weight * *residual, x);
        }
        for t in 0..residual.len() {
            add_scaled(self.squares.row_mut(t), weight * residual[t], residual);
        }
    }
}
