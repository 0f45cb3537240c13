//! Hierarchical clustering: from single rows, the two clusters nearest to each other merge until one
//! is left.
//!
//! Distance of clusters A and B: `single` the least, `complete` the largest, `average` the mean
//! distance of their rows; `weighted` the mean of the distances of the two clusters that A was made
//! of; `centroid` that of the means; `median` that of the midpoints; `ward` √(2 |A||B| / (|A|+|B|))
//! times that of the means, the root of twice the increase of the sum of squares. The last three are
//! for Euclidean distances.
//!
//! `single` is a minimum spanning tree (Prim), n memory. `ward` follows chains of nearest neighbours
//! over means, n p memory; so do `complete`, `average` and `weighted` over a table of n (n-1) / 2
//! distances with the update of Lance and Williams, and `ward` too where rows are wide and few
//! ([`table_is_cheaper`]): the last digits of its heights then differ. `centroid` and `median` can invert and so take
//! the nearest pair each time. Equal distances go to the lower cluster.
//!
//! F. Murtagh (1985), Multidimensional Clustering Algorithms; D. Müllner (2011), arXiv:1109.2378.

mod boruvka;
mod connected;
mod points;
mod spanning;
mod table;
mod tree;

pub use boruvka::boruvka;
pub use connected::{Connected, link_connected};
pub use spanning::{Edge, prim};
pub(super) use spanning::{Rule, visit};
pub use tree::Tree;

use crate::neighbors::Metric;
use learnt_core::prelude::*;
use points::Points;
use table::Table;

/// The distance between clusters.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// The root of twice the increase of the sum of squares.
    Ward,
    /// The largest distance of two rows.
    Complete,
    /// The mean distance of two rows.
    Average,
    /// The least distance of two rows.
    Single,
    /// The mean of the distances of the two parts.
    Weighted,
    /// The distance of the means.
    Centroid,
    /// The distance of the midpoints.
    Median,
}

impl Linkage {
    /// Whether it is defined by means, and so for Euclidean distances only.
    pub fn needs_means(self) -> bool {
        matches!(self, Linkage::Ward | Linkage::Centroid | Linkage::Median)
    }

    /// LinkageUpdate (a_i, a_j, b, g) of d(ij, r) = a_i d(i,r) + a_j d(j,r) + b d(i,j) + g |d(i,r) -
    /// d(j,r)| for clusters of these sizes; between squared distances where means are needed.
    pub fn update(self, i: f64, j: f64, r: f64) -> [f64; 4] {
        let (both, all) = (i + j, i + j + r);
        match self {
            Linkage::Single => [0.5, 0.5, 0.0, -0.5],
            Linkage::Complete => [0.5, 0.5, 0.0, 0.5],
            Linkage::Average => [i / both, j / both, 0.0, 0.0],
            Linkage::Weighted => [0.5, 0.5, 0.0, 0.0],
            Linkage::Centroid => [i / both, j / both, -i * j / (both * both), 0.0],
            Linkage::Median => [0.5, 0.5, -0.25, 0.0],
            Linkage::Ward => [(i + r) / all, (j + r) / all, -r / all, 0.0],
        }
    }
}

/// LinkageUpdate (a_i, a_j, b, g) of the update from the sizes of the two parts and of the other cluster.
pub type LinkageUpdate<'a> = &'a (dyn Fn(f64, f64, f64) -> [f64; 4] + Sync);

/// Clusters that can be asked for their nearest neighbour and merged.
trait Space {
    /// The live cluster nearest to a live one with its distance, the lowest of equals.
    fn nearest(&mut self, of: usize) -> (usize, f64);
    /// The distance of two live clusters.
    fn distance(&self, a: usize, b: usize) -> f64;
    /// Merges two live clusters; the result takes the place of the second.
    fn merge(&mut self, gone: usize, kept: usize);
    /// The distance as it is reported.
    fn height(&self, distance: f64) -> f64;
}

/// Two clusters that merge, by places, and their distance.
#[derive(Clone, Copy, Debug)]
struct Merger {
    a: usize,
    b: usize,
    height: f64,
}

/// The tree of the rows of a table.
pub fn link_rows(x: MatRef, linkage: Linkage, metric: Metric, run: &Context) -> Result<Tree> {
    if linkage.needs_means() && metric != Metric::Euclidean {
        let expected = "'euclidean' with the linkages ward, centroid and median";
        return Err(Error::parameter("metric", expected, metric.name()));
    }
    let n = x.nrows();
    let mergers = match linkage {
        Linkage::Single => {
            let edges = prim(x, metric, None, run)?;
            return Tree::from_edges(n, edges);
        }
        Linkage::Ward if table_is_cheaper(n, x.ncols(), run) => {
            chain(&mut Table::of_rows(x, linkage, metric, run)?, n, run)?
        }
        Linkage::Ward => chain(&mut Points::new(x, linkage), n, run)?,
        Linkage::Centroid | Linkage::Median => nearest_pairs(&mut Points::new(x, linkage), n, run)?,
        _ => chain(&mut Table::of_rows(x, linkage, metric, run)?, n, run)?,
    };
    Tree::from_mergers(n, &mergers, linkage)
}

/// Whether a table of distances costs less than points that are measured at every scan, and is no larger than
/// twice the rows.
///
/// Chains scan about three times for each row, half of all rows each time: 3/2 n² scans of p numbers. The table
/// measures each of n²/2 pairs once, six times as fast by tiles, and then scans one number out of order, which takes
/// as long as 32 numbers of a point.
fn table_is_cheaper(n: usize, p: usize, run: &Context) -> bool {
    let (n, p) = (n as f64, p as f64);
    let points = 1.5 * n * n * p;
    let table = 0.5 * n * n * p / 6.0 + 1.5 * n * n * 32.0;
    table < points && n <= 4.0 * p && run.has_room((4.0 * n * n) as u64)
}

/// The tree of a square table of distances, which need no triangle inequality.
pub fn link_distances(distances: MatRef, linkage: Linkage, run: &Context) -> Result<Tree> {
    let n = distances.nrows();
    let mut table = Table::of_distances(distances, linkage, run)?;
    let mergers = match linkage {
        Linkage::Centroid | Linkage::Median => nearest_pairs(&mut table, n, run)?,
        _ => chain(&mut table, n, run)?,
    };
    Tree::from_mergers(n, &mergers, linkage)
}

/// The tree of a square table of distances by coefficients of one's own: the nearest pair merges each
/// time, because nothing is known of them. Inversions are left as they are.
///
/// ```
/// use learnt::{cluster::link_by, prelude::*};
/// let x: [f64; 4] = [0.0, 1.0, 3.0, 7.0];
/// let distances = Matrix::from_fn(4, 4, |i, j| (x[i] - x[j]).abs());
/// // The flexible strategy of Lance and Williams.
/// let tree = link_by(distances.view(), &|_, _, _| [0.625, 0.625, -0.25, 0.0], &Context::default())?;
/// assert_eq!(tree.heights, [1.0, 2.875, 6.703125]);
/// # Ok::<(), Error>(())
/// ```
pub fn link_by(distances: MatRef, coefficients: LinkageUpdate, run: &Context) -> Result<Tree> {
    let table = Table::of_distances(distances, Linkage::Average, run)?;
    link_table(table, distances.nrows(), coefficients, run)
}

/// The tree of the rows of a table by coefficients of one's own.
pub fn link_rows_by(
    x: MatRef,
    metric: Metric,
    coefficients: LinkageUpdate,
    run: &Context,
) -> Result<Tree> {
    let table = Table::of_rows(x, Linkage::Average, metric, run)?;
    link_table(table, x.nrows(), coefficients, run)
}

fn link_table<'a>(
    table: Table<'a>,
    n: usize,
    coefficients: LinkageUpdate<'a>,
    run: &Context,
) -> Result<Tree> {
    let mergers = nearest_pairs(&mut table.by(coefficients), n, run)?;
    if let Some(merger) = mergers.iter().find(|merger| merger.height < 0.0) {
        let message = format!("clusters merge at the negative distance {}", merger.height);
        return Err(Error::numeric(message)
            .hint("take coefficients with a_i + a_j + b of at least 0, and b above -1"));
    }
    Tree::from_mergers(n, &mergers, Linkage::Centroid)
}

/// Follows nearest neighbours until two are each other's, merges them, and goes on from before them:
/// right where a merger is never nearer to others than both its parts were.
fn chain(space: &mut impl Space, n: usize, run: &Context) -> Result<Vec<Merger>> {
    let mut live = vec![true; n];
    let mut lowest = 0;
    let mut chain: Vec<usize> = Vec::new();
    let mut mergers = Vec::with_capacity(n.saturating_sub(1));
    while mergers.len() + 1 < n {
        if mergers.len() % 256 == 0 {
            run.checkpoint()?;
        }
        if chain.is_empty() {
            while !live[lowest] {
                lowest += 1;
            }
            chain.push(lowest);
        }
        let top = chain[chain.len() - 1];
        let before = chain.len().checked_sub(2).map(|place| chain[place]);
        let (mut next, mut distance) = space.nearest(top);
        // Equal distances go back, or the chain would not end.
        if let Some(before) = before {
            let back = space.distance(top, before);
            if back <= distance {
                (next, distance) = (before, back);
            }
        }
        if before != Some(next) {
            chain.push(next);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (a, b) = (top.min(next), top.max(next));
        mergers.push(Merger { a, b, height: space.height(distance) });
        space.merge(a, b);
        live[a] = false;
    }
    Ok(mergers)
}

/// Merges the nearest pair each time; each cluster remembers its nearest neighbour.
fn nearest_pairs(space: &mut impl Space, n: usize, run: &Context) -> Result<Vec<Merger>> {
    let mut near: Vec<Option<(usize, f64)>> =
        (0..n).map(|i| (n > 1).then(|| space.nearest(i))).collect();
    let mut mergers = Vec::with_capacity(n.saturating_sub(1));
    while mergers.len() + 1 < n {
        if mergers.len() % 256 == 0 {
            run.checkpoint()?;
        }
        let mut best: Option<(f64, usize, usize)> = None;
        for (i, near) in near.iter().enumerate() {
            if let Some((j, distance)) = near {
                let pair = (*distance, i.min(*j), i.max(*j));
                let better = best.is_none_or(|best| {
                    pair.0 < best.0 || (pair.0 == best.0 && (pair.1, pair.2) < (best.1, best.2))
                });
                if better {
                    best = Some(pair);
                }
            }
        }
        let Some((distance, a, b)) = best else {
            return Err(Error::numeric("distances between clusters are not numbers"));
        };
        mergers.push(Merger { a, b, height: space.height(distance) });
        space.merge(a, b);
        near[a] = None;
        if mergers.len() + 1 == n {
            break;
        }
        for k in (0..n).filter(|&k| k != a) {
            let Some((other, distance)) = near[k] else { continue };
            if k == b || other == a || other == b {
                near[k] = Some(space.nearest(k));
            } else {
                let moved = space.distance(k, b);
                if moved < distance || (moved == distance && b < other) {
                    near[k] = Some((b, moved));
                }
            }
        }
    }
    Ok(mergers)
}

#[cfg(test)]
mod tests;
