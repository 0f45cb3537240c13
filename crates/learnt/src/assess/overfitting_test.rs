//! Overfitting by its definition: a setting overfits if another one has a higher training error and a lower
//! test error.
//!
//! The rows are divided once; each value of the parameter is fitted to the training rows and judged on both
//! parts, with the share of wrong classes or the mean squared error as loss.
//!
//! Reference: Mitchell (1997), Machine learning, section 3.7.

use super::Examples;
use super::curves::Values;
use super::examples::{mean_loss, said_after};
use crate::Learner;
use crate::select::{Size, train_test};
use learnt_core::prelude::*;

/// Pairs of parameter values of which one fits the training rows better and new rows worse.
#[derive(Params, Clone, Debug)]
pub struct OverfittingTest {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Name of the parameter; `a__b` reaches inside.
    #[param(required)]
    pub param_name: String,
    /// Values that it is tried with.
    #[param(required)]
    pub param_range: Values,
    /// Share of rows to test on.
    #[param(default = 0.5, above = 0.0, below = 1.0)]
    pub test_size: f64,
}

/// Errors of each value, and the pairs.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct OverfittingFound {
    /// Whether any value overfits.
    pub value: bool,
    /// Error of each value on the training rows.
    pub train_errors: Vec<f64>,
    /// Error of each value on the test rows.
    pub test_errors: Vec<f64>,
    /// Places of the values that overfit, one a pair.
    pub overfitted: Vec<u64>,
    /// Places of the values that they are worse than on test rows, one a pair.
    pub better: Vec<u64>,
}

impl Function for OverfittingTest {
    type Inputs<'a> = Examples<'a>;
    type Output = OverfittingFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.overfitting_test", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Mitchell (1997), Machine learning");

    fn call(&self, given: Examples, run: &Context) -> Result<OverfittingFound> {
        let learners = self.param_range.learners(&self.estimator, &self.param_name)?;
        if learners.len() < 2 {
            return Err(Error::parameter("param_range", "at least two values", learners.len()));
        }
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let stratify = matches!(data.y, Some(Target::Class { .. }));
        let parts = train_test(&data, Size::Share(self.test_size), stratify, run)?;
        let errors = run.try_par_map(learners.len(), |k| {
            let run = run.child(k as u64).with_threads(1);
            let said = said_after(&learners[k], &data, &parts.train, &run)?;
            Ok((mean_loss(&data, &said, &parts.train)?, mean_loss(&data, &said, &parts.test)?))
        })?;
        let (train_errors, test_errors): (Vec<f64>, Vec<f64>) = errors.into_iter().unzip();
        let (mut overfitted, mut better) = (Vec::new(), Vec::new());
        for i in 0..train_errors.len() {
            for j in 0..train_errors.len() {
                if train_errors[i] < train_errors[j] && test_errors[i] > test_errors[j] {
                    overfitted.push(i as u64);
                    better.push(j as u64);
                }
            }
        }
        let value = !overfitted.is_empty();
        Ok(OverfittingFound { value, train_errors, test_errors, overfitted, better })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::Pipeline;
    use crate::linear::LinearRegression;
    use crate::prepare::PolynomialFeatures;
    use learnt_core::stats::sample;

    #[test]
    fn a_curve_of_degree_ten_overfits_beside_one_of_degree_two() {
        let mut rng = Context::default().with_seed(2).rng(0);
        let x = Matrix::from_fn(30, 1, |_, _| 2.0 * sample::uniform(&mut rng) - 1.0);
        let noisy = |i: usize, rng: &mut learnt_core::context::Rng| {
            x[(i, 0)].powi(2) + 0.3 * sample::standard_normal(rng)
        };
        let y: Vec<f64> = (0..30).map(|i| noisy(i, &mut rng)).collect();
        let (codes, classes) =
            Label::encode(&y.iter().map(|&y| Label::Real(y)).collect::<Vec<_>>());
        let function = OverfittingTest {
            estimator: Pipeline::default()
                .then("powers", PolynomialFeatures::default())
                .then("line", LinearRegression::default())
                .into(),
            param_name: "powers__degree".into(),
            param_range: Values([2, 10].map(Value::Int).to_vec()),
            ..Default::default()
        };
        let table = Table::unnamed(x);
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: table.frame(), y, sample_weight: None };
        let found = function.compute(given).unwrap();
        assert!(found.value);
        assert_eq!((found.overfitted, found.better), (vec![1], vec![0]));
        assert!(found.train_errors[1] < found.train_errors[0]);
    }
}
