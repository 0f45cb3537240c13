//! Bagging of a classifier: the mean of the class shares of members fitted on bootstrap samples.
//!
//! Breiman, "Bagging predictors", Machine Learning 24 (1996), 123-140.

use super::bagging::{BaggingShare, columns_fit, copies, mean_over, members};
use super::{accepts_of_parts, check_classifiers, shares_of};
use crate::ensemble::members::{OfMembers, of_members};
use crate::learner::{Fitted, Learner};
use crate::tree::DecisionTreeClassifier;
use learnt_core::estimator::{Accepts, first_maximum};
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use std::ops::Range;

/// Bagging classifier: any classifier on many bootstrap samples of the rows, averaged.
///
/// Lowers the variance of unstable learners. Members without probabilities vote.
///
/// ```
/// use learnt::{ensemble::BaggingClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = BaggingClassifier::default().fit(&data.view())?;
/// assert_eq!(model.probabilities(&data.x.frame())?.ncols(), 3);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct BaggingClassifier {
    /// The classifier; by default an unpruned tree.
    #[param(positional, learner = classifier, default = DecisionTreeClassifier)]
    pub estimator: Learner,
    /// How members are drawn.
    #[param(flatten)]
    pub share: BaggingShare,
}

/// A fitted [`BaggingClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, accepts = accepts, parts = parts)]
pub struct BaggingClassifierModel {
    /// Share of training rows that members which did not draw them classify right, if asked for.
    pub oob_score: Option<f64>,
    /// Class shares of each training row by the members that did not draw it; missing where all did.
    #[model(transient)]
    pub oob_decision_function: Matrix,
    parts: Vec<Fitted>,
    /// The columns that each member sees, by number.
    #[model(name = "estimators_features")]
    pub columns: Vec<Vec<u32>>,
    schema: Schema,
    classes: Vec<Label>,
}

impl Estimator for BaggingClassifier {
    type Model = BaggingClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.BaggingClassifier")
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

impl OfMembers for BaggingClassifier {
    fn count(&self) -> usize {
        self.share.n_estimators
    }

    fn check_apart(&self) -> Result<()> {
        self.share.check_apart()
    }

    fn made(model: &BaggingClassifierModel) -> usize {
        model.parts.len()
    }

    fn grown(
        &self,
        members: Range<usize>,
        before: Option<&BaggingClassifierModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<BaggingClassifierModel> {
        match before {
            None => self.bagged((members, Vec::new()), data, run),
            Some(before) => self.bagged((0..members.end, copies(&before.parts)?), data, run),
        }
    }

    fn drawn(&self, rows: usize, run: &Context) -> Result<Vec<u32>> {
        self.share.drawn(rows, run)
    }

    fn joined(parts: &[&BaggingClassifierModel]) -> Result<BaggingClassifierModel> {
        let first = *parts.first().ok_or_else(|| Error::internal("no members to join"))?;
        let mut joined = BaggingClassifierModel::from_node(&first.to_node())?;
        for part in &parts[1..] {
            joined.parts.extend(copies(&part.parts)?);
            joined.columns.extend(part.columns.iter().cloned());
        }
        Ok(joined)
    }
}

impl BaggingClassifier {
    /// The model, behind members that are there already.
    fn bagged(
        &self,
        made: (Range<usize>, Vec<Fitted>),
        data: &Dataset,
        run: &Context,
    ) -> Result<BaggingClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let bag = self.share.fit(&self.estimator, made, data, run)?;
        let mut model = BaggingClassifierModel {
            oob_score: None,
            oob_decision_function: Matrix::default(),
            parts: bag.parts,
            columns: bag.columns,
            schema: data.x.schema().clone(),
            classes: classes.to_vec(),
        };
        if self.share.oob_score {
            let shares = model.mean(&data.x, Some(&bag.counts), run)?;
            let (mut right, mut total) = (0.0, 0.0);
            for (i, row) in shares.rows().enumerate().filter(|(_, row)| !row[0].is_nan()) {
                total += data.weight(i);
                right += data.weight(i) * f64::from(u8::from(first_maximum(row) == codes[i]));
            }
            model.oob_score = (total > 0.0).then(|| right / total);
            model.oob_decision_function = shares;
        }
        Ok(model)
    }
}

impl BaggingClassifier {
    fn constraints(&self) -> Result<()> {
        self.share.constraints()
    }
}

impl BaggingClassifierModel {
    fn mean(&self, x: &Frame, drawn: Option<&[Vec<u32>]>, run: &Context) -> Result<Matrix> {
        let classes = self.classes.len();
        mean_over(&self.parts, &self.columns, x, classes, drawn, run, |part, x, run| {
            shares_of(part, classes, x, run)
        })
    }

    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        members(&self.parts, &self.columns, schema, classes)
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        let fits = columns_fit(&self.columns, self.parts.len(), self.schema.len())
            && !self.classes.is_empty()
            && self.oob_score.is_none_or(|score| (0.0..=1.0).contains(&score));
        if fits { Ok(()) } else { Err(invalid("members that do not fit the columns")) }
    }
}

impl Classifier for BaggingClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.mean(x, None, run)
    }
}
