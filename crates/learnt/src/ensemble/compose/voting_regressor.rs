//! Mean of regressors: f(x) = Σ w_m f_m(x) / Σ w_m.
//!
//! Kuncheva, "Combining Pattern Classifiers" (2004).

use super::{
    accepts_of_all, accepts_of_parts, check_names, check_regressors, check_weights, fit_all,
    member_report, parts_of, predictions_of,
};
use crate::learner::{Fitted, Learner, Named};
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Voting regressor: the (weighted) mean of several regressors of any kind.
///
/// ```
/// use learnt::{ensemble::VotingRegressor, linear::Ridge, tree::DecisionTreeRegressor};
/// use learnt::{Named, prelude::*};
/// let estimators = vec![
///     Named::new("tree", DecisionTreeRegressor::default()),
///     Named::new("ridge", Ridge::default()),
/// ];
/// let data = learnt::datasets::load("cpu")?;
/// let model = VotingRegressor { estimators, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.ncols(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct VotingRegressor {
    /// The regressors, each with a name.
    #[param(positional, required, learner = regressor)]
    pub estimators: Vec<Named<Learner>>,
    /// How much each regressor counts; none means equally.
    #[param(default = None)]
    pub weights: Option<Vec<f64>>,
}

/// A fitted [`VotingRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct VotingRegressorModel {
    weights: Vec<f64>,
    parts: Vec<Fitted>,
}

impl Estimator for VotingRegressor {
    type Model = VotingRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.VotingRegressor")
        .alias(&["voting"])
        .weights()
        .only_by_name()
        .threads()
        .complexity(80)
        .cost("a fit of each learner")
        .reference("Kuncheva (2004)")
        .check_with(&[("estimators", r#"[["tree", "tree"], ["line", "linear-regression"]]"#)]);

    fn accepts(&self) -> Accepts {
        accepts_of_all(self.estimators.iter().map(|named| &named.value))
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<VotingRegressorModel> {
        let weights = check_weights(self.weights.as_deref(), self.estimators.len())?;
        Ok(VotingRegressorModel { weights, parts: fit_all(&self.estimators, data, run)? })
    }
}

impl VotingRegressor {
    fn constraints(&self) -> Result<()> {
        check_weights(self.weights.as_deref(), self.estimators.len())?;
        check_names(&self.estimators)
    }
}

impl VotingRegressorModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.parts)?;
        match check_weights(Some(&self.weights), self.parts.len()) {
            Ok(_) => Ok(()),
            Err(_) => Err(invalid("weights that do not fit the members")),
        }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("Mean of members", &self.parts, "weight", &self.weights)
    }
}

impl Regressor for VotingRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let total: f64 = self.weights.iter().sum();
        let mut mean = vec![0.0; x.nrows()];
        for (part, weight) in self.parts.iter().zip(&self.weights) {
            let found = predictions_of(part, x, run)?;
            mean.iter_mut().zip(found).for_each(|(sum, y)| *sum += weight / total * y);
        }
        Ok(Matrix::column_vector(mean))
    }
}
