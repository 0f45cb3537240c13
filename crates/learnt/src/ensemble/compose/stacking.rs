//! Stacking: what its two learners share. The columns of the last learner are predictions of the others
//! for rows that they were not fitted on.

use super::{fit_all, predictions_of};
use crate::learner::{Fitted, Learner, Named};
use crate::select::{Split, usual_splitter};
use learnt_core::error::plain;
use learnt_core::estimator::Accepts;
use learnt_core::prelude::*;

/// What the members of a stack say about rows.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum StackMethod {
    /// Probabilities, else decision scores, else classes.
    Auto,
    /// Probabilities.
    PredictProba,
    /// Decision scores.
    DecisionFunction,
    /// Classes.
    Predict,
}

/// What a member says about rows, as columns with names.
pub(super) fn said(
    part: &Fitted,
    method: StackMethod,
    classes: &[Label],
    x: &Frame,
    run: &Context,
) -> Result<(Vec<String>, Matrix)> {
    let Some(model) = part.model.as_classifier() else {
        let found = predictions_of(part, x, run)?;
        return Ok((vec![part.name.clone()], Matrix::column_vector(found)));
    };
    let lacks = |error: &Error| error.code() == Code::Unsupported && method == StackMethod::Auto;
    let shares = match method {
        StackMethod::Auto | StackMethod::PredictProba => Some(model.probabilities_in(x, run)),
        StackMethod::DecisionFunction => Some(model.decision_scores_in(x, run)),
        StackMethod::Predict => None,
    };
    let scores = match shares {
        Some(Err(error)) if lacks(&error) => match model.decision_scores_in(x, run) {
            Err(error) if lacks(&error) => None,
            scores => Some(scores?),
        },
        Some(scores) => Some(scores?),
        None => None,
    };
    let Some(scores) = scores else {
        let codes = model.classify_in(x, run)?.into_iter().map(f64::from).collect();
        return Ok((vec![part.name.clone()], Matrix::column_vector(codes)));
    };
    // Of two classes one column says all.
    if scores.ncols() <= 2 {
        let last = scores.ncols() - 1;
        return Ok((vec![part.name.clone()], Matrix::column_vector(scores.column(last))));
    }
    if scores.ncols() != classes.len() {
        return Err(Error::internal("a part that knows other classes"));
    }
    let name = |class: &Label| format!("{}: {}", part.name, plain(&class.to_string()));
    Ok((classes.iter().map(name).collect(), scores))
}

/// The table of the last learner: what members say, and the columns themselves if they pass through.
pub(super) fn stacked(
    said: Vec<(Vec<String>, Matrix)>,
    x: &Frame,
    passthrough: bool,
) -> Result<Table> {
    let mut columns: Vec<Column> =
        said.iter().flat_map(|(names, _)| names.iter().map(Column::numeric)).collect();
    let width = columns.len();
    if passthrough {
        columns.extend(x.schema().columns().iter().cloned());
    }
    let mut values = Matrix::zeros(x.nrows(), columns.len());
    for i in 0..x.nrows() {
        let row = values.row_mut(i);
        let parts = said.iter().flat_map(|(_, matrix)| matrix.row(i));
        row.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        if passthrough {
            x.values().copy_row(i, &mut row[width..]);
        }
    }
    Table::new(values, Schema::new(columns)?)
}

/// Members fitted on all rows, and the last learner on what members fitted on other rows say.
pub(super) fn fit(
    estimators: &[Named<Learner>],
    last: &Learner,
    folds: usize,
    method: StackMethod,
    passthrough: bool,
    data: &Dataset,
    run: &Context,
) -> Result<(Vec<Fitted>, Fitted, usize)> {
    let classes: Vec<Label> = match data.y {
        Some(Target::Class { classes, .. }) => classes.to_vec(),
        _ => Vec::new(),
    };
    let splits: Vec<Split> = usual_splitter(data, folds).splits(data, run)?.collect();
    let fold_parts = run.try_par_map(splits.len(), |fold| {
        let Split { train, test } = &splits[fold];
        let inner = run.child(1000 + fold as u64);
        let parts = fit_all(estimators, &data.gather(train).view(), &inner)?;
        let rows = data.x.gather(test);
        parts.iter().map(|part| said(part, method, &classes, &rows.frame(), &inner)).collect()
    })?;
    let mut together: Vec<(Vec<String>, Matrix)> = Vec::new();
    for (Split { test, .. }, parts) in splits.iter().zip(&fold_parts) {
        let parts: &Vec<(Vec<String>, Matrix)> = parts;
        for (m, (names, found)) in parts.iter().enumerate() {
            if together.len() <= m {
                together.push((names.clone(), Matrix::zeros(data.nrows(), names.len())));
            }
            for (place, &row) in test.iter().enumerate() {
                together[m].1.row_mut(row).copy_from_slice(found.row(place));
            }
        }
    }
    let table = stacked(together, &data.x, passthrough)?;
    let last = Fitted::fit(&**last, "final", &Dataset { x: table.frame(), ..*data }, run)?;
    Ok((fit_all(estimators, data, run)?, last, table.schema().len()))
}

/// What the last learner sees of rows: as many columns as in training.
pub(super) fn last_rows(
    parts: &[Fitted],
    method: StackMethod,
    classes: &[Label],
    (passthrough, width): (bool, usize),
    x: &Frame,
    run: &Context,
) -> Result<Table> {
    let said =
        parts.iter().map(|part| said(part, method, classes, x, run)).collect::<Result<Vec<_>>>()?;
    let table = stacked(said, x, passthrough)?;
    match table.schema().len() == width {
        true => Ok(table),
        false => Err(Error::internal("members that say something else than in training")),
    }
}

/// The columns that the last learner sees, those of the members by number.
pub(super) fn last_schema(schema: &Schema, width: usize, passthrough: bool) -> Result<Schema> {
    let own: &[Column] = if passthrough { schema.columns() } else { &[] };
    let said = width.saturating_sub(own.len());
    let name = |j: usize| if passthrough { format!("member {j}") } else { format!("x{j}") };
    Schema::new((0..said).map(|j| Column::numeric(name(j))).chain(own.iter().cloned()).collect())
}

/// What a stack accepts: what its members do, and the last learner of what it sees itself.
pub(super) fn accepts(members: Accepts, last: Accepts, passthrough: bool) -> Accepts {
    let weights = members.weights && last.weights;
    match passthrough {
        true => Accepts {
            missing: members.missing && last.missing,
            infinite: members.infinite && last.infinite,
            categories: members.categories && last.categories,
            weights,
            ..members
        },
        false => Accepts { weights, ..members },
    }
}
