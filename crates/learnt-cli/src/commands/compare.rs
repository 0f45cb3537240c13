//! `learnt cv` and `learnt compare`.

use super::answer::show;
use super::{Call, PREPARATION, READING, ROLES, decision};
use crate::ExitCode;
use crate::input::{self, Supervised};
use crate::learner;
use crate::picture;
use learnt::answer::{Answer, number};
use learnt::data::{Dataset, Label, Target};
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::estimator::Entry;
use learnt::metrics::{self, Decision, Metric, Task};
use learnt::prepare::Side;
use learnt::select::{self, Candidate, Comparison, CrossValidation, Row, Scoring, Splitter};
use serde_json::{Value as Json, json};

/// The metrics asked for, or the usual ones; all must fit the task and the data.
pub(crate) fn chosen_metrics(
    call: &Call,
    task: Task,
    data: &Dataset,
) -> Result<Vec<&'static Metric>> {
    let names = call.texts("metric");
    let labelled = matches!(data.y, Some(Target::Class { .. }));
    if names.is_empty() {
        let mut chosen = metrics::usual_for(task, data);
        if !call.texts("cost").is_empty() {
            chosen.insert(0, metrics::find("cost")?);
            chosen.truncate(4);
        }
        if task == Task::Unsupervised && labelled {
            chosen.insert(0, metrics::find("adjusted-rand")?);
        }
        return Ok(chosen);
    }
    let chosen = names.iter().map(|name| metrics::find(name)).collect::<Result<Vec<_>>>()?;
    let clusters = task == Task::Unsupervised;
    if let Some(metric) = chosen.iter().find(|m| clusters && m.needs_labels() && !labelled) {
        let message = format!("{} compares clusters with classes that are known", metric.name);
        return Err(Error::new(Code::Target, message).hint("name their column: -t COLUMN"));
    }
    match chosen.iter().find(|metric| metric.task != task) {
        None => Ok(chosen),
        Some(wrong) => Err(Error::new(
            Code::Usage,
            format!(
                "{} is a metric of {}, and this is {}",
                wrong.name,
                wrong.task.name(),
                task.name()
            ),
        )),
    }
}

/// The share of each class among the rows.
pub(super) fn shares(codes: &[u32], classes: usize) -> Vec<f64> {
    let mut counts = vec![0_usize; classes];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    counts.into_iter().map(|count| count as f64 / codes.len() as f64).collect()
}

pub(crate) fn folds(call: &Call) -> Result<usize> {
    match call.args.get_one::<usize>("folds").copied() {
        Some(k) if k >= 2 => Ok(k),
        other => Err(Error::parameter("--folds", "at least 2", other.unwrap_or(0))),
    }
}

/// How rows are divided into `k` parts: as `--cv` and `--repeats` say, else as the table suggests.
pub(crate) fn splitter(call: &Call, data: &Dataset, k: usize) -> Result<Splitter> {
    let once = match call.text("cv") {
        Some(name) => Splitter::named(name, k)?,
        None => select::usual_splitter(data, k),
    };
    Ok(match call.args.get_one::<usize>("repeats").copied() {
        Some(n_repeats) if n_repeats > 1 => Splitter::Repeated { n_repeats, inner: Box::new(once) },
        _ => once,
    })
}

pub(crate) fn cross_validate(call: &Call, name: &str) -> Result<ExitCode> {
    let supervised = input::supervised(call, input::read(call)?, Some(name))?;
    let data = supervised.data.view();
    let entry = learner::resolve(name, learner::task_of(&data))?;
    learner::check_task(entry, learner::task_of(&data))?;
    let missing = learner::has_missing(&data);
    let (learner, said) =
        learner::prepared(call, learner::build(call, entry)?, data.x.schema(), missing)?;
    if let Some(said) = said {
        call.say(&said);
    }
    let task = if clusters(entry) { Task::Unsupervised } else { Task::of(&data) };
    let chosen = chosen_metrics(call, task, &data)?;
    let splitter = splitter(call, &data, folds(call)?)?;
    let splits: Vec<_> = splitter.splits(&data, &call.run)?.collect();
    let decision = decision::of_data(call, &data)?.filter(|_| task == Task::Classification);
    let scoring = Scoring { metrics: &chosen, decision: decision.as_ref() };
    let result = select::cross_validate(learner.as_ref(), &data, &splits, scoring, &call.run)?;
    if let Some((failed, error)) =
        result.failed().filter(|(failed, _)| *failed == result.folds.len())
    {
        return Err(error.clone().within(&format!("all {failed} folds failed")));
    }
    if let Some(error) = never_scored(&result) {
        return Err(error);
    }
    let seed = call.run.seed();
    let name = entry.about.command();
    call.collect_folds(&name, &result);
    let mut answer = result.report(format!("{name}   {}, seed {seed}", splitter.title()));
    if let (Some(Target::Class { classes, .. }), Task::Classification) = (data.y, task) {
        let positive = decision.as_ref().and_then(Decision::positive_class);
        answer.tables.extend(result.by_class(classes, positive));
        note_decision(&mut answer, decision.as_ref(), classes);
        let row = Row {
            name: name.clone(),
            complexity: 0,
            baseline: false,
            result: Ok(result.clone()),
            p_value: None,
        };
        warn_of_one_class(call, &data, &[row]);
    }
    let facts = json!({ "learner": entry.about.path, "data": source(&supervised) });
    show(call, "cv", Some(seed), facts, &answer, usize::MAX)?;
    Ok(ExitCode::from(if result.failed().is_some() { 8 } else { 0 }))
}

/// Whether it finds groups and predicts nothing that could be known.
fn clusters(entry: &Entry) -> bool {
    entry.about.roles.clusterer && !entry.about.roles.needs_target()
}

/// The reason why no metric has a score in any fold.
fn never_scored(result: &CrossValidation) -> Option<Error> {
    let all = (0..result.metrics.len())
        .all(|m| result.unscored(m).is_some_and(|(folds, _)| folds == result.folds.len()));
    result.unscored(0).filter(|_| all).map(|(_, error)| error.clone())
}

/// What an answer was computed from.
pub(crate) fn source(supervised: &Supervised) -> Json {
    let rows = supervised.data.x.values().nrows();
    json!({ "path": supervised.name, "rows": rows, "digest": supervised.digest })
}

pub(crate) fn compare(call: &Call) -> Result<ExitCode> {
    let supervised = input::supervised(call, input::read(call)?, None)?;
    let data = supervised.data.view();
    let chosen = chosen_metrics(call, Task::of(&data), &data)?;
    let missing = learner::has_missing(&data);
    let mut rows = Vec::new();
    let mut sentences = Vec::new();
    let mut widest = 0;
    let schema = data.x.schema();
    let mut unable = 0;
    for entry in contenders(call, &data)? {
        let mut learner = (entry.build)();
        if learner.get("fit_intercept").is_ok() {
            learner::fit_formula(call, learner.as_mut(), schema)?;
        }
        widest = widest.max(select::encoded_width(learner.as_ref(), schema));
        let prepared = learner::preparation(call, learner.as_ref(), schema, missing)?;
        let (preparation, said) = prepared.unzip();
        let candidate = Candidate { preparation, ..Candidate::new(learner) };
        // The baseline is the mean of the target as it stands in the table.
        let learner = match entry.about.baseline {
            true => candidate.learner,
            false
                if learner::changes_target(call, candidate.learner.as_ref(), schema)?
                    && !candidate.learner.any_roles().regressor =>
            {
                unable += 1;
                continue;
            }
            false => learner::with_left_side(call, candidate.learner, schema)?,
        };
        sentences.extend(said);
        rows.push(Candidate { learner, ..candidate });
    }
    if supervised.targets.len() > 1 && call.texts("only").is_empty() {
        call.say("left out: learners that take one target only; --only NAME asks for one of them");
    }
    if unable > 0 {
        call.say(&format!("left out: {unable} learners that take no offset"));
    }
    if !sentences.is_empty() {
        let what = match call.text("formula") {
            Some(_) => "the columns of the formula",
            None => {
                "a standard preparation (missing values filled, categories as columns of 0 and 1)"
            }
        };
        let more = if call.text("formula").is_some() { "" } else { "; --no-prepare leaves it out" };
        let (count, all) = (sentences.len(), rows.len());
        call.say(&format!("{count} of {all} learners get {what} inside each fold{more}"));
    }
    learner::claim_width(call, &data, widest)?;
    let splitter = splitter(call, &data, folds(call)?)?;
    let decision = decision::of_data(call, &data)?;
    let scoring = Scoring { metrics: &chosen, decision: decision.as_ref() };
    let comparison = select::compare(&rows, &data, &splitter, scoring, &call.run)?;
    for row in &comparison.rows {
        if let Ok(result) = &row.result {
            call.collect_folds(&row.name, result);
        }
    }
    let mut answer = match data.y {
        Some(Target::Class { classes, .. }) => {
            let positive = decision.as_ref().and_then(Decision::positive_class);
            let mut answer = comparison.report_of_classes(classes, positive);
            note_decision(&mut answer, decision.as_ref(), classes);
            warn_of_one_class(call, &data, &comparison.rows);
            answer
        }
        _ => comparison.report(),
    };
    answer.title = title(call, &supervised, &splitter);
    let facts = json!({ "data": source(&supervised) });
    show(call, "compare", Some(call.run.seed()), facts, &answer, usize::MAX)?;
    picture::plot_answer(call, &answer)?;
    suggest(call, &supervised, &comparison);
    let failed = comparison.failures().count();
    Ok(ExitCode::from(if failed > 0 { 8 } else { 0 }))
}

/// The learners for the target, as a formula changes it.
fn contenders(call: &Call, data: &Dataset) -> Result<Vec<&'static Entry>> {
    let (only, skip) = (call.texts("only"), call.texts("skip"));
    let side = call.text("formula").map(Side::split).transpose()?;
    match (side.and_then(|side| side.response), data.y) {
        (Some(response), Some(Target::Real(y))) => {
            let mut changed = y.to_matrix();
            for i in 0..changed.nrows() {
                for value in changed.row_mut(i) {
                    *value = response.checked(*value, i as u64 + 1)?;
                }
            }
            let y = Some(Target::Real(changed.view()));
            select::contenders(&Dataset { y, ..*data }, &only, &skip)
        }
        _ => select::contenders(data, &only, &skip),
    }
}

/// What was decided otherwise than by the models.
fn note_decision(answer: &mut Answer, decision: Option<&Decision>, classes: &[Label]) {
    let Some(decision) = decision.filter(|decision| !decision.is_own()) else { return };
    let class = decision.positive_class().map(|k| plain(&classes[k].to_string()));
    let how = match (decision.threshold(), class) {
        (Some(threshold), Some(class)) => {
            format!("'{class}' from probability {} on", number(threshold))
        }
        _ => "the class of least expected cost".to_string(),
    };
    answer
        .notes
        .push(format!("predicted: {how}; models without probabilities decide by themselves"));
}

/// A word about models that predict one class for every row.
fn warn_of_one_class(call: &Call, data: &Dataset, rows: &[Row]) {
    let Some(Target::Class { codes, classes }) = data.y else { return };
    let found: Vec<(&Row, usize)> = rows
        .iter()
        .filter(|row| !row.baseline)
        .filter_map(|row| Some((row, row.only_class()?)))
        .collect();
    let Some(&(_, only)) = found.first() else { return };
    let names: Vec<&str> = found.iter().take(3).map(|(row, _)| row.name.as_str()).collect();
    let more =
        if found.len() > 3 { format!(" and {} more", found.len() - 3) } else { String::new() };
    let verb = if found.len() == 1 { "predicts" } else { "predict" };
    let class = plain(&classes[only].to_string());
    let shares = shares(codes, classes.len());
    let hint = decision::one_class_hint(call, classes, only, &shares, false);
    let message = format!("{}{more} {verb} '{class}' for every row; {hint}", names.join(", "));
    call.warn(Code::OneClass, message);
}

/// What is compared: the table, the task and the folds.
fn title(call: &Call, supervised: &Supervised, splitter: &Splitter) -> String {
    let target = supervised.targets.join(", ");
    let task = match supervised.data.view().y {
        Some(Target::Class { codes, classes }) if classes.len() <= 5 => {
            let shares = shares(codes, classes.len());
            let each = classes.iter().zip(shares);
            let shown: Vec<String> =
                each.map(|(class, share)| format!("{class} {:.0}%", 100.0 * share)).collect();
            format!("classify {target} ({})", shown.join(", "))
        }
        Some(Target::Class { classes, .. }) => {
            format!("classify {target}, {} classes", classes.len())
        }
        _ => format!("regress {target}"),
    };
    let seed = call.run.seed();
    format!("{}: {task}   {}, seed {seed}", supervised.name, splitter.title())
}

/// Says what to type next.
fn suggest(call: &Call, supervised: &Supervised, comparison: &Comparison) {
    if let Some(simplest) = comparison.simplest.map(|i| &comparison.rows[i]) {
        let target = supervised.targets.join(",");
        let (model, data, target) = (&simplest.name, shell(&supervised.name), shell(&target));
        let options = [READING, ROLES, PREPARATION].map(|names| call.repeated(names)).concat();
        call.next(&format!("learnt fit {model} {data} -t {target}{options} -o model.learnt"));
    }
}
