//! `learnt curve`: scores in and out of sample against the number of training rows, or against the values of
//! a parameter.

use super::Call;
use super::answer::show;
use super::compare::{chosen_metrics, folds, source, splitter};
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::picture;
use learnt::Learner;
use learnt::answer::{Answer, Columns};
use learnt::assess::{LearningCurve, ValidationCurve, Values};
use learnt::chart::Chart;
use learnt::data::{Matrix, Target};
use learnt::error::{Error, Result};
use learnt::function::Function;
use learnt::metrics::Task;
use learnt::params::Value;
use serde_json::json;

pub(crate) fn curve(call: &Call, name: &str) -> Result<ExitCode> {
    let cv = folds(call)?;
    let supervised = input::supervised(call, input::read(call)?, Some(name))?;
    let data = supervised.data.view();
    let entry = learner::resolve(name, learner::task_of(&data))?;
    learner::check_task(entry, learner::task_of(&data))?;
    let base = learner::build(call, entry)?;
    let varied = varied(call, base.as_ref())?;
    let missing = learner::has_missing(&data);
    let changed = learner::changes_target(call, base.as_ref(), data.x.schema())?;
    let (learner, said) = learner::prepared(call, base, data.x.schema(), missing)?;
    said.iter().for_each(|said| call.say(said));
    if matches!(data.y, Some(Target::Real(y)) if y.ncols() != 1) {
        return Err(Error::parameter("--target", "one column", "several"));
    }
    let metric = chosen_metrics(call, Task::of(&data), &data)?[0].name;
    let splitter = splitter(call, &data, cv)?;
    let (estimator, scoring) = (Learner(learner), Some(metric.to_string()));
    let (table, chart, what) = match varied {
        Some((parameter, values)) => {
            let behind = if said.is_some() { "model__" } else { "" };
            let param_name = format!("{behind}{}{parameter}", learner::inside(changed));
            let texts = values.iter().map(ToString::to_string).collect();
            let param_range = Values(values);
            let function =
                ValidationCurve { estimator, param_name, param_range, cv, scoring, split: None };
            let found = function.on(&data, &splitter, &call.run)?;
            let table = Columns::titled("").texts(&parameter, texts);
            let table = scores(table, &found.train_scores, &found.test_scores);
            (table, function.chart(&found), parameter)
        }
        None => {
            let train_sizes = sizes(call)?.unwrap_or(LearningCurve::default().train_sizes);
            let function = LearningCurve { estimator, train_sizes, cv, scoring, split: None };
            let found = function.on(&data, &splitter, &call.run)?;
            let rows = found.train_sizes.iter().map(|&size| size as i64).collect();
            let table = Columns::titled("").counts("training rows", rows);
            let table = scores(table, &found.train_scores, &found.test_scores);
            (table, function.chart(&found), "training rows".to_string())
        }
    };
    let seed = call.run.seed();
    let name = entry.about.command();
    let (data, cv) = (&supervised.name, splitter.title());
    let title = format!("{name} on {data}: {metric} against {what}   {cv}, seed {seed}");
    let charts: Vec<Chart> = chart.into_iter().collect();
    let note = "± is the standard deviation over folds".to_string();
    let tables = vec![table];
    let answer = Answer { title, tables, charts, notes: vec![note], ..Answer::default() };
    let facts = json!({ "learner": entry.about.path, "data": source(&supervised) });
    show(call, "curve", Some(seed), facts, &answer, usize::MAX)?;
    picture::plot_answer(call, &answer)?;
    Ok(ExitCode::SUCCESS)
}

/// The parameter of `--parameter` and its values.
fn varied(
    call: &Call,
    learner: &dyn learnt::estimator::AnyEstimator,
) -> Result<Option<(String, Vec<Value>)>> {
    let (Some(word), values) = (call.text("parameter"), call.texts("values")) else {
        return match call.texts("values").is_empty() {
            true => Ok(None),
            false => Err(Error::parameter(
                "--parameter",
                "the parameter that has these --values",
                "none",
            )),
        };
    };
    let name = word.replace('-', "_");
    learner.get(&name)?;
    if values.is_empty() {
        return Err(Error::parameter("--values", "values with commas, such as 0.1,1,10", "none"));
    }
    let spec = learner.specs().iter().find(|spec| spec.name == name);
    let value = |word: &String| spec.map_or_else(|| Value::parse(word), |spec| spec.parse(word));
    Ok(Some((name, values.iter().map(value).collect())))
}

/// Numbers or shares of training rows, where they are given.
fn sizes(call: &Call) -> Result<Option<Vec<f64>>> {
    let size = |word: &String| {
        word.parse().ok().filter(|size: &f64| *size > 0.0).ok_or_else(|| {
            Error::parameter("--sizes", "shares up to 1 or numbers of rows, with commas", word)
        })
    };
    let words = call.texts("sizes");
    let sizes = words.iter().map(size).collect::<Result<Vec<f64>>>()?;
    Ok((!sizes.is_empty()).then_some(sizes))
}

/// Mean and standard deviation over folds, in and out of sample.
fn scores(table: Columns, train: &Matrix, test: &Matrix) -> Columns {
    let [train, test] = [train, test].map(|scores| {
        let each = (0..scores.nrows()).map(|i| {
            let row = scores.row(i);
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let square = row.iter().map(|score| (score - mean).powi(2)).sum::<f64>();
            (mean, (square / row.len() as f64).sqrt())
        });
        each.unzip::<f64, f64, Vec<f64>, Vec<f64>>()
    });
    let table = table.reals("train", train.0).reals("train ±", train.1);
    table.reals("test", test.0).reals("test ±", test.1)
}
