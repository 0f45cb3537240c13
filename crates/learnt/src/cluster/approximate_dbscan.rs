//! ρ-approximate DBSCAN: core rows are exact, and chains of core rows may step a little too far.
//!
//! Core rows have at least `min_samples` rows within ε. Core rows within ε are of one cluster, those beyond ε (1 + ρ) are never joined by a direct step, and
//! those between may be. Core rows lie in cells of side ε/√d, so that those of one cell are of one
//! cluster; cells are joined where approximate counting finds a core row of one around a core row of
//! the other. Other rows within ε of a core row join the first of their clusters; the rest is noise.
//! ρ = 0 is DBSCAN.
//!
//! Every cluster of DBSCAN at ε lies in one of these, and each of these in one of DBSCAN at ε (1 + ρ),
//! as far as core rows go: the sandwich, which a function tests.
//!
//! J. Gan and Y. Tao (2015), SIGMOD, 519-530.

use super::agglomerative::size_table;
use super::choose_k::RowsToCluster;
use super::dbscan::{DBSCAN, Forest, numbered};
use super::dbscan_tree::Vicinity;
use crate::neighbors::CountTree;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// ρ-approximate DBSCAN: density clusters whose radius may be a share ρ too large.
///
/// ```
/// use learnt::{cluster::ApproximateDBSCAN, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let learner = ApproximateDBSCAN { eps: 1.0, min_samples: 4, rho: 0.001 };
/// let labels = learner.fit(&data.view())?.labels();
/// assert_eq!(labels[7], None);
/// assert!(labels[0] == labels[2] && labels[4] == labels[6] && labels[0] != labels[4]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct ApproximateDBSCAN {
    /// Distance up to which rows are neighbours.
    #[param(positional, default = 0.5, above = 0.0, search = log(1e-2, 1e2))]
    pub eps: f64,
    /// Weight of a core row's neighbours, itself included.
    #[param(default = 5, range = 1.., search = linear(2, 20))]
    pub min_samples: usize,
    /// Share by which steps between core rows may be too long; 0 is DBSCAN.
    #[param(default = 0.001, range = 0.0..=1.0)]
    pub rho: f64,
}

/// A fitted [`ApproximateDBSCAN`]. The clusters of the training rows are in memory only.
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table)]
pub struct ApproximateDBSCANModel {
    /// Numbers of the core rows.
    #[model(transient)]
    pub core_sample_indices: Vec<u32>,
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// Number of rows in no cluster.
    pub n_noise: u64,
    #[model(transient)]
    labels: Vec<Option<u32>>,
}

impl Estimator for ApproximateDBSCAN {
    type Model = ApproximateDBSCANModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.ApproximateDBSCAN")
        .alias(&["approximate-dbscan"])
        .weights()
        .threads()
        .scaling()
        .only_by_name()
        .complexity(42)
        .cost("n time expected for fixed eps, rho and few columns, beside the counts of core rows; n p memory")
        .reference("Gan and Tao (2015), SIGMOD, 519-530");

    fn train(&self, data: &Dataset, run: &Context) -> Result<ApproximateDBSCANModel> {
        let x = data.x.values();
        let near = Vicinity::new(data, self.eps, run)?;
        let core = near.core_rows(self.min_samples as f64, run)?;
        let rows: Vec<usize> = (0..core.len()).filter(|&i| core[i]).collect();
        let labels = near.borders(self.join(x, &rows, run)?, run)?;
        let clusters = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
        let mut cluster_sizes = vec![0; clusters];
        labels.iter().flatten().for_each(|&label| cluster_sizes[label as usize] += 1);
        let n_noise = labels.iter().filter(|label| label.is_none()).count() as u64;
        let core_sample_indices = rows.into_iter().map(|i| i as u32).collect();
        Ok(ApproximateDBSCANModel { core_sample_indices, cluster_sizes, n_noise, labels })
    }
}

impl ApproximateDBSCAN {
    /// The cluster of each core row, numbered by first rows; none for the others.
    fn join(&self, x: MatRef, core: &[usize], run: &Context) -> Result<Vec<Option<u32>>> {
        let mut number = vec![None; x.nrows()];
        if core.is_empty() {
            return Ok(number);
        }
        let points = x.gather_rows(core);
        let tree = CountTree::new(points.view(), self.eps, self.rho, run)?;
        let cells: Vec<(u32, &[u32])> = tree.cells().collect();
        let mut place = std::collections::BTreeMap::new();
        for (k, (root, _)) in cells.iter().enumerate() {
            place.insert(*root, k);
        }
        let near = run.try_par_map(cells.len(), |k| {
            if k % 64 == 0 {
                run.checkpoint()?;
            }
            let mut found: Vec<u32> = Vec::new();
            for &point in cells[k].1 {
                found.extend(tree.cells_near(points.row(point as usize)));
            }
            found.sort_unstable();
            found.dedup();
            Ok(found)
        })?;
        let mut forest = Forest::new(cells.len());
        for (k, found) in near.iter().enumerate() {
            found
                .iter()
                .filter_map(|root| place.get(root))
                .for_each(|&other| forest.join(k, other));
        }
        let mut home = vec![0; core.len()];
        for (k, (_, members)) in cells.iter().enumerate() {
            members.iter().for_each(|&point| home[point as usize] = k);
        }
        for (point, &row) in core.iter().enumerate() {
            number[row] = Some(forest.root(home[point]) as u32);
        }
        Ok(numbered(&number))
    }
}

impl ApproximateDBSCANModel {
    fn validate(&self) -> Result<()> {
        match self.cluster_sizes.iter().all(|&size| size > 0) {
            true => Ok(()),
            false => Err(invalid("a cluster without rows")),
        }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("Approximate DBSCAN", &self.cluster_sizes);
        answer.push("noise", self.n_noise);
        answer
    }
}

impl Clusterer for ApproximateDBSCANModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }
}

/// Sandwich test: approximate clusters lie between those of DBSCAN at ε and at ε (1 + ρ).
#[derive(Params, Clone, Debug)]
pub struct SandwichTest {
    /// Distance up to which rows are neighbours.
    #[param(positional, default = 0.5, above = 0.0)]
    pub eps: f64,
    /// Share by which steps may be too long.
    #[param(positional, default = 0.01, range = 0.0..=1.0)]
    pub rho: f64,
    /// Number of a core row's neighbours, itself included.
    #[param(default = 5, range = 1..)]
    pub min_samples: usize,
}

/// How the three clusterings lie in each other, on the core rows of ε.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Sandwich {
    /// Whether no cluster lies in two.
    pub value: bool,
    /// Clusters of DBSCAN at ε that lie in more than one approximate cluster.
    pub below: u64,
    /// Approximate clusters that lie in more than one of DBSCAN at ε (1 + ρ).
    pub above: u64,
    /// Clusters of DBSCAN at ε.
    pub n_inner: u64,
    /// Approximate clusters.
    pub n_approximate: u64,
    /// Clusters of DBSCAN at ε (1 + ρ).
    pub n_outer: u64,
}

impl Function for SandwichTest {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = Sandwich;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.sandwich_test", FunctionKind::Analysis)
            .threads()
            .reference("Gan and Tao (2015), SIGMOD, 519-530");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<Sandwich> {
        let data = OwnedDataset::unsupervised(given.x.to_matrix());
        let min_samples = self.min_samples;
        let exact =
            |eps: f64| DBSCAN { eps, min_samples, ..DBSCAN::default() }.fit_in(&data.view(), run);
        let inner = exact(self.eps)?;
        let outer = exact(self.eps * (1.0 + self.rho))?;
        let learner = ApproximateDBSCAN { eps: self.eps, min_samples, rho: self.rho };
        let middle = learner.fit_in(&data.view(), run)?;
        let core = &inner.core_sample_indices;
        let on_core = |labels: Vec<Option<u32>>| -> Vec<Option<u32>> {
            core.iter().map(|&i| labels[i as usize]).collect()
        };
        let parts = [inner.labels(), middle.labels(), outer.labels()].map(on_core);
        let (below, above) = (torn(&parts[0], &parts[1]), torn(&parts[1], &parts[2]));
        Ok(Sandwich {
            value: below + above == 0,
            below,
            above,
            n_inner: inner.cluster_sizes.len() as u64,
            n_approximate: middle.cluster_sizes.len() as u64,
            n_outer: outer.cluster_sizes.len() as u64,
        })
    }
}

/// How many clusters of the first lie in more than one of the second; none of the second counts as one.
fn torn(first: &[Option<u32>], second: &[Option<u32>]) -> u64 {
    let mut home = std::collections::BTreeMap::new();
    let mut torn = std::collections::BTreeSet::new();
    for (own, other) in first.iter().zip(second) {
        let Some(own) = own else { continue };
        if *home.entry(*own).or_insert(*other) != *other || other.is_none() {
            torn.insert(*own);
        }
    }
    torn.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::uniform;

    fn random(case: u64) -> (Matrix, f64, f64, usize) {
        let mut rng = Context::default().child(case).rng(1);
        let d = 1 + (case % 3) as usize;
        let n = 20 + (uniform(&mut rng) * 60.0) as usize;
        let x = Matrix::from_fn(n, d, |_, _| uniform(&mut rng) * 4.0);
        let eps = 0.15 + 0.5 * uniform(&mut rng) * d as f64;
        let rho = [0.001, 0.05, 0.3, 1.0][(case % 4) as usize];
        (x, eps, rho, 1 + (uniform(&mut rng) * 5.0) as usize)
    }

    #[test]
    fn no_cluster_leaves_the_sandwich_in_300_random_cases() {
        let mut differ = 0;
        for case in 0..300 {
            let (x, eps, rho, min_samples) = random(case);
            let found = SandwichTest { eps, rho, min_samples };
            let found = found.compute(RowsToCluster { x: x.view() }).unwrap();
            assert!(found.value, "case {case}: {found:?}");
            differ += u32::from(found.n_inner != found.n_approximate);
        }
        assert!(differ > 0, "no case was approximate");
    }

    #[test]
    fn without_an_error_it_is_dbscan_also_with_weights() {
        for case in 0..60 {
            let (x, eps, _, min_samples) = random(case);
            let mut data = OwnedDataset::unsupervised(x.clone());
            if case % 2 == 1 {
                data.weights = Some((0..x.nrows()).map(|i| (i % 3) as f64 + 0.5).collect());
            }
            let exact = DBSCAN { eps, min_samples, ..Default::default() };
            let exact = exact.fit(&data.view()).unwrap();
            let learner = ApproximateDBSCAN { eps, min_samples, rho: 0.0 };
            let model = learner.fit(&data.view()).unwrap();
            assert_eq!(model.labels(), exact.labels(), "case {case}");
            assert_eq!(model.core_sample_indices, exact.core_sample_indices);
        }
    }

    #[test]
    fn tears_are_counted() {
        let some = |labels: &[i64]| -> Vec<Option<u32>> {
            labels.iter().map(|&label| u32::try_from(label).ok()).collect()
        };
        assert_eq!(torn(&some(&[0, 0, 1, 1, -1]), &some(&[0, 1, 2, 2, 5])), 1);
        assert_eq!(torn(&some(&[0, 0, 1]), &some(&[4, 4, -1])), 1);
    }
}
