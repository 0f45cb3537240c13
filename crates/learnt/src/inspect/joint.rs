//! Dependence beyond means of one column: two columns together, curves of single rows, local effects.
//!
//! - Joint dependence: the mean prediction over the rows where two columns have given values.
//! - Individual curves: the prediction of each row as one column moves; their mean is the partial dependence.
//! - Accumulated local effects: within each interval between quantiles of a column, the mean over its rows of
//!   f(upper end) - f(lower end), added up and centred to mean zero over the rows. Only values that occur
//!   together are asked about, so columns may be dependent.
//!
//! References: Friedman (2001); Goldstein, Kapelner, Bleich and Pitkin (2015), Journal of Computational and
//! Graphical Statistics 24, 44-65; Apley and Zhu (2020), Journal of the Royal Statistical Society B 82, 1059-1086.

use super::effects::{chosen, grids, joint_dependence, said};
use super::{part_rows, value_cell, with_values};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// Curves of single rows in a picture and a table.
const MOST_CURVES: usize = 50;

/// The answer to `joint_dependence`.
pub(super) fn joint_answer(model: &dyn Model, asked: &Asked) -> Result<Answer> {
    let x = asked.rows()?.x;
    let columns = chosen(&x, &asked.words("columns")?, 2)?;
    let [first, second] = columns[..] else {
        return Err(Error::parameter("columns", "two different columns", columns.len()));
    };
    let grids = grids(&x, &columns, asked.count("grid_resolution")?)?;
    let values =
        joint_dependence(model, &x, (&columns, &grids), asked.count("output")?, &asked.run)?;
    let names = [first, second].map(|column| plain(&x.schema().column(column).name));
    let mut table = Columns::new("Joint dependence", &[&names[0], &names[1], "mean prediction"]);
    let (mut across, mut up) = (Vec::new(), Vec::new());
    for (point, &mean) in values.iter().enumerate() {
        let (a, b) = (grids[0][point / grids[1].len()], grids[1][point % grids[1].len()]);
        let cells = [value_cell(&x, first, a), value_cell(&x, second, b), Cell::Number(mean)];
        table.push(cells.into());
        across.push((point / grids[1].len()) as f64);
        up.push((point % grids[1].len()) as f64);
    }
    let labels = |k: usize| -> Vec<String> {
        let levels = x.schema().column(columns[k]).levels();
        let label = |&value: &f64| match levels {
            Some(levels) => plain(&levels[value as usize]),
            None => learnt_core::answer::number(value),
        };
        grids[k].iter().map(label).collect()
    };
    let panel = Panel::new(names[0].clone(), names[1].clone())
        .categories_x(labels(0))
        .categories_y(labels(1))
        .mark(Mark::cells("mean prediction", across, up, values));
    let mut answer = Answer::new("Joint dependence");
    answer.tables.push(table);
    let text = "Mean prediction where both columns have one value in all rows.";
    answer.charts.push(Chart::new("Joint dependence", text).panel(panel));
    Ok(answer)
}

/// The answer to `individual_dependence`.
pub(super) fn individual_answer(model: &dyn Model, asked: &Asked) -> Result<Answer> {
    let x = asked.rows()?.x;
    let columns = chosen(&x, &asked.words("columns")?, 1)?;
    let column = columns[0];
    let grid = grids(&x, &columns, asked.count("grid_resolution")?)?.remove(0);
    let output = asked.count("output")?;
    let inner = asked.run.with_threads(1);
    // The mean of all rows, and what the first say.
    let curves = asked.run.try_par_map(grid.len(), |k| {
        let (mut sum, mut first) = (0.0, Vec::new());
        with_values(&x, &columns, &[grid[k]], |part| {
            let found = said(model, output, part, &inner)?;
            found.iter().for_each(|value| sum += value);
            first.extend(found.into_iter().take(MOST_CURVES - first.len()));
            asked.run.checkpoint()
        })?;
        Ok((sum / x.nrows() as f64, first))
    })?;
    let name = plain(&x.schema().column(column).name);
    let mean: Vec<f64> = curves.iter().map(|(mean, _)| *mean).collect();
    let mut panel = Panel::new(name.clone(), "prediction");
    let table = Columns::titled("Curves of single rows");
    let (mut table, places) = match x.schema().column(column).levels() {
        None => (table.reals(name, grid.clone()), grid),
        Some(levels) => {
            let names: Vec<String> = grid.iter().map(|&v| plain(&levels[v as usize])).collect();
            panel = panel.categories_x(names.clone());
            (table.texts(name, names), (0..grid.len()).map(|k| k as f64).collect())
        }
    };
    table = table.reals("mean", mean.clone());
    for row in 0..x.nrows().min(MOST_CURVES) {
        let line: Vec<f64> = curves.iter().map(|(_, first)| first[row]).collect();
        table = table.reals(format!("row {}", row + 1), line.clone());
        panel = panel.mark(Mark::line("single rows", places.clone(), line).muted());
    }
    panel = panel.mark(Mark::line("mean", places, mean).weight(2.0));
    let mut answer = Answer::new("Individual dependence");
    answer.tables.push(table);
    let text = "The prediction of each row as the column moves, and their mean.";
    answer.charts.push(Chart::new("Individual dependence", text).panel(panel));
    if x.nrows() > MOST_CURVES {
        answer.notes.push(format!("curves of the first {MOST_CURVES} rows; the mean is of all"));
    }
    Ok(answer)
}

/// Ends of intervals and the centred effect at each of them.
pub fn accumulated_effects(
    model: &dyn Model,
    x: &Frame,
    column: usize,
    edges: &[f64],
    output: usize,
    run: &Context,
) -> Result<Vec<f64>> {
    let known: Vec<usize> =
        (0..x.nrows()).filter(|&i| !x.values().at(i, column).is_nan()).collect();
    // The interval of a row: (edge k - 1, edge k], the first closed below.
    let interval = |&i: &usize| {
        let value = x.values().at(i, column);
        edges.partition_point(|&edge| edge < value).clamp(1, edges.len() - 1)
    };
    let places: Vec<usize> = known.iter().map(interval).collect();
    let at = |end: usize| -> Result<Vec<f64>> {
        let mut found = Vec::with_capacity(known.len());
        let part = part_rows(x.ncols());
        for (rows, places) in known.chunks(part).zip(places.chunks(part)) {
            run.checkpoint()?;
            let mut table = x.gather(rows);
            for (i, &place) in places.iter().enumerate() {
                table.values_mut()[(i, column)] = edges[place - 1 + end];
            }
            found.extend(said(model, output, &table.frame(), run)?);
        }
        Ok(found)
    };
    let (low, high) = (at(0)?, at(1)?);
    let (mut sums, mut counts) = (vec![0.0; edges.len()], vec![0.0; edges.len()]);
    for (i, &place) in places.iter().enumerate() {
        sums[place] += high[i] - low[i];
        counts[place] += 1.0;
    }
    let mut effects = vec![0.0; edges.len()];
    for k in 1..edges.len() {
        let step = if counts[k] > 0.0 { sums[k] / counts[k] } else { 0.0 };
        effects[k] = effects[k - 1] + step;
    }
    let middles = (1..edges.len()).map(|k| counts[k] * 0.5 * (effects[k - 1] + effects[k]));
    let centre = middles.sum::<f64>() / known.len().max(1) as f64;
    effects.iter_mut().for_each(|effect| *effect -= centre);
    Ok(effects)
}

/// The answer to `accumulated_effects`.
pub(super) fn accumulated_answer(model: &dyn Model, asked: &Asked) -> Result<Answer> {
    let x = asked.rows()?.x;
    let mut answer = Answer::new("Accumulated local effects");
    for name in asked.words("columns")? {
        let columns = chosen(&x, std::slice::from_ref(&name), 1)?;
        if x.schema().column(columns[0]).levels().is_some() {
            let message = format!("column '{}' has levels without an order", plain(&name));
            return Err(Error::unsupported(message).hint("ask for partial_dependence instead"));
        }
        let edges = grids(&x, &columns, asked.count("grid_resolution")?)?.remove(0);
        if edges.len() < 2 {
            let message = format!("column '{}' has one value in these rows", plain(&name));
            return Err(Error::new(Code::Undefined, message));
        }
        let output = asked.count("output")?;
        let effects = accumulated_effects(model, &x, columns[0], &edges, output, &asked.run)?;
        let table = Columns::titled(plain(&name))
            .reals("value", edges.clone())
            .reals("effect", effects.clone());
        answer.tables.push(table);
        let panel = Panel::new(plain(&name), "effect on the prediction")
            .mark(Mark::line("effect", edges, effects).unnamed());
        let text = "Local changes of the prediction, added up, about their mean.";
        answer.charts.push(Chart::new("Accumulated local effects", text).panel(panel));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    #[test]
    fn a_line_has_the_effect_of_its_slope_also_where_columns_go_together() {
        let x = Matrix::from_fn(60, 2, |i, j| match j {
            0 => i as f64 / 6.0,
            _ => i as f64 / 6.0 + ((i * 7) % 5) as f64 / 10.0,
        });
        let y = (0..60).map(|i| 3.0 * x[(i, 0)] - 2.0 * x[(i, 1)]).collect();
        let data = OwnedDataset::regression(x, y);
        let model = LinearRegression::default().fit(&data.view()).unwrap();
        let edges = [0.0, 2.0, 5.0, 59.0 / 6.0];
        let run = Context::default();
        let found = accumulated_effects(&model, &data.x.frame(), 0, &edges, 0, &run).unwrap();
        for k in 1..4 {
            let slope = (found[k] - found[k - 1]) / (edges[k] - edges[k - 1]);
            assert!((slope - 3.0).abs() < 1e-6, "{slope}");
        }
    }
}
