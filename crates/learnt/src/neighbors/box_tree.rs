//! A tree of boxes for searches with rules of their own: sums over all rows, nearest rows of another
//! group. Rows are halved at the median of their widest column; node 1 is the root, the children of
//! node i are 2i and 2i + 1. Rows of a node are neighbours in one order, and each column is kept in
//! that order, so that leaves are measured along columns.

use super::index::tree::{arrange, depth_of, start};
use learnt_core::prelude::*;
use std::ops::Range;

/// Rows in the order of the tree, and the boxes of its nodes.
#[derive(Clone, Debug)]
pub struct BoxTree {
    depth: u32,
    order: Vec<u32>,
    columns: Vec<Vec<f64>>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl BoxTree {
    /// The group of a row that has none.
    pub const NONE: u32 = u32::MAX;

    /// The group of a node whose rows have several.
    pub const MIXED: u32 = u32::MAX - 1;

    /// Over finite rows; leaves hold between `leaf_size` and twice as many.
    pub fn new(x: MatRef, leaf_size: usize, run: &Context) -> Result<BoxTree> {
        let (n, width) = (x.nrows(), x.ncols());
        run.claim(24 * (n * width) as u64, "the tree of boxes")?;
        let rows = x.to_matrix();
        let depth = depth_of(n, leaf_size);
        let order = arrange(&rows, depth, run)?;
        let columns = (0..width)
            .map(|j| order.iter().map(|&row| rows[(row as usize, j)]).collect())
            .collect();
        let nodes = 2 << depth;
        let mut tree = BoxTree {
            depth,
            order,
            columns,
            low: vec![f64::INFINITY; nodes * width],
            high: vec![f64::NEG_INFINITY; nodes * width],
        };
        for node in (1..nodes).rev() {
            tree.describe(node);
        }
        Ok(tree)
    }

    fn describe(&mut self, node: usize) {
        let width = self.columns.len();
        if !self.is_leaf(node) {
            for j in 0..width {
                let (a, b) = (2 * node * width + j, (2 * node + 1) * width + j);
                self.low[node * width + j] = self.low[a].min(self.low[b]);
                self.high[node * width + j] = self.high[a].max(self.high[b]);
            }
            return;
        }
        let range = self.range(node);
        for (j, column) in self.columns.iter().enumerate() {
            for &x in &column[range.clone()] {
                let place = node * width + j;
                self.low[place] = self.low[place].min(x);
                self.high[place] = self.high[place].max(x);
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The row at each place.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// A column in the order of the tree.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.columns[j]
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Copies the row at a place.
    pub fn copy(&self, place: usize, out: &mut [f64]) {
        out.iter_mut().zip(&self.columns).for_each(|(out, column)| *out = column[place]);
    }

    /// Nodes are numbered below this.
    pub fn nodes(&self) -> usize {
        2 << self.depth
    }

    /// Whether a node has no children.
    pub fn is_leaf(&self, node: usize) -> bool {
        node >= 1 << self.depth
    }

    /// The places of a node's rows.
    pub fn range(&self, node: usize) -> Range<usize> {
        let level = node.ilog2();
        let (index, count) = (node - (1 << level), 1 << level);
        start(self.rows(), index, count)..start(self.rows(), index + 1, count)
    }

    /// The group that all rows of a node have, those without one left out: for each node.
    pub fn shared(&self, group: &[u32]) -> Vec<u32> {
        let join = |a: u32, b: u32| match (a, b) {
            (BoxTree::NONE, other) | (other, BoxTree::NONE) => other,
            _ if a == b => a,
            _ => BoxTree::MIXED,
        };
        let mut out = vec![BoxTree::NONE; self.nodes()];
        for node in (1..self.nodes()).rev() {
            out[node] = match self.is_leaf(node) {
                true => group[self.range(node)].iter().copied().fold(BoxTree::NONE, join),
                false => join(out[2 * node], out[2 * node + 1]),
            };
        }
        out
    }

    /// The squared distances from a point to the rows of a node.
    #[inline(always)]
    pub fn squares(&self, node: usize, point: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, &x) in self.columns.iter().zip(point) {
            for (square, y) in out.iter_mut().zip(&column[self.range(node)]) {
                let d = y - x;
                *square += d * d;
            }
        }
    }

    /// The least squared distance from a point to the box of a node.
    #[inline(always)]
    pub fn nearest_square(&self, node: usize, point: &[f64]) -> f64 {
        let place = node * point.len();
        let (low, high) = (&self.low[place..], &self.high[place..]);
        point.iter().zip(low.iter().zip(high)).fold(0.0, |sum, (&x, (&low, &high))| {
            let gap = (low - x).max(x - high).max(0.0);
            sum + gap * gap
        })
    }

    /// The largest squared distance from a point to the box of a node.
    #[inline(always)]
    pub fn farthest_square(&self, node: usize, point: &[f64]) -> f64 {
        let place = node * point.len();
        let (low, high) = (&self.low[place..], &self.high[place..]);
        point.iter().zip(low.iter().zip(high)).fold(0.0, |sum, (&x, (&low, &high))| {
            let gap = (high - x).max(x - low);
            sum + gap * gap
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_the_rows_of_their_nodes_and_bound_distances() {
        let x = Matrix::from_fn(333, 3, |i, j| ((i * (5 + j) + j) as f64 * 0.7).sin());
        let tree = BoxTree::new(x.view(), 6, &Context::default()).unwrap();
        let point = [0.3, -2.0, 0.1];
        let mut row = [0.0; 3];
        for node in 1..tree.nodes() {
            for place in tree.range(node) {
                tree.copy(place, &mut row);
                assert_eq!(row, x.row(tree.order()[place] as usize));
                let square = learnt_core::linalg::squared_distance(&row, &point);
                assert!(tree.nearest_square(node, &point) <= square * (1.0 + 1e-14));
                assert!(tree.farthest_square(node, &point) >= square * (1.0 - 1e-14));
            }
        }
        let mut seen: Vec<u32> = tree.order().to_vec();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &row)| i as u32 == row));
    }
}
