//! Jobs in bytes: all that an engine, another process or another machine sees of a fit.
//!
//! A driver calls [`ByteJob::begin`], cuts the blocks into tasks, hands what tasks must know of the state
//! ([`ByteJob::for_tasks`]) and blocks to whoever has time, and calls [`ByteJob::advance`] with what came
//! back, until it gives the model. Tasks may run anywhere, in any order, and more than once: the bits are
//! those of a fit in memory. The whole state is bytes only where somebody keeps it ([`ByteJob::to_bytes`]).
//! All bytes are files of the model format: their checksum shows damage, their header says which fit and
//! which round they are of.

use super::job::summary_of;
use super::{Erased, Identity, Job, Memo, Merger, Outline, OwnedOutline, Source, Step};
use crate::context::{Context, Recorder, Traced};
use crate::error::{Code, Error, Result, Warning};
use crate::estimator::{AnyEstimator, Model, check_weighted};
use crate::persist::{Node, Stored, file, invalid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A fit whose states and summaries are bytes.
pub struct ByteJob {
    job: Box<dyn Job>,
    outline: OwnedOutline,
    digest: String,
    /// What tasks were told last, known by its checksum: all tasks of a round read it once.
    last: Mutex<Option<([u8; 32], Arc<Told>)>>,
}

/// What the driver and a task agree on.
struct Header {
    digest: String,
    round: u64,
}

/// What the last round leaves.
pub struct Finished {
    /// The model.
    pub model: Box<dyn Model>,
    /// What the user is warned of, each once.
    pub warnings: Vec<Warning>,
    /// The objective after each iteration.
    pub trace: Vec<Traced>,
}

/// A fit between two rounds, as its driver holds it.
pub struct Fitting {
    round: u64,
    state: Erased,
    warnings: Vec<Warning>,
    trace: Vec<Traced>,
}

impl Fitting {
    /// Which round it begins.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The last objective, if the learner has one.
    pub fn objective(&self) -> Option<f64> {
        self.trace.last().map(|traced| traced.objective)
    }
}

/// What tasks of a round know of the state.
pub struct Told {
    round: u64,
    state: Erased,
}

impl Told {
    /// Which round it is of.
    pub fn round(&self) -> u64 {
        self.round
    }
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
        check_weighted(name, learner.any_accepts(), outline.weighted)?;
        let digest = Identity::new(learner, outline, data, run)?.digest()?;
        Ok(ByteJob { job, outline: outline.into(), digest, last: Mutex::default() })
    }

    /// The same fit under another word: that of the plan that it is a part of.
    #[must_use]
    pub fn named(self, digest: String) -> ByteJob {
        ByteJob { digest, ..self }
    }

    /// Whether memos pay beside blocks of files too.
    pub fn remembers(&self) -> bool {
        self.job.remembers()
    }

    /// Number of blocks that every round summarises.
    pub fn blocks(&self) -> u64 {
        self.outline.view().blocks()
    }

    /// The state before the first round.
    pub fn begin(&self, run: &Context) -> Result<Fitting> {
        let recorder = Recorder::new(run.observer());
        let state = self.job.begin(&self.outline.view(), &run.observed_by(&recorder))?;
        let (warnings, trace) = (recorder.warnings(), recorder.trace());
        Ok(Fitting { round: 1, state, warnings, trace })
    }

    /// The bytes that a fit goes on from.
    pub fn to_bytes(&self, fitting: &Fitting) -> Result<Vec<u8>> {
        let trace = &fitting.trace;
        let stages: Vec<String> = trace.iter().map(|traced| traced.stage.clone()).collect();
        let numbers: Vec<f64> =
            trace.iter().flat_map(|t| [t.iteration as f64, t.objective]).collect();
        self.bytes(
            fitting.round,
            vec![
                ("state", fitting.state.to_node()?),
                ("warnings", warnings_node(&fitting.warnings)),
                ("stages", stages.to_node()),
                ("trace", numbers.to_node()),
            ],
        )
    }

    /// A fit from the bytes that it goes on from.
    pub fn read(&self, bytes: &[u8]) -> Result<Fitting> {
        let root = file::from_bytes(bytes)?;
        let round = self.header(&root, STATE)?.round;
        let (warnings, trace) = (read_warnings(&root)?, read_trace(&root)?);
        Ok(Fitting { round, state: self.job.read_state(root.child("state")?)?, warnings, trace })
    }

    /// The bytes that tasks of the next round get.
    pub fn for_tasks(&self, fitting: &Fitting) -> Result<Vec<u8>> {
        let told = self.job.for_tasks(&fitting.state)?;
        let state = told.as_ref().unwrap_or(&fitting.state).to_node()?;
        self.bytes(fitting.round, vec![("told", state)])
    }

    /// What tasks are told, read from its bytes unless it is what was read last.
    pub fn told(&self, bytes: &[u8]) -> Result<Arc<Told>> {
        let sum = file::checksum(bytes)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, told)) = last.as_ref().filter(|(known, _)| *known == sum) {
            return Ok(Arc::clone(told));
        }
        let root = file::from_bytes(bytes)?;
        let round = self.header(&root, TOLD)?.round;
        let told = Arc::new(Told { round, state: self.job.read_state(root.child("told")?)? });
        *last = Some((sum, Arc::clone(&told)));
        Ok(told)
    }

    /// The outcome of summarising these blocks, merged as far as the tree allows.
    pub fn task(
        &self,
        told: &[u8],
        source: &dyn Source,
        blocks: &[u64],
        run: &Context,
    ) -> Result<Vec<u8>> {
        self.task_with(&*self.told(told)?, source, blocks, &mut BTreeMap::new(), run)
    }

    /// The same, with what the blocks kept from earlier rounds. It may be lost at any time.
    pub fn task_with(
        &self,
        told: &Told,
        source: &dyn Source,
        blocks: &[u64],
        memos: &mut BTreeMap<u64, Memo>,
        run: &Context,
    ) -> Result<Vec<u8>> {
        if let Some(index) = blocks.iter().find(|index| **index >= self.blocks()) {
            return Err(invalid(format!("there is no block {index}")));
        }
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let mut merger = Merger::new(self.blocks());
        for window in blocks.chunks(run.threads().max(1)) {
            let held: Vec<Mutex<Memo>> = window
                .iter()
                .map(|index| Mutex::new(memos.remove(index).unwrap_or_default()))
                .collect();
            let parts = watched.try_par_map(window.len(), |k| {
                let mut memo = held[k].lock().unwrap_or_else(PoisonError::into_inner);
                summary_of(self.job.as_ref(), &told.state, source, window[k], &mut memo, &watched)
            })?;
            for (&index, memo) in window.iter().zip(held) {
                memos.insert(index, memo.into_inner().unwrap_or_else(PoisonError::into_inner));
            }
            for (&index, part) in window.iter().zip(parts) {
                merger.add(index, part, |a, b| self.job.merge(a, b))?;
            }
        }
        self.outcome_bytes(told.round, &merger, &recorder.warnings())
    }

    /// Several outcomes of one round as one. What came twice counts once.
    pub fn merge(&self, outcomes: &[&[u8]]) -> Result<Vec<u8>> {
        let gathered = self.gather(outcomes)?;
        self.outcome_bytes(gathered.round, &gathered.merger, &gathered.warnings)
    }

    /// The next state, or the model, from the outcomes of all blocks.
    pub fn advance(
        &self,
        fitting: Fitting,
        outcomes: &[&[u8]],
        run: &Context,
    ) -> Result<Step<Fitting, Finished>> {
        let Fitting { round, state, mut warnings, mut trace } = fitting;
        let gathered = self.gather(outcomes)?;
        if gathered.round != round {
            return Err(invalid(format!("summaries of round {} in round {round}", gathered.round)));
        }
        for warning in gathered.warnings {
            if !warnings.contains(&warning) {
                run.observer().warning(&warning);
                warnings.push(warning);
            }
        }
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let step = self.job.advance(state, gathered.merger.total()?, &watched)?;
        let new = recorder.warnings().into_iter().filter(|w| !warnings.contains(w));
        warnings.extend(new.collect::<Vec<_>>());
        for traced in recorder.trace() {
            let again = trace.last().is_some_and(|last: &Traced| {
                last.stage == traced.stage && last.iteration == traced.iteration
            });
            if again {
                trace.pop();
            }
            trace.push(traced);
        }
        Ok(match step {
            Step::Again(state) => Step::Again(Fitting { round: round + 1, state, warnings, trace }),
            Step::Done(done) => {
                Step::Done(Finished { model: self.job.model(done)?, warnings, trace })
            }
        })
    }

    fn gather(&self, outcomes: &[&[u8]]) -> Result<Gathered> {
        let mut nodes: Vec<((u32, u64), Erased)> = Vec::new();
        let mut told: Vec<(u64, Vec<Warning>)> = Vec::new();
        let mut round = None;
        for bytes in outcomes {
            let root = file::from_bytes(bytes)?;
            let header = self.header(&root, OUTCOME)?;
            if *round.get_or_insert(header.round) != header.round {
                return Err(invalid("outcomes of different rounds"));
            }
            let mut first = u64::MAX;
            for node in root.child("nodes")?.list()? {
                let place = read_place(node, self.blocks())?;
                first = first.min(place.1 << place.0);
                nodes.push((place, self.job.read_summary(node.child("summary")?)?));
            }
            told.push((first, read_warnings(&root)?));
        }
        let round = round.ok_or_else(|| Error::internal("a round without outcomes"))?;
        // In the order of the rows, whoever came first.
        told.sort_by_key(|(first, _)| *first);
        let mut warnings: Vec<Warning> = Vec::new();
        for warning in told.into_iter().flat_map(|(_, warnings)| warnings) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
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
        Ok(Gathered { round, merger, warnings })
    }

    fn outcome_bytes(
        &self,
        round: u64,
        merger: &Merger<Erased>,
        warnings: &[Warning],
    ) -> Result<Vec<u8>> {
        let nodes = merger_node(merger)?;
        self.bytes(round, vec![("nodes", nodes), ("warnings", warnings_node(warnings))])
    }

    fn bytes(&self, round: u64, content: Vec<(&str, Node)>) -> Result<Vec<u8>> {
        let head = [("job", self.digest.to_node()), ("round", round.to_node())];
        let all = head.into_iter().chain(content);
        file::to_bytes(Node::Map(all.map(|(name, node)| (name.to_string(), node)).collect()))
    }

    fn header(&self, root: &Node, content: &[&str]) -> Result<Header> {
        root.only("job", &[&["job", "round"], content].concat())?;
        let header = Header { digest: root.field("job")?, round: root.field("round")? };
        match header.digest == self.digest {
            true => Ok(header),
            false => Err(invalid("bytes of another fit, or of another version of learnt")),
        }
    }
}

/// What a state holds beside its header.
const STATE: &[&str] = &["state", "warnings", "stages", "trace"];
/// What tasks are told, beside the header.
const TOLD: &[&str] = &["told"];
/// What an outcome holds beside its header.
const OUTCOME: &[&str] = &["nodes", "warnings"];

/// The outcomes of a round as one.
struct Gathered {
    round: u64,
    merger: Merger<Erased>,
    warnings: Vec<Warning>,
}

/// Codes and messages, one after the other.
pub(super) fn warnings_node(warnings: &[Warning]) -> Node {
    let words = |warning: &Warning| [warning.code.to_string(), warning.message.clone()];
    warnings.iter().flat_map(words).collect::<Vec<String>>().to_node()
}

/// The warnings that a stored tree holds.
pub(super) fn read_warnings(root: &Node) -> Result<Vec<Warning>> {
    let words: Vec<String> = root.field("warnings")?;
    let warning = |pair: &[String]| {
        let code = Code::ALL.iter().find(|code| code.to_string() == pair[0]);
        Warning::new(*code.unwrap_or(&Code::Internal), pair[1].clone())
    };
    Ok(words.chunks_exact(2).map(warning).collect())
}

fn read_trace(root: &Node) -> Result<Vec<Traced>> {
    let stages: Vec<String> = root.field("stages")?;
    let numbers: Vec<f64> = root.field("trace")?;
    if numbers.len() != 2 * stages.len() {
        return Err(invalid("objectives without their stages"));
    }
    let traced = |(stage, pair): (String, &[f64])| Traced {
        stage,
        iteration: pair[0] as u64,
        objective: pair[1],
    };
    Ok(stages.into_iter().zip(numbers.chunks_exact(2)).map(traced).collect())
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
