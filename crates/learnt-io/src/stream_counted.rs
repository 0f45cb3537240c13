//! Which rows of a file count: those whose weight is not zero. A fit in memory leaves the others out before it
//! cuts blocks, and a stream must have the same blocks.
//!
//! The first pass counts stretch by stretch. Where the k-th row that counts is, is found by the counts; which
//! rows of a stretch those are, by its weights when it is read.

use learnt_core::error::{Code, Error, Result};
use std::ops::Range;

/// How many rows of neighbouring stretches of a table count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    /// The first row after each stretch.
    pub(crate) ends: Vec<u64>,
    /// The number of rows that count until there.
    pub(crate) sums: Vec<u64>,
}

/// Whether a row of this weight counts. Weights that are no weights count, to be refused.
pub(crate) fn counts(weight: f64) -> bool {
    weight != 0.0
}

impl Counted {
    /// Of stretches with so many rows, of which so many count.
    pub(crate) fn of(stretches: impl Iterator<Item = (u64, u64)>) -> Counted {
        let mut counted = Counted::default();
        stretches.for_each(|(rows, count)| counted.push(rows, count));
        counted
    }

    fn push(&mut self, rows: u64, counted: u64) {
        self.ends.push(self.rows() + rows);
        self.sums.push(self.total() + counted);
    }

    /// Adds the stretches of the next file.
    pub(crate) fn extend(&mut self, later: &Counted) {
        let (rows, total) = (self.rows(), self.total());
        self.ends.extend(later.ends.iter().map(|end| rows + end));
        self.sums.extend(later.sums.iter().map(|sum| total + sum));
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The number of rows that count.
    pub(crate) fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or_default()
    }

    /// What is to be kept of it: nothing where all rows count. An error where none does.
    pub(crate) fn settled(self) -> Result<Option<Counted>> {
        match self.total() {
            0 => Err(Error::new(Code::Weights, "all weights are zero, so no row counts")),
            total if total == self.rows() => Ok(None),
            _ => Ok(Some(self)),
        }
    }

    /// As it was settled elsewhere, for a table of so many rows.
    pub(crate) fn known(ends: Vec<u64>, sums: Vec<u64>, rows: u64) -> Option<Counted> {
        let rising = |list: &[u64]| list.windows(2).all(|pair| pair[0] <= pair[1]);
        let counted = Counted { ends, sums };
        let fits = counted.ends.len() == counted.sums.len()
            && rising(&counted.ends)
            && rising(&counted.sums)
            && counted.rows() == rows
            && counted.ends.iter().zip(&counted.sums).all(|(end, sum)| sum <= end)
            && counted.total() > 0;
        fits.then_some(counted)
    }

    /// The rows of the table among which the rows `start..end` of those that count are, and how many that count
    /// come before them. Neighbours together cover the whole table: every row is looked at by somebody.
    pub(crate) fn place(&self, start: u64, end: u64) -> (Range<u64>, u64) {
        let stretch = |row: u64| self.sums.partition_point(|&sum| sum < row);
        let first = if start == 0 { 0 } else { stretch(start) };
        let (from, before) = match first.checked_sub(1) {
            Some(k) => (self.ends[k], self.sums[k]),
            None => (0, 0),
        };
        let whole = end >= self.total();
        let stop = self.ends.get(stretch(end)).filter(|_| !whole).copied();
        (from..stop.unwrap_or(self.rows()), start - before)
    }

    /// Rows of the table, cut where stretches end: however many of them do not count, few are held at a time.
    pub(crate) fn pieces(&self, place: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.ends.partition_point(|&end| end <= place.start);
        self.ends[first..].iter().scan(place.start, move |from, &end| {
            let piece = *from..end.min(place.end);
            *from = end;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// Where the first pass finds the weight of a row; `None` without weights, or where their name is wrong, which
/// is said later.
pub(crate) fn weight_place(names: &[String], weight: Option<&str>) -> Option<usize> {
    weight.and_then(|weight| names.iter().position(|name| name == weight))
}

/// The offsets of sequences over the rows that count; `begins` says where one begins in the table.
pub(crate) struct Offsets {
    offsets: Vec<usize>,
    rows: usize,
    /// Whether a sequence began since the last row that counts.
    fresh: bool,
}

impl Offsets {
    pub(crate) fn new() -> Offsets {
        Offsets { offsets: vec![0], rows: 0, fresh: false }
    }

    /// Takes the next row.
    pub(crate) fn push(&mut self, begins: bool, counts: bool) {
        self.fresh |= begins;
        if counts {
            if self.fresh && self.rows > 0 {
                self.offsets.push(self.rows);
            }
            self.fresh = false;
            self.rows += 1;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<usize> {
        self.offsets.push(self.rows);
        self.offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_between_which_those_that_count_are_found() {
        let counted = Counted::of([(4, 0), (4, 2), (4, 4), (4, 0), (4, 1)].into_iter());
        assert_eq!((counted.rows(), counted.total()), (20, 7));
        assert_eq!(counted.place(0, 2), (0..8, 0));
        assert_eq!(counted.place(1, 3), (4..12, 1));
        assert_eq!(counted.place(2, 6), (4..12, 2));
        assert_eq!(counted.place(6, 7), (8..20, 4));
        assert_eq!(counted.place(0, 7), (0..20, 0));
        assert_eq!(counted.pieces(4..12).collect::<Vec<_>>(), [4..8, 8..12]);
        assert_eq!(counted.pieces(0..20).count(), 5);
        let mut twice = counted.clone();
        twice.extend(&counted);
        assert_eq!(twice.place(7, 8), (16..28, 1));
        assert!(Counted::known(counted.ends.clone(), counted.sums.clone(), 20).is_some());
        assert!(Counted::known(counted.ends.clone(), counted.sums, 21).is_none());
        assert!(Counted::known(counted.ends, vec![9; 5], 20).is_none());
    }

    #[test]
    fn whole_and_empty_tables_are_told_apart() {
        let of = |rows, count| Counted::of([(rows, count)].into_iter()).settled();
        assert!(of(3, 3).unwrap().is_none());
        assert!(of(3, 2).unwrap().is_some());
        assert!(of(3, 0).is_err());
    }

    #[test]
    fn a_sequence_of_rows_that_do_not_count_still_parts_its_neighbours() {
        let mut offsets = Offsets::new();
        for (begins, counts) in
            [(false, false), (true, true), (false, true), (true, false), (true, true)]
        {
            offsets.push(begins, counts);
        }
        assert_eq!(offsets.finish(), [0, 2, 3]);
    }
}
