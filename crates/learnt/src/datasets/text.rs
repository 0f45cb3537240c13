//! The bundled files as tables: comma separated, one header line, no quotes, empty is missing.
//!
//! A column whose filled cells are all numbers is numeric; any other is categorical, with its levels
//! in sorted order unless the description lists them.

use super::bundled::{Bundled, Levels};
use crate::metrics::Task;
use learnt_core::prelude::*;
use std::sync::Arc;

/// Header and cells, column by column.
struct Cells {
    names: Vec<&'static str>,
    columns: Vec<Vec<&'static str>>,
}

impl Cells {
    fn of(text: &'static str) -> Result<Cells> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let mut columns = vec![Vec::new(); names.len()];
        for (number, line) in lines.enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != names.len() {
                let message = format!(
                    "line {} has {} fields, and the header {}",
                    number + 2,
                    cells.len(),
                    names.len()
                );
                return Err(Error::new(Code::Ragged, message));
            }
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        }
        Ok(Cells { names, columns })
    }

    fn named(&self, name: &str) -> Result<&[&'static str]> {
        match self.names.iter().position(|known| *known == name) {
            Some(j) => Ok(&self.columns[j]),
            None => Err(Error::unknown("column", name, self.names.iter().copied())),
        }
    }
}

impl Bundled {
    /// The data set.
    pub fn load(&self) -> Result<OwnedDataset> {
        let cells = Cells::of(self.text)?;
        let is_input = |name: &str| Some(name) != self.target && Some(name) != self.weights;
        let inputs: Vec<usize> =
            (0..cells.names.len()).filter(|&j| is_input(cells.names[j])).collect();
        let mut columns = Vec::with_capacity(inputs.len());
        let mut values = Vec::with_capacity(inputs.len());
        for &j in &inputs {
            let (column, codes) = typed(cells.names[j], &cells.columns[j], self.levels);
            columns.push(column);
            values.push(codes);
        }
        let rows = cells.columns.first().map_or(0, Vec::len);
        let matrix = Matrix::from_fn(rows, inputs.len(), |i, j| values[j][i]);
        let weights = self.weights.map(|name| cells.named(name)).transpose()?;
        Ok(OwnedDataset {
            x: Table::new(matrix, Schema::new(columns)?)?,
            y: self.target.map(|name| target(name, cells.named(name)?, self.task)).transpose()?,
            weights: weights.map(|cells| numbers(cells).unwrap_or_default()),
            ..OwnedDataset::default()
        })
    }
}

/// The cells as numbers, missing ones as NaN; `None` if one is text.
fn numbers(cells: &[&str]) -> Option<Vec<f64>> {
    let number = |cell: &&str| match cell.is_empty() {
        true => Some(f64::NAN),
        false => cell.parse().ok(),
    };
    cells.iter().map(number).collect()
}

/// A column with its values.
fn typed(name: &str, cells: &[&str], declared: Levels) -> (Column, Vec<f64>) {
    let known = declared.iter().find(|(column, _, _)| *column == name);
    if known.is_none()
        && let Some(values) = numbers(cells)
    {
        return (Column::numeric(name), values);
    }
    let (levels, ordered) = match known {
        Some((_, levels, ordered)) => (levels.to_vec(), *ordered),
        None => {
            let mut seen: Vec<&str> = cells.iter().copied().filter(|c| !c.is_empty()).collect();
            seen.sort_unstable();
            seen.dedup();
            (seen, false)
        }
    };
    let code = |cell: &&str| {
        levels.iter().position(|level| level == cell).map_or(f64::NAN, |code| code as f64)
    };
    let values = cells.iter().map(code).collect();
    let levels = Arc::new(levels.iter().map(ToString::to_string).collect());
    let kind = ColumnKind::Categorical { levels, ordered };
    (Column { name: name.to_string(), kind }, values)
}

/// The target as the task wants it: numbers, or classes whose labels are whole numbers if all are.
fn target(name: &str, cells: &[&str], task: Task) -> Result<OwnedTarget> {
    if task == Task::Regression {
        let values = numbers(cells).ok_or_else(|| {
            Error::new(Code::Parse, format!("column '{name}' holds text")).column(name)
        })?;
        return Ok(OwnedTarget::Real(Matrix::column_vector(values)));
    }
    let whole: Option<Vec<Label>> =
        cells.iter().map(|cell| cell.parse().ok().map(Label::Int)).collect();
    let labels = whole.unwrap_or_else(|| cells.iter().map(|&cell| Label::from(cell)).collect());
    Ok(OwnedTarget::from_labels(&labels))
}
