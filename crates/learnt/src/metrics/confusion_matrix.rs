//! The confusion matrix: weight of the rows of each actual class (rows) by predicted class (columns).

use super::{Predicted, class_positions};
use crate::charts::classification;
use learnt_core::answer::DatumType;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// Confusion matrix: how often each class is predicted as each other.
#[derive(Params, Clone, Debug)]
pub struct ConfusionMatrix {
    /// The classes in the order wanted, or some of them; all in sorted order by default.
    pub labels: Option<Vec<Value>>,
    /// Shares instead of counts, of what.
    pub normalize: Option<Normalize>,
}

/// What shares are of.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// The rows of each actual class.
    True,
    /// The rows predicted as each class.
    Pred,
    /// All rows.
    All,
}

/// The matrix with its classes.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Confusion {
    /// Rows are actual classes, columns predicted ones; whole numbers where rows are counted.
    pub value: Cells,
    /// The classes, in the order of rows and columns.
    pub classes: Vec<String>,
}

/// Counts of rows, or sums of weights and shares.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Counts(Matrix),
    /// Any numbers.
    Reals(Matrix),
}

impl Cells {
    /// The numbers.
    pub fn matrix(&self) -> &Matrix {
        match self {
            Cells::Counts(matrix) | Cells::Reals(matrix) => matrix,
        }
    }
}

impl DatumType for Cells {
    fn into_datum(self) -> Datum {
        match self {
            Cells::Counts(matrix) => Datum::CountMatrix(matrix),
            Cells::Reals(matrix) => Datum::Matrix(matrix),
        }
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        Ok(match datum {
            Datum::CountMatrix(matrix) => Cells::Counts(matrix),
            datum => Cells::Reals(Matrix::from_datum(datum)?),
        })
    }
}

impl Function for ConfusionMatrix {
    type Inputs<'a> = Predicted<'a>;
    type Output = Confusion;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.confusion_matrix", FunctionKind::Metric)
            .exempt(&[("scaled weights", "its cells are sums of weights")]);

    fn call(&self, given: Predicted, _run: &Context) -> Result<Confusion> {
        let counts = given.counts()?;
        let order = class_positions(self.labels.as_deref(), given.y_true.classes)?;
        let at = |i: usize, j: usize| match (order[i], order[j]) {
            (Some(a), Some(b)) => counts.counts()[(a, b)],
            _ => 0.0,
        };
        let matrix = Matrix::from_fn(order.len(), order.len(), at);
        let value = match self.normalize {
            None if given.sample_weight.is_none() => Cells::Counts(matrix),
            None => Cells::Reals(matrix),
            Some(of) => Cells::Reals(shares(&matrix, of)),
        };
        let classes = match &self.labels {
            Some(labels) => labels.iter().map(class_name).collect(),
            None => given.y_true.classes.iter().map(ToString::to_string).collect(),
        };
        Ok(Confusion { value, classes })
    }

    fn chart(&self, found: &Confusion) -> Option<Chart> {
        Some(classification::confusion(found.value.matrix(), &found.classes))
    }
}

fn class_name(value: &Value) -> String {
    Label::from_value(value).map_or_else(|| value.to_string(), |label| label.to_string())
}

/// Each cell as a share; 0 where there is nothing to share.
fn shares(matrix: &Matrix, of: Normalize) -> Matrix {
    let sum = |values: &[f64]| -> f64 { values.iter().sum() };
    let rows: Vec<f64> = matrix.rows().map(sum).collect();
    let columns: Vec<f64> = (0..matrix.ncols()).map(|j| sum(&matrix.view().column(j))).collect();
    let all = sum(matrix.as_slice());
    Matrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        let whole = match of {
            Normalize::True => rows[i],
            Normalize::Pred => columns[j],
            Normalize::All => all,
        };
        if whole > 0.0 { matrix[(i, j)] / whole } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(function: &ConfusionMatrix) -> Matrix {
        let classes = ["a", "b"].map(Label::from);
        let y_true = Classes { codes: &[0, 0, 0, 1], classes: &classes };
        let y_pred = Classes { codes: &[0, 1, 1, 1], classes: &classes };
        let given = Predicted { y_true, y_pred, sample_weight: None };
        function.compute(given).unwrap().value.matrix().clone()
    }

    #[test]
    fn rows_are_actual_and_columns_predicted() {
        let found = matrix(&ConfusionMatrix::default());
        assert_eq!(found, Matrix::from_rows(&[[1.0, 2.0], [0.0, 1.0]]).unwrap());
    }

    #[test]
    fn labels_order_and_choose_and_shares_sum_to_one() {
        let labels = Some(["b", "a", "c"].map(|l| Value::Text(l.into())).to_vec());
        let found = matrix(&ConfusionMatrix { labels, ..Default::default() });
        assert_eq!(found.row(0), [1.0, 0.0, 0.0]);
        assert_eq!(found.row(1), [2.0, 1.0, 0.0]);
        let normalize = Some(Normalize::True);
        let found = matrix(&ConfusionMatrix { normalize, ..Default::default() });
        assert_eq!(found.row(0), [1.0 / 3.0, 2.0 / 3.0]);
    }
}
