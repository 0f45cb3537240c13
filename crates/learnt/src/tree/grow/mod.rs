//! The tree engine: a criterion, a way to find splits and an order of growth make a tree.
//!
//! Splits are found exactly (sorted columns, or sorting what a node needs where few columns are
//! looked at) or in histograms of bins. Growth is depth first, or best first where the number of
//! leaves is limited. Nodes larger than a fixed size search their columns on several threads;
//! the subtrees below grow one a thread. Random draws belong to a node's path from the root.
//! So any number of threads gives the same tree.

mod absolute;
mod columns;
mod criterion;
mod draw;
mod gini;
mod levels;
mod monotone;
mod regression;
mod scan;
mod space;
mod split;
mod surrogate;

pub(crate) use absolute::Absolute;
pub(crate) use columns::{Codes, Columns, MISSING, Store, level, midpoint, unordered_levels};
pub(crate) use criterion::{Criterion, Entropy, Exponential, LossGini, Summary, WithCases};
pub(crate) use gini::Gini;
pub(crate) use levels::{MOST_LEVELS, order_of_levels};
pub(crate) use monotone::{check_one_number, directions};
pub(crate) use regression::{Deviation, Poisson, Squared};
pub(crate) use scan::Limits;
pub(crate) use split::{Split, has_level};
pub(crate) use surrogate::{Sides, Surrogate, surrogates};

use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;
use monotone::Bounds;
use space::Space;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A node with at most this many rows grows to its end on one thread.
const SMALL: usize = 8192;

/// Numbers in predictions for which there is room before nodes are there.
const MOST_ROOM: usize = 1 << 22;

/// The random stream of the root; every other node's comes from its parent's.
const ROOT_KEY: u64 = 0x7265_6573_0000_0001;

/// When to stop and where to look.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Deepest node; the root has depth 0.
    pub(crate) max_depth: usize,
    /// Fewest rows of a node that is split.
    pub(crate) min_samples_split: usize,
    /// What both sides of a split need.
    pub(crate) limits: Limits,
    /// How many columns a node looks at.
    pub(crate) max_features: usize,
    /// Most leaves; then the best split comes first.
    pub(crate) max_leaf_nodes: Option<usize>,
    /// Least decrease of impurity, weighted by the node's share of all weight.
    pub(crate) min_impurity_decrease: f64,
    /// One random cut a column instead of the best.
    pub(crate) random: bool,
    /// All two-way partitions of levels instead of cuts of their order.
    pub(crate) exhaustive: bool,
    /// Columns are drawn once a tree and not once a node.
    pub(crate) columns_once: bool,
    /// Most surrogates of a split; they need ranks.
    pub(crate) surrogates: usize,
    /// Whether the prediction may only rise (1) or only fall (-1) with a column; empty if none matters.
    pub(crate) directions: Vec<i8>,
}

/// A node that may still be split; trees that grow depth first have it only once it is looked at.
struct Open {
    id: u32,
    parent: u32,
    range: Range<usize>,
    depth: usize,
    key: u64,
    bounds: Bounds,
    summary: Summary,
}

/// A tree over all rows of the columns.
pub(crate) fn grow<C: Criterion>(
    columns: Columns,
    criterion: &C,
    settings: &Settings,
    run: &Context,
) -> Result<Tree> {
    let levels: Vec<u32> = columns.codes.iter().map(columns::Codes::levels).collect();
    let codes = columns.codes;
    let mut space =
        Space::new(&codes, columns.store, columns.values, columns.rows, criterion, settings);
    let range = 0..space.len();
    let summary = space.summary(&range);
    let grower = Grower { settings, run: *run, total: summary.weight, levels: &levels };
    let bounds = Bounds::NONE;
    let root = Open { id: 0, parent: NONE, range, depth: 0, key: ROOT_KEY, bounds, summary };
    match settings.max_leaf_nodes {
        Some(leaves) => Ok(grower.best_first(&mut space, root, leaves)?.in_preorder()),
        None if run.threads() == 1 => grower.in_order(&mut space, root),
        None => grower.depth_first(&mut space, root),
    }
}

/// The order of growth.
struct Grower<'a> {
    settings: &'a Settings,
    run: Context<'a>,
    /// Weight of all rows.
    total: f64,
    /// Levels of each column; 0 for quantities.
    levels: &'a [u32],
}

impl Grower<'_> {
    /// No tree yet, with room for all below a node, unless that is much.
    fn bare(&self, node: &Open) -> Tree {
        let outputs = node.summary.value.len();
        let mut tree = Tree::new(outputs, self.levels.to_vec());
        let most = (2 * node.range.len()).min(MOST_ROOM / outputs.max(1));
        tree.reserve(most);
        tree
    }

    /// A tree of one leaf.
    fn seed(&self, node: &Open) -> Tree {
        let mut tree = Tree::new(node.summary.value.len(), self.levels.to_vec());
        self.push(&mut tree, &node.summary, node.range.len(), node.bounds);
        tree
    }

    /// Adds a node, whose prediction is within bounds; splits look at what its rows say themselves.
    fn push(&self, tree: &mut Tree, summary: &Summary, rows: usize, bounds: Bounds) {
        if self.settings.directions.is_empty() {
            return tree.push(summary, rows);
        }
        let mut confined = summary.clone();
        bounds.confine(&mut confined.value);
        tree.push(&confined, rows);
    }

    /// The split of a node, unless it must stay a leaf.
    fn find<C: Criterion>(&self, space: &Space<C>, node: &Open) -> Option<Split> {
        let Settings { max_depth, min_samples_split, limits, .. } = *self.settings;
        let rows = node.range.len();
        if node.summary.pure
            || node.depth >= max_depth
            || rows < min_samples_split
            || rows < limits.min_rows.saturating_mul(2)
            || node.summary.weight < 2.0 * limits.min_weight
        {
            return None;
        }
        let split = space.find(&node.range, &node.summary, node.key, &node.bounds, &self.run)?;
        let decrease = split.gain / self.total;
        (decrease + f64::EPSILON >= self.settings.min_impurity_decrease).then_some(split)
    }

    /// Divides a node; the children are in the tree and returned, left first.
    fn divide<C: Criterion>(
        &self,
        space: &mut Space<C>,
        node: &Open,
        split: &Split,
        tree: &mut Tree,
    ) -> [Open; 2] {
        let ids = [tree.len() as u32, tree.len() as u32 + 1];
        tree.split(node.id, split, ids);
        let mut children = self.children(space, node, split);
        for (child, id) in children.iter_mut().zip(ids) {
            child.id = id;
            self.push(tree, &child.summary, child.range.len(), child.bounds);
        }
        children
    }

    /// The children of a node, left first.
    fn children<C: Criterion>(
        &self,
        space: &mut Space<C>,
        node: &Open,
        split: &Split,
    ) -> [Open; 2] {
        let middle = space.divide(&node.range, split, &self.run);
        let [left, right] = [node.range.start..middle, middle..node.range.end];
        let summaries = [space.summary(&left), space.summary(&right)];
        let bounds = match self.settings.directions.get(split.feature) {
            None => [node.bounds; 2],
            Some(&direction) => node.bounds.divided(direction, &summaries),
        };
        let open = |side: usize, range: Range<usize>, summary: Summary| {
            let (depth, key) = (node.depth + 1, child_key(node.key, side as u64));
            Open { id: NONE, parent: node.id, range, depth, key, bounds: bounds[side], summary }
        };
        let [first, second] = summaries;
        [open(0, left, first), open(1, right, second)]
    }

    /// Large nodes here, with their columns on several threads; then small ones, one a thread; all in preorder.
    fn depth_first<C: Criterion>(&self, space: &mut Space<C>, root: Open) -> Result<Tree> {
        let mut tree = self.seed(&root);
        let mut open = vec![root];
        let mut small = Vec::new();
        while let Some(node) = open.pop() {
            self.run.checkpoint()?;
            if node.range.len() <= SMALL {
                small.push(node);
            } else if let Some(split) = self.find(space, &node) {
                open.extend(self.divide(space, &node, &split, &mut tree));
            }
        }
        let single = Grower { run: self.run.with_threads(1), ..*self };
        let space = &*space;
        let parts = self
            .run
            .try_par_map(small.len(), |i| Ok((small[i].id, single.subtree(space, &small[i])?)))?;
        Ok(tree.with_parts(&parts))
    }

    /// All below one node, on rows numbered anew so that they are near in memory.
    fn subtree<C: Criterion>(&self, space: &Space<C>, node: &Open) -> Result<Tree> {
        let mut tree = self.bare(node);
        self.below(space, node, NONE, &mut tree)?;
        Ok(tree)
    }

    /// The whole tree on one thread, every node at its place at once, so that nothing is copied.
    fn in_order<C: Criterion>(&self, space: &mut Space<C>, root: Open) -> Result<Tree> {
        let mut tree = self.bare(&root);
        let mut open = vec![root];
        while let Some(mut node) = open.pop() {
            if node.range.len() <= SMALL && self.asks_most(space) {
                self.below(space, &node, node.parent, &mut tree)?;
                continue;
            }
            self.run.checkpoint()?;
            self.plant(&mut tree, &mut node);
            if let Some(split) = self.find(space, &node) {
                let [left, right] = self.children(space, &node, &split);
                tree.ask_split(node.id, &split);
                open.extend([right, left]);
            }
        }
        tree.shrink();
        Ok(tree)
    }

    /// Whether the nodes below a small one look at so many columns that a copy of its rows pays: they look at some
    /// in each of about as many levels as this number says.
    fn asks_most<C: Criterion>(&self, space: &Space<C>) -> bool {
        const LEVELS: usize = 16;
        self.settings.columns_once
            || !space.reads_values()
            || self.levels.len() < LEVELS.saturating_mul(self.settings.max_features)
    }

    /// Adds a node with all below it, on rows numbered anew so that they are near in memory.
    fn below<C: Criterion>(
        &self,
        space: &Space<C>,
        node: &Open,
        parent: u32,
        tree: &mut Tree,
    ) -> Result<()> {
        let mut space = space.extract(&node.range);
        let summary = node.summary.clone();
        let mut open = vec![Open { parent, range: 0..space.len(), summary, ..*node }];
        while let Some(mut node) = open.pop() {
            self.plant(tree, &mut node);
            if let Some(split) = self.find(&space, &node) {
                if node.id.is_multiple_of(256) {
                    self.run.checkpoint()?;
                }
                let [left, right] = self.children(&mut space, &node, &split);
                tree.ask_split(node.id, &split);
                open.extend([right, left]);
            }
        }
        Ok(())
    }

    /// Adds a node to the tree and to its parent.
    fn plant(&self, tree: &mut Tree, node: &mut Open) {
        node.id = tree.len() as u32;
        if node.parent != NONE {
            tree.adopt(node.parent, node.id);
        }
        self.push(tree, &node.summary, node.range.len(), node.bounds);
    }

    /// The split with the largest gain comes first, of equals the one of the older node.
    fn best_first<C: Criterion>(
        &self,
        space: &mut Space<C>,
        root: Open,
        leaves: usize,
    ) -> Result<Tree> {
        let mut tree = self.seed(&root);
        let mut frontier = BinaryHeap::new();
        let candidate = |space: &Space<C>, node: Open| {
            self.find(space, &node).map(|split| Candidate { node, split })
        };
        frontier.extend(candidate(space, root));
        for _ in 1..leaves {
            self.run.checkpoint()?;
            let Some(Candidate { node, split }) = frontier.pop() else { break };
            let children = self.divide(space, &node, &split, &mut tree);
            frontier.extend(children.into_iter().filter_map(|child| candidate(space, child)));
        }
        Ok(tree)
    }
}

/// A node's stream from its parent's: the path from the root decides, not the order of growth.
fn child_key(parent: u64, side: u64) -> u64 {
    let mut z = parent.wrapping_mul(2).wrapping_add(side).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ z >> 32
}

/// A split that waits for its turn.
struct Candidate {
    node: Open,
    split: Split,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.split.gain.total_cmp(&other.split.gain).then(other.node.id.cmp(&self.node.id))
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
