//! The picture of a regularisation path: every coefficient against the penalty, which falls to the
//! right on a logarithmic axis. The largest coefficients have names and colours, the others are grey.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Coefficients with a name and a colour.
const NAMED: usize = 12;

/// Coefficients (one row a column of the data, one column a penalty) along falling penalties.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// What is penalised, such as "Lasso".
    pub learner: &'a str,
    /// Names of the columns.
    pub names: &'a [String],
    /// The penalties.
    pub alphas: &'a [f64],
    /// The coefficients.
    pub coefs: &'a Matrix,
    /// A penalty to mark, with its name.
    pub chosen: Option<(&'a str, f64)>,
}

/// The picture.
pub fn path(found: &Path) -> Chart {
    let count = found.names.len();
    let line = |j: usize| {
        let values = found.coefs.row(j).to_vec();
        Mark::line(found.names[j].clone(), found.alphas.to_vec(), values)
    };
    let named = largest(found);
    let mut panel =
        Panel::new("penalty alpha, falling", "coefficient").log_x().reversed_x().size(560.0, 380.0);
    let mut is_named = vec![false; count];
    named.iter().for_each(|&j| is_named[j] = true);
    for j in (0..count).filter(|&j| !is_named[j]) {
        panel = panel.mark(line(j).muted().unnamed().weight(0.6));
    }
    panel = panel.mark(Mark::horizontal("", vec![0.0]));
    for &j in &named {
        panel = panel.mark(line(j).direct());
    }
    if let Some((name, alpha)) = found.chosen {
        panel = panel.mark(Mark::vertical(name, vec![alpha]).direct().dashed());
    }
    let chart = Chart::new(
        format!("{} path", found.learner),
        "Each line is a coefficient, as the penalty falls from left to right.",
    );
    match named.len() < count {
        true => chart
            .note(format!("Named: the {} largest of {count} coefficients.", named.len()))
            .panel(panel),
        false => chart.panel(panel),
    }
}

/// The columns with the largest coefficients anywhere on the path, largest first.
fn largest(found: &Path) -> Vec<usize> {
    let size = |j: usize| found.coefs.row(j).iter().fold(0.0_f64, |most, b| most.max(b.abs()));
    let sizes: Vec<f64> = (0..found.names.len()).map(size).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    order.truncate(NAMED);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::chart::{Naming, Scale};

    #[test]
    fn the_largest_coefficients_are_named_once_and_the_choice_is_marked() {
        let names: Vec<String> = (0..30).map(|j| format!("x{j}")).collect();
        let coefs = Matrix::from_fn(30, 4, |j, k| match j {
            7 => -9.0 * k as f64,
            2 => 5.0 * (3 - k) as f64,
            _ => 0.01 * j as f64,
        });
        let alphas = [1.0, 0.1, 0.01, 0.001];
        let chosen = Some(("least BIC", 0.1));
        let chart =
            path(&Path { learner: "Lasso", names: &names, alphas: &alphas, coefs: &coefs, chosen });
        let named: Vec<&str> = chart.panels[0]
            .marks
            .iter()
            .filter(|mark| mark.naming == Naming::Direct)
            .map(|mark| mark.series.as_str())
            .collect();
        assert_eq!((named.len(), named[0], named[1]), (NAMED + 1, "x7", "x2"));
        assert_eq!(named[NAMED], "least BIC");
        assert_eq!(chart.panels[0].x.scale, Scale::Log);
        assert_eq!(chart.panels[0].marks.len(), 32);
    }
}
