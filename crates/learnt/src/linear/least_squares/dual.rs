//! Wide tables by the products of their rows: B = Xᵀ (XXᵀ + alpha I)⁻¹ Y.
//!
//! n²p + n³/3 steps. Without penalty that is the solution of smallest norm; a centred table has no
//! variance along √w, where a multiple of the unit vector's square makes the matrix regular and
//! changes nothing, because centred outputs have no part there. Solutions are refined by residuals
//! taken from the table itself. A step of refinement must be a thousandth of what it corrects, each next
//! one a hundredth of the step before, and the last below 1e-10; else rows are too dependent, and
//! singular values decide.

use super::moments::Moments;
use super::{DETAILED, LeastSquares, Solution};
use learnt_core::linalg::{
    Cholesky, add_scaled, dot, matvec, norm, row_products_in, singular_values,
};
use learnt_core::prelude::*;

/// Largest first step of refinement, as a share of the coefficients.
const FIRST: f64 = 1e-3;
/// Largest next step, as a share of the step before.
const NEXT: f64 = 1e-2;
/// A step that changes the coefficients by less is the last.
const ENOUGH: f64 = 1e-10;
const STEPS: usize = 4;
/// Condition from which products of rows may be singular: rank is not decided here.
const SINGULAR: f64 = 1e12;

impl LeastSquares {
    /// The solution from rows √w (x - mean), outputs last; `None` if it would not be accurate.
    pub(super) fn by_row_products(
        &self,
        weights: &[f64],
        moments: &Moments,
        joined: &Matrix,
        outputs: usize,
        run: &Context,
    ) -> Result<Option<Solution>> {
        let (n, p) = (joined.nrows(), joined.ncols() - outputs);
        if self.orthogonal || n == 0 {
            return Ok(None);
        }
        let x = joined.view().columns(0, p);
        let mut products = row_products_in(x, run)?;
        let free = self.alpha.is_empty();
        let mut still = Vec::new();
        if free && self.intercept {
            let trace: f64 = (0..n).map(|i| products[(i, i)]).sum();
            let scale = (trace / n as f64 / moments.weight).sqrt();
            still.extend(weights.iter().map(|w| scale * w.sqrt()));
            (0..n).for_each(|i| add_scaled(products.row_mut(i), still[i], &still));
        }
        let mut factor = None;
        let (mut coef, mut freedom) = (Vec::new(), Vec::new());
        for t in 0..outputs {
            let alpha = self.alpha_of(t);
            if t == 0 || self.alpha.len() > 1 {
                let last = t + 1 == outputs || self.alpha.len() <= 1;
                let mut matrix =
                    if last { std::mem::take(&mut products) } else { products.clone() };
                (0..n).for_each(|i| matrix[(i, i)] += alpha);
                factor = Cholesky::new_in(matrix, run)?;
            }
            let regular = |factor: &&Cholesky| factor.condition_bound() <= SINGULAR;
            let Some(factor) = factor.as_ref().filter(regular) else { return Ok(None) };
            let system = Dual { x, alpha, still: &still, factor };
            match system.solve(&joined.view().column(p + t)) {
                Some(slope) => coef.push(slope),
                None => return Ok(None),
            }
            if !free && n <= DETAILED {
                freedom.push(self.freedom(n as f64 - alpha * factor.inverse_trace()));
            }
        }
        let residual = match free {
            true => residuals(joined, p, &coef),
            false => Matrix::zeros(outputs, outputs),
        };
        let anchor = self.anchor_of(moments, Matrix::from_rows(&coef)?);
        let mut out = self.plain(moments, anchor, residual);
        let lost = usize::from(!still.is_empty());
        out.rank = (n - lost).min(moments.mean.len() - outputs);
        if free && n <= DETAILED {
            out.singular = singular_values(x)?;
        }
        out.freedom = (!free && n <= DETAILED).then_some(freedom);
        Ok(Some(out))
    }
}

/// (XXᵀ + alpha I + still stillᵀ) c = y, factored.
struct Dual<'a> {
    x: MatRef<'a>,
    alpha: f64,
    still: &'a [f64],
    factor: &'a Cholesky,
}

impl Dual<'_> {
    /// Xᵀc, refined; `None` if the steps say that it is not accurate.
    fn solve(&self, y: &[f64]) -> Option<Vec<f64>> {
        let mut c = y.to_vec();
        self.factor.solve_in_place(&mut c);
        let mut slope = matvec(self.x.transposed(), &c);
        let size = norm(&slope);
        let mut bound = FIRST * size;
        for _ in 0..STEPS {
            let mut step = self.left(y, &c, &slope);
            self.factor.solve_in_place(&mut step);
            let change = matvec(self.x.transposed(), &step);
            let length = norm(&change);
            if length.is_nan() || length > bound {
                return None;
            }
            add_scaled(&mut c, 1.0, &step);
            add_scaled(&mut slope, 1.0, &change);
            if length <= ENOUGH * size {
                return Some(slope);
            }
            bound = (NEXT * length).max(ENOUGH * size);
        }
        None
    }

    /// What c leaves of y.
    fn left(&self, y: &[f64], c: &[f64], slope: &[f64]) -> Vec<f64> {
        let fit = matvec(self.x, slope);
        let along = if self.still.is_empty() { 0.0 } else { dot(self.still, c) };
        let still = |i: usize| self.still.get(i).map_or(0.0, |s| s * along);
        (0..y.len()).map(|i| y[i] - fit[i] - self.alpha * c[i] - still(i)).collect()
    }
}

/// (Y - XB)ᵀ(Y - XB).
fn residuals(joined: &Matrix, p: usize, coef: &[Vec<f64>]) -> Matrix {
    let left: Vec<Vec<f64>> = (0..coef.len())
        .map(|t| joined.rows().map(|row| row[p + t] - dot(&row[..p], &coef[t])).collect())
        .collect();
    Matrix::from_fn(coef.len(), coef.len(), |t, s| dot(&left[t], &left[s]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::svd;
    use learnt_core::stats::sample::standard_normal;

    fn joined(n: usize, p: usize, centred: bool) -> Matrix {
        let mut rng = Context::default().rng(9);
        let mut out = Matrix::from_fn(n, p + 1, |_, _| standard_normal(&mut rng));
        for j in 0..(p + 1) * usize::from(centred) {
            let mean = (0..n).map(|i| out[(i, j)]).sum::<f64>() / n as f64;
            (0..n).for_each(|i| out[(i, j)] -= mean);
        }
        out
    }

    fn moments(n: usize, p: usize) -> Moments {
        Moments {
            rows: n as u64,
            weight: n as f64,
            ln_weight: 0.0,
            mean: vec![0.0; p + 1],
            rest: vec![0.0; p + 1],
            scatter: Matrix::zeros(1, 1),
            single: false,
        }
    }

    #[test]
    fn products_of_rows_give_the_solution_of_singular_values() {
        let run = Context::default();
        for (n, p) in [(1, 1), (20, 20), (30, 90), (300, 301)] {
            for (intercept, alpha) in
                [(true, vec![]), (true, vec![0.5]), (false, vec![]), (false, vec![1e-3])]
            {
                if n == 1 && intercept {
                    continue;
                }
                let problem =
                    LeastSquares { intercept, alpha: alpha.clone(), ..Default::default() };
                let joined = joined(n, p, intercept);
                let found = problem
                    .by_row_products(&vec![1.0; n], &moments(n, p), &joined, 1, &run)
                    .unwrap();
                // As many columns as rows: too dependent at times, which must be seen.
                let Some(found) = found else {
                    assert!(n == p && alpha.is_empty());
                    continue;
                };
                let svd = svd(joined.view().columns(0, p)).unwrap();
                let alpha = alpha.first().copied().unwrap_or(0.0);
                let rank = svd.rank();
                let y = joined.column(p);
                for j in 0..p {
                    let expected: f64 = (0..rank)
                        .map(|k| {
                            let along: f64 = (0..n).map(|i| svd.u[(i, k)] * y[i]).sum();
                            svd.v[(j, k)] * svd.s[k] / (svd.s[k] * svd.s[k] + alpha) * along
                        })
                        .sum();
                    assert!((found.coef[(0, j)] - expected).abs() < 1e-8, "{n} x {p}");
                }
                assert!(alpha > 0.0 || found.rank == rank);
            }
        }
    }

    #[test]
    fn dependent_rows_are_left_to_singular_values() {
        let mut rows = joined(10, 30, false);
        let copy = rows.row(3).to_vec();
        rows.row_mut(7).copy_from_slice(&copy);
        let problem = LeastSquares::default();
        let run = Context::default();
        let found = problem.by_row_products(&[1.0; 10], &moments(10, 30), &rows, 1, &run).unwrap();
        assert!(found.is_none());
    }
}
