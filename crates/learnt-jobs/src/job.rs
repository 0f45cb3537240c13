//! A fit over files as a job in bytes.

use crate::message::{Task, learner_node, plan_bytes, read_learner, read_plan, refuse_secrets};
use learnt::trained::{Missing, Trained, Unknown, checked};
use learnt_core::context::Context;
use learnt_core::data::{Dataset, Label};
use learnt_core::error::{Error, Result};
use learnt_core::estimator::AnyEstimator;
use learnt_core::params::{LearnerSpec, all_values};
use learnt_core::persist::{Stored, invalid};
use learnt_core::rounds::{Block, ByteJob, Fitting, Memo, Outline, Source, Step, block_rows};
use learnt_io::FileSource;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a plan says beside learner and table.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The seed of all random draws.
    pub seed: u64,
    /// Names of the target columns.
    pub targets: Vec<String>,
    /// Tasks of a round, for schedulers that are told beforehand.
    pub tasks: Option<u64>,
    /// What prediction does with categories that training did not see; else what the learner says.
    pub unknown: Option<Unknown>,
    /// What prediction does with missing values.
    pub missing: Option<Missing>,
    /// Columns whose texts are read anew.
    pub opened: Vec<String>,
    /// Whether workers may have processors with other vectors.
    pub any_processor: bool,
}

/// The bytes of a job: a learner on a table of files.
pub fn plan(
    learner: &dyn AnyEstimator,
    source: &FileSource,
    settings: &Settings,
) -> Result<Vec<u8>> {
    learner.check().map_err(|error| error.within(learner.about().name()))?;
    distributes(learner)?;
    refuse_secrets(source.paths())?;
    let spec =
        LearnerSpec { learner: learner.about().path.to_string(), params: all_values(learner)? };
    let unknown = settings.unknown.map(|policy| policy.name().to_string());
    let missing = settings.missing.map(|policy| policy.name().to_string());
    plan_bytes(
        "fit",
        settings.any_processor,
        vec![
            ("learner", learner_node(&spec)),
            ("seed", settings.seed.to_string().to_node()),
            ("targets", settings.targets.to_node()),
            ("tasks", settings.tasks.to_node()),
            ("unknown", unknown.to_node()),
            ("missing", missing.to_node()),
            ("opened", settings.opened.to_node()),
            ("table", source.describe()?),
        ],
    )
}

/// Whether bytes are of a fit; else they are of predictions.
pub fn is_fit(bytes: &[u8]) -> Result<bool> {
    Ok(read_plan(bytes)?.0 == "fit")
}

/// Refuses a learner that is not fitted by rounds, and names others that are.
pub fn distributes(learner: &dyn AnyEstimator) -> Result<()> {
    if learner.any_job().is_some() {
        return Ok(());
    }
    let about = learner.about();
    let inner = learner.learners();
    if let Some(part) = inner.iter().find(|part| part.learner.any_job().is_none()) {
        let message = format!(
            "{} holds {}, which needs the whole table at once",
            about.name(),
            part.learner.about().name()
        );
        return Err(Error::unsupported(message).hint(alternatives(part.learner)));
    }
    let message =
        format!("{} needs the whole table at once and is not fitted by rounds", about.name());
    Err(Error::unsupported(message).hint(alternatives(learner)))
}

/// Learners for the same task that are fitted by rounds.
fn alternatives(learner: &dyn AnyEstimator) -> String {
    let roles = learner.any_roles();
    let shared = |other: &learnt_core::estimator::Roles| {
        (roles.classifier && other.classifier)
            || (roles.regressor && other.regressor)
            || (roles.clusterer && other.clusterer)
            || (roles.density && other.density)
            || (roles.transformer && other.transformer && !roles.classifier && !roles.regressor)
    };
    let names: Vec<String> = learnt::entries()
        .filter(|entry| entry.about.uses.streaming && shared(&entry.about.roles))
        .filter(|entry| !entry.about.path.starts_with("dummy."))
        .take(6)
        .map(|entry| entry.about.command())
        .collect();
    let sample = "or fit it to a sample of the rows that fits one machine";
    match names.is_empty() {
        true => format!("`learnt list --streaming` names learners that are; {sample}"),
        false => format!("{} are; {sample}", names.join(", ")),
    }
}

/// Blocks of a task, a few of them read at once.
struct Ahead<'a> {
    source: &'a FileSource,
    end: u64,
    count: u64,
}

impl Source for Ahead<'_> {
    fn outline(&self) -> Outline<'_> {
        self.source.outline()
    }

    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        self.source.read_ahead(index..(index + self.count).min(self.end))?;
        self.source.with(index, f)
    }

    fn with_checked(
        &self,
        index: u64,
        check: &dyn Fn(&Dataset, u64) -> Result<()>,
        f: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        self.source.read_ahead(index..(index + self.count).min(self.end))?;
        self.source.with_checked(index, check, f)
    }
}

/// A job that this process can work on.
pub struct Job {
    learner: Box<dyn AnyEstimator>,
    rounds: ByteJob,
    source: FileSource,
    digest: String,
    settings: Settings,
    memos: Mutex<BTreeMap<u64, Memo>>,
}

const FIELDS: &[&str] =
    &["learner", "seed", "targets", "tasks", "unknown", "missing", "opened", "table"];

impl Job {
    /// From the bytes of a plan, if this build may work on it.
    pub fn open(bytes: &[u8]) -> Result<Job> {
        let (kind, content, digest) = read_plan(bytes)?;
        if kind != "fit" {
            return Err(invalid(format!("a job of kind '{kind}', where a fit is expected")));
        }
        content.only("job", FIELDS)?;
        let learner = learnt::build(&read_learner(content.child("learner")?)?)?;
        learner.check().map_err(|error| error.within(learner.about().name()))?;
        let source = FileSource::described(content.child("table")?)?;
        let (unknown, missing): (Option<String>, Option<String>) =
            (content.field("unknown")?, content.field("missing")?);
        let settings = Settings {
            seed: content.field::<String>("seed")?.parse().map_err(|_| invalid("the seed"))?,
            targets: content.field("targets")?,
            tasks: content.field("tasks")?,
            unknown: unknown.map(|word| Unknown::parse(&word)).transpose()?,
            missing: missing.map(|word| Missing::parse(&word)).transpose()?,
            opened: content.field("opened")?,
            any_processor: true,
        };
        distributes(learner.as_ref())?;
        let run = Context::default().with_seed(settings.seed);
        let data = source.report().digest.as_deref();
        let rounds = ByteJob::new(learner.as_ref(), &source.outline(), data, &run)?;
        let rounds = rounds.named(digest.clone());
        Ok(Job { learner, rounds, source, digest, settings, memos: Mutex::default() })
    }

    /// The same, whose blocks stay in memory up to this many bytes. As much again may be what learners
    /// keep beside them, so half of it is for rows.
    #[must_use]
    pub fn keeping(self, bytes: u64) -> Job {
        Job { source: self.source.keeping(bytes / 2), ..self }
    }

    /// A word that stands for the job.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The learner.
    pub fn learner(&self) -> &dyn AnyEstimator {
        self.learner.as_ref()
    }

    /// The table.
    pub fn source(&self) -> &FileSource {
        &self.source
    }

    /// The classes of the target.
    pub fn classes(&self) -> Vec<Label> {
        self.source.outline().classes.to_vec()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Number of blocks that every round summarises.
    pub fn blocks(&self) -> u64 {
        self.rounds.blocks()
    }

    /// Tasks of a round as planned.
    pub fn planned_tasks(&self) -> u64 {
        self.settings.tasks.unwrap_or(1).clamp(1, self.blocks().max(1))
    }

    /// Bytes of rows that a thread holds at a time: as they are read, and as learners see them.
    pub fn block_bytes(&self) -> u64 {
        let width = self.source.outline().schema.len();
        let rows = block_rows(width) as u64;
        8 * rows * (2 * width as u64 + 4)
    }

    /// Blocks that are read at once: some, while that is a few megabytes.
    fn ahead(&self) -> u64 {
        const MOST: u64 = 48 << 20;
        (MOST / self.block_bytes().max(1)).clamp(1, 8)
    }

    /// Bytes that a worker with so many threads holds beside the rows that it is told to keep, about.
    pub fn working_bytes(&self, threads: u64) -> u64 {
        self.block_bytes() * (2 * threads + 2 * self.ahead())
    }

    /// The state before the first round.
    pub fn begin(&self, run: &Context) -> Result<Fitting> {
        self.rounds.begin(&self.seeded(run))
    }

    /// The bytes that a fit goes on from.
    pub fn to_bytes(&self, fitting: &Fitting) -> Result<Vec<u8>> {
        self.rounds.to_bytes(fitting)
    }

    /// A fit from the bytes that it goes on from.
    pub fn read(&self, bytes: &[u8]) -> Result<Fitting> {
        self.rounds.read(bytes)
    }

    /// The bytes that tasks of the next round get: what they must know of the state.
    pub fn for_tasks(&self, fitting: &Fitting) -> Result<Vec<u8>> {
        self.rounds.for_tasks(fitting)
    }

    /// The tasks of a round.
    pub fn tasks(&self, round: u64, count: u64) -> Result<Vec<Vec<u8>>> {
        let tasks = Task::cut(round, self.blocks(), count);
        tasks.iter().map(|task| task.to_bytes(&self.digest)).collect()
    }

    /// The answer to a task. Anywhere, in any order, as often as it takes.
    pub fn answer(&self, told: &[u8], task: &[u8], run: &Context) -> Result<Vec<u8>> {
        let task = Task::read(task, &self.digest, self.blocks())?;
        let told = self.rounds.told(told)?;
        if told.round() != task.round {
            return Err(invalid("a task of another round than its state"));
        }
        let blocks: Vec<u64> = task.blocks.clone().collect();
        let mut memos = self.take_memos(&blocks);
        let ahead = Ahead { source: &self.source, end: task.blocks.end, count: self.ahead() };
        let source = checked(&ahead, self.learner.as_ref());
        let name = self.learner.about().name();
        let run = self.seeded(run);
        let answer = self.rounds.task_with(&told, &source, &blocks, &mut memos, &run);
        self.source.forget_ahead(&task.blocks);
        let answer = answer.map_err(|error| error.within(name))?;
        // What is beside rows that stay stays too; some learners need the rows no more.
        if !self.rounds.remembers() {
            memos.retain(|&index, _| self.source.keeps(index));
        }
        self.memos.lock().unwrap_or_else(PoisonError::into_inner).append(&mut memos);
        Ok(answer)
    }

    fn take_memos(&self, blocks: &[u64]) -> BTreeMap<u64, Memo> {
        let mut held = self.memos.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.iter().filter_map(|index| Some((*index, held.remove(index)?))).collect()
    }

    /// The next state, or the model, from the answers to all tasks of a round.
    pub fn advance(
        &self,
        fitting: Fitting,
        answers: &[&[u8]],
        run: &Context,
    ) -> Result<Step<Fitting, Trained>> {
        let run = self.seeded(run);
        let name = self.learner.about().name();
        let step = self.rounds.advance(fitting, answers, &run);
        step.map_err(|error| error.within(name))?.try_map(|finished| {
            let targets = &self.settings.targets;
            let learner = self.learner.as_ref();
            let mut trained = Trained::from_rounds(learner, finished, &self.source, targets, &run)?;
            if let Some(policy) = self.settings.unknown {
                trained.history.unknown = policy;
            }
            if let Some(policy) = self.settings.missing {
                trained.history.missing = policy;
            }
            trained.open(&self.settings.opened)?;
            trained.history.digest = self.source.report().digest.clone();
            trained.history.weight = self.source.weight_name().map(str::to_string);
            Ok(trained)
        })
    }

    /// Facts about the job, as JSON.
    pub fn facts(&self) -> serde_json::Value {
        let outline = self.source.outline();
        serde_json::json!({
            "learner": self.learner.about().path, "rows": outline.rows,
            "columns": outline.schema.len(), "files": self.source.paths().collect::<Vec<_>>(),
            "blocks": self.blocks(), "seed": self.settings.seed, "targets": self.settings.targets,
            "digest": self.digest, "tasks": self.settings.tasks,
            "classes": outline.classes.len(), "working_bytes": self.working_bytes(1),
        })
    }

    fn seeded<'a>(&self, run: &Context<'a>) -> Context<'a> {
        run.with_seed(self.settings.seed)
    }
}
