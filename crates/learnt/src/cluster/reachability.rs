//! Questions of the theory of density clusters: what is reachable from what, and a cut of the hierarchy.
//!
//! b is directly reachable from a if a is a core row and b lies within ε; reachable if a chain of such
//! steps leads from a to b; connected to a if both are reachable from some core row. The cut of
//! HDBSCAN's hierarchy at ε joins rows whose mutual reachability, max(core a, core b, d(a, b)), is at
//! most ε, and leaves rows of larger core distance as noise: DBSCAN without border rows.
//!
//! M. Ester et al. (1996), KDD, 226-231; R. Campello et al. (2013), PAKDD, 160-172.

use super::choose_k::RowsToCluster;
use super::dbscan::{Border, DBSCAN};
use super::hdbscan::reachability;
use crate::neighbors::{Index, Metric, MetricName, Structure};
use learnt_core::prelude::*;

/// Density reachability of one row from another: directly, by a chain, or through a common core row.
#[derive(Params, Clone, Debug)]
pub struct DensityReachability {
    /// The row that steps begin at, from 0.
    #[param(positional, default = 0, range = 0..)]
    pub a: usize,
    /// The row that they lead to, from 0.
    #[param(positional, default = 1, range = 0..)]
    pub b: usize,
    /// Distance up to which rows are neighbours.
    #[param(default = 0.5, above = 0.0)]
    pub eps: f64,
    /// Number of a core row's neighbours, itself included.
    #[param(default = 5, range = 1..)]
    pub min_samples: usize,
}

/// What holds between two rows.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Reachability {
    /// Whether the two are density connected; the same in both directions.
    pub value: bool,
    /// Whether b is directly reachable from a.
    pub direct: bool,
    /// Whether a is directly reachable from b.
    pub direct_back: bool,
    /// Whether b is reachable from a.
    pub reachable: bool,
    /// Whether a is reachable from b.
    pub reachable_back: bool,
    /// Whether a is a core row.
    pub a_core: bool,
    /// Whether b is a core row.
    pub b_core: bool,
    /// A shortest chain of rows from a to b, from 0; empty if there is none.
    pub chain: Vec<u64>,
}

/// Rows, which of them are core rows, and the clusters of each.
struct Graph<'a> {
    x: MatRef<'a>,
    index: Index,
    eps: f64,
    core: Vec<bool>,
    labels: Vec<Option<u32>>,
    /// Border rows with all of their clusters, one pair a line.
    shared: Matrix,
}

impl<'a> Graph<'a> {
    fn new(x: MatRef<'a>, eps: f64, min_samples: usize, run: &Context) -> Result<Graph<'a>> {
        let structure = Structure::suited(Metric::Euclidean, x.nrows(), x.ncols());
        let index = Index::build(x, Metric::Euclidean, structure, 30, run)?;
        let learner = DBSCAN { eps, min_samples, border: Border::All, ..DBSCAN::default() };
        let model = learner.fit_in(&OwnedDataset::unsupervised(x.to_matrix()).view(), run)?;
        let mut core = vec![false; x.nrows()];
        model.core_sample_indices.iter().for_each(|&row| core[row as usize] = true);
        let labels = model.labels();
        let shared = model.border_memberships.unwrap_or_else(|| Matrix::zeros(0, 2));
        Ok(Graph { x, index, eps, core, labels, shared })
    }

    /// The clusters that a row belongs to: one of a core row, any number of a border row.
    fn clusters(&self, row: usize) -> Vec<u32> {
        if self.core[row] {
            return self.labels[row].into_iter().collect();
        }
        let own = self.shared.rows().filter(|pair| pair[0] as usize == row);
        own.map(|pair| pair[1] as u32).collect()
    }

    fn is_near(&self, a: usize, b: usize, run: &Context) -> Result<bool> {
        let found = self.index.within(self.x.gather_rows(&[a]).view(), self.eps, run)?;
        Ok(found.rows(0).contains(&(b as u32)))
    }

    /// A shortest chain between two rows through core rows; empty where there is none.
    fn chain(&self, from: usize, to: usize, run: &Context) -> Result<Vec<u64>> {
        let mut before: Vec<Option<usize>> = vec![None; self.core.len()];
        before[from] = Some(from);
        let mut level = vec![from];
        while before[to].is_none() && !level.is_empty() {
            level.retain(|&row| self.core[row]);
            let mut next = Vec::new();
            self.index.each_within(self.x, &level, self.eps, run, |at, near, _| {
                for &row in near {
                    let row = row as usize;
                    if before[row].is_none() {
                        before[row] = Some(at);
                        next.push(row);
                    }
                }
                Ok(())
            })?;
            level = next;
        }
        let mut chain = Vec::new();
        let mut at = to;
        while let Some(earlier) = before[at] {
            chain.push(at as u64);
            if earlier == at {
                break;
            }
            at = earlier;
        }
        chain.reverse();
        Ok(chain)
    }
}

impl Function for DensityReachability {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = Reachability;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.density_reachability", FunctionKind::Analysis)
            .threads()
            .reference("Ester, Kriegel, Sander and Xu (1996), KDD, 226-231");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<Reachability> {
        let n = given.x.nrows();
        for (name, row) in [("a", self.a), ("b", self.b)] {
            if row >= n {
                return Err(Error::parameter(name, format!("a row from 0 to {}", n - 1), row));
            }
        }
        let (a, b) = (self.a, self.b);
        let graph = Graph::new(given.x, self.eps, self.min_samples, run)?;
        let near = graph.is_near(a, b, run)?;
        let (of_a, of_b) = (graph.clusters(a), graph.clusters(b));
        // A chain of core rows ends in every row of their cluster, border rows included.
        let connected = of_a.iter().any(|cluster| of_b.contains(cluster));
        let chain = match graph.core[a] && connected {
            true => graph.chain(a, b, run)?,
            false => Vec::new(),
        };
        Ok(Reachability {
            value: connected,
            direct: graph.core[a] && near,
            direct_back: graph.core[b] && near,
            reachable: graph.core[a] && connected,
            reachable_back: graph.core[b] && connected,
            a_core: graph.core[a],
            b_core: graph.core[b],
            chain,
        })
    }
}

/// Cut of HDBSCAN's hierarchy at a radius: DBSCAN without border rows, at any radius from one tree.
#[derive(Params, Clone, Debug)]
pub struct HdbscanCut {
    /// The radius.
    #[param(positional, default = 0.5, range = 0.0..)]
    pub eps: f64,
    /// Which neighbour has the core distance, the row itself the first.
    #[param(default = 5, range = 1..)]
    pub min_samples: usize,
    /// The distance.
    #[param(default = MetricName::Euclidean)]
    pub metric: MetricName,
}

/// Clusters below the cut.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CutClusters {
    /// The cluster of each row, numbered by first rows; -1 for noise.
    pub value: Vec<i64>,
    /// Core distance of each row.
    pub core_distances: Vec<f64>,
    /// Number of clusters.
    pub n_clusters: u64,
    /// Number of rows in no cluster.
    pub n_noise: u64,
}

impl Function for HdbscanCut {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = CutClusters;
    const ABOUT: &'static Callable = &Callable::new("cluster.hdbscan_cut", FunctionKind::Analysis)
        .threads()
        .reference("Campello, Moulavi and Sander (2013), PAKDD, 160-172");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<CutClusters> {
        let n = given.x.nrows();
        if self.min_samples > n {
            let message =
                format!("min_samples ({}) must be at most n_samples ({n})", self.min_samples);
            return Err(Error::new(Code::TooFew, message).hint("lower min_samples"));
        }
        let metric = self.metric.with_power(2.0);
        let reach = reachability(given.x, metric, self.min_samples, 1.0, run)?;
        let parts = reach.tree.cut_height(self.eps);
        let mut number = std::collections::BTreeMap::new();
        let value: Vec<i64> = (0..n)
            .map(|i| match reach.cores[i] <= self.eps {
                true => {
                    let next = number.len() as i64;
                    *number.entry(parts[i]).or_insert(next)
                }
                false => -1,
            })
            .collect();
        let n_noise = value.iter().filter(|&&label| label < 0).count() as u64;
        let n_clusters = number.len() as u64;
        Ok(CutClusters { value, core_distances: reach.cores, n_clusters, n_noise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Matrix {
        Matrix::from_fn(90, 2, |i, j| ((i * (5 + 2 * j) % 37) as f64 * 0.21).sin() * 3.0)
    }

    #[test]
    fn connection_is_symmetric_and_direct_steps_need_not_be() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0, 10.0]);
        let of = |a, b| {
            let query = DensityReachability { a, b, eps: 1.0, min_samples: 3 };
            query.compute(RowsToCluster { x: x.view() }).unwrap()
        };
        // Rows 1 and 2 are core rows, 0 and 3 border rows, 4 is noise.
        let found = of(1, 0);
        assert!(found.direct && !found.direct_back && found.reachable && !found.reachable_back);
        let ends = of(0, 3);
        assert!(ends.value && !ends.reachable && !ends.reachable_back);
        assert_eq!(of(1, 3).chain, [1, 2, 3]);
        assert!(!of(1, 4).value);
        let x = rows();
        for (a, b) in (0..40).map(|i| (i, (7 * i + 11) % 90)) {
            let of = |a, b| {
                let query = DensityReachability { a, b, eps: 0.45, min_samples: 4 };
                query.compute(RowsToCluster { x: x.view() }).unwrap()
            };
            let (there, back) = (of(a, b), of(b, a));
            assert_eq!(there.value, back.value, "{a} {b}");
            assert_eq!(there.reachable, back.reachable_back, "{a} {b}");
            assert!(!there.reachable || there.value);
        }
    }

    #[test]
    fn core_rows_are_connected_exactly_if_they_share_a_cluster() {
        let x = rows();
        let data = OwnedDataset::unsupervised(x.clone());
        let model = DBSCAN { eps: 0.45, min_samples: 4, ..Default::default() };
        let model = model.fit(&data.view()).unwrap();
        let (core, labels) = (&model.core_sample_indices, model.labels());
        for pair in core.windows(2).chain(core.chunks(2).filter(|pair| pair.len() == 2)) {
            let (a, b) = (pair[0] as usize, pair[1] as usize);
            let query = DensityReachability { a, b, eps: 0.45, min_samples: 4 };
            let found = query.compute(RowsToCluster { x: x.view() }).unwrap();
            assert_eq!(found.value, labels[a] == labels[b]);
        }
    }

    #[test]
    fn the_cut_at_every_radius_is_dbscan_without_border_rows() {
        let x = rows();
        let data = OwnedDataset::unsupervised(x.clone());
        for step in 1..40 {
            let eps = f64::from(step) * 0.05;
            let cut = HdbscanCut { eps, min_samples: 4, ..Default::default() };
            let cut = cut.compute(RowsToCluster { x: x.view() }).unwrap();
            let model = DBSCAN { eps, min_samples: 4, ..Default::default() };
            let model = model.fit(&data.view()).unwrap();
            let labels = model.labels();
            let expected: Vec<i64> = (0..90)
                .map(|i| match model.core_sample_indices.contains(&(i as u32)) {
                    true => labels[i].map_or(-1, i64::from),
                    false => -1,
                })
                .collect();
            assert_eq!(cut.value, expected, "{eps}");
        }
    }
}
