//! Tables of the reports.

use learnt_core::error::plain;
use learnt_core::prelude::*;

/// Priors and means of the classes, column by column.
pub(super) fn class_means(priors: &[f64], names: &Names, means: &Matrix) -> Columns {
    let shown: Vec<String> = (0..priors.len().min(8)).map(|k| plain(&names.class(k))).collect();
    let head: Vec<&str> = ["column"].into_iter().chain(shown.iter().map(String::as_str)).collect();
    let mut table = Columns::new("Means of the classes", &head);
    let line = |name: &str, value: &dyn Fn(usize) -> Cell| -> Vec<Cell> {
        [Cell::Text(name.to_string())].into_iter().chain((0..shown.len()).map(value)).collect()
    };
    table.push(line("(prior)", &|k| Cell::Probability(priors[k])));
    for (j, name) in names.columns.iter().enumerate().take(means.ncols()) {
        table.push(line(name, &|k| Cell::Number(means[(k, j)])));
    }
    table
}

/// ln det of the covariances.
pub(super) fn determinants(names: &Names, values: &[f64]) -> Columns {
    let mut table = Columns::new("Covariances", &["class", "ln det"]);
    for (k, &value) in values.iter().enumerate() {
        table.push(vec![Cell::Text(names.class(k)), Cell::Number(value)]);
    }
    table
}
