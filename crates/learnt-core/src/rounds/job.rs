//! Rounds with their types erased, and the loop that runs them.

use super::{Block, Checkpoint, FitBy, Merge, Merger, Outline, Rounds, Singles, Source, Step};
use crate::context::{Context, Progress, Recorder};
use crate::error::{Error, Result};
use crate::estimator::Model;
use crate::persist::{Node, Stored};
use std::any::Any;
use std::sync::{Mutex, PoisonError};

/// Soft memory beside a block between rounds: losing it may cost time, never a bit.
#[derive(Default)]
pub struct Memo(Option<Box<dyn Any + Send>>);

impl Memo {
    /// What was kept, if it is of this type; else a new value.
    pub fn of<T: Default + Send + 'static>(&mut self) -> &mut T {
        let kept = self.0.as_ref().is_some_and(|kept| kept.is::<T>());
        if !kept {
            self.0 = Some(Box::new(T::default()));
        }
        match self.0.as_mut().and_then(|kept| kept.downcast_mut()) {
            Some(value) => value,
            None => unreachable!("the memo was just made"),
        }
    }
}

/// A state, summary or result whose type only its job knows.
pub struct Erased(Box<dyn Held>);

trait Held: Send + Sync {
    fn node(&self) -> Result<Node>;
    fn value(&self) -> &dyn Any;
    /// Moves the value into a slot, an `Option` of its type.
    fn move_to(self: Box<Self>, slot: &mut dyn Any);
}

/// A value with the function that stores it.
struct Holder<T> {
    value: T,
    store: fn(&T) -> Result<Node>,
}

impl<T: Send + Sync + 'static> Held for Holder<T> {
    fn node(&self) -> Result<Node> {
        (self.store)(&self.value)
    }
    fn value(&self) -> &dyn Any {
        &self.value
    }
    fn move_to(self: Box<Self>, slot: &mut dyn Any) {
        if let Some(slot) = slot.downcast_mut() {
            *slot = Some(self.value);
        }
    }
}

impl Erased {
    /// Hides a state or a summary.
    pub fn new<T: Stored + Send + Sync + 'static>(value: T) -> Self {
        Self::stored_by(value, |value| Ok(value.to_node()))
    }

    /// Hides a state or a summary that needs its job to be read back.
    pub fn stored_by<T: Send + Sync + 'static>(value: T, store: fn(&T) -> Result<Node>) -> Self {
        Erased(Box::new(Holder { value, store }))
    }

    /// Hides a result, which is never stored.
    pub fn result<T: Send + Sync + 'static>(value: T) -> Self {
        let refuse = |_: &T| Err(Error::internal("a result is not stored between rounds"));
        Erased(Box::new(Holder { value, store: refuse }))
    }

    /// The value, if it is of this type.
    pub fn get<T: 'static>(&self) -> Result<&T> {
        self.0.value().downcast_ref().ok_or_else(wrong_type)
    }

    /// The value, given away, if it is of this type.
    pub fn take<T: 'static>(self) -> Result<T> {
        let mut slot: Option<T> = None;
        self.0.move_to(&mut slot);
        slot.ok_or_else(wrong_type)
    }

    /// The stored form of a state or summary.
    pub fn to_node(&self) -> Result<Node> {
        self.0.node()
    }
}

fn wrong_type() -> Error {
    Error::internal("a summary of another job")
}

/// A fit by rounds with its types erased. Implemented once for every [`Rounds`]; pipelines and
/// column transformers have their own.
pub trait Job: Send + Sync {
    /// The state before the first round.
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased>;
    /// What blocks must know, where that is far less than the state.
    fn for_tasks(&self, _state: &Erased) -> Result<Option<Erased>> {
        Ok(None)
    }
    /// The summary of one block.
    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased>;
    /// The summary of a block from its memo alone, where that holds all of it.
    fn recall(&self, _state: &Erased, _memo: &mut Memo, _run: &Context) -> Option<Result<Erased>> {
        None
    }
    /// Whether memos pay beside blocks of files too.
    fn remembers(&self) -> bool {
        false
    }
    /// Whether the learner's own `train` in memory is faster, with the same bits.
    fn whole_is_faster(&self) -> bool {
        false
    }
    /// The summary of rows in single precision, if they need not be converted first.
    fn summarize_singles(&self, _state: &Erased, _rows: &Singles) -> Option<Result<Erased>> {
        None
    }
    /// Two summaries into one.
    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased>;
    /// The next state, or the result.
    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>>;
    /// The model that a result is.
    fn model(&self, done: Erased) -> Result<Box<dyn Model>>;
    /// A state from its stored form.
    fn read_state(&self, node: &Node) -> Result<Erased>;
    /// A summary from its stored form.
    fn read_summary(&self, node: &Node) -> Result<Erased>;
}

/// Rounds whose result is what they leave.
pub(super) struct TypedJob<R>(pub(super) R);

impl<R: Rounds> Job for TypedJob<R> {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        self.0.begin(outline, run).map(Erased::new)
    }

    fn for_tasks(&self, state: &Erased) -> Result<Option<Erased>> {
        Ok(self.0.for_tasks(state.get()?).map(Erased::new))
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        self.0.summarize(state.get()?, block, memo, run).map(Erased::new)
    }

    fn recall(&self, state: &Erased, memo: &mut Memo, run: &Context) -> Option<Result<Erased>> {
        let state = state.get().ok()?;
        self.0.recall(state, memo, run).map(|found| found.map(Erased::new))
    }

    fn remembers(&self) -> bool {
        R::REMEMBERS
    }

    fn whole_is_faster(&self) -> bool {
        self.0.whole_is_faster()
    }

    fn summarize_singles(&self, state: &Erased, rows: &Singles) -> Option<Result<Erased>> {
        match state.get() {
            Ok(state) => Some(self.0.summarize_singles(state, rows)?.map(Erased::new)),
            Err(error) => Some(Err(error)),
        }
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        let earlier: R::Summary = earlier.take()?;
        earlier.merge(later.take()?).map(Erased::new)
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        Ok(match self.0.advance(state.take()?, all.take()?, run)? {
            Step::Again(state) => Step::Again(Erased::new(state)),
            Step::Done(output) => Step::Done(Erased::result(output)),
        })
    }

    fn model(&self, _: Erased) -> Result<Box<dyn Model>> {
        Err(Error::internal("an engine's result is not a model"))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        R::State::from_node(node).map(Erased::new)
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        R::Summary::from_node(node).map(Erased::new)
    }
}

/// Rounds whose result becomes a learner's model.
pub(super) struct FitJob<E, R> {
    learner: E,
    rounds: TypedJob<R>,
}

impl<R: Rounds, E: FitBy<R>> FitJob<E, R> {
    pub(super) fn new(learner: E) -> Self {
        FitJob { rounds: TypedJob(learner.rounds()), learner }
    }
}

impl<R: Rounds, E: FitBy<R>> Job for FitJob<E, R> {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        self.learner.admit(outline)?;
        self.rounds.begin(outline, run)
    }

    fn for_tasks(&self, state: &Erased) -> Result<Option<Erased>> {
        self.rounds.for_tasks(state)
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        self.rounds.summarize(state, block, memo, run)
    }

    fn recall(&self, state: &Erased, memo: &mut Memo, run: &Context) -> Option<Result<Erased>> {
        self.rounds.recall(state, memo, run)
    }

    fn remembers(&self) -> bool {
        self.rounds.remembers()
    }

    fn whole_is_faster(&self) -> bool {
        self.rounds.whole_is_faster()
    }

    fn summarize_singles(&self, state: &Erased, rows: &Singles) -> Option<Result<Erased>> {
        self.rounds.summarize_singles(state, rows)
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        self.rounds.merge(earlier, later)
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        self.rounds
            .advance(state, all, run)?
            .try_map(|output| self.learner.model(output.take()?, run).map(Erased::result))
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        Ok(Box::new(done.take::<E::Model>()?))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        self.rounds.read_state(node)
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        self.rounds.read_summary(node)
    }
}

/// Runs a job over a source to its end.
pub fn drive(job: &dyn Job, source: &dyn Source, run: &Context) -> Result<Erased> {
    drive_kept(job, source, None, run)
}

/// Where a fit is kept between and inside rounds, with the warnings so far.
pub type Kept<'a> = (&'a Checkpoint, &'a Recorder<'a>);

/// The same, from where a killed fit was.
pub fn drive_kept(
    job: &dyn Job,
    source: &dyn Source,
    kept: Option<Kept>,
    run: &Context,
) -> Result<Erased> {
    let outline = source.outline();
    let blocks = source.blocks();
    let memos: Vec<Mutex<Memo>> = match source.in_memory() || job.remembers() {
        true => (0..blocks).map(|_| Mutex::default()).collect(),
        false => Vec::new(),
    };
    let found = match kept {
        Some((checkpoint, recorder)) => checkpoint.read(job, blocks, recorder)?,
        None => None,
    };
    let mut round = match found {
        Some(found) => found,
        None => Round::new(1, job.begin(&outline, run)?, blocks),
    };
    loop {
        run.progress(&Progress {
            stage: "pass over the data",
            done: round.round,
            total: None,
            objective: None,
        })?;
        round.keep(kept)?;
        while round.done < blocks {
            round.summarize_some(job, source, blocks, &memos, run)?;
            round.keep(kept)?;
        }
        match job.advance(round.state, round.merger.total()?, run)? {
            Step::Again(state) => round = Round::new(round.round + 1, state, blocks),
            Step::Done(model) => return Ok(model),
        }
    }
}

/// The summary of one block: from its memo where that is enough, else from its rows.
pub(super) fn summary_of(
    job: &dyn Job,
    state: &Erased,
    source: &dyn Source,
    index: u64,
    memo: &mut Memo,
    run: &Context,
) -> Result<Erased> {
    if let Some(recalled) = job.recall(state, memo, run) {
        return recalled;
    }
    let mut summary = None;
    source.with(index, &mut |block| {
        summary = Some(job.summarize(state, block, memo, run)?);
        Ok(())
    })?;
    summary.ok_or_else(|| Error::internal("a source without its block"))
}

/// A round at work: blocks before `done` are summarised and merged.
pub(super) struct Round {
    pub(super) round: u64,
    pub(super) state: Erased,
    pub(super) merger: Merger<Erased>,
    pub(super) done: u64,
}

impl Round {
    fn new(round: u64, state: Erased, blocks: u64) -> Round {
        Round { round, state, merger: Merger::new(blocks), done: 0 }
    }

    fn keep(&self, kept: Option<Kept>) -> Result<()> {
        match kept {
            None => Ok(()),
            Some((checkpoint, recorder)) => checkpoint.write(self, recorder),
        }
    }

    /// Summarises a few blocks at a time, so that memory holds only those.
    fn summarize_some(
        &mut self,
        job: &dyn Job,
        source: &dyn Source,
        blocks: u64,
        memos: &[Mutex<Memo>],
        run: &Context,
    ) -> Result<()> {
        let window = if source.in_memory() { 8 * run.threads() } else { run.threads() } as u64;
        let (first, state) = (self.done, &self.state);
        let count = window.min(blocks - first);
        let parts = run.try_par_map(count as usize, |k| {
            let index = first + k as u64;
            let singles = source.singles(index);
            if let Some(summary) = singles.and_then(|rows| job.summarize_singles(state, &rows)) {
                return summary;
            }
            let mut fresh = Memo::default();
            let mut held = memos
                .get(index as usize)
                .map(|memo| memo.lock().unwrap_or_else(PoisonError::into_inner));
            let memo = held.as_deref_mut().unwrap_or(&mut fresh);
            summary_of(job, state, source, index, memo, run)
        })?;
        for (k, part) in parts.into_iter().enumerate() {
            self.merger.add(first + k as u64, part, |earlier, later| job.merge(earlier, later))?;
        }
        self.done += count;
        run.progress(&Progress {
            stage: "blocks",
            done: self.done,
            total: Some(blocks),
            objective: None,
        })
    }
}
