//! A grown tree as flat arrays: one element a node, the root first, children after their parent,
//! the left child right after it. Nothing here recurses, so depth is no danger.

use super::grow::{Split, Summary, has_level, level, unordered_levels};
use super::kept::Kept;
use super::many;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use std::collections::BTreeMap;

/// No feature, no child, no set of levels.
pub(crate) const NONE: u32 = u32::MAX;

/// The nodes of a tree.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    /// The column that a node asks for; none in a leaf.
    pub(crate) feature: Vec<u32>,
    /// Values up to it go left.
    pub(crate) threshold: Vec<f64>,
    /// The left child.
    pub(crate) left: Vec<u32>,
    /// The right child.
    pub(crate) right: Vec<u32>,
    /// Whether missing values go left.
    pub(crate) missing_left: Vec<bool>,
    /// Where a node's set of levels begins in `levels`; none for quantities.
    pub(crate) level_start: Vec<u32>,
    /// Sets of levels that go left, as bits.
    pub(crate) levels: Vec<u32>,
    /// Training rows in a node.
    pub(crate) rows: Vec<u32>,
    /// Their weight.
    pub(crate) weight: Vec<f64>,
    /// Their impurity.
    pub(crate) impurity: Vec<f64>,
    /// Predictions, `outputs` numbers a node.
    pub(crate) values: Vec<f64>,
    /// Numbers in a prediction.
    pub(crate) outputs: usize,
    /// Levels of each column; 0 for quantities.
    pub(crate) columns: Vec<u32>,
}

impl Tree {
    /// No node yet.
    pub(crate) fn new(outputs: usize, columns: Vec<u32>) -> Self {
        Tree { outputs, columns, ..Self::default() }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.feature.len()
    }

    /// Adds a leaf.
    pub(crate) fn push(&mut self, summary: &Summary, rows: usize) {
        self.push_leaf(rows, summary.weight, |out| out.extend_from_slice(&summary.value));
        self.impurity.last_mut().into_iter().for_each(|impurity| *impurity = summary.impurity);
    }

    /// Makes a leaf an inner node.
    pub(crate) fn split(&mut self, node: u32, split: &Split, children: [u32; 2]) {
        let node = node as usize;
        self.feature[node] = split.feature as u32;
        self.threshold[node] = split.threshold;
        [self.left[node], self.right[node]] = children;
        self.missing_left[node] = split.missing_left;
        if let Some(bits) = &split.levels {
            self.level_start[node] = self.levels.len() as u32;
            self.levels.extend_from_slice(bits);
        }
    }

    /// The same where children are adopted later.
    pub(crate) fn ask_split(&mut self, node: u32, split: &Split) {
        let levels = split.levels.as_deref();
        self.ask(node, split.feature, split.threshold, split.missing_left, levels);
    }

    /// Adds a leaf whose impurity is not known yet; `value` adds its prediction.
    pub(crate) fn push_leaf(
        &mut self,
        rows: usize,
        weight: f64,
        value: impl FnOnce(&mut Vec<f64>),
    ) {
        self.feature.push(NONE);
        self.threshold.push(0.0);
        self.left.push(NONE);
        self.right.push(NONE);
        self.missing_left.push(false);
        self.level_start.push(NONE);
        self.rows.push(rows as u32);
        self.weight.push(weight);
        self.impurity.push(0.0);
        value(&mut self.values);
    }

    /// Gives a node its next child: the left one first.
    pub(crate) fn adopt(&mut self, parent: u32, child: u32) {
        let parent = parent as usize;
        let side = if self.left[parent] == NONE { &mut self.left } else { &mut self.right };
        side[parent] = child;
    }

    /// Makes a leaf ask for a column; its children are adopted later.
    pub(crate) fn ask(
        &mut self,
        node: u32,
        feature: usize,
        threshold: f64,
        missing_left: bool,
        levels: Option<&[u32]>,
    ) {
        let node = node as usize;
        self.feature[node] = feature as u32;
        self.threshold[node] = threshold;
        self.missing_left[node] = missing_left;
        if let Some(bits) = levels {
            self.level_start[node] = self.levels.len() as u32;
            self.levels.extend_from_slice(bits);
        }
    }

    /// Makes room for this many nodes in all; what is not used costs nothing.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.feature.reserve(nodes);
        self.threshold.reserve(nodes);
        self.left.reserve(nodes);
        self.right.reserve(nodes);
        self.missing_left.reserve(nodes);
        self.level_start.reserve(nodes);
        self.rows.reserve(nodes);
        self.weight.reserve(nodes);
        self.impurity.reserve(nodes);
        self.values.reserve(nodes.saturating_mul(self.outputs));
    }

    /// Gives back the room that no node needs.
    pub(crate) fn shrink(&mut self) {
        self.feature.shrink_to_fit();
        self.threshold.shrink_to_fit();
        self.left.shrink_to_fit();
        self.right.shrink_to_fit();
        self.missing_left.shrink_to_fit();
        self.level_start.shrink_to_fit();
        self.levels.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.weight.shrink_to_fit();
        self.impurity.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// The nodes from the root, a left subtree before its right one; what is not reached is gone.
    #[must_use]
    pub(crate) fn in_preorder(&self) -> Tree {
        self.with_parts(&[])
    }

    /// The same with subtrees in the places of leaves, which keep what is known of their rows. Predictions of many numbers are large, and are copied once.
    #[must_use]
    pub(crate) fn with_parts(&self, parts: &[(u32, Tree)]) -> Tree {
        let mut out = Tree::new(self.outputs, self.columns.clone());
        let more = |part: &(u32, Tree)| part.1.len().saturating_sub(1);
        out.reserve(self.len() + parts.iter().map(more).sum::<usize>());
        let part_of: BTreeMap<u32, &Tree> =
            parts.iter().map(|(leaf, part)| (*leaf, part)).collect();
        let mut open = vec![(self, 0, NONE)];
        while let Some((mut tree, mut node, parent)) = open.pop() {
            out.copy_answer(tree, node as usize);
            if let (true, Some(part)) = (std::ptr::eq(tree, self), part_of.get(&node)) {
                (tree, node) = (part, 0);
            }
            let id = out.len() as u32;
            if parent != NONE {
                // The left child comes right after its parent, so any other child is the right.
                let parent = parent as usize;
                let side = if out.left[parent] == NONE { &mut out.left } else { &mut out.right };
                side[parent] = id;
            }
            out.copy_question(tree, node as usize);
            if !tree.is_leaf(node as usize) {
                open.push((tree, tree.right[node as usize], id));
                open.push((tree, tree.left[node as usize], id));
            }
        }
        out
    }

    /// Adds a node of another tree as far as it asks; its children are adopted later.
    fn copy_question(&mut self, tree: &Tree, node: usize) {
        self.feature.push(tree.feature[node]);
        self.threshold.push(tree.threshold[node]);
        self.left.push(NONE);
        self.right.push(NONE);
        self.missing_left.push(tree.missing_left[node]);
        let start = tree.level_start[node];
        self.level_start.push(if start == NONE { NONE } else { self.levels.len() as u32 });
        if start != NONE {
            self.levels.extend_from_slice(tree.level_bits(node));
        }
    }

    /// Adds what is known of the rows of a node of another tree.
    fn copy_answer(&mut self, tree: &Tree, node: usize) {
        self.rows.push(tree.rows[node]);
        self.weight.push(tree.weight[node]);
        self.impurity.push(tree.impurity[node]);
        self.values.extend_from_slice(tree.value(node));
    }

    /// The levels that go left, as bits; empty for quantities.
    pub(crate) fn level_bits(&self, node: usize) -> &[u32] {
        match self.level_start[node] {
            NONE => &[],
            start => {
                let words = self.columns[self.feature[node] as usize].div_ceil(32);
                &self.levels[start as usize..(start + words) as usize]
            }
        }
    }

    pub(crate) fn is_leaf(&self, node: usize) -> bool {
        self.feature[node] == NONE
    }

    /// The prediction of a node.
    pub(crate) fn value(&self, node: usize) -> &[f64] {
        &self.values[node * self.outputs..(node + 1) * self.outputs]
    }

    /// Number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.feature.iter().filter(|&&feature| feature == NONE).count()
    }

    /// Depth of each node; the root has 0.
    pub(crate) fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.len()];
        for node in (0..self.len()).filter(|&node| !self.is_leaf(node)) {
            depths[self.left[node] as usize] = depths[node] + 1;
            depths[self.right[node] as usize] = depths[node] + 1;
        }
        depths
    }

    /// Depth of the deepest leaf.
    pub(crate) fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or(0)
    }

    /// Σ over a column's splits of weight times decrease of impurity.
    pub(crate) fn decreases(&self) -> Vec<f64> {
        let cost = |node: usize| self.weight[node] * self.impurity[node];
        let mut sums = vec![0.0; self.columns.len()];
        for node in (0..self.len()).filter(|&node| !self.is_leaf(node)) {
            let (left, right) = (self.left[node] as usize, self.right[node] as usize);
            sums[self.feature[node] as usize] += (cost(node) - cost(left) - cost(right)).max(0.0);
        }
        sums
    }

    /// The same as shares of the whole.
    pub(crate) fn importances(&self) -> Vec<f64> {
        let mut sums = self.decreases();
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter_mut().for_each(|sum| *sum /= total);
        }
        sums
    }

    /// The child of an inner node for a value of its column.
    #[inline]
    pub(crate) fn next(&self, node: usize, value: f64) -> u32 {
        let left = match self.level_start[node] {
            NONE if value <= self.threshold[node] => true,
            NONE => value.is_nan() && self.missing_left[node],
            _ => match level(value, self.columns[self.feature[node] as usize] as usize) {
                Some(code) => has_level(self.level_bits(node), code),
                None => self.missing_left[node],
            },
        };
        if left { self.left[node] } else { self.right[node] }
    }

    /// The leaf of a row whose values are asked for by column.
    #[inline]
    pub(crate) fn leaf(&self, value: impl Fn(usize) -> f64) -> usize {
        let mut node = 0;
        while self.feature[node] != NONE {
            node = self.next(node, value(self.feature[node] as usize)) as usize;
        }
        node
    }

    /// The leaf of each row.
    pub(crate) fn apply(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        many::leaves(self, &Kept::default(), x, run)
    }

    /// The prediction for each row.
    pub(crate) fn predict(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.values_of(&self.apply(x, run)?, run)
    }

    /// The predictions of these leaves.
    pub(crate) fn values_of(&self, leaves: &[u32], run: &Context) -> Result<Matrix> {
        /// Numbers that are copied at once.
        const TOGETHER: usize = 1 << 14;
        let width = self.outputs.max(1);
        let mut out = vec![0.0; leaves.len() * self.outputs];
        run.par_fill(&mut out, width * (TOGETHER / width).max(1), |first, out| {
            let leaves = &leaves[first / width..];
            for (out, &leaf) in out.chunks_exact_mut(width).zip(leaves) {
                out.copy_from_slice(self.value(leaf as usize));
            }
        });
        Matrix::from_vec(leaves.len(), self.outputs, out)
    }

    pub(crate) fn check_width(&self, x: &Frame) -> Result<()> {
        let (expected, got) = (self.columns.len(), x.ncols());
        match expected == got {
            true => Ok(()),
            false => Err(Error::shape("x", format!("{expected} columns"), got)),
        }
    }

    /// Refuses what could not have been grown on these columns: lengths, ranges, and that every
    /// node but the root has exactly one parent, which comes before it.
    pub(crate) fn validate(&self, schema: &Schema, outputs: usize) -> Result<()> {
        let n = self.len();
        let lengths = [
            self.threshold.len(),
            self.left.len(),
            self.right.len(),
            self.missing_left.len(),
            self.level_start.len(),
            self.rows.len(),
            self.weight.len(),
            self.impurity.len(),
        ];
        if n == 0 || n >= NONE as usize || lengths.iter().any(|&length| length != n) {
            return Err(invalid("a tree whose arrays differ in length"));
        }
        if self.outputs != outputs || n.checked_mul(outputs) != Some(self.values.len()) {
            return Err(invalid("a tree whose predictions have the wrong length"));
        }
        let columns: Vec<u32> = levels_of(schema);
        if self.columns != columns {
            return Err(invalid("a tree of other columns"));
        }
        if !self.values.iter().chain(&self.impurity).all(|x| x.is_finite()) {
            return Err(invalid("a tree with numbers that are not finite"));
        }
        if !self.weight.iter().all(|w| w.is_finite() && *w > 0.0) {
            return Err(invalid("a tree with weights that are not positive"));
        }
        let mut parents = vec![0_u8; n];
        for node in 0..n {
            self.validate_node(node, &mut parents)?;
        }
        match parents[0] == 0 && parents[1..].iter().all(|&count| count == 1) {
            true => Ok(()),
            false => Err(invalid("a tree with a node that has no parent, or two")),
        }
    }

    fn validate_node(&self, node: usize, parents: &mut [u8]) -> Result<()> {
        let (left, right, feature) = (self.left[node], self.right[node], self.feature[node]);
        if feature == NONE {
            let bare = left == NONE && right == NONE && self.level_start[node] == NONE;
            return if bare { Ok(()) } else { Err(invalid("a leaf with children")) };
        }
        for child in [left as usize, right as usize] {
            if child <= node || child >= parents.len() {
                return Err(invalid("a child that is not after its parent"));
            }
            parents[child] = parents[child].saturating_add(1);
        }
        let Some(&levels) = self.columns.get(feature as usize) else {
            return Err(invalid("a split on a column that is not there"));
        };
        let start = self.level_start[node];
        match (levels, start) {
            (0, NONE) if self.threshold[node] > f64::NEG_INFINITY => Ok(()),
            (0, _) => Err(invalid("a split without a threshold")),
            (_, NONE) => Err(invalid("a split of levels without a set")),
            (levels, start) => {
                let words = levels.div_ceil(32) as usize;
                let bits = self.levels.get(start as usize..(start as usize).saturating_add(words));
                let last = bits.and_then(|bits| bits.last()).copied();
                let spare = levels % 32;
                match last {
                    Some(last) if spare == 0 || last >> spare == 0 => Ok(()),
                    _ => Err(invalid("a set of levels outside its range")),
                }
            }
        }
    }
}

/// The number of levels of each column; 0 for quantities.
pub(crate) fn levels_of(schema: &Schema) -> Vec<u32> {
    let levels = |column| unordered_levels(column).unwrap_or(0) as u32;
    schema.columns().iter().map(levels).collect()
}

/// What `leaf` says about each row, by its place among rows that are looked at before.
pub(super) fn by_rows(
    x: &Frame,
    run: &Context,
    leaf: impl Fn(MatRef, usize) -> u32 + Sync,
) -> Vec<u32> {
    const ROWS: usize = 1024;
    let in_cache = 1 + 2048 / x.ncols().max(1);
    let mut leaves = vec![0; x.nrows()];
    run.par_fill(&mut leaves, ROWS, |first, leaves| {
        for (c, leaves) in leaves.chunks_mut(in_cache).enumerate() {
            let start = first + c * in_cache;
            let rows = x.read(start, start + leaves.len());
            for (i, found) in leaves.iter_mut().enumerate() {
                *found = leaf(rows, i);
            }
        }
    });
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeClassifier;
    use learnt_core::persist::file;

    #[test]
    fn ten_thousand_trees_are_one_array_a_field() {
        let iris = crate::datasets::load("iris").unwrap();
        let tree = DecisionTreeClassifier::default().fit(&iris.view()).unwrap().tree;
        let mut trees = vec![tree; 10_000];
        for (k, tree) in trees.iter_mut().enumerate() {
            tree.threshold[0] = k as f64;
        }
        let one = file::to_bytes(trees[0].to_node()).unwrap().len();
        let bytes = file::to_bytes(trees.to_node()).unwrap();
        assert!(bytes.len() < 10_000 * one, "{} bytes, and {one} for one tree", bytes.len());
        let arrays = bytes.windows(7).filter(|window| window == b"\"dtype\"").count();
        assert!(arrays < 40, "{arrays} arrays");
        let started = learnt_core::clock::Moment::now();
        let back = Vec::<Tree>::from_node(&file::from_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(back, trees);
        assert!(started.elapsed().as_secs() < 30, "{:?} to load", started.elapsed());
    }
}
