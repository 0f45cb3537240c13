//! DBSCAN over a tree of boxes: a box that lies within the radius is counted as a whole, counting ends
//! when a row is a core row, and clusters are joined by Borůvka's rounds. In each round every core row
//! looks for one core row of another cluster within its radius and leaves out boxes whose core rows are
//! all of its own; a row that finds none never looks again. Time does not grow with the number of
//! neighbours.
//!
//! M. Ester, H.-P. Kriegel, J. Sander and X. Xu (1996), KDD, 226-231; W. March, P. Ram and A. Gray
//! (2010), KDD, 603-612.

use super::dbscan::{Forest, largest_square, numbered};
use crate::neighbors::BoxTree;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Rows in a leaf.
const LEAF: usize = 12;

/// Rows that one task searches.
const ROWS: usize = 1024;

/// Rows within a radius of each other.
pub(super) struct Vicinity {
    boxes: BoxTree,
    limit: f64,
    weights: Option<Weights>,
}

/// Weights of the places and of the nodes of a tree.
struct Weights {
    places: Vec<f64>,
    nodes: Vec<f64>,
}

impl Vicinity {
    /// Of finite rows.
    pub(super) fn new(data: &Dataset, radius: f64, run: &Context) -> Result<Vicinity> {
        let boxes = BoxTree::new(data.x.values(), LEAF, run)?;
        let weights = data.weights.map(|weights| Weights::new(&boxes, weights));
        Ok(Vicinity { boxes, limit: largest_square(radius), weights })
    }

    /// Whether the neighbours of each row, itself included, weigh at least so much.
    pub(super) fn core_rows(&self, least: f64, run: &Context) -> Result<Vec<bool>> {
        let places: Vec<u32> = (0..self.boxes.rows() as u32).collect();
        let core = self.search(
            &places,
            run,
            #[inline(always)]
            |work| self.weighs(least, work),
        )?;
        Ok(self.by_row(&core))
    }

    /// The cluster of each core row, numbered by first rows; none for the others.
    pub(super) fn join(&self, core: &[bool], run: &Context) -> Result<Vec<Option<u32>>> {
        let core = self.by_place(core);
        let mut open: Vec<u32> =
            (0..core.len() as u32).filter(|&place| core[place as usize]).collect();
        let mut forest = Forest::new(core.len());
        let mut group = vec![BoxTree::NONE; core.len()];
        loop {
            run.checkpoint()?;
            for place in (0..core.len()).filter(|&place| core[place]) {
                group[place] = forest.root(place) as u32;
            }
            let shared = self.boxes.shared(&group);
            let found = self.search(
                &open,
                run,
                #[inline(always)]
                |work| self.of_another_group(&group, &shared, work),
            )?;
            for (&place, other) in open.iter().zip(&found) {
                other.iter().for_each(|&other| forest.join(place as usize, other as usize));
            }
            let mut hits = found.iter();
            open.retain(|_| hits.next().is_some_and(Option::is_some));
            if open.is_empty() {
                break;
            }
        }
        let groups: Vec<Option<u32>> =
            group.into_iter().map(|group| (group != BoxTree::NONE).then_some(group)).collect();
        Ok(numbered(&self.by_row(&groups)))
    }

    /// Rows without a cluster join the first of those that have a core row within the radius.
    pub(super) fn borders(
        &self,
        clusters: Vec<Option<u32>>,
        run: &Context,
    ) -> Result<Vec<Option<u32>>> {
        let group: Vec<u32> =
            self.by_place(&clusters).into_iter().map(|own| own.unwrap_or(BoxTree::NONE)).collect();
        let shared = self.boxes.shared(&group);
        let open: Vec<u32> = (0..group.len() as u32)
            .filter(|&place| group[place as usize] == BoxTree::NONE)
            .collect();
        let found = self.search(
            &open,
            run,
            #[inline(always)]
            |work| self.first_group(&group, &shared, work),
        )?;
        let mut labels = clusters;
        for (&place, found) in open.iter().zip(found) {
            labels[self.boxes.order()[place as usize] as usize] = found;
        }
        Ok(labels)
    }

    /// An answer for each place.
    fn search<T: Send>(
        &self,
        places: &[u32],
        run: &Context,
        answer: impl Fn(&mut Work) -> T + Sync,
    ) -> Result<Vec<T>> {
        let parts = run.try_par_map(places.len().div_ceil(ROWS), |task| {
            run.checkpoint()?;
            let places = &places[task * ROWS..((task + 1) * ROWS).min(places.len())];
            let mut out = Vec::with_capacity(places.len());
            vectorized!({
                let mut work = Work::new(self.boxes.width());
                for &place in places {
                    work.begin(&self.boxes, place);
                    out.push(answer(&mut work));
                }
            });
            Ok(out)
        })?;
        Ok(parts.into_iter().flatten().collect())
    }

    #[inline(always)]
    fn weighs(&self, least: f64, work: &mut Work) -> bool {
        let mut total = 0.0;
        while let Some(node) = work.stack.pop() {
            if self.boxes.farthest_square(node, &work.point) <= self.limit {
                total += self.weight(node);
            } else if self.boxes.is_leaf(node) {
                let range = self.boxes.range(node);
                let squares = work.squares(&self.boxes, node);
                total += match &self.weights {
                    None => squares.iter().filter(|&&square| square <= self.limit).count() as f64,
                    Some(Weights { places, .. }) => squares
                        .iter()
                        .zip(&places[range])
                        .map(|(&square, &weight)| if square <= self.limit { weight } else { 0.0 })
                        .sum(),
                };
            } else {
                work.open(&self.boxes, node, self.limit);
            }
            if total >= least {
                return true;
            }
        }
        false
    }

    /// A place within the radius whose group is not the own one.
    #[inline(always)]
    fn of_another_group(&self, group: &[u32], shared: &[u32], work: &mut Work) -> Option<u32> {
        let own = group[work.place as usize];
        while let Some(node) = work.stack.pop() {
            if [BoxTree::NONE, own].contains(&shared[node]) {
                continue;
            }
            if !self.boxes.is_leaf(node) {
                work.open(&self.boxes, node, self.limit);
                continue;
            }
            let range = self.boxes.range(node);
            let first = range.start;
            let squares = work.squares(&self.boxes, node);
            let other = squares.iter().zip(&group[range]).position(|(&square, group)| {
                square <= self.limit && ![BoxTree::NONE, own].contains(group)
            });
            if let Some(other) = other {
                return Some((first + other) as u32);
            }
        }
        None
    }

    /// The lowest group within the radius.
    #[inline(always)]
    fn first_group(&self, group: &[u32], shared: &[u32], work: &mut Work) -> Option<u32> {
        let mut best = BoxTree::NONE;
        while let Some(node) = work.stack.pop() {
            let common = shared[node];
            if common != BoxTree::MIXED && common >= best {
                continue;
            }
            if self.boxes.is_leaf(node) {
                let range = self.boxes.range(node);
                let squares = work.squares(&self.boxes, node);
                for (&square, &group) in squares.iter().zip(&group[range]) {
                    best = if square <= self.limit { best.min(group) } else { best };
                }
            } else {
                work.open(&self.boxes, node, self.limit);
            }
        }
        (best != BoxTree::NONE).then_some(best)
    }

    fn weight(&self, node: usize) -> f64 {
        match &self.weights {
            None => self.boxes.range(node).len() as f64,
            Some(weights) => weights.nodes[node],
        }
    }

    fn by_row<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); values.len()];
        for (&value, &row) in values.iter().zip(self.boxes.order()) {
            out[row as usize] = value;
        }
        out
    }

    fn by_place<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.boxes.order().iter().map(|&row| values[row as usize]).collect()
    }
}

impl Weights {
    fn new(boxes: &BoxTree, weights: &[f64]) -> Weights {
        let places: Vec<f64> = boxes.order().iter().map(|&row| weights[row as usize]).collect();
        let mut nodes = vec![0.0; boxes.nodes()];
        for node in (1..boxes.nodes()).rev() {
            nodes[node] = match boxes.is_leaf(node) {
                true => places[boxes.range(node)].iter().sum(),
                false => nodes[2 * node] + nodes[2 * node + 1],
            };
        }
        Weights { places, nodes }
    }
}

/// Working memory of the search around one place.
struct Work {
    place: u32,
    point: Vec<f64>,
    stack: Vec<usize>,
    squares: [f64; 2 * LEAF],
}

impl Work {
    fn new(width: usize) -> Work {
        Work { place: 0, point: vec![0.0; width], stack: Vec::new(), squares: [0.0; 2 * LEAF] }
    }

    fn begin(&mut self, boxes: &BoxTree, place: u32) {
        self.place = place;
        boxes.copy(place as usize, &mut self.point);
        self.stack.clear();
        self.stack.push(1);
    }

    /// Puts off the children of a node that may have rows within the limit; the nearer one is next.
    #[inline(always)]
    fn open(&mut self, boxes: &BoxTree, node: usize, limit: f64) {
        let children = [2 * node, 2 * node + 1];
        let [a, b] = children.map(|child| boxes.nearest_square(child, &self.point));
        let order = if a <= b { [(b, 1), (a, 0)] } else { [(a, 0), (b, 1)] };
        let near = order.into_iter().filter(|&(square, _)| square <= limit);
        self.stack.extend(near.map(|(_, child)| children[child]));
    }

    /// The squared distances to the rows of a leaf.
    #[inline(always)]
    fn squares(&mut self, boxes: &BoxTree, leaf: usize) -> &[f64] {
        let squares = &mut self.squares[..boxes.range(leaf).len()];
        boxes.squares(leaf, &self.point, squares);
        squares
    }
}
