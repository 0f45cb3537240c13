//! The minimum spanning tree of mutual reachability distances max(core a, core b, d(a, b)) by
//! Borůvka's rounds over a tree of boxes: every component finds its shortest edge to another one.
//!
//! A row keeps what it found until that row is in its own component. What a row found is a lower
//! bound of what it will find later, and so is its core distance: rows that cannot beat the shortest
//! edge known in their component are not searched. Candidates join from the shortest on, those that
//! would close a circle are left out; so ties between edges never give more than a least tree.
//!
//! O. Borůvka (1926); W. March, P. Ram and A. Gray (2010), KDD, 603-612.

use super::spanning::Edge;
use crate::cluster::dbscan::Forest;
use crate::neighbors::BoxTree;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Rows in a leaf.
const LEAF: usize = 12;

/// Rows that one task searches.
const ROWS: usize = 1024;

/// The edges of the tree. `near` has for each row some rows that are near to it: where to begin.
pub fn boruvka(
    x: MatRef,
    cores: &[f64],
    near: impl Fn(usize) -> Vec<u32>,
    run: &Context,
) -> Result<Vec<Edge>> {
    let n = x.nrows();
    let boxes = BoxTree::new(x, LEAF, run)?;
    let mut place_of = vec![0_u32; n];
    boxes
        .order()
        .iter()
        .enumerate()
        .for_each(|(place, &row)| place_of[row as usize] = place as u32);
    let squares: Vec<f64> =
        boxes.order().iter().map(|&row| cores[row as usize] * cores[row as usize]).collect();
    let mut growth = Growth {
        found: vec![Found { square: f64::INFINITY, to: u32::MAX }; n],
        least: squares.clone(),
        group: (0..n as u32).collect(),
        whole: vec![BoxTree::MIXED; boxes.nodes()],
        boxes,
        squares,
    };
    growth.begin(|place, boxes| {
        near(boxes.order()[place] as usize).into_iter().map(|row| place_of[row as usize]).collect()
    });
    let mut forest = Forest::new(n);
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    while edges.len() + 1 < n {
        run.checkpoint()?;
        let before = edges.len();
        growth.search(run)?;
        for (square, from, to) in growth.shortest() {
            let (a, b) = (from as usize, to as usize);
            if forest.root(a) != forest.root(b) {
                forest.join(a, b);
                let (a, b) = (growth.boxes.order()[a], growth.boxes.order()[b]);
                let least = cores[a as usize].max(cores[b as usize]);
                edges.push(Edge::new(a, b, square.sqrt().max(least)));
            }
        }
        if edges.len() == before {
            return Err(Error::numeric("distances overflow: the values are too large")
                .hint("divide the columns by a large constant first"));
        }
        growth.regroup(&mut forest);
    }
    Ok(edges)
}

/// The nearest row of another component that is known.
#[derive(Clone, Copy, Debug)]
struct Found {
    square: f64,
    to: u32,
}

/// Where the rounds stand; all by places of the tree of boxes.
struct Growth {
    boxes: BoxTree,
    /// Squared core distances.
    squares: Vec<f64>,
    /// Component of each place.
    group: Vec<u32>,
    /// Component of each node, if all its rows have one.
    whole: Vec<u32>,
    found: Vec<Found>,
    /// A lower bound of what a search would find.
    least: Vec<f64>,
}

impl Growth {
    fn reach(&self, a: usize, b: usize) -> f64 {
        let mut sum = 0.0;
        for j in 0..self.boxes.width() {
            let d = self.boxes.column(j)[a] - self.boxes.column(j)[b];
            sum += d * d;
        }
        sum.max(self.squares[a]).max(self.squares[b])
    }

    fn begin(&mut self, near: impl Fn(usize, &BoxTree) -> Vec<u32>) {
        for place in 0..self.found.len() {
            for other in near(place, &self.boxes) {
                let square = self.reach(place, other as usize);
                if other as usize != place && square < self.found[place].square {
                    self.found[place] = Found { square, to: other };
                }
            }
        }
    }

    /// The shortest known edge of each component, by the component's number.
    fn bounds(&self) -> Vec<f64> {
        let mut out = vec![f64::INFINITY; self.group.len()];
        for (found, &group) in self.found.iter().zip(&self.group) {
            out[group as usize] = out[group as usize].min(found.square);
        }
        out
    }

    /// Searches the rows that may beat what their component knows.
    fn search(&mut self, run: &Context) -> Result<()> {
        let bounds = self.bounds();
        let this = &*self;
        let parts = run.try_par_map(this.group.len().div_ceil(ROWS), |task| {
            let places = task * ROWS..((task + 1) * ROWS).min(this.group.len());
            let mut out = Vec::new();
            // What this task finds narrows its own later searches.
            let mut own = (u32::MAX, f64::INFINITY);
            vectorized!({
                let mut work = Work::new(this.boxes.width());
                for place in places.clone() {
                    let group = this.group[place];
                    if own.0 != group {
                        own = (group, bounds[group as usize]);
                    }
                    if this.found[place].square <= this.least[place] || this.least[place] >= own.1 {
                        continue;
                    }
                    let found = this.nearest(place, own.1, &mut work);
                    own.1 = own.1.min(found.square);
                    out.push((place as u32, found, own.1));
                }
            });
            Ok(out)
        })?;
        for (place, found, bound) in parts.into_iter().flatten() {
            let place = place as usize;
            if found.to == u32::MAX {
                // Nothing below the bound: later searches need not look below it again.
                self.least[place] = self.least[place].max(bound);
                continue;
            }
            self.least[place] = self.least[place].max(found.square);
            if found.square < self.found[place].square {
                self.found[place] = found;
            }
        }
        Ok(())
    }

    /// The nearest row of another component below a bound.
    #[inline(always)]
    fn nearest(&self, place: usize, bound: f64, work: &mut Work) -> Found {
        let (group, core) = (self.group[place], self.squares[place]);
        let mut best = Found { square: bound.min(self.found[place].square), to: u32::MAX };
        self.boxes.copy(place, &mut work.point);
        work.stack.clear();
        work.stack.push((0.0, 1));
        while let Some((bound, node)) = work.stack.pop() {
            if bound.max(core) >= best.square || self.whole[node as usize] == group {
                continue;
            }
            let node = node as usize;
            if self.boxes.is_leaf(node) {
                self.leaf(node, group, core, &mut best, work);
                continue;
            }
            let children = [2 * node, 2 * node + 1];
            let [a, b] = children.map(|child| self.boxes.nearest_square(child, &work.point));
            let near = (a, children[0] as u32);
            let far = (b, children[1] as u32);
            work.stack.extend(if a <= b { [far, near] } else { [near, far] });
        }
        best
    }

    #[inline(always)]
    fn leaf(&self, node: usize, group: u32, core: f64, best: &mut Found, work: &mut Work) {
        let range = self.boxes.range(node);
        let squares = &mut work.squares[..range.len()];
        self.boxes.squares(node, &work.point, squares);
        for (i, place) in range.enumerate() {
            let reach = squares[i].max(core).max(self.squares[place]);
            if reach < best.square && self.group[place] != group {
                *best = Found { square: reach, to: place as u32 };
            }
        }
    }

    /// Candidates of all components, the shortest first.
    fn shortest(&self) -> Vec<(f64, u32, u32)> {
        let mut best: Vec<Option<(f64, u32, u32)>> = vec![None; self.group.len()];
        for (place, (found, &group)) in self.found.iter().zip(&self.group).enumerate() {
            if found.to == u32::MAX {
                continue;
            }
            let edge = (found.square, place as u32, found.to);
            let slot = &mut best[group as usize];
            if slot.is_none_or(|old| edge.0 < old.0) {
                *slot = Some(edge);
            }
        }
        let mut edges: Vec<(f64, u32, u32)> = best.into_iter().flatten().collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        edges
    }

    /// Components after the round; forgets what lies in the same one now.
    fn regroup(&mut self, forest: &mut Forest) {
        for place in 0..self.group.len() {
            self.group[place] = forest.root(place) as u32;
        }
        for place in 0..self.group.len() {
            let found = self.found[place];
            if found.to != u32::MAX && self.group[found.to as usize] == self.group[place] {
                self.found[place] = Found { square: f64::INFINITY, to: u32::MAX };
            }
        }
        self.whole = self.boxes.shared(&self.group);
    }
}

/// Working memory of searches.
struct Work {
    point: Vec<f64>,
    stack: Vec<(f64, u32)>,
    squares: [f64; 2 * LEAF],
}

impl Work {
    fn new(width: usize) -> Work {
        Work { point: vec![0.0; width], stack: Vec::new(), squares: [0.0; 2 * LEAF] }
    }
}
