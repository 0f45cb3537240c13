//! The best split of a node on one column, by information in bits.
//!
//! gain = (known share) * (H(classes) - Σ_v n_v/n H(classes | v)), less log2(cuts)/n for a quantity with
//! that many possible cuts, if asked for. The split information counts rows without the value as a branch
//! of their own. Ties go to the smallest threshold.

use learnt_core::prelude::*;

/// How the cost of a test enters.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum CostRule {
    /// Gain / cost.
    Gain,
    /// Gain² / cost.
    SquaredGain,
    /// (2^gain - 1) / (cost + 1)^w.
    Information,
}

impl CostRule {
    /// The gain with the cost of a test.
    pub(in crate::tree) fn score(self, gain: f64, cost: f64, w: f64) -> f64 {
        match self {
            CostRule::Gain => gain / cost,
            CostRule::SquaredGain => gain * gain / cost,
            CostRule::Information => (gain.exp2() - 1.0) / (cost + 1.0).powf(w),
        }
    }
}

/// What a split on a column gains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scores {
    /// Information gain in bits.
    pub(super) gain: f64,
    /// Gain over split information.
    pub(super) ratio: f64,
}

/// A split of a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) scores: Scores,
    /// The last code of the first branch; none where each value has its branch.
    pub(super) cut: Option<(u32, u32)>,
    /// Number of values, for the rule about categories with many of them.
    pub(super) values: usize,
}

/// x log2 x.
fn term(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
}

/// Weight times entropy.
fn spread(counts: &[f64]) -> f64 {
    (term(counts.iter().sum()) - counts.iter().map(|&count| term(count)).sum::<f64>()).max(0.0)
}

/// The rows of a node with a known value, sorted by it.
pub(super) struct Sorted<'a> {
    /// Code and class and weight of each.
    pub(super) rows: &'a [(u32, u32, f64)],
    pub(super) classes: usize,
    /// Weight of the rows without the value.
    pub(super) missing: f64,
}

impl Sorted<'_> {
    fn counts(&self, rows: &[(u32, u32, f64)]) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes];
        rows.iter().for_each(|&(_, class, weight)| counts[class as usize] += weight);
        counts
    }

    /// Gain and ratio from the information that is left within branches of these weights.
    fn scores(&self, whole: f64, within: f64, less: f64, parts: &[f64]) -> Scores {
        let known: f64 = parts.iter().sum();
        let total = known + self.missing;
        // (known / total) * (whole - within) / known, with rounding at zero taken away.
        let gain = (whole - within) / total;
        let gain = if gain < 1e-12 { 0.0 } else { gain } - less / total;
        let split =
            term(total) - parts.iter().map(|&part| term(part)).sum::<f64>() - term(self.missing);
        let split = split / total;
        Scores { gain, ratio: if split > 1e-12 { gain / split } else { 0.0 } }
    }

    /// One branch a value; at least two of them with `least` weight.
    pub(super) fn by_value(&self, least: f64) -> Option<Found> {
        let groups: Vec<Vec<f64>> =
            self.rows.chunk_by(|a, b| a.0 == b.0).map(|group| self.counts(group)).collect();
        let parts: Vec<f64> = groups.iter().map(|counts| counts.iter().sum()).collect();
        if parts.iter().filter(|&&part| part >= least).count() < 2 {
            return None;
        }
        let whole = spread(&self.counts(self.rows));
        let within = groups.iter().map(|counts| spread(counts)).sum();
        let scores = self.scores(whole, within, 0.0, &parts);
        Some(Found { scores, cut: None, values: groups.len() })
    }

    /// The best cut of a quantity, with `least` weight on both sides.
    pub(super) fn by_cut(&self, least: f64, correction: bool) -> Option<Found> {
        let all = self.counts(self.rows);
        let total: f64 = all.iter().sum();
        let least = least.max((0.1 * total / self.classes as f64).min(25.0));
        let whole = spread(&all);
        let mut left = vec![0.0; self.classes];
        let mut right = all.clone();
        let mut weight = 0.0;
        let (mut best, mut tried) = (None::<(f64, f64, u32, u32)>, 0_u64);
        let mut groups = self.rows.chunk_by(|a, b| a.0 == b.0).peekable();
        while let Some(group) = groups.next() {
            for &(_, class, part) in group {
                left[class as usize] += part;
                right[class as usize] = (right[class as usize] - part).max(0.0);
                weight += part;
            }
            let Some(next) = groups.peek() else { break };
            if weight < least || total - weight < least {
                continue;
            }
            tried += 1;
            let within = spread(&left) + spread(&right);
            if best.is_none_or(|(lowest, ..)| within < lowest - 1e-12 * total) {
                best = Some((within, weight, group[0].0, next[0].0));
            }
        }
        let (within, weight, low, high) = best?;
        let less = if correction { (tried as f64).log2() } else { 0.0 };
        let scores = self.scores(whole, within, less, &[weight, total - weight]);
        (scores.gain > 0.0).then_some(Found { scores, cut: Some((low, high)), values: 0 })
    }

    /// Weight of each class in each branch, for a test of independence.
    pub(super) fn table(&self, found: &Found) -> Vec<Vec<f64>> {
        let branch =
            |row: &(u32, u32, f64)| found.cut.map_or(row.0, |(low, _)| u32::from(row.0 > low));
        self.rows.chunk_by(|a, b| branch(a) == branch(b)).map(|rows| self.counts(rows)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cut_where_the_class_changes_is_the_best_of_all() {
        let mut rng = Context::default().with_seed(3).rng(1);
        for _ in 0..200 {
            let draw = |rng: &mut _, n| learnt_core::stats::sample::below(rng, n) as u32;
            let mut rows: Vec<(u32, u32, f64)> =
                (0..30).map(|_| (draw(&mut rng, 20), draw(&mut rng, 3), 1.0)).collect();
            rows.sort_by_key(|row| (row.0, row.1));
            let sorted = Sorted { rows: &rows, classes: 3, missing: 0.0 };
            let Some(found) = sorted.by_cut(1.0, false) else { continue };
            let (low, high) = found.cut.unwrap();
            let classes = |code: u32| -> Vec<u32> {
                let mut all: Vec<u32> = rows.iter().filter(|r| r.0 == code).map(|r| r.1).collect();
                all.dedup();
                all
            };
            let changes = classes(low) != classes(high) || classes(low).len() > 1;
            // The least weight of a side may forbid a cut at a change.
            let near_an_end = rows.iter().filter(|r| r.0 <= low).count() <= 3
                || rows.iter().filter(|r| r.0 > low).count() <= 3;
            assert!(changes || near_an_end, "{rows:?} cut after {low}");
        }
    }
}
