//! `learnt report`: one page about a model and how it does on rows.

use super::Call;
use super::models::load;
use super::predict::labelled_input;
use crate::ExitCode;
use crate::input;
use crate::learner;
use crate::place;
use learnt::answer::Answer;
use learnt::data::OwnedDataset;
use learnt::error::{Code, Error, Result};
use learnt::trained::Trained;

pub(crate) fn report(call: &Call) -> Result<ExitCode> {
    let trained = load(call)?;
    let path = call.text("out").unwrap_or(super::REPORT);
    if !(path.ends_with(".html") || path.ends_with(".htm")) {
        return Err(Error::parameter("-o", "a file that ends in .html", format!("'{path}'")));
    }
    let (rows, digest) = rows(call, &trained)?;
    let data = rows.as_ref().map(OwnedDataset::view);
    let mut sections = learnt::plot::report(&trained, data.as_ref(), &call.run)?;
    if let (Some(card), Some(name)) = (sections.last_mut(), call.text("data")) {
        card.push("test data", name);
        card.push_some("test data (SHA-256)", digest);
        card.push("reported by", concat!("learnt ", env!("CARGO_PKG_VERSION")));
    }
    let page = learnt_plot::to_page(&title(&trained)?, &sections);
    place::bytes(call, path, page.as_bytes())?;
    if call.json {
        let sections: Vec<_> = sections.iter().map(Answer::to_json).collect();
        crate::output::print_json(
            "report",
            None,
            serde_json::json!({ "file": path, "sections": sections }),
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The learner, whatever stands in front of it, and its target.
fn title(trained: &Trained) -> Result<String> {
    let name = learner::main_about(trained)?.command();
    Ok(match trained.history.targets.first() {
        Some(target) => format!("{name}: {target}"),
        None => name,
    })
}

/// The rows to report on, with their target if the model has one, and the digest of their file.
fn rows(call: &Call, trained: &Trained) -> Result<(Option<OwnedDataset>, Option<String>)> {
    if call.text("data").is_none() {
        return Ok((None, None));
    }
    let input = input::read(call)?;
    let digest = input.digest.clone();
    let supervised = trained.about.roles.needs_target() || !trained.history.targets.is_empty();
    if !supervised {
        return Ok((Some(OwnedDataset { x: input.table, ..OwnedDataset::default() }), digest));
    }
    match labelled_input(call, trained, input) {
        Err(error) if error.code() == Code::Target => {
            Err(error.hint("a report needs rows with the target the model was trained on"))
        }
        labelled => Ok((Some(labelled?), digest)),
    }
}
