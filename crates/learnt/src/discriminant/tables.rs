//! Tables of the reports.

use learnt_core::error::plain;
use learnt_core::prelude::*;

/// Priors and means of the classes, column by column.
pub(super) fn class_means(
    classes: &[String],
    priors: &[f64],
    names: &[String],
    means: &Matrix,
) -> Columns {
    let shown: Vec<String> = classes.iter().take(8).map(|class| plain(class)).collect();
    let head: Vec<&str> = ["column"].into_iter().chain(shown.iter().map(String::as_str)).collect();
    let mut table = Columns::new("Means of the classes", &head);
    let line = |name: &str, value: &dyn Fn(usize) -> Cell| -> Vec<Cell> {
        [Cell::Text(name.to_string())].into_iter().chain((0..shown.len()).map(value)).collect()
    };
    table.push(line("(prior)", &|k| Cell::Probability(priors[k])));
    for (j, name) in names.iter().enumerate() {
        table.push(line(name, &|k| Cell::Number(means[(k, j)])));
    }
    table
}

/// ln det of the covariances.
pub(super) fn determinants(classes: &[String], values: &[f64]) -> Columns {
    let mut table = Columns::new("Covariances", &["class", "ln det"]);
    for (class, &value) in classes.iter().zip(values) {
        table.push(vec![class.as_str().into(), Cell::Number(value)]);
    }
    table
}
