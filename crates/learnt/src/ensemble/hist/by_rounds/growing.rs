//! A tree that grows round by round.
//!
//! The split with the largest gain comes first in memory. Which splits that are does not depend on when a
//! node's histogram is known. So the order is gone through again each round, as far as it is known, and every
//! node that is met without children gets them: nodes that the order reaches in the end are among them.

use super::super::blocks::{Cell, Histogram, Layout};
use super::super::plan::{Chosen, Node, Splitter};
use crate::tree::binned::Kind;
use crate::tree::nodes::{NONE, Tree};
use learnt_core::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A tree with more nodes than it will have in the end.
#[derive(Stored, Clone, Debug)]
pub(super) struct Growing {
    pub(super) tree: Tree,
    nodes: Vec<Node>,
    /// The best split of each node whose histogram is known, and whether one helps: as two lists, because
    /// lists of structs without gaps are a few arrays in bytes.
    splits: Vec<Chosen>,
    helps: Vec<bool>,
    /// Histograms of nodes that may be split.
    kept: Vec<Kept>,
    /// Nodes whose histogram is that of the parent without that of a sibling, which is asked for.
    rest: Vec<Rest>,
}

/// The histogram of a node.
#[derive(Stored, Clone, Debug)]
struct Kept {
    node: u32,
    cells: Vec<i64>,
}

/// A node, its sibling that is asked for, and the histogram of their parent.
#[derive(Stored, Clone, Debug)]
struct Rest {
    node: u32,
    sibling: u32,
    cells: Vec<i64>,
}

/// A tree that has ended: all nodes that rows may stand in, and the value of the leaf that each is in.
#[derive(Stored, Clone, Debug)]
pub(super) struct Finished {
    pub(super) tree: Tree,
    pub(super) values: Vec<f64>,
}

/// A candidate in the order of growth: its gain as ordered bits, its number in that order, its node.
type Candidate = (u64, Reverse<u32>, u32);

impl Growing {
    pub(super) fn new(kinds: &[Kind]) -> Self {
        let tree = Tree::new(1, kinds.iter().map(Kind::levels).collect());
        Growing::of_tree(tree)
    }

    fn of_tree(tree: Tree) -> Self {
        Growing {
            tree,
            nodes: Vec::new(),
            splits: Vec::new(),
            helps: Vec::new(),
            kept: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// What leads rows to nodes, and no more.
    pub(super) fn for_tasks(&self) -> Self {
        Growing::of_tree(self.tree.clone())
    }

    /// Bytes of the histograms that it keeps.
    pub(super) fn kept_bytes(&self) -> u64 {
        8 * self.kept.iter().map(|kept| kept.cells.len() as u64).sum::<u64>()
    }

    /// Takes the histogram of a node, from which that of its sibling may follow: that of all rows comes first.
    /// Histograms stay as far as there is room.
    pub(super) fn evaluate(&mut self, id: u32, cells: &[i64], splitter: &Splitter, room: &mut u64) {
        self.look_at(id, cells.to_vec(), splitter, room);
        if let Some(at) = self.rest.iter().position(|rest| rest.sibling == id) {
            let Rest { node, cells: mut whole, .. } = self.rest.swap_remove(at);
            whole.iter_mut().zip(cells).for_each(|(sum, cell)| *sum = sum.wrapping_sub(*cell));
            self.look_at(node, whole, splitter, room);
        }
    }

    fn look_at(&mut self, id: u32, cells: Vec<i64>, splitter: &Splitter, room: &mut u64) {
        let histogram = expanded(&cells, splitter.kinds, splitter.layout);
        if self.nodes.is_empty() {
            let root = splitter.root(&histogram);
            splitter.push(&mut self.tree, &root);
            self.push(root);
        }
        let node = &self.nodes[id as usize];
        let found = splitter.search(node, &histogram);
        self.helps[id as usize] = found.is_some();
        if let Some(found) = found {
            self.splits[id as usize] = splitter.chosen(node, &found);
            if let Some(left) = room.checked_sub(8 * cells.len() as u64) {
                *room = left;
                self.kept.push(Kept { node: id, cells });
            }
        }
    }

    /// Adds a node that has no split yet.
    fn push(&mut self, node: Node) {
        self.nodes.push(node);
        self.splits.push(Chosen::default());
        self.helps.push(false);
    }

    /// The best split of a node, if one helps.
    fn split_of(&self, id: u32) -> Option<&Chosen> {
        let helps = self.helps.get(id as usize).copied().unwrap_or(false);
        self.splits.get(id as usize).filter(|_| helps)
    }

    /// Gives children to nodes that the order of growth may reach, `left` nodes at most in this round; those
    /// whose histograms are needed.
    pub(super) fn expand(&mut self, splitter: &Splitter, left: &mut usize) -> Vec<u32> {
        let mut wanted = Vec::new();
        loop {
            let (reached, last) = self.order(splitter.shape.max_leaves);
            let bare: Vec<u32> =
                reached.into_iter().filter(|&id| self.tree.is_leaf(id as usize)).collect();
            if bare.is_empty() {
                return wanted;
            }
            let mut grown = false;
            for id in bare {
                if *left < 2 {
                    *left = 0;
                    return wanted;
                }
                let Some(chosen) = self.split_of(id).cloned() else { continue };
                let node = self.nodes[id as usize].clone();
                let children = splitter.split(&mut self.tree, &node, &chosen);
                // Children of the last split are leaves whatever they hold.
                let open = |child: &&Node| Some(id) != last && splitter.is_open(child);
                let asked: Vec<u32> = children.iter().filter(open).map(|child| child.id).collect();
                let asked = self.without_rest(id, asked);
                *left -= asked.len();
                wanted.extend(asked);
                children.into_iter().for_each(|child| self.push(child));
                grown = true;
            }
            // Without a histogram to wait for, the order may go on at once.
            if !wanted.is_empty() || !grown {
                return wanted;
            }
        }
    }

    /// Of the children of a node that are asked about, those whose histograms do not follow.
    fn without_rest(&mut self, parent: u32, asked: Vec<u32>) -> Vec<u32> {
        let Some(at) = self.kept.iter().position(|kept| kept.node == parent) else { return asked };
        let Kept { cells, .. } = self.kept.swap_remove(at);
        let &[left, right] = &*asked else { return asked };
        let rows = |id: u32| self.tree.rows[id as usize];
        let (sibling, node) = if rows(left) <= rows(right) { (left, right) } else { (right, left) };
        self.rest.push(Rest { node, sibling, cells });
        vec![sibling]
    }

    /// The nodes that are split, in order, as far as is known; the last one if no more may follow it.
    fn order(&self, max_leaves: usize) -> (Vec<u32>, Option<u32>) {
        let mut frontier: BinaryHeap<Candidate> = BinaryHeap::new();
        let mut reached = Vec::new();
        self.consider(0, 0, &mut frontier);
        let (mut leaves, mut numbers) = (1, 1);
        while leaves < max_leaves {
            let Some((_, _, id)) = frontier.pop() else { return (reached, None) };
            leaves += 1;
            reached.push(id);
            if !self.tree.is_leaf(id as usize) {
                self.consider(self.tree.left[id as usize], numbers, &mut frontier);
                self.consider(self.tree.right[id as usize], numbers + 1, &mut frontier);
            }
            numbers += 2;
        }
        let last = reached.last().copied();
        (reached, last)
    }

    fn consider(&self, id: u32, number: u32, frontier: &mut BinaryHeap<Candidate>) {
        if let Some(chosen) = self.split_of(id) {
            frontier.push((ordered_bits(chosen.gain), Reverse(number), id));
        }
    }

    /// The tree as it is in the end, and as rows find their leaves in it.
    pub(super) fn finish(mut self, max_leaves: usize) -> (Tree, Finished) {
        let whole = self.tree.clone();
        let mut inner = vec![false; self.tree.len()];
        self.order(max_leaves).0.into_iter().for_each(|id| inner[id as usize] = true);
        let mut values = self.tree.values.clone();
        let tree = &mut self.tree;
        for id in 0..tree.len() {
            if tree.is_leaf(id) || inner[id] {
                continue;
            }
            // What hangs below a leaf has its value.
            for child in [tree.left[id], tree.right[id]] {
                values[child as usize] = values[id];
            }
            tree.feature[id] = NONE;
            tree.threshold[id] = 0.0;
            tree.missing_left[id] = false;
            tree.level_start[id] = NONE;
            (tree.left[id], tree.right[id]) = (NONE, NONE);
        }
        (tree.in_preorder(), Finished { tree: whole, values })
    }
}

/// A tree whose leaves wait for their values.
#[derive(Stored, Clone, Debug)]
pub(super) struct Waiting {
    /// As it is in the end, and all nodes that rows may stand in.
    tree: Tree,
    pub(super) whole: Tree,
    /// The place, among the leaves of the first, of the leaf that each node of the second is in.
    pub(super) leaf_of: Vec<u32>,
}

impl Waiting {
    pub(super) fn new(growing: Growing, max_leaves: usize) -> Self {
        // With numbers of nodes as values, both trees say which leaf is which.
        let mut named = growing.clone();
        named.tree.values = (0..named.tree.len()).map(|id| id as f64).collect();
        let (names, Finished { tree: whole, values }) = named.finish(max_leaves);
        let mut place = vec![0; whole.len()];
        let leaves = (0..names.len()).filter(|&id| names.is_leaf(id));
        leaves.enumerate().for_each(|(k, id)| place[names.values[id] as usize] = k as u32);
        let leaf_of = values.iter().map(|&name| place[name as usize]).collect();
        Waiting { tree: growing.finish(max_leaves).0, whole, leaf_of }
    }

    /// How many leaves wait.
    pub(super) fn leaves(&self) -> usize {
        self.tree.leaves()
    }

    /// The tree with these values in its leaves.
    pub(super) fn finish(mut self, leaves: &[f64]) -> Result<(Tree, Finished)> {
        if leaves.len() != self.leaves() {
            return Err(Error::internal("values of other leaves"));
        }
        let ids: Vec<usize> = (0..self.tree.len()).filter(|&id| self.tree.is_leaf(id)).collect();
        ids.into_iter().zip(leaves).for_each(|(id, value)| self.tree.values[id] = *value);
        let values = self.leaf_of.iter().map(|&leaf| leaves[leaf as usize]).collect();
        Ok((self.tree, Finished { tree: self.whole, values }))
    }
}

/// Numbers above zero in the order of their values.
fn ordered_bits(gain: f64) -> u64 {
    let bits = gain.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Histograms in the form that splits are searched in: of every column its bins, then that of missing values.
fn expanded(cells: &[i64], kinds: &[Kind], layout: &Layout) -> Histogram {
    let mut histogram = Vec::new();
    layout.clear(&mut histogram);
    let mut cells =
        cells.chunks_exact(2).map(|pair| Cell { gradient: pair[0], curvature: pair[1] });
    for (j, kind) in kinds.iter().enumerate() {
        let column = &mut histogram[layout.bins(j)];
        for bin in (0..kind.bins()).chain([kind.missing()]) {
            column[bin] = cells.next().unwrap_or_default();
        }
    }
    histogram
}

/// Histograms as they travel.
pub(super) fn packed(histogram: &[Cell], kinds: &[Kind], layout: &Layout, out: &mut Vec<i64>) {
    for (j, kind) in kinds.iter().enumerate() {
        let column = &histogram[layout.bins(j)];
        let (bins, start) = (kind.bins(), out.len());
        out.resize(start + 2 * (bins + 1), 0);
        let (pairs, _) = out[start..].as_chunks_mut::<2>();
        let cells = column[..bins].iter().chain([&column[kind.missing()]]);
        pairs
            .iter_mut()
            .zip(cells)
            .for_each(|(pair, cell)| *pair = [cell.gradient, cell.curvature]);
    }
}
