//! One pass over a node's rows in the order of one column, for the best cut.
//!
//! Rows with a missing value go right first, then left. The first of equal gains wins; gains that
//! differ by less than 1e-12 of the node's cost are equal, so that rounding never decides.

use super::criterion::{Criterion, Summary};
use super::monotone::Monotone;

/// Code and row in one number, so that numbers sort by code, then row.
pub(super) fn entry(code: u32, row: u32) -> u64 {
    u64::from(code) << 32 | u64::from(row)
}

/// The code of an entry.
#[inline(always)]
pub(super) fn code_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// The row of an entry.
#[inline(always)]
pub(super) fn row_of(entry: u64) -> usize {
    (entry & 0xffff_ffff) as usize
}

/// The rows of a node in the order of a column; cuts lie between entries of different code.
pub(crate) struct Sequence<'a> {
    pub(super) known: &'a [u64],
    pub(super) missing: &'a [u64],
}

/// What a cut must respect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Fewest rows on a side.
    pub(crate) min_rows: usize,
    /// Least weight on a side.
    pub(crate) min_weight: f64,
    /// The only number of known rows that may go left, if drawn at random.
    pub(crate) only: Option<usize>,
    /// What the predictions of the sides must respect.
    pub(crate) monotone: Option<Monotone>,
}

/// A cut of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    /// How many known entries go left.
    pub(super) position: usize,
    /// Whether rows with a missing value go left.
    pub(super) missing_left: bool,
    /// Rows on the left, missing values and all.
    pub(super) rows_left: usize,
    /// The criterion's gain.
    pub(super) gain: f64,
}

impl Limits {
    /// Whether both sides are large enough.
    #[inline(always)]
    pub(super) fn allow(&self, rows: (usize, usize), weights: (f64, f64)) -> bool {
        rows.0.min(rows.1) >= self.min_rows && weights.0.min(weights.1) >= self.min_weight
    }

    /// Whether the predictions of the sides are in order, for a left side with these sums.
    #[inline(always)]
    pub(super) fn ordered<C: Criterion>(
        &self,
        criterion: &C,
        node: &Summary,
        sums: &[f64],
        weight: f64,
    ) -> bool {
        self.monotone.is_none_or(|monotone| monotone.allows_sums(criterion, node, sums, weight))
    }

    /// Whether this number of known entries may go left.
    #[inline(always)]
    pub(super) fn considers(&self, position: usize) -> bool {
        self.only.is_none_or(|only| only == position)
    }
}

/// How much more a gain must be to count as more.
pub(super) fn tolerance(node: &Summary) -> f64 {
    1e-12 * node.weight * node.impurity
}

/// Whether a gain beats the best so far.
#[inline(always)]
pub(super) fn better(gain: f64, best: Option<f64>, tolerance: f64) -> bool {
    match best {
        None => gain > f64::NEG_INFINITY,
        Some(best) => gain > best + tolerance,
    }
}

/// The left side of a cut, which grows row by row.
pub(super) trait Left {
    /// Takes a row in; returns the row's weight.
    fn add(&mut self, row: usize) -> f64;

    /// The gain of the cut behind the rows so far, which have this weight.
    fn gain(&self, weight: f64) -> f64;

    /// Whether the predictions of both sides are in order.
    fn ordered(&self, limits: &Limits, weight: f64) -> bool;
}

/// Sums over the left side, of any criterion.
struct Sums<'a, C, S> {
    criterion: &'a C,
    node: &'a Summary,
    sums: S,
}

impl<C: Criterion, S: AsRef<[f64]> + AsMut<[f64]>> Left for Sums<'_, C, S> {
    #[inline(always)]
    fn add(&mut self, row: usize) -> f64 {
        self.criterion.add(self.node, self.sums.as_mut(), row)
    }

    #[inline(always)]
    fn gain(&self, weight: f64) -> f64 {
        self.criterion.gain(self.node, self.sums.as_ref(), weight)
    }

    #[inline(always)]
    fn ordered(&self, limits: &Limits, weight: f64) -> bool {
        limits.ordered(self.criterion, self.node, self.sums.as_ref(), weight)
    }
}

/// The best cut by sums that grow row by row. Short sums stay in registers.
pub(super) fn best_cut<C: Criterion>(
    criterion: &C,
    node: &Summary,
    sequence: &Sequence,
    limits: &Limits,
) -> Option<Cut> {
    match criterion.width() {
        1 => both_sides(node, sequence, limits, || Sums { criterion, node, sums: [0.0; 1] }),
        2 => both_sides(node, sequence, limits, || Sums { criterion, node, sums: [0.0; 2] }),
        width => both_sides(node, sequence, limits, || {
            let sums = vec![0.0; width];
            Sums { criterion, node, sums }
        }),
    }
}

/// The best cut with missing values on the right, then on the left, which `empty` begins.
pub(super) fn both_sides<L: Left>(
    node: &Summary,
    sequence: &Sequence,
    limits: &Limits,
    empty: impl Fn() -> L,
) -> Option<Cut> {
    let mut best = None;
    scan(node, sequence, limits, false, empty(), &mut best);
    if !sequence.missing.is_empty() {
        scan(node, sequence, limits, true, empty(), &mut best);
    }
    best
}

#[inline(always)]
fn scan(
    node: &Summary,
    sequence: &Sequence,
    limits: &Limits,
    missing_left: bool,
    mut left: impl Left,
    best: &mut Option<Cut>,
) {
    let Sequence { known, missing } = *sequence;
    let total = known.len() + missing.len();
    let tolerance = tolerance(node);
    let mut bar = best.map_or(f64::NEG_INFINITY, |cut| cut.gain + tolerance);
    let mut weight = 0.0;
    let mut before = 0;
    if missing_left {
        before = missing.len();
        for &entry in missing {
            weight += left.add(row_of(entry));
        }
    }
    // All known rows may go left only if the missing ones stay right.
    let last = known.len() - usize::from(missing_left || missing.is_empty());
    for (position, &entry) in (1..=last).zip(known) {
        weight += left.add(row_of(entry));
        if known.get(position).is_some_and(|&next| code_of(next) == code_of(entry)) {
            continue;
        }
        let rows = before + position;
        if !limits.considers(position)
            || !limits.allow((rows, total - rows), (weight, node.weight - weight))
        {
            continue;
        }
        let gain = left.gain(weight);
        if gain > bar && left.ordered(limits, weight) {
            bar = gain + tolerance;
            *best = Some(Cut { position, missing_left, rows_left: rows, gain });
        }
    }
}

/// The rows of a node beside a cut that was drawn, in no order that matters.
pub(crate) struct Parted<'a> {
    pub(super) left: &'a [u32],
    pub(super) right: &'a [u32],
    pub(super) missing: &'a [u32],
}

/// The cut that was drawn, with missing values on the better side. Only the left side is added up.
pub(super) fn only_cut<C: Criterion>(
    criterion: &C,
    node: &Summary,
    parted: &Parted,
    limits: &Limits,
) -> Option<Cut> {
    match criterion.width() {
        1 => cut_of(node, parted, limits, || Sums { criterion, node, sums: [0.0; 1] }),
        2 => cut_of(node, parted, limits, || Sums { criterion, node, sums: [0.0; 2] }),
        width => cut_of(node, parted, limits, || {
            let sums = vec![0.0; width];
            Sums { criterion, node, sums }
        }),
    }
}

/// The same for a left side that `empty` begins.
#[inline(always)]
pub(super) fn cut_of<L: Left>(
    node: &Summary,
    parted: &Parted,
    limits: &Limits,
    empty: impl Fn() -> L,
) -> Option<Cut> {
    let Parted { left, right, missing } = *parted;
    let total = left.len() + right.len() + missing.len();
    let tolerance = tolerance(node);
    let mut best: Option<Cut> = None;
    for missing_left in [false, true] {
        let before = if missing_left { missing } else { &[] };
        let rows = before.len() + left.len();
        if rows == total || (missing_left && missing.is_empty()) {
            continue;
        }
        let mut side = empty();
        let mut weight = 0.0;
        for rows in [before, left] {
            for &row in rows {
                weight += side.add(row as usize);
            }
        }
        if !limits.allow((rows, total - rows), (weight, node.weight - weight)) {
            continue;
        }
        let gain = side.gain(weight);
        if better(gain, best.map(|cut| cut.gain), tolerance) && side.ordered(limits, weight) {
            best = Some(Cut { position: left.len(), missing_left, rows_left: rows, gain });
        }
    }
    best
}

/// Rows of one code, added up.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) code: u32,
    pub(super) rows: usize,
    pub(super) weight: f64,
    pub(super) sums: Vec<f64>,
}

/// The best cut between groups in the given order; `position` counts groups.
pub(super) fn best_group_cut<C: Criterion>(
    criterion: &C,
    node: &Summary,
    groups: &[Group],
    missing: Option<&Group>,
    limits: &Limits,
) -> Option<Cut> {
    let total: usize = groups.iter().chain(missing).map(|group| group.rows).sum();
    let tolerance = tolerance(node);
    let mut best: Option<Cut> = None;
    for missing_left in [false, true] {
        if missing_left && missing.is_none() {
            break;
        }
        let mut sums = vec![0.0; criterion.width()];
        let (mut rows, mut weight) = (0, 0.0);
        let mut join = |group: &Group| {
            sums.iter_mut().zip(&group.sums).for_each(|(sum, more)| *sum += more);
            rows += group.rows;
            weight += group.weight;
            let ordered = limits.ordered(criterion, node, &sums, weight);
            (rows, weight, criterion.gain(node, &sums, weight), ordered)
        };
        if let (true, Some(group)) = (missing_left, missing) {
            join(group);
        }
        let last = groups.len() - usize::from(missing_left || missing.is_none());
        for position in 1..=last {
            let (rows, weight, gain, ordered) = join(&groups[position - 1]);
            let weights = (weight, node.weight - weight);
            if limits.considers(position)
                && limits.allow((rows, total - rows), weights)
                && ordered
                && better(gain, best.map(|cut| cut.gain), tolerance)
            {
                best = Some(Cut { position, missing_left, rows_left: rows, gain });
            }
        }
    }
    best
}
