//! What rows say that a tree did not draw: the score and the error by the number of trees, and how much
//! single columns matter.
//!
//! The score is the share of right classes or R² of the mean of the trees that did not draw a row, over the rows
//! that some tree left out. The curve has the error after 1, 2, ... trees: the share of wrong classes or the mean
//! squared error. Both are sums along the one tree of rows, in memory and in rounds. The importance of
//! a column is the mean over trees of how much the error of a tree on its left-out rows rises when the
//! column is shuffled among them.
//!
//! Breiman (2001), Machine Learning 45, 5-32.

use super::ForestRounds;
use super::targets::{means, target_sums, targets};
use crate::tree::kept::Kept;
use crate::tree::many::add_up;
use crate::tree::nodes::Tree;
use learnt_core::estimator::first_maximum;
use learnt_core::prelude::*;
use learnt_core::rounds::tree_sums;
use learnt_core::stats::sample;

/// The random stream of shuffles.
const SHUFFLE_STREAM: u64 = 0x6f6f_6273;

/// What rows say that trees did not draw; what was not asked for is empty.
#[derive(Default)]
pub(super) struct OutOfBag {
    pub(super) score: Option<f64>,
    pub(super) curve: Vec<f64>,
    pub(super) importances: Vec<f64>,
    pub(super) predictions: Matrix,
}

/// Sums over rows of what trees that did not draw them say.
pub(super) struct Judge<'a> {
    pub(super) trees: &'a [Tree],
    /// Number of classes; 0 for numbers.
    pub(super) classes: usize,
    /// What targets are measured from.
    pub(super) centres: &'a [f64],
}

/// Rows that no tree left out, and the weight of the others.
const COMMON: usize = 2;
/// Sums of a target: of weighted distances from its centre, of their squares, and of squared errors.
const OF_TARGET: usize = 3;

impl Judge<'_> {
    /// Where the sums of the curve begin.
    fn curve(&self) -> usize {
        COMMON + if self.classes > 0 { 1 } else { OF_TARGET * self.centres.len() }
    }

    pub(super) fn width(&self) -> usize {
        self.curve() + 2 * self.trees.len()
    }

    /// The share of wrong classes or the squared error of one prediction.
    fn error(&self, y: &[f64], said: &[f64]) -> f64 {
        if self.classes > 0 {
            return f64::from(u8::from(f64::from(first_maximum(said)) != y[0]));
        }
        let squares = said.iter().zip(y).map(|(said, y)| (y - said).powi(2));
        squares.sum::<f64>() / said.len() as f64
    }

    /// Adds a row with these targets and this weight.
    pub(super) fn add(
        &self,
        (y, weight): (&[f64], f64),
        is_out: impl Fn(usize) -> bool,
        value: impl Fn(usize) -> f64,
        sums: &mut [f64],
    ) {
        let outputs = self.trees.first().map_or(0, |tree| tree.outputs);
        let (mut sum, mut said) = (vec![0.0; outputs], vec![0.0; outputs]);
        let (mut count, mut error) = (0.0, 0.0);
        for (t, tree) in self.trees.iter().enumerate() {
            if is_out(t) {
                count += 1.0;
                let leaf = tree.leaf(&value);
                sum.iter_mut().zip(tree.value(leaf)).for_each(|(sum, x)| *sum += x);
                said.iter_mut().zip(&sum).for_each(|(said, sum)| *said = sum / count);
                error = self.error(y, &said);
            }
            if count > 0.0 {
                let place = self.curve() + 2 * t;
                sums[place] += weight * error;
                sums[place + 1] += weight;
            }
        }
        if count == 0.0 {
            sums[0] += 1.0;
            return;
        }
        sums[1] += weight;
        if self.classes > 0 {
            sums[COMMON] += weight * (1.0 - error);
            return;
        }
        let of_targets = sums[COMMON..].chunks_exact_mut(OF_TARGET);
        for (j, (sums, centre)) in of_targets.zip(self.centres).enumerate() {
            let distance = y[j] - centre;
            sums[0] += weight * distance;
            sums[1] += weight * distance * distance;
            sums[2] += weight * (y[j] - said[j]).powi(2);
        }
    }

    /// What the sums of all rows say.
    pub(super) fn found(&self, sums: &[f64], run: &Context) -> OutOfBag {
        let never = sums[0];
        if never > 0.0 {
            let message = format!(
                "{never} rows were drawn by every tree and have no out-of-bag prediction; raise n_estimators"
            );
            run.warn(Code::NotConverged, message);
        }
        let total = sums[1];
        let score = match self.classes {
            0 => {
                let score = |sums: &[f64]| {
                    let spread = sums[1] - sums[0] * sums[0] / total;
                    // A constant target has no R².
                    if spread > 1e-12 * sums[1] { 1.0 - sums[2] / spread } else { f64::NAN }
                };
                let of_targets = sums[COMMON..self.curve()].chunks_exact(OF_TARGET);
                of_targets.map(score).sum::<f64>() / self.centres.len() as f64
            }
            _ => sums[COMMON] / total,
        };
        // Without a row left out there is no error yet: the first that exists stands for those before.
        let errors = sums[self.curve()..].chunks_exact(2).map(|pair| pair[0] / pair[1]);
        let first = errors.clone().find(|error| error.is_finite()).unwrap_or(0.0);
        OutOfBag {
            score: Some(score).filter(|score| score.is_finite()),
            curve: errors.map(|error| if error.is_finite() { error } else { first }).collect(),
            ..OutOfBag::default()
        }
    }
}

impl ForestRounds {
    /// What rows in memory say that trees did not draw, as far as it is asked for.
    pub(super) fn out_of_bag(
        &self,
        trees: &[Tree],
        data: &Dataset,
        run: &Context,
    ) -> Result<OutOfBag> {
        let rows = data.nrows();
        if !self.growth.oob_score && !self.growth.oob_importance {
            return Ok(OutOfBag::default());
        }
        let sampling = self.sampling(rows)?;
        let left_out = sampling.left_out(trees.len(), run).unwrap_or_default();
        let y = targets(data)?;
        let classes = match data.y {
            Some(Target::Class { classes, .. }) => classes.len(),
            _ => 0,
        };
        let centres = match classes {
            0 => means(&target_sums(&y, classes, data, run)),
            _ => Vec::new(),
        };
        let judge = Judge { trees, classes, centres: &centres };
        let mut found = OutOfBag::default();
        if self.growth.oob_score {
            trees.iter().try_for_each(|tree| tree.check_width(&data.x))?;
            let sums = tree_sums(rows, judge.width(), run, |range, sums| {
                for i in range {
                    let value = |j: usize| data.x.values().at(i, j);
                    let row = (y.row(i), data.weight(i));
                    judge.add(row, |t| is_out(&left_out[t], i), value, sums);
                }
            });
            found = judge.found(&sums, run);
            found.predictions = predictions(trees, &left_out, &data.x, run)?;
        }
        if self.growth.oob_importance {
            found.importances = importances(&judge, &left_out, (&y, data), run)?;
        }
        Ok(found)
    }
}

/// Which rows a tree did not draw.
fn is_out(bits: &[u64], row: usize) -> bool {
    bits[row / 64] >> (row % 64) & 1 == 1
}

/// The mean for each row over the trees that did not draw it; missing where all did.
fn predictions(trees: &[Tree], left_out: &[Vec<u64>], x: &Frame, run: &Context) -> Result<Matrix> {
    let outputs = trees.first().map_or(0, |tree| tree.outputs);
    let takes = |t: usize, row: usize| is_out(&left_out[t], row);
    let mut sums = add_up((trees, &Kept::default()), &vec![0.0; outputs], x, run, takes)?;
    for row in 0..x.nrows() {
        let count = (0..trees.len()).filter(|&t| takes(t, row)).count();
        sums.row_mut(row).iter_mut().for_each(|sum| *sum /= count as f64);
    }
    Ok(sums)
}

/// How much the error of trees on their left-out rows rises when a column is shuffled among them.
fn importances(
    judge: &Judge,
    left_out: &[Vec<u64>],
    (y, data): (&Matrix, &Dataset),
    run: &Context,
) -> Result<Vec<f64>> {
    let (rows, columns) = (data.nrows(), data.x.ncols());
    let values = data.x.values();
    let of_trees = run.try_par_map(judge.trees.len(), |t| {
        run.checkpoint()?;
        let tree = &judge.trees[t];
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
                data.weight(row) * judge.error(y.row(row), tree.value(tree.leaf(value)))
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
    let count = judge.trees.len().max(1) as f64;
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
