//! Effects of several columns together: functional ANOVA, conditional panels, dependence by trees.
//!
//! - Functional ANOVA: with F the partial dependence on some columns over the product of their grids, the
//!   term of a set S is f_S = Σ_{T ⊆ S} (-1)^{|S| - |T|} mean of F over the columns outside T. Terms have
//!   mean zero and add up to F; their variances say how strong each is. A sum of functions of single
//!   columns has no terms of two.
//! - Conditional panels: the prediction over one or two columns, the others as in each row given.
//! - Dependence by trees: both branches of what is not given, by their training weights.
//!
//! References: Hoeffding (1948); Friedman (2001); Friedman and Popescu (2008), Annals of Applied Statistics
//! 2, 916-954.

use super::{dependence_chart, grid, value_cell, with_values};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// A product of grids may have this many points.
const MOST_POINTS: usize = 20_000;
/// Rows that get a panel.
const MOST_PANELS: usize = 12;
/// Values of a second column in a panel.
const SERIES: usize = 5;

/// What a model says about rows, one number each.
pub(super) fn said(model: &dyn Model, output: usize, x: &Frame, run: &Context) -> Result<Vec<f64>> {
    let found = match (model.as_classifier(), model.as_regressor()) {
        (Some(classifier), _) => classifier.probabilities_in(x, run)?,
        (_, Some(regressor)) => regressor.predict_in(x, run)?,
        _ => return Err(Error::unsupported("only predictions have effects")),
    };
    super::check_output(output, found.ncols())?;
    Ok(found.column(output))
}

/// Columns by name, between one and `most` of them, no two the same.
pub(super) fn chosen(x: &Frame, names: &[String], most: usize) -> Result<Vec<usize>> {
    let columns: Vec<usize> =
        names.iter().map(|name| x.schema().find(name)).collect::<Result<_>>()?;
    let twice = (1..columns.len()).any(|k| columns[..k].contains(&columns[k]));
    match (1..=most).contains(&columns.len()) && !twice {
        true => Ok(columns),
        false => {
            let expected = format!("one to {most} different columns");
            Err(Error::parameter("columns", expected, names.join(", ")))
        }
    }
}

pub(super) fn grids(x: &Frame, columns: &[usize], count: usize) -> Result<Vec<Vec<f64>>> {
    let one = |&column: &usize| {
        let values = grid(x, column, count);
        match values.is_empty() {
            false => Ok(values),
            true => {
                let name = plain(&x.schema().column(column).name);
                let message = format!("column '{name}' has no value in these rows");
                Err(Error::new(Code::Undefined, message))
            }
        }
    };
    columns.iter().map(one).collect()
}

/// The places of a point in a product of grids; the last runs fastest.
fn places(mut point: usize, sizes: &[usize]) -> Vec<usize> {
    let mut places = vec![0; sizes.len()];
    for (place, size) in places.iter_mut().zip(sizes).rev() {
        *place = point % size;
        point /= size;
    }
    places
}

/// Partial dependence over the product of some grids.
pub fn joint_dependence(
    model: &dyn Model,
    x: &Frame,
    (columns, grids): (&[usize], &[Vec<f64>]),
    output: usize,
    run: &Context,
) -> Result<Vec<f64>> {
    let sizes: Vec<usize> = grids.iter().map(Vec::len).collect();
    let points = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    let points = points.filter(|&points| points <= MOST_POINTS).ok_or_else(|| {
        let message = format!("the grids have more than {MOST_POINTS} points together");
        Error::new(Code::Parameter, message).hint("lower grid_resolution")
    })?;
    let inner = run.with_threads(1);
    run.try_par_map(points, |point| {
        let at: Vec<f64> =
            grids.iter().zip(places(point, &sizes)).map(|(grid, place)| grid[place]).collect();
        let mut sum = 0.0;
        with_values(x, columns, &at, |part| {
            said(model, output, part, &inner)?.iter().for_each(|value| sum += value);
            run.checkpoint()
        })?;
        Ok(sum / x.nrows() as f64)
    })
}

/// A term of the decomposition: which columns, its variance, and that of the joint effect of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Places of the columns.
    pub columns: Vec<usize>,
    /// Mean square of the term.
    pub variance: f64,
    /// Mean square of the dependence on these columns about its mean.
    pub joint: f64,
}

/// The functional ANOVA of values on a product of grids of these sizes.
pub fn functional_anova(values: &[f64], sizes: &[usize]) -> Vec<Term> {
    let sets = 1_usize << sizes.len();
    let inside = |set: usize, j: usize| set >> j & 1 == 1;
    let index = |set: usize, at: &[usize]| {
        (0..sizes.len()).filter(|&j| inside(set, j)).fold(0, |index, j| index * sizes[j] + at[j])
    };
    let all: Vec<Vec<usize>> = (0..values.len()).map(|point| places(point, sizes)).collect();
    let means: Vec<Vec<f64>> = (0..sets)
        .map(|set| {
            let length: usize =
                (0..sizes.len()).filter(|&j| inside(set, j)).map(|j| sizes[j]).product();
            let mut sums = vec![0.0; length];
            for (at, value) in all.iter().zip(values) {
                sums[index(set, at)] += value * length as f64 / values.len() as f64;
            }
            sums
        })
        .collect();
    let mean_square = |f: &dyn Fn(&[usize]) -> f64| {
        all.iter().map(|at| f(at).powi(2)).sum::<f64>() / values.len() as f64
    };
    let term = |set: usize| {
        let effect = |at: &[usize]| {
            let parts = (0..sets).filter(|part| part & set == *part);
            let signed = |part: usize| {
                let odd = (set.count_ones() - part.count_ones()) % 2 == 1;
                means[part][index(part, at)] * if odd { -1.0 } else { 1.0 }
            };
            parts.map(signed).sum::<f64>()
        };
        Term {
            columns: (0..sizes.len()).filter(|&j| inside(set, j)).collect(),
            variance: mean_square(&effect),
            joint: mean_square(&|at| means[set][index(set, at)] - means[0][0]),
        }
    };
    let mut terms: Vec<Term> = (1..sets).map(term).collect();
    terms.sort_by_key(|term| (term.columns.len(), term.columns.clone()));
    terms
}

/// The answer to `functional_anova`.
pub(super) fn anova_answer(model: &dyn Model, asked: &Asked) -> Result<Answer> {
    let x = asked.rows()?.x;
    let columns = chosen(&x, &asked.words("columns")?, 3)?;
    let grids = grids(&x, &columns, asked.count("grid_resolution")?)?;
    let output = asked.count("output")?;
    let values = joint_dependence(model, &x, (&columns, &grids), output, &asked.run)?;
    let sizes: Vec<usize> = grids.iter().map(Vec::len).collect();
    let terms = functional_anova(&values, &sizes);
    let total: f64 = terms.iter().map(|term| term.variance).sum();
    let name = |term: &Term| {
        let names = term.columns.iter().map(|&k| plain(&x.schema().column(columns[k]).name));
        names.collect::<Vec<_>>().join(" × ")
    };
    let mut answer = Answer::new("Functional ANOVA");
    let mut table =
        Columns::new("Terms", &["term", "variance", "share", "share of the joint effect"]);
    for term in &terms {
        let of = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        table.push(vec![
            Cell::Text(name(term)),
            Cell::Number(term.variance),
            Cell::Number(of(term.variance, total)),
            Cell::Number(of(term.variance, term.joint)),
        ]);
    }
    answer.tables.push(table);
    answer.push("mean", values.iter().sum::<f64>() / values.len() as f64);
    answer.push("variance", total);
    Ok(answer)
}

/// The answer to `conditional`: a panel a row.
pub(super) fn conditional_answer(model: &dyn Model, asked: &Asked) -> Result<Answer> {
    let x = asked.rows()?.x;
    let columns = chosen(&x, &asked.words("columns")?, 2)?;
    let mut grids = grids(&x, &columns, asked.count("grid_resolution")?)?;
    let output = asked.count("output")?;
    if let Some(second) = columns.get(1) {
        grids[1] = grid(&x, *second, SERIES);
    }
    let sizes: Vec<usize> = grids.iter().map(Vec::len).collect();
    let points: usize = sizes.iter().product();
    let names: Vec<String> =
        columns.iter().map(|&column| plain(&x.schema().column(column).name)).collect();
    let mut heads = vec!["row"];
    heads.extend(names.iter().map(String::as_str));
    heads.push("prediction");
    let mut table = Columns::new("Panels", &heads);
    let mut chart = Chart::new(
        "Conditional panels",
        "The prediction over the columns, with the others as in a row.",
    );
    asked.run.claim_table(points, x.ncols(), &format!("a panel of {points} points"))?;
    for row in 0..x.nrows().min(MOST_PANELS) {
        let mut panel_rows = x.gather(&vec![row; points]);
        for point in 0..points {
            for ((&column, grid), place) in columns.iter().zip(&grids).zip(places(point, &sizes)) {
                panel_rows.values_mut()[(point, column)] = grid[place];
            }
        }
        let found = said(model, output, &panel_rows.frame(), &asked.run)?;
        for (point, &prediction) in found.iter().enumerate() {
            let at = places(point, &sizes);
            let given = at.iter().zip(&grids).map(|(&place, grid)| Cell::Number(grid[place]));
            let mut cells = vec![Cell::Count(row as i64 + 1)];
            cells.extend(given);
            cells.push(Cell::Number(prediction));
            table.push(cells);
        }
        let mut panel = Panel::new(names[0].clone(), format!("row {}", row + 1));
        let series = sizes.get(1).copied().unwrap_or(1);
        for k in 0..series {
            let line: Vec<f64> = (0..sizes[0]).map(|i| found[i * series + k]).collect();
            let label = match grids.get(1) {
                Some(second) => {
                    format!("{} = {}", names[1], learnt_core::answer::number(second[k]))
                }
                None => "prediction".to_string(),
            };
            panel = panel.mark(Mark::line(&label, grids[0].clone(), line));
        }
        chart = chart.panel(panel);
    }
    let mut answer = Answer::new("Conditional panels");
    answer.tables.push(table);
    answer.charts.push(chart);
    if x.nrows() > MOST_PANELS {
        answer.notes.push(format!("panels of the first {MOST_PANELS} rows"));
    }
    Ok(answer)
}

/// The values of some columns.
type Given<'a> = &'a dyn Fn(usize) -> Option<f64>;

/// The answer to `tree_dependence`; `walk` gives the mean of all outputs where a column has a value.
pub(super) fn walked_answer(asked: &Asked, walk: &dyn Fn(Given) -> Vec<f64>) -> Result<Answer> {
    let x = asked.rows()?.x;
    let mut answer = Answer::new("Partial dependence by the trees");
    for name in asked.words("columns")? {
        let column = x.schema().find(&name)?;
        let values = grids(&x, &[column], asked.count("grid_resolution")?)?.remove(0);
        let found: Vec<Vec<f64>> =
            values.iter().map(|&v| walk(&|j| (j == column).then_some(v))).collect();
        let outputs = found.first().map_or(0, Vec::len);
        let heads = (0..outputs).map(|k| match outputs {
            1 => "mean score".to_string(),
            _ => format!("class {k}"),
        });
        let heads: Vec<String> = std::iter::once("value".to_string()).chain(heads).collect();
        let mut table = Columns::with_heads(&plain(&name), heads.clone());
        for (value, means) in values.iter().zip(&found) {
            let cells = means.iter().map(|&mean| Cell::Number(mean));
            table.push(std::iter::once(value_cell(&x, column, *value)).chain(cells).collect());
        }
        answer.tables.push(table);
        let text = "Both branches of what is not given, by their training weights.";
        let of_output = |k: usize| found.iter().map(|means| means[k]).collect();
        let series: Vec<(String, Vec<f64>)> =
            heads.into_iter().skip(1).enumerate().map(|(k, head)| (head, of_output(k))).collect();
        let (title, place) = ("Partial dependence by the trees", (&x, column));
        answer.charts.push(dependence_chart(title, text, place, &values, &series));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_functions_of_single_columns_has_no_terms_of_two() {
        let sizes = [3, 4, 2];
        let at = |f: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
            let point = |p: usize| {
                let places = places(p, &sizes);
                f(places[0] as f64, places[1] as f64, places[2] as f64)
            };
            (0..24).map(point).collect()
        };
        let terms = functional_anova(&at(&|a, b, c| a * a + 3.0 * b - c), &sizes);
        let order: Vec<Vec<usize>> = terms.iter().map(|term| term.columns.clone()).collect();
        let expected: [&[usize]; 7] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        assert_eq!(order, expected.map(<[usize]>::to_vec));
        assert!(terms[..3].iter().all(|term| term.variance > 0.1), "{terms:?}");
        assert!(terms[3..].iter().all(|term| term.variance < 1e-20), "{terms:?}");
        let product = functional_anova(&at(&|a, b, _| a * b), &sizes);
        assert!(product[3].variance > 0.5 && product[4].variance < 1e-20, "{product:?}");
        // Terms are orthogonal: their variances add up to that of the values.
        let values = at(&|a, b, c| a * b * c + a);
        let mean = values.iter().sum::<f64>() / 24.0;
        let whole = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 24.0;
        let parts: f64 = functional_anova(&values, &sizes).iter().map(|t| t.variance).sum();
        assert!((whole - parts).abs() < 1e-9);
    }
}
