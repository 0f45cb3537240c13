//! Bagging of a regressor: the mean of members fitted on bootstrap samples.
//!
//! Breiman, "Bagging predictors", Machine Learning 24 (1996), 123-140.

use super::bagging::{BaggingShare, columns_fit, copies, mean_over, members};
use super::{accepts_of_parts, check_regressors, predictions_of};
use crate::ensemble::forest::determination;
use crate::ensemble::members::{OfMembers, of_members};
use crate::learner::{Fitted, Learner};
use crate::tree::DecisionTreeRegressor;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use std::ops::Range;

/// Bagging regressor: any regressor on many bootstrap samples of the rows, averaged.
///
/// Lowers the variance of unstable learners.
///
/// ```
/// use learnt::{ensemble::BaggingRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let model = BaggingRegressor::default().fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.ncols(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct BaggingRegressor {
    /// The regressor; by default an unpruned tree.
    #[param(positional, learner = regressor, default = DecisionTreeRegressor)]
    pub estimator: Learner,
    /// How members are drawn.
    #[param(flatten)]
    pub share: BaggingShare,
}

/// A fitted [`BaggingRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, accepts = accepts, parts = parts)]
pub struct BaggingRegressorModel {
    /// R² over training rows of members which did not draw them, if asked for.
    pub oob_score: Option<f64>,
    /// The prediction for each training row by the members that did not draw it; missing where all did.
    #[model(transient)]
    pub oob_prediction: Matrix,
    parts: Vec<Fitted>,
    /// The columns that each member sees, by number.
    #[model(name = "estimators_features")]
    pub columns: Vec<Vec<u32>>,
    schema: Schema,
}

impl Estimator for BaggingRegressor {
    type Model = BaggingRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.BaggingRegressor")
        .alias(&["bagging"])
        .weights()
        .missing()
        .categories()
        .only_by_name()
        .randomness()
        .extends()
        .threads()
        .complexity(70)
        .cost("a fit of the learner for each member")
        .reference("Breiman (1996), Machine Learning 24, 123-140")
        .exempt(&[
            ("weights_repeat", "a weight does not change how often a row is drawn"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "a weight does not change how often a row is drawn",
            ),
        ]);

    fn accepts(&self) -> Accepts {
        Accepts { many_outputs: false, ..self.estimator.any_accepts() }
    }

    of_members!();
}

impl OfMembers for BaggingRegressor {
    fn count(&self) -> usize {
        self.share.n_estimators
    }

    fn check_apart(&self) -> Result<()> {
        self.share.check_apart()
    }

    fn made(model: &BaggingRegressorModel) -> usize {
        model.parts.len()
    }

    fn grown(
        &self,
        members: Range<usize>,
        before: Option<&BaggingRegressorModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<BaggingRegressorModel> {
        match before {
            None => self.bagged((members, Vec::new()), data, run),
            Some(before) => self.bagged((0..members.end, copies(&before.parts)?), data, run),
        }
    }

    fn drawn(&self, rows: usize, run: &Context) -> Result<Vec<u32>> {
        self.share.drawn(rows, run)
    }

    fn joined(parts: &[&BaggingRegressorModel]) -> Result<BaggingRegressorModel> {
        let first = *parts.first().ok_or_else(|| Error::internal("no members to join"))?;
        let mut joined = BaggingRegressorModel::from_node(&first.to_node())?;
        for part in &parts[1..] {
            joined.parts.extend(copies(&part.parts)?);
            joined.columns.extend(part.columns.iter().cloned());
        }
        Ok(joined)
    }
}

impl BaggingRegressor {
    /// The model, behind members that are there already.
    fn bagged(
        &self,
        made: (Range<usize>, Vec<Fitted>),
        data: &Dataset,
        run: &Context,
    ) -> Result<BaggingRegressorModel> {
        let y = data.real_target()?;
        let bag = self.share.fit(&self.estimator, made, data, run)?;
        let mut model = BaggingRegressorModel {
            oob_score: None,
            oob_prediction: Matrix::default(),
            parts: bag.parts,
            columns: bag.columns,
            schema: data.x.schema().clone(),
        };
        if self.share.oob_score {
            let found = model.mean(&data.x, Some(&bag.counts), run)?;
            model.oob_score = determination(&found, &y, |i| data.weight(i));
            model.oob_prediction = found;
        }
        Ok(model)
    }
}

impl BaggingRegressor {
    fn constraints(&self) -> Result<()> {
        self.share.constraints()
    }
}

impl BaggingRegressorModel {
    fn mean(&self, x: &Frame, drawn: Option<&[Vec<u32>]>, run: &Context) -> Result<Matrix> {
        mean_over(&self.parts, &self.columns, x, 1, drawn, run, |part, x, run| {
            predictions_of(part, x, run).map(Matrix::column_vector)
        })
    }

    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        members(&self.parts, &self.columns, schema, classes)
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.parts)?;
        let fits = columns_fit(&self.columns, self.parts.len(), self.schema.len())
            && self.oob_score.is_none_or(f64::is_finite);
        if fits { Ok(()) } else { Err(invalid("members that do not fit the columns")) }
    }
}

impl Regressor for BaggingRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.mean(x, None, run)
    }
}
