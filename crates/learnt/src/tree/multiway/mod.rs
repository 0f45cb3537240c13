//! Trees with one branch a category: growing, pruning, prediction with parts of rows.
//!
//! A node asks for a quantity (up to a threshold, or above) or for a category (one branch a value that
//! training rows had there). Branches of a node stand side by side, after their parent. A row without
//! the value goes down every branch with a part of its weight. Nothing here recurses.

mod grow;
mod independence;
mod prune;
mod search;

pub use grow::MissingAs;
pub(super) use grow::{Held, Plan, grow};
pub(super) use prune::{by_estimate, by_length, by_validation, collapse};
pub use search::CostRule;

use super::nodes::NONE;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// The nodes of a tree; the root is the first.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(super) struct MultiTree {
    /// The column that a node asks for; none in a leaf.
    pub(super) feature: Vec<u32>,
    /// Values up to it take the first of two branches; infinite where each value has its branch.
    pub(super) threshold: Vec<f64>,
    /// The first branch.
    pub(super) first: Vec<u32>,
    /// Number of branches.
    pub(super) branches: Vec<u32>,
    /// The value of the parent's column that leads here; 0 below a threshold.
    pub(super) value: Vec<f64>,
    /// The part of a row that comes here where the parent's column has no value.
    pub(super) share: Vec<f64>,
    /// Weight of the training rows of each class, `classes` numbers a node.
    pub(super) counts: Vec<f64>,
    /// Number of classes.
    pub(super) classes: usize,
    /// Number of columns.
    pub(super) columns: usize,
}

/// Where a row goes from a node.
pub(super) enum Way {
    /// To one branch.
    One(usize),
    /// To all of them, in parts.
    All,
    /// Nowhere: no training row had this value.
    Stay,
}

impl MultiTree {
    pub(super) fn new(classes: usize, columns: usize) -> Self {
        MultiTree { classes, columns, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.feature.len()
    }

    /// Adds a leaf with these weights of classes.
    pub(super) fn push(&mut self, value: f64, share: f64, counts: &[f64]) {
        self.feature.push(NONE);
        self.threshold.push(0.0);
        self.first.push(NONE);
        self.branches.push(0);
        self.value.push(value);
        self.share.push(share);
        self.counts.extend_from_slice(counts);
    }

    /// Makes an inner node a leaf.
    pub(super) fn cut(&mut self, node: usize) {
        self.feature[node] = NONE;
        self.threshold[node] = 0.0;
        self.first[node] = NONE;
        self.branches[node] = 0;
    }

    pub(super) fn is_leaf(&self, node: usize) -> bool {
        self.feature[node] == NONE
    }

    /// The branches of a node.
    pub(super) fn children(&self, node: usize) -> std::ops::Range<usize> {
        match self.branches[node] {
            0 => 0..0,
            count => self.first[node] as usize..(self.first[node] + count) as usize,
        }
    }

    /// Whether a node has a branch for each value.
    pub(super) fn is_multiway(&self, node: usize) -> bool {
        !self.is_leaf(node) && self.threshold[node] == f64::INFINITY
    }

    pub(super) fn counts_of(&self, node: usize) -> &[f64] {
        &self.counts[node * self.classes..(node + 1) * self.classes]
    }

    /// Weight of the training rows of a node.
    pub(super) fn weight(&self, node: usize) -> f64 {
        self.counts_of(node).iter().sum()
    }

    /// Shares of the classes in a node.
    pub(super) fn shares(&self, node: usize) -> Vec<f64> {
        let total = self.weight(node);
        self.counts_of(node).iter().map(|count| (count / total).min(1.0)).collect()
    }

    pub(super) fn leaves(&self) -> usize {
        self.feature.iter().filter(|&&feature| feature == NONE).count()
    }

    /// The parent of each node; none for the root.
    pub(super) fn parents(&self) -> Vec<u32> {
        let mut parents = vec![NONE; self.len()];
        for node in 0..self.len() {
            parents[self.children(node)].fill(node as u32);
        }
        parents
    }

    /// Depth of the deepest leaf.
    pub(super) fn depth(&self) -> usize {
        let mut depths = vec![0; self.len()];
        for node in 0..self.len() {
            let below = depths[node] + 1;
            depths[self.children(node)].fill(below);
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Where a value leads.
    pub(super) fn way(&self, node: usize, value: f64) -> Way {
        if value.is_nan() {
            return Way::All;
        }
        let children = self.children(node);
        if !self.is_multiway(node) {
            return Way::One(children.start + usize::from(value > self.threshold[node]));
        }
        let values = &self.value[children.clone()];
        let place = values.partition_point(|known| *known < value);
        match values.get(place) == Some(&value) {
            true => Way::One(children.start + place),
            false => Way::Stay,
        }
    }

    /// Adds the class shares of a row, as the leaves that it reaches have them.
    fn add_shares(
        &self,
        value: impl Fn(usize) -> f64,
        open: &mut Vec<(usize, f64)>,
        out: &mut [f64],
    ) {
        open.push((0, 1.0));
        while let Some((node, part)) = open.pop() {
            let way = match self.is_leaf(node) {
                true => Way::Stay,
                false => self.way(node, value(self.feature[node] as usize)),
            };
            match way {
                Way::One(child) => open.push((child, part)),
                Way::All => {
                    let parts = self.children(node).filter(|&child| self.share[child] > 0.0);
                    open.extend(parts.map(|child| (child, part * self.share[child])));
                }
                Way::Stay => {
                    let total = self.weight(node);
                    let shares = self.counts_of(node).iter().map(|count| count / total);
                    out.iter_mut().zip(shares).for_each(|(sum, share)| *sum += part * share);
                }
            }
        }
    }

    /// The class shares of each row; they sum to 1.
    pub(super) fn predict(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        if x.ncols() != self.columns {
            return Err(Error::shape("x", format!("{} columns", self.columns), x.ncols()));
        }
        let mut out = Matrix::zeros(x.nrows(), self.classes);
        let values = x.values();
        let block = 256 * self.classes;
        run.par_fill(out.as_mut_slice(), block, |first, rows| {
            let mut open = Vec::new();
            for (i, row) in rows.chunks_exact_mut(self.classes).enumerate() {
                let at = first / self.classes + i;
                self.add_shares(|j| values.at(at, j), &mut open, row);
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|share| *share = (*share / total).min(1.0));
            }
        });
        Ok(out)
    }

    /// The nodes that are reached from the root, branches side by side after their parent.
    #[must_use]
    pub(super) fn compacted(&self) -> MultiTree {
        let mut out = MultiTree::new(self.classes, self.columns);
        let mut open = vec![(0, 0)];
        out.push(self.value[0], self.share[0], self.counts_of(0));
        while let Some((old, new)) = open.pop() {
            if self.is_leaf(old) {
                continue;
            }
            out.feature[new] = self.feature[old];
            out.threshold[new] = self.threshold[old];
            out.first[new] = out.len() as u32;
            out.branches[new] = self.branches[old];
            for child in self.children(old) {
                open.push((child, out.len()));
                out.push(self.value[child], self.share[child], self.counts_of(child));
            }
        }
        out
    }

    /// Nodes in an order in which each stands before its branches and one branch before the next.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.len());
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            order.push(node);
            open.extend(self.children(node).rev());
        }
        order
    }

    /// Refuses what could not have been grown.
    pub(super) fn validate(&self, columns: usize, classes: usize) -> Result<()> {
        let n = self.len();
        let lengths = [
            self.threshold.len(),
            self.first.len(),
            self.branches.len(),
            self.value.len(),
            self.share.len(),
        ];
        if n == 0 || n >= NONE as usize || lengths.iter().any(|&length| length != n) {
            return Err(invalid("a tree whose arrays differ in length"));
        }
        let fits = self.classes == classes
            && self.columns == columns
            && n.checked_mul(classes) == Some(self.counts.len());
        if !fits {
            return Err(invalid("a tree of other columns or classes"));
        }
        let weights = self.counts.iter().all(|w| w.is_finite() && *w >= 0.0);
        let shares = self.share.iter().all(|share| (0.0..=1.0).contains(share));
        if !weights || !shares || (0..n).any(|node| self.weight(node) <= 0.0) {
            return Err(invalid("a tree with weights that are not positive"));
        }
        self.validate_links()
    }

    fn validate_links(&self) -> Result<()> {
        let n = self.len();
        let mut parents = vec![0_u8; n];
        for node in 0..n {
            let (first, count) = (self.first[node] as usize, self.branches[node] as usize);
            if self.is_leaf(node) {
                let bare = self.first[node] == NONE && count == 0;
                if bare { continue } else { return Err(invalid("a leaf with branches")) }
            }
            let inside = first > node && first.checked_add(count).is_some_and(|end| end <= n);
            if !inside || count < 2 || self.feature[node] as usize >= self.columns {
                return Err(invalid("a node whose branches are not after it"));
            }
            let children = first..first + count;
            let sorted = self.value[children.clone()].windows(2).all(|pair| pair[0] < pair[1]);
            let ways = match self.is_multiway(node) {
                true => sorted,
                false => count == 2 && self.threshold[node].is_finite(),
            };
            let parts: f64 = self.share[children.clone()].iter().sum();
            if !ways || (parts - 1.0).abs() >= 1e-6 {
                return Err(invalid("a node whose branches do not share its rows"));
            }
            parents[children].iter_mut().for_each(|count| *count = count.saturating_add(1));
        }
        match parents.iter().enumerate().all(|(node, &count)| count == u8::from(node > 0)) {
            true => Ok(()),
            false => Err(invalid("a node without one parent")),
        }
    }
}
