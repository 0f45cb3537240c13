//! Growth of one tree over a table in bins, on one thread.
//!
//! Rows carry what they add to sums, so that a node reads both in order. Subtrees of few rows copy
//! their part of the table first, so that it stays near. Growth is depth first, or best first where
//! the number of leaves is limited. Nothing recurses.

use super::measure::{FEW_ROWS, Measure};
use super::search::{FEW_DRAWN, Found, Order, ROOT_PATH, Search, Sought, between, way};
use super::table::Kind;
use crate::tree::grow::Settings;
use crate::tree::nodes::{NONE, Tree};
use learnt_core::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Subtrees of at most this many rows work on a copy of their part of the table.
const LOCAL: usize = FEW_ROWS;

/// A row of the table with what it contributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<P> {
    pub(crate) row: u32,
    pub(crate) point: P,
}

/// Bins by row, column after column.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) bins: &'a [u8],
    pub(crate) rows: usize,
}

impl<'a> View<'a> {
    pub(crate) fn column(&self, j: usize) -> &'a [u8] {
        &self.bins[j * self.rows..(j + 1) * self.rows]
    }
}

/// A node that may still be split.
struct Open {
    parent: u32,
    range: Range<usize>,
    depth: usize,
    path: u64,
}

/// Where in its tree a node is.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    pub(crate) depth: usize,
    pub(crate) path: u64,
}

impl Start {
    pub(crate) const ROOT: Start = Start { depth: 0, path: ROOT_PATH };
}

/// The sums over rows.
pub(crate) fn total<M: Measure>(measure: &M, items: &[Item<M::Point>]) -> M::Cell {
    let mut cell = M::Cell::default();
    items.iter().for_each(|item| measure.add(&mut cell, &item.point));
    cell
}

/// What trees grow from.
pub(crate) struct Ground<'a, M: Measure> {
    pub(crate) kinds: &'a [Kind],
    pub(crate) measure: &'a M,
    pub(crate) settings: &'a Settings,
    /// Weight of all rows of the tree.
    pub(crate) weight: f64,
    /// The run of the tree.
    pub(crate) run: &'a Context<'a>,
}

/// Whether a node of so many rows must stay a leaf.
pub(crate) fn must_stay(settings: &Settings, depth: usize, rows: usize, weight: f64) -> bool {
    let Settings { max_depth, min_samples_split, limits, .. } = settings;
    depth >= *max_depth
        || rows < *min_samples_split
        || rows < limits.min_rows.saturating_mul(2)
        || weight < 2.0 * limits.min_weight
}

/// Least gain of a split of a tree whose rows have this weight; rounding does not count.
pub(crate) fn helps(settings: &Settings, weight: f64, gain: f64) -> bool {
    gain * (1.0 + 1e-12) >= settings.min_impurity_decrease * weight
}

/// A tree over these rows, or what hangs below one of its nodes, and weight times impurity of its first node.
pub(crate) fn grow_binned<M: Measure>(
    ground: &Ground<M>,
    view: View,
    items: Vec<Item<M::Point>>,
    start: Start,
) -> Result<(Tree, f64)> {
    let Ground { kinds, measure, settings, run, .. } = *ground;
    let mut outputs = Vec::new();
    measure.value(&total(measure, &items), &mut outputs);
    let range = 0..items.len();
    let mut grower = Grower {
        ground,
        tree: Tree::new(outputs.len(), kinds.iter().map(Kind::levels).collect()),
        gains: Vec::new(),
        costs: Vec::new(),
        scratch: Vec::new(),
        search: Search::new(Order::new(kinds.len(), settings, run)),
        items,
    };
    let Start { depth, path } = start;
    let root = Open { parent: NONE, range, depth, path };
    match settings.max_leaf_nodes {
        Some(leaves) => grower.best_first(view, root, leaves)?,
        None => grower.depth_first(view, root)?,
    }
    give_impurities(&mut grower.tree, &mut grower.costs, &grower.gains);
    let cost = grower.costs[0];
    Ok(match settings.max_leaf_nodes {
        Some(_) => (grower.tree.in_preorder(), cost),
        None => (grower.tree, cost),
    })
}

/// Costs of inner nodes, which are what their children cost and their split gained, and impurities of all nodes.
pub(crate) fn give_impurities(tree: &mut Tree, costs: &mut [f64], gains: &[f64]) {
    for id in (0..tree.len()).rev() {
        if !tree.is_leaf(id) {
            let (left, right) = (tree.left[id] as usize, tree.right[id] as usize);
            costs[id] = costs[left] + costs[right] + gains[id].max(0.0);
        }
        tree.impurity[id] = costs[id] / tree.weight[id];
    }
}

struct Grower<'a, M: Measure> {
    ground: &'a Ground<'a, M>,
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
    fn depth_first(&mut self, view: View, root: Open) -> Result<()> {
        let run = self.ground.run;
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
        for j in 0..self.ground.kinds.len() {
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
            self.costs[id as usize] = self.ground.measure.cost(&cell, &self.items[node.range]);
        }
    }

    /// Adds a node, whose sums it gives; a parent's first child is its left one.
    fn push(&mut self, node: &Open) -> (u32, M::Cell) {
        let id = self.tree.len() as u32;
        if node.parent != NONE {
            self.tree.adopt(node.parent, id);
        }
        let measure = self.ground.measure;
        let cell = total(measure, &self.items[node.range.clone()]);
        let rows = node.range.len();
        self.tree.push_leaf(rows, M::weight(&cell), |out| measure.value(&cell, out));
        self.gains.push(0.0);
        self.costs.push(0.0);
        (id, cell)
    }

    /// The split of a node, unless it must stay a leaf.
    fn find(&mut self, view: View, node: &Open, cell: &M::Cell) -> Option<Found> {
        let Ground { kinds, measure, settings, weight, run } = *self.ground;
        let items = &self.items[node.range.clone()];
        let rows = items.len();
        if must_stay(settings, node.depth, rows, M::weight(cell)) || measure.pure(items) {
            return None;
        }
        let path = node.path;
        let node = Sought { measure, kinds, settings, cell: *cell, rows, path, run };
        let count = settings.limits.min_rows > 1;
        let (found, _) = self.search.best(&node, 0..kinds.len(), |bins, feature| {
            let column = view.column(feature);
            match &kinds[feature] {
                Kind::Ordered { high, .. } if settings.random && view.rows <= FEW_DRAWN => {
                    let stream =
                        |low, top| between((low, top), &mut run.row_rng(path, feature as u64));
                    bins.part(measure, column, items, high, stream);
                }
                _ => bins.gather(measure, column, items, count),
            }
        });
        found.filter(|found| helps(settings, weight, found.gain))
    }

    /// Divides a node; the right child comes first, so that the left is popped before it.
    fn divide(&mut self, view: View, id: u32, node: &Open, found: &Found) -> [Open; 2] {
        let column = view.column(found.feature);
        let items = &mut self.items[node.range.clone()];
        let left = partition(items, &mut self.scratch, |item| {
            found.goes_left[column[item.row as usize] as usize]
        });
        found.ask(&mut self.tree, id, self.ground.kinds, (left, items.len()));
        self.gains[id as usize] = found.gain;
        let middle = node.range.start + left;
        let child = |range: Range<usize>, right: bool| Open {
            parent: id,
            range,
            depth: node.depth + 1,
            path: way(node.path, right),
        };
        [child(middle..node.range.end, true), child(node.range.start..middle, false)]
    }

    /// The split with the largest gain comes first, of equals that of the older node.
    fn best_first(&mut self, view: View, root: Open, leaves: usize) -> Result<()> {
        let mut frontier = BinaryHeap::new();
        frontier.extend(self.candidate(view, root));
        for _ in 1..leaves {
            self.ground.run.checkpoint()?;
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
        self.costs[id as usize] = self.ground.measure.cost(&cell, &self.items[node.range.clone()]);
        self.find(view, &node, &cell).map(|found| Candidate { id, node, found })
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
