//! `learnt curve`: scores in and out of sample against the number of training rows, or against the values of
//! a parameter.

use super::Call;
use super::answer::show;
use super::compare::{chosen_metrics, folds, source};
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::picture;
use learnt::Learner;
use learnt::answer::{Answer, Columns};
use learnt::assess::{Examples, LearningCurve, ValidationCurve, Values};
use learnt::chart::Chart;
use learnt::data::{Dataset, Label, Matrix, Target};
use learnt::error::{Error, Result};
use learnt::function::{Classes, Function};
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
    let (learner, said) = learner::prepared(call, base, data.x.schema(), missing)?;
    said.iter().for_each(|said| call.say(said));
    let metric = chosen_metrics(call, Task::of(&data), &data)?[0].name;
    let (codes, classes) = Label::encode(&labels(&data)?);
    let y = Classes { codes: &codes, classes: &classes };
    let given = Examples { x: data.x, y, sample_weight: data.weights };
    let (estimator, scoring) = (Learner(learner), Some(metric.to_string()));
    let (table, chart, what) = match varied {
        Some((parameter, values)) => {
            let inside = if said.is_some() { "model__" } else { "" };
            let param_name = format!("{inside}{parameter}");
            let texts = values.iter().map(ToString::to_string).collect();
            let param_range = Values(values);
            let function = ValidationCurve { estimator, param_name, param_range, cv, scoring };
            let found = function.compute_in(given, &call.run)?;
            let table = Columns::titled("").texts(&parameter, texts);
            let table = scores(table, &found.train_scores, &found.test_scores);
            (table, function.chart(&found), parameter)
        }
        None => {
            let train_sizes = sizes(call)?.unwrap_or(LearningCurve::default().train_sizes);
            let function = LearningCurve { estimator, train_sizes, cv, scoring };
            let found = function.compute_in(given, &call.run)?;
            let rows = found.train_sizes.iter().map(|&size| size as i64).collect();
            let table = Columns::titled("").counts("training rows", rows);
            let table = scores(table, &found.train_scores, &found.test_scores);
            (table, function.chart(&found), "training rows".to_string())
        }
    };
    let seed = call.run.seed();
    let name = entry.about.command();
    let title =
        format!("{name} on {}: {metric} against {what}   {cv} folds, seed {seed}", supervised.name);
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

/// The target as labels, which is how functions take it.
fn labels(data: &Dataset) -> Result<Vec<Label>> {
    match data.y {
        Some(Target::Class { codes, classes }) => {
            Ok(codes.iter().map(|&code| classes[code as usize].clone()).collect())
        }
        Some(Target::Real(values)) if values.ncols() == 1 => {
            Ok(values.column(0).into_iter().map(Label::Real).collect())
        }
        _ => Err(Error::parameter("--target", "one column", "none or several")),
    }
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
