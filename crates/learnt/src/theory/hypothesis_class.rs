//! Classes of hypotheses over points, and the ways in which they label them.
//!
//! A dichotomy of N points is a labelling that some hypothesis of the class gives. Dropping a point of a
//! dichotomy leaves a dichotomy, so all are found by labelling one point after the other and going on
//! only where the class can: the work is that of the dichotomies there are, not of all 2^N labellings.
//!
//! The class can give a labelling if
//! - positive rays: no point labelled 0 lies at or above one labelled 1;
//! - positive intervals and rectangles: no 0 lies in the smallest box around the 1s;
//! - half-spaces: a hyperplane separates the labels ([`linear_separability`]);
//! - convex sets: a hyperplane separates each 0 from the 1s;
//! - conjunctions of values: no 0 agrees with all values on which the 1s agree.

use crate::linear::{Separability, linear_separability};
use learnt_core::prelude::*;

/// A class of hypotheses that label points with 0 and 1.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HypothesisClass {
    /// 1 above a threshold, on a line.
    PositiveRays,
    /// 1 between two thresholds, on a line.
    PositiveIntervals,
    /// 1 in a box with edges along the axes.
    Rectangles,
    /// 1 on one side of a hyperplane: the perceptron.
    #[default]
    HalfSpaces,
    /// 1 in a convex set.
    ConvexSets,
    /// 1 where some columns have given values; no column, or never, counts too.
    Conjunctions,
}

impl HypothesisClass {
    /// Refuses points that the class is not about.
    pub(super) fn check_columns(self, columns: usize) -> Result<()> {
        let line =
            matches!(self, HypothesisClass::PositiveRays | HypothesisClass::PositiveIntervals);
        match line && columns != 1 {
            true => Err(Error::shape("X", "1 column: rays and intervals lie on a line", columns)),
            false => Ok(()),
        }
    }

    /// All labellings that the class gives on the points, in the order of binary numbers; refused if
    /// there are more than `limit`.
    pub(super) fn dichotomies(
        self,
        points: MatRef,
        limit: usize,
        run: &Context,
    ) -> Result<Vec<Vec<bool>>> {
        let mut found = vec![Vec::new()];
        for count in 1..=points.nrows() {
            let mut longer = Vec::with_capacity(2 * found.len());
            for labels in found {
                run.checkpoint()?;
                for label in [false, true] {
                    let mut labels = labels.clone();
                    labels.push(label);
                    if self.gives(points.rows(0, count), &labels, run)? {
                        longer.push(labels);
                    }
                }
            }
            if longer.len() > limit {
                let message = format!("more than {limit} dichotomies of the first {count} points");
                return Err(
                    Error::new(Code::Usage, message).hint("take fewer points, or raise 'limit'")
                );
            }
            found = longer;
        }
        Ok(found)
    }

    /// Whether some hypothesis gives the labels.
    fn gives(self, points: MatRef, labels: &[bool], run: &Context) -> Result<bool> {
        let of = |label: bool| {
            let rows = (0..labels.len()).filter(move |&i| labels[i] == label);
            rows.map(|i| (0..points.ncols()).map(|j| points.at(i, j)).collect())
                .collect::<Vec<Vec<f64>>>()
        };
        let (zeros, ones) = (of(false), of(true));
        if zeros.is_empty() || ones.is_empty() {
            return Ok(true);
        }
        Ok(match self {
            HypothesisClass::PositiveRays => {
                let lowest = ones.iter().map(|x| x[0]).fold(f64::INFINITY, f64::min);
                zeros.iter().all(|x| x[0] < lowest)
            }
            HypothesisClass::PositiveIntervals | HypothesisClass::Rectangles => {
                let (low, high) = bounding_box(&ones);
                let inside = |x: &[f64]| (0..x.len()).all(|j| low[j] <= x[j] && x[j] <= high[j]);
                !zeros.iter().any(|x| inside(x))
            }
            HypothesisClass::HalfSpaces => separated(&zeros, &ones, run)?,
            HypothesisClass::ConvexSets => {
                for zero in &zeros {
                    if !separated(std::slice::from_ref(zero), &ones, run)? {
                        return Ok(false);
                    }
                }
                true
            }
            HypothesisClass::Conjunctions => {
                let agreed = |j: usize| ones.iter().all(|x| x[j] == ones[0][j]);
                let columns: Vec<usize> = (0..ones[0].len()).filter(|&j| agreed(j)).collect();
                !zeros.iter().any(|x| columns.iter().all(|&j| x[j] == ones[0][j]))
            }
        })
    }
}

fn bounding_box(points: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let (mut low, mut high) = (points[0].clone(), points[0].clone());
    for point in points {
        for (j, &value) in point.iter().enumerate() {
            low[j] = low[j].min(value);
            high[j] = high[j].max(value);
        }
    }
    (low, high)
}

fn separated(zeros: &[Vec<f64>], ones: &[Vec<f64>], run: &Context) -> Result<bool> {
    let rows: Vec<&Vec<f64>> = zeros.iter().chain(ones).collect();
    let x = Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]);
    let labels: Vec<Label> =
        (0..rows.len()).map(|i| Label::Int(i64::from(i >= zeros.len()))).collect();
    let data = OwnedDataset::classification(x, &labels);
    Ok(matches!(linear_separability(&data.view(), run)?, Separability::Yes { .. }))
}
