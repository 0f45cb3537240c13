//! Linear algebra as functions, by the names of NumPy and SciPy. The work is done by
//! `learnt_core::linalg`; ranks count values above max(n, d) ε times the largest.

mod factors;
mod programs;
mod solutions;

pub use factors::{
    Cholesky, EigenDecomposition, Eigh, Qr, QrFactors, Rows, SingularValues, Svd, Symmetric,
};
pub use programs::{
    Curvature, DesignAndTarget, EqualityMinimum, EqualityParts, EqualityQuadratic, NonnegativeFit,
    NonnegativeLeastSquares, QuadraticOutcome, QuadraticParts, SolveQuadratic, StabilityLimit,
};
pub use solutions::{
    Condition, Equations, LeastSquares, LeastSquaresSolution, MatrixRank, PseudoInverse, Solve,
};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<Cholesky>(),
    function::<Qr>(),
    function::<Svd>(),
    function::<Eigh>(),
    function::<PseudoInverse>(),
    function::<MatrixRank>(),
    function::<Condition>(),
    function::<LeastSquares>(),
    function::<Solve>(),
    function::<SolveQuadratic>(),
    function::<NonnegativeLeastSquares>(),
    function::<EqualityQuadratic>(),
    function::<StabilityLimit>(),
];
