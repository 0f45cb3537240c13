//! Minimal cost-complexity pruning (Breiman, Friedman, Olshen and Stone 1984).
//!
//! C_alpha(T) = Σ over leaves of R(t) + alpha * leaves, with R(t) the impurity of a node times its
//! share of the weight. The weakest link is the inner node with the least
//! g(t) = (R(t) - R(T_t)) / (leaves(T_t) - 1); all links of equal g are cut together, then g of
//! their ancestors changes, up to the root alone.

use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The subtrees that are optimal for some alpha, from the full tree to the root alone.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub struct PruningPath {
    /// The smallest alpha for which each subtree is optimal; the first is 0.
    pub ccp_alphas: Vec<f64>,
    /// Impurity of the leaves of each subtree.
    pub impurities: Vec<f64>,
    /// Leaves of each subtree.
    pub leaves: Vec<usize>,
}

/// The nested sequence of subtrees.
pub(crate) fn path(tree: &Tree) -> PruningPath {
    let mut links = Links::new(tree);
    let mut path = PruningPath::default();
    let mut record = |alpha: f64, links: &Links| {
        path.ccp_alphas.push(alpha);
        path.impurities.push(links.cost[0]);
        path.leaves.push(links.leaves[0]);
    };
    record(0.0, &links);
    let mut alpha = 0.0;
    while let Some(weakest) = links.weakest() {
        alpha = f64::max(alpha, weakest);
        links.cut_up_to(alpha * (1.0 + 1e-10) + f64::MIN_POSITIVE);
        record(alpha, &links);
    }
    path
}

/// The smallest subtree that is optimal for alpha; alpha 0 leaves the tree as it is.
pub(crate) fn prune(tree: Tree, alpha: f64) -> Tree {
    if alpha <= 0.0 {
        return tree;
    }
    let mut links = Links::new(&tree);
    links.cut_up_to(alpha);
    let cut = links.cut;
    let mut tree = tree;
    for node in (0..tree.len()).filter(|&node| cut[node]) {
        tree.feature[node] = NONE;
        tree.level_start[node] = NONE;
        tree.threshold[node] = 0.0;
        tree.missing_left[node] = false;
    }
    tree.in_preorder()
}

/// A number that sorts.
#[derive(Clone, Copy, PartialEq)]
struct Strength(f64);

impl Eq for Strength {}

impl PartialOrd for Strength {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Strength {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The inner nodes with their strengths, while links are cut.
struct Links<'a> {
    tree: &'a Tree,
    parent: Vec<u32>,
    /// R(t).
    own: Vec<f64>,
    /// R(T_t).
    cost: Vec<f64>,
    leaves: Vec<usize>,
    /// Nodes that have become leaves.
    cut: Vec<bool>,
    /// Nodes that are still in the tree.
    alive: Vec<bool>,
    queue: BinaryHeap<Reverse<(Strength, u32, usize)>>,
}

impl<'a> Links<'a> {
    fn new(tree: &'a Tree) -> Self {
        let n = tree.len();
        let own: Vec<f64> =
            (0..n).map(|t| tree.impurity[t] * tree.weight[t] / tree.weight[0]).collect();
        let mut links = Links {
            tree,
            parent: vec![NONE; n],
            cost: own.clone(),
            own,
            leaves: vec![1; n],
            cut: vec![false; n],
            alive: vec![true; n],
            queue: BinaryHeap::new(),
        };
        for node in (0..n).rev().filter(|&node| !tree.is_leaf(node)) {
            let (left, right) = (tree.left[node] as usize, tree.right[node] as usize);
            links.parent[left] = node as u32;
            links.parent[right] = node as u32;
            links.cost[node] = links.cost[left] + links.cost[right];
            links.leaves[node] = links.leaves[left] + links.leaves[right];
            links.enqueue(node);
        }
        links
    }

    fn strength(&self, node: usize) -> f64 {
        (self.own[node] - self.cost[node]).max(0.0) / (self.leaves[node] - 1) as f64
    }

    fn enqueue(&mut self, node: usize) {
        let entry = (Strength(self.strength(node)), node as u32, self.leaves[node]);
        self.queue.push(Reverse(entry));
    }

    /// The least strength. Cutting below a node only raises its strength, so an entry that is out
    /// of date is too early in the queue and goes back with its strength of now.
    fn weakest(&mut self) -> Option<f64> {
        while let Some(&Reverse((strength, node, leaves))) = self.queue.peek() {
            let node = node as usize;
            let stands = self.alive[node] && !self.cut[node];
            if stands && self.leaves[node] == leaves {
                return Some(strength.0);
            }
            self.queue.pop();
            if stands {
                self.enqueue(node);
            }
        }
        None
    }

    /// Cuts every link up to this strength, again and again as ancestors weaken.
    fn cut_up_to(&mut self, alpha: f64) {
        while self.weakest().is_some_and(|weakest| weakest <= alpha) {
            if let Some(Reverse((_, node, _))) = self.queue.pop() {
                self.cut_at(node as usize);
            }
        }
    }

    fn cut_at(&mut self, node: usize) {
        self.cut[node] = true;
        let mut open = vec![node];
        while let Some(inner) = open.pop() {
            let children = [self.tree.left[inner], self.tree.right[inner]];
            for child in children.into_iter().filter(|&child| child != NONE) {
                if std::mem::replace(&mut self.alive[child as usize], false) {
                    open.push(child as usize);
                }
            }
        }
        let (cost, leaves) = (self.own[node] - self.cost[node], self.leaves[node] - 1);
        self.cost[node] = self.own[node];
        self.leaves[node] = 1;
        let mut above = self.parent[node];
        while above != NONE {
            let ancestor = above as usize;
            self.cost[ancestor] += cost;
            self.leaves[ancestor] -= leaves;
            above = self.parent[ancestor];
        }
    }
}
