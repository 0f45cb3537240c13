//! The solution from moments alone, where no rows are left to refine it.

use super::moments::Moments;
use super::normal::System;
use super::{LeastSquares, Solution};
use learnt_core::prelude::*;

/// Moments that stand for rows.
pub(in crate::linear) struct SecondMoments<'a> {
    /// Number of rows.
    pub(in crate::linear) rows: u64,
    /// Number of outputs.
    pub(in crate::linear) outputs: usize,
    /// Means of inputs, then outputs.
    pub(in crate::linear) mean: &'a [f64],
    /// Covariances with divisor `rows`.
    pub(in crate::linear) covariance: &'a Matrix,
}

/// Condition of the scaled products from which fewer than about four digits would be left.
const WORST: f64 = 1e12;
/// Share of the output's squares below which a residual sum is nothing but rounding.
const ROUNDING: f64 = 1e-9;

impl LeastSquares {
    /// The least-squares solution of these moments.
    pub(in crate::linear) fn solve_moments(
        &self,
        names: Vec<String>,
        second: &SecondMoments,
    ) -> Result<Solution> {
        let weight = second.rows as f64;
        let width = second.mean.len();
        let shift = |i: usize, j: usize| match self.intercept {
            true => 0.0,
            false => second.mean[i] * second.mean[j],
        };
        let moments = Moments {
            rows: second.rows,
            weight,
            ln_weight: 0.0,
            mean: if self.intercept { second.mean.to_vec() } else { vec![0.0; width] },
            rest: vec![0.0; width],
            scatter: Matrix::from_fn(width, width, |i, j| {
                weight * (second.covariance[(i, j)] + shift(i, j))
            }),
            single: false,
        };
        let outputs = second.outputs;
        if (0..width).any(|j| moments.scatter[(j, j)] < 0.0) {
            return Err(no_data("a variance is negative"));
        }
        let system = System::new(&moments, self, outputs);
        let factors = self.factors(&system, outputs).ok_or_else(dependent)?;
        if factors.iter().any(|factor| factor.condition > WORST) {
            return Err(dependent());
        }
        let solve = |t: usize| factors[t % factors.len()].solve(system.right.row(t));
        let coef = Matrix::from_rows(&(0..outputs).map(solve).collect::<Vec<_>>())?;
        let mut residual = system.residual(&coef);
        for t in 0..outputs {
            if residual[(t, t)] < -ROUNDING * system.total[(t, t)] {
                return Err(no_data("the inputs explain more than there is"));
            }
            residual[(t, t)] = residual[(t, t)].max(0.0);
        }
        let anchor = self.anchor(&moments, &system, &coef);
        let solution = self.solution(&moments, &system, &factors, anchor, residual);
        Ok(Solution { names, ..solution })
    }
}

fn dependent() -> Error {
    Error::numeric("the moments do not determine the coefficients: columns depend on each other")
        .hint("leave out columns that others give, or fit to the rows")
}

fn no_data(why: &str) -> Error {
    Error::numeric(format!("these are the moments of no data: {why}"))
}
