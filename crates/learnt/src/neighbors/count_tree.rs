//! Approximate range counting: how many points lie around a place, within a stated error.
//!
//! The answer lies between the numbers of points in the balls of radius ε and ε (1 + ρ). Cells of side
//! ε/√d are cut in half along every column, 1 + ⌈log₂ 1/ρ⌉ levels in all, until a cell is no wider than
//! ρ ε; only cells with points exist. A cell beyond ε counts nothing, one within ε (1 + ρ) counts with
//! all its points, and others are asked for their parts; of the smallest cells those that reach the ball
//! of ε count. ρ = 0 compares every point of the cells and is exact.
//!
//! J. Gan and Y. Tao (2015), SIGMOD, 519-530.

use learnt_core::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Points in cells, and cells in larger cells.
#[derive(Clone, Debug)]
pub struct CountTree {
    eps: f64,
    rho: f64,
    /// Points in the order of cells.
    points: Matrix,
    /// The number of the point at each place.
    order: Vec<u32>,
    nodes: Vec<Node>,
    /// Lowest corners of the nodes.
    corners: Vec<f64>,
    /// The largest cells by their coordinates.
    roots: BTreeMap<Vec<i64>, u32>,
    origin: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Node {
    places: Range<u32>,
    parts: Range<u32>,
    level: u32,
}

/// Cells along a column beyond which coordinates are not exact.
const MOST_CELLS: f64 = 1e15;

impl CountTree {
    /// Over finite points; an error where they are too far apart for cells of this size.
    pub fn new(x: MatRef, eps: f64, rho: f64, run: &Context) -> Result<CountTree> {
        let (n, d) = (x.nrows(), x.ncols());
        let levels = Self::levels(rho);
        run.claim((n * (8 * d + 8)) as u64 + (n * levels * (16 + 8 * d)) as u64, "the cells")?;
        let side = eps / (d as f64).sqrt();
        let origin: Vec<f64> =
            (0..d).map(|j| x.column(j).into_iter().fold(f64::INFINITY, f64::min)).collect();
        let mut cells: BTreeMap<Vec<i64>, Vec<u32>> = BTreeMap::new();
        for i in 0..n {
            let key: Vec<f64> = (0..d).map(|j| ((x.at(i, j) - origin[j]) / side).floor()).collect();
            if key.iter().any(|cell| cell.is_nan() || cell.abs() >= MOST_CELLS) {
                return Err(Error::numeric(
                    "the points are too far apart for cells of this radius",
                )
                .hint("raise eps, or divide the columns by a large constant"));
            }
            let key = key.into_iter().map(|cell| cell as i64).collect();
            cells.entry(key).or_default().push(i as u32);
        }
        let mut tree = CountTree {
            eps,
            rho,
            points: Matrix::zeros(0, d),
            order: Vec::with_capacity(n),
            nodes: Vec::new(),
            corners: Vec::new(),
            roots: BTreeMap::new(),
            origin,
        };
        for (key, members) in cells {
            let start = tree.order.len() as u32;
            tree.order.extend(members);
            let places = start..tree.order.len() as u32;
            tree.roots.insert(key.clone(), tree.nodes.len() as u32);
            tree.nodes.push(Node { places, parts: 0..0, level: 0 });
            tree.corners.extend(key.iter().zip(&tree.origin).map(|(k, o)| o + *k as f64 * side));
        }
        tree.divide(x, side, levels);
        let rows: Vec<usize> = tree.order.iter().map(|&i| i as usize).collect();
        tree.points = x.gather_rows(&rows);
        Ok(tree)
    }

    /// Levels of cells; below the last digit of a number there is nothing to divide.
    fn levels(rho: f64) -> usize {
        if rho > 0.0 { 1 + rho.recip().log2().ceil().clamp(0.0, 52.0) as usize } else { 1 }
    }

    /// Cuts cells in halves, level by level; the places of a node are put in the order of its parts.
    fn divide(&mut self, x: MatRef, side: f64, levels: usize) {
        let d = self.origin.len();
        let mut at = 0;
        while at < self.nodes.len() {
            let Node { places, level, .. } = self.nodes[at].clone();
            if (level as usize) + 1 < levels && places.len() > 1 {
                let half = side * 0.5_f64.powi(level as i32 + 1);
                let corner = self.corners[at * d..(at + 1) * d].to_vec();
                let code = |i: u32| -> Vec<bool> {
                    (0..d).map(|j| x.at(i as usize, j) >= corner[j] + half).collect()
                };
                let own = &mut self.order[places.start as usize..places.end as usize];
                let mut coded: Vec<(Vec<bool>, u32)> = own.iter().map(|&i| (code(i), i)).collect();
                coded.sort();
                own.iter_mut().zip(&coded).for_each(|(place, (_, i))| *place = *i);
                let first = self.nodes.len() as u32;
                let mut start = places.start;
                for part in coded.chunk_by(|a, b| a.0 == b.0) {
                    let end = start + part.len() as u32;
                    self.nodes.push(Node { places: start..end, parts: 0..0, level: level + 1 });
                    let up = |j: usize| if part[0].0[j] { half } else { 0.0 };
                    self.corners.extend((0..d).map(|j| corner[j] + up(j)));
                    start = end;
                }
                self.nodes[at].parts = first..self.nodes.len() as u32;
            }
            at += 1;
        }
    }

    /// Squared distances from a place to the nearest and the farthest point of a cell.
    fn reach(&self, node: u32, query: &[f64]) -> (f64, f64) {
        let d = self.origin.len();
        let side = self.eps
            / (d as f64).sqrt()
            / f64::from(1_u32 << self.nodes[node as usize].level.min(31));
        let corner = &self.corners[node as usize * d..(node as usize + 1) * d];
        let (mut near, mut far) = (0.0, 0.0);
        for (q, low) in query.iter().zip(corner) {
            let (below, above) = (low - q, q - low - side);
            let outside = below.max(above).max(0.0);
            let across = below.abs().max(above.abs());
            near += outside * outside;
            far += across * across;
        }
        (near, far)
    }

    /// Points of one largest cell around a place, counted approximately; with `any` it ends at the first.
    fn count_in(&self, root: u32, query: &[f64], any: bool) -> u64 {
        // Cells are a little wider than they are, more than the rounding of coordinates.
        let slack = 1.0 + 1e-12;
        let inner = self.eps * self.eps * slack;
        let outer = (self.eps * (1.0 + self.rho)).powi(2);
        let mut total = 0;
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            let (near, far) = self.reach(at, query);
            let node = &self.nodes[at as usize];
            if near > inner {
                continue;
            }
            let size = node.places.len() as u64;
            total += match (far <= outer, node.parts.is_empty()) {
                (true, _) if self.rho > 0.0 => size,
                (_, false) => {
                    stack.extend(node.parts.clone());
                    0
                }
                _ => {
                    let places = node.places.start as usize..node.places.end as usize;
                    let inside = |place: &usize| {
                        let square = squared(self.points.row(*place), query);
                        square <= self.eps * self.eps || (self.rho > 0.0 && square <= outer)
                    };
                    places.filter(inside).count() as u64
                }
            };
            if any && total > 0 {
                return total;
            }
        }
        total
    }

    /// The largest cells that may hold points within ε of a place.
    fn roots_near(&self, query: &[f64]) -> Vec<u32> {
        let d = self.origin.len();
        let side = self.eps / (d as f64).sqrt();
        let reach = (d as f64).sqrt().ceil() as i64 + 1;
        let around = (2 * reach + 1) as f64;
        if around.powi(d as i32) >= self.roots.len() as f64 {
            return self.roots.values().copied().collect();
        }
        let middle: Vec<i64> = query
            .iter()
            .zip(&self.origin)
            .map(|(q, o)| ((q - o) / side).floor().clamp(-1e16, 1e16) as i64)
            .collect();
        let mut found = Vec::new();
        let mut offset = vec![-reach; d];
        loop {
            let key: Vec<i64> = middle.iter().zip(&offset).map(|(m, o)| m + o).collect();
            found.extend(self.roots.get(&key));
            let Some(place) = (0..d).rev().find(|&j| offset[j] < reach) else { return found };
            offset[place] += 1;
            offset[place + 1..].fill(-reach);
        }
    }

    /// Points around a place: at least those within ε, at most those within ε (1 + ρ).
    pub fn count(&self, query: &[f64]) -> u64 {
        self.roots_near(query).into_iter().map(|root| self.count_in(root, query, false)).sum()
    }

    /// Numbers of the points of each largest cell.
    pub fn cells(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.roots.values().map(|&root| {
            let places = &self.nodes[root as usize].places;
            (root, &self.order[places.start as usize..places.end as usize])
        })
    }

    /// The largest cells with a point around a place: all with one within ε, none without one within
    /// ε (1 + ρ).
    pub fn cells_near(&self, query: &[f64]) -> Vec<u32> {
        let near = self.roots_near(query).into_iter();
        near.filter(|&root| self.count_in(root, query, true) > 0).collect()
    }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Approximate range counting: points around each place, between those within ε and within ε (1 + ρ).
#[derive(Params, Clone, Debug)]
pub struct ApproximateCounts {
    /// The radius ε; points on it are inside.
    #[param(positional, default = 1.0, above = 0.0)]
    pub eps: f64,
    /// The error ρ of the radius; 0 is exact.
    #[param(positional, default = 0.01, range = 0.0..=1.0)]
    pub rho: f64,
}

impl Function for ApproximateCounts {
    type Inputs<'a> = super::searches::RowsAndQueries<'a>;
    type Output = Vec<i64>;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.approximate_counts", FunctionKind::Statistic)
            .threads()
            .reference("Gan and Tao (2015), SIGMOD, 519-530");

    fn call(&self, given: super::searches::RowsAndQueries, run: &Context) -> Result<Vec<i64>> {
        let at = given.places()?;
        let tree = CountTree::new(given.x, self.eps, self.rho, run)?;
        let mut out = vec![0; at.nrows()];
        run.checkpoint()?;
        run.par_fill(&mut out, 256, |start, piece| {
            let mut row = vec![0.0; at.ncols()];
            for (i, out) in piece.iter_mut().enumerate() {
                at.copy_row(start + i, &mut row);
                *out = tree.count(&row) as i64;
            }
        });
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::RowsAndQueries;

    #[test]
    fn counts_lie_between_those_of_the_two_balls() {
        let mut some_between = false;
        for (d, eps) in [(1, 0.3), (2, 1.0), (3, 1.7), (5, 3.0)] {
            let x = Matrix::from_fn(400, d, |i, j| ((i * (3 + 2 * j)) as f64 * 0.37).sin() * 4.0);
            let at = Matrix::from_fn(80, d, |i, j| ((i * (5 + j)) as f64 * 0.71).cos() * 5.0);
            for rho in [0.0, 0.001, 0.1, 0.5, 1.0] {
                let given = RowsAndQueries { x: x.view(), at: Some(at.view()) };
                let counts = ApproximateCounts { eps, rho }.compute(given).unwrap();
                for (query, &count) in at.rows().zip(&counts) {
                    let within =
                        |r: f64| x.rows().filter(|row| squared(row, query) <= r * r).count() as i64;
                    let (low, high) = (within(eps), within(eps * (1.0 + rho)));
                    assert!((low..=high).contains(&count), "{d} {rho}: {low} {count} {high}");
                    some_between |= count > low;
                    assert!(rho > 0.0 || count == low);
                }
            }
        }
        assert!(some_between, "no count was approximate");
    }

    #[test]
    fn levels_are_one_and_the_logarithm() {
        for (rho, levels) in [(1.0, 1), (0.5, 2), (0.25, 3), (0.1, 5), (0.001, 11)] {
            assert_eq!(CountTree::levels(rho), levels);
        }
    }
}
