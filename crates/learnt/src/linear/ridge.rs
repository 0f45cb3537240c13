//! Ridge regression: least squares with an L2 penalty.
//!
//! Minimises Σ w ‖y - a - Bx‖² + alpha ‖B‖²; a is free, or penalised too on request. A penalty
//! lambda on the mean of squares is alpha = n lambda here; (lambda/n) on the mean is alpha = lambda.
//! Cholesky on scaled normal equations, refined by a pass over residuals where needed, or singular
//! values of a Householder triangle (see `least_squares`).
//! Effective degrees of freedom: Σ s²/(s² + alpha) over singular values s, and 1 for a free intercept.
//!
//! Hoerl and Kennard (1970), Technometrics 12(1), 55-67.

use super::coefficient_table::of_outputs;
use super::least_squares::{LeastSquares, Solution};
use learnt_core::prelude::*;

/// Ridge regression: least squares with an L2 penalty on the coefficients.
///
/// ```
/// use learnt::{linear::Ridge, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
/// let data = OwnedDataset::regression(x, vec![2.0, 4.0, 5.0, 4.0, 5.0]);
/// let model = Ridge { alpha: 1.0, ..Ridge::default() }.fit(&data.view())?;
/// assert!((model.coef[(0, 0)] - 6.0 / 11.0).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Ridge {
    /// Regularization strength (weight of the penalty); 0 is plain least squares.
    #[param(positional, default = 1.0, range = 0.0.., search = log(1e-4, 1e4))]
    pub alpha: f64,
    /// One strength for each output, instead of `alpha` for all.
    #[param(default = None, range = 0.0..)]
    pub alpha_per_target: Option<Vec<f64>>,
    /// Fit an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Maximum number of iterations of the active set for `positive`; none is ten for each column.
    #[param(default = None, range = 1..)]
    pub max_iter: Option<usize>,
    /// Accepted and not used: the solution is direct, to the accuracy of double precision.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// The algorithm that solves the problem.
    #[param(default = RidgeSolver::Auto)]
    pub solver: RidgeSolver,
    /// Constrain all coefficients to be non-negative.
    #[param(default = false)]
    pub positive: bool,
    /// Penalise the intercept like a coefficient.
    #[param(default = false)]
    pub penalize_intercept: bool,
}

/// Ways to solve ridge regression. scikit-learn's iterative solvers are not needed: these are exact.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum RidgeSolver {
    /// Cholesky, and singular values where the problem is badly conditioned.
    Auto,
    /// The same as `auto`.
    Cholesky,
    /// Always by singular values.
    Svd,
}

/// A fitted [`Ridge`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report, converged = converged)]
pub struct RidgeModel {
    /// Coefficients, (n_outputs × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub coef: Matrix,
    /// One intercept for each output; zero without `fit_intercept`.
    #[shape(outputs)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Effective degrees of freedom of each output, with the intercept's; none above 1000 columns
    /// and with `positive`.
    #[shape(outputs)]
    pub effective_df: Option<Vec<f64>>,
    alpha: Vec<f64>,
    converged: bool,
}

impl Ridge {
    fn constraints(&self) -> Result<()> {
        if self.strengths().is_empty() {
            return Err(Error::parameter("alpha_per_target", "one number for each output", "none"));
        }
        if self.positive && self.penalize_intercept {
            let expected = "false with `positive`, whose intercept is free";
            return Err(Error::parameter("penalize_intercept", expected, "true"));
        }
        match self.positive && self.solver == RidgeSolver::Svd {
            true => Err(Error::parameter("solver", "'auto' or 'cholesky' with `positive`", "svd")),
            false => Ok(()),
        }
    }

    fn strengths(&self) -> &[f64] {
        self.alpha_per_target.as_deref().unwrap_or(std::slice::from_ref(&self.alpha))
    }
}

impl Estimator for Ridge {
    type Model = RidgeModel;
    type Fit = LeastSquares;
    const ABOUT: &'static About = &About::regressor("linear_model.Ridge")
        .weights()
        .many_outputs()
        .threads()
        .streaming()
        .complexity(20)
        .cost("n p² time, p² memory; n² p time with more columns than rows")
        .reference("Hoerl and Kennard (1970), Technometrics 12(1), 55-67")
        .exempt(&[
            ("weights_scale", "the penalty's strength is absolute, as in scikit-learn"),
            (
                "sklearn:check_non_transformer_estimators_n_iter",
                "only `positive` iterates; the other solutions are direct and have no number of iterations",
            ),
        ]);

    fn train_together(
        all: &[&Ridge],
        data: &Dataset,
        run: &Context,
    ) -> Option<Result<Vec<RidgeModel>>> {
        let (first, rest) = all.split_first()?;
        let shared = !first.positive
            && first.alpha_per_target.is_none()
            && rest.iter().all(|ridge| first.differs_in_alpha_alone(ridge));
        shared.then(|| Self::together(all, data, run))
    }
}

impl Ridge {
    /// Settings that differ in `alpha` alone, as one fit of as many copies of the target. Where the least
    /// penalty needs an orthogonal factorisation, all get it: then bits may differ from those apart.
    fn together(all: &[&Ridge], data: &Dataset, run: &Context) -> Result<Vec<RidgeModel>> {
        let y = data.real_target()?;
        let (n, outputs) = (y.nrows(), y.ncols());
        run.claim(8 * (n * outputs * all.len()) as u64, "a target for each alpha")?;
        let copies = Matrix::from_fn(n, outputs * all.len(), |i, t| y.at(i, t % outputs));
        let data = Dataset { y: Some(Target::Real(copies.view())), ..*data };
        let alphas = all.iter().flat_map(|ridge| std::iter::repeat_n(ridge.alpha, outputs));
        let learner = Ridge { alpha_per_target: Some(alphas.collect()), ..all[0].clone() };
        let whole = learner.fit_in(&data, run)?;
        let part = |(k, ridge): (usize, &&Ridge)| {
            let rows = k * outputs..(k + 1) * outputs;
            let coef = whole.coef.view().rows(rows.start, rows.end).to_matrix();
            let effective_df = whole.effective_df.as_ref().map(|df| df[rows.clone()].to_vec());
            let intercept = whole.intercept[rows].to_vec();
            let alpha = vec![ridge.alpha];
            RidgeModel { coef, intercept, effective_df, alpha, converged: whole.converged }
        };
        Ok(all.iter().enumerate().map(part).collect())
    }

    fn differs_in_alpha_alone(&self, other: &Ridge) -> bool {
        let rest = |ridge: &Ridge| {
            let Ridge { fit_intercept, max_iter, solver, positive, penalize_intercept, .. } =
                *ridge;
            (fit_intercept, max_iter, solver, positive, penalize_intercept)
        };
        other.alpha_per_target.is_none() && rest(self) == rest(other)
    }
}

impl FitBy<LeastSquares> for Ridge {
    fn rounds(&self) -> LeastSquares {
        let Ridge { fit_intercept: intercept, penalize_intercept, positive, max_iter, .. } = *self;
        let (alpha, orthogonal) = (self.strengths().to_vec(), self.solver == RidgeSolver::Svd);
        LeastSquares { intercept, alpha, penalize_intercept, positive, max_iter, orthogonal }
    }

    fn model(&self, solution: Solution, _: &Context) -> Result<RidgeModel> {
        let Solution { coef, intercept, freedom: effective_df, converged, .. } = solution;
        let alpha = self.strengths().to_vec();
        Ok(RidgeModel { coef, intercept, effective_df, alpha, converged })
    }
}

impl RidgeModel {
    fn report(&self, names: &Names) -> Answer {
        let mut report = of_outputs("Ridge regression", &self.coef, &self.intercept, names);
        if let [alpha] = self.alpha[..] {
            report.push("alpha", alpha);
        }
        for (t, &df) in self.effective_df.iter().flatten().enumerate() {
            let name = match self.coef.nrows() {
                1 => "effective df".to_string(),
                _ => format!("effective df of output {}", t + 1),
            };
            report.push(name, df);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(3);
        let x = Matrix::from_fn(n, d, |_, j| standard_normal(&mut rng) + j as f64);
        let y = (0..n).map(|i| x.row(i).iter().sum::<f64>() + standard_normal(&mut rng)).collect();
        OwnedDataset::regression(x, y)
    }

    fn close(a: &RidgeModel, b: &RidgeModel) {
        for (x, y) in a.coef.as_slice().iter().zip(b.coef.as_slice()) {
            assert!((x - y).abs() < 1e-10, "{x} {y}");
        }
        assert!((a.intercept[0] - b.intercept[0]).abs() < 1e-9);
        let (a, b) = (a.effective_df.as_ref().unwrap()[0], b.effective_df.as_ref().unwrap()[0]);
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }

    #[test]
    fn both_solvers_agree_on_tall_and_wide_tables() {
        for (n, d) in [(200, 7), (7, 30), (20, 20)] {
            for penalize_intercept in [false, true] {
                for fit_intercept in [false, true] {
                    let data = random(n, d);
                    let learner = Ridge { penalize_intercept, fit_intercept, ..Ridge::default() };
                    let auto = learner.fit(&data.view()).unwrap();
                    let svd = Ridge { solver: RidgeSolver::Svd, ..learner };
                    close(&auto, &svd.fit(&data.view()).unwrap());
                }
            }
        }
    }

    #[test]
    fn a_tiny_penalty_on_dependent_columns_gives_the_smallest_coefficients() {
        let data = random(100, 2);
        let x = data.x.values();
        let twice = Matrix::from_fn(100, 4, |i, j| x[(i, j % 2)]);
        let data = OwnedDataset { x: Table::unnamed(twice), ..data };
        for alpha in [0.0, 1e-14] {
            let model = Ridge { alpha, ..Ridge::default() }.fit(&data.view()).unwrap();
            assert!((model.coef[(0, 0)] - model.coef[(0, 2)]).abs() < 1e-9);
            assert!((model.coef[(0, 0)] - 0.5).abs() < 0.2);
        }
    }

    #[test]
    fn many_strengths_together_give_the_bits_of_fits_apart() {
        for (n, d) in [(300, 7), (40_000, 5), (20, 60)] {
            let mut data = random(n, d);
            data.weights = Some((0..n).map(|i| 1.0 + (i % 3) as f64).collect());
            let all = [1e-3, 1.0, 50.0].map(|alpha| Ridge { alpha, ..Ridge::default() });
            let run = Context::default();
            let learners: Vec<&dyn AnyEstimator> = all.iter().map(|ridge| ridge as _).collect();
            let together =
                learners[0].fit_together(&learners, &data.view(), &run).unwrap().unwrap();
            for (ridge, model) in all.iter().zip(together) {
                assert_eq!(model.stored(), ridge.fit(&data.view()).unwrap().stored());
            }
        }
        // Nearly dependent columns: small penalties are refined, large ones are not.
        let base = random(400, 2);
        let x = base.x.values();
        let near = Matrix::from_fn(400, 3, |i, j| match j {
            2 => x[(i, 0)] + 3e-3 * x[(i, 1)],
            _ => x[(i, j)],
        });
        let data = OwnedDataset { x: Table::unnamed(near), ..base };
        let all = [1e-3, 1e4].map(|alpha| Ridge { alpha, ..Ridge::default() });
        let run = Context::default();
        let together = Ridge::train_together(&[&all[0], &all[1]], &data.view(), &run).unwrap();
        for (ridge, model) in all.iter().zip(together.unwrap()) {
            assert_eq!(model.stored(), ridge.fit(&data.view()).unwrap().stored());
        }
        let other = Ridge { fit_intercept: false, ..Ridge::default() };
        assert!(
            Ridge::train_together(&[&Ridge::default(), &other], &random(9, 2).view(), &run)
                .is_none()
        );
    }

    #[test]
    fn a_huge_penalty_leaves_only_the_mean() {
        let data = random(50, 3);
        let model = Ridge { alpha: 1e12, ..Ridge::default() }.fit(&data.view()).unwrap();
        assert!(model.coef.as_slice().iter().all(|b| b.abs() < 1e-9));
        assert!((model.effective_df.unwrap()[0] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_point_by_hand() {
        let data = OwnedDataset::regression(Matrix::column_vector(vec![1.0]), vec![1.0]);
        let learner = Ridge { alpha: 3.0, fit_intercept: false, ..Ridge::default() };
        assert!((learner.fit(&data.view()).unwrap().coef[(0, 0)] - 0.25).abs() < 1e-15);
    }

    #[test]
    fn negative_penalties_and_contradictions_are_refused() {
        assert!(Ridge { alpha: -1.0, ..Ridge::default() }.check().is_err());
        assert!(Ridge { alpha_per_target: Some(vec![]), ..Ridge::default() }.check().is_err());
        let both = Ridge { positive: true, penalize_intercept: true, ..Ridge::default() };
        assert!(both.check().is_err());
    }
}
