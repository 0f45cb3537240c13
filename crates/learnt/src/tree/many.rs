//! Predictions of many trees, added up in their order.
//!
//! Rows are taken in blocks, and each block goes through all trees. Small trees stay in the cache of a core, so that a
//! block should stay there with them. Of large ones each block waits for every node that it is the first to visit, but
//! rows come in their order, which memory foresees: then blocks are as large as the number of threads allows. Where
//! there are enough rows to pay for it, trees are first put into a form with all of a node in one place, which the
//! model keeps. Blocks hold the columns that trees ask for, and no others.

use super::grow::{has_level, level};
use super::kept::Kept;
use super::nodes::{NONE, Tree, by_rows};
use learnt_core::prelude::*;
use std::slice;
use std::sync::Arc;

/// Nodes of trees that a core keeps near, and values of a block that it keeps near with them.
const NEAR_NODES: usize = 1 << 14;
const NEAR: usize = 1 << 15;
/// Values of a block otherwise: 8 megabytes.
const FAR: usize = 1 << 20;
/// The fewest and the most rows of a block, and the fewest of wide rows.
const FEWEST: usize = 256;
const MOST: usize = 1 << 15;
const FEWEST_WIDE: usize = 16;
/// Nodes that are put into the new form in the time that one walk down a tree saves by it.
const WALK: usize = 8;
/// Rows that walk down a tree side by side.
const ABREAST: usize = 8;
/// The most columns of rows whose places need no check.
const WIDE: usize = 64;

/// Trees in the form for walks, and the columns that any of them asks for.
pub(crate) struct Walks {
    trees: Vec<Flat>,
    columns: Vec<u32>,
}

impl Walks {
    fn new(trees: &[Tree], run: &Context) -> Self {
        let mut places = vec![NONE; trees.first().map_or(0, |tree| tree.columns.len())];
        let asked = trees.iter().flat_map(|tree| &tree.feature);
        asked.filter(|&&feature| feature != NONE).for_each(|&j| places[j as usize] = 0);
        let mut columns = Vec::new();
        for (j, place) in places.iter_mut().enumerate().filter(|(_, place)| **place != NONE) {
            *place = columns.len() as u32;
            columns.push(j as u32);
        }
        Walks { trees: run.par_map(trees.len(), |t| Flat::new(&trees[t], &places)), columns }
    }

    /// Of these trees, if there are or will be enough rows to pay for it.
    fn of(trees: &[Tree], kept: &Kept<Walks>, rows: usize, run: &Context) -> Option<Arc<Walks>> {
        let pays = || {
            let nodes: usize = trees.iter().map(Tree::len).sum();
            rows.saturating_mul(WALK * trees.len()) >= nodes
        };
        kept.get().or_else(|| pays().then(|| kept.get_or_make(|| Walks::new(trees, run))))
    }
}

/// `start` plus the predictions of the trees for which `takes(tree, row)` says so. A tree with as many
/// numbers in a leaf as `start` has adds to all of them; trees with one number take turns. What is kept is of
/// exactly these trees.
pub(crate) fn add_up(
    (trees, kept): (&[Tree], &Kept<Walks>),
    start: &[f64],
    x: &Frame,
    run: &Context,
    takes: impl Fn(usize, usize) -> bool + Sync,
) -> Result<Matrix> {
    let (rows, width) = (x.nrows(), start.len());
    trees.iter().try_for_each(|tree| tree.check_width(x))?;
    let walks = Walks::of(trees, kept, rows, run);
    let mut out = vec![0.0; rows * width];
    let nodes: usize = trees.iter().map(Tree::len).sum();
    let size = block_size(rows, x.ncols(), nodes, run.threads());
    run.par_fill(&mut out, size * width.max(1), |first, out| {
        let first = first / width.max(1);
        let count = out.len() / width.max(1);
        let values = x.read(first, first + count);
        let block = walks.as_ref().map(|walks| (walks, Block::new(values, &walks.columns)));
        out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(start));
        let mut leaves = vec![0_u32; count];
        for (t, tree) in trees.iter().enumerate() {
            if run.checkpoint().is_err() {
                return;
            }
            match &block {
                Some((walks, block)) => walks.trees[t].leaves(tree, block, &mut leaves),
                None => {
                    for (i, leaf) in leaves.iter_mut().enumerate() {
                        *leaf = tree.leaf(|j| values.at(i, j)) as u32;
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

/// The leaf of each row in one tree.
pub(crate) fn leaves(
    tree: &Tree,
    kept: &Kept<Walks>,
    x: &Frame,
    run: &Context,
) -> Result<Vec<u32>> {
    tree.check_width(x)?;
    let Some(walks) = Walks::of(slice::from_ref(tree), kept, x.nrows(), run) else {
        return Ok(by_rows(x, run, |rows, i| tree.leaf(|j| rows.at(i, j)) as u32));
    };
    let mut leaves = vec![0; x.nrows()];
    let size = (NEAR / x.ncols().max(1)).clamp(FEWEST_WIDE, 4 * FEWEST);
    run.par_fill(&mut leaves, size, |first, leaves| {
        let block = Block::new(x.read(first, first + leaves.len()), &walks.columns);
        walks.trees[0].leaves(tree, &block, leaves);
    });
    Ok(leaves)
}

/// The rows of a block.
fn block_size(rows: usize, columns: usize, nodes: usize, threads: usize) -> usize {
    let columns = columns.max(1);
    let size = match nodes <= NEAR_NODES {
        true => (NEAR / columns).min(rows / (4 * threads)),
        false => (FAR / columns).min(rows.div_ceil(threads)),
    };
    size.clamp((FEWEST * WIDE / columns).clamp(FEWEST_WIDE, FEWEST), MOST)
}

/// Rows that walk down all trees, with the columns that these ask for.
struct Block {
    values: Vec<f64>,
    /// Numbers from a row to the next: the columns, and for few of them nothing up to a power of two, because a
    /// place below a power of two needs no check.
    stride: usize,
    /// Whether a value is missing.
    holes: bool,
}

impl Block {
    fn new(rows: MatRef, columns: &[u32]) -> Block {
        let count = columns.len();
        let stride = if count > WIDE { count } else { count.max(8).next_power_of_two() };
        let mut values = vec![0.0; rows.nrows() * stride];
        match (stride == rows.ncols(), rows.col_stride()) {
            (true, _) if count == stride => rows.write_rows(&mut values),
            (_, 1) => {
                for (i, out) in values.chunks_exact_mut(stride).enumerate() {
                    match rows.row_slice(i) {
                        Some(row) if count == row.len() => out[..count].copy_from_slice(row),
                        Some(row) => {
                            out.iter_mut().zip(columns).for_each(|(to, &j)| *to = row[j as usize]);
                        }
                        None => {}
                    }
                }
            }
            _ => {
                for (tile, out) in values.chunks_mut(stride * WIDE).enumerate() {
                    for (k, &j) in columns.iter().enumerate() {
                        for (i, out) in out.chunks_exact_mut(stride).enumerate() {
                            out[k] = rows.at(tile * WIDE + i, j as usize);
                        }
                    }
                }
            }
        }
        let holes = values.iter().fold(false, |any, value| any | value.is_nan());
        Block { values, stride, holes }
    }
}

/// A node in one place. Its right child follows the left one; a leaf goes left to itself. What compares no threshold,
/// leaves and nodes that look at levels, has the number of its node in the tree in the lower half of a threshold that
/// is no number.
#[derive(Clone, Copy)]
struct FlatNode {
    threshold: f64,
    /// The place of the column among those that are asked for, with flags in the upper bits.
    feature: u32,
    left: u32,
}

const MISSING_LEFT: u32 = 1 << 31;
const LEVELS: u32 = 1 << 30;
const COLUMN: u32 = LEVELS - 1;

impl FlatNode {
    fn leaf(place: u32, origin: u32) -> Self {
        FlatNode { threshold: unordered(origin), feature: MISSING_LEFT, left: place }
    }

    fn origin(&self) -> u32 {
        self.threshold.to_bits() as u32
    }

    #[inline(always)]
    fn column(&self) -> usize {
        (self.feature & COLUMN) as usize
    }

    /// The child of a value, which may be missing.
    #[inline(always)]
    fn next(&self, value: f64) -> u32 {
        let missing_right = value.is_nan() & (self.feature & MISSING_LEFT == 0);
        self.left + u32::from((value > self.threshold) | missing_right)
    }

    /// The child of a value that is there.
    #[inline(always)]
    fn next_of_known(&self, value: f64) -> u32 {
        self.left + u32::from(value > self.threshold)
    }
}

/// A threshold above which is nothing, and which says the number of a node.
fn unordered(origin: u32) -> f64 {
    f64::from_bits(f64::NAN.to_bits() & !u64::from(u32::MAX) | u64::from(origin))
}

/// Two siblings, which lie in one cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Siblings([FlatNode; 2]);

/// A tree for fast walks: all below a node follows it, the left side first.
struct Flat {
    pairs: Vec<Siblings>,
    has_levels: bool,
}

impl Flat {
    /// `places` are those of the columns among the ones that are asked for.
    fn new(tree: &Tree, places: &[u32]) -> Self {
        let mut pairs = Vec::with_capacity(tree.len() / 2 + 1);
        pairs.push(Siblings([FlatNode::leaf(0, 0), FlatNode::leaf(1, 0)]));
        let mut open = vec![(0_u32, 0_u32)];
        while let Some((place, origin)) = open.pop() {
            let node = origin as usize;
            if tree.is_leaf(node) {
                pairs[place as usize / 2].0[place as usize % 2] = FlatNode::leaf(place, origin);
                continue;
            }
            let left = 2 * pairs.len() as u32;
            pairs.push(Siblings([FlatNode::leaf(left, 0), FlatNode::leaf(left + 1, 0)]));
            open.extend([(left + 1, tree.right[node]), (left, tree.left[node])]);
            let missing = if tree.missing_left[node] { MISSING_LEFT } else { 0 };
            let (threshold, levels) = match tree.level_start[node] {
                NONE => (tree.threshold[node], 0),
                _ => (unordered(origin), LEVELS),
            };
            let feature = places[tree.feature[node] as usize] | missing | levels;
            pairs[place as usize / 2].0[place as usize % 2] = FlatNode { threshold, feature, left };
        }
        Flat { pairs, has_levels: tree.level_start.iter().any(|&start| start != NONE) }
    }

    #[inline(always)]
    fn at(&self, place: u32) -> &FlatNode {
        &self.pairs[place as usize / 2].0[place as usize % 2]
    }

    /// The leaf of each row of a block.
    fn leaves(&self, tree: &Tree, block: &Block, leaves: &mut [u32]) {
        match (block.stride, self.has_levels) {
            (8, false) => self.leaves_of::<8>(block, leaves),
            (16, false) => self.leaves_of::<16>(block, leaves),
            (32, false) => self.leaves_of::<32>(block, leaves),
            (WIDE, false) => self.leaves_of::<WIDE>(block, leaves),
            (stride, false) => self.leaves_of_wide(block, stride, leaves),
            (stride, true) => {
                let rows = block.values.chunks_exact(stride);
                leaves.iter_mut().zip(rows).for_each(|(leaf, row)| *leaf = self.walk(tree, row));
            }
        }
    }

    /// The same for rows `P` numbers apart, without levels of categories.
    fn leaves_of<const P: usize>(&self, block: &Block, leaves: &mut [u32]) {
        let (rows, _) = block.values.as_chunks::<P>();
        let ((groups, rest), (found, last)) =
            (rows.as_chunks::<ABREAST>(), leaves.as_chunks_mut::<ABREAST>());
        for (rows, leaves) in groups.iter().zip(found) {
            // Below a power of two, so that no place needs a check.
            match block.holes {
                true => self.abreast(leaves, |k, node| node.next(rows[k][node.column() % P])),
                false => {
                    self.abreast(leaves, |k, node| node.next_of_known(rows[k][node.column() % P]));
                }
            }
        }
        for (row, leaf) in rest.iter().zip(last) {
            self.abreast(slice::from_mut(leaf), |_, node| node.next(row[node.column() % P]));
        }
    }

    /// The same for rows of any width.
    fn leaves_of_wide(&self, block: &Block, stride: usize, leaves: &mut [u32]) {
        let groups = block.values.chunks(stride * ABREAST);
        for (rows, leaves) in groups.zip(leaves.chunks_mut(ABREAST)) {
            self.abreast(leaves, |k, node| node.next(rows[k * stride + node.column()]));
        }
    }

    /// Up to [`ABREAST`] rows, one level at a time until none moves, so that none waits for another; `next` says
    /// where a row goes from a node.
    #[inline(always)]
    fn abreast(&self, leaves: &mut [u32], next: impl Fn(usize, &FlatNode) -> u32) {
        let mut places = [0_u32; ABREAST];
        let at = &mut places[..leaves.len().min(ABREAST)];
        loop {
            let mut moved = 0;
            for (k, place) in at.iter_mut().enumerate() {
                let next = next(k, self.at(*place));
                moved |= next ^ *place;
                *place = next;
            }
            if moved == 0 {
                break;
            }
        }
        leaves.iter_mut().zip(at).for_each(|(leaf, place)| *leaf = self.at(*place).origin());
    }

    /// One row, which may have levels of categories.
    fn walk(&self, tree: &Tree, row: &[f64]) -> u32 {
        let mut place = 0;
        loop {
            let node = self.at(place);
            if node.left == place {
                return node.origin();
            }
            let value = row[node.column()];
            place = match node.feature & LEVELS {
                0 => node.next(value),
                _ => {
                    let origin = node.origin() as usize;
                    let levels = tree.columns[tree.feature[origin] as usize];
                    let left = match level(value, levels as usize) {
                        Some(code) => has_level(tree.level_bits(origin), code),
                        None => node.feature & MISSING_LEFT != 0,
                    };
                    node.left + u32::from(!left)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{ForestRegressorModel, RandomForestRegressor};
    use learnt_core::persist::{Stored, file};

    /// So many columns, the first of them levels if asked for.
    fn table(columns: usize, missing: bool, levels: bool) -> Table {
        let value = |i: usize, j: usize| match (j, i.wrapping_mul(2_654_435_761) % 97) {
            (0, k) if levels => (k % 7) as f64,
            (_, k) if missing && (k + j).is_multiple_of(11) => f64::NAN,
            (_, k) => ((k * (j + 3) + i * (j % 5 + 1)) % 89) as f64,
        };
        let names: Vec<String> = (0..7).map(|k| format!("l{k}")).collect();
        let column = |j: usize| match j {
            0 if levels => Column::categorical("x0", names.clone()),
            _ => Column::numeric(format!("x{j}")),
        };
        let schema = Schema::new((0..columns).map(column).collect()).unwrap();
        Table::new(Matrix::from_fn(333, columns, value), schema).unwrap()
    }

    fn forest(x: &Table) -> ForestRegressorModel {
        let y = Matrix::column_vector((0..333).map(|i| ((i * i) % 61) as f64).collect());
        let y = Some(OwnedTarget::Real(y));
        let data = OwnedDataset { x: x.clone(), y, ..OwnedDataset::default() };
        let learner = RandomForestRegressor { n_estimators: 9, ..Default::default() };
        learner.fit(&data.view()).unwrap()
    }

    #[test]
    fn trees_add_up_as_one_after_the_other_whatever_the_width_and_the_order_in_memory() {
        let run = Context::default();
        for columns in [1, 5, 20, 64, 90, 400] {
            for (missing, levels) in [(false, false), (true, false), (true, true)] {
                let x = table(columns, missing, levels);
                let model = forest(&x);
                let trees = model.trees();
                let one_by_one = |i: usize| {
                    let leaf = |tree: &Tree| tree.value(tree.leaf(|j| x.values()[(i, j)]))[0];
                    trees.iter().fold(0.5, |sum, tree| sum + leaf(tree))
                };
                let expected: Vec<f64> = (0..333).map(one_by_one).collect();
                let turned = x.values().view().transposed().to_matrix().into_vec();
                let by_columns = MatRef::column_major(&turned, 333, columns).unwrap();
                for values in [x.values().view(), by_columns] {
                    let frame = Frame::new(values, x.schema()).unwrap();
                    let kept = Kept::default();
                    let few = frame.rows(0, 2);
                    let said = add_up((trees, &kept), &[0.5], &few, &run, |_, _| true).unwrap();
                    assert_eq!(said.as_slice(), &expected[..2]);
                    let said = add_up((trees, &kept), &[0.5], &frame, &run, |_, _| true).unwrap();
                    assert_eq!(said.as_slice(), &expected);
                    assert!(kept.get().is_some());
                    let places = leaves(&trees[0], &Kept::default(), &frame, &run).unwrap();
                    let at = |i: usize| trees[0].leaf(|j| x.values()[(i, j)]) as u32;
                    assert_eq!(places, (0..333).map(at).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn blocks_hold_the_columns_that_trees_ask_for_and_no_others() {
        let x = table(400, true, false);
        let model = forest(&x);
        let trees = &model.trees()[..1];
        let asked: std::collections::BTreeSet<u32> =
            trees[0].feature.iter().copied().filter(|&j| j != NONE).collect();
        let walks = Walks::new(trees, &Context::default());
        assert!(asked.len() < 200 && walks.columns.iter().eq(&asked));
        let block = Block::new(x.frame().values(), &walks.columns);
        assert!(block.values.len() <= 333 * asked.len().next_power_of_two());
    }

    #[test]
    fn what_is_kept_is_made_by_the_first_prediction_and_no_part_of_the_model() {
        let x = table(5, false, false);
        let model = forest(&x);
        let bytes = |model: &ForestRegressorModel| file::to_bytes(model.to_node()).unwrap();
        let (fresh, before) = (model.clone(), bytes(&model));
        model.predict(&x.frame()).unwrap();
        assert_ne!(format!("{model:?}"), format!("{fresh:?}"));
        assert_eq!(model, fresh);
        assert_eq!(bytes(&model), before);
        assert_eq!(model.predict(&x.frame()).unwrap(), fresh.predict(&x.frame()).unwrap());
    }
}
