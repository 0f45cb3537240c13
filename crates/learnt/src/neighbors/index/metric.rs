//! Distances between rows of numbers.
//!
//! Every structure ranks rows by the same sum, taken over the columns in order: Σ (x - y)² for
//! `euclidean`, Σ |x - y| for `manhattan`, max |x - y| for `chebyshev`, Σ |x - y|^p for `minkowski`
//! and 1 - x'y of unit rows for `cosine`. The distance is a function of the final sum. Rounding is
//! monotone, so that a lower bound built with the same operations is one in floating point too.

use learnt_core::linalg;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Calls an expression with the kernel of a metric, compiled once for each.
macro_rules! with_kernel {
    ($metric:expr, $kernel:ident => $body:expr) => {
        match $metric {
            $crate::neighbors::index::metric::Metric::Euclidean => {
                let $kernel = $crate::neighbors::index::metric::Euclidean;
                $body
            }
            $crate::neighbors::index::metric::Metric::Manhattan => {
                let $kernel = $crate::neighbors::index::metric::Manhattan;
                $body
            }
            $crate::neighbors::index::metric::Metric::Chebyshev => {
                let $kernel = $crate::neighbors::index::metric::Chebyshev;
                $body
            }
            $crate::neighbors::index::metric::Metric::Minkowski(p) => {
                let $kernel = $crate::neighbors::index::metric::Minkowski { p };
                $body
            }
            $crate::neighbors::index::metric::Metric::Cosine => {
                let $kernel = $crate::neighbors::index::metric::Cosine;
                $body
            }
        }
    };
}
pub(super) use with_kernel;

/// A distance between rows.
#[derive(Stored, Clone, Copy, Debug, PartialEq)]
#[stored(validate = check)]
pub enum Metric {
    /// The root of the sum of squared differences.
    Euclidean,
    /// The sum of absolute differences.
    Manhattan,
    /// The largest absolute difference.
    Chebyshev,
    /// The p-th root of the sum of absolute differences to the power p.
    Minkowski(f64),
    /// One minus the cosine of the angle between the rows.
    Cosine,
}

impl Metric {
    /// The Minkowski distance with this power, by its own name where it has one.
    pub fn minkowski(p: f64) -> Metric {
        match p {
            1.0 => Metric::Manhattan,
            2.0 => Metric::Euclidean,
            f64::INFINITY => Metric::Chebyshev,
            p => Metric::Minkowski(p),
        }
    }

    /// The name in scikit-learn.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "euclidean",
            Metric::Manhattan => "manhattan",
            Metric::Chebyshev => "chebyshev",
            Metric::Minkowski(_) => "minkowski",
            Metric::Cosine => "cosine",
        }
    }

    /// Whether the triangle inequality holds.
    pub fn is_metric(self) -> bool {
        match self {
            Metric::Minkowski(p) => p >= 1.0,
            Metric::Cosine => false,
            _ => true,
        }
    }

    /// The distance between two rows of equal length.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        if self == Metric::Cosine {
            let length = linalg::norm(x) * linalg::norm(y);
            return Cosine.distance(1.0 - linalg::dot(x, y) / length);
        }
        with_kernel!(self, kernel => kernel.distance(between(kernel, x, y)))
    }

    /// The distances from a point to rows that are kept column by column, with the same bits.
    pub fn distances(self, point: &[f64], columns: &Matrix, out: &mut [f64]) {
        if self == Metric::Cosine {
            let rows = columns.view().transposed();
            let mut row = vec![0.0; point.len()];
            for (i, out) in out.iter_mut().enumerate() {
                rows.copy_row(i, &mut row);
                *out = self.distance(point, &row);
            }
            return;
        }
        with_kernel!(self, kernel => vectorized!(to_all(kernel, point, columns, out)));
    }

    pub(super) fn check(&self) -> Result<()> {
        match self {
            Metric::Minkowski(p) if !p.is_finite() || *p <= 0.0 => {
                Err(Error::parameter("p", "a number > 0", p))
            }
            _ => Ok(()),
        }
    }
}

/// The arithmetic of a metric: a sum over columns that orders rows as the distance does.
pub(super) trait Kernel: Copy + Send + Sync {
    /// The sum before the first column.
    const START: f64 = 0.0;
    /// What lower bounds are multiplied by, where rounding may not be monotone.
    const SLACK: f64 = 1.0;
    /// ||x - y||² as a multiple of the sum, for the metrics that are computed by matrix product.
    const SQUARE_SCALE: f64 = 1.0;
    /// The sum after one more column.
    fn add(self, sum: f64, x: f64, y: f64) -> f64;
    /// The distance of a sum.
    fn distance(self, sum: f64) -> f64;
    /// The sum of a distance, up to rounding.
    fn sum(self, distance: f64) -> f64;

    /// A sum that no row within the distance exceeds.
    fn limit(self, distance: f64) -> f64 {
        self.sum(distance) * (1.0 + 1e-12) + f64::MIN_POSITIVE
    }
}

/// The sum between two rows: the number that all structures compare.
#[inline(always)]
pub(super) fn between<K: Kernel>(kernel: K, x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(K::START, |sum, (&x, &y)| kernel.add(sum, x, y))
}

#[inline(always)]
fn to_all<K: Kernel>(kernel: K, point: &[f64], columns: &Matrix, out: &mut [f64]) {
    out.fill(K::START);
    for (&x, column) in point.iter().zip(columns.rows()) {
        for (sum, &y) in out.iter_mut().zip(column) {
            *sum = kernel.add(*sum, x, y);
        }
    }
    out.iter_mut().for_each(|sum| *sum = kernel.distance(*sum));
}

#[derive(Clone, Copy)]
pub(super) struct Euclidean;
impl Kernel for Euclidean {
    #[inline(always)]
    fn add(self, sum: f64, x: f64, y: f64) -> f64 {
        sum + (x - y) * (x - y)
    }
    #[inline(always)]
    fn distance(self, sum: f64) -> f64 {
        sum.sqrt()
    }
    #[inline(always)]
    fn sum(self, distance: f64) -> f64 {
        distance * distance
    }
}

#[derive(Clone, Copy)]
pub(super) struct Manhattan;
impl Kernel for Manhattan {
    #[inline(always)]
    fn add(self, sum: f64, x: f64, y: f64) -> f64 {
        sum + (x - y).abs()
    }
    #[inline(always)]
    fn distance(self, sum: f64) -> f64 {
        sum
    }
    #[inline(always)]
    fn sum(self, distance: f64) -> f64 {
        distance
    }
}

#[derive(Clone, Copy)]
pub(super) struct Chebyshev;
impl Kernel for Chebyshev {
    #[inline(always)]
    fn add(self, sum: f64, x: f64, y: f64) -> f64 {
        larger(sum, (x - y).abs())
    }
    #[inline(always)]
    fn distance(self, sum: f64) -> f64 {
        sum
    }
    #[inline(always)]
    fn sum(self, distance: f64) -> f64 {
        distance
    }
}

#[derive(Clone, Copy)]
pub(super) struct Minkowski {
    pub(super) p: f64,
}
impl Kernel for Minkowski {
    const SLACK: f64 = 1.0 - 1e-12;
    #[inline(always)]
    fn add(self, sum: f64, x: f64, y: f64) -> f64 {
        sum + (x - y).abs().powf(self.p)
    }
    #[inline(always)]
    fn distance(self, sum: f64) -> f64 {
        sum.powf(1.0 / self.p)
    }
    #[inline(always)]
    fn sum(self, distance: f64) -> f64 {
        distance.powf(self.p)
    }
}

/// Of rows of length one.
#[derive(Clone, Copy)]
pub(super) struct Cosine;
impl Kernel for Cosine {
    const START: f64 = 1.0;
    const SQUARE_SCALE: f64 = 2.0;
    #[inline(always)]
    fn add(self, sum: f64, x: f64, y: f64) -> f64 {
        sum - x * y
    }
    #[inline(always)]
    fn distance(self, sum: f64) -> f64 {
        sum.clamp(0.0, 2.0)
    }
    #[inline(always)]
    fn sum(self, distance: f64) -> f64 {
        distance
    }
}

/// The larger of two numbers that are not NaN, as one instruction.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_to_all_rows_have_the_bits_of_single_ones() {
        let rows = Matrix::from_fn(37, 5, |i, j| ((i * 7 + j * 3) as f64 * 0.37).sin() + 1.5);
        let columns = rows.transposed();
        let metrics = [
            Metric::Euclidean,
            Metric::Manhattan,
            Metric::Chebyshev,
            Metric::Minkowski(3.0),
            Metric::Cosine,
        ];
        for metric in metrics {
            let mut out = vec![0.0; 37];
            metric.distances(rows.row(4), &columns, &mut out);
            for (i, d) in out.into_iter().enumerate() {
                assert_eq!(d, metric.distance(rows.row(4), rows.row(i)), "{} {i}", metric.name());
            }
        }
    }
}
