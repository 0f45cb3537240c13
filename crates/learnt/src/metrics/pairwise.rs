//! Distances and cosines between rows, every pair of them.

use crate::neighbors::Metric;
use learnt_core::linalg::{Distances, dot, norm};
use learnt_core::prelude::*;

/// Rows that one task takes.
const ROWS: usize = 64;

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
    /// The distance of two rows; `p` is the Minkowski power.
    pub fn between(self, x: &[f64], y: &[f64], p: f64) -> f64 {
        match self {
            DistanceKind::Euclidean | DistanceKind::L2 => Metric::Euclidean.distance(x, y),
            DistanceKind::Sqeuclidean => learnt_core::linalg::squared_distance(x, y),
            DistanceKind::Manhattan | DistanceKind::L1 | DistanceKind::Cityblock => {
                Metric::Manhattan.distance(x, y)
            }
            DistanceKind::Chebyshev => Metric::Chebyshev.distance(x, y),
            DistanceKind::Minkowski => Metric::minkowski(p).distance(x, y),
            DistanceKind::Cosine => 1.0 - cosine(x, y),
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
        let euclidean = [DistanceKind::Euclidean, DistanceKind::L2].contains(&self.metric);
        if euclidean || self.metric == DistanceKind::Sqeuclidean {
            return euclidean_distances(given.X, others, euclidean, run);
        }
        let own = given.Y.is_none();
        every_pair(given.X, others, run, |x, y, same| match own && same {
            true => 0.0,
            false => self.metric.between(x, y, self.p),
        })
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
        every_pair(given.X, given.others()?, run, |x, y, _| cosine(x, y))
    }
}

fn claim(x: MatRef, y: MatRef, run: &Context) -> Result<()> {
    run.claim_table(x.nrows(), y.nrows(), "a matrix of all pairs")
}

fn euclidean_distances(x: MatRef, y: MatRef, roots: bool, run: &Context) -> Result<Matrix> {
    claim(x, y, run)?;
    let points = y.gather_rows(&(0..y.nrows()).collect::<Vec<_>>());
    let panel = Distances::new(&points);
    let mut out = Matrix::zeros(x.nrows(), y.nrows());
    let width = y.nrows();
    run.par_fill(out.as_mut_slice(), ROWS * width, |start, piece| {
        let first = start / width;
        panel.of(x.rows(first, first + piece.len() / width), piece);
        if roots {
            piece.iter_mut().for_each(|square| *square = square.sqrt());
        }
    });
    Ok(out)
}

/// A number for every pair; the last argument says whether both have the same place.
fn every_pair(
    x: MatRef,
    y: MatRef,
    run: &Context,
    value: impl Fn(&[f64], &[f64], bool) -> f64 + Sync,
) -> Result<Matrix> {
    claim(x, y, run)?;
    let all = |view: MatRef| view.gather_rows(&(0..view.nrows()).collect::<Vec<_>>());
    let (x, y) = (all(x), all(y));
    let width = y.nrows();
    let mut out = Matrix::zeros(x.nrows(), width);
    run.par_fill(out.as_mut_slice(), ROWS * width, |start, piece| {
        for (k, row) in piece.chunks_exact_mut(width).enumerate() {
            let i = start / width + k;
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = value(x.row(i), y.row(j), i == j);
            }
        }
    });
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
        let wide = Matrix::from_rows(&[[0.0]]).unwrap();
        let other = RowsAndRows { X: x.view(), Y: Some(wide.view()) };
        assert_eq!(CosineSimilarity {}.compute(other).unwrap_err().code(), Code::Shape);
    }
}
