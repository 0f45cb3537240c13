//! Balanced trees: rows split at the median of their widest column until leaves are small.
//!
//! All leaves have the same depth, and the rows of every node are neighbours in one order, so that
//! a tree is that order and the bounds of its nodes. Three levels of halves make one level of
//! eighths, whose bounds are computed together. A search goes to the nearest child first and leaves
//! out nodes whose bound is above the k-th best sum; equal ones are visited, since a lower row
//! number wins.
//!
//! Bentley (1975), Communications of the ACM 18(9), 509-517; Omohundro (1989), Five balltree
//! construction algorithms.

use super::best::Best;
use super::bounds::Bounds;
pub(in crate::neighbors) use super::leaves::start;
use super::leaves::{LANES, Lanes, Leaves};
use super::metric::Kernel;
use learnt_core::prelude::*;

/// Leaves, and the bounds above them from the top down.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    leaves: Leaves,
    levels: Vec<Level>,
}

/// The bounds of all nodes of one level, eight by eight.
#[derive(Clone, Debug)]
struct Level {
    nodes: usize,
    values: Vec<Lanes>,
}

/// A node still to be visited.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    bound: f64,
    level: u32,
    node: u32,
}

/// Halvings until a leaf holds fewer than twice `leaf_size` rows.
pub(in crate::neighbors) fn depth_of(rows: usize, leaf_size: usize) -> u32 {
    (rows / leaf_size.max(1)).max(1).ilog2()
}

impl Tree {
    /// Number of leaves of a tree.
    pub(super) fn leaf_count(rows: usize, leaf_size: usize) -> usize {
        1 << depth_of(rows, leaf_size)
    }

    /// A tree over the rows.
    pub(super) fn new<K: Kernel, B: Bounds>(
        kernel: K,
        bounds: B,
        rows: &Matrix,
        leaf_size: usize,
        run: &Context,
    ) -> Result<Tree> {
        let depth = depth_of(rows.nrows(), leaf_size);
        let order = arrange(rows, depth, run)?;
        let depths = (0..=depth).filter(|level| (depth - level).is_multiple_of(3));
        let levels = depths
            .map(|level| {
                run.checkpoint()?;
                Ok(Level::new(kernel, bounds, rows, &order, 1 << level, run))
            })
            .collect::<Result<_>>()?;
        Ok(Tree { leaves: Leaves::new(rows, order, 1 << depth, run), levels })
    }

    /// The rows.
    pub(super) fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// The k nearest rows of a query. `stack` is working memory.
    #[inline(always)]
    pub(super) fn nearest<K: Kernel, B: Bounds>(
        &self,
        kernel: K,
        bounds: B,
        query: &[f64],
        stack: &mut Vec<Visit>,
        best: &mut Best,
    ) {
        self.open(kernel, bounds, query, (0, 0), best.worst(), stack);
        while let Some(visit) = stack.pop() {
            if visit.bound > best.worst() {
                continue;
            }
            let (level, node) = (visit.level as usize, visit.node as usize);
            if level + 1 == self.levels.len() {
                self.leaves.nearest(kernel, node, query, best);
            } else {
                self.open(kernel, bounds, query, (level + 1, node), best.worst(), stack);
            }
        }
    }

    /// All rows within the radius of a query. `stack` is working memory.
    #[inline(always)]
    pub(super) fn within<K: Kernel, B: Bounds>(
        &self,
        kernel: K,
        bounds: B,
        query: &[f64],
        radius: f64,
        stack: &mut Vec<Visit>,
        found: &mut Vec<(u32, f64)>,
    ) {
        let limit = kernel.limit(radius);
        self.open(kernel, bounds, query, (0, 0), limit, stack);
        while let Some(visit) = stack.pop() {
            let (level, node) = (visit.level as usize, visit.node as usize);
            if level + 1 == self.levels.len() {
                self.leaves.within(kernel, node, query, radius, found);
            } else {
                self.open(kernel, bounds, query, (level + 1, node), limit, stack);
            }
        }
    }

    /// The leaf that the query would visit first.
    #[inline(always)]
    pub(super) fn locate<K: Kernel, B: Bounds>(
        &self,
        kernel: K,
        bounds: B,
        query: &[f64],
        stack: &mut Vec<Visit>,
    ) -> u32 {
        let mut node = 0;
        for level in 0..self.levels.len() {
            stack.clear();
            self.open(kernel, bounds, query, (level, node), f64::INFINITY, stack);
            node = stack.last().map_or(0, |visit| visit.node as usize);
        }
        stack.clear();
        node as u32
    }

    /// Pushes the nodes of a group whose bound is not above `worst`, the nearest last.
    #[inline(always)]
    fn open<K: Kernel, B: Bounds>(
        &self,
        kernel: K,
        bounds: B,
        query: &[f64],
        (level, group): (usize, usize),
        worst: f64,
        stack: &mut Vec<Visit>,
    ) {
        let Level { nodes, values } = &self.levels[level];
        let width = bounds.width(query.len());
        let lower = bounds.lower(kernel, &values[group * width..(group + 1) * width], query);
        let first = stack.len();
        let inside = nodes - group * LANES;
        for (lane, &bound) in lower.iter().enumerate().take(inside) {
            if bound > worst {
                continue;
            }
            let visit = Visit { bound, level: level as u32, node: (group * LANES + lane) as u32 };
            let mut place = stack.len();
            stack.push(visit);
            while place > first && stack[place - 1].bound < bound {
                stack[place] = stack[place - 1];
                place -= 1;
            }
            stack[place] = visit;
        }
    }
}

impl Level {
    fn new<K: Kernel, B: Bounds>(
        kernel: K,
        bounds: B,
        rows: &Matrix,
        order: &[u32],
        nodes: usize,
        run: &Context,
    ) -> Level {
        let width = bounds.width(rows.ncols());
        let mut values = vec![[0.0; LANES]; nodes.div_ceil(LANES) * width];
        run.par_fill(&mut values, width, |first, group| {
            let first = first / width * LANES;
            for node in first..(first + LANES).min(nodes) {
                let from = start(order.len(), node, nodes);
                let to = start(order.len(), node + 1, nodes);
                bounds.describe(kernel, rows, &order[from..to], node - first, group);
            }
        });
        Level { nodes, values }
    }
}

/// The order of rows in which every node's rows are neighbours.
pub(in crate::neighbors) fn arrange(rows: &Matrix, depth: u32, run: &Context) -> Result<Vec<u32>> {
    const SINGLE_LEVELS: u32 = 4;
    let mut order: Vec<u32> = (0..rows.nrows() as u32).collect();
    let single = depth.min(SINGLE_LEVELS);
    for level in 0..single {
        order = refine(rows, &order, level..level + 1, run)?;
    }
    refine(rows, &order, single..depth, run)
}

/// Splits the nodes of the first level, and their descendants down to the last one.
fn refine(
    rows: &Matrix,
    order: &[u32],
    levels: std::ops::Range<u32>,
    run: &Context,
) -> Result<Vec<u32>> {
    let n = order.len();
    let pieces = run.try_par_map(1 << levels.start, |top| {
        let offset = start(n, top, 1 << levels.start);
        let end = start(n, top + 1, 1 << levels.start);
        let mut piece = order[offset..end].to_vec();
        let mut keys = Vec::new();
        for level in levels.clone() {
            let width = level - levels.start;
            for node in top << width..(top + 1) << width {
                let at = |i: usize, count: usize| start(n, i, count) - offset;
                let (from, to) = (at(node, 1 << level), at(node + 1, 1 << level));
                let middle = at(2 * node + 1, 2 << level);
                split(rows, &mut piece[from..to], middle - from, &mut keys);
            }
        }
        Ok(piece)
    })?;
    Ok(pieces.concat())
}

/// Puts the rows that are smaller in the widest column before the place `middle`.
fn split(rows: &Matrix, members: &mut [u32], middle: usize, keys: &mut Vec<(u64, u32)>) {
    let column = widest_column(rows, members);
    keys.clear();
    keys.extend(members.iter().map(|&row| (sortable(rows[(row as usize, column)]), row)));
    keys.select_nth_unstable(middle);
    for (member, key) in members.iter_mut().zip(keys) {
        *member = key.1;
    }
}

/// The column with the largest range, the first of equals.
fn widest_column(rows: &Matrix, members: &[u32]) -> usize {
    let columns = rows.ncols();
    let mut low = vec![f64::INFINITY; columns];
    let mut high = vec![f64::NEG_INFINITY; columns];
    for &member in members {
        for ((low, high), &x) in low.iter_mut().zip(&mut high).zip(rows.row(member as usize)) {
            *low = if x < *low { x } else { *low };
            *high = if x > *high { x } else { *high };
        }
    }
    let ranges: Vec<f64> = low.iter().zip(&high).map(|(low, high)| high - low).collect();
    learnt_core::estimator::first_maximum(&ranges) as usize
}

/// Bits that order as the number does.
fn sortable(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
