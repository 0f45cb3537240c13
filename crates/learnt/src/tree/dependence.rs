//! Partial dependence by walking a tree: where a column is given its branch is taken, elsewhere both are,
//! with the shares of the training weight. It equals the mean over rows only where columns are independent.
//!
//! Reference: Friedman (2001), Annals of Statistics 29, 1189-1232.

use super::nodes::Tree;

/// The mean prediction of a tree where some columns are given.
pub(crate) fn traversed(tree: &Tree, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
    let mut sums = vec![0.0; tree.outputs];
    let mut open = vec![(0, 1.0)];
    while let Some((node, part)) = open.pop() {
        if tree.is_leaf(node) {
            sums.iter_mut().zip(tree.value(node)).for_each(|(sum, value)| *sum += part * value);
            continue;
        }
        if let Some(value) = given(tree.feature[node] as usize) {
            open.push((tree.next(node, value) as usize, part));
            continue;
        }
        let children = [tree.left[node] as usize, tree.right[node] as usize];
        let total: f64 = children.iter().map(|&child| tree.weight[child]).sum();
        open.extend(children.map(|child| (child, part * tree.weight[child] / total)));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeRegressor;
    use crate::tree::reference_tests::{case, near};
    use learnt_core::prelude::*;

    #[test]
    fn dependent_columns_have_another_dependence_by_the_tree_than_by_rows() {
        let case = case("partial-dependence-two-ways");
        let rows = case["input"]["X"].as_array().unwrap();
        let number = |i: usize, j: usize| rows[i][j].as_f64().unwrap();
        let x = Matrix::from_fn(rows.len(), 2, number);
        // The tree of the case, from its own leaves: 1, then 5 and 9 by the second column.
        let leaf = |i: usize| match (x[(i, 0)] <= 2.5, x[(i, 1)] <= 1.5) {
            (true, _) => 1.0,
            (false, true) => 5.0,
            (false, false) => 9.0,
        };
        let y = (0..rows.len()).map(leaf).collect();
        let data = OwnedDataset::regression(x.clone(), y);
        let model = DecisionTreeRegressor::default().fit(&data.view()).unwrap();
        let by_tree = traversed(&model.tree, &|j| (j == 0).then_some(3.0));
        near(by_tree[0], &case["expect"]["by_traversal"], "by the tree");
        let moved = Matrix::from_fn(rows.len(), 2, |i, j| if j == 0 { 3.0 } else { x[(i, 1)] });
        let found = model.predict(&Table::unnamed(moved).frame()).unwrap().into_vec();
        let by_rows = found.iter().sum::<f64>() / found.len() as f64;
        near(by_rows, &case["expect"]["by_rows"], "by rows");
        let none = traversed(&model.tree, &|_| None);
        assert!(
            (none[0] - data.view().real_target().unwrap().column(0).iter().sum::<f64>() / 6.0)
                .abs()
                < 1e-12
        );
    }
}
