//! Checkpoints: a fit that was killed goes on where it was, with the same bits.
//!
//! One file in a folder holds what the fit is of, the round, the state, the blocks of the round that
//! are done with their merged summaries, and the warnings so far. It is replaced whole, between
//! rounds and every few seconds inside one, so that it is always of one moment.

use super::bytes::{merger_node, read_place, read_warnings, warnings_node};
use super::job::Round;
use super::{Identity, Job, Merger};
use crate::clock::Moment;
use crate::context::{Observer, Recorder};
use crate::error::{Code, Error, Result, plain};
use crate::persist::{Node, Stored, file, place};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The name of the file in the folder.
const NAME: &str = "fit.checkpoint";

/// Where a fit keeps its state, and how often.
pub struct Checkpoint {
    path: PathBuf,
    identity: Identity,
    every: Duration,
    resume: bool,
    written: Mutex<Option<Moment>>,
}

impl Checkpoint {
    /// In this folder, which is made if it is not there. With `resume` a fit goes on from what it
    /// finds, else a checkpoint that is there is an error.
    pub fn new(folder: &Path, identity: Identity, resume: bool) -> Result<Checkpoint> {
        let place = plain(&folder.display().to_string());
        std::fs::create_dir_all(folder).map_err(|error| Error::from(error).within(&place))?;
        let path = folder.join(NAME);
        if path.exists() && !resume {
            return Err(Error::new(Code::Usage, format!("{place} holds a checkpoint"))
                .hint("add --resume to go on from it, or give another folder, or remove it"));
        }
        place::sweep(&path);
        let (every, written) = (Duration::from_secs(5), Mutex::new(None));
        Ok(Checkpoint { path, identity, every, resume, written })
    }

    /// Writes inside a round at most this often.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Checkpoint { every, ..self }
    }

    /// Whether there is one to go on from.
    pub fn found(&self) -> bool {
        self.path.exists()
    }

    /// Removes the file: the fit is done.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// What is in the folder, if the fit is to go on from it.
    pub(super) fn read(
        &self,
        job: &dyn Job,
        blocks: u64,
        recorder: &Recorder,
    ) -> Result<Option<Round>> {
        if !self.resume || !self.found() {
            return Ok(None);
        }
        let place = plain(&self.path.display().to_string());
        let read = || {
            let root = file::from_bytes(&std::fs::read(&self.path)?)?;
            root.only("checkpoint", &["of", "round", "state", "done", "nodes", "warnings"])?;
            self.identity.expect(&root.field("of")?)?;
            let mut merger = Merger::new(blocks);
            for node in root.child("nodes")?.list()? {
                let summary = job.read_summary(node.child("summary")?)?;
                merger.add_node(read_place(node, blocks)?, summary, |a, b| job.merge(a, b))?;
            }
            read_warnings(&root)?.iter().for_each(|warning| recorder.warning(warning));
            let state = job.read_state(root.child("state")?)?;
            Ok(Round { round: root.field("round")?, state, merger, done: root.field("done")? })
        };
        read().map(Some).map_err(|error: Error| error.within(&place))
    }

    /// Writes where the fit is, unless it did so a moment ago inside the same round.
    pub(super) fn write(&self, round: &Round, recorder: &Recorder) -> Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = written.is_some_and(|moment| moment.elapsed() < self.every);
        if recent && round.done > 0 {
            return Ok(());
        }
        let root = Node::Map(BTreeMap::from([
            ("of".to_string(), self.identity.to_node()),
            ("round".to_string(), round.round.to_node()),
            ("state".to_string(), round.state.to_node()?),
            ("done".to_string(), round.done.to_node()),
            ("nodes".to_string(), merger_node(&round.merger)?),
            ("warnings".to_string(), warnings_node(&recorder.warnings())),
        ]));
        place::replace(&self.path, |sink| file::write(root, sink))?;
        *written = Some(Moment::now());
        Ok(())
    }
}
