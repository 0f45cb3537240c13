//! `learnt list` and `learnt show`.

use super::Call;
use crate::output::{print, print_json};
use learnt::answer::{Cell, Columns};
use learnt::error::{Error, Result};
use learnt::estimator::Entry;
use serde_json::{Value as Json, json};
use std::process::ExitCode;

pub(crate) fn list(call: &Call) -> Result<ExitCode> {
    let role = call.text("role");
    if let Some(role) = role {
        let known = ["regressor", "classifier", "transformer", "clusterer"];
        if !known.contains(&role) {
            return Err(Error::unknown("role", role, known));
        }
    }
    let wanted = |entry: &&Entry| {
        let has_role = role.is_none_or(|role| (entry.build)().any_roles().names().contains(&role));
        has_role && (!call.flag("streaming") || entry.about.uses.streaming)
    };
    let entries: Vec<&Entry> = learnt::entries().filter(wanted).collect();
    if call.json {
        let learners: Vec<Json> = entries.iter().map(|entry| facts(entry)).collect();
        print_json("list", None, json!({ "learners": learners }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new("", &["learner", "also", "role", "takes", "what it does"]);
    for entry in entries {
        let about = entry.about;
        let accepts = about.accepts;
        let takes = [
            (accepts.missing, "missing"),
            (accepts.categories, "categories"),
            (accepts.weights, "weights"),
            (about.uses.streaming, "streams"),
        ];
        let takes: Vec<&str> =
            takes.iter().filter(|(yes, _)| *yes).map(|(_, word)| *word).collect();
        let sentence =
            (entry.build)().documentation().lines().next().unwrap_or_default().to_string();
        table.push(vec![
            Cell::Text(about.command()),
            Cell::Text(about.aliases.join(" ")),
            Cell::Text(about.roles.names().join(" ")),
            Cell::Text(takes.join(" ")),
            Cell::Text(sentence),
        ]);
    }
    print(&table.to_text());
    Ok(ExitCode::SUCCESS)
}

/// Everything about a learner as JSON.
fn facts(entry: &Entry) -> Json {
    let (about, learner) = (entry.about, (entry.build)());
    let params: Vec<Json> = learner
        .specs()
        .iter()
        .map(|spec| {
            json!({ "name": spec.name, "accepts": spec.kind.to_string(), "default": spec.default.to_json(), "required": spec.required, "text": spec.doc })
        })
        .collect();
    let attributes: Vec<Json> = (entry.attributes)()
        .iter()
        .map(|(name, text)| json!({ "name": name, "text": text }))
        .collect();
    json!({
        "name": about.command(), "path": about.path, "aliases": about.aliases, "roles": about.roles.names(),
        "text": learner.documentation(), "cost": about.cost, "reference": about.reference,
        "accepts": {
            "missing": about.accepts.missing, "categories": about.accepts.categories,
            "weights": about.accepts.weights, "many_outputs": about.accepts.many_outputs,
        },
        "streaming": about.uses.streaming, "random": about.uses.randomness,
        "parameters": params, "attributes": attributes,
    })
}

pub(crate) fn show(call: &Call) -> Result<ExitCode> {
    let name = call.text("learner").unwrap_or_default();
    let entries = learnt::find_all(name);
    if entries.is_empty() {
        return Err(learnt::unknown_learner(name));
    }
    if call.json {
        let learners: Vec<Json> = entries.iter().map(|entry| facts(entry)).collect();
        print_json("show", None, json!({ "learners": learners }));
        return Ok(ExitCode::SUCCESS);
    }
    for entry in entries {
        print(&page(entry));
    }
    Ok(ExitCode::SUCCESS)
}

fn page(entry: &Entry) -> String {
    let (about, learner) = (entry.about, (entry.build)());
    let text = learner.documentation();
    let prose: Vec<&str> = text.lines().take_while(|line| !line.starts_with("```")).collect();
    let mut out =
        format!("{} ({})\n{}\n\n", about.command(), about.path, prose.join("\n").trim_end());
    out += &format!("role       {}\ncost       {}\n", about.roles.names().join(", "), about.cost);
    if !about.reference.is_empty() {
        out += &format!("reference  {}\n", about.reference);
    }
    let mut table = Columns::new("\nparameters", &["flag", "default", "accepts", "meaning"]);
    for spec in learner.specs() {
        table.push(vec![
            Cell::Text(format!("--{}", spec.name.replace('_', "-"))),
            Cell::Text(spec.default_text()),
            Cell::Text(spec.kind.to_string()),
            Cell::Text(spec.doc.lines().collect::<Vec<_>>().join(" ")),
        ]);
    }
    out += &table.to_text();
    let mut table = Columns::new("\nattributes of the model", &["name", "meaning"]);
    for (name, text) in (entry.attributes)() {
        let text = text.lines().collect::<Vec<_>>().join(" ");
        table.push(vec![Cell::Text((*name).to_string()), Cell::Text(text)]);
    }
    if !table.is_empty() {
        out += &table.to_text();
    }
    out + "\n"
}
