//! Growing: nodes are split one after another; the open ones hold their rows with parts of weights.

use super::MultiTree;
use super::independence::p_value;
use super::search::{CostRule, Found, Sorted};
use crate::tree::grow::{Codes, Columns, MISSING, Store, midpoint};
use learnt_core::prelude::*;
use std::sync::Arc;

/// Nodes with at least this many cells search their columns on several threads.
const PARALLEL_CELLS: usize = 1 << 16;

/// What a missing value stands for.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MissingAs {
    /// Every branch, with parts of the row in proportion to the rows whose value is known.
    Fractions,
    /// The most common value of the node; the median of a quantity.
    Mode,
    /// The same among the rows of the node of the same class; for new rows, among all of them.
    ClassMode,
}

/// Rows of a node and how much of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::tree) struct Held {
    pub(in crate::tree) rows: Vec<u32>,
    pub(in crate::tree) weights: Vec<f64>,
}

impl Held {
    pub(in crate::tree) fn push(&mut self, row: u32, weight: f64) {
        self.rows.push(row);
        self.weights.push(weight);
    }

    pub(in crate::tree) fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        self.rows.iter().copied().zip(self.weights.iter().copied())
    }

    /// Weight of each class.
    pub(in crate::tree) fn counts(&self, codes: &[u32], classes: usize) -> Vec<f64> {
        let mut counts = vec![0.0; classes];
        self.iter().for_each(|(row, weight)| counts[codes[row as usize] as usize] += weight);
        counts
    }
}

/// How a tree is grown.
#[derive(Clone, Debug)]
pub(in crate::tree) struct Plan<'a> {
    /// By gain ratio, among columns with at least average gain; else by gain.
    pub(in crate::tree) ratio: bool,
    /// Whether a split without gain is taken.
    pub(in crate::tree) any_gain: bool,
    /// Whether each value of a quantity is a branch.
    pub(in crate::tree) nominal: bool,
    /// Least weight of two branches.
    pub(in crate::tree) least: f64,
    /// Whether gains of quantities pay for the choice of their cut.
    pub(in crate::tree) correction: bool,
    /// Whether a threshold is a value of the table, not a midpoint.
    pub(in crate::tree) at_values: bool,
    pub(in crate::tree) missing: MissingAs,
    /// Classes and branches must be dependent at this level.
    pub(in crate::tree) significance: Option<f64>,
    pub(in crate::tree) max_depth: usize,
    /// Costs of the columns, how they enter, and the exponent of the third rule.
    pub(in crate::tree) costs: Option<(&'a [f64], CostRule, f64)>,
}

/// A node that may still be split.
struct Open {
    node: usize,
    depth: usize,
    held: Held,
    /// Columns that the path has asked for by value.
    used: Arc<Vec<u32>>,
}

struct Grower<'a> {
    plan: &'a Plan<'a>,
    codes: &'a [u32],
    classes: usize,
    values: Vec<Codes>,
    ranks: Vec<Vec<u32>>,
    /// Weight of all rows.
    total: f64,
    run: &'a Context<'a>,
}

/// A tree over these rows.
pub(in crate::tree) fn grow(
    plan: &Plan,
    x: &Frame,
    (codes, classes): (&[u32], usize),
    held: Held,
    run: &Context,
) -> Result<MultiTree> {
    let columns = Columns::ranked(x, run)?;
    let Store::Ranks(ranks) = columns.store else {
        return Err(Error::internal("columns without ranks"));
    };
    let total = held.weights.iter().sum();
    let grower = Grower { plan, codes, classes, values: columns.codes, ranks, total, run };
    let mut tree = MultiTree::new(classes, x.ncols());
    tree.push(0.0, 1.0, &held.counts(codes, classes));
    let mut open = vec![Open { node: 0, depth: 0, held, used: Arc::default() }];
    let mut steps = 0_u64;
    while let Some(node) = open.pop() {
        steps += 1;
        if steps.is_multiple_of(64) {
            run.checkpoint()?;
        }
        if let Some((column, found)) = grower.choose(&tree, &node) {
            let held: usize = open.iter().map(|node| node.held.rows.len()).sum();
            run.claim(16 * (held + 2 * node.held.rows.len()) as u64, "rows of open nodes")?;
            grower.divide(&mut tree, node, column, &found, &mut open);
        }
    }
    Ok(tree)
}

impl Grower<'_> {
    fn by_value(&self, column: usize) -> bool {
        self.plan.nominal || matches!(self.values[column], Codes::Levels(_))
    }

    /// The codes of a column in a node; what is missing is filled where the plan says so.
    fn filled(&self, column: usize, held: &Held) -> Vec<u32> {
        let mut codes: Vec<u32> =
            held.rows.iter().map(|&row| self.ranks[column][row as usize]).collect();
        let gaps = codes.contains(&MISSING);
        match self.plan.missing {
            MissingAs::Fractions => {}
            _ if !gaps => {}
            MissingAs::Mode => {
                let usual = self.usual(column, held, &codes, None);
                codes.iter_mut().filter(|code| **code == MISSING).for_each(|code| *code = usual);
            }
            MissingAs::ClassMode => {
                let all = self.usual(column, held, &codes, None);
                let of_class: Vec<u32> = (0..self.classes as u32)
                    .map(|class| self.usual(column, held, &codes, Some(class)))
                    .map(|code| if code == MISSING { all } else { code })
                    .collect();
                for (code, &row) in codes.iter_mut().zip(&held.rows) {
                    if *code == MISSING {
                        *code = of_class[self.codes[row as usize] as usize];
                    }
                }
            }
        }
        codes
    }

    /// The most common code of a node, or the median of a quantity; the lowest of equals.
    fn usual(&self, column: usize, held: &Held, codes: &[u32], class: Option<u32>) -> u32 {
        let mut known: Vec<(u32, f64)> = codes
            .iter()
            .zip(held.iter())
            .filter(|(code, (row, _))| {
                **code != MISSING && class.is_none_or(|class| self.codes[*row as usize] == class)
            })
            .map(|(&code, (_, weight))| (code, weight))
            .collect();
        known.sort_by_key(|(code, _)| *code);
        let groups = known.chunk_by(|a, b| a.0 == b.0);
        let groups = groups.map(|group| (group[0].0, group.iter().map(|(_, w)| w).sum::<f64>()));
        if self.by_value(column) {
            let most =
                |best: (u32, f64), next: (u32, f64)| if next.1 > best.1 { next } else { best };
            return groups.fold((MISSING, 0.0), most).0;
        }
        let half = 0.5 * known.iter().map(|(_, weight)| weight).sum::<f64>();
        let mut below = 0.0;
        for (code, weight) in groups {
            below += weight;
            if below >= half {
                return code;
            }
        }
        MISSING
    }

    /// Rows with a known value, sorted by it, and the weight of the others.
    fn sorted(&self, held: &Held, codes: &[u32]) -> (Vec<(u32, u32, f64)>, f64) {
        let mut order: Vec<u64> = codes
            .iter()
            .zip(0_u64..)
            .filter(|(code, _)| **code != MISSING)
            .map(|(&code, place)| u64::from(code) << 32 | place)
            .collect();
        order.sort_unstable();
        let row = |key: &u64| {
            let place = (*key & u64::from(u32::MAX)) as usize;
            (codes[place], self.codes[held.rows[place] as usize], held.weights[place])
        };
        let rows: Vec<_> = order.iter().map(row).collect();
        let gaps = codes.iter().zip(&held.weights).filter(|(code, _)| **code == MISSING);
        (rows, gaps.fold(0.0, |sum, (_, weight)| sum + weight))
    }

    fn search(&self, column: usize, open: &Open) -> Option<Found> {
        if open.used.contains(&(column as u32)) {
            return None;
        }
        let codes = self.filled(column, &open.held);
        let (rows, missing) = self.sorted(&open.held, &codes);
        let sorted = Sorted { rows: &rows, classes: self.classes, missing };
        let found = match self.by_value(column) {
            true => sorted.by_value(self.plan.least),
            false => sorted.by_cut(self.plan.least, self.plan.correction),
        }?;
        let dependent = |level| p_value(&sorted.table(&found)) <= level;
        self.plan.significance.is_none_or(dependent).then_some(found)
    }

    /// The column to ask for and its split, unless the node stays a leaf.
    fn choose(&self, tree: &MultiTree, open: &Open) -> Option<(usize, Found)> {
        let counts = tree.counts_of(open.node);
        let weight = tree.weight(open.node);
        let pure = counts.iter().filter(|&&count| count > 1e-9 * weight).count() < 2;
        if pure || open.depth >= self.plan.max_depth || weight < 2.0 * self.plan.least {
            return None;
        }
        let columns = self.ranks.len();
        let wide = open.held.rows.len().saturating_mul(columns) >= PARALLEL_CELLS;
        let threads = if wide { self.run.threads() } else { 1 };
        let found = self.run.with_threads(threads).par_map(columns, |j| self.search(j, open));
        let average = self.average_gain(&found);
        let mut best: Option<(f64, usize)> = None;
        for (column, split) in found.iter().enumerate() {
            let Some(split) = split else { continue };
            let score = self.score(column, split, average);
            let enough = score > 1e-12 || (self.plan.any_gain && score >= 0.0);
            if enough && best.is_none_or(|(most, _)| score > most + 1e-12) {
                best = Some((score, column));
            }
        }
        let (_, column) = best?;
        found.into_iter().nth(column).flatten().map(|split| (column, split))
    }

    /// The mean gain; categories with very many values do not count unless all are such.
    fn average_gain(&self, found: &[Option<Found>]) -> f64 {
        let few = |split: &&Found| (split.values as f64) < 0.3 * self.total;
        let mean = |gains: Vec<f64>| gains.iter().sum::<f64>() / gains.len() as f64;
        let gains = |of: Vec<&Found>| of.iter().map(|split| split.scores.gain).collect::<Vec<_>>();
        let usual: Vec<&Found> = found.iter().flatten().filter(few).collect();
        match usual.is_empty() {
            true => mean(gains(found.iter().flatten().collect())),
            false => mean(gains(usual)),
        }
    }

    fn score(&self, column: usize, split: &Found, average: f64) -> f64 {
        let scores = &split.scores;
        match self.plan.costs {
            Some((costs, rule, w)) => rule.score(scores.gain.max(0.0), costs[column], w),
            None if !self.plan.ratio => scores.gain,
            None if scores.gain >= average - 1e-3 => scores.ratio,
            None => f64::NEG_INFINITY,
        }
    }

    fn divide(
        &self,
        tree: &mut MultiTree,
        open: Open,
        column: usize,
        found: &Found,
        out: &mut Vec<Open>,
    ) {
        let codes = self.filled(column, &open.held);
        let branch = |code: u32| found.cut.map_or(code, |(low, _)| u32::from(code > low));
        let mut keys: Vec<u32> =
            codes.iter().filter(|code| **code != MISSING).map(|&code| branch(code)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut parts = vec![Held::default(); keys.len()];
        let place = |code: u32| keys.binary_search(&branch(code)).unwrap_or(0);
        for (&code, (row, weight)) in codes.iter().zip(open.held.iter()) {
            if code != MISSING {
                parts[place(code)].push(row, weight);
            }
        }
        let shares = self.shares(&parts);
        for (&code, (row, weight)) in codes.iter().zip(open.held.iter()) {
            if code == MISSING {
                let all = parts.iter_mut().zip(&shares);
                all.for_each(|(part, share)| part.push(row, weight * share));
            }
        }
        tree.feature[open.node] = column as u32;
        tree.threshold[open.node] = self.threshold(column, found);
        tree.first[open.node] = tree.len() as u32;
        tree.branches[open.node] = parts.len() as u32;
        let mut used = open.used;
        if found.cut.is_none() {
            Arc::make_mut(&mut used).push(column as u32);
        }
        for ((held, key), share) in parts.into_iter().zip(keys).zip(self.sent(&shares)) {
            let value = if found.cut.is_some() { 0.0 } else { self.value(column, key) };
            let node = tree.len();
            tree.push(value, share, &held.counts(self.codes, self.classes));
            out.push(Open { node, depth: open.depth + 1, held, used: Arc::clone(&used) });
        }
    }

    /// The share of the known weight in each branch.
    fn shares(&self, parts: &[Held]) -> Vec<f64> {
        let sums: Vec<f64> = parts.iter().map(|part| part.weights.iter().sum()).collect();
        let total: f64 = sums.iter().sum();
        sums.iter().map(|sum| sum / total).collect()
    }

    /// What a new row without the value sends into each branch.
    fn sent(&self, shares: &[f64]) -> Vec<f64> {
        if self.plan.missing == MissingAs::Fractions {
            return shares.to_vec();
        }
        let better = |best: usize, k: usize| if shares[k] > shares[best] { k } else { best };
        let most = (1..shares.len()).fold(0, better);
        (0..shares.len()).map(|k| f64::from(u8::from(k == most))).collect()
    }

    /// The value that a code stands for.
    fn value(&self, column: usize, code: u32) -> f64 {
        match &self.values[column] {
            Codes::Ordered { low, .. } => low[code as usize],
            Codes::Levels(_) => f64::from(code),
        }
    }

    fn threshold(&self, column: usize, found: &Found) -> f64 {
        let Some((low, high)) = found.cut else { return f64::INFINITY };
        let (a, b) = (self.value(column, low), self.value(column, high));
        if !self.plan.at_values {
            return midpoint(a, b);
        }
        // The node skips values that other rows of the table have: the largest up to the midpoint.
        let middle = midpoint(a, b);
        (low..high)
            .map(|code| self.value(column, code))
            .take_while(|v| *v <= middle)
            .last()
            .unwrap_or(a)
    }
}
