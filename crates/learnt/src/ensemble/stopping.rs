//! When rounds of boosting end: rows set aside, and losses that do not fall any more.

use super::loss::Loss;
use learnt_core::context::Progress;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of the rows set aside.
const ASIDE_STREAM: u64 = 0x6173_6964;
/// The training loss is told from at most about this many rows.
const TOLD_ROWS: usize = 10_000;

/// Rows to train on and rows that are set aside, a share of them. Every class keeps its share.
pub(super) fn set_aside(
    share: Option<f64>,
    y: &[f64],
    loss: Loss,
    run: &Context,
) -> (Vec<u32>, Vec<u32>) {
    let all: Vec<u32> = (0..y.len() as u32).collect();
    let Some(share) = share else { return (all, Vec::new()) };
    let mut rng = run.rng(ASIDE_STREAM);
    let classes = matches!(loss, Loss::Logistic | Loss::Exponential | Loss::Multinomial(_));
    let groups = if classes { loss.scores().max(2) } else { 1 };
    let mut aside = vec![false; y.len()];
    for k in 0..groups {
        let of_class = |&&row: &&u32| !classes || y[row as usize] == k as f64;
        let mut rows: Vec<u32> = all.iter().filter(of_class).copied().collect();
        sample::shuffle(&mut rng, &mut rows);
        let wanted = (rows.len() as f64 * share).round() as usize;
        let count = wanted.min(rows.len().saturating_sub(1));
        rows[..count].iter().for_each(|&row| aside[row as usize] = true);
    }
    all.into_iter().partition(|&row| !aside[row as usize])
}

/// Some of the training rows, evenly spread.
pub(super) fn told_rows(train: &[u32]) -> Vec<u32> {
    train.iter().step_by(train.len().div_ceil(TOLD_ROWS).max(1)).copied().collect()
}

/// Whether none of the last `patience` losses is lower than the one before them by `tol`.
pub(super) fn has_stalled(losses: &[f64], patience: usize, tol: f64) -> bool {
    match losses.len().checked_sub(patience + 1) {
        None => false,
        Some(from) => losses[from + 1..].iter().all(|&loss| loss > losses[from] - tol),
    }
}

/// Tells how far boosting is; an error if the user asked to stop.
pub(super) fn tell(
    round: usize,
    rounds: usize,
    (training, aside): (&[f64], &[f64]),
    run: &Context,
) -> Result<()> {
    let last = |losses: &[f64]| losses.last().copied();
    if let Some(loss) = last(training) {
        run.losses(loss, last(aside));
    }
    run.progress(&Progress {
        stage: "boosting",
        done: round as u64,
        total: Some(rounds as u64),
        objective: last(aside).or(last(training)),
    })
}
