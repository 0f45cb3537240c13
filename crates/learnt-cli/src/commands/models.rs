//! `learnt summary`, `learnt inspect` and `learnt verify`.

use super::Call;
use crate::ExitCode;
use crate::output::{print, print_json};
use crate::picture;
use learnt::answer::{Answer, Cell, Columns};
use learnt::data::{ColumnKind, Schema};
use learnt::error::{Code, Error, Result};
use learnt::trained::Trained;
use serde_json::{Value as Json, json};

pub(crate) fn load(call: &Call) -> Result<Trained> {
    let path = call.text("model").unwrap_or_default();
    if path != "-" {
        return learnt::load(path);
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
    learnt::from_bytes(&bytes)
}

/// The report with marks of significance, with --marks.
pub(super) fn marked(call: &Call, report: Answer) -> Answer {
    if call.flag("marks") { learnt::linear::marked(report) } else { report }
}

/// `learnt anova`: nested models one after the other.
pub(crate) fn anova(call: &Call) -> Result<ExitCode> {
    let mut fits = Vec::new();
    for path in call.texts("models") {
        let trained = learnt::load(&path)?;
        let fit = trained.ask("goodness", &[], None, &call.run).map_err(|error| {
            match error.code() {
                Code::Unsupported | Code::Unknown => {
                    Error::unsupported(format!("{} cannot be compared by its fit", trained.about.name()))
                        .hint("least squares, generalised linear models and logistic regression can; `learnt versus` compares any two on rows")
                }
                _ => error,
            }
        })?;
        let name = trained.history.formula.clone().unwrap_or_else(|| path.clone());
        fits.push((name, fit));
    }
    let answer = marked(call, learnt::linear::compare_fits(&fits)?);
    match call.json {
        true => print_json("anova", None, json!({ "report": answer.to_json() })),
        false => print(&answer.to_text_fitted(call.most_rows(), call.line_width())),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn summary(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let report = trained.report().ok_or_else(|| {
        Error::unsupported(format!("{} has no summary", trained.about.name()))
            .hint("`learnt inspect` shows what the file holds")
    })?;
    let report = marked(call, report);
    picture::plot_answer(call, &report)?;
    match call.json {
        true => {
            let history = &trained.history;
            print_json(
                "summary",
                None,
                json!({
                    "report": report.to_json(), "targets": history.targets, "formula": history.formula,
                    "rows": history.rows, "dropped": history.dropped,
                }),
            )
        }
        false => {
            let text = report.to_text_fitted(call.most_rows(), call.line_width());
            print(&format!("{}{text}", trained.heading()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn column_json(schema: &Schema) -> Vec<Json> {
    let column = |column: &learnt::data::Column| match &column.kind {
        ColumnKind::Numeric => json!({ "name": column.name, "type": "num" }),
        ColumnKind::Categorical { levels, ordered } => {
            json!({ "name": column.name, "type": if *ordered { "ord" } else { "cat" }, "levels": levels.as_slice() })
        }
    };
    schema.columns().iter().map(column).collect()
}

fn column_table(schema: &Schema) -> Columns {
    let mut table = Columns::new("columns", &["column", "type", "levels"]);
    for column in schema.columns() {
        let (kind, levels) = match &column.kind {
            ColumnKind::Numeric => ("num", String::new()),
            ColumnKind::Categorical { levels, ordered } => {
                (if *ordered { "ord" } else { "cat" }, levels.join(", "))
            }
        };
        table.push(vec![Cell::Text(column.name.clone()), kind.into(), Cell::Text(levels)]);
    }
    table
}

/// The fitted learners inside, one line each.
fn part_table(trained: &Trained) -> Result<Option<Columns>> {
    let parts = trained.model.parts(&trained.history.schema, &trained.history.classes)?;
    let mut table = Columns::new("parts", &["part", "learner", "columns"]);
    for part in &parts {
        let columns: Vec<&str> = part.schema.names().collect();
        table.push(vec![
            Cell::Text(part.name.clone()),
            part.about.path.into(),
            Cell::Text(columns.join(", ")),
        ]);
    }
    Ok((!parts.is_empty()).then_some(table))
}

pub(crate) fn inspect(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let history = &trained.history;
    let params: serde_json::Map<String, Json> =
        history.params.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
    let classes: Vec<String> = history.classes.iter().map(ToString::to_string).collect();
    let levels = history.schema.columns().iter().filter(|column| column.levels().is_some()).count();
    let privacy = match (trained.about.stores_rows, levels) {
        (true, _) => "training rows, column names, category levels and class names".to_string(),
        (false, _) => format!(
            "no training rows; {levels} columns of category levels and {} class names",
            classes.len()
        ),
    };
    if call.json {
        let payload = json!({
            "learner": trained.about.path, "params": params, "columns": column_json(&history.schema),
            "volume": history.schema.volume().map(|volume| volume.to_string()),
            "targets": history.targets, "classes": classes, "rows": history.rows, "seed": history.seed,
            "digest": history.digest, "version": history.version, "warnings": history.warnings,
            "converged": trained.model.converged(), "privacy": privacy,
            "roles": trained.about.roles.names(),
            "parts": part_table(&trained)?.map(|table| table.to_json()),
        });
        print_json("inspect", None, payload);
        return Ok(ExitCode::SUCCESS);
    }
    if call.flag("privacy") {
        print(&format!("{privacy}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    if call.flag("schema") {
        print(&call.fitted(&column_table(&history.schema)));
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("learner    {}\n", trained.about.path);
    let params: Vec<String> =
        history.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out += &format!("parameters {}\n", params.join(" "));
    out += &format!(
        "target     {}\n",
        if history.targets.is_empty() { "none".to_string() } else { history.targets.join(", ") }
    );
    if !classes.is_empty() {
        out += &format!("classes    {}\n", classes.join(", "));
    }
    if let Some(volume) = history.schema.volume() {
        out += &format!("volume     {volume}\n");
    }
    out += &format!(
        "rows       {}\nseed       {}\nversion    {}\n",
        history.rows, history.seed, history.version
    );
    out += &format!("converged  {}\nholds      {privacy}\n", trained.model.converged());
    if let Some(digest) = &history.digest {
        out += &format!("data       sha256 {digest}\n");
    }
    for warning in &history.warnings {
        out += &format!("warning    {}\n", learnt::error::plain(warning));
    }
    out += &format!("\n{}", call.fitted(&column_table(&history.schema)));
    if let Some(parts) = part_table(&trained)? {
        out += &format!("\n{}", call.fitted(&parts));
    }
    print(&out);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn verify(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let outcome = trained.verify()?;
    let words = match outcome {
        Some(true) => "whole: checksum, structure and self-test rows are right",
        Some(false) => "the self-test rows give other numbers here",
        None => "whole: checksum and structure are right; the file has no self-test rows",
    };
    match call.json {
        true => print_json(
            "verify",
            None,
            json!({ "whole": true, "self_test": outcome, "text": words }),
        ),
        false => print(&format!("{words}\n")),
    }
    match outcome {
        Some(false) => Err(Error::new(Code::FileInvalid, words).hint(
            "another kind of processor may differ in the last digits; compare predictions by hand",
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}
