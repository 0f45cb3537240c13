//! From a name and flags to a learner, with the standard preparation in front where it needs it.

use crate::args::PARAM;
use crate::commands::Call;
use clap::parser::ValueSource;
use learnt::data::{Dataset, Schema, Target};
use learnt::error::{Code, Error, Result};
use learnt::estimator::{About, AnyEstimator, Entry, Roles};
use learnt::params::{LearnerSpec, Value, all_values};
use learnt::prepare::{Formula, Side};
use learnt_io::TargetTask;

/// The entry that a name stands for, given the target.
pub(crate) fn resolve(name: &str, target: Option<&Target>) -> Result<&'static Entry> {
    let entries = learnt::find_all(name);
    match (entries.as_slice(), target) {
        ([], _) => Err(learnt::unknown_learner(name)),
        ([only], _) => Ok(only),
        (several, Some(target)) => {
            let classes = matches!(target, Target::Class { .. });
            let fits = |entry: &&&'static Entry| match classes {
                true => entry.about.roles.needs_classes(),
                false => entry.about.roles.regressor,
            };
            several.iter().find(fits).copied().ok_or_else(|| learnt::unknown_learner(name))
        }
        ([first, ..], None) => Ok(first),
    }
}

/// Whether any learner of this name predicts a target.
pub(crate) fn needs_target(name: &str) -> bool {
    learnt::find_all(name).iter().any(|entry| entry.about.roles.needs_target())
}

/// The task of a learner that has only one, for targets that may be either.
pub(crate) fn leaning(name: &str) -> Option<TargetTask> {
    let entries = learnt::find_all(name);
    let all = |role: fn(&Roles) -> bool| entries.iter().all(|entry| role(&entry.about.roles));
    match (all(|roles| roles.needs_classes()), all(|roles| roles.regressor)) {
        (true, false) if !entries.is_empty() => Some(TargetTask::Classify),
        (false, true) => Some(TargetTask::Regress),
        _ => None,
    }
}

/// Refuses a target that the learner cannot predict, before any work.
pub(crate) fn check_task(entry: &Entry, target: Option<&Target>) -> Result<()> {
    let roles = entry.about.roles;
    let wrong = match target {
        Some(Target::Class { .. }) => roles.regressor && !roles.classifier,
        Some(Target::Real(_)) => roles.needs_classes() && !roles.regressor,
        None => false,
    };
    if !wrong {
        return Ok(());
    }
    let (is, needs, task) = match roles.regressor {
        true => ("has classes", "numbers", "regress"),
        false => ("is numeric", "classes", "classify"),
    };
    Err(Error::new(
        Code::Target,
        format!("the target {is}, and {} predicts {needs}", entry.about.command()),
    )
    .hint(format!("choose another learner (`learnt list`), or say --task {task}")))
}

/// The learner's parameters that the flags set.
pub(crate) fn parameters(call: &Call, entry: &Entry) -> Result<Vec<(String, Value)>> {
    let learner = (entry.build)();
    let mut out = Vec::new();
    for id in call.args.ids() {
        let Some(name) = id.as_str().strip_prefix(PARAM) else { continue };
        if call.args.value_source(id.as_str()) != Some(ValueSource::CommandLine) {
            continue;
        }
        let word = call.text(id.as_str()).unwrap_or("true");
        let Some(spec) = learner.specs().iter().find(|spec| spec.name == name) else {
            return Err(Error::unknown(
                "parameter",
                name,
                learner.specs().iter().map(|spec| spec.name),
            )
            .within(entry.about.name()));
        };
        out.push((name.to_string(), spec.parse(word)));
    }
    Ok(out)
}

/// The learner with its flags, checked before data are read.
pub(crate) fn build(call: &Call, entry: &Entry) -> Result<Box<dyn AnyEstimator>> {
    let spec =
        LearnerSpec { learner: entry.about.path.to_string(), params: parameters(call, entry)? };
    let learner = learnt::build(&spec)?;
    learner.check().map_err(|error| error.within(entry.about.name()))?;
    Ok(learner)
}

/// The learner behind the standard preparation, and a sentence about it, if it needs any.
pub(crate) fn prepared(
    call: &Call,
    learner: Box<dyn AnyEstimator>,
    schema: &Schema,
    missing: bool,
) -> Result<(Box<dyn AnyEstimator>, Option<String>)> {
    let imputes = call.text("impute") != Some("none") && !call.flag("no-prepare");
    let formula = call.text("formula");
    if call.flag("no-prepare") && formula.is_none() {
        return Ok((learner, None));
    }
    let about = learner.about();
    let mut spec =
        LearnerSpec { learner: about.path.to_string(), params: all_values(learner.as_ref())? };
    let spec = match formula {
        None => learnt::select::prepared(spec, schema, missing && imputes, about),
        Some(formula) => {
            let terms = Side::split(formula)?.terms.trim();
            if !Formula::parse(terms, schema)?.intercept() {
                without_intercept(&mut spec, about)?;
            }
            learnt::select::prepared_by_formula(spec, terms, missing && imputes, about)
        }
    };
    if spec.learner == about.path {
        return Ok((learner, None));
    }
    let mut pipeline = learnt::build(&spec)?;
    fill_by(call, pipeline.as_mut())?;
    let said = sentence(pipeline.as_ref(), about);
    Ok((pipeline, Some(said)))
}

/// What stands in front of a learner alone, and a sentence about it, if there is anything.
pub(crate) fn preparation(
    call: &Call,
    about: &'static About,
    schema: &Schema,
    missing: bool,
) -> Result<Option<(Box<dyn AnyEstimator>, String)>> {
    let imputes = call.text("impute") != Some("none") && !call.flag("no-prepare");
    let formula = call.text("formula").map(Side::split).transpose()?;
    let spec = match formula {
        Some(side) => Some(learnt::select::formula_preparation(
            side.terms.trim(),
            missing && imputes,
            !call.flag("no-prepare"),
            about,
        )),
        None if call.flag("no-prepare") => None,
        None => learnt::select::standard_preparation(schema, missing && imputes, about),
    };
    let Some(spec) = spec else { return Ok(None) };
    let mut built = learnt::build(&spec)?;
    fill_by(call, built.as_mut())?;
    let said = sentence(built.as_ref(), about);
    Ok(Some((built, said)))
}

/// Sets how missing values are filled, if the arguments say it.
fn fill_by(call: &Call, pipeline: &mut dyn AnyEstimator) -> Result<()> {
    let strategy = match call.text("impute") {
        Some("mode") => Some("most_frequent"),
        Some(word @ ("mean" | "median")) => Some(word),
        _ => None,
    };
    if let (Some(strategy), true) = (strategy, pipeline.get("impute__strategy").is_ok()) {
        pipeline.set("impute__strategy", &Value::Text(strategy.to_string()))?;
    }
    Ok(())
}

/// Takes the intercept from a learner whose formula has none.
fn without_intercept(spec: &mut LearnerSpec, about: &About) -> Result<()> {
    let place = spec.params.iter_mut().find(|(name, _)| name == "fit_intercept");
    let (_, value) = place.ok_or_else(|| {
        let message = format!("{} has no intercept to leave out", about.command());
        Error::new(Code::Usage, message).hint("write the formula without 0 and -1")
    })?;
    *value = Value::Bool(false);
    Ok(())
}

/// What stands in front of the learner, in words.
fn sentence(pipeline: &dyn AnyEstimator, about: &About) -> String {
    let mut parts = Vec::new();
    // A preparation of one step is that step itself.
    let of = |step: &str, name: &str| {
        pipeline.get(&format!("{step}__{name}")).or_else(|_| pipeline.get(name))
    };
    if let Ok(Value::Text(strategy)) = of("impute", "strategy") {
        parts.push(format!("missing values filled by {}", strategy.replace('_', " ")));
    }
    if let Ok(Value::Text(formula)) = pipeline.get("formula__formula") {
        parts.push(format!("columns of {formula}"));
    }
    if of("columns", "categories__drop").is_ok() {
        parts.push("categories one-hot".to_string());
    }
    if of("scale", "with_mean").is_ok() || of("columns", "numbers__with_mean").is_ok() {
        parts.push("numbers standardised".to_string());
    }
    format!(
        "prepared for {}: {} (part of the model; --no-prepare to leave out)",
        about.command(),
        parts.join(", ")
    )
}

/// Whether any value is missing.
pub(crate) fn has_missing(data: &Dataset) -> bool {
    let values = data.x.values();
    (0..values.nrows()).any(|i| (0..values.ncols()).any(|j| values.at(i, j).is_nan()))
}
