//! The linear separability test.
//!
//! With reflected rows y_i, either some a has a·y_i > 0 for all i, or some λ >= 0 with Σλ = 1 has
//! Σ λ_i y_i = 0, and never both (Gordan). The point of smallest norm in the convex hull of the rows
//! decides: not zero, it is such an a; zero, its weights are such a λ. It is found by Wolfe's method:
//! the row with the smallest product enters a small set of corners, and the nearest point of their
//! span is found exactly, corners with weight zero leaving. Columns are standardised and rows have
//! length one; classes nearer than 1e-10 in this scale count as touching.
//!
//! Wolfe (1976), Finding the nearest point in a polytope, Mathematical Programming 11, 128–149.

use super::reflection::{Reflected, two_classes};
use learnt_core::linalg::{add_scaled, dot, norm, svd};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Nearer to the origin than this counts as zero.
const TOUCHING: f64 = 1e-10;

/// Whether a line separates two classes, with the proof.
#[derive(Clone, Debug, PartialEq)]
pub enum Separability {
    /// It does.
    Yes {
        /// Intercept and weights a with a·(1, x) > 0 for the second class and < 0 for the first.
        vector: Vec<f64>,
    },
    /// None does.
    No {
        /// Rows and their multipliers: positive, summing to one, and Σ λ_i y_i = 0 over the
        /// reflected rows. At most p + 2 rows.
        certificate: Vec<(usize, f64)>,
    },
}

/// Decides whether a line separates two classes.
///
/// ```
/// use learnt::{linear::{Separability, linear_separability}, prelude::*};
/// let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])?;
/// let and = OwnedDataset::classification(x.clone(), &[0, 0, 0, 1].map(Label::Int));
/// let xor = OwnedDataset::classification(x, &[0, 1, 1, 0].map(Label::Int));
/// let run = Context::default();
/// assert!(matches!(linear_separability(&and.view(), &run)?, Separability::Yes { .. }));
/// assert!(matches!(linear_separability(&xor.view(), &run)?, Separability::No { .. }));
/// # Ok::<(), Error>(())
/// ```
pub fn linear_separability(data: &Dataset, run: &Context) -> Result<Separability> {
    two_classes(data)?;
    data.x.check(learnt_core::estimator::Accepts::default(), run)?;
    let scaled = Scaled::new(data)?;
    let mut hull = Hull::new(&scaled.rows);
    let mut monitor = run.monitor("the search for a separating line", 1000 + 50 * data.x.ncols());
    while monitor.advance()? {
        let (row, product) = smallest_product(&scaled.rows, &hull.point, run);
        let length = norm(&hull.point);
        monitor.record(length);
        if product > 0.0 && length > TOUCHING {
            let vector = scaled.vector(&hull.point);
            if Reflected::new(data)?.is_separated_by(&vector)? {
                return Ok(Separability::Yes { vector });
            }
        }
        let stuck = product >= length * length - TOUCHING * TOUCHING || hull.contains(row);
        if length <= TOUCHING || stuck {
            break;
        }
        hull.add(row, &scaled.rows)?;
    }
    match norm(&hull.point) <= TOUCHING.sqrt() {
        true => Ok(Separability::No { certificate: scaled.certificate(&hull) }),
        false => Err(Error::numeric(
            "the separability of the classes is beyond the precision of the arithmetic",
        )
        .hint("scale the columns, or drop columns that are nearly combinations of others")),
    }
}

/// The row with the smallest product with a point, and the product; the first of equals.
fn smallest_product(rows: &Matrix, point: &[f64], run: &Context) -> (usize, f64) {
    const ROWS: usize = 4096;
    let parts = run.par_ranges(rows.nrows(), ROWS, |range| {
        vectorized!({
            let mut best = (0, f64::INFINITY);
            for i in range.clone() {
                let product = dot(rows.row(i), point);
                if product < best.1 {
                    best = (i, product);
                }
            }
            best
        })
    });
    parts
        .into_iter()
        .fold((0, f64::INFINITY), |best, part| if part.1 < best.1 { part } else { best })
}

/// Reflected rows of standardised columns, each of length one.
struct Scaled {
    rows: Matrix,
    lengths: Vec<f64>,
    means: Vec<f64>,
    scales: Vec<f64>,
}

impl Scaled {
    fn new(data: &Dataset) -> Result<Scaled> {
        let (codes, _) = data.class_target()?;
        let (x, p) = (data.x.values(), data.x.ncols());
        let (mut means, mut scales) = (vec![0.0; p], vec![1.0; p]);
        for j in 0..p {
            let column = x.column(j);
            let largest = column.iter().fold(0.0_f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
            let n = column.len() as f64;
            means[j] = largest * (column.iter().map(|v| v / largest).sum::<f64>() / n);
            let squares: f64 = column.iter().map(|v| ((v - means[j]) / largest).powi(2)).sum();
            let deviation = largest * (squares / n).sqrt();
            scales[j] = if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 };
        }
        let mut rows = Matrix::zeros(x.nrows(), p + 1);
        let mut lengths = Vec::with_capacity(x.nrows());
        for (i, &code) in codes.iter().enumerate() {
            let row = rows.row_mut(i);
            row[0] = 1.0;
            (0..p).for_each(|j| row[j + 1] = (x.at(i, j) - means[j]) / scales[j]);
            let length = norm(row);
            let factor = if code == 0 { -length.recip() } else { length.recip() };
            row.iter_mut().for_each(|value| *value *= factor);
            lengths.push(length);
        }
        Ok(Scaled { rows, lengths, means, scales })
    }

    /// A vector for the columns as they were.
    fn vector(&self, point: &[f64]) -> Vec<f64> {
        let mut vector = point.to_vec();
        for (j, value) in vector[1..].iter_mut().enumerate() {
            *value /= self.scales[j];
        }
        let shift: f64 = self.means.iter().zip(&vector[1..]).map(|(mean, w)| mean * w).sum();
        vector[0] -= shift;
        vector
    }

    /// Multipliers for the rows as they were.
    fn certificate(&self, hull: &Hull) -> Vec<(usize, f64)> {
        let weights = hull.corners.iter().zip(&hull.weights);
        let mut out: Vec<(usize, f64)> = weights
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(&row, weight)| (row, weight / self.lengths[row]))
            .collect();
        let total: f64 = out.iter().map(|(_, weight)| weight).sum();
        out.iter_mut().for_each(|(_, weight)| *weight /= total);
        out.sort_unstable_by_key(|(row, _)| *row);
        out
    }
}

/// A point of the convex hull as a mixture of corners.
struct Hull {
    corners: Vec<usize>,
    weights: Vec<f64>,
    point: Vec<f64>,
}

impl Hull {
    fn new(rows: &Matrix) -> Hull {
        Hull { corners: vec![0], weights: vec![1.0], point: rows.row(0).to_vec() }
    }

    fn contains(&self, row: usize) -> bool {
        self.corners.contains(&row)
    }

    /// Adds a corner and moves to the point of the new hull that is nearest to the origin.
    fn add(&mut self, row: usize, rows: &Matrix) -> Result<()> {
        self.corners.push(row);
        self.weights.push(0.0);
        while !self.move_to_span(rows)? {}
        self.point.fill(0.0);
        for (&corner, &weight) in self.corners.iter().zip(&self.weights) {
            add_scaled(&mut self.point, weight, rows.row(corner));
        }
        Ok(())
    }

    /// Moves towards the nearest point of the affine span; true if it is reached inside the hull,
    /// else a corner has left.
    fn move_to_span(&mut self, rows: &Matrix) -> Result<bool> {
        let wanted = nearest_in_span(rows, &self.corners)?;
        if self.corners.len() == 1 || wanted.iter().all(|&weight| weight > 1e-14) {
            self.weights = wanted;
            return Ok(true);
        }
        let mut reach = 1.0_f64;
        let mut leaving = 0;
        for (k, (&now, &then)) in self.weights.iter().zip(&wanted).enumerate() {
            if then <= 1e-14 {
                let share = if now > then { now / (now - then) } else { 0.0 };
                if share < reach || (share == reach && now == 0.0) {
                    (reach, leaving) = (share, k);
                }
            }
        }
        for (now, then) in self.weights.iter_mut().zip(&wanted) {
            *now = ((1.0 - reach) * *now + reach * then).max(0.0);
        }
        self.corners.remove(leaving);
        self.weights.remove(leaving);
        let total: f64 = self.weights.iter().sum();
        let count = self.weights.len() as f64;
        let share = |weight: f64| if total > 0.0 { weight / total } else { count.recip() };
        self.weights.iter_mut().for_each(|weight| *weight = share(*weight));
        Ok(false)
    }
}

/// Weights μ with Σμ = 1 that minimise |Σ μ_k y_k|: the solution of (1 1ᵀ + P Pᵀ) u = 1, divided by
/// its sum, as a least-squares problem in (1, P)ᵀ so that the condition is not squared.
fn nearest_in_span(rows: &Matrix, corners: &[usize]) -> Result<Vec<f64>> {
    // With origin y_0: minimise |y_0 + Σ μ_k (y_k - y_0)| over free μ_k.
    let first = rows.row(corners[0]);
    let others = &corners[1..];
    if others.is_empty() {
        return Ok(vec![1.0]);
    }
    let edges = Matrix::from_fn(rows.ncols(), others.len(), |j, k| rows[(others[k], j)] - first[j]);
    let goal: Vec<f64> = first.iter().map(|value| -value).collect();
    let free = svd(edges.view())?.solve(&goal);
    let mut weights = vec![1.0 - free.iter().sum::<f64>()];
    weights.extend(free);
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks either proof.
    fn proven(data: &OwnedDataset) -> bool {
        let run = Context::default();
        let reflected = Reflected::new(&data.view()).unwrap();
        match linear_separability(&data.view(), &run).unwrap() {
            Separability::Yes { vector } => {
                assert!(reflected.is_separated_by(&vector).unwrap());
                true
            }
            Separability::No { certificate } => {
                let mut sum = vec![0.0; reflected.rows().ncols()];
                let mut size = 0.0_f64;
                for &(row, weight) in &certificate {
                    assert!(weight > 0.0);
                    add_scaled(&mut sum, weight, reflected.rows().row(row));
                    size = size.max(norm(reflected.rows().row(row)));
                }
                let total: f64 = certificate.iter().map(|(_, weight)| weight).sum();
                assert!((total - 1.0).abs() < 1e-12);
                assert!(certificate.len() <= reflected.rows().ncols() + 1);
                assert!(norm(&sum) < 1e-8 * size, "{sum:?}");
                false
            }
        }
    }

    fn random(n: usize, p: usize, seed: u64, shift: f64) -> OwnedDataset {
        let mut rng = Context::default().with_seed(seed).rng(0);
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % 2) as i64)).collect();
        let x = Matrix::from_fn(n, p, |i, j| {
            let centre = if i % 2 == 1 && j == 0 { shift } else { 0.0 };
            centre + learnt_core::stats::sample::uniform(&mut rng)
        });
        OwnedDataset::classification(x, &labels)
    }

    #[test]
    fn every_answer_comes_with_a_proof() {
        for seed in 0..40 {
            let (n, p) = (8 + seed as usize * 3, 1 + seed as usize % 5);
            assert!(proven(&random(n, p, seed, 1.001)));
            if n > 4 * p {
                assert!(!proven(&random(n, p, seed, 0.0)));
            }
        }
    }

    #[test]
    fn a_shared_point_is_not_separable_and_a_thin_gap_is() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 1.0, 2.0]);
        assert!(!proven(&OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int))));
        let x = Matrix::column_vector(vec![0.0, 1.0, 1.0 + 1e-7, 2.0]);
        assert!(proven(&OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int))));
        let x = Matrix::from_fn(4, 2, |i, j| {
            1e6 + [[0.0, 1e-3], [1.0, 3e-3], [2.0, 2e-3], [3.0, 5e-3]][i][j]
        });
        assert!(proven(&OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int))));
    }

    #[test]
    fn constant_and_equal_columns_decide_nothing() {
        let x = Matrix::from_fn(6, 3, |i, j| if j == 0 { 5.0 } else { i as f64 });
        let labels = [0, 0, 0, 1, 1, 1].map(Label::Int);
        assert!(proven(&OwnedDataset::classification(x.clone(), &labels)));
        let labels = [0, 1, 0, 1, 0, 1].map(Label::Int);
        assert!(!proven(&OwnedDataset::classification(x, &labels)));
    }

    #[test]
    fn twenty_thousand_rows_are_decided() {
        assert!(proven(&random(20_000, 4, 3, 1.0)));
        assert!(!proven(&random(20_000, 4, 3, 0.9)));
    }
}
