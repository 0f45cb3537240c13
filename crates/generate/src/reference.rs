//! Reference pages in Markdown.

use learnt_core::estimator::Entry;
use learnt_core::params::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::method::Headers;
use super::python::literal;
use super::text::{first_sentence, plain};
use super::{MARK, Members, datasets, examples, functions};

/// One page for a module.
pub(super) fn page(module: &str, members: &Members, headers: &Headers) -> String {
    let mut sections: String =
        members.learners.iter().map(|entry| section(entry, headers)).collect();
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

fn section(entry: &Entry, headers: &Headers) -> String {
    let about = entry.about;
    let learner = (entry.build)();
    let mut out = format!("\n## {}\n\n{}\n", about.name(), plain(learner.documentation()));
    if let Some(advice) = learnt::advice_on(about.name()) {
        let _ = write!(
            out,
            "\n**Use it for:** {}\n\n**Not for:** {}\n",
            advice.use_when, advice.not_when
        );
    }
    let names: Vec<String> = std::iter::once(about.command())
        .chain(about.aliases.iter().map(ToString::to_string))
        .collect();
    let _ =
        write!(out, "\n- Python: `learnt.{}`\n- Command: `{}`\n", about.path, names.join("`, `"));
    let _ = writeln!(out, "- Role: {}", about.roles.names().join(", "));
    for (title, text) in handling(entry) {
        let _ = writeln!(out, "- {title}: {text}");
    }
    for (title, text) in [("Cost", about.cost), ("Reference", about.reference)] {
        if !text.is_empty() {
            let _ = writeln!(out, "- {title}: {text}");
        }
    }
    if let Some(header) = headers.of(about.path) {
        let _ = write!(out, "\n### What {} computes\n\n```text\n{header}\n```\n", about.name());
    }
    out += &examples_of(entry);
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

/// What it does with missing values, categories, weights and the rest.
fn handling(entry: &Entry) -> Vec<(&'static str, String)> {
    let (accepts, uses) = (entry.about.accepts, entry.about.uses);
    let target = entry.about.roles.needs_target();
    let missing = match accepts.missing {
        true => "taken as they are",
        false => {
            "refused; the command fills them first (`--impute`), in Python put `SimpleImputer` in front"
        }
    };
    let categories = match (accepts.categories, entry.about.full_rank) {
        (true, _) => "taken as they are",
        (false, true) => {
            "refused; the command makes columns of 0 and 1 against a reference level, in Python put `OneHotEncoder(drop=\"first\")` in front"
        }
        (false, false) => {
            "refused; the command makes columns of 0 and 1, in Python put `OneHotEncoder` in front"
        }
    };
    let weights = match accepts.weights {
        true => {
            "a row of weight 2 counts as two rows, one of weight 0 as none (`--weight`, `sample_weight`)"
        }
        false => "none",
    };
    let mut out = vec![
        ("Missing values", missing.to_string()),
        ("Categories", categories.to_string()),
        ("Row weights", weights.to_string()),
    ];
    let more = [
        (accepts.many_outputs && target, "several outputs"),
        (accepts.volumes, "images (3-D and 4-D arrays, `--volume`)"),
        (accepts.groups, "groups"),
        (accepts.sequences, "sequences"),
        (uses.streaming, "files larger than memory (`--stream`)"),
        (uses.online, "more rows later (`learnt update`, `partial_fit`)"),
    ];
    let more: Vec<&str> = more.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    if !more.is_empty() {
        out.push(("Takes also", more.join(", ")));
    }
    out
}

/// An example on each of the three surfaces with what it prints.
fn examples_of(entry: &Entry) -> String {
    let mut out = format!("\n### Example of {}\n", entry.about.name());
    match examples::example(entry) {
        Ok(example) => {
            let _ = write!(out, "\n```python\n{}```\n", example.python);
            let _ = write!(out, "\n```console\n{}```\n", example.command);
        }
        Err(error) => super::say(&format!("note: no example of {}: {error}", entry.about.name())),
    }
    if let Some(code) = examples::rust((entry.build)().documentation()) {
        let _ = write!(out, "\n```rust\n{code}\n```\n");
    }
    out
}

/// Text that fits into one cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
