//! DBSCAN over a grid of few columns: rows of one cell are all neighbours, so a cell that weighs
//! enough needs no counting, and clusters are joined cell by cell. Two cells are joined by the first
//! pair of core rows within the radius that is found. Neither time nor memory grows with the number
//! of neighbours.
//!
//! A. Gunawan (2013); J. Gan and Y. Tao (2015), SIGMOD, 519-530.

use super::dbscan::{Forest, largest_square, numbered};
use crate::neighbors::Grid;
use learnt_core::prelude::*;
use learnt_core::vectorized;
use std::ops::Range;

/// Cells that one task takes; tasks are cut by number alone.
const CELLS: usize = 4096;

/// Core rows and clusters, as places of the grid.
pub(super) struct Dense<'a> {
    grid: &'a Grid,
    limit: f64,
    weights: Option<Vec<f64>>,
    least: f64,
}

/// Core rows and the cluster of each row, by the grid.
pub(super) fn clusters(
    grid: &Grid,
    data: &Dataset,
    radius: f64,
    least: f64,
    run: &Context,
) -> Result<(Vec<bool>, Vec<Option<u32>>)> {
    let in_order =
        |weights: &[f64]| grid.order().iter().map(|&row| weights[row as usize]).collect();
    let weights = data.weights.map(in_order);
    let dense = Dense { grid, limit: largest_square(radius), weights, least };
    let core = dense.core_places(run)?;
    let clusters = dense.number(&core, dense.join(&core, run)?);
    let labels = dense.borders(&core, &clusters, run)?;
    Ok((clusters.iter().map(Option::is_some).collect(), labels))
}

impl Dense<'_> {
    fn tasks(&self) -> usize {
        self.grid.cells().div_ceil(CELLS)
    }

    fn cells(&self, task: usize) -> Range<usize> {
        task * CELLS..((task + 1) * CELLS).min(self.grid.cells())
    }

    fn weight(&self, places: Range<usize>) -> f64 {
        match &self.weights {
            Some(weights) => weights[places].iter().sum(),
            None => places.len() as f64,
        }
    }

    fn point(&self, place: usize) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (j, out) in out.iter_mut().enumerate().take(self.grid.width()) {
            *out = self.grid.column(j)[place];
        }
        out
    }

    #[inline(always)]
    fn square(&self, point: &[f64; 3], place: usize) -> f64 {
        let mut sum = 0.0;
        for j in 0..self.grid.width() {
            let d = self.grid.column(j)[place] - point[j];
            sum += d * d;
        }
        sum
    }

    /// The weight of the rows of a range within the radius.
    #[inline(always)]
    fn weight_within(&self, point: &[f64; 3], places: Range<usize>) -> f64 {
        const PIECE: usize = 64;
        let mut total = 0.0;
        let mut squares = [0.0; PIECE];
        for start in places.clone().step_by(PIECE) {
            let end = (start + PIECE).min(places.end);
            let squares = &mut squares[..end - start];
            squares.fill(0.0);
            for j in 0..self.grid.width() {
                for (square, x) in squares.iter_mut().zip(&self.grid.column(j)[start..end]) {
                    let d = x - point[j];
                    *square += d * d;
                }
            }
            match &self.weights {
                None => {
                    let inside: u32 =
                        squares.iter().map(|square| u32::from(*square <= self.limit)).sum();
                    total += f64::from(inside);
                }
                Some(weights) => {
                    for (square, weight) in squares.iter().zip(&weights[start..end]) {
                        total += if *square <= self.limit { *weight } else { 0.0 };
                    }
                }
            }
        }
        total
    }

    /// Whether the neighbours of each place weigh enough.
    fn core_places(&self, run: &Context) -> Result<Vec<bool>> {
        let parts = run.try_par_map(self.tasks(), |task| {
            let cells = self.cells(task);
            let mut walk = self.grid.walk(cells.start);
            let mut core = Vec::new();
            for cell in cells {
                let places = self.grid.places(cell);
                if self.weight(places.clone()) >= self.least {
                    core.resize(core.len() + places.len(), true);
                    continue;
                }
                walk.go(cell);
                vectorized!({
                    for place in places.clone() {
                        let point = self.point(place);
                        let mut total = 0.0;
                        for range in walk.places() {
                            total += self.weight_within(&point, range);
                            if total >= self.least {
                                break;
                            }
                        }
                        core.push(total >= self.least);
                    }
                });
            }
            Ok(core)
        })?;
        Ok(parts.concat())
    }

    /// Cells joined through pairs of core rows within the radius.
    fn join(&self, core: &[bool], run: &Context) -> Result<Forest> {
        let cores = Cores::new(self, core);
        let links = run.try_par_map(self.tasks(), |task| {
            let cells = self.cells(task);
            let mut walk = self.grid.walk(cells.start);
            let mut forest = Forest::new(self.grid.cells());
            let mut links = Vec::new();
            for cell in cells.filter(|&cell| !cores.of(cell).is_empty()) {
                walk.go(cell);
                for other in walk.cells().flatten() {
                    if other <= cell || cores.of(other).is_empty() {
                        continue;
                    }
                    if forest.root(cell) != forest.root(other) && self.linked(&cores, cell, other) {
                        forest.join(cell, other);
                        links.push((cell as u32, other as u32));
                    }
                }
            }
            Ok(links)
        })?;
        let mut forest = Forest::new(self.grid.cells());
        for (a, b) in links.into_iter().flatten() {
            forest.join(a as usize, b as usize);
        }
        Ok(forest)
    }

    /// Whether a core row of one cell is within the radius of a core row of the other. Only rows
    /// within the radius of the other cell's box are compared.
    fn linked(&self, cores: &Cores, a: usize, b: usize) -> bool {
        let near: Vec<u32> = cores
            .of(b)
            .iter()
            .copied()
            .filter(|&place| cores.box_square(a, &self.point(place as usize)) <= self.limit)
            .collect();
        if near.is_empty() {
            return false;
        }
        cores.of(a).iter().any(|&place| {
            let point = self.point(place as usize);
            cores.box_square(b, &point) <= self.limit
                && near.iter().any(|&other| self.square(&point, other as usize) <= self.limit)
        })
    }

    /// The cluster of each core row, numbered by first rows.
    fn number(&self, core: &[bool], mut forest: Forest) -> Vec<Option<u32>> {
        let mut roots = vec![None; core.len()];
        for cell in 0..self.grid.cells() {
            let root = forest.root(cell) as u32;
            for place in self.grid.places(cell).filter(|&place| core[place]) {
                roots[self.grid.order()[place] as usize] = Some(root);
            }
        }
        numbered(&roots)
    }

    /// Other rows join the first of the clusters that have a core row within the radius.
    fn borders(
        &self,
        core: &[bool],
        clusters: &[Option<u32>],
        run: &Context,
    ) -> Result<Vec<Option<u32>>> {
        let cluster = |place: usize| clusters[self.grid.order()[place] as usize];
        let parts = run.try_par_map(self.tasks(), |task| {
            let cells = self.cells(task);
            let mut walk = self.grid.walk(cells.start);
            let mut out = Vec::new();
            for cell in cells {
                let mut open = self.grid.places(cell).filter(|&place| !core[place]).peekable();
                if open.peek().is_some() {
                    walk.go(cell);
                }
                for place in open {
                    let point = self.point(place);
                    let near = walk
                        .places()
                        .flatten()
                        .filter(|&other| core[other] && self.square(&point, other) <= self.limit);
                    out.push((self.grid.order()[place], near.filter_map(cluster).min()));
                }
            }
            Ok(out)
        })?;
        let mut labels = clusters.to_vec();
        for (row, label) in parts.into_iter().flatten() {
            labels[row as usize] = label;
        }
        Ok(labels)
    }
}

/// The core places of each cell, and their boxes.
struct Cores {
    starts: Vec<u32>,
    places: Vec<u32>,
    boxes: Vec<[(f64, f64); 3]>,
}

impl Cores {
    fn new(dense: &Dense, core: &[bool]) -> Cores {
        let cells = dense.grid.cells();
        let mut out = Cores {
            starts: vec![0],
            places: Vec::new(),
            boxes: vec![[(f64::INFINITY, f64::NEG_INFINITY); 3]; cells],
        };
        for cell in 0..cells {
            for place in dense.grid.places(cell).filter(|&place| core[place]) {
                out.places.push(place as u32);
                for (side, x) in out.boxes[cell].iter_mut().zip(dense.point(place)) {
                    *side = (side.0.min(x), side.1.max(x));
                }
            }
            out.starts.push(out.places.len() as u32);
        }
        out
    }

    fn of(&self, cell: usize) -> &[u32] {
        &self.places[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The squared distance from a point to the box of a cell's core rows.
    fn box_square(&self, cell: usize, point: &[f64; 3]) -> f64 {
        self.boxes[cell].iter().zip(point).fold(0.0, |sum, (side, x)| {
            let gap = (side.0 - x).max(x - side.1).max(0.0);
            sum + gap * gap
        })
    }
}
