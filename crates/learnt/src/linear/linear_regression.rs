//! Linear regression by least squares, with inference.
//!
//! Minimises Σ w ‖y - a - Bx‖² over a and B; with `positive` over B >= 0.
//! One pass over the data for well-conditioned inputs, two otherwise (see `least_squares`).
//! Columns that depend on earlier ones are aliased: they are named in a warning and in the report,
//! and the coefficients are those of smallest norm, as with no more rows than columns.
//! Weights are known precisions in the tables (σ²/w is a row's variance, n counts rows).
//!
//! Björck (1996), Numerical Methods for Least Squares Problems, SIAM.

use super::evidence::Evidence;
use super::least_squares::{LeastSquares, Solution};
use super::questions::QUESTIONS;
use learnt_core::prelude::*;

/// Ordinary least squares (OLS) linear regression, with standard errors, tests and intervals.
///
/// ```
/// use learnt::{linear::LinearRegression, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
/// let data = OwnedDataset::regression(x, vec![2.0, 4.0, 5.0, 4.0, 5.0]);
/// let model = LinearRegression::default().fit(&data.view())?;
/// assert!((model.coef[(0, 0)] - 0.6).abs() < 1e-12);
/// assert!((model.inference(0, 0.95)?.r2.unwrap_or(0.0) - 0.6).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct LinearRegression {
    /// Fit an intercept; without one the function passes through the origin.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Accepted and not used: the solution is direct, to the accuracy of double precision.
    #[param(default = 1e-6, range = 0.0..)]
    pub tol: f64,
    /// Constrain all coefficients to be non-negative; the intercept is free.
    #[param(default = false)]
    pub positive: bool,
}

/// A fitted [`LinearRegression`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report, questions = QUESTIONS, converged = converged)]
pub struct LinearRegressionModel {
    /// Coefficients, (n_outputs × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub coef: Matrix,
    /// One intercept for each output; zero without `fit_intercept`.
    #[shape(outputs)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Number of independent columns of the centred inputs.
    pub rank: usize,
    /// Singular values of the centred inputs, largest first; empty above 1000 columns and with
    /// `positive`.
    pub singular: Vec<f64>,
    #[shape(outputs, columns)]
    pub(super) evidence: Evidence,
    converged: bool,
}

impl Estimator for LinearRegression {
    type Model = LinearRegressionModel;
    type Fit = LeastSquares;
    const ABOUT: &'static About = &About::regressor("linear_model.LinearRegression")
        .full_rank()
        .alias(&["ols", "linear", "lm"])
        .weights()
        .many_outputs()
        .threads()
        .streaming()
        .complexity(20)
        .cost("n p² time, p² memory")
        .reference("Björck (1996), Numerical Methods for Least Squares Problems");
}

impl FitBy<LeastSquares> for LinearRegression {
    fn rounds(&self) -> LeastSquares {
        let (intercept, positive) = (self.fit_intercept, self.positive);
        LeastSquares { intercept, positive, ..LeastSquares::default() }
    }

    fn model(&self, mut solution: Solution, run: &Context) -> Result<LinearRegressionModel> {
        let evidence = Evidence::taken(&mut solution, self.fit_intercept, self.positive);
        evidence.warn_of_aliases(run);
        let Solution { coef, intercept, rank, singular, converged, .. } = solution;
        Ok(LinearRegressionModel { coef, intercept, rank, singular, evidence, converged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    /// Random inputs whose columns are mixed so that their condition is about the square of `step`.
    fn random(n: usize, d: usize, step: f64, outputs: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(7);
        let base = Matrix::from_fn(n, d, |_, _| standard_normal(&mut rng));
        let x = Matrix::from_fn(n, d, |i, j| match j {
            0 => base[(i, 0)] + 3.0,
            _ => base[(i, j - 1)] + base[(i, j)] / step,
        });
        let y = Matrix::from_fn(n, outputs, |i, t| {
            x.row(i).iter().sum::<f64>() * (t + 1) as f64 + standard_normal(&mut rng)
        });
        let mut data = OwnedDataset::unsupervised(x);
        data.y = Some(OwnedTarget::Real(y));
        data
    }

    fn fit(data: &OwnedDataset) -> LinearRegressionModel {
        LinearRegression::default().fit(&data.view()).unwrap()
    }

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) {
        let scale = b.as_slice().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() <= tolerance * scale, "{x} {y}");
        }
    }

    #[test]
    fn every_path_agrees_with_pivoted_orthogonal_factors() {
        // Directly, by refinement, and by triangles over several blocks.
        for (step, tolerance) in [(1.0, 1e-12), (10.0, 1e-12), (1e3, 1e-9), (1e5, 1e-5)] {
            let data = random(40_000, 3, step, 2);
            let model = fit(&data);
            let x = data.x.values();
            let ones = Matrix::from_fn(x.nrows(), 4, |i, j| if j == 3 { 1.0 } else { x[(i, j)] });
            let qr = learnt_core::linalg::PivotedQr::new(ones.view());
            let y = data.view().real_target().unwrap();
            let expected: Vec<Vec<f64>> = (0..2).map(|t| qr.solve(&y.column(t))).collect();
            let expected = Matrix::from_rows(&expected).unwrap();
            let got =
                Matrix::from_fn(
                    2,
                    4,
                    |t, j| {
                        if j == 3 { model.intercept[t] } else { model.coef[(t, j)] }
                    },
                );
            close(&got, &expected, tolerance);
            assert_eq!(model.rank, 3);
        }
    }

    #[test]
    fn weights_equal_repetition() {
        let data = random(500, 4, 5.0, 1);
        let weights: Vec<f64> = (0..500).map(|i| (i % 3) as f64).collect();
        let repeated: Vec<usize> = (0..500).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
        let weighted = fit(&OwnedDataset { weights: Some(weights), ..data.clone() });
        let plain = fit(&data.view().gather(&repeated));
        close(&weighted.coef, &plain.coef, 1e-12);
        assert!((weighted.intercept[0] - plain.intercept[0]).abs() < 1e-12);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        for condition in [1.0, 100.0, 1e5] {
            let data = random(70_000, 3, condition, 1);
            let fits = [1, 2, 4].map(|threads| {
                let run = Context::default().with_threads(threads);
                LinearRegression::default().fit_in(&data.view(), &run).unwrap().stored()
            });
            assert!(fits[0] == fits[1] && fits[1] == fits[2]);
        }
    }

    #[test]
    fn more_columns_than_rows_give_the_smallest_coefficients() {
        let mut data = random(5, 8, 1.0, 1);
        let model = fit(&data);
        assert_eq!(model.rank, 4);
        let y = data.view().real_target().unwrap().column(0);
        let fitted = model.predict(&data.x.frame()).unwrap();
        for (a, b) in fitted.as_slice().iter().zip(&y) {
            assert!((a - b).abs() < 1e-12);
        }
        // Smallest norm: in the span of the centred rows, so a repeated column shares equally.
        let x = data.x.values();
        let twice = Matrix::from_fn(5, 9, |i, j| x[(i, j % 8)]);
        data.x = Table::unnamed(twice);
        let model = fit(&data);
        assert!((model.coef[(0, 0)] - model.coef[(0, 8)]).abs() < 1e-12);
        assert!(model.inference(0, 0.95).is_err());
    }

    #[test]
    fn constant_and_repeated_columns_leave_the_rest_testable() {
        let base = random(200, 2, 1.0, 1);
        let x = base.x.values();
        let wide = Matrix::from_fn(200, 4, |i, j| [x[(i, 0)], 7.0, x[(i, 1)], 2.0 * x[(i, 1)]][j]);
        let data = OwnedDataset { x: Table::unnamed(wide), ..base.clone() };
        let model = fit(&data);
        assert_eq!(model.rank, 2);
        assert_eq!(model.coef[(0, 1)], 0.0);
        let (table, plain) =
            (model.inference(0, 0.95).unwrap(), fit(&base).inference(0, 0.95).unwrap());
        assert_eq!(table.undetermined, ["x1", "x2", "x3"]);
        let (a, b) = (&table.coefficients[1], &plain.coefficients[1]);
        assert!((a.t - b.t).abs() < 1e-9 * b.t.abs());
        assert!((table.sigma2 - plain.sigma2).abs() < 1e-12);
    }

    #[test]
    fn one_row_and_constant_targets_give_finite_answers() {
        let one = OwnedDataset::regression(Matrix::from_fn(1, 2, |_, j| j as f64), vec![3.0]);
        assert_eq!(fit(&one).predict(&one.x.frame()).unwrap()[(0, 0)], 3.0);
        let x = Matrix::from_fn(9, 2, |i, j| ((i * (j + 2)) % 5) as f64);
        let flat = fit(&OwnedDataset::regression(x, vec![0.1; 9]));
        assert_eq!(flat.coef.as_slice(), [0.0, 0.0]);
        assert!(flat.inference(0, 0.95).unwrap_err().message().contains("exact"));
        assert!(
            flat.report(&Names::default())
                .values
                .iter()
                .all(|(_, v)| v.as_real().is_some_and(f64::is_finite))
        );
    }

    #[test]
    fn squares_that_overflow_name_the_column() {
        let x = Matrix::from_fn(9, 2, |i, j| if j == 1 { 1e200 * i as f64 } else { i as f64 });
        let data = OwnedDataset::regression(x, (0..9).map(f64::from).collect());
        let error = LinearRegression::default().fit(&data.view()).unwrap_err();
        assert_eq!(error.column_name(), Some("x1"));
    }

    #[test]
    fn through_the_origin_the_coefficient_is_a_ratio_of_products() {
        let data = OwnedDataset::regression(
            Matrix::column_vector(vec![1.0, 2.0, 3.0]),
            vec![2.0, 3.0, 7.0],
        );
        let learner = LinearRegression { fit_intercept: false, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert!((model.coef[(0, 0)] - 29.0 / 14.0).abs() < 1e-14);
        assert_eq!(model.intercept, [0.0]);
    }

    #[test]
    fn a_gross_outlier_has_the_largest_distance_of_cook() {
        let mut data = random(60, 2, 1.0, 1);
        if let Some(OwnedTarget::Real(y)) = &mut data.y {
            y[(17, 0)] += 40.0;
        }
        let model = fit(&data);
        let cook = super::super::diagnostics::influence(&model, &data.view(), 0).unwrap().cook;
        assert_eq!(learnt_core::estimator::first_maximum(&cook), 17);
    }

    #[test]
    fn a_model_reads_back_and_refuses_parts_that_do_not_fit() {
        let mut model = fit(&random(50, 3, 1.0, 1));
        let back = LinearRegressionModel::from_node(&model.stored()).unwrap();
        assert_eq!(back.stored(), model.stored());
        model.evidence.mean.pop();
        assert!(LinearRegressionModel::from_node(&model.stored()).is_err());
    }
}
