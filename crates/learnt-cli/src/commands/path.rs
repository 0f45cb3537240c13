//! `learnt path`: coefficients for a falling penalty, printed, saved and drawn.

use super::Call;
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::output::{print, print_json};
use crate::picture;
use crate::place;
use learnt::compose::TransformedTargetRegressor;
use learnt::data::{Column, Dataset, Matrix, Schema, Table};
use learnt::error::{Code, Error, Result};
use learnt::linear::penalized::{PathKind, PathOptions, RegularizationPath, path};
use learnt::params::Value;
use learnt::prepare::{Formula, OFFSET, Side};
use learnt_io::WriteOptions;
use serde_json::json;

pub(crate) fn run(call: &Call) -> Result<ExitCode> {
    let kind = kind(call)?;
    let mut options = options(call)?;
    let name = call.text("penalty").unwrap_or_default();
    let supervised = input::supervised(call, input::read(call)?, Some(name))?;
    let data = supervised.data.view();
    let entry = learner::resolve(name, learner::task_of(&data))?;
    learner::check_task(entry, learner::task_of(&data))?;
    let missing = learner::has_missing(&data);
    let mut learner = (entry.build)();
    learner::fit_formula(call, learner.as_mut(), data.x.schema())?;
    options.fit_intercept = learner.get("fit_intercept") != Ok(Value::Bool(false));
    let follow = |data: &Dataset| path(kind, data, &options, &call.run);
    let prepared = learner::preparation(call, learner.as_ref(), data.x.schema(), missing)?;
    let (changed, left) = left_side(call, data.x.schema())?;
    let found = match prepared {
        None => changed.with_rows(&data, follow)?,
        Some((preparation, said)) => {
            call.say(&said);
            let fitted = preparation.fit_any(&Dataset { y: None, ..data }, &call.run)?;
            let transformer = fitted
                .as_transformer()
                .ok_or_else(|| Error::internal("a preparation that transforms nothing"))?;
            let prepared = transformer.transform_in(&data.x, &call.run)?;
            changed.with_rows(&Dataset { x: prepared.frame(), ..data }, follow)?
        }
    };
    show(call, &found, left, data.nrows())?;
    Ok(ExitCode::from(match call.flag("strict") && !found.converged {
        true => Code::NotConverged.exit_code(),
        false => 0,
    }))
}

/// What the formula says beside its terms, and a sentence about it.
fn left_side(call: &Call, schema: &Schema) -> Result<(TransformedTargetRegressor, Option<String>)> {
    let Some(formula) = call.text("formula") else { return Ok(Default::default()) };
    let side = Side::split(formula)?;
    let func = side.response.as_ref().map(|response| response.text().to_string());
    let offset = Formula::parse(side.terms.trim(), schema)?.has_offset();
    let said = func
        .as_ref()
        .map(|func| format!("the path is of {func}: coefficients and R² are on that scale"));
    let offset = offset.then(|| OFFSET.to_string());
    Ok((TransformedTargetRegressor { func, offset, ..Default::default() }, said))
}

fn kind(call: &Call) -> Result<PathKind> {
    let l1_ratio = call.args.get_one::<f64>("l1-ratio").copied();
    match (call.text("penalty"), l1_ratio) {
        (Some("elastic-net"), ratio) => Ok(PathKind::ElasticNet { l1_ratio: ratio.unwrap_or(0.5) }),
        (_, Some(_)) => Err(Error::new(Code::Usage, "--l1-ratio is for elastic-net")),
        (Some("ridge"), None) => Ok(PathKind::Ridge),
        _ => Ok(PathKind::Lasso),
    }
}

fn options(call: &Call) -> Result<PathOptions> {
    let mut options = PathOptions::default();
    if let Some(&count) = call.args.get_one::<usize>("n-alphas") {
        options.n_alphas = count;
    }
    if let Some(&eps) = call.args.get_one::<f64>("eps") {
        options.eps = eps;
    }
    options.positive = call.flag("positive");
    Ok(options)
}

fn show(call: &Call, found: &RegularizationPath, left: Option<String>, rows: usize) -> Result<()> {
    let mut report = found.report();
    report.notes.extend(left);
    if let Some(file) = call.text("out").filter(|file| *file != "-") {
        place::table(call, file, &table(found)?, &WriteOptions::default())?;
    }
    if let Some(path) = call.text("plot") {
        picture::draw(call, &[found.chart_with_bic(rows)], path)?;
    }
    match (call.text("out"), call.json) {
        (Some("-"), _) => place::table(call, "-", &table(found)?, &WriteOptions::default()),
        (_, true) => {
            let payload = json!({
                "report": report.to_json(), "chart": found.chart_with_bic(rows).to_json(),
                "converged": found.converged,
            });
            print_json("path", None, payload);
            Ok(())
        }
        _ => {
            print(&report.to_text_fitted(usize::MAX, call.line_width()));
            Ok(())
        }
    }
}

/// One row a penalty: its figures, the intercept and every coefficient.
fn table(found: &RegularizationPath) -> Result<Table> {
    let figures = ["alpha", "shrinkage", "df", "r2", "(intercept)"];
    let names = figures.iter().map(ToString::to_string).chain(found.names.iter().cloned());
    let coefficients = &found.coefs[0];
    let width = figures.len() + found.names.len();
    let values = Matrix::from_fn(found.alphas.len(), width, |k, j| match j {
        0 => found.alphas[k],
        1 => found.shrinkage[(0, k)],
        2 => found.df[(0, k)],
        3 => found.r2[(0, k)],
        4 => found.intercepts[(0, k)],
        _ => coefficients[(j - figures.len(), k)],
    });
    Table::new(values, Schema::new(names.map(Column::numeric).collect())?)
}
