//! Many trees end to end, for messages: a few arrays, whatever their number, and no more than predictions need.

use super::nodes::Tree;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Trees of the same columns that predict as many numbers.
#[derive(Stored, Clone, Debug, Default)]
pub(crate) struct Bundle {
    /// Nodes of each tree, and elements of its sets of levels.
    nodes: Vec<u32>,
    levels: Vec<u32>,
    /// All of them, end to end; children are counted from the root of their own tree.
    all: Tree,
}

impl Bundle {
    pub(crate) fn of(trees: &[Tree]) -> Bundle {
        let (outputs, columns) =
            trees.first().map_or((0, Vec::new()), |tree| (tree.outputs, tree.columns.clone()));
        let mut all = Tree::new(outputs, columns);
        for tree in trees {
            all.feature.extend_from_slice(&tree.feature);
            all.threshold.extend_from_slice(&tree.threshold);
            all.left.extend_from_slice(&tree.left);
            all.right.extend_from_slice(&tree.right);
            all.missing_left.extend_from_slice(&tree.missing_left);
            all.level_start.extend_from_slice(&tree.level_start);
            all.levels.extend_from_slice(&tree.levels);
            all.values.extend_from_slice(&tree.values);
        }
        let nodes = trees.iter().map(|tree| tree.len() as u32).collect();
        Bundle { nodes, levels: trees.iter().map(|tree| tree.levels.len() as u32).collect(), all }
    }

    /// The trees, without what training rows told of their nodes.
    pub(crate) fn trees(&self) -> Result<Vec<Tree>> {
        let all = &self.all;
        let (mut node, mut level) = (0, 0);
        let mut trees = Vec::with_capacity(self.nodes.len());
        for (&nodes, &levels) in self.nodes.iter().zip(&self.levels) {
            let (end, last) = (node + nodes as usize, level + levels as usize);
            let cut = || -> Option<Tree> {
                Some(Tree {
                    feature: all.feature.get(node..end)?.to_vec(),
                    threshold: all.threshold.get(node..end)?.to_vec(),
                    left: all.left.get(node..end)?.to_vec(),
                    right: all.right.get(node..end)?.to_vec(),
                    missing_left: all.missing_left.get(node..end)?.to_vec(),
                    level_start: all.level_start.get(node..end)?.to_vec(),
                    levels: all.levels.get(level..last)?.to_vec(),
                    values: all.values.get(node * all.outputs..end * all.outputs)?.to_vec(),
                    rows: vec![0; nodes as usize],
                    weight: vec![0.0; nodes as usize],
                    impurity: vec![0.0; nodes as usize],
                    outputs: all.outputs,
                    columns: all.columns.clone(),
                })
            };
            trees.push(cut().ok_or_else(|| invalid("trees that are cut short"))?);
            (node, level) = (end, last);
        }
        Ok(trees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(levels: &[u32], values: &[f64]) -> Tree {
        let mut tree = Tree::new(1, vec![0, 3]);
        for &value in values {
            tree.push_leaf(5, 2.0, |out| out.push(value));
        }
        if values.len() == 3 {
            tree.ask(0, 1, 0.5, true, Some(levels));
            tree.adopt(0, 1);
            tree.adopt(0, 2);
        }
        tree
    }

    #[test]
    fn trees_come_back_as_they_were_without_what_rows_told() {
        let trees = [tree(&[5], &[0.0, 1.0, 2.0]), tree(&[], &[7.0]), tree(&[2], &[3.0, 4.0, 5.0])];
        let found = Bundle::from_node(&Bundle::of(&trees).to_node()).unwrap().trees().unwrap();
        assert_eq!(found.len(), 3);
        for (found, tree) in found.into_iter().zip(trees) {
            let nodes = tree.len();
            let plain = Tree {
                rows: vec![0; nodes],
                weight: vec![0.0; nodes],
                impurity: vec![0.0; nodes],
                ..tree
            };
            assert_eq!(found, plain);
        }
        assert!(Bundle::of(&[]).trees().unwrap().is_empty());
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let mut bundle = Bundle::of(&[tree(&[5], &[0.0, 1.0, 2.0])]);
        bundle.nodes[0] = 4;
        assert!(bundle.trees().is_err());
    }
}
