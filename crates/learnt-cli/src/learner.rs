//! From a name and flags to a learner, with the standard preparation in front where it needs it.

use crate::args::PARAM;
use crate::commands::Call;
use clap::parser::ValueSource;
use learnt::data::{Dataset, Schema, Target};
use learnt::error::{Code, Error, Result};
use learnt::estimator::{About, AnyEstimator, Entry, Roles};
use learnt::params::{LearnerSpec, Value};
use learnt::prepare::{Formula, OFFSET, Side};
use learnt::select::Request;
pub(crate) use learnt::select::has_missing;
use learnt::trained::Trained;
use learnt_io::TargetTask;

/// The entry that a name stands for, given the task.
pub(crate) fn resolve(name: &str, task: Option<TargetTask>) -> Result<&'static Entry> {
    let entries = learnt::find_all(name);
    let fits = |entry: &&&'static Entry| match task {
        Some(TargetTask::Classify) => entry.about.roles.needs_classes(),
        Some(TargetTask::Regress) => entry.about.roles.regressor,
        None => true,
    };
    match entries.as_slice() {
        [only] => Ok(only),
        several => several.iter().find(fits).copied().ok_or_else(|| learnt::unknown_learner(name)),
    }
}

/// The task that the target calls for.
pub(crate) fn task_of(data: &Dataset) -> Option<TargetTask> {
    data.y.map(|target| match target {
        Target::Class { .. } => TargetTask::Classify,
        Target::Real(_) => TargetTask::Regress,
    })
}

/// The facts about the learner that a model is of: the last step of a pipeline.
pub(crate) fn main_about(trained: &Trained) -> Result<&'static About> {
    let history = &trained.history;
    let outer = ["pipeline.Pipeline", "compose.TransformedTargetRegressor"];
    let parts = match outer.contains(&trained.about.path) {
        true => trained.model.parts(&history.schema, &history.classes)?,
        false => Vec::new(),
    };
    let Some(last) = parts.last() else { return Ok(trained.about) };
    let inside = match outer.contains(&last.about.path) {
        true => last.model.parts(&last.schema, &last.classes)?,
        false => Vec::new(),
    };
    Ok(inside.last().map_or(last.about, |part| part.about))
}

/// Whether a learner of this name, with its flags, is fitted for tests and intervals: it has no penalty.
pub(crate) fn is_for_inference(call: &Call, name: &str) -> bool {
    let entries = learnt::find_all(name);
    let [only] = entries.as_slice() else { return false };
    build(call, only).is_ok_and(|learner| {
        learnt::select::wants_reference(learner.as_ref()) && !learner.any_accepts().missing
    })
}

/// Whether a learner of this name predicts a target; of a pipeline its steps say so.
pub(crate) fn needs_target(call: &Call, name: &str) -> bool {
    let entries = learnt::find_all(name);
    let built = match entries.as_slice() {
        [only] => build(call, only).ok(),
        _ => None,
    };
    match built {
        Some(learner) => learner.any_roles().needs_target(),
        None => entries.iter().any(|entry| entry.about.roles.needs_target()),
    }
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
pub(crate) fn check_task(entry: &Entry, task: Option<TargetTask>) -> Result<()> {
    let roles = entry.about.roles;
    let wrong = match task {
        Some(TargetTask::Classify) => roles.regressor && !roles.classifier,
        Some(TargetTask::Regress) => roles.needs_classes() && !roles.regressor,
        None => false,
    };
    if !wrong {
        return Ok(());
    }
    let (is, needs, task) = match roles.regressor {
        true => ("has classes", "numbers", "regress"),
        false => ("is numeric", "classes", "classify"),
    };
    let hint = match entry.about.path {
        "linear_model.GeneralizedLinearModel" => {
            "`learnt fit logistic --penalty none` is the binomial family for classes".to_string()
        }
        _ => format!("choose another learner (`learnt list`), or say --task {task}"),
    };
    let message = format!("the target {is}, and {} predicts {needs}", entry.about.command());
    Err(Error::new(Code::Target, message).hint(hint))
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
    mut learner: Box<dyn AnyEstimator>,
    schema: &Schema,
    missing: bool,
) -> Result<(Box<dyn AnyEstimator>, Option<String>)> {
    fit_formula(call, learner.as_mut(), schema)?;
    let about = learner.about();
    let learner = with_left_side(call, learner, schema)?;
    let read = Read::of(call)?;
    let Some(request) = request(call, &read, missing)? else { return Ok((learner, None)) };
    let Some(spec) = learnt::select::prepared(learner.as_ref(), schema, request) else {
        return Ok((learner, None));
    };
    let (pipeline, sentence) = built(call, &spec, about)?;
    Ok((pipeline, Some(sentence)))
}

/// Refuses a table that would be larger than the run may hold once its categories are columns, before
/// anything is fitted.
pub(crate) fn claim_encoded(call: &Call, learner: &dyn AnyEstimator, data: &Dataset) -> Result<()> {
    let formula = call.text("formula").is_some();
    if formula || call.flag("no-prepare") {
        return Ok(());
    }
    claim_width(call, data, learnt::select::encoded_width(learner, data.x.schema()))
}

/// The same for a width that is known.
pub(crate) fn claim_width(call: &Call, data: &Dataset, width: usize) -> Result<()> {
    let (rows, columns) = (data.nrows(), data.x.ncols());
    if width <= columns {
        return Ok(());
    }
    let bytes = (rows as u64).saturating_mul(8 * width as u64);
    if bytes >= 1_000_000 {
        let size = bytes as f64 / 1e6;
        call.say(&format!("categories: {columns} columns become {width} at most ({size:.1} MB)"));
    }
    call.run.claim(bytes, &format!("a table of {rows} rows and {width} columns after encoding"))
}

/// What stands in front of a learner alone, and a sentence about it, if there is anything.
pub(crate) fn preparation(
    call: &Call,
    learner: &dyn AnyEstimator,
    schema: &Schema,
    missing: bool,
) -> Result<Option<(Box<dyn AnyEstimator>, String)>> {
    let read = Read::of(call)?;
    let Some(request) = request(call, &read, missing)? else { return Ok(None) };
    let spec = learnt::select::standard_preparation(learner, schema, request);
    spec.map(|spec| built(call, &spec, learner.about())).transpose()
}

/// What the flags ask of the preparation; `None` if there is to be none.
fn request<'a>(call: &'a Call, read: &'a Read, missing: bool) -> Result<Option<Request<'a>>> {
    let formula = call.text("formula").map(Side::split).transpose()?;
    let refused = call.flag("no-prepare");
    if refused && formula.is_none() && read.columns().is_empty() {
        return Ok(None);
    }
    let unknown = call.text("unknown") == Some("missing");
    let missing = (missing || unknown) && !refused && call.text("impute") != Some("none");
    let formula = formula.map(|side| side.terms.trim());
    let (dates, texts) = (read.dates.as_slice(), read.texts.as_slice());
    Ok(Some(Request { formula, dates, texts, missing, scale: call.flag("scale") }))
}

/// The columns whose texts `--date` and `--text` read.
pub(crate) struct Read {
    pub(crate) dates: Vec<(String, Vec<String>)>,
    texts: Vec<(String, usize)>,
}

impl Read {
    /// What the flags say.
    pub(crate) fn of(call: &Call) -> Result<Read> {
        let date = |pair: String| {
            let (column, parts) =
                pair.rsplit_once('=').unwrap_or((&pair, "year,month,weekday,elapsed"));
            let parts = parts.split(',').map(|part| part.trim().to_lowercase()).collect();
            (column.to_string(), parts)
        };
        let text = |pair: String| {
            let (column, how) = pair.rsplit_once('=').unwrap_or((&pair, "hash:64"));
            let width = how.strip_prefix("hash:").and_then(|width| width.parse::<usize>().ok());
            let bad =
                || Error::parameter("--text", "of the form COLUMN=hash:64", format!("'{pair}'"));
            Ok((column.to_string(), width.filter(|width| *width > 0).ok_or_else(bad)?))
        };
        let dates: Vec<(String, Vec<String>)> = call.texts("date").into_iter().map(date).collect();
        let known = ["year", "month", "day", "weekday", "yearday", "hour", "elapsed"];
        if let Some(wrong) =
            dates.iter().flat_map(|(_, parts)| parts).find(|p| !known.contains(&p.as_str()))
        {
            return Err(Error::unknown("part of a date", wrong, known));
        }
        let texts = call.texts("text").into_iter().map(text).collect::<Result<_>>()?;
        Ok(Read { dates, texts })
    }

    /// Their names.
    pub(crate) fn columns(&self) -> Vec<String> {
        let dates = self.dates.iter().map(|(column, _)| column.clone());
        dates.chain(self.texts.iter().map(|(column, _)| column.clone())).collect()
    }
}

fn built(
    call: &Call,
    spec: &LearnerSpec,
    about: &About,
) -> Result<(Box<dyn AnyEstimator>, String)> {
    let mut pipeline = learnt::build(spec)?;
    fill_by(call, pipeline.as_mut())?;
    let sentence = sentence(pipeline.as_ref(), about);
    Ok((pipeline, sentence))
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
pub(crate) fn fit_formula(
    call: &Call,
    learner: &mut dyn AnyEstimator,
    schema: &Schema,
) -> Result<()> {
    let Some(formula) = call.text("formula") else { return Ok(()) };
    if Formula::parse(Side::split(formula)?.terms.trim(), schema)?.intercept() {
        return Ok(());
    }
    learner.set("fit_intercept", &Value::Bool(false)).map_err(|_| {
        let message = format!("{} has no intercept to leave out", learner.about().command());
        Error::new(Code::Usage, message).hint("write the formula without 0 and -1")
    })
}

/// Whether a formula says something beside its terms that the learner does not do itself, so that it is put
/// inside a regressor of a changed target: a function of the target, an offset.
pub(crate) fn changes_target(
    call: &Call,
    learner: &dyn AnyEstimator,
    schema: &Schema,
) -> Result<bool> {
    let Some(formula) = call.text("formula") else { return Ok(false) };
    let side = Side::split(formula)?;
    let offset = Formula::parse(side.terms.trim(), schema)?.has_offset();
    Ok(side.response.is_some() || offset && learner.get("offset").is_err())
}

/// The way to a parameter of the learner, where it may be inside a regressor of a changed target.
pub(crate) fn inside(changed: bool) -> &'static str {
    if changed { "regressor__" } else { "" }
}

/// The learner for what a formula says beside its terms: a function of the target, an offset.
pub(crate) fn with_left_side(
    call: &Call,
    mut learner: Box<dyn AnyEstimator>,
    schema: &Schema,
) -> Result<Box<dyn AnyEstimator>> {
    let Some(formula) = call.text("formula") else { return Ok(learner) };
    let side = Side::split(formula)?;
    let offset = Formula::parse(side.terms.trim(), schema)?.has_offset();
    let offset_name = Value::Text(OFFSET.to_string());
    if offset && learner.get("offset").is_ok() {
        learner.set("offset", &offset_name)?;
    }
    if !changes_target(call, learner.as_ref(), schema)? {
        return Ok(learner);
    }
    let func = side.response.as_ref().map(|response| Value::Text(response.text().to_string()));
    let name = learner.about().command();
    if !learner.any_roles().regressor {
        let what = if func.is_some() { "function of the target" } else { "offset" };
        return Err(Error::new(Code::Usage, format!("{name} takes no {what}")).hint(
            "`learnt fit logistic` takes an offset with two classes, `learnt fit glm` with numbers",
        ));
    }
    let outside = offset && learner.get("offset").is_err();
    let mut params =
        vec![("regressor".to_string(), Value::Learner(LearnerSpec::of(learner.as_ref())))];
    params.extend(func.map(|func| ("func".to_string(), func)));
    params.extend(outside.then(|| ("offset".to_string(), offset_name)));
    learnt::build(&LearnerSpec {
        learner: "compose.TransformedTargetRegressor".to_string(),
        params,
    })
}

/// What stands in front of the learner, in words.
fn sentence(pipeline: &dyn AnyEstimator, about: &About) -> String {
    let mut parts = Vec::new();
    if pipeline.get("parts__remainder").is_ok() {
        parts.push("dates and texts as numbers".to_string());
    }
    if let Ok(Value::Text(strategy)) = pipeline.get("impute__strategy") {
        parts.push(format!("missing values filled by {}", strategy.replace('_', " ")));
    }
    if let Ok(Value::Text(formula)) = pipeline.get("formula__formula") {
        parts.push(format!("columns of {formula}"));
    }
    if pipeline.get("columns__categories__drop").is_ok() {
        let drop = pipeline.get("columns__categories__drop");
        parts.push(match drop == Ok(Value::Text("first".to_string())) {
            true => "categories as columns of 0 and 1 against a reference level".to_string(),
            false => "categories as columns of 0 and 1".to_string(),
        });
    }
    let scaled = ["scale__with_mean", "columns__numbers__with_mean"];
    if scaled.iter().any(|name| pipeline.get(name).is_ok()) {
        parts.push("numbers standardised".to_string());
    }
    format!(
        "prepared for {}: {} (part of the model; --no-prepare to leave out)",
        about.command(),
        parts.join(", ")
    )
}
