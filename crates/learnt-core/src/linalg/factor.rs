//! Factorisations: Cholesky, QR with and without pivoting, SVD, symmetric eigenvalues.

use super::{to_matrix, with_backend_apart};
use crate::context::cancelled;
use crate::data::{MatRef, Matrix};
use crate::error::{Error, Result};
use crate::stop;
use faer::Side;

/// A = L Lᵀ of a symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Cholesky {
    /// L, lower triangular.
    pub lower: Matrix,
}

impl Cholesky {
    /// Factors the matrix given by its lower triangle; `None` if it is not positive definite.
    pub fn new(a: &Matrix) -> Option<Cholesky> {
        if a.as_slice().iter().any(|x| !x.is_finite()) {
            return None;
        }
        let cubed = (a.nrows() as f64).powi(3);
        let lower = with_backend_apart(a.view(), cubed / 3.0, |a| {
            a.llt(Side::Lower).ok().map(|llt| to_matrix(llt.L()))
        });
        Some(Cholesky { lower: lower.flatten()? })
    }

    /// x with A x = b, in place.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        self.solve_lower_in_place(b);
        self.solve_upper_in_place(b);
    }

    /// x with L x = b, in place.
    pub fn solve_lower_in_place(&self, b: &mut [f64]) {
        solve_lower(&self.lower, b);
    }

    /// x with Lᵀ x = b, in place.
    pub fn solve_upper_in_place(&self, b: &mut [f64]) {
        solve_lower_transposed(&self.lower, b);
    }

    /// X with A X = B.
    pub fn solve(&self, b: &Matrix) -> Matrix {
        let mut columns = b.transposed();
        for j in (0..b.ncols()).take_while(|_| !stop::asked()) {
            self.solve_in_place(columns.row_mut(j));
        }
        columns.transposed()
    }

    /// ln det A.
    pub fn ln_determinant(&self) -> f64 {
        2.0 * (0..self.lower.nrows()).map(|i| self.lower[(i, i)].ln()).sum::<f64>()
    }

    /// A⁻¹, for covariance tables.
    pub fn inverse(&self) -> Matrix {
        let d = self.lower.nrows();
        let mut out = Matrix::zeros(d, d);
        for j in (0..d).take_while(|_| !stop::asked()) {
            let row = out.row_mut(j);
            row[j] = 1.0;
            self.solve_in_place(row);
        }
        out
    }

    /// The trace of A⁻¹.
    pub fn inverse_trace(&self) -> f64 {
        let d = self.lower.nrows();
        let mut column = vec![0.0; d];
        let columns = (0..d).take_while(|_| !stop::asked());
        columns.map(|j| crate::vectorized!(self.inverse_column(j, &mut column))).sum()
    }

    /// The squared length of column j of L⁻¹.
    #[inline(always)]
    fn inverse_column(&self, j: usize, column: &mut [f64]) -> f64 {
        column[j] = 1.0 / self.lower[(j, j)];
        for i in j + 1..self.lower.nrows() {
            let row = self.lower.row(i);
            column[i] = -super::dot(&row[j..i], &column[j..i]) / row[i];
        }
        super::dot(&column[j..], &column[j..])
    }

    /// A cheap lower bound of the 2-norm condition of A: squared ratio of L's diagonal extremes.
    pub fn condition_bound(&self) -> f64 {
        let diagonal = (0..self.lower.nrows()).map(|i| self.lower[(i, i)]);
        let (low, high) =
            diagonal.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        if low > 0.0 { (high / low) * (high / low) } else { f64::INFINITY }
    }
}

/// x with L x = b for a lower triangle L, in place.
pub fn solve_lower(lower: &Matrix, b: &mut [f64]) {
    crate::vectorized!(for i in 0..b.len() {
        let row = lower.row(i);
        let sum = super::dot(&row[..i], &b[..i]);
        b[i] = (b[i] - sum) / row[i];
    });
}

/// x with Lᵀ x = b for a lower triangle L, in place.
pub fn solve_lower_transposed(lower: &Matrix, b: &mut [f64]) {
    crate::vectorized!(for i in (0..b.len()).rev() {
        let row = lower.row(i);
        b[i] /= row[i];
        let x = b[i];
        super::add_scaled(&mut b[..i], -x, &row[..i]);
    });
}

/// A P = Q R with |r11| >= |r22| >= ..., and the rank.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    /// R, upper triangular (min(n, d) × d), columns in pivoted order.
    pub r: Matrix,
    /// Original column at each pivoted position.
    pub order: Vec<usize>,
    /// Number of columns that are independent: `|r_kk| > max(n, d) eps |r_11|`.
    pub rank: usize,
    /// Qᵀ as a dense matrix (min(n, d) × n).
    qt: Matrix,
}

impl PivotedQr {
    /// Factors a matrix.
    pub fn new(a: MatRef) -> PivotedQr {
        let (n, d) = (a.nrows(), a.ncols());
        if n == 0 || d == 0 {
            return PivotedQr {
                r: Matrix::zeros(0, d),
                order: (0..d).collect(),
                rank: 0,
                qt: Matrix::zeros(0, n),
            };
        }
        let factored = with_backend_apart(a, 4.0 * operations(n, d), |a| {
            let qr = a.col_piv_qr();
            let qt = to_matrix(qr.compute_thin_Q().as_ref().transpose());
            (to_matrix(qr.thin_R()), qr.P().arrays().0.to_vec(), qt)
        });
        // Nothing is factored for a caller that was asked to stop.
        let m = n.min(d);
        let nothing = || (Matrix::zeros(m, d), (0..d).collect(), Matrix::zeros(m, n));
        let (r, order, qt) = factored.unwrap_or_else(nothing);
        let tolerance = n.max(d) as f64 * f64::EPSILON * r[(0, 0)].abs();
        let rank = (0..m).take_while(|&k| r[(k, k)].abs() > tolerance).count();
        PivotedQr { r, order, rank, qt }
    }

    /// Q (n × min(n, d)).
    pub fn q(&self) -> Matrix {
        self.qt.transposed()
    }

    /// Qᵀ y.
    pub fn qt_times(&self, y: &[f64]) -> Vec<f64> {
        self.qt.rows().map(|row| super::dot(row, y)).collect()
    }

    /// The least-squares solution; coefficients of dependent (aliased) columns are zero.
    pub fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut b = self.qt_times(y);
        b.truncate(self.rank);
        for i in (0..self.rank).rev() {
            let row = self.r.row(i);
            let sum = super::dot(&row[i + 1..self.rank], &b[i + 1..]);
            b[i] = (b[i] - sum) / row[i];
        }
        let mut out = vec![0.0; self.r.ncols()];
        for (k, &value) in b.iter().enumerate() {
            out[self.order[k]] = value;
        }
        out
    }

    /// Original columns that depend on the others.
    pub fn aliased(&self) -> &[usize] {
        &self.order[self.rank..]
    }

    /// xᵀ(AᵀA)⁻¹x for a new row x, over the independent columns: forward substitution with Rᵀ.
    pub fn leverage_at(&self, x: &[f64]) -> f64 {
        let mut z = vec![0.0; self.rank];
        for k in 0..self.rank {
            let sum: f64 = (0..k).map(|i| self.r[(i, k)] * z[i]).sum();
            z[k] = (x[self.order[k]] - sum) / self.r[(k, k)];
        }
        super::dot(&z, &z)
    }

    /// Diagonal of H = Q Qᵀ: how much each row determines its own fit.
    pub fn leverage(&self) -> Vec<f64> {
        let n = self.qt.ncols();
        let mut out = vec![0.0; n];
        for k in 0..self.rank {
            for (sum, q) in out.iter_mut().zip(self.qt.row(k)) {
                *sum += q * q;
            }
        }
        out
    }
}

/// The triangle R (d × d) of A = Q R with a non-negative diagonal, so that it is unique; shorter
/// matrices are padded with zero rows.
pub fn triangle_of(a: MatRef) -> Matrix {
    let d = a.ncols();
    let mut out = Matrix::zeros(d, d);
    if a.nrows() == 0 || d == 0 {
        return out;
    }
    let factored =
        with_backend_apart(a, 2.0 * operations(a.nrows(), d), |a| to_matrix(a.qr().thin_R()));
    let Some(r) = factored else { return out };
    for i in 0..r.nrows() {
        let sign = if r[(i, i)] < 0.0 { -1.0 } else { 1.0 };
        for j in i..d {
            out[(i, j)] = sign * r[(i, j)];
        }
    }
    out
}

/// A = U diag(s) Vᵀ with s falling.
#[derive(Clone, Debug)]
pub struct Svd {
    /// Left vectors in columns (n × k).
    pub u: Matrix,
    /// Singular values, largest first.
    pub s: Vec<f64>,
    /// Right vectors in columns (d × k).
    pub v: Matrix,
}

/// The thin singular value decomposition.
pub fn svd(a: MatRef) -> Result<Svd> {
    if a.nrows() == 0 || a.ncols() == 0 {
        return Err(Error::numeric("an empty matrix has no singular values"));
    }
    let found = with_backend_apart(a, 10.0 * operations(a.nrows(), a.ncols()), |a| {
        let svd = a.thin_svd().ok()?;
        let s = svd.S().column_vector();
        let s = (0..s.nrows()).map(|k| s[k]).collect();
        Some(Svd { u: to_matrix(svd.U()), s, v: to_matrix(svd.V()) })
    });
    let failed = || Error::numeric("the singular value decomposition did not converge");
    found.ok_or_else(cancelled)?.ok_or_else(failed)
}

/// What factoring an n × d matrix takes, without the factor that the method has.
fn operations(n: usize, d: usize) -> f64 {
    let (least, most) = (n.min(d) as f64, n.max(d) as f64);
    least * least * most
}

/// The singular values alone, largest first.
pub fn singular_values(a: MatRef) -> Result<Vec<f64>> {
    if a.nrows() == 0 || a.ncols() == 0 {
        return Ok(Vec::new());
    }
    with_backend_apart(a, 4.0 * operations(a.nrows(), a.ncols()), |a| a.singular_values().ok())
        .ok_or_else(cancelled)?
        .ok_or_else(|| Error::numeric("the singular values did not converge"))
}

impl Svd {
    /// Number of singular values above `max(n, d) eps s1`.
    pub fn rank(&self) -> usize {
        let largest = self.s.first().copied().unwrap_or(0.0);
        let tolerance = self.u.nrows().max(self.v.nrows()) as f64 * f64::EPSILON * largest;
        self.s.iter().take_while(|&&s| s > tolerance).count()
    }

    /// The pseudo-inverse (d × n).
    pub fn pseudo_inverse(&self) -> Matrix {
        let rank = self.rank();
        let scaled = Matrix::from_fn(self.v.nrows(), rank, |i, k| self.v[(i, k)] / self.s[k]);
        super::matmul(scaled.view(), self.u.view().columns(0, rank).transposed())
    }

    /// The least-squares solution of smallest norm.
    pub fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.v.nrows()];
        for k in 0..self.rank() {
            let along: f64 = (0..y.len()).map(|i| self.u[(i, k)] * y[i]).sum::<f64>() / self.s[k];
            for (j, out) in out.iter_mut().enumerate() {
                *out += along * self.v[(j, k)];
            }
        }
        out
    }
}

/// A = V diag(values) Vᵀ of a symmetric matrix.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// Eigenvalues, largest first.
    pub values: Vec<f64>,
    /// Eigenvectors in columns, in the same order.
    pub vectors: Matrix,
}

/// Eigenvalues and vectors of the symmetric matrix given by its lower triangle.
pub fn eigh(a: &Matrix) -> Result<Eigen> {
    let failed = || Error::numeric("the eigenvalues did not converge");
    if a.nrows() == 0 || a.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(failed());
    }
    let d = a.nrows();
    let found = with_backend_apart(a.view(), 9.0 * (d as f64).powi(3), move |a| {
        let eigen = a.self_adjoint_eigen(Side::Lower).ok()?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        Some(Eigen {
            values: (0..d).rev().map(|k| values[k]).collect(),
            vectors: Matrix::from_fn(d, d, |i, k| vectors[(i, d - 1 - k)]),
        })
    });
    found.ok_or_else(cancelled)?.ok_or_else(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{gram, matmul};

    fn sample() -> Matrix {
        Matrix::from_fn(8, 3, |i, j| ((i * i + 3 * j * i + 5 * j) % 7) as f64 - 2.5)
    }

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() <= tolerance, "{x} {y}");
        }
    }

    #[test]
    fn cholesky_solves_and_refuses_indefinite() {
        let a = gram(sample().view());
        let factor = Cholesky::new(&a).unwrap();
        close(&matmul(factor.lower.view(), factor.lower.view().transposed()), &a, 1e-12);
        let identity = Matrix::from_fn(3, 3, |i, j| f64::from(i == j));
        let inverse = factor.inverse();
        close(&matmul(a.view(), inverse.view()), &identity, 1e-12);
        let trace: f64 = (0..3).map(|i| inverse[(i, i)]).sum();
        assert!((factor.inverse_trace() - trace).abs() < 1e-12);
        assert!(
            Cholesky::new(&Matrix::from_vec(2, 2, vec![1.0, 2.0, 2.0, 1.0]).unwrap()).is_none()
        );
    }

    #[test]
    fn pivoted_qr_finds_the_rank_and_names_the_aliased_column() {
        let base = sample();
        let twice =
            Matrix::from_fn(8, 4, |i, j| if j < 3 { base[(i, j)] } else { 2.0 * base[(i, 1)] });
        let qr = PivotedQr::new(twice.view());
        assert_eq!(qr.rank, 3);
        assert!([1, 3].contains(&qr.aliased()[0]));
        let y: Vec<f64> = (0..8).map(|i| base[(i, 0)] - base[(i, 2)]).collect();
        let fitted = crate::linalg::matvec(twice.view(), &qr.solve(&y));
        for (a, b) in fitted.iter().zip(&y) {
            assert!((a - b).abs() < 1e-12);
        }
        assert!((qr.leverage().iter().sum::<f64>() - 3.0).abs() < 1e-12);
    }

    #[test]
    fn factors_multiply_back() {
        let a = sample();
        let svd = svd(a.view()).unwrap();
        let scaled = Matrix::from_fn(8, 3, |i, k| svd.u[(i, k)] * svd.s[k]);
        close(&matmul(scaled.view(), svd.v.view().transposed()), &a, 1e-13);
        let triangle = triangle_of(a.view());
        close(&matmul(triangle.view().transposed(), triangle.view()), &gram(a.view()), 1e-11);
        let eigen = eigh(&gram(a.view())).unwrap();
        for (value, s) in eigen.values.iter().zip(&svd.s) {
            assert!((value - s * s).abs() < 1e-10);
        }
    }

    #[test]
    fn the_pseudo_inverse_of_a_rank_deficient_matrix_is_finite() {
        let a = Matrix::from_fn(4, 3, |i, j| (i as f64 + 1.0) * (j as f64 + 1.0));
        let svd = svd(a.view()).unwrap();
        assert_eq!(svd.rank(), 1);
        let back = matmul(matmul(a.view(), svd.pseudo_inverse().view()).view(), a.view());
        close(&back, &a, 1e-12);
    }
}
