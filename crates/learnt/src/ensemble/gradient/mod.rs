//! Gradient boosting with exact trees: each round fits a least-squares tree to the negative gradient.
//!
//! f_0 is the best constant, zero, or what another learner says (`init`). A round takes r = -∂L/∂f at every row (a share `subsample` of the rows,
//! drawn without replacement), grows a tree on r, and sets its leaves anew by the loss: the mean, the
//! median or quantile of the residuals, Huber's one step from the median, or one Newton step
//! Σ r / Σ |L''|; K classes have K trees a round and leaves (K-1)/K Σ r / Σ |r| (1 - |r|). The tree times
//! the learning rate is added. Columns are sorted once for all rounds.
//!
//! Friedman (2001), Annals of Statistics 29, 1189-1232; Friedman (2002), "Stochastic gradient boosting".

mod gradient_boosting_classifier;
mod gradient_boosting_regressor;
mod options;

#[cfg(test)]
mod tests;

pub use gradient_boosting_classifier::{ClassBoostingLoss, GradientBoostingClassifier};
pub use gradient_boosting_regressor::{BoostingLoss, GradientBoostingRegressor};
pub use options::{BoostingCriterion, BoostingGrowth};

use super::beginning::{Beginning, BoostingStart};
use super::boosted::{Beside, Boosted, scores_of};
use super::loss::{Loss, Targets, weighted_quantile};
use super::stopping::{has_stalled, set_aside, tell, told_rows};
use crate::tree::grow::{self, Columns, Settings, Squared};
use crate::tree::kept::Kept;
use crate::tree::nodes::Tree;
use crate::tree::prune::prune;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::stats::special::softmax_in_place;

/// The random stream of the rows of rounds.
const ROWS_STREAM: u64 = 0x7374_6f63;
/// Denominators of Newton steps below this count as zero.
const LEAST_CURVATURE: f64 = 1e-150;

/// The state between rounds: scores of rows, one number a row and score.
struct Boosting<'a> {
    x: Frame<'a>,
    targets: Targets<'a>,
    loss: Loss,
    growth: &'a BoostingGrowth,
    columns: Columns<'a>,
    scores: Matrix,
    run: Context<'a>,
}

impl Boosting<'_> {
    /// The mean loss over some rows; Huber's bound is that of these rows.
    fn mean_loss(&self, rows: &[u32]) -> f64 {
        let loss = self.of_round(rows);
        let (mut total, mut sum) = (0.0, 0.0);
        for &row in rows {
            let (i, weight) = (row as usize, self.targets.weight(row as usize));
            total += weight;
            sum += weight * loss.value(self.targets.y[i], self.scores.row(i));
        }
        sum / total
    }

    /// Huber's bound of this round: a quantile of the absolute residuals.
    fn of_round(&self, rows: &[u32]) -> Loss {
        let Loss::Huber(alpha) = self.loss else { return self.loss };
        let residual = |&row: &u32| {
            let i = row as usize;
            ((self.targets.y[i] - self.scores[(i, 0)]).abs(), self.targets.weight(i))
        };
        let mut pairs: Vec<(f64, f64)> = rows.iter().map(residual).collect();
        Loss::Huber(weighted_quantile(&mut pairs, alpha))
    }

    /// The negative gradient of the k-th score at each row.
    fn residuals(&self, loss: Loss, k: usize, shares: &Matrix) -> Vec<f64> {
        let y = self.targets.y;
        match loss {
            Loss::Multinomial(_) => (0..y.len())
                .map(|i| f64::from(u8::from(y[i] == k as f64)) - shares[(i, k)])
                .collect(),
            loss => (0..y.len()).map(|i| -loss.derivatives(y[i], self.scores[(i, 0)]).0).collect(),
        }
    }

    /// A tree on the residuals of these rows, with its leaves set by the loss.
    fn tree(&self, loss: Loss, rows: &[u32], residuals: &[f64], round: &Context) -> Result<Tree> {
        let all = rows.len() == self.targets.y.len();
        let target = rows.iter().map(|&row| residuals[row as usize]).collect();
        let weights = self
            .targets
            .weights
            .map(|weights| rows.iter().map(|&row| weights[row as usize]).collect::<Vec<f64>>());
        let criterion = Squared::new(target, 1, weights);
        let columns = if all { self.columns.clone() } else { self.columns.of_rows(rows) };
        let weight = rows.iter().map(|&row| self.targets.weight(row as usize)).sum();
        let settings: Settings = self.growth.settings(rows.len(), self.x.ncols(), weight);
        let tree = grow::grow(columns, &criterion, &settings, round)?;
        let mut tree = prune(tree, self.growth.ccp_alpha);
        self.set_leaves(&mut tree, loss, rows, residuals)?;
        let rate = self.growth.learning_rate;
        tree.values.iter_mut().for_each(|value| *value *= rate);
        Ok(tree)
    }

    fn set_leaves(
        &self,
        tree: &mut Tree,
        loss: Loss,
        rows: &[u32],
        residuals: &[f64],
    ) -> Result<()> {
        if loss == Loss::Squared {
            return Ok(());
        }
        let leaves = tree.apply(&self.x, &self.run)?;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); tree.len()];
        rows.iter().for_each(|&row| members[leaves[row as usize] as usize].push(row));
        for (leaf, members) in members.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            tree.values[leaf] = self.leaf(loss, members, residuals);
        }
        Ok(())
    }

    /// The value of a leaf.
    fn leaf(&self, loss: Loss, rows: &[u32], residuals: &[f64]) -> f64 {
        let Targets { y, .. } = self.targets;
        let weight = |row: u32| self.targets.weight(row as usize);
        let distances = || -> Vec<(f64, f64)> {
            let distance =
                |&row: &u32| (y[row as usize] - self.scores[(row as usize, 0)], weight(row));
            rows.iter().map(distance).collect()
        };
        if let Some(q) = loss.leaf_quantile() {
            return weighted_quantile(&mut distances(), q);
        }
        if let Loss::Huber(delta) = loss {
            let mut pairs = distances();
            let median = weighted_quantile(&mut pairs, 0.5);
            let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
            let step = |(r, w): &(f64, f64)| w * (r - median).clamp(-delta, delta);
            return median + pairs.iter().map(step).sum::<f64>() / total;
        }
        let (mut first, mut second) = (0.0, 0.0);
        for &row in rows {
            let r = residuals[row as usize];
            first += weight(row) * r;
            second += weight(row)
                * match loss {
                    Loss::Multinomial(_) => r.abs() * (1.0 - r.abs()),
                    loss => loss.derivatives(y[row as usize], self.scores[(row as usize, 0)]).1,
                };
        }
        let factor = match loss {
            Loss::Multinomial(classes) => (classes as f64 - 1.0) / classes as f64,
            _ => 1.0,
        };
        if second > LEAST_CURVATURE { factor * first / second } else { 0.0 }
    }

    /// One tree for each score.
    fn round(&mut self, rows: &[u32], number: usize) -> Result<Vec<Tree>> {
        let loss = self.of_round(rows);
        let mut shares = self.scores.clone();
        if shares.ncols() > 1 {
            (0..shares.nrows()).for_each(|i| softmax_in_place(shares.row_mut(i)));
        }
        let mut trees = Vec::new();
        for k in 0..loss.scores() {
            let residuals = self.residuals(loss, k, &shares);
            let seed = (number * loss.scores() + k) as u64;
            let inner = self.run.child(seed).with_threads(self.run.threads());
            trees.push(self.tree(loss, rows, &residuals, &inner)?);
        }
        for (k, tree) in trees.iter().enumerate() {
            let leaves = tree.apply(&self.x, &self.run)?;
            for (i, leaf) in leaves.into_iter().enumerate() {
                self.scores[(i, k)] += tree.values[leaf as usize];
            }
        }
        Ok(trees)
    }

    /// Some of the rows of a round, or all where they are few.
    fn told(&self, rows: &[u32]) -> Vec<u32> {
        let told = told_rows(rows, self.targets.y.len());
        if told.is_empty() { rows.to_vec() } else { told }
    }

    /// The rounds that are missing, until the loss that judges has stalled.
    fn rounds(
        &mut self,
        (train, aside): (&[u32], &[u32]),
        mut boosted: Boosted,
        mut beside: Beside,
    ) -> Result<(Boosted, Beside)> {
        let (growth, run) = (self.growth, self.run);
        if !aside.is_empty() && boosted.validation_score.is_empty() {
            boosted.validation_score.push(self.mean_loss(aside));
        }
        for number in boosted.trees.len() / self.loss.scores() + 1..=growth.n_estimators {
            let judged = match aside.is_empty() {
                true => &boosted.train_score,
                false => &boosted.validation_score,
            };
            if growth.n_iter_no_change.is_some_and(|n| has_stalled(judged, n, growth.tol)) {
                break;
            }
            let rows = drawn(train, growth.subsample, &run.child(number as u64));
            let out_of_bag = left_out(train, &rows);
            let before = match beside.oob_scores.last() {
                _ if out_of_bag.is_empty() => 0.0,
                Some(&last) => last,
                None => self.mean_loss(&out_of_bag),
            };
            boosted.trees.extend(self.round(&rows, number)?);
            boosted.train_score.push(self.mean_loss(&self.told(&rows)));
            if !out_of_bag.is_empty() {
                let after = self.mean_loss(&out_of_bag);
                beside.oob_improvement.push(before - after);
                beside.oob_scores.push(after);
            }
            if !aside.is_empty() {
                boosted.validation_score.push(self.mean_loss(aside));
            }
            let told = (&boosted.train_score[..], &boosted.validation_score[..]);
            tell(number, growth.n_estimators, told, &run)?;
        }
        Ok((boosted, beside))
    }
}

/// The training rows that a round did not draw.
fn left_out(train: &[u32], drawn: &[u32]) -> Vec<u32> {
    let mut drawn = drawn.iter().peekable();
    train.iter().copied().filter(|row| drawn.next_if_eq(&row).is_none()).collect()
}

/// Boosting by this loss, from where another fit of these rows ended or from the start.
fn boost(
    data: &Dataset,
    y: &[f64],
    loss: Loss,
    (growth, init): (&BoostingGrowth, Option<&BoostingStart>),
    before: Option<(Boosted, Beside)>,
    run: &Context,
) -> Result<(Boosted, Beside)> {
    loss.check(y)?;
    let share = growth.n_iter_no_change.map(|_| growth.validation_fraction);
    let (train, aside) = set_aside(share, y, loss, run);
    let targets = Targets { y, weights: data.weights };
    let (start, beside) = match &before {
        Some((boosted, beside)) => (boosted.start.clone(), beside.clone()),
        None => begin(data, &targets, loss, init, (&train, &aside), run)?,
    };
    let trees = before.as_ref().map_or(&[][..], |(boosted, _)| &boosted.trees);
    let mut boosting = Boosting {
        x: data.x,
        targets,
        loss,
        growth,
        columns: Columns::sorted(&data.x, run)?,
        scores: scores_of(
            (trees, &Kept::default()),
            &start,
            &beside.beginning,
            loss,
            &data.x,
            run,
        )?,
        run: *run,
    };
    let boosted = match before {
        Some((boosted, _)) => boosted,
        None => Boosted {
            start,
            trees: Vec::new(),
            train_score: vec![boosting.mean_loss(&told_rows(&train, y.len()))],
            validation_score: Vec::new(),
        },
    };
    boosting.rounds((&train, &aside), boosted, beside)
}

/// The constant that scores start from, and what stands beside the trees before the first.
fn begin(
    data: &Dataset,
    targets: &Targets,
    loss: Loss,
    init: Option<&BoostingStart>,
    (train, aside): (&[u32], &[u32]),
    run: &Context,
) -> Result<(Vec<f64>, Beside)> {
    let beginning = match (aside, init) {
        ([], _) | (_, None | Some(BoostingStart::Zero)) => Beginning::fit(init, data, run)?,
        _ => {
            let rows: Vec<usize> = train.iter().map(|&row| row as usize).collect();
            Beginning::fit(init, &data.gather(&rows).view(), run)?
        }
    };
    let start = match init {
        None => loss.start(targets),
        Some(_) => vec![0.0; loss.scores()],
    };
    Ok((start, Beside { beginning, ..Beside::default() }))
}

/// A share of the rows, drawn without replacement, in their order.
fn drawn(rows: &[u32], share: f64, run: &Context) -> Vec<u32> {
    if share >= 1.0 {
        return rows.to_vec();
    }
    let count = ((rows.len() as f64 * share) as usize).max(1);
    let chosen = sample::choose(&mut run.rng(ROWS_STREAM), rows.len(), count);
    let mut chosen: Vec<u32> = chosen.into_iter().map(|place| rows[place]).collect();
    chosen.sort_unstable();
    chosen
}
