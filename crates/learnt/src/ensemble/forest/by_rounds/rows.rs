//! The rows of a block: what they are asked in each round, and what stays beside them.

use super::super::ForestRounds;
use super::super::out_of_bag::Judge;
use super::super::targets::{Scales, Work, target_sums, targets};
use super::growing::Task;
use super::summary::{Part, Summary};
use super::{ForestState, Phase};
use crate::tree::binned::{BinEnds, Kind, MISSING, Measure, Sides, ValueCounts};
use learnt_core::prelude::*;
use learnt_core::rounds::tree_sums;
use std::ops::Range;

impl ForestRounds {
    /// The first rounds: values and levels, and with the first columns the targets.
    pub(super) fn count_values(
        &self,
        state: &ForestState,
        first: usize,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        let outline = state.outline.view();
        let data = &block.data;
        let numbers: Vec<u64> = (block.first_row..).take(data.nrows()).collect();
        let values = ValueCounts::of(&outline, first, data, &numbers, run);
        let mut found = Summary { values, ..Summary::default() };
        if first == 0 {
            let y = targets(data)?;
            if self.counts_events() {
                crate::tree::check_not_negative(&y.view(), block.first_row)?;
            }
            found.sums = target_sums(&y, outline.classes.len(), data, run);
        }
        Ok(found)
    }

    pub(super) fn find_ends(state: &ForestState, block: &Block) -> Summary {
        Summary { ends: BinEnds::of(&state.kinds, &block.data.x), ..Summary::default() }
    }

    /// How often some trees drew each row of a block; nothing where every row counts once.
    fn counts(
        &self,
        state: &ForestState,
        trees: Range<usize>,
        rows: Range<usize>,
        run: &Context,
    ) -> Result<Vec<Vec<u16>>> {
        let sampling = self.sampling(state.outline.view().rows as usize)?;
        if state.draws.is_empty() {
            return Ok(Vec::new());
        }
        let of_tree = |t: usize| {
            let draws = state.draws.get(t).ok_or_else(|| Error::internal("draws of no tree"))?;
            let counts = sampling.counts_in(rows.clone(), draws, &run.child(t as u64));
            Ok(counts.into_iter().map(|count| count.min(u16::MAX.into()) as u16).collect())
        };
        trees.map(of_tree).collect()
    }

    /// What the grids of each tree follow from.
    pub(super) fn find_roots(
        &self,
        state: &ForestState,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        let run = &run.with_threads(1);
        let aim = state.aim()?;
        let y = targets(&block.data)?;
        let mut found = Summary::default();
        for t in 0..self.n_estimators {
            let counts = self.counts(state, t..t + 1, rows_of(block), run)?;
            let count = |row: usize| counts.first().map_or(1, |counts| counts[row]);
            found.sums.extend(tree_sums(y.nrows(), aim.width(), run, |range, sums| {
                for row in range.filter(|&row| count(row) > 0) {
                    let weight = f64::from(count(row)) * block.data.weight(row);
                    aim.add(aim.target(y[(row, 0)]), weight, sums);
                }
            }));
            found.drawn.push((0..y.nrows()).filter(|&row| count(row) > 0).count() as u64);
        }
        Ok(found)
    }

    /// What rows say that trees did not draw.
    pub(super) fn judge_rows(
        &self,
        state: &ForestState,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        let run = &run.with_threads(1);
        let centres = state.centres();
        let classes = state.outline.view().classes.len();
        let judge = Judge { trees: &state.trees, classes, centres: &centres };
        let counts = self.counts(state, 0..state.trees.len(), rows_of(block), run)?;
        let y = targets(&block.data)?;
        let is_out = |t: usize, row: usize| counts.get(t).is_some_and(|counts| counts[row] == 0);
        let sums = tree_sums(y.nrows(), judge.width(), run, |range, sums| {
            for i in range {
                let value = |j: usize| block.data.x.values().at(i, j);
                let row = (y.row(i), block.data.weight(i));
                judge.add(row, |t| is_out(t, i), value, sums);
            }
        });
        Ok(Summary { sums, ..Summary::default() })
    }

    /// How much rows of a tree count.
    pub(super) fn scales(&self, state: &ForestState, t: usize) -> Result<Scales> {
        let aim = state.aim()?;
        let sums = (state.roots.get(t * aim.width()..(t + 1) * aim.width()))
            .ok_or_else(|| Error::internal("sums of a tree are missing"))?;
        Ok(aim.scales(sums, self.factors(&state.sums, sums)))
    }
}

/// The numbers of the rows of a block.
fn rows_of(block: &Block) -> Range<usize> {
    let first = block.first_row as usize;
    first..first + block.data.nrows()
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
        rounds: &ForestRounds,
        state: &ForestState,
        block: &Block,
        run: &Context,
    ) -> Result<Summary> {
        if let Some(found) = self.recall(rounds, state, run) {
            return found;
        }
        let mut binned = Binned::new(state, block)?;
        binned.follow(rounds, state, run)?;
        let found = binned.summarize(rounds, state);
        if run.has_room(binned.bytes() + ForestRounds::round_bytes(run)) {
            self.kept = Some(binned);
        }
        found
    }

    /// From what stayed.
    pub(super) fn recall(
        &mut self,
        rounds: &ForestRounds,
        state: &ForestState,
        run: &Context,
    ) -> Option<Result<Summary>> {
        let kept = self.kept.as_mut().filter(|_| state.phase == Phase::Trees)?;
        Some(kept.follow(rounds, state, run).and_then(|()| kept.summarize(rounds, state)))
    }
}

/// Rows in bins, with the nodes that they are in.
struct Binned {
    rows: Range<usize>,
    /// The first tree of the group, and the round.
    group: Option<usize>,
    stamp: u64,
    /// Bins of the first column by row, then of the second.
    bins: Vec<u8>,
    targets: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// For each tree of the group, how often each row was drawn; nothing where every row counts once.
    counts: Vec<Vec<u16>>,
    nodes: Vec<Vec<u32>>,
}

impl Binned {
    fn new(state: &ForestState, block: &Block) -> Result<Binned> {
        let aim = state.aim()?;
        let data = &block.data;
        let rows = data.nrows();
        let mut bins = vec![0; rows * state.kinds.len()];
        for ((j, kind), bins) in state.kinds.iter().enumerate().zip(bins.chunks_mut(rows.max(1))) {
            kind.fill(&data.x, j, bins);
        }
        Ok(Binned {
            rows: rows_of(block),
            group: None,
            stamp: 0,
            bins,
            targets: targets(data)?.as_slice().iter().map(|&y| aim.target(y)).collect(),
            weights: data.weights.map(<[f64]>::to_vec),
            counts: Vec::new(),
            nodes: Vec::new(),
        })
    }

    fn bytes(&self) -> u64 {
        let rows = self.targets.len();
        let weights = if self.weights.is_some() { 8 } else { 0 };
        (self.bins.len() + rows * (8 + weights + 2 * self.counts.len() + 4 * self.nodes.len()))
            as u64
    }

    /// Goes on to the trees and nodes of this round.
    fn follow(&mut self, rounds: &ForestRounds, state: &ForestState, run: &Context) -> Result<()> {
        let rows = self.targets.len();
        let trees = state.whole..state.whole + state.growing.len();
        if self.group != Some(trees.start) {
            self.counts = rounds.counts(state, trees.clone(), self.rows.clone(), run)?;
        }
        if self.group != Some(trees.start) || self.stamp > state.stamp {
            self.nodes = vec![vec![0; rows]; trees.len()];
        }
        (self.group, self.stamp) = (Some(trees.start), state.stamp);
        for (nodes, growing) in self.nodes.iter_mut().zip(&state.growing) {
            let sides = Sides::of_tree(&growing.tree, &state.kinds);
            for (row, node) in nodes.iter_mut().enumerate() {
                while let Some(Some(sides)) = sides.get(*node as usize) {
                    *node = sides.child(usize::from(self.bins[sides.feature * rows + row]));
                }
            }
        }
        Ok(())
    }

    /// What the round asks for.
    fn summarize(&self, rounds: &ForestRounds, state: &ForestState) -> Result<Summary> {
        let aim = state.aim()?;
        let mut parts = Vec::with_capacity(state.tasks.len());
        for tasks in state.tasks.chunk_by(|a, b| a.tree == b.tree) {
            let tree = tasks[0].tree;
            let scales = rounds.scales(state, state.whole + tree)?;
            let work = Collect { rows: self, kinds: &state.kinds, scales: &scales, tree, tasks };
            parts.extend(aim.measured(&scales, work));
        }
        Ok(Summary { parts, ..Summary::default() })
    }
}

/// Collects what the tasks of one tree ask for.
struct Collect<'a> {
    rows: &'a Binned,
    kinds: &'a [Kind],
    scales: &'a Scales,
    tree: usize,
    tasks: &'a [Task],
}

/// What a task has so far.
struct Collected<M: Measure> {
    cell: M::Cell,
    spread: f64,
    ends: [f64; 2],
    /// Where each column begins among the cells.
    starts: Vec<usize>,
    cells: Vec<(M::Cell, u32)>,
    part: Part,
}

impl<M: Measure> Collected<M> {
    fn new(task: &Task, kinds: &[Kind]) -> Self {
        let (mut starts, mut cells) = (Vec::with_capacity(task.columns.len()), 0);
        for &column in &task.columns {
            starts.push(cells);
            cells += kinds[column].bins() + 1;
        }
        Collected {
            cell: M::Cell::default(),
            spread: 0.0,
            ends: [f64::INFINITY, f64::NEG_INFINITY],
            starts,
            cells: vec![(M::Cell::default(), 0); cells],
            part: Part::default(),
        }
    }

    fn finish(mut self, measure: &M) -> Part {
        measure.store(&self.cell, &mut self.part.sums);
        self.part.sums.push(self.spread);
        self.part.ends = self.ends.to_vec();
        self.part.cells.reserve(self.cells.len() * (measure.width() + 1));
        for (cell, rows) in self.cells {
            measure.store(&cell, &mut self.part.cells);
            self.part.cells.push(f64::from(rows));
        }
        self.part
    }
}

impl Work for Collect<'_> {
    type Out = Vec<Part>;

    fn run<M: Measure>(self, measure: &M) -> Vec<Part> {
        let Collect { rows, kinds, scales, tree, tasks } = self;
        let n = rows.targets.len();
        let last = tasks.iter().map(|task| task.node).max().unwrap_or(0);
        let mut slots = vec![usize::MAX; last as usize + 1];
        tasks.iter().enumerate().for_each(|(slot, task)| slots[task.node as usize] = slot);
        let mut collected: Vec<Collected<M>> =
            tasks.iter().map(|task| Collected::new(task, kinds)).collect();
        for (row, &node) in rows.nodes[tree].iter().enumerate() {
            let slot = slots.get(node as usize).copied().unwrap_or(usize::MAX);
            let count = rows.counts.get(tree).map_or(1, |counts| counts[row]);
            if slot == usize::MAX || count == 0 {
                continue;
            }
            let (task, found) = (&tasks[slot], &mut collected[slot]);
            let target = rows.targets[row];
            let own = rows.weights.as_ref().map_or(1.0, |weights| weights[row]);
            let weight = scales.weight(target, count.into(), own);
            if task.rows {
                found.part.targets.push(target);
                found.part.weights.push(weight);
                found.part.bins.extend((0..kinds.len()).map(|j| rows.bins[j * n + row]));
            }
            let point = measure.point(target, weight);
            measure.add(&mut found.cell, &point);
            found.spread += measure.spread(&point);
            found.ends = [found.ends[0].min(target), found.ends[1].max(target)];
            for (&column, &start) in task.columns.iter().zip(&found.starts) {
                let place = match rows.bins[column * n + row] {
                    MISSING => kinds[column].bins(),
                    bin => usize::from(bin),
                };
                let (cell, rows) = &mut found.cells[start + place];
                measure.add(cell, &point);
                *rows += 1;
            }
        }
        collected.into_iter().map(|found| found.finish(measure)).collect()
    }
}
