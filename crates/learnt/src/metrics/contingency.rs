//! Agreement of clusters with classes, all read off their contingency table.
//!
//! Rows are clusters, columns classes. Pair indices count pairs of rows by whether both partitions
//! put them together; information indices use entropies with 0 log 0 = 0. A cluster's class is its
//! most frequent one; equal counts go to the larger recall, then to the first.

use super::{same_length, undefined};
use learnt_core::prelude::*;

/// Counts of clusters against classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Contingency {
    counts: Matrix,
    clusters: Vec<f64>,
    classes: Vec<f64>,
    total: f64,
}

impl Contingency {
    /// From counts: rows clusters, columns classes; no empty table, no negative count.
    pub fn from_counts(counts: Matrix) -> Result<Self> {
        let cells = counts.as_slice();
        let total: f64 = cells.iter().sum();
        if !(total > 0.0 && total.is_finite()) || cells.iter().any(|count| *count < 0.0) {
            return Err(undefined("the agreement", "counts must be positive in all"));
        }
        let clusters: Vec<f64> = counts.rows().map(|row| row.iter().sum()).collect();
        let classes = (0..counts.ncols()).map(|j| counts.column(j).iter().sum()).collect();
        Ok(Contingency { counts, clusters, classes, total })
    }

    /// From the cluster of each row, noise being a cluster of its own, and its class.
    pub fn new(clusters: &[Option<u32>], classes: &[u32], weights: Option<&[f64]>) -> Result<Self> {
        same_length("clusters", classes.len(), clusters.len())?;
        let position = |known: &[Option<u32>], label: Option<u32>| {
            known.binary_search(&label).unwrap_or_default()
        };
        let mut rows = clusters.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let mut columns: Vec<Option<u32>> = classes.iter().map(|&class| Some(class)).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut counts = Matrix::zeros(rows.len(), columns.len());
        for (i, (&cluster, &class)) in clusters.iter().zip(classes).enumerate() {
            let cell = (position(&rows, cluster), position(&columns, Some(class)));
            counts[cell] += super::weight_of(weights, i);
        }
        Self::from_counts(counts)
    }

    /// The counts.
    pub fn counts(&self) -> &Matrix {
        &self.counts
    }

    /// Share of rows in the most frequent class of their cluster.
    pub fn purity(&self) -> f64 {
        let largest = |row: &[f64]| row.iter().copied().fold(0.0, f64::max);
        self.counts.rows().map(largest).sum::<f64>() / self.total
    }

    /// Share of rows in the best matching of clusters to classes, one to one.
    pub fn max_matching(&self) -> f64 {
        best_matching(&self.counts) / self.total
    }

    /// Precision, recall and F of each cluster as its most frequent class.
    pub fn matched(&self) -> Vec<(f64, f64, f64)> {
        let score = |i: usize| {
            let row = self.counts.row(i);
            let recall = |j: usize| row[j] / self.classes[j];
            let best = (0..row.len()).fold(0, |best, j| {
                let better =
                    row[j] > row[best] || (row[j] == row[best] && recall(j) > recall(best));
                if better { j } else { best }
            });
            let f = 2.0 * row[best] / (self.clusters[i] + self.classes[best]);
            (row[best] / self.clusters[i], recall(best), f)
        };
        (0..self.counts.nrows()).filter(|&i| self.clusters[i] > 0.0).map(score).collect()
    }

    /// Plain mean of F over the clusters.
    pub fn f_measure(&self) -> f64 {
        let matched = self.matched();
        matched.iter().map(|(_, _, f)| f).sum::<f64>() / matched.len() as f64
    }

    /// Pairs together in both, in the clusters, in the classes, and all.
    fn pairs(&self) -> (f64, f64, f64, f64) {
        let pairs = |counts: &[f64]| counts.iter().map(|n| n * (n - 1.0) / 2.0).sum::<f64>();
        let all = self.total * (self.total - 1.0) / 2.0;
        (pairs(self.counts.as_slice()), pairs(&self.clusters), pairs(&self.classes), all)
    }

    /// Share of pairs on which both agree; 1 for a single row.
    pub fn rand(&self) -> f64 {
        let (both, clusters, classes, all) = self.pairs();
        if all > 0.0 { (all + 2.0 * both - clusters - classes) / all } else { 1.0 }
    }

    /// Rand index corrected for chance; 1 if both partitions are trivial in the same way.
    pub fn adjusted_rand(&self) -> f64 {
        let (both, clusters, classes, all) = self.pairs();
        let expected = if all > 0.0 { clusters * classes / all } else { 0.0 };
        let largest = (clusters + classes) / 2.0;
        if largest == expected { 1.0 } else { (both - expected) / (largest - expected) }
    }

    /// Pairs together in both over pairs together in either; 1 if there are none.
    pub fn jaccard(&self) -> f64 {
        let (both, clusters, classes, _) = self.pairs();
        let either = clusters + classes - both;
        if either > 0.0 { both / either } else { 1.0 }
    }

    /// Geometric mean of pair precision and pair recall; 0 if either does not exist.
    pub fn fowlkes_mallows(&self) -> f64 {
        let (both, clusters, classes, _) = self.pairs();
        if clusters * classes > 0.0 { both / clusters.sqrt() / classes.sqrt() } else { 0.0 }
    }

    fn entropy(&self, counts: &[f64]) -> f64 {
        let term = |&n: &f64| if n > 0.0 { -n / self.total * (n / self.total).ln() } else { 0.0 };
        counts.iter().map(term).sum()
    }

    /// H(clusters) + H(classes) - H(both), in nats.
    pub fn mutual_information(&self) -> f64 {
        let (clusters, classes) = (self.entropy(&self.clusters), self.entropy(&self.classes));
        (clusters + classes - self.entropy(self.counts.as_slice())).max(0.0)
    }

    /// Entropies of the clusters and of the classes, in nats.
    pub fn entropies(&self) -> (f64, f64) {
        (self.entropy(&self.clusters), self.entropy(&self.classes))
    }

    /// What clusters leave unknown of the classes: H(class) - I, in bits.
    pub fn conditional_entropy(&self) -> f64 {
        let (_, classes) = self.entropies();
        ((classes - self.mutual_information()) / std::f64::consts::LN_2).max(0.0)
    }

    /// 2 H(both) - H(clusters) - H(classes), in bits.
    pub fn variation_of_information(&self) -> f64 {
        let (clusters, classes) = (self.entropy(&self.clusters), self.entropy(&self.classes));
        let both = self.entropy(self.counts.as_slice());
        (2.0 * both - clusters - classes).max(0.0) / std::f64::consts::LN_2
    }
}

/// The largest sum of one-to-one cells: the Hungarian method with potentials, columns matched one
/// row at a time along cheapest paths. Rows² · columns time.
fn best_matching(weights: &Matrix) -> f64 {
    let turned = weights.nrows() > weights.ncols();
    let wide = if turned { weights.transposed() } else { weights.clone() };
    let (rows, columns) = (wide.nrows(), wide.ncols());
    let mut row_potential = vec![0.0; rows];
    let mut column_potential = vec![0.0; columns + 1];
    // Position `columns` stands for the row that is being placed.
    let mut owner: Vec<Option<usize>> = vec![None; columns + 1];
    for row in 0..rows {
        owner[columns] = Some(row);
        let (mut at, mut slack) = (columns, vec![f64::INFINITY; columns]);
        let (mut came_from, mut done) = (vec![columns; columns], vec![false; columns + 1]);
        while let Some(current) = owner[at] {
            done[at] = true;
            let (mut next, mut least) = (columns, f64::INFINITY);
            for j in (0..columns).filter(|&j| !done[j]) {
                let reduced = -wide[(current, j)] - row_potential[current] - column_potential[j];
                if reduced < slack[j] {
                    (slack[j], came_from[j]) = (reduced, at);
                }
                if slack[j] < least {
                    (least, next) = (slack[j], j);
                }
            }
            for j in 0..=columns {
                if let (true, Some(matched)) = (done[j], owner[j]) {
                    row_potential[matched] += least;
                    column_potential[j] -= least;
                } else if j < columns {
                    slack[j] -= least;
                }
            }
            at = next;
        }
        while at != columns {
            let before = came_from[at];
            owner[at] = owner[before];
            at = before;
        }
    }
    let cell = |j: usize| owner[j].map_or(0.0, |row| wide[(row, j)]);
    (0..columns).map(cell).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_partitions_agree_fully_whatever_their_names() {
        let clusters = [2, 2, 0, 0, 1].map(Some);
        let table = Contingency::new(&clusters, &[0, 0, 1, 1, 2], None).unwrap();
        assert_eq!((table.adjusted_rand(), table.purity(), table.rand()), (1.0, 1.0, 1.0));
        assert!(table.variation_of_information() < 1e-15);
    }

    #[test]
    fn the_matching_equals_the_best_permutation() {
        let counts = Matrix::from_fn(4, 4, |i, j| ((i * 7 + j * 5 + i * j * 3) % 11) as f64);
        let mut best = 0.0_f64;
        for code in 0..256 {
            let columns = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6];
            let mut sorted = columns;
            sorted.sort_unstable();
            if sorted == [0, 1, 2, 3] {
                best = best.max((0..4).map(|i| counts[(i, columns[i])]).sum());
            }
        }
        assert_eq!(best_matching(&counts), best);
        assert_eq!(best_matching(&Matrix::from_rows(&[[1.0], [5.0], [2.0]]).unwrap()), 5.0);
    }

    #[test]
    fn noise_is_a_cluster_of_its_own() {
        let table = Contingency::new(&[None, None, Some(0)], &[1, 1, 0], None).unwrap();
        assert_eq!(table.adjusted_rand(), 1.0);
    }
}
