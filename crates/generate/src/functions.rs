//! Python functions, their stubs and their reference sections, from the list of functions.

use learnt_core::function::{FunctionEntry, FunctionKind, InputKind, InputSpec};
use learnt_core::params::ParamSpec;
use std::fmt::Write as _;

use super::python::{annotation, choices, literal, python_words};
use super::reference::cell;
use super::text::{plain, wrap};

const WIDTH: usize = 99;

/// The lines that functions need at the top of a module.
pub(super) fn imports(entries: &[&FunctionEntry]) -> String {
    let splits = entries.iter().any(|entry| is_split(entry));
    let others = entries.iter().any(|entry| !is_split(entry));
    let mut out = String::new();
    if others {
        out += "from ._functions import call\n";
    }
    if splits {
        out += "from ._splitters import Splitter\n";
    }
    out
}

fn is_split(entry: &FunctionEntry) -> bool {
    let class = entry.about.name().starts_with(char::is_uppercase);
    entry.about.kind == FunctionKind::Split && class
}

/// A function, or a splitter's class.
pub(super) fn definition(entry: &FunctionEntry) -> String {
    let docstring = docstring(entry);
    let raw = if docstring.contains('\\') { "r" } else { "" };
    if is_split(entry) {
        return splitter(entry, &docstring, raw);
    }
    let function = (entry.build)();
    let head = head("def", entry.about.name(), &arguments(entry, false), "", ":");
    let kinds = tuple(entry.inputs.iter().map(|input| format!("\"{}\"", kind_name(input.kind))));
    let inputs = tuple(entry.inputs.iter().map(|input| input.name.to_string()));
    let params: Vec<String> =
        function.specs().iter().map(|spec| format!("\"{0}\": {0}", spec.name)).collect();
    let outputs = tuple(entry.outputs.iter().map(|(name, _)| format!("\"{name}\"")));
    let run = run_arguments(entry)
        .iter()
        .map(|name| format!("\n        {name}={name},"))
        .collect::<String>();
    format!(
        "\n\n{head}    {raw}\"\"\"{docstring}\n    \"\"\"\n    return call(\n        \"{}\",\n        {kinds},\n        \
         {inputs},\n        {{{}}},\n        {outputs},{run}\n    )\n",
        entry.about.path,
        params.join(", "),
    )
}

/// A class whose `split` gives pairs of index arrays.
fn splitter(entry: &FunctionEntry, docstring: &str, raw: &str) -> String {
    let names = splitter_names(entry);
    let arguments = splitter_arguments(entry, false);
    let head = head("    def", "__init__", &arguments, "", ":");
    let assignments: String = match names.is_empty() {
        true => "        pass\n".to_string(),
        false => names.iter().map(|name| format!("        self.{name} = {name}\n")).collect(),
    };
    let inputs = tuple(entry.inputs.iter().map(|input| format!("\"{}\"", input.name)));
    format!(
        "\n\nclass {}(Splitter):\n    {raw}\"\"\"{docstring}\n    \"\"\"\n\n    _path = \"{}\"\n    _inputs = {inputs}\n\n{head}{assignments}",
        entry.about.name(),
        entry.about.path,
    )
}

/// The stub of a function or splitter.
pub(super) fn stub(entry: &FunctionEntry) -> String {
    if is_split(entry) {
        let arguments = splitter_arguments(entry, true);
        let head = head("    def", "__init__", &arguments, " -> None", ": ...");
        return format!("\nclass {}(Splitter):\n{head}", entry.about.name());
    }
    format!("\n{}", head("def", entry.about.name(), &arguments(entry, true), " -> Any", ": ..."))
}

fn splitter_names(entry: &FunctionEntry) -> Vec<&'static str> {
    let specs = (entry.build)().specs().iter().map(|spec| spec.name);
    specs.filter(|name| *name != "n_samples").chain(run_arguments(entry)).collect()
}

fn splitter_arguments(entry: &FunctionEntry, stub: bool) -> Vec<String> {
    let specs = (entry.build)().specs();
    let own: Vec<&ParamSpec> = specs.iter().filter(|spec| spec.name != "n_samples").collect();
    let (first, others): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        own.into_iter().partition(|spec| spec.positional);
    let mut out = vec!["self".to_string()];
    out.extend(first.iter().map(|spec| typed(spec, stub)));
    let run = run_arguments(entry);
    if !others.is_empty() || !run.is_empty() {
        out.push("*".to_string());
    }
    out.extend(others.iter().map(|spec| typed(spec, stub)));
    out.extend(run.iter().map(|name| run_argument(name, stub)));
    out
}

/// A learner first, then inputs that are needed, then parameters by position, then everything by name.
fn arguments(entry: &FunctionEntry, stub: bool) -> Vec<String> {
    let function = (entry.build)();
    let any = if stub { ": Any" } else { "" };
    let nothing = if stub { ": Any = None" } else { "=None" };
    let needed = entry.inputs.iter().filter(|input| !input.optional);
    let (learners, specs): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        function.specs().iter().partition(|spec| spec.positional && spec.learners);
    let mut out: Vec<String> = learners.iter().map(|spec| typed(spec, stub)).collect();
    out.extend(needed.map(|input| format!("{}{any}", input.name)));
    // A second table is given by position, as scikit-learn's `Y`.
    let by_position = |input: &&InputSpec| input.optional && input.apart;
    out.extend(
        entry.inputs.iter().filter(by_position).map(|input| format!("{}{nothing}", input.name)),
    );
    let (first, others): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        specs.into_iter().partition(|spec| spec.positional);
    out.extend(first.iter().map(|spec| typed(spec, stub)));
    let optional: Vec<&InputSpec> =
        entry.inputs.iter().filter(|input| input.optional && !input.apart).collect();
    let run = run_arguments(entry);
    if !(others.is_empty() && optional.is_empty() && run.is_empty()) {
        out.push("*".to_string());
    }
    out.extend(others.iter().map(|spec| typed(spec, stub)));
    out.extend(optional.iter().map(|input| format!("{}{nothing}", input.name)));
    out.extend(run.iter().map(|name| run_argument(name, stub)));
    out
}

fn run_argument(name: &str, stub: bool) -> String {
    let kind = if name == "n_jobs" { "int | None" } else { "Any" };
    if stub { format!("{name}: {kind} = None") } else { format!("{name}=None") }
}

fn typed(spec: &ParamSpec, stub: bool) -> String {
    let default = literal(&spec.default);
    match (stub, spec.required) {
        (true, true) => format!("{}: {}", spec.name, annotation(&spec.kind)),
        (true, false) => format!("{}: {} = {default}", spec.name, annotation(&spec.kind)),
        (false, true) => spec.name.to_string(),
        (false, false) => format!("{}={default}", spec.name),
    }
}

/// Arguments about running rather than computing.
fn run_arguments(entry: &FunctionEntry) -> Vec<&'static str> {
    let all = [(entry.about.randomness, "random_state"), (entry.about.threads, "n_jobs")];
    all.into_iter().filter(|(used, _)| *used).map(|(_, name)| name).collect()
}

/// The first line of a definition, or one line an argument where that is too long.
fn head(def: &str, name: &str, arguments: &[String], result: &str, end: &str) -> String {
    let short = format!("{def} {name}({}){result}{end}\n", arguments.join(", "));
    if short.chars().count() <= WIDTH + 1 {
        return short;
    }
    let indent = " ".repeat(def.len() - def.trim_start().len());
    let lines: String = arguments.iter().map(|a| format!("{indent}    {a},\n")).collect();
    format!("{def} {name}(\n{lines}{indent}){result}{end}\n")
}

fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    let comma = if items.len() == 1 { "," } else { "" };
    format!("({}{comma})", items.join(", "))
}

fn kind_name(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Numbers => "numbers",
        InputKind::Matrix => "matrix",
        InputKind::Labels => "labels",
        InputKind::Clusters => "clusters",
        InputKind::Table => "table",
    }
}

fn input_words(input: &InputSpec) -> &'static str {
    match input.kind {
        InputKind::Numbers => "array of numbers",
        InputKind::Matrix => "array of numbers, one or two dimensions",
        InputKind::Labels => "array of classes",
        InputKind::Clusters => "array of clusters",
        InputKind::Table => "table or array of two dimensions",
    }
}

fn docstring(entry: &FunctionEntry) -> String {
    let function = (entry.build)();
    let mut out = wrap(&plain(function.documentation()), 4, WIDTH).trim_start().to_string();
    let own: Vec<&ParamSpec> = function
        .specs()
        .iter()
        .filter(|spec| !(is_split(entry) && spec.name == "n_samples"))
        .collect();
    if !(own.is_empty() && entry.inputs.is_empty() && run_arguments(entry).is_empty()) {
        out += "\n\n    Parameters\n    ----------";
    }
    for input in entry.inputs.iter().filter(|_| !is_split(entry)) {
        let default = if input.optional { ", default=None" } else { "" };
        let _ = write!(out, "\n    {} : {}{default}", input.name, input_words(input));
        let _ = write!(out, "\n{}", wrap(&plain(input.doc), 8, WIDTH));
    }
    for spec in own {
        let kind = python_words(&spec.kind.to_string());
        let _ = write!(out, "\n    {} : {kind}, default={}", spec.name, literal(&spec.default));
        let _ = write!(out, "\n{}", wrap(&plain(spec.doc), 8, WIDTH));
        out += &choices(&spec.kind);
    }
    for name in run_arguments(entry) {
        let text = match name {
            "n_jobs" => "Number of threads; None means all. The result does not depend on it.",
            _ => "Seed of the random draws; None takes one from NumPy's global generator.",
        };
        let _ = write!(out, "\n    {name} : default=None\n{}", wrap(text, 8, WIDTH));
    }
    if !is_split(entry) {
        out += "\n\n    Returns\n    -------";
        for (name, doc) in entry.outputs {
            let doc = if doc.is_empty() { "The result." } else { doc };
            let _ = write!(out, "\n    {name}\n{}", wrap(&plain(doc), 8, WIDTH));
        }
    }
    if !entry.about.reference.is_empty() {
        let text = wrap(entry.about.reference, 4, WIDTH);
        let _ = write!(out, "\n\n    Reference\n    ---------\n{text}");
    }
    out
}

/// The section of a reference page.
pub(super) fn section(entry: &FunctionEntry) -> String {
    let (about, function) = (entry.about, (entry.build)());
    let mut out = format!("\n## {}\n\n{}\n", about.name(), plain(function.documentation()));
    let _ = write!(
        out,
        "\n- Python: `learnt.{}`\n- Command: `learnt {} {}`\n",
        about.path,
        about.kind.verb(),
        about.command()
    );
    if !about.reference.is_empty() {
        let _ = writeln!(out, "- Reference: {}", about.reference);
    }
    if !entry.inputs.is_empty() {
        out += "\n| Input | Shape | Meaning |\n| --- | --- | --- |\n";
        for input in entry.inputs {
            let optional = if input.optional { ", optional" } else { "" };
            let doc = cell(&plain(input.doc));
            let _ =
                writeln!(out, "| `{}` | {}{optional} | {doc} |", input.name, input_words(input));
        }
    }
    if !function.specs().is_empty() {
        out += "\n| Parameter | Accepts | Default | Meaning |\n| --- | --- | --- | --- |\n";
        for spec in function.specs() {
            let (kind, doc) = (cell(&spec.kind.to_string()), cell(&plain(spec.doc)));
            let default = cell(&literal(&spec.default));
            let _ = writeln!(out, "| `{}` | {kind} | `{default}` | {doc} |", spec.name);
        }
    }
    out += "\n| Result | Meaning |\n| --- | --- |\n";
    for (name, doc) in entry.outputs {
        let _ = writeln!(out, "| `{name}` | {} |", cell(&plain(doc)));
    }
    out
}
