//! The minimum spanning tree of a table's rows, by Prim's method: n² p time and n p memory. The
//! sorted edges are the mergers of single linkage; with core distances, those of HDBSCAN.
//!
//! R. Prim (1957), Bell System Technical Journal 36, 1389-1401.

use crate::neighbors::Metric;
use learnt_core::prelude::*;
use pulp::Arch;

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
/// rows is at least the core distance of each. Of equal distances the lowest row joins first.
pub fn prim(x: MatRef, metric: Metric, cores: Option<&[f64]>, run: &Context) -> Result<Vec<Edge>> {
    let n = x.nrows();
    run.claim(8 * (n * (x.ncols() + 3)) as u64, "the spanning tree")?;
    let mut outside = Outside::new(x, metric, cores);
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    let mut row = outside.take(0);
    while edges.len() + 1 < n {
        if edges.len() % 256 == 0 {
            run.checkpoint()?;
        }
        let place = outside.offer(&row);
        let (length, from, to) = outside.best(place);
        edges.push(Edge::new(from, to, length));
        row = outside.take(place);
    }
    Ok(edges)
}

/// A row that has joined the tree.
struct Joined {
    values: Vec<f64>,
    number: u32,
    core: f64,
}

/// The rows that are not in the tree yet, with the nearest row in it. Columns are kept apart, so that
/// distances run along them.
struct Outside {
    metric: Metric,
    columns: Vec<Vec<f64>>,
    numbers: Vec<u32>,
    cores: Vec<f64>,
    least: Vec<f64>,
    nearest: Vec<u32>,
    sums: Vec<f64>,
}

impl Outside {
    fn new(x: MatRef, metric: Metric, cores: Option<&[f64]>) -> Outside {
        let n = x.nrows();
        Outside {
            metric,
            columns: (0..x.ncols()).map(|j| x.column(j)).collect(),
            numbers: (0..n as u32).collect(),
            cores: cores.map_or_else(|| vec![0.0; n], <[f64]>::to_vec),
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
        Joined { values, number, core: self.cores.swap_remove(place) }
    }

    fn best(&self, place: usize) -> (f64, u32, u32) {
        (self.least[place], self.nearest[place], self.numbers[place])
    }

    /// Measures a row that joined against all others; gives the place of the next to join.
    fn offer(&mut self, row: &Joined) -> usize {
        self.measure(row);
        let Outside { sums, cores, least, nearest, numbers, .. } = self;
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut best = (f64::INFINITY, u32::MAX, 0);
                for place in 0..sums.len() {
                    let reach = sums[place].max(cores[place]).max(row.core);
                    if reach < least[place] {
                        least[place] = reach;
                        nearest[place] = row.number;
                    }
                    let found = (least[place], numbers[place]);
                    if found.0 < best.0 || (found.0 == best.0 && found.1 < best.1) {
                        best = (found.0, found.1, place);
                    }
                }
                best.2
            },
        )
    }

    /// Distances of all rows outside to this row.
    fn measure(&mut self, row: &Joined) {
        let Outside { metric, columns, sums, .. } = self;
        if *metric != Metric::Euclidean {
            let mut other = vec![0.0; columns.len()];
            for (place, sum) in sums.iter_mut().enumerate() {
                other.iter_mut().zip(columns.iter()).for_each(|(x, column)| *x = column[place]);
                *sum = metric.distance(&row.values, &other);
            }
            return;
        }
        const PIECE: usize = 512;
        Arch::new().dispatch(
            #[inline(always)]
            || {
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
            },
        );
    }
}
