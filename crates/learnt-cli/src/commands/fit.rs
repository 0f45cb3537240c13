//! `learnt fit`.

use super::Call;
use super::predict::labelled;
use crate::input;
use crate::learner;
use crate::output::{print, print_json};
use learnt::data::{Column, Matrix, OwnedDataset, Schema, Table};
use learnt::error::{Code, Error, Result};
use learnt::estimator::AnyEstimator;
use learnt::params::LearnerSpec;
use learnt::rounds::{Checkpoint, Identity, Source};
use learnt::trained::{Trained, Unknown};
use learnt_io::{FileSource, TargetTask};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(crate) fn fit(call: &Call, name: &str) -> Result<ExitCode> {
    check_out(call)?;
    // Flags are checked before data are read, where the name says which learner it is.
    let early = match learnt::find_all(name).as_slice() {
        [only] => Some(learner::build(call, only)?),
        _ => None,
    };
    let started = Instant::now();
    let (mut trained, kept) = match call.flag("stream") {
        true => stream(call, name, early)?,
        false => (in_memory(call, name, early)?, None),
    };
    if call.text("unknown") == Some("missing") {
        trained.history.unknown = Unknown::Missing;
    }
    let code = finish(call, &trained, started.elapsed().as_secs_f64())?;
    kept.map_or(Ok(()), |kept| kept.remove())?;
    Ok(code)
}

/// `learnt update`: goes on training a model with more rows.
pub(crate) fn update(call: &Call) -> Result<ExitCode> {
    check_out(call)?;
    let before = super::models::load(call)?;
    let (learner, params) = (before.about.path.to_string(), before.history.params.clone());
    let learner = learnt::build(&LearnerSpec { learner, params })?;
    let data = match learner.any_roles().needs_target() {
        true => labelled(call, &before)?,
        false => OwnedDataset { x: input::read(call)?.table, ..OwnedDataset::default() },
    };
    let started = Instant::now();
    let targets = &before.history.targets;
    let trained =
        Trained::update(Some(&before), learner.as_ref(), &data.view(), targets, &call.run)?;
    finish(call, &trained, started.elapsed().as_secs_f64())
}

/// A model is not replaced by accident, and a bad place is found before the work.
fn check_out(call: &Call) -> Result<()> {
    let Some(out) = call.text("out") else { return Ok(()) };
    if Path::new(out).exists() && !call.flag("force") {
        return Err(Error::new(Code::Usage, format!("{out} exists")).hint("add -f to replace it"));
    }
    Ok(())
}

/// The learner of a name whose task is known; `early` is the one that was built before.
fn chosen(
    call: &Call,
    name: &str,
    early: Option<Box<dyn AnyEstimator>>,
    task: Option<TargetTask>,
) -> Result<Box<dyn AnyEstimator>> {
    let entry = learner::resolve(name, task)?;
    learner::check_task(entry, task)?;
    early.map_or_else(|| learner::build(call, entry), Ok)
}

fn in_memory(call: &Call, name: &str, early: Option<Box<dyn AnyEstimator>>) -> Result<Trained> {
    let input = input::read(call)?;
    let supervised = input::supervised(call, input, Some(name))?;
    let data = supervised.data.view();
    let learner = chosen(call, name, early, learner::task_of(&data))?;
    let missing = learner::has_missing(&data);
    let (learner, said) = learner::prepared(call, learner, data.x.schema(), missing)?;
    if let Some(said) = said {
        call.say(&said);
    }
    let mut trained = Trained::fit(learner.as_ref(), &data, &supervised.targets, &call.run)?;
    trained.history.digest = supervised.digest;
    Ok(trained)
}

/// The model, and the checkpoint that is not needed once it is saved.
fn stream(
    call: &Call,
    name: &str,
    early: Option<Box<dyn AnyEstimator>>,
) -> Result<(Trained, Option<Checkpoint>)> {
    let options = input::options(call)?;
    let path = call.text("data").unwrap_or_default();
    let mut asked = input::ColumnChoice::new(call, None)?;
    asked.leaning = learner::leaning(name);
    if learner::needs_target(name) && asked.targets.is_empty() {
        return Err(Error::new(Code::Target, "no target column is named").hint("add -t COLUMN"));
    }
    let source = learnt_io::open_stream(path, &options, &asked.roles(), &call.run)
        .map_err(|error| input::or_bundled(error, path))?;
    let unused = asked.unused(call, source.outline().schema)?;
    let source = source.without(&unused);
    call.say(&format!("read {path} in blocks: {}", source.report()));
    source.report().notes.iter().for_each(|note| call.say(&format!("note: {note}")));
    source.notes().iter().for_each(|note| call.say(note));
    let learner = chosen(call, name, early, source.task())?;
    let missing = source.report().columns.iter().any(|column| column.missing > 0);
    let (learner, said) = learner::prepared(call, learner, source.outline().schema, missing)?;
    if let Some(said) = said {
        call.say(&said);
    }
    let kept = checkpoint(call, learner.as_ref(), &source)?;
    let targets = &asked.targets;
    let mut trained =
        Trained::fit_source_kept(learner.as_ref(), &source, targets, kept.as_ref(), &call.run)?;
    trained.history.digest = source.report().digest.clone();
    Ok((trained, kept))
}

/// Where a streamed fit is kept, with `--checkpoint`.
fn checkpoint(
    call: &Call,
    learner: &dyn AnyEstimator,
    source: &FileSource,
) -> Result<Option<Checkpoint>> {
    let Some(folder) = call.text("checkpoint") else { return Ok(None) };
    let digest = source.report().digest.as_deref();
    let identity = Identity::new(learner, &source.outline(), digest, &call.run)?;
    let mut kept = Checkpoint::new(Path::new(folder), identity, call.flag("resume"))?;
    if kept.found() {
        call.say(&format!("goes on from the checkpoint in {folder}"));
    }
    if let Some(seconds) = call.number("checkpoint-every") {
        let every = Duration::try_from_secs_f64(seconds)
            .map_err(|_| Error::parameter("--checkpoint-every", "seconds", seconds))?;
        kept = kept.every(every);
    }
    Ok(Some(kept))
}

fn finish(call: &Call, trained: &Trained, seconds: f64) -> Result<ExitCode> {
    let history = &trained.history;
    let about = learner::main_about(trained)?;
    let name = about.command();
    call.say(&format!(
        "{name}  {} rows x {} columns  seed {}  {} threads  {}",
        history.rows,
        history.schema.len(),
        history.seed,
        call.run.threads(),
        duration(seconds)
    ));
    let out = call.text("out");
    match out {
        Some("-") => {
            use std::io::Write;
            std::io::stdout().lock().write_all(&trained.to_bytes()?)?;
        }
        Some(path) => {
            trained.save(Path::new(path))?;
            let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
            call.say(&format!(
                "wrote {path} ({:.1} kB)   next: learnt predict {path} NEW.csv",
                size as f64 / 1000.0
            ));
        }
        None => {}
    }
    write_outcome(call, trained)?;
    let report = trained.report();
    if call.json && out != Some("-") {
        let payload = json!({
            "learner": about.path, "model_type": trained.about.path, "rows": history.rows, "columns": history.schema.len(),
            "targets": history.targets, "seconds": seconds, "warnings": history.warnings,
            "converged": trained.model.converged(), "model": out,
            "data": { "path": call.text("data"), "rows": history.rows, "digest": history.digest },
            "report": report.as_ref().map_or(Json::Null, learnt::answer::Answer::to_json),
        });
        print_json("fit", Some(history.seed), payload);
    } else if let Some(report) = report.filter(|_| out != Some("-")) {
        print(&report.to_text());
    } else if out.is_none() {
        call.say("the model was not saved: add -o MODEL.learnt");
    }
    if call.flag("strict") && !trained.model.converged() {
        return Ok(ExitCode::from(Code::NotConverged.exit_code()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the fit gave beside the model, where it is asked for.
fn write_outcome(call: &Call, trained: &Trained) -> Result<()> {
    let outcome = &trained.outcome;
    if let Some(path) = call.text("labels") {
        if outcome.labels.is_empty() {
            let message = format!("{} gave no clusters of its training rows", trained.about.name());
            return Err(Error::unsupported(message)
                .hint("--labels is for clusterers that read the whole table, without --stream"));
        }
        let code = |label: &Option<u32>| label.map_or(-1.0, f64::from);
        let values = Matrix::column_vector(outcome.labels.iter().map(code).collect());
        write_table(call, path, &Table::new(values, Schema::numeric(["cluster"])?)?)?;
    }
    if let Some(path) = call.text("trace") {
        if outcome.trace.is_empty() {
            let message = format!("{} recorded no objective", trained.about.name());
            return Err(Error::unsupported(message).hint("--trace is for learners that iterate"));
        }
        let mut stages: Vec<String> = Vec::new();
        let rows = outcome.trace.iter().map(|traced| {
            let known = stages.iter().position(|stage| *stage == traced.stage);
            let stage = known.unwrap_or_else(|| {
                stages.push(traced.stage.clone());
                stages.len() - 1
            });
            [stage as f64, traced.iteration as f64, traced.objective]
        });
        let values = Matrix::from_rows(&rows.collect::<Vec<_>>())?;
        let columns = vec![
            Column::categorical("stage", stages),
            Column::numeric("iteration"),
            Column::numeric("objective"),
        ];
        write_table(call, path, &Table::new(values, Schema::new(columns)?)?)?;
    }
    Ok(())
}

fn write_table(call: &Call, path: &str, table: &Table) -> Result<()> {
    learnt_io::write(path, &table.frame(), &learnt_io::WriteOptions::default())?;
    call.say(&format!("wrote {path} ({} rows)", table.values().nrows()));
    Ok(())
}

/// Seconds for people.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}
