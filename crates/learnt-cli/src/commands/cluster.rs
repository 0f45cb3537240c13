//! `learnt cluster` and `learnt reduce`: a fit whose result is a table of its own rows, and a picture.

use super::Call;
use super::fit::{early, on_rows};
use super::predict::rows_json;
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::output::{print, print_json};
use crate::picture;
use crate::place;
use learnt::answer::{Answer, Cell, Columns, duration};
use learnt::chart::Chart;
use learnt::charts::clusters::scatter;
use learnt::clock::Moment;
use learnt::data::{Matrix, Schema, Table};
use learnt::error::{Code, Error, Result, plain as plain_text};
use learnt::metrics::{self, Outcome, Task};
use learnt::plot::{Scene, find};
use learnt::trained::{Missing, Prediction, Trained, beside};
use learnt_io::WriteOptions;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Fits a method and labels the rows that it was fitted to.
pub(crate) fn cluster(call: &Call, name: &str) -> Result<ExitCode> {
    let done = Done::new(call, name)?;
    let labels = &done.trained.outcome.labels;
    if labels.is_empty() {
        let name = done.trained.about.name();
        return Err(Error::unsupported(format!("{name} gave no clusters of its rows")));
    }
    let codes = labels.iter().map(|label| label.map_or(-1.0, f64::from)).collect();
    let table = Table::new(Matrix::column_vector(codes), Schema::numeric(["cluster"])?)?;
    let chart = || {
        let data = done.rows.data.view();
        let scene = Scene::new(&done.trained, Some(&data), &call.run).of_training();
        find("clusters")?.draw_in(&scene)
    };
    done.finish("cluster", table, chart, || scored(call, &done))
}

/// Rows up to which silhouettes, which take every pair of rows, are computed unasked.
const PAIRED: usize = 20_000;

/// The sizes of clusters, and how good they are: by themselves, and beside the classes that -t names.
fn scored(call: &Call, done: &Done) -> Answer {
    let mut answer = sizes(&done.trained);
    let data = done.rows.data.view();
    let labels = &done.trained.outcome.labels;
    let Ok(rows) = done.trained.admit(&data.x, data.sequences, Missing::Error, &call.run) else {
        return answer;
    };
    let seen = done.trained.model.prepared_rows(&rows.frame(), &call.run).ok().flatten();
    let x = seen.as_ref().map_or(rows.frame(), Table::frame);
    if labels.len() != x.nrows() {
        return answer;
    }
    let outcome = Outcome {
        truth: data.y,
        x: Some(x),
        clusters: Some(labels),
        weights: data.weights,
        ..Outcome::default()
    };
    let known = data.y.and_then(|_| metrics::find("adjusted-rand").ok());
    for metric in known.into_iter().chain(metrics::usual(Task::Unsupervised)) {
        if metric.name == "silhouette" && labels.len() > PAIRED {
            continue;
        }
        if let Ok(value) = metric.score(&outcome, &call.run) {
            answer.push(metric.name, value);
        }
    }
    answer
}

/// The sizes of clusters and what the method says of itself.
fn sizes(trained: &Trained) -> Answer {
    let labels = &trained.outcome.labels;
    let clusters = labels.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    let mut counts = vec![0_i64; clusters];
    labels.iter().flatten().for_each(|&label| counts[label as usize] += 1);
    let mut answer = trained.report().unwrap_or_else(|| Answer::new("Clusters"));
    if !answer.tables.iter().any(|table| table.column("rows").is_some()) {
        let mut table = Columns::new("Sizes", &["cluster", "rows"]);
        for (cluster, &rows) in counts.iter().enumerate() {
            table.push(vec![Cell::Count(cluster as i64), Cell::Count(rows)]);
        }
        answer.tables.insert(0, table);
    }
    let noise = labels.iter().filter(|label| label.is_none()).count();
    if noise > 0 && answer.value("noise").is_none() {
        answer.push("noise", noise as u64);
    }
    answer
}

/// Fits a transformer and writes the coordinates of the rows that it was fitted to.
pub(crate) fn reduce(call: &Call, name: &str) -> Result<ExitCode> {
    let done = Done::new(call, name)?;
    let data = done.rows.data.view();
    let rows = done.trained.admit(&data.x, data.sequences, Missing::Error, &call.run)?;
    let Prediction::Table(table) = done.trained.call("transform", &rows, &call.run)? else {
        return Err(Error::internal("a transformer without a table"));
    };
    let coordinates = table.clone();
    let chart = || {
        let scene = Scene::new(&done.trained, Some(&data), &call.run).of_training();
        for name in ["coordinates", "biplot"] {
            match find(name)?.draw_in(&scene) {
                Err(error) if [Code::Unsupported, Code::Usage].contains(&error.code()) => {}
                other => return other,
            }
        }
        plain(&coordinates)
    };
    let report = || done.trained.report().unwrap_or_else(|| Answer::new("Coordinates"));
    done.finish("reduce", table, chart, report)
}

/// `choose-k`: the function of that name over the numbers of a table, without a bundled set's target.
pub(crate) fn choose_k(call: &Call) -> Result<ExitCode> {
    let entry = learnt::find_function("choose_k")?;
    super::function::build(call, entry)?;
    let table = match call.text("data") {
        None => None,
        Some(_) => {
            let input = input::read(call)?;
            let schema = input.table.schema();
            let text = |j: &usize| schema.column(*j).levels().is_some();
            let kept = (0..schema.len())
                .filter(|&j| Some(&schema.column(j).name) != input.default_target.as_ref());
            let (left_out, kept): (Vec<usize>, Vec<usize>) = kept.partition(text);
            if !left_out.is_empty() {
                let names: Vec<String> =
                    left_out.iter().map(|&j| plain_text(&schema.column(j).name)).collect();
                call.say(&format!("note: columns of text are left out: {}", names.join(", ")));
            }
            Some(input.table.frame().select(&kept))
        }
    };
    super::function::on_table(call, "choose-k", entry, table)
}

/// Rows along the first two coordinates.
fn plain(table: &Table) -> Result<Chart> {
    let names: Vec<&str> = table.schema().names().collect();
    let Some(first) = names.first() else {
        return Err(Error::unsupported("there are no coordinates to draw"));
    };
    let labels = vec![Some(0); table.values().nrows()];
    let axes = [first, names.get(1).unwrap_or(first)].map(|name| *name);
    let mut chart = scatter(axes, table.values().view(), &labels);
    chart.title = "Coordinates".into();
    chart.description = "Each point is a row along the first two coordinates.".into();
    chart.panels.iter_mut().flat_map(|panel| &mut panel.marks).for_each(|mark| {
        *mark = mark.clone().unnamed();
    });
    Ok(chart)
}

/// A fit with the rows that it was made from.
struct Done<'a> {
    call: &'a Call<'a>,
    rows: input::Supervised,
    trained: Trained,
    seconds: f64,
}

impl<'a> Done<'a> {
    fn new(call: &'a Call<'a>, name: &str) -> Result<Done<'a>> {
        let early = early(call, name)?;
        let started = Moment::now();
        let rows = input::supervised(call, input::read(call)?, Some(name))?;
        let trained = on_rows(call, name, early, &rows)?;
        Ok(Done { call, rows, trained, seconds: started.seconds() })
    }

    /// Writes the table, the picture and the model where they are asked for, and prints the rest.
    fn finish(
        &self,
        verb: &str,
        table: Table,
        chart: impl FnOnce() -> Result<Chart>,
        report: impl FnOnce() -> Answer,
    ) -> Result<ExitCode> {
        let (call, history) = (self.call, &self.trained.history);
        let about = learner::main_about(&self.trained)?;
        call.say(&format!(
            "{}  {} rows x {} columns  seed {}  {}",
            about.command(),
            history.rows,
            history.schema.len(),
            history.seed,
            duration(self.seconds)
        ));
        let table = match call.flag("append") {
            true => beside(&self.rows.data.x.frame(), table)?,
            false => table,
        };
        if let Some(path) = call.text("plot") {
            picture::draw(call, &[chart()?], path)?;
        }
        if let Some(path) = call.text("save") {
            self.trained.save(Path::new(path))?;
            call.say(&format!("wrote {path}"));
        }
        match (call.text("out"), call.json) {
            (Some("-"), _) => place::table(call, "-", &table, &WriteOptions::default())?,
            (path, as_json) => {
                if let Some(path) = path {
                    place::table(call, path, &table, &WriteOptions::default())?;
                }
                let answer = report();
                match as_json {
                    true => print_json(verb, Some(history.seed), self.document(&table, &answer)),
                    false => print(&answer.to_text_fitted(40, call.line_width())),
                }
            }
        }
        let missed = call.flag("strict") && !self.trained.model.converged();
        Ok(ExitCode::from(if missed { Code::NotConverged.exit_code() } else { 0 }))
    }

    fn document(&self, table: &Table, answer: &Answer) -> Json {
        let history = &self.trained.history;
        json!({
            "learner": self.trained.about.path, "rows": history.rows,
            "columns": history.schema.len(), "seconds": self.seconds,
            "warnings": history.warnings, "converged": self.trained.model.converged(),
            "table": rows_json(table), "report": answer.to_json(),
        })
    }
}
