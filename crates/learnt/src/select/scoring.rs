//! What models are scored by, and how their classes are decided.

use crate::metrics::{Decision, Metric};

/// Above this many classes their confusions are not kept.
pub(super) const COUNTED: usize = 50;

/// What is measured, and how classes are decided.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'a> {
    /// The metrics; the first decides.
    pub metrics: &'a [&'static Metric],
    /// The positive class, and how classes follow from probabilities; as the models have it without.
    pub decision: Option<&'a Decision>,
}

impl<'a> From<&'a [&'static Metric]> for Scoring<'a> {
    fn from(metrics: &'a [&'static Metric]) -> Self {
        Scoring { metrics, decision: None }
    }
}

impl<'a> From<&'a Vec<&'static Metric>> for Scoring<'a> {
    fn from(metrics: &'a Vec<&'static Metric>) -> Self {
        Scoring { metrics, decision: None }
    }
}

impl<'a, const N: usize> From<&'a [&'static Metric; N]> for Scoring<'a> {
    fn from(metrics: &'a [&'static Metric; N]) -> Self {
        Scoring { metrics, decision: None }
    }
}
