//! Fits that are rounds of a mergeable summary: the same code on threads, on files larger than
//! memory and on a cluster, with the same bits.
//!
//! Rows are cut into blocks by their number alone ([`block_rows`]). Every block is summarised, and
//! summaries merge along one binary tree ([`Merger`]), whoever computed them and in whatever order
//! they arrive. Between rounds only the state is kept.

use crate::context::{Context, Progress};
use crate::data::{Dataset, Label, Schema, Target};
use crate::error::{Error, Result};
use crate::estimator::{Estimator, Model};
use crate::persist::Stored;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Rows of a block: 16,384, and a smaller power of two for tables wider than 128 columns.
pub fn block_rows(columns: usize) -> usize {
    const ROWS: usize = 16_384;
    const VALUES: usize = ROWS * 128;
    let mut rows = ROWS;
    while rows > 256 && rows * columns > VALUES {
        rows /= 2;
    }
    rows
}

/// Some rows of the table, cut by number.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Which block.
    pub index: u64,
    /// The number of its first row in the whole table.
    pub first_row: u64,
    /// The rows.
    pub data: Dataset<'a>,
}

/// Two summaries into one; `self` is of earlier rows.
pub trait Merge: Sized {
    /// The summary of both.
    fn merge(self, later: Self) -> Result<Self>;
}

/// What happens after a round.
pub enum Step<S, M> {
    /// Another round from this state.
    Again(S),
    /// The model is ready.
    Done(M),
}

/// What is known before the first row is read.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'a> {
    /// The input columns.
    pub schema: &'a Schema,
    /// Number of rows.
    pub rows: u64,
    /// Number of numeric targets; 0 without one.
    pub outputs: usize,
    /// Classes of the target, in order; empty without classes.
    pub classes: &'a [Label],
    /// Whether rows have weights.
    pub weighted: bool,
}

/// A fit as rounds. [`train`] and [`job`] make an [`Estimator`] of it.
pub trait Rounds: Estimator {
    /// What every block must know in a round; also the checkpoint.
    type State: Stored + Send + Sync + 'static;
    /// What comes back from a block.
    type Summary: Merge + Stored + Send + Sync + 'static;
    /// Soft memory beside a block between rounds: losing it may cost time, never a bit.
    type Memo: Default + Send + 'static;

    /// The state before the first round.
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Self::State>;

    /// The summary of one block.
    fn summarize(
        &self,
        state: &Self::State,
        block: &Block,
        memo: &mut Self::Memo,
        run: &Context,
    ) -> Result<Self::Summary>;

    /// The next state, or the model.
    fn advance(
        &self,
        state: Self::State,
        all: Self::Summary,
        run: &Context,
    ) -> Result<Step<Self::State, Self::Model>>;
}

/// A fit that is one round: a summary of the rows, and the model from it. Every `OnePass` is
/// [`Rounds`].
pub trait OnePass: Estimator {
    /// What comes back from a block.
    type Summary: Merge + Stored + Send + Sync + 'static;

    /// The summary of some rows.
    fn summary(&self, data: &Dataset) -> Self::Summary;

    /// The model from the summary of all rows.
    fn finish(&self, schema: &Schema, all: Self::Summary) -> Result<Self::Model>;
}

impl<T: OnePass> Rounds for T {
    type State = Schema;
    type Summary = <T as OnePass>::Summary;
    type Memo = ();

    fn begin(&self, outline: &Outline, _run: &Context) -> Result<Schema> {
        Ok(outline.schema.clone())
    }

    fn summarize(
        &self,
        _schema: &Schema,
        block: &Block,
        _memo: &mut (),
        _run: &Context,
    ) -> Result<Self::Summary> {
        Ok(self.summary(&block.data))
    }

    fn advance(
        &self,
        schema: Schema,
        all: Self::Summary,
        _run: &Context,
    ) -> Result<Step<Schema, Self::Model>> {
        self.finish(&schema, all).map(Step::Done)
    }
}

/// Merges summaries along the one tree: node (level, index) covers blocks
/// `index << level .. (index + 1) << level`.
pub struct Merger<T> {
    blocks: u64,
    held: BTreeMap<(u32, u64), T>,
}

impl<T> Merger<T> {
    /// For a table of this many blocks.
    pub fn new(blocks: u64) -> Self {
        Merger { blocks, held: BTreeMap::new() }
    }

    /// Adds the summary of a block and merges what has become complete.
    pub fn add(
        &mut self,
        block: u64,
        mut summary: T,
        merge: impl Fn(T, T) -> Result<T>,
    ) -> Result<()> {
        let (mut level, mut index) = (0_u32, block);
        while 1_u64 << level < self.blocks {
            let other = index ^ 1;
            let is_left = index & 1 == 0;
            let other_exists = other << level < self.blocks;
            if other_exists {
                match self.held.remove(&(level, other)) {
                    Some(found) if is_left => summary = merge(summary, found)?,
                    Some(found) => summary = merge(found, summary)?,
                    None => break,
                }
            }
            (level, index) = (level + 1, index >> 1);
        }
        self.held.insert((level, index), summary);
        Ok(())
    }

    /// The summary of all; an error if a block is missing.
    pub fn total(mut self) -> Result<T> {
        match (self.held.pop_first(), self.held.is_empty()) {
            (Some((_, total)), true) => Ok(total),
            _ => Err(Error::internal("a block's summary is missing")),
        }
    }
}

/// Where blocks come from: memory, a Parquet or CSV file, an engine's partition.
pub trait Source: Sync {
    /// What is known before reading rows.
    fn outline(&self) -> Outline<'_>;
    /// Whether blocks stay in memory, so that memos pay.
    fn in_memory(&self) -> bool {
        false
    }
    /// Lends one block to `f`.
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()>;
}

/// A data set in memory, as blocks.
pub struct InMemory<'a> {
    data: Dataset<'a>,
}

impl<'a> InMemory<'a> {
    /// Blocks of this data set.
    pub fn new(data: Dataset<'a>) -> Self {
        InMemory { data }
    }
}

impl Source for InMemory<'_> {
    fn outline(&self) -> Outline<'_> {
        let (outputs, classes): (usize, &[Label]) = match self.data.y {
            Some(Target::Real(values)) => (values.ncols(), &[]),
            Some(Target::Class { classes, .. }) => (0, classes),
            None => (0, &[]),
        };
        Outline {
            schema: self.data.x.schema(),
            rows: self.data.nrows() as u64,
            outputs,
            classes,
            weighted: self.data.weights.is_some(),
        }
    }

    fn in_memory(&self) -> bool {
        true
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        let size = block_rows(self.data.x.ncols());
        let start = index as usize * size;
        let end = (start + size).min(self.data.nrows());
        f(&Block { index, first_row: start as u64, data: self.data.rows(start, end) })
    }
}

/// A state, summary, memo or model whose type only its job knows.
pub struct Erased(Box<dyn Any + Send + Sync>);

impl Erased {
    /// Hides a value.
    pub fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Erased(Box::new(value))
    }

    /// The value, if it is of this type.
    pub fn get<T: 'static>(&self) -> Result<&T> {
        self.0.downcast_ref().ok_or_else(wrong_type)
    }

    /// The value, given away, if it is of this type.
    pub fn take<T: 'static>(self) -> Result<T> {
        self.0.downcast().map(|value| *value).map_err(|_| wrong_type())
    }
}

fn wrong_type() -> Error {
    Error::internal("a summary of another job")
}

/// A fit by rounds with its types erased. Implemented once for every [`Rounds`]; pipelines have
/// their own.
pub trait Job: Send + Sync {
    /// The state before the first round.
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased>;
    /// The summary of one block. `memo` starts as `None`.
    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Option<Box<dyn Any + Send>>,
        run: &Context,
    ) -> Result<Erased>;
    /// Two summaries into one.
    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased>;
    /// The next state, or the model.
    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>>;
    /// The finished model.
    fn model(&self, done: Erased) -> Result<Box<dyn Model>>;
}

struct TypedJob<R>(R);

impl<R: Rounds> Job for TypedJob<R> {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        self.0.begin(outline, run).map(Erased::new)
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Option<Box<dyn Any + Send>>,
        run: &Context,
    ) -> Result<Erased> {
        let memo = memo.get_or_insert_with(|| Box::new(R::Memo::default()));
        let memo = memo.downcast_mut::<R::Memo>().ok_or_else(wrong_type)?;
        self.0.summarize(state.get()?, block, memo, run).map(Erased::new)
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        let earlier: R::Summary = earlier.take()?;
        earlier.merge(later.take()?).map(Erased::new)
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        Ok(match self.0.advance(state.take()?, all.take()?, run)? {
            Step::Again(state) => Step::Again(Erased::new(state)),
            Step::Done(model) => Step::Done(Erased::new(model)),
        })
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        Ok(Box::new(done.take::<R::Model>()?))
    }
}

/// `Estimator::train` of a learner that is [`Rounds`].
pub fn train<R: Rounds>(learner: &R, data: &Dataset, run: &Context) -> Result<R::Model> {
    drive(&TypedJob(learner.clone()), &InMemory::new(*data), run)?.take()
}

/// `Estimator::job` of a learner that is [`Rounds`].
pub fn job<R: Rounds>(learner: &R) -> Option<Box<dyn Job>> {
    Some(Box::new(TypedJob(learner.clone())))
}

/// Runs a job over a source to its end.
pub fn drive(job: &dyn Job, source: &dyn Source, run: &Context) -> Result<Erased> {
    let outline = source.outline();
    let blocks = outline.rows.div_ceil(block_rows(outline.schema.len()) as u64);
    let memos: Vec<Mutex<Option<Box<dyn Any + Send>>>> = match source.in_memory() {
        true => (0..blocks).map(|_| Mutex::new(None)).collect(),
        false => Vec::new(),
    };
    let mut state = job.begin(&outline, run)?;
    for round in 1_u64.. {
        run.progress(&Progress {
            stage: "pass over the data",
            done: round,
            total: None,
            objective: None,
        })?;
        let all = summarize_all(job, source, &state, blocks, &memos, run)?;
        match job.advance(state, all, run)? {
            Step::Again(next) => state = next,
            Step::Done(model) => return Ok(model),
        }
    }
    Err(Error::internal("rounds without end"))
}

/// One round. A few blocks at a time, so that memory holds only those.
fn summarize_all(
    job: &dyn Job,
    source: &dyn Source,
    state: &Erased,
    blocks: u64,
    memos: &[Mutex<Option<Box<dyn Any + Send>>>],
    run: &Context,
) -> Result<Erased> {
    let window = if source.in_memory() { 8 * run.threads() } else { run.threads() } as u64;
    let mut merger = Merger::new(blocks);
    let mut first = 0;
    while first < blocks {
        let count = window.min(blocks - first);
        let parts = run.try_par_map(count as usize, |k| {
            let index = first + k as u64;
            let mut fresh = None;
            let mut held = memos
                .get(index as usize)
                .map(|memo| memo.lock().unwrap_or_else(PoisonError::into_inner));
            let memo = held.as_deref_mut().unwrap_or(&mut fresh);
            let mut summary = None;
            source.with(index, &mut |block| {
                summary = Some(job.summarize(state, block, memo, run)?);
                Ok(())
            })?;
            summary.ok_or_else(|| Error::internal("a source without its block"))
        })?;
        for (k, part) in parts.into_iter().enumerate() {
            merger.add(first + k as u64, part, |earlier, later| job.merge(earlier, later))?;
        }
        first += count;
        run.progress(&Progress {
            stage: "blocks",
            done: first,
            total: Some(blocks),
            objective: None,
        })?;
    }
    merger.total()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_of_arrival_gives_one_tree() {
        let merge = |a: String, b: String| Ok(format!("({a}{b})"));
        for blocks in 1..40_u64 {
            let forward: Vec<u64> = (0..blocks).collect();
            let shuffled: Vec<u64> = (0..blocks).map(|i| (i * 17 + 5) % blocks).collect();
            let expected = merged(blocks, &forward, merge);
            let mut distinct = shuffled.clone();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() as u64 == blocks {
                assert_eq!(merged(blocks, &shuffled, merge), expected);
            }
            let backward: Vec<u64> = (0..blocks).rev().collect();
            assert_eq!(merged(blocks, &backward, merge), expected);
        }
    }

    fn merged(
        blocks: u64,
        order: &[u64],
        merge: impl Fn(String, String) -> Result<String>,
    ) -> String {
        let mut merger = Merger::new(blocks);
        for &block in order {
            merger.add(block, format!("{block},"), &merge).unwrap();
        }
        merger.total().unwrap()
    }

    #[test]
    fn a_missing_block_is_noticed() {
        let mut merger = Merger::new(3);
        merger.add(0, 1, |a, b| Ok(a + b)).unwrap();
        merger.add(2, 1, |a, b| Ok(a + b)).unwrap();
        assert!(merger.total().is_err());
    }

    #[test]
    fn wide_tables_have_shorter_blocks() {
        assert_eq!(block_rows(1), 16_384);
        assert_eq!(block_rows(128), 16_384);
        assert_eq!(block_rows(129), 8_192);
        assert_eq!(block_rows(1_000_000), 256);
    }
}
