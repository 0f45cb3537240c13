//! Blocks that are checked before a learner sees them.

use crate::context::Context;
use crate::data::{Column, ColumnKind, Dataset};
use crate::error::Result;
use crate::estimator::AnyEstimator;
use crate::rounds::{Block, Outline, Singles, Source};
use std::sync::atomic::{AtomicBool, Ordering};

/// A source whose blocks are checked as `Estimator::fit` checks the whole, before the learner sees them:
/// in every pass, or once where they stay in memory.
pub fn checked<'a>(source: &'a dyn Source, learner: &'a dyn AnyEstimator) -> impl Source + 'a {
    Checked::new(source, learner, true)
}

pub(super) struct Checked<'a> {
    source: &'a dyn Source,
    learner: &'a dyn AnyEstimator,
    /// Whether values are looked at, or left to a learner that notices what it refuses.
    values: bool,
    /// The blocks in memory that have passed.
    passed: Vec<AtomicBool>,
}

impl<'a> Checked<'a> {
    pub(super) fn new(source: &'a dyn Source, learner: &'a dyn AnyEstimator, values: bool) -> Self {
        let blocks = if source.in_memory() { source.blocks() } else { 0 };
        let passed = (0..blocks).map(|_| AtomicBool::new(false)).collect();
        Checked { source, learner, values, passed }
    }

    /// The first thing that is wrong in any block.
    pub(super) fn first_error(&self) -> Result<()> {
        (0..self.source.blocks()).try_for_each(|index| self.with(index, &mut |_| Ok(())))
    }
}

impl Source for Checked<'_> {
    fn outline(&self) -> Outline<'_> {
        self.source.outline()
    }
    fn blocks(&self) -> u64 {
        self.source.blocks()
    }
    fn in_memory(&self) -> bool {
        self.source.in_memory()
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        let passed = self.passed.get(index as usize);
        if passed.is_some_and(|passed| passed.load(Ordering::Relaxed)) {
            return self.source.with(index, f);
        }
        // Blocks are already spread over the threads.
        let alone = Context::default().with_threads(1);
        let (accepts, needs_target) =
            (self.learner.any_accepts(), self.learner.any_roles().needs_target());
        let check = |data: &Dataset, first_row: u64| {
            match self.values {
                true => data.check_block(first_row, accepts, needs_target, &alone),
                false => data.check_around(first_row, accepts, needs_target),
            }?;
            if let Some(passed) = passed {
                passed.store(true, Ordering::Relaxed);
            }
            Ok(())
        };
        self.source.with_checked(index, &check, f)
    }
    fn singles(&self, index: u64) -> Option<Singles<'_>> {
        // Only where all that remains to be checked is in the schema: the learner notices the rest.
        let numbers = |column: &Column| column.kind == ColumnKind::Numeric;
        let outline = self.outline();
        let checked = !self.values && outline.schema.columns().iter().all(numbers);
        checked.then(|| self.source.singles(index)).flatten()
    }
}
