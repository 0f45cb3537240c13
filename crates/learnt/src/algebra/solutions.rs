//! Equations: least squares by the singular values, square systems, pseudo-inverse, rank, condition.

use super::factors::{Rows, square};
use learnt_core::linalg::{self, PivotedQr};
use learnt_core::prelude::*;

/// Pseudo-inverse of Moore and Penrose.
#[derive(Params, Clone, Debug)]
pub struct PseudoInverse {}

impl Function for PseudoInverse {
    type Inputs<'a> = Rows<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable = &Callable::new("linalg.pinv", FunctionKind::Algebra);

    fn call(&self, given: Rows, _run: &Context) -> Result<Matrix> {
        Ok(linalg::svd(given.a)?.pseudo_inverse())
    }
}

/// Rank: the number of singular values above max(n, d) ε times the largest.
#[derive(Params, Clone, Debug)]
pub struct MatrixRank {}

impl Function for MatrixRank {
    type Inputs<'a> = Rows<'a>;
    type Output = usize;
    const ABOUT: &'static Callable =
        &Callable::new("linalg.matrix_rank", FunctionKind::Algebra).alias(&["rank"]);

    fn call(&self, given: Rows, _run: &Context) -> Result<usize> {
        Ok(linalg::svd(given.a)?.rank())
    }
}

/// Condition number: the largest singular value over the smallest.
#[derive(Params, Clone, Debug)]
pub struct Condition {}

impl Function for Condition {
    type Inputs<'a> = Rows<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("linalg.cond", FunctionKind::Algebra).alias(&["condition"]);

    fn call(&self, given: Rows, _run: &Context) -> Result<f64> {
        let s = linalg::singular_values(given.a)?;
        Ok(match (s.first(), s.last()) {
            (Some(&largest), Some(&smallest)) => largest / smallest,
            _ => f64::NAN,
        })
    }
}

/// Equations A x = b.
#[derive(Inputs, Clone, Copy)]
pub struct Equations<'a> {
    /// The matrix.
    pub a: MatRef<'a>,
    /// The right side, one number a row.
    pub b: &'a [f64],
}

/// Least squares: the x of smallest norm that minimises |A x - b|.
#[derive(Params, Clone, Debug)]
pub struct LeastSquares {}

/// A least-squares solution.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LeastSquaresSolution {
    /// The solution.
    pub x: Vec<f64>,
    /// |A x - b|².
    pub residual: f64,
    /// The rank of A.
    pub rank: usize,
    /// The singular values of A, largest first.
    pub s: Vec<f64>,
}

impl Function for LeastSquares {
    type Inputs<'a> = Equations<'a>;
    type Output = LeastSquaresSolution;
    const ABOUT: &'static Callable = &Callable::new("linalg.lstsq", FunctionKind::Algebra);

    fn call(&self, given: Equations, _run: &Context) -> Result<LeastSquaresSolution> {
        let found = linalg::svd(given.a)?;
        let x = found.solve(given.b);
        let fitted = linalg::matvec(given.a, &x);
        let residual = linalg::squared_distance(&fitted, given.b);
        Ok(LeastSquaresSolution { x, residual, rank: found.rank(), s: found.s })
    }
}

/// Solves as many equations as unknowns: A x = b.
#[derive(Params, Clone, Debug)]
pub struct Solve {}

impl Function for Solve {
    type Inputs<'a> = Equations<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("linalg.solve", FunctionKind::Algebra);

    fn call(&self, given: Equations, _run: &Context) -> Result<Vec<f64>> {
        square(given.a)?;
        let factors = PivotedQr::new(given.a);
        match factors.rank == given.a.ncols() {
            true => Ok(factors.solve(given.b)),
            false => {
                let message =
                    format!("the matrix is singular: rank {} of {}", factors.rank, given.a.ncols());
                Err(Error::numeric(message).hint("use lstsq"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_system_is_refused_and_least_squares_takes_the_smallest() {
        let a = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
        let given = Equations { a: a.view(), b: &[2.0, 2.0] };
        assert!(Solve {}.compute(given).unwrap_err().message().contains("singular"));
        let found = LeastSquares {}.compute(given).unwrap();
        assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-12) && found.rank == 1);
        let regular = Matrix::from_rows(&[[2.0, 1.0], [1.0, 3.0]]).unwrap();
        let x = Solve {}.compute(Equations { a: regular.view(), b: &[3.0, 5.0] }).unwrap();
        assert!((x[0] - 0.8).abs() < 1e-14 && (x[1] - 1.4).abs() < 1e-14);
    }

    #[test]
    fn rank_condition_and_inverse_of_a_diagonal() {
        let a = Matrix::from_rows(&[[4.0, 0.0], [0.0, 0.5]]).unwrap();
        assert_eq!(MatrixRank {}.compute(Rows { a: a.view() }).unwrap(), 2);
        assert!((Condition {}.compute(Rows { a: a.view() }).unwrap() - 8.0).abs() < 1e-12);
        let inverse = PseudoInverse {}.compute(Rows { a: a.view() }).unwrap();
        assert!((inverse[(1, 1)] - 2.0).abs() < 1e-14);
    }
}
