//! `learnt fit`.

use super::predict::labelled;
use super::{Call, READING};
use crate::ExitCode;
use crate::input::{self, Supervised};
use crate::learner;
use crate::looks;
use crate::output::{Out, print, print_json};
use crate::place;
use learnt::answer::duration;
use learnt::clock::Moment;
use learnt::data::{Column, Matrix, OwnedDataset, Schema, Table};
use learnt::error::{Code, Error, Result, shell};
use learnt::estimator::AnyEstimator;
use learnt::params::LearnerSpec;
use learnt::prepare::Side;
use learnt::rounds::{Checkpoint, Identity, Source};
use learnt::trained::{Missing, Trained, Unknown, takes_unknown};
use learnt_io::{FileSource, TargetTask, WriteOptions};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

pub(crate) fn fit(call: &Call, name: &str) -> Result<ExitCode> {
    let early = early(call, name)?;
    let started = Moment::now();
    let engine = call.text("engine");
    if call.text("checkpoint").is_some() && !call.flag("stream") && engine.is_none() {
        return Err(Error::new(Code::Usage, "--checkpoint is for fits over blocks")
            .hint("add --stream or --engine"));
    }
    let (mut trained, kept) = match (engine, call.flag("stream")) {
        (Some(engine), _) => {
            if let Some(learner) = &early {
                learnt_jobs::distributes(learner.as_ref())?;
            }
            let streamed = streamed(call, name, early)?;
            (super::job::on_engine(call, &streamed, engine)?, None)
        }
        (None, true) => stream(call, name, early)?,
        (None, false) => (in_memory(call, name, early)?, None),
    };
    if let Some(policy) = call.text("unknown") {
        trained.history.unknown = Unknown::parse(policy)?;
    }
    if let Some(policy) = call.text("missing") {
        trained.history.missing = Missing::parse(policy)?;
    }
    let code = finish(call, &trained, started.seconds())?;
    kept.map_or(Ok(()), |kept| kept.remove())?;
    Ok(code)
}

/// The learner before data are read, where the name says which it is: so that flags are checked first.
pub(super) fn early(call: &Call, name: &str) -> Result<Option<Box<dyn AnyEstimator>>> {
    match learnt::find_all(name).as_slice() {
        [only] => learner::build(call, only).map(Some),
        _ => Ok(None),
    }
}

/// `learnt update`: goes on training a model with more rows.
pub(crate) fn update(call: &Call) -> Result<ExitCode> {
    let before = super::models::load(call)?;
    let (learner, params) = (before.about.path.to_string(), before.history.params.clone());
    let learner = learnt::build(&LearnerSpec { learner, params })?;
    let data = match learner.any_roles().needs_target() {
        true => labelled(call, &before)?,
        false => OwnedDataset { x: input::read(call)?.table, ..OwnedDataset::default() },
    };
    let started = Moment::now();
    let targets = &before.history.targets;
    let mut trained =
        Trained::update(Some(&before), learner.as_ref(), &data.view(), targets, &call.run)?;
    trained.history.weight.clone_from(&before.history.weight);
    finish(call, &trained, started.seconds())
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
    let supervised = input::supervised(call, input::read(call)?, Some(name))?;
    on_rows(call, name, early, &supervised)
}

/// Fits a learner, behind the preparation that it needs, to a table that is read.
pub(super) fn on_rows(
    call: &Call,
    name: &str,
    early: Option<Box<dyn AnyEstimator>>,
    supervised: &Supervised,
) -> Result<Trained> {
    let data = supervised.data.view();
    let learner = chosen(call, name, early, learner::task_of(&data))?;
    input::check_uses(call, learner.as_ref())?;
    learner::claim_encoded(call, learner.as_ref(), &data)?;
    let missing = learner::has_missing(&data);
    let unknown = unknown(learner.as_ref());
    let (learner, said) = learner::prepared(call, learner, data.x.schema(), missing)?;
    if let Some(said) = said {
        call.say(&said);
    }
    let mut trained = match call.text("continue") {
        None => Trained::fit(learner.as_ref(), &data, &supervised.targets, &call.run)?,
        Some(path) => {
            learnt::load(path)?.extended(learner.as_ref(), &data, &supervised.targets, &call.run)?
        }
    };
    trained.history.unknown = unknown;
    trained.open(&learner::Read::of(call)?.columns())?;
    trained.history.digest.clone_from(&supervised.digest);
    trained.history.formula = formula(call, &supervised.targets)?;
    trained.history.weight = call.text("weight").map(str::to_string);
    if let Some(dropped) = supervised.dropped {
        trained.history.dropped = dropped;
        trained.history.missing = Missing::Skip;
    }
    Ok(trained)
}

/// Both sides of the formula, if there is one.
pub(super) fn formula(call: &Call, targets: &[String]) -> Result<Option<String>> {
    let side = call.text("formula").map(Side::split).transpose()?;
    Ok(side.map(|side| side.shown(&targets.join(", "))))
}

/// What a model does with categories that training did not see, unless `--unknown` says it: what the
/// learner itself is set to, whatever stands in front of it.
fn unknown(learner: &dyn AnyEstimator) -> Unknown {
    if takes_unknown(learner) { Unknown::Other } else { Unknown::Error }
}

/// A table in blocks with the learner for it, behind the preparation that it needs.
pub(super) struct Streamed {
    pub(super) source: FileSource,
    pub(super) learner: Box<dyn AnyEstimator>,
    pub(super) targets: Vec<String>,
    pub(super) unknown: Unknown,
}

/// Refuses what leaves out rows with missing values: which those are is known when all rows were read.
fn refuse_dropping(call: &Call, name: &str, source: Option<&FileSource>) -> Result<()> {
    let asked = match call.flag("drop-unlabelled") {
        true => Some("--drop-unlabelled"),
        false => (call.text("impute") == Some("drop-rows")).then_some("--impute drop-rows"),
    };
    let filled = "add --impute median to fill them";
    let (message, way) = match (asked, source) {
        (Some(flag), _) => (format!("{flag} needs the whole table at once"), "leave it out"),
        (None, Some(source)) if input::infers(call, Some(name)) && source.has_missing() => {
            let message = "rows with missing values are left out for tests and intervals, which needs the whole table at once";
            (message.to_string(), filled)
        }
        _ => return Ok(()),
    };
    let whole = "or read the table whole, without blocks";
    Err(Error::unsupported(message).hint(format!("{way}, {whole}")))
}

/// Opens the table that the arguments name in blocks, and builds the learner.
pub(super) fn streamed(
    call: &Call,
    name: &str,
    early: Option<Box<dyn AnyEstimator>>,
) -> Result<Streamed> {
    if let Some(learner) = &early {
        learnt_jobs::distributes(learner.as_ref())?;
    }
    refuse_dropping(call, name, None)?;
    let options = input::options(call)?;
    let path = call.text("data").unwrap_or_default();
    let mut asked = input::ColumnChoice::new(call, None)?;
    asked.leaning = learner::leaning(name).or(asked.leaning);
    let bundled = input::bundled(path);
    if let Some(set) =
        bundled.filter(|_| learner::needs_target(call, name) && asked.targets.is_empty())
    {
        asked.targets.extend(set.target.map(ToString::to_string));
        asked.task = asked.task.or_else(|| input::task_of(set));
    }
    if learner::needs_target(call, name) && asked.targets.is_empty() {
        return Err(Error::new(Code::Target, "no target column is named").hint("add -t COLUMN"));
    }
    let roles = asked.roles();
    let source = match bundled {
        Some(set) => {
            let text = set.text.as_bytes();
            learnt_io::open_stream_bytes(set.name, text, &options, &roles, &call.run)
        }
        None => learnt_io::open_stream(path, &options, &roles, &call.run)
            .map_err(|error| input::or_bundled(error, path)),
    }?;
    let unused = asked.unused(call, source.outline().schema)?;
    let source = source.without(&unused);
    let odd = looks::odd_of_stream(call, &source, &asked)?;
    let mut source = source.without(&odd);
    if let Some(volume) = input::volume(call)? {
        source = source.in_volume(volume)?;
    }
    let files = source.paths().count();
    let count = if files > 1 { format!(" ({files} files)") } else { String::new() };
    call.say(&format!("read {path}{count} in blocks: {}", source.report()));
    source.report().notes.iter().for_each(|note| call.say(&format!("note: {note}")));
    source.notes().iter().for_each(|note| call.say(note));
    let learner = chosen(call, name, early, source.task())?;
    input::check_uses(call, learner.as_ref())?;
    let missing = source.has_missing();
    refuse_dropping(call, name, Some(&source))?;
    let unknown = unknown(learner.as_ref());
    let (learner, said) = learner::prepared(call, learner, source.outline().schema, missing)?;
    if let Some(said) = said {
        call.say(&said);
    }
    Ok(Streamed { source, learner, targets: asked.targets, unknown })
}

/// The model, and the checkpoint that is not needed once it is saved.
fn stream(
    call: &Call,
    name: &str,
    early: Option<Box<dyn AnyEstimator>>,
) -> Result<(Trained, Option<Checkpoint>)> {
    let Streamed { source, learner, targets, unknown } = streamed(call, name, early)?;
    let kept = checkpoint(call, learner.as_ref(), &source)?;
    let mut trained =
        Trained::fit_source_kept(learner.as_ref(), &source, &targets, kept.as_ref(), &call.run)?;
    trained.history.unknown = unknown;
    trained.open(&learner::Read::of(call)?.columns())?;
    trained.history.digest = source.report().digest.clone();
    trained.history.formula = formula(call, &targets)?;
    trained.history.weight = source.weight_name().map(str::to_string);
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
            Out.write_all(&trained.to_bytes()?)?;
            Out.flush()?;
        }
        Some(path) => {
            trained.save(Path::new(path))?;
            let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
            call.say(&format!("wrote {path} ({:.1} kB)", size as f64 / 1000.0));
        }
        None => {}
    }
    write_outcome(call, trained)?;
    call.tell_warnings();
    let report = trained.report().map(|report| super::models::marked(call, report));
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
        let text = report.to_text_fitted(call.most_rows(), call.line_width());
        print(&format!("{}{text}", trained.heading()));
    } else if out.is_none() {
        call.say("the model was not saved: add -o MODEL.learnt");
    }
    if let Some(path) = out.filter(|path| *path != "-") {
        let (options, path) = (call.repeated(READING), shell(path));
        let data = shell(call.text("data").unwrap_or_default());
        call.next(&match about.roles.clusterer && !about.offers.assign {
            true => format!("learnt plot clusters {path} {data}{options}"),
            false => format!("learnt predict {path} NEW.csv{options}"),
        });
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
        let table = Table::new(values, Schema::numeric(["cluster"])?)?;
        place::table(call, path, &table, &WriteOptions::default())?;
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
        let table = Table::new(values, Schema::new(columns)?)?;
        place::table(call, path, &table, &WriteOptions::default())?;
    }
    Ok(())
}
