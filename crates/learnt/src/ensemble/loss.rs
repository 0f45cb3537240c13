//! Losses of additive models, by row: value, derivative and second derivative in the score f.
//!
//! - squared error ½ (y - f)², absolute error |y - f|, quantile (y - f)(q - [y < f]);
//! - Huber ½ r² up to δ and δ (|r| - ½ δ) beyond, with δ a quantile of |r| in every round;
//! - Poisson e^f - y f and gamma f + y e^-f, both on the scale of logarithms;
//! - two classes, y 0 or 1: log loss ln(1 + e^f) - y f, exponential e^(-(2y-1) f);
//! - K classes: log loss of the softmax of K scores; each has derivative p_k - [y = k] and second
//!   derivative p_k (1 - p_k).
//!
//! Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
//! (2001), 1189-1232.

use crate::tree::binned::Grid;
use learnt_core::prelude::*;
use learnt_core::stats::special::{log_sum_exp, sigmoid};
use std::ops::Range;

/// A loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    Squared,
    Absolute,
    /// With the quantile of the absolute residuals that is δ.
    Huber(f64),
    Quantile(f64),
    Poisson,
    Gamma,
    Logistic,
    Exponential,
    /// This many classes.
    Multinomial(usize),
}

/// Targets of rows: numbers, or codes of classes; with weights.
#[derive(Clone, Copy)]
pub(super) struct Targets<'a> {
    pub(super) y: &'a [f64],
    pub(super) weights: Option<&'a [f64]>,
}

impl Targets<'_> {
    #[inline(always)]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// The grid of the weights.
    fn grid(&self) -> Grid {
        Grid::new((0..self.y.len()).map(|row| self.weight(row)).sum())
    }

    /// Adds rows to the sums that the start of a loss follows from.
    pub(super) fn add_moments(&self, loss: Loss, rows: Range<usize>, sums: &mut [f64]) {
        for row in rows {
            let (y, weight) = (self.y[row], self.weight(row));
            sums[0] += weight;
            match loss {
                Loss::Multinomial(_) => sums[1 + y as usize] += weight,
                _ => sums[1] += weight * y,
            }
        }
    }
}

impl Loss {
    /// The log loss of this many classes.
    pub(super) fn of_classes(classes: usize) -> Self {
        match classes {
            0..=2 => Loss::Logistic,
            many => Loss::Multinomial(many),
        }
    }

    /// How many scores a row has.
    pub(super) fn scores(self) -> usize {
        if let Loss::Multinomial(classes) = self { classes } else { 1 }
    }

    /// Whether leaves hold a quantile of residuals and no Newton step: which quantile.
    pub(super) fn leaf_quantile(self) -> Option<f64> {
        match self {
            Loss::Absolute => Some(0.5),
            Loss::Quantile(q) => Some(q),
            _ => None,
        }
    }

    /// The best constant score.
    pub(super) fn start(self, targets: &Targets) -> Vec<f64> {
        match self {
            Loss::Absolute | Loss::Huber(_) => vec![quantile_of(targets, 0.5, &targets.grid())],
            Loss::Quantile(q) => vec![quantile_of(targets, q, &targets.grid())],
            _ => {
                let mut sums = vec![0.0; self.moments()];
                targets.add_moments(self, 0..targets.y.len(), &mut sums);
                self.start_of_moments(&sums)
            }
        }
    }

    /// How many sums the start follows from, where it is no quantile: that of weights, then that of targets,
    /// or of the weights of each class.
    pub(super) fn moments(self) -> usize {
        1 + self.scores()
    }

    /// The best constant score from these sums.
    pub(super) fn start_of_moments(self, sums: &[f64]) -> Vec<f64> {
        let log_odds = |p: f64| {
            let p = p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            (p / (1.0 - p)).ln()
        };
        let mean = sums[1] / sums[0];
        match self {
            Loss::Poisson | Loss::Gamma => vec![mean.max(f64::MIN_POSITIVE).ln()],
            Loss::Logistic => vec![log_odds(mean)],
            Loss::Exponential => vec![0.5 * log_odds(mean)],
            Loss::Multinomial(classes) => {
                let log = |&sum: &f64| (sum / sums[0]).max(f64::EPSILON).ln();
                let logs: Vec<f64> = sums[1..].iter().map(log).collect();
                let mean = logs.iter().sum::<f64>() / classes as f64;
                logs.into_iter().map(|log| log - mean).collect()
            }
            _ => vec![mean],
        }
    }

    /// First and second derivative for a row with one score.
    #[inline(always)]
    pub(super) fn derivatives(self, y: f64, f: f64) -> (f64, f64) {
        match self {
            Loss::Squared => (f - y, 1.0),
            Loss::Absolute => (sign(f - y), 1.0),
            Loss::Huber(delta) => ((f - y).clamp(-delta, delta), 1.0),
            Loss::Quantile(q) => (if y < f { 1.0 - q } else { -q }, 1.0),
            Loss::Poisson => {
                let mean = f.exp();
                (mean - y, mean)
            }
            Loss::Gamma => {
                let ratio = y * (-f).exp();
                (1.0 - ratio, ratio)
            }
            Loss::Logistic => {
                let p = 1.0 / (1.0 + (-f).exp());
                (p - y, p * (1.0 - p))
            }
            Loss::Exponential => {
                let side = 2.0 * y - 1.0;
                let loss = (-side * f).exp();
                (-side * loss, loss)
            }
            Loss::Multinomial(_) => (0.0, 0.0),
        }
    }

    /// Upper bounds of the derivatives of a row of weight one, where there are any.
    pub(super) fn bounds(self) -> Option<(f64, f64)> {
        match self {
            Loss::Logistic | Loss::Multinomial(_) => Some((1.0, 0.25)),
            Loss::Absolute | Loss::Quantile(_) => Some((1.0, 1.0)),
            _ => None,
        }
    }

    /// Whether the second derivative depends on the score: rows that are far from their border have next to
    /// none, and a Newton step over such rows alone is as long as one of them wants.
    pub(super) fn bends(self) -> bool {
        matches!(self, Loss::Poisson | Loss::Gamma | Loss::Logistic | Loss::Multinomial(_))
    }

    /// The loss of a row with these scores.
    pub(super) fn value(self, y: f64, scores: &[f64]) -> f64 {
        let f = scores[0];
        match self {
            Loss::Squared => 0.5 * (y - f) * (y - f),
            Loss::Absolute => (y - f).abs(),
            Loss::Huber(delta) => {
                let r = (y - f).abs();
                if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) }
            }
            Loss::Quantile(q) => (y - f) * if y < f { q - 1.0 } else { q },
            Loss::Poisson => f.exp() - y * f,
            Loss::Gamma => f + y * (-f).exp(),
            Loss::Logistic => {
                let s = if y > 0.5 { -f } else { f };
                if s > 0.0 { s + (-s).exp().ln_1p() } else { s.exp().ln_1p() }
            }
            Loss::Exponential => (-(2.0 * y - 1.0) * f).exp(),
            Loss::Multinomial(_) => log_sum_exp(scores) - scores[y as usize],
        }
    }

    /// The prediction of a number from its score.
    pub(super) fn mean_of_score(self, f: f64) -> f64 {
        match self {
            Loss::Poisson | Loss::Gamma => f.exp(),
            _ => f,
        }
    }

    /// The probabilities of the classes from the scores of a row.
    pub(super) fn probabilities(self, scores: &[f64], out: &mut [f64]) {
        match (self, scores) {
            (Loss::Multinomial(_), scores) => {
                out.copy_from_slice(scores);
                learnt_core::stats::special::softmax_in_place(out);
            }
            (loss, scores) => {
                let factor = if loss == Loss::Exponential { 2.0 } else { 1.0 };
                let p = sigmoid(factor * scores[0]);
                out[out.len() - 1] = p;
                if out.len() == 2 {
                    out[0] = 1.0 - p;
                }
            }
        }
    }

    /// The scores of a row with these probabilities of the classes: what `probabilities` turns back.
    pub(super) fn scores_of_shares(self, shares: &[f64], out: &mut [f64]) {
        let inside = |p: f64| p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        match (self, shares) {
            (Loss::Multinomial(classes), shares) => {
                out.iter_mut().zip(shares).for_each(|(score, p)| *score = inside(*p).ln());
                let mean = out.iter().sum::<f64>() / classes as f64;
                out.iter_mut().for_each(|score| *score -= mean);
            }
            (loss, shares) => {
                let p = inside(shares[shares.len() - 1]);
                let factor = if loss == Loss::Exponential { 0.5 } else { 1.0 };
                out[0] = factor * (p / (1.0 - p)).ln();
            }
        }
    }

    /// Refuses targets that the loss does not know.
    pub(super) fn check(self, y: &[f64]) -> Result<()> {
        self.check_rows(y, 0)?;
        match self == Loss::Poisson && y.iter().all(|&y| y == 0.0) {
            true => Err(all_zero()),
            false => Ok(()),
        }
    }

    /// Refuses rows, from this one on, whose targets the loss does not know.
    pub(super) fn check_rows(self, y: &[f64], first: u64) -> Result<()> {
        let wrong = match self {
            Loss::Poisson => y.iter().position(|&y| y < 0.0).map(|i| (i, ">= 0")),
            Loss::Gamma => y.iter().position(|&y| y <= 0.0).map(|i| (i, "> 0")),
            _ => None,
        };
        if let Some((i, range)) = wrong {
            let message = format!(
                "the target holds {} in row {}, and this loss needs values {range}",
                y[i],
                first + i as u64 + 1
            );
            return Err(Error::new(Code::Target, message)
                .row(first + i as u64 + 1)
                .hint("set loss to 'squared_error'"));
        }
        Ok(())
    }
}

/// Counts of nothing but zeros.
pub(super) fn all_zero() -> Error {
    let message = "the target is zero in every row, and this loss needs a positive sum";
    Error::new(Code::Target, message)
}

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// A quantile of targets, with weights on this grid, so that their sums are exact.
pub(super) fn quantile_of(targets: &Targets, q: f64, grid: &Grid) -> f64 {
    let pair = |(i, &y): (usize, &f64)| (y, grid.positive(targets.weight(i)));
    let mut pairs: Vec<(f64, f64)> = targets.y.iter().enumerate().map(pair).collect();
    weighted_quantile(&mut pairs, q)
}

/// The smallest value that has at least a share q of the weight up to it; midway to the next where it
/// has exactly that.
pub(super) fn weighted_quantile(pairs: &mut [(f64, f64)], q: f64) -> f64 {
    let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    quantile_among(pairs, q * total, total, 0.0, None)
}

/// Whether this much weight up to a value is enough, and whether it is exactly that.
pub(super) fn reaches(reached: f64, wanted: f64, total: f64) -> (bool, bool) {
    let exact = (reached - wanted).abs() <= 1e-12 * total;
    (exact || reached > wanted, exact)
}

/// The same among some of all values, where this much weight is below and this value above them.
pub(super) fn quantile_among(
    pairs: &mut [(f64, f64)],
    wanted: f64,
    total: f64,
    below: f64,
    above: Option<f64>,
) -> f64 {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut reached = below;
    for (i, &(value, weight)) in pairs.iter().enumerate() {
        reached += weight;
        let (enough, exact) = reaches(reached, wanted, total);
        if enough {
            let next = pairs.get(i + 1).map(|(next, _)| *next).or(above).filter(|_| exact);
            return next.map_or(value, |next| 0.5 * value + 0.5 * next);
        }
    }
    pairs.last().map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        let losses = [
            Loss::Squared,
            Loss::Huber(0.75),
            Loss::Quantile(0.3),
            Loss::Absolute,
            Loss::Poisson,
            Loss::Gamma,
            Loss::Logistic,
            Loss::Exponential,
        ];
        for loss in losses {
            for (y, f) in [(1.0, 0.3), (0.0, -0.4), (1.0, -1.7), (0.0, 2.2)] {
                let step = 1e-5;
                let at = |f: f64| loss.value(y, &[f]);
                let (first, second) = loss.derivatives(y, f);
                let slope = (at(f + step) - at(f - step)) / (2.0 * step);
                assert!((first - slope).abs() < 1e-6, "{loss:?} {y} {f}: {first} {slope}");
                let smooth = !matches!(loss, Loss::Huber(_) | Loss::Quantile(_) | Loss::Absolute);
                if smooth {
                    let bend = (loss.derivatives(y, f + step).0 - loss.derivatives(y, f - step).0)
                        / (2.0 * step);
                    assert!((second - bend).abs() < 1e-6, "{loss:?} {y} {f}: {second} {bend}");
                }
            }
        }
    }

    /// The mean loss of a constant score.
    fn constant(loss: Loss, targets: &Targets, f: f64) -> f64 {
        let value = |(i, &y): (usize, &f64)| targets.weight(i) * loss.value(y, &[f]);
        targets.y.iter().enumerate().map(value).sum()
    }

    #[test]
    fn the_start_is_the_best_constant() {
        let y = [1.0, 2.0, 2.0, 7.0, 4.0];
        let weights = [1.0, 2.0, 0.5, 1.0, 3.0];
        let targets = Targets { y: &y, weights: Some(&weights) };
        let losses =
            [Loss::Squared, Loss::Absolute, Loss::Quantile(0.2), Loss::Poisson, Loss::Gamma];
        for loss in losses {
            let start = loss.start(&targets)[0];
            let at = |f: f64| constant(loss, &targets, f);
            assert!(at(start) <= at(start + 1e-3) && at(start) <= at(start - 1e-3), "{loss:?}");
        }
        let classes = Targets { y: &[0.0, 1.0, 1.0, 0.0, 1.0], weights: Some(&weights) };
        for loss in [Loss::Logistic, Loss::Exponential] {
            let start = loss.start(&classes)[0];
            let at = |f: f64| constant(loss, &classes, f);
            assert!(at(start) <= at(start + 1e-3) && at(start) <= at(start - 1e-3), "{loss:?}");
        }
        let three = Targets { y: &[0.0, 1.0, 1.0, 2.0], weights: None };
        let start = Loss::Multinomial(3).start(&three);
        let mut shares = [0.0; 3];
        Loss::Multinomial(3).probabilities(&start, &mut shares);
        assert!((shares[1] - 0.5).abs() < 1e-12 && (shares[0] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn negative_gradients_equal_the_reference() {
        let residuals = [-3.0, -0.5, 0.0, 0.5, 2.0];
        let expected = [
            (Loss::Squared, [-3.0, -0.5, 0.0, 0.5, 2.0]),
            (Loss::Absolute, [-1.0, -1.0, 0.0, 1.0, 1.0]),
            (Loss::Huber(1.0), [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ];
        for (loss, expected) in expected {
            for (r, expected) in residuals.iter().zip(expected) {
                assert_eq!(-loss.derivatives(*r, 0.0).0, expected, "{loss:?}");
            }
        }
        let mut shares = [0.0; 3];
        Loss::Multinomial(3).probabilities(&[0.2, -0.5, 1.1], &mut shares);
        let expected = [-0.252_768_547_681, 0.874_478_853_961, -0.621_710_306_279];
        for k in 0..3 {
            let gradient = f64::from(u8::from(k == 1)) - shares[k];
            assert!((gradient - expected[k]).abs() < 1e-9);
        }
    }
}
