//! Weights on the simplex: the mean of columns, weighted so that its squared error is least.
//!
//! min Σ w (y - Σ b_j x_j)² over b >= 0, Σ b = 1 (or b >= 0 alone), a quadratic programme; no intercept. As the
//! last learner of a stack its columns are what the members say, and the weights say how much each counts.
//!
//! Breiman (1996), Stacked regressions, Machine Learning 24, 49-64.

use learnt_core::error::plain;
use learnt_core::optimize::QuadraticProgram;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Simplex regressor: a weighted mean of the columns, for combining predictions.
///
/// ```
/// use learnt::{ensemble::SimplexRegressor, prelude::*};
/// let x = Matrix::from_fn(6, 2, |i, j| (i * (j + 1)) as f64);
/// let y = (0..6).map(|i| 0.25 * i as f64 + 0.75 * 2.0 * i as f64).collect();
/// let data = OwnedDataset::regression(x, y);
/// let model = SimplexRegressor::default().fit(&data.view())?;
/// assert!((model.coef[1] - 0.75).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct SimplexRegressor {
    /// What the weights must be.
    #[param(default = WeightConstraint::Simplex)]
    pub constraint: WeightConstraint,
}

/// What weights must be.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum WeightConstraint {
    /// None below zero, and one together.
    Simplex,
    /// None below zero.
    Nonnegative,
}

/// A fitted [`SimplexRegressor`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report)]
pub struct SimplexRegressorModel {
    /// The weight of each column.
    #[nonnegative]
    pub coef: Vec<f64>,
    schema: Schema,
}

impl Estimator for SimplexRegressor {
    type Model = SimplexRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.SimplexRegressor")
        .alias(&["simplex"])
        .weights()
        .only_by_name()
        .complexity(12)
        .cost("n p² time")
        .reference("Breiman (1996), Machine Learning 24, 49-64")
        .exempt(&[(
            "beats_the_dummy",
            "a mean of the columns is no better where they are no predictions",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<SimplexRegressorModel> {
        let y = data.real_target()?.column(0);
        let (rows, columns) = (data.nrows(), data.x.ncols());
        run.claim(8 * (columns as u64).saturating_mul(columns as u64), "products of columns")?;
        // One scale for all numbers keeps the programme well conditioned, and its answer.
        let largest = |sum: f64, x: f64| sum.max(x.abs());
        let values = data.x.values();
        let of_rows = (0..rows).flat_map(|i| (0..columns).map(move |j| values.at(i, j)));
        let scale = of_rows.chain(y.iter().copied()).fold(0.0, largest).max(f64::MIN_POSITIVE);
        let total: f64 = (0..rows).map(|i| data.weight(i)).sum();
        let mut quadratic = Matrix::zeros(columns, columns);
        let mut linear = vec![0.0; columns];
        for (i, target) in y.iter().enumerate() {
            let weight = data.weight(i) / total;
            for a in 0..columns {
                let own = weight * (values.at(i, a) / scale);
                linear[a] -= own * (target / scale);
                for b in 0..=a {
                    quadratic[(a, b)] += own * (values.at(i, b) / scale);
                }
            }
        }
        for a in 0..columns {
            for b in 0..a {
                quadratic[(b, a)] = quadratic[(a, b)];
            }
        }
        let simplex = QuadraticProgram::simplex(quadratic.clone(), linear.clone());
        let programme = match self.constraint {
            WeightConstraint::Simplex => simplex,
            WeightConstraint::Nonnegative => QuadraticProgram { equalities: None, ..simplex },
        };
        let mut coef = programme.solve(run)?.solution()?.x;
        coef.iter_mut().for_each(|weight| *weight = weight.max(0.0));
        if self.constraint == WeightConstraint::Simplex {
            let sum: f64 = coef.iter().sum();
            coef.iter_mut().for_each(|weight| *weight /= sum);
        }
        Ok(SimplexRegressorModel { coef, schema: data.x.schema().clone() })
    }
}

impl SimplexRegressorModel {
    fn report(&self, _: &Names) -> Answer {
        let mut table = Columns::new("Weights", &["column", "weight"]);
        for (column, &weight) in self.schema.columns().iter().zip(&self.coef) {
            table.push(vec![Cell::Text(plain(&column.name)), Cell::Number(weight)]);
        }
        let mut report = Answer::new("Weighted mean");
        report.tables.push(table);
        report
    }

    fn validate(&self) -> Result<()> {
        match self.coef.len() == self.schema.len() {
            true => Ok(()),
            false => Err(invalid("weights that do not fit the columns")),
        }
    }
}

impl Regressor for SimplexRegressorModel {
    fn predict_in(&self, x: &Frame, _run: &Context) -> Result<Matrix> {
        let (expected, got) = (self.schema.len(), x.ncols());
        if expected != got {
            return Err(Error::shape("x", format!("{expected} columns"), got));
        }
        let mean = |i: usize| -> f64 {
            self.coef.iter().enumerate().map(|(j, weight)| weight * x.values().at(i, j)).sum()
        };
        let found: Vec<f64> = (0..x.nrows()).map(mean).collect();
        match found.iter().all(|x| x.is_finite()) {
            true => Ok(Matrix::column_vector(found)),
            false => Err(Error::numeric("columns too large to be added up")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::StackingRegressor;
    use super::*;
    use crate::learner::Named;
    use crate::linear::{LinearRegression, Ridge};
    use crate::tree::DecisionTreeRegressor;

    #[test]
    fn the_largest_of_nested_fits_gets_all_the_weight_on_its_own_training_rows() {
        let cpu = crate::datasets::load("cpu").unwrap();
        let y = cpu.view().real_target().unwrap().column(0);
        let said: Vec<Vec<f64>> = (1..=4)
            .map(|count| {
                let x = cpu.x.frame().select(&(0..count).collect::<Vec<_>>());
                let data = OwnedDataset { x, y: cpu.y.clone(), ..OwnedDataset::default() };
                let model = LinearRegression::default().fit(&data.view()).unwrap();
                model.predict(&data.x.frame()).unwrap().into_vec()
            })
            .collect();
        let x = Matrix::from_fn(y.len(), 4, |i, j| said[j][i]);
        let data = OwnedDataset::regression(x, y);
        for constraint in [WeightConstraint::Simplex, WeightConstraint::Nonnegative] {
            let model = SimplexRegressor { constraint }.fit(&data.view()).unwrap();
            assert!((model.coef[3] - 1.0).abs() < 1e-6, "{:?}", model.coef);
        }
    }

    #[test]
    fn a_stack_with_weights_on_the_simplex_is_no_worse_than_its_best_member() {
        let cpu = crate::datasets::load("cpu").unwrap();
        let estimators = vec![
            Named::new("tree", DecisionTreeRegressor::default()),
            Named::new("ridge", Ridge::default()),
        ];
        let learner = StackingRegressor {
            estimators,
            final_estimator: SimplexRegressor::default().into(),
            ..Default::default()
        };
        let model = learner.fit(&cpu.view()).unwrap();
        let y = cpu.view().real_target().unwrap().column(0);
        let found = model.predict(&cpu.x.frame()).unwrap().into_vec();
        let r = learnt_core::stats::summary::correlation(&y, &found, None).unwrap();
        assert!(r > 0.95, "{r}");
    }
}
