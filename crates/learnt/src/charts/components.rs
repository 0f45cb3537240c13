//! Pictures of principal components: shares of variance, and rows with columns as arrows.

use learnt_core::chart::{Chart, Mark, Panel};

/// Bars of a scree.
const MOST_BARS: usize = 30;
/// Arrows of a biplot.
const MOST_ARROWS: usize = 20;

/// The share of variance of each component, and the sum of shares so far.
pub fn scree(names: &[String], shares: &[f64]) -> Chart {
    let shown = shares.len().min(names.len()).min(MOST_BARS);
    let places: Vec<f64> = (0..shown).map(|k| k as f64).collect();
    let sums: Vec<f64> = shares[..shown]
        .iter()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    let panel = Panel::new("component", "share of variance")
        .categories_x(names[..shown].to_vec())
        .range_y(0.0, 1.02)
        .mark(Mark::bars("share", places.clone(), shares[..shown].to_vec()))
        .mark(Mark::line("sum of shares", places.clone(), sums.clone()))
        .mark(Mark::points("sum of shares", places, sums).unnamed());
    let chart = Chart::new(
        "Variance of the components",
        "Bars are shares of the variance, the line is their sum.",
    );
    match shown < shares.len() {
        true => {
            chart.note(format!("The first {shown} of {} components.", shares.len())).panel(panel)
        }
        false => chart.panel(panel),
    }
}

/// Rows as points along two components, and columns as arrows of their loadings, scaled to the points.
pub fn biplot(
    axes: [&str; 2],
    [x, y]: [&[f64]; 2],
    columns: &[String],
    loadings: [&[f64]; 2],
) -> Chart {
    let reach = |values: &[f64]| {
        values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()))
    };
    let length = |j: usize| loadings[0][j].hypot(loadings[1][j]);
    let count = columns.len().min(loadings[0].len()).min(loadings[1].len());
    let longest = (0..count).map(length).fold(0.0, f64::max);
    let scale = if longest > 0.0 { 0.85 * reach(x).min(reach(y)) / longest } else { 0.0 };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| length(b).total_cmp(&length(a)).then(a.cmp(&b)));
    order.truncate(MOST_ARROWS);
    let (mut ends, mut texts) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for &j in &order {
        let (a, b) = (scale * loadings[0][j], scale * loadings[1][j]);
        ends.0.push(a);
        ends.1.push(b);
        texts.0.push(a * 1.15);
        texts.1.push(b * 1.15);
    }
    let zeros = vec![0.0; order.len()];
    let names = order.iter().map(|&j| columns[j].clone()).collect();
    let panel = Panel::new(axes[0], axes[1])
        .size(460.0, 420.0)
        .mark(Mark::points("rows", x.to_vec(), y.to_vec()))
        .mark(Mark::links("columns", (zeros.clone(), zeros), ends.clone()).weight(1.3))
        .mark(Mark::points("columns", ends.0, ends.1).unnamed())
        .mark(Mark::texts(texts.0, texts.1, names));
    let chart = Chart::new(
        "Biplot",
        "Points are rows along the first two components; arrows are columns, longer where they weigh more.",
    );
    match order.len() < count {
        true => chart.note(format!("The {} longest of {count} arrows.", order.len())).panel(panel),
        false => chart.panel(panel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_scree_is_the_sum_of_its_bars() {
        let names: Vec<String> = (0..3).map(|k| format!("pca{k}")).collect();
        let chart = scree(&names, &[0.5, 0.25, 0.125]);
        assert_eq!(chart.panels[0].marks[1].y, [0.5, 0.75, 0.875]);
    }

    #[test]
    fn arrows_keep_their_direction_and_fit_the_points() {
        let columns = vec!["a".to_string(), "b".to_string()];
        let chart = biplot(
            ["1", "2"],
            [&[-10.0, 10.0], &[-2.0, 2.0]],
            &columns,
            [&[0.3, 0.8], &[0.4, 0.6]],
        );
        let arrows = &chart.panels[0].marks[1];
        assert!((arrows.x2[0] / arrows.y2[0] - 0.8 / 0.6).abs() < 1e-12, "the longest first");
        assert!(arrows.x2[0].hypot(arrows.y2[0]) <= 2.0);
    }
}
