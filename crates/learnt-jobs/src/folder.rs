//! A job in a folder: what schedulers that know commands only share between tasks.
//!
//! `job` is the plan, `round-00001/state` the state of a round, `round-00001/told` what tasks must know of it,
//! `round-00001/answer-00000` the answer to its first task, `log.ndjson` a line a round. Files appear whole or not at all, so that a task that is killed,
//! or that runs twice, does no harm, and a driver that is killed goes on from the last state.

use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::persist::place;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder that holds a job.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new one, with the plan, the first state and what tasks must know of it.
    pub fn create(path: &Path, plan: &[u8], state: &[u8], told: &[u8]) -> Result<Folder> {
        let folder = Folder { path: path.to_path_buf() };
        let name = plain(&path.display().to_string());
        std::fs::create_dir_all(path).map_err(|error| Error::from(error).within(&name))?;
        if folder.plan_path().exists() {
            return Err(Error::new(Code::Usage, format!("{name} holds a job"))
                .hint("give another folder, or remove it"));
        }
        folder.put(1, state, told)?;
        place::write_atomically(&folder.plan_path(), plan)?;
        Ok(folder)
    }

    /// One that is there.
    pub fn open(path: &Path) -> Result<Folder> {
        let folder = Folder { path: path.to_path_buf() };
        match folder.plan_path().exists() {
            true => Ok(folder),
            false => {
                let message = format!("{} holds no job", plain(&path.display().to_string()));
                Err(Error::new(Code::Io, message)
                    .hint("`learnt plan LEARNER DATA -o DIR` makes one"))
            }
        }
    }

    fn plan_path(&self) -> PathBuf {
        self.path.join("job")
    }

    /// The bytes of the plan.
    pub fn plan(&self) -> Result<Vec<u8>> {
        Ok(std::fs::read(self.plan_path())?)
    }

    /// Where the model is, once it is there.
    pub fn model_path(&self) -> PathBuf {
        self.path.join("model.learnt")
    }

    fn round_path(&self, round: u64) -> PathBuf {
        self.path.join(format!("round-{round:05}"))
    }

    /// The state is written last: where it is, the rest is too.
    fn put(&self, round: u64, state: &[u8], told: &[u8]) -> Result<()> {
        let folder = self.round_path(round);
        std::fs::create_dir_all(&folder)?;
        place::write_atomically(&folder.join("told"), told)?;
        place::write_atomically(&folder.join("state"), state)
    }

    /// The last round that has a state.
    pub fn round(&self) -> Result<u64> {
        let mut last = None;
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = name.strip_prefix("round-").and_then(|number| number.parse::<u64>().ok());
            if let Some(number) = number.filter(|_| entry.path().join("state").exists()) {
                last = last.max(Some(number));
            }
        }
        let place = plain(&self.path.display().to_string());
        last.ok_or_else(|| Error::new(Code::Io, format!("{place} holds no state")))
    }

    /// The state of a round.
    pub fn state(&self, round: u64) -> Result<Vec<u8>> {
        Ok(std::fs::read(self.round_path(round).join("state"))?)
    }

    /// What tasks of a round must know; nothing where an engine, which tells them itself, went on before.
    pub fn told(&self, round: u64) -> Option<Vec<u8>> {
        std::fs::read(self.round_path(round).join("told")).ok()
    }

    fn answer_path(&self, round: u64, task: u64) -> PathBuf {
        self.round_path(round).join(format!("answer-{task:05}"))
    }

    /// Keeps the answer to a task.
    pub fn put_answer(&self, round: u64, task: u64, answer: &[u8]) -> Result<()> {
        place::write_atomically(&self.answer_path(round, task), answer)
    }

    /// Whether a task is answered.
    pub fn is_answered(&self, round: u64, task: u64) -> bool {
        self.answer_path(round, task).exists()
    }

    /// The answers of a round; an error that names the tasks without one.
    pub fn answers(&self, round: u64, tasks: u64) -> Result<Vec<Vec<u8>>> {
        let missing: Vec<u64> = (0..tasks).filter(|&k| !self.is_answered(round, k)).collect();
        if !missing.is_empty() {
            let shown: Vec<String> = missing.iter().take(10).map(ToString::to_string).collect();
            let more = if missing.len() > 10 { ", …" } else { "" };
            let message = format!(
                "{} of {tasks} tasks of round {round} have no answer: {}{more}",
                missing.len(),
                shown.join(", ")
            );
            let place = plain(&self.path.display().to_string());
            return Err(Error::new(Code::Io, message).hint(format!(
                "`learnt task {place} K` does task K, `learnt task {place} rest` all of them"
            )));
        }
        let read = |k: u64| std::fs::read(self.answer_path(round, k)).map_err(Error::from);
        (0..tasks).map(read).collect()
    }

    /// Keeps the state of the next round; answers of this one are not needed any more.
    pub fn next(&self, round: u64, state: &[u8], told: &[u8]) -> Result<()> {
        self.put(round, state, told)?;
        if round > 1 {
            let _ = std::fs::remove_dir_all(self.round_path(round - 1));
        }
        Ok(())
    }

    /// Adds a line to the log.
    pub fn log(&self, line: &serde_json::Value) -> Result<()> {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).append(true).open(self.path.join("log.ndjson"))?;
        writeln!(file, "{line}")?;
        Ok(())
    }
}
