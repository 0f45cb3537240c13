//! Exact weighted quantiles of numbers in blocks, several groups at once.
//!
//! Numbers are ordered by their bits, 16 at a time: a round adds up the weight and counts the rows of each
//! piece of 16 bits that occurs, and the quantile lies in the piece where the weight reaches its share. Once few
//! rows lie there, the next round gathers them; where many are equal, all bits are known after four rounds.
//! Weights lie on a grid, so their sums are exact and merge in any order: the quantile is that of all numbers
//! sorted in memory (`weighted_quantile`), to the last bit.

use crate::ensemble::loss::{quantile_among, reaches};
use learnt_core::prelude::*;

/// Bits that a round finds.
const DIGIT: u32 = 16;
/// Rounds until all bits are known.
const DIGITS: usize = 4;
/// Rows of all groups together that are gathered at most.
const GATHERED: u64 = 1 << 20;

/// The quantile of each of several groups, as far as it is known.
#[derive(Stored, Clone, Debug)]
pub(super) struct Quantiles {
    share: f64,
    groups: Vec<Group>,
    /// Whether this round gathers rows.
    gathers: bool,
}

/// Where the quantile of a group is.
#[derive(Stored, Clone, Debug, Default)]
struct Group {
    /// Its first bits, 16 at a time.
    digits: Vec<u32>,
    /// Weight of the rows below them, and of all.
    below: f64,
    total: f64,
    /// Rows that begin with these bits.
    rows: u64,
    value: Option<f64>,
}

/// What some rows say.
#[derive(Stored, Clone, Debug, Default)]
pub(super) struct Pieces {
    groups: Vec<Piece>,
}

/// What rows of one group say.
#[derive(Stored, Clone, Debug, Default)]
struct Piece {
    /// The next bits that occur, in order, with the weight and number of their rows.
    digits: Vec<u32>,
    weights: Vec<f64>,
    rows: Vec<u64>,
    /// The smallest number whose first bits are larger; infinite without one.
    above: Vec<f64>,
    /// The numbers themselves, with their weights.
    values: Vec<f64>,
    loads: Vec<f64>,
}

/// Bits in the order of numbers.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of these bits.
fn number(digits: &[u32]) -> f64 {
    let key = digits.iter().fold(0_u64, |key, &digit| key << DIGIT | u64::from(digit));
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

impl Quantiles {
    /// Of so many groups, with this share of the weight up to it.
    pub(super) fn new(share: f64, groups: usize) -> Self {
        Quantiles { share, groups: vec![Group::default(); groups], gathers: false }
    }

    /// What rows say, given by their group, number and weight on the grid.
    pub(super) fn ask(&self, rows: impl Iterator<Item = (usize, f64, f64)>) -> Pieces {
        let mut found: Vec<Vec<(u64, f64)>> = vec![Vec::new(); self.groups.len()];
        rows.for_each(|(group, value, weight)| found[group].push((key(value), weight)));
        let of_group = |(group, rows): (&Group, Vec<(u64, f64)>)| group.piece(rows, self.gathers);
        Pieces { groups: self.groups.iter().zip(found).map(of_group).collect() }
    }

    /// Takes what all rows say; whether all quantiles are known.
    pub(super) fn take(&mut self, all: &Pieces) -> Result<bool> {
        if all.groups.len() != self.groups.len() {
            return Err(Error::internal("quantiles of other groups"));
        }
        let Quantiles { share, groups, gathers } = self;
        for (group, piece) in groups.iter_mut().zip(&all.groups) {
            match (*gathers, group.value) {
                (_, Some(_)) => {}
                (true, None) => group.settle(piece, *share)?,
                (false, None) => group.narrow(piece, *share)?,
            }
        }
        let open = groups.iter().filter(|group| group.value.is_none());
        *gathers = open.map(|group| group.rows).sum::<u64>() <= GATHERED;
        Ok(groups.iter().all(|group| group.value.is_some()))
    }

    /// The quantiles; zero for a group without rows.
    pub(super) fn values(&self) -> Vec<f64> {
        self.groups.iter().map(|group| group.value.unwrap_or(0.0)).collect()
    }
}

impl Group {
    /// What rows of the group say.
    fn piece(&self, mut rows: Vec<(u64, f64)>, gathers: bool) -> Piece {
        let mut piece = Piece { above: vec![f64::INFINITY], ..Piece::default() };
        if self.value.is_some() {
            return piece;
        }
        let known = self.digits.len() as u32 * DIGIT;
        let prefix = self.digits.iter().fold(0_u64, |key, &digit| key << DIGIT | u64::from(digit));
        let first = |key: u64| if known == 0 { 0 } else { key >> (64 - known) };
        rows.retain(|&(key, _)| first(key) >= prefix);
        rows.sort_unstable_by_key(|&(key, _)| key);
        let inside = rows.partition_point(|&(key, _)| first(key) == prefix);
        if let Some(&(key, _)) = rows.get(inside) {
            piece.above = vec![of_key(key)];
        }
        rows.truncate(inside);
        if gathers {
            piece.values = rows.iter().map(|&(key, _)| of_key(key)).collect();
            piece.loads = rows.iter().map(|&(_, weight)| weight).collect();
            return piece;
        }
        let digit = |key: u64| (key >> (64 - known - DIGIT)) as u32 & 0xffff;
        for part in rows.chunk_by(|a, b| digit(a.0) == digit(b.0)) {
            piece.digits.push(digit(part[0].0));
            piece.weights.push(part.iter().map(|(_, weight)| weight).sum());
            piece.rows.push(part.len() as u64);
        }
        piece
    }

    /// Finds the next bits.
    fn narrow(&mut self, piece: &Piece, share: f64) -> Result<()> {
        if self.digits.is_empty() {
            self.total = piece.weights.iter().sum();
        }
        let Piece { digits, weights, rows, above, .. } = piece;
        let Some(last) = digits.len().checked_sub(1) else {
            // A group without rows.
            self.value = Some(0.0);
            return Ok(());
        };
        if weights.len() != digits.len() || rows.len() != digits.len() {
            return Err(Error::internal("bits without their weights"));
        }
        let mut reached = self.below;
        let mut place = 0;
        loop {
            let (enough, exact) = reaches(reached + weights[place], share * self.total, self.total);
            if !enough && place < last {
                reached += weights[place];
                place += 1;
                continue;
            }
            self.digits.push(digits[place]);
            (self.below, self.rows) = (reached, rows[place]);
            if self.digits.len() == DIGITS {
                let value = number(&self.digits);
                let next = digits
                    .get(place + 1)
                    .map(|&digit| number(&[&self.digits[..DIGITS - 1], &[digit]].concat()));
                let next = next.or(above.first().copied().filter(|above| above.is_finite()));
                let middle = |next: f64| 0.5 * value + 0.5 * next;
                self.value = Some(next.filter(|_| exact).map_or(value, middle));
            }
            return Ok(());
        }
    }

    /// Finds the quantile among the rows that are left.
    fn settle(&mut self, piece: &Piece, share: f64) -> Result<()> {
        if piece.values.len() != piece.loads.len() || piece.values.is_empty() {
            return Err(Error::internal("rows of a quantile are missing"));
        }
        let pairs = piece.values.iter().copied().zip(piece.loads.iter().copied());
        let above = piece.above.first().copied().filter(|above| above.is_finite());
        let wanted = share * self.total;
        let mut pairs: Vec<(f64, f64)> = pairs.collect();
        self.value = Some(quantile_among(&mut pairs, wanted, self.total, self.below, above));
        Ok(())
    }
}

/// The number of a key.
fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

impl Merge for Pieces {
    fn merge(self, later: Self) -> Result<Self> {
        Ok(Pieces { groups: self.groups.merge(later.groups)? })
    }
}

impl Merge for Piece {
    fn merge(mut self, later: Self) -> Result<Self> {
        let lengths = |p: &Piece| (p.weights.len(), p.rows.len(), p.above.len(), p.loads.len());
        let fits = |p: &Piece| lengths(p) == (p.digits.len(), p.digits.len(), 1, p.values.len());
        if !fits(&self) || !fits(&later) {
            return Err(Error::internal("pieces of different rounds"));
        }
        let mut merged =
            Piece { above: vec![self.above[0].min(later.above[0])], ..Piece::default() };
        let (mut i, mut j) = (0, 0);
        while i < self.digits.len() || j < later.digits.len() {
            let (a, b) = (self.digits.get(i), later.digits.get(j));
            let first = b.is_none_or(|b| a.is_some_and(|a| a <= b));
            let second = a.is_none_or(|a| b.is_some_and(|b| b <= a));
            let digit = if first { a } else { b };
            merged.digits.extend(digit);
            let weight = |takes: bool, list: &[f64], place: usize| {
                if takes { list.get(place).copied().unwrap_or(0.0) } else { 0.0 }
            };
            let rows = |takes: bool, list: &[u64], place: usize| {
                if takes { list.get(place).copied().unwrap_or(0) } else { 0 }
            };
            merged
                .weights
                .push(weight(first, &self.weights, i) + weight(second, &later.weights, j));
            merged.rows.push(rows(first, &self.rows, i) + rows(second, &later.rows, j));
            i += usize::from(first);
            j += usize::from(second);
        }
        self.values.extend(later.values);
        self.loads.extend(later.loads);
        Ok(Piece { values: self.values, loads: self.loads, ..merged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::loss::weighted_quantile;
    use crate::tree::binned::Grid;

    /// Quantiles by rounds over blocks of some rows.
    fn by_rounds(rows: &[(usize, f64, f64)], groups: usize, share: f64, gathers: bool) -> Vec<f64> {
        let mut quantiles = Quantiles::new(share, groups);
        for _ in 0..10 {
            let ask = |part: &[(usize, f64, f64)]| quantiles.ask(part.iter().copied());
            let all = rows.chunks(97).map(ask).reduce(|a, b| a.merge(b).unwrap()).unwrap();
            if quantiles.take(&all).unwrap() {
                return quantiles.values();
            }
            quantiles.gathers &= gathers;
        }
        panic!("rounds without end");
    }

    #[test]
    fn quantiles_by_rounds_are_those_of_sorted_numbers() {
        let values = |i: usize, kind: usize| match kind {
            0 => ((i * 7919) % 1009) as f64 / 31.0 - 16.0,
            1 => ((i * 31) % 7) as f64 - 3.0,
            2 => {
                if i.is_multiple_of(3) {
                    0.0
                } else {
                    -0.0
                }
            }
            _ => {
                10_f64.powi((i * 13 % 40) as i32 - 20)
                    * if i.is_multiple_of(2) { 1.0 } else { -1.0 }
            }
        };
        let grid = Grid::new(2000.0);
        for weighted in [false, true] {
            let weight = |i: usize| if weighted { 0.1 + (i % 11) as f64 / 9.0 } else { 1.0 };
            let rows: Vec<(usize, f64, f64)> = (0..4000)
                .map(|i| (i % 4, values(i / 4, i % 4), grid.positive(weight(i))))
                .collect();
            for share in [0.5, 0.1, 0.0, 1.0, 0.37] {
                let expected: Vec<f64> = (0..4)
                    .map(|group| {
                        let mut pairs: Vec<(f64, f64)> = rows
                            .iter()
                            .filter(|row| row.0 == group)
                            .map(|&(_, value, weight)| (value, weight))
                            .collect();
                        weighted_quantile(&mut pairs, share)
                    })
                    .collect();
                for gathers in [false, true] {
                    assert_eq!(by_rounds(&rows, 4, share, gathers), expected, "{share}");
                }
            }
        }
    }
}
