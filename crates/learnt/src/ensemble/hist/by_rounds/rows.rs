//! The rows of a block: what they are asked in each round, and what stays beside them.

use super::super::blocks::{Cell, Words};
use super::super::scored::Scored;
use super::super::{class_sums, moments};
use super::growing::{Finished, packed};
use super::summary::Summary;
use super::{HistRounds, HistState, KEY_PARTS, key_counts, key_part};
use crate::ensemble::loss::{Loss, Targets};
use crate::ensemble::stopping::{group, groups, row_key};
use crate::tree::balanced_weights;
use crate::tree::binned::{BinEnds, Grid, Kind, Sides, ValueCounts};
use crate::tree::nodes::Tree;
use learnt_core::prelude::*;
use learnt_core::rounds::tree_sums;

/// What a row is for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Train,
    /// To train, and to tell the loss.
    Told,
    Aside,
}

/// The rows of a block that count.
struct Counted {
    gathered: Option<OwnedDataset>,
    /// Their numbers in the whole table.
    numbers: Vec<u64>,
}

impl Counted {
    /// Leaves out rows of weight zero.
    fn of(block: &Block) -> Self {
        let (first, rows) = (block.first_row, block.data.nrows());
        let kept: Vec<usize> = match block.data.weights {
            Some(weights) if weights.contains(&0.0) => {
                (0..rows).filter(|&i| weights[i] > 0.0).collect()
            }
            _ => {
                let numbers = (first..first + rows as u64).collect();
                return Counted { gathered: None, numbers };
            }
        };
        let gathered = Some(block.data.gather(&kept));
        Counted { gathered, numbers: kept.into_iter().map(|i| first + i as u64).collect() }
    }

    fn data<'a>(&'a self, block: &Block<'a>) -> Dataset<'a> {
        self.gathered.as_ref().map_or(block.data, OwnedDataset::view)
    }
}

impl HistRounds {
    /// Targets as numbers.
    fn targets(data: &Dataset) -> Result<Vec<f64>> {
        match data.y {
            Some(Target::Class { codes, .. }) => Ok(codes.iter().map(|&c| f64::from(c)).collect()),
            _ => Ok(data.real_target()?.column(0)),
        }
    }

    /// Weights, by which classes count the same if that is asked for.
    fn weights(&self, state: &HistState, data: &Dataset) -> Result<Option<Vec<f64>>> {
        match self.balanced {
            true => {
                let (codes, _) = data.class_target()?;
                Ok(Some(balanced_weights(&state.classes, codes, data.weights)))
            }
            false => Ok(data.weights.map(<[f64]>::to_vec)),
        }
    }

    /// The first rounds: values and levels, and with the first columns classes and keys.
    pub(super) fn count_values(
        &self,
        state: &HistState,
        first: usize,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        let outline = state.outline.view();
        let rows = Counted::of(block);
        let data = rows.data(block);
        let mut found = Summary::default();
        if first == 0 {
            let loss = self.loss(&outline);
            let y = Self::targets(&data)?;
            loss.check_rows(&y, block.first_row)?;
            found.rows = y.len() as u64;
            if self.balanced {
                let (codes, classes) = data.class_target()?;
                found.sums = class_sums(codes, classes.len(), data.weights, run);
            }
            if self.share().is_some() {
                found.key_counts = vec![0; key_counts(loss)];
                for (&y, &row) in y.iter().zip(&rows.numbers) {
                    let part = key_part(row_key(row, run));
                    found.key_counts[group(loss, y) * KEY_PARTS + part] += 1;
                }
            }
        }
        found.values = ValueCounts::of(&outline, first, &data, &rows.numbers, run);
        Ok(found)
    }

    /// The ends of bins, the sums of targets, and the keys on the border.
    pub(super) fn find_ends(
        &self,
        state: &HistState,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        let loss = self.loss(&state.outline.view());
        let rows = Counted::of(block);
        let data = rows.data(block);
        let y = Self::targets(&data)?;
        let weights = self.weights(state, &data)?;
        let targets = Targets { y: &y, weights: weights.as_deref() };
        let ends = BinEnds::of(&state.kinds, &data.x);
        let mut found = Summary { sums: moments(loss, &targets, run), ends, ..Summary::default() };
        if !state.border.is_empty() {
            found.keys = vec![Vec::new(); groups(loss)];
            for (&y, &row) in y.iter().zip(&rows.numbers) {
                let (key, group) = (row_key(row, run), group(loss, y));
                if key_part(key) as u64 == state.border[group] {
                    found.keys[group].push(key);
                }
            }
        }
        Ok(found)
    }
}

impl HistRounds {
    /// What rows say about a start that is a quantile.
    pub(super) fn find_start(&self, state: &HistState, block: &Block) -> Result<Summary> {
        let rows = Counted::of(block);
        let data = rows.data(block);
        let y = Self::targets(&data)?;
        let grid = Grid::new(state.total);
        let pieces = state.quantiles.as_ref().map(|quantiles| {
            let row = |(i, &y): (usize, &f64)| (0, y, grid.positive(data.weight(i)));
            quantiles.ask(y.iter().enumerate().map(row))
        });
        Ok(Summary { pieces: pieces.unwrap_or_default(), ..Summary::default() })
    }
}

/// What stays beside a block while trees grow: enough to need its rows no more.
#[derive(Default)]
pub(super) struct Held {
    kept: Option<Binned>,
}

impl Held {
    /// From the rows of the block, which stay in bins where memory allows.
    pub(super) fn summarize(
        &mut self,
        rounds: &HistRounds,
        state: &HistState,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        if let Some(found) = self.recall(rounds, state) {
            return found;
        }
        self.kept = None;
        let mut binned = Binned::new(rounds, state, block, run)?;
        let found = binned.summarize(rounds, state);
        if run.claim(binned.bytes() + rounds.round_bytes(state, run), "rows in bins").is_ok() {
            self.kept = Some(binned);
        }
        Ok(found)
    }

    /// From what stayed, if it is of this round or of the one before.
    pub(super) fn recall(
        &mut self,
        rounds: &HistRounds,
        state: &HistState,
    ) -> Option<Result<Summary>> {
        let kept = self.kept.as_mut()?;
        if kept.stamp + 1 == state.stamp {
            kept.advance(state);
        }
        (kept.stamp == state.stamp).then(|| Ok(kept.summarize(rounds, state)))
    }
}

/// Rows in bins, with their scores and the nodes that they are in.
struct Binned {
    stamp: u64,
    words: Words,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    uses: Vec<Use>,
    /// Those of the first score, then of the second.
    scores: Vec<f64>,
    nodes: Vec<u32>,
    /// Derivatives at the scores, where there is one score a row and they are known.
    cells: Vec<Cell>,
}

impl Binned {
    fn new(rounds: &HistRounds, state: &HistState, block: &Block, run: &Context) -> Result<Binned> {
        let run = &run.with_threads(1);
        let loss = rounds.loss(&state.outline.view());
        let rows = Counted::of(block);
        let data = rows.data(block);
        let y = HistRounds::targets(&data)?;
        let mut words = Words::empty(y.len(), &state.kinds, run)?;
        let mut bins = vec![0; y.len()];
        for (j, kind) in state.kinds.iter().enumerate() {
            kind.fill(&data.x, j, &mut bins);
            words.put(j, &bins, &kind.upper_bytes(&data.x, j));
        }
        let step = HistRounds::told_step(state);
        let used = |(&y, &row): (&f64, &u64)| match state.limits.get(group(loss, y)) {
            Some(&limit) if row_key(row, run) < limit => Use::Aside,
            _ if row % step == 0 => Use::Told,
            _ => Use::Train,
        };
        let mut binned = Binned {
            stamp: state.stamp,
            words,
            weights: rounds.weights(state, &data)?,
            uses: y.iter().zip(&rows.numbers).map(used).collect(),
            scores: state.boosted()?.scores(&data.x, run)?,
            nodes: vec![0; y.len() * loss.scores()],
            cells: Vec::new(),
            y,
        };
        binned.descend_all(state);
        Ok(binned)
    }

    fn bytes(&self) -> u64 {
        let rows = self.y.len() as u64;
        let weights = if self.weights.is_some() { 8 } else { 0 };
        let scores = (12 * self.scores.len()) as u64;
        let cells = if self.scores.len() == self.y.len() { 16 } else { 0 };
        self.words.bytes() + rows * (9 + weights + cells) + scores
    }

    /// From the round before to this one.
    fn advance(&mut self, state: &HistState) {
        let n = self.y.len();
        if !state.finished.is_empty() {
            self.cells.clear();
        }
        for (k, Finished { tree, values }) in state.finished.iter().enumerate() {
            // The last splits have their children only now.
            self.descend(k, tree, &state.kinds);
            let places = k * n..(k + 1) * n;
            let nodes = &mut self.nodes[places.clone()];
            for (score, node) in self.scores[places].iter_mut().zip(nodes) {
                *score += values[*node as usize];
                *node = 0;
            }
        }
        self.descend_all(state);
        self.stamp = state.stamp;
    }

    /// Moves rows to the children of nodes that have some, in all trees that grow.
    fn descend_all(&mut self, state: &HistState) {
        for (k, growing) in state.growing.iter().enumerate() {
            self.descend(k, &growing.tree, &state.kinds);
        }
        if let Some(waiting) = &state.waiting {
            self.descend(0, &waiting.whole, &state.kinds);
        }
    }

    /// Moves rows to the children of nodes that have some, in the tree of one score.
    fn descend(&mut self, k: usize, tree: &Tree, kinds: &[Kind]) {
        let n = self.y.len();
        let sides = Sides::of_tree(tree, kinds);
        for (row, node) in self.nodes[k * n..(k + 1) * n].iter_mut().enumerate() {
            while let Some(Some(sides)) = sides.get(*node as usize) {
                *node = sides.child(self.words.bin(row, sides.feature));
            }
        }
    }

    fn scored(&self, loss: Loss) -> Scored<'_> {
        let targets = Targets { y: &self.y, weights: self.weights.as_deref() };
        Scored { loss, targets, scores: &self.scores }
    }

    /// What the round asks for.
    fn summarize(&mut self, rounds: &HistRounds, state: &HistState) -> Summary {
        let loss = rounds.loss(&state.outline.view());
        let mut found = Summary::default();
        if state.asks_losses || state.asks_sums {
            found.sums = self.sums(loss, state);
        }
        if let (Some(quantiles), Some(waiting)) = (&state.quantiles, &state.waiting) {
            let grid = Grid::new(state.total);
            let residual = |row: usize| {
                let leaf = waiting.leaf_of[self.nodes[row] as usize] as usize;
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[row]);
                (leaf, self.y[row] - self.scores[row], grid.positive(weight))
            };
            let train = (0..self.y.len()).filter(|&row| self.uses[row] != Use::Aside);
            found.pieces = quantiles.ask(train.map(residual));
        }
        if state.wanted.iter().all(Vec::is_empty) {
            return found;
        }
        let mut cells = std::mem::take(&mut self.cells);
        let known = cells.len() == self.y.len();
        cells.resize(self.y.len(), Cell::default());
        let scored = self.scored(loss);
        let shares = scored.shares(0..self.y.len());
        let mut histogram = Vec::new();
        for (k, wanted) in state.wanted.iter().enumerate() {
            if wanted.is_empty() {
                continue;
            }
            if !known {
                scored.fill(k, &shares, state.scale(), 0, &mut cells);
            }
            for rows in self.rows_of(k, wanted) {
                self.words.histogram(&rows, &cells, &mut histogram);
                packed(&histogram, &state.kinds, &self.words.layout, &mut found.cells);
            }
        }
        if loss.scores() == 1 {
            self.cells = cells;
        }
        found
    }

    /// Weights and losses of the rows that tell the training loss, of those set aside, and derivatives.
    fn sums(&self, loss: Loss, state: &HistState) -> Vec<f64> {
        let alone = Context::default().with_threads(1);
        let scored = self.scored(loss);
        tree_sums(self.y.len(), 6, &alone, |range, sums| {
            let mut room = vec![0.0; loss.scores()];
            for row in range {
                let place = match self.uses[row] {
                    Use::Train => None,
                    Use::Told => Some(0),
                    Use::Aside => Some(2),
                };
                if let Some(place) = place.filter(|_| state.asks_losses) {
                    scored.add_loss(row, &mut room, &mut sums[place..place + 2]);
                }
                if state.asks_sums {
                    scored.add_derivatives(row, &mut sums[4..]);
                }
            }
        })
    }

    /// The training rows of each of these nodes.
    fn rows_of(&self, k: usize, wanted: &[u32]) -> Vec<Vec<u32>> {
        let n = self.y.len();
        let last = wanted.iter().max().map_or(0, |&id| id as usize);
        let mut place = vec![usize::MAX; last + 1];
        wanted.iter().enumerate().for_each(|(slot, &id)| place[id as usize] = slot);
        let mut rows = vec![Vec::new(); wanted.len()];
        for (row, &node) in self.nodes[k * n..(k + 1) * n].iter().enumerate() {
            let slot = place.get(node as usize).copied().unwrap_or(usize::MAX);
            if slot != usize::MAX && self.uses[row] != Use::Aside {
                rows[slot].push(row as u32);
            }
        }
        rows
    }
}
