//! What decides the splits of a boosted tree, whoever has the rows: a grower in memory, or rounds.
//!
//! A node is known by the sums of its rows. Its columns, where only some are drawn, come from the tree's
//! number and the way to the node, so the order in which nodes are looked at changes nothing. Columns are
//! searched side by side and compared in their order.

use super::blocks::{Cell, Histogram, Layout, Scale};
use super::split::{Bounds, Found, Question, Rules, score, value};
use crate::tree::binned::{Kind, way};
use crate::tree::nodes::Tree;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of the columns of nodes.
const COLUMNS_STREAM: u64 = 0x6869_7374;

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

/// A node of a growing tree.
#[derive(Stored, Clone, Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    pub(super) depth: usize,
    /// Stands for the way from the root.
    pub(super) path: u64,
    pub(super) total: Cell,
    pub(super) bounds: Bounds,
    /// Groups of columns that the path allows.
    pub(super) groups: Vec<usize>,
}

/// A split as a tree holds it.
#[derive(Stored, Clone, Debug, Default)]
pub(super) struct Chosen {
    pub(super) feature: usize,
    pub(super) threshold: f64,
    pub(super) missing_left: bool,
    /// Levels that go left, as bits; empty for quantities.
    pub(super) levels: Vec<u32>,
    pub(super) gain: f64,
    pub(super) left: Cell,
}

/// Decides the splits of one tree.
#[derive(Clone, Copy)]
pub(super) struct Splitter<'a> {
    pub(super) kinds: &'a [Kind],
    pub(super) layout: &'a Layout,
    pub(super) shape: &'a Shape,
    pub(super) scale: Scale,
    /// The tree's number.
    pub(super) number: usize,
    pub(super) run: Context<'a>,
}

impl Splitter<'_> {
    /// A tree without nodes.
    pub(super) fn tree(&self) -> Tree {
        Tree::new(1, self.kinds.iter().map(Kind::levels).collect())
    }

    /// The node of all rows.
    pub(super) fn root(&self, histogram: &Histogram) -> Node {
        let mut total = Cell::default();
        histogram[self.layout.bins(0)].iter().for_each(|cell| total.add(*cell));
        let groups = (0..self.shape.groups.as_ref().map_or(0, Vec::len)).collect();
        Node { id: 0, depth: 0, path: 1, total, bounds: Bounds::FREE, groups }
    }

    /// Adds a node to its tree, as a leaf for now.
    pub(super) fn push(&self, tree: &mut Tree, node: &Node) {
        let rules = &self.shape.rules;
        let value = value(&self.scale, rules.l2, node.total, node.bounds);
        let rate = self.shape.learning_rate;
        let count = self.scale.count(node.total);
        let weight = count.max(1) as f64;
        tree.push_leaf(count, weight, |out| out.push(rate * value));
        // The score as a cost, so that importances are gains.
        let cost = -score(&self.scale, rules.l2, node.total) / weight;
        tree.impurity[node.id as usize] = cost;
    }

    /// Whether a node may be split at all.
    pub(super) fn is_open(&self, node: &Node) -> bool {
        node.depth < self.shape.max_depth
            && self.scale.count(node.total) >= 2 * self.shape.rules.min_rows
    }

    /// The best split of a node, if one helps.
    pub(super) fn search(&self, node: &Node, histogram: &Histogram) -> Option<Found> {
        let columns = self.candidates(node);
        let question = Question {
            kinds: self.kinds,
            layout: self.layout,
            histogram,
            total: node.total,
            scale: self.scale,
            rules: &self.shape.rules,
            bounds: node.bounds,
        };
        // A column is little work: one task for several.
        let tasks = self.run.par_ranges(columns.len(), 8, |range| {
            range.filter_map(|k| question.best(columns[k])).fold(None, larger)
        });
        tasks.into_iter().flatten().fold(None, larger)
    }

    /// The split as the tree holds it.
    pub(super) fn chosen(&self, node: &Node, found: &Found) -> Chosen {
        let kind = &self.kinds[found.feature];
        let larger_left = 2 * self.scale.count(found.left) > self.scale.count(node.total);
        let present = |bin: usize| found.present[bin];
        Chosen {
            feature: found.feature,
            threshold: found.threshold,
            missing_left: found.missing_left,
            levels: kind.level_bits(&found.goes_left, present, larger_left),
            gain: found.gain,
            left: found.left,
        }
    }

    /// Makes a node ask for a column; its children, which are leaves of the tree now.
    pub(super) fn split(&self, tree: &mut Tree, node: &Node, chosen: &Chosen) -> [Node; 2] {
        let ids = [tree.len() as u32, tree.len() as u32 + 1];
        let feature = chosen.feature;
        let levels = match &self.kinds[feature] {
            Kind::Ordered { .. } => None,
            Kind::Levels { .. } => Some(chosen.levels.as_slice()),
        };
        tree.ask(node.id, feature, chosen.threshold, chosen.missing_left, levels);
        ids.iter().for_each(|&id| tree.adopt(node.id, id));
        let totals = [chosen.left, node.total.less(chosen.left)];
        let bounds = self.bounds(node, feature, totals);
        let groups: Vec<usize> = match &self.shape.groups {
            None => Vec::new(),
            Some(all) => {
                node.groups.iter().copied().filter(|&g| all[g].contains(&feature)).collect()
            }
        };
        let child = |side: usize| Node {
            id: ids[side],
            depth: node.depth + 1,
            path: way(node.path, side == 1),
            total: totals[side],
            bounds: bounds[side],
            groups: groups.clone(),
        };
        let children = [child(0), child(1)];
        children.iter().for_each(|child| self.push(tree, child));
        children
    }

    /// What the children may be: on their side of the middle where the column has a direction.
    fn bounds(&self, node: &Node, feature: usize, totals: [Cell; 2]) -> [Bounds; 2] {
        let bounds = node.bounds;
        let direction = self.shape.rules.directions[feature];
        if direction == 0 {
            return [bounds; 2];
        }
        let of = |cell| value(&self.scale, self.shape.rules.l2, cell, bounds);
        let middle = 0.5 * of(totals[0]) + 0.5 * of(totals[1]);
        let (below, above) = (Bounds { high: middle, ..bounds }, Bounds { low: middle, ..bounds });
        if direction > 0 { [below, above] } else { [above, below] }
    }

    /// The columns that a node may look at, in their order.
    fn candidates(&self, node: &Node) -> Vec<usize> {
        let all = self.kinds.len();
        let mut columns: Vec<usize> = match &self.shape.groups {
            None => (0..all).collect(),
            Some(groups) => {
                let allowed = |j: &usize| node.groups.iter().any(|&g| groups[g].contains(j));
                (0..all).filter(allowed).collect()
            }
        };
        if self.shape.max_features < columns.len() {
            let stream = COLUMNS_STREAM.wrapping_add((self.number as u64) << 32);
            let mut rng = self.run.row_rng(stream, node.path);
            let chosen = sample::choose(&mut rng, columns.len(), self.shape.max_features);
            columns = chosen.into_iter().map(|place| columns[place]).collect();
            columns.sort_unstable();
        }
        columns
    }
}

fn larger(best: Option<Found>, found: Found) -> Option<Found> {
    match best {
        Some(best) if best.gain >= found.gain => Some(best),
        _ => Some(found),
    }
}
