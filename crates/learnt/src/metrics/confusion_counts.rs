//! Scores of predicted classes, all read off the confusion matrix.
//!
//! Rows are actual classes, columns predicted ones, in sorted order of the labels; cells are sums of
//! weights. A ratio with a zero denominator is `None`.

use super::same_length;
use learnt_core::prelude::*;

/// Counts of actual against predicted classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfusionCounts {
    counts: Matrix,
}

impl ConfusionCounts {
    /// Counts pairs of codes below `classes`.
    pub fn new(
        actual: &[u32],
        predicted: &[u32],
        classes: usize,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        same_length("predicted classes", actual.len(), predicted.len())?;
        let largest = actual.iter().chain(predicted).fold(0, |largest, &code| code.max(largest));
        if largest as usize >= classes {
            let message = format!("class code {largest} of {classes} classes");
            return Err(Error::new(Code::Target, message));
        }
        let cells = actual
            .iter()
            .zip(predicted)
            .map(|(&row, &column)| row as usize * classes + column as usize);
        let counts = match weights {
            Some(weights) => {
                let mut counts = vec![0.0; classes * classes];
                cells.zip(weights).for_each(|(cell, weight)| counts[cell] += weight);
                counts
            }
            None => {
                let mut counts = vec![0_u64; classes * classes];
                cells.for_each(|cell| counts[cell] += 1);
                counts.into_iter().map(|count| count as f64).collect()
            }
        };
        let counts = Matrix::from_vec(classes, classes, counts)?;
        Ok(ConfusionCounts { counts })
    }

    /// From counts: rows actual, columns predicted.
    pub fn from_counts(counts: Matrix) -> Result<Self> {
        match counts.nrows() == counts.ncols() {
            true => Ok(ConfusionCounts { counts }),
            false => Err(Error::shape("counts", "as many columns as rows", counts.ncols())),
        }
    }

    /// The counts of both together, of the same classes.
    pub fn plus(&self, other: &ConfusionCounts) -> Result<Self> {
        let k = self.classes();
        if other.classes() != k {
            return Err(Error::shape("counts", k, other.classes()));
        }
        let counts = Matrix::from_fn(k, k, |i, j| self.counts[(i, j)] + other.counts[(i, j)]);
        Ok(ConfusionCounts { counts })
    }

    /// The counts.
    pub fn counts(&self) -> &Matrix {
        &self.counts
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.counts.nrows()
    }

    /// Sum of all weights.
    pub fn total(&self) -> f64 {
        self.counts.as_slice().iter().sum()
    }

    /// Actual rows of class `k`.
    pub fn actual(&self, k: usize) -> f64 {
        self.counts.row(k).iter().sum()
    }

    /// Rows predicted as class `k`.
    pub fn predicted(&self, k: usize) -> f64 {
        (0..self.classes()).map(|i| self.counts[(i, k)]).sum()
    }

    fn hits(&self) -> f64 {
        (0..self.classes()).map(|k| self.counts[(k, k)]).sum()
    }

    /// Share of rows predicted right.
    pub fn accuracy(&self) -> Option<f64> {
        ratio(self.hits(), self.total())
    }

    /// Mean recall over the classes that have rows.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        let recalls: Vec<f64> = (0..self.classes()).filter_map(|k| self.recall(k)).collect();
        ratio(recalls.iter().sum(), recalls.len() as f64)
    }

    /// TP / (TP + FP) of class `k`.
    pub fn precision(&self, k: usize) -> Option<f64> {
        ratio(self.counts[(k, k)], self.predicted(k))
    }

    /// TP / (TP + FN) of class `k`: sensitivity.
    pub fn recall(&self, k: usize) -> Option<f64> {
        ratio(self.counts[(k, k)], self.actual(k))
    }

    /// TN / (TN + FP) of class `k`.
    pub fn specificity(&self, k: usize) -> Option<f64> {
        let negative = self.total() - self.actual(k);
        ratio(negative - (self.predicted(k) - self.counts[(k, k)]), negative)
    }

    /// (1 + β²) TP / ((1 + β²) TP + β² FN + FP) of class `k`.
    pub fn f_score(&self, k: usize, beta: f64) -> Option<f64> {
        let square = beta * beta;
        let hits = (1.0 + square) * self.counts[(k, k)];
        ratio(hits, square * self.actual(k) + self.predicted(k))
    }

    /// Matthews' correlation of actual and predicted classes; 0 if either is constant.
    pub fn matthews(&self) -> f64 {
        let total = self.total();
        let sum = |f: &dyn Fn(usize) -> f64| (0..self.classes()).map(f).sum::<f64>();
        let cross = sum(&|k| self.actual(k) * self.predicted(k));
        let actual = total * total - sum(&|k| self.actual(k) * self.actual(k));
        let predicted = total * total - sum(&|k| self.predicted(k) * self.predicted(k));
        ratio(self.hits() * total - cross, actual.sqrt() * predicted.sqrt()).unwrap_or(0.0)
    }

    /// Cohen's kappa: accuracy corrected for what the marginal shares would give; `None` if they
    /// would give 1.
    pub fn kappa(&self) -> Option<f64> {
        let total = self.total();
        let chance = (0..self.classes()).map(|k| self.actual(k) * self.predicted(k)).sum::<f64>();
        let chance = ratio(chance, total * total)?;
        ratio(self.accuracy()? - chance, 1.0 - chance)
    }

    /// Σ counts · costs / total; the 0-1 matrix gives the error rate.
    pub fn cost(&self, costs: &Matrix) -> Result<f64> {
        let k = self.classes();
        if (costs.nrows(), costs.ncols()) != (k, k) {
            let got = format!("{} x {}", costs.nrows(), costs.ncols());
            return Err(Error::shape("costs", format!("{k} x {k}"), got));
        }
        let pairs = self.counts.as_slice().iter().zip(costs.as_slice());
        ratio(pairs.map(|(count, cost)| count * cost).sum(), self.total())
            .ok_or_else(|| super::undefined("cost", "there are no rows"))
    }
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_actual_and_columns_predicted() {
        let matrix = ConfusionCounts::new(&[0, 0, 1], &[0, 1, 1], 2, Some(&[1.0, 2.0, 4.0]));
        assert_eq!(matrix.unwrap().counts().as_slice(), [1.0, 2.0, 0.0, 4.0]);
    }

    #[test]
    fn the_zero_one_cost_is_the_error_rate() {
        let counts = Matrix::from_rows(&[[40.0, 10.0], [5.0, 45.0]]).unwrap();
        let matrix = ConfusionCounts::from_counts(counts).unwrap();
        let costs = Matrix::from_fn(2, 2, |i, j| f64::from(i != j));
        assert!((matrix.cost(&costs).unwrap() - 0.15).abs() < 1e-15);
    }

    #[test]
    fn perfect_prediction_has_matthews_correlation_one_and_constant_prediction_zero() {
        let perfect = ConfusionCounts::new(&[0, 1, 2], &[0, 1, 2], 3, None).unwrap();
        assert!((perfect.matthews() - 1.0).abs() < 1e-15);
        let constant = ConfusionCounts::new(&[0, 1, 2], &[0, 0, 0], 3, None).unwrap();
        assert_eq!(constant.matthews(), 0.0);
    }

    #[test]
    fn a_code_beyond_the_classes_is_refused() {
        assert!(ConfusionCounts::new(&[0], &[2], 2, None).is_err());
    }
}
