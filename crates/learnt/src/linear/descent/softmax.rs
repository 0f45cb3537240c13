//! All classes at once: steps along the gradient of  ln Σ_k exp(s_k) - s_y,  s_k = w_k·x + b_k.
//!
//! The weights of the true class get (1 - p_y) x, those of the others -p_k x.

use super::effort::{Descended, Effort, Patience, diverged, report, slowed_down};
use super::line::{Line, Plan, Task};
use learnt_core::linalg::{add_scaled, dot, vector_math};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::vectorized;

/// One line a class, after all passes or, from given lines, after one.
pub(super) struct Softmax {
    pub(super) lines: Vec<Line>,
    pub(super) n_iter: usize,
    pub(super) converged: bool,
}

/// `task` has the codes of the classes as targets.
pub(super) fn descend_all(
    plan: &Plan,
    effort: &Effort,
    task: &Task,
    classes: usize,
    before: Option<&[Line]>,
    run: &Context,
) -> Result<Softmax> {
    let columns = task.x.ncols();
    let mut lines = match before {
        Some(lines) => lines.to_vec(),
        None => vec![Line::new(columns, plan); classes],
    };
    lines.iter_mut().for_each(|line| line.prepare(plan));
    let mut order: Vec<usize> = (0..task.x.nrows()).collect();
    let max_iter = if before.is_some() { 1 } else { effort.max_iter };
    let mut patience = Patience::default();
    let mut done = Softmax { lines: Vec::new(), n_iter: 0, converged: false };
    while done.n_iter < max_iter && !done.converged {
        done.n_iter += 1;
        run.checkpoint()?;
        if effort.shuffle {
            sample::shuffle(&mut run.rng(lines[0].steps), &mut order);
        }
        let total = vectorized!(pass(plan, &mut lines, task, &order));
        if !lines.iter().all(Line::is_finite) || !total.is_finite() {
            return Err(diverged(plan, task, done.n_iter));
        }
        report(done.n_iter, effort, total / order.len() as f64, run)?;
        if patience.is_over(total, order.len() as f64, effort) {
            done.converged = !slowed_down(plan, &mut lines);
        }
    }
    done.converged |= effort.tol.is_none() || before.is_some();
    done.lines = lines;
    Ok(done)
}

#[inline(always)]
fn pass(plan: &Plan, lines: &mut [Line], task: &Task, order: &[usize]) -> f64 {
    let mut total = 0.0;
    let start = plan.optimal_start();
    let mut changes = vec![vec![0.0; task.x.ncols()]; lines.len()];
    let mut intercepts = vec![0.0; lines.len()];
    let mut shares = vec![0.0; lines.len()];
    for batch in order.chunks(plan.batch_size.max(1)) {
        let eta = plan.rate(lines[0].steps as f64, start, lines[0].rate);
        changes.iter_mut().for_each(|change| change.fill(0.0));
        intercepts.fill(0.0);
        for &i in batch {
            let (row, class) = (task.row(i), task.targets[i] as usize);
            for (share, line) in shares.iter_mut().zip(lines.iter()) {
                *share = dot(row, &line.weights) + line.intercept;
            }
            total += softmax(&mut shares, class);
            for (k, share) in shares.iter().enumerate() {
                let truth = if k == class { 1.0 } else { 0.0 };
                let step = eta * task.weight(i) * (truth - share);
                add_scaled(&mut changes[k], step, row);
                intercepts[k] += step;
            }
        }
        let mean = (batch.len() as f64).recip();
        for ((line, change), intercept) in lines.iter_mut().zip(&changes).zip(&intercepts) {
            line.apply(plan, eta, mean, change, *intercept);
            line.updates += 1;
        }
    }
    total
}

/// Scores become shares; the loss of the true class.
#[inline(always)]
fn softmax(scores: &mut [f64], class: usize) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    let gap = largest - scores[class];
    for score in scores.iter_mut() {
        *score = vector_math::exp(*score - largest);
        total += *score;
    }
    scores.iter_mut().for_each(|share| *share /= total);
    total.ln() + gap
}

/// Lines of two classes as the one line of the second: the difference.
pub(super) fn difference(coef: &Matrix, intercept: &[f64]) -> (Matrix, Vec<f64>) {
    if coef.nrows() != 2 {
        return (coef.clone(), intercept.to_vec());
    }
    let gap = Matrix::from_fn(1, coef.ncols(), |_, j| coef[(1, j)] - coef[(0, j)]);
    (gap, vec![intercept[1] - intercept[0]])
}

impl From<Softmax> for Vec<Descended> {
    fn from(done: Softmax) -> Self {
        let one =
            |line| Descended { line, n_iter: done.n_iter, converged: done.converged, clean: false };
        done.lines.into_iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::descent::loss::Loss;
    use crate::linear::descent::options::LearningRate;

    #[test]
    fn a_batch_step_is_minus_the_mean_gradient() {
        let x = Matrix::from_rows(&[[1.0, 0.5], [1.0, -1.0], [1.0, 2.0]]).unwrap();
        let weights = [[0.1, 0.4], [0.2, -0.5], [-0.3, 0.6]];
        let plan = Plan {
            loss: Loss::Log,
            alpha: 0.0,
            strengths: (0.0, 0.0),
            learning_rate: LearningRate::Constant,
            eta0: 1.0,
            power_t: 0.5,
            fit_intercept: false,
            batch_size: 3,
            sums: false,
            momentum: 0.0,
            average: None,
        };
        let mut lines: Vec<Line> = vec![Line::new(2, &plan); 3];
        for (line, weights) in lines.iter_mut().zip(weights) {
            line.weights = weights.to_vec();
        }
        let task = Task { x: x.view(), targets: &[0.0, 1.0, 2.0], weights: None };
        let total = pass(&plan, &mut lines, &task, &[0, 1, 2]);
        assert!((total - 2.125_740_2).abs() < 1e-6, "{total}");
        for (k, expected) in [0.101_416_5, 0.008_886_6, -0.110_303_1].into_iter().enumerate() {
            let gradient = 3.0 * (weights[k][0] - lines[k].weights[0]);
            assert!((gradient - expected).abs() < 1e-6, "{gradient} is not {expected}");
        }
    }
}
