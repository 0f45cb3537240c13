//! What a model of any kind pays attention to, by asking it about changed rows.
//!
//! - Permutation importance: how much the score falls when the values of one column are shuffled, so
//!   that they say nothing about the target any more. Near 0 means that the model does not need the column.
//! - Partial dependence: the mean prediction over the rows when one column has the same value in all.
//!
//! References: Breiman (2001), Machine Learning 45, 5-32; Friedman (2001), Annals of Statistics 29,
//! 1189-1232.

mod effects;
mod explain;
mod joint;

pub use effects::{Term, functional_anova, joint_dependence};
pub use explain::{Explanation, explain};
pub use joint::accumulated_effects;

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// How often columns are shuffled.
#[derive(Params, Clone, Debug)]
struct ImportanceArguments {
    /// Number of shuffles of each column.
    #[param(default = 5, range = 1..)]
    pub n_repeats: usize,
}

/// Which columns, and at how many values.
#[derive(Params, Clone, Debug)]
struct DependenceArguments {
    /// Names of the columns, each by itself.
    #[param(required)]
    pub columns: Vec<String>,
    /// Number of values of a quantity, at even quantiles of the rows.
    #[param(default = 20, range = 2..)]
    pub grid_resolution: usize,
}

/// Which number is explained.
#[derive(Params, Clone, Debug)]
struct ContributionArguments {
    /// Which class or target, from 0; with one score, the only one.
    pub output: usize,
}

/// Which columns together, at how many values, and which number.
#[derive(Params, Clone, Debug)]
struct EffectArguments {
    /// Names of the columns.
    #[param(required)]
    pub columns: Vec<String>,
    /// Number of values of a quantity, at even quantiles of the rows.
    #[param(default = 8, range = 2..)]
    pub grid_resolution: usize,
    /// Which class or target, from 0.
    pub output: usize,
}

/// Contributions of columns: the mean, and a row of numbers for each row.
pub(crate) type Contributions = (f64, Matrix);

/// The questions that models of trees answer about rows.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        name: "permutation_importance",
        doc: "Decrease of the score (accuracy or R²) when the values of a column are shuffled, for each column.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(ImportanceArguments::default()),
    },
    Question {
        name: "partial_dependence",
        doc: "Mean prediction over the rows when a column has the same value in all of them.",
        needs: Needs::Rows,
        arguments: || Box::new(DependenceArguments::default()),
    },
    Question {
        name: "contributions",
        doc: "What each column adds to the prediction of each row (exact Shapley values of the trees); with the mean they add up to the score, or to the probability for forests.",
        needs: Needs::Rows,
        arguments: || Box::new(ContributionArguments::default()),
    },
    Question {
        name: "tree_dependence",
        doc: "Mean score where a column has a value, by walking the trees: both branches of other columns, by their training weights.",
        needs: Needs::Rows,
        arguments: || Box::new(DependenceArguments::default()),
    },
    Question {
        name: "functional_anova",
        doc: "Main effects and interactions of one to three columns: the variance of each term of the partial dependence on a grid.",
        needs: Needs::Rows,
        arguments: || Box::new(EffectArguments::default()),
    },
    Question {
        name: "conditional",
        doc: "Predictions over one or two columns, the others fixed as in each row given: a panel a row.",
        needs: Needs::Rows,
        arguments: || Box::new(EffectArguments::default()),
    },
    Question {
        name: "joint_dependence",
        doc: "Mean prediction over the rows where two columns have given values in all of them.",
        needs: Needs::Rows,
        arguments: || Box::new(EffectArguments::default()),
    },
    Question {
        name: "individual_dependence",
        doc: "The prediction of each row as one column moves, and their mean.",
        needs: Needs::Rows,
        arguments: || Box::new(EffectArguments::default()),
    },
    Question {
        name: "accumulated_effects",
        doc: "Accumulated local effects: changes of the prediction within intervals of a column, added up.",
        needs: Needs::Rows,
        arguments: || Box::new(EffectArguments::default()),
    },
];

/// A model of trees that says what its columns contribute.
pub(crate) trait Attentive: Model {
    /// The contributions to an output.
    fn explain(&self, output: usize, x: &Frame, run: &Context) -> Result<Contributions>;
    /// The mean of each output where some columns are given, by walking the trees.
    fn walked(&self, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64>;
}

/// The answer of a model to one of [`QUESTIONS`].
pub(crate) fn answer<M: Attentive>(model: &M, asked: &Asked) -> Result<Answer> {
    let data = asked.data.ok_or_else(|| Error::internal("a question without its rows"))?;
    match asked.name {
        "permutation_importance" => {
            importance_answer(model, &data, asked.count("n_repeats")?, &asked.run)
        }
        "contributions" => {
            let (mean, found) = model.explain(asked.count("output")?, &data.x, &asked.run)?;
            Ok(contribution_answer(mean, &found, &data.x))
        }
        "tree_dependence" => effects::walked_answer(asked, &|given| model.walked(given)),
        "functional_anova" => effects::anova_answer(model, asked),
        "conditional" => effects::conditional_answer(model, asked),
        "joint_dependence" => joint::joint_answer(model, asked),
        "individual_dependence" => joint::individual_answer(model, asked),
        "accumulated_effects" => joint::accumulated_answer(model, asked),
        _ => {
            let columns = asked.words("columns")?;
            dependence_answer(model, &data.x, &columns, asked.count("grid_resolution")?, &asked.run)
        }
    }
}

/// Refuses an output that is not there.
pub(crate) fn check_output(output: usize, outputs: usize) -> Result<()> {
    match output < outputs {
        true => Ok(()),
        false => Err(Error::parameter("output", format!("below {outputs}"), output)),
    }
}

/// Accuracy of a classifier, R² of a regressor.
fn score(model: &dyn Model, data: &Dataset, x: &Frame, run: &Context) -> Result<f64> {
    let total: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
    if let Some(classifier) = model.as_classifier() {
        let (codes, _) = data.class_target()?;
        let found = classifier.classify_in(x, run)?;
        let right = (0..codes.len()).filter(|&i| found[i] == codes[i]).map(|i| data.weight(i));
        return Ok(right.sum::<f64>() / total);
    }
    let Some(regressor) = model.as_regressor() else {
        return Err(Error::unsupported("only classifiers and regressors have a score"));
    };
    let y = data.real_target()?;
    let found = regressor.predict_in(x, run)?;
    let mut sum = 0.0;
    for j in 0..y.ncols() {
        let weighted = |f: &dyn Fn(usize) -> f64| -> f64 {
            (0..y.nrows()).map(|i| data.weight(i) * f(i)).sum()
        };
        let mean = weighted(&|i| y.at(i, j)) / total;
        let spread = weighted(&|i| (y.at(i, j) - mean).powi(2));
        let error = weighted(&|i| (y.at(i, j) - found[(i, j)]).powi(2));
        if spread <= 0.0 {
            let message = "R² does not exist for a target that is the same in all rows";
            return Err(Error::new(Code::Undefined, message));
        }
        sum += 1.0 - error / spread;
    }
    Ok(sum / y.ncols() as f64)
}

/// The decrease of the score for each column and shuffle.
pub fn permutation_importance(
    model: &dyn Model,
    data: &Dataset,
    n_repeats: usize,
    run: &Context,
) -> Result<(f64, Matrix)> {
    let base = score(model, data, &data.x, run)?;
    let columns = data.x.ncols();
    let copies = run.threads().min(columns * n_repeats);
    run.claim_table(data.nrows().saturating_mul(copies), columns, "shuffled columns")?;
    let drops = run.try_par_map(columns * n_repeats, |task| {
        let (j, repeat) = (task / n_repeats, task % n_repeats);
        let mut table = data.x.to_table();
        let mut order: Vec<usize> = (0..data.nrows()).collect();
        sample::shuffle(&mut run.row_rng(j as u64, repeat as u64), &mut order);
        for (i, &from) in order.iter().enumerate() {
            table.values_mut()[(i, j)] = data.x.values().at(from, j);
        }
        Ok(base - score(model, data, &table.frame(), &run.with_threads(1))?)
    })?;
    Ok((base, Matrix::from_vec(columns, n_repeats, drops)?))
}

fn importance_answer(
    model: &dyn Model,
    data: &Dataset,
    n_repeats: usize,
    run: &Context,
) -> Result<Answer> {
    let (base, drops) = permutation_importance(model, data, n_repeats, run)?;
    let moments = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let square = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        (mean, square.sqrt())
    };
    let mut found: Vec<(usize, f64, f64)> = drops
        .rows()
        .enumerate()
        .map(|(j, row)| {
            let (mean, deviation) = moments(row);
            (j, mean, deviation)
        })
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut answer = Answer::new("Permutation importance");
    let name = if model.as_classifier().is_some() { "accuracy" } else { "R²" };
    let mut table =
        Columns::new("Importance", &["column", "decrease of the score", "standard deviation"]);
    for (j, mean, deviation) in found {
        let column = Cell::Text(plain(&data.x.schema().column(j).name));
        table.push(vec![column, Cell::Number(mean), Cell::Number(deviation)]);
    }
    answer.tables.push(table);
    answer.push(name, base);
    Ok(answer)
}

fn contribution_answer(mean: f64, found: &Matrix, x: &Frame) -> Answer {
    let mut answer = Answer::new("Contributions");
    let names: Vec<String> = x.schema().names().map(plain).collect();
    let mut heads: Vec<&str> = names.iter().map(String::as_str).collect();
    heads.push("sum with the mean");
    let mut table = Columns::new("Contributions", &heads);
    for row in found.rows() {
        let sum = mean + row.iter().sum::<f64>();
        table.push(row.iter().chain([&sum]).map(|&number| Cell::Number(number)).collect());
    }
    answer.tables.push(table);
    answer.push("mean", mean);
    answer
}

/// Levels of a category that are asked about.
const MOST_LEVELS: usize = 50;
/// Rows whose values are changed at a time.
const PART_ROWS: usize = 4096;
/// Numbers of such a part, so that a wide table needs no more room: 8 MB on each thread.
const PART_NUMBERS: usize = 1 << 20;

/// Rows that are asked about together.
fn part_rows(columns: usize) -> usize {
    (PART_NUMBERS / columns.max(1)).clamp(1, PART_ROWS)
}

/// Lends rows whose `columns` have these values, some at a time and in order, so that there is never a copy
/// of the table.
fn with_values(
    x: &Frame,
    columns: &[usize],
    values: &[f64],
    mut f: impl FnMut(&Frame) -> Result<()>,
) -> Result<()> {
    let rows = part_rows(x.ncols());
    for first in (0..x.nrows()).step_by(rows) {
        let part = x.rows(first, (first + rows).min(x.nrows()));
        let mut changed = part.values().to_matrix();
        for (&column, &value) in columns.iter().zip(values) {
            (0..changed.nrows()).for_each(|i| changed[(i, column)] = value);
        }
        f(&Frame::new(changed.view(), x.schema())?)?;
    }
    Ok(())
}

/// Values of a column to ask about: levels, the most frequent if there are many, or distinct values at even
/// quantiles.
fn grid(x: &Frame, column: usize, count: usize) -> Vec<f64> {
    if let Some(levels) = x.schema().column(column).levels() {
        let mut counts = vec![0_usize; levels.len()];
        for i in 0..x.nrows() {
            let value = x.values().at(i, column);
            counts
                .get_mut(value as usize)
                .filter(|_| value >= 0.0)
                .into_iter()
                .for_each(|n| *n += 1);
        }
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
        order.truncate(MOST_LEVELS);
        order.sort_unstable();
        return order.into_iter().map(|level| level as f64).collect();
    }
    let mut values: Vec<f64> = x.values().column(column);
    values.retain(|value| !value.is_nan());
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        return Vec::new();
    }
    let place = |k: usize| values[k * (values.len() - 1) / (count - 1)];
    let mut grid: Vec<f64> = (0..count).map(place).collect();
    grid.dedup();
    grid
}

/// The mean prediction, or mean probability of each class, at each value of a column.
pub fn partial_dependence(
    model: &dyn Model,
    x: &Frame,
    column: usize,
    values: &[f64],
    run: &Context,
) -> Result<Matrix> {
    let inner = run.with_threads(1);
    let rows = run.try_par_map(values.len(), |k| {
        let mut sums: Vec<f64> = Vec::new();
        with_values(x, &[column], &[values[k]], |part| {
            let found = match (model.as_classifier(), model.as_regressor()) {
                (Some(classifier), _) => classifier.probabilities_in(part, &inner)?,
                (_, Some(regressor)) => regressor.predict_in(part, &inner)?,
                _ => return Err(Error::unsupported("only predictions have a dependence")),
            };
            sums.resize(found.ncols(), 0.0);
            found.rows().for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v));
            run.checkpoint()
        })?;
        Ok(sums.into_iter().map(|sum| sum / x.nrows() as f64).collect::<Vec<f64>>())
    })?;
    Matrix::from_rows(&rows)
}

/// The value of a column in words.
fn value_cell(x: &Frame, column: usize, value: f64) -> Cell {
    let levels = x.schema().column(column).levels();
    match levels.and_then(|levels| levels.get(value as usize)) {
        Some(level) => Cell::Text(plain(level)),
        None => Cell::Number(value),
    }
}

/// The picture of a dependence, with a series for each output: lines over a quantity, bars over the levels of
/// a category, a panel for each class. Of two classes the second is drawn.
fn dependence_chart(
    title: &str,
    text: &str,
    (x, column): (&Frame, usize),
    values: &[f64],
    series: &[(String, Vec<f64>)],
) -> Chart {
    let named = x.schema().column(column);
    let name = plain(&named.name);
    let chart = Chart::new(title, text);
    let Some(levels) = named.levels() else {
        let axis = if series.len() == 1 { series[0].0.as_str() } else { "mean prediction" };
        let mut panel = Panel::new(name, axis);
        for (label, means) in series {
            panel = panel.mark(Mark::line(label, values.to_vec(), means.clone()));
        }
        return chart.panel(panel);
    };
    let names: Vec<String> = values.iter().map(|&value| plain(&levels[value as usize])).collect();
    let shown = if series.len() == 2 { &series[1..] } else { series };
    let mut chart = shown.iter().fold(chart, |chart, (label, means)| {
        let panel = explain::bar_panel(label, names.clone(), means.clone());
        chart.panel(panel.title(name.clone()))
    });
    if levels.len() > values.len() {
        chart =
            chart.note(format!("the {} most frequent of {} levels", values.len(), levels.len()));
    }
    chart
}

fn dependence_answer(
    model: &dyn Model,
    x: &Frame,
    columns: &[String],
    count: usize,
    run: &Context,
) -> Result<Answer> {
    let mut answer = Answer::new("Partial dependence");
    for name in columns {
        let column = x.schema().find(name)?;
        let values = grid(x, column, count);
        if values.is_empty() {
            let message = format!("column '{}' has no value in these rows", plain(name));
            return Err(Error::new(Code::Undefined, message));
        }
        let found = partial_dependence(model, x, column, &values, run)?;
        let head: Vec<String> = match found.ncols() {
            1 => vec!["mean prediction".to_string()],
            many => (0..many).map(|k| format!("class {k}")).collect(),
        };
        let mut heads: Vec<&str> = vec!["value"];
        heads.extend(head.iter().map(String::as_str));
        let mut table = Columns::new(&plain(name), &heads);
        for (k, &value) in values.iter().enumerate() {
            let means = found.row(k).iter().map(|&mean| Cell::Number(mean));
            table.push(std::iter::once(value_cell(x, column, value)).chain(means).collect());
        }
        answer.tables.push(table);
        let text = "Mean prediction when the column has one value in all rows.";
        let series: Vec<(String, Vec<f64>)> =
            head.into_iter().enumerate().map(|(k, label)| (label, found.column(k))).collect();
        let place = (x, column);
        answer.charts.push(dependence_chart("Partial dependence", text, place, &values, &series));
    }
    Ok(answer)
}
