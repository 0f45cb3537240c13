//! Criteria of numeric targets by sums: squared error and Poisson deviance.
//!
//! Squared error: Σ w (y - mean)² / Σ w; Friedman's gain is the same number for two children.
//! Poisson: Σ w y ln(y / mean) / Σ w, half the mean deviance.

use super::criterion::{Criterion, Summary, gathered};

/// Targets of rows, one number for each output, with their weights.
#[derive(Clone, Debug)]
pub(super) struct Reals {
    pub(super) values: Vec<f64>,
    pub(super) outputs: usize,
    pub(super) weights: Option<Vec<f64>>,
}

impl Reals {
    #[inline(always)]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    pub(super) fn gather(&self, rows: &[u32]) -> Self {
        let m = self.outputs;
        let mut values = Vec::with_capacity(rows.len() * m);
        for &row in rows {
            values.extend_from_slice(&self.values[row as usize * m..(row as usize + 1) * m]);
        }
        let weights = self.weights.as_ref().map(|weights| gathered(weights, rows));
        Reals { values, outputs: m, weights }
    }

    /// Whether all rows have one target.
    pub(super) fn constant(&self, rows: &[u32]) -> bool {
        let m = self.outputs;
        let target = |row: u32| &self.values[row as usize * m..(row as usize + 1) * m];
        rows.iter().all(|&row| target(row) == target(rows[0]))
    }

    /// Weight and means; the means are taken as differences from the first row's target.
    pub(super) fn means(&self, rows: &[u32]) -> (f64, Vec<f64>) {
        let m = self.outputs;
        let start = rows[0] as usize * m;
        let mut means = self.values[start..start + m].to_vec();
        let mut sums = vec![0.0; m];
        let mut total = 0.0;
        for &row in rows {
            let weight = self.weight(row as usize);
            total += weight;
            for j in 0..m {
                sums[j] += weight * (self.values[row as usize * m + j] - means[j]);
            }
        }
        means.iter_mut().zip(&sums).for_each(|(mean, sum)| *mean += sum / total);
        (total, means)
    }
}

/// Standard deviation of one target (M5); nodes whose deviation is below `enough` are pure.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    target: Reals,
    enough: f64,
}

impl Deviation {
    pub(crate) fn new(values: Vec<f64>, weights: Option<Vec<f64>>, enough: f64) -> Self {
        Deviation { target: Reals { values, outputs: 1, weights }, enough }
    }
}

impl Criterion for Deviation {
    fn summary(&self, rows: &[u32]) -> Summary {
        let (weight, value) = self.target.means(rows);
        let add = |sum: f64, &row: &u32| {
            let apart = self.target.values[row as usize] - value[0];
            sum + self.target.weight(row as usize) * apart * apart
        };
        let squares = rows.iter().fold(0.0, add);
        let deviation = (squares / weight).sqrt();
        let pure = deviation < self.enough || self.target.constant(rows);
        Summary { weight, impurity: deviation, pure, value, sums: vec![0.0, squares] }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Deviation { target: self.target.gather(rows), enough: self.enough }
    }

    fn width(&self) -> usize {
        2
    }

    #[inline(always)]
    fn add(&self, node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        let weight = self.target.weight(row);
        let apart = self.target.values[row] - node.value[0];
        sums[0] += weight * apart;
        sums[1] += weight * apart * apart;
        weight
    }

    /// W sd - W_l sd_l - W_r sd_r.
    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let right_weight = node.weight - left_weight;
        // W sd = √(W Σ w (y - mean)²) of a side, from sums about the mean of the node.
        let side =
            |sum: f64, squares: f64, weight: f64| (weight * squares - sum * sum).max(0.0).sqrt();
        let right = side(-left[0], node.sums[1] - left[1], right_weight);
        node.weight * node.impurity - side(left[0], left[1], left_weight) - right
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }
}

/// Squared error, the mean over the outputs.
#[derive(Clone, Debug)]
pub(crate) struct Squared(Reals);

impl Squared {
    pub(crate) fn new(values: Vec<f64>, outputs: usize, weights: Option<Vec<f64>>) -> Self {
        Squared(Reals { values, outputs, weights })
    }
}

impl Criterion for Squared {
    fn summary(&self, rows: &[u32]) -> Summary {
        let (weight, value) = self.0.means(rows);
        let m = self.0.outputs;
        let mut squares = 0.0;
        for &row in rows {
            let target = &self.0.values[row as usize * m..(row as usize + 1) * m];
            let square: f64 = target.iter().zip(&value).map(|(y, c)| (y - c) * (y - c)).sum();
            squares += self.0.weight(row as usize) * square;
        }
        Summary {
            weight,
            impurity: squares / (weight * m as f64),
            pure: squares == 0.0 || self.0.constant(rows),
            value,
            sums: vec![0.0; m],
        }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Squared(self.0.gather(rows))
    }

    fn width(&self) -> usize {
        self.0.outputs
    }

    /// Sums are of differences from the node's mean, so that those over the whole node are zero.
    #[inline(always)]
    fn add(&self, node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        let weight = self.0.weight(row);
        match (sums, node.value.as_slice()) {
            ([sum], &[mean]) => *sum += weight * (self.0.values[row] - mean),
            (sums, means) => {
                let target = &self.0.values[row * means.len()..(row + 1) * means.len()];
                for ((sum, y), mean) in sums.iter_mut().zip(target).zip(means) {
                    *sum += weight * (y - mean);
                }
            }
        }
        weight
    }

    /// Σ l² (1/W_l + 1/W_r) / outputs.
    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let squares: f64 = left.iter().map(|l| l * l).sum();
        let right_weight = node.weight - left_weight;
        squares * node.weight / (left_weight * right_weight * left.len() as f64)
    }

    /// Sums are of differences from the node's mean.
    fn prediction(&self, node: &Summary, sums: &[f64], weight: f64) -> f64 {
        node.value[0] + sums[0] / weight
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        sums.iter().sum::<f64>() / weight
    }
}

/// Poisson deviance of targets that are not negative, the mean over the outputs.
#[derive(Clone, Debug)]
pub(crate) struct Poisson(Reals);

impl Poisson {
    pub(crate) fn new(values: Vec<f64>, outputs: usize, weights: Option<Vec<f64>>) -> Self {
        Poisson(Reals { values, outputs, weights })
    }
}

/// A share of the events of a node below this is the rounding of a sum over a side without any.
const NO_EVENT: f64 = 1e-11;

/// s ln(s / w), the part of the log-likelihood that a split changes.
fn likelihood(sum: f64, weight: f64) -> f64 {
    if sum > 0.0 { sum * (sum / weight).ln() } else { 0.0 }
}

impl Criterion for Poisson {
    fn summary(&self, rows: &[u32]) -> Summary {
        let (weight, value) = self.0.means(rows);
        let m = self.0.outputs;
        let mut deviance = 0.0;
        for &row in rows {
            for (j, mean) in value.iter().enumerate() {
                let y = self.0.values[row as usize * m + j];
                if y > 0.0 {
                    deviance += self.0.weight(row as usize) * y * (y / mean).ln();
                }
            }
        }
        Summary {
            weight,
            impurity: (deviance / (weight * m as f64)).max(0.0),
            pure: self.0.constant(rows),
            sums: value.iter().map(|mean| mean * weight).collect(),
            value,
        }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Poisson(self.0.gather(rows))
    }

    fn width(&self) -> usize {
        self.0.outputs
    }

    #[inline(always)]
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        let weight = self.0.weight(row);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum += weight * self.0.values[row * self.0.outputs + j];
        }
        weight
    }

    /// A side without a single event would predict zero, which no event may follow: no split.
    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let right_weight = node.weight - left_weight;
        let mut gain = 0.0;
        for (l, all) in left.iter().zip(&node.sums) {
            let r = all - l;
            if l.min(r) <= NO_EVENT * all {
                return f64::NEG_INFINITY;
            }
            gain += likelihood(*l, left_weight) + likelihood(r, right_weight)
                - likelihood(*all, node.weight);
        }
        gain / left.len() as f64
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        sums.iter().sum::<f64>() / weight
    }
}
