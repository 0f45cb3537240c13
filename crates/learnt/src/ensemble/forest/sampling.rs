//! Which rows a tree sees: all of them, or a bootstrap sample as a count of each row.

use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of the rows of a tree.
const ROWS_STREAM: u64 = 0x626f_6f74;

/// How rows are drawn.
pub(super) struct Sampling {
    pub(super) rows: usize,
    /// How many draws with replacement; none takes every row once.
    pub(super) drawn: Option<usize>,
}

impl Sampling {
    /// How often each row was drawn, by the run of one tree.
    pub(super) fn counts(&self, run: &Context) -> Option<Vec<u32>> {
        let drawn = self.drawn?;
        let mut rng = run.rng(ROWS_STREAM);
        let mut counts = vec![0_u32; self.rows];
        for _ in 0..drawn {
            counts[sample::below(&mut rng, self.rows as u64) as usize] += 1;
        }
        Some(counts)
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
