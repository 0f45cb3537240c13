//! A model explained on rows: which columns matter, how the prediction moves with them, and what each adds
//! to the prediction of single rows.
//!
//! Importance is that of shuffled columns where the rows have a target, else the mean size of what a column
//! contributes. Dependence and contributions are those of the columns that matter most, unless columns are
//! named. Contributions are exact Shapley values of trees; models without them have the first two parts.

use super::{dependence_answer, permutation_importance};
use learnt_core::answer::number;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::prelude::*;
use learnt_core::trained::Trained;

/// Columns of a picture.
const SHOWN: usize = 20;
/// Rows that rank columns where there is no target.
const RANKED_ROWS: usize = 1000;
/// Columns of a row's contributions.
const SHOWN_IN_ROW: usize = 8;

/// What is explained.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Columns whose dependence is shown; the `most` that matter if none are named.
    pub columns: Vec<String>,
    /// How many columns if none are named.
    pub most: usize,
    /// Rows whose contributions are shown, from 0.
    pub rows: Vec<usize>,
    /// Number of shuffles of each column.
    pub n_repeats: usize,
    /// Number of values of a quantity.
    pub grid_resolution: usize,
    /// Which class or target contributions explain, from 0.
    pub output: usize,
}

impl Default for Explanation {
    /// Three columns, five rows, five shuffles, twenty values, the first output.
    fn default() -> Self {
        Explanation {
            columns: Vec::new(),
            most: 3,
            rows: (0..5).collect(),
            n_repeats: 5,
            grid_resolution: 20,
            output: 0,
        }
    }
}

/// Columns with a number each, the largest first.
struct Ranking {
    head: &'static str,
    order: Vec<usize>,
    numbers: Vec<f64>,
    deviations: Option<Vec<f64>>,
    score: Option<(&'static str, f64)>,
}

/// Explains a model on rows, with a target or without.
pub fn explain(
    trained: &Trained,
    data: &Dataset,
    how: &Explanation,
    run: &Context,
) -> Result<Answer> {
    let rows = trained.admit(&data.x, None, None, run)?;
    let held = rows.frame();
    if held.nrows() != data.nrows() {
        let message = "some rows have missing values that the model cannot take";
        return Err(Error::new(Code::Missing, message).hint("leave them out or fill them first"));
    }
    let model = trained.model.as_ref();
    let data = Dataset { x: held, ..*data };
    let ranking = match data.y {
        Some(_) => by_shuffling(model, &data, how.n_repeats, run)?,
        None => {
            let some: Vec<usize> = (0..data.nrows().min(RANKED_ROWS)).collect();
            match contributions(trained, &data, &some, how.output, run)? {
                Some((_, found)) => by_size(&found),
                None => {
                    let message =
                        "the rows have no target, and this model has no contributions of columns";
                    return Err(Error::new(Code::Target, message).hint("add the target's column"));
                }
            }
        }
    };
    let mut answer = Answer::new("Explanation");
    answer.push("model", trained.about.name().to_string());
    answer.push("rows", data.nrows());
    if let Some((name, score)) = ranking.score {
        answer.push(name, score);
    }
    let schema = data.x.schema();
    answer.tables.push(ranking.table(schema));
    answer.charts.push(ranking.chart(schema));
    let columns: Vec<String> = match how.columns.is_empty() {
        true => {
            let best = ranking.order.iter().take(how.most);
            best.map(|&j| schema.column(j).name.clone()).collect()
        }
        false => how.columns.clone(),
    };
    let dependence = dependence_answer(model, &data.x, &columns, how.grid_resolution, run)?;
    let (tables, charts) = with_class_names(dependence, &trained.history.classes);
    answer.tables.extend(tables);
    answer.charts.extend(charts);
    let asked: Vec<usize> = how.rows.iter().copied().filter(|&row| row < data.nrows()).collect();
    if asked.is_empty() && !how.rows.is_empty() {
        let expected = format!("numbers from 1 to {}", data.nrows());
        let given: Vec<String> = how.rows.iter().map(|row| (row + 1).to_string()).collect();
        return Err(Error::parameter("rows", expected, given.join(", ")));
    }
    match contributions(trained, &data, &asked, how.output, run)? {
        Some((mean, found)) => rows_explained(&mut answer, mean, &found, &data.x, &asked),
        None => answer.notes.push("contributions to single rows need a model of trees".into()),
    }
    Ok(answer)
}

/// Tables and pictures that call classes by their names, not their numbers.
fn with_class_names(mut answer: Answer, classes: &[Label]) -> (Vec<Columns>, Vec<Chart>) {
    let name = |text: &str| {
        let place = text.strip_prefix("class ").and_then(|number| number.parse::<usize>().ok());
        place.and_then(|k| classes.get(k)).map(|class| plain(&class.to_string()))
    };
    for column in answer.tables.iter_mut().flat_map(|table| &mut table.columns) {
        column.name = name(&column.name).unwrap_or_else(|| column.name.clone());
    }
    for panel in answer.charts.iter_mut().flat_map(|chart| &mut chart.panels) {
        panel.x.label = name(&panel.x.label).unwrap_or_else(|| panel.x.label.clone());
        for mark in &mut panel.marks {
            mark.series = name(&mark.series).unwrap_or_else(|| mark.series.clone());
        }
    }
    (answer.tables, answer.charts)
}

/// The contributions of some rows, if the model has them.
fn contributions(
    trained: &Trained,
    data: &Dataset,
    rows: &[usize],
    output: usize,
    run: &Context,
) -> Result<Option<(f64, Matrix)>> {
    let questions = trained.model.questions();
    let Some(question) = questions.iter().find(|q| q.name == "contributions") else {
        return Ok(None);
    };
    let given = [("output".to_string(), Value::Int(output as i64))];
    let table = data.x.gather(rows);
    let data = Dataset::new(table.frame());
    let answer = trained.model.answer(&question.ask(&given, Some(data), *run)?)?;
    let mean = match answer.value("mean") {
        Some(Datum::Real(mean)) => *mean,
        _ => return Err(Error::internal("contributions without their mean")),
    };
    let mut columns = Vec::with_capacity(data.x.ncols());
    for column in answer.tables[0].columns.iter().take(data.x.ncols()) {
        columns.push(column.reals().ok_or_else(|| Error::internal("contributions in words"))?);
    }
    Ok(Some((mean, Matrix::from_fn(data.nrows(), columns.len(), |i, j| columns[j][i]))))
}

fn by_shuffling(
    model: &dyn Model,
    data: &Dataset,
    n_repeats: usize,
    run: &Context,
) -> Result<Ranking> {
    let (base, drops) = permutation_importance(model, data, n_repeats, run)?;
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let numbers: Vec<f64> = drops.rows().map(mean).collect();
    let spread = |row: &[f64]| {
        let centre = mean(row);
        (row.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / row.len() as f64).sqrt()
    };
    let name = if model.as_classifier().is_some() { "accuracy" } else { "R²" };
    Ok(Ranking {
        head: "decrease of the score",
        order: falling(&numbers),
        deviations: Some(drops.rows().map(spread).collect()),
        numbers,
        score: Some((name, base)),
    })
}

fn by_size(found: &Matrix) -> Ranking {
    let size = |j: usize| {
        found.column(j).iter().map(|x| x.abs()).sum::<f64>() / found.nrows().max(1) as f64
    };
    let numbers: Vec<f64> = (0..found.ncols()).map(size).collect();
    Ranking {
        head: "mean size of its contribution",
        order: falling(&numbers),
        numbers,
        deviations: None,
        score: None,
    }
}

fn falling(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[b].total_cmp(&numbers[a]).then(a.cmp(&b)));
    order
}

impl Ranking {
    fn table(&self, schema: &Schema) -> Columns {
        let mut heads = vec!["column", self.head];
        heads.extend(self.deviations.is_some().then_some("standard deviation"));
        let mut table = Columns::new("Importance", &heads);
        for &j in &self.order {
            let mut cells =
                vec![Cell::Text(plain(&schema.column(j).name)), Cell::Number(self.numbers[j])];
            cells.extend(self.deviations.iter().map(|all| Cell::Number(all[j])));
            table.push(cells);
        }
        table
    }

    fn chart(&self, schema: &Schema) -> Chart {
        let shown: Vec<usize> = self.order.iter().take(SHOWN).copied().collect();
        let names = shown.iter().map(|&j| plain(&schema.column(j).name)).collect();
        let numbers = shown.iter().map(|&j| self.numbers[j]).collect();
        Chart::new("Importance", "Which columns the model needs.")
            .panel(bar_panel(self.head, names, numbers))
    }
}

/// Bars to the right, the first name at the top.
pub(super) fn bar_panel(axis: &str, names: Vec<String>, numbers: Vec<f64>) -> Panel {
    let places = (0..names.len()).map(|k| k as f64).collect();
    let height = 60.0 + 22.0 * names.len() as f64;
    Panel::new(axis, "")
        .size(560.0, height)
        .categories_y(names)
        .mark(Mark::bars("size", numbers, places).unnamed())
}

/// The value of a cell in words.
fn shown_value(x: &Frame, i: usize, j: usize) -> String {
    let value = x.values().at(i, j);
    let levels = x.schema().column(j).levels();
    match levels.and_then(|levels| levels.get(value as usize)) {
        _ if value.is_nan() => "missing".to_string(),
        Some(level) => plain(level),
        None => number(value),
    }
}

/// A table and a panel a row of what its columns add.
fn rows_explained(answer: &mut Answer, mean: f64, found: &Matrix, x: &Frame, rows: &[usize]) {
    let heads = ["row", "column", "value", "adds", "sum so far"];
    let mut table = Columns::new("Contributions", &heads);
    let text = "What each column adds to the mean prediction, the largest first.";
    let mut chart = Chart::new("Contributions to single rows", text);
    for (place, &row) in rows.iter().enumerate() {
        let sizes: Vec<f64> = found.row(place).iter().map(|x| x.abs()).collect();
        let order = falling(&sizes);
        let mut sum = mean;
        let (mut names, mut numbers) = (Vec::new(), Vec::new());
        for &j in order.iter().take(SHOWN_IN_ROW) {
            let adds = found[(place, j)];
            sum += adds;
            let name = plain(&x.schema().column(j).name);
            table.push(vec![
                Cell::Count(row as i64 + 1),
                Cell::Text(name.clone()),
                Cell::Text(shown_value(x, row, j)),
                Cell::Number(adds),
                Cell::Number(sum),
            ]);
            names.push(format!("{name} = {}", shown_value(x, row, j)));
            numbers.push(adds);
        }
        let rest: f64 = order.iter().skip(SHOWN_IN_ROW).map(|&j| found[(place, j)]).sum();
        if order.len() > SHOWN_IN_ROW {
            sum += rest;
            table.push(vec![
                Cell::Count(row as i64 + 1),
                Cell::Text(format!("{} others", order.len() - SHOWN_IN_ROW)),
                Cell::Text(String::new()),
                Cell::Number(rest),
                Cell::Number(sum),
            ]);
            names.push(format!("{} others", order.len() - SHOWN_IN_ROW));
            numbers.push(rest);
        }
        let title =
            format!("row {}: {} and its columns give {}", row + 1, number(mean), number(sum));
        chart = chart.panel(bar_panel("adds", names, numbers).title(title));
    }
    answer.push("mean prediction", mean);
    answer.tables.push(table);
    answer.charts.push(chart);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(learner: &str) -> (Trained, OwnedDataset) {
        let data = crate::datasets::load("cpu").unwrap();
        let spec =
            learnt_core::params::LearnerSpec { learner: learner.to_string(), params: Vec::new() };
        let learner = crate::build(&spec).unwrap();
        (Trained::fit(learner.as_ref(), &data.view(), &[], &Context::default()).unwrap(), data)
    }

    #[test]
    fn rows_add_up_to_their_predictions_and_the_best_columns_are_drawn() {
        let (trained, data) = fitted("ensemble.GradientBoostingRegressor");
        let run = Context::default();
        let how = Explanation { rows: vec![0, 7], ..Explanation::default() };
        let answer = explain(&trained, &data.view(), &how, &run).unwrap();
        let model = trained.model.as_regressor().unwrap();
        let predicted = model.predict_in(&data.x.frame(), &run).unwrap();
        let column = |name: &str| {
            let table = answer.tables.last().unwrap();
            table.columns.iter().find(|c| c.name == name).unwrap().reals().unwrap()
        };
        let (rows, sums) = (column("row"), column("sum so far"));
        for row in [1.0, 8.0] {
            let last = rows.iter().rposition(|r| *r == row).unwrap();
            assert!((sums[last] - predicted[(row as usize - 1, 0)]).abs() < 1e-6);
        }
        // Importance, three dependences and contributions, each with its picture.
        assert_eq!((answer.tables.len(), answer.charts.len()), (5, 5));
        let bare = OwnedDataset { y: None, ..data };
        let without = explain(&trained, &bare.view(), &how, &run).unwrap();
        assert_eq!(without.tables[0].columns[1].name, "mean size of its contribution");
    }

    #[test]
    fn models_without_trees_have_no_contributions_and_say_so() {
        let (trained, data) = fitted("linear_model.LinearRegression");
        let answer =
            explain(&trained, &data.view(), &Explanation::default(), &Context::default()).unwrap();
        assert!(answer.notes[0].contains("model of trees"));
        let bare = OwnedDataset { y: None, ..data };
        let refused = explain(&trained, &bare.view(), &Explanation::default(), &Context::default());
        assert!(refused.unwrap_err().to_string().contains("target"));
    }
}
