//! Growth of one tree over a table in bins, on one thread.
//!
//! Rows carry what they add to sums, so that a node reads both in order. Subtrees of few rows copy
//! their part of the table first, so that it stays near. Growth is depth first, or best first where
//! the number of leaves is limited. Nothing recurses.

use super::measure::Measure;
use super::search::{Found, Search};
use super::table::{BinnedTable, Kind, MISSING};
use crate::tree::grow::Settings;
use crate::tree::nodes::{NONE, Tree};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Subtrees of at most this many rows work on a copy of their part of the table.
const LOCAL: usize = 4096;

/// A row of the table with what it contributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<P> {
    pub(crate) row: u32,
    pub(crate) point: P,
}

/// Bins by row, column after column.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) bins: &'a [u8],
    pub(super) rows: usize,
}

impl<'a> View<'a> {
    pub(super) fn column(&self, j: usize) -> &'a [u8] {
        &self.bins[j * self.rows..(j + 1) * self.rows]
    }
}

/// A node that may still be split.
struct Open {
    parent: u32,
    range: Range<usize>,
    depth: usize,
}

/// The sums over rows.
fn total<M: Measure>(items: &[Item<M::Point>]) -> M::Cell {
    let mut cell = M::Cell::default();
    items.iter().for_each(|item| M::add(&mut cell, &item.point));
    cell
}

/// A tree over these rows.
pub(crate) fn grow_binned<M: Measure>(
    table: &BinnedTable,
    measure: &M,
    items: Vec<Item<M::Point>>,
    settings: &Settings,
    rng: Rng,
    run: &Context,
) -> Result<Tree> {
    let cell = total::<M>(&items);
    let mut outputs = Vec::new();
    measure.value(&cell, &mut outputs);
    let range = 0..items.len();
    let mut grower = Grower {
        measure,
        settings,
        kinds: &table.kinds,
        least: settings.min_impurity_decrease * M::weight(&cell),
        tree: Tree::new(outputs.len(), table.levels()),
        gains: Vec::new(),
        costs: Vec::new(),
        scratch: Vec::new(),
        search: Search::new(table.kinds.len(), rng),
        items,
    };
    let view = View { bins: &table.bins, rows: table.rows };
    let root = Open { parent: NONE, range, depth: 0 };
    match settings.max_leaf_nodes {
        Some(leaves) => grower.best_first(view, root, leaves, run)?,
        None => grower.depth_first(view, root, run)?,
    }
    grower.finish();
    Ok(match settings.max_leaf_nodes {
        Some(_) => grower.tree.in_preorder(),
        None => grower.tree,
    })
}

struct Grower<'a, M: Measure> {
    measure: &'a M,
    settings: &'a Settings,
    kinds: &'a [Kind],
    /// Least gain of a split.
    least: f64,
    tree: Tree,
    /// Gain of each inner node's split.
    gains: Vec<f64>,
    /// Weight times impurity of each leaf.
    costs: Vec<f64>,
    items: Vec<Item<M::Point>>,
    scratch: Vec<Item<M::Point>>,
    search: Search<M>,
}

impl<M: Measure> Grower<'_, M> {
    /// The left child comes right after its parent, the right one after all below the left.
    fn depth_first(&mut self, view: View, root: Open, run: &Context) -> Result<()> {
        let mut open = vec![root];
        let mut local = Vec::new();
        while let Some(node) = open.pop() {
            if node.range.len() <= LOCAL && view.rows > 2 * LOCAL {
                run.checkpoint()?;
                self.subtree(view, node, &mut local);
            } else {
                if node.range.len() > LOCAL {
                    run.checkpoint()?;
                }
                self.step(view, node, &mut open);
            }
        }
        Ok(())
    }

    /// All below one node, on a copy of its part of the table.
    fn subtree(&mut self, view: View, node: Open, local: &mut Vec<u8>) {
        let rows = node.range.len();
        local.clear();
        for j in 0..self.kinds.len() {
            let column = view.column(j);
            local.extend(self.items[node.range.clone()].iter().map(|i| column[i.row as usize]));
        }
        for (place, item) in self.items[node.range.clone()].iter_mut().enumerate() {
            item.row = place as u32;
        }
        let view = View { bins: local, rows };
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            self.step(view, node, &mut open);
        }
    }

    /// A leaf, or an inner node whose children are open.
    fn step(&mut self, view: View, node: Open, open: &mut Vec<Open>) {
        let (id, cell) = self.push(&node);
        if let Some(found) = self.find(view, &node, &cell) {
            open.extend(self.divide(view, id, &node, &found));
        } else {
            self.costs[id as usize] = self.measure.cost(&cell, &self.items[node.range]);
        }
    }

    /// Adds a node, whose sums it gives; a parent's first child is its left one. Sums are taken anew
    /// from the rows of each node, so that rounding does not grow with depth.
    fn push(&mut self, node: &Open) -> (u32, M::Cell) {
        let id = self.tree.len() as u32;
        if node.parent != NONE {
            self.tree.adopt(node.parent, id);
        }
        let cell = total::<M>(&self.items[node.range.clone()]);
        let measure = self.measure;
        let rows = node.range.len();
        self.tree.push_leaf(rows, M::weight(&cell), |out| measure.value(&cell, out));
        self.gains.push(0.0);
        self.costs.push(0.0);
        (id, cell)
    }

    /// The split of a node, unless it must stay a leaf.
    fn find(&mut self, view: View, node: &Open, cell: &M::Cell) -> Option<Found> {
        let Settings { max_depth, min_samples_split, limits, .. } = *self.settings;
        let items = &self.items[node.range.clone()];
        let rows = items.len();
        if node.depth >= max_depth
            || rows < min_samples_split
            || rows < limits.min_rows.saturating_mul(2)
            || M::weight(cell) < 2.0 * limits.min_weight
            || self.measure.pure(cell, items)
        {
            return None;
        }
        let found = self.search.best(self.measure, self.kinds, view, items, cell, self.settings)?;
        (found.gain * (1.0 + 1e-12) >= self.least).then_some(found)
    }

    /// Divides a node; the right child comes first, so that the left is popped before it.
    fn divide(&mut self, view: View, id: u32, node: &Open, found: &Found) -> [Open; 2] {
        let column = view.column(found.feature);
        let items = &mut self.items[node.range.clone()];
        let left = partition(items, &mut self.scratch, |item| {
            found.goes_left[column[item.row as usize] as usize]
        });
        let kind = &self.kinds[found.feature];
        let larger_left = 2 * left > items.len();
        let missing_left = match found.has_missing {
            true => found.goes_left[MISSING as usize],
            false => larger_left,
        };
        let bits = match kind {
            Kind::Ordered { .. } => None,
            Kind::Levels { .. } => {
                let present = |bin: u8| found.present[bin as usize / 64] >> (bin % 64) & 1 == 1;
                Some(kind.level_bits(&found.goes_left, present, larger_left))
            }
        };
        self.tree.ask(id, found.feature, found.threshold, missing_left, bits.as_deref());
        self.gains[id as usize] = found.gain;
        let middle = node.range.start + left;
        let depth = node.depth + 1;
        [
            Open { parent: id, range: middle..node.range.end, depth },
            Open { parent: id, range: node.range.start..middle, depth },
        ]
    }

    /// The split with the largest gain comes first, of equals that of the older node.
    fn best_first(&mut self, view: View, root: Open, leaves: usize, run: &Context) -> Result<()> {
        let mut frontier = BinaryHeap::new();
        frontier.extend(self.candidate(view, root));
        for _ in 1..leaves {
            run.checkpoint()?;
            let Some(Candidate { id, node, found }) = frontier.pop() else { break };
            let [right, left] = self.divide(view, id, &node, &found);
            frontier.extend(self.candidate(view, left));
            frontier.extend(self.candidate(view, right));
        }
        Ok(())
    }

    /// Adds a node as a leaf for now, with the split that would divide it.
    fn candidate(&mut self, view: View, node: Open) -> Option<Candidate> {
        let (id, cell) = self.push(&node);
        self.costs[id as usize] = self.measure.cost(&cell, &self.items[node.range.clone()]);
        self.find(view, &node, &cell).map(|found| Candidate { id, node, found })
    }

    /// Impurities of inner nodes: what their children cost and their split gained.
    fn finish(&mut self) {
        for id in (0..self.tree.len()).rev() {
            if !self.tree.is_leaf(id) {
                let (left, right) = (self.tree.left[id] as usize, self.tree.right[id] as usize);
                self.costs[id] = self.costs[left] + self.costs[right] + self.gains[id].max(0.0);
            }
            self.tree.impurity[id] = self.costs[id] / self.tree.weight[id];
        }
    }
}

/// Moves what belongs left to the front and keeps the order on both sides; returns the count.
fn partition<T: Copy>(items: &mut [T], scratch: &mut Vec<T>, left: impl Fn(&T) -> bool) -> usize {
    if scratch.len() < items.len() {
        scratch.clear();
        scratch.extend_from_slice(items);
    }
    let (mut lefts, mut rights) = (0, 0);
    for i in 0..items.len() {
        let item = items[i];
        let goes_left = usize::from(left(&item));
        items[lefts] = item;
        scratch[rights] = item;
        lefts += goes_left;
        rights += 1 - goes_left;
    }
    items[lefts..].copy_from_slice(&scratch[..rights]);
    lefts
}

/// A split that waits for its turn.
struct Candidate {
    id: u32,
    node: Open,
    found: Found,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.found.gain.total_cmp(&other.found.gain).then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
