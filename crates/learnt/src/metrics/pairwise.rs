//! Distances and cosines between rows, every pair of them.
//!
//! By tiles of rows ([`tiles`](super::tiles)). Cosines are products of rows that are divided by their lengths
//! first, once each, so that no product overflows.

use super::tiles::{self, Others, Step};
use crate::neighbors::Metric;
use learnt_core::linalg::{Distances, dot, norm};
use learnt_core::prelude::*;

/// Rows that one task takes.
const ROWS: usize = 64;

/// Numbers of points that are compared with the rows of a task before the next: a part of the second cache.
const CACHED: usize = 1 << 15;

/// Rows, and those to compare them with.
#[derive(Inputs, Clone, Copy)]
#[allow(non_snake_case, reason = "the names of the inputs on all surfaces")]
pub struct RowsAndRows<'a> {
    /// The rows.
    pub X: MatRef<'a>,
    /// The rows to compare with; the same by default.
    #[input(apart)]
    pub Y: Option<MatRef<'a>>,
}

impl<'a> RowsAndRows<'a> {
    fn others(&self) -> Result<MatRef<'a>> {
        let others = self.Y.unwrap_or(self.X);
        match others.ncols() == self.X.ncols() {
            true => Ok(others),
            false => {
                let expected = format!("{} columns as X has", self.X.ncols());
                Err(Error::shape("Y", expected, others.ncols()))
            }
        }
    }
}

/// Distances between all rows of two tables.
#[derive(Params, Clone, Debug)]
pub struct PairwiseDistances {
    /// Which distance.
    #[param(default = DistanceKind::Euclidean, positional)]
    pub metric: DistanceKind,
    /// The power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
}

/// A distance between rows.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceKind {
    /// The root of the sum of squared differences.
    Euclidean,
    /// The same.
    L2,
    /// The sum of squared differences.
    Sqeuclidean,
    /// The sum of absolute differences.
    Manhattan,
    /// The same.
    L1,
    /// The same.
    Cityblock,
    /// The largest absolute difference.
    Chebyshev,
    /// The p-th root of the sum of absolute differences to the power p.
    Minkowski,
    /// One minus the cosine of the angle.
    Cosine,
}

impl DistanceKind {
    /// The metric, with this power where it is Minkowski's; none for the squares of `euclidean`.
    fn metric(self, p: f64) -> Option<Metric> {
        Some(match self {
            DistanceKind::Euclidean | DistanceKind::L2 => Metric::Euclidean,
            DistanceKind::Sqeuclidean => return None,
            DistanceKind::Manhattan | DistanceKind::L1 | DistanceKind::Cityblock => {
                Metric::Manhattan
            }
            DistanceKind::Chebyshev => Metric::Chebyshev,
            DistanceKind::Minkowski => Metric::minkowski(p),
            DistanceKind::Cosine => Metric::Cosine,
        })
    }

    /// The distance of two rows; `p` is the Minkowski power.
    pub fn between(self, x: &[f64], y: &[f64], p: f64) -> f64 {
        match self.metric(p) {
            None => learnt_core::linalg::squared_distance(x, y),
            Some(Metric::Cosine) => 1.0 - cosine(x, y),
            Some(metric) => metric.distance(x, y),
        }
    }
}

/// The cosine of two rows; 0 where either has no length.
fn cosine(x: &[f64], y: &[f64]) -> f64 {
    let length = norm(x) * norm(y);
    if length > 0.0 { (dot(x, y) / length).clamp(-1.0, 1.0) } else { 0.0 }
}

impl Function for PairwiseDistances {
    type Inputs<'a> = RowsAndRows<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.pairwise_distances", FunctionKind::Metric).threads();

    fn call(&self, given: RowsAndRows, run: &Context) -> Result<Matrix> {
        let others = given.others()?;
        let metric = self.metric.metric(self.p);
        let Some(metric) = metric.filter(|metric| *metric != Metric::Euclidean) else {
            return euclidean_distances(given.X, others, metric.is_some(), run);
        };
        if metric == Metric::Cosine {
            let mut out = cosines(given.X, others, run, |cosine| 1.0 - cosine)?;
            if given.Y.is_none() {
                (0..out.nrows()).for_each(|i| out[(i, i)] = 0.0);
            }
            return Ok(out);
        }
        claim(given.X, others, run)?;
        let (x, others) = (given.X.to_matrix(), others.to_matrix());
        let mut out = Matrix::zeros(x.nrows(), others.nrows());
        let mut rows: Vec<&mut [f64]> =
            out.as_mut_slice().chunks_exact_mut(others.nrows().max(1)).collect();
        tiles::distances(&x, &others, (metric, false), &mut rows, run)?;
        Ok(out)
    }
}

/// Cosines of the angles between all rows of two tables.
#[derive(Params, Clone, Debug)]
pub struct CosineSimilarity {}

impl Function for CosineSimilarity {
    type Inputs<'a> = RowsAndRows<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.cosine_similarity", FunctionKind::Metric).threads();

    fn call(&self, given: RowsAndRows, run: &Context) -> Result<Matrix> {
        cosines(given.X, given.others()?, run, |cosine| cosine)
    }
}

fn claim(x: MatRef, y: MatRef, run: &Context) -> Result<()> {
    run.claim_table(x.nrows(), y.nrows(), "a matrix of all pairs")
}

fn euclidean_distances(x: MatRef, y: MatRef, roots: bool, run: &Context) -> Result<Matrix> {
    claim(x, y, run)?;
    let points = y.to_matrix();
    let (count, width) = (y.nrows(), y.ncols());
    let at_once = (CACHED / width.max(1)).max(32);
    let panels: Vec<Distances> = (0..count)
        .step_by(at_once)
        .map(|first| {
            let end = (first + at_once).min(count);
            Distances::new(&points.view().rows(first, end).to_matrix())
        })
        .collect();
    let mut out = Matrix::zeros(x.nrows(), count);
    run.par_fill(out.as_mut_slice(), ROWS * count, |start, piece| {
        let first = start / count;
        let rows = x.rows(first, first + piece.len() / count);
        match &panels[..] {
            [all] => all.of(rows, piece),
            panels => by_panels(panels, rows, at_once, piece),
        }
        if roots {
            piece.iter_mut().for_each(|square| *square = square.sqrt());
        }
    });
    Ok(out)
}

/// The squares of some rows to all points, of which each panel has `at_once`.
fn by_panels(panels: &[Distances], rows: MatRef, at_once: usize, out: &mut [f64]) {
    let count = out.len() / rows.nrows().max(1);
    let mut squares = vec![0.0; rows.nrows() * at_once];
    for (k, panel) in panels.iter().enumerate() {
        let (first, end) = (k * at_once, ((k + 1) * at_once).min(count));
        let squares = &mut squares[..rows.nrows() * (end - first)];
        panel.of(rows, squares);
        for (out, squares) in out.chunks_exact_mut(count).zip(squares.chunks_exact(end - first)) {
            out[first..end].copy_from_slice(squares);
        }
    }
}

/// The cosines of all pairs, changed by `finish`; 0 where either row has no length.
fn cosines(
    x: MatRef,
    y: MatRef,
    run: &Context,
    finish: impl Fn(f64) -> f64 + Sync,
) -> Result<Matrix> {
    claim(x, y, run)?;
    let length = |row: &[f64]| Some(norm(row)).filter(|&length| length > 0.0).unwrap_or(1.0);
    let unit = |rows: MatRef| tiles::scaled(&rows.to_matrix(), length);
    let (x, others) = (unit(x), Others::new(&unit(y)));
    let mut out = Matrix::zeros(x.nrows(), y.nrows());
    let mut rows: Vec<&mut [f64]> = out.as_mut_slice().chunks_exact_mut(y.nrows().max(1)).collect();
    others.fill(Step::Products, &x, &mut rows, run, |_, row| {
        row.iter_mut().for_each(|product| *product = finish(product.clamp(-1.0, 1.0)));
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let x = Matrix::from_rows(&[[0.0, 0.0], [3.0, 4.0]]).unwrap();
        let given = RowsAndRows { X: x.view(), Y: None };
        let with =
            |metric, p| PairwiseDistances { metric, p }.compute(given).unwrap().as_slice().to_vec();
        assert_eq!(with(DistanceKind::Euclidean, 2.0), [0.0, 5.0, 5.0, 0.0]);
        assert_eq!(with(DistanceKind::Manhattan, 2.0), [0.0, 7.0, 7.0, 0.0]);
        assert_eq!(with(DistanceKind::Chebyshev, 2.0), [0.0, 4.0, 4.0, 0.0]);
        assert_eq!(with(DistanceKind::Sqeuclidean, 2.0), [0.0, 25.0, 25.0, 0.0]);
        assert_eq!(with(DistanceKind::Cosine, 2.0)[1], 1.0);
        let huge = Matrix::from_rows(&[[3e200, 4e200], [0.0, 1e-200]]).unwrap();
        let cosines = CosineSimilarity {}.compute(RowsAndRows { X: huge.view(), Y: None }).unwrap();
        assert_eq!(cosines.as_slice(), [1.0, 0.8, 0.8, 1.0]);
        let wide = Matrix::from_rows(&[[0.0]]).unwrap();
        let other = RowsAndRows { X: x.view(), Y: Some(wide.view()) };
        assert_eq!(CosineSimilarity {}.compute(other).unwrap_err().code(), Code::Shape);
    }

    #[test]
    fn points_in_several_panels_have_the_squares_of_one() {
        let x = Matrix::from_fn(70, 1100, |i, j| ((i * 7 + j * 3) as f64 * 0.37).sin());
        let given = RowsAndRows { X: x.view(), Y: None };
        let metric = DistanceKind::Sqeuclidean;
        let found = PairwiseDistances { metric, p: 2.0 }.compute(given).unwrap();
        let mut expected = vec![0.0; 70 * 70];
        Distances::new(&x).of(x.view(), &mut expected);
        assert_eq!(found.as_slice(), expected);
    }
}
