//! Quantiles of all columns of a large table in one pass.
//!
//! A sample of the rows says between which two values each wanted one lies. One pass counts what is below and keeps
//! what is between, a few hundredths of the rows; the wanted values are selected among those. They are the values
//! that sorting would give: where a sample misled, which counts show, the caller selects in the whole column.

use learnt_core::prelude::*;
use learnt_core::stats::summary::Quantiles;
use std::ops::Range;

/// The fewest rows for which a sample pays.
const LARGE: usize = 1 << 17;
/// Rows of the sample.
const SAMPLE: usize = 1 << 14;
/// The most brackets of a column: each looks at every value.
const MOST_BRACKETS: usize = 16;
/// Rows of a thread's turn, and of a block that stays near.
const TURN: usize = 1 << 16;
const BLOCK: usize = 1 << 10;

/// The quantiles of each column, with its smallest and largest value before and after them; `None` where a column
/// must be looked at by itself: few rows, many quantiles, missing values.
pub(super) fn column_quantiles(
    x: MatRef,
    probabilities: &[f64],
    kind: Quantiles,
    run: &Context,
) -> Result<Option<Vec<Vec<f64>>>> {
    let rows = x.nrows();
    let mut wanted = kind.places(rows, probabilities);
    wanted.extend([0, rows.saturating_sub(1)]);
    wanted.sort_unstable();
    wanted.dedup();
    if rows < LARGE || probabilities.len() + 2 > MOST_BRACKETS {
        return Ok(None);
    }
    let sampled = sampled_rows(rows);
    let brackets = run.try_par_map(x.ncols(), |j| Ok(brackets_of(x, j, &sampled, &wanted)))?;
    let Some(brackets) = brackets.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let kept = (rows as u64).saturating_mul(x.ncols() as u64);
    run.claim(kept.saturating_mul(4), "values near the quantiles")?;
    let turns = run.try_par_map(rows.div_ceil(TURN), |k| {
        Ok(pass(x, k * TURN..((k + 1) * TURN).min(rows), &brackets))
    })?;
    let columns = run.try_par_map(x.ncols(), |j| {
        let at = ordered(&brackets[j], turns.iter().map(|turn| &turn[j]), &wanted);
        Ok(at.and_then(|at| {
            let at = |place: usize| wanted.binary_search(&place).map_or(f64::NAN, |k| at[k]);
            let inside = kind.of_ordered(rows, probabilities, at)?;
            Some([vec![at(0)], inside, vec![at(rows - 1)]].concat())
        }))
    })?;
    Ok(columns.into_iter().collect())
}

/// Rows drawn with replacement, the same for every table of this length (Steele, Lea, Flood 2014).
fn sampled_rows(rows: usize) -> Vec<usize> {
    let draw = |k: usize| {
        let mut z = (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ z >> 31) * rows as u128) >> 64) as usize
    };
    (0..SAMPLE).map(draw).collect()
}

/// Values between which wanted ones lie, ends included.
struct Bracket {
    low: f64,
    high: f64,
    /// Which of the wanted places.
    wanted: Range<usize>,
}

/// The brackets of a column in rising order, apart from each other; `None` if a sampled value is missing.
fn brackets_of(x: MatRef, j: usize, sampled: &[usize], wanted: &[usize]) -> Option<Vec<Bracket>> {
    let mut values: Vec<f64> = sampled.iter().map(|&i| x.at(i, j)).collect();
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let mut out: Vec<Bracket> = Vec::new();
    for (k, &place) in wanted.iter().enumerate() {
        let share = place as f64 / x.nrows() as f64;
        let middle = share * SAMPLE as f64;
        // Five standard deviations of the number of sampled values below.
        let margin = 5.0 * (middle * (1.0 - share)).sqrt() + 8.0;
        let low = match middle - margin {
            rank if rank < 0.0 => f64::NEG_INFINITY,
            rank => values[rank as usize],
        };
        let high = values.get((middle + margin) as usize).copied().unwrap_or(f64::INFINITY);
        match out.last_mut() {
            Some(last) if low <= last.high => {
                last.high = high.max(last.high);
                last.wanted.end = k + 1;
            }
            _ => out.push(Bracket { low, high, wanted: k..k + 1 }),
        }
    }
    Some(out)
}

/// What a turn saw of a bracket: how many values below it, those inside, and how many that are known.
#[derive(Default)]
struct Seen {
    below: usize,
    inside: Vec<f64>,
    known: usize,
}

/// One look at these rows: for each column what was seen of its brackets.
fn pass(x: MatRef, rows: Range<usize>, brackets: &[Vec<Bracket>]) -> Vec<Vec<Seen>> {
    let empty = |of: &Vec<Bracket>| of.iter().map(|_| Seen::default()).collect();
    let mut out: Vec<Vec<Seen>> = brackets.iter().map(empty).collect();
    let (mut block, mut inside) = ([0.0; BLOCK], [0.0; BLOCK]);
    for start in rows.clone().step_by(BLOCK) {
        let part = x.rows(start, (start + BLOCK).min(rows.end));
        let block = &mut block[..part.nrows()];
        for (j, (seen, brackets)) in out.iter_mut().zip(brackets).enumerate() {
            part.copy_column(j, block);
            for (seen, bracket) in seen.iter_mut().zip(brackets) {
                seen.look(block, bracket, &mut inside);
            }
        }
    }
    out
}

impl Seen {
    fn look(&mut self, block: &[f64], bracket: &Bracket, room: &mut [f64; BLOCK]) {
        let &Bracket { low, high, .. } = bracket;
        let (mut below, mut above, mut count) = (0, 0, 0);
        for &value in block {
            room[count] = value;
            below += usize::from(value < low);
            above += usize::from(value > high);
            count += usize::from((value >= low) & (value <= high));
        }
        self.below += below;
        self.known += below + above + count;
        self.inside.extend_from_slice(&room[..count]);
    }
}

/// The values at the wanted places of a column; `None` if a bracket does not hold them, or a value is missing.
fn ordered<'a>(
    brackets: &[Bracket],
    turns: impl Iterator<Item = &'a Vec<Seen>> + Clone,
    wanted: &[usize],
) -> Option<Vec<f64>> {
    let rows = wanted.last()? + 1;
    let mut out = Vec::with_capacity(wanted.len());
    for (b, bracket) in brackets.iter().enumerate() {
        let seen = turns.clone().map(|turn| &turn[b]);
        let below: usize = seen.clone().map(|seen| seen.below).sum();
        let known: usize = seen.clone().map(|seen| seen.known).sum();
        let mut inside: Vec<f64> = seen.flat_map(|seen| &seen.inside).copied().collect();
        if known != rows {
            return None;
        }
        let mut rest = inside.as_mut_slice();
        let mut before = below;
        for &place in &wanted[bracket.wanted.clone()] {
            let here = place.checked_sub(before).filter(|&here| here < rest.len())?;
            let (_, value, after) = rest.select_nth_unstable_by(here, f64::total_cmp);
            out.push(*value);
            (rest, before) = (after, place + 1);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::summary;

    const ROWS: usize = LARGE + 777;

    fn table() -> Matrix {
        Matrix::from_fn(ROWS, 4, |i, j| {
            let noise = ((i * 7919 + j * 31) % 100_003) as f64;
            match j {
                0 => noise.sqrt() - 100.0,
                // Few different values, one of them most of the time, and both zeros.
                1 => ((i % 7) as f64 - 5.0).max(0.0) * if i % 2 == 0 { 1.0 } else { -1.0 },
                2 => i as f64,
                _ => 3.5,
            }
        })
    }

    #[test]
    fn quantiles_in_one_pass_are_those_of_sorted_columns_on_any_number_of_threads() {
        let x = table();
        let places = [0.0, 0.001, 0.25, 0.5, 0.9, 1.0];
        for kind in [Quantiles::Linear, Quantiles::Averaged] {
            for threads in [1, 3] {
                let run = Context::default().with_threads(threads);
                let found = column_quantiles(x.view(), &places, kind, &run).unwrap().unwrap();
                for (j, found) in found.iter().enumerate() {
                    let mut sorted = x.column(j);
                    sorted.sort_unstable_by(f64::total_cmp);
                    let inside = match kind {
                        Quantiles::Linear => summary::quantiles(&sorted, &places),
                        Quantiles::Averaged => summary::averaged_quantiles(&sorted, None, &places),
                    };
                    let expected =
                        [vec![sorted[0]], inside.unwrap(), vec![sorted[ROWS - 1]]].concat();
                    assert_eq!(*found, expected, "column {j}");
                }
            }
        }
    }

    #[test]
    fn a_missing_value_anywhere_few_rows_or_many_quantiles_leave_it_to_the_caller() {
        let run = Context::default();
        let found = |x: &Matrix, places: &[f64]| {
            column_quantiles(x.view(), places, Quantiles::Linear, &run).unwrap()
        };
        let mut x = table();
        assert!(found(&x, &[0.5; MOST_BRACKETS - 1]).is_none());
        assert!(found(&Matrix::zeros(LARGE - 1, 1), &[0.5]).is_none());
        let sampled = sampled_rows(ROWS);
        let missed = (0..ROWS).find(|i| !sampled.contains(i)).unwrap();
        x[(missed, 2)] = f64::NAN;
        assert!(found(&x, &[0.5]).is_none());
    }

    #[test]
    fn values_that_the_sample_does_not_tell_of_are_found_missing_from_their_bracket() {
        // Sampled rows are below one and the others above: the median is not where the sample has it.
        let mut x = Matrix::from_fn(ROWS, 1, |i, _| 2.0 + i as f64);
        sampled_rows(ROWS).iter().for_each(|&i| x[(i, 0)] = i as f64 / ROWS as f64);
        assert!(
            column_quantiles(x.view(), &[0.5], Quantiles::Linear, &Context::default())
                .unwrap()
                .is_none()
        );
    }
}
