//! Additive contributions of columns to the prediction of a row by trees: exact Shapley values.
//!
//! The value of a set of columns is the mean prediction where splits on other columns send a row both
//! ways, in the shares of the training rows. For a leaf with value v, let each distinct column j on its
//! path have z_j, the product of the shares of its splits towards the leaf, and o_j, which is 1 if the
//! row meets all of them, else 0. With m such columns the leaf adds to column j
//! v (o_j - z_j) Σ_s s! (m-1-s)! / m! q_s, where q_s are the coefficients of Π_{k≠j} (z_k + o_k t). The
//! product over all k is made once, and each factor is divided out again. Contributions and the mean
//! over the training rows add up to the prediction. Time: leaves times squared depth for each row.
//!
//! Lundberg, Erion and Lee, "Consistent individualized feature attribution for tree ensembles" (2018).

use super::nodes::{NONE, Tree};
use learnt_core::prelude::*;

/// A leaf with the distinct columns of its path.
struct Leaf {
    node: usize,
    columns: Vec<Step>,
}

/// A column on a path: its share, and the splits on it with the child that the path takes.
struct Step {
    column: usize,
    share: f64,
    splits: Vec<(usize, u32)>,
}

/// The mean prediction and the contributions of columns to one output, a row each, over these trees.
/// Trees with one number take turns among `outputs`.
pub(crate) fn contributions(
    trees: &[Tree],
    (output, outputs): (usize, usize),
    x: &Frame,
    run: &Context,
) -> Result<(f64, Matrix)> {
    let chosen: Vec<&Tree> = trees
        .iter()
        .enumerate()
        .filter(|(t, tree)| tree.outputs > 1 || t % outputs == output)
        .map(|(_, tree)| tree)
        .collect();
    let place = |tree: &Tree| if tree.outputs > 1 { output } else { 0 };
    let leaves: Vec<Vec<Leaf>> = run.par_map(chosen.len(), |t| leaves_of(chosen[t]));
    let mut base = 0.0;
    for (tree, leaves) in chosen.iter().zip(&leaves) {
        for leaf in leaves {
            let share: f64 = leaf.columns.iter().map(|step| step.share).product();
            base += share * tree.value(leaf.node)[place(tree)];
        }
    }
    let rows = run.try_par_map(x.nrows(), |i| {
        let mut out = vec![0.0; x.ncols()];
        for (tree, leaves) in chosen.iter().zip(&leaves) {
            for leaf in leaves {
                add_leaf(tree, leaf, tree.value(leaf.node)[place(tree)], x, i, &mut out);
            }
        }
        Ok(out)
    })?;
    let mut out = Matrix::zeros(x.nrows(), x.ncols());
    rows.iter().enumerate().for_each(|(i, row)| out.row_mut(i).copy_from_slice(row));
    Ok((base, out))
}

/// The leaves of a tree with their paths, found from the parents of nodes.
fn leaves_of(tree: &Tree) -> Vec<Leaf> {
    let mut parent = vec![NONE; tree.len()];
    for node in (0..tree.len()).filter(|&node| !tree.is_leaf(node)) {
        parent[tree.left[node] as usize] = node as u32;
        parent[tree.right[node] as usize] = node as u32;
    }
    let path = |leaf: usize| {
        let mut columns: Vec<Step> = Vec::new();
        let mut child = leaf;
        while parent[child] != NONE {
            let node = parent[child] as usize;
            let column = tree.feature[node] as usize;
            let share = tree.weight[child] / tree.weight[node];
            let split = (node, child as u32);
            match columns.iter_mut().find(|step| step.column == column) {
                Some(step) => {
                    step.share *= share;
                    step.splits.push(split);
                }
                None => columns.push(Step { column, share, splits: vec![split] }),
            }
            child = node;
        }
        Leaf { node: leaf, columns }
    };
    (0..tree.len()).filter(|&node| tree.is_leaf(node)).map(path).collect()
}

/// What one leaf adds to the columns of a row.
fn add_leaf(tree: &Tree, leaf: &Leaf, value: f64, x: &Frame, row: usize, out: &mut [f64]) {
    let m = leaf.columns.len();
    if m == 0 || value == 0.0 {
        return;
    }
    let meets = |step: &Step| {
        let found = x.values().at(row, step.column);
        step.splits.iter().all(|&(node, child)| tree.next(node, found) == child)
    };
    let met: Vec<bool> = leaf.columns.iter().map(meets).collect();
    // Coefficients of the product over all columns.
    let mut product = vec![0.0; m + 1];
    product[0] = 1.0;
    for (count, (step, &met)) in leaf.columns.iter().zip(&met).enumerate() {
        for s in (0..=count + 1).rev() {
            let lower = if s > 0 && met { product[s - 1] } else { 0.0 };
            product[s] = step.share * product[s] + lower;
        }
    }
    // s! (m-1-s)! / m! for every s.
    let mut weights = vec![1.0 / m as f64; m];
    for s in 1..m {
        weights[s] = weights[s - 1] * s as f64 / (m - s) as f64;
    }
    for (step, &met) in leaf.columns.iter().zip(&met) {
        let difference = f64::from(u8::from(met)) - step.share;
        let mut sum = 0.0;
        let mut quotient = 0.0;
        for s in (0..m).rev() {
            // Without the column: divided by t + share where it is met, by share alone where not.
            quotient = match met {
                true => product[s + 1] - step.share * quotient,
                false => product[s] / step.share,
            };
            sum += weights[s] * quotient;
        }
        out[step.column] += value * difference * sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeRegressor;

    /// The mean prediction where only the columns of a set are known.
    fn value_of(tree: &Tree, known: u32, row: &[f64]) -> f64 {
        let mut open = vec![(0_usize, 1.0)];
        let mut sum = 0.0;
        while let Some((node, share)) = open.pop() {
            if tree.is_leaf(node) {
                sum += share * tree.value(node)[0];
                continue;
            }
            let column = tree.feature[node] as usize;
            if known >> column & 1 == 1 {
                open.push((tree.next(node, row[column]) as usize, share));
            } else {
                for child in [tree.left[node] as usize, tree.right[node] as usize] {
                    open.push((child, share * tree.weight[child] / tree.weight[node]));
                }
            }
        }
        sum
    }

    #[test]
    fn contributions_are_the_shapley_values_of_all_sets_and_add_up() {
        let noise =
            |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * i * 31) % 1009) as f64 / 1009.0;
        let x = Matrix::from_fn(300, 4, noise);
        let y = (0..300).map(|i| x[(i, 0)] * x[(i, 1)] + (x[(i, 2)] > 0.5) as u8 as f64).collect();
        let data = OwnedDataset::regression(x.clone(), y);
        let mut learner = DecisionTreeRegressor::default();
        learner.growth.max_depth = Some(6);
        let tree = learner.fit(&data.view()).unwrap().tree;
        let run = Context::default();
        let frame = data.x.frame().rows(0, 12);
        let (base, found) =
            contributions(std::slice::from_ref(&tree), (0, 1), &frame, &run).unwrap();
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        for i in 0..12 {
            let row = x.row(i);
            for j in 0..4 {
                let mut expected = 0.0;
                for set in (0..16_u32).filter(|set| set >> j & 1 == 0) {
                    let size = set.count_ones();
                    let weight = factorial(size) * factorial(3 - size) / factorial(4);
                    let with = value_of(&tree, set | 1 << j, row);
                    expected += weight * (with - value_of(&tree, set, row));
                }
                assert!((found[(i, j)] - expected).abs() < 1e-10, "{i} {j}");
            }
            let prediction = value_of(&tree, 15, row);
            assert!((base + found.row(i).iter().sum::<f64>() - prediction).abs() < 1e-10);
        }
    }
}
