//! Least squares with a general quadratic penalty.
//!
//! Minimises Σ w (y - a - xb)² + λ bᵀΓb with Γ diagonal or any positive semidefinite matrix, by
//! Cholesky, or by the pseudo-inverse where columns depend on each other. Degrees of freedom:
//! trace of G (G + λΓ)⁻¹ with G the products of columns, and 1 for a free intercept.

use super::constrained::{Intercept, split_intercept};
use super::problem::{Gram, Problem};
use learnt_core::linalg::{Cholesky, dot, eigh, matmul, matvec};
use learnt_core::prelude::*;

/// The weights of a quadratic penalty.
#[derive(Clone, Debug, PartialEq)]
pub enum QuadraticWeights {
    /// Σ b².
    Uniform,
    /// Σ q b_q² with q the order of a term: the intercept's is 0, and the columns follow. Without an
    /// intercept the first column is of order 0.
    LowOrder,
    /// Σ γ_q b_q² with a weight for each column; a penalised intercept's comes last.
    Diagonal(Vec<f64>),
    /// bᵀΓb; a penalised intercept comes last.
    Full(Matrix),
}

/// A fit with a quadratic penalty.
#[derive(Clone, Debug)]
pub struct QuadraticFit {
    /// Coefficients, (n_outputs × n_features).
    pub coef: Matrix,
    /// One intercept for each output.
    pub intercept: Vec<f64>,
    /// Effective degrees of freedom, with a free intercept's.
    pub effective_df: f64,
}

/// Least squares with the penalty λ bᵀΓb.
///
/// ```
/// use learnt::linear::penalized::{Intercept, QuadraticWeights, quadratic_penalty};
/// use learnt::prelude::*;
/// let x = Matrix::from_fn(6, 3, |i, q| (i as f64).powi(q as i32 + 1));
/// let data = OwnedDataset::regression(x, vec![4.0; 6]);
/// let (low, run) = (QuadraticWeights::LowOrder, Context::default());
/// let fit = quadratic_penalty(&data.view(), 100.0, &low, Intercept::Penalized, &run)?;
/// assert!((fit.intercept[0] - 4.0).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
pub fn quadratic_penalty(
    data: &Dataset,
    lambda: f64,
    weights: &QuadraticWeights,
    intercept: Intercept,
    run: &Context,
) -> Result<QuadraticFit> {
    if !(lambda.is_finite() && lambda >= 0.0) {
        return Err(Error::parameter("lambda", "a number >= 0", lambda));
    }
    let problem = intercept.with(data, run, |data| {
        Ok(Problem::of_products(data, intercept == Intercept::Free, run)?.0)
    })?;
    let Gram::Whole(gram) = &problem.gram else {
        return Err(Error::internal("products of columns are missing"));
    };
    let penalty = weights.matrix(problem.columns(), intercept)?;
    let share = lambda / problem.weight;
    let p = problem.columns();
    let matrix = Matrix::from_fn(p, p, |i, j| gram[(i, j)] + share * penalty[(i, j)]);
    let inverse = inverse(&matrix)?;
    let coef = problem.right.iter().map(|c| matvec(inverse.view(), c));
    let trace: f64 = (0..p).map(|j| dot(inverse.row(j), gram.row(j))).sum();
    let (coef, intercept_values) = split_intercept(&problem, coef.collect(), intercept)?;
    Ok(QuadraticFit {
        coef,
        intercept: intercept_values,
        effective_df: trace + f64::from(intercept == Intercept::Free),
    })
}

impl QuadraticWeights {
    /// Γ for this many columns.
    fn matrix(&self, p: usize, intercept: Intercept) -> Result<Matrix> {
        let diagonal = |weight: &dyn Fn(usize) -> f64| {
            Matrix::from_fn(p, p, |i, j| if i == j { weight(i) } else { 0.0 })
        };
        Ok(match self {
            QuadraticWeights::Uniform => diagonal(&|_| 1.0),
            QuadraticWeights::LowOrder => diagonal(&|q| match intercept {
                Intercept::Free => q as f64 + 1.0,
                Intercept::Penalized => ((q + 1) % p) as f64,
                Intercept::Absent => q as f64,
            }),
            QuadraticWeights::Diagonal(weights) => {
                check_weights(weights, p)?;
                diagonal(&|q| weights[q])
            }
            QuadraticWeights::Full(matrix) => {
                check_matrix(matrix, p)?;
                Matrix::from_fn(p, p, |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)]))
            }
        })
    }
}

fn check_weights(weights: &[f64], p: usize) -> Result<()> {
    if weights.len() != p {
        return Err(Error::shape("penalty", format!("{p} weights"), weights.len()));
    }
    match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        Some(weight) => Err(Error::parameter("weights", "numbers >= 0", weight)),
        None => Ok(()),
    }
}

fn check_matrix(matrix: &Matrix, p: usize) -> Result<()> {
    if (matrix.nrows(), matrix.ncols()) != (p, p) {
        let found = format!("{} × {}", matrix.nrows(), matrix.ncols());
        return Err(Error::shape("penalty", format!("a matrix of {p} × {p}"), found));
    }
    let eigen = eigh(&Matrix::from_fn(p, p, |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)])))?;
    let largest = eigen.values.first().map_or(0.0, |value| value.abs());
    match eigen.values.last() {
        Some(&least) if least < -1e-10 * largest.max(f64::MIN_POSITIVE) => {
            let expected = "a matrix without negative eigenvalues";
            Err(Error::parameter("weights", expected, format!("an eigenvalue of {least:.3e}")))
        }
        _ => Ok(()),
    }
}

/// The inverse of a positive definite matrix, or the pseudo-inverse of a semidefinite one.
fn inverse(matrix: &Matrix) -> Result<Matrix> {
    const WORST: f64 = 1e12;
    if let Some(factor) = Cholesky::new(matrix)
        && factor.condition_bound() < WORST
    {
        return Ok(factor.inverse());
    }
    let eigen = eigh(matrix)?;
    let largest = eigen.values.first().copied().unwrap_or_default();
    let least = largest * matrix.nrows() as f64 * f64::EPSILON;
    let kept = eigen.values.iter().take_while(|&&value| value > least).count();
    let scaled = Matrix::from_fn(matrix.nrows(), kept, |i, k| {
        eigen.vectors[(i, k)] / eigen.values[k].sqrt()
    });
    Ok(matmul(scaled.view(), scaled.view().transposed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;

    fn powers(n: usize, d: usize, first: i32, y: impl Fn(f64) -> f64) -> OwnedDataset {
        let x = |i: usize| i as f64 / n as f64;
        let table = Matrix::from_fn(n, d, |i, q| x(i).powi(q as i32 + first));
        OwnedDataset::regression(table, (0..n).map(|i| y(x(i))).collect())
    }

    #[test]
    fn the_uniform_penalty_is_ridge_with_every_kind_of_intercept() {
        let data = powers(20, 3, 1, |x| x.sin() + 2.0);
        let run = Context::default();
        for (intercept, fit_intercept, penalize_intercept) in [
            (Intercept::Free, true, false),
            (Intercept::Penalized, true, true),
            (Intercept::Absent, false, false),
        ] {
            let ridge = Ridge { alpha: 0.5, fit_intercept, penalize_intercept, ..Ridge::default() };
            let ridge = ridge.fit(&data.view()).unwrap();
            let uniform = QuadraticWeights::Uniform;
            let fit = quadratic_penalty(&data.view(), 0.5, &uniform, intercept, &run).unwrap();
            let one = QuadraticWeights::Full(Matrix::from_fn(
                3 + usize::from(penalize_intercept),
                3 + usize::from(penalize_intercept),
                |i, j| f64::from(i == j),
            ));
            let full = quadratic_penalty(&data.view(), 0.5, &one, intercept, &run).unwrap();
            for (a, b) in ridge.coef.as_slice().iter().zip(fit.coef.as_slice()) {
                assert!((a - b).abs() < 1e-10, "{a} {b}");
            }
            assert_eq!(fit.coef, full.coef);
            assert!((ridge.intercept[0] - fit.intercept[0]).abs() < 1e-10);
            assert!((ridge.effective_df.unwrap()[0] - fit.effective_df).abs() < 1e-9);
        }
    }

    #[test]
    fn the_low_order_penalty_fits_a_constant_exactly_at_any_lambda() {
        let run = Context::default();
        for lambda in [0.01, 1.0, 1e6] {
            for (intercept, first) in
                [(Intercept::Free, 1), (Intercept::Penalized, 1), (Intercept::Absent, 0)]
            {
                let data = powers(15, 4, first, |_| 3.5);
                let low = QuadraticWeights::LowOrder;
                let fit = quadratic_penalty(&data.view(), lambda, &low, intercept, &run).unwrap();
                let at_zero = match intercept {
                    Intercept::Absent => fit.coef[(0, 0)],
                    _ => fit.intercept[0],
                };
                assert!((at_zero - 3.5).abs() < 1e-9, "{at_zero}");
            }
        }
    }

    #[test]
    fn a_heavier_weight_shrinks_its_own_column_more() {
        let data = powers(20, 2, 1, |x| x + x * x);
        let run = Context::default();
        let fit = |weights: Vec<f64>| {
            let weights = QuadraticWeights::Diagonal(weights);
            quadratic_penalty(&data.view(), 1.0, &weights, Intercept::Free, &run).unwrap().coef
        };
        assert!(fit(vec![100.0, 1.0])[(0, 0)] < fit(vec![1.0, 1.0])[(0, 0)]);
        assert!(fit(vec![0.0, 1e9])[(0, 1)].abs() < 1e-6);
    }

    #[test]
    fn weights_that_are_no_penalty_are_refused() {
        let data = powers(20, 2, 1, |x| x);
        let run = Context::default();
        let bad = [
            QuadraticWeights::Diagonal(vec![1.0]),
            QuadraticWeights::Diagonal(vec![1.0, -1.0]),
            QuadraticWeights::Full(Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).unwrap()),
            QuadraticWeights::Full(Matrix::zeros(3, 3)),
        ];
        for weights in bad {
            let fit = quadratic_penalty(&data.view(), 1.0, &weights, Intercept::Free, &run);
            assert!(fit.is_err());
        }
    }
}
