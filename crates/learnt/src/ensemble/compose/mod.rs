//! Ensembles of any learners: bagging, AdaBoost, votes, stacks.

mod ada_boost_classifier;
mod ada_boost_mh;
mod ada_boost_regressor;
mod bagging;
mod bagging_classifier;
mod bagging_regressor;
mod bumping;
mod simplex_regressor;
mod stacking;
mod stacking_classifier;
mod stacking_regressor;
mod stagewise;
mod voting_classifier;
mod voting_regressor;

#[cfg(test)]
mod tests;

pub use ada_boost_classifier::{AdaBoostAlgorithm, AdaBoostClassifier, AdaBoostClassifierModel};
pub use ada_boost_mh::{AdaBoostMHClassifier, AdaBoostMHClassifierModel};
pub use ada_boost_regressor::{AdaBoostLoss, AdaBoostRegressor, AdaBoostRegressorModel};
pub use bagging::{BaggingShare, BaggingSize};
pub use bagging_classifier::{BaggingClassifier, BaggingClassifierModel};
pub use bagging_regressor::{BaggingRegressor, BaggingRegressorModel};
pub use bumping::{
    BumpingClassifier, BumpingClassifierModel, BumpingRegressor, BumpingRegressorModel,
};
pub use simplex_regressor::{SimplexRegressor, SimplexRegressorModel, WeightConstraint};
pub use stacking::StackMethod;
pub use stacking_classifier::{StackingClassifier, StackingClassifierModel};
pub use stacking_regressor::{StackingRegressor, StackingRegressorModel};
pub use stagewise::{
    MarginLoss, StagewiseClassifier, StagewiseClassifierModel, StagewiseLoss, StagewiseRegressor,
    StagewiseRegressorModel,
};
pub use voting_classifier::{Voting, VotingClassifier, VotingClassifierModel};
pub use voting_regressor::{VotingRegressor, VotingRegressorModel};

use crate::learner::{Fitted, Learner, Named};
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// What all of several learners take.
fn accepts_of_all<'a>(learners: impl Iterator<Item = &'a Learner>) -> Accepts {
    let all = Accepts {
        missing: true,
        infinite: true,
        categories: true,
        weights: true,
        many_outputs: false,
        sequences: false,
        volumes: false,
        groups: false,
    };
    learners.map(|learner| learner.any_accepts()).fold(all, both)
}

/// What all of several models take.
fn accepts_of_parts(parts: &[Fitted]) -> Accepts {
    let first = parts.first().map(Fitted::accepts).unwrap_or_default();
    parts.iter().map(Fitted::accepts).fold(Accepts { many_outputs: false, ..first }, both)
}

/// What both take.
pub(super) fn both(a: Accepts, b: Accepts) -> Accepts {
    Accepts {
        missing: a.missing && b.missing,
        infinite: a.infinite && b.infinite,
        categories: a.categories && b.categories,
        weights: a.weights && b.weights,
        many_outputs: a.many_outputs && b.many_outputs,
        sequences: a.sequences && b.sequences,
        volumes: a.volumes && b.volumes,
        groups: a.groups && b.groups,
    }
}

/// Fits each named learner, side by side.
fn fit_all(learners: &[Named<Learner>], data: &Dataset, run: &Context) -> Result<Vec<Fitted>> {
    run.try_par_map(learners.len(), |k| {
        let Named { name, value } = &learners[k];
        Fitted::fit(&**value, name, data, &run.child(k as u64))
    })
}

/// Names that are not empty, not twice and without the mark of nested names.
fn check_names(learners: &[Named<Learner>]) -> Result<()> {
    for (k, Named { name, .. }) in learners.iter().enumerate() {
        let wrong = name.is_empty() || name.contains("__");
        if wrong || learners[..k].iter().any(|other| other.name == *name) {
            let expected = "names that differ, without `__`";
            return Err(Error::parameter("estimators", expected, format!("'{name}'")));
        }
    }
    Ok(())
}

/// One weight a learner, none negative, some positive; equal ones if none are given.
fn check_weights(weights: Option<&[f64]>, count: usize) -> Result<Vec<f64>> {
    let Some(weights) = weights else { return Ok(vec![1.0; count]) };
    let fits = weights.len() == count
        && weights.iter().all(|w| w.is_finite() && *w >= 0.0)
        && weights.iter().any(|w| *w > 0.0);
    match fits {
        true => Ok(weights.to_vec()),
        false => {
            let expected = format!("{count} numbers >= 0, one a learner, some above 0");
            Err(Error::parameter("weights", expected, format!("{weights:?}")))
        }
    }
}

fn parts_of<'a>(parts: &'a [Fitted], schema: &Schema, classes: &[Label]) -> Vec<FittedPart<'a>> {
    parts.iter().map(|part| part.part(schema.clone(), classes)).collect()
}

/// The classes that a part says, which must be known.
fn codes_of(part: &Fitted, classes: usize, x: &Frame, run: &Context) -> Result<Vec<u32>> {
    let codes = part.classifier()?.classify_in(x, run)?;
    match codes.iter().all(|&code| (code as usize) < classes) {
        true => Ok(codes),
        false => Err(Error::internal("a part that knows other classes")),
    }
}

/// Probabilities of a part, or a row of one 1 where it has none.
fn shares_of(part: &Fitted, classes: usize, x: &Frame, run: &Context) -> Result<Matrix> {
    let model = part.classifier()?;
    let shares = match model.probabilities_in(x, run) {
        Err(error) if error.code() == Code::Unsupported => {
            let mut shares = Matrix::zeros(x.nrows(), classes);
            for (i, code) in codes_of(part, classes, x, run)?.into_iter().enumerate() {
                shares[(i, code as usize)] = 1.0;
            }
            shares
        }
        shares => shares?,
    };
    match shares.ncols() == classes {
        true => Ok(shares),
        false => Err(Error::internal("a part that knows other classes")),
    }
}

/// The one number a row that a part predicts.
fn predictions_of(part: &Fitted, x: &Frame, run: &Context) -> Result<Vec<f64>> {
    let model = part.model.as_regressor().ok_or_else(|| {
        Error::unsupported(format!("'{}' ({}) is not a regressor", part.name, part.about.name()))
    })?;
    Ok(model.predict_in(x, run)?.into_vec())
}

fn check_classifiers(parts: &[Fitted]) -> Result<()> {
    match !parts.is_empty() && parts.iter().all(|part| part.model.as_classifier().is_some()) {
        true => Ok(()),
        false => Err(invalid("members that are no classifiers")),
    }
}

fn check_regressors(parts: &[Fitted]) -> Result<()> {
    match !parts.is_empty() && parts.iter().all(|part| part.model.as_regressor().is_some()) {
        true => Ok(()),
        false => Err(invalid("members that are no regressors")),
    }
}

/// Members by name with a number for each.
fn member_report(title: &str, parts: &[Fitted], head: &str, numbers: &[f64]) -> Answer {
    const SHOWN: usize = 50;
    let mut report = Answer::new(title);
    let mut table = Columns::new("Members", &["member", "learner", head]);
    for (part, number) in parts.iter().zip(numbers).take(SHOWN) {
        table.push(vec![
            Cell::Text(part.name.clone()),
            Cell::Text(part.about.name().to_string()),
            Cell::Number(*number),
        ]);
    }
    report.tables.push(table);
    report.push("members", parts.len());
    report
}
