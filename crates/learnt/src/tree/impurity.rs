//! Impurity of a node, and what a split takes away from it.
//!
//! With p_k the share of class k: Gini 1 - Σ p², entropy -Σ p log₂ p, error 1 - max p. A split is scored
//! by the impurity of the whole less that of the parts, weighted by their size: with the entropy this is
//! the information gain.
//!
//! References: Breiman, Friedman, Olshen and Stone (1984); Quinlan (1986).

use super::gain_ratio::AttributeAndClass;
use learnt_core::prelude::*;

/// Impurity of a node from the number of its rows in each class.
#[derive(Params, Clone, Debug)]
pub struct Impurity {
    /// Which impurity.
    #[param(default = ImpurityKind::Gini, positional)]
    pub criterion: ImpurityKind,
}

/// Measures of impurity.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpurityKind {
    /// 1 - Σ p².
    Gini,
    /// -Σ p log₂ p.
    Entropy,
    /// 1 - max p.
    Error,
}

impl ImpurityKind {
    /// The impurity of counts; 0 without any.
    pub fn of(self, counts: &[f64]) -> f64 {
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let shares = counts.iter().map(|count| count / total);
        match self {
            ImpurityKind::Gini => 1.0 - shares.map(|p| p * p).sum::<f64>(),
            ImpurityKind::Entropy => {
                -shares.filter(|p| *p > 0.0).map(|p| p * p.log2()).sum::<f64>()
            }
            ImpurityKind::Error => 1.0 - shares.fold(0.0, f64::max),
        }
        .max(0.0)
    }

    /// The impurity of the whole less that of the parts; one row of counts a part.
    pub fn decrease(self, parts: &Matrix) -> f64 {
        let whole: Vec<f64> =
            (0..parts.ncols()).map(|k| parts.view().column(k).iter().sum()).collect();
        let total: f64 = whole.iter().sum();
        let within = |row: &[f64]| row.iter().sum::<f64>() / total * self.of(row);
        (self.of(&whole) - parts.rows().map(within).sum::<f64>()).max(0.0)
    }
}

/// Rows of each class in a node.
#[derive(Inputs, Clone, Copy)]
pub struct NodeCounts<'a> {
    /// Number of rows of each class, or the sum of their weights.
    pub counts: &'a [f64],
}

impl Function for Impurity {
    type Inputs<'a> = NodeCounts<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("tree.impurity", FunctionKind::Metric)
        .reference("Breiman, Friedman, Olshen and Stone (1984)");

    fn call(&self, given: NodeCounts, _run: &Context) -> Result<f64> {
        check_counts(given.counts)?;
        Ok(self.criterion.of(given.counts))
    }
}

fn check_counts(counts: &[f64]) -> Result<()> {
    let some = counts.iter().any(|count| *count > 0.0);
    match some && counts.iter().all(|count| *count >= 0.0) {
        true => Ok(()),
        false => Err(Error::new(Code::Weights, "counts must be at least 0, and some above")),
    }
}

/// Decrease of impurity by a split, from the table of its parts.
#[derive(Params, Clone, Debug)]
pub struct SplitScore {
    /// Which impurity.
    #[param(default = ImpurityKind::Gini, positional)]
    pub criterion: ImpurityKind,
}

/// The parts of a split.
#[derive(Inputs, Clone, Copy)]
pub struct SplitTable<'a> {
    /// Rows of each class (columns) in each part (rows).
    pub table: MatRef<'a>,
}

impl Function for SplitScore {
    type Inputs<'a> = SplitTable<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("tree.split_score", FunctionKind::Metric)
        .reference("Breiman, Friedman, Olshen and Stone (1984)");

    fn call(&self, given: SplitTable, _run: &Context) -> Result<f64> {
        let table = given.table.gather_rows(&(0..given.table.nrows()).collect::<Vec<_>>());
        check_counts(table.as_slice())?;
        Ok(self.criterion.decrease(&table))
    }
}

/// Information gain of a categorical attribute: how much it tells about the classes, in bits.
#[derive(Params, Clone, Debug)]
pub struct InformationGain {}

impl Function for InformationGain {
    type Inputs<'a> = AttributeAndClass<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("tree.information_gain", FunctionKind::Metric).reference("Quinlan (1986)");

    fn call(&self, given: AttributeAndClass, _run: &Context) -> Result<f64> {
        Ok(ImpurityKind::Entropy.decrease(&given.table()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impurity(criterion: ImpurityKind, counts: &[f64]) -> f64 {
        Impurity { criterion }.compute(NodeCounts { counts }).unwrap()
    }

    #[test]
    fn nine_and_five() {
        assert!(
            (impurity(ImpurityKind::Entropy, &[9.0, 5.0]) - 0.940_285_958_670_631).abs() < 1e-14
        );
        assert!((impurity(ImpurityKind::Gini, &[9.0, 5.0]) - 90.0 / 196.0).abs() < 1e-15);
        assert!((impurity(ImpurityKind::Error, &[9.0, 5.0]) - 5.0 / 14.0).abs() < 1e-15);
        assert_eq!(impurity(ImpurityKind::Gini, &[3.0, 0.0]), 0.0);
    }

    #[test]
    fn the_gain_of_outlook() {
        let table = Matrix::from_rows(&[[2.0, 3.0], [4.0, 0.0], [3.0, 2.0]]).unwrap();
        let score = SplitScore { criterion: ImpurityKind::Entropy };
        let gain = score.compute(SplitTable { table: table.view() }).unwrap();
        assert!((gain - 0.246_749_819_774_438).abs() < 1e-12);
        let negative = Impurity::default().compute(NodeCounts { counts: &[-1.0, 2.0] });
        assert_eq!(negative.unwrap_err().code(), Code::Weights);
    }
}
