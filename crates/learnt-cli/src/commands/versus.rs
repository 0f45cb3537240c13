//! `learnt versus`: whether two models differ, by their predictions and by fitting their learners again.

use super::Call;
use super::answer::show;
use super::compare::{chosen_metrics, folds};
use super::predict::labelled_input;
use crate::ExitCode;
use crate::input;
use learnt::data::OwnedDataset;
use learnt::error::{Code, Error, Result};
use learnt::estimator::AnyEstimator;
use learnt::metrics::Task;
use learnt::params::LearnerSpec;
use learnt::select::{Contest, mcnemar};
use learnt::trained::{Missing, Trained};
use serde_json::json;

pub(crate) fn versus(call: &Call) -> Result<ExitCode> {
    let folds = folds(call)?;
    let repeats = call.args.get_one::<usize>("repeats").copied().unwrap_or(1).max(1);
    let paths = ["model", "other"].map(|name| call.text(name).unwrap_or_default());
    let (first, second) = (learnt::load(paths[0])?, learnt::load(paths[1])?);
    if first.history.classes != second.history.classes {
        let message = "the models have different classes, so they do not predict the same thing";
        return Err(Error::new(Code::Usage, message).hint("`learnt inspect` shows them"));
    }
    let input = input::read(call)?;
    let digest = input.digest.clone();
    let data = labelled_input(call, &first, input)?;
    let view = data.view();
    let metric = chosen_metrics(call, Task::of(&view), &view)?[0];
    let contest = Contest { metric, folds, repeats };
    let (one, two) = (learner(&first)?, learner(&second)?);
    let verdict = contest.run(one.as_ref(), two.as_ref(), &view, &call.run)?;
    let mut answer = verdict.report(paths, &contest);
    if !first.history.classes.is_empty() {
        let (a, b) = (right(&first, &data, call)?, right(&second, &data, call)?);
        let only = |x: &[bool], y: &[bool]| x.iter().zip(y).filter(|(x, y)| **x && !**y).count();
        let found = mcnemar(only(&a, &b) as u64, only(&b, &a) as u64, true);
        answer.push("models_only_first", found.only_first);
        answer.push("models_only_second", found.only_second);
        answer.push("models_mcnemar_pvalue", learnt::answer::Datum::P(found.pvalue));
        answer
            .notes
            .push("models_: McNemar's test of the models as they are on these rows".to_string());
        let trained_here = |model: &Trained| digest.is_some() && model.history.digest == digest;
        if trained_here(&first) || trained_here(&second) {
            answer.notes.push(
                "a model was trained on these rows: its own predictions here are no evidence"
                    .to_string(),
            );
        }
    }
    let facts = json!({ "models": paths, "data": call.text("data") });
    show(call, "versus", Some(call.run.seed()), facts, &answer, usize::MAX)?;
    Ok(ExitCode::SUCCESS)
}

/// The learner that a model was fitted by.
fn learner(trained: &Trained) -> Result<Box<dyn AnyEstimator>> {
    let learner = trained.about.path.to_string();
    learnt::build(&LearnerSpec { learner, params: trained.history.params.clone() })
}

/// Which rows a model predicts right.
fn right(trained: &Trained, data: &OwnedDataset, call: &Call) -> Result<Vec<bool>> {
    let view = data.view();
    let rows = trained.admit(&view.x, None, Missing::Error, &call.run)?;
    let classifier = trained.model.as_classifier().ok_or_else(|| {
        Error::unsupported(format!("{} predicts no classes", trained.about.name()))
    })?;
    let codes = classifier.classify_in(&rows.frame(), &call.run)?;
    Ok(codes.iter().zip(view.class_target()?.0).map(|(a, b)| a == b).collect())
}
