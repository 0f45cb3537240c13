//! Absolute error: impurity Σ w |y - median| / Σ w.
//!
//! Costs of growing sides come from a Fenwick tree over the ranks of the targets: adding a row and
//! finding the weighted median take log n each. One pass from the left and one from the right.

use super::columns::MISSING;
use super::criterion::{Criterion, Summary};
use super::regression::Reals;
use super::scan::{Cut, Limits, Parted, Sequence, better, code_of, entry, row_of, tolerance};

/// Absolute error, the mean over the outputs.
#[derive(Clone, Debug)]
pub(crate) struct Absolute(Reals);

impl Absolute {
    pub(crate) fn new(values: Vec<f64>, outputs: usize, weights: Option<Vec<f64>>) -> Self {
        Absolute(Reals { values, outputs, weights })
    }

    /// The weighted median of one output and Σ w |y - median|.
    fn median(&self, rows: &[u32], output: usize) -> (f64, f64) {
        let y = |row: u32| self.0.values[row as usize * self.0.outputs + output];
        let mut order = rows.to_vec();
        order.sort_by(|&a, &b| y(a).total_cmp(&y(b)));
        let total: f64 = order.iter().map(|&row| self.0.weight(row as usize)).sum();
        let mut reached = 0.0;
        let mut median = y(order[order.len() - 1]);
        for (i, &row) in order.iter().enumerate() {
            reached += self.0.weight(row as usize);
            if reached >= 0.5 * total {
                let next = order.get(i + 1).filter(|_| reached == 0.5 * total);
                median = next.map_or(y(row), |&next| 0.5 * y(row) + 0.5 * y(next));
                break;
            }
        }
        let cost = |&row: &u32| self.0.weight(row as usize) * (y(row) - median).abs();
        (median, rows.iter().map(cost).sum())
    }

    /// Whether the medians of both sides are in order; the sides are missing rows and known ones.
    fn in_order(
        &self,
        limits: &Limits,
        missing: (&[u64], &[u64]),
        known: (&[u64], &[u64]),
    ) -> bool {
        let median = |missing: &[u64], known: &[u64]| {
            let rows: Vec<u32> = missing.iter().chain(known).map(|&e| row_of(e) as u32).collect();
            self.median(&rows, 0).0
        };
        limits.monotone.is_none_or(|monotone| {
            monotone.allows(median(missing.0, known.0), median(missing.1, known.1))
        })
    }

    /// Costs of all prefixes of `order` after `first` rows that always belong.
    fn prefix_costs(
        &self,
        first: &[u64],
        order: impl Iterator<Item = u64>,
        ranks: &Ranks,
    ) -> Vec<f64> {
        let m = self.0.outputs;
        let mut trees: Vec<Fenwick> = (0..m).map(|_| Fenwick::new(ranks.rows)).collect();
        let mut costs = Vec::with_capacity(ranks.rows);
        let mut add = |row: usize| {
            let weight = self.0.weight(row);
            let mut cost = 0.0;
            for (j, tree) in trees.iter_mut().enumerate() {
                tree.add(ranks.of(row, j), weight, self.0.values[row * m + j]);
                cost += tree.cost(|rank| ranks.value(j, rank));
            }
            cost / m as f64
        };
        first.iter().for_each(|&entry| {
            add(row_of(entry));
        });
        costs.extend(order.map(|entry| add(row_of(entry))));
        costs
    }
}

impl Criterion for Absolute {
    fn summary(&self, rows: &[u32]) -> Summary {
        let m = self.0.outputs;
        let (value, costs): (Vec<f64>, Vec<f64>) =
            (0..m).map(|output| self.median(rows, output)).unzip();
        let weight: f64 = rows.iter().map(|&row| self.0.weight(row as usize)).sum();
        Summary {
            weight,
            impurity: costs.iter().sum::<f64>() / (weight * m as f64),
            pure: self.0.constant(rows),
            value,
            sums: vec![0.0; m],
        }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Absolute(self.0.gather(rows))
    }

    fn width(&self) -> usize {
        self.0.outputs
    }

    /// Sums of targets put levels of a category in order of their means.
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        let weight = self.0.weight(row);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum += weight * self.0.values[row * self.0.outputs + j];
        }
        weight
    }

    /// Sums do not determine this cost: no cut is found by them.
    fn gain(&self, _node: &Summary, _left: &[f64], _left_weight: f64) -> f64 {
        f64::NEG_INFINITY
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        sums.iter().sum::<f64>() / weight
    }

    fn best_cut(&self, node: &Summary, sequence: &Sequence, limits: &Limits) -> Option<Cut> {
        let Sequence { known, missing } = *sequence;
        let ranks = Ranks::new(&self.0, sequence);
        let total = known.len() + missing.len();
        let mut best: Option<Cut> = None;
        for missing_left in [false, true] {
            if missing_left && missing.is_empty() {
                break;
            }
            let (on_left, on_right) =
                if missing_left { (missing, &[][..]) } else { (&[][..], missing) };
            let left = self.prefix_costs(on_left, known.iter().copied(), &ranks);
            let right = self.prefix_costs(on_right, known.iter().rev().copied(), &ranks);
            let alone = match on_right.is_empty() {
                true => 0.0,
                false => {
                    let rows: Vec<u32> = on_right.iter().map(|&e| row_of(e) as u32).collect();
                    let part = self.summary(&rows);
                    part.impurity * part.weight
                }
            };
            let mut weight: f64 = on_left.iter().map(|&e| self.0.weight(row_of(e))).sum();
            let last = known.len() - usize::from(missing_left || missing.is_empty());
            for position in 1..=last {
                weight += self.0.weight(row_of(known[position - 1]));
                let next = known.get(position);
                if next.is_some_and(|&next| code_of(next) == code_of(known[position - 1])) {
                    continue;
                }
                let rows = on_left.len() + position;
                let remaining = known.len() - position;
                let cost =
                    left[position - 1] + if remaining == 0 { alone } else { right[remaining - 1] };
                let gain = node.weight * node.impurity - cost;
                if limits.considers(position)
                    && limits.allow((rows, total - rows), (weight, node.weight - weight))
                    && better(gain, best.map(|cut| cut.gain), tolerance(node))
                    && self.in_order(limits, (on_left, on_right), known.split_at(position))
                {
                    best = Some(Cut { position, missing_left, rows_left: rows, gain });
                }
            }
        }
        best
    }

    fn only_cut(&self, node: &Summary, parted: &Parted, limits: &Limits) -> Option<Cut> {
        let side = |rows: &[u32], code: u32| -> Vec<u64> {
            rows.iter().map(|&row| entry(code, row)).collect()
        };
        let known = [side(parted.left, 0), side(parted.right, 1)].concat();
        let missing = side(parted.missing, MISSING);
        let limits = Limits { only: Some(parted.left.len()), ..*limits };
        self.best_cut(node, &Sequence { known: &known, missing: &missing }, &limits)
    }
}

/// Ranks of the targets among the rows of a sequence, for each output.
struct Ranks {
    rows: usize,
    /// Smallest row number; ranks are kept from there on.
    first: usize,
    span: usize,
    ranks: Vec<u32>,
    values: Vec<f64>,
}

impl Ranks {
    fn new(reals: &Reals, sequence: &Sequence) -> Self {
        let rows: Vec<usize> =
            sequence.known.iter().chain(sequence.missing).map(|&entry| row_of(entry)).collect();
        let first = rows.iter().copied().min().unwrap_or(0);
        let span = rows.iter().copied().max().unwrap_or(0) + 1 - first;
        let m = reals.outputs;
        let mut ranks = vec![0; span * m];
        let mut values = Vec::with_capacity(rows.len() * m);
        for output in 0..m {
            let mut order: Vec<(f64, usize)> =
                rows.iter().map(|&row| (reals.values[row * m + output], row)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (rank, &(value, row)) in order.iter().enumerate() {
                ranks[output * span + row - first] = rank as u32;
                values.push(value);
            }
        }
        Ranks { rows: rows.len(), first, span, ranks, values }
    }

    fn of(&self, row: usize, output: usize) -> usize {
        self.ranks[output * self.span + row - self.first] as usize
    }

    fn value(&self, output: usize, rank: usize) -> f64 {
        self.values[output * self.rows + rank]
    }
}

/// Weights and weighted targets by rank, with sums over prefixes in log n.
struct Fenwick {
    nodes: Vec<(f64, f64)>,
    weight: f64,
    sum: f64,
}

impl Fenwick {
    fn new(size: usize) -> Self {
        Fenwick { nodes: vec![(0.0, 0.0); size + 1], weight: 0.0, sum: 0.0 }
    }

    fn add(&mut self, rank: usize, weight: f64, y: f64) {
        self.weight += weight;
        self.sum += weight * y;
        let mut i = rank + 1;
        while i < self.nodes.len() {
            self.nodes[i].0 += weight;
            self.nodes[i].1 += weight * y;
            i += i & i.wrapping_neg();
        }
    }

    /// Σ w |y - median|, where `value` gives the target of a rank.
    fn cost(&self, value: impl Fn(usize) -> f64) -> f64 {
        let (mut place, mut below, mut sum_below) = (0, 0.0, 0.0);
        let mut step = self.nodes.len().next_power_of_two() >> 1;
        while step > 0 {
            if let Some(&(weight, sum)) = self.nodes.get(place + step)
                && below + weight < 0.5 * self.weight
            {
                (place, below, sum_below) = (place + step, below + weight, sum_below + sum);
            }
            step >>= 1;
        }
        let median = value(place.min(self.nodes.len() - 2));
        let above = (self.sum - sum_below) - median * (self.weight - below);
        (above + median * below - sum_below).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::grow::scan::entry;

    #[test]
    fn the_gain_is_what_the_costs_lose() {
        let y = vec![3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5];
        let w = vec![1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 2.0, 1.0];
        let criterion = Absolute::new(y, 1, Some(w));
        let rows: Vec<u32> = (0..8).collect();
        let entries: Vec<u64> = rows.iter().map(|&row| entry(row, row)).collect();
        let node = criterion.summary(&rows);
        let cost = |rows: &[u32]| {
            let part = criterion.summary(rows);
            part.weight * part.impurity
        };
        for position in 1..8 {
            let sequence = Sequence { known: &entries, missing: &[] };
            let limits =
                Limits { min_rows: 1, min_weight: 0.0, only: Some(position), monotone: None };
            let cut = criterion.best_cut(&node, &sequence, &limits).unwrap();
            let expected = cost(&rows) - cost(&rows[..position]) - cost(&rows[position..]);
            assert!((cut.gain - expected).abs() < 1e-12, "{position}");
        }
    }

    #[test]
    fn a_median_between_two_rows_is_their_middle() {
        let criterion = Absolute::new(vec![1.0, 2.0, 4.0, 9.0], 1, None);
        assert_eq!(criterion.summary(&[0, 1, 2, 3]).value, [3.0]);
        assert_eq!(criterion.summary(&[0, 1, 2]).value, [2.0]);
    }
}
