//! Points of groups in two coordinates: classes or clusters, with their centres.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Groups with a colour of their own.
const MOST: usize = 10;

/// Points and the group of each.
#[derive(Clone, Copy)]
pub struct Groups<'a> {
    /// What the picture shows.
    pub title: &'a str,
    /// The same in a sentence.
    pub text: &'a str,
    /// Names of the two axes.
    pub axes: [&'a str; 2],
    /// The points; the first two columns are drawn, or the first against the row's number.
    pub points: MatRef<'a>,
    /// The group of each point.
    pub codes: &'a [u32],
    /// Names of the groups.
    pub names: &'a [String],
    /// Centres of the groups, in the same coordinates.
    pub centres: Option<MatRef<'a>>,
}

/// One colour a group; `None` without a column.
pub fn scatter(groups: &Groups) -> Option<Chart> {
    let columns = groups.points.ncols();
    if columns == 0 {
        return None;
    }
    let place = |values: MatRef, i: usize, spread: f64| match columns {
        1 => (values.at(i, 0), spread),
        _ => (values.at(i, 0), values.at(i, 1)),
    };
    let label = if columns == 1 { "group" } else { groups.axes[1] };
    let mut panel = Panel::new(groups.axes[0], label).size(460.0, 420.0);
    let shown = groups.names.len().min(MOST);
    for (k, name) in groups.names.iter().enumerate().take(shown) {
        let rows = (0..groups.codes.len()).filter(|&i| groups.codes[i] as usize == k);
        let (x, y): (Vec<f64>, Vec<f64>) = rows.map(|i| place(groups.points, i, k as f64)).unzip();
        panel = panel.mark(Mark::points(name.clone(), x, y));
    }
    if let Some(centres) = groups.centres {
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..centres.nrows().min(shown)).map(|k| place(centres, k, k as f64)).unzip();
        panel = panel.mark(Mark::points("centre", x, y).muted().weight(3.5));
    }
    let chart = Chart::new(groups.title, groups.text);
    let chart = match columns > 2 {
        true => chart.note(format!("The first 2 of {columns} coordinates.")),
        false => chart,
    };
    Some(
        match shown < groups.names.len() {
            true => chart.note(format!("The first {shown} of {} groups.", groups.names.len())),
            false => chart,
        }
        .panel(panel),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_its_points_and_its_centre() {
        let points = Matrix::from_rows(&[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]).unwrap();
        let names = ["a", "b"].map(str::to_string);
        let groups = Groups {
            title: "t",
            text: "",
            axes: ["1", "2"],
            points: points.view(),
            codes: &[0, 1, 0],
            names: &names,
            centres: Some(points.view()),
        };
        let marks = &scatter(&groups).unwrap().panels[0].marks;
        assert_eq!((&marks[0].x, &marks[0].y), (&vec![0.0, 4.0], &vec![1.0, 5.0]));
        assert_eq!(marks[2].x.len(), 2, "two groups have two centres");
        let nothing = Matrix::zeros(3, 0);
        assert!(scatter(&Groups { points: nothing.view(), ..groups }).is_none());
    }
}
