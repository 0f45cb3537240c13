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
mod by_rounds;
mod grower;
mod hist_gradient_boosting_classifier;
mod hist_gradient_boosting_regressor;
mod options;
mod plan;
mod scored;
mod split;

#[cfg(test)]
mod tests;

pub use hist_gradient_boosting_classifier::HistGradientBoostingClassifier;
pub use hist_gradient_boosting_regressor::{HistGradientBoostingRegressor, HistLoss};
pub use options::{EarlyStopping, HistGrowth};

use super::boosted::Boosted;
use super::loss::{Loss, Targets, quantile_of, weighted_quantile};
use super::stopping::{set_aside, tell, told_rows};
use crate::tree::binned::{BinLimits, BinnedTable, Grid};
use crate::tree::nodes::Tree;
use blocks::{Blocks, Cell, Scale};
use grower::{Grower, Grown};
use learnt_core::prelude::*;
use learnt_core::rounds::tree_sums;
use plan::Shape;
use scored::Scored;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

    fn scored(&self) -> Scored<'_> {
        Scored { loss: self.loss, targets: self.targets, scores: &self.scores }
    }

    /// The mean loss over some rows, which are in order.
    fn mean_loss(&self, rows: &[u32], run: &Context) -> f64 {
        let scored = self.scored();
        let sums = tree_sums(self.count(), 2, run, |range, sums| {
            let mut room = vec![0.0; self.loss.scores()];
            for &i in &rows[within(rows, &range)] {
                scored.add_loss(i as usize, &mut room, sums);
            }
        });
        sums[1] / sums[0]
    }

    /// Bounds of the sums of both derivatives.
    fn sums(&self, total: f64, run: &Context) -> (f64, f64) {
        if let Some((first, second)) = self.loss.bounds() {
            return (first * total, second * total);
        }
        let scored = self.scored();
        let sums = tree_sums(self.count(), 2, run, |range, sums| {
            range.for_each(|i| scored.add_derivatives(i, sums));
        });
        (sums[0], sums[1])
    }

    /// Probabilities of several classes, class after class.
    fn shares(&self, shares: &mut Vec<f64>, run: &Context) {
        let (classes, n) = (self.loss.scores(), self.count());
        if classes == 1 {
            return;
        }
        let scored = self.scored();
        let parts = run.par_ranges(n, CHUNK, |range| scored.shares(range));
        shares.resize(classes * n, 0.0);
        for (chunk, part) in parts.iter().enumerate() {
            let length = part.len() / classes;
            for k in 0..classes {
                let from = k * n + chunk * CHUNK;
                shares[from..from + length].copy_from_slice(&part[k * length..(k + 1) * length]);
            }
        }
    }
}

/// Rows with their scores of one kind.
struct OneScore<'a> {
    x: Frame<'a>,
    targets: Targets<'a>,
    loss: Loss,
    scores: &'a mut [f64],
}

impl OneScore<'_> {
    /// The derivatives of all rows in the k-th score; `shares` has the probabilities of several classes.
    fn fill(&self, k: usize, shares: &[f64], scale: Scale, cells: &mut [Cell], run: &Context) {
        let OneScore { loss, targets, .. } = *self;
        let scored = Scored { loss, targets, scores: self.scores };
        run.par_fill(cells, CHUNK, |first, cells| scored.fill(k, shares, scale, first, cells));
    }

    /// Leaves that hold a quantile of their residuals. Sums of weights are exact, so that their order changes
    /// nothing.
    fn refit(&self, grown: &mut Grown, rows: &[u32], rate: f64, total: f64, run: &Context) {
        let Some(q) = self.loss.leaf_quantile() else { return };
        let grid = Grid::new(total);
        let values = run.par_map(grown.leaves.len(), |leaf| {
            let rows = &rows[grown.leaves[leaf].1.clone()];
            let residual = |&row: &u32| {
                let i = row as usize;
                (self.targets.y[i] - self.scores[i], grid.positive(self.targets.weight(i)))
            };
            let mut pairs: Vec<(f64, f64)> = rows.iter().map(residual).collect();
            rate * weighted_quantile(&mut pairs, q)
        });
        for ((leaf, _), value) in grown.leaves.iter().zip(values) {
            grown.tree.values[*leaf as usize] = value;
        }
    }

    /// Adds a tree: by leaf for the rows it was grown on, else by walking. The rows of a leaf are in order.
    fn add(&mut self, grown: &Grown, rows: &[u32], aside: &[u32], run: &Context) {
        let (tree, x) = (&grown.tree, &self.x);
        run.par_fill(self.scores, SPAN, |first, scores| {
            let span = first..first + scores.len();
            for (leaf, range) in &grown.leaves {
                let (rows, value) = (&rows[range.clone()], tree.values[*leaf as usize]);
                rows[within(rows, &span)]
                    .iter()
                    .for_each(|&row| scores[row as usize - first] += value);
            }
            for &row in &aside[within(aside, &span)] {
                let leaf = tree.leaf(|j| x.values().at(row as usize, j));
                scores[row as usize - first] += tree.values[leaf];
            }
        });
    }
}

/// The places of the rows of a range among rows in order.
fn within(rows: &[u32], range: &Range<usize>) -> Range<usize> {
    let place = |limit: usize| rows.partition_point(|&row| (row as usize) < limit);
    place(range.start)..place(range.end)
}

/// The sums of the weights of classes.
fn class_sums(codes: &[u32], classes: usize, weights: Option<&[f64]>, run: &Context) -> Vec<f64> {
    tree_sums(codes.len(), classes, run, |range, sums| {
        for i in range {
            sums[codes[i] as usize] += weights.map_or(1.0, |weights| weights[i]);
        }
    })
}

/// The sums that the start of a loss follows from.
fn moments(loss: Loss, targets: &Targets, run: &Context) -> Vec<f64> {
    tree_sums(targets.y.len(), loss.moments(), run, |range, sums| {
        targets.add_moments(loss, range, sums);
    })
}

/// Boosting by this loss in memory, from where another fit of these rows ended or from the start. The rounds
/// add the same sums in the same order.
fn boost(
    data: &Dataset,
    targets: Targets,
    loss: Loss,
    growth: &HistGrowth,
    before: Option<Boosted>,
    run: &Context,
) -> Result<Boosted> {
    let y = targets.y;
    loss.check(y)?;
    let table = BinnedTable::new(&data.x, BinLimits::wide(growth.max_bins), run)?;
    let blocks = Blocks::new(table, run)?;
    let sums = moments(loss, &targets, run);
    let total = sums[0];
    let shape: Shape = growth.shape(data.x.schema(), loss, total / y.len() as f64)?;
    let stops = growth.early_stopping.is_on(y.len() > MANY_ROWS);
    let share = growth.validation_fraction.filter(|_| stops);
    let (train, aside) = set_aside(share, y, loss, run);
    let told = told_rows(&train, y.len());
    let scores = match &before {
        Some(before) => before.scores(&data.x, run)?,
        None => {
            let start = match loss.leaf_quantile() {
                Some(q) => vec![quantile_of(&targets, q, &Grid::new(total))],
                None => loss.start_of_moments(&sums),
            };
            start.iter().flat_map(|&f| std::iter::repeat_n(f, y.len())).collect()
        }
    };
    let mut rows = Rows { x: data.x, targets, loss, scores };
    let mut boosted = before.unwrap_or_else(|| {
        let start = (0..loss.scores()).map(|k| rows.scores[k * y.len()]).collect();
        let train_score = vec![rows.mean_loss(&told, run)];
        Boosted { start, trees: Vec::new(), train_score, validation_score: Vec::new() }
    });
    if !aside.is_empty() && boosted.validation_score.is_empty() {
        boosted.validation_score.push(rows.mean_loss(&aside, run));
    }
    let room = Room::new(&blocks, &shape, train, loss, run);
    let mut shares = Vec::new();
    for round in boosted.trees.len() / loss.scores() + 1..=growth.max_iter {
        rows.shares(&mut shares, run);
        let (first, second) = rows.sums(total, run);
        let scale = Scale::new(y.len(), first, second);
        let grown =
            room.grow_round(boosted.trees.len(), &mut rows, &shares, scale, (&aside, total))?;
        let split = grown.iter().any(|tree| tree.len() > 1);
        boosted.trees.extend(grown);
        boosted.train_score.push(rows.mean_loss(&told, run));
        if !aside.is_empty() {
            boosted.validation_score.push(rows.mean_loss(&aside, run));
        }
        tell(round, growth.max_iter, (&boosted.train_score, &boosted.validation_score), run)?;
        if growth.ends(&boosted, stops, split || shape.max_features < blocks.columns()) {
            break;
        }
    }
    Ok(boosted)
}

/// What grows trees, of one score after another or side by side.
struct Room<'a> {
    blocks: &'a Blocks,
    shape: &'a Shape,
    /// Rows to train on.
    train: Vec<u32>,
    /// Those that have nothing to do.
    workers: Mutex<Vec<Worker<'a>>>,
    /// Of the scores, and of the work inside one tree.
    outer: Context<'a>,
    inner: Context<'a>,
}

/// What grows one tree.
struct Worker<'a> {
    grower: Grower<'a>,
    cells: Vec<Cell>,
}

impl<'a> Room<'a> {
    /// Trees of many classes grow side by side where memory allows, each on one thread: no thread waits for
    /// another at every node then.
    fn new(
        blocks: &'a Blocks,
        shape: &'a Shape,
        train: Vec<u32>,
        loss: Loss,
        run: &Context<'a>,
    ) -> Self {
        let (threads, rows) = (run.threads(), blocks.rows());
        let bytes = threads * (12 * train.len() + size_of::<Cell>() * rows);
        let many = threads > 1 && loss.scores() >= 2 * threads;
        let beside = many && run.claim(bytes as u64, "rows of classes side by side").is_ok();
        let alone = run.with_threads(1);
        let (outer, inner) = if beside { (*run, alone) } else { (alone, *run) };
        Room { blocks, shape, train, workers: Mutex::default(), outer, inner }
    }

    fn worker(&self) -> Worker<'a> {
        Worker {
            grower: Grower::new(self.blocks, self.shape, self.train.clone(), &self.inner),
            cells: vec![Cell::default(); self.blocks.rows()],
        }
    }

    /// One tree for each score, the first of this number; the scores with them.
    fn grow_round(
        &self,
        number: usize,
        rows: &mut Rows,
        shares: &[f64],
        scale: Scale,
        (aside, total): (&[u32], f64),
    ) -> Result<Vec<Tree>> {
        let Rows { x, targets, loss, .. } = *rows;
        let (n, scores) = (rows.count(), &mut rows.scores);
        let grown: Mutex<BTreeMap<usize, Result<Tree>>> = Mutex::default();
        self.outer.par_fill(scores, n, |first, scores| {
            let (k, run) = (first / n, &self.inner);
            let waiting = lock(&self.workers).pop();
            let mut worker = waiting.unwrap_or_else(|| self.worker());
            let mut of = OneScore { x, targets, loss, scores };
            let Worker { grower, cells } = &mut worker;
            of.fill(k, shares, scale, cells, run);
            let tree = grower.grow(number + k, cells, scale).map(|mut grown| {
                of.refit(&mut grown, &grower.rows, grower.shape.learning_rate, total, run);
                of.add(&grown, &grower.rows, aside, run);
                grown.tree.in_preorder()
            });
            lock(&self.workers).push(worker);
            lock(&grown).insert(k, tree);
        });
        let grown = grown.into_inner().unwrap_or_else(PoisonError::into_inner);
        grown.into_values().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
