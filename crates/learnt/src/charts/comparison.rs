//! Comparisons of learners: means with their standard errors, the best first.

use learnt_core::chart::{Chart, Mark, Panel};

/// More rows than this are left out, the worst first.
const MOST: usize = 40;

/// The mean score of each learner with its standard error over folds. Learners far worse than the
/// others lie beyond the axis, and the picture says so.
pub fn intervals(metric: &str, names: &[String], means: &[f64], errors: &[f64]) -> Chart {
    let rows = names.len().min(means.len()).min(MOST);
    let places: Vec<f64> = (0..rows).map(|i| i as f64).collect();
    let end = |i: usize, sign: f64| means[i] + sign * errors.get(i).copied().unwrap_or(0.0);
    let low = (0..rows).map(|i| end(i, -1.0)).collect();
    let high = (0..rows).map(|i| end(i, 1.0)).collect();
    let mut panel = Panel::new(format!("{metric}, mean ± standard error over folds"), "")
        .categories_y(names[..rows].to_vec())
        .size(420.0, (22.0 * rows as f64).clamp(60.0, 900.0))
        .mark(Mark::vertical("", means.first().copied().into_iter().collect()).dashed())
        .mark(
            Mark::links("mean", (low, places.clone()), (high, places.clone()))
                .unnamed()
                .weight(1.3),
        )
        .mark(Mark::points("mean", means[..rows].to_vec(), places).unnamed().weight(2.0));
    let mut chart = Chart::new(
        format!("Comparison by {metric}"),
        "Each point is the mean score of a learner over folds, each line its standard error; the best is first.",
    );
    if let Some((from, to)) = window(means, errors) {
        let beyond = means.iter().filter(|mean| **mean < from || **mean > to).count();
        panel = panel.range_x(from, to);
        chart.notes.push(format!("Beyond the axis, far worse: {beyond}."));
    }
    if rows < names.len() {
        chart.notes.push(format!("The best {rows} of {}.", names.len()));
    }
    chart.panel(panel)
}

/// A range that shows most rows where a few would squeeze the others into a line.
fn window(means: &[f64], errors: &[f64]) -> Option<(f64, f64)> {
    let best = *means.first()?;
    let mut distances: Vec<f64> =
        means.iter().map(|mean| (mean - best).abs()).filter(|d| d.is_finite()).collect();
    distances.sort_by(f64::total_cmp);
    let usual = distances[distances.len().saturating_sub(1) * 2 / 3];
    let far = *distances.last()?;
    if usual <= 0.0 || far < 15.0 * usual {
        return None;
    }
    let room = 2.0 * usual + errors.first().copied().unwrap_or(0.0);
    let worse = means.iter().any(|mean| *mean < best);
    Some(if worse {
        (best - 2.0 * usual, best + 0.3 * room)
    } else {
        (best - 0.3 * room, best + 2.0 * usual)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hopeless_learner_does_not_hide_the_others() {
        let names: Vec<String> = (0..5).map(|i| format!("l{i}")).collect();
        let chart = intervals("r2", &names, &[0.9, 0.88, 0.85, 0.8, -1e9], &[0.01; 5]);
        let (low, high) = chart.panels[0].x.range.unwrap();
        assert!(low < 0.8 && low > 0.0 && high > 0.9 && high < 1.1, "{low} {high}");
        assert_eq!(chart.notes, ["Beyond the axis, far worse: 1."]);
        let chart = intervals("rmse", &names, &[1.0, 1.1, 1.2, 1.4, 1.5], &[0.01; 5]);
        assert!(chart.notes.is_empty() && chart.panels[0].x.range.is_none());
        assert_eq!(intervals("r2", &[], &[], &[]).panels.len(), 1);
    }
}
