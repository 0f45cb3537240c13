//! Random cuts, each determined by the seed, the node and the column.
//!
//! A drawn cut needs the smallest and the largest value and the sums of the rows on its left, so that nothing is
//! sorted. Rows are added up in their own order: where sums have rounding, another order may give other last digits.

use super::Settings;
use super::criterion::{Criterion, Summary};
use super::scan::{Group, Limits, Parted};
use super::split::Split;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

impl Settings {
    /// A random cut between two values: how many go left, and the cut itself.
    pub(super) fn draw_cut(
        &self,
        feature: usize,
        low: f64,
        high: f64,
        count: impl Fn(f64) -> usize,
        key: u64,
        run: &Context,
    ) -> (Option<usize>, Option<f64>) {
        if !self.random {
            return (None, None);
        }
        let drawn = drawn_between(feature, (low, high), key, run);
        (Some(count(drawn)), Some(drawn))
    }

    /// A random number of groups that go left.
    pub(super) fn draw_group(
        &self,
        feature: usize,
        groups: usize,
        key: u64,
        run: &Context,
    ) -> Option<usize> {
        let rng = &mut run.row_rng(key, feature as u64);
        self.random.then(|| 1 + sample::below(rng, groups.saturating_sub(1).max(1) as u64) as usize)
    }

    /// The same as a number of rows.
    pub(super) fn draw_position(
        &self,
        feature: usize,
        groups: &[Group],
        rows: usize,
        key: u64,
        run: &Context,
    ) -> Option<usize> {
        let place = self.draw_group(feature, groups.len(), key, run)?;
        Some(groups.iter().take(place).map(|group| group.rows).sum::<usize>().min(rows))
    }
}

/// A number from the lower to below the upper of two, or the lower.
fn drawn_between(feature: usize, (low, high): (f64, f64), key: u64, run: &Context) -> f64 {
    let share = sample::uniform(&mut run.row_rng(key, feature as u64));
    let drawn = low * (1.0 - share) + high * share;
    if drawn >= low && drawn < high { drawn } else { low }
}

/// The split of a node by a random cut of a column of quantities, by row.
pub(super) fn random_split<C: Criterion>(
    criterion: &C,
    (feature, column): (usize, &[f64]),
    (rows, summary): (&[u32], &Summary),
    limits: &Limits,
    (key, run): (u64, &Context),
) -> Option<Split> {
    let Ends { low, high, missing } = ends(column, rows);
    if low > high || (low == high && missing == 0) {
        return None;
    }
    let drawn = drawn_between(feature, (low, high), key, run);
    let known = rows.len() - missing;
    let mut places = vec![0; rows.len()];
    let left = part(column, rows, drawn, known, &mut places);
    let (parted, missing) = places.split_at(known);
    let (left, right) = parted.split_at(left);
    let cut = criterion.only_cut(summary, &Parted { left, right, missing }, limits)?;
    // Where all known rows go left, only missing ones go right.
    let threshold = if right.is_empty() { f64::INFINITY } else { drawn };
    let split = Split {
        feature,
        threshold,
        last_left: 0,
        levels: None,
        missing_left: cut.missing_left,
        rows_left: cut.rows_left,
        gain: cut.gain,
        surrogates: Vec::new(),
    };
    Some(split.with_larger_default(rows.len(), !missing.is_empty()))
}

/// The smallest and the largest value of some rows, and how many have none.
struct Ends {
    low: f64,
    high: f64,
    missing: usize,
}

/// Several rows side by side, so that none waits for another.
fn ends(column: &[f64], rows: &[u32]) -> Ends {
    let (mut low, mut high) = ([f64::INFINITY; 4], [f64::NEG_INFINITY; 4]);
    let mut missing = [0; 4];
    let mut take = |lane: usize, row: u32| {
        let value = column[row as usize];
        low[lane] = if value < low[lane] { value } else { low[lane] };
        high[lane] = if value > high[lane] { value } else { high[lane] };
        missing[lane] += usize::from(value.is_nan());
    };
    let (fours, rest) = rows.as_chunks::<4>();
    for four in fours {
        take(0, four[0]);
        take(1, four[1]);
        take(2, four[2]);
        take(3, four[3]);
    }
    rest.iter().for_each(|&row| take(0, row));
    Ends {
        low: low.into_iter().fold(f64::INFINITY, f64::min),
        high: high.into_iter().fold(f64::NEG_INFINITY, f64::max),
        missing: missing.iter().sum(),
    }
}

/// Writes the rows left of a cut to the front of the known ones, the others from the end of these on backwards, and
/// those without a value behind them; how many go left. No branch depends on a value where none is missing.
fn part(column: &[f64], rows: &[u32], cut: f64, known: usize, places: &mut [u32]) -> usize {
    let (mut left, mut right, mut missing) = (0, known, known);
    let holes = known < rows.len();
    for &row in rows {
        let value = column[row as usize];
        if holes && value.is_nan() {
            places[missing] = row;
            missing += 1;
            continue;
        }
        // One of both places is kept; the next row takes the other.
        let goes_left = usize::from(value <= cut);
        places[left] = row;
        places[right - 1] = row;
        left += goes_left;
        right -= 1 - goes_left;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_parts_all_rows_once_and_ends_are_those_of_the_known() {
        let value = |i: usize| match i % 5 {
            0 => f64::NAN,
            _ => ((i * 37) % 101) as f64 - 50.0,
        };
        for (every, rows) in [(1, 400), (1, 1), (3, 250), (5, 2)] {
            let column: Vec<f64> = (0..rows).map(|i| value(i * every + 1)).collect();
            let rows: Vec<u32> = (0..rows as u32).filter(|row| row % 4 != 2).collect();
            let at = |row: &u32| column[*row as usize];
            let known: Vec<f64> = rows.iter().map(at).filter(|x| !x.is_nan()).collect();
            let found = ends(&column, &rows);
            assert_eq!(found.missing, rows.len() - known.len());
            assert_eq!(found.low, known.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(found.high, known.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let mut places = vec![0; rows.len()];
            let left = part(&column, &rows, 3.0, known.len(), &mut places);
            assert!(places[..left].iter().all(|row| at(row) <= 3.0));
            assert!(places[left..known.len()].iter().all(|row| at(row) > 3.0));
            assert!(places[known.len()..].iter().all(|row| at(row).is_nan()));
            places.sort_unstable();
            assert_eq!(places, rows);
        }
    }
}
