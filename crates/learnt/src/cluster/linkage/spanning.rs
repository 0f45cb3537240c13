//! The minimum spanning tree of a table's rows, by Prim's method: n² p time and n p memory; or of a table of
//! distances. The sorted edges are the mergers of single linkage; with core distances, those of HDBSCAN.
//!
//! R. Prim (1957), Bell System Technical Journal 36, 1389-1401.

use crate::neighbors::Metric;
use learnt_core::prelude::*;
use learnt_core::vectorized;
use std::ops::Range;

/// An edge of a tree: two rows and their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The lower row.
    pub a: u32,
    /// The higher row.
    pub b: u32,
    /// Their distance.
    pub length: f64,
}

impl Edge {
    /// Between two rows.
    pub fn new(a: u32, b: u32, length: f64) -> Edge {
        Edge { a: a.min(b), b: a.max(b), length }
    }
}

/// The edges of the tree, in the order in which rows joined it. With `cores`, the distance of two
/// rows is at least the core distance of each. Of equal distances the lowest row joins first. Without a
/// metric the table holds the distances.
pub fn prim(
    x: MatRef,
    metric: impl Into<Option<Metric>>,
    cores: Option<&[f64]>,
    run: &Context,
) -> Result<Vec<Edge>> {
    let none = vec![0.0; x.nrows()];
    let cores = cores.unwrap_or(&none);
    let visits = visit(
        x,
        metric.into(),
        Rule { leaving: cores, entering: cores, limit: f64::INFINITY },
        run,
    )?;
    let edge = |visit: Visit| visit.from.map(|from| Edge::new(from, visit.row, visit.reach));
    let edges: Vec<Edge> = visits.into_iter().filter_map(edge).collect();
    match edges.len() + 1 == x.nrows().max(1) {
        true => Ok(edges),
        false => Err(Error::numeric("distances overflow: the values are too large")
            .hint("divide the columns by a large constant first")),
    }
}

/// How far a row is from one that has been visited.
#[derive(Clone, Copy)]
pub(in crate::cluster) struct Rule<'a> {
    /// The least distance from each visited row.
    pub leaving: &'a [f64],
    /// The least distance to each row that is not visited yet.
    pub entering: &'a [f64],
    /// Rows farther apart than this do not reach each other.
    pub limit: f64,
}

/// A row in the order of visits.
#[derive(Clone, Copy, Debug)]
pub(in crate::cluster) struct Visit {
    /// The row.
    pub row: u32,
    /// The visited row that it was nearest to; none for a new beginning.
    pub from: Option<u32>,
    /// The distance from there; infinite for a new beginning.
    pub reach: f64,
}

/// Visits the row that is nearest to those visited, again and again; where none is reached, the
/// lowest one. Without a metric the table holds the distances.
pub(in crate::cluster) fn visit(
    x: MatRef,
    metric: Option<Metric>,
    rule: Rule,
    run: &Context,
) -> Result<Vec<Visit>> {
    let n = x.nrows();
    let width = if metric.is_some() { x.ncols() } else { 0 };
    run.claim_table(n, width + 4, "the order of visits")?;
    let mut outside = Outside::new(x, metric, rule);
    let mut visits = Vec::with_capacity(n);
    let mut place = 0;
    while visits.len() < n {
        if visits.len() % 256 == 0 {
            run.checkpoint()?;
        }
        visits.push(outside.visit(place));
        let row = outside.take(place);
        place = outside.offer(&row);
    }
    Ok(visits)
}

/// A row that has joined the tree.
struct Joined {
    values: Vec<f64>,
    number: u32,
    core: f64,
}

/// Where distances come from.
enum Space<'a> {
    Rows(Metric),
    Given(MatRef<'a>),
}

/// The rows that are not in the tree yet, with the nearest row in it. Columns are kept apart, so that
/// distances run along them.
struct Outside<'a> {
    space: Space<'a>,
    columns: Vec<Vec<f64>>,
    numbers: Vec<u32>,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    limit: f64,
    least: Vec<f64>,
    nearest: Vec<u32>,
    sums: Vec<f64>,
}

impl<'a> Outside<'a> {
    fn new(x: MatRef<'a>, metric: Option<Metric>, rule: Rule) -> Outside<'a> {
        let n = x.nrows();
        let width = if metric.is_some() { x.ncols() } else { 0 };
        Outside {
            space: metric.map_or(Space::Given(x), Space::Rows),
            columns: (0..width).map(|j| x.column(j)).collect(),
            numbers: (0..n as u32).collect(),
            leaving: rule.leaving.to_vec(),
            entering: rule.entering.to_vec(),
            limit: rule.limit,
            least: vec![f64::INFINITY; n],
            nearest: vec![0; n],
            sums: vec![0.0; n],
        }
    }

    /// Takes a row out; the last one fills its place.
    fn take(&mut self, place: usize) -> Joined {
        let values = self.columns.iter_mut().map(|column| column.swap_remove(place)).collect();
        self.least.swap_remove(place);
        self.nearest.swap_remove(place);
        self.sums.pop();
        let number = self.numbers.swap_remove(place);
        self.entering.swap_remove(place);
        Joined { values, number, core: self.leaving.swap_remove(place) }
    }

    fn visit(&self, place: usize) -> Visit {
        let reach = self.least[place];
        let from = (reach < f64::INFINITY).then(|| self.nearest[place]);
        Visit { row: self.numbers[place], from, reach }
    }

    /// Measures a row that joined against all others; gives the place of the next to join: the nearest, and of
    /// equally near ones the row of least number.
    fn offer(&mut self, row: &Joined) -> usize {
        const BLOCK: usize = 512;
        self.measure(row);
        let mut best = (f64::INFINITY, u32::MAX, 0);
        for start in (0..self.sums.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.sums.len());
            let least = self.offer_block(block.clone(), row);
            // Few blocks hold a row that is nearer than all before.
            if least > best.0 {
                continue;
            }
            for place in block.filter(|&place| self.least[place] == least) {
                if (least, self.numbers[place]) < (best.0, best.1) {
                    best = (least, self.numbers[place], place);
                }
            }
        }
        best.2
    }

    /// The same for a block of places: the least distance in it.
    fn offer_block(&mut self, block: Range<usize>, row: &Joined) -> f64 {
        const LANES: usize = 8;
        let (limit, core, number) = (self.limit, row.core, row.number);
        let (sums, entering) = (&self.sums[block.clone()], &self.entering[block.clone()]);
        let (least, nearest) = (&mut self.least[block.clone()], &mut self.nearest[block]);
        vectorized!({
            for (((least, nearest), &sum), &entering) in
                least.iter_mut().zip(nearest.iter_mut()).zip(sums).zip(entering)
            {
                let away = if sum > entering { sum } else { entering };
                let reach = if away > core { away } else { core };
                let nearer = (reach < *least) & (sum <= limit);
                *least = if nearer { reach } else { *least };
                *nearest = if nearer { number } else { *nearest };
            }
            let mut lanes = [f64::INFINITY; LANES];
            let (chunks, rest) = least.as_chunks::<LANES>();
            for chunk in chunks {
                for k in 0..LANES {
                    lanes[k] = if chunk[k] < lanes[k] { chunk[k] } else { lanes[k] };
                }
            }
            lanes.iter().chain(rest).fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
        })
    }

    /// Distances of all rows outside to this row.
    fn measure(&mut self, row: &Joined) {
        let Outside { space, columns, sums, numbers, .. } = self;
        let metric = match space {
            Space::Rows(metric) => *metric,
            Space::Given(distances) => {
                let from = row.number as usize;
                let to = numbers.iter().map(|&number| distances.at(from, number as usize));
                sums.iter_mut().zip(to).for_each(|(sum, distance)| *sum = distance);
                return;
            }
        };
        if metric != Metric::Euclidean {
            let mut other = vec![0.0; columns.len()];
            for (place, sum) in sums.iter_mut().enumerate() {
                other.iter_mut().zip(columns.iter()).for_each(|(x, column)| *x = column[place]);
                *sum = metric.distance(&row.values, &other);
            }
            return;
        }
        const PIECE: usize = 512;
        vectorized!({
            for start in (0..sums.len()).step_by(PIECE) {
                let end = (start + PIECE).min(sums.len());
                let sums = &mut sums[start..end];
                sums.fill(0.0);
                for (column, &x) in columns.iter().zip(&row.values) {
                    for (sum, &y) in sums.iter_mut().zip(&column[start..end]) {
                        let d = y - x;
                        *sum += d * d;
                    }
                }
                sums.iter_mut().for_each(|sum| *sum = sum.sqrt());
            }
        });
    }
}
