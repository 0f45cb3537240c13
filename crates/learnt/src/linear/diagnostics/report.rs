//! All diagnostics of a fit as one report.

use super::{Influence, breusch_pagan, durbin_watson, influence, jarque_bera, normal_pairs, reset};
use crate::charts::regression::{Fit, diagnostics};
use crate::linear::LinearRegressionModel;
use crate::linear::inference::Test;
use learnt_core::prelude::*;

/// Rows of the table of influence.
const SHOWN: usize = 10;
/// Highest power of the fitted values that RESET adds.
const POWER: usize = 3;

/// Tests of the four assumptions and the most influential rows, for each output; `data` are the rows
/// that the model was trained on. What cannot be told has its reason.
pub fn report(model: &LinearRegressionModel, data: &Dataset) -> Result<Answer> {
    let mut report = Answer::new("Diagnostics of the residuals");
    let outputs = model.coef.nrows();
    for output in 0..outputs {
        let suffix = if outputs > 1 { format!(" (output {})", output + 1) } else { String::new() };
        match influence(model, data, output) {
            Ok(rows) => add_output(model, data, output, &rows, &suffix, &mut report),
            Err(error) if error.code() == Code::TooFew => {
                report.notes.push(format!("{}{suffix}", error.message()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}

fn add_output(
    model: &LinearRegressionModel,
    data: &Dataset,
    output: usize,
    rows: &Influence,
    suffix: &str,
    report: &mut Answer,
) {
    let mut tests = Columns::new(
        &format!("Assumptions{suffix}"),
        &["assumption", "test", "statistic", "df", "p"],
    );
    let scaled: Vec<f64> =
        rows.residual.iter().enumerate().map(|(i, r)| data.weight(i).sqrt() * r).collect();
    tests.push(test_row("linear in the columns", "RESET", reset(model, data, output, POWER)));
    tests.push(test_row("equal variance", "Breusch-Pagan", breusch_pagan(model, data, output)));
    tests.push(watson_row(durbin_watson(&scaled)));
    tests.push(test_row("normal", "Jarque-Bera", jarque_bera(&scaled)));
    report.tables.push(tests);
    report.tables.push(influence_table(rows, suffix));
    let quantiles = normal_pairs(&rows.standardised);
    let mut chart = diagnostics(&Fit {
        fitted: &rows.fitted,
        residual: &rows.residual,
        standardised: &rows.standardised,
        quantiles: &quantiles,
        leverage: &rows.leverage,
        beside_leverage: &rows.standardised,
        cook: &rows.cook,
    });
    chart.title += suffix;
    report.charts.push(chart);
    report.push(format!("PRESS{suffix}"), rows.press);
    let straight = correlation(&quantiles);
    report.push_some(format!("correlation of the normal plot{suffix}"), straight);
    let largest = rows.cook.iter().copied().fold(0.0, f64::max);
    report.push(format!("largest Cook's distance{suffix}"), largest);
}

fn test_row(assumption: &str, name: &str, test: Result<Test>) -> Vec<Cell> {
    let mut cells = vec![assumption.into(), name.into()];
    match test {
        Ok(test) => {
            let df = match test.df_residual.is_finite() {
                true => format!("{}, {}", test.df, test.df_residual),
                false => test.df.to_string(),
            };
            let p = Cell::Probability(test.p);
            cells.extend([Cell::Number(test.statistic), Cell::Text(df), p]);
        }
        Err(why) => cells.extend((0..3).map(|_| Cell::Empty(why.message().to_string()))),
    }
    cells
}

fn watson_row(statistic: Result<f64>) -> Vec<Cell> {
    let cell = statistic.map_or_else(|why| Cell::Empty(why.message().into()), Cell::Number);
    let none = || Cell::Empty("its distribution depends on the inputs; 2 is no correlation".into());
    vec!["independent of the row before".into(), "Durbin-Watson".into(), cell, none(), none()]
}

/// The rows of the largest Cook's distances.
fn influence_table(rows: &Influence, suffix: &str) -> Columns {
    let head = ["row", "fitted", "residual", "leverage", "standardised", "studentised", "Cook"];
    let mut table = Columns::new(&format!("Most influential rows{suffix}"), &head);
    let mut order: Vec<usize> = (0..rows.cook.len()).collect();
    order.sort_by(|&a, &b| rows.cook[b].total_cmp(&rows.cook[a]).then(a.cmp(&b)));
    for &i in order.iter().take(SHOWN) {
        let numbers = [
            rows.fitted[i],
            rows.residual[i],
            rows.leverage[i],
            rows.standardised[i],
            rows.studentised[i],
            rows.cook[i],
        ];
        let mut cells = vec![Cell::Count(i as i64 + 1)];
        cells.extend(numbers.map(Cell::Number));
        table.push(cells);
    }
    table
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    crate::linear::simple_regression(&x, &y, None, false).ok()?.r
}
