//! Which bins go left at a node, for rows that are known by their bins.

use super::table::Kind;
use crate::tree::grow::has_level;
use crate::tree::nodes::Tree;

/// Which bins of its column a node sends left.
pub(crate) struct Sides {
    pub(crate) feature: usize,
    children: [u32; 2],
    goes_left: Vec<bool>,
}

impl Sides {
    /// Of every node of a tree that has children.
    pub(crate) fn of_tree(tree: &Tree, kinds: &[Kind]) -> Vec<Option<Sides>> {
        (0..tree.len()).map(|node| Sides::of(tree, node, kinds)).collect()
    }

    /// Of a node with children; the answer is that of the values in the bins.
    fn of(tree: &Tree, node: usize, kinds: &[Kind]) -> Option<Sides> {
        if tree.is_leaf(node) {
            return None;
        }
        let feature = tree.feature[node] as usize;
        let kind = &kinds[feature];
        let mut goes_left = vec![tree.missing_left[node]; kind.missing() + 1];
        match kind {
            Kind::Ordered { high, .. } => {
                let left = high.iter().map(|&most| most <= tree.threshold[node]);
                goes_left.iter_mut().zip(left).for_each(|(side, left)| *side = left);
            }
            Kind::Levels { .. } => {
                let bits = tree.level_bits(node);
                // Levels of one bin go together.
                for (level, bin) in kind.bins_of_levels() {
                    goes_left[bin] = has_level(bits, level);
                }
            }
        }
        Some(Sides { feature, children: [tree.left[node], tree.right[node]], goes_left })
    }

    /// The child that a row in this bin goes to.
    #[inline(always)]
    pub(crate) fn child(&self, bin: usize) -> u32 {
        self.children[usize::from(!self.goes_left[bin])]
    }
}
