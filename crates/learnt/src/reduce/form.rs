//! What learners of principal components share: the form of the components, rows in their coordinates
//! and back, and the report.

use crate::charts::components::scree;
use learnt_core::linalg::Projection;
use learnt_core::prelude::*;

/// The form of principal components.
#[derive(Params, Clone, Debug)]
pub struct ComponentForm {
    /// Divide the components by their standard deviations.
    #[param(default = false)]
    pub whiten: bool,
    /// Subtracted from the number of rows in the divisor of variances: 1, or 0 for the divisor n.
    #[param(default = 1, range = 0..=1)]
    pub ddof: usize,
    /// Turn the last of as many components as columns so that they are a rotation, of determinant +1,
    /// and no reflection.
    #[param(default = false)]
    pub proper_rotation: bool,
}

impl ComponentForm {
    /// What squares are divided by, of rows that weigh so much.
    pub(super) fn divisor(&self, weight: f64) -> Result<f64> {
        let divisor = weight - self.ddof as f64;
        match divisor > 0.0 {
            true => Ok(divisor),
            false => Err(Error::new(
                Code::TooFew,
                format!(
                    "the weights sum to {weight}, and variances are divided by that sum less {}",
                    self.ddof
                ),
            )
            .hint("scale the weights so that they count rows")),
        }
    }

    /// Directions in rows from the first `kept` columns, with their signs.
    pub(super) fn components(&self, vectors: &Matrix, kept: usize) -> Matrix {
        let width = vectors.nrows();
        let mut out = Matrix::from_fn(kept, width, |k, j| vectors[(j, k)]);
        (0..kept).for_each(|k| make_largest_positive(out.row_mut(k)));
        if self.proper_rotation && kept == width && is_reflection(&out) {
            out.row_mut(kept - 1).iter_mut().for_each(|v| *v = -*v);
        }
        out
    }
}

/// The largest value by size, the first of equals, becomes positive.
fn make_largest_positive(row: &mut [f64]) {
    let largest = row.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
    if largest < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

/// Whether the determinant of an orthogonal matrix is -1, by elimination.
fn is_reflection(q: &Matrix) -> bool {
    let (mut left, side) = (q.clone(), q.nrows());
    let mut negative = false;
    for k in 0..side {
        let mut pivot = k;
        for i in k + 1..side {
            if left[(i, k)].abs() > left[(pivot, k)].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            negative = !negative;
            for j in k..side {
                (left[(k, j)], left[(pivot, j)]) = (left[(pivot, j)], left[(k, j)]);
            }
        }
        negative ^= left[(k, k)] < 0.0;
        let top: Vec<f64> = left.row(k).to_vec();
        for i in k + 1..side {
            let factor = left[(i, k)] / top[k];
            let row = left.row_mut(i);
            (k..side).for_each(|j| row[j] -= factor * top[j]);
        }
    }
    negative
}

/// Fitted components.
pub(super) struct Loadings<'a> {
    pub(super) components: &'a Matrix,
    pub(super) variances: &'a [f64],
    pub(super) ratios: &'a [f64],
    pub(super) mean: &'a [f64],
    pub(super) whiten: bool,
    pub(super) schema: &'a Schema,
    /// What names of components begin with.
    pub(super) prefix: &'a str,
}

impl Loadings<'_> {
    fn names(&self) -> Vec<String> {
        (0..self.variances.len()).map(|k| format!("{}{k}", self.prefix)).collect()
    }

    /// Divisor of each component: its standard deviation if whitened.
    fn scales(&self) -> Vec<f64> {
        let scale = |v: &f64| if self.whiten { v.sqrt().max(f64::EPSILON) } else { 1.0 };
        self.variances.iter().map(scale).collect()
    }

    /// The coordinates of rows.
    pub(super) fn transform(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.mean.len(), "in training")?;
        let scales = self.scales();
        let directions = Matrix::from_fn(self.variances.len(), self.mean.len(), |k, j| {
            self.components[(k, j)] / scales[k]
        });
        let values = Projection::new(&directions, self.mean).of_rows(x, run, |v, _| v)?;
        Table::new(values, Schema::numeric(self.names())?)
    }

    /// The rows that coordinates stand for.
    pub(super) fn inverse(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.variances.len(), "there are components")?;
        let scales = self.scales();
        let directions = Matrix::from_fn(self.mean.len(), self.variances.len(), |j, k| {
            self.components[(k, j)] * scales[k]
        });
        let origin = vec![0.0; self.variances.len()];
        let projection = Projection::new(&directions, &origin);
        let values = projection.of_rows(x, run, |v, j| v + self.mean[j])?;
        Table::new(values, self.schema.clone())
    }

    /// Variances of components, and their loadings.
    pub(super) fn report(&self) -> Answer {
        let names = self.names();
        let head = ["component", "variance", "share", "cumulative share"];
        let mut shares = Columns::new("Variance", &head);
        let mut sum = 0.0;
        for (k, ratio) in self.ratios.iter().enumerate() {
            sum += ratio;
            shares.push(vec![
                Cell::Text(names[k].clone()),
                Cell::Number(self.variances[k]),
                Cell::Number(*ratio),
                Cell::Number(sum),
            ]);
        }
        let mut report = Answer::new("Principal components");
        report.tables = vec![shares, self.loadings(&names)];
        report.charts.push(scree(&names, self.ratios));
        report
    }

    /// The first components, column by column.
    fn loadings(&self, names: &[String]) -> Columns {
        let shown = names.len().min(6);
        let head: Vec<&str> =
            ["column"].into_iter().chain(names[..shown].iter().map(String::as_str)).collect();
        let mut table = Columns::new("Loadings", &head);
        for (j, name) in self.schema.names().enumerate() {
            let numbers = (0..shown).map(|k| Cell::Number(self.components[(k, j)]));
            table.push([Cell::Text(name.to_string())].into_iter().chain(numbers).collect());
        }
        Columns { weights: true, ..table }
    }
}

pub(super) fn check_width(x: &Frame, width: usize, of: &str) -> Result<()> {
    match x.ncols() == width {
        true => Ok(()),
        false => {
            let got = format!("{} columns", x.ncols());
            Err(Error::shape("x", format!("{width} columns as {of}"), got))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_are_told_from_rotations() {
        let turn = |angle: f64, flip: f64| {
            let (s, c) = angle.sin_cos();
            Matrix::from_rows(&[[c, -s * flip], [s, c * flip]]).unwrap()
        };
        for angle in [0.0, 0.4, 1.6, 3.0, 5.0] {
            assert!(!is_reflection(&turn(angle, 1.0)));
            assert!(is_reflection(&turn(angle, -1.0)));
        }
        let swapped = Matrix::from_fn(4, 4, |i, j| f64::from(u8::from((i + 1) % 4 == j)));
        assert!(is_reflection(&swapped));
    }
}
