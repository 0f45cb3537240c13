//! What rows say that a tree did not draw: the error by the number of trees, and how much single columns
//! matter.
//!
//! The curve has, after 1, 2, ... trees, the error of the mean of the trees that did not draw a row, over the
//! rows that some tree left out: the share of wrong classes or the mean squared error. The importance of
//! a column is the mean over trees of how much the error of a tree on its left-out rows rises when the
//! column is shuffled among them.
//!
//! Breiman (2001), Machine Learning 45, 5-32.

use super::Plan;
use crate::tree::nodes::Tree;
use learnt_core::estimator::first_maximum;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of shuffles.
const SHUFFLE_STREAM: u64 = 0x6f6f_6273;

/// Errors of predictions: of a row with these numbers.
pub(super) enum Judge<'a> {
    /// Codes of classes.
    Classes(&'a [u32]),
    /// Numbers.
    Reals(MatRef<'a>),
}

impl Judge<'_> {
    fn error(&self, row: usize, said: &[f64]) -> f64 {
        match self {
            Judge::Classes(codes) => f64::from(u8::from(first_maximum(said) != codes[row])),
            Judge::Reals(y) => {
                let squares =
                    said.iter().enumerate().map(|(j, said)| (y.at(row, j) - said).powi(2));
                squares.sum::<f64>() / said.len() as f64
            }
        }
    }
}

/// Which rows a tree did not draw.
fn is_out(bits: &[u64], row: usize) -> bool {
    bits[row / 64] >> (row % 64) & 1 == 1
}

/// The error after each tree; infinite as long as no tree left a row out.
pub(super) fn curve(
    plan: &Plan,
    trees: &[Tree],
    data: &Dataset,
    judge: &Judge,
    run: &Context,
) -> Result<Vec<f64>> {
    let rows = data.nrows();
    let left_out = plan.sampling(rows)?.left_out(trees.len(), run).unwrap_or_default();
    let outputs = trees.first().map_or(0, |tree| tree.outputs);
    let mut sums = Matrix::zeros(rows, outputs);
    let mut counts = vec![0.0; rows];
    let mut errors = Vec::with_capacity(trees.len());
    for (tree, bits) in trees.iter().zip(&left_out) {
        run.checkpoint()?;
        let leaves = tree.apply(&data.x, run)?;
        for row in (0..rows).filter(|&row| is_out(bits, row)) {
            counts[row] += 1.0;
            let said = tree.value(leaves[row] as usize);
            sums.row_mut(row).iter_mut().zip(said).for_each(|(sum, x)| *sum += x);
        }
        let (mut error, mut total) = (0.0, 0.0);
        for row in (0..rows).filter(|&row| counts[row] > 0.0) {
            let said: Vec<f64> = sums.row(row).iter().map(|sum| sum / counts[row]).collect();
            error += data.weight(row) * judge.error(row, &said);
            total += data.weight(row);
        }
        errors.push(error / total);
    }
    // Without a row left out there is no error yet: the first that exists stands for those before.
    let first = errors.iter().copied().find(|error| error.is_finite()).unwrap_or(0.0);
    Ok(errors.into_iter().map(|error| if error.is_finite() { error } else { first }).collect())
}

/// How much the error of trees on their left-out rows rises when a column is shuffled among them.
pub(super) fn importances(
    plan: &Plan,
    trees: &[Tree],
    data: &Dataset,
    judge: &Judge,
    run: &Context,
) -> Result<Vec<f64>> {
    let (rows, columns) = (data.nrows(), data.x.ncols());
    let left_out = plan.sampling(rows)?.left_out(trees.len(), run).unwrap_or_default();
    let values = data.x.values();
    let of_trees = run.try_par_map(trees.len(), |t| {
        run.checkpoint()?;
        let tree = &trees[t];
        let own: Vec<usize> = (0..rows).filter(|&row| is_out(&left_out[t], row)).collect();
        let total: f64 = own.iter().map(|&row| data.weight(row)).sum();
        if own.is_empty() || total <= 0.0 {
            return Ok(vec![0.0; columns]);
        }
        // The error where each row has the value of `column` of another.
        let error = |column: usize, from: &[usize]| -> f64 {
            let of_row = |k: usize| {
                let row = own[k];
                let value = |j: usize| values.at(if j == column { from[k] } else { row }, j);
                data.weight(row) * judge.error(row, tree.value(tree.leaf(value)))
            };
            (0..own.len()).map(of_row).sum::<f64>() / total
        };
        let base = error(usize::MAX, &own);
        let asked: Vec<bool> = {
            let mut asked = vec![false; columns];
            let features = tree.feature.iter().map(|&feature| feature as usize);
            features.filter(|&feature| feature < columns).for_each(|f| asked[f] = true);
            asked
        };
        let rise = |column: usize| {
            if !asked[column] {
                return 0.0;
            }
            let mut from = own.clone();
            let mut rng = run.child(t as u64).row_rng(SHUFFLE_STREAM, column as u64);
            sample::shuffle(&mut rng, &mut from);
            error(column, &from) - base
        };
        Ok((0..columns).map(rise).collect())
    })?;
    let count = trees.len().max(1) as f64;
    Ok((0..columns).map(|j| of_trees.iter().map(|rises| rises[j]).sum::<f64>() / count).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{RandomForestClassifier, RandomForestRegressor};
    use learnt_core::prelude::*;

    #[test]
    fn the_curve_ends_at_the_out_of_bag_error_and_noise_does_not_matter() {
        let iris = crate::datasets::load("iris").unwrap();
        let x = Matrix::from_fn(150, 5, |i, j| match j {
            4 => ((i * 7919) % 101) as f64,
            j => iris.x.values()[(i, j)],
        });
        let data = OwnedDataset { x: Table::unnamed(x), ..iris };
        let mut forest = RandomForestClassifier { n_estimators: 40, ..Default::default() };
        forest.growth.oob_score = true;
        forest.growth.oob_importance = true;
        let model = forest.fit(&data.view()).unwrap();
        assert_eq!(model.oob_curve.len(), 40);
        let last = model.oob_curve.last().unwrap();
        assert!((last - (1.0 - model.oob_score.unwrap())).abs() < 1e-12);
        assert!(model.oob_curve[0] > *last);
        let found = &model.oob_importances;
        assert!(found[2] > 0.1 && found[3] > 0.1, "{found:?}");
        assert!(found[4].abs() < 0.02, "{found:?}");
    }

    #[test]
    fn squared_errors_fall_with_trees() {
        let cpu = crate::datasets::load("cpu").unwrap();
        let mut forest = RandomForestRegressor { n_estimators: 60, ..Default::default() };
        forest.growth.oob_score = true;
        let model = forest.fit(&cpu.view()).unwrap();
        assert!(model.oob_curve[59] < 0.8 * model.oob_curve[0], "{:?}", model.oob_curve);
        assert!(model.oob_importances.is_empty());
    }
}
