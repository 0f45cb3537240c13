//! Leave-one-out errors of ridge regression from the products of rows, for tables with fewer rows than columns.
//!
//! With K = X Xᵀ of the centred rows √(w/W) (x - mean), S = K + a I and c = S⁻¹ y, the coefficients are Xᵀ c, the
//! residuals a c, and what a fit leaves of row i, 1 - h_i, is a (S⁻¹)_ii, less w_i / W for the intercept. K has
//! nothing along v = √(w/W) where it is centred; K + s v vᵀ with s its mean diagonal has the same solutions, and no
//! digits are lost to a small a. One Cholesky factor and the lengths of the columns of its inverse a penalty:
//! n² p / 2 + k n³ / 3 multiplications for k penalties, where the eigenvectors of K take about 5 n³ + n² p more.
//! Gives up where S is too near to singular.
//!
//! Golub, Heath and Wahba (1979), Technometrics 21(2), 215-223.

use super::columns::Columns;
use learnt_core::linalg::{
    Cholesky, add_scaled, dot, matmul, matvec, row_products_in, solve_lower,
};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Penalties up to which factors are cheaper than eigenvectors.
const FEW: usize = 12;
/// Columns of an inverse that are solved for together.
const PANEL: usize = 128;
/// Condition of S above which its inverse has too few digits.
const CONDITION: f64 = 1e8;

/// Whether factors of the products of rows are the cheaper way.
pub(super) fn rows_pay(rows: usize, columns: usize, penalties: usize) -> bool {
    rows <= columns && penalties <= FEW
}

/// What a penalty gives.
pub(super) struct Left {
    /// Σ w (r / (1 - h))² over rows and outputs.
    pub(super) squares: f64,
    /// c of each output.
    pub(super) shares: Vec<Vec<f64>>,
    /// Degrees of freedom without the intercept's.
    pub(super) freedom: f64,
}

/// K, and what stands on both sides of it.
pub(super) struct RowProducts<'a> {
    products: Matrix,
    inputs: &'a Columns,
    /// √(w/W) (y - mean) of each output.
    outputs: Vec<Vec<f64>>,
    /// √(w/W), if the table is centred.
    still: Option<Vec<f64>>,
    /// s, or 0.
    lift: f64,
    weight: f64,
}

impl<'a> RowProducts<'a> {
    pub(super) fn new(
        inputs: &'a Columns,
        data: &Dataset,
        means: &[f64],
        intercept: bool,
        run: &Context,
    ) -> Result<RowProducts<'a>> {
        let (n, y) = (data.nrows(), data.real_target()?);
        let weight: f64 = (0..n).map(|i| data.weight(i)).sum();
        let roots: Vec<f64> = (0..n).map(|i| (data.weight(i) / weight).sqrt()).collect();
        let output = |t: usize| (0..n).map(|i| roots[i] * (y.at(i, t) - means[t])).collect();
        let outputs = (0..y.ncols()).map(output).collect();
        let mut products = row_products_in(inputs.values.view().transposed(), run)?;
        let mut lift = 0.0;
        if intercept {
            lift = (0..n).map(|i| products[(i, i)]).sum::<f64>() / n as f64;
            (0..n).for_each(|i| add_scaled(products.row_mut(i), lift * roots[i], &roots));
        }
        let still = intercept.then_some(roots);
        Ok(RowProducts { products, inputs, outputs, still, lift, weight })
    }

    /// What the penalty a leaves; `None` where it would have too few digits.
    pub(super) fn left(&self, a: f64, run: &Context) -> Result<Option<Left>> {
        let n = self.products.nrows();
        let mut system = self.products.clone();
        (0..n).for_each(|i| system[(i, i)] += a);
        let Some(factor) = Cholesky::new_in(system, run)? else { return Ok(None) };
        if !(a > 0.0 && factor.condition_bound() < CONDITION) {
            return Ok(None);
        }
        let mut inverse = inverse_diagonal(&factor, run);
        run.checkpoint()?;
        // Less what was added along v.
        for (inverse, root) in inverse.iter_mut().zip(self.still.iter().flatten()) {
            *inverse -= root * root / (a + self.lift);
        }
        let mut squares = 0.0;
        let mut shares = Vec::with_capacity(self.outputs.len());
        for y in &self.outputs {
            let mut c = y.clone();
            factor.solve_in_place(&mut c);
            squares += c.iter().zip(&inverse).map(|(c, kept)| (c / kept).powi(2)).sum::<f64>();
            shares.push(c);
        }
        let directions = (n - usize::from(self.still.is_some())) as f64;
        let freedom = directions - a * inverse.iter().sum::<f64>();
        Ok(Some(Left { squares: self.weight * squares, shares, freedom }))
    }

    /// Xᵀ c.
    pub(super) fn coef(&self, shares: &[f64]) -> Vec<f64> {
        matvec(self.inputs.values.view(), shares)
    }
}

/// The diagonal of (L Lᵀ)⁻¹: the squared lengths of the columns of L⁻¹, panels of them side by side.
fn inverse_diagonal(factor: &Cholesky, run: &Context) -> Vec<f64> {
    let n = factor.lower.nrows();
    let parts = run.par_ranges(n, PANEL, |columns| {
        if run.checkpoint().is_err() {
            return vec![0.0; columns.len()];
        }
        let solved = inverse_columns(factor, columns.start, columns.len());
        solved.rows().map(|column| vectorized!(dot(column, column))).collect()
    });
    parts.concat()
}

/// Columns of L⁻¹ from their diagonal on, as rows.
fn inverse_columns(factor: &Cholesky, first: usize, count: usize) -> Matrix {
    let below = factor.lower.nrows() - first;
    let lower = factor.lower.view().rows(first, first + below).columns(first, first + below);
    let mut out = Matrix::from_fn(count, below, |k, i| f64::from(k == i));
    for start in (0..below).step_by(PANEL) {
        let end = (start + PANEL).min(below);
        let corner = lower.rows(start, end).columns(start, end).to_matrix();
        if start > 0 {
            let before = lower.rows(start, end).columns(0, start);
            let known = matmul(out.view().columns(0, start), before.transposed());
            for k in 0..count {
                add_scaled(&mut out.row_mut(k)[start..end], -1.0, known.row(k));
            }
        }
        (0..count).for_each(|k| solve_lower(&corner, &mut out.row_mut(k)[start..end]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    #[test]
    fn panels_give_the_diagonal_of_the_inverse() {
        let mut rng = Context::default().rng(1);
        for n in [1, 5, PANEL, 2 * PANEL + 3] {
            let x = Matrix::from_fn(n, n + 3, |_, _| standard_normal(&mut rng));
            let mut products = matmul(x.view(), x.view().transposed());
            (0..n).for_each(|i| products[(i, i)] += 1.0);
            let factor = Cholesky::new(&products).unwrap();
            let inverse = factor.inverse();
            let found = inverse_diagonal(&factor, &Context::default());
            for (i, found) in found.iter().enumerate() {
                assert!((found - inverse[(i, i)]).abs() < 1e-10, "{n}: {i}");
            }
        }
    }
}
