//! How a node is divided: a cut of quantities or a set of levels, and where missing values go.

use super::columns::{Codes, MISSING, level};
use super::scan::{Cut, Group, code_of, entry, row_of};
use super::surrogate::Surrogate;

/// How a node is divided.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) feature: usize,
    /// Values up to it go left; infinite where only missing values go right.
    pub(crate) threshold: f64,
    /// The last code that goes left, for quantities.
    pub(super) last_left: u32,
    /// The levels that go left as bits, for categories.
    pub(crate) levels: Option<Vec<u32>>,
    pub(crate) missing_left: bool,
    pub(crate) rows_left: usize,
    /// Weight times decrease of impurity.
    pub(crate) gain: f64,
    /// Where rows without a value go, the first that knows; none if they have a side of their own.
    pub(super) surrogates: Vec<Surrogate>,
}

impl Split {
    #[inline(always)]
    pub(super) fn sends_left(&self, code: u32, missing: u32) -> bool {
        if code == missing {
            return self.missing_left;
        }
        match &self.levels {
            None => code <= self.last_left,
            Some(bits) => has_level(bits, code),
        }
    }

    /// The side of a value as it stands in the table.
    #[inline(always)]
    pub(super) fn sends_value_left(&self, value: f64, codes: &Codes) -> bool {
        match codes {
            Codes::Ordered { .. } => {
                value <= self.threshold || (value.is_nan() && self.missing_left)
            }
            Codes::Levels(levels) => {
                self.sends_left(level(value, *levels).unwrap_or(MISSING), MISSING)
            }
        }
    }

    /// The side of a row; `code` gives its code in a column.
    pub(super) fn routes_left(&self, code: impl Fn(usize) -> u32) -> bool {
        let own = code(self.feature);
        if own != MISSING {
            return self.sends_left(own, MISSING);
        }
        let said = |surrogate: &Surrogate| surrogate.sends_left(code(surrogate.feature as usize));
        self.surrogates.iter().find_map(said).unwrap_or(self.missing_left)
    }

    /// Without missing values in training, they go with the larger child.
    pub(super) fn with_larger_default(mut self, rows: usize, decided: bool) -> Self {
        if !decided {
            self.missing_left = 2 * self.rows_left > rows;
        }
        self
    }
}

/// Whether a level is in a set of bits.
#[inline(always)]
pub(crate) fn has_level(bits: &[u32], level: u32) -> bool {
    bits.get(level as usize / 32).is_some_and(|word| word >> (level % 32) & 1 == 1)
}

/// Entries in the order of arranged levels; codes become places in that order.
pub(super) fn rearranged(known: &[u64], groups: &[Group], levels: usize) -> Vec<u64> {
    let mut start = vec![0; levels];
    let mut reached = 0;
    for entries in known.chunk_by(|a, b| code_of(*a) == code_of(*b)) {
        start[code_of(entries[0]) as usize] = reached;
        reached += entries.len();
    }
    let mut out = Vec::with_capacity(known.len());
    for (place, group) in groups.iter().enumerate() {
        let from = start[group.code as usize];
        let entries = known[from..from + group.rows].iter();
        out.extend(entries.map(|&e| entry(place as u32, row_of(e) as u32)));
    }
    out
}

/// The first `taken` groups go left; levels that the node has not seen go with the larger child.
pub(super) fn level_split(
    feature: usize,
    cut: &Cut,
    groups: &[Group],
    taken: usize,
    levels: usize,
    rows: usize,
) -> Split {
    let larger_left = 2 * cut.rows_left > rows;
    let mut bits = vec![if larger_left { u32::MAX } else { 0 }; levels.div_ceil(32)];
    if let (Some(last), false) = (bits.last_mut(), levels.is_multiple_of(32)) {
        *last &= (1 << (levels % 32)) - 1;
    }
    for (place, group) in groups.iter().enumerate() {
        let (word, bit) = (group.code as usize / 32, 1 << (group.code % 32));
        if place < taken {
            bits[word] |= bit;
        } else {
            bits[word] &= !bit;
        }
    }
    let known: usize = groups.iter().map(|group| group.rows).sum();
    Split {
        feature,
        threshold: 0.0,
        last_left: 0,
        levels: Some(bits),
        missing_left: cut.missing_left,
        rows_left: cut.rows_left,
        gain: cut.gain,
        surrogates: Vec::new(),
    }
    .with_larger_default(rows, known < rows)
}
