//! `learnt plot`: pictures of models, by name.

use super::Call;
use super::models::load;
use super::predict::labelled;
use crate::ExitCode;
use crate::input;
use crate::output::{print, print_json};
use crate::picture;
use learnt::answer::Columns;
use learnt::data::OwnedDataset;
use learnt::error::{Code, Error, Result};
use learnt::plot::{PLOTS, Plot, find};
use learnt::question::Needs;
use learnt::trained::Trained;
use serde_json::json;

pub(crate) fn plot(call: &Call) -> Result<ExitCode> {
    let Some(name) = call.text("name") else {
        list(call);
        return Ok(ExitCode::SUCCESS);
    };
    let plot = find(name)?;
    if call.text("model").is_none() {
        return Err(Error::new(Code::Usage, "a picture needs a model file").hint(example(plot)));
    }
    let trained = load(call)?;
    let data = rows(call, plot, &trained)?;
    let chart = plot.draw(&trained, data.as_ref().map(OwnedDataset::view).as_ref(), &call.run)?;
    match (call.text("out"), call.json) {
        (None, true) => print_json("plot", None, json!({ "plot": name, "chart": chart.to_json() })),
        (place, _) => picture::draw(call, &[chart], place.unwrap_or("-"))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn rows(call: &Call, plot: &Plot, trained: &Trained) -> Result<Option<OwnedDataset>> {
    match (plot.needs, call.text("data")) {
        (Needs::Nothing, _) => Ok(None),
        (_, None) => {
            let message = format!("the picture '{}' needs rows", plot.name);
            Err(Error::new(Code::Usage, message).hint(example(plot)))
        }
        (Needs::RowsAndTarget, Some(_)) => labelled(call, trained).map(Some),
        (Needs::Rows, Some(_)) => {
            Ok(Some(OwnedDataset { x: input::read(call)?.table, ..OwnedDataset::default() }))
        }
    }
}

fn example(plot: &Plot) -> String {
    let data = if plot.needs == Needs::Nothing { "" } else { " DATA" };
    format!("learnt plot {} MODEL{data} -o {}.svg", plot.name, plot.name)
}

fn list(call: &Call) {
    let data = |needs: Needs| match needs {
        Needs::Nothing => "",
        Needs::Rows => "rows",
        Needs::RowsAndTarget => "rows, target",
    };
    if call.json {
        let all: Vec<_> = PLOTS
            .iter()
            .map(|plot| json!({ "name": plot.name, "doc": plot.doc, "data": data(plot.needs), "in_report": plot.in_report }))
            .collect();
        return print_json("plot", None, json!({ "plots": all }));
    }
    let mut table = Columns::new("pictures", &["name", "data", "shows"]);
    for plot in PLOTS {
        table.push(vec![plot.name.into(), data(plot.needs).into(), plot.doc.into()]);
    }
    print(&call.fitted(&table));
}
