//! Histogram gradient boosting: trees over bins, added one after another to lower a loss.
//!
//! Each round has the derivatives g and h of the loss at the scores of all rows, and grows a tree whose
//! splits lower Σ (g v + ½ h v²) + ½ l2 v² over the leaves most, best split first; leaf values are
//! -G / (H + l2), or a quantile of the residuals for absolute and quantile loss, times the learning
//! rate. Rounds end at `max_iter`, when no split helps, or when the loss on rows set aside does not
//! fall any more. Sums are of whole numbers, so threads do not change a bit.
//!
//! Ke, Meng, Finley et al., "LightGBM: a highly efficient gradient boosting decision tree" (2017);
//! Friedman (2001), Annals of Statistics 29, 1189-1232.

mod blocks;
mod grower;
mod hist_gradient_boosting_classifier;
mod hist_gradient_boosting_regressor;
mod options;
mod split;

#[cfg(test)]
mod tests;

pub use hist_gradient_boosting_classifier::HistGradientBoostingClassifier;
pub use hist_gradient_boosting_regressor::{HistGradientBoostingRegressor, HistLoss};
pub use options::{EarlyStopping, HistGrowth};

use super::boosted::Boosted;
use super::loss::{Loss, Targets, weighted_quantile};
use super::stopping::{has_stalled, set_aside, tell, told_rows};
use crate::tree::binned::BinnedTable;
use blocks::{Blocks, Cell, Scale};
use grower::{Grower, Grown, Shape};
use learnt_core::prelude::*;
use learnt_core::stats::special::softmax_in_place;

/// The random stream of the columns of nodes.
const COLUMNS_STREAM: u64 = 0x6869_7374;
/// Rows of a task over rows.
const CHUNK: usize = 1 << 14;
/// Rows of a task that looks for its rows in every leaf.
const SPAN: usize = 1 << 16;
/// With more rows than this, `early_stopping` is on by itself.
const MANY_ROWS: usize = 10_000;

/// Rows, their targets and the scores so far: those of the first score of all rows, then the second.
struct Rows<'a> {
    x: Frame<'a>,
    targets: Targets<'a>,
    loss: Loss,
    scores: Vec<f64>,
}

impl Rows<'_> {
    fn count(&self) -> usize {
        self.targets.y.len()
    }

    /// The mean loss over some rows.
    fn mean_loss(&self, rows: &[u32]) -> f64 {
        let (mut total, mut sum) = (0.0, 0.0);
        let n = self.count();
        let mut row = vec![0.0; self.loss.scores()];
        for &i in rows {
            let i = i as usize;
            row.iter_mut().enumerate().for_each(|(k, f)| *f = self.scores[k * n + i]);
            let weight = self.targets.weight(i);
            total += weight;
            sum += weight * self.loss.value(self.targets.y[i], &row);
        }
        sum / total
    }

    /// Bounds of the sums of both derivatives.
    fn sums(&self, run: &Context) -> (f64, f64) {
        let Targets { y, .. } = self.targets;
        if let Some((first, second)) = self.loss.bounds() {
            let total: f64 = match self.targets.weights {
                Some(weights) => weights.iter().sum(),
                None => y.len() as f64,
            };
            return (first * total, second * total);
        }
        let parts = run.par_ranges(y.len(), CHUNK, |range| {
            range.fold((0.0, 0.0), |(first, second), i| {
                let (g, h) = self.loss.derivatives(y[i], self.scores[i]);
                let weight = self.targets.weight(i);
                (first + weight * g.abs(), second + weight * h)
            })
        });
        parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// The derivatives of all rows; `shares` has the probabilities of several classes.
    fn fill(&self, k: usize, shares: &[f64], scale: Scale, cells: &mut [Cell], run: &Context) {
        let (targets, loss, n) = (&self.targets, self.loss, self.count());
        run.par_fill(cells, CHUNK, |first, cells| {
            let rows = first..first + cells.len();
            let y = &targets.y[rows.clone()];
            if let Loss::Multinomial(_) = loss {
                let shares = &shares[k * n..(k + 1) * n][rows];
                for (i, ((cell, &p), &y)) in cells.iter_mut().zip(shares).zip(y).enumerate() {
                    let weight = targets.weight(first + i);
                    let g = p - f64::from(u8::from(y == k as f64));
                    *cell = scale.cell(weight * g, weight * p * (1.0 - p));
                }
                return;
            }
            let scores = &self.scores[rows];
            for (i, ((cell, &f), &y)) in cells.iter_mut().zip(scores).zip(y).enumerate() {
                let (g, h) = loss.derivatives(y, f);
                let weight = targets.weight(first + i);
                *cell = scale.cell(weight * g, weight * h);
            }
        });
    }

    /// Probabilities of several classes, class after class.
    fn shares(&self, shares: &mut Vec<f64>, run: &Context) {
        let (classes, n) = (self.loss.scores(), self.count());
        if classes == 1 {
            return;
        }
        let parts = run.par_ranges(n, CHUNK, |range| {
            let mut part = vec![0.0; range.len() * classes];
            let mut row = vec![0.0; classes];
            for (place, i) in range.clone().enumerate() {
                row.iter_mut().enumerate().for_each(|(k, f)| *f = self.scores[k * n + i]);
                softmax_in_place(&mut row);
                row.iter().enumerate().for_each(|(k, p)| part[k * range.len() + place] = *p);
            }
            part
        });
        shares.resize(classes * n, 0.0);
        for (chunk, part) in parts.iter().enumerate() {
            let length = part.len() / classes;
            for k in 0..classes {
                let from = k * n + chunk * CHUNK;
                shares[from..from + length].copy_from_slice(&part[k * length..(k + 1) * length]);
            }
        }
    }

    /// Leaves that hold a quantile of their residuals.
    fn refit(&self, grown: &mut Grown, rows: &[u32], rate: f64, run: &Context) {
        let Some(q) = self.loss.leaf_quantile() else { return };
        let values = run.par_map(grown.leaves.len(), |leaf| {
            let rows = &rows[grown.leaves[leaf].1.clone()];
            let residual = |&row: &u32| {
                let i = row as usize;
                (self.targets.y[i] - self.scores[i], self.targets.weight(i))
            };
            let mut pairs: Vec<(f64, f64)> = rows.iter().map(residual).collect();
            rate * weighted_quantile(&mut pairs, q)
        });
        for ((leaf, _), value) in grown.leaves.iter().zip(values) {
            grown.tree.values[*leaf as usize] = value;
        }
    }

    /// Adds a tree to the k-th score: by leaf for the rows it was grown on, else by walking. The rows
    /// of a leaf are in order.
    fn add(&mut self, k: usize, grown: &Grown, rows: &[u32], aside: &[u32], run: &Context) {
        let n = self.count();
        let (tree, x) = (&grown.tree, &self.x);
        let within = |rows: &[u32], from: usize, to: usize| {
            let place = |limit: usize| rows.partition_point(|&row| (row as usize) < limit);
            place(from)..place(to)
        };
        run.par_fill(&mut self.scores[k * n..(k + 1) * n], SPAN, |first, scores| {
            let last = first + scores.len();
            for (leaf, range) in &grown.leaves {
                let (rows, value) = (&rows[range.clone()], tree.values[*leaf as usize]);
                rows[within(rows, first, last)]
                    .iter()
                    .for_each(|&row| scores[row as usize - first] += value);
            }
            for &row in &aside[within(aside, first, last)] {
                let leaf = tree.leaf(|j| x.values().at(row as usize, j));
                scores[row as usize - first] += tree.values[leaf];
            }
        });
    }
}

/// Boosting by this loss.
fn boost(
    data: &Dataset,
    y: &[f64],
    weights: Option<&[f64]>,
    loss: Loss,
    growth: &HistGrowth,
    run: &Context,
) -> Result<Boosted> {
    loss.check(y)?;
    let table = BinnedTable::new(&data.x, growth.max_bins, run)?;
    let blocks = Blocks::new(table, run)?;
    let unit = weights.map_or(1.0, |weights| weights.iter().sum::<f64>() / y.len() as f64);
    let shape: Shape = growth.shape(data.x.schema(), unit)?;
    let stops = growth.early_stopping.is_on(y.len() > MANY_ROWS);
    let share = growth.validation_fraction.filter(|_| stops);
    let (train, aside) = set_aside(share, y, loss, run);
    let targets = Targets { y, weights };
    let start = loss.start(&targets);
    let scores = start.iter().flat_map(|&f| std::iter::repeat_n(f, y.len())).collect();
    let mut rows = Rows { x: data.x, targets, loss, scores };
    let told = told_rows(&train);
    let mut boosted = Boosted {
        start,
        trees: Vec::new(),
        train_score: vec![rows.mean_loss(&told)],
        validation_score: Vec::new(),
    };
    if !aside.is_empty() {
        boosted.validation_score.push(rows.mean_loss(&aside));
    }
    let rng = run.rng(COLUMNS_STREAM);
    let mut grower = Grower::new(&blocks, &shape, train, run, rng);
    let mut cells = vec![Cell::default(); y.len()];
    let mut shares = Vec::new();
    for round in 1..=growth.max_iter {
        let split =
            add_round(&mut rows, &mut grower, &mut boosted, &aside, &mut cells, &mut shares)?;
        boosted.train_score.push(rows.mean_loss(&told));
        if !aside.is_empty() {
            boosted.validation_score.push(rows.mean_loss(&aside));
        }
        let judged =
            if aside.is_empty() { &boosted.train_score } else { &boosted.validation_score };
        tell(round, growth.max_iter, (&boosted.train_score, &boosted.validation_score), run)?;
        let stalled = stops && has_stalled(judged, growth.n_iter_no_change, growth.tol);
        if stalled || (!split && shape.max_features == blocks.columns()) {
            break;
        }
    }
    Ok(boosted)
}

/// One tree for each score; whether any of them has a split.
fn add_round(
    rows: &mut Rows,
    grower: &mut Grower,
    boosted: &mut Boosted,
    aside: &[u32],
    cells: &mut [Cell],
    shares: &mut Vec<f64>,
) -> Result<bool> {
    let run = grower.run;
    let rate = grower.shape.learning_rate;
    rows.shares(shares, &run);
    let mut split = false;
    for k in 0..rows.loss.scores() {
        let (first, second) = rows.sums(&run);
        let scale = Scale::new(rows.count(), first, second);
        rows.fill(k, shares, scale, cells, &run);
        let mut grown = grower.grow(cells, scale)?;
        rows.refit(&mut grown, &grower.rows, rate, &run);
        rows.add(k, &grown, &grower.rows, aside, &run);
        split |= grown.tree.len() > 1;
        boosted.trees.push(grown.tree.in_preorder());
    }
    Ok(split)
}
