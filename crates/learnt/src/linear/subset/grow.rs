//! A set of columns that grows: Householder reflections that make the chosen columns a triangle.
//!
//! What is left of the other columns below that triangle is orthogonal to the chosen ones, so the
//! residual sum falls by (xᵀy)²/xᵀx of what is left when a column is added.

use super::reduced::Reduced;
use crate::linear::least_squares::mirror_of;
use learnt_core::linalg::{add_scaled, dot};

/// The reflected columns, and which were chosen, in order.
#[derive(Clone, Debug)]
pub(super) struct Grow {
    /// Inputs, then the target; empty for inputs that are not looked at.
    columns: Vec<Vec<f64>>,
    pub(super) chosen: Vec<usize>,
    is_chosen: Vec<bool>,
    tolerance: f64,
}

impl Grow {
    /// No column chosen.
    pub(super) fn new(reduced: &Reduced) -> Grow {
        Grow {
            columns: reduced.columns.clone(),
            chosen: Vec::new(),
            is_chosen: vec![false; reduced.width()],
            tolerance: reduced.tolerance,
        }
    }

    /// These columns chosen, without those that depend on the ones before.
    pub(super) fn with(reduced: &Reduced, set: &[usize]) -> Grow {
        Grow::new(reduced).and(set)
    }

    /// The same where no other column will be looked at.
    pub(super) fn only(reduced: &Reduced, set: &[usize]) -> Grow {
        let width = reduced.width();
        let mut columns = vec![Vec::new(); width + 1];
        for &j in set.iter().chain([&width]) {
            columns[j] = reduced.columns[j].clone();
        }
        let is_chosen = vec![false; width];
        Grow { columns, chosen: Vec::new(), is_chosen, tolerance: reduced.tolerance }.and(set)
    }

    fn and(mut self, set: &[usize]) -> Grow {
        set.iter().for_each(|&j| {
            self.add(j);
        });
        self
    }

    fn target(&self) -> &[f64] {
        self.columns.last().map_or(&[], |column| &column[self.chosen.len()..])
    }

    /// Residual sum of squares, as a share of the total.
    pub(super) fn rss(&self) -> f64 {
        dot(self.target(), self.target())
    }

    /// Whether the column is neither chosen nor dependent on the chosen ones.
    pub(super) fn is_free(&self, j: usize) -> bool {
        let left = self.columns[j].get(self.chosen.len()..).unwrap_or_default();
        !self.is_chosen[j] && dot(left, left) > self.tolerance * self.tolerance
    }

    /// How much the residual sum falls with each column; none where it cannot be added.
    pub(super) fn gains(&self) -> Vec<Option<f64>> {
        let gain = |j: usize| {
            self.is_free(j).then(|| {
                let left = &self.columns[j][self.chosen.len()..];
                let along = dot(left, self.target());
                along * along / dot(left, left)
            })
        };
        (0..self.is_chosen.len()).map(gain).collect()
    }

    /// The candidate with the largest gain, the first of equals.
    pub(super) fn best(&self, candidates: &[usize], tie: f64) -> Option<(usize, f64)> {
        let gains = self.gains();
        let mut best: Option<(usize, f64)> = None;
        for &j in candidates {
            if let Some(gain) = gains[j]
                && best.is_none_or(|(_, most)| gain > most + tie)
            {
                best = Some((j, gain));
            }
        }
        best
    }

    /// Chooses a column; false if it depends on the chosen ones.
    pub(super) fn add(&mut self, j: usize) -> bool {
        if !self.is_free(j) {
            return false;
        }
        let k = self.chosen.len();
        let left = &mut self.columns[j][k..];
        let length = dot(left, left).sqrt();
        let mirror = mirror_of(left, length);
        self.is_chosen[j] = true;
        self.chosen.push(j);
        for (other, column) in self.columns.iter_mut().enumerate() {
            if self.is_chosen.get(other) != Some(&true) && !column.is_empty() {
                let along = 2.0 * dot(&mirror, &column[k..]);
                add_scaled(&mut column[k..], -along, &mirror);
            }
        }
        true
    }

    /// b with R b = y for the first rows of a column, in the order of choice.
    fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for k in (0..b.len()).rev() {
            let column = &self.columns[self.chosen[k]];
            b[k] /= column[k];
            let x = b[k];
            add_scaled(&mut b[..k], -x, &column[..k]);
        }
        b
    }

    /// Coefficients of the chosen columns, in the order of choice and in units of length.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        self.solve(self.along())
    }

    /// The target along the triangle's rows.
    pub(super) fn along(&self) -> Vec<f64> {
        self.columns.last().map_or_else(Vec::new, |column| column[..self.chosen.len()].to_vec())
    }

    /// The rows of R⁻¹, one for each chosen column.
    pub(super) fn inverse(&self) -> Vec<Vec<f64>> {
        let m = self.chosen.len();
        let mut rows = vec![vec![0.0; m]; m];
        for k in 0..m {
            let mut unit = vec![0.0; m];
            unit[k] = 1.0;
            for (row, value) in rows.iter_mut().zip(self.solve(unit)) {
                row[k] = value;
            }
        }
        rows
    }
}
