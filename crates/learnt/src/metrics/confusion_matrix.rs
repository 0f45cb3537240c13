//! The confusion matrix: weight of the rows of each actual class (rows) by predicted class (columns).

use super::classification::ConfusionMatrix as Counts;
use super::{Predicted, class_positions};
use learnt_core::chart::{Chart, Mark, Panel};
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

impl Function for ConfusionMatrix {
    type Inputs<'a> = Predicted<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.confusion_matrix", FunctionKind::Metric);

    fn call(&self, given: Predicted, _run: &Context) -> Result<Matrix> {
        let classes = given.y_true.classes;
        let counts = Counts::new(
            given.y_true.codes,
            given.y_pred.codes,
            classes.len(),
            given.sample_weight,
        )?;
        let order = class_positions(self.labels.as_deref(), classes)?;
        let at = |i: usize, j: usize| match (order[i], order[j]) {
            (Some(a), Some(b)) => counts.counts()[(a, b)],
            _ => 0.0,
        };
        let matrix = Matrix::from_fn(order.len(), order.len(), at);
        Ok(match self.normalize {
            None => matrix,
            Some(of) => shares(&matrix, of),
        })
    }

    fn chart(&self, matrix: &Matrix) -> Option<Chart> {
        let cells = (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| (i, j)));
        let (x, y): (Vec<f64>, Vec<f64>) = cells.map(|(i, j)| (j as f64, i as f64)).unzip();
        let values = matrix.as_slice().to_vec();
        let texts = values.iter().map(|&value| learnt_core::answer::number(value)).collect();
        let panel = Panel::new("predicted", "actual")
            .mark(Mark::cells("", x.clone(), y.clone(), values))
            .mark(Mark::texts(x, y, texts));
        Some(Chart::new("Confusion matrix", "Predicted against actual classes.").panel(panel))
    }
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
        function.compute(Predicted { y_true, y_pred, sample_weight: None }).unwrap()
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
