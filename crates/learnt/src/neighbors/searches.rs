//! The spatial index as functions: nearest rows, rows within a radius, and what a smoother by
//! neighbours costs in parameters.
//!
//! Brute force, k-d tree and ball tree give the same rows and distances; equal distances go to the lower
//! row. A ball is closed. The fit of k-NN regression is linear in the target, with a smoother matrix S
//! of entries 1/k; its trace is the effective number of parameters, n/k where all rows differ.
//!
//! J. Bentley (1975), CACM 18, 509-517; T. Hastie, R. Tibshirani and J. Friedman (2009), section 2.3.

use super::index::Index;
use super::neighborhood::{Algorithm, MetricName};
use learnt_core::prelude::*;

/// Rows, and places to search from.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndQueries<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The places; the rows themselves by default.
    #[input(apart)]
    pub at: Option<MatRef<'a>>,
}

/// Places that are searched at once.
const CHUNK: usize = 8192;

impl<'a> RowsAndQueries<'a> {
    pub(super) fn places(&self) -> Result<MatRef<'a>> {
        let at = self.at.unwrap_or(self.x);
        match at.ncols() == self.x.ncols() {
            true => Ok(at),
            false => {
                let expected = format!("{} columns as X has", self.x.ncols());
                Err(Error::shape("at", expected, format!("{} columns", at.ncols())))
            }
        }
    }

    fn index(&self, algorithm: Algorithm, metric: MetricName, run: &Context) -> Result<Index> {
        let metric = metric.with_power(2.0);
        let structure = algorithm.structure(metric, self.x.nrows(), self.x.ncols());
        Index::build(self.x, metric, structure, 30, run)
    }
}

/// The k nearest rows of each place, by one index over brute force, k-d tree or ball tree.
#[derive(Params, Clone, Debug)]
pub struct NearestRows {
    /// How many rows.
    #[param(positional, default = 5, range = 1..)]
    pub k: usize,
    /// How they are found; the result is the same.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// The distance.
    #[param(default = MetricName::Euclidean)]
    pub metric: MetricName,
}

/// Rows with their distances, one line a place, the nearest first.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct RowsFound {
    /// Numbers of the rows, from 0.
    pub rows: Matrix,
    /// Their distances.
    pub distances: Matrix,
}

impl Function for NearestRows {
    type Inputs<'a> = RowsAndQueries<'a>;
    type Output = RowsFound;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.nearest_rows", FunctionKind::Statistic)
            .threads()
            .reference("Bentley (1975)");

    fn call(&self, given: RowsAndQueries, run: &Context) -> Result<RowsFound> {
        let at = given.places()?;
        let index = given.index(self.algorithm, self.metric, run)?;
        let (distances, rows) = index.nearest(at, self.k, run)?.into_parts();
        let rows = rows.into_iter().map(f64::from).collect();
        Ok(RowsFound {
            rows: Matrix::from_vec(at.nrows(), self.k, rows)?,
            distances: Matrix::from_vec(at.nrows(), self.k, distances)?,
        })
    }
}

/// All rows within a radius of each place, by one index over brute force, k-d tree or ball tree.
#[derive(Params, Clone, Debug)]
pub struct RowsWithin {
    /// The radius; rows on it are inside.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub radius: f64,
    /// How they are found; the result is the same.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// The distance.
    #[param(default = MetricName::Euclidean)]
    pub metric: MetricName,
}

/// Rows near each place, in the order of their numbers.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct RowsNear {
    /// Numbers of the rows, from 0, a list for each place.
    pub rows: Vec<Vec<u64>>,
    /// Their distances.
    pub distances: Vec<Vec<f64>>,
    /// How many there are.
    pub count: Vec<u64>,
}

impl Function for RowsWithin {
    type Inputs<'a> = RowsAndQueries<'a>;
    type Output = RowsNear;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.rows_within", FunctionKind::Statistic)
            .threads()
            .reference("Bentley (1975)");

    fn call(&self, given: RowsAndQueries, run: &Context) -> Result<RowsNear> {
        let at = given.places()?;
        let index = given.index(self.algorithm, self.metric, run)?;
        let found = index.within(at, self.radius, run)?;
        let places = 0..at.nrows();
        let rows = |i: usize| found.rows(i).iter().map(|&row| u64::from(row)).collect();
        Ok(RowsNear {
            rows: places.clone().map(rows).collect(),
            distances: places.clone().map(|i| found.distances(i).to_vec()).collect(),
            count: places.map(|i| found.rows(i).len() as u64).collect(),
        })
    }
}

/// Effective parameters of k-NN regression: the trace of its smoother matrix, n/k where all rows differ.
#[derive(Params, Clone, Debug)]
pub struct KnnEffectiveParameters {
    /// Number of neighbours, the row itself one of them.
    #[param(positional, default = 5, range = 1..)]
    pub k: usize,
    /// The distance.
    #[param(default = MetricName::Euclidean)]
    pub metric: MetricName,
}

/// Rows of a table.
#[derive(Inputs, Clone, Copy)]
pub struct RowsOfSmoother<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// A trace and what it is compared with.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SmootherTrace {
    /// The trace of the smoother matrix.
    pub value: f64,
    /// n/k, its value where all rows differ.
    pub n_over_k: f64,
}

impl Function for KnnEffectiveParameters {
    type Inputs<'a> = RowsOfSmoother<'a>;
    type Output = SmootherTrace;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.knn_effective_parameters", FunctionKind::Statistic)
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 2.3");

    fn call(&self, given: RowsOfSmoother, run: &Context) -> Result<SmootherTrace> {
        let n = given.x.nrows();
        let given = RowsAndQueries { x: given.x, at: None };
        let index = given.index(Algorithm::Auto, self.metric, run)?;
        let mut own = 0_usize;
        for first in (0..n).step_by(CHUNK) {
            run.checkpoint()?;
            let end = (first + CHUNK).min(n);
            let found = index.nearest(given.x.rows(first, end), self.k, run)?;
            own += (first..end).filter(|&i| found.rows(i - first).contains(&(i as u32))).count();
        }
        let k = self.k as f64;
        Ok(SmootherTrace { value: own as f64 / k, n_over_k: n as f64 / k })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::Metric;

    fn rows() -> Matrix {
        // Every fifth row is a copy of another.
        Matrix::from_fn(300, 3, |i, j| {
            let i = if i % 5 == 0 { i / 2 } else { i };
            ((i * (3 + j)) as f64 * 0.7).sin() * 9.0
        })
    }

    #[test]
    fn every_structure_finds_what_all_pairs_say_ties_by_row() {
        let x = rows();
        let at = Matrix::from_fn(40, 3, |i, j| ((i * (5 + j)) as f64 * 0.9).cos() * 9.0);
        let by_hand = |query: &[f64]| {
            let mut all: Vec<(f64, usize)> = x
                .rows()
                .enumerate()
                .map(|(i, row)| (Metric::Euclidean.distance(query, row), i))
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all
        };
        let structures = [Algorithm::Brute, Algorithm::KdTree, Algorithm::BallTree];
        for algorithm in structures {
            let given = RowsAndQueries { x: x.view(), at: Some(at.view()) };
            let near = NearestRows { k: 7, algorithm, ..Default::default() };
            let near = near.compute(given).unwrap();
            let within = RowsWithin { radius: 4.0, algorithm, ..Default::default() };
            let within = within.compute(given).unwrap();
            for (i, query) in at.rows().enumerate() {
                let all = by_hand(query);
                let expected: Vec<f64> = all[..7].iter().map(|(_, row)| *row as f64).collect();
                assert_eq!(near.rows.row(i), expected, "{algorithm:?}");
                let mut inside: Vec<u64> =
                    all.iter().filter(|(d, _)| *d <= 4.0).map(|(_, row)| *row as u64).collect();
                inside.sort_unstable();
                assert_eq!(within.rows[i], inside, "{algorithm:?}");
                assert_eq!(within.count[i], inside.len() as u64);
            }
        }
    }

    #[test]
    fn the_trace_is_rows_over_neighbours() {
        let x = Matrix::column_vector((1..=60).map(f64::from).collect());
        for (k, expected) in [(1, 60.0), (3, 20.0), (5, 12.0), (10, 6.0)] {
            let found = KnnEffectiveParameters { k, ..Default::default() };
            let found = found.compute(RowsOfSmoother { x: x.view() }).unwrap();
            assert!((found.value - expected).abs() < 1e-12 && found.n_over_k == found.value);
        }
        // Copies take each other's places: of three equal rows the first alone is its own neighbour.
        let equal = Matrix::column_vector(vec![2.0, 2.0, 2.0]);
        let found = KnnEffectiveParameters { k: 1, ..Default::default() };
        assert_eq!(found.compute(RowsOfSmoother { x: equal.view() }).unwrap().value, 1.0);
    }
}
