//! `learnt ask`: a model's answers beyond prediction.

use super::Call;
use super::models::load;
use super::predict::weighed_input;
use crate::ExitCode;
use crate::input;
use crate::output::{print, print_json};
use crate::picture;
use learnt::answer::{Answer, Cell, Columns, Datum, Series};
use learnt::data::OwnedDataset;
use learnt::error::{Code, Error, Result, plain};
use learnt::params::{ParamSpec, Value};
use learnt::question::{Needs, Question};
use learnt::trained::Trained;
use serde_json::json;
use std::path::Path;

pub(crate) fn ask(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let Some(name) = call.text("question") else { return list(call, &trained) };
    let needs = trained.model.questions().iter().find(|q| q.name == name).map(|q| q.needs);
    let (rows, kept) = rows(call, &trained, needs.unwrap_or(Needs::Nothing))?;
    let mut arguments =
        call.texts("with").iter().map(|pair| argument(pair)).collect::<Result<Vec<_>>>()?;
    // Groups of rows are named for standard errors of groups, and for nothing else.
    if name == "robust"
        && call.text("group").is_some()
        && arguments.iter().all(|(n, _)| n != "kind")
    {
        arguments.push(("kind".to_string(), Value::parse("cluster")));
    }
    let report = trained.ask(name, &arguments, rows.as_ref().map(OwnedDataset::view), &call.run)?;
    let report = super::models::marked(call, numbered(report, kept.as_deref()));
    picture::plot_answer(call, &report)?;
    match call.json {
        true => print_json("ask", None, json!({ "question": name, "report": report.to_json() })),
        false => print(
            &whole_text(&report)
                .unwrap_or_else(|| report.to_text_fitted(call.most_rows(), call.line_width())),
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// An answer that is one text and nothing else is printed as it is, for other programs to read.
fn whole_text(report: &Answer) -> Option<String> {
    match report.values.as_slice() {
        [(name, Datum::Text(text))] if name == "text" && report.tables.is_empty() => {
            Some(text.clone())
        }
        _ => None,
    }
}

fn argument(pair: &str) -> Result<(String, Value)> {
    let (name, value) = pair
        .split_once('=')
        .ok_or_else(|| Error::parameter("--with", "of the form NAME=VALUE", format!("'{pair}'")))?;
    Ok((name.to_string(), Value::parse(value)))
}

/// Looks at what was said about data that the question has no use for: a setting of the question may be meant.
fn unread(call: &Call) -> Result<()> {
    let question = call.text("question").unwrap_or_default();
    let meant =
        format!("settings of a question are `learnt ask MODEL {question} --with NAME=VALUE`");
    input::options(call).map_err(|error| error.hint(meant.clone()))?;
    let Some(data) = call.text("data") else { return Ok(()) };
    if input::bundled(data).is_none() && data != "-" && !Path::new(data).exists() {
        let message =
            format!("'{}' is no file, and the question '{question}' needs none", plain(data));
        return Err(Error::new(Code::Usage, message).hint(meant));
    }
    call.say(&format!("note: {question} is asked of the model alone; {} is not read", plain(data)));
    Ok(())
}

/// The data that the question needs, and the numbers of their rows where some were left out.
fn rows(
    call: &Call,
    trained: &Trained,
    needs: Needs,
) -> Result<(Option<OwnedDataset>, Option<Vec<usize>>)> {
    if needs == Needs::Nothing {
        return unread(call).map(|()| (None, None));
    }
    if call.text("data").is_none() {
        return Err(Error::new(Code::Usage, "this question needs rows")
            .hint("put a data file after the question"));
    }
    let input = input::read(call)?;
    let with_target = needs == Needs::RowsAndTarget;
    let (table, kept) = input::complete_rows(call, trained, input.table, with_target);
    let input = input::Input { table, ..input };
    let data = match needs {
        Needs::RowsAndTarget => weighed_input(call, trained, input)?,
        _ => OwnedDataset { x: input.table, ..OwnedDataset::default() },
    };
    Ok((Some(data), kept))
}

/// The answer with rows by their numbers in the file, where some were left out.
fn numbered(mut report: Answer, kept: Option<&[usize]>) -> Answer {
    let Some(kept) = kept else { return report };
    for column in report.tables.iter_mut().flat_map(|table| &mut table.columns) {
        if let ("row", Series::Counts(numbers)) = (column.name.as_str(), &mut column.data) {
            for number in numbers {
                let place = usize::try_from(*number - 1).ok().and_then(|at| kept.get(at));
                *number = place.map_or(*number, |place| *place as i64 + 1);
            }
        }
    }
    report
}

/// What may be asked.
fn list(call: &Call, trained: &Trained) -> Result<ExitCode> {
    let questions = trained.model.questions();
    if questions.is_empty() {
        return Err(Error::unsupported(format!("{} answers no questions", trained.about.name()))
            .hint("`learnt summary` shows what it learnt"));
    }
    let arguments = |question: &Question| -> String {
        let one = |spec: &ParamSpec| format!("{}={}", spec.name, spec.default_text());
        (question.arguments)().specs().iter().map(one).collect::<Vec<_>>().join(" ")
    };
    if call.json {
        let all: Vec<_> = questions
            .iter()
            .map(|q| json!({ "name": q.name, "doc": q.doc, "arguments": arguments(q) }))
            .collect();
        print_json("ask", None, json!({ "questions": all }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new("questions", &["question", "data", "--with", "answer"]);
    for question in questions {
        let data = match question.needs {
            Needs::Nothing => "",
            Needs::Rows => "rows",
            Needs::RowsAndTarget => "rows, target",
        };
        table.push(vec![
            question.name.into(),
            data.into(),
            Cell::Text(arguments(question)),
            question.doc.into(),
        ]);
    }
    print(&table.to_text_fitted(usize::MAX, call.line_width()));
    Ok(ExitCode::SUCCESS)
}
