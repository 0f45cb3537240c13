//! Choice among learners by a validation set.
//!
//! The rows are divided once into training, validation and test rows, with the shares of the classes. Each
//! candidate is fitted to the training rows; the least validation error is chosen, of equals the first, so
//! that the simplest should stand first. The choice is fitted again to training and validation rows, and only
//! that model meets the test rows. The validation error of the choice is too low, the more so the more
//! candidates there are: it is the least of several. Loss: the share of wrong classes or the mean squared
//! error; weights of rows count in every mean.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), The elements of statistical learning, section 7.2.

use super::Examples;
use super::examples::{mean_loss, said_after};
use crate::select::{Size, holdout};
use crate::{Learner, Named};
use learnt_core::prelude::*;

/// The learner with the least error on a validation set, and its error on rows that no choice has seen.
#[derive(Params, Clone, Debug)]
pub struct SelectByValidation {
    /// The candidates, each with a name, the simplest first.
    #[param(positional, required, learner = any)]
    pub estimators: Vec<Named<Learner>>,
    /// Share of rows to choose by.
    #[param(default = 0.25, above = 0.0, below = 1.0)]
    pub validation_size: f64,
    /// Share of rows for the final estimate.
    #[param(default = 0.25, above = 0.0, below = 1.0)]
    pub test_size: f64,
}

/// The choice and its errors.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SelectedByValidation {
    /// Name of the chosen learner.
    pub chosen: String,
    /// Names of the candidates.
    pub names: Vec<String>,
    /// Error of each candidate on the rows it was trained on.
    pub train_errors: Vec<f64>,
    /// Error of each candidate on the validation rows.
    pub validation_errors: Vec<f64>,
    /// Error of the choice on the test rows, after it was fitted again to training and validation rows.
    pub test_error: f64,
    /// The same without fitting it again.
    pub test_error_without_refit: f64,
}

impl Function for SelectByValidation {
    type Inputs<'a> = Examples<'a>;
    type Output = SelectedByValidation;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.select_by_validation", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 7.2");

    fn call(&self, given: Examples, run: &Context) -> Result<SelectedByValidation> {
        let learners = &self.estimators;
        let Some(first) = learners.first() else {
            return Err(Error::parameter("estimators", "at least one learner", "none"));
        };
        let target = given.target(&first.value)?;
        let data = given.data(&target);
        let stratify = matches!(data.y, Some(Target::Class { .. }));
        let (validation, test) = (Size::Share(self.validation_size), Size::Share(self.test_size));
        let parts = holdout(&data, validation, test, stratify, run)?;
        let said = |k: usize, rows: &[usize], run: &Context| {
            let Named { name, value } = &learners[k];
            said_after(value, &data, rows, run).map_err(|error| error.within(name))
        };
        let tried = run.try_par_map(learners.len(), |k| {
            said(k, &parts.train, &run.child(k as u64).with_threads(1))
        })?;
        let errors = |rows: &[usize]| -> Result<Vec<f64>> {
            tried.iter().map(|said| mean_loss(&data, said, rows)).collect()
        };
        let validation_errors = errors(&parts.validation)?;
        let least = (0..learners.len())
            .min_by(|&a, &b| validation_errors[a].total_cmp(&validation_errors[b]))
            .unwrap_or_default();
        let mut known = [&parts.train[..], &parts.validation].concat();
        known.sort_unstable();
        let again = said(least, &known, &run.child(least as u64))?;
        Ok(SelectedByValidation {
            chosen: learners[least].name.clone(),
            names: learners.iter().map(|learner| learner.name.clone()).collect(),
            train_errors: errors(&parts.train)?,
            validation_errors,
            test_error: mean_loss(&data, &again, &parts.test)?,
            test_error_without_refit: mean_loss(&data, &tried[least], &parts.test)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::DummyRegressor;
    use crate::linear::LinearRegression;
    use crate::neighbors::KNeighborsRegressor;
    use learnt_core::stats::sample;

    fn found(estimators: Vec<Named<Learner>>) -> Result<SelectedByValidation> {
        let mut rng = Context::default().rng(0);
        let x = Matrix::from_fn(400, 1, |_, _| sample::standard_normal(&mut rng));
        let y: Vec<f64> =
            (0..400).map(|i| 3.0 * x[(i, 0)] + sample::standard_normal(&mut rng)).collect();
        let labels: Vec<Label> = y.into_iter().map(Label::Real).collect();
        let (codes, classes) = Label::encode(&labels);
        let table = Table::unnamed(x);
        let y = Classes { codes: &codes, classes: &classes };
        let function = SelectByValidation { estimators, ..Default::default() };
        function.compute(Examples { x: table.frame(), y, sample_weight: None })
    }

    #[test]
    fn a_line_is_chosen_for_a_line_and_judged_on_rows_of_its_own() {
        let nearest = KNeighborsRegressor { n_neighbors: 1, ..Default::default() };
        let found = found(vec![
            Named::new("mean", DummyRegressor::default()),
            Named::new("line", LinearRegression::default()),
            Named::new("nearest", nearest),
        ])
        .unwrap();
        assert_eq!(found.chosen, "line");
        assert_eq!(found.train_errors[2], 0.0);
        assert!(found.validation_errors[2] > found.validation_errors[1]);
        assert!((found.test_error - 1.0).abs() < 0.3, "{}", found.test_error);
        assert_ne!(found.test_error, found.test_error_without_refit);
    }

    #[test]
    fn of_equal_candidates_the_first_is_chosen() {
        let twin = |name| Named::new(name, LinearRegression::default());
        assert_eq!(found(vec![twin("b"), twin("a")]).unwrap().chosen, "b");
        assert!(found(Vec::new()).is_err());
    }
}
