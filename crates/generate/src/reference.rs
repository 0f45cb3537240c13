//! Reference pages in Markdown.

use learnt_core::estimator::Entry;
use learnt_core::params::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::python::literal;
use super::text::{first_sentence, plain};
use super::{MARK, Members, datasets, functions};

/// One page for a module.
pub(super) fn page(module: &str, members: &Members) -> String {
    let mut sections: String = members.learners.iter().map(|entry| section(entry)).collect();
    sections.extend(members.functions.iter().map(|entry| functions::section(entry)));
    if module == datasets::MODULE {
        sections += &datasets::section();
    }
    format!("<!-- {MARK} -->\n# learnt.{module}\n{sections}")
}

/// All learners and functions on one page.
pub(super) fn index(modules: &BTreeMap<&'static str, Members>) -> String {
    let mut out = format!("<!-- {MARK} -->\n# Learners\n\n");
    out += "| Class | Command | What it is | What it does |\n| --- | --- | --- | --- |\n";
    for (module, members) in modules {
        for entry in &members.learners {
            let about = entry.about;
            let doc = cell(&first_sentence((entry.build)().documentation()));
            let _ = writeln!(
                out,
                "| [`{}`]({module}.md#{}) | `{}` | {} | {doc} |",
                about.path,
                about.name().to_lowercase(),
                about.command(),
                about.roles.names().join(", "),
            );
        }
    }
    out += "\n# Functions\n\n| Function | Command | What it gives |\n| --- | --- | --- |\n";
    for (module, members) in modules {
        for entry in &members.functions {
            let about = entry.about;
            let doc = cell(&first_sentence((entry.build)().documentation()));
            let _ = writeln!(
                out,
                "| [`{}`]({module}.md#{}) | `learnt {} {}` | {doc} |",
                about.path,
                about.name().to_lowercase(),
                about.kind.verb(),
                about.command(),
            );
        }
    }
    out
}

fn section(entry: &Entry) -> String {
    let about = entry.about;
    let learner = (entry.build)();
    let mut out = format!("\n## {}\n\n{}\n", about.name(), plain(learner.documentation()));
    let names: Vec<String> = std::iter::once(about.command())
        .chain(about.aliases.iter().map(ToString::to_string))
        .collect();
    let _ =
        write!(out, "\n- Python: `learnt.{}`\n- Command: `{}`\n", about.path, names.join("`, `"));
    let _ = writeln!(out, "- Role: {}", about.roles.names().join(", "));
    let facts = [
        (about.accepts.missing, "missing values"),
        (about.accepts.categories, "categories"),
        (about.accepts.weights, "row weights"),
        (about.accepts.many_outputs, "several outputs"),
        (about.accepts.volumes, "images (3-D and 4-D arrays, `--volume`)"),
        (about.accepts.groups, "groups"),
        (about.uses.streaming, "files larger than memory"),
        (about.uses.online, "more rows later"),
    ];
    let facts: Vec<&str> = facts.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    if !facts.is_empty() {
        let _ = writeln!(out, "- Takes: {}", facts.join(", "));
    }
    for (title, text) in [("Cost", about.cost), ("Reference", about.reference)] {
        if !text.is_empty() {
            let _ = writeln!(out, "- {title}: {text}");
        }
    }
    if !learner.specs().is_empty() {
        out += "\n| Parameter | Accepts | Default | Meaning |\n| --- | --- | --- | --- |\n";
        for spec in learner.specs() {
            let (kind, doc) = (cell(&spec.kind.to_string()), cell(&plain(spec.doc)));
            let default = match &spec.default {
                _ if spec.required => "required".to_string(),
                Value::Learner(learner) => format!("`{}`", learner.learner),
                value => format!("`{}`", cell(&literal(value))),
            };
            let _ = writeln!(out, "| `{}` | {kind} | {default} | {doc} |", spec.name);
        }
    }
    if !(entry.attributes)().is_empty() {
        out += "\n| Attribute | Meaning |\n| --- | --- |\n";
        for (name, doc) in (entry.attributes)() {
            let _ = writeln!(out, "| `{name}_` | {} |", cell(&plain(doc)));
        }
    }
    if !about.exempt.is_empty() {
        out += "\nCommon checks that do not hold:\n\n";
        for (check, why) in about.exempt {
            let _ = writeln!(out, "- `{check}`: {why}");
        }
    }
    out
}

/// Text that fits into one cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
