//! Examples of a learner on a bundled set, with what they print: computed here, so that a page that is out
//! of date is refused, and run again in Python and by the command in their tests.

use super::python::literal;
use learnt_core::context::Context;
use learnt_core::data::{OwnedDataset, Target};
use learnt_core::error::{Error, Result};
use learnt_core::estimator::{AnyEstimator, Entry};
use learnt_core::params::{LearnerSpec, Value};
use learnt_core::trained::{Prediction, Trained};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A learner, the bundled set of its example, and parameters as they would be typed.
type Set = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Learners whose example says little on the usual set of their role.
const SETS: &[Set] = &[
    ("OneHotEncoder", "weather_nominal", &[]),
    ("OrdinalEncoder", "weather_nominal", &[]),
    ("SimpleImputer", "vote", &[("strategy", "most_frequent")]),
    ("C45Classifier", "weather_numeric", &[]),
    ("ID3Classifier", "weather_nominal", &[]),
    ("SimplexRegressor", "cpu", &[]),
    ("DBSCAN", "iris", &[("eps", "0.8")]),
    ("ApproximateDBSCAN", "iris", &[("eps", "0.8")]),
];

/// Lines of a command's answer that a page shows.
const SHOWN: usize = 16;

/// Characters of a line of the command's answer.
const WIDTH: usize = 100;

/// What a page shows.
pub(super) struct Example {
    /// Lines as they are typed in Python, each with what it prints.
    pub(super) python: String,
    /// The command and what it prints.
    pub(super) command: String,
}

/// The example of a learner, or why there is none.
pub(super) fn example(entry: &Entry) -> Result<Example> {
    if let Some(written) = super::written::example(entry.about.name()) {
        return Ok(written);
    }
    let (set, settings) = setting(entry);
    let bundled = learnt::datasets::describe(set)?;
    let data = learnt::datasets::load(set)?;
    let learner = built(entry, &settings)?;
    let roles = entry.about.roles;
    let rows = match roles.needs_target() {
        true => data.view(),
        false => learnt_core::data::Dataset::new(data.x.frame()),
    };
    let run = Context::default();
    let own = Trained::fit(learner.as_ref(), &rows, &[], &run)?;
    let python = python(entry, set, &settings, &own, &data, &run)?;
    let request = learnt::select::Request {
        missing: learnt::select::has_missing(&rows),
        ..Default::default()
    };
    let prepared = learnt::select::prepared(learner.as_ref(), data.x.schema(), request);
    let prepared = prepared.map(|spec| learnt::build(&spec)).transpose()?;
    let targets: Vec<String> = bundled
        .target
        .filter(|_| roles.needs_target())
        .map(ToString::to_string)
        .into_iter()
        .collect();
    let trained =
        Trained::fit(prepared.as_ref().unwrap_or(&learner).as_ref(), &rows, &targets, &run)?;
    Ok(Example { python, command: command(entry, set, &settings, &trained) })
}

type Settings = Vec<(String, String)>;

/// The set and the parameters of an example, as they would be typed.
fn setting(entry: &Entry) -> (&'static str, Settings) {
    let about = entry.about;
    let own = SETS.iter().find(|(name, ..)| *name == about.name());
    let set = match about.roles {
        _ if own.is_some() => own.map_or("iris", |(_, set, _)| set),
        roles if roles.two_classes => "breast_cancer",
        roles if roles.regressor => "cpu",
        _ => "iris",
    };
    let words = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
    };
    (set, own.map_or_else(|| words(about.check_with), |(_, _, own)| words(own)))
}

fn built(entry: &Entry, settings: &Settings) -> Result<Box<dyn AnyEstimator>> {
    let mut learner = (entry.build)();
    for (name, word) in settings {
        let spec = learner.specs().iter().find(|spec| spec.name == name);
        let value = spec.map_or_else(|| Value::parse(word), |spec| spec.parse(word));
        learner.set(name, &value)?;
    }
    learner.check()?;
    Ok(learner)
}

/// What a class is called with: parameters in Python's words, and the classes that they name.
fn arguments(entry: &Entry, settings: &Settings) -> Result<(String, Vec<String>)> {
    let learner = built(entry, settings)?;
    let mut imports = Vec::new();
    let mut out = Vec::new();
    for (name, _) in settings {
        let value = learner.get(name)?;
        out.push(format!("{name}={}", argument(&value, &mut imports)));
    }
    if entry.about.uses.randomness {
        out.push("random_state=0".to_string());
    }
    Ok((out.join(", "), imports))
}

fn argument(value: &Value, imports: &mut Vec<String>) -> String {
    match value {
        Value::Learner(LearnerSpec { learner, .. }) => {
            let (module, name) = learner.rsplit_once('.').unwrap_or(("", learner));
            imports.push(format!("from learnt.{module} import {name}"));
            format!("{name}()")
        }
        Value::List(items) => {
            let named = |item: &Value| matches!(item, Value::List(pair) if pair.len() == 2);
            let all: Vec<String> = items.iter().map(|item| argument(item, imports)).collect();
            match items.iter().all(named) {
                true => format!("[{}]", all.join(", ")),
                false => format!("({})", all.join(", ")),
            }
        }
        value => literal(value),
    }
}

/// A session in Python.
fn python(
    entry: &Entry,
    set: &str,
    settings: &Settings,
    model: &Trained,
    data: &OwnedDataset,
    run: &Context,
) -> Result<String> {
    let about = entry.about;
    let (arguments, more) = arguments(entry, settings)?;
    let mut imports = vec![
        format!("from learnt.datasets import load_{set}"),
        format!("from learnt.{} import {}", about.module(), about.name()),
    ];
    imports.extend(more);
    if about.roles.clusterer {
        imports.insert(0, "from collections import Counter".to_string());
    }
    imports.sort();
    imports.dedup();
    let target = about.roles.needs_target();
    let (names, given) = if target { ("X, y", "X, y") } else { ("X, _", "X") };
    let mut out = String::new();
    imports.iter().for_each(|line| {
        let _ = writeln!(out, ">>> {line}");
    });
    let _ = writeln!(out, ">>> {names} = load_{set}(return_X_y=True)");
    let call = format!("{}({arguments})", about.name());
    let fit = format!(">>> model = {call}.fit({given})");
    match fit.len() > WIDTH {
        true => {
            let _ = writeln!(out, ">>> model = {call}\n>>> model = model.fit({given})");
        }
        false => {
            let _ = writeln!(out, "{fit}");
        }
    }
    let (line, printed) = asked(entry, model, data, run)?;
    let _ = writeln!(out, ">>> {line}\n{printed}");
    Ok(out)
}

/// What is asked of the model in Python, and what it prints.
fn asked(
    entry: &Entry,
    model: &Trained,
    data: &OwnedDataset,
    run: &Context,
) -> Result<(String, String)> {
    let (roles, x) = (entry.about.roles, data.x.frame());
    let none = || Error::unsupported("nothing to ask");
    if roles.clusterer {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for label in &model.outcome.labels {
            *counts.entry(label.map_or(-1, i64::from)).or_default() += 1;
        }
        let pairs: Vec<String> = counts.iter().map(|(k, n)| format!("({k}, {n})")).collect();
        let line = "sorted(Counter(model.labels_.tolist()).items())";
        return Ok((line.to_string(), format!("[{}]", pairs.join(", "))));
    }
    match (model.predict(&x, run)?, data.view().y) {
        (Prediction::Class(found), Some(Target::Class { codes, .. })) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            let share = right as f64 / codes.len() as f64;
            Ok(("round(model.score(X, y), 3)".to_string(), format!("{:?}", rounded(share))))
        }
        (Prediction::Real(values), _) if roles.density && !roles.regressor => {
            let shown: Vec<f64> = (0..2).map(|i| rounded(values[(i, 0)])).collect();
            Ok(("model.score_samples(X[:2]).round(3).tolist()".to_string(), format!("{shown:?}")))
        }
        (Prediction::Outlier(flags), _) => {
            let count = flags.iter().filter(|flag| **flag).count();
            Ok(("int((model.predict(X) == -1).sum())".to_string(), count.to_string()))
        }
        (Prediction::Real(values), Some(Target::Real(_))) => {
            let shown: Vec<f64> = (0..3).map(|i| rounded(values[(i, 0)])).collect();
            Ok(("model.predict(X[:3]).round(3).tolist()".to_string(), format!("{shown:?}")))
        }
        (Prediction::Table(table), _) => {
            let values = table.values();
            let most = values.ncols().min(4);
            let shown: Vec<f64> = (0..most).map(|j| rounded(values[(0, j)])).collect();
            let line = format!("model.transform(X)[0, :{most}].round(3).tolist()");
            match table.schema().columns().iter().any(|column| column.levels().is_some()) {
                true => Ok((
                    "model.transform(X).shape".to_string(),
                    format!("({}, {})", values.nrows(), values.ncols()),
                )),
                false => Ok((line, format!("{shown:?}"))),
            }
        }
        _ => Err(none()),
    }
}

/// To three digits, as NumPy rounds.
fn rounded(x: f64) -> f64 {
    (x * 1000.0).round_ties_even() / 1000.0
}

/// The command that fits the learner, and what it prints.
fn command(entry: &Entry, set: &str, settings: &Settings, trained: &Trained) -> String {
    let mut out = format!("$ learnt fit {} {set}", entry.about.command());
    for (name, word) in settings {
        let flag = name.replace('_', "-");
        let word = learnt_core::error::shell(word);
        let _ = write!(out, " --{flag} {word}");
    }
    out.push('\n');
    if let Some(report) = trained.report() {
        let text = format!("{}{}", trained.heading(), report.to_text_fitted(60, WIDTH));
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        out += &lines.iter().take(SHOWN).fold(String::new(), |text, line| text + line + "\n");
        if lines.len() > SHOWN {
            let _ = writeln!(out, "… {} more lines", lines.len() - SHOWN);
        }
    }
    out
}

/// The example in Rust of a doc comment, without the lines that a reader does not need.
pub(super) fn rust(doc: &str) -> Option<String> {
    let mut lines = doc
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .skip_while(|line| !line.starts_with("```"));
    lines.next()?;
    let code: Vec<&str> = lines
        .take_while(|line| !line.starts_with("```"))
        .filter(|line| !line.starts_with("# ") && *line != "#")
        .collect();
    (!code.is_empty()).then(|| code.join("\n"))
}
