//! `learnt cv` and `learnt compare`.

use super::Call;
use super::fit::duration;
use crate::input::{self, Supervised};
use crate::learner;
use crate::output::{print, print_json};
use learnt::answer::{Cell, Columns, finite, probability};
use learnt::data::{Dataset, Target};
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::estimator::Entry;
use learnt::metrics::{self, Metric, Task};
use learnt::select::{self, Candidate, Comparison, CrossValidation, Row};
use serde_json::{Map, Value as Json, json};
use std::process::ExitCode;

/// The metrics asked for, or the usual ones; all must fit the task and the data.
pub(crate) fn chosen_metrics(
    call: &Call,
    task: Task,
    data: &Dataset,
) -> Result<Vec<&'static Metric>> {
    let names = call.texts("metric");
    let labelled = matches!(data.y, Some(Target::Class { .. }));
    if names.is_empty() {
        let mut chosen = metrics::usual(task);
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

fn folds(call: &Call) -> Result<usize> {
    match call.args.get_one::<usize>("folds").copied() {
        Some(k) if k >= 2 => Ok(k),
        other => Err(Error::parameter("--folds", "at least 2", other.unwrap_or(0))),
    }
}

pub(crate) fn cross_validate(call: &Call, name: &str) -> Result<ExitCode> {
    let k = folds(call)?;
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
    let splits: Vec<_> = select::usual_splitter(&data, k).splits(&data, &call.run)?.collect();
    let result = select::cross_validate(learner.as_ref(), &data, &splits, &chosen, &call.run)?;
    if let Some((failed, error)) =
        result.failed().filter(|(failed, _)| *failed == result.folds.len())
    {
        return Err(error.clone().within(&format!("all {failed} folds failed")));
    }
    if let Some(error) = never_scored(&result) {
        return Err(error);
    }
    match call.json {
        true => print_json("cv", Some(call.run.seed()), cv_json(&supervised, entry, &result)),
        false => print(&cv_text(call, entry, &result)),
    }
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

fn cv_text(call: &Call, entry: &Entry, result: &CrossValidation) -> String {
    let mut table = Columns::new("", &["metric", "mean", "±", "folds"]);
    for (m, metric) in result.metrics.iter().enumerate() {
        let number =
            |value: Option<f64>| value.map_or(Cell::Empty("not defined".into()), Cell::Number);
        let each: Vec<String> = result
            .scores(m)
            .iter()
            .map(|score| score.map_or("–".to_string(), |x| format!("{x:.3}")))
            .collect();
        table.push(vec![
            metric.name.into(),
            number(result.mean(m)),
            number(result.standard_error(m)),
            Cell::Text(each.join(" ")),
        ]);
    }
    let mut out = format!(
        "{}  {} folds, seed {}\n\n{}",
        entry.about.command(),
        result.folds.len(),
        call.run.seed(),
        table.to_text()
    );
    if let Some((failed, error)) = result.failed() {
        out +=
            &format!(" failed in {failed} folds: {} ({})\n", plain(error.message()), error.code());
    }
    out + " ± is the standard error over folds\n"
}

fn cv_json(supervised: &Supervised, entry: &Entry, result: &CrossValidation) -> Json {
    let scores: Map<String, Json> = result
        .metrics
        .iter()
        .enumerate()
        .map(|(m, metric)| {
            let each: Vec<Json> = result.scores(m).iter().map(|s| s.map_or(Json::Null, finite)).collect();
            let value = json!({
                "mean": result.mean(m).map(finite), "standard_error": result.standard_error(m).map(finite), "folds": each,
            });
            (metric.name.to_string(), value)
        })
        .collect();
    let failure = result.failed().map(|(folds, error)| json!({ "folds": folds, "code": error.code().to_string(), "message": error.message() }));
    json!({
        "learner": entry.about.path, "metrics": scores, "failure": failure,
        "data": { "path": supervised.name, "rows": supervised.data.x.values().nrows(), "digest": supervised.digest },
    })
}

/// Learners for the task; composed ones have no parts of their own to compare.
fn candidates(call: &Call, data: &Dataset) -> Result<Vec<&'static Entry>> {
    let (only, skip) = (call.texts("only"), call.texts("skip"));
    let task = Task::of(data);
    let named_ones = !only.is_empty();
    let positive = above_zero(data);
    let two_classes = matches!(data.y, Some(Target::Class { classes, .. }) if classes.len() == 2);
    let fits = |entry: &&'static Entry| {
        let (about, roles) = (entry.about, entry.about.roles);
        let (plays, suits) = match task {
            Task::Classification => (roles.classifier, two_classes || !roles.two_classes),
            _ => (roles.regressor, positive || !about.positive_target),
        };
        plays && (named_ones || (suits && !about.only_by_name))
    };
    let named = |names: &[String]| -> Result<Vec<&'static str>> {
        names
            .iter()
            .map(|name| {
                learner::resolve(name, learner::task_of(data)).map(|entry| entry.about.path)
            })
            .collect()
    };
    let (only, skip) = (named(&only)?, named(&skip)?);
    let wanted = |entry: &&'static Entry| {
        (only.is_empty() || only.contains(&entry.about.path)) && !skip.contains(&entry.about.path)
    };
    Ok(learnt::entries().filter(fits).filter(wanted).collect())
}

/// Whether every number of the target is above zero.
fn above_zero(data: &Dataset) -> bool {
    match data.y {
        Some(Target::Real(y)) => (0..y.nrows()).all(|i| (0..y.ncols()).all(|j| y.at(i, j) > 0.0)),
        _ => false,
    }
}

pub(crate) fn compare(call: &Call) -> Result<ExitCode> {
    let k = folds(call)?;
    let supervised = input::supervised(call, input::read(call)?, None)?;
    let data = supervised.data.view();
    let chosen = chosen_metrics(call, Task::of(&data), &data)?;
    let missing = learner::has_missing(&data);
    let mut rows = Vec::new();
    let mut sentences = Vec::new();
    for entry in candidates(call, &data)? {
        let mut learner = (entry.build)();
        learner::fit_formula(call, learner.as_mut(), data.x.schema())?;
        let prepared = learner::preparation(call, learner.as_ref(), data.x.schema(), missing)?;
        let (preparation, said) = prepared.unzip();
        sentences.extend(said);
        rows.push(Candidate { preparation, ..Candidate::new(learner) });
    }
    if !sentences.is_empty() {
        call.say(&format!("{} of {} learners get a standard preparation (impute, one-hot, scale) inside each fold; --no-prepare leaves it out", sentences.len(), rows.len()));
    }
    let splitter = select::usual_splitter(&data, k);
    let comparison = select::compare(&rows, &data, &splitter, &chosen, &call.run)?;
    match call.json {
        true => {
            print_json("compare", Some(call.run.seed()), compare_json(&supervised, k, &comparison))
        }
        false => print(&compare_text(call, &supervised, k, &comparison)),
    }
    if let Some(place) = call.text("plot") {
        crate::picture::draw(call, &[comparison.chart()], place)?;
    }
    let failed = comparison.failures().count();
    Ok(ExitCode::from(if failed > 0 { 8 } else { 0 }))
}

fn compare_text(call: &Call, supervised: &Supervised, k: usize, comparison: &Comparison) -> String {
    let task = Task::of(&supervised.data.view());
    let stratified = if task == Task::Classification { "stratified " } else { "" };
    let mut out = format!(
        "{}: {}   {k}-fold {stratified}cv, seed {}, sorted by {}\n\n",
        supervised.name,
        task_words(supervised),
        call.run.seed(),
        comparison.metrics[0].name
    );
    let mut head = vec!["", "model"];
    head.extend(comparison.metrics.iter().map(|metric| metric.name));
    head.extend(["fit", "vs best", ""]);
    let mut table = Columns::new("", &head);
    for (i, row) in comparison.rows.iter().enumerate() {
        table.push(compare_row(i, row, comparison));
    }
    out += &table.to_text();
    for row in comparison.failures() {
        if let Some((folds, error)) = row.failure() {
            out += &format!(
                " {} failed in {folds} of {k} folds: {} ({})\n",
                row.name,
                plain(error.message()),
                error.code()
            );
        }
    }
    out += "\n ± is the standard error over folds; p: corrected resampled t test against row 1; ≈ not distinguishable at 5%\n";
    if let Some(simplest) = comparison.simplest.map(|i| &comparison.rows[i]) {
        out +=
            &format!(" simplest model within one standard error of the best: {}\n", simplest.name);
        let target = supervised.targets.first().map_or("", String::as_str);
        call.say(&format!(
            "next: learnt fit {} {} -t {} -o model.learnt",
            simplest.name,
            shell(&supervised.name),
            shell(target)
        ));
    }
    out
}

fn task_words(supervised: &Supervised) -> String {
    let target = supervised.targets.join(", ");
    match supervised.data.view().y {
        Some(learnt::data::Target::Class { classes, .. }) => {
            format!("classify {target}, {} classes", classes.len())
        }
        _ => format!("regress {target}"),
    }
}

fn compare_row(i: usize, row: &Row, comparison: &Comparison) -> Vec<Cell> {
    let failed = row.mean(0).is_none();
    let mut cells = vec![
        Cell::Text(if failed { "–".into() } else { (i + 1).to_string() }),
        Cell::Text(row.name.clone()),
    ];
    for m in 0..comparison.metrics.len() {
        cells.push(Cell::Text(match (row.mean(m), row.standard_error(m)) {
            (Some(mean), Some(error)) => format!("{} ±{}", short(mean), short(error)),
            (Some(mean), None) => short(mean),
            _ => "–".into(),
        }));
    }
    let seconds = row.result.as_ref().ok().and_then(CrossValidation::fit_seconds);
    cells.push(Cell::Text(seconds.map_or("–".into(), duration)));
    let (test, mark) = match row.p_value {
        _ if failed => ("failed".to_string(), ""),
        None => ("best".to_string(), ""),
        Some(p) if p < 1e-300 => ("p<1e-300".to_string(), ""),
        Some(p) => (format!("p={}", probability(p)), if p >= 0.05 { "≈" } else { "" }),
    };
    let baseline = if row.baseline { "baseline" } else { "" };
    cells.extend([Cell::Text(test), Cell::Text([mark, baseline].join(" ").trim().to_string())]);
    cells
}

/// Four significant digits, at most three decimals.
fn short(x: f64) -> String {
    match x.abs() {
        a if a >= 1000.0 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 10.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

fn compare_json(supervised: &Supervised, k: usize, comparison: &Comparison) -> Json {
    let rows: Vec<Json> = comparison
        .rows
        .iter()
        .map(|row| {
            let scores: Map<String, Json> = comparison
                .metrics
                .iter()
                .enumerate()
                .map(|(m, metric)| {
                    let value = json!({ "mean": row.mean(m).map(finite), "standard_error": row.standard_error(m).map(finite) });
                    (metric.name.to_string(), value)
                })
                .collect();
            let seconds = row.result.as_ref().ok().and_then(CrossValidation::fit_seconds);
            let failure = row.failure().map(|(folds, error)| json!({ "folds": folds, "code": error.code().to_string(), "message": error.message() }));
            json!({
                "model": row.name, "baseline": row.baseline, "metrics": scores, "fit_seconds": seconds,
                "p_value": row.p_value.map(finite), "failure": failure,
            })
        })
        .collect();
    json!({
        "rows": rows, "folds": k, "sorted_by": comparison.metrics[0].name,
        "simplest": comparison.simplest.map(|i| comparison.rows[i].name.clone()),
        "data": { "path": supervised.name, "rows": supervised.data.x.values().nrows(), "digest": supervised.digest },
    })
}
