//! Python classes and their stubs.

use learnt_core::estimator::{About, Entry, ROLES};
use learnt_core::params::{Kind, ParamSpec, Value};
use learnt_core::question::{Needs, Question};
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::companions::{COMPANIONS, fit_arguments};
pub(super) use super::literals::{annotation, choices, literal, python_words};
use super::text::{plain, wrap};
use super::{MARK, Members, carried, datasets, functions};

pub(super) const WIDTH: usize = 99;

/// Functions that are written by hand, by module: the file they stand in, and their names.
const FUNCTIONS: &[(&str, &str, &[&str])] = &[
    ("compose", "_make", &["make_column_selector", "make_column_transformer"]),
    ("datasets", "_datasets", &["load", "names"]),
    ("density", "_density", &["window_density"]),
    ("metrics", "_metrics", &["classification_report"]),
    (
        "model_selection",
        "_model_selection",
        &[
            "GridSearchCV",
            "HalvingGridSearchCV",
            "HalvingRandomSearchCV",
            "LeavePGroupsOut",
            "LeavePOut",
            "ParameterGrid",
            "ParzenSearchCV",
            "PredefinedSplit",
            "RandomizedSearchCV",
            "check_cv",
            "compare",
            "cross_val_predict",
            "cross_val_score",
            "cross_validate",
            "decide",
            "one_standard_error",
            "train_test_split",
        ],
    ),
    ("neighbors", "_neighbors", &["NearestNeighbors", "distances_by"]),
    (
        "optimize",
        "_optimize",
        &[
            "Problem",
            "Result",
            "dual",
            "dual_gap",
            "em",
            "kkt",
            "lagrangian",
            "learning_rate_study",
            "maximum_likelihood",
            "minimize",
            "minimize_stochastic",
        ],
    ),
    ("pipeline", "_make", &["make_pipeline"]),
    ("tree", "_tree_export", &["export_graphviz", "export_text", "plot_tree"]),
    ("utils", "_utils", &["compute_class_weight", "compute_sample_weight"]),
];

/// The lines that bring a module's functions in, and their names.
fn by_hand(module: &str) -> (String, &'static [&'static str]) {
    match FUNCTIONS.iter().find(|(name, ..)| *name == module) {
        None => (String::new(), &[]),
        Some((_, file, names)) => {
            let lines: String = names.iter().map(|name| format!("    {name},\n")).collect();
            (format!("from .{file} import (\n{lines})\n"), names)
        }
    }
}

/// A module of classes and functions.
pub(super) fn module(name: &str, members: &Members) -> String {
    let Members { learners: entries, functions: calls } = members;
    let bases: BTreeSet<&str> = entries.iter().flat_map(|entry| bases_of(entry)).collect();
    let (import, own) = by_hand(name);
    let names: Vec<String> = entries
        .iter()
        .map(|entry| entry.about.name())
        .chain(own.iter().copied())
        .chain(calls.iter().map(|call| call.about.name()))
        .map(ToString::to_string)
        .chain((name == datasets::MODULE).then(datasets::names).into_iter().flatten())
        .map(|name| format!("    \"{name}\",\n"))
        .collect();
    let what = match (entries.is_empty(), calls.is_empty()) {
        (false, true) => "learners",
        (true, _) => "functions",
        (false, false) => "learners and functions",
    };
    let mut out = format!("# {MARK}\n\"\"\"The {what} of `learnt.{name}`.\"\"\"\n\n");
    out += &imports(&bases);
    out += &functions::imports(calls);
    out += &import;
    let _ = write!(out, "\n__all__ = [\n{}]\n", names.concat());
    for entry in entries {
        out += &class(entry);
    }
    for call in calls {
        out += &functions::definition(call);
    }
    if name == datasets::MODULE {
        out += &datasets::definitions();
    }
    out
}

/// The list of modules, for `learnt.__getattr__`.
pub(super) fn module_list<'a>(modules: impl Iterator<Item = &'a &'static str>) -> String {
    let lines: String = modules.map(|module| format!("    \"{module}\",\n")).collect();
    format!(
        "# {MARK}\n\"\"\"The modules that hold learners and functions.\"\"\"\n\nMODULES = (\n{lines})\n"
    )
}

/// What a class inherits: first what a model offers, then its roles.
fn bases_of(entry: &Entry) -> Vec<&'static str> {
    let about = entry.about;
    let (roles, offers) = (about.roles, about.offers);
    let asked = |name: &str| (entry.questions)().iter().any(|question| question.name == name);
    let companions =
        COMPANIONS.iter().map(|(class, learners)| (learners.contains(&about.name()), *class));
    let offered = [
        (asked("training_neighbors"), "Neighborly"),
        (roles.transformer && about.name().ends_with("PCA"), "Principal"),
        (about.accepts.weights, "Weighted"),
        (holds_learners(entry) == Some(true) && is_composite(entry), "Steps"),
        (holds_learners(entry) == Some(true) && roles.transformer, "Columns"),
        (holds_learners(entry) == Some(false), "Composed"),
        (is_composite(entry), "Composite"),
        (asked("nodes"), "Treelike"),
        (asked("tree_dependence"), "ManyTrees"),
        (about.uses.online, "Online"),
        (roles.classifier && offers.probabilities, "Probabilities"),
        (roles.classifier && offers.some_probabilities, "SomeProbabilities"),
        (roles.classifier && offers.decision_scores, "DecisionScores"),
        (roles.transformer && offers.inverse_transform, "Invertible"),
        (roles.clusterer && roles.density, "Mixture"),
        (roles.clusterer && offers.assign, "Assigning"),
    ];
    let played = ROLES.iter().map(|role| ((role.among)(&roles), role.class));
    companions.chain(offered).chain(played).filter(|(has, _)| *has).map(|(_, base)| base).collect()
}

/// Whether learners among the parameters stand in a list; `None` if there are none.
fn holds_learners(entry: &Entry) -> Option<bool> {
    let learner = (entry.build)();
    let mut holding = learner.specs().iter().filter(|spec| spec.learners).peekable();
    holding.peek()?;
    Some(holding.any(|spec| matches!(spec.kind, Kind::List(_))))
}

/// The lines that bring the classes in that others inherit from.
fn imports(bases: &BTreeSet<&'static str>) -> String {
    const HOMES: [(&str, &[&str]); 10] = [
        ("_boosting", &["WeighedClassifier", "WeighedRegressor"]),
        (
            "_clusters",
            &[
                "Begun",
                "Components",
                "Connected",
                "Hierarchy",
                "Inertia",
                "Measured",
                "Resumed",
                "Shares",
            ],
        ),
        (
            "_compose",
            &["Columns", "Composed", "Stacked", "StackedClassifier", "Steps", "Targeted", "Voters"],
        ),
        ("_decomposition", &["Principal"]),
        ("_ensemble", &["Bagged", "BaggedClassifier", "JudgedRounds", "ScoredRounds"]),
        ("_neighbors", &["Neighborly", "Surrounded"]),
        ("_prepare", &["Marked"]),
        ("_projection", &["Inverted"]),
        ("_sklearn", &["Weighted"]),
        (
            "_tree",
            &[
                "Categorical",
                "ClassifierRounds",
                "Forest",
                "ManyTrees",
                "RegressorRounds",
                "Treelike",
            ],
        ),
    ];
    let elsewhere = |base: &str| HOMES.iter().any(|(_, names)| names.contains(&base));
    let own: Vec<&str> = bases.iter().copied().filter(|base| !elsewhere(base)).collect();
    let mut out = match own.is_empty() {
        true => String::new(),
        false => format!("from ._base import {}\n", own.join(", ")),
    };
    for (file, names) in HOMES {
        let found: Vec<&str> = names.iter().copied().filter(|name| bases.contains(name)).collect();
        if !found.is_empty() {
            let _ = writeln!(out, "from .{file} import {}", found.join(", "));
        }
    }
    out
}

/// Whether the model plays the roles of the last of its steps, so that its methods depend on them.
fn is_composite(entry: &Entry) -> bool {
    entry.about.roles.names().is_empty()
}

fn class(entry: &Entry) -> String {
    let about = entry.about;
    let learner = (entry.build)();
    let specs = learner.specs();
    let docstring = docstring(learner.documentation(), about, specs, entry);
    let raw = if docstring.contains('\\') { "r" } else { "" };
    let (arguments, names) = signature(about, specs, |_| String::new());
    let assignments: String = match names.is_empty() {
        true => "        pass\n".to_string(),
        false => names.iter().map(|name| format!("        self.{name} = {name}\n")).collect(),
    };
    let (target, passed) = target_of(entry);
    let (weight, weights) = match about.accepts.weights {
        true => (", sample_weight=None", ", sample_weight"),
        false => ("", ""),
    };
    let (length, lengths) = match about.accepts.sequences {
        true => (", lengths=None", ", lengths=lengths"),
        false => ("", ""),
    };
    let (group, groups) = match about.accepts.groups {
        true => (", groups=None", ", groups=groups"),
        false => ("", ""),
    };
    let (engine, engines, files) = match about.uses.streaming {
        true => (
            ", *, engine=None",
            ", engine=engine",
            "\n\n        `X` may also be files (a folder, paths, a dataset of pyarrow), `y` the name of a column in \
             them,\n        and `engine` where they are worked on: \"threads\", \"ray\", \"dask\" or \"spark\"; see\n        \
             `learnt.distributed.fit`.\n        ",
        ),
        false => ("", "", ""),
    };
    let (more, passed_on) = match is_composite(entry) {
        true => (", **fit_params", ", fit_params=fit_params"),
        false => ("", ""),
    };
    let [extra, _, extras] = fit_arguments(about.name());
    format!(
        "\n\nclass {}({}):\n    {raw}\"\"\"{docstring}\n    \"\"\"\n\n    _path = \"{}\"\n{}\n{}{assignments}\n    \
         def fit(self, X{target}{weight}{length}{group}{engine}{extra}{more}):\n        \"\"\"Learns from the rows of `X`{}.{files}\"\"\"\n        \
         return self._fit(X{passed}{weights}{lengths}{groups}{engines}{extras}{passed_on})\n{}",
        about.name(),
        bases_of(entry).join(", "),
        about.path,
        carried_line(about),
        head(&arguments),
        if target == ", y" { " and the target `y`" } else { "" },
        online_method(entry),
    ) + &questions(entry, false)
}

/// A method for each question that the model answers.
fn questions(entry: &Entry, stub: bool) -> String {
    let one = |question: &Question| {
        let (rows, passed) = match question.needs {
            Needs::Nothing => ("", ""),
            Needs::Rows => (", X", ", X"),
            // Standard errors by groups of rows.
            Needs::RowsAndTarget if question.name == "robust" => {
                (", X, y, sample_weight=None, groups=None", ", X, y, sample_weight, groups")
            }
            Needs::RowsAndTarget => (", X, y, sample_weight=None", ", X, y, sample_weight"),
        };
        let specs = (question.arguments)().specs();
        let star = if specs.is_empty() { "" } else { ", *" };
        let arguments: String = specs
            .iter()
            .map(|spec| format!(", {}={}", spec.name, literal(&spec.default)))
            .collect();
        let given: String = specs.iter().map(|spec| format!(", {0}={0}", spec.name)).collect();
        let head = format!("\n    def {}(self{rows}{star}{arguments})", question.name);
        if stub {
            return head.trim_start_matches('\n').to_string() + " -> Answer: ...\n";
        }
        let text = |spec: &ParamSpec| {
            let accepts = python_words(&spec.kind.to_string());
            let doc = plain(spec.doc);
            format!("\n{}", wrap(&format!("`{}`: {} ({accepts})", spec.name, doc), 8, WIDTH))
        };
        let described: String = specs.iter().map(text).collect();
        let described =
            if described.is_empty() { described } else { format!("\n{described}\n        ") };
        format!(
            "{head}:\n        \"\"\"{}{described}\"\"\"\n        return self.ask(\"{}\"{passed}{given})\n",
            question.doc, question.name
        )
    };
    (entry.questions)().iter().map(one).collect()
}

/// `partial_fit` of a learner that goes on training.
fn online_method(entry: &Entry) -> String {
    let about = entry.about;
    if !about.uses.online {
        return String::new();
    }
    let (weight, weights) = match about.accepts.weights {
        true => (", sample_weight=None", ", sample_weight=sample_weight"),
        false => ("", ""),
    };
    let (target, passed, text) = match (about.roles.classifier, about.roles.regressor) {
        (true, _) => (
            ", y, classes=None",
            ", y, classes",
            "Goes on training with the rows of `X`; the first call names all `classes`.",
        ),
        (_, true) => (", y", ", y", "Goes on training with the rows of `X` and the target `y`."),
        _ => (", y=None", "", "Goes on training with the rows of `X`."),
    };
    format!(
        "\n    def partial_fit(self, X{target}{weight}):\n        \"\"\"{text}\"\"\"\n        \
         return self._partial_fit(X{passed}{weights})\n"
    )
}

/// How `fit` names its target, and what it passes on.
fn target_of(entry: &Entry) -> (&'static str, &'static str) {
    match (entry.about.roles.needs_target(), is_composite(entry)) {
        (_, true) => (", y=None", ", y"),
        (false, _) if holds_learners(entry).is_some() => (", y=None", ", y"),
        (true, _) => (", y", ", y"),
        (false, _) => (", y=None", ", None"),
    }
}

/// The first line of `__init__`, or one line an argument where that is too long.
fn head(arguments: &[String]) -> String {
    let short = format!("    def __init__({}):\n", arguments.join(", "));
    if short.chars().count() <= WIDTH + 1 {
        return short;
    }
    let lines: String = arguments.iter().map(|a| format!("        {a},\n")).collect();
    format!("    def __init__(\n{lines}    ):\n")
}

/// Arguments of `__init__` with their types and defaults, and the names of all parameters.
fn signature(
    about: &About,
    specs: &[ParamSpec],
    annotate: impl Fn(&Kind) -> String,
) -> (Vec<String>, Vec<&'static str>) {
    let typed = |spec: &ParamSpec| {
        let annotation = match &spec.default {
            Value::Learner(_) => annotate(&Kind::Optional(Box::new(spec.kind.clone()))),
            _ => annotate(&spec.kind),
        };
        let equals = if annotation.is_empty() { "=" } else { " = " };
        match spec.required {
            true => format!("{}{annotation}", spec.name),
            false => format!("{}{annotation}{equals}{}", spec.name, literal(&spec.default)),
        }
    };
    let (mut first, others): (Vec<_>, Vec<_>) = specs.iter().partition(|spec| spec.positional);
    // Python wants those without a default first.
    first.sort_by_key(|spec| !spec.required);
    let mut arguments = vec!["self".to_string()];
    arguments.extend(first.iter().map(|spec| typed(spec)));
    let run = run_parameters(about);
    if !others.is_empty() || !run.is_empty() {
        arguments.push("*".to_string());
    }
    arguments.extend(others.iter().map(|spec| typed(spec)));
    for RunParameter { name, kind, default, .. } in &run {
        let annotated = !annotate(&Kind::Bool).is_empty();
        arguments.push(if annotated {
            format!("{name}: {kind} = {default}")
        } else {
            format!("{name}={default}")
        });
    }
    let names = first.iter().chain(&others).map(|spec| spec.name);
    (arguments, names.chain(run.iter().map(|parameter| parameter.name)).collect())
}

/// A parameter about running rather than modelling.
struct RunParameter {
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    doc: &'static str,
}

/// Parameters about running rather than modelling.
fn run_parameters(about: &About) -> Vec<RunParameter> {
    let carried = carried::of(about).map(|carried| RunParameter {
        name: carried.name,
        kind: carried.kind,
        default: carried.default,
        doc: carried.doc,
    });
    let all = [
        (
            about.uses.extends,
            RunParameter {
                name: "warm_start",
                kind: "bool",
                default: "False",
                doc: "Whether `fit` goes on from the model of the last call, on the same rows: it keeps \
                      the members or rounds that are there and adds those that are missing. With the \
                      same `random_state` the model is that of a fit from the start.",
            },
        ),
        (
            about.uses.randomness,
            RunParameter {
                name: "random_state",
                kind: "int | np.random.RandomState | np.random.Generator | None",
                default: "None",
                doc: "Seed of the random draws; the same seed gives the same model on any number of \
                      threads. None takes a seed from NumPy's global generator.",
            },
        ),
        (
            about.uses.threads,
            RunParameter {
                name: "n_jobs",
                kind: "int | None",
                default: "None",
                doc: "Number of threads; -1 and None mean all that this process may use. The result \
                      does not depend on it.",
            },
        ),
    ];
    let used = all.into_iter().filter(|(used, _)| *used).map(|(_, parameter)| parameter);
    used.chain(carried).collect()
}

/// The line of a class that names the parameters which change no answer.
fn carried_line(about: &About) -> String {
    let names: Vec<String> = carried::of(about).map(|one| format!("\"{}\"", one.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("    _carried = ({one},)\n"),
        _ => format!("    _carried = ({})\n", names.join(", ")),
    }
}

fn docstring(doc: &str, about: &About, specs: &[ParamSpec], entry: &Entry) -> String {
    let mut out = wrap(&plain(doc), 4, WIDTH).trim_start().to_string();
    if let Some(advice) = learnt::advice_on(about.name()) {
        let text = format!("Use it for: {}\n\nNot for: {}", advice.use_when, advice.not_when);
        let _ = write!(out, "\n\n{}", wrap(&text, 4, WIDTH));
    }
    let run = run_parameters(about);
    if !specs.is_empty() || !run.is_empty() {
        out += "\n\n    Parameters\n    ----------";
        for spec in specs {
            let kind = python_words(&spec.kind.to_string());
            let default = match &spec.default {
                _ if spec.required => "required".to_string(),
                Value::Learner(learner) => {
                    format!("default={}()", learner.learner.rsplit('.').next().unwrap_or_default())
                }
                value => format!("default={}", literal(value)),
            };
            let _ = write!(out, "\n    {} : {kind}, {default}", spec.name);
            let _ = write!(out, "\n{}", wrap(&plain(spec.doc), 8, WIDTH));
            out += &choices(&spec.kind);
        }
        for RunParameter { name, kind, default, doc } in run {
            let kind = kind.replace(" | ", " or ");
            let _ = write!(out, "\n    {name} : {kind}, default={default}");
            let _ = write!(out, "\n{}", wrap(doc, 8, WIDTH));
        }
    }
    out += "\n\n    Attributes\n    ----------";
    for (name, doc) in (entry.attributes)() {
        let _ = write!(out, "\n    {name}_\n{}", wrap(&plain(doc), 8, WIDTH));
    }
    if about.roles.needs_classes() {
        out += "\n    classes_\n        The classes, sorted.";
    }
    if about.uses.iterations && !(entry.attributes)().iter().any(|(name, _)| *name == "loss_curve")
    {
        out += "\n    loss_curve_\n        The objective after each iteration, where the solver records it.";
    }
    if about.roles.clusterer && !(entry.attributes)().iter().any(|(name, _)| *name == "labels") {
        out += "\n    labels_\n        The cluster of each training row; -1 is noise.";
    }
    out += "\n    n_features_in_\n        Number of columns of the training data.";
    out += "\n    feature_names_in_\n        Names of those columns, if they were text.";
    for (title, text) in [("Cost", about.cost), ("Reference", about.reference)] {
        if !text.is_empty() {
            let rule = "-".repeat(title.len());
            let _ = write!(out, "\n\n    {title}\n    {rule}\n{}", wrap(text, 4, WIDTH));
        }
    }
    out
}

/// The stub of a module.
pub(super) fn stub(name: &str, members: &Members) -> String {
    let Members { learners: entries, functions: calls } = members;
    let classes: String = entries.iter().map(|entry| stub_class(entry)).collect();
    let classes = classes + &calls.iter().map(|call| functions::stub(call)).collect::<String>();
    let bases: BTreeSet<&str> = entries.iter().flat_map(|entry| bases_of(entry)).collect();
    let mut out = format!("# {MARK}\n");
    if classes.contains("Sequence[") {
        out += "from collections.abc import Sequence\n";
    }
    let literal = if classes.contains("Literal[") { ", Literal" } else { "" };
    let _ = write!(out, "from typing import Any{literal}\n\n");
    if classes.contains("np.") {
        out += "import numpy as np\n\n";
    }
    out += &imports(&bases);
    if classes.contains("(Splitter):") {
        out += "from ._splitters import Splitter\n";
    }
    let (import, names) = by_hand(name);
    for name in names {
        // Names that a stub exports are written twice.
        let line = import.split(" import ").next().unwrap_or_default();
        let _ = writeln!(out, "{line} import {name} as {name}");
    }
    if classes.contains("-> Answer") {
        out += "from .answer import Answer\n";
    }
    if name == datasets::MODULE {
        out += &datasets::stubs();
    }
    out + &classes
}

fn stub_class(entry: &Entry) -> String {
    let about = entry.about;
    let learner = (entry.build)();
    let (arguments, _) =
        signature(about, learner.specs(), |kind| format!(": {}", annotation(kind)));
    let mut out = format!("\nclass {}({}):\n", about.name(), bases_of(entry).join(", "));
    for (name, _) in (entry.attributes)() {
        let _ = writeln!(out, "    {name}_: Any");
    }
    if about.roles.needs_classes() {
        out += "    classes_: Any\n";
    }
    if about.uses.iterations && !(entry.attributes)().iter().any(|(name, _)| *name == "loss_curve")
    {
        out += "    loss_curve_: Any\n";
    }
    if about.roles.clusterer && !(entry.attributes)().iter().any(|(name, _)| *name == "labels") {
        out += "    labels_: Any\n";
    }
    out += "    n_features_in_: int\n    feature_names_in_: Any\n";
    out += head(&arguments).trim_end();
    out = out.strip_suffix("):").unwrap_or(&out).to_string() + ") -> None: ...\n";
    let (target, _) = target_of(entry);
    let target = match target {
        ", y" => ", y: Any",
        _ => ", y: Any = None",
    };
    let weight = if about.accepts.weights { ", sample_weight: Any = None" } else { "" };
    let length = if about.accepts.sequences { ", lengths: Any = None" } else { "" };
    let group = if about.accepts.groups { ", groups: Any = None" } else { "" };
    let engine = if about.uses.streaming { ", *, engine: Any = None" } else { "" };
    let more = if is_composite(entry) { ", **fit_params: Any" } else { "" };
    let name = about.name();
    let [_, extra, _] = fit_arguments(name);
    let _ = writeln!(
        out,
        "    def fit(self, X: Any{target}{weight}{length}{group}{engine}{extra}{more}) -> {name}: ..."
    );
    if about.uses.online {
        let classes = if about.roles.classifier { ", classes: Any = None" } else { "" };
        let _ = writeln!(
            out,
            "    def partial_fit(self, X: Any{target}{classes}{weight}) -> {}: ...",
            about.name()
        );
    }
    out + &questions(entry, true)
}
