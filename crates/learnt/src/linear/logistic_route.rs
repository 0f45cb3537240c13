//! Newton steps or quasi-Newton steps: whichever takes less arithmetic.
//!
//! With c columns, m classes beside the first and n rows, a pass for value and gradient takes about
//! n m (4 c + 60) operations, 60 for the exponential and logarithm; second derivatives take n c² for
//! each of m (m + 1) / 2 blocks. Newton needs few passes, each with second derivatives and a
//! factorisation; L-BFGS needs more, and second derivatives once, for its coordinates. Of more than 64
//! columns those are taken of eight rows a column, spread over the table: coordinates need no more.
//! Where their correlations are mostly those of independent columns by chance, the diagonal serves alone.
//! With an L2 penalty, hundreds of rows and far more columns, the problem is turned into one with as many
//! columns as rows first (see `logistic_wide`).

/// Passes that Newton's method usually takes.
const NEWTON: f64 = 6.0;
/// Passes that L-BFGS usually takes in the coordinates of the Hessian at zero.
const QUASI: f64 = 14.0;
/// Operations below which the method does not matter, and Newton's digits do.
const LITTLE: f64 = 5e8;
/// Parameters above which second derivatives are never formed: of two classes, of more.
const MOST: (usize, usize) = (501, 100);

/// Columns up to which second derivatives for coordinates are taken of all rows.
const FEW: usize = 64;
/// Rows for each column that they are taken of beyond.
const SAMPLE: u64 = 8;

/// Of how many chunks of rows one counts for the coordinates of L-BFGS.
pub(super) fn sampling(rows: u64, columns: usize) -> usize {
    match columns <= FEW {
        true => 1,
        false => (rows / (SAMPLE * columns as u64)).max(1) as usize,
    }
}

/// Rows up to which products of rows are taken.
const FEW_ROWS: u64 = 1000;

/// Whether a problem with an L2 penalty is solved in the coordinates of its rows: where second derivatives
/// by columns would not be formed, and there are at most half as many rows.
pub(super) fn rows_pay(rows: u64, columns: usize) -> bool {
    columns > MOST.0 && rows <= FEW_ROWS && 2 * rows <= columns as u64
}

/// Whether Newton's method can be used at all unasked.
pub(super) fn newton_fits(others: usize, columns: usize) -> bool {
    others * columns <= if others == 1 { MOST.0 } else { MOST.1 }
}

/// Whether Newton's method takes less than L-BFGS, or so little that it does not matter.
pub(super) fn newton_pays(rows: u64, others: usize, columns: usize) -> bool {
    let (n, m, c) = (rows as f64, others as f64, columns as f64);
    let pass = n * m * (4.0 * c + 60.0);
    let blocks = n * c * c * m * (m + 1.0) / 2.0;
    let newton = NEWTON * (pass + blocks + (m * c).powi(3) / 3.0);
    let quasi = QUASI * pass + n / sampling(rows, columns) as f64 * c * c;
    newton_fits(others, columns) && (newton <= LITTLE || newton <= quasi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LogisticRegression, LogisticSolver};
    use learnt_core::prelude::*;
    use learnt_core::stats::sample::standard_normal;

    #[test]
    fn coordinates_from_some_rows_lead_to_the_same_minimum_in_about_as_many_steps() {
        let mut rng = Context::default().rng(4);
        let base = Matrix::from_fn(6000, 80, |_, _| standard_normal(&mut rng));
        // Neighbouring columns are nearly equal, and columns differ in scale.
        let x = Matrix::from_fn(6000, 80, |i, j| {
            let mixed = base[(i, j)] * 0.1 + base[(i, j / 2 * 2)];
            mixed * 10.0_f64.powi(j as i32 % 4)
        });
        let labels: Vec<Label> = (0..6000)
            .map(|i| base[(i, 0)] - base[(i, 7)] + standard_normal(&mut rng) > 0.0)
            .map(|yes| Label::from(if yes { "yes" } else { "no" }))
            .collect();
        let data = OwnedDataset::classification(x, &labels);
        assert!(sampling(6000, 81) > 1);
        let fit = |solver| {
            let learner = LogisticRegression { solver, tol: 1e-9, ..Default::default() };
            learner.fit(&data.view()).unwrap()
        };
        let (newton, quasi) = (fit(LogisticSolver::NewtonCholesky), fit(LogisticSolver::Lbfgs));
        assert!(quasi.converged && quasi.n_iter[0] < 60, "{:?}", quasi.n_iter);
        for j in 0..80 {
            let scale = 10.0_f64.powi(j % 4);
            let (a, b) = (newton.coef[(0, j as usize)], quasi.coef[(0, j as usize)]);
            assert!((a - b).abs() * scale < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn independent_columns_take_few_steps() {
        let mut rng = Context::default().rng(8);
        let x = Matrix::from_fn(9000, 100, |_, j| {
            standard_normal(&mut rng) * 10.0_f64.powi(j as i32 % 5 - 2)
        });
        let labels: Vec<Label> = (0..9000)
            .map(|i| x[(i, 2)] - 0.1 * x[(i, 3)] + standard_normal(&mut rng) > 0.0)
            .map(|yes| Label::from(if yes { "yes" } else { "no" }))
            .collect();
        let data = OwnedDataset::classification(x, &labels);
        assert!(sampling(9000, 101) > 1);
        let learner = LogisticRegression { solver: LogisticSolver::Lbfgs, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert!(model.converged && model.n_iter[0] <= 8, "{:?}", model.n_iter);
    }

    #[test]
    fn the_cheaper_method_is_chosen_on_both_sides_of_each_crossover() {
        assert!(newton_pays(569, 1, 31) && newton_pays(150, 2, 5));
        assert!(newton_pays(1_000_000, 1, 11) && !newton_pays(1_000_000, 1, 21));
        assert!(newton_pays(5_000, 1, 101) && !newton_pays(50_000, 1, 501));
        assert!(!newton_pays(200, 1, 5001) && !newton_pays(200, 9, 51));
        assert_eq!([sampling(1_000_000, 64), sampling(600, 65), sampling(52_000, 65)], [1, 1, 100]);
        assert!(newton_fits(1, 501) && !newton_fits(1, 502));
        assert!(rows_pay(200, 5001) && rows_pay(251, 502) && rows_pay(1000, 2000));
        assert!(!rows_pay(250, 501) && !rows_pay(252, 503) && !rows_pay(1001, 5000));
    }
}
