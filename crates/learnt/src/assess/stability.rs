//! Stability of a learner: how much its predictions change with the rows it was trained on.
//!
//! In each draw the rows are divided at random into three equal parts; the learner is fitted to the first
//! and to the second, and both predict the third. The disagreement is the share of rows with different
//! classes, or the mean squared difference of numbers; half of that is the variance of a prediction.
//!
//! Reference: Breiman (1996), Heuristics of instability and stabilization in model selection.

use super::Examples;
use super::examples::{fitted, predictions};
use crate::Learner;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// How much predictions of a learner change from one training set to another.
#[derive(Params, Clone, Debug)]
pub struct Stability {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Number of draws.
    #[param(default = 20, range = 1..)]
    pub draws: usize,
}

/// The disagreement of fits to different rows.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct StabilityFound {
    /// Mean disagreement over the draws.
    pub disagreement: f64,
    /// Its standard error over the draws; nothing for a single one.
    pub standard_error: Option<f64>,
    /// Mean variance of a prediction: half of the squared difference of numbers, half of the share of
    /// different classes.
    pub variance: f64,
    /// The disagreement of each draw.
    pub draws: Vec<f64>,
}

impl Function for Stability {
    type Inputs<'a> = Examples<'a>;
    type Output = StabilityFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.stability", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Breiman (1996)");

    fn call(&self, given: Examples, run: &Context) -> Result<StabilityFound> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let third = data.nrows() / 3;
        if third == 0 {
            return Err(Error::new(Code::TooFew, format!("{} rows in three parts", data.nrows()))
                .hint("give at least 3 rows"));
        }
        let classes = matches!(data.y, Some(Target::Class { .. }));
        let draws = run.try_par_map(self.draws, |draw| {
            let run = run.child(draw as u64).with_threads(1);
            let mut order: Vec<usize> = (0..data.nrows()).collect();
            sample::shuffle(&mut run.rng(0), &mut order);
            let test = data.gather(&order[2 * third..]);
            let said = |rows: &[usize]| {
                let model = fitted(&self.estimator, &data, rows, &run)?;
                predictions(&self.estimator, model.as_ref(), &test.view().x, &run)
            };
            let (first, second) = (said(&order[..third])?, said(&order[third..2 * third])?);
            let differ = |(a, b): (&f64, &f64)| match classes {
                true => f64::from(a != b),
                false => (a - b).powi(2),
            };
            Ok(first.iter().zip(&second).map(differ).sum::<f64>() / first.len() as f64)
        })?;
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let square: f64 = draws.iter().map(|d| (d - mean).powi(2)).sum();
        let standard_error = (count > 1.0).then(|| (square / (count - 1.0) / count).sqrt());
        Ok(StabilityFound { disagreement: mean, standard_error, variance: mean / 2.0, draws })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use crate::tree::DecisionTreeRegressor;

    #[test]
    fn a_full_tree_is_less_stable_than_ridge_regression() {
        let data = crate::datasets::load("cpu").unwrap();
        let y = data.view().real_target().unwrap().column(0);
        let (codes, classes) =
            Label::encode(&y.iter().map(|&y| Label::Real(y.ln())).collect::<Vec<_>>());
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: data.view().x, y, sample_weight: None };
        let disagreement = |estimator: Learner| {
            Stability { estimator, draws: 20 }.compute(given).unwrap().disagreement
        };
        let tree = disagreement(DecisionTreeRegressor::default().into());
        let ridge = disagreement(Ridge { alpha: 1000.0, ..Default::default() }.into());
        assert!(tree > ridge, "{tree} {ridge}");
    }
}
