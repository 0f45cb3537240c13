//! `learnt plan`, `learnt task` and `learnt advance`: a fit as commands, so that whatever starts commands
//! (make, a loop, Slurm, Kubernetes) is the cluster.

use super::Call;
use super::fit::{Streamed, early, streamed};
use crate::ExitCode;
use crate::learner;
use crate::output::{print, print_json};
use learnt::answer::{Cell, Columns};
use learnt::clock::Moment;
use learnt::context::{Progress, Quiet};
use learnt::error::{Code, Error, Result, shell};
use learnt::rounds::{Source, Step};
use learnt::trained::{Missing, Trained, Unknown};
use learnt_jobs::{Cluster, Estimate, Folder, Job, Settings, rehearse};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `advance` exits with if another round is to be done.
const AGAIN: u8 = 9;

pub(crate) fn plan(call: &Call, name: &str) -> Result<ExitCode> {
    let streamed = streamed(call, name, early(call, name)?)?;
    let bytes = bytes_of(call, &streamed)?;
    let source = &streamed.source;
    let count = |name: &str| number(call, name);
    let job = Job::open(&bytes)?;
    // What the fit itself will say is said then.
    let quiet = call.run.observed_by(&Quiet);
    let found = rehearse(&bytes, &quiet).map_err(|error| {
        call.say(&format!("a fit to the first rows failed: {error}"));
        error
    });
    let mut facts = Columns::new("job", &["what", "value"]);
    let mut fact = |name: &str, value: String| {
        facts.push(vec![Cell::Text(name.to_string()), Cell::Text(value)]);
    };
    let (rows, columns) = (source.outline().rows, source.outline().schema.len());
    let tasks = job.planned_tasks();
    fact("rows, columns", format!("{rows}, {columns}"));
    fact("files", source.paths().count().to_string());
    fact("blocks a round", job.blocks().to_string());
    fact("tasks a round", tasks.to_string());
    let mut estimate = None;
    if let Ok(found) = &found {
        let more = if found.whole { "" } else { " and more" };
        fact("rounds (in a fit to the first rows)", format!("{}{more}", found.rounds));
        let nodes = 2 * (64 - job.blocks().leading_zeros()).max(1) as u64;
        fact(
            "answer of a task",
            format!("{} at most", size(found.answer_bytes * nodes.min(tasks + 1))),
        );
        fact("bytes a round", size(tasks * (found.answer_bytes + found.state_bytes)));
        let threads = call.run.threads() as u64;
        let memory = job.working_bytes(threads) + 3 * threads * found.answer_bytes;
        fact("memory of a worker", format!("{} and what it is told to keep", size(memory)));
        let cluster = Cluster {
            nodes: count("nodes").unwrap_or(tasks),
            cores: count("cores").unwrap_or(Cluster::default().cores),
            ..Cluster::default()
        };
        let rows = call.number("rows").map_or(rows, |rows| rows as u64);
        estimate = Some(Estimate::new(cluster, rows, 8 * (columns as u64 + 1), found.clone()));
    }
    if let Some(folder) = call.text("job") {
        created(call, Path::new(folder), &bytes, &job)?;
        fact("job", folder.to_string());
    }
    show(call, &job, &facts, found.ok().as_ref(), estimate.as_ref(), tasks);
    Ok(ExitCode::SUCCESS)
}

fn number(call: &Call, name: &str) -> Option<u64> {
    call.args.try_get_one::<u64>(name).ok().flatten().copied()
}

/// The bytes of the job that the arguments ask for.
fn bytes_of(call: &Call, streamed: &Streamed) -> Result<Vec<u8>> {
    let tasks = number(call, "tasks").unwrap_or(call.run.threads() as u64);
    let settings = Settings {
        seed: call.run.seed(),
        targets: streamed.targets.clone(),
        tasks: Some(tasks.min(streamed.source.blocks())),
        unknown: Some(call.text("unknown").map_or(Ok(streamed.unknown), Unknown::parse)?),
        missing: call.text("missing").map(Missing::parse).transpose()?,
        opened: learner::Read::of(call)?.columns(),
        any_processor: call.flag("any-processor"),
    };
    learnt_jobs::plan(streamed.learner.as_ref(), &streamed.source, &settings)
}

/// A new folder with a job and its first state.
fn created(call: &Call, path: &Path, bytes: &[u8], job: &Job) -> Result<Folder> {
    let first = job.begin(&call.run)?;
    Folder::create(path, bytes, &job.to_bytes(&first)?, &job.for_tasks(&first)?)
}

/// `learnt fit --engine`: plans the fit, and lets the Python package run it on the engine.
pub(super) fn on_engine(call: &Call, streamed: &Streamed, engine: &str) -> Result<Trained> {
    let bytes = bytes_of(call, streamed)?;
    let job = Job::open(&bytes)?;
    let own = std::env::temp_dir().join(format!("learnt-job-{}", std::process::id()));
    let path = call.text("checkpoint").map_or(own.clone(), PathBuf::from);
    let folder = match call.flag("resume") && path.join("job").exists() {
        false => created(call, &path, &bytes, &job)?,
        true => {
            let folder = Folder::open(&path)?;
            if folder.plan()? != bytes {
                let message = format!("{} holds another fit", path.display());
                return Err(Error::new(Code::Usage, message)
                    .hint("give the options of the fit that it is of, or another folder"));
            }
            call.say(&format!("goes on from the checkpoint in {}", path.display()));
            folder
        }
    };
    let model = ask_python(call, &path, engine).and_then(|()| learnt::load(folder.model_path()));
    if model.is_ok() || call.text("checkpoint").is_none() {
        std::fs::remove_dir_all(&path)?;
    }
    model
}

/// Runs the job in a folder by `python -m learnt.distributed`.
fn ask_python(call: &Call, path: &Path, engine: &str) -> Result<()> {
    let python = std::env::var_os("LEARNT_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-m", "learnt.distributed"]).arg(path).args(["--engine", engine]);
    for name in ["address", "workers"] {
        let value = call.text(name).map(ToString::to_string);
        if let Some(value) = value.or_else(|| number(call, name).map(|n| n.to_string())) {
            command.arg(format!("--{name}")).arg(value);
        }
    }
    if call.quiet {
        command.arg("--quiet");
    }
    let hint = format!(
        "pip install 'learnt[{engine}]' of this version into that Python, or name another in LEARNT_PYTHON"
    );
    let name = python.to_string_lossy().into_owned();
    match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let message = format!("{name} -m learnt.distributed ended with {status}");
            Err(Error::new(Code::Io, message).hint(hint))
        }
        Err(error) => Err(Error::from(error).within(&name).hint(hint)),
    }
}

/// Prints what a plan found.
fn show(
    call: &Call,
    job: &Job,
    facts: &Columns,
    found: Option<&learnt_jobs::Rehearsal>,
    estimate: Option<&Estimate>,
    tasks: u64,
) {
    if call.json {
        let payload = json!({
            "job": job.facts(), "tasks": tasks, "folder": call.text("job"),
            "rehearsal": found.map(|found| json!({
                "rows": found.rows, "rounds": found.rounds, "whole": found.whole,
                "answer_bytes": found.answer_bytes, "state_bytes": found.state_bytes,
                "check_seconds_a_row": found.check_seconds, "read_seconds_a_row": found.read_seconds, "work_seconds_a_row": found.work_seconds,
            })),
            "expected": estimate.map(|estimate| estimate.table().to_json()),
            "one_machine_is_enough": estimate.map(Estimate::is_enough_alone),
        });
        print_json("plan", Some(job.seed()), payload);
        return;
    }
    print(&facts.to_text());
    if let Some(estimate) = estimate {
        print(&format!("\n{}", estimate.table().to_text()));
        call.say(&estimate.advice());
    }
    if let Some(folder) = call.text("job") {
        let folder = shell(folder);
        call.next(&format!(
            "learnt task {folder} K for every K from 0 to {}, then learnt advance {folder} -o MODEL.learnt",
            tasks - 1
        ));
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.0} MB", bytes as f64 / 1e6),
    }
}

/// The job that the arguments name.
fn opened(call: &Call) -> Result<(Folder, Job)> {
    let folder = Folder::open(Path::new(call.text("job").unwrap_or_default()))?;
    let job = Job::open(&folder.plan()?)?;
    Ok((folder, job))
}

/// `learnt task DIR K`: does a task of the round that the job is in.
pub(crate) fn task(call: &Call) -> Result<ExitCode> {
    let (folder, job) = opened(call)?;
    let round = folder.round()?;
    let tasks = job.tasks(round, job.planned_tasks())?;
    let word = call.text("task").unwrap_or("rest");
    let wanted: Vec<u64> = match word {
        "rest" => (0..tasks.len() as u64).filter(|&k| !folder.is_answered(round, k)).collect(),
        _ => {
            let number = word.parse::<u64>().ok().filter(|&k| k < tasks.len() as u64);
            let last = tasks.len() - 1;
            let bad = || {
                Error::parameter("K", format!("from 0 to {last}, or `rest`"), format!("'{word}'"))
            };
            vec![number.ok_or_else(bad)?]
        }
    };
    let told = match folder.told(round) {
        Some(told) => told,
        None => job.for_tasks(&job.read(&folder.state(round)?)?)?,
    };
    for k in wanted {
        let started = Moment::now();
        let answer = job.answer(&told, &tasks[k as usize], &call.run)?;
        // A driver that went on meanwhile has this answer already.
        if folder.round()? == round {
            folder.put_answer(round, k, &answer)?;
        }
        let seconds = started.seconds();
        call.say(&format!("round {round}: task {k} of {} in {seconds:.2} s", tasks.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// `learnt advance DIR`: the next round from the answers of this one, or the model.
pub(crate) fn advance(call: &Call) -> Result<ExitCode> {
    let (folder, job) = opened(call)?;
    let round = folder.round()?;
    let state = job.read(&folder.state(round)?)?;
    let tasks = job.planned_tasks();
    let answers = folder.answers(round, tasks)?;
    let answers: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
    let bytes: usize = answers.iter().map(|answer| answer.len()).sum();
    let line = |objective: Option<f64>, done: bool| {
        json!({
            "round": round, "tasks": tasks, "rows": job.source().outline().rows, "bytes": bytes,
            "objective": objective.filter(|x| x.is_finite()), "done": done,
        })
    };
    match job.advance(state, &answers, &call.run)? {
        Step::Again(next) => {
            let objective = next.objective();
            folder.next(round + 1, &job.to_bytes(&next)?, &job.for_tasks(&next)?)?;
            folder.log(&line(objective, false))?;
            call.run.progress(&Progress { stage: "round", done: round, total: None, objective })?;
            let objective =
                objective.map_or(String::new(), |value| format!(", objective {value:.6e}"));
            call.say(&format!("round {round} is done{objective}: another one is to be run"));
            Ok(ExitCode::from(AGAIN))
        }
        Step::Done(trained) => {
            folder.log(&line(trained.outcome.trace.last().map(|traced| traced.objective), true))?;
            let path = folder.model_path();
            let path = call.text("out").map_or(path.as_path(), Path::new);
            trained.save(path)?;
            call.tell_warnings();
            call.say(&format!("round {round} was the last: wrote {}", path.display()));
            let strict = call.flag("strict") && !trained.model.converged();
            Ok(if strict {
                ExitCode::from(Code::NotConverged.exit_code())
            } else {
                ExitCode::SUCCESS
            })
        }
    }
}
