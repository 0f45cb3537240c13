//! Which consecutive rows form a sequence: a sentence, a recording, a day.
//!
//! Offsets say where sequences begin: the first is 0, the last is the number of rows, and every
//! sequence has at least one row. A view of some rows keeps the offsets of the whole and clips them.

use crate::error::{Code, Error, Result};
use std::ops::Range;

/// The sequences of some rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Sequences<'a> {
    offsets: &'a [usize],
    start: usize,
    end: usize,
}

impl<'a> Sequences<'a> {
    /// From offsets: 0, the first row of every later sequence, the number of rows.
    ///
    /// ```
    /// # use learnt_core::data::Sequences;
    /// let sequences = Sequences::new(&[0, 2, 5], 5)?;
    /// assert_eq!(sequences.ranges().collect::<Vec<_>>(), [0..2, 2..5]);
    /// assert!(Sequences::new(&[0, 2, 2, 5], 5).is_err());
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn new(offsets: &'a [usize], rows: usize) -> Result<Self> {
        let ordered = offsets.windows(2).all(|pair| pair[0] < pair[1]);
        match ordered && offsets.first() == Some(&0) && offsets.last() == Some(&rows) {
            true => Ok(Sequences { offsets, start: 0, end: rows }),
            false => {
                let message = format!(
                    "sequence offsets must rise from 0 to the number of rows ({rows}), each \
                     sequence with at least one row"
                );
                Err(Error::new(Code::Shape, message))
            }
        }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.end - self.start
    }

    /// The rows of each sequence, counted from the first row of this view.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let Sequences { offsets, start, end } = *self;
        let first = offsets.partition_point(|&offset| offset <= start).saturating_sub(1);
        offsets[first..]
            .windows(2)
            .map(move |pair| pair[0].max(start)..pair[1].min(end))
            .take_while(|range| range.start < range.end)
            .map(move |range| range.start - start..range.end - start)
    }

    /// Rows `start..end` of this view; a cut inside a sequence leaves a part of it on each side.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Sequences<'a> {
        let end = (self.start + end).min(self.end);
        Sequences { start: (self.start + start).min(end), end, ..*self }
    }

    /// The number of each row's sequence.
    pub fn numbers(&self) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.nrows());
        for (number, range) in self.ranges().enumerate() {
            out.resize(range.end, number as u32);
        }
        out
    }

    /// Offsets of the chosen rows: neighbours of one sequence stay together.
    pub fn gather(&self, rows: &[usize]) -> Vec<usize> {
        let numbers = self.numbers();
        offsets_of(rows.len(), |i| numbers[rows[i - 1]] != numbers[rows[i]])
    }

    /// The rows cut into blocks of whole sequences, each of `rows` rows or as many more as its last
    /// sequence needs.
    pub fn blocks(&self, rows: usize) -> Vec<Range<usize>> {
        let mut blocks = Vec::new();
        let mut first = 0;
        for range in self.ranges() {
            if range.end - first >= rows || range.end == self.nrows() {
                blocks.push(first..range.end);
                first = range.end;
            }
        }
        blocks
    }
}

/// Offsets of `rows` rows of which row i begins a sequence where `begins(i)` says so.
pub fn offsets_of(rows: usize, begins: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut offsets = vec![0];
    offsets.extend((1..rows).filter(|&i| begins(i)));
    if rows > 0 {
        offsets.push(rows);
    }
    offsets
}

/// Offsets from the lengths of the sequences, which must fill all rows.
pub fn offsets_from_lengths(lengths: &[usize], rows: usize) -> Result<Vec<usize>> {
    let mut offsets = vec![0_usize];
    for (i, &length) in lengths.iter().enumerate() {
        if length == 0 {
            let message = format!("lengths: sequence {} has no rows", i + 1);
            return Err(Error::new(Code::Shape, message));
        }
        offsets.push(offsets[i].saturating_add(length));
    }
    match offsets.last() == Some(&rows) {
        true => Ok(offsets),
        false => {
            let total = offsets.last().copied().unwrap_or_default();
            Err(Error::shape("lengths", format!("a sum of {rows} rows"), total))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_some_rows_clips_its_sequences() {
        let sequences = Sequences::new(&[0, 3, 4, 9], 9).unwrap();
        let middle = sequences.rows(2, 7);
        assert_eq!(middle.ranges().collect::<Vec<_>>(), [0..1, 1..2, 2..5]);
        assert_eq!(middle.rows(1, 3).ranges().collect::<Vec<_>>(), [0..1, 1..2]);
        assert_eq!(sequences.rows(4, 4).ranges().count(), 0);
        assert_eq!(sequences.numbers(), [0, 0, 0, 1, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn chosen_rows_keep_their_sequences_apart() {
        let sequences = Sequences::new(&[0, 3, 6], 6).unwrap();
        assert_eq!(sequences.gather(&[0, 2, 3, 4]), [0, 2, 4]);
        assert_eq!(sequences.gather(&[]), [0]);
    }

    #[test]
    fn blocks_end_at_sequence_ends() {
        let offsets: Vec<usize> = (0..=10).map(|i| i * 3).collect();
        let sequences = Sequences::new(&offsets, 30).unwrap();
        assert_eq!(sequences.blocks(7), [0..9, 9..18, 18..27, 27..30]);
        assert_eq!(sequences.blocks(1000), std::slice::from_ref(&(0..30)));
        let one = Sequences::new(&[0, 50], 50).unwrap();
        assert_eq!(one.blocks(7), std::slice::from_ref(&(0..50)));
    }

    #[test]
    fn lengths_must_fill_the_rows() {
        assert_eq!(offsets_from_lengths(&[2, 3], 5).unwrap(), [0, 2, 5]);
        assert!(offsets_from_lengths(&[2, 2], 5).is_err());
        assert!(offsets_from_lengths(&[5, 0], 5).is_err());
        assert!(offsets_from_lengths(&[usize::MAX, 2], 5).is_err());
    }
}
