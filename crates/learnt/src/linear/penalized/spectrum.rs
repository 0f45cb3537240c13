//! Ridge solutions for any number of penalties from one decomposition: G = V diag(λ) Vᵀ, and with
//! q = Vᵀc, b(a) = V q / (λ + a), mean r² = total - Σ q² (λ + 2a)/(λ + a)², df = Σ λ / (λ + a).
//!
//! Tables with fewer rows than columns, G = A Aᵀ, are decomposed by the products of their rows: AᵀA z = λ z, and
//! A z / √λ is the vector of G. Products know λ to an eps of the largest alone, so that singular values of A decide
//! where a λ that counts is below 1e-8 of the largest.

use super::problem::{Gram, Problem};
use learnt_core::linalg::{dot, eigh, matmul_in, matvec, row_products_in, svd};
use learnt_core::prelude::*;

/// λ, as a share of the largest, that products of rows know to eight digits.
const KNOWN: f64 = 1e-8;

/// Eigenvalues above rounding, their vectors, and the right-hand sides along these.
pub(super) struct Spectrum {
    /// λ, largest first.
    pub(super) values: Vec<f64>,
    /// A row for each eigenvalue.
    pub(super) vectors: Matrix,
    /// q of each output.
    pub(super) along: Vec<Vec<f64>>,
}

impl Spectrum {
    pub(super) fn of(problem: &Problem, run: &Context) -> Result<Spectrum> {
        match &problem.gram {
            Gram::Whole(gram) => Self::of_matrix(gram, &problem.right),
            Gram::Columns(columns) => {
                let (d, n) = (columns.values.nrows(), columns.values.ncols());
                if n < d
                    && let Some(found) = Self::of_rows(&columns.values, &problem.right, run)?
                {
                    return Ok(found);
                }
                let svd = svd(columns.values.view())?;
                let values = svd.s.iter().map(|s| s * s).collect();
                Ok(Self::cut(values, svd.u.transposed(), &problem.right))
            }
        }
    }

    /// From the products of rows, where these know every λ that counts.
    fn of_rows(a: &Matrix, right: &[Vec<f64>], run: &Context) -> Result<Option<Spectrum>> {
        let eigen = eigh(&row_products_in(a.view().transposed(), run)?)?;
        let largest = eigen.values.first().copied().unwrap_or_default();
        let least = largest * a.nrows() as f64 * f64::EPSILON;
        let kept = eigen.values.iter().take_while(|&&value| value > least).count();
        if kept == 0 || eigen.values[kept - 1] < KNOWN * largest {
            return Ok(None);
        }
        let along = eigen.vectors.view().columns(0, kept).transposed();
        let mut vectors = matmul_in(along, a.view().transposed(), run)?;
        for (k, value) in eigen.values[..kept].iter().enumerate() {
            let unit = value.sqrt().recip();
            vectors.row_mut(k).iter_mut().for_each(|v| *v *= unit);
        }
        Ok(Some(Self::cut(eigen.values[..kept].to_vec(), vectors, right)))
    }

    pub(super) fn of_matrix(gram: &Matrix, right: &[Vec<f64>]) -> Result<Spectrum> {
        let eigen = eigh(gram)?;
        Ok(Self::cut(eigen.values, eigen.vectors.transposed(), right))
    }

    fn cut(values: Vec<f64>, vectors: Matrix, right: &[Vec<f64>]) -> Spectrum {
        let largest = values.first().copied().unwrap_or_default();
        let least = largest * vectors.ncols().max(values.len()) as f64 * f64::EPSILON;
        let kept = values.iter().take_while(|&&value| value > least).count();
        let vectors = vectors.view().rows(0, kept).to_matrix();
        let along = right.iter().map(|c| matvec(vectors.view(), c)).collect();
        Spectrum { values: values[..kept].to_vec(), vectors, along }
    }

    /// b(a) of an output.
    pub(super) fn coef(&self, t: usize, a: f64) -> Vec<f64> {
        let shrunk: Vec<f64> =
            self.along[t].iter().zip(&self.values).map(|(q, value)| q / (value + a)).collect();
        matvec(self.vectors.view().transposed(), &shrunk)
    }

    /// ‖b(a)‖².
    pub(super) fn squared_norm(&self, t: usize, a: f64) -> f64 {
        self.along[t].iter().zip(&self.values).map(|(q, value)| (q / (value + a)).powi(2)).sum()
    }

    /// What the fit takes from the mean of squares.
    pub(super) fn explained(&self, t: usize, a: f64) -> f64 {
        let part = |(q, value): (&f64, &f64)| q * q * (value + 2.0 * a) / (value + a).powi(2);
        self.along[t].iter().zip(&self.values).map(part).sum()
    }

    /// Degrees of freedom without the intercept's.
    pub(super) fn freedom(&self, a: f64) -> f64 {
        self.values.iter().map(|value| value / (value + a)).sum()
    }

    /// The least a at or above zero with ‖b(a)‖² <= bound, by bisection.
    pub(super) fn penalty_for(&self, t: usize, bound: f64) -> f64 {
        if self.squared_norm(t, 0.0) <= bound {
            return 0.0;
        }
        let largest = dot(&self.along[t], &self.along[t]).sqrt() / bound.sqrt();
        let (mut low, mut high) = (0.0, largest);
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return high;
            }
            match self.squared_norm(t, middle) > bound {
                true => low = middle,
                false => high = middle,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    #[test]
    fn products_of_rows_give_the_spectrum_of_singular_values_or_leave_it_to_them() {
        let mut rng = Context::default().rng(6);
        let run = Context::default();
        let mut a = Matrix::from_fn(60, 20, |_, _| standard_normal(&mut rng));
        for j in 0..60 {
            // A row twice: a direction that does not count.
            a[(j, 7)] = a[(j, 3)];
        }
        let right = vec![(0..60).map(f64::from).collect::<Vec<f64>>()];
        let found = Spectrum::of_rows(&a, &right, &run).unwrap().unwrap();
        let exact = svd(a.view()).unwrap();
        assert_eq!(found.values.len(), 19);
        for (k, value) in found.values.iter().enumerate() {
            assert!((value / (exact.s[k] * exact.s[k]) - 1.0).abs() < 1e-11);
        }
        let exact =
            Spectrum::cut(exact.s.iter().map(|s| s * s).collect(), exact.u.transposed(), &right);
        for penalty in [0.0, 0.5] {
            for (a, b) in found.coef(0, penalty).iter().zip(exact.coef(0, penalty)) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
        // A direction that counts, and that products know to few digits.
        (0..60).for_each(|j| a[(j, 7)] += 1e-6 * f64::from(j as u32 % 5));
        assert!(Spectrum::of_rows(&a, &right, &run).unwrap().is_none());
    }
}
