//! `learnt explain`: importance of columns, partial dependence, contributions to single rows.

use super::Call;
use super::answer::show;
use super::models::load;
use super::predict::labelled_input;
use crate::ExitCode;
use crate::input;
use crate::picture;
use learnt::data::OwnedDataset;
use learnt::error::{Code, Error, Result};
use learnt::inspect::{Explanation, explain};
use learnt::trained::Trained;
use serde_json::json;

pub(crate) fn run(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let how = wanted(call, &trained)?;
    let data = rows(call, &trained)?;
    let answer = explain(&trained, &data.view(), &how, &call.run)?;
    picture::plot_answer(call, &answer)?;
    show(call, "explain", None, json!({}), &answer, call.most_rows())?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(call: &Call, trained: &Trained) -> Result<Explanation> {
    let mut how = Explanation::default();
    how.columns.extend(call.texts("columns").iter().map(ToString::to_string));
    let number = |word: &str| {
        let row = word.parse::<usize>().ok().and_then(|row| row.checked_sub(1));
        row.ok_or_else(|| Error::parameter("--rows", "numbers from 1 on", format!("'{word}'")))
    };
    let rows = call.texts("rows");
    if !rows.is_empty() {
        how.rows = rows.iter().map(|word| number(word)).collect::<Result<_>>()?;
    }
    if let Some(&repeats) = call.args.get_one::<usize>("repeats") {
        how.n_repeats = repeats.max(1);
    }
    how.output = output(call, trained)?;
    Ok(how)
}

/// The class whose contributions are shown: the one that is named, else the last of two.
fn output(call: &Call, trained: &Trained) -> Result<usize> {
    let classes = &trained.history.classes;
    let Some(name) = call.text("class") else { return Ok(0) };
    let known = || classes.iter().map(ToString::to_string);
    let place =
        known().position(|class| class == name).ok_or_else(|| match classes.is_empty() {
            true => Error::new(Code::Usage, "--class is for models of classes"),
            false => {
                let all: Vec<String> = known().collect();
                Error::parameter(
                    "--class",
                    format!("one of {}", all.join(", ")),
                    format!("'{name}'"),
                )
            }
        })?;
    Ok(place)
}

/// The rows, with their target if the table has it.
fn rows(call: &Call, trained: &Trained) -> Result<OwnedDataset> {
    let input = input::read(call)?;
    let named = call.text("target").map(ToString::to_string);
    let target = named.as_ref().or(trained.history.targets.first());
    let there = target.is_some_and(|name| input.table.schema().find(name).is_ok());
    match there || named.is_some() {
        true => labelled_input(call, trained, input),
        false => Ok(OwnedDataset { x: input.table, ..OwnedDataset::default() }),
    }
}
