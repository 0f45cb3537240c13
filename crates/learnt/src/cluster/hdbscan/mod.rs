//! HDBSCAN: the clusters of DBSCAN at all radii, and those of them that last longest.
//!
//! The core distance of a row is that to its `min_samples`-th neighbour, itself the first. Single
//! linkage of max(core a, core b, d(a, b) / alpha) is condensed: a side below `min_cluster_size`
//! falls out of its cluster. `eom` takes the clusters of largest total stability, `leaf` those that
//! do not split; a parent stays on a tie. The strength of a row is its λ over the largest of its
//! cluster, at most one; its outlier score 1 - λ over the largest λ at or below the cluster that it
//! leaves. Clusters are numbered by their first row. Equal rows are counted once, with their number.
//!
//! R. Campello, D. Moulavi and J. Sander (2013), PAKDD, 160-172; R. Campello et al. (2015), TKDD 10(1).

mod condensed;
mod reach;

pub use condensed::{Branch, Condensed};
pub(super) use reach::core_distances;
pub use reach::{Reach, reachability, reachability_of_distances};

use super::agglomerative::size_table;
use crate::neighbors::RowDistance;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Density clusters of any shape and of different densities, without a radius.
///
/// `algorithm` and `leaf_size` do not exist: the search is chosen by the table.
///
/// ```
/// use learnt::{cluster::HDBSCAN, prelude::*};
/// let values = [0.0, 0.1, 0.2, 0.3, 0.4, 5.0, 5.1, 5.2, 5.3, 5.4, 20.0];
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()));
/// let model = HDBSCAN { min_samples: Some(2), ..Default::default() }.fit(&data.view())?;
/// let labels: Vec<i64> = model.labels().iter().map(|l| l.map_or(-1, i64::from)).collect();
/// assert_eq!(labels, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct HDBSCAN {
    /// Number of rows of the smallest cluster.
    #[param(positional, default = 5, range = 2.., search = linear(5, 50))]
    pub min_cluster_size: usize,
    /// Which neighbour has the core distance, the row itself the first; `min_cluster_size` by default.
    #[param(range = 1..)]
    pub min_samples: Option<usize>,
    /// Distance below which clusters are not split.
    #[param(default = 0.0, range = 0.0..)]
    pub cluster_selection_epsilon: f64,
    /// Number of rows above which a cluster is not chosen by `eom`.
    #[param(range = 1..)]
    pub max_cluster_size: Option<usize>,
    /// The distance.
    #[param(default = RowDistance::EUCLIDEAN)]
    pub metric: RowDistance,
    /// Power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
    /// What distances are divided by, beside core distances.
    #[param(default = 1.0, above = 0.0)]
    pub alpha: f64,
    /// Which clusters are chosen.
    #[param(default = Selection::Eom)]
    pub cluster_selection_method: Selection,
    /// Whether all rows may be one cluster.
    #[param(default = false)]
    pub allow_single_cluster: bool,
}

/// Which clusters are chosen.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Selection {
    /// Those of the largest total stability (excess of mass).
    Eom,
    /// Those that do not split.
    Leaf,
}

/// A fitted [`HDBSCAN`]. What it says about single rows is in memory only.
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table)]
pub struct HDBSCANModel {
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// Stability of each cluster.
    #[finite]
    pub cluster_persistence: Vec<f64>,
    /// Number of rows in no cluster.
    pub n_noise: u64,
    /// Strength with which each training row belongs to its cluster; 0 for noise.
    #[model(transient)]
    pub probabilities: Vec<f64>,
    /// How far outside each training row lies, from 0 to 1.
    #[model(transient)]
    pub outlier_scores: Vec<f64>,
    /// Core distance of each training row.
    #[model(transient)]
    pub core_distances: Vec<f64>,
    /// The tree of mergers as [`cluster.linkage`](super::LinkageTable) gives it.
    #[model(transient)]
    pub single_linkage_tree: Matrix,
    /// Clusters of the condensed tree: parent, birth, death, rows, stability, whether it is chosen.
    #[model(transient)]
    pub condensed_tree: Matrix,
    #[model(transient)]
    labels: Vec<Option<u32>>,
}

impl Estimator for HDBSCAN {
    type Model = HDBSCANModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.HDBSCAN")
        .threads()
        .scaling()
        .complexity(45)
        .cost("about n log n time for Euclidean distances over few columns, else n² p; n p memory")
        .reference("Campello, Moulavi and Sander (2013), PAKDD, 160-172");

    fn train(&self, data: &Dataset, run: &Context) -> Result<HDBSCANModel> {
        let n = data.nrows();
        let min_samples = self.min_samples.unwrap_or(self.min_cluster_size);
        if min_samples > n {
            let message = format!("min_samples ({min_samples}) must be at most n_samples ({n})");
            return Err(Error::new(Code::TooFew, message).hint("lower min_samples"));
        }
        let x = data.x.values();
        let reach = match self.metric.with_power(self.p) {
            Some(metric) => reachability(x, metric, min_samples, self.alpha, run)?,
            None => reachability_of_distances(x, min_samples, self.alpha, run)?,
        };
        let condensed = Condensed::new(&reach.tree, self.min_cluster_size);
        let single = self.allow_single_cluster;
        let mut chosen = match self.cluster_selection_method {
            Selection::Eom => condensed.excess_of_mass(single, self.max_cluster_size),
            Selection::Leaf => condensed.leaves(single),
        };
        let epsilon = self.cluster_selection_epsilon;
        if epsilon > 0.0 {
            chosen = condensed.merge_below(&chosen, epsilon, single);
        }
        Ok(HDBSCANModel::new(&reach, &condensed, &chosen, epsilon))
    }
}

impl HDBSCANModel {
    fn new(reach: &Reach, condensed: &Condensed, chosen: &[bool], epsilon: f64) -> HDBSCANModel {
        let homes = condensed.assign(chosen, epsilon);
        let deepest = condensed.deepest();
        let strength = |row: usize| match homes[row] {
            Some(home) if deepest[home as usize] > 0.0 => {
                (condensed.lambda[row] / deepest[home as usize]).min(1.0)
            }
            Some(_) => 1.0,
            None => 0.0,
        };
        let outlier = |row: usize| {
            let most = deepest[condensed.last[row] as usize];
            if most > 0.0 { (1.0 - condensed.lambda[row] / most).max(0.0) } else { 0.0 }
        };
        let mut number: Vec<Option<u32>> = vec![None; chosen.len()];
        let (mut sizes, mut persistence) = (Vec::new(), Vec::new());
        let mut labels = Vec::with_capacity(homes.len());
        for home in &homes {
            labels.push(home.map(|home| {
                let label = *number[home as usize].get_or_insert_with(|| {
                    sizes.push(0);
                    persistence.push(condensed.branches[home as usize].stability);
                    sizes.len() as u32 - 1
                });
                sizes[label as usize] += 1;
                label
            }));
        }
        let branches = &condensed.branches;
        HDBSCANModel {
            n_noise: labels.iter().filter(|label| label.is_none()).count() as u64,
            cluster_sizes: sizes,
            cluster_persistence: persistence,
            probabilities: (0..homes.len()).map(strength).collect(),
            outlier_scores: (0..homes.len()).map(outlier).collect(),
            core_distances: reach.cores.clone(),
            single_linkage_tree: reach.tree.to_matrix(),
            condensed_tree: Matrix::from_fn(branches.len(), 6, |k, j| match j {
                0 => f64::from(branches[k].parent),
                1 => branches[k].birth,
                2 => branches[k].death,
                3 => f64::from(branches[k].size),
                4 => branches[k].stability,
                _ => f64::from(u8::from(chosen[k])),
            }),
            labels,
        }
    }

    fn validate(&self) -> Result<()> {
        let good = self.cluster_sizes.iter().all(|&size| size > 0)
            && self.cluster_sizes.len() == self.cluster_persistence.len();
        if good { Ok(()) } else { Err(invalid("clusters without rows or stability")) }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("HDBSCAN", &self.cluster_sizes);
        answer.push("noise", self.n_noise);
        answer
    }
}

impl Clusterer for HDBSCANModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }
}

#[cfg(test)]
mod tests;
