//! The rows with the smallest keys, the earliest of equals: mergeable.

use learnt_core::prelude::*;

/// A row in the lead.
#[derive(Stored, Clone, Debug)]
pub struct Leader {
    /// What rows are ordered by.
    pub key: f64,
    /// The row's weight.
    pub weight: f64,
    /// The row's values.
    pub values: Vec<f64>,
}

impl Leader {
    /// Nobody: behind every row.
    pub fn nobody() -> Leader {
        Leader { key: f64::INFINITY, weight: 0.0, values: Vec::new() }
    }
}

/// Up to `limit` rows in order of their keys.
#[derive(Stored, Clone, Debug)]
pub struct Leaders {
    limit: usize,
    /// The rows.
    pub rows: Vec<Leader>,
}

impl Leaders {
    /// Nobody yet.
    pub fn new(limit: usize) -> Leaders {
        Leaders { limit, rows: Vec::new() }
    }

    /// Keys from this on are not among the smallest.
    pub(super) fn bound(&self) -> f64 {
        match self.rows.len() >= self.limit {
            true => self.rows.last().map_or(f64::NEG_INFINITY, |row| row.key),
            false => f64::INFINITY,
        }
    }

    /// Takes a row in if its key is among the smallest; infinite keys never are.
    pub fn offer(&mut self, key: f64, leader: impl FnOnce() -> Leader) {
        if key.is_nan() || key >= self.bound() {
            return;
        }
        let place = self.rows.partition_point(|row| row.key <= key);
        self.rows.insert(place, leader());
        self.rows.truncate(self.limit);
    }
}

impl Merge for Leaders {
    fn merge(mut self, later: Self) -> Result<Self> {
        for leader in later.rows {
            self.offer(leader.key, || leader);
        }
        Ok(self)
    }
}
