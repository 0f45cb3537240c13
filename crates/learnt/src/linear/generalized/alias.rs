//! Columns that depend on earlier ones, found in the information matrix.
//!
//! Σ W z zᵀ is eliminated in the order of the columns, the intercept first. A column is aliased if
//! less than 1e-11 of its diagonal is left. Then X_A = X_K C, and the coefficients of smallest norm
//! with the same predictions are (I C)ᵀ (I + C Cᵀ)⁻¹ b_K.

use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;

const LEFT: f64 = 1e-11;

/// Which columns are aliased, and how they depend on the kept ones.
#[derive(Clone, Debug, Default, Stored)]
pub(super) struct Aliases {
    /// Aliased input columns.
    pub(super) columns: Vec<usize>,
    /// C: one row for each input column (zero for aliased ones), one column for each aliased one.
    pub(super) dependence: Matrix,
}

/// Eliminates the columns of the information in order; `penalties` are added to its diagonal. The
/// intercept, if there is one, is the last column.
pub(super) fn in_order(
    information: &Matrix,
    penalties: &[f64],
    inputs: usize,
    intercept: bool,
) -> Aliases {
    let entry = |i: usize, j: usize| {
        let own = information[(i.max(j), i.min(j))];
        if i == j { own + penalties[i] } else { own }
    };
    let order = intercept.then_some(inputs).into_iter().chain(0..inputs);
    let (mut kept, mut aliased) = (Vec::<usize>::new(), Vec::new());
    // Rows of the lower factor of the kept columns.
    let mut lower: Vec<Vec<f64>> = Vec::new();
    let mut between: Vec<Vec<f64>> = Vec::new();
    for j in order {
        let mut row = Vec::with_capacity(kept.len() + 1);
        for (a, &k) in kept.iter().enumerate() {
            row.push((entry(j, k) - dot(&lower[a][..a], &row)) / lower[a][a]);
        }
        let left = entry(j, j) - dot(&row, &row);
        if left > LEFT * entry(j, j) {
            row.push(left.sqrt());
            lower.push(row);
            kept.push(j);
        } else {
            between.push(row);
            aliased.push(j);
        }
    }
    Aliases { dependence: dependence(&lower, &between, &kept, inputs), columns: aliased }
}

/// C from L Lᵀ = X_KᵀX_K and the rows L⁻¹ X_Kᵀ x_a, which may be shorter than all kept columns.
fn dependence(lower: &[Vec<f64>], between: &[Vec<f64>], kept: &[usize], inputs: usize) -> Matrix {
    let mut out = Matrix::zeros(inputs, between.len());
    for (a, right) in between.iter().enumerate() {
        let mut solution = right.clone();
        for i in (0..solution.len()).rev() {
            solution[i] /= lower[i][i];
            for k in 0..i {
                solution[k] -= lower[i][k] * solution[i];
            }
        }
        for (&j, &c) in kept.iter().zip(&solution).filter(|(j, _)| **j < inputs) {
            out[(j, a)] = c;
        }
    }
    out
}

impl Aliases {
    /// The same dependence in other units: x = unit z.
    pub(super) fn in_units(mut self, unit: &[f64]) -> Aliases {
        for j in 0..self.dependence.nrows() {
            for (a, &column) in self.columns.iter().enumerate() {
                self.dependence[(j, a)] *= unit[column] / unit[j];
            }
        }
        self
    }

    /// Shares the coefficients of the kept columns with the aliased ones.
    pub(super) fn share(&self, coef: &mut [f64]) {
        let (c, d) = (&self.dependence, coef.len());
        let touched: Vec<usize> =
            (0..d).filter(|&j| c.row(j).iter().any(|value| *value != 0.0)).collect();
        if touched.is_empty() {
            return;
        }
        let q = touched.len();
        let system = Matrix::from_fn(q, q, |i, k| {
            f64::from(i == k) + dot(c.row(touched[i]), c.row(touched[k]))
        });
        let Some(factor) = Cholesky::new(&system) else { return };
        let mut part: Vec<f64> = touched.iter().map(|&j| coef[j]).collect();
        factor.solve_in_place(&mut part);
        for (a, &column) in self.columns.iter().enumerate() {
            coef[column] = touched.iter().zip(&part).map(|(&j, b)| c[(j, a)] * b).sum();
        }
        touched.iter().zip(&part).for_each(|(&j, &b)| coef[j] = b);
    }

    /// Whether a coefficient is the same in every solution.
    pub(super) fn determines(&self, j: usize) -> bool {
        let untouched = |j: usize| self.dependence.row(j).iter().all(|c| c.abs() < 1e-9);
        !self.columns.contains(&j) && (self.columns.is_empty() || untouched(j))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::{gram, matvec};

    #[test]
    fn shared_coefficients_predict_the_same_and_are_smallest() {
        let base = Matrix::from_fn(9, 3, |i, j| ((i * (j + 2) + j) % 7) as f64 - 3.0);
        let x = Matrix::from_fn(9, 4, |i, j| match j {
            2 => 2.0 * base[(i, 0)] - base[(i, 1)],
            3 => base[(i, 2)],
            _ => base[(i, j)],
        });
        let aliases = in_order(&gram(x.view()), &[0.0; 4], 4, false);
        assert_eq!(aliases.columns, [2]);
        let mut coef = vec![1.0, -2.0, 0.0, 0.5];
        let before = matvec(x.view(), &coef);
        aliases.share(&mut coef);
        for (a, b) in before.iter().zip(matvec(x.view(), &coef)) {
            assert!((a - b).abs() < 1e-12);
        }
        // Orthogonal to the null vector (2, -1, -1, 0).
        assert!((2.0 * coef[0] - coef[1] - coef[2]).abs() < 1e-12);
        assert!(aliases.determines(3) && !aliases.determines(0));
    }

    #[test]
    fn a_penalty_keeps_every_column() {
        let x = Matrix::from_fn(5, 2, |i, _| i as f64);
        let aliases = in_order(&gram(x.view()), &[0.1; 2], 2, false);
        assert!(aliases.columns.is_empty() && aliases.determines(1));
    }
}
