//! Learners on the same splits, where some could not be built: each keeps its place.
//!
//! A pipeline is taken apart into its last step and what stands before it, so that settings that
//! differ in the last step share the others.

use crate::metrics::Metric;
use crate::select::cross_validate::{CrossValidation, Entrant, Fold, Ledger, Manner, Trials};
use crate::select::folds::Split;
use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;

/// What learners are cross-validated on.
#[derive(Clone, Copy)]
pub struct Each<'a> {
    /// What is fitted in front of all of them.
    pub preparation: Option<&'a dyn AnyEstimator>,
    /// The rows.
    pub data: &'a Dataset<'a>,
    /// Training and test rows.
    pub splits: &'a [Split],
    /// What is measured.
    pub metrics: &'a [&'static Metric],
    /// What is known, and who is told.
    pub ledger: &'a dyn Ledger,
    /// How fits run.
    pub manner: Manner,
}

impl Each<'_> {
    /// The folds of every learner, or why it could not start.
    pub fn run(
        &self,
        learners: Vec<Result<Box<dyn AnyEstimator>>>,
        run: &Context,
    ) -> Result<Vec<Result<CrossValidation>>> {
        let ready = |learner: Box<dyn AnyEstimator>| {
            learner.check().map_err(|error| error.within(learner.about().name()))?;
            Parts::of(learner, self.preparation.is_none())
        };
        let parts: Vec<Result<Parts>> =
            learners.into_iter().map(|learner| learner.and_then(ready)).collect();
        let places: Vec<usize> = (0..parts.len()).filter(|&i| parts[i].is_ok()).collect();
        let entrants: Vec<Entrant> = parts
            .iter()
            .filter_map(|parts| parts.as_ref().ok())
            .map(|parts| Entrant {
                preparation: parts.first.as_deref().or(self.preparation),
                learner: parts.last.as_ref(),
            })
            .collect();
        let ledger = &Moved { ledger: self.ledger, places: &places };
        let Each { data, splits, metrics, manner, .. } = *self;
        let trials =
            Trials { entrants: &entrants, data, splits, scoring: metrics.into(), ledger, manner };
        let mut results = trials.run(run)?.into_iter();
        let missing = || Error::internal("a learner without its result");
        parts
            .iter()
            .map(|parts| match parts {
                Ok(_) => results.next().ok_or_else(missing).map(Ok),
                Err(error) => Ok(Err(error.clone())),
            })
            .collect()
    }
}

/// A ledger that knows learners by their places among all.
struct Moved<'a> {
    ledger: &'a dyn Ledger,
    places: &'a [usize],
}

impl Ledger for Moved<'_> {
    fn known(&self, entrant: usize, split: usize) -> Option<Fold> {
        self.ledger.known(self.places[entrant], split)
    }
    fn begun(&self, entrant: usize, split: usize) -> Result<()> {
        self.ledger.begun(self.places[entrant], split)
    }
    fn ended(&self, entrant: usize, split: usize, fold: &Fold) -> Result<()> {
        self.ledger.ended(self.places[entrant], split, fold)
    }
}

/// A learner in two: all steps of a pipeline but the last, and the last.
struct Parts {
    first: Option<Box<dyn AnyEstimator>>,
    last: Box<dyn AnyEstimator>,
}

impl Parts {
    fn of(learner: Box<dyn AnyEstimator>, apart: bool) -> Result<Parts> {
        if !apart || learner.about().path != "pipeline.Pipeline" {
            return Ok(Parts { first: None, last: learner });
        }
        let spec = LearnerSpec::of(learner.as_ref());
        let steps = spec.params.iter().find(|(name, _)| name == "steps").map(|(_, steps)| steps);
        let steps: &[Value] = match steps {
            Some(Value::List(steps)) => steps,
            _ => &[],
        };
        let last = match steps.split_last() {
            Some((Value::List(pair), [_, ..])) => pair.get(1),
            _ => None,
        };
        let Some(Value::Learner(last)) = last else {
            return Ok(Parts { first: None, last: learner });
        };
        let before = Value::List(steps[..steps.len() - 1].to_vec());
        let first =
            LearnerSpec { learner: spec.learner.clone(), params: vec![("steps".into(), before)] };
        Ok(Parts { first: Some(crate::build(&first)?), last: crate::build(last)? })
    }
}
