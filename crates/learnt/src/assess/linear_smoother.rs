//! Linear smoothers: fitted values ŷ = S y + s, with S made by the inputs alone.
//!
//! The j-th column of S is the fit to a target that is 1 in row j and 0 elsewhere, less the fit to zeros.
//! Effective degrees of freedom: the trace of S: the number of parameters of least squares, Σ s²/(s² + λ)
//! of ridge regression, n/k of k nearest neighbours. Where a fit with a row left out is the fit with its
//! target replaced by its prediction, as for least squares with a fixed quadratic penalty, the leave-one-out
//! error is mean ((y - ŷ) / (1 - S_ii))². Generalised cross-validation: mean (y - ŷ)² / (1 - df/n)².
//! Learners whose fits are not additive in the target (trees, lasso, penalties chosen by folds) have no
//! S and are refused.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), sections 5.4.1 and 7.10.1.

use super::regressors::{check_regressor, fit_to, fitted_values, said};
use crate::Learner;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Targets that are fitted at once by learners of several outputs.
const BLOCK: usize = 256;

/// Effective degrees of freedom, leverages and leave-one-out error of a linear smoother.
#[derive(Params, Clone, Debug)]
pub struct LinearSmoother {
    /// The regressor, whose fitted values are linear in the target.
    #[param(positional, required, learner = regressor)]
    pub estimator: Learner,
}

/// Inputs, and a target where errors are wanted.
#[derive(Inputs, Clone, Copy)]
pub struct SmoothedRows<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The target, for the errors.
    pub y: Option<&'a [f64]>,
}

/// What the smoother's matrix says.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SmootherFound {
    /// Effective degrees of freedom: the trace of the smoother's matrix.
    pub df: f64,
    /// Weight of each row's own target in its fitted value.
    pub leverage: Vec<f64>,
    /// Mean squared error on the rows themselves.
    pub training_error: Option<f64>,
    /// Leave-one-out error by the leverages.
    pub leave_one_out: Option<f64>,
    /// Generalised cross-validation.
    pub gcv: Option<f64>,
}

impl Function for LinearSmoother {
    type Inputs<'a> = SmoothedRows<'a>;
    type Output = SmootherFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.linear_smoother", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 5.4.1");

    fn call(&self, given: SmoothedRows, run: &Context) -> Result<SmootherFound> {
        check_regressor(&self.estimator)?;
        let n = given.x.nrows();
        self.check_linear(given.x, run)?;
        let zero = fitted_values(&self.estimator, given.x, &vec![0.0; n], run)?;
        let width = if self.estimator.any_accepts().many_outputs { BLOCK } else { 1 };
        run.claim(32 * (n * width.min(n)) as u64, "the columns of the smoother")?;
        let blocks = n.div_ceil(width);
        let inside = run.with_threads(if width > 1 { run.threads() } else { 1 });
        let block = |b: usize| {
            let from = b * width;
            let columns = width.min(n - from);
            let unit = Matrix::from_fn(n, columns, |i, j| f64::from(i == from + j));
            let model = fit_to(&self.estimator, given.x, &unit, &inside)?;
            let said = said(&self.estimator, model.as_ref(), given.x, &inside)?;
            Ok((0..columns).map(|j| said[(from + j, j)] - zero[from + j]).collect::<Vec<f64>>())
        };
        let found: Vec<Vec<f64>> = match width > 1 {
            true => (0..blocks)
                .map(|b| run.checkpoint().and_then(|()| block(b)))
                .collect::<Result<_>>()?,
            false => run.try_par_map(blocks, block)?,
        };
        let leverage = found.concat();
        let df = leverage.iter().sum();
        let mut out =
            SmootherFound { df, leverage, training_error: None, leave_one_out: None, gcv: None };
        if let Some(y) = given.y {
            self.errors(&mut out, given.x, y, run)?;
        }
        Ok(out)
    }
}

impl LinearSmoother {
    /// Refuses learners whose fits do not add up: fit(a + b) + fit(0) = fit(a) + fit(b).
    fn check_linear(&self, x: Frame, run: &Context) -> Result<()> {
        let n = x.nrows();
        let mut rng = run.rng(0);
        let mut draw = || (0..n).map(|_| sample::standard_normal(&mut rng)).collect::<Vec<f64>>();
        let (a, b) = (draw(), draw());
        let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 3.0 * b).collect();
        let fit = |y: &[f64]| fitted_values(&self.estimator, x, y, run);
        let (zero, of_a, of_b, of_sum) = (fit(&vec![0.0; n])?, fit(&a)?, fit(&b)?, fit(&sum)?);
        let far = |i: usize| {
            let expected = of_a[i] + 3.0 * of_b[i] - 3.0 * zero[i];
            (of_sum[i] - expected).abs() > 1e-6 * (1.0 + expected.abs())
        };
        match (0..n).any(far) {
            false => Ok(()),
            true => {
                let name = self.estimator.about().name();
                let message =
                    format!("{name} is no linear smoother: its fits depend on the target");
                Err(Error::unsupported(message)
                    .hint("adaptive methods have no effective degrees of freedom: cross-validate"))
            }
        }
    }

    fn errors(&self, out: &mut SmootherFound, x: Frame, y: &[f64], run: &Context) -> Result<()> {
        let fitted = fitted_values(&self.estimator, x, y, run)?;
        let n = y.len() as f64;
        let residual = |i: usize| y[i] - fitted[i];
        let training = (0..y.len()).map(|i| residual(i).powi(2)).sum::<f64>() / n;
        if let Some(row) = out.leverage.iter().position(|h| (1.0 - h).abs() < 1e-10) {
            let message =
                format!("row {} has leverage 1: its prediction is its own target", row + 1);
            return Err(Error::new(Code::Undefined, message)
                .hint("leave the row out, or give fewer columns or a penalty"));
        }
        let left_out = |i: usize| (residual(i) / (1.0 - out.leverage[i])).powi(2);
        out.leave_one_out = Some((0..y.len()).map(left_out).sum::<f64>() / n);
        out.gcv = Some(training / (1.0 - out.df / n).powi(2));
        out.training_error = Some(training);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearRegression, Ridge};
    use crate::neighbors::KNeighborsRegressor;
    use crate::tree::DecisionTreeRegressor;

    fn found(learner: impl Into<Learner>, x: &Table, y: Option<&[f64]>) -> Result<SmootherFound> {
        let function = LinearSmoother { estimator: learner.into() };
        function.compute(SmoothedRows { x: x.frame(), y })
    }

    #[test]
    fn three_points_have_the_leverages_and_left_out_errors_of_the_notes() {
        let x = Table::unnamed(Matrix::from_rows(&[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]).unwrap());
        let y = [6.0, 0.0, 0.0];
        let plain = LinearRegression { fit_intercept: false, ..Default::default() };
        let line = found(plain, &x, Some(&y)).unwrap();
        assert!((line.df - 2.0).abs() < 1e-9);
        assert!((line.leave_one_out.unwrap() - 27.0).abs() < 1e-9);
        let ridge = Ridge { alpha: 1.0, fit_intercept: false, ..Default::default() };
        let ridge = found(ridge, &x, Some(&y)).unwrap();
        assert!((ridge.df - 4.0 / 3.0).abs() < 1e-12, "{}", ridge.df);
        assert!((ridge.leave_one_out.unwrap() - 1560.0 / 121.0).abs() < 1e-9);
    }

    #[test]
    fn neighbours_have_n_over_k_and_trees_have_none() {
        let x = Table::unnamed(Matrix::from_fn(60, 1, |i, _| (i as f64).sin()));
        let knn = KNeighborsRegressor { n_neighbors: 4, ..Default::default() };
        assert!((found(knn, &x, None).unwrap().df - 15.0).abs() < 1e-12);
        let mut tree = DecisionTreeRegressor::default();
        tree.set("max_depth", &Value::Int(2)).unwrap();
        let error = found(tree, &x, None).unwrap_err();
        assert!(error.to_string().contains("no linear smoother"), "{error}");
        let y: Vec<f64> = (0..60).map(f64::from).collect();
        let one = KNeighborsRegressor { n_neighbors: 1, ..Default::default() };
        assert_eq!(found(one, &x, Some(&y)).unwrap_err().code(), Code::Undefined);
    }
}
