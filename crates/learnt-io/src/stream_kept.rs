//! Blocks that stay in memory between passes, up to a number of bytes.
//!
//! What is kept is the first that came: passes go round and round, so that throwing out the oldest would
//! throw out just what is asked for next.

use std::collections::BTreeMap;
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

/// Blocks that stay in memory.
#[derive(Default)]
pub(crate) struct Kept {
    most: u64,
    held: Mutex<(u64, BTreeMap<u64, Arc<Rows>>)>,
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
        assert!(Kept::default().find(0).is_none());
    }
}
