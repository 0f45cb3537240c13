//! A fit to the first rows, to learn what the whole will cost: rounds, bytes and seconds a row.

use crate::job::Job;
use learnt_core::clock::Moment;
use learnt_core::context::Context;
use learnt_core::data::Dataset;
use learnt_core::error::Result;
use learnt_core::rounds::{Block, ByteJob, Outline, Source, Step};
use learnt_io::FileSource;
use std::time::Duration;

/// The longest that a rehearsal takes, about.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a fit to the first rows took.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// Rows that it was fitted to.
    pub rows: u64,
    /// Rounds that it took.
    pub rounds: u64,
    /// Whether it ended by itself.
    pub whole: bool,
    /// Bytes of the largest answer to a task.
    pub answer_bytes: u64,
    /// Bytes of the largest state that tasks got.
    pub state_bytes: u64,
    /// Seconds of one core to compare the content of a file with what was planned, for each of its rows.
    pub check_seconds: f64,
    /// Seconds of one core to read a row.
    pub read_seconds: f64,
    /// Seconds of one core for a row in a round.
    pub work_seconds: f64,
}

/// The first block of a table.
struct Head<'a>(&'a FileSource);

impl Source for Head<'_> {
    fn outline(&self) -> Outline<'_> {
        let outline = self.0.outline();
        let size = learnt_core::rounds::block_rows(outline.schema.len()) as u64;
        Outline { rows: outline.rows.min(size), cuts: outline.cuts.map(|_| 1), ..outline }
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        self.0.with(index, f)
    }

    fn with_checked(
        &self,
        index: u64,
        check: &dyn Fn(&Dataset, u64) -> Result<()>,
        f: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        self.0.with_checked(index, check, f)
    }
}

/// Seconds a row to compare the first file with the plan, and to read its first block: the file is opened by the
/// first reading, and open for the second.
fn reading(bytes: &[u8]) -> Result<(f64, f64)> {
    let job = Job::open(bytes)?;
    let head = Head(job.source());
    let started = Moment::now();
    rows_of_first(&head)?;
    let first = started.seconds();
    let started = Moment::now();
    let rows = rows_of_first(&head)?;
    let second = started.seconds();
    let file = job.source().rows_of_files().next().unwrap_or(rows);
    Ok(((first - second).max(0.0) / file.max(1) as f64, second / rows.max(1) as f64))
}

/// Reads the first block, and says how many rows it has.
fn rows_of_first(head: &Head) -> Result<u64> {
    let mut rows = 0;
    head.with(0, &mut |block| {
        rows = block.data.nrows() as u64;
        Ok(())
    })?;
    Ok(rows)
}

/// Fits the first block, on one thread.
pub fn rehearse(bytes: &[u8], run: &Context) -> Result<Rehearsal> {
    let (check_seconds, read_seconds) = reading(bytes)?;
    let job = Job::open(bytes)?.keeping(1 << 30);
    let run = run.with_threads(1).with_seed(job.seed());
    let head = Head(job.source());
    let rows = rows_of_first(&head)?;
    let outline = Outline { rows, ..head.outline() };
    let rounds = ByteJob::new(job.learner(), &outline, None, &run)?;
    let mut state = rounds.begin(&run)?;
    let mut found = Rehearsal {
        rows,
        rounds: 0,
        whole: false,
        answer_bytes: 0,
        state_bytes: 0,
        check_seconds,
        read_seconds,
        work_seconds: 0.0,
    };
    let started = Moment::now();
    let mut working = Duration::ZERO;
    let checked = learnt::trained::checked(&head, job.learner());
    while started.elapsed() < PATIENCE {
        let told = rounds.for_tasks(&state)?;
        found.state_bytes = found.state_bytes.max(told.len() as u64);
        let moment = Moment::now();
        let answer = rounds.task(&told, &checked, &[0], &run)?;
        working += moment.elapsed();
        found.rounds += 1;
        found.answer_bytes = found.answer_bytes.max(answer.len() as u64);
        match rounds.advance(state, &[&answer], &run)? {
            Step::Again(next) => state = next,
            Step::Done(_) => {
                found.whole = true;
                break;
            }
        }
    }
    let passes = found.rounds.max(1) as f64 * rows.max(1) as f64;
    found.work_seconds = working.as_secs_f64() / passes;
    Ok(found)
}
