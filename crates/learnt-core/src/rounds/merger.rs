//! The one merge tree.

use crate::context::Context;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;

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

/// Rows of a leaf of the tree of rows: the fewest of a block.
pub const LEAF_ROWS: usize = 256;

/// Sums over rows, `width` of them, along the tree that [`Merger`] continues over blocks: leaves have
/// [`LEAF_ROWS`] rows, of which every block has a power of two, so the size of blocks does not change a bit.
/// `add` adds the rows of a range, which lies in one leaf.
pub fn tree_sums(
    rows: usize,
    width: usize,
    run: &Context,
    add: impl Fn(Range<usize>, &mut [f64]) + Sync,
) -> Vec<f64> {
    const LEAVES: usize = 64;
    let mut sums = vec![0.0; rows.div_ceil(LEAF_ROWS).max(1) * width];
    run.par_fill(&mut sums, LEAVES * width.max(1), |first, sums| {
        for (leaf, sums) in (first / width..).zip(sums.chunks_exact_mut(width)) {
            add(leaf * LEAF_ROWS..((leaf + 1) * LEAF_ROWS).min(rows), sums);
        }
    });
    while sums.len() > width {
        let halves = sums.len().div_ceil(2 * width);
        for k in 0..halves {
            for j in 0..width {
                let right = sums.get((2 * k + 1) * width + j).copied();
                sums[k * width + j] = sums[2 * k * width + j] + right.unwrap_or(0.0);
            }
        }
        sums.truncate(halves * width);
    }
    sums
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

    #[test]
    fn sums_along_the_tree_have_the_same_bits_for_blocks_of_any_size() {
        let value = |row: usize| ((row * 7919) % 1000) as f64 * 0.1 + 1e-3 / (row + 1) as f64;
        let run = Context::default();
        for rows in [0, 1, 255, 256, 257, 5_000, 40_000] {
            let whole = tree_sums(rows, 2, &run, |range, sums| {
                range.for_each(|row| {
                    sums[0] += value(row);
                    sums[1] += 1.0;
                });
            });
            assert_eq!(whole[1], rows as f64);
            for block in [256, 512, 16_384] {
                let blocks = rows.div_ceil(block).max(1);
                let mut merger = Merger::new(blocks as u64);
                for k in 0..blocks {
                    let first = k * block;
                    let part = tree_sums(block.min(rows - first), 2, &run, |range, sums| {
                        range.for_each(|row| {
                            sums[0] += value(first + row);
                            sums[1] += 1.0;
                        });
                    });
                    let add = |a: Vec<f64>, b: Vec<f64>| crate::rounds::Merge::merge(a, b);
                    merger.add(k as u64, part, add).unwrap();
                }
                let merged = merger.total().unwrap();
                assert_eq!(merged[0].to_bits(), whole[0].to_bits(), "{rows} rows, {block}");
            }
        }
    }
}
