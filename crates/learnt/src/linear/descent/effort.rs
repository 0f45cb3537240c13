//! Passes over the rows until they no longer help.
//!
//! After each pass the sum of losses (or the score of held-out rows) is compared with the best so
//! far; `n_iter_no_change` passes in a row without a gain of `tol` end the descent, or divide an
//! adaptive rate by 5.

use super::line::{Line, Plan, Task};
use super::options::LearningRate;
use learnt_core::context::Progress;
use learnt_core::linalg::dot;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Below, an adaptive rate is not divided any more.
const SMALLEST_RATE: f64 = 1e-6;
/// Rows between two looks at whether the user wants to stop.
const ROWS_BETWEEN_CHECKPOINTS: usize = 1 << 16;

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) max_iter: usize,
    pub(super) tol: Option<f64>,
    pub(super) shuffle: bool,
    pub(super) n_iter_no_change: usize,
    /// The share of rows held out, if a score of those decides.
    pub(super) held_out: Option<f64>,
    /// Targets are classes -1 and 1.
    pub(super) classes: bool,
    /// A pass without an update is the last.
    pub(super) clean_pass_ends: bool,
}

/// How a descent ended.
#[derive(Clone, Debug)]
pub(super) struct Descended {
    pub(super) line: Line,
    pub(super) n_iter: usize,
    pub(super) converged: bool,
    /// The last pass had no update.
    pub(super) clean: bool,
}

/// Counts passes that no longer help.
pub(super) struct Patience {
    best: f64,
    waited: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { best: f64::INFINITY, waited: 0 }
    }
}

impl Patience {
    /// Whether too many passes in a row failed to lower the objective by `tol` times `slack`.
    pub(super) fn is_over(&mut self, now: f64, slack: f64, effort: &Effort) -> bool {
        let Some(tol) = effort.tol else { return false };
        self.waited = if now > self.best - tol * slack { self.waited + 1 } else { 0 };
        self.best = self.best.min(now);
        let over = self.waited >= effort.n_iter_no_change;
        self.waited = if over { 0 } else { self.waited };
        over
    }
}

/// Shortens the steps of an adaptive rate; false if there is nothing to shorten.
pub(super) fn slowed_down(plan: &Plan, lines: &mut [Line]) -> bool {
    let adaptive = plan.learning_rate == LearningRate::Adaptive;
    let can = adaptive && lines.iter().all(|line| line.rate > SMALLEST_RATE);
    lines.iter_mut().filter(|_| can).for_each(|line| line.rate /= 5.0);
    can
}

/// Passes from zero weights until the end.
pub(super) fn descend(
    plan: &Plan,
    effort: &Effort,
    task: &Task,
    run: &Context,
) -> Result<Descended> {
    let mut line = Line::new(task.x.ncols(), plan);
    let (mut order, held_out) = split(effort, task, run)?;
    let at_zero = |&y: &f64| plan.loss.value(0.0, y);
    let zero: f64 = match plan.loss.explodes() {
        true => task.targets.iter().map(at_zero).sum(),
        false => f64::INFINITY,
    };
    let mut patience = Patience::default();
    let mut ended = Descended { line: Line::default(), n_iter: 0, converged: false, clean: false };
    while ended.n_iter < effort.max_iter && !ended.converged {
        ended.n_iter += 1;
        let updates = line.updates;
        let total = one_pass(plan, effort, &mut line, task, &mut order, run)?;
        let exploded = total > 1e6 * zero.max(f64::MIN_POSITIVE);
        if !line.is_finite() || !total.is_finite() || exploded {
            return Err(diverged(plan, task, ended.n_iter));
        }
        report(ended.n_iter, effort, total / order.len() as f64, run)?;
        ended.clean = line.updates == updates;
        if ended.clean && effort.clean_pass_ends {
            ended.converged = true;
            break;
        }
        let (now, slack) = match held_out.is_empty() {
            true => (total, order.len() as f64),
            false => (-score(&line, effort, task, &held_out), 1.0),
        };
        if patience.is_over(now, slack, effort) {
            ended.converged = !slowed_down(plan, std::slice::from_mut(&mut line));
        }
    }
    ended.converged |= effort.tol.is_none() && !effort.clean_pass_ends;
    ended.line = line;
    Ok(ended)
}

/// One pass over all rows, from where the line is: an update with more rows.
pub(super) fn one_more_pass(
    plan: &Plan,
    effort: &Effort,
    mut line: Line,
    task: &Task,
    run: &Context,
) -> Result<Descended> {
    line.prepare(plan);
    let updates = line.updates;
    let mut order: Vec<usize> = (0..task.x.nrows()).collect();
    let total = one_pass(plan, effort, &mut line, task, &mut order, run)?;
    match line.is_finite() {
        true => {
            report(1, effort, total / order.len().max(1) as f64, run)?;
            let clean = line.updates == updates;
            Ok(Descended { line, n_iter: 1, converged: true, clean })
        }
        false => Err(diverged(plan, task, 1)),
    }
}

fn one_pass(
    plan: &Plan,
    effort: &Effort,
    line: &mut Line,
    task: &Task,
    order: &mut [usize],
    run: &Context,
) -> Result<f64> {
    if effort.shuffle {
        sample::shuffle(&mut run.rng(line.steps), order);
    }
    // Whole batches between checkpoints, so that a checkpoint never cuts one.
    let batch = plan.batch_size.clamp(1, order.len().max(1));
    let piece = batch * (ROWS_BETWEEN_CHECKPOINTS / batch).max(1);
    let mut total = 0.0;
    for rows in order.chunks(piece) {
        run.checkpoint()?;
        total += line.pass(plan, task, rows);
    }
    Ok(total)
}

pub(super) fn report(n_iter: usize, effort: &Effort, objective: f64, run: &Context) -> Result<()> {
    run.progress(&Progress {
        stage: "stochastic descent",
        done: n_iter as u64,
        total: Some(effort.max_iter as u64),
        objective: Some(objective),
    })
}

/// Rows to train on and rows to hold out: the same share of both classes.
fn split(effort: &Effort, task: &Task, run: &Context) -> Result<(Vec<usize>, Vec<usize>)> {
    let n = task.x.nrows();
    let Some(share) = effort.held_out else { return Ok(((0..n).collect(), Vec::new())) };
    let (mut order, mut held_out) = (Vec::new(), Vec::new());
    let group = |i: &usize| effort.classes && task.targets[*i] > 0.0;
    for wanted in [false, true] {
        let mut rows: Vec<usize> = (0..n).filter(|i| group(i) == wanted).collect();
        sample::shuffle(&mut run.rng(u64::MAX), &mut rows);
        let count = (share * rows.len() as f64).ceil() as usize;
        held_out.extend_from_slice(&rows[..count.min(rows.len())]);
        order.extend_from_slice(&rows[count.min(rows.len())..]);
    }
    if order.is_empty() || held_out.is_empty() {
        let message = format!("{n} rows are too few to hold out {share} of them");
        return Err(Error::new(Code::TooFew, message).hint("set early_stopping to false"));
    }
    order.sort_unstable();
    Ok((order, held_out))
}

/// The share of right classes, or R².
fn score(line: &Line, effort: &Effort, task: &Task, rows: &[usize]) -> f64 {
    let predict = |i: usize| dot(task.row(i), &line.weights) + line.intercept;
    let count = rows.len() as f64;
    if effort.classes {
        let right = |&&i: &&usize| (predict(i) >= 0.0) == (task.targets[i] > 0.0);
        return rows.iter().filter(right).count() as f64 / count;
    }
    let mean = rows.iter().map(|&i| task.targets[i]).sum::<f64>() / count;
    let squares = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&i| f(i) * f(i)).sum::<f64>();
    let errors = squares(&|i| predict(i) - task.targets[i]);
    let spread = squares(&|i| mean - task.targets[i]);
    if spread > 0.0 { 1.0 - errors / spread } else { -errors }
}

/// The error for steps that are too long, with a length that is not.
pub(super) fn diverged(plan: &Plan, task: &Task, n_iter: usize) -> Error {
    let square = |i: usize| dot(task.row(i), task.row(i)) + f64::from(plan.fit_intercept);
    let squares = (0..task.x.nrows()).map(square);
    let largest = match plan.batch_size {
        1 => squares.fold(0.0, f64::max),
        _ => squares.sum::<f64>() / task.x.nrows() as f64,
    };
    let message = format!(
        "the weights grow without bound in pass {n_iter}: steps of learning_rate='{}' with eta0={} are too long for these columns",
        plan.learning_rate, plan.eta0
    );
    let rate = 0.5 / largest;
    let hint = match rate.is_finite() && rate > 0.0 {
        true => format!(
            "put StandardScaler in front, or try learning_rate='invscaling' with eta0={rate:.0e}"
        ),
        false => "put StandardScaler in front".to_string(),
    };
    Error::numeric(message).hint(hint)
}
