//! Hierarchical clustering along a graph: clusters merge only where an edge is between their rows.
//!
//! `single`, `complete`, `average` and `weighted` read the distances of edges alone: a cluster that only one of two
//! merging parts was joined to keeps its distance to that part. `ward` reads the means. Parts of the graph that no
//! edge joins get one between their nearest rows first. The nearest pair merges each time, the lowest of equals.

use super::{Linkage, Tree};
use crate::cluster::dbscan::{Forest, check_distances};
use crate::neighbors::Metric;
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A tree of mergers along a graph.
#[derive(Clone, Debug)]
pub struct Connected {
    /// The mergers in the order in which they happen.
    pub tree: Tree,
    /// Parts of the graph before they were joined.
    pub parts: usize,
}

/// The tree of a table's rows, or without a metric of the distances that it holds, along pairs of rows.
pub fn link_connected(
    x: MatRef,
    metric: Option<Metric>,
    linkage: Linkage,
    pairs: &[[usize; 2]],
    run: &Context,
) -> Result<Connected> {
    if metric.is_none() {
        check_distances(x, run)?;
    }
    let rows = Rows { x: x.to_matrix(), metric };
    let mut pairs = pairs.to_vec();
    let parts = rows.complete(&mut pairs, run)?;
    let n = rows.x.nrows();
    run.claim(64 * (pairs.len() + n) as u64, "the edges between clusters")?;
    let mut graph = Graph::new(rows, linkage, &pairs, run)?;
    let mut mergers = Vec::with_capacity(n.saturating_sub(1));
    while mergers.len() + 1 < n {
        if mergers.len() % 256 == 0 {
            run.checkpoint()?;
        }
        let Some((a, b, height)) = graph.nearest() else {
            return Err(Error::numeric("distances between clusters are not numbers"));
        };
        mergers.push((graph.first[a], graph.first[b], height));
        graph.merge(a, b, height);
    }
    Ok(Connected { tree: Tree::from_pairs(n, mergers)?, parts })
}

/// Rows, or their distances.
struct Rows {
    x: Matrix,
    metric: Option<Metric>,
}

impl Rows {
    fn distance(&self, i: usize, j: usize) -> f64 {
        match self.metric {
            Some(metric) => metric.distance(self.x.row(i), self.x.row(j)),
            None => self.x[(i, j)] + 0.0,
        }
    }

    /// Joins the nearest rows of every two parts of the graph; gives the number of parts.
    fn complete(&self, pairs: &mut Vec<[usize; 2]>, run: &Context) -> Result<usize> {
        let n = self.x.nrows();
        let mut forest = Forest::new(n);
        pairs.iter().for_each(|&[a, b]| forest.join(a, b));
        let of: Vec<usize> = (0..n).map(|i| forest.root(i)).collect();
        let parts = (0..n).filter(|&i| of[i] == i).count();
        if parts < 2 {
            return Ok(parts);
        }
        run.warn(
            Code::NotConverged,
            format!(
                "the number of connected components of the connectivity matrix is {parts} > 1. Completing it to \
                 avoid stopping the tree early: the nearest rows of every two parts are joined"
            ),
        );
        let count = parts as u64;
        run.claim(64 * count * (count - 1) / 2, "the nearest rows of all parts of the graph")?;
        let mut nearest: BTreeMap<(usize, usize), (f64, [usize; 2])> = BTreeMap::new();
        for i in 0..n {
            if i % 64 == 0 {
                run.checkpoint()?;
            }
            for j in (0..i).filter(|&j| of[j] != of[i]) {
                let distance = self.distance(j, i);
                let key = (of[i].min(of[j]), of[i].max(of[j]));
                let best = nearest.entry(key).or_insert((f64::INFINITY, [j, i]));
                if distance < best.0 {
                    *best = (distance, [j, i]);
                }
            }
        }
        pairs.extend(nearest.into_values().map(|(_, pair)| pair));
        Ok(parts)
    }
}

/// Clusters and the edges between them: rows first, then a cluster a merger.
struct Graph {
    linkage: Linkage,
    /// A row of each cluster.
    first: Vec<usize>,
    sizes: Vec<f64>,
    /// Means of clusters; only for `ward`.
    means: Vec<Vec<f64>>,
    /// Distances to the clusters that each cluster has an edge to; none for those that have merged.
    edges: Vec<Option<BTreeMap<usize, f64>>>,
    /// All edges that ever were, the shortest first. Distances of at least zero sort as their bits do.
    queue: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl Graph {
    fn new(rows: Rows, linkage: Linkage, pairs: &[[usize; 2]], run: &Context) -> Result<Graph> {
        let n = rows.x.nrows();
        let means = match linkage {
            Linkage::Ward => {
                run.claim_table(2 * n, rows.x.ncols(), "the means of clusters")?;
                rows.x.rows().map(<[f64]>::to_vec).collect()
            }
            _ => Vec::new(),
        };
        let mut graph = Graph {
            linkage,
            first: (0..n).collect(),
            sizes: vec![1.0; n],
            means,
            edges: vec![Some(BTreeMap::new()); n],
            queue: BinaryHeap::new(),
        };
        for &[a, b] in pairs.iter().filter(|[a, b]| a != b) {
            graph.join(a, b, rows.distance(a, b))?;
        }
        Ok(graph)
    }

    fn join(&mut self, a: usize, b: usize, distance: f64) -> Result<()> {
        if !distance.is_finite() {
            return Err(Error::numeric("distances overflow: the values are too large")
                .hint("divide the columns by a large constant first"));
        }
        for (from, to) in [(a, b), (b, a)] {
            if let Some(edges) = &mut self.edges[from] {
                edges.insert(to, distance);
            }
        }
        self.queue.push(Reverse((distance.to_bits(), a.min(b), a.max(b))));
        Ok(())
    }

    /// The two clusters with the shortest edge.
    fn nearest(&mut self) -> Option<(usize, usize, f64)> {
        while let Some(Reverse((bits, a, b))) = self.queue.pop() {
            if self.edges[a].is_some() && self.edges[b].is_some() {
                return Some((a, b, f64::from_bits(bits)));
            }
        }
        None
    }

    fn merge(&mut self, a: usize, b: usize, height: f64) {
        let new = self.first.len();
        let (of_a, of_b) = (self.edges[a].take(), self.edges[b].take());
        let (of_a, of_b) = (of_a.unwrap_or_default(), of_b.unwrap_or_default());
        self.first.push(self.first[a].min(self.first[b]));
        self.sizes.push(self.sizes[a] + self.sizes[b]);
        if self.linkage == Linkage::Ward {
            let mean = self.mean(a, b);
            self.means.push(mean);
        }
        self.edges.push(Some(BTreeMap::new()));
        let others = of_a.keys().chain(of_b.keys().filter(|other| !of_a.contains_key(other)));
        for &other in others.filter(|&&other| other != a && other != b) {
            let parts = (of_a.get(&other).copied(), of_b.get(&other).copied());
            let distance = self.distance(new, other, parts, [a, b], height);
            if let Some(edges) = &mut self.edges[other] {
                edges.remove(&a);
                edges.remove(&b);
                edges.insert(new, distance);
            }
            if let Some(edges) = &mut self.edges[new] {
                edges.insert(other, distance);
            }
            self.queue.push(Reverse((distance.to_bits(), other, new)));
        }
    }

    fn mean(&self, a: usize, b: usize) -> Vec<f64> {
        let (na, nb) = (self.sizes[a], self.sizes[b]);
        let both = self.means[a].iter().zip(&self.means[b]);
        both.map(|(x, y)| (na * x + nb * y) / (na + nb)).collect()
    }

    /// From a new cluster to another, given the distances to the parts that have an edge.
    fn distance(
        &self,
        new: usize,
        other: usize,
        parts: (Option<f64>, Option<f64>),
        [a, b]: [usize; 2],
        height: f64,
    ) -> f64 {
        if self.linkage == Linkage::Ward {
            let (n, m) = (self.sizes[new], self.sizes[other]);
            let apart = squared_distance(&self.means[new], &self.means[other]);
            return (2.0 * n * m / (n + m) * apart).sqrt();
        }
        match parts {
            (Some(x), Some(y)) => {
                let [i, j, r] = [a, b, other].map(|cluster| self.sizes[cluster]);
                let [p, q, between, apart] = self.linkage.update(i, j, r);
                p * x + q * y + between * height + apart * (x - y).abs()
            }
            (x, y) => x.or(y).unwrap_or(f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::link_rows;

    const LINKAGES: [Linkage; 5] =
        [Linkage::Ward, Linkage::Complete, Linkage::Average, Linkage::Single, Linkage::Weighted];

    fn rows(n: usize) -> Matrix {
        Matrix::from_fn(n, 2, |i, j| ((i * (7 + 5 * j)) as f64 * 0.7).sin() + (i % 3) as f64)
    }

    fn link(x: &Matrix, linkage: Linkage, pairs: &[[usize; 2]]) -> Connected {
        let run = Context::default();
        link_connected(x.view(), Some(Metric::Euclidean), linkage, pairs, &run).unwrap()
    }

    #[test]
    fn along_all_pairs_the_tree_is_that_without_a_graph() {
        let x = rows(30);
        let pairs: Vec<[usize; 2]> = (0..30).flat_map(|i| (0..i).map(move |j| [j, i])).collect();
        for linkage in LINKAGES {
            let run = Context::default();
            let free = link_rows(x.view(), linkage, Metric::Euclidean, &run).unwrap();
            let found = link(&x, linkage, &pairs);
            assert_eq!(found.parts, 1);
            assert_eq!(found.tree.children, free.children, "{linkage:?}");
            for (got, expected) in found.tree.heights.iter().zip(&free.heights) {
                assert!((got - expected).abs() <= 1e-12 * expected.max(1.0), "{linkage:?}");
            }
        }
    }

    #[test]
    fn clusters_are_connected_in_the_graph_at_every_cut() {
        let x = rows(24);
        let ring: Vec<[usize; 2]> = (0..24).map(|i| [i, (i + 1) % 24]).collect();
        for linkage in LINKAGES {
            let found = link(&x, linkage, &ring);
            for clusters in 1..=24 {
                let labels = found.tree.cut_count(clusters);
                // On a ring, k connected groups have k borders; one group has none.
                let borders = (0..24).filter(|&i| labels[i] != labels[(i + 1) % 24]).count();
                assert_eq!(borders, if clusters == 1 { 0 } else { clusters }, "{linkage:?}");
            }
        }
    }

    #[test]
    fn parts_without_an_edge_are_joined_at_their_nearest_rows() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 10.0, 11.0]);
        let pairs = [[0, 1], [1, 2], [3, 4]];
        let found = link(&x, Linkage::Single, &pairs);
        assert_eq!(found.parts, 2);
        assert_eq!(found.tree.heights, [1.0, 1.0, 1.0, 8.0]);
        assert_eq!(found.tree.cut_count(2), [0, 0, 0, 1, 1]);
        let distances = Matrix::from_fn(5, 5, |i, j| (x[(i, 0)] - x[(j, 0)]).abs());
        let run = Context::default();
        let given = link_connected(distances.view(), None, Linkage::Single, &pairs, &run).unwrap();
        assert_eq!(given.tree, found.tree);
    }
}
