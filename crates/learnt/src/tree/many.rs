//! Predictions of many trees, added up in their order.
//!
//! Rows are taken in blocks, and each block goes through all trees while it is near: as many rows as stay in the
//! cache of a core, because each block reads all trees again. Where there are enough rows to pay for it, trees are
//! first put into a form with all of a node in one place.

use super::grow::{has_level, level};
use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;

/// Values of a block, which a core keeps near with the nodes of a tree; and the fewest and the most rows of one.
const NEAR: usize = 1 << 15;
const FEWEST: usize = 256;
const MOST: usize = 4096;
/// Nodes that are put into the new form in the time that one walk down a tree saves by it.
const WALK: usize = 8;
/// Rows that walk down a tree side by side.
const ABREAST: usize = 8;

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
    let flat = (rows.saturating_mul(WALK * trees.len()) >= nodes)
        .then(|| run.par_map(trees.len(), |t| Flat::new(&trees[t])));
    let mut out = vec![0.0; rows * width];
    let block = (NEAR / columns.max(1)).min(rows / (4 * run.threads())).clamp(FEWEST, MOST);
    run.par_fill(&mut out, block * width.max(1), |first, out| {
        let first = first / width.max(1);
        let count = out.len() / width.max(1);
        let mut values = vec![0.0; count * columns];
        x.values().rows(first, first + count).write_rows(&mut values);
        out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(start));
        let mut leaves = vec![0_u32; count];
        for (t, tree) in trees.iter().enumerate() {
            match &flat {
                Some(flat) => flat[t].leaves(tree, &values, columns, &mut leaves),
                None => {
                    for (i, leaf) in leaves.iter_mut().enumerate() {
                        let row = &values[i * columns..(i + 1) * columns];
                        *leaf = tree.leaf(|j| row[j]) as u32;
                    }
                }
            }
            let single = tree.outputs == 1;
            for (i, &leaf) in leaves.iter().enumerate() {
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

/// A node in one place. Its right child follows the left one; a leaf goes left to itself.
#[derive(Clone, Copy)]
struct FlatNode {
    threshold: f64,
    /// The column, with flags in the upper bits.
    feature: u32,
    left: u32,
}

const MISSING_LEFT: u32 = 1 << 31;
const LEVELS: u32 = 1 << 30;
const COLUMN: u32 = LEVELS - 1;

/// A tree for fast walks, level after level.
struct Flat {
    nodes: Vec<FlatNode>,
    /// Where each node stands in the tree.
    origin: Vec<u32>,
    has_levels: bool,
}

impl Flat {
    fn new(tree: &Tree) -> Self {
        let mut origin = vec![0_u32];
        let mut nodes = Vec::with_capacity(tree.len());
        while nodes.len() < origin.len() {
            let node = origin[nodes.len()] as usize;
            let flat = match tree.feature[node] {
                NONE => FlatNode {
                    threshold: f64::INFINITY,
                    feature: MISSING_LEFT,
                    left: nodes.len() as u32,
                },
                feature => {
                    let missing = if tree.missing_left[node] { MISSING_LEFT } else { 0 };
                    let levels = if tree.level_start[node] == NONE { 0 } else { LEVELS };
                    let left = origin.len() as u32;
                    origin.extend([tree.left[node], tree.right[node]]);
                    let threshold = tree.threshold[node];
                    FlatNode { threshold, feature: feature | missing | levels, left }
                }
            };
            nodes.push(flat);
        }
        let has_levels = tree.level_start.iter().any(|&start| start != NONE);
        Flat { nodes, origin, has_levels }
    }

    /// The leaf of each row of a block.
    fn leaves(&self, tree: &Tree, values: &[f64], columns: usize, leaves: &mut [u32]) {
        let groups = leaves.chunks_mut(ABREAST).zip(values.chunks((ABREAST * columns).max(1)));
        for (leaves, rows) in groups {
            match <&mut [u32; ABREAST]>::try_from(&mut *leaves) {
                Ok(leaves) if !self.has_levels => self.abreast(rows, columns, leaves),
                _ => {
                    for (leaf, row) in leaves.iter_mut().zip(rows.chunks_exact(columns)) {
                        *leaf = self.walk(tree, row);
                    }
                }
            }
        }
    }

    /// Several rows, one level at a time until none moves, so that none waits for another.
    fn abreast(&self, values: &[f64], columns: usize, leaves: &mut [u32; ABREAST]) {
        let mut at = [0_u32; ABREAST];
        loop {
            let mut moved = 0;
            for (k, place) in at.iter_mut().enumerate() {
                let node = &self.nodes[*place as usize];
                let value = values[k * columns + (node.feature & COLUMN) as usize];
                let next = node.next(value);
                moved |= next ^ *place;
                *place = next;
            }
            if moved == 0 {
                break;
            }
        }
        leaves.iter_mut().zip(at).for_each(|(leaf, place)| *leaf = self.origin[place as usize]);
    }

    fn walk(&self, tree: &Tree, row: &[f64]) -> u32 {
        let mut place = 0;
        loop {
            let node = &self.nodes[place as usize];
            let origin = self.origin[place as usize];
            if node.left == place {
                return origin;
            }
            let column = (node.feature & COLUMN) as usize;
            place = match node.feature & LEVELS {
                0 => node.next(row[column]),
                _ => {
                    let bits = tree.level_bits(origin as usize);
                    let left = match level(row[column], tree.columns[column] as usize) {
                        Some(code) => has_level(bits, code),
                        None => node.feature & MISSING_LEFT != 0,
                    };
                    node.left + u32::from(!left)
                }
            };
        }
    }
}

impl FlatNode {
    #[inline(always)]
    fn next(&self, value: f64) -> u32 {
        let missing = value.is_nan() & (self.feature & MISSING_LEFT != 0);
        self.left + u32::from(!((value <= self.threshold) | missing))
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
