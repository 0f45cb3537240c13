//! Growth of one boosted tree in memory: the split with the largest gain comes first.
//!
//! The histograms of the smaller child are added up, those of the larger are what is left of the
//! parent's. What splits a node stands in the plan.

use super::blocks::{Blocks, Cell, Histogram, Scale, subtract};
use super::plan::{Node, Shape, Splitter};
use super::split::Found;
use crate::tree::nodes::Tree;
use learnt_core::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows of one task of a division.
const CHUNK: usize = 1 << 15;

/// A tree with the rows of each leaf.
pub(super) struct Grown {
    pub(super) tree: Tree,
    /// Leaves with their places in the order of rows.
    pub(super) leaves: Vec<(u32, Range<usize>)>,
}

/// A node with its rows and its best split.
struct Candidate {
    node: Node,
    range: Range<usize>,
    found: Found,
    histogram: Histogram,
}

/// The rows and gradients that trees are grown from, with room that they share.
pub(super) struct Grower<'a> {
    pub(super) blocks: &'a Blocks,
    pub(super) shape: &'a Shape,
    pub(super) run: Context<'a>,
    /// Rows in order, and node by node.
    given: Vec<u32>,
    pub(super) rows: Vec<u32>,
    scratch: Vec<u32>,
    spare: Vec<Histogram>,
}

/// What belongs to one tree while it grows.
struct Growth<'a> {
    splitter: Splitter<'a>,
    tree: Tree,
    cells: &'a [Cell],
    leaves: Vec<(u32, Range<usize>)>,
    frontier: BinaryHeap<Candidate>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(
        blocks: &'a Blocks,
        shape: &'a Shape,
        rows: Vec<u32>,
        run: &Context<'a>,
    ) -> Self {
        let (scratch, spare) = (Vec::new(), Vec::new());
        let given = rows.clone();
        Grower { blocks, shape, run: *run, given, rows, scratch, spare }
    }

    /// The tree of this number by the gradients of all rows; `rows` ends up in the order of leaves.
    pub(super) fn grow(&mut self, number: usize, cells: &[Cell], scale: Scale) -> Result<Grown> {
        let (kinds, layout) = (self.blocks.kinds(), self.blocks.layout());
        let (shape, run) = (self.shape, self.run);
        let splitter = Splitter { kinds, layout, shape, scale, number, run };
        let (leaves, frontier) = (Vec::new(), BinaryHeap::new());
        let mut growth = Growth { tree: splitter.tree(), splitter, cells, leaves, frontier };
        self.rows.copy_from_slice(&self.given);
        let range = 0..self.rows.len();
        let histogram = self.histogram(&growth, &range);
        let root = splitter.root(&histogram);
        splitter.push(&mut growth.tree, &root);
        self.consider(&mut growth, root, range, histogram);
        let mut leaves = 1;
        while leaves < self.shape.max_leaves {
            self.run.checkpoint()?;
            let Some(candidate) = growth.frontier.pop() else { break };
            leaves += 1;
            self.split(&mut growth, candidate, leaves);
        }
        for Candidate { node, range, histogram, .. } in growth.frontier {
            growth.leaves.push((node.id, range));
            self.spare.push(histogram);
        }
        growth.leaves.sort_unstable_by_key(|(id, _)| *id);
        Ok(Grown { tree: growth.tree, leaves: growth.leaves })
    }

    /// Divides a node; its children wait for their turn or are leaves.
    fn split(&mut self, growth: &mut Growth, candidate: Candidate, leaves: usize) {
        let Candidate { node, range, found, mut histogram } = candidate;
        let middle = range.start + self.divide(&range, &found);
        let splitter = growth.splitter;
        let chosen = splitter.chosen(&node, &found);
        let [left, right] = splitter.split(&mut growth.tree, &node, &chosen);
        let (of_left, of_right) = (range.start..middle, middle..range.end);
        let open = |node: &Node| leaves < self.shape.max_leaves && splitter.is_open(node);
        let (left_open, right_open) = (open(&left), open(&right));
        if !left_open && !right_open {
            self.spare.push(histogram);
            growth.leaves.push((left.id, of_left));
            growth.leaves.push((right.id, of_right));
            return;
        }
        let left_smaller = of_left.len() <= of_right.len();
        let part = self.histogram(growth, if left_smaller { &of_left } else { &of_right });
        subtract(&mut histogram, &part);
        let (first, second) = if left_smaller { (part, histogram) } else { (histogram, part) };
        for (node, range, is_open, histogram) in
            [(left, of_left, left_open, first), (right, of_right, right_open, second)]
        {
            match is_open {
                true => self.consider(growth, node, range, histogram),
                false => {
                    growth.leaves.push((node.id, range));
                    self.spare.push(histogram);
                }
            }
        }
    }

    /// Puts a node into the frontier if a split helps, else among the leaves.
    fn consider(
        &mut self,
        growth: &mut Growth,
        node: Node,
        range: Range<usize>,
        histogram: Histogram,
    ) {
        match growth.splitter.search(&node, &histogram) {
            Some(found) => growth.frontier.push(Candidate { node, range, found, histogram }),
            None => {
                growth.leaves.push((node.id, range));
                self.spare.push(histogram);
            }
        }
    }

    fn histogram(&mut self, growth: &Growth, range: &Range<usize>) -> Histogram {
        let spare = self.spare.pop();
        self.blocks.histogram(&self.rows[range.clone()], growth.cells, spare, &self.run)
    }

    /// Moves the rows that go left to the front, in order; returns their number.
    fn divide(&mut self, range: &Range<usize>, found: &Found) -> usize {
        let (bins, upper) = self.blocks.column(found.feature);
        match <&[bool; 256]>::try_from(found.goes_left.as_slice()) {
            Ok(sides) => self.divide_by(range, |row| sides[usize::from(bins[row as usize])]),
            Err(_) => self.divide_by(range, |row| {
                let bytes = [bins[row as usize], upper[row as usize]];
                found.goes_left[usize::from(u16::from_le_bytes(bytes))]
            }),
        }
    }

    fn divide_by(&mut self, range: &Range<usize>, left: impl Fn(u32) -> bool + Sync) -> usize {
        let rows = &mut self.rows[range.clone()];
        if rows.len() <= CHUNK {
            return partition(rows, &mut self.scratch, &left);
        }
        let parts = self.run.par_ranges(rows.len(), CHUNK, |range| {
            let mut part = rows[range].to_vec();
            let count = partition(&mut part, &mut Vec::new(), &left);
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
