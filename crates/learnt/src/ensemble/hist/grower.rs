//! Growth of one boosted tree: the split with the largest gain comes first.
//!
//! The histograms of the smaller child are added up, those of the larger are what is left of the
//! parent's. Columns are searched side by side and compared in their order.

use super::blocks::{Blocks, Cell, Histogram, Scale, subtract};
use super::split::{Bounds, Found, Question, Rules, score, value};
use crate::tree::binned::Kind;
use crate::tree::nodes::Tree;
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows of one task of a division.
const CHUNK: usize = 1 << 15;

/// How trees grow.
pub(super) struct Shape {
    pub(super) max_leaves: usize,
    pub(super) max_depth: usize,
    pub(super) learning_rate: f64,
    /// Columns that a node looks at.
    pub(super) max_features: usize,
    pub(super) rules: Rules,
    /// Sets of columns that may meet on a path; none means all.
    pub(super) groups: Option<Vec<Vec<usize>>>,
}

/// A tree with the rows of each leaf.
pub(super) struct Grown {
    pub(super) tree: Tree,
    /// Leaves with their places in the order of rows.
    pub(super) leaves: Vec<(u32, Range<usize>)>,
}

struct Node {
    id: u32,
    range: Range<usize>,
    depth: usize,
    total: Cell,
    bounds: Bounds,
    /// Groups of columns that the path allows.
    groups: Vec<usize>,
}

struct Candidate {
    node: Node,
    found: Found,
    histogram: Histogram,
}

/// The rows and gradients that trees are grown from, with room that they share.
pub(super) struct Grower<'a> {
    pub(super) blocks: &'a Blocks,
    pub(super) shape: &'a Shape,
    pub(super) run: Context<'a>,
    pub(super) rng: Rng,
    /// Rows in order, and node by node.
    given: Vec<u32>,
    pub(super) rows: Vec<u32>,
    scratch: Vec<u32>,
    spare: Vec<Histogram>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(
        blocks: &'a Blocks,
        shape: &'a Shape,
        rows: Vec<u32>,
        run: &Context<'a>,
        rng: Rng,
    ) -> Self {
        let (scratch, spare) = (Vec::new(), Vec::new());
        let given = rows.clone();
        Grower { blocks, shape, run: *run, rng, given, rows, scratch, spare }
    }

    /// A tree by the gradients of all rows; `rows` ends up in the order of leaves.
    pub(super) fn grow(&mut self, cells: &[Cell], scale: Scale) -> Result<Grown> {
        let levels: Vec<u32> = self.blocks.kinds().iter().map(Kind::levels).collect();
        let mut growth = Growth { tree: Tree::new(1, levels), scale, cells, leaves: Vec::new() };
        self.rows.copy_from_slice(&self.given);
        let range = 0..self.rows.len();
        let histogram = self.histogram(&growth, &range);
        let mut total = Cell::default();
        histogram[0][0].iter().for_each(|cell| total.add(*cell));
        let groups = (0..self.shape.groups.as_ref().map_or(0, Vec::len)).collect();
        let root = Node { id: 0, range, depth: 0, total, bounds: Bounds::FREE, groups };
        self.push(&mut growth, &root);
        let mut frontier = BinaryHeap::new();
        self.consider(&mut growth, root, histogram, &mut frontier);
        let mut leaves = 1;
        while leaves < self.shape.max_leaves {
            self.run.checkpoint()?;
            let Some(candidate) = frontier.pop() else { break };
            leaves += 1;
            self.split(&mut growth, candidate, leaves, &mut frontier);
        }
        for Candidate { node, histogram, .. } in frontier {
            growth.leaves.push((node.id, node.range));
            self.spare.push(histogram);
        }
        growth.leaves.sort_unstable_by_key(|(id, _)| *id);
        Ok(Grown { tree: growth.tree, leaves: growth.leaves })
    }

    fn push(&self, growth: &mut Growth, node: &Node) {
        let rules = &self.shape.rules;
        let value = value(&growth.scale, rules.l2, node.total, node.bounds);
        let rate = self.shape.learning_rate;
        let weight = growth.scale.count(node.total).max(1) as f64;
        growth.tree.push_leaf(node.range.len(), weight, |out| out.push(rate * value));
        // The score as a cost, so that importances are gains.
        let cost = -score(&growth.scale, rules.l2, node.total) / weight;
        growth.tree.impurity[node.id as usize] = cost;
    }

    /// Divides a node; its children wait for their turn or are leaves.
    fn split(
        &mut self,
        growth: &mut Growth,
        candidate: Candidate,
        leaves: usize,
        frontier: &mut BinaryHeap<Candidate>,
    ) {
        let Candidate { node, found, mut histogram } = candidate;
        let left_rows = self.divide(&node.range, &found);
        let [left, right] = self.children(growth, node, &found, left_rows);
        self.push(growth, &left);
        self.push(growth, &right);
        let open = |node: &Node| {
            leaves < self.shape.max_leaves
                && node.depth < self.shape.max_depth
                && node.range.len() >= 2 * self.shape.rules.min_rows
        };
        let (left_open, right_open) = (open(&left), open(&right));
        if !left_open && !right_open {
            self.spare.push(histogram);
            growth.leaves.push((left.id, left.range));
            growth.leaves.push((right.id, right.range));
            return;
        }
        let left_smaller = left.range.len() <= right.range.len();
        let small = if left_smaller { &left.range } else { &right.range };
        let part = self.histogram(growth, small);
        subtract(&mut histogram, &part);
        let (of_left, of_right) = if left_smaller { (part, histogram) } else { (histogram, part) };
        for (node, is_open, histogram) in
            [(left, left_open, of_left), (right, right_open, of_right)]
        {
            match is_open {
                true => self.consider(growth, node, histogram, frontier),
                false => {
                    growth.leaves.push((node.id, node.range));
                    self.spare.push(histogram);
                }
            }
        }
    }

    /// The children of a node, which now asks for a column.
    fn children(
        &self,
        growth: &mut Growth,
        node: Node,
        found: &Found,
        left_rows: usize,
    ) -> [Node; 2] {
        let kind = &self.blocks.kinds()[found.feature];
        let larger_left = 2 * left_rows > node.range.len();
        let bits = match kind {
            Kind::Ordered { .. } => None,
            Kind::Levels { .. } => {
                let present = |bin: u8| found.present[bin as usize];
                Some(kind.level_bits(&found.goes_left, present, larger_left))
            }
        };
        let ids = [growth.tree.len() as u32, growth.tree.len() as u32 + 1];
        let (tree, feature) = (&mut growth.tree, found.feature);
        tree.ask(node.id, feature, found.threshold, found.missing_left, bits.as_deref());
        ids.iter().for_each(|&id| tree.adopt(node.id, id));
        let middle = node.range.start + left_rows;
        let totals = [found.left, node.total.less(found.left)];
        let [low, high] = self.bounds(growth, &node, found, totals);
        let groups: Vec<usize> = match &self.shape.groups {
            None => Vec::new(),
            Some(all) => {
                node.groups.iter().copied().filter(|&g| all[g].contains(&feature)).collect()
            }
        };
        let depth = node.depth + 1;
        [
            Node {
                id: ids[0],
                range: node.range.start..middle,
                depth,
                total: totals[0],
                bounds: low,
                groups: groups.clone(),
            },
            Node {
                id: ids[1],
                range: middle..node.range.end,
                depth,
                total: totals[1],
                bounds: high,
                groups,
            },
        ]
    }

    /// What the children may be: on their side of the middle where the column has a direction.
    fn bounds(
        &self,
        growth: &Growth,
        node: &Node,
        found: &Found,
        totals: [Cell; 2],
    ) -> [Bounds; 2] {
        let bounds = node.bounds;
        let direction = self.shape.rules.directions[found.feature];
        if direction == 0 {
            return [bounds; 2];
        }
        let of = |cell| value(&growth.scale, self.shape.rules.l2, cell, bounds);
        let middle = 0.5 * of(totals[0]) + 0.5 * of(totals[1]);
        let (below, above) = (Bounds { high: middle, ..bounds }, Bounds { low: middle, ..bounds });
        if direction > 0 { [below, above] } else { [above, below] }
    }

    /// Puts a node into the frontier if a split helps, else among the leaves.
    fn consider(
        &mut self,
        growth: &mut Growth,
        node: Node,
        histogram: Histogram,
        frontier: &mut BinaryHeap<Candidate>,
    ) {
        let columns = self.candidates(&node);
        let question = Question {
            kinds: self.blocks.kinds(),
            histogram: &histogram,
            total: node.total,
            scale: growth.scale,
            rules: &self.shape.rules,
            bounds: node.bounds,
        };
        // A column is little work: one task for several.
        let tasks = self.run.par_ranges(columns.len(), 8, |range| {
            range.filter_map(|k| question.best(columns[k])).fold(None, larger)
        });
        match tasks.into_iter().flatten().fold(None, larger) {
            Some(found) => frontier.push(Candidate { node, found, histogram }),
            None => {
                growth.leaves.push((node.id, node.range));
                self.spare.push(histogram);
            }
        }
    }

    /// The columns that a node may look at, in their order.
    fn candidates(&mut self, node: &Node) -> Vec<usize> {
        let all = self.blocks.columns();
        let mut columns: Vec<usize> = match &self.shape.groups {
            None => (0..all).collect(),
            Some(groups) => {
                let allowed = |j: &usize| node.groups.iter().any(|&g| groups[g].contains(j));
                (0..all).filter(allowed).collect()
            }
        };
        if self.shape.max_features < columns.len() {
            let chosen = sample::choose(&mut self.rng, columns.len(), self.shape.max_features);
            columns = chosen.into_iter().map(|place| columns[place]).collect();
            columns.sort_unstable();
        }
        columns
    }

    fn histogram(&mut self, growth: &Growth, range: &Range<usize>) -> Histogram {
        let spare = self.spare.pop();
        self.blocks.histogram(&self.rows[range.clone()], growth.cells, spare, &self.run)
    }

    /// Moves the rows that go left to the front, in order; returns their number.
    fn divide(&mut self, range: &Range<usize>, found: &Found) -> usize {
        let bins = self.blocks.column(found.feature);
        let rows = &mut self.rows[range.clone()];
        let left = |row: u32| found.goes_left[bins[row as usize] as usize];
        if rows.len() <= CHUNK {
            return partition(rows, &mut self.scratch, left);
        }
        let parts = self.run.par_ranges(rows.len(), CHUNK, |range| {
            let mut part = rows[range].to_vec();
            let count = partition(&mut part, &mut Vec::new(), left);
            (part, count)
        });
        let lefts: usize = parts.iter().map(|(_, count)| count).sum();
        let (mut from, mut after) = (0, lefts);
        for (part, count) in &parts {
            rows[from..from + count].copy_from_slice(&part[..*count]);
            rows[after..after + part.len() - count].copy_from_slice(&part[*count..]);
            from += count;
            after += part.len() - count;
        }
        lefts
    }
}

/// What belongs to one tree while it grows.
struct Growth<'a> {
    tree: Tree,
    scale: Scale,
    cells: &'a [Cell],
    leaves: Vec<(u32, Range<usize>)>,
}

fn larger(best: Option<Found>, found: Found) -> Option<Found> {
    match best {
        Some(best) if best.gain >= found.gain => Some(best),
        _ => Some(found),
    }
}

/// Moves what belongs left to the front and keeps the order on both sides; returns the count.
fn partition(rows: &mut [u32], scratch: &mut Vec<u32>, left: impl Fn(u32) -> bool) -> usize {
    scratch.resize(scratch.len().max(rows.len()), 0);
    let (mut lefts, mut rights) = (0, 0);
    for i in 0..rows.len() {
        let row = rows[i];
        let goes_left = usize::from(left(row));
        rows[lefts] = row;
        scratch[rights] = row;
        lefts += goes_left;
        rights += 1 - goes_left;
    }
    rows[lefts..].copy_from_slice(&scratch[..rights]);
    lefts
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.found.gain.total_cmp(&other.found.gain).then(other.node.id.cmp(&self.node.id))
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
