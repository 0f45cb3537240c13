//! The one merge tree.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Merges summaries along the one tree: node (level, index) covers blocks
/// `index << level .. (index + 1) << level`.
pub struct Merger<T> {
    blocks: u64,
    held: BTreeMap<(u32, u64), T>,
}

impl<T> Merger<T> {
    /// For a table of this many blocks.
    pub fn new(blocks: u64) -> Self {
        Merger { blocks, held: BTreeMap::new() }
    }

    /// Adds the summary of a block and merges what has become complete.
    pub fn add(&mut self, block: u64, summary: T, merge: impl Fn(T, T) -> Result<T>) -> Result<()> {
        self.add_node((0, block), summary, merge)
    }

    /// Adds the summary of a node of the tree, as another merger had it.
    pub fn add_node(
        &mut self,
        (mut level, mut index): (u32, u64),
        mut summary: T,
        merge: impl Fn(T, T) -> Result<T>,
    ) -> Result<()> {
        let inside = level < 64
            && index
                .checked_shl(level)
                .is_some_and(|first| first >> level == index && first < self.blocks);
        if !inside || self.held.contains_key(&(level, index)) {
            return Err(Error::internal("a summary of no block of this table, or one twice"));
        }
        while 1_u64 << level < self.blocks {
            let other = index ^ 1;
            let is_left = index & 1 == 0;
            let other_exists = other << level < self.blocks;
            if other_exists {
                match self.held.remove(&(level, other)) {
                    Some(found) if is_left => summary = merge(summary, found)?,
                    Some(found) => summary = merge(found, summary)?,
                    None => break,
                }
            }
            (level, index) = (level + 1, index >> 1);
        }
        self.held.insert((level, index), summary);
        Ok(())
    }

    /// What is merged so far, by (level, index): at most 2 log2(blocks) for blocks in a row.
    pub fn nodes(&self) -> &BTreeMap<(u32, u64), T> {
        &self.held
    }

    /// The summary of all; an error if a block is missing.
    pub fn total(mut self) -> Result<T> {
        let root = 64 - self.blocks.saturating_sub(1).leading_zeros();
        match (self.held.pop_first(), self.held.is_empty()) {
            (Some(((level, _), total)), true) if level == root => Ok(total),
            _ => Err(Error::internal("a block's summary is missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_of_arrival_gives_one_tree() {
        let merge = |a: String, b: String| Ok(format!("({a}{b})"));
        for blocks in 1..40_u64 {
            let forward: Vec<u64> = (0..blocks).collect();
            let shuffled: Vec<u64> = (0..blocks).map(|i| (i * 17 + 5) % blocks).collect();
            let expected = merged(blocks, &forward, merge);
            let mut distinct = shuffled.clone();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() as u64 == blocks {
                assert_eq!(merged(blocks, &shuffled, merge), expected);
            }
            let backward: Vec<u64> = (0..blocks).rev().collect();
            assert_eq!(merged(blocks, &backward, merge), expected);
        }
    }

    fn merged(
        blocks: u64,
        order: &[u64],
        merge: impl Fn(String, String) -> Result<String>,
    ) -> String {
        let mut merger = Merger::new(blocks);
        for &block in order {
            merger.add(block, format!("{block},"), &merge).unwrap();
        }
        merger.total().unwrap()
    }

    #[test]
    fn pieces_of_other_mergers_give_the_same_tree() {
        let merge = |a: String, b: String| Ok(format!("({a}{b})"));
        for blocks in 1..40_u64 {
            let forward: Vec<u64> = (0..blocks).collect();
            let expected = merged(blocks, &forward, merge);
            for size in 1..7 {
                let mut whole = Merger::new(blocks);
                for piece in forward.chunks(size).rev() {
                    let mut part = Merger::new(blocks);
                    for &block in piece {
                        part.add(block, format!("{block},"), merge).unwrap();
                    }
                    for (&node, summary) in part.nodes() {
                        whole.add_node(node, summary.clone(), merge).unwrap();
                    }
                }
                assert_eq!(whole.total().unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_missing_block_a_foreign_one_and_one_twice_are_noticed() {
        let add = |a, b| Ok(a + b);
        let mut merger = Merger::new(3);
        merger.add(0, 1, add).unwrap();
        assert!(merger.add(0, 1, add).is_err());
        assert!(merger.add(3, 1, add).is_err());
        assert!(merger.add_node((70, 0), 1, add).is_err());
        merger.add(2, 1, add).unwrap();
        assert!(merger.total().is_err());
        let mut merger = Merger::new(4);
        merger.add(0, 1, add).unwrap();
        assert!(merger.total().is_err());
    }
}
