//! `learnt list` and `learnt show`.

use super::Call;
use crate::ExitCode;
use crate::output::{print, print_json};
use learnt::answer::{Cell, Columns};
use learnt::error::{Error, Result};
use learnt::estimator::{Entry, ROLES};
use learnt::function::{FunctionEntry, FunctionKind};
use learnt::params::ParamSpec;
use serde_json::{Value as Json, json};

pub(crate) fn list(call: &Call) -> Result<ExitCode> {
    let role = call.text("role");
    match call.text("kind") {
        None if role.is_none() && !call.flag("streaming") => return kinds(call),
        None | Some("learners") => {}
        Some(kind) => return functions(call, kind),
    }
    if let Some(role) = role {
        let known: Vec<&str> = ROLES.iter().map(|role| role.name).collect();
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
            (about.uses.online, "updates"),
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
    print(&call.fitted(&table));
    Ok(ExitCode::SUCCESS)
}

/// What there is to list.
fn kinds(call: &Call) -> Result<ExitCode> {
    let own = (
        "learners",
        "fit",
        "Learners: trained on rows, they predict, transform or group",
        learnt::entries().count(),
    );
    let kinds: Vec<_> = std::iter::once(own)
        .chain(FunctionKind::ALL.iter().map(|&(kind, plural, verb, doc)| {
            (plural, verb, doc, learnt::functions_of(kind).count())
        }))
        .collect();
    if call.json {
        let kinds: Vec<Json> = kinds
            .iter()
            .map(|(plural, verb, doc, count)| json!({ "kind": plural, "verb": verb, "text": doc, "count": count }))
            .collect();
        print_json("list", None, json!({ "kinds": kinds }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new("", &["learnt list", "verb", "number", "what they are"]);
    for (plural, verb, doc, count) in kinds {
        let cells = [
            plural.into(),
            Cell::Text(format!("learnt {verb}")),
            Cell::Count(count as i64),
            doc.into(),
        ];
        table.push(cells.to_vec());
    }
    print(&call.fitted(&table));
    Ok(ExitCode::SUCCESS)
}

/// The functions of one kind.
fn functions(call: &Call, kind: &str) -> Result<ExitCode> {
    let known = FunctionKind::ALL.iter().map(|(_, plural, ..)| *plural);
    let found =
        FunctionKind::ALL.iter().find(|(_, plural, verb, _)| *plural == kind || *verb == kind);
    let &(kind, _, verb, _) =
        found.ok_or_else(|| Error::unknown("kind", kind, known.chain(["learners"])))?;
    let entries: Vec<&FunctionEntry> = learnt::functions_of(kind).collect();
    if call.json {
        let all: Vec<Json> =
            entries.iter().map(|entry| learnt::catalogue::function(entry)).collect();
        print_json("list", None, json!({ "functions": all }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new("", &["function", "Python", "what it gives"]);
    for entry in entries {
        let text = (entry.build)().documentation().lines().next().unwrap_or_default().to_string();
        table.push(vec![
            Cell::Text(format!("learnt {verb} {}", entry.about.command())),
            Cell::Text(format!("learnt.{}", entry.about.path)),
            Cell::Text(text),
        ]);
    }
    print(&call.fitted(&table));
    Ok(ExitCode::SUCCESS)
}

/// Everything about a learner as JSON.
fn facts(entry: &Entry) -> Json {
    let (about, learner) = (entry.about, (entry.build)());
    let advice = learnt::advice_on(about.name());
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
        "use_when": advice.map(|advice| advice.use_when), "not_when": advice.map(|advice| advice.not_when),
        "accepts": {
            "missing": about.accepts.missing, "categories": about.accepts.categories,
            "weights": about.accepts.weights, "many_outputs": about.accepts.many_outputs,
        },
        "streaming": about.uses.streaming, "random": about.uses.randomness,
        "parameters": params, "attributes": attributes,
    })
}

pub(crate) fn show(call: &Call) -> Result<ExitCode> {
    show_named(call, call.text("learner").unwrap_or_default())
}

/// What is known of a learner or function of this name.
pub(crate) fn show_named(call: &Call, name: &str) -> Result<ExitCode> {
    let entries = learnt::find_all(name);
    if entries.is_empty() {
        return match learnt::find_function(name) {
            Ok(entry) => show_function(call, entry),
            Err(_) => Err(learnt::unknown_learner(name)),
        };
    }
    if call.json {
        let learners: Vec<Json> = entries.iter().map(|entry| facts(entry)).collect();
        print_json("show", None, json!({ "learners": learners }));
        return Ok(ExitCode::SUCCESS);
    }
    for entry in entries {
        print(&page(call, entry));
    }
    Ok(ExitCode::SUCCESS)
}

fn show_function(call: &Call, entry: &FunctionEntry) -> Result<ExitCode> {
    if call.json {
        print_json("show", None, json!({ "function": learnt::catalogue::function(entry) }));
        return Ok(ExitCode::SUCCESS);
    }
    let (about, function) = (entry.about, (entry.build)());
    let mut out = format!(
        "learnt {} {} (learnt.{})\n{}\n",
        about.kind.verb(),
        about.command(),
        about.path,
        function.documentation()
    );
    let mut inputs = Columns::new("inputs", &["flag", "meaning"]);
    for input in entry.inputs {
        let needed = if input.optional { " (optional)" } else { "" };
        inputs.push(vec![
            Cell::Text(format!("--{}", input.name.replace('_', "-").to_lowercase())),
            Cell::Text(format!("{}{needed}", input.doc.replace('\n', " "))),
        ]);
    }
    let mut outputs = Columns::new("gives", &["name", "meaning"]);
    for (name, doc) in entry.outputs {
        outputs.push(vec![(*name).into(), Cell::Text(doc.replace('\n', " "))]);
    }
    for table in [inputs, parameter_table(function.specs()), outputs] {
        if !table.is_empty() {
            out += &format!("\n{}", call.fitted(&table));
        }
    }
    if !about.reference.is_empty() {
        out += &format!("\nreference  {}\n", about.reference);
    }
    print(&out);
    Ok(ExitCode::SUCCESS)
}

fn parameter_table(specs: &[ParamSpec]) -> Columns {
    let mut table = Columns::new("parameters", &["flag", "default", "accepts", "meaning"]);
    for spec in specs {
        table.push(vec![
            Cell::Text(format!("--{}", spec.name.replace('_', "-"))),
            Cell::Text(spec.default_text()),
            Cell::Text(spec.kind.to_string()),
            Cell::Text(spec.doc.lines().collect::<Vec<_>>().join(" ")),
        ]);
    }
    table
}

fn page(call: &Call, entry: &Entry) -> String {
    let (about, learner) = (entry.about, (entry.build)());
    let text = learner.documentation();
    let prose: Vec<&str> = text.lines().take_while(|line| !line.starts_with("```")).collect();
    let mut out =
        format!("{} ({})\n{}\n\n", about.command(), about.path, prose.join("\n").trim_end());
    if let Some(advice) = learnt::advice_on(about.name()) {
        let plain = |text: &str| text.replace('`', "");
        out += &format!("use for    {}\n", plain(advice.use_when));
        out += &format!("not for    {}\n", plain(advice.not_when));
    }
    out += &format!("role       {}\ncost       {}\n", about.roles.names().join(", "), about.cost);
    if !about.reference.is_empty() {
        out += &format!("reference  {}\n", about.reference);
    }
    out += &format!("\n{}", call.fitted(&parameter_table(learner.specs())));
    let mut table = Columns::new("\nattributes of the model", &["name", "meaning"]);
    for (name, text) in (entry.attributes)() {
        let text = text.lines().collect::<Vec<_>>().join(" ");
        table.push(vec![Cell::Text((*name).to_string()), Cell::Text(text)]);
    }
    if !table.is_empty() {
        out += &call.fitted(&table);
    }
    out + "\n"
}
