//! What wrong labels cost: the label of least expected loss, argmin_k Σ_l L_lk p_l.

use learnt_core::prelude::*;

/// Losses of calling a row of one class (rows) another (columns); 0 and 1 if none are given.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(crate) struct Losses {
    /// The matrix; empty for 0 and 1.
    pub(crate) matrix: Matrix,
}

impl Losses {
    /// The losses of a parameter, which must be a square of numbers at least 0.
    pub(crate) fn new(given: Option<&Vec<Vec<f64>>>, classes: usize) -> Result<Self> {
        let Some(rows) = given else { return Ok(Self::default()) };
        let square = rows.len() == classes && rows.iter().all(|row| row.len() == classes);
        let numbers = rows.iter().flatten().all(|x| x.is_finite() && *x >= 0.0);
        if !square || !numbers {
            let expected = format!(
                "{classes} rows of {classes} numbers >= 0, what a row of a class (row) costs that is called another (column)"
            );
            return Err(Error::parameter("loss", expected, format!("{rows:?}")));
        }
        Ok(Losses { matrix: Matrix::from_rows(rows)? })
    }

    pub(crate) fn is_given(&self) -> bool {
        self.matrix.nrows() > 0
    }

    /// Whether it fits this number of classes.
    pub(crate) fn fits(&self, classes: usize) -> bool {
        let sides = (self.matrix.nrows(), self.matrix.ncols());
        let numbers = self.matrix.as_slice().iter().all(|x| x.is_finite() && *x >= 0.0);
        (sides == (classes, classes) || self.matrix.nrows() == 0) && numbers
    }

    /// The expected loss of each label, for shares (or weights) of the classes.
    pub(crate) fn expected(&self, shares: &[f64]) -> Vec<f64> {
        let total: f64 = shares.iter().sum();
        let loss = |k: usize| match self.is_given() {
            true => shares.iter().enumerate().map(|(l, p)| p * self.matrix[(l, k)]).sum(),
            false => total - shares[k],
        };
        (0..shares.len()).map(loss).collect()
    }

    /// The label of least expected loss, the first of equals.
    pub(crate) fn label(&self, shares: &[f64]) -> u32 {
        if !self.is_given() {
            return learnt_core::estimator::first_maximum(shares);
        }
        let losses = self.expected(shares);
        let better = |best: usize, k: usize| if losses[k] < losses[best] { k } else { best };
        (1..losses.len()).fold(0, better) as u32
    }

    /// The loss of rows with these weights of classes in a leaf that trained on those.
    pub(crate) fn total(&self, trained: &[f64], counts: &[f64]) -> f64 {
        self.expected(counts)[self.label(trained) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_class_is_called_although_it_is_rare() {
        let losses = Losses::new(Some(&vec![vec![0.0, 5.0], vec![1.0, 0.0]]), 2).unwrap();
        assert_eq!(losses.expected(&[0.3, 0.7]), [0.7, 1.5]);
        assert_eq!(losses.label(&[0.3, 0.7]), 0);
        assert_eq!(Losses::default().label(&[0.3, 0.7]), 1);
        assert!(Losses::new(Some(&vec![vec![0.0]]), 2).is_err());
    }
}
