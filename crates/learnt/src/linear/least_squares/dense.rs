//! Orthogonal solutions, from rows or from a triangle with the same products.
//!
//! Columns are taken in order by Householder reflections. A column of which less than the tolerance
//! is left beside the earlier ones is aliased; X = X_K (I C) then gives the coefficients of smallest
//! norm as (I C)ᵀ (I + C Cᵀ)⁻¹ b_K, without a decision about small singular values.

use learnt_core::linalg::{Cholesky, Svd, add_scaled, dot, matmul, norm, svd};
use learnt_core::prelude::*;

/// A least-squares solution with what inference needs.
pub(super) struct Orthogonal {
    /// (n_outputs × n_columns), of smallest norm.
    pub(super) coef: Matrix,
    /// M (n_columns × rank) with M Mᵀ = (XᵀX)⁺.
    pub(super) root: Matrix,
    /// Columns that depend on earlier ones.
    pub(super) aliased: Vec<usize>,
    /// (Y - XB)ᵀ(Y - XB).
    pub(super) residual: Matrix,
}

/// The reflected columns: R (by columns, `rank` long each) and what is left of the outputs.
struct Reflected {
    kept: Vec<usize>,
    aliased: Vec<usize>,
    columns: Vec<Vec<f64>>,
    norms: Vec<f64>,
}

/// Solves `joined` = (X Y), X its first `p` columns, counting columns as dependent from which less
/// than `tolerance` of their norm is left.
pub(super) fn in_order(joined: &Matrix, p: usize, tolerance: f64) -> Result<Orthogonal> {
    let reflected = reflect(joined, p, tolerance);
    let (rank, k) = (reflected.kept.len(), joined.ncols() - p);
    let outputs = &reflected.columns[p..];
    let residual = Matrix::from_fn(k, k, |t, s| dot(&outputs[t][rank..], &outputs[s][rank..]));
    let kept_coef: Vec<Vec<f64>> =
        outputs.iter().map(|y| reflected.solve_kept(&y[..rank])).collect();
    let kept_root = reflected.inverse_kept();
    let (coef, root) = match reflected.aliased.is_empty() {
        true => (Matrix::from_rows(&kept_coef)?, kept_root),
        false => reflected.smallest(&kept_coef, &kept_root, p)?,
    };
    Ok(Orthogonal { coef, root, aliased: reflected.aliased, residual })
}

/// Householder reflections of the scaled columns of X, in order, applied to all columns.
fn reflect(joined: &Matrix, p: usize, tolerance: f64) -> Reflected {
    let mut columns: Vec<Vec<f64>> = (0..joined.ncols()).map(|j| joined.column(j)).collect();
    let mut norms = vec![1.0; p];
    let mut mirrors: Vec<Vec<f64>> = Vec::new();
    let (mut kept, mut aliased) = (Vec::new(), Vec::new());
    for (j, column) in columns.iter_mut().enumerate() {
        if j < p {
            norms[j] = norm(column);
            let scale = if norms[j] > 0.0 { 1.0 / norms[j] } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= scale);
        }
        for (k, mirror) in mirrors.iter().enumerate() {
            let along = 2.0 * dot(mirror, &column[k..]);
            add_scaled(&mut column[k..], -along, mirror);
        }
        let rank = mirrors.len();
        let left = norm(&column[rank..]);
        if j < p && left > tolerance {
            mirrors.push(mirror_of(&mut column[rank..], left));
            kept.push(j);
        } else if j < p {
            column[rank..].fill(0.0);
            aliased.push(j);
        }
    }
    Reflected { kept, aliased, columns, norms }
}

/// The unit vector v with (I - 2vvᵀ) x = ∓‖x‖ e₁; x becomes that.
pub(in crate::linear) fn mirror_of(x: &mut [f64], length: f64) -> Vec<f64> {
    let head = -length.copysign(x[0]);
    let mut mirror = x.to_vec();
    mirror[0] -= head;
    let scale = norm(&mirror);
    mirror.iter_mut().for_each(|v| *v /= scale);
    x.fill(0.0);
    x[0] = head;
    mirror
}

impl Reflected {
    /// b with R b = y on the kept columns, in their scaled units.
    fn solve_scaled(&self, y: &[f64]) -> Vec<f64> {
        let mut b = y.to_vec();
        for k in (0..b.len()).rev() {
            let column = &self.columns[self.kept[k]];
            b[k] /= column[k];
            let x = b[k];
            add_scaled(&mut b[..k], -x, &column[..k]);
        }
        b
    }

    /// The same in the units of the data.
    fn solve_kept(&self, y: &[f64]) -> Vec<f64> {
        let scaled = self.solve_scaled(y);
        scaled.iter().zip(&self.kept).map(|(b, &j)| b / self.norms[j]).collect()
    }

    /// R⁻¹ in the units of the data.
    fn inverse_kept(&self) -> Matrix {
        let rank = self.kept.len();
        let mut columns = Matrix::zeros(rank, rank);
        for k in 0..rank {
            let mut unit = vec![0.0; rank];
            unit[k] = 1.0;
            columns.row_mut(k).copy_from_slice(&self.solve_kept(&unit));
        }
        columns.transposed()
    }

    /// Coefficients and root of smallest norm over all columns.
    fn smallest(&self, coef: &[Vec<f64>], root: &Matrix, p: usize) -> Result<(Matrix, Matrix)> {
        let rank = self.kept.len();
        let mut spread = Matrix::zeros(p, rank);
        for (k, &j) in self.kept.iter().enumerate() {
            spread[(j, k)] = 1.0;
        }
        for &j in &self.aliased {
            let combination = self.solve_kept(&self.columns[j][..rank]);
            for (k, c) in combination.iter().enumerate() {
                spread[(j, k)] = c * self.norms[j];
            }
        }
        let inner = matmul(spread.view().transposed(), spread.view());
        let failed =
            || Error::numeric("the aliased columns could not be resolved; scale the columns");
        if rank == 0 {
            return Ok((Matrix::zeros(coef.len(), p), Matrix::zeros(p, 0)));
        }
        let factor = Cholesky::new(&inner).ok_or_else(failed)?;
        let shrunk: Vec<Vec<f64>> = coef
            .iter()
            .map(|b| {
                let mut b = b.clone();
                factor.solve_in_place(&mut b);
                b
            })
            .collect();
        let shrunk = Matrix::from_rows(&shrunk)?;
        let root = matmul(spread.view(), factor.solve(root).view());
        Ok((matmul(shrunk.view(), spread.view().transposed()), root))
    }
}

/// X of `joined` = (X Y) by singular values.
pub(super) struct Spectrum {
    /// The factors of X.
    pub(super) svd: Svd,
    /// UᵀY by outputs, (n_outputs × n_values).
    pub(super) along: Matrix,
    /// YᵀY.
    total: Matrix,
}

impl Spectrum {
    pub(super) fn new(joined: &Matrix, p: usize) -> Result<Spectrum> {
        let width = joined.ncols();
        let svd = svd(joined.view().columns(0, p))?;
        let y = joined.view().columns(p, width);
        Ok(Spectrum {
            along: matmul(y.transposed(), svd.u.view()),
            total: matmul(y.transposed(), y),
            svd,
        })
    }

    /// B = V diag(shrink(s)) UᵀY for one output.
    pub(super) fn solve(&self, output: usize, shrink: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut out = vec![0.0; self.svd.v.nrows()];
        for (k, &s) in self.svd.s.iter().enumerate() {
            let along = shrink(s) * self.along[(output, k)];
            out.iter_mut().enumerate().for_each(|(j, out)| *out += along * self.svd.v[(j, k)]);
        }
        out
    }

    /// YᵀY less what the first `rank` directions explain.
    pub(super) fn residual(&self, rank: usize) -> Matrix {
        let k = self.total.nrows();
        Matrix::from_fn(k, k, |t, s| {
            let explained = dot(&self.along.row(t)[..rank], &self.along.row(s)[..rank]);
            let left = self.total[(t, s)] - explained;
            if t == s { left.max(0.0) } else { left }
        })
    }
}
