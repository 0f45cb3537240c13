//! Analyses of linear models that are functions and not learners: lines, bounds on coefficients,
//! separability, hyperplanes, orthogonal columns and tests.

mod bounded;
mod hyperplane;
mod line;
mod log_likelihood;
mod orthogonal_columns;
mod paths;
mod quadratic;
mod reflection;
mod separability;
mod specification;

pub use bounded::ConstrainedLeastSquares;
pub use hyperplane::{HyperplaneScores, LinearMachineScores};
pub use line::FitLine;
pub use log_likelihood::GaussianLogLikelihood;
pub use orthogonal_columns::{HatMatrix, SuccessiveOrthogonalization};
pub use paths::{EnetPath, LassoPath, PenaltyPath};
pub use quadratic::QuadraticPenalty;
pub use reflection::{PerceptronCriterion, ReflectRows};
pub use separability::LinearSeparability;
pub use specification::{BreuschPagan, NestedTest, ResetTest};

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<FitLine>(),
    function::<ConstrainedLeastSquares>(),
    function::<QuadraticPenalty>(),
    function::<LassoPath>(),
    function::<EnetPath>(),
    function::<PenaltyPath>(),
    function::<LinearSeparability>(),
    function::<ReflectRows>(),
    function::<PerceptronCriterion>(),
    function::<HyperplaneScores>(),
    function::<LinearMachineScores>(),
    function::<SuccessiveOrthogonalization>(),
    function::<HatMatrix>(),
    function::<NestedTest>(),
    function::<ResetTest>(),
    function::<BreuschPagan>(),
    function::<GaussianLogLikelihood>(),
];

/// A table beside numeric targets.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndNumbers<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The target; several columns are several targets.
    pub y: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl<'a> RowsAndNumbers<'a> {
    fn data(&self) -> Dataset<'a> {
        let y = Some(Target::Real(self.y));
        Dataset { y, weights: self.sample_weight, ..Dataset::new(self.x) }
    }
}

/// A table beside classes.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndClasses<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The class of each row.
    pub y: Classes<'a>,
}

impl<'a> RowsAndClasses<'a> {
    pub(crate) fn data(&self) -> Dataset<'a> {
        let Classes { codes, classes } = self.y;
        Dataset { y: Some(Target::Class { codes, classes }), ..Dataset::new(self.x) }
    }
}

/// One row of coefficients for one target, else all of them.
fn for_each_output(matrix: Matrix) -> Datum {
    match matrix.nrows() {
        1 => Datum::Reals(matrix.row(0).to_vec()),
        _ => Datum::Matrix(matrix),
    }
}

/// One number for one target, else all of them.
fn number_each_output(values: Vec<f64>) -> Datum {
    match values.as_slice() {
        [value] => Datum::Real(*value),
        _ => Datum::Reals(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn and_is_separable_by_a_line_and_xor_is_not() {
        let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).unwrap();
        let table = Table::unnamed(x);
        let classes = [0, 1].map(Label::Int);
        let found = |codes: &[u32]| {
            let y = Classes { codes, classes: &classes };
            LinearSeparability {}.compute(RowsAndClasses { x: table.frame(), y }).unwrap()
        };
        assert!(found(&[0, 0, 0, 1]).separable);
        let xor = found(&[0, 1, 1, 0]);
        assert!(!xor.separable);
        assert!((xor.multipliers.unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_generous_bound_leaves_least_squares() {
        let x = Table::unnamed(Matrix::from_fn(12, 2, |i, j| ((i * (j + 2)) % 5) as f64));
        let y: Vec<f64> = (0..12).map(|i| (i % 4) as f64).collect();
        let given =
            RowsAndNumbers { x: x.frame(), y: MatRef::from_column(&y), sample_weight: None };
        let bounded = |bound| {
            ConstrainedLeastSquares { bound: Some(bound), ..Default::default() }
                .compute(given)
                .unwrap()
        };
        assert_eq!(bounded(1e6).lambda_, Datum::Real(0.0));
        assert!(matches!(bounded(1e-3).lambda_, Datum::Real(lambda) if lambda > 0.0));
        let plain = QuadraticPenalty { alpha: 0.0, ..Default::default() }.compute(given).unwrap();
        let (Datum::Reals(a), Datum::Reals(b)) = (bounded(1e6).coef, plain.coef) else {
            panic!("one target has one row of coefficients")
        };
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn the_hat_matrix_is_idempotent_and_its_trace_counts_coefficients() {
        let x = Table::unnamed(Matrix::from_fn(9, 2, |i, j| ((i * (i + 3 * j + 1)) % 7) as f64));
        let given = orthogonal_columns::Rows { x: x.frame(), y: None, sample_weight: None };
        let hat = HatMatrix::default().compute(given).unwrap();
        let trace: f64 = (0..9).map(|i| hat.hat_matrix[(i, i)]).sum();
        assert!((trace - 3.0).abs() < 1e-9);
        assert!((hat.leverage[4] - hat.hat_matrix[(4, 4)]).abs() < 1e-12);
    }
}
