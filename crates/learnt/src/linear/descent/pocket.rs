//! The pocket: perceptron steps, keeping the weights that make the fewest mistakes on all rows.
//!
//! Weights are tried on all rows when they got more rows right in a run than those in the pocket,
//! and at the end of each pass; they go in if they make fewer mistakes.

use super::effort::{Descended, Effort, report};
use super::line::{Line, Plan, Task};
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

struct Pocket {
    line: Line,
    mistakes: usize,
    longest_run: usize,
}

pub(super) fn descend(
    plan: &Plan,
    effort: &Effort,
    task: &Task,
    run: &Context,
) -> Result<Descended> {
    let n = task.x.nrows();
    let mut line = Line::new(task.x.ncols(), plan);
    let mut pocket = Pocket { line: line.clone(), mistakes: usize::MAX, longest_run: 0 };
    let mut order: Vec<usize> = (0..n).collect();
    let mut n_iter = 0;
    while n_iter < effort.max_iter && pocket.mistakes > 0 {
        n_iter += 1;
        if effort.shuffle {
            sample::shuffle(&mut run.rng(line.steps), &mut order);
        }
        pass(plan, &mut line, &mut pocket, task, &order);
        if !line.is_finite() {
            return Err(super::effort::diverged(plan, task, n_iter));
        }
        report(n_iter, effort, pocket.mistakes as f64, run)?;
    }
    let (updates, steps) = (line.updates, line.steps);
    let clean = pocket.mistakes == 0;
    let line = Line { updates, steps, ..pocket.line };
    Ok(Descended { line, n_iter, converged: clean, clean })
}

fn pass(plan: &Plan, line: &mut Line, pocket: &mut Pocket, task: &Task, order: &[usize]) {
    let mut in_a_row = 0;
    for &i in order {
        let (row, y) = (task.row(i), task.targets[i]);
        let score = dot(row, &line.weights) + line.intercept;
        let eta = plan.rate(line.steps as f64, 0.0, line.rate);
        let step = plan.step(score, y, eta, row) * task.weight(i);
        line.steps += 1;
        if step == 0.0 {
            in_a_row += 1;
            continue;
        }
        pocket.consider(line, in_a_row, plan, task);
        in_a_row = 0;
        add_scaled(&mut line.weights, step, row);
        line.intercept += if plan.fit_intercept { step } else { 0.0 };
        line.updates += 1;
    }
    pocket.consider(line, order.len(), plan, task);
}

impl Pocket {
    fn consider(&mut self, line: &Line, in_a_row: usize, plan: &Plan, task: &Task) {
        if in_a_row <= self.longest_run && self.mistakes != usize::MAX && in_a_row < task.x.nrows()
        {
            return;
        }
        let is_mistake = |&i: &usize| {
            let score = dot(task.row(i), &line.weights) + line.intercept;
            plan.loss.slope(score, task.targets[i]) != 0.0
        };
        let mistakes = (0..task.x.nrows()).filter(is_mistake).count();
        if mistakes < self.mistakes {
            self.longest_run = if in_a_row < task.x.nrows() { in_a_row } else { self.longest_run };
            *self = Pocket { line: line.clone(), mistakes, longest_run: self.longest_run };
        }
    }
}
