//! Predictions of many trees, added up in their order.
//!
//! Rows are taken in blocks, and each block goes through all trees while it is near. Where there are
//! enough rows to pay for it, trees are first put into a form with all of a node in one place.

use super::grow::{has_level, level};
use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;

/// Rows of a block.
const ROWS: usize = 256;
/// Rows that walk down a tree side by side.
const ABREAST: usize = 8;
/// Deeper trees are walked row by row, because most rows end long before the deepest.
const SHALLOW: usize = 12;

/// `start` plus the predictions of the trees for which `takes(tree, row)` says so. A tree with as many
/// numbers in a leaf as `start` has adds to all of them; trees with one number take turns.
pub(crate) fn add_up(
    trees: &[Tree],
    start: &[f64],
    x: &Frame,
    run: &Context,
    takes: impl Fn(usize, usize) -> bool + Sync,
) -> Result<Matrix> {
    let (rows, columns, width) = (x.nrows(), x.ncols(), start.len());
    trees.iter().try_for_each(|tree| tree.check_width(x))?;
    let nodes: usize = trees.iter().map(Tree::len).sum();
    let flat = (rows.saturating_mul(16) >= nodes)
        .then(|| run.par_map(trees.len(), |t| Flat::new(&trees[t])));
    let mut out = vec![0.0; rows * width];
    run.par_fill(&mut out, ROWS * width.max(1), |first, out| {
        let first = first / width.max(1);
        let count = out.len() / width.max(1);
        let mut values = vec![0.0; count * columns];
        x.values().rows(first, first + count).write_rows(&mut values);
        out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(start));
        let mut leaves = [0_u32; ROWS];
        for (t, tree) in trees.iter().enumerate() {
            match &flat {
                Some(flat) => flat[t].leaves(tree, &values, columns, &mut leaves[..count]),
                None => {
                    for (i, leaf) in leaves[..count].iter_mut().enumerate() {
                        let row = &values[i * columns..(i + 1) * columns];
                        *leaf = tree.leaf(|j| row[j]) as u32;
                    }
                }
            }
            let single = tree.outputs == 1;
            for (i, &leaf) in leaves[..count].iter().enumerate() {
                if !takes(t, first + i) {
                    continue;
                }
                if single {
                    out[i * width + t % width] += tree.values[leaf as usize];
                } else {
                    let row = &mut out[i * width..(i + 1) * width];
                    row.iter_mut().zip(tree.value(leaf as usize)).for_each(|(sum, v)| *sum += v);
                }
            }
        }
    });
    Matrix::from_vec(rows, width, out)
}

/// A node in one place. A leaf is its own child on both sides.
#[derive(Clone, Copy)]
struct FlatNode {
    threshold: f64,
    /// The column, with flags in the upper bits.
    feature: u32,
    /// Right, then left.
    children: [u32; 2],
}

const MISSING_LEFT: u32 = 1 << 31;
const LEVELS: u32 = 1 << 30;
const COLUMN: u32 = LEVELS - 1;

/// A tree for fast walks.
struct Flat {
    nodes: Vec<FlatNode>,
    depth: usize,
    has_levels: bool,
}

impl Flat {
    fn new(tree: &Tree) -> Self {
        let node = |node: usize| match tree.feature[node] {
            NONE => FlatNode { threshold: 0.0, feature: 0, children: [node as u32, node as u32] },
            feature => {
                let missing = if tree.missing_left[node] { MISSING_LEFT } else { 0 };
                let levels = if tree.level_start[node] == NONE { 0 } else { LEVELS };
                FlatNode {
                    threshold: tree.threshold[node],
                    feature: feature | missing | levels,
                    children: [tree.right[node], tree.left[node]],
                }
            }
        };
        Flat {
            nodes: (0..tree.len()).map(node).collect(),
            depth: tree.depth(),
            has_levels: tree.level_start.iter().any(|&start| start != NONE),
        }
    }

    /// The leaf of each row of a block.
    fn leaves(&self, tree: &Tree, values: &[f64], columns: usize, leaves: &mut [u32]) {
        let mut i = 0;
        if self.depth <= SHALLOW && !self.has_levels {
            while i + ABREAST <= leaves.len() {
                let rows = &values[i * columns..(i + ABREAST) * columns];
                leaves[i..i + ABREAST].copy_from_slice(&self.abreast(rows, columns));
                i += ABREAST;
            }
        }
        for i in i..leaves.len() {
            leaves[i] = self.walk(tree, &values[i * columns..(i + 1) * columns]);
        }
    }

    #[inline(always)]
    fn next(&self, node: &FlatNode, value: f64) -> u32 {
        let missing = value.is_nan() & (node.feature & MISSING_LEFT != 0);
        node.children[usize::from((value <= node.threshold) | missing)]
    }

    /// Several rows, one level at a time, so that none waits for another.
    fn abreast(&self, values: &[f64], columns: usize) -> [u32; ABREAST] {
        let mut at = [0_u32; ABREAST];
        for _ in 0..self.depth {
            for (k, place) in at.iter_mut().enumerate() {
                let node = &self.nodes[*place as usize];
                let value = values[k * columns + (node.feature & COLUMN) as usize];
                *place = self.next(node, value);
            }
        }
        at
    }

    fn walk(&self, tree: &Tree, row: &[f64]) -> u32 {
        let mut place = 0;
        loop {
            let node = &self.nodes[place as usize];
            if node.children[0] == place {
                return place;
            }
            let value = row[(node.feature & COLUMN) as usize];
            place = match node.feature & LEVELS {
                0 => self.next(node, value),
                _ => {
                    let bits = tree.level_bits(place as usize);
                    let levels = tree.columns[(node.feature & COLUMN) as usize] as usize;
                    let left = match level(value, levels) {
                        Some(code) => has_level(bits, code),
                        None => node.feature & MISSING_LEFT != 0,
                    };
                    node.children[usize::from(left)]
                }
            };
        }
    }
}

/// Refuses trees whose sums left the range of numbers.
pub(crate) fn check_finite(trees: &[Tree]) -> Result<()> {
    let finite = |tree: &Tree| tree.values.iter().chain(&tree.impurity).all(|x| x.is_finite());
    match trees.iter().all(finite) {
        true => Ok(()),
        false => Err(Error::numeric("the target is too large to be added up; divide it first")),
    }
}

/// Mean over the trees that split of each column's share in the decrease of impurity, as shares.
pub(crate) fn mean_importances(trees: &[Tree], columns: usize) -> Vec<f64> {
    shares(trees.iter().filter(|tree| tree.len() > 1).map(Tree::importances), columns)
}

/// Each column's share in the decrease of impurity by all trees together.
pub(crate) fn total_importances(trees: &[Tree], columns: usize) -> Vec<f64> {
    shares(trees.iter().map(Tree::decreases), columns)
}

fn shares(parts: impl Iterator<Item = Vec<f64>>, columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, share)| *sum += share);
    }
    let total: f64 = sums.iter().sum();
    if total > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= total);
    }
    sums
}
