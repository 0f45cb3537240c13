//! Jobs in bytes: all that an engine, another process or another machine sees of a fit.
//!
//! A driver calls [`ByteJob::begin`], cuts the blocks into tasks, hands state and blocks to whoever
//! has time, and calls [`ByteJob::advance`] with what came back, until it gives the model. Tasks may
//! run anywhere, in any order, and more than once: the bits are those of a fit in memory. State and
//! outcomes are files of the model format: their checksum shows damage, their header says which fit
//! and which round they are of.

use super::{Erased, Identity, Job, Memo, Merger, Outline, OwnedOutline, Source, Step};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Model};
use crate::persist::{Node, Stored, file, invalid};
use std::collections::{BTreeMap, BTreeSet};

/// A fit whose states and summaries are bytes.
pub struct ByteJob {
    job: Box<dyn Job>,
    outline: OwnedOutline,
    digest: String,
}

/// What the driver and a task agree on.
struct Header {
    digest: String,
    round: u64,
}

impl ByteJob {
    /// The rounds of a learner on a table; an error for learners that have none.
    pub fn new(
        learner: &dyn AnyEstimator,
        outline: &Outline,
        data: Option<&str>,
        run: &Context,
    ) -> Result<ByteJob> {
        let name = learner.about().name();
        let job = learner
            .any_job()
            .ok_or_else(|| Error::unsupported(format!("{name} is not fitted by rounds")))?;
        let digest = Identity::new(learner, outline, data, run)?.digest()?;
        Ok(ByteJob { job, outline: outline.into(), digest })
    }

    /// Number of blocks that every round summarises.
    pub fn blocks(&self) -> u64 {
        self.outline.view().blocks()
    }

    /// The state before the first round.
    pub fn begin(&self, run: &Context) -> Result<Vec<u8>> {
        self.state_bytes(1, &self.job.begin(&self.outline.view(), run)?)
    }

    /// The outcome of summarising these blocks, merged as far as the tree allows.
    pub fn task(
        &self,
        state: &[u8],
        source: &dyn Source,
        blocks: &[u64],
        run: &Context,
    ) -> Result<Vec<u8>> {
        self.task_with(state, source, blocks, &mut BTreeMap::new(), run)
    }

    /// The same, with what the blocks kept from earlier rounds. It may be lost at any time.
    pub fn task_with(
        &self,
        state: &[u8],
        source: &dyn Source,
        blocks: &[u64],
        memos: &mut BTreeMap<u64, Memo>,
        run: &Context,
    ) -> Result<Vec<u8>> {
        let (round, state) = self.read_state(state)?;
        let mut merger = Merger::new(self.blocks());
        for &index in blocks {
            if index >= self.blocks() {
                return Err(invalid(format!("there is no block {index}")));
            }
            let memo = memos.entry(index).or_default();
            let mut summary = None;
            source.with(index, &mut |block| {
                summary = Some(self.job.summarize(&state, block, memo, run)?);
                Ok(())
            })?;
            let summary = summary.ok_or_else(|| Error::internal("a source without its block"))?;
            merger.add(index, summary, |a, b| self.job.merge(a, b))?;
        }
        self.outcome_bytes(round, &merger)
    }

    /// Several outcomes of one round as one. What came twice counts once.
    pub fn merge(&self, outcomes: &[&[u8]]) -> Result<Vec<u8>> {
        let (round, merger) = self.gather(outcomes)?;
        self.outcome_bytes(round, &merger)
    }

    /// The next state, or the model, from the outcomes of all blocks.
    pub fn advance(
        &self,
        state: &[u8],
        outcomes: &[&[u8]],
        run: &Context,
    ) -> Result<Step<Vec<u8>, Box<dyn Model>>> {
        let (round, state) = self.read_state(state)?;
        let (of_round, merger) = self.gather(outcomes)?;
        if of_round != round {
            return Err(invalid(format!("summaries of round {of_round} in round {round}")));
        }
        Ok(match self.job.advance(state, merger.total()?, run)? {
            Step::Again(next) => Step::Again(self.state_bytes(round + 1, &next)?),
            Step::Done(done) => Step::Done(self.job.model(done)?),
        })
    }

    fn gather(&self, outcomes: &[&[u8]]) -> Result<(u64, Merger<Erased>)> {
        let mut nodes: Vec<((u32, u64), Erased)> = Vec::new();
        let mut round = None;
        for bytes in outcomes {
            let root = file::from_bytes(bytes)?;
            let header = self.header(&root, "nodes")?;
            if *round.get_or_insert(header.round) != header.round {
                return Err(invalid("outcomes of different rounds"));
            }
            for node in root.child("nodes")?.list()? {
                let place = read_place(node, self.blocks())?;
                nodes.push((place, self.job.read_summary(node.child("summary")?)?));
            }
        }
        let round = round.ok_or_else(|| Error::internal("a round without outcomes"))?;
        // Nodes of the tree are nested or apart, so behind a larger one a repeated part is known.
        nodes.sort_by_key(|((level, index), _)| (std::cmp::Reverse(*level), *index));
        let mut merger = Merger::new(self.blocks());
        let mut seen: BTreeSet<u64> = BTreeSet::new();
        for ((level, index), summary) in nodes {
            if seen.contains(&(index << level)) {
                continue;
            }
            seen.extend((index << level)..((index + 1) << level).min(self.blocks()));
            merger.add_node((level, index), summary, |a, b| self.job.merge(a, b))?;
        }
        Ok((round, merger))
    }

    fn state_bytes(&self, round: u64, state: &Erased) -> Result<Vec<u8>> {
        self.bytes(round, "state", state.to_node()?)
    }

    fn outcome_bytes(&self, round: u64, merger: &Merger<Erased>) -> Result<Vec<u8>> {
        self.bytes(round, "nodes", merger_node(merger)?)
    }

    fn bytes(&self, round: u64, name: &str, content: Node) -> Result<Vec<u8>> {
        file::to_bytes(&Node::Map(BTreeMap::from([
            ("job".to_string(), self.digest.to_node()),
            ("round".to_string(), round.to_node()),
            (name.to_string(), content),
        ])))
    }

    fn read_state(&self, bytes: &[u8]) -> Result<(u64, Erased)> {
        let root = file::from_bytes(bytes)?;
        let header = self.header(&root, "state")?;
        Ok((header.round, self.job.read_state(root.child("state")?)?))
    }

    fn header(&self, root: &Node, content: &str) -> Result<Header> {
        root.only("job", &["job", "round", content])?;
        let header = Header { digest: root.field("job")?, round: root.field("round")? };
        match header.digest == self.digest {
            true => Ok(header),
            false => Err(invalid("bytes of another fit, or of another version of learnt")),
        }
    }
}

/// What a merger holds, with the places in the tree.
pub(super) fn merger_node(merger: &Merger<Erased>) -> Result<Node> {
    let node = |(&(level, index), summary): (&(u32, u64), &Erased)| {
        Ok(Node::Map(BTreeMap::from([
            ("level".to_string(), level.to_node()),
            ("index".to_string(), index.to_node()),
            ("summary".to_string(), summary.to_node()?),
        ])))
    };
    merger.nodes().iter().map(node).collect::<Result<_>>().map(Node::List)
}

/// A place in the tree that covers some of the blocks.
pub(super) fn read_place(node: &Node, blocks: u64) -> Result<(u32, u64)> {
    node.only("node", &["level", "index", "summary"])?;
    let (level, index): (u32, u64) = (node.field("level")?, node.field("index")?);
    let most = 64 - blocks.saturating_sub(1).leading_zeros();
    match level <= most && index < blocks && index << level < blocks {
        true => Ok((level, index)),
        false => Err(invalid("a summary of no block of this table")),
    }
}
