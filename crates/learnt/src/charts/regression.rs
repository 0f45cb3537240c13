//! Pictures of regressions: predictions, residuals, and what least squares says about rows.

use super::smooth::lowess;
use learnt_core::chart::{Chart, Mark, Panel};

/// Rows that get a name in a picture.
const NAMED: usize = 3;
/// Fewest rows with a curve, and most with one by every row; more have the mean of groups of neighbours.
const FEWEST: usize = 10;
const MOST_BY_ROW: usize = 1000;
/// Most groups of neighbours.
const GROUPS: usize = 20;

/// Predictions against what came true, with the line of equal values.
pub fn predicted_against_actual(actual: &[f64], predicted: &[f64]) -> Chart {
    let both = || actual.iter().chain(predicted).copied().filter(|x| x.is_finite());
    let (low, high) =
        (both().fold(f64::INFINITY, f64::min), both().fold(f64::NEG_INFINITY, f64::max));
    let panel = Panel::new("predicted", "actual")
        .size(400.0, 400.0)
        .mark(Mark::line("equal", vec![low, high], vec![low, high]).muted().dashed().unnamed())
        .mark(Mark::points("rows", predicted.to_vec(), actual.to_vec()).unnamed());
    Chart::new(
        "Predicted against actual",
        "Each point is a row; on the dashed line the prediction is exact.",
    )
    .panel(panel)
}

/// Residuals against fitted values.
pub fn residuals_against_fitted(fitted: &[f64], residual: &[f64]) -> Chart {
    Chart::new(
        "Residuals against fitted values",
        "Each point is a row; a curve away from zero shows what the model misses.",
    )
    .panel(residual_panel(fitted, residual))
}

/// Standardised residuals beside the quantiles of a normal distribution, in rising order.
pub fn normal_quantiles(pairs: &[(f64, f64)]) -> Chart {
    Chart::new(
        "Normal quantiles of the residuals",
        "Points of normal residuals lie along the dashed line.",
    )
    .panel(quantile_panel(pairs, &[]))
}

/// √|standardised residual| against fitted values.
pub fn scale_location(fitted: &[f64], standardised: &[f64]) -> Chart {
    Chart::new(
        "Scale against location",
        "Each point is a row; where the variance is equal, the curve is level.",
    )
    .panel(scale_panel(fitted, standardised))
}

/// Standardised residuals against leverage, with the curves of Cook's distance 0.5 and 1.
pub fn residuals_against_leverage(leverage: &[f64], standardised: &[f64], cook: &[f64]) -> Chart {
    Chart::new(
        "Residuals against leverage",
        "Each point is a row; rows beyond the dashed curves move the fit by themselves.",
    )
    .panel(leverage_panel(leverage, standardised, cook))
}

/// What is known about the rows of a least-squares fit.
#[derive(Clone, Copy, Debug)]
pub struct Fit<'a> {
    /// Predictions.
    pub fitted: &'a [f64],
    /// Targets less predictions.
    pub residual: &'a [f64],
    /// Residuals over their standard errors.
    pub standardised: &'a [f64],
    /// Normal quantiles with the standardised residuals in rising order.
    pub quantiles: &'a [(f64, f64)],
    /// Diagonal of the hat matrix.
    pub leverage: &'a [f64],
    /// Residuals over their standard errors as Cook's distance takes them.
    pub beside_leverage: &'a [f64],
    /// Cook's distances.
    pub cook: &'a [f64],
}

/// The four pictures of a least-squares fit.
pub fn diagnostics(fit: &Fit) -> Chart {
    let small = |panel: Panel, title: &str| panel.title(title).size(360.0, 260.0);
    Chart::new(
        "Diagnostics of the residuals",
        "Residuals against fitted values, normal quantiles, scale against location, and leverage.",
    )
    .panel(small(residual_panel(fit.fitted, fit.residual), "Residuals against fitted"))
    .panel(small(quantile_panel(fit.quantiles, &rising(fit.standardised)), "Normal quantiles"))
    .panel(small(scale_panel(fit.fitted, fit.standardised), "Scale against location"))
    .panel(small(leverage_panel(fit.leverage, fit.beside_leverage, fit.cook), "Leverage"))
}

fn residual_panel(fitted: &[f64], residual: &[f64]) -> Panel {
    let sizes: Vec<f64> = residual.iter().map(|r| r.abs()).collect();
    with_trend(
        Panel::new("fitted", "residual")
            .mark(Mark::horizontal("", vec![0.0]).dashed())
            .mark(named_rows(fitted, residual, &sizes)),
        fitted,
        residual,
    )
}

/// `rows` are the places in the table of the pairs; where they are known, the most distant rows are named.
fn quantile_panel(pairs: &[(f64, f64)], rows: &[usize]) -> Panel {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let ends = vec![x.first().copied().unwrap_or(0.0), x.last().copied().unwrap_or(0.0)];
    let sizes: Vec<f64> = y.iter().map(|r| r.abs()).collect();
    let dots = match rows.len() == pairs.len() {
        true => named_rows_at(&x, &y, &sizes, |place| rows[place]),
        false => Mark::points("rows", x, y).unnamed(),
    };
    Panel::new("normal quantile", "standardised residual")
        .mark(Mark::line("", ends.clone(), ends).muted().dashed())
        .mark(dots)
}

/// Places of finite numbers from the least to the largest.
fn rising(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    order
}

fn scale_panel(fitted: &[f64], standardised: &[f64]) -> Panel {
    let roots: Vec<f64> = standardised.iter().map(|r| r.abs().sqrt()).collect();
    with_trend(
        Panel::new("fitted", "√|standardised residual|").mark(named_rows(fitted, &roots, &roots)),
        fitted,
        &roots,
    )
}

fn leverage_panel(leverage: &[f64], standardised: &[f64], cook: &[f64]) -> Panel {
    let most = leverage.iter().copied().fold(0.0, f64::max);
    let largest = standardised.iter().map(|r| r.abs()).fold(0.0, f64::max);
    let count: f64 = leverage.iter().sum();
    let panel = Panel::new("leverage", "standardised residual")
        .mark(Mark::horizontal("", vec![0.0]).dashed())
        .mark(named_rows(leverage, standardised, cook))
        .range_x(0.0, 1.05 * most)
        .range_y(-1.15 * largest, 1.15 * largest);
    let mut panel = with_trend(panel, leverage, standardised);
    for distance in [0.5, 1.0] {
        let mut curve = (Vec::new(), Vec::new());
        for sign in [-1.0, 1.0] {
            for k in 1..=100 {
                let h = 1.05 * most * f64::from(k) / 100.0;
                let r = (distance * count * (1.0 - h).max(0.0) / h).sqrt();
                curve.0.push(h);
                curve.1.push(if r <= 1.15 * largest { sign * r } else { f64::NAN });
            }
            curve.0.push(f64::NAN);
            curve.1.push(f64::NAN);
        }
        if curve.1.iter().any(|r| r.is_finite()) {
            panel =
                panel.mark(Mark::line("Cook's distance 0.5, 1", curve.0, curve.1).muted().dashed());
        }
    }
    panel
}

/// A dot for each row; those of largest importance have their number.
fn named_rows(x: &[f64], y: &[f64], importance: &[f64]) -> Mark {
    named_rows_at(x, y, importance, |place| place)
}

/// The same where a dot is not at the place of its row.
fn named_rows_at(x: &[f64], y: &[f64], importance: &[f64], row: impl Fn(usize) -> usize) -> Mark {
    let mut order: Vec<usize> = (0..importance.len()).collect();
    let kept = NAMED.min(order.len());
    if kept > 0 {
        order.select_nth_unstable_by(kept - 1, |&a, &b| {
            importance[b].total_cmp(&importance[a]).then(a.cmp(&b))
        });
    }
    let mut labels = vec![String::new(); x.len()];
    for &i in order.iter().take(kept).filter(|&&i| i < x.len()) {
        labels[i] = format!("row {}", row(i) + 1);
    }
    Mark::points("rows", x.to_vec(), y.to_vec()).labels(labels).unnamed()
}

/// With a smooth curve, or the mean of groups of many neighbours, which show a trend that dots hide.
fn with_trend(panel: Panel, x: &[f64], y: &[f64]) -> Panel {
    let mut order: Vec<usize> =
        (0..x.len().min(y.len())).filter(|&i| x[i].is_finite() && y[i].is_finite()).collect();
    if order.len() < FEWEST {
        return panel;
    }
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(a.cmp(&b)));
    if order.len() <= MOST_BY_ROW {
        let of = |values: &[f64]| -> Vec<f64> { order.iter().map(|&i| values[i]).collect() };
        let at = of(x);
        let height = lowess(&at, &of(y));
        return panel.mark(Mark::line("trend", at, height).unnamed());
    }
    let groups = GROUPS;
    let mean = |values: &[f64], rows: &[usize]| {
        rows.iter().map(|&i| values[i]).sum::<f64>() / rows.len() as f64
    };
    let groups: Vec<&[usize]> = order.chunks(order.len().div_ceil(groups)).collect();
    let at = groups.iter().map(|rows| mean(x, rows)).collect();
    let height = groups.iter().map(|rows| mean(y, rows)).collect();
    panel.mark(Mark::line("trend", at, height).unnamed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_that_matter_most_are_named() {
        let mark = named_rows(&[0.0; 5], &[0.0; 5], &[1.0, 9.0, 2.0, 8.0, 7.0]);
        let named: Vec<&str> = mark.labels.iter().map(String::as_str).collect();
        assert_eq!(named, ["", "row 2", "", "row 4", "row 5"]);
        assert!(named_rows(&[], &[], &[]).labels.is_empty());
    }

    #[test]
    fn rows_keep_their_numbers_among_quantiles() {
        let residuals = [0.5, -3.0, 0.1, 2.0];
        let order = rising(&residuals);
        assert_eq!(order, [1, 2, 0, 3]);
        let pairs: Vec<(f64, f64)> = order.iter().map(|&i| (0.0, residuals[i])).collect();
        let panel = quantile_panel(&pairs, &order);
        assert_eq!(panel.marks[1].labels, ["row 2", "", "row 1", "row 4"]);
    }

    #[test]
    fn the_trend_follows_a_curve_by_rows_or_by_groups_of_many() {
        for (n, expected) in [(9, None), (400, Some(400)), (4000, Some(20))] {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i) / f64::from(n)).collect();
            let y: Vec<f64> = x.iter().map(|x| x * x).collect();
            let panel = with_trend(Panel::new("", ""), &x, &y);
            assert_eq!(panel.marks.first().map(|line| line.x.len()), expected);
            for line in &panel.marks {
                assert!(line.x.iter().zip(&line.y).all(|(x, y)| (y - x * x).abs() < 0.1));
            }
        }
    }

    #[test]
    fn a_point_on_a_curve_of_cook_has_that_distance() {
        let (leverage, residual) = (vec![0.2, 0.5, 0.3], vec![1.0, -0.4, 2.0]);
        let panel = leverage_panel(&leverage, &residual, &[0.0; 3]);
        let curve = panel.marks.last().unwrap();
        let (h, r) = (curve.x[180], curve.y[180]);
        assert!((r * r * h / (1.0 * (1.0 - h)) - 1.0).abs() < 1e-9, "k is the sum of leverage, 1");
    }
}
