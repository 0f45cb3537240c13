//! Pictures of classifications: confusion, ROC, precision and recall, calibration.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};

/// Classes with a curve of their own.
const MOST_CURVES: usize = 7;
/// Bars of a calibration.
const BINS: usize = 10;

/// Counts of actual (down) against predicted classes (across), with shares of the actual class.
pub fn confusion(counts: &Matrix, classes: &[String]) -> Chart {
    let k = counts.nrows();
    let (mut x, mut y, mut shares, mut labels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for i in 0..k {
        let total: f64 = counts.row(i).iter().sum();
        for (j, &count) in counts.row(i).iter().enumerate() {
            let share = if total > 0.0 { count / total } else { 0.0 };
            x.push(j as f64);
            y.push(i as f64);
            shares.push(share);
            let count =
                if count.fract() == 0.0 { format!("{count}") } else { format!("{count:.1}") };
            labels.push(if total > 0.0 {
                format!("{count}\n{:.0}%", 100.0 * share)
            } else {
                count
            });
        }
    }
    let side = (70.0 * k as f64).clamp(200.0, 560.0);
    let panel = Panel::new("predicted", "actual")
        .categories_x(classes.to_vec())
        .categories_y(classes.to_vec())
        .size(side, side)
        .mark(Mark::cells("", x, y, shares).shaded(Some(1.0)).labels(labels));
    Chart::new(
        "Confusion matrix",
        "Rows are actual classes, columns predicted ones; percentages are shares of the actual class.",
    )
    .panel(panel)
}

/// The curve of a class, with one number that sums it up.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the class.
    pub class: String,
    /// Values across.
    pub x: Vec<f64>,
    /// Values up.
    pub y: Vec<f64>,
    /// The area, or the mean height.
    pub sum: f64,
}

/// True (up) against false positive rate (across), a curve for each class with its area.
pub fn roc(curves: &[Curve]) -> Chart {
    let mut panel = Panel::new("false positive rate", "true positive rate")
        .size(400.0, 400.0)
        .range_x(-0.01, 1.01)
        .range_y(-0.01, 1.01)
        .mark(Mark::line("", vec![0.0, 1.0], vec![0.0, 1.0]).muted().dashed());
    for curve in curves.iter().take(MOST_CURVES) {
        panel = panel.mark(curve.line("AUC"));
    }
    let chart = Chart::new(
        "ROC curve",
        "True against false positive rate for every threshold; the dashed line is chance.",
    );
    and_more(chart.panel(panel), curves.len())
}

/// Precision (up) against recall (across), a curve for each class with its average precision.
pub fn precision_recall(curves: &[Curve]) -> Chart {
    let mut panel = Panel::new("recall", "precision")
        .size(400.0, 400.0)
        .range_x(-0.01, 1.01)
        .range_y(-0.01, 1.01);
    for curve in curves.iter().take(MOST_CURVES) {
        panel = panel.mark(curve.line("average"));
    }
    let chart = Chart::new(
        "Precision against recall",
        "The share of called rows that is right, against the share of the class that is called.",
    );
    and_more(chart.panel(panel), curves.len())
}

impl Curve {
    fn line(&self, measure: &str) -> Mark {
        let name = match self.class.as_str() {
            "" => format!("{measure} {:.3}", self.sum),
            class => format!("{class}: {measure} {:.3}", self.sum),
        };
        Mark::line(name, self.x.clone(), self.y.clone())
    }
}

/// Probabilities of rows for a class.
pub struct Scored<'a> {
    /// Name of the class.
    pub class: String,
    /// Rows of the class.
    pub positive: Vec<bool>,
    /// Probabilities of the class.
    pub scores: Vec<f64>,
    /// Weights of rows.
    pub weights: Option<&'a [f64]>,
}

/// Observed shares against given probabilities in ten equal bins, and how many rows are in each.
pub fn calibration(classes: &[Scored]) -> Chart {
    let ends = vec![0.0, 1.0];
    let mut above = Panel::new("", "share that came true")
        .size(400.0, 300.0)
        .range_x(-0.01, 1.01)
        .range_y(-0.01, 1.01)
        .mark(Mark::line("", ends.clone(), ends).muted().dashed());
    let mut below = Panel::new("probability given", "rows").size(400.0, 90.0).range_x(-0.01, 1.01);
    let alone = classes.len() == 1;
    for one in classes.iter().take(MOST_CURVES) {
        let bins = bins(one);
        let filled = || bins.iter().filter(|bin| bin.weight > 0.0);
        let given: Vec<f64> = filled().map(|bin| bin.given / bin.weight).collect();
        let came: Vec<f64> = filled().map(|bin| bin.came / bin.weight).collect();
        if alone {
            let (low, high) = filled().map(Bin::interval).unzip();
            above = above.mark(
                Mark::links(&one.class, (given.clone(), low), (given.clone(), high)).unnamed(),
            );
        }
        above = above.mark(Mark::line(&one.class, given.clone(), came.clone()));
        above = above.mark(Mark::points(&one.class, given, came).unnamed());
        let middle: Vec<f64> = (0..BINS).map(|k| (k as f64 + 0.5) / BINS as f64).collect();
        let weights = bins.iter().map(|bin| bin.weight).collect();
        below = below.mark(match alone {
            true => Mark::bars(&one.class, middle, weights).unnamed(),
            false => Mark::line(&one.class, middle, weights).unnamed(),
        });
    }
    let mut chart = Chart::new(
        "Calibration",
        "How often a class came true against the probability given; on the dashed line both agree.",
    );
    chart.columns = 1;
    if alone {
        chart.notes.push("Intervals: Wilson's, 95%.".to_string());
    }
    and_more(chart.panel(above).panel(below), classes.len())
}

/// Rows whose probability lies in one tenth.
#[derive(Clone, Copy, Default)]
struct Bin {
    weight: f64,
    given: f64,
    came: f64,
}

impl Bin {
    /// Wilson's interval for the share that came true, level 95%.
    fn interval(&self) -> (f64, f64) {
        let (n, p) = (self.weight, self.came / self.weight);
        let z = Normal::standard().quantile(0.975);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (middle - half, middle + half)
    }
}

fn bins(one: &Scored) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for (i, (&score, &positive)) in one.scores.iter().zip(&one.positive).enumerate() {
        if score.is_finite() {
            let weight = one.weights.map_or(1.0, |weights| weights[i]);
            let bin = &mut bins[((score * BINS as f64).max(0.0) as usize).min(BINS - 1)];
            bin.weight += weight;
            bin.given += weight * score;
            bin.came += weight * f64::from(u8::from(positive));
        }
    }
    bins
}

fn and_more(chart: Chart, classes: usize) -> Chart {
    match classes > MOST_CURVES {
        true => chart.note(format!("The first {MOST_CURVES} of {classes} classes.")),
        false => chart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(positive: Vec<bool>, scores: Vec<f64>) -> Scored<'static> {
        Scored { class: "yes".to_string(), positive, scores, weights: None }
    }

    #[test]
    fn cells_hold_counts_and_shares_of_their_row() {
        let counts = Matrix::from_rows(&[[3.0, 1.0], [0.0, 0.0]]).unwrap();
        let chart = confusion(&counts, &["a".to_string(), "b".to_string()]);
        let cells = &chart.panels[0].marks[0];
        assert_eq!(cells.labels, ["3\n75%", "1\n25%", "0", "0"]);
        assert_eq!((cells.x[1], cells.y[1]), (1.0, 0.0));
    }

    #[test]
    fn curves_are_named_with_their_area_and_few_are_drawn() {
        let curve = |class: &str| Curve {
            class: class.to_string(),
            x: vec![0.0, 1.0],
            y: vec![1.0, 1.0],
            sum: 1.0,
        };
        assert_eq!(roc(&[curve("yes")]).panels[0].marks[1].series, "yes: AUC 1.000");
        assert_eq!(precision_recall(&[curve("")]).panels[0].marks[0].series, "average 1.000");
        let many: Vec<Curve> = (0..20).map(|k| curve(&k.to_string())).collect();
        let chart = roc(&many);
        assert_eq!((chart.panels[0].marks.len(), chart.notes.len()), (MOST_CURVES + 1, 1));
    }

    #[test]
    fn a_calibrated_bin_lies_on_the_line_and_its_interval_around_it() {
        let positive: Vec<bool> = (0..100).map(|i| i % 4 == 0).collect();
        let chart = calibration(&[scored(positive, vec![0.25; 100])]);
        let line = chart.panels[0]
            .marks
            .iter()
            .find(|mark| mark.series == "yes" && mark.y2.is_empty())
            .unwrap();
        assert_eq!((line.x[0], line.y[0]), (0.25, 0.25));
        let links = &chart.panels[0].marks[1];
        assert!(links.y[0] > 0.17 && links.y[0] < 0.18 && links.y2[0] > 0.34 && links.y2[0] < 0.35);
        assert_eq!(chart.panels[1].marks[0].y[2], 100.0);
    }
}
