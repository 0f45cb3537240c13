//! Whether a line separates two classes, as a function: see [`linear_separability`].

use super::RowsAndClasses;
use crate::linear::{Separability, linear_separability};
use learnt_core::prelude::*;

/// Linear separability of two classes, with a separating hyperplane or the proof that there is none.
#[derive(Params, Clone, Debug)]
pub struct LinearSeparability {}

/// The answer with its proof. Without a separating line, the rows (1, x), negated in the first class,
/// have multipliers that are positive, sum to one and make their sum zero.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SeparabilityProof {
    /// Whether a hyperplane separates the classes.
    pub separable: bool,
    /// Intercept of a separating hyperplane.
    pub intercept: Option<f64>,
    /// Its normal, on the side of the second class.
    pub coef: Option<Vec<f64>>,
    /// Rows of the proof that there is none, from 0.
    pub rows: Option<Vec<usize>>,
    /// Their multipliers.
    pub multipliers: Option<Vec<f64>>,
}

impl Function for LinearSeparability {
    type Inputs<'a> = RowsAndClasses<'a>;
    type Output = SeparabilityProof;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.linear_separability", FunctionKind::Analysis)
            .threads()
            .reference("Wolfe (1976), Finding the nearest point in a polytope");

    fn call(&self, given: RowsAndClasses, run: &Context) -> Result<SeparabilityProof> {
        Ok(match linear_separability(&given.data(), run)? {
            Separability::Yes { vector } => SeparabilityProof {
                separable: true,
                intercept: Some(vector[0]),
                coef: Some(vector[1..].to_vec()),
                rows: None,
                multipliers: None,
            },
            Separability::No { certificate } => {
                let (rows, multipliers) = certificate.into_iter().unzip();
                SeparabilityProof {
                    separable: false,
                    intercept: None,
                    coef: None,
                    rows: Some(rows),
                    multipliers: Some(multipliers),
                }
            }
        })
    }
}
