//! Predictions of many trees, added up in their order.
//!
//! Rows are taken in blocks, and each block goes through all trees. Small trees stay in the cache of a core, so that a
//! block should stay there with them. Of large ones each block waits for every node that it is the first to visit, but
//! rows come in their order, which memory foresees: then blocks are as large as the number of threads allows. Where
//! there are enough rows to pay for it, trees are first put into a form with all of a node in one place.

use super::grow::{has_level, level};
use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;

/// Nodes of trees that a core keeps near, and values of a block that it keeps near with them.
const NEAR_NODES: usize = 1 << 14;
const NEAR: usize = 1 << 15;
/// Values of a block otherwise: 8 megabytes.
const FAR: usize = 1 << 20;
/// The fewest and the most rows of a block.
const FEWEST: usize = 256;
const MOST: usize = 1 << 15;
/// Nodes that are put into the new form in the time that one walk down a tree saves by it.
const WALK: usize = 8;
/// Rows that walk down a tree side by side.
const ABREAST: usize = 8;
/// The most columns of rows that do.
const WIDE: usize = 64;

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
    let size = block_size(rows, columns, nodes, run.threads());
    run.par_fill(&mut out, size * width.max(1), |first, out| {
        let first = first / width.max(1);
        let count = out.len() / width.max(1);
        let block = Block::new(x.values().rows(first, first + count));
        out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(start));
        let mut leaves = vec![0_u32; count];
        for (t, tree) in trees.iter().enumerate() {
            if run.checkpoint().is_err() {
                return;
            }
            match &flat {
                Some(flat) => flat[t].leaves(tree, &block, &mut leaves),
                None => {
                    for (leaf, row) in leaves.iter_mut().zip(block.rows()) {
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
    // Walks that were left early are no prediction.
    run.checkpoint()?;
    Matrix::from_vec(rows, width, out)
}

/// The rows of a block.
fn block_size(rows: usize, columns: usize, nodes: usize, threads: usize) -> usize {
    let size = match nodes <= NEAR_NODES {
        true => (NEAR / columns.max(1)).min(rows / (4 * threads)),
        false => (FAR / columns.max(1)).min(rows.div_ceil(threads)),
    };
    size.clamp(FEWEST, MOST)
}

/// Rows that walk down all trees.
struct Block {
    values: Vec<f64>,
    /// Numbers from a row to the next: the columns, and for few of them nothing up to a power of two, because a
    /// place below a power of two needs no check.
    stride: usize,
    /// Whether a value is missing.
    holes: bool,
}

impl Block {
    fn new(rows: MatRef) -> Block {
        let columns = rows.ncols();
        let stride = if columns > WIDE { columns } else { columns.max(8).next_power_of_two() };
        let mut values = vec![0.0; rows.nrows() * stride];
        match stride == columns {
            true => rows.write_rows(&mut values),
            false => {
                for (i, row) in values.chunks_exact_mut(stride).enumerate() {
                    rows.copy_row(i, &mut row[..columns]);
                }
            }
        }
        let holes = values.iter().fold(false, |any, value| any | value.is_nan());
        Block { values, stride, holes }
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.stride)
    }
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
    fn leaves(&self, tree: &Tree, block: &Block, leaves: &mut [u32]) {
        match (block.stride, self.has_levels) {
            (8, false) => self.leaves_of::<8>(tree, block, leaves),
            (16, false) => self.leaves_of::<16>(tree, block, leaves),
            (32, false) => self.leaves_of::<32>(tree, block, leaves),
            (WIDE, false) => self.leaves_of::<WIDE>(tree, block, leaves),
            _ => self.walks(tree, block.rows(), leaves),
        }
    }

    /// The same for rows `P` numbers apart, without levels of categories.
    fn leaves_of<const P: usize>(&self, tree: &Tree, block: &Block, leaves: &mut [u32]) {
        let (rows, _) = block.values.as_chunks::<P>();
        let ((groups, rest), (found, last)) =
            (rows.as_chunks::<ABREAST>(), leaves.as_chunks_mut::<ABREAST>());
        for (rows, leaves) in groups.iter().zip(found) {
            match block.holes {
                true => self.abreast::<P, true>(rows, leaves),
                false => self.abreast::<P, false>(rows, leaves),
            }
        }
        self.walks(tree, rest.iter().map(|row| row.as_slice()), last);
    }

    /// Several rows, one level at a time until none moves, so that none waits for another.
    fn abreast<const P: usize, const HOLES: bool>(
        &self,
        rows: &[[f64; P]; ABREAST],
        leaves: &mut [u32; ABREAST],
    ) {
        let mut at = [0_u32; ABREAST];
        loop {
            let mut moved = 0;
            for (place, row) in at.iter_mut().zip(rows) {
                let node = &self.nodes[*place as usize];
                let value = row[(node.feature & COLUMN) as usize % P];
                let next = match HOLES {
                    true => node.next(value),
                    false => node.left + u32::from(value > node.threshold),
                };
                moved |= next ^ *place;
                *place = next;
            }
            if moved == 0 {
                break;
            }
        }
        leaves.iter_mut().zip(at).for_each(|(leaf, place)| *leaf = self.origin[place as usize]);
    }

    /// One row after the other.
    fn walks<'r>(&self, tree: &Tree, rows: impl Iterator<Item = &'r [f64]>, leaves: &mut [u32]) {
        leaves.iter_mut().zip(rows).for_each(|(leaf, row)| *leaf = self.walk(tree, row));
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
