//! Lloyd's rounds: every row to its nearest centre, every centre to the mean of its rows.

use super::{CHUNK, Leader, Leaders, for_each_chunk};
use learnt_core::linalg::{Nearest, add_scaled, squared_distance};
use learnt_core::prelude::*;
use pulp::Arch;

/// Weight and sum of the rows of each cluster. Sums are taken about one origin in all rounds, the mean
/// of the table: no digits are lost far from zero, and equal clusters have equal bits.
#[derive(Stored, Clone, Debug, Merge)]
pub struct Sums {
    /// Weight of each cluster.
    pub weights: Vec<f64>,
    /// Σ w (x - origin) of each cluster.
    pub sums: Matrix,
}

impl Sums {
    /// The sums of one block.
    pub fn of(data: &Dataset, centres: &Matrix, origin: &[f64]) -> Sums {
        let nearest = Nearest::new(centres);
        let mut out = Sums {
            weights: vec![0.0; centres.nrows()],
            sums: Matrix::zeros(centres.nrows(), centres.ncols()),
        };
        let mut labels = [0; CHUNK];
        for_each_chunk(data.x.values(), |first, rows| {
            let labels = &mut labels[..rows.nrows()];
            nearest.of(rows, labels);
            Arch::new().dispatch(|| out.add(rows, labels, first, data, origin));
        });
        out
    }

    #[inline(always)]
    fn add(&mut self, rows: MatRef, labels: &[u32], first: usize, data: &Dataset, origin: &[f64]) {
        for (i, &label) in labels.iter().enumerate() {
            let Some(row) = rows.row_slice(i) else { continue };
            let (weight, sum) = (data.weight(first + i), self.sums.row_mut(label as usize));
            self.weights[label as usize] += weight;
            for ((sum, x), origin) in sum.iter_mut().zip(row).zip(origin) {
                *sum += weight * (x - origin);
            }
        }
    }

    /// Σ w ‖mean of the cluster - origin‖² over all rows.
    pub fn between(&self) -> f64 {
        let own = |(sum, weight): (&[f64], &f64)| match *weight > 0.0 {
            true => sum.iter().map(|s| s * s).sum::<f64>() / weight,
            false => 0.0,
        };
        self.sums.rows().zip(&self.weights).map(own).sum()
    }

    /// Whether some cluster has no rows.
    pub fn has_empty(&self) -> bool {
        self.weights.contains(&0.0)
    }

    /// Gives every empty cluster, the lowest first, the row farthest from its own centre. A row that
    /// its own cluster needs, because it would be empty too, stays.
    pub fn refill(&mut self, far: &Leaders, centres: &Matrix, origin: &[f64]) {
        let nearest = Nearest::new(centres);
        let mut rows = far.rows.iter();
        for empty in 0..self.weights.len() {
            if self.weights[empty] > 0.0 {
                continue;
            }
            let spare = rows.find_map(|row| {
                let mut label = [0];
                nearest.of(MatRef::row_major(&row.values, 1, row.values.len()).ok()?, &mut label);
                let own = label[0] as usize;
                (self.weights[own] > row.weight * (1.0 + 1e-9)).then_some((row, own))
            });
            let Some((row, own)) = spare else { return };
            let values: Vec<f64> =
                row.values.iter().zip(origin).map(|(x, o)| row.weight * (x - o)).collect();
            add_scaled(self.sums.row_mut(own), -1.0, &values);
            add_scaled(self.sums.row_mut(empty), 1.0, &values);
            self.weights[own] -= row.weight;
            self.weights[empty] += row.weight;
        }
    }

    /// The means; a cluster that is still empty keeps its centre.
    pub fn means(&self, centres: &Matrix, origin: &[f64]) -> Matrix {
        Matrix::from_fn(centres.nrows(), centres.ncols(), |c, j| match self.weights[c] > 0.0 {
            true => origin[j] + self.sums[(c, j)] / self.weights[c],
            false => centres[(c, j)],
        })
    }
}

/// Σ ‖new - old‖² over centres.
pub(crate) fn total_shift(old: &Matrix, new: &Matrix) -> f64 {
    squared_distance(old.as_slice(), new.as_slice())
}

/// The rows of a block that are farthest from their own centres.
pub(crate) fn farthest(data: &Dataset, centres: &Matrix) -> Leaders {
    let mut far = Leaders::new(centres.nrows());
    for_each_distance(data, centres, |row, _, weight, distance| {
        if distance > 0.0 && weight > 0.0 {
            far.offer(-distance, || Leader { key: -distance, weight, values: row.to_vec() });
        }
    });
    far
}

/// The objective Σ w ‖x - centre‖² and the weight of each cluster.
#[derive(Stored, Clone, Debug, Merge)]
pub struct Cost {
    /// The objective.
    pub inertia: f64,
    /// Weight of each cluster.
    pub weights: Vec<f64>,
}

impl Cost {
    /// The cost of one block.
    pub fn of(data: &Dataset, centres: &Matrix) -> Cost {
        let mut cost = Cost { inertia: 0.0, weights: vec![0.0; centres.nrows()] };
        for_each_distance(data, centres, |_, label, weight, distance| {
            cost.inertia += weight * distance;
            cost.weights[label] += weight;
        });
        cost
    }
}

/// Calls `f` with every row, its cluster, its weight and its squared distance to the centre.
fn for_each_distance(data: &Dataset, centres: &Matrix, mut f: impl FnMut(&[f64], usize, f64, f64)) {
    let nearest = Nearest::new(centres);
    let mut labels = [0; CHUNK];
    for_each_chunk(data.x.values(), |first, rows| {
        let labels = &mut labels[..rows.nrows()];
        nearest.of(rows, labels);
        for (i, &label) in labels.iter().enumerate() {
            let Some(row) = rows.row_slice(i) else { continue };
            let distance = squared_distance(row, centres.row(label as usize));
            f(row, label as usize, data.weight(first + i), distance);
        }
    });
}
