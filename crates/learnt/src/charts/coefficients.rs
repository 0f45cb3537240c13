//! Coefficients as points with their intervals, and a rule at zero.

use learnt_core::chart::{Chart, Mark, Panel};

/// More coefficients than this in a panel are left out, the smallest first.
const MOST: usize = 40;

/// Coefficients of one output or class.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Which.
    pub title: String,
    /// Names of the terms.
    pub terms: Vec<String>,
    /// Estimates.
    pub estimates: Vec<f64>,
    /// Lower and upper ends of intervals; empty if there are none.
    pub intervals: Vec<(f64, f64)>,
}

/// A panel for each group, with intervals of this level.
pub fn intervals(groups: &[Group], level: f64) -> Chart {
    let with_intervals = groups.iter().any(|group| !group.intervals.is_empty());
    let (title, description) = match with_intervals {
        true => (
            format!("Coefficients with {}% intervals", (1e6 * level).round() / 1e4),
            "Each point is a coefficient, each line its interval; one that crosses zero may be none.",
        ),
        false => ("Coefficients".to_string(), "Each bar is a coefficient."),
    };
    let mut chart = Chart::new(title, description);
    for group in groups {
        let shown = group.largest();
        if shown.terms.len() < group.terms.len() {
            let (few, all) = (shown.terms.len(), group.terms.len());
            let note = format!("The {few} largest of {all} coefficients.");
            if !chart.notes.contains(&note) {
                chart.notes.push(note);
            }
        }
        chart = chart.panel(shown.panel());
    }
    chart
}

impl Group {
    /// Coefficients without the intercept, which is on the scale of the target and not of the columns;
    /// alone it is drawn.
    pub fn of_slopes(self) -> Group {
        let is_slope = |i: &usize| self.terms.len() == 1 || self.terms[*i] != "(intercept)";
        let shown: Vec<usize> = (0..self.terms.len()).filter(is_slope).collect();
        Group {
            title: self.title,
            terms: shown.iter().map(|&i| self.terms[i].clone()).collect(),
            estimates: shown.iter().map(|&i| self.estimates[i]).collect(),
            intervals: shown.iter().filter_map(|&i| self.intervals.get(i).copied()).collect(),
        }
    }

    /// The coefficients of largest size, in their own order.
    fn largest(&self) -> Group {
        let mut order: Vec<usize> = (0..self.terms.len().min(self.estimates.len())).collect();
        let size =
            |i: usize| if self.estimates[i].is_finite() { self.estimates[i].abs() } else { -1.0 };
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(MOST);
        order.sort_unstable();
        Group {
            title: self.title.clone(),
            terms: order.iter().map(|&i| self.terms[i].clone()).collect(),
            estimates: order.iter().map(|&i| self.estimates[i]).collect(),
            intervals: order.iter().filter_map(|&i| self.intervals.get(i).copied()).collect(),
        }
    }

    fn panel(self) -> Panel {
        let places: Vec<f64> = (0..self.terms.len()).map(|i| i as f64).collect();
        let height = (22.0 * self.terms.len() as f64).clamp(60.0, 900.0);
        let panel = Panel::new("coefficient", "")
            .title(self.title)
            .categories_y(self.terms)
            .size(420.0, height)
            .mark(Mark::vertical("", vec![0.0]).dashed());
        if self.intervals.is_empty() {
            return panel.mark(Mark::bars("coefficient", self.estimates, places).unnamed());
        }
        let (low, high): (Vec<f64>, Vec<f64>) = self.intervals.into_iter().unzip();
        panel
            .mark(
                Mark::links("coefficient", (low, places.clone()), (high, places.clone()))
                    .unnamed()
                    .weight(1.3),
            )
            .mark(Mark::points("coefficient", self.estimates, places).unnamed().weight(2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_in_their_order() {
        let terms: Vec<String> = (0..50).map(|i| format!("x{i}")).collect();
        let estimates: Vec<f64> =
            (0..50).map(|i| f64::from(i) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let intervals = estimates.iter().map(|b| (b - 1.0, b + 1.0)).collect();
        let chart =
            super::intervals(&[Group { title: String::new(), terms, estimates, intervals }], 0.95);
        let points = chart.panels[0].marks.last().unwrap();
        assert_eq!((points.x.len(), points.x[0], points.x[39]), (MOST, 10.0, -49.0));
        assert_eq!(chart.notes, ["The 40 largest of 50 coefficients."]);
        assert_eq!(chart.title, "Coefficients with 95% intervals");
        assert_eq!((chart.panels[0].marks[1].x[0], chart.panels[0].marks[1].x2[0]), (9.0, 11.0));
    }
}
