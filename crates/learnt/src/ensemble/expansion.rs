//! Small pieces of boosting: many classes as two, and the leaf of an exponential-loss tree.
//!
//! - A row of class c becomes one row a class, with the label +1 for c and -1 for the others: the
//!   expansion on which AdaBoost.MH works.
//! - Rows of weights W₊ and W₋ in a leaf have the least exponential loss Σ w exp(-y f) at
//!   f = ½ ln((W₊ + s)/(W₋ + s)) (s = 0), with value 2 √(W₊ W₋); s keeps pure leaves finite.
//!
//! References: Schapire and Singer (1999), Machine Learning 37, 297-336; Friedman, Hastie and Tibshirani (2000).

use learnt_core::prelude::*;

/// Rows of many classes as rows of two: +1 in the column of their own class, -1 in the others.
#[derive(Params, Clone, Debug)]
pub struct MulticlassExpansion {}

/// Classes of rows.
#[derive(Inputs, Clone, Copy)]
pub struct ManyClasses<'a> {
    /// The class of each row.
    pub y: Classes<'a>,
}

impl Function for MulticlassExpansion {
    type Inputs<'a> = ManyClasses<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.multiclass_expansion", FunctionKind::Analysis)
            .reference("Schapire and Singer (1999)");

    fn call(&self, given: ManyClasses, run: &Context) -> Result<Matrix> {
        let (rows, classes) = (given.y.codes.len(), given.y.classes.len());
        run.claim(8 * (rows as u64).saturating_mul(classes as u64), "rows times classes")?;
        Ok(Matrix::from_fn(
            rows,
            classes,
            |i, k| {
                if given.y.codes[i] as usize == k { 1.0 } else { -1.0 }
            },
        ))
    }
}

/// The value of a leaf with the least exponential loss, and that loss.
#[derive(Params, Clone, Debug)]
pub struct ExponentialLeaf {
    /// Weight of the rows of the positive class.
    #[param(positional, default = 3.0, range = 0.0..)]
    pub positive: f64,
    /// Weight of the rows of the negative class.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub negative: f64,
    /// Added to both, so that a pure leaf stays finite.
    #[param(default = 0.0, range = 0.0..)]
    pub smoothing: f64,
}

/// A leaf of an exponential-loss tree.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LeafValue {
    /// ½ ln((W₊ + s)/(W₋ + s)).
    pub value: f64,
    /// W₊ exp(-value) + W₋ exp(value).
    pub loss: f64,
    /// 1/(1 + exp(-2 value)).
    pub probability: f64,
}

impl Function for ExponentialLeaf {
    type Inputs<'a> = ();
    type Output = LeafValue;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.exponential_leaf", FunctionKind::Theory)
            .reference("Friedman, Hastie and Tibshirani (2000)");

    fn call(&self, _: (), _run: &Context) -> Result<LeafValue> {
        let (positive, negative) = (self.positive + self.smoothing, self.negative + self.smoothing);
        if !(positive > 0.0 && negative > 0.0) {
            let message = "a pure leaf without smoothing has an infinite value";
            return Err(Error::new(Code::Undefined, message).hint("set smoothing above 0"));
        }
        let value = 0.5 * (positive.ln() - negative.ln());
        let loss = self.positive * (-value).exp() + self.negative * value.exp();
        Ok(LeafValue {
            value,
            loss,
            probability: learnt_core::stats::special::sigmoid(2.0 * value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_third_of_five_classes_is_one_positive_row_of_five() {
        let classes = ["a", "b", "c", "d", "e"].map(Label::from);
        let y = Classes { codes: &[2], classes: &classes };
        let found = MulticlassExpansion {}.compute(ManyClasses { y }).unwrap();
        assert_eq!(found.as_slice(), [-1.0, -1.0, 1.0, -1.0, -1.0]);
    }

    #[test]
    fn three_against_one_have_half_the_logarithm_of_three() {
        let leaf = |positive, negative, smoothing| {
            ExponentialLeaf { positive, negative, smoothing }.compute(())
        };
        let found = leaf(3.0, 1.0, 0.0).unwrap();
        assert!((found.value - 0.549_306_144_334).abs() < 1e-12);
        assert!((found.loss - 2.0 * 3_f64.sqrt()).abs() < 1e-12);
        assert!((found.probability - 0.75).abs() < 1e-12);
        assert!(leaf(3.0, 0.0, 0.0).is_err());
        assert!(leaf(3.0, 0.0, 0.05).unwrap().value > 2.0);
    }
}
