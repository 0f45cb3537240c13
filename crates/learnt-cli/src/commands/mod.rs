//! One file a verb, or a few that belong together.

mod answer;
mod ask;
mod cluster;
mod compare;
mod curve;
mod data;
mod decision;
mod explain;
mod fit;
mod function;
mod help;
mod job;
mod models;
mod path;
mod plot;
mod predict;
mod registry;
mod report;
mod split;
mod tune;
mod versus;

use crate::ExitCode;
use crate::observer::{Terminal, watch_interrupts};
use clap::ArgMatches;
use clap::parser::ValueSource;
use learnt::answer::Columns;
use learnt::context::Context;
use learnt::error::{Code, Error, Result, shell};
use learnt::select::CrossValidation;

/// Options that say how a file is read, which every later command needs again.
pub(crate) const READING: &[&str] = &[
    "format",
    "delimiter",
    "skip-lines",
    "header",
    "na",
    "type",
    "rename",
    "encoding",
    "ragged",
    "dedupe-names",
    "decimal-comma",
    "thousands",
    "max-input",
    "max-features",
];
/// Options that say what the columns are for.
pub(crate) const ROLES: &[&str] =
    &["task", "weight", "group", "sequence", "volume", "ignore", "keep", "date", "text"];
/// Options that say how columns are prepared.
pub(crate) const PREPARATION: &[&str] =
    &["formula", "no-prepare", "scale", "impute", "drop-unlabelled"];
/// Options whose values stand in one list.
const JOINED: &[&str] = &["na", "ignore", "keep"];

/// The page that `report` writes where no other is named.
pub(crate) const REPORT: &str = "report.html";

/// What every verb gets: its arguments, and the run.
pub(crate) struct Call<'a> {
    pub(crate) args: &'a ArgMatches,
    terminal: &'a Terminal,
    pub(crate) run: Context<'a>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Call<'_> {
    /// The text of an argument.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.args.try_get_one::<String>(name).ok().flatten().map(String::as_str)
    }

    /// The number of an argument.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.args.try_get_one::<f64>(name).ok().flatten().copied()
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.args.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false)
    }

    /// All texts of a repeated argument.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let values = self.args.try_get_many::<String>(name).ok().flatten();
        values.map(|values| values.cloned().collect()).unwrap_or_default()
    }

    /// Options of these names that stand on the command line, as they would be typed again.
    pub(crate) fn repeated(&self, names: &[&str]) -> String {
        let mut out = String::new();
        for name in names {
            let given = self.args.try_contains_id(name).unwrap_or(false)
                && self.args.value_source(name) == Some(ValueSource::CommandLine);
            if !given {
                continue;
            }
            match self.texts(name).as_slice() {
                [] if self.flag(name) => out += &format!(" --{name}"),
                [] => {
                    if let Ok(Some(&count)) = self.args.try_get_one::<usize>(name) {
                        out += &format!(" --{name} {count}");
                    }
                }
                values if JOINED.contains(name) => {
                    out += &format!(" --{name} {}", shell(&values.join(",")));
                }
                values => values.iter().for_each(|v| out += &format!(" --{name} {}", shell(v))),
            }
        }
        out
    }

    /// Warns of something that is no model's.
    pub(crate) fn warn(&self, code: Code, message: String) {
        self.terminal.ended();
        self.run.warn(code, message);
    }

    /// Collects what the folds of a model warned of.
    pub(crate) fn collect_folds(&self, model: &str, result: &CrossValidation) {
        self.terminal.collect_folds(model, result);
    }

    /// Tells the warnings that were collected, one line a kind.
    pub(crate) fn tell_warnings(&self) {
        self.terminal.tell();
    }

    /// Says what to type next, as the last of all.
    pub(crate) fn next(&self, text: &str) {
        self.tell_warnings();
        self.say(&format!("next: {text}"));
    }

    /// How long lines of tables may be; with --all as long as they are.
    pub(crate) fn line_width(&self) -> usize {
        if self.flag("all") { usize::MAX } else { crate::output::line_width() }
    }

    /// A table in lines that fit the terminal.
    pub(crate) fn fitted(&self, table: &Columns) -> String {
        table.to_text_fitted(usize::MAX, self.line_width())
    }

    /// How many rows of a table are shown at most; all with --all.
    pub(crate) fn most_rows(&self) -> usize {
        const SHOWN: usize = 60;
        if self.flag("all") { usize::MAX } else { SHOWN }
    }

    /// Says something on standard error, unless quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            crate::output::say(text);
        }
    }
}

/// Runs the verb that the command line names.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let Some((verb, args)) = matches.subcommand() else {
        return Err(Error::new(Code::Usage, "no verb").hint("learnt --help"));
    };
    // Learners and generators are subcommands of their verb.
    let (inner, args) = match args.subcommand() {
        Some((inner, deeper)) => (Some(inner), deeper),
        None => (None, args),
    };
    let text = |name: &str| args.try_get_one::<String>(name).ok().flatten().map(String::as_str);
    let quiet = args.get_flag("quiet");
    let terminal = Terminal::new(text("progress").unwrap_or("auto"), quiet);
    watch_interrupts();
    let run = Context::default()
        .with_seed(seed(text("seed").unwrap_or("0"))?)
        .with_threads(args.try_get_one::<usize>("threads").ok().flatten().copied().unwrap_or(0))
        .with_memory_limit(text("max-memory").map(|word| bytes(word, "--max-memory")).transpose()?)
        .observed_by(&terminal);
    let call = Call { args, terminal: &terminal, run, json: args.get_flag("json"), quiet };
    crate::place::check(&call, verb)?;
    match (verb, inner) {
        ("list", _) => registry::list(&call),
        ("show", _) => registry::show(&call),
        ("describe", _) => data::describe(&call),
        ("dataset", _) => data::dataset(&call),
        ("convert", _) => data::convert(&call),
        ("split", None) => split::split(&call),
        ("fit", Some(name)) => fit::fit(&call, name),
        ("cluster", Some(name)) => cluster::cluster(&call, name),
        ("reduce", Some(name)) => cluster::reduce(&call, name),
        ("choose-k", _) => cluster::choose_k(&call),
        ("path", _) => path::run(&call),
        ("plan", Some(name)) => job::plan(&call, name),
        ("task", _) => job::task(&call),
        ("advance", _) => job::advance(&call),
        ("predict", _) => predict::predict(&call),
        ("score", _) => predict::score(&call),
        ("cv", Some(name)) => compare::cross_validate(&call, name),
        ("compare", _) => compare::compare(&call),
        ("curve", Some(name)) => curve::curve(&call, name),
        ("tune", Some(name)) => tune::tune(&call, name),
        ("versus", _) => versus::versus(&call),
        ("ask", _) => ask::ask(&call),
        ("explain", _) => explain::run(&call),
        ("plot", _) => plot::plot(&call),
        ("report", _) => report::report(&call),
        ("summary", _) => models::summary(&call),
        ("anova", _) => models::anova(&call),
        ("inspect", _) => models::inspect(&call),
        ("update", _) => fit::update(&call),
        ("verify", _) => models::verify(&call),
        ("completions", _) => help::completions(&call),
        ("help", _) => help::help(&call),
        (verb, Some(name)) => function::run(&call, verb, name),
        _ => Err(Error::internal("a verb without its command")),
    }
}

/// A seed: a whole number, or `random` for one from the clock, which is printed.
fn seed(word: &str) -> Result<u64> {
    if word == "random" {
        let seed = learnt::clock::nanoseconds() >> 8;
        crate::output::say(&format!("seed {seed}"));
        return Ok(seed);
    }
    word.parse().map_err(|_| {
        Error::parameter("--seed", "a whole number >= 0 or `random`", format!("'{word}'"))
    })
}

/// A size in bytes: `500MB`, `2GB`, `1GiB`, `1000000`.
pub(crate) fn bytes(word: &str, flag: &str) -> Result<u64> {
    let bad = || Error::parameter(flag, "a size such as 500MB or 2GB", format!("'{word}'"));
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &word[digits.len()..].to_ascii_lowercase()[..] {
        "" | "b" => 1.0,
        "kb" | "k" => 1e3,
        "mb" | "m" => 1e6,
        "gb" | "g" => 1e9,
        "tb" | "t" => 1e12,
        "kib" => 1024.0,
        "mib" => 1048576.0,
        "gib" => 1073741824.0,
        _ => return Err(bad()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| bad())?;
    if number > 0.0 { Ok((number * factor) as u64) } else { Err(bad()) }
}
