//! A linear function on its way down: weights, and everything that the next step needs.
//!
//! A step from a row with score p = w·x + b is  w ← (1 - η α₂) w - η L'(p, y) x,  b ← b - η L'(p, y);
//! a step from several rows takes the mean of their slopes. The common case keeps w = s v with one
//! factor s, so that the penalty costs nothing. The L1 penalty is the cumulative one: what a weight
//! could have been pulled so far, less what it was (Tsuruoka, Tsujii and Ananiadou, 2009, ACL).

use super::loss::Loss;
use super::options::LearningRate;
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::persist::{Shaped, Side, Sizes};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// A linear function and the state of its descent.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) weights: Vec<f64>,
    pub(super) intercept: f64,
    /// Steps made.
    pub(super) steps: u64,
    /// Steps that changed something.
    pub(super) updates: u64,
    /// The length of steps, where it does not follow from their number.
    pub(super) rate: f64,
    /// Means over steps; empty without averaging.
    pub(super) mean_weights: Vec<f64>,
    pub(super) mean_intercept: f64,
    /// Momentum; empty without.
    pub(super) velocity: Vec<f64>,
    pub(super) velocity_intercept: f64,
    /// How far the L1 penalty may have pulled, and how far it has; empty without.
    pub(super) pull: f64,
    pub(super) pulled: Vec<f64>,
}

/// How steps are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) loss: Loss,
    pub(super) alpha: f64,
    /// Strengths of the squares and of the absolute values.
    pub(super) strengths: (f64, f64),
    pub(super) learning_rate: LearningRate,
    pub(super) eta0: f64,
    pub(super) power_t: f64,
    pub(super) fit_intercept: bool,
    pub(super) batch_size: usize,
    /// Slopes of a batch are added rather than averaged.
    pub(super) sums: bool,
    pub(super) momentum: f64,
    /// The first step that counts for the average.
    pub(super) average: Option<u64>,
}

/// Rows, targets and weights of one problem.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    /// Rows whose values are neighbours in memory.
    pub(super) x: MatRef<'a>,
    pub(super) targets: &'a [f64],
    pub(super) weights: Option<&'a [f64]>,
}

impl<'a> Task<'a> {
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [f64] {
        self.x.row_slice(i).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }
}

/// One weight for each column; what steps do not need is empty.
impl Shaped for Line {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        self.weights.fits(sizes, sides) && self.has_width(self.weights.len())
    }
}

impl Line {
    /// Whether its parts have the lengths that steps rely on.
    pub(super) fn has_width(&self, columns: usize) -> bool {
        let optional = |values: &[f64]| values.is_empty() || values.len() == columns;
        self.weights.len() == columns
            && optional(&self.mean_weights)
            && optional(&self.velocity)
            && optional(&self.pulled)
            && self.is_finite()
    }

    /// All zeros.
    pub(super) fn new(columns: usize, plan: &Plan) -> Line {
        let mut line = Line { weights: vec![0.0; columns], rate: plan.eta0, ..Line::default() };
        line.prepare(plan);
        line
    }

    /// Makes room for what the plan needs.
    pub(super) fn prepare(&mut self, plan: &Plan) {
        let columns = self.weights.len();
        let room = |values: &mut Vec<f64>, needed: bool| {
            if needed && values.len() != columns {
                *values = vec![0.0; columns];
            }
        };
        room(&mut self.mean_weights, plan.average.is_some());
        room(&mut self.velocity, plan.momentum > 0.0);
        room(&mut self.pulled, plan.strengths.1 > 0.0);
        if plan.learning_rate != LearningRate::Adaptive {
            self.rate = plan.eta0;
        }
    }

    /// Weights and intercept to predict with: means once averaging has begun.
    pub(super) fn result(&self, plan: &Plan) -> (&[f64], f64) {
        match plan.average {
            Some(first) if self.steps >= first => (&self.mean_weights, self.mean_intercept),
            _ => (&self.weights, self.intercept),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.intercept.is_finite() && self.weights.iter().all(|w| w.is_finite())
    }

    /// Steps along the rows in the given order; the sum of their losses, each before its step.
    pub(super) fn pass(&mut self, plan: &Plan, task: &Task, order: &[usize]) -> f64 {
        let plain = plan.batch_size == 1
            && plan.momentum == 0.0
            && plan.average.is_none()
            && plan.strengths.1 == 0.0;
        vectorized!(match plain {
            true => self.single_steps(plan, task, order),
            false => self.batch_steps(plan, task, order),
        })
    }

    #[inline(always)]
    fn single_steps(&mut self, plan: &Plan, task: &Task, order: &[usize]) -> f64 {
        let (mut scale, mut total, mut changes) = (1.0_f64, 0.0, 0);
        let mut t = self.steps as f64;
        let start = plan.optimal_start();
        let (weights, mut intercept) = (&mut self.weights[..], self.intercept);
        for &i in order {
            let (row, y) = (task.row(i), task.targets[i]);
            let score = scale * dot(row, weights) + intercept;
            total += plan.loss.value(score, y);
            let eta = plan.rate(t, start, self.rate);
            let step = plan.step(score, y, eta, row) * task.weight(i);
            if plan.strengths.0 > 0.0 {
                scale *= (1.0 - plan.strengths.0 * eta).max(0.0);
                if scale < 1e-9 {
                    weights.iter_mut().for_each(|w| *w *= scale);
                    scale = 1.0;
                }
            }
            if step != 0.0 {
                add_scaled(weights, step / scale, row);
                intercept += if plan.fit_intercept { step } else { 0.0 };
                changes += 1;
            }
            t += 1.0;
        }
        weights.iter_mut().for_each(|w| *w *= scale);
        self.intercept = intercept;
        self.steps += order.len() as u64;
        self.updates += changes;
        total
    }

    #[inline(always)]
    fn batch_steps(&mut self, plan: &Plan, task: &Task, order: &[usize]) -> f64 {
        let mut total = 0.0;
        let start = plan.optimal_start();
        let mut change = vec![0.0; self.weights.len()];
        for batch in order.chunks(plan.batch_size.max(1)) {
            let eta = plan.rate(self.steps as f64, start, self.rate);
            change.fill(0.0);
            let (mut intercept_change, mut changed) = (0.0, false);
            for &i in batch {
                let (row, y) = (task.row(i), task.targets[i]);
                let score = dot(row, &self.weights) + self.intercept;
                total += plan.loss.value(score, y);
                let step = plan.step(score, y, eta, row) * task.weight(i);
                if step != 0.0 {
                    add_scaled(&mut change, step, row);
                    intercept_change += step;
                    changed = true;
                }
            }
            let share = if plan.sums { 1.0 } else { (batch.len() as f64).recip() };
            self.apply(plan, eta, share, &change, intercept_change);
            self.updates += u64::from(changed);
        }
        total
    }

    /// One step along `share` times the change.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        plan: &Plan,
        eta: f64,
        share: f64,
        change: &[f64],
        intercept_change: f64,
    ) {
        let keep = (1.0 - plan.strengths.0 * eta).max(0.0);
        let intercept_change = if plan.fit_intercept { share * intercept_change } else { 0.0 };
        if plan.momentum > 0.0 {
            for ((w, v), c) in self.weights.iter_mut().zip(&mut self.velocity).zip(change) {
                *v = plan.momentum * *v + share * c;
                *w = keep * *w + *v;
            }
            self.velocity_intercept = plan.momentum * self.velocity_intercept + intercept_change;
            self.intercept += self.velocity_intercept;
        } else {
            for (w, c) in self.weights.iter_mut().zip(change) {
                *w = keep * *w + share * c;
            }
            self.intercept += intercept_change;
        }
        self.steps += 1;
        self.average(plan);
        if plan.strengths.1 > 0.0 {
            self.pull += plan.strengths.1 * eta;
            pull_to_zero(&mut self.weights, &mut self.pulled, self.pull);
        }
    }

    #[inline(always)]
    fn average(&mut self, plan: &Plan) {
        let Some(first) = plan.average.filter(|&first| self.steps >= first) else { return };
        let share = ((self.steps - first + 1) as f64).recip();
        for (mean, w) in self.mean_weights.iter_mut().zip(&self.weights) {
            *mean += (w - *mean) * share;
        }
        self.mean_intercept += (self.intercept - self.mean_intercept) * share;
    }
}

impl Plan {
    /// t0 - 1 of the rate `optimal`: the first step has the size of typical weights α^(-1/4).
    #[inline(always)]
    pub(super) fn optimal_start(&self) -> f64 {
        let typical = self.alpha.sqrt().recip().sqrt();
        (typical * self.alpha).recip()
    }

    /// The length of the step after `t` others.
    #[inline(always)]
    pub(super) fn rate(&self, t: f64, start: f64, rate: f64) -> f64 {
        match self.learning_rate {
            LearningRate::Optimal => (self.alpha * (start + t)).recip(),
            LearningRate::Invscaling if self.power_t == 0.25 => self.eta0 / (t + 1.0).sqrt().sqrt(),
            LearningRate::Invscaling if self.power_t == 0.5 => self.eta0 / (t + 1.0).sqrt(),
            LearningRate::Invscaling => self.eta0 / (t + 1.0).powf(self.power_t),
            _ => rate,
        }
    }

    /// The multiple of the row that is added to the weights.
    #[inline(always)]
    pub(super) fn step(&self, score: f64, y: f64, eta: f64, row: &[f64]) -> f64 {
        if !self.learning_rate.is_passive_aggressive() {
            return -eta * self.loss.slope(score, y);
        }
        let loss = self.loss.value(score, y);
        let square = dot(row, row);
        if loss == 0.0 || square == 0.0 {
            return 0.0;
        }
        let length = match self.learning_rate {
            LearningRate::PassiveAggressive1 => (loss / square).min(self.eta0),
            _ => loss / (square + 0.5 / self.eta0),
        };
        -length * self.loss.slope(score, y).signum()
    }
}

/// Pulls each weight towards zero by what is left of `pull`, and not beyond.
#[inline(always)]
fn pull_to_zero(weights: &mut [f64], pulled: &mut [f64], pull: f64) {
    for (w, q) in weights.iter_mut().zip(pulled) {
        let before = *w;
        if before > 0.0 {
            *w = (before - (pull + *q)).max(0.0);
        } else if before < 0.0 {
            *w = (before + (pull - *q)).min(0.0);
        }
        *q += *w - before;
    }
}
