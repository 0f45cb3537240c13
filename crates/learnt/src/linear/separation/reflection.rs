//! Class reflection: rows y = (1, x), negated for the first class.
//!
//! A vector a separates the classes exactly if a·y_i > 0 for all i, and then a·(1, x) > 0 is the
//! rule for the second class.

use learnt_core::error::plain;
use learnt_core::linalg::{dot, matvec};
use learnt_core::prelude::*;

/// Augmented rows of two classes, those of the first class negated.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflected {
    rows: Matrix,
}

/// Negates the chosen rows; twice gives the original.
pub fn reflect_rows(rows: &mut Matrix, chosen: &[bool]) {
    for (i, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen).take(rows.nrows()) {
        rows.row_mut(i).iter_mut().for_each(|value| *value = -*value);
    }
}

impl Reflected {
    /// The rows of a data set of two classes.
    pub fn new(data: &Dataset) -> Result<Reflected> {
        let (codes, classes) = two_classes(data)?;
        debug_assert_eq!(classes.len(), 2);
        let x = data.x.values();
        let mut rows = Matrix::zeros(x.nrows(), x.ncols() + 1);
        for i in 0..x.nrows() {
            let row = rows.row_mut(i);
            row[0] = 1.0;
            x.copy_row(i, &mut row[1..]);
        }
        let first: Vec<bool> = codes.iter().map(|&code| code == 0).collect();
        reflect_rows(&mut rows, &first);
        Ok(Reflected { rows })
    }

    /// The rows.
    pub fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// a·y_i of every row; all positive means that a separates the classes.
    pub fn margins(&self, a: &[f64]) -> Result<Vec<f64>> {
        match a.len() == self.rows.ncols() {
            true => Ok(matvec(self.rows.view(), a)),
            false => Err(Error::shape(
                "vector",
                format!("{} numbers, the intercept first", self.rows.ncols()),
                a.len(),
            )),
        }
    }

    /// Whether a is one of the separating vectors.
    pub fn is_separated_by(&self, a: &[f64]) -> Result<bool> {
        Ok(self.margins(a)?.iter().all(|&margin| margin > 0.0))
    }

    /// The perceptron criterion: the sum of -a·y_i over rows with a·y_i <= 0.
    pub fn perceptron_criterion(&self, a: &[f64]) -> Result<f64> {
        Ok(self.margins(a)?.iter().map(|&margin| (-margin).max(0.0)).sum())
    }

    /// |y_i|².
    pub(super) fn row_square(&self, i: usize) -> f64 {
        dot(self.rows.row(i), self.rows.row(i))
    }
}

/// Codes and classes of a target that has exactly two.
pub(super) fn two_classes<'a>(data: &Dataset<'a>) -> Result<(&'a [u32], &'a [Label])> {
    let (codes, classes) = data.class_target()?;
    let mut seen = [false; 2];
    for &code in codes {
        if let Some(seen) = seen.get_mut(code as usize) {
            *seen = true;
        }
    }
    match classes {
        [_, _] if seen == [true, true] => Ok((codes, classes)),
        [_] | [_, _] => {
            let only = codes.first().and_then(|&code| classes.get(code as usize));
            let message = format!(
                "all rows are of one class, '{}', and two are needed",
                plain(&only.map_or(String::new(), ToString::to_string))
            );
            Err(Error::new(Code::OneClass, message))
        }
        _ => {
            let message =
                format!("the target has {} classes, and this procedure takes two", classes.len());
            Err(Error::new(Code::Target, message)
                .hint("put it into OneVsRestClassifier, or take Perceptron or LogisticRegression"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflecting_twice_gives_the_original() {
        let original = Matrix::from_fn(5, 3, |i, j| (i * 3 + j) as f64 - 4.0);
        let chosen = [true, false, true, true, false];
        let mut rows = original.clone();
        reflect_rows(&mut rows, &chosen);
        assert_ne!(rows, original);
        reflect_rows(&mut rows, &chosen);
        assert_eq!(rows, original);
    }

    #[test]
    fn three_classes_are_sent_elsewhere() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0]);
        let data = OwnedDataset::classification(x, &[0, 1, 2].map(Label::Int));
        let error = Reflected::new(&data.view()).unwrap_err();
        assert!(error.message().contains("3 classes"));
        assert!(error.hint_text().unwrap().contains("OneVsRestClassifier"));
    }
}
