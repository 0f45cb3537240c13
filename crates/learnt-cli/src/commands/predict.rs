//! `learnt predict` and `learnt score`.

use super::Call;
use super::compare::{chosen_metrics, shares};
use super::decision::{of_data, one_class_hint, told};
use super::models::load;
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::output::{print, print_json};
use crate::place;
use learnt::answer::{Cell, Columns, finite};
use learnt::data::{Dataset, OwnedDataset, OwnedTarget, Schema, Sequences, Table, Target};
use learnt::error::{Code, Error, Result, plain};
use learnt::metrics::{self, ByClass, ConfusionCounts, Direction, Predictions, Task};
use learnt::trained::{Missing, Rows, Trained, beside};
use learnt_io::WriteOptions;
use serde_json::{Map, Value as Json, json};

pub(crate) fn predict(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    check_volume(call, &trained)?;
    let mut options = input::options(call)?;
    options.allow_empty = true;
    let input = input::read_with(call, &options)?;
    let choice = input::ColumnChoice::new(call, None)?;
    let (table, offsets) = input::without_sequence(input.table, choice.sequence)?;
    note_extra(call, &trained, table.schema());
    let frame = table.frame();
    let sequences = offsets.as_deref().map(|offsets| Sequences::new(offsets, frame.nrows()));
    let rows = trained.admit(&frame, sequences.transpose()?, missing(call)?, &call.run)?;
    note_skipped(call, &rows);
    let method = call.text("method").unwrap_or("predict");
    let mut table = trained.table(method, call.flag("proba"), &rows, &call.run)?;
    table = super::decision::decided(call, &trained, &rows, table)?;
    if call.flag("scores") {
        let scores = trained.table("decision_scores", false, &rows, &call.run)?;
        table = beside(&table.frame(), scores)?;
    }
    let table = rows.spread(table)?;
    let table = match call.flag("append") {
        true => beside(&frame, table)?,
        false => table,
    };
    match (call.text("out"), call.json) {
        (Some(path), _) if path != "-" => {
            place::table(call, path, &table, &WriteOptions::default())?;
        }
        (_, true) => print_json("predict", None, json!({ "predictions": rows_json(&table) })),
        _ => place::table(call, "-", &table, &WriteOptions::default())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses other volumes than those of the training rows.
fn check_volume(call: &Call, trained: &Trained) -> Result<()> {
    let (given, known) = (input::volume(call)?, trained.history.schema.volume());
    match (given, known) {
        (Some(given), known) if Some(given) != known => {
            let known = known.map_or("a table".to_string(), |known| known.to_string());
            let message = format!("--volume {given}, and the model was trained on {known}");
            Err(Error::new(Code::Shape, message).hint("leave out --volume: the model knows it"))
        }
        _ => Ok(()),
    }
}

/// What `--missing` says about missing values that the learner cannot take; without it the model does.
fn missing(call: &Call) -> Result<Option<Missing>> {
    call.text("missing").map(Missing::parse).transpose()
}

fn note_skipped(call: &Call, rows: &Rows) {
    let (skipped, all) = (rows.skipped(), rows.skipped() + rows.frame().nrows());
    if skipped > 0 {
        call.say(&format!("skipped {skipped} of {all} rows with missing values"));
    }
    for unseen in rows.unseen() {
        let count: usize = unseen.levels.iter().map(|(_, rows)| rows).sum();
        let shown: Vec<String> =
            unseen.levels.iter().take(3).map(|(level, _)| format!("'{}'", plain(level))).collect();
        let more = if unseen.levels.len() > 3 { ", …" } else { "" };
        call.run.warn(
            Code::Category,
            format!(
                "{} holds {} levels in {count} rows that training did not see: {}{more}; predicted all the same, --unknown at fit says how",
                plain(&unseen.column),
                unseen.levels.len(),
                shown.join(", ")
            ),
        );
    }
    if rows.filled() > 0 {
        call.say(&format!(
            "filled {} missing values with the means and commonest levels of training",
            rows.filled()
        ));
    }
}

fn note_extra(call: &Call, trained: &Trained, schema: &Schema) {
    let extra: Vec<&str> = trained
        .extra_columns(schema)
        .into_iter()
        .filter(|name| !trained.history.targets.iter().any(|t| t == name))
        .filter(|name| trained.history.weight.as_deref() != Some(*name))
        .collect();
    if !extra.is_empty() {
        const MOST: usize = 5;
        let names: Vec<String> = extra.iter().take(MOST).map(|name| plain(name)).collect();
        let more = match extra.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (verb, names) =
            (if extra.len() == 1 { "column is" } else { "columns are" }, names.join(", "));
        let count = extra.len();
        call.say(&format!("note: {count} {verb} not used by the model: {names}{more}"));
    }
}

pub(super) fn rows_json(table: &Table) -> Vec<Json> {
    let schema = table.schema();
    let cell = |i: usize, j: usize| {
        let value = table.values()[(i, j)];
        match schema.column(j).levels() {
            Some(levels) => levels
                .get(value as usize)
                .filter(|_| !value.is_nan())
                .map_or(Json::Null, |level| json!(level)),
            None => finite(value),
        }
    };
    (0..table.values().nrows())
        .map(|i| {
            Json::Object(
                schema
                    .names()
                    .enumerate()
                    .map(|(j, name)| (name.to_string(), cell(i, j)))
                    .collect(),
            )
        })
        .collect()
}

/// The name of a column of groups that the model needs as an input too.
const COPY: &str = "(group)";

/// The rows that the arguments name with the model's own targets and weights.
pub(crate) fn labelled(call: &Call, trained: &Trained) -> Result<OwnedDataset> {
    weighed_input(call, trained, input::read(call)?)
}

/// The same for a table that is read.
pub(crate) fn weighed_input(
    call: &Call,
    trained: &Trained,
    input: input::Input,
) -> Result<OwnedDataset> {
    let known = trained.history.weight.as_deref().filter(|_| call.text("weight").is_none());
    let Some(weight) = known else { return labelled_input(call, trained, input) };
    let schema = input.table.schema();
    if schema.position(weight).is_none() {
        let message = format!(
            "the model was fitted with the weights of column '{weight}', which is not here"
        );
        return Err(Error::new(Code::Unknown, message).column(weight).hint("add --weight COLUMN"));
    }
    call.say(&format!("note: rows count by '{weight}', as in training"));
    with_roles(call, trained, input, Some(weight))
}

/// The rows of a table with the model's own targets.
pub(crate) fn labelled_input(
    call: &Call,
    trained: &Trained,
    input: input::Input,
) -> Result<OwnedDataset> {
    with_roles(call, trained, input, call.text("weight"))
}

fn with_roles<'a>(
    call: &'a Call,
    trained: &'a Trained,
    input: input::Input,
    weight: Option<&'a str>,
) -> Result<OwnedDataset> {
    note_extra(call, trained, input.table.schema());
    let mut asked = input::ColumnChoice { weight, ..input::ColumnChoice::new(call, None)? };
    if asked.targets.is_empty() {
        asked.targets.clone_from(&trained.history.targets);
    }
    if asked.targets.is_empty() {
        let message = "the model does not know its target's name";
        return Err(Error::new(Code::Target, message).hint("add -t COLUMN"));
    }
    asked.settle(input.table.schema());
    let (mut table, _) = input::complete_rows(call, trained, input.table, true);
    if let Some(group) = asked.group.filter(|name| trained.history.schema.position(name).is_some())
    {
        table = input::with_copy(table, group, COPY)?;
        asked.group = Some(COPY);
    }
    asked.task = Some(match trained.history.classes.is_empty() {
        true => learnt_io::TargetTask::Regress,
        false => learnt_io::TargetTask::Classify,
    });
    let parts = learnt_io::to_dataset(table, &asked.roles())?;
    with_model_classes(&parts.data.view(), trained)
}

/// The rows for a clustering; classes that are known only where -t names them.
fn clustered(call: &Call, trained: &Trained, input: input::Input) -> Result<OwnedDataset> {
    note_extra(call, trained, input.table.schema());
    let mut asked = input::ColumnChoice::new(call, None)?;
    asked.task = asked.targets.first().map(|_| learnt_io::TargetTask::Classify);
    Ok(learnt_io::to_dataset(input.table, &asked.roles())?.data)
}

pub(crate) fn score(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let input = input::read(call)?;
    warn_of_training_rows(call, &trained, input.digest.as_deref());
    let data = match trained.model.as_clusterer() {
        Some(_) => clustered(call, &trained, input)?,
        None => labelled_input(call, &trained, input)?,
    };
    let Scored { scores, by_class, told } = metrics_of(call, &trained, &data.view())?;
    if let Some((_, _, Err(error))) = scores.first()
        && scores.iter().all(|(_, _, score)| score.is_err())
    {
        return Err(error.clone());
    }
    let missed = gate(call, &scores)?;
    if call.json {
        let metrics: Map<String, Json> = scores
            .iter()
            .map(|(name, direction, score)| {
                let value = score.as_ref().map_or(Json::Null, |x| finite(*x));
                let why = score.as_ref().err().map(|error| error.message().to_string());
                (name.clone(), json!({ "value": value, "better": if *direction == Direction::Higher { "higher" } else { "lower" }, "value_why": why }))
            })
            .collect();
        print_json(
            "score",
            None,
            json!({
                "metrics": metrics, "rows": data.x.values().nrows(), "gate_missed": missed,
                "classes": by_class.as_ref().map(|found| found.classes.to_json()),
                "confusion": by_class.as_ref().map(|found| found.confusion.to_json()),
                "notes": told,
            }),
        );
    } else {
        let mut table = Columns::new("", &["metric", "value"]);
        for (name, _, score) in &scores {
            let cell = match score {
                Ok(value) => Cell::Number(*value),
                Err(error) => Cell::Empty(error.message().to_string()),
            };
            table.push(vec![Cell::Text(name.clone()), cell]);
        }
        print(&call.fitted(&table));
        if let Some(found) = &by_class {
            print(&format!("\n{}", call.fitted(&found.classes)));
            if trained.history.classes.len() <= metrics::CLASSES_SHOWN {
                print(&format!("\n{}", call.fitted(&found.confusion)));
            }
        }
        told.iter().for_each(|line| print(&format!(" {line}\n")));
        for (name, why) in absences(&scores) {
            print(&format!(" {name}: {why}\n"));
        }
    }
    if let Some(only) = by_class.and_then(|found| found.only) {
        warn_of_one_class(call, &trained, &data.view(), only);
    }
    if let Some(missed) = missed {
        crate::output::say(&missed);
        return Ok(ExitCode::from(6));
    }
    Ok(ExitCode::SUCCESS)
}

/// The scores that do not exist, and why.
fn absences(scores: &Scores) -> impl Iterator<Item = (&str, String)> {
    scores.iter().filter_map(|(name, _, score)| {
        Some((name.as_str(), plain(score.as_ref().err()?.message())))
    })
}

/// A word where the rows are those of training: their scores flatter.
fn warn_of_training_rows(call: &Call, trained: &Trained, digest: Option<&str>) {
    if digest.is_some() && digest == trained.history.digest.as_deref() {
        let message = "the model was trained on this very file: the scores say nothing about new rows; use another file, or learnt cv";
        call.run.warn(Code::Usage, message);
    }
}

/// A word where every row is given one class.
fn warn_of_one_class(call: &Call, trained: &Trained, data: &Dataset, only: usize) {
    let Some(Target::Class { codes, .. }) = data.y else { return };
    let classes = &trained.history.classes;
    let class = classes.get(only).map_or(String::new(), ToString::to_string);
    let weights = trained.history.params.iter().any(|(name, _)| name.ends_with("class_weight"));
    let shares = shares(codes, classes.len());
    let hint = one_class_hint(call, classes, only, &shares, weights);
    let message = format!("every row is predicted as '{}'; {hint}", plain(&class));
    call.run.warn(Code::OneClass, message);
}

/// The data with class codes as the model has them.
fn with_model_classes(data: &Dataset, trained: &Trained) -> Result<OwnedDataset> {
    let all: Vec<usize> = (0..data.nrows()).collect();
    let mut owned = data.gather(&all);
    if let Some(Target::Class { codes, classes }) = data.y {
        let known: Vec<String> = trained.history.classes.iter().map(ToString::to_string).collect();
        let map: Vec<Option<u32>> = classes
            .iter()
            .map(|class| known.iter().position(|k| *k == class.to_string()).map(|k| k as u32))
            .collect();
        let code = |code: &u32| {
            map[*code as usize].ok_or_else(|| {
                Error::unknown(
                    "class",
                    &classes[*code as usize].to_string(),
                    known.iter().map(String::as_str),
                )
            })
        };
        let codes = codes.iter().map(code).collect::<Result<Vec<u32>>>()?;
        owned.y = Some(OwnedTarget::Class { codes, classes: trained.history.classes.clone() });
    }
    Ok(owned)
}

type Scores = Vec<(String, Direction, Result<f64>)>;

/// Scores by name, and what there is to say about each class.
struct Scored {
    scores: Scores,
    by_class: Option<ByClass>,
    /// What is to be said about the decision.
    told: Vec<String>,
}

fn metrics_of(call: &Call, trained: &Trained, data: &Dataset) -> Result<Scored> {
    let task = match trained.model.as_clusterer() {
        Some(_) => Task::Unsupervised,
        None => Task::of(data),
    };
    let decision = of_data(call, data)?.filter(|_| task == Task::Classification);
    let chosen = chosen_metrics(call, task, data)?;
    let rows = trained.admit(&data.x, data.sequences, missing(call)?, &call.run)?;
    note_skipped(call, &rows);
    let kept = rows.kept().map(|kept| data.gather(kept));
    let data = kept.as_ref().map_or(*data, OwnedDataset::view);
    let mut predictions = Predictions::of(trained.model.as_ref(), &rows.frame(), &call.run)?;
    if let Some(decision) = &decision {
        predictions = predictions.decided(decision)?;
    }
    if trained.model.as_clusterer().is_some() {
        assigns(trained, &rows, call)?;
    }
    // Scores of clusters are over the columns of the model, whatever else the table has.
    let data = Dataset { x: rows.frame(), ..data };
    let outcome = predictions.with_truth(&data);
    let by_class = match (outcome.truth, outcome.codes) {
        (Some(Target::Class { codes, classes }), Some(predicted)) => {
            let counts = ConfusionCounts::new(codes, predicted, classes.len(), data.weights)?;
            Some(metrics::by_class(&counts, classes, outcome.positive))
        }
        _ => None,
    };
    let told = decision.map_or(Ok(Vec::new()), |decision| told(call, &decision, &outcome))?;
    let score = |metric: &&'static metrics::Metric| {
        (metric.name.to_string(), metric.direction, metric.score(&outcome, &call.run))
    };
    Ok(Scored { scores: chosen.iter().map(score).collect(), by_class, told })
}

/// That a clustering has clusters for rows that it was not fitted to.
fn assigns(trained: &Trained, rows: &Rows, call: &Call) -> Result<()> {
    match trained.call("assign", rows, &call.run) {
        Err(error) if error.code() == Code::Unsupported => {
            let name = learner::main_about(trained)?.command();
            Err(error.hint(format!(
                "learnt cluster {name} DATA labels the rows that it is fitted to, and scores them"
            )))
        }
        other => other.map(|_| ()),
    }
}

/// The sentence about a missed gate, if there is one.
fn gate(call: &Call, scores: &Scores) -> Result<Option<String>> {
    let Some(gate) = call.text("fail-under") else { return Ok(None) };
    let bad = || Error::parameter("--fail-under", "of the form METRIC=X", format!("'{gate}'"));
    let (name, bound) = gate.split_once('=').ok_or_else(bad)?;
    let bound: f64 = bound.parse().map_err(|_| bad())?;
    if bound.is_nan() {
        return Err(bad());
    }
    let metric = metrics::find(name)?;
    let (_, direction, score) =
        scores.iter().find(|(known, ..)| known == metric.name).ok_or_else(|| {
            Error::new(Code::Usage, format!("the metric {name} is not among those computed"))
                .hint(format!("add --metric {name}"))
        })?;
    let value = score.clone()?;
    let missed = if *direction == Direction::Higher { value < bound } else { value > bound };
    Ok(missed.then(|| format!("{name} is {value:.6}, and the gate is {bound}")))
}
