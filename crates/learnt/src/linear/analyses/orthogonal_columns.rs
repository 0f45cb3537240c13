//! Regression by successive orthogonalisation and the hat matrix, as functions.

use crate::linear::diagnostics::hat_matrix;
use crate::linear::{LinearRegression, successive_orthogonalization};
use learnt_core::prelude::*;

/// A table, with or without a target.
#[derive(Inputs, Clone, Copy)]
pub struct Rows<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The target.
    pub y: Option<&'a [f64]>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// A table, with or without a target; all rows count alike.
#[derive(Inputs, Clone, Copy)]
pub struct EqualRows<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The target.
    pub y: Option<&'a [f64]>,
}

/// Gram-Schmidt orthogonalisation of the columns: X = QR, and regression on one column after another.
#[derive(Params, Clone, Debug)]
pub struct SuccessiveOrthogonalization {
    /// Whether a column of ones comes first.
    #[param(default = true)]
    pub fit_intercept: bool,
}

/// The orthogonal columns and what they say.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct OrthogonalColumns {
    /// Orthonormal columns.
    pub q: Matrix,
    /// Upper triangular, X = QR.
    pub r: Matrix,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Length of what is left of each column beside the earlier ones.
    pub norms: Vec<f64>,
    /// Coefficients of y on the orthogonal columns, one after another; the last is that of the
    /// regression on all.
    pub successive: Option<Vec<f64>>,
    /// Coefficients of the regression on all columns.
    pub coef: Option<Vec<f64>>,
}

impl Function for SuccessiveOrthogonalization {
    type Inputs<'a> = EqualRows<'a>;
    type Output = OrthogonalColumns;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.successive_orthogonalization", FunctionKind::Algebra);

    fn call(&self, given: EqualRows, run: &Context) -> Result<OrthogonalColumns> {
        let found = successive_orthogonalization(&given.x, self.fit_intercept, run)?;
        Ok(OrthogonalColumns {
            q: found.q(),
            r: found.r(),
            successive: given.y.map(|y| found.successive_coefficients(y)).transpose()?,
            coef: given.y.map(|y| found.coefficients(y)).transpose()?,
            norms: found.norms,
            names: found.names,
        })
    }
}

/// Hat matrix H of least squares, fitted = H y, and the leverage of each row.
#[derive(Params, Clone, Debug)]
pub struct HatMatrix {
    /// Whether there is an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
}

/// The matrix and its diagonal.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Hat {
    /// H, one row and column for each row of the data.
    pub hat_matrix: Matrix,
    /// Its diagonal: how much each row determines its own fit.
    pub leverage: Vec<f64>,
}

impl Function for HatMatrix {
    type Inputs<'a> = Rows<'a>;
    type Output = Hat;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.hat_matrix", FunctionKind::Algebra);

    fn call(&self, given: Rows, run: &Context) -> Result<Hat> {
        let zeros = vec![0.0; given.x.nrows()];
        let y = Some(Target::Real(MatRef::from_column(given.y.unwrap_or(&zeros))));
        let data = Dataset { y, weights: given.sample_weight, ..Dataset::new(given.x) };
        let learner = LinearRegression { fit_intercept: self.fit_intercept, ..Default::default() };
        let hat = hat_matrix(&learner.fit_in(&data, run)?, &data, run)?;
        let leverage = (0..hat.nrows()).map(|i| hat[(i, i)]).collect();
        Ok(Hat { hat_matrix: hat, leverage })
    }
}
