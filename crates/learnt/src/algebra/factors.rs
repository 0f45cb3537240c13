//! Factorisations: Cholesky A = L Lᵀ, A P = Q R with pivoting, A = U diag(s) Vᵀ, and A = V diag(w) Vᵀ.
//!
//! Reference: Golub and Van Loan (2013), Matrix computations.

use learnt_core::linalg;
use learnt_core::prelude::*;

/// A symmetric matrix.
#[derive(Inputs, Clone, Copy)]
pub struct Symmetric<'a> {
    /// The matrix; only its lower triangle is read.
    pub a: MatRef<'a>,
}

/// A matrix.
#[derive(Inputs, Clone, Copy)]
pub struct Rows<'a> {
    /// The matrix.
    pub a: MatRef<'a>,
}

pub(super) fn square(a: MatRef) -> Result<()> {
    match a.nrows() == a.ncols() {
        true => Ok(()),
        false => {
            let got = format!("{} x {}", a.nrows(), a.ncols());
            Err(Error::shape("a", "as many rows as columns", got))
        }
    }
}

/// Cholesky factor: the lower triangle L with A = L Lᵀ.
#[derive(Params, Clone, Debug)]
pub struct Cholesky {}

impl Function for Cholesky {
    type Inputs<'a> = Symmetric<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable = &Callable::new("linalg.cholesky", FunctionKind::Algebra);

    fn call(&self, given: Symmetric, _run: &Context) -> Result<Matrix> {
        square(given.a)?;
        let n = given.a.nrows();
        let factor = linalg::Cholesky::new(&given.a.to_matrix())
            .ok_or_else(|| Error::numeric("the matrix is not positive definite"))?;
        Ok(Matrix::from_fn(n, n, |i, j| if j <= i { factor.lower[(i, j)] } else { 0.0 }))
    }
}

/// Factors with pivoting: A P = Q R, |r₁₁| ≥ |r₂₂| ≥ ….
#[derive(Params, Clone, Debug)]
pub struct Qr {}

/// Q with orthonormal columns, R upper triangular, and where each column of A went.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct QrFactors {
    /// Orthonormal columns (n × min(n, d)).
    pub q: Matrix,
    /// Upper triangle (min(n, d) × d).
    pub r: Matrix,
    /// The column of A at each place, from 0.
    pub p: Vec<usize>,
}

impl Function for Qr {
    type Inputs<'a> = Rows<'a>;
    type Output = QrFactors;
    const ABOUT: &'static Callable = &Callable::new("linalg.qr", FunctionKind::Algebra);

    fn call(&self, given: Rows, _run: &Context) -> Result<QrFactors> {
        let factors = linalg::PivotedQr::new(given.a);
        Ok(QrFactors { q: factors.q(), r: factors.r, p: factors.order })
    }
}

/// Thin singular value decomposition: A = U diag(s) Vᵀ, s falling.
#[derive(Params, Clone, Debug)]
pub struct Svd {}

/// The three factors.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// Left vectors in columns (n × min(n, d)).
    pub u: Matrix,
    /// Singular values, largest first.
    pub s: Vec<f64>,
    /// Right vectors in rows (min(n, d) × d).
    pub vh: Matrix,
}

impl Function for Svd {
    type Inputs<'a> = Rows<'a>;
    type Output = SingularValues;
    const ABOUT: &'static Callable = &Callable::new("linalg.svd", FunctionKind::Algebra);

    fn call(&self, given: Rows, _run: &Context) -> Result<SingularValues> {
        let found = linalg::svd(given.a)?;
        Ok(SingularValues { u: found.u, s: found.s, vh: found.v.transposed() })
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix, the smallest first.
#[derive(Params, Clone, Debug)]
pub struct Eigh {}

/// A = V diag(w) Vᵀ.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct EigenDecomposition {
    /// Eigenvalues, smallest first.
    pub w: Vec<f64>,
    /// Eigenvectors in columns.
    pub v: Matrix,
}

impl Function for Eigh {
    type Inputs<'a> = Symmetric<'a>;
    type Output = EigenDecomposition;
    const ABOUT: &'static Callable = &Callable::new("linalg.eigh", FunctionKind::Algebra);

    fn call(&self, given: Symmetric, _run: &Context) -> Result<EigenDecomposition> {
        square(given.a)?;
        let found = linalg::eigh(&given.a.to_matrix())?;
        let n = found.values.len();
        let v = Matrix::from_fn(n, n, |i, j| found.vectors[(i, n - 1 - j)]);
        Ok(EigenDecomposition { w: found.values.into_iter().rev().collect(), v })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linalg::matmul;

    fn close(a: &Matrix, b: &Matrix) {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() < 1e-12, "{a:?} {b:?}");
        }
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        let a = Matrix::from_rows(&[[4.0, 2.0, 0.5], [2.0, 3.0, 1.0], [0.5, 1.0, 2.0]]).unwrap();
        let l = Cholesky {}.compute(Symmetric { a: a.view() }).unwrap();
        assert_eq!(l[(0, 1)], 0.0);
        close(&matmul(l.view(), l.transposed().view()), &a);
        let tall = Matrix::from_fn(5, 3, |i, j| ((i * 3 + j * j) % 7) as f64);
        let qr = Qr {}.compute(Rows { a: tall.view() }).unwrap();
        let moved = Matrix::from_fn(5, 3, |i, j| tall[(i, qr.p[j])]);
        close(&matmul(qr.q.view(), qr.r.view()), &moved);
        let svd = Svd {}.compute(Rows { a: tall.view() }).unwrap();
        let scaled = Matrix::from_fn(5, 3, |i, j| svd.u[(i, j)] * svd.s[j]);
        close(&matmul(scaled.view(), svd.vh.view()), &tall);
        let eigen = Eigh {}.compute(Symmetric { a: a.view() }).unwrap();
        assert!(eigen.w.windows(2).all(|pair| pair[0] <= pair[1]));
        let scaled = Matrix::from_fn(3, 3, |i, j| eigen.v[(i, j)] * eigen.w[j]);
        close(&matmul(scaled.view(), eigen.v.transposed().view()), &a);
    }

    #[test]
    fn what_has_no_factor_is_refused() {
        let a = Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).unwrap();
        assert!(Cholesky {}.compute(Symmetric { a: a.view() }).is_err());
        let flat = Matrix::zeros(2, 3);
        assert_eq!(Eigh {}.compute(Symmetric { a: flat.view() }).unwrap_err().code(), Code::Shape);
    }
}
