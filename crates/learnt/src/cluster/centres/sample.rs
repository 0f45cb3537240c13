//! First centres of large tables, from a sample of their rows.
//!
//! Each row is taken with the same probability, by a number drawn for the row alone, so that blocks,
//! threads and streams take the same rows. On the sample, greedy k-means++ with twice the usual number
//! of candidates and a few of Lloyd's rounds are tried some times over; the centres of lowest cost are
//! where the rounds over the whole table begin. That costs less than k-means++ over all rows, which
//! reads them once a centre, and ends lower.

use super::{Cost, Sums};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Rows above which first centres come from a sample.
pub(crate) const LARGE: u64 = 65_536;
/// Rows of the sample for each centre, and at least.
const ROWS_PER_CENTRE: u64 = 256;
const LEAST: u64 = 8192;
/// Times that centres are drawn, and rounds that each takes on the sample.
const ATTEMPTS: u64 = 4;
const ROUNDS: usize = 10;
/// Rows that a thread works on at a time.
const PIECE: usize = 1024;

/// The share of rows to take; zero where centres are drawn from all of them.
pub(crate) fn share(rows: u64, centres: usize) -> f64 {
    let wanted = (ROWS_PER_CENTRE * centres as u64).max(LEAST);
    match rows > LARGE && wanted < rows / 4 {
        true => wanted as f64 / rows as f64,
        false => 0.0,
    }
}

/// Rows with their weights.
#[derive(Stored, Clone, Debug)]
pub(crate) struct Sample {
    weights: Vec<f64>,
    values: Matrix,
}

impl Sample {
    /// Of one block.
    pub(crate) fn of(block: &Block, share: f64, stream: u64, run: &Context) -> Sample {
        let x = block.data.x.values();
        let (mut weights, mut values) = (Vec::new(), Vec::new());
        let mut row = vec![0.0; x.ncols()];
        let count = if share > 0.0 { x.nrows() } else { 0 };
        for i in 0..count {
            let weight = block.data.weight(i);
            let mut rng = run.row_rng(stream, block.first_row + i as u64);
            if weight > 0.0 && sample::uniform(&mut rng) < share {
                x.copy_row(i, &mut row);
                weights.push(weight);
                values.extend_from_slice(&row);
            }
        }
        let values = Matrix::from_vec(weights.len(), x.ncols(), values).unwrap_or_default();
        Sample { weights, values }
    }

    /// Centres for the whole table; `None` if there are too few rows.
    pub(crate) fn centres(
        &self,
        count: usize,
        candidates: usize,
        origin: &[f64],
        stream: u64,
        run: &Context,
    ) -> Result<Option<Matrix>> {
        let mut best: Option<(f64, Matrix)> = None;
        for attempt in 0..ATTEMPTS {
            let mut rng = run.rng(stream + 1 + attempt);
            let Some(mut centres) = self.draw(count, 2 * candidates, &mut rng, run) else {
                return Ok(None);
            };
            for _ in 0..ROUNDS {
                run.checkpoint()?;
                let sums = self.over(run, |data| Sums::of(data, &centres, origin))?;
                centres = sums.means(&centres, origin);
            }
            let cost = self.over(run, |data| Cost::of(data, &centres))?.inertia;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, centres));
            }
        }
        Ok(best.map(|(_, centres)| centres))
    }

    /// A sum over the rows, piece by piece in order.
    fn over<T: Merge + Send>(&self, run: &Context, f: impl Fn(&Dataset) -> T + Sync) -> Result<T> {
        let schema = Table::unnamed(Matrix::zeros(0, self.values.ncols()));
        let parts = run.par_ranges(self.weights.len(), PIECE, |range| {
            let rows = self.values.view().rows(range.start, range.end);
            let frame = Frame::new(rows, schema.schema())?;
            Ok(f(&Dataset::new(frame).with_weights(&self.weights[range])))
        });
        let mut parts = parts.into_iter();
        let empty = || Err(Error::internal("a sample without rows"));
        let first = parts.next().unwrap_or_else(empty)?;
        parts.try_fold(first, |sum, part| sum.merge(part?))
    }

    /// Greedy k-means++.
    fn draw(
        &self,
        count: usize,
        candidates: usize,
        rng: &mut Rng,
        run: &Context,
    ) -> Option<Matrix> {
        if self.weights.len() < count {
            return None;
        }
        let mut closest = vec![f64::INFINITY; self.weights.len()];
        let mut shares = self.weights.clone();
        let mut chosen = Matrix::zeros(count, self.values.ncols());
        for c in 0..count {
            let total: f64 = shares.iter().sum();
            let draws = if c == 0 { 1 } else { candidates };
            let rows: Vec<usize> = (0..draws)
                .map(|_| super::seed::position(&shares, sample::uniform(rng) * total).0)
                .collect();
            let points = self.values.view().gather_rows(&rows);
            let distances = super::seed::squared_distances(self.values.view(), &points, run);
            let left = |k: usize| -> f64 {
                let rows = distances.chunks_exact(draws).zip(&closest).zip(&self.weights);
                rows.map(|((found, closest), weight)| weight * closest.min(found[k])).sum()
            };
            let costs: Vec<f64> = (0..draws).map(left).collect();
            let best = (0..draws).fold(0, |best, k| if costs[k] < costs[best] { k } else { best });
            chosen.row_mut(c).copy_from_slice(self.values.row(rows[best]));
            for (i, found) in distances.chunks_exact(draws).enumerate() {
                closest[i] = closest[i].min(found[best]);
                shares[i] = self.weights[i] * closest[i];
            }
        }
        Some(chosen)
    }
}

impl Merge for Sample {
    fn merge(mut self, later: Self) -> Result<Self> {
        if later.weights.is_empty() {
            return Ok(self);
        }
        if self.weights.is_empty() {
            return Ok(later);
        }
        self.weights.extend(later.weights);
        let (rows, columns) = (self.weights.len(), self.values.ncols());
        let mut values = self.values.into_vec();
        values.extend(later.values.into_vec());
        Ok(Sample { weights: self.weights, values: Matrix::from_vec(rows, columns, values)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_taken_where_it_is_a_small_part_of_a_large_table() {
        assert_eq!(share(LARGE, 8), 0.0);
        assert_eq!(share(LARGE + 1, 100), 0.0);
        assert!((share(1_000_000, 8) - 8192e-6).abs() < 1e-12);
        assert!((share(1_000_000, 100) - 25_600e-6).abs() < 1e-12);
    }

    #[test]
    fn every_one_of_well_separated_clouds_gets_a_centre() {
        let values = Matrix::from_fn(4000, 2, |i, j| {
            let cloud = (i % 16) as f64;
            100.0 * if j == 0 { cloud } else { cloud * cloud % 7.0 } + ((i * 31 + j) % 13) as f64
        });
        let sample = Sample { weights: vec![1.0; 4000], values };
        for seed in 0..5 {
            let run = Context::default().with_seed(seed);
            let centres = sample.centres(16, 4, &[0.0, 0.0], 0, &run).unwrap().unwrap();
            let cost = sample.over(&run, |data| Cost::of(data, &centres)).unwrap();
            assert!(cost.inertia / 4000.0 < 30.0, "seed {seed}: {}", cost.inertia / 4000.0);
        }
    }
}
