//! Two-class problems: what the wrappers that turn many classes into several of them share.

use crate::learner::{Fitted, Learner};
use learnt_core::estimator::Accepts;
use learnt_core::prelude::*;

/// What the wrapper of a two-class learner takes.
pub(super) fn accepts(learner: &Learner) -> Accepts {
    Accepts { many_outputs: false, ..learner.any_accepts() }
}

/// Rows of each class.
pub(super) fn class_rows(data: &Dataset) -> Result<Vec<usize>> {
    let (codes, classes) = data.class_target()?;
    let mut rows = vec![0; classes.len()];
    codes.iter().for_each(|&code| rows[code as usize] += 1);
    match rows.iter().filter(|&&rows| rows > 0).count() {
        0 | 1 => {
            let message = "the target has one class, and two are needed";
            Err(Error::new(Code::OneClass, message))
        }
        _ => Ok(rows),
    }
}

/// Scores of the second of two classes, 0 on the boundary: decision scores, else probabilities less ½.
pub(super) fn two_class_scores(part: &Fitted, x: &Frame, run: &Context) -> Result<Vec<f64>> {
    let model = part.classifier()?;
    let (scores, shift) = match model.decision_scores_in(x, run) {
        Err(error) if error.code() == Code::Unsupported => (model.probabilities_in(x, run)?, 0.5),
        scores => (scores?, 0.0),
    };
    match scores.ncols() {
        1 | 2 => Ok(scores.rows().map(|row| row[row.len() - 1] - shift).collect()),
        _ => Err(Error::internal("scores of other than two classes")),
    }
}

/// The models' own tables, each headed by the problem it belongs to.
pub(super) fn add_tables<'p>(
    report: &mut Answer,
    parts: impl Iterator<Item = (&'p Fitted, Names)>,
) {
    const SHOWN: usize = 10;
    for (part, names) in parts.take(SHOWN) {
        let Some(own) = part.model.report(&names) else { continue };
        report.tables.extend(
            own.tables
                .into_iter()
                .map(|table| Columns { title: format!("{}: {}", part.name, table.title), ..table }),
        );
    }
}
