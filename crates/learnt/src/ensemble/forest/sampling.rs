//! Which rows a tree sees: all of them, or a bootstrap sample as a count of each row.
//!
//! n draws with replacement, without drawing one after another: how many fall into the first half of the rows
//! is binomial, and so on down to 256 rows, inside which each draw is made. Every division has its own
//! random stream, so the counts of some rows follow from the seed, the tree and their numbers alone, whoever
//! asks for them and however rows are cut into blocks.

use learnt_core::prelude::*;
use learnt_core::rounds::LEAF_ROWS;
use learnt_core::stats::sample;
use std::ops::Range;

/// The random streams of the rows of a tree: of divisions, and of rows.
const HALVES_STREAM: u64 = 0x6861_6c66;
const ROWS_STREAM: u64 = 0x626f_6f74;
/// Rows whose number of draws is found once for all.
const SEGMENT: usize = 1 << 14;

/// How rows are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    pub(super) rows: usize,
    /// How many draws with replacement; none takes every row once.
    pub(super) drawn: Option<usize>,
}

impl Sampling {
    /// How many segments have their draws found once for all.
    pub(super) fn segments(&self) -> usize {
        self.rows.div_ceil(SEGMENT)
    }

    /// How many draws fall into each segment, by the run of one tree; none if every row counts once.
    pub(super) fn draws(&self, run: &Context) -> Option<Vec<u32>> {
        Some(divided(self.drawn? as u64, 0..self.rows, SEGMENT, HALVES_STREAM, run))
    }

    /// How often each of some rows was drawn, from the number of draws of all segments.
    pub(super) fn counts_in(&self, rows: Range<usize>, draws: &[u32], run: &Context) -> Vec<u32> {
        let mut counts = vec![0; rows.len()];
        for segment in rows.start / SEGMENT..rows.end.div_ceil(SEGMENT) {
            let whole = segment * SEGMENT..((segment + 1) * SEGMENT).min(self.rows);
            let stream = HALVES_STREAM.wrapping_add((segment as u64 + 1) << 32);
            let count = draws.get(segment).copied().unwrap_or(0).into();
            let pieces = divided(count, whole.clone(), LEAF_ROWS, stream, run);
            for (first, count) in whole.step_by(LEAF_ROWS).zip(pieces) {
                let length = LEAF_ROWS.min(self.rows - first);
                if first >= rows.end || first + length <= rows.start {
                    continue;
                }
                let mut rng = run.row_rng(ROWS_STREAM, (first / LEAF_ROWS) as u64);
                for _ in 0..count {
                    let row = first + sample::below(&mut rng, length as u64) as usize;
                    if rows.contains(&row) {
                        counts[row - rows.start] += 1;
                    }
                }
            }
        }
        counts
    }

    /// How often each row was drawn, by the run of one tree.
    pub(super) fn counts(&self, run: &Context) -> Option<Vec<u32>> {
        let draws = self.draws(run)?;
        Some(self.counts_in(0..self.rows, &draws, run))
    }

    /// Rows with a count, in order.
    pub(super) fn drawn_rows(&self, counts: Option<&[u32]>) -> Vec<u32> {
        match counts {
            None => (0..self.rows as u32).collect(),
            Some(counts) => (0..self.rows as u32).filter(|&i| counts[i as usize] > 0).collect(),
        }
    }

    /// Rows that each of several trees did not see, as bits; none if every tree sees all.
    pub(super) fn left_out(&self, trees: usize, run: &Context) -> Option<Vec<Vec<u64>>> {
        self.drawn?;
        let of_tree = |t: usize| {
            let counts = self.counts(&run.child(t as u64)).unwrap_or_default();
            let mut bits = vec![0_u64; self.rows.div_ceil(64)];
            for (i, count) in counts.iter().enumerate() {
                bits[i / 64] |= u64::from(*count == 0) << (i % 64);
            }
            bits
        };
        Some(run.par_map(trees, of_tree))
    }
}

/// Rows by how often they were drawn.
pub(in crate::ensemble) fn repeated(counts: &[u32]) -> Vec<u32> {
    let times = |(row, &count): (usize, &u32)| std::iter::repeat_n(row as u32, count as usize);
    counts.iter().enumerate().flat_map(times).collect()
}

/// Draws from rows, divided by halves among pieces of so many rows.
fn divided(draws: u64, rows: Range<usize>, piece: usize, stream: u64, run: &Context) -> Vec<u32> {
    let pieces = rows.len().div_ceil(piece);
    let mut found = vec![0; pieces];
    // A division, its first piece, its pieces as a power of two, and its draws.
    let mut open = vec![(1_u64, 0, pieces.next_power_of_two(), draws)];
    while let Some((division, first, width, count)) = open.pop() {
        if first >= pieces || count == 0 {
            continue;
        }
        if width == 1 {
            found[first] = count as u32;
            continue;
        }
        let middle = first + width / 2;
        let row = |place: usize| (place * piece).min(rows.len());
        let (of, all) = (row(middle) - row(first), row(first + width) - row(first));
        let mut rng = run.row_rng(stream, division);
        let left = sample::binomial(&mut rng, count, of as u64, all as u64);
        open.push((2 * division + 1, middle, width / 2, count - left));
        open.push((2 * division, first, width / 2, left));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_a_bootstrap_sample() {
        let run = Context::default();
        for (rows, drawn) in [(100_003, 100_003), (40_000, 1000), (16_384 * 4, 16_384 * 4), (7, 7)]
        {
            let sampling = Sampling { rows, drawn: Some(drawn) };
            let counts = sampling.counts(&run.child(3)).unwrap();
            assert_eq!(counts.len(), rows);
            assert_eq!(counts.iter().map(|&count| count as usize).sum::<usize>(), drawn);
            let mean = drawn as f64 / rows as f64;
            let none = counts.iter().filter(|&&count| count == 0).count() as f64 / rows as f64;
            let error = 4.0 * (0.25 / rows as f64).sqrt();
            assert!((none - (-mean).exp()).abs() < error, "{none} of {rows} rows");
            // Segments differ as much as draws would make them.
            let halves = counts[..rows / 2].iter().sum::<u32>();
            let expected = drawn as f64 * (rows / 2) as f64 / rows as f64;
            assert!((f64::from(halves) - expected).abs() < 2.0 * (drawn as f64).sqrt() + 1.0);
        }
        let of =
            |t: u64| Sampling { rows: 50_000, drawn: Some(50_000) }.draws(&run.child(t)).unwrap();
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn parts_of_the_rows_have_the_counts_of_the_whole() {
        let (run, rows) = (Context::default().child(2), 70_001);
        let sampling = Sampling { rows, drawn: Some(rows) };
        let (whole, draws) = (sampling.counts(&run).unwrap(), sampling.draws(&run).unwrap());
        for block in [100, 256, 4096, 16_384, 32_768] {
            let part =
                |first: usize| sampling.counts_in(first..(first + block).min(rows), &draws, &run);
            let parts: Vec<u32> = (0..rows).step_by(block).flat_map(part).collect();
            assert_eq!(parts, whole, "blocks of {block} rows");
        }
    }
}
