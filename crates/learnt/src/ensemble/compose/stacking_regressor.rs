//! Stacking of regressors: a last regressor learns from what the others say about rows they have not seen.
//!
//! Members are fitted on K - 1 of K folds and predict the fold left out; the last learner is fitted on
//! these predictions, and works on those of members fitted on all rows.
//!
//! Wolpert, "Stacked generalization", Neural Networks 5 (1992), 241-259.

use super::stacking::{self, StackMethod, fit, last_rows};
use super::{accepts_of_all, accepts_of_parts, check_names, check_regressors, parts_of};
use crate::learner::{Fitted, Learner, Named};
use crate::linear::RidgeCV;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Stacking regressor: several regressors of any kind, combined by one more that is fitted on their predictions.
///
/// `cv` is a number of folds; in Python it may be a splitter too.
///
/// ```
/// use learnt::{ensemble::StackingRegressor, linear::Ridge, tree::DecisionTreeRegressor};
/// use learnt::{Named, prelude::*};
/// let estimators = vec![
///     Named::new("tree", DecisionTreeRegressor::default()),
///     Named::new("ridge", Ridge::default()),
/// ];
/// let data = learnt::datasets::load("cpu")?;
/// let model = StackingRegressor { estimators, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.ncols(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct StackingRegressor {
    /// The regressors, each with a name.
    #[param(positional, required, learner = regressor)]
    pub estimators: Vec<Named<Learner>>,
    /// The regressor that combines them.
    #[param(learner = regressor, default = RidgeCV)]
    pub final_estimator: Learner,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// Whether the last learner also sees the columns themselves.
    #[param(default = false)]
    pub passthrough: bool,
}

/// A fitted [`StackingRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, accepts = accepts, parts = parts)]
pub struct StackingRegressorModel {
    passthrough: bool,
    members: Vec<Fitted>,
    last: Fitted,
    /// Columns that the last learner sees.
    width: usize,
}

impl Estimator for StackingRegressor {
    type Model = StackingRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.StackingRegressor")
        .alias(&["stacking"])
        .weights()
        .only_by_name()
        .threads()
        .complexity(80)
        .cost("K + 1 fits of each learner")
        .reference("Wolpert (1992), Neural Networks 5, 241-259")
        .check_with(&[("estimators", r#"[["tree", "tree"], ["line", "linear-regression"]]"#)])
        .exempt(&[
            ("weights_repeat", "folds are cut by rows"),
            ("weights_scale", "the default last learner has an absolute penalty"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "folds are a number, not a list of rows",
            ),
        ]);

    fn accepts(&self) -> Accepts {
        let members = accepts_of_all(self.estimators.iter().map(|named| &named.value));
        stacking::accepts(members, self.final_estimator.any_accepts(), self.passthrough)
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<StackingRegressorModel> {
        let method = StackMethod::Predict;
        let (members, last, width) = fit(
            &self.estimators,
            &self.final_estimator,
            self.cv,
            method,
            self.passthrough,
            data,
            run,
        )?;
        Ok(StackingRegressorModel { passthrough: self.passthrough, members, last, width })
    }
}

impl StackingRegressor {
    fn constraints(&self) -> Result<()> {
        check_names(&self.estimators)
    }
}

impl StackingRegressorModel {
    fn accepts(&self) -> Accepts {
        stacking::accepts(accepts_of_parts(&self.members), self.last.accepts(), self.passthrough)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let mut parts = parts_of(&self.members, schema, classes);
        let seen = stacking::last_schema(schema, self.width, self.passthrough)?;
        let name = "final_estimator".to_string();
        parts.push(FittedPart { name, ..self.last.part(seen, classes) });
        Ok(parts)
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.members)?;
        match self.last.model.as_regressor() {
            Some(_) => Ok(()),
            None => Err(invalid("a last learner that is no regressor")),
        }
    }

    fn table(&self, x: &Frame, run: &Context) -> Result<Table> {
        let shape = (self.passthrough, self.width);
        last_rows(&self.members, StackMethod::Predict, &[], shape, x, run)
    }
}

impl Regressor for StackingRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let table = self.table(x, run)?;
        super::predictions_of(&self.last, &table.frame(), run).map(Matrix::column_vector)
    }
}
