//! Subcommands that the registry has: learners under their verbs and functions under their kinds, with
//! their parameters as flags.

use super::elsewhere::unknown_verb;
use super::shown::listing;
use super::{
    GENERAL, INPUT, PARAM, curve, deciding, flag, formula_flag, general, look, marks_flag,
    missing_flag, out_flag, plot_flag, preparation, resampled, search, with_data,
};
use clap::{Arg, Command};
use learnt::error::{Code, Error};
use learnt::estimator::{About, Entry};
use learnt::function::{FunctionEntry, FunctionKind};
use learnt::params::{Kind, ParamSpec, Variant};
use std::collections::BTreeMap;

/// A verb whose first argument is a learner: one subcommand each, with its parameters as flags.
pub(super) fn with_learners(verb: Command) -> Command {
    let name = verb.get_name().to_string();
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let examples = verb.get_before_help().map(ToString::to_string).unwrap_or_default();
    Command::new(name.clone())
        .about(about)
        .before_help(examples)
        .subcommand_required(true)
        .subcommand_value_name("LEARNER")
        .override_usage(format!("learnt {name} LEARNER DATA [OPTIONS]"))
        .defer(learners)
}

type Keep = fn(&Entry) -> bool;
type Extend = fn(Command) -> Command;

/// Which learners a verb has, and what it adds to each; none if it has no learners.
fn of_verb(verb: &str) -> Option<(Keep, Extend)> {
    Some(match verb {
        "fit" => (|_| true, fitting),
        "plan" => (|_| true, planning),
        "cluster" => (
            |entry| entry.about.roles.clusterer,
            |learner| {
                labelling(
                    learner,
                    "The table of clusters, -1 for noise; the ending chooses the format, - is standard output",
                )
            },
        ),
        "reduce" => (reduces, |learner| {
            labelling(
                learner,
                "The table of coordinates; the ending chooses the format, - is standard output",
            )
        }),
        "curve" => (|_| true, |learner| curve(preparation(learner)).arg(formula_flag())),
        "tune" => (|_| true, |learner| search(resampled(preparation(learner)).arg(formula_flag()))),
        "cv" => (|_| true, |learner| resampled(preparation(learner)).arg(formula_flag())),
        _ => return None,
    })
}

/// The learners of a verb by the names that they can be called by.
fn callable(keep: Keep) -> impl Iterator<Item = (String, Vec<&'static Entry>)> {
    let single = learnt::entries().map(|entry| (entry.about.command(), vec![entry]));
    single
        .chain(shared_aliases())
        .filter(move |(_, entries)| entries.iter().all(|entry| keep(entry)))
}

/// The learners of a verb, made only when the verb is used.
fn learners(verb: Command) -> Command {
    let name = verb.get_name().to_string();
    let Some((keep, extend)) = of_verb(&name) else { return verb };
    let taken = flags_of(&extend(with_data(Command::new(""))));
    let commands: Vec<Command> = callable(keep)
        .map(|(learner, entries)| learner_command(&name, learner, &entries, extend, &taken))
        .collect();
    let mut names: Vec<String> = Vec::new();
    for entry in learnt::entries().filter(|entry| keep(entry)) {
        let short = entry.about.aliases.first().map(ToString::to_string);
        let short = short.unwrap_or_else(|| entry.about.command());
        if !names.contains(&short) {
            names.push(short);
        }
    }
    let more = format!(
        "learnt list learners describes them, learnt {name} {} --help has the parameters of one,\nlearnt help {name} the options that all have.",
        names.iter().find(|name| *name == "ridge").or(names.first()).map_or("", String::as_str)
    );
    listing(verb.subcommands(commands), "Learners", &names, &more)
}

/// A learner or function under its verb.
pub(super) fn under(verb: &str, name: &str) -> Option<Command> {
    if let Some((keep, extend)) = of_verb(verb) {
        let taken = flags_of(&extend(with_data(Command::new(""))));
        let (learner, entries) = callable(keep).find(|(known, _)| known == name)?;
        return Some(learner_command(verb, learner, &entries, extend, &taken));
    }
    let mut own = learnt::functions().filter(|entry| entry.about.kind.verb() == verb);
    own.find(|entry| entry.about.command() == name || entry.about.aliases.contains(&name))
        .map(function_command)
}

/// The error about a name that a verb of learners or functions does not have; none for other verbs.
pub(crate) fn unknown_name(verb: &str, name: &str) -> Option<Error> {
    if let Some((keep, _)) = of_verb(verb) {
        let known: Vec<String> = callable(keep).map(|(known, _)| known).collect();
        let elsewhere = !learnt::find_all(name).is_empty();
        return Some(match elsewhere {
            true => Error::new(Code::Unknown, format!("`learnt {verb}` is not for {name}"))
                .hint(format!("learnt {verb} --help names what it is for")),
            false => learnt::unknown_among(name, &known),
        });
    }
    let own = learnt::functions().filter(|entry| entry.about.kind.verb() == verb);
    let known: Vec<String> = own.map(|entry| entry.about.command()).collect();
    match known.is_empty() {
        true => (verb == name).then(|| unknown_verb(name)),
        false => Some(Error::unknown("function", name, known.iter().map(String::as_str))),
    }
}

/// The options that all learners of a verb have, as a page of its own.
pub(super) fn shared(verb: &str) -> Option<Command> {
    let (_, extend) = of_verb(verb)?;
    let all = super::command();
    let own = all.find_subcommand(verb)?;
    let text =
        |text: Option<&clap::builder::StyledStr>| text.map_or(String::new(), ToString::to_string);
    let (about, examples) = (text(own.get_about()), text(own.get_before_help()));
    let command = Command::new(verb.to_string()).about(about).before_help(examples);
    let learner = clap::Arg::new("learner").index(1).required(true).value_name("LEARNER");
    let command = extend(with_data(command)).mut_arg("data", |arg| arg.index(2));
    Some(general(command.arg(learner.help("Which learner; see `learnt list learners`")), verb))
}

/// What `fit` adds to a learner.
fn fitting(learner: Command) -> Command {
    let streaming = |arg: Arg| arg.help_heading("Streaming");
    let detail = |arg: Arg| arg.help_heading("Details");
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    preparation(learner)
        .arg(formula_flag())
        .arg(out_flag("Save the model to this file"))
        .arg(flag("stream", "Read the file in blocks, for files larger than memory"))
        .arg(streaming(
            text(
                "engine",
                "ENGINE",
                "Fit on a cluster, through the Python package; the model is that of --stream",
            )
            .value_parser(["ray", "dask", "spark"])
            .conflicts_with("stream"),
        ))
        .arg(streaming(
            text(
                "address",
                "ADDRESS",
                "Of a cluster that is running; without one it is started on this machine",
            )
            .requires("engine"),
        ))
        .arg(streaming(
            text("workers", "N", "Workers of the engine")
                .requires("engine")
                .value_parser(clap::value_parser!(u64).range(1..)),
        ))
        .arg(streaming(text(
            "checkpoint",
            "DIR",
            "Keep where the fit is in this folder, so that it can go on if it is killed",
        )))
        .arg(streaming(
            text(
                "checkpoint-every",
                "SECONDS",
                "Time between checkpoints inside a pass over the data; 5 by default",
            )
            .requires("checkpoint")
            .value_parser(clap::value_parser!(f64)),
        ))
        .arg(streaming(
            flag("resume", "Go on from the checkpoint, if there is one").requires("checkpoint"),
        ))
        .arg(detail(marks_flag()))
        .arg(detail(
            text(
                "continue",
                "MODEL",
                "Go on from this model on the same rows: add the members or rounds that it lacks",
            )
            .conflicts_with_all(["stream", "engine"]),
        ))
        .arg(detail(flag("strict", "Exit with 5 if the fit did not converge")))
        .arg(detail(text("labels", "FILE", "Write the cluster of each training row to this file")))
        .arg(detail(text("trace", "FILE", "Write the objective after each iteration to this file")))
        .arg(detail(unknown_flag()))
        .arg(detail(missing_flag()))
}

/// What `plan` adds to a learner.
fn planning(learner: Command) -> Command {
    let count = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(clap::value_parser!(u64).range(1..))
            .help(help)
    };
    preparation(learner)
        .arg(formula_flag())
        .arg(Arg::new("job").long("out").short('o').value_name("DIR").help("Write the job into this folder"))
        .arg(count("tasks", "Tasks of a round [default: as many as threads]"))
        .arg(count("nodes", "Machines to say the expected time for [default: as many as tasks]"))
        .arg(count("cores", "Cores of each of them [default: 16]"))
        .arg(Arg::new("rows").long("rows").value_name("X").value_parser(clap::value_parser!(f64)).help("Say the expected time for so many rows, such as 1e11 [default: those of the table]"))
        .arg(flag("any-processor", "Let workers have processors with other vectors: last digits may differ then"))
        .arg(unknown_flag().help_heading("Details"))
        .arg(missing_flag().help_heading("Details"))
}

fn unknown_flag() -> Arg {
    Arg::new("unknown")
        .long("unknown")
        .value_name("POLICY")
        .value_parser(["error", "missing", "other"])
        .help("What prediction does with categories that training did not see: refuse, take them for missing, or for a level that is none of training's")
}

/// What a verb that fits and writes a table has.
fn labelling(learner: Command, out: &'static str) -> Command {
    preparation(learner)
        .arg(formula_flag())
        .arg(out_flag(out))
        .arg(flag("append", "Put the result beside the input columns"))
        .arg(Arg::new("save").long("save").value_name("FILE").help("Save the model to this file"))
        .arg(flag("strict", "Exit with 5 if the fit did not converge"))
        .arg(plot_flag())
}

/// Transformers whose columns are new coordinates.
fn reduces(entry: &Entry) -> bool {
    let family = entry.about.path.split('.').next().unwrap_or_default();
    entry.about.roles.transformer
        && ["decomposition", "random_projection", "discriminant_analysis"].contains(&family)
}

/// `choose-k`: the function of that name as a verb.
pub(super) fn choose_k() -> Command {
    match learnt::find_function("choose_k") {
        Ok(entry) => function_command(entry).before_help(
            "Examples:\n  learnt choose-k iris --plot k.svg\n  learnt choose-k iris --k-max 6 --x petal_length,petal_width",
        ),
        Err(_) => Command::new("choose-k"),
    }
}

/// Aliases with the learners they stand for: one, or one for each kind of target.
fn shared_aliases() -> BTreeMap<String, Vec<&'static Entry>> {
    let mut aliases: BTreeMap<String, Vec<&'static Entry>> = BTreeMap::new();
    for entry in learnt::entries() {
        for alias in entry.about.aliases {
            if learnt::find(alias).is_none() {
                aliases.entry((*alias).to_string()).or_default().push(entry);
            }
        }
    }
    aliases
}

/// Two calls of a verb with a learner that can be typed as they are.
fn learner_examples(verb: &str, name: &str, about: &About) -> String {
    let set = match about.roles {
        roles if roles.two_classes => "breast_cancer",
        roles if roles.regressor || about.name() == "ColumnTransformer" => "cpu",
        _ => "iris",
    };
    let second = match verb {
        "cv" => "--folds 5",
        "cluster" => "-o clusters.csv",
        "reduce" => "-o coordinates.csv",
        "curve" => "--folds 3 --plot -",
        "tune" => "--folds 3 -o model.learnt",
        "plan" => "--tasks 2 -o job",
        _ => "-o model.learnt",
    };
    match about.accepts.sequences {
        true => format!(
            "Examples:\n  learnt show {name}\n  learnt {verb} {name} iris --sequence species -t species"
        ),
        false => {
            let first = format!("learnt {verb} {name} {set}{}", required(about));
            format!("Examples:\n  {first}\n  {first} {second}")
        }
    }
}

/// Values of the parameters that a learner cannot do without, as they are typed.
fn required(about: &About) -> String {
    match about.name() {
        "Pipeline" => " --steps standard-scaler,logistic-regression".to_string(),
        "ColumnTransformer" => r#" --transformers '[["a","standardize",["cach"]]]'"#.to_string(),
        "VotingClassifier" | "StackingClassifier" => " --estimators tree,gaussian-nb".to_string(),
        "VotingRegressor" | "StackingRegressor" => {
            " --estimators tree,linear-regression".to_string()
        }
        _ => String::new(),
    }
}

fn learner_command(
    verb: &str,
    name: String,
    entries: &[&'static Entry],
    extend: impl Fn(Command) -> Command,
    taken: &[String],
) -> Command {
    let abouts: Vec<&'static About> = entries.iter().map(|entry| entry.about).collect();
    let learner = (entries[0].build)();
    let sentence = learner.documentation().lines().next().unwrap_or_default().to_string();
    let is_alias = abouts.len() > 1 || abouts[0].command() != name;
    let about = match is_alias {
        true => {
            format!("= {}", abouts.iter().map(|a| a.command()).collect::<Vec<_>>().join(" or "))
        }
        false => sentence,
    };
    let mut specs: Vec<ParamSpec> = Vec::new();
    for entry in entries {
        for spec in (entry.build)().specs() {
            if !specs.iter().any(|known| known.name == spec.name) {
                specs.push(spec.clone());
            }
        }
    }
    let examples = learner_examples(verb, &name, abouts[0]);
    let command = Command::new(name).about(about).before_help(examples).hide(is_alias);
    let decides = verb == "cv" && entries.iter().any(|entry| entry.about.roles.classifier);
    let mut taken = taken.to_vec();
    if decides {
        taken.extend(flags_of(&deciding(Command::new(""))));
    }
    let path = format!("{verb} {}", command.get_name());
    let command = extend(with_data(with_params(command, &specs, &taken)));
    let command = if decides { deciding(command) } else { command };
    // Parameters stand first in the help: options without a heading would come before them.
    let command =
        command.mut_args(|arg| match arg.is_positional() || arg.get_help_heading().is_some() {
            true => arg,
            false => arg.help_heading("Options"),
        });
    general(command, &path)
}

/// The long names of all flags of a command, and of those that every verb has.
fn flags_of(command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|arg| arg.get_long().map(ToString::to_string));
    own.chain(GENERAL.iter().map(ToString::to_string)).collect()
}

/// The verb of one kind of function: one subcommand each, made when the verb is used.
pub(super) fn function_verb(kind: FunctionKind) -> Command {
    let (first, second) = match kind {
        FunctionKind::Metric => (
            "accuracy-score --y-true '[1, 0, 1]' --y-pred '[1, 1, 1]'",
            "roc-curve --y-true '[0, 0, 1, 1]' --y-score '[0.1, 0.4, 0.35, 0.8]' --plot roc.svg",
        ),
        FunctionKind::Theory => {
            ("vc-bound --n 1000 --d-vc 3", "hoeffding-bound --n 1000 --eps 0.05")
        }
        FunctionKind::Study => {
            ("bias-variance --degrees 0,1,3", "bias-variance --degrees 0,1,3 --plot -")
        }
        FunctionKind::Generator => {
            ("churn -o churn.csv", "moons --n-samples 500 --noise 0.1 > moons.csv")
        }
        FunctionKind::Split => ("iris --test 0.25 -o flowers.csv", "k-fold iris --n-splits 5"),
        FunctionKind::Statistic => {
            ("normal --x '[1.96]' --what cdf", "student-t --x '[2]' --df 5 --what sf")
        }
        FunctionKind::Algebra => {
            ("svd --a '[[1, 2], [3, 4]]'", "solve --a '[[2, 0], [0, 4]]' --b '[1, 1]'")
        }
        FunctionKind::Analysis => (
            "simple-regression cpu --x mmax --y performance",
            "learning-curve iris -t species --estimator tree",
        ),
    };
    let verb = match kind {
        FunctionKind::Split => general(cutting(look(kind.verb(), "", "")), kind.verb()),
        _ => Command::new(kind.verb())
            .subcommand_required(true)
            .override_usage(format!("learnt {} FUNCTION [OPTIONS]", kind.verb())),
    };
    verb.about(kind.description())
        .before_help(format!("Examples:\n  learnt {0} {first}\n  learnt {0} {second}", kind.verb()))
        .subcommand_value_name("FUNCTION")
        .defer(|verb| {
            let name = verb.get_name().to_string();
            let own = || learnt::functions().filter(|entry| entry.about.kind.verb() == name);
            let names: Vec<String> = own().map(|entry| entry.about.command()).collect();
            let first = names.first().map_or("", String::as_str);
            let more = format!(
                "learnt show {first} describes one, learnt {name} {first} --help has its options."
            );
            let commands: Vec<Command> = own().map(function_command).collect();
            listing(verb.subcommands(commands), "Functions", &names, &more)
        })
}

/// `split` with a table cuts it into files.
fn cutting(verb: Command) -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    with_data(verb)
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .arg(text("test", "SIZE", "Test rows, as a share or a number [default: 0.25]"))
        .arg(text("validation", "SIZE", "Validation rows, as a share or a number [default: none]"))
        .arg(text("stratify", "COLUMN", "Keep the shares of this column's values in all parts [default: the target, if it has classes]"))
        .arg(text("time", "COLUMN", "Test on the last rows by this column of dates or numbers"))
        .arg(out_flag("NAME.csv: parts are NAME-train.csv, NAME-validation.csv and NAME-test.csv [default: the name of the file]"))
}

/// A function: its inputs and parameters as flags.
fn function_command(entry: &'static FunctionEntry) -> Command {
    let function = (entry.build)();
    let sentence = function.documentation().lines().next().unwrap_or_default().to_string();
    let mut command = look("", "", "")
        .name(entry.about.command())
        .about(sentence)
        .before_help("")
        .aliases(entry.about.aliases.iter().copied())
        .arg(out_flag("Write to this file instead; the ending chooses the form"))
        .arg(plot_flag());
    if !entry.inputs.is_empty() || entry.about.kind == FunctionKind::Split {
        command = with_data(command).mut_arg("data", |arg| arg.required(false));
    } else {
        command = command.arg(flag("all", "Show every row of a long table"));
    }
    for input in entry.inputs {
        let long = input.name.replace('_', "-").to_lowercase();
        let doc = input.doc.lines().collect::<Vec<_>>().join(" ");
        let arg = Arg::new(format!("{INPUT}{}", input.name))
            .long(long)
            .value_name("COLUMN")
            .help(format!("{doc} [a column, or a list such as '[1, 0, 1]']"))
            .help_heading("Inputs")
            .allow_hyphen_values(true);
        command = command.arg(arg);
    }
    let taken = flags_of(&command);
    let path = format!("{} {}", entry.about.kind.verb(), entry.about.command());
    let command = general(with_params(command, function.specs(), &taken), &path);
    match entry.about.kind {
        FunctionKind::Generator => command.mut_args(|arg| match arg.get_long() {
            Some("n-samples") => arg.alias("rows"),
            Some("n-features") => arg.alias("columns"),
            _ => arg,
        }),
        _ => command,
    }
}

/// One flag for each parameter; `--param-NAME` where the verb has a flag of that name itself.
fn with_params(mut command: Command, specs: &[ParamSpec], taken: &[String]) -> Command {
    for spec in specs {
        let name = spec.name.replace('_', "-");
        let long = if taken.contains(&name) { format!("param-{name}") } else { name };
        let first = spec.doc.lines().collect::<Vec<_>>().join(" ");
        let mut arg = Arg::new(format!("{PARAM}{}", spec.name))
            .long(long)
            .value_name(value_name(&spec.kind))
            .help(short_help(&first, spec))
            .long_help(format!("{first} [{}; default: {}]", spec.kind, spec.default_text()))
            .help_heading("Parameters")
            .allow_hyphen_values(spec.kind != Kind::Bool);
        if spec.kind == Kind::Bool {
            arg = arg.num_args(0..=1).default_missing_value("true");
        }
        command = command.arg(arg);
    }
    command
}

/// The first words about a parameter, with its values and its default as far as they fit a line.
fn short_help(doc: &str, spec: &ParamSpec) -> String {
    const ROOM: usize = 62;
    let cut = |ends: &[&str]| {
        let end = ends.iter().filter_map(|end| doc.find(end)).min().unwrap_or(doc.len());
        doc[..end].trim_end_matches('.').to_string()
    };
    let (words, fewer) = (cut(&[". ", "; ", ": "]), cut(&[". ", "; ", ": ", ", ", " ("]));
    let default = match spec.default_text() {
        none if none == "none" => String::new(),
        text => format!(" [default: {text}]"),
    };
    let values = match value_name(&spec.kind) {
        "WORD" => format!(": {}", spec.kind),
        _ => String::new(),
    };
    let forms = [
        format!("{words}{values}{default}"),
        format!("{words}{default}"),
        format!("{fewer}{default}"),
    ];
    let fits = |form: &&String| form.chars().count() <= ROOM;
    forms.iter().find(fits).or(forms.last()).cloned().unwrap_or_default()
}

fn value_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "BOOL",
        Kind::Int(_) => "N",
        Kind::Real(_) => "X",
        Kind::Optional(inner) => value_name(inner),
        Kind::Choice(variants)
            if variants.iter().all(|v| matches!(v, Variant::Word(..) | Variant::Null(_))) =>
        {
            "WORD"
        }
        _ => "VALUE",
    }
}
