//! The vector a that minimises Σ w_i (a·y_i - b_i)², of smallest length: pinv(√W Y) √W b.

use super::reflection::Reflected;
use learnt_core::linalg::{Svd, svd};
use learnt_core::prelude::*;

/// Solves for several b with one decomposition.
pub(super) struct LeastSquares {
    factors: Svd,
    roots: Option<Vec<f64>>,
}

impl LeastSquares {
    pub(super) fn new(
        reflected: &Reflected,
        weights: Option<&[f64]>,
        run: &Context,
    ) -> Result<Self> {
        let rows = reflected.rows();
        run.claim(16 * rows.nrows() as u64 * rows.ncols() as u64, "a decomposition of the table")?;
        let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let factors = match &roots {
            None => svd(rows.view())?,
            Some(roots) => {
                let weighted =
                    Matrix::from_fn(rows.nrows(), rows.ncols(), |i, j| roots[i] * rows[(i, j)]);
                svd(weighted.view())?
            }
        };
        Ok(LeastSquares { factors, roots })
    }

    pub(super) fn solve(&self, b: &[f64]) -> Result<Vec<f64>> {
        let a = match &self.roots {
            None => self.factors.solve(b),
            Some(roots) => {
                let weighted: Vec<f64> = b.iter().zip(roots).map(|(b, root)| b * root).collect();
                self.factors.solve(&weighted)
            }
        };
        match a.iter().all(|value| value.is_finite()) {
            true => Ok(a),
            false => Err(Error::numeric("least squares overflowed").hint("scale the columns")),
        }
    }
}
