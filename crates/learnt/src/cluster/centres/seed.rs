//! First centres by rounds. A race draws without knowing the total: the smallest of -ln(u)/w over
//! rows, or of -ln(u)/W over blocks of weight W, falls on each with probability in proportion.
//!
//! Greedy k-means++ in one round a centre: a round measures what every candidate would leave of
//! Σ w D², D the distance to the nearest centre, and draws the next candidates for each of them in
//! proportion to what it would leave; only those of the best candidate are then used.

use super::{CHUNK, Leader, Leaders, for_each_chunk};
use learnt_core::linalg::Distances;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Draws one row in proportion to the weights: a race of blocks, and a place inside each.
pub(crate) fn draw_row(block: &Block, stream: u64, run: &Context) -> Leaders {
    let mut leaders = Leaders::new(1);
    let weights: Vec<f64> = (0..block.data.nrows()).map(|i| block.data.weight(i)).collect();
    let total: f64 = weights.iter().sum();
    let mut rng = run.row_rng(stream, block.first_row);
    let key = sample::standard_exponential(&mut rng) / total;
    let (row, _) = position(&weights, sample::uniform(&mut rng) * total);
    leaders.offer(key, || {
        let mut values = vec![0.0; block.data.x.ncols()];
        block.data.x.values().copy_row(row, &mut values);
        Leader { key, weight: weights[row], values }
    });
    leaders
}

/// Draws rows without replacement, in proportion to their weights: a race of rows.
pub(crate) fn draw_rows(block: &Block, count: usize, stream: u64, run: &Context) -> Leaders {
    let mut leaders = Leaders::new(count);
    let mut values = vec![0.0; block.data.x.ncols()];
    for i in 0..block.data.nrows() {
        let mut rng = run.row_rng(stream, block.first_row + i as u64);
        let weight = block.data.weight(i);
        let key = sample::standard_exponential(&mut rng) / weight;
        leaders.offer(key, || {
            block.data.x.values().copy_row(i, &mut values);
            Leader { key, weight, values: values.clone() }
        });
    }
    leaders
}

/// What each candidate would leave of the objective, and the next candidates it would lead to.
#[derive(Stored, Clone, Debug)]
pub struct Race {
    /// Σ w D² with each candidate as a further centre.
    pub left: Vec<f64>,
    /// For each candidate, the winners of the draws among what is left.
    pub winners: Vec<Leader>,
}

impl Race {
    /// The candidate that leaves least, the first of equals, and the candidates after it.
    pub fn best(&self) -> (usize, Vec<&[f64]>) {
        let mut best = 0;
        for (c, left) in self.left.iter().enumerate() {
            if *left < self.left[best] {
                best = c;
            }
        }
        let draws = self.winners.len() / self.left.len().max(1);
        let winners = self.winners[best * draws..(best + 1) * draws].iter();
        (best, winners.filter(|w| w.key < f64::INFINITY).map(|w| w.values.as_slice()).collect())
    }
}

impl Merge for Race {
    fn merge(mut self, later: Self) -> Result<Self> {
        for (left, later) in self.left.iter_mut().zip(later.left) {
            *left += later;
        }
        for (winner, later) in self.winners.iter_mut().zip(later.winners) {
            if later.key < winner.key {
                *winner = later;
            }
        }
        Ok(self)
    }
}

/// Squared distance of each row of a block to the nearest of the centres chosen so far.
#[derive(Debug, Default)]
pub struct SeedMemo {
    known: usize,
    closest: Vec<f64>,
}

/// One round over a block: the candidates' potentials, and `draws` next candidates for each.
pub(crate) fn race(
    block: &Block,
    chosen: &Matrix,
    candidates: &Matrix,
    draws: usize,
    memo: &mut SeedMemo,
    stream: u64,
    run: &Context,
) -> Race {
    let rows = block.data.nrows();
    if memo.closest.len() != rows || chosen.nrows() == 0 || memo.known > chosen.nrows() {
        *memo = SeedMemo { known: 0, closest: vec![f64::INFINITY; rows] };
    }
    let parts = parts_left(&block.data, chosen, candidates, memo);
    let count = candidates.nrows();
    let left: Vec<f64> =
        (0..count).map(|c| parts.chunks_exact(count).map(|part| part[c]).sum()).collect();
    let mut rng = run.row_rng(stream, block.first_row);
    let luck: Vec<(f64, f64)> = (0..draws)
        .map(|_| (sample::standard_exponential(&mut rng), sample::uniform(&mut rng)))
        .collect();
    let mut winners = Vec::with_capacity(count * draws);
    for (c, &left) in left.iter().enumerate() {
        let parts: Vec<f64> = parts.chunks_exact(count).map(|part| part[c]).collect();
        winners.extend(luck.iter().map(|&(time, place)| {
            let key = time / left;
            match key < f64::INFINITY {
                true => winner(&block.data, candidates.row(c), memo, &parts, place * left, key),
                false => Leader::nobody(),
            }
        }));
    }
    Race { left, winners }
}

/// Σ w D² of every chunk of rows with each candidate as a further centre. Brings the memo up to the
/// centres chosen so far.
fn parts_left(
    data: &Dataset,
    chosen: &Matrix,
    candidates: &Matrix,
    memo: &mut SeedMemo,
) -> Vec<f64> {
    let fresh = chosen.nrows() - memo.known;
    let points = Matrix::from_fn(fresh + candidates.nrows(), candidates.ncols(), |i, j| {
        if i < fresh { chosen[(memo.known + i, j)] } else { candidates[(i - fresh, j)] }
    });
    let distances = Distances::new(&points);
    let mut found = vec![0.0; CHUNK * points.nrows()];
    let mut parts = Vec::new();
    for_each_chunk(data.x.values(), |first, rows| {
        let found = &mut found[..rows.nrows() * points.nrows()];
        distances.of(rows, found);
        let start = parts.len();
        parts.resize(start + candidates.nrows(), 0.0);
        for (i, found) in found.chunks_exact(points.nrows()).enumerate() {
            let (fresh, of_candidates) = found.split_at(fresh);
            let closest = &mut memo.closest[first + i];
            *closest = fresh.iter().fold(*closest, |least, &d| least.min(d));
            let weight = data.weight(first + i);
            for (part, &distance) in parts[start..].iter_mut().zip(of_candidates) {
                *part += weight * closest.min(distance);
            }
        }
    });
    memo.known = chosen.nrows();
    parts
}

/// The row at a place among what a candidate would leave: chunk first, then row.
fn winner(
    data: &Dataset,
    candidate: &[f64],
    memo: &SeedMemo,
    parts: &[f64],
    place: f64,
    key: f64,
) -> Leader {
    let (chunk, before) = position(parts, place);
    let first = chunk * CHUNK;
    let rows = data.x.values().rows(first, (first + CHUNK).min(data.nrows()));
    let mut left = vec![0.0; rows.nrows()];
    if let Ok(point) = MatRef::row_major(candidate, 1, candidate.len()) {
        Distances::new(&point.to_matrix()).of(rows, &mut left);
    }
    for (i, left) in left.iter_mut().enumerate() {
        *left = data.weight(first + i) * memo.closest[first + i].min(*left);
    }
    let (row, _) = position(&left, place - before);
    let mut values = vec![0.0; rows.ncols()];
    rows.copy_row(row, &mut values);
    Leader { key, weight: data.weight(first + row), values }
}

/// Where the running sum passes the place, and the sum before; the last positive share if rounding
/// keeps it short.
pub(super) fn position(shares: &[f64], place: f64) -> (usize, f64) {
    let (mut reached, mut last) = (0.0, (0, 0.0));
    for (i, &share) in shares.iter().enumerate() {
        if share > 0.0 {
            last = (i, reached);
            if place < reached + share {
                break;
            }
        }
        reached += share;
    }
    last
}
