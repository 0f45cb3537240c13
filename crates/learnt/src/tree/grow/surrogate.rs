//! Surrogate splits: cuts of other columns that send rows the way the primary split does.
//!
//! A primary split is found from the rows that have its value. For every other column the cut (either side
//! up, or the sides of levels) is taken that sends most weight of those rows the same way, with two rows or
//! more on both sides of a cut; a missing value agrees with nothing. Rows count by their own weights, whatever
//! classes and losses make of them in the criterion, as in R's rpart. Kept are those that agree more than
//! sending every row to the heavier side, the best first, of equals the first column. A row without the primary's value goes where the first surrogate
//! whose value it has says, else to the heavier side.
//!
//! Breiman, Friedman, Olshen and Stone (1984), section 5.3.

use super::columns::{Codes, MISSING, level};
use super::scan::{code_of, entry, row_of};
use super::split::has_level;
use learnt_core::prelude::*;

/// A cut that stands for another.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(crate) struct Surrogate {
    /// The column that it asks for.
    pub(crate) feature: u32,
    /// Values up to it go to one side.
    pub(crate) threshold: f64,
    /// The last code up to it.
    last: u32,
    /// Whether values above go left, and not those up to the threshold.
    pub(crate) reversed: bool,
    /// Levels that go left, and levels that the node has, as bits; empty for quantities.
    pub(crate) left_levels: Vec<u32>,
    pub(crate) seen_levels: Vec<u32>,
    /// Weight of the rows that go the same way.
    pub(crate) agreement: f64,
}

impl Surrogate {
    /// The side of a code: whether left, or nothing where it does not know.
    pub(super) fn sends_left(&self, code: u32) -> Option<bool> {
        if code == MISSING {
            return None;
        }
        match self.seen_levels.is_empty() {
            true => Some((code <= self.last) != self.reversed),
            false => {
                let seen = has_level(&self.seen_levels, code);
                seen.then(|| has_level(&self.left_levels, code))
            }
        }
    }

    /// The side of a value, of a column with this many levels (0 for quantities).
    pub(crate) fn sends_value_left(&self, value: f64, levels: u32) -> Option<bool> {
        match levels {
            _ if value.is_nan() => None,
            0 => Some((value <= self.threshold) != self.reversed),
            levels => self.sends_left(level(value, levels as usize).unwrap_or(MISSING)),
        }
    }
}

/// Rows of a node that have the primary's value: which go left, and their weights.
pub(crate) struct Sides<'a> {
    pub(crate) rows: &'a [u32],
    pub(crate) left: &'a [bool],
    pub(crate) weights: &'a [f64],
}

impl Sides<'_> {
    /// Whether more weight goes left than right.
    pub(crate) fn heavier_left(&self) -> bool {
        let (left, right) = weights_of(self.left.iter().copied().zip(self.weights));
        left > right
    }
}

/// The surrogates of a split on `primary`, at most `most`; `ranks` has codes by column and row.
pub(crate) fn surrogates(
    sides: &Sides,
    primary: usize,
    most: usize,
    codes: &[Codes],
    ranks: &[Vec<u32>],
) -> Vec<Surrogate> {
    let (left, right) = weights_of(sides.left.iter().copied().zip(sides.weights));
    let bar = left.max(right) + 1e-9 * (left + right);
    let others = (0..codes.len()).filter(|&feature| feature != primary);
    let best = others.filter_map(|feature| match &codes[feature] {
        ordered @ Codes::Ordered { .. } => by_cut(sides, feature, ordered, &ranks[feature]),
        Codes::Levels(levels) => Some(by_levels(sides, feature, *levels, &ranks[feature])),
    });
    let mut kept: Vec<Surrogate> = best.filter(|found| found.agreement > bar).collect();
    kept.sort_by(|a, b| b.agreement.total_cmp(&a.agreement).then(a.feature.cmp(&b.feature)));
    kept.truncate(most);
    kept
}

fn weights_of<'a>(sides: impl Iterator<Item = (bool, &'a f64)>) -> (f64, f64) {
    sides.fold((0.0, 0.0), |(left, right), (goes_left, weight)| match goes_left {
        true => (left + weight, right),
        false => (left, right + weight),
    })
}

/// The cut of a quantity that agrees most, the first of equals.
fn by_cut(sides: &Sides, feature: usize, codes: &Codes, ranks: &[u32]) -> Option<Surrogate> {
    let place = |(k, &row): (usize, &u32)| (ranks[row as usize] != MISSING).then_some((k, row));
    let known = sides.rows.iter().enumerate().filter_map(place);
    let mut entries: Vec<u64> =
        known.map(|(k, row)| entry(ranks[row as usize], k as u32)).collect();
    entries.sort_unstable();
    let side = |e: u64| (sides.left[row_of(e)], &sides.weights[row_of(e)]);
    let (all_left, all_right) = weights_of(entries.iter().map(|&e| side(e)));
    let tolerance = 1e-12 * (all_left + all_right);
    let (mut left, mut right) = (0.0, 0.0);
    let mut best: Option<Surrogate> = None;
    for (place, pair) in entries.windows(2).enumerate() {
        match side(pair[0]) {
            (true, weight) => left += weight,
            (false, weight) => right += weight,
        }
        // A side of a single row is chance.
        let few = place < 1 || place + 3 > entries.len();
        if few || code_of(pair[0]) == code_of(pair[1]) {
            continue;
        }
        let (straight, turned) = (left + all_right - right, right + all_left - left);
        let agreement = straight.max(turned);
        if best.as_ref().is_none_or(|best| agreement > best.agreement + tolerance) {
            best = Some(Surrogate {
                feature: feature as u32,
                threshold: codes.midpoint(code_of(pair[0]), code_of(pair[1])),
                last: code_of(pair[0]),
                reversed: turned > straight + tolerance,
                agreement,
                ..Surrogate::default()
            });
        }
    }
    best
}

/// Every level goes to the side that most of its weight goes to, left of equals.
fn by_levels(sides: &Sides, feature: usize, levels: usize, ranks: &[u32]) -> Surrogate {
    let mut sums = vec![(0.0, 0.0); levels];
    for (k, &row) in sides.rows.iter().enumerate() {
        if let Some((left, right)) = sums.get_mut(ranks[row as usize] as usize) {
            *if sides.left[k] { left } else { right } += sides.weights[k];
        }
    }
    let words = levels.div_ceil(32).max(1);
    let (mut left_levels, mut seen_levels) = (vec![0; words], vec![0; words]);
    let mut agreement = 0.0;
    for (code, &(left, right)) in sums.iter().enumerate() {
        let bit = 1 << (code % 32);
        if left + right > 0.0 {
            seen_levels[code / 32] |= bit;
        }
        if left >= right {
            left_levels[code / 32] |= bit;
        }
        agreement += f64::max(left, right);
    }
    Surrogate {
        feature: feature as u32,
        left_levels,
        seen_levels,
        agreement,
        ..Surrogate::default()
    }
}
