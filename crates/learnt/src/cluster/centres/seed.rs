//! First centres by rounds. A race draws without knowing the total: the smallest of -ln(u)/w over
//! rows, or of -ln(u)/W over blocks of weight W, falls on each with probability in proportion.
//!
//! Greedy k-means++ in one round a centre: a round measures what every candidate would leave of
//! Σ w D², D the distance to the nearest centre, and draws the next candidates for each of them in
//! proportion to what it would leave; only those of the best candidate are then used.

use super::{CHUNK, Leader, Leaders};
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
        let (weight, place) = (block.data.weight(i), sample::uniform(&mut rng));
        // Most rows are behind without a logarithm; a little more than the bound, for its rounding.
        if place > 1.000_001 * leaders.bound() * weight {
            continue;
        }
        let key = sample::exponential_at(place) / weight;
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

/// What is known of the rows of a block.
#[derive(Debug, Default)]
pub struct SeedMemo {
    /// The number of centres that `closest` knows.
    known: usize,
    /// Squared distance of each row to the nearest of these.
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
        *memo = SeedMemo { closest: vec![f64::INFINITY; rows], ..SeedMemo::default() };
    }
    let (of_rows, parts) = parts_left(&block.data, chosen, candidates, memo, run);
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
                true => {
                    let left_of = |i: usize| of_rows[i * count + c];
                    winner(&block.data, left_of, &parts, place * left, key)
                }
                false => Leader::nobody(),
            }
        }));
    }
    Race { left, winners }
}

/// w D² of every row with each candidate as a further centre, row by row, and the sums over every chunk of rows. Brings
/// the memo up to the centres chosen so far.
fn parts_left(
    data: &Dataset,
    chosen: &Matrix,
    candidates: &Matrix,
    memo: &mut SeedMemo,
    run: &Context,
) -> (Vec<f64>, Vec<f64>) {
    let (fresh, count) = (chosen.nrows() - memo.known, candidates.nrows());
    let points = Matrix::from_fn(fresh + count, candidates.ncols(), |i, j| {
        if i < fresh { chosen[(memo.known + i, j)] } else { candidates[(i - fresh, j)] }
    });
    let found = squared_distances(data.x.values(), &points, run);
    let mut left = vec![0.0; data.nrows() * count];
    let mut parts = vec![0.0; data.nrows().div_ceil(CHUNK) * count];
    let rows = left.chunks_exact_mut(count);
    for ((i, left), found) in rows.enumerate().zip(found.chunks_exact(fresh + count)) {
        let (fresh, of_candidates) = found.split_at(fresh);
        let closest = &mut memo.closest[i];
        *closest = fresh.iter().fold(*closest, |least, &d| least.min(d));
        let (closest, weight) = (*closest, data.weight(i));
        let parts = parts[i / CHUNK * count..].iter_mut();
        for ((left, part), d) in left.iter_mut().zip(parts).zip(of_candidates) {
            *left = weight * closest.min(*d);
            *part += *left;
        }
    }
    memo.known = chosen.nrows();
    (left, parts)
}

/// The squared distances of all rows to some points, row by row.
pub(super) fn squared_distances(x: MatRef, points: &Matrix, run: &Context) -> Vec<f64> {
    const VALUES: usize = 1 << 16;
    let count = points.nrows();
    let distances = Distances::new(points);
    let mut out = vec![0.0; x.nrows() * count];
    let rows = (VALUES / x.ncols().max(1)).clamp(16, 1024);
    run.par_fill(&mut out, rows * count, |start, piece| {
        let (first, end) = (start / count, (start + piece.len()) / count);
        distances.of(x.rows(first, end), piece);
    });
    out
}

/// The row at a place among what one of the candidates would leave: chunk first, then row.
fn winner(
    data: &Dataset,
    left_of: impl Fn(usize) -> f64,
    parts: &[f64],
    place: f64,
    key: f64,
) -> Leader {
    let (chunk, before) = position(parts, place);
    let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(data.nrows());
    let left: Vec<f64> = rows.clone().map(left_of).collect();
    let row = rows.start + position(&left, place - before).0;
    let mut values = vec![0.0; data.x.ncols()];
    data.x.values().copy_row(row, &mut values);
    Leader { key, weight: data.weight(row), values }
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
