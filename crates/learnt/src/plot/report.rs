//! What a page about a model says: its scores on rows, the pictures that fit it, what it learnt, and
//! its card.

use super::{PLOTS, Scene};
use crate::metrics::{self, Task};
use learnt_core::prelude::*;
use learnt_core::trained::Trained;

/// The sections of a page. Pictures and scores that do not fit the model are left out; what else went
/// wrong is said.
pub fn report(trained: &Trained, data: Option<&Dataset>, run: &Context) -> Result<Vec<Answer>> {
    let mut sections = Vec::new();
    let scene = Scene::new(trained, data, run);
    if let Some(data) = data {
        sections.extend(scores(&scene, data)?);
    }
    let pictures = pictures(&scene)?;
    if !pictures.charts.is_empty() || !pictures.notes.is_empty() {
        sections.push(pictures);
    }
    if let Some(mut learnt) = trained.report() {
        learnt.charts.clear();
        sections.push(learnt);
    }
    sections.push(card(trained));
    Ok(sections)
}

/// The usual metrics of the task, if the model has any of them.
fn scores(scene: &Scene, data: &Dataset) -> Result<Option<Answer>> {
    let mut answer = Answer::new("Scores");
    answer.push("rows", data.nrows());
    let outcome = scene.outcome()?;
    let mut table = Columns::new("", &["metric", "value"]);
    let mut found = false;
    for metric in metrics::usual_for(Task::of(data), data) {
        let cell = match metric.score(&outcome, scene.run) {
            Ok(value) => {
                found = true;
                Cell::Number(value)
            }
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            Err(error) => Cell::Empty(error.message().to_string()),
        };
        table.push(vec![metric.name.into(), cell]);
    }
    answer.tables.push(table);
    Ok(found.then_some(answer))
}

fn pictures(scene: &Scene) -> Result<Answer> {
    let mut answer = Answer::new("Pictures");
    for plot in PLOTS.iter().filter(|plot| plot.in_report) {
        match plot.draw_in(scene) {
            Ok(chart) => answer.charts.push(chart),
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            Err(error) if matches!(error.code(), Code::Unsupported | Code::Usage) => {}
            Err(error) => {
                answer.notes.push(format!("No {} picture: {}.", plot.name, error.message()))
            }
        }
    }
    Ok(answer)
}

/// The card of a model: what it was trained with and on.
pub fn card(trained: &Trained) -> Answer {
    let history = &trained.history;
    let mut card = Answer::new("Card of the model");
    card.push("learner", trained.about.path);
    card.push("roles", trained.about.roles.names().join(", "));
    if !history.targets.is_empty() {
        card.push("target", history.targets.join(", "));
    }
    if !history.classes.is_empty() {
        let names: Vec<String> = history.classes.iter().take(20).map(ToString::to_string).collect();
        let more = history.classes.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        card.push("classes", names.join(", ") + &more);
    }
    card.push("training rows", history.rows as usize);
    card.push("training data (SHA-256)", history.digest.as_deref().unwrap_or("not from a file"));
    card.push("seed", history.seed.to_string());
    card.push("trained by", format!("learnt {}", history.version));
    card.push("converged", trained.model.converged());
    let mut params = Columns::new("Parameters", &["parameter", "value"]);
    for (name, value) in &history.params {
        params.push(vec![Cell::Text(name.clone()), Cell::Text(value.to_string())]);
    }
    let mut columns = Columns::new("Columns", &["column", "type", "levels"]);
    for column in history.schema.columns() {
        let kind = if column.levels().is_some() { "category" } else { "number" };
        let levels = column.levels().unwrap_or_default();
        let shown = levels.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
        let more = if levels.len() > 12 {
            format!(" and {} more", levels.len() - 12)
        } else {
            String::new()
        };
        columns.push(vec![Cell::Text(column.name.clone()), kind.into(), Cell::Text(shown + &more)]);
    }
    card.tables = vec![params, columns];
    card.notes
        .extend(history.warnings.iter().map(|warning| format!("Warning in training: {warning}")));
    card
}
