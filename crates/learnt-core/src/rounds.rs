//! Fits that are rounds of a mergeable summary: the same code on threads, on files larger than
//! memory and on a cluster, with the same bits.
//!
//! Rows are cut into blocks by their number alone ([`block_rows`]). Every block is summarised, and
//! summaries merge along one binary tree ([`Merger`]), whoever computed them and in whatever order
//! they arrive. Between rounds only the state is kept.
//!
//! A learner names its rounds once, as [`Estimator::Fit`]: `Self` if it is [`Rounds`], an engine
//! that other learners use too ([`FitBy`]), [`Pass<S>`] for one pass over a summary ([`OnePass`]),
//! or [`Whole`] if it needs the whole table in memory and writes its own `train`.

mod bytes;
mod checkpoint;
mod identity;
mod job;
mod merger;
mod source;

pub use bytes::{ByteJob, Finished, Fitting, Told};
pub use checkpoint::Checkpoint;
pub use identity::Identity;
pub use job::{Erased, Job, Kept, Memo, drive, drive_kept};
pub use merger::{LEAF_ROWS, Merger, tree_sums};
pub use source::{InMemory, SinglePrecision, Singles, Source};

use crate::context::Context;
use crate::data::{Dataset, Label, Matrix, Schema, Sequences, Target};
use crate::error::{Code, Error, Result};
use crate::estimator::Estimator;
use crate::persist::{Node, Stored};
use std::collections::BTreeMap;
use std::marker::PhantomData;

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

/// Two summaries into one; `self` is of earlier rows. `#[derive(Merge)]` merges field by field.
pub trait Merge: Sized {
    /// The summary of both.
    fn merge(self, later: Self) -> Result<Self>;
}

/// Both, which must be equal: a field that `#[merge(keep)]` marks.
pub fn same<T: PartialEq>(earlier: T, later: T) -> Result<T> {
    match earlier == later {
        true => Ok(earlier),
        false => Err(Error::internal("summaries of different tables")),
    }
}

/// Numbers merge to their sum.
macro_rules! sums {
    ($($t:ty),*) => {$(
        impl Merge for $t {
            fn merge(self, later: Self) -> Result<Self> {
                Ok(self + later)
            }
        }
    )*};
}
sums!(f64, u64, i64);

/// Lists of one length merge item by item.
impl<T: Merge> Merge for Vec<T> {
    fn merge(self, later: Self) -> Result<Self> {
        match self.len() == later.len() {
            true => self.into_iter().zip(later).map(|(a, b)| a.merge(b)).collect(),
            false => Err(Error::internal("summaries of different widths")),
        }
    }
}

impl Merge for Matrix {
    fn merge(mut self, later: Self) -> Result<Self> {
        if (self.nrows(), self.ncols()) != (later.nrows(), later.ncols()) {
            return Err(Error::internal("summaries of different shapes"));
        }
        let pairs = self.as_mut_slice().iter_mut().zip(later.as_slice());
        pairs.for_each(|(sum, value)| *sum += value);
        Ok(self)
    }
}

/// What only one side has is nobody's.
impl<T: Merge> Merge for Option<T> {
    fn merge(self, later: Self) -> Result<Self> {
        match (self, later) {
            (Some(earlier), Some(later)) => earlier.merge(later).map(Some),
            _ => Ok(None),
        }
    }
}

/// What happens after a round.
pub enum Step<S, M> {
    /// Another round from this state.
    Again(S),
    /// The result is ready.
    Done(M),
}

impl<S, M> Step<S, M> {
    /// The same step with another result.
    pub fn try_map<T>(self, f: impl FnOnce(M) -> Result<T>) -> Result<Step<S, T>> {
        Ok(match self {
            Step::Again(state) => Step::Again(state),
            Step::Done(result) => Step::Done(f(result)?),
        })
    }
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
    /// Number of blocks where these end with sequences; else rows are cut by number alone.
    pub cuts: Option<u64>,
}

impl<'a> Outline<'a> {
    /// Of a data set in memory.
    pub fn of(data: &Dataset<'a>) -> Self {
        let blocks = |sequences: Sequences| sequences.blocks(block_rows(data.x.ncols())).len();
        let cuts = data.sequences.map(|sequences| blocks(sequences) as u64);
        let rows = data.nrows() as u64;
        Outline { cuts, ..Outline::of_rows(data.x.schema(), rows, data.y, data.weights.is_some()) }
    }

    /// Of rows with these columns and this target, cut by number alone.
    pub fn of_rows(
        schema: &'a Schema,
        rows: u64,
        y: Option<Target<'a>>,
        weighted: bool,
    ) -> Outline<'a> {
        let (outputs, classes): (usize, &[Label]) = match y {
            Some(Target::Real(values)) => (values.ncols(), &[]),
            Some(Target::Class { classes, .. }) => (0, classes),
            None => (0, &[]),
        };
        Outline { schema, rows, outputs, classes, weighted, cuts: None }
    }

    /// Names of the input columns.
    pub fn names(&self) -> Vec<String> {
        self.schema.names().map(str::to_string).collect()
    }

    /// Names of the classes; an error without a target of classes.
    pub fn class_names(&self) -> Result<Vec<String>> {
        match self.classes {
            [] => Err(Error::new(Code::Target, "a target of classes is needed")),
            classes => Ok(classes.iter().map(ToString::to_string).collect()),
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.cuts.unwrap_or(self.rows.div_ceil(block_rows(self.schema.len()) as u64))
    }
}

/// An [`Outline`] that owns what it says, for states.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedOutline {
    schema: Schema,
    rows: u64,
    outputs: usize,
    classes: Vec<Label>,
    weighted: bool,
    cuts: Option<u64>,
}

impl From<&Outline<'_>> for OwnedOutline {
    fn from(outline: &Outline) -> Self {
        OwnedOutline {
            schema: outline.schema.clone(),
            rows: outline.rows,
            outputs: outline.outputs,
            classes: outline.classes.to_vec(),
            weighted: outline.weighted,
            cuts: outline.cuts,
        }
    }
}

impl OwnedOutline {
    /// What it says.
    pub fn view(&self) -> Outline<'_> {
        Outline {
            schema: &self.schema,
            rows: self.rows,
            outputs: self.outputs,
            classes: &self.classes,
            weighted: self.weighted,
            cuts: self.cuts,
        }
    }
}

impl Stored for OwnedOutline {
    fn to_node(&self) -> Node {
        Node::Map(BTreeMap::from([
            ("schema".to_string(), self.schema.to_node()),
            ("rows".to_string(), self.rows.to_node()),
            ("outputs".to_string(), self.outputs.to_node()),
            ("classes".to_string(), self.classes.to_node()),
            ("weighted".to_string(), self.weighted.to_node()),
            ("cuts".to_string(), self.cuts.to_node()),
        ]))
    }
    fn from_node(node: &Node) -> Result<Self> {
        node.only("outline", &["schema", "rows", "outputs", "classes", "weighted", "cuts"])?;
        Ok(OwnedOutline {
            schema: node.field("schema")?,
            rows: node.field("rows")?,
            outputs: node.field("outputs")?,
            classes: node.field("classes")?,
            weighted: node.field("weighted")?,
            cuts: node.field("cuts")?,
        })
    }
}

/// Which values that are not finite a fit cannot overlook, because its sums are not finite then and it
/// fails: the table needs no pass of its own to look for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notices {
    /// None for certain.
    #[default]
    Nothing,
    /// Infinities; missing values may pass.
    Infinite,
    /// Infinities and missing values.
    All,
}

impl Notices {
    /// Whether nothing that is refused can be overlooked.
    pub fn covers(self, missing_allowed: bool) -> bool {
        match self {
            Notices::Nothing => false,
            Notices::Infinite => missing_allowed,
            Notices::All => !missing_allowed,
        }
    }
}

/// A fit as rounds: of a learner, or of an engine that several learners use.
pub trait Rounds: Clone + Send + Sync + 'static {
    /// What makes every fit fail; the error then says what was wrong with the table.
    const NOTICES: Notices = Notices::Nothing;
    /// What every block must know in a round, unless [`Rounds::for_tasks`] says less; also the checkpoint.
    type State: Stored + Send + Sync + 'static;
    /// What comes back from a block.
    type Summary: Merge + Stored + Send + Sync + 'static;
    /// What the last round leaves: a learner's model, an engine's solution.
    type Output: Send + Sync + 'static;

    /// Whether the learner's own `train` in memory, with the same bits, is faster than these rounds.
    fn whole_is_faster(&self) -> bool {
        false
    }

    /// Whether memos pay beside blocks of files too: they are far smaller than the block, are kept only
    /// where memory allows, and [`Rounds::recall`] spares reading the block.
    const REMEMBERS: bool = false;

    /// The state before the first round.
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Self::State>;

    /// What blocks must know where that is far less than the state: it is what travels to other processes.
    fn for_tasks(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// The summary of a block from its memo alone, where that holds all of it; the block is not read.
    fn recall(
        &self,
        _state: &Self::State,
        _memo: &mut Memo,
        _run: &Context,
    ) -> Option<Result<Self::Summary>> {
        None
    }

    /// The summary of one block. What it keeps in the memo may be gone in the next round: that
    /// may cost time, never a bit.
    fn summarize(
        &self,
        state: &Self::State,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Self::Summary>;

    /// The summary of rows in single precision, where a later round makes up for what that loses; `None` if they
    /// are to be converted first.
    fn summarize_singles(
        &self,
        _state: &Self::State,
        _rows: &Singles,
    ) -> Option<Result<Self::Summary>> {
        None
    }

    /// The next state, or the result.
    fn advance(
        &self,
        state: Self::State,
        all: Self::Summary,
        run: &Context,
    ) -> Result<Step<Self::State, Self::Output>>;
}

/// A learner that is fitted by the rounds of an engine.
pub trait FitBy<R: Rounds>: Estimator {
    /// The engine with the learner's parameters.
    fn rounds(&self) -> R;

    /// Refuses data that the parameters do not fit, before the first round.
    fn admit(&self, _outline: &Outline) -> Result<()> {
        Ok(())
    }

    /// The model from what the engine leaves.
    fn model(&self, output: R::Output, run: &Context) -> Result<Self::Model>;
}

/// A learner that is its own rounds: `type Fit = Self`.
impl<E: Estimator + Rounds<Output = <E as Estimator>::Model>> FitBy<E> for E {
    fn rounds(&self) -> E {
        self.clone()
    }

    fn model(&self, output: <E as Estimator>::Model, _run: &Context) -> Result<E::Model> {
        Ok(output)
    }
}

/// How a learner is fitted: [`Estimator::Fit`].
pub trait Plan<E: Estimator> {
    /// What makes every fit fail.
    const NOTICES: Notices;

    /// The fit in memory.
    fn train(learner: &E, data: &Dataset, run: &Context) -> Result<E::Model>;

    /// The fit as rounds, if it is.
    fn job(learner: &E) -> Option<Box<dyn Job>>;
}

impl<R: Rounds, E: FitBy<R>> Plan<E> for R {
    const NOTICES: Notices = R::NOTICES;

    fn train(learner: &E, data: &Dataset, run: &Context) -> Result<E::Model> {
        learner.admit(&Outline::of(data))?;
        let rounds = job::TypedJob(learner.rounds());
        let output = drive(&rounds, &InMemory::new(*data), run)?.take()?;
        learner.model(output, run)
    }

    fn job(learner: &E) -> Option<Box<dyn Job>> {
        Some(Box::new(job::FitJob::new(learner.clone())))
    }
}

/// The fit in memory that [`Estimator::Fit`] names, for a learner that adds to it.
pub fn train<E: Estimator>(learner: &E, data: &Dataset, run: &Context) -> Result<E::Model> {
    <E::Fit as Plan<E>>::train(learner, data, run)
}

/// The rounds that [`Estimator::Fit`] names, for a learner that has them with some parameters only.
pub fn job<E: Estimator>(learner: &E) -> Option<Box<dyn Job>> {
    <E::Fit as Plan<E>>::job(learner)
}

/// A fit on the whole table: such a learner writes its own `train`.
pub struct Whole;

impl<E: Estimator> Plan<E> for Whole {
    const NOTICES: Notices = Notices::Nothing;

    fn train(_: &E, _: &Dataset, _: &Context) -> Result<E::Model> {
        Err(Error::internal(format!("{} has no `train`", E::ABOUT.name())))
    }

    fn job(_: &E) -> Option<Box<dyn Job>> {
        None
    }
}

/// A fit on the whole table whose `train` fails on every value that is not finite: it copies the rows, and looks
/// at them on the way.
pub struct WholeNoticed;

impl<E: Estimator> Plan<E> for WholeNoticed {
    const NOTICES: Notices = Notices::All;

    fn train(learner: &E, data: &Dataset, run: &Context) -> Result<E::Model> {
        <Whole as Plan<E>>::train(learner, data, run)
    }

    fn job(_: &E) -> Option<Box<dyn Job>> {
        None
    }
}

/// A summary of rows that needs no state.
pub trait Summarize: Merge + Stored + Send + Sync + 'static {
    /// Values that are never lost in a summary: [`Summarize::is_finite`] is false then.
    const NOTICES: Notices = Notices::Nothing;

    /// The summary of some rows.
    fn of(data: &Dataset) -> Result<Self>;

    /// About how many bytes a summary has for this many columns, where that is more than a few for each.
    fn bytes(_columns: u64) -> u64 {
        0
    }

    /// Whether no value that it notices was not finite.
    fn is_finite(&self) -> bool {
        true
    }
}

/// One round over a summary; the model of a [`OnePass`] learner follows from it.
pub struct Pass<S>(PhantomData<fn() -> S>);

impl<S> Clone for Pass<S> {
    fn clone(&self) -> Self {
        Pass(PhantomData)
    }
}

impl<S: Summarize> Rounds for Pass<S> {
    const NOTICES: Notices = S::NOTICES;

    type State = OwnedOutline;
    type Summary = S;
    type Output = (OwnedOutline, S);

    fn begin(&self, outline: &Outline, run: &Context) -> Result<OwnedOutline> {
        let columns = outline.schema.len() as u64;
        let copies = run.threads() as u64 + 3;
        let what = format!("a summary of {columns} columns");
        run.claim(S::bytes(columns).saturating_mul(copies), &what)?;
        Ok(outline.into())
    }

    fn summarize(&self, _: &OwnedOutline, block: &Block, _: &mut Memo, _: &Context) -> Result<S> {
        S::of(&block.data)
    }

    fn advance(
        &self,
        outline: OwnedOutline,
        all: S,
        _: &Context,
    ) -> Result<Step<OwnedOutline, Self::Output>> {
        match all.is_finite() {
            true => Ok(Step::Done((outline, all))),
            false => Err(Error::new(Code::NotFinite, "a sum of values is not finite")
                .hint("values are too large for double precision: divide them by their largest")),
        }
    }
}

/// A learner whose model follows from one summary of the rows: `type Fit = Pass<S>`.
pub trait OnePass<S: Summarize>: Estimator {
    /// Refuses data that the parameters do not fit, before the pass.
    fn admit(&self, _outline: &Outline) -> Result<()> {
        Ok(())
    }

    /// The model from the summary of all rows.
    fn finish(&self, all: S, outline: &Outline) -> Result<Self::Model>;
}

impl<S: Summarize, E: OnePass<S>> FitBy<Pass<S>> for E {
    fn rounds(&self) -> Pass<S> {
        Pass(PhantomData)
    }

    fn admit(&self, outline: &Outline) -> Result<()> {
        OnePass::admit(self, outline)
    }

    fn model(&self, (outline, all): (OwnedOutline, S), _: &Context) -> Result<E::Model> {
        self.finish(all, &outline.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_have_shorter_blocks() {
        assert_eq!(block_rows(1), 16_384);
        assert_eq!(block_rows(128), 16_384);
        assert_eq!(block_rows(129), 8_192);
        assert_eq!(block_rows(1_000_000), 256);
    }
}
