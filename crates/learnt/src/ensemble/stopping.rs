//! When rounds of boosting end: rows set aside, and losses that do not fall any more.

use super::loss::Loss;
use learnt_core::context::Progress;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of the rows set aside.
const ASIDE_STREAM: u64 = 0x6173_6964;
/// The training loss is told from at most about this many rows.
const TOLD_ROWS: u64 = 10_000;
/// Bits of the key of a row.
pub(super) const KEY_BITS: u32 = 63;
/// Keys that one task draws.
const KEYS: usize = 1 << 14;

/// Rows to train on and rows that are set aside, a share of them: in every group those with the smallest keys.
/// The groups are the classes, so that each keeps its share.
pub(super) fn set_aside(
    share: Option<f64>,
    y: &[f64],
    loss: Loss,
    run: &Context,
) -> (Vec<u32>, Vec<u32>) {
    let all = 0..y.len() as u32;
    let Some(share) = share else { return (all.collect(), Vec::new()) };
    let mut keys = vec![0; y.len()];
    run.par_fill(&mut keys, KEYS, |first, keys| {
        (first as u64..).zip(keys).for_each(|(row, key)| *key = row_key(row, run));
    });
    let mut of_group: Vec<Vec<u64>> = vec![Vec::new(); groups(loss)];
    y.iter().zip(&keys).for_each(|(&y, &key)| of_group[group(loss, y)].push(key));
    let limit = |mut keys: Vec<u64>| match aside_count(keys.len() as u64, share) as usize {
        0 => 0,
        count => *keys.select_nth_unstable(count).1,
    };
    let limits: Vec<u64> = of_group.into_iter().map(limit).collect();
    all.partition(|&row| keys[row as usize] >= limits[group(loss, y[row as usize])])
}

/// What decides whether a row is set aside: a draw by its number alone, of 63 bits.
pub(super) fn row_key(row: u64, run: &Context) -> u64 {
    sample::below(&mut run.row_rng(ASIDE_STREAM, row), 1 << KEY_BITS)
}

/// How many groups of rows keep their share.
pub(super) fn groups(loss: Loss) -> usize {
    match loss {
        Loss::Logistic | Loss::Exponential => 2,
        Loss::Multinomial(classes) => classes,
        _ => 1,
    }
}

/// The group of a row with this target.
pub(super) fn group(loss: Loss, y: f64) -> usize {
    if groups(loss) > 1 { y as usize } else { 0 }
}

/// How many rows of a group are set aside; one at least stays.
pub(super) fn aside_count(rows: u64, share: f64) -> u64 {
    ((rows as f64 * share).round() as u64).min(rows.saturating_sub(1))
}

/// The training loss is told from the training rows whose numbers are multiples of this.
pub(super) fn told_step(rows: u64) -> u64 {
    rows.div_ceil(TOLD_ROWS).max(1)
}

/// Some of the training rows of a table, evenly spread.
pub(super) fn told_rows(train: &[u32], rows: usize) -> Vec<u32> {
    let step = told_step(rows as u64);
    train.iter().filter(|&&row| u64::from(row) % step == 0).copied().collect()
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
