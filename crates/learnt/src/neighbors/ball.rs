//! What the radius-neighbour learners share: training rows within a radius of a query, and how much
//! each counts: its weight, times one over its distance (squared) or a kernel of it if asked. Where rows
//! lie at distance 0, those alone count for one over the distance.

use super::index::Index;
use super::neighborhood::{Algorithm, MetricName, NeighborWeights};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// The parameters of both learners.
pub(super) struct BallSettings {
    pub(super) radius: f64,
    pub(super) weights: NeighborWeights,
    pub(super) algorithm: Algorithm,
    pub(super) leaf_size: usize,
    pub(super) p: f64,
    pub(super) metric: MetricName,
}

impl BallSettings {
    /// Refuses a tree that cannot search by the metric.
    pub(super) fn constraints(&self) -> Result<()> {
        let metric = self.metric.with_power(self.p);
        self.algorithm.structure(metric, usize::MAX, 1).check(metric)
    }

    /// Prepares the training rows.
    pub(super) fn train(&self, data: &Dataset, run: &Context) -> Result<Ball> {
        let x = data.x.values();
        let metric = self.metric.with_power(self.p);
        let structure = self.algorithm.structure(metric, x.nrows(), x.ncols());
        Ok(Ball {
            index: Index::build(x, metric, structure, self.leaf_size, run)?,
            radius: self.radius,
            weights: self.weights,
            row_weights: data.weights.map(<[f64]>::to_vec),
        })
    }
}

/// Training rows, and the radius.
#[derive(Stored, Clone, Debug)]
#[stored(validate = validate)]
pub(super) struct Ball {
    pub(super) index: Index,
    radius: f64,
    weights: NeighborWeights,
    row_weights: Option<Vec<f64>>,
}

impl Ball {
    fn validate(&self) -> Result<()> {
        let good = |weights: &Vec<f64>| {
            weights.len() == self.index.nrows() && weights.iter().all(|w| w.is_finite() && *w > 0.0)
        };
        match self.radius > 0.0 && self.row_weights.as_ref().is_none_or(good) {
            true => Ok(()),
            false => Err(invalid("weights or radius of neighbours")),
        }
    }

    /// Fills `width` numbers for each row of `x` by `answer(row number, neighbours, how much each
    /// counts, out)`, which may fail.
    pub(super) fn predict(
        &self,
        x: &Frame,
        width: usize,
        run: &Context,
        answer: impl Fn(usize, &[u32], &[f64], &mut [f64]) -> Result<()>,
    ) -> Result<Matrix> {
        run.claim_table(x.nrows(), width, "the predictions")?;
        let mut out = Matrix::zeros(x.nrows(), width);
        let mut counts = Vec::new();
        let all: Vec<usize> = (0..x.nrows()).collect();
        self.index.each_within(x.values(), &all, self.radius, run, |i, rows, distances| {
            self.count(rows, distances, &mut counts);
            answer(i, rows, &counts, out.row_mut(i))
        })?;
        Ok(out)
    }

    fn count(&self, rows: &[u32], distances: &[f64], counts: &mut Vec<f64>) {
        counts.clear();
        let weight = |row: &u32| self.row_weights.as_ref().map_or(1.0, |w| w[*row as usize]);
        counts.extend(rows.iter().map(weight));
        self.weights.weigh(distances, self.radius, counts);
    }
}

/// The error for a row without neighbours.
pub(super) fn nobody(row: usize, radius: f64, hint: &str) -> Error {
    let message = format!("No neighbors found for row {}: none within radius {radius}", row + 1);
    Error::new(Code::TooFew, message).row(row as u64 + 1).hint(hint.to_string())
}
