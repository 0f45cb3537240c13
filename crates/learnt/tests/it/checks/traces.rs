//! Traces: a learner that iterates gives its objective after each iteration.

use super::{easy, fit, fit_in, for_each};
use learnt::compose::Pipeline;
use learnt::context::{Traced, loss_curve};
use learnt::prelude::*;

/// The objectives of each stage, in the order of the stages.
fn stages(trace: &[Traced]) -> Vec<Vec<f64>> {
    let same = |a: &Traced, b: &Traced| a.stage == b.stage;
    trace.chunk_by(same).map(|part| part.iter().map(|t| t.objective).collect()).collect()
}

/// Whether a curve only falls or only rises, but for rounding.
fn never_turns_back(curve: &[f64]) -> bool {
    let slack = 1e-9 * curve.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let falls = curve.windows(2).all(|pair| pair[1] <= pair[0] + slack);
    falls || curve.windows(2).all(|pair| pair[1] >= pair[0] - slack)
}

#[test]
fn learners_that_iterate_have_a_finite_trace_and_monotone_ones_never_turn_back() {
    for_each("trace", |entry, learner| {
        let uses = entry.about.uses;
        let data = easy(60, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let trace = &trained.outcome.trace;
        match () {
            () if uses.monotone && !uses.iterations => Err("monotone without iterations".into()),
            () if uses.iterations && trace.is_empty() => Err("no objective".into()),
            () if trace.iter().any(|t| !t.objective.is_finite()) => Err(format!("{trace:?}")),
            () if uses.monotone && !stages(trace).iter().all(|curve| never_turns_back(curve)) => {
                Err(format!("turns back: {trace:?}"))
            }
            () => Ok(()),
        }
    });
}

#[test]
fn a_trace_does_not_depend_on_threads() {
    for_each("trace", |_, learner| {
        let data = easy(60, learner.any_roles());
        let trace = |threads| {
            let run = Context::default().with_threads(threads);
            fit_in(learner, &data.view(), &run).map(|trained| trained.outcome.trace)
        };
        match (trace(1), trace(4)) {
            (Ok(one), Ok(four)) if one == four => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

#[test]
fn a_maximum_number_of_iterations_means_iterations() {
    for_each("trace", |entry, learner| {
        let limit = learner.specs().iter().find(|spec| spec.name == "max_iter");
        match limit.is_some_and(|spec| spec.default != Value::Null) && !entry.about.uses.iterations
        {
            true => Err("max_iter, and its facts do not say that it iterates".into()),
            false => Ok(()),
        }
    });
}

#[test]
fn a_pipeline_has_the_trace_of_its_last_step() {
    let data = easy(60, Roles { classifier: true, ..Roles::NONE });
    let learner = learnt::linear::LogisticRegression::default();
    let alone = fit(&learner, &data.view()).unwrap();
    let pipeline = Pipeline::default().then("model", learner);
    let inside = fit(&pipeline, &data.view()).unwrap();
    assert!(loss_curve(&inside.outcome.trace).len() > 2);
    assert_eq!(loss_curve(&inside.outcome.trace), loss_curve(&alone.outcome.trace));
}
