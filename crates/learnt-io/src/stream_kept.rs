//! Blocks that stay in memory between passes, up to a number of bytes.
//!
//! What is kept is the first that came: passes go round and round, so that throwing out the oldest would
//! throw out just what is asked for next.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The rows of a block, as learners read them.
pub(crate) struct Rows {
    /// The number of the first row.
    pub(crate) start: u64,
    pub(crate) count: usize,
    pub(crate) inputs: Vec<f64>,
    /// Numbers to be predicted; empty where they are classes.
    pub(crate) target: Vec<f64>,
    /// Codes of classes; empty where they are numbers.
    pub(crate) codes: Vec<u32>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Rows {
    /// About how many bytes they take.
    fn bytes(&self) -> u64 {
        let weights = self.weights.as_ref().map_or(0, Vec::len);
        let numbers = self.inputs.len() + self.target.len() + weights;
        8 * numbers as u64 + 4 * self.codes.len() as u64
    }
}

/// Blocks that stay in memory, and blocks that were read ahead of their use.
#[derive(Default)]
pub(crate) struct Kept {
    most: u64,
    held: Mutex<(u64, BTreeMap<u64, Arc<Rows>>)>,
    ahead: Mutex<BTreeMap<u64, Rows>>,
}

impl Kept {
    /// Up to this many bytes.
    pub(crate) fn new(most: u64) -> Kept {
        Kept { most, ..Kept::default() }
    }

    /// A block, if it is there.
    pub(crate) fn find(&self, index: u64) -> Option<Arc<Rows>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.1.get(&index).cloned()
    }

    /// Holds blocks until they are asked for.
    pub(crate) fn read_ahead(&self, blocks: impl Iterator<Item = (u64, Rows)>) {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).extend(blocks);
    }

    /// A block that was read ahead, given away.
    pub(crate) fn take_ahead(&self, index: u64) -> Option<Rows> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).remove(&index)
    }

    /// Forgets what was read ahead of these blocks.
    pub(crate) fn forget_ahead(&self, blocks: &Range<u64>) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.retain(|index, _| !blocks.contains(index));
    }

    /// Whether a block need not be read.
    pub(crate) fn has(&self, index: u64) -> bool {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.contains_key(&index) || self.find(index).is_some()
    }

    /// Keeps a block if there is room, and gives it back.
    pub(crate) fn offer(&self, index: u64, rows: Rows) -> Arc<Rows> {
        let (bytes, rows) = (rows.bytes(), Arc::new(rows));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 + bytes <= self.most && !held.1.contains_key(&index) {
            held.0 += bytes;
            held.1.insert(index, Arc::clone(&rows));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_kept_until_the_room_is_full() {
        let rows = |count: usize| Rows {
            start: 0,
            count,
            inputs: vec![0.0; count],
            target: Vec::new(),
            codes: Vec::new(),
            weights: None,
        };
        let kept = Kept::new(100);
        for index in 0..5 {
            assert_eq!(kept.offer(index, rows(5)).count, 5);
        }
        let found: Vec<u64> = (0..5).filter(|&index| kept.find(index).is_some()).collect();
        assert_eq!(found, [0, 1]);
        kept.read_ahead([(7, rows(2)), (8, rows(2))].into_iter());
        assert!(kept.has(7) && kept.has(0) && !kept.has(9));
        assert_eq!(kept.take_ahead(7).map(|rows| rows.count), Some(2));
        assert!(kept.take_ahead(7).is_none());
        kept.forget_ahead(&(3..9));
        assert!(!kept.has(8));
        assert!(Kept::default().find(0).is_none());
    }
}
