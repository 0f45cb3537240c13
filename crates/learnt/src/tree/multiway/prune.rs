//! Pruning: by an upper bound of the error (C4.5), by other rows, by description length.
//!
//! A node is a leaf if that is estimated to be no worse than its subtree. With raising, a node may also
//! give its place to its largest branch, which then takes the rows of the others too. Nodes are met from
//! the leaves up with a stack of steps; rows go down with the steps and come back merged.

use super::grow::Held;
use super::{MultiTree, Way};
use crate::tree::loss::Losses;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::special::ln_gamma;

/// A leaf is preferred to a subtree that is better by less than this.
const MARGIN: f64 = 0.1;

/// Errors that a leaf adds to those that it shows: an upper confidence bound (Quinlan 1993).
pub(in crate::tree) fn added_errors(total: f64, errors: f64, confidence: f64) -> f64 {
    if errors < 1.0 {
        let none = total * (1.0 - confidence.powf(1.0 / total));
        return match errors > 0.0 {
            true => none + errors * (added_errors(total, 1.0, confidence) - none),
            false => none,
        };
    }
    if errors + 0.5 >= total {
        return (total - errors).max(0.0);
    }
    let z = Normal::standard().upper_quantile(confidence);
    let f = (errors + 0.5) / total;
    let root = (f / total - f * f / total + z * z / (4.0 * total * total)).sqrt();
    let rate = (f + z * z / (2.0 * total) + z * root) / (1.0 + z * z / total);
    rate * total - errors
}

fn errors(counts: &[f64]) -> f64 {
    counts.iter().sum::<f64>() - counts.iter().copied().fold(0.0, f64::max)
}

fn estimate(counts: &[f64], confidence: f64) -> f64 {
    let (total, wrong) = (counts.iter().sum::<f64>(), errors(counts));
    if total > 0.0 { wrong + added_errors(total, wrong, confidence) } else { 0.0 }
}

/// Subtrees whose leaves make no fewer errors on their training rows become leaves.
pub(in crate::tree) fn collapse(tree: &mut MultiTree) {
    let mut below: Vec<f64> = (0..tree.len()).map(|node| errors(tree.counts_of(node))).collect();
    let own = below.clone();
    for node in (0..tree.len()).rev().filter(|&node| !tree.is_leaf(node)) {
        below[node] = tree.children(node).map(|child| below[child]).sum();
    }
    for node in 0..tree.len() {
        if !tree.is_leaf(node) && below[node] >= own[node] - 1e-3 {
            tree.cut(node);
        }
    }
}

/// Subtrees that cost more bits than a leaf become leaves.
///
/// A node costs a bit for its kind; a question the choice of the column and, for a quantity, of the cut;
/// a leaf its class, the number of exceptions, which rows they are and what their classes are.
pub(in crate::tree) fn by_length(tree: &mut MultiTree) {
    let classes = tree.classes as f64;
    let choose =
        |n: f64, k: f64| (ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)).max(0.0);
    let leaf = |counts: &[f64]| {
        let (total, wrong) = (counts.iter().sum::<f64>(), errors(counts));
        let exceptions = choose(total, wrong) / std::f64::consts::LN_2;
        let others = wrong * (classes - 1.0).max(1.0).log2();
        1.0 + classes.log2() + (total + 1.0).log2() + exceptions + others
    };
    let mut bits: Vec<f64> = (0..tree.len()).map(|node| leaf(tree.counts_of(node))).collect();
    for node in (0..tree.len()).rev().filter(|&node| !tree.is_leaf(node)).collect::<Vec<_>>() {
        let cut = if tree.is_multiway(node) { 0.0 } else { tree.weight(node).max(1.0).log2() };
        let asked = 1.0 + (tree.columns as f64).log2() + cut;
        let subtree = asked + tree.children(node).map(|child| bits[child]).sum::<f64>();
        match subtree < bits[node] {
            true => bits[node] = subtree,
            false => tree.cut(node),
        }
    }
}

/// A step of the walk.
enum Step {
    /// Down into a node with these rows; whether its weights are counted anew.
    Enter(usize, Held, bool),
    /// Up from a node, after its branches.
    Leave(usize),
}

/// What a walk needs to send rows down.
struct Walk<'a> {
    x: MatRef<'a>,
    codes: &'a [u32],
    classes: usize,
    /// Where a row stands while rows are merged.
    place: Vec<u32>,
}

impl Walk<'_> {
    /// The rows of each branch.
    fn send(&self, tree: &MultiTree, node: usize, held: &Held) -> Vec<Held> {
        let children = tree.children(node);
        let mut parts = vec![Held::default(); children.len()];
        for (row, weight) in held.iter() {
            let value = self.x.at(row as usize, tree.feature[node] as usize);
            match tree.way(node, value) {
                Way::One(child) => parts[child - children.start].push(row, weight),
                Way::All | Way::Stay => {
                    let all = parts.iter_mut().zip(children.clone());
                    all.filter(|(_, child)| tree.share[*child] > 0.0)
                        .for_each(|(part, child)| part.push(row, weight * tree.share[child]));
                }
            }
        }
        parts
    }

    /// Parts of the same row together.
    fn merge(&mut self, parts: Vec<Held>) -> Held {
        let mut all = Held::default();
        for part in parts {
            for (row, weight) in part.iter() {
                match self.place[row as usize] {
                    u32::MAX => {
                        self.place[row as usize] = all.rows.len() as u32;
                        all.push(row, weight);
                    }
                    place => all.weights[place as usize] += weight,
                }
            }
        }
        all.rows.iter().for_each(|&row| self.place[row as usize] = u32::MAX);
        all
    }

    /// The estimate of a subtree for other rows than its own.
    fn estimate(&self, tree: &MultiTree, node: usize, held: &Held, confidence: f64) -> f64 {
        let mut open = vec![(node, held.clone())];
        let mut sum = 0.0;
        while let Some((node, held)) = open.pop() {
            match tree.is_leaf(node) {
                true => sum += estimate(&held.counts(self.codes, self.classes), confidence),
                false => open.extend(tree.children(node).zip(self.send(tree, node, &held))),
            }
        }
        sum
    }
}

/// Prunes by the upper confidence bound of the errors in leaves, with or without raising of subtrees.
pub(in crate::tree) fn by_estimate(
    tree: &mut MultiTree,
    x: &Frame,
    codes: &[u32],
    held: Held,
    (confidence, raising): (f64, bool),
    run: &Context,
) -> Result<()> {
    let mut walk =
        Walk { x: x.values(), codes, classes: tree.classes, place: vec![u32::MAX; x.nrows()] };
    let mut steps = vec![Step::Enter(0, held, false)];
    let mut done: Vec<(Held, f64)> = Vec::new();
    while let Some(step) = steps.pop() {
        run.checkpoint()?;
        match step {
            Step::Enter(node, held, anew) => {
                if anew {
                    count_anew(tree, node, &held.counts(codes, tree.classes));
                }
                if tree.is_leaf(node) {
                    let errors = estimate(tree.counts_of(node), confidence);
                    done.push((held, errors));
                    continue;
                }
                let parts = walk.send(tree, node, &held);
                if anew {
                    share_anew(tree, node, &parts);
                }
                steps.push(Step::Leave(node));
                let children = tree.children(node).zip(parts);
                let enter = children.map(|(child, part)| Step::Enter(child, part, anew));
                steps.extend(enter.collect::<Vec<_>>().into_iter().rev());
            }
            Step::Leave(node) => {
                let parts = done.split_off(done.len() - tree.branches[node] as usize);
                let subtree: f64 = parts.iter().map(|(_, errors)| errors).sum();
                let held = walk.merge(parts.into_iter().map(|(held, _)| held).collect());
                let leaf = estimate(tree.counts_of(node), confidence);
                let largest = largest_branch(tree, node);
                let branch = match raising && !tree.is_leaf(largest) {
                    true => walk.estimate(tree, largest, &held, confidence),
                    false => f64::INFINITY,
                };
                if leaf <= subtree + MARGIN && leaf <= branch + MARGIN {
                    tree.cut(node);
                    done.push((held, leaf));
                } else if branch <= subtree + MARGIN {
                    raise(tree, node, largest);
                    steps.push(Step::Enter(node, held, true));
                } else {
                    done.push((held, subtree));
                }
            }
        }
    }
    Ok(())
}

fn largest_branch(tree: &MultiTree, node: usize) -> usize {
    let heavier = |best: usize, child: usize| {
        if tree.weight(child) > tree.weight(best) { child } else { best }
    };
    let children = tree.children(node);
    children.clone().fold(children.start, heavier)
}

/// A branch takes the place of its parent.
fn raise(tree: &mut MultiTree, node: usize, branch: usize) {
    tree.feature[node] = tree.feature[branch];
    tree.threshold[node] = tree.threshold[branch];
    tree.first[node] = tree.first[branch];
    tree.branches[node] = tree.branches[branch];
}

fn count_anew(tree: &mut MultiTree, node: usize, counts: &[f64]) {
    let classes = tree.classes;
    tree.counts[node * classes..(node + 1) * classes].copy_from_slice(counts);
}

/// Shares of rows without a value follow the rows that a raised subtree has now.
fn share_anew(tree: &mut MultiTree, node: usize, parts: &[Held]) {
    let whole = tree.children(node).all(|child| tree.share[child] > 0.0);
    let sums: Vec<f64> = parts.iter().map(|part| part.weights.iter().sum()).collect();
    let total: f64 = sums.iter().sum();
    if whole && total > 0.0 {
        for (child, sum) in tree.children(node).zip(sums) {
            tree.share[child] = sum / total;
        }
    }
}

/// Prunes from the leaves up while the loss on other rows does not rise; ties prune.
pub(in crate::tree) fn by_validation(
    tree: &mut MultiTree,
    x: &Frame,
    codes: &[u32],
    held: Held,
    losses: &Losses,
    run: &Context,
) -> Result<()> {
    let mut walk =
        Walk { x: x.values(), codes, classes: tree.classes, place: vec![u32::MAX; x.nrows()] };
    let mut steps = vec![Step::Enter(0, held, false)];
    let mut done: Vec<(Held, f64)> = Vec::new();
    while let Some(step) = steps.pop() {
        run.checkpoint()?;
        match step {
            Step::Enter(node, held, _) if tree.is_leaf(node) => {
                let loss = losses.total(tree.counts_of(node), &held.counts(codes, tree.classes));
                done.push((held, loss));
            }
            Step::Enter(node, held, _) => {
                let parts = walk.send(tree, node, &held);
                steps.push(Step::Leave(node));
                let children = tree.children(node).zip(parts);
                let enter = children.map(|(child, part)| Step::Enter(child, part, false));
                steps.extend(enter.collect::<Vec<_>>().into_iter().rev());
            }
            Step::Leave(node) => {
                let parts = done.split_off(done.len() - tree.branches[node] as usize);
                let subtree: f64 = parts.iter().map(|(_, loss)| loss).sum();
                let held = walk.merge(parts.into_iter().map(|(held, _)| held).collect());
                let leaf = losses.total(tree.counts_of(node), &held.counts(codes, tree.classes));
                if leaf <= subtree + 1e-9 {
                    tree.cut(node);
                    done.push((held, leaf));
                } else {
                    done.push((held, subtree));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_errors_are_those_of_c45() {
        // Quinlan (1993): with confidence 25 %, U(0, 6) = 0.206, U(0, 9) = 0.143, U(1, 16) = 0.157.
        let bound = |errors: f64, total: f64| (errors + added_errors(total, errors, 0.25)) / total;
        assert!((bound(0.0, 6.0) - 0.206).abs() < 5e-4);
        assert!((bound(0.0, 9.0) - 0.143).abs() < 5e-4);
        assert!((bound(1.0, 16.0) - 0.157).abs() < 5e-3);
    }
}
