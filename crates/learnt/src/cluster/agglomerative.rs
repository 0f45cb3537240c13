//! Agglomerative clustering: a cut through the tree of mergers.
//!
//! The tree is that of [`link_rows`](super::link_rows); it is cut so that `n_clusters` are left, or
//! below `distance_threshold`. Clusters are numbered by their first row. `complete`, `average` and
//! `weighted` need n (n-1) / 2 distances, which is said before they start; the others need n p.
//!
//! Ward (1963), JASA 58, 236-244; Lance and Williams (1967), Computer Journal 9, 373-380.

use super::linkage::{
    Connected, Linkage, LinkageUpdate, Tree, link_by, link_connected, link_distances, link_rows,
    link_rows_by,
};
use crate::neighbors::{Metric, RowDistance};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Agglomerative (hierarchical) clustering: the nearest clusters merge, from single rows on.
///
/// `memory` and `compute_full_tree` do not exist: the whole tree is always built.
///
/// ```
/// use learnt::{cluster::AgglomerativeClustering, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 1.0, 3.0, 6.0, 7.0, 12.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let model = AgglomerativeClustering::default().fit(&data.view())?;
/// assert_eq!(model.labels, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct AgglomerativeClustering {
    /// Number of clusters; none with `distance_threshold`.
    #[param(positional, default = Some(2), range = 1.., search = linear(2, 20))]
    pub n_clusters: Option<usize>,
    /// The distance between rows.
    #[param(default = RowDistance::EUCLIDEAN)]
    pub metric: RowDistance,
    /// The distance between clusters.
    #[param(default = Linkage::Ward, search = set("ward", "complete", "average", "single"))]
    pub linkage: Linkage,
    /// The distance at and above which clusters do not merge.
    #[param(range = 0.0..)]
    pub distance_threshold: Option<f64>,
    /// Pairs of rows, from 0, along which clusters merge; all rows by default. In Python also a matrix, dense or
    /// sparse, with an entry for each pair, or a function of the rows that gives one.
    pub connectivity: Option<Vec<Vec<usize>>>,
}

impl RowDistance {
    /// The tree of a table's rows, or of the distances that it holds.
    pub fn link(self, x: MatRef, linkage: Linkage, run: &Context) -> Result<Tree> {
        match self.metric() {
            Some(Metric::Cosine) => link_rows(unit_rows(x)?.view(), linkage, Metric::Cosine, run),
            Some(metric) => link_rows(x, linkage, metric, run),
            None => link_distances(x, linkage, run),
        }
    }
}

impl RowDistance {
    /// The same by coefficients of one's own.
    pub fn link_by(self, x: MatRef, coefficients: LinkageUpdate, run: &Context) -> Result<Tree> {
        match self.metric() {
            Some(Metric::Cosine) => {
                link_rows_by(unit_rows(x)?.view(), Metric::Cosine, coefficients, run)
            }
            Some(metric) => link_rows_by(x, metric, coefficients, run),
            None => link_by(x, coefficients, run),
        }
    }
}

/// Rows of length one.
fn unit_rows(x: MatRef) -> Result<Matrix> {
    let mut out = x.to_matrix();
    for i in 0..out.nrows() {
        let length = learnt_core::linalg::norm(out.row(i));
        if length == 0.0 || !length.is_finite() {
            let message = format!("row {} has length {length}, and so no direction", i + 1);
            return Err(Error::numeric(message).hint("drop such rows or use another metric"));
        }
        out.row_mut(i).iter_mut().for_each(|value| *value /= length);
    }
    Ok(out)
}

/// A fitted [`AgglomerativeClustering`]. What it says about single rows is in memory only.
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table)]
pub struct AgglomerativeClusteringModel {
    /// Number of clusters.
    pub n_clusters: usize,
    /// Number of rows.
    pub n_leaves: usize,
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// The two nodes of each merger, the lowest merger first; node n + i is merger i.
    #[model(transient)]
    pub children: Matrix,
    /// The distance of each merger.
    #[model(transient)]
    pub distances: Vec<f64>,
    /// Cluster of each training row.
    #[model(transient)]
    pub labels: Vec<u32>,
    /// Parts of the graph of `connectivity`, before they were joined.
    #[model(transient)]
    pub n_connected_components: usize,
}

impl AgglomerativeClustering {
    fn constraints(&self) -> Result<()> {
        if self.n_clusters.is_some() == self.distance_threshold.is_some() {
            let got = if self.n_clusters.is_some() { "both" } else { "neither" };
            let expected = "exactly one of n_clusters and distance_threshold";
            return Err(Error::parameter("n_clusters", expected, got));
        }
        let jumps = matches!(self.linkage, Linkage::Centroid | Linkage::Median);
        if jumps && self.connectivity.is_some() {
            let expected =
                "'ward', 'complete', 'average', 'single' or 'weighted' with connectivity";
            return Err(Error::parameter("linkage", expected, "another"));
        }
        let euclidean = self.metric.metric() == Some(Metric::Euclidean);
        match self.linkage.needs_means() && !euclidean {
            true => {
                let expected = "'euclidean' with the linkages ward, centroid and median";
                Err(Error::parameter("metric", expected, "another"))
            }
            false => Ok(()),
        }
    }

    /// The tree, and the parts of the graph that it follows.
    fn link(&self, x: MatRef, run: &Context) -> Result<Connected> {
        let Some(pairs) = &self.connectivity else {
            return Ok(Connected { tree: self.metric.link(x, self.linkage, run)?, parts: 1 });
        };
        let n = x.nrows();
        let pair = |pair: &Vec<usize>| match pair[..] {
            [a, b] if a.max(b) < n => Ok([a, b]),
            _ => {
                let expected = format!("pairs of rows from 0 to {}", n - 1);
                Err(Error::parameter("connectivity", expected, format!("{pair:?}")))
            }
        };
        let pairs: Vec<[usize; 2]> = pairs.iter().map(pair).collect::<Result<_>>()?;
        match self.metric.metric() {
            Some(Metric::Cosine) => {
                let unit = unit_rows(x)?;
                link_connected(unit.view(), Some(Metric::Cosine), self.linkage, &pairs, run)
            }
            metric => link_connected(x, metric, self.linkage, &pairs, run),
        }
    }
}

impl Estimator for AgglomerativeClustering {
    type Model = AgglomerativeClusteringModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.AgglomerativeClustering")
        .alias(&["hierarchical"])
        .threads()
        .scaling()
        .complexity(40)
        .cost("n² p time; n p memory for ward, single, centroid and median, else n²/2 distances")
        .reference("Ward (1963); Lance and Williams (1967)")
        .exempt(&[(
            "same_bytes_large",
            "time grows with the square of the rows; the tree is tested on fewer",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<AgglomerativeClusteringModel> {
        let x = data.x.values();
        if let Some(wanted) = self.n_clusters
            && wanted > x.nrows()
        {
            let message = format!("n_samples={} should be >= n_clusters={wanted}", x.nrows());
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        let Connected { tree, parts } = self.link(x, run)?;
        let labels = match (self.n_clusters, self.distance_threshold) {
            (Some(count), _) => tree.cut_count(count),
            (None, threshold) => tree.cut_below(threshold.unwrap_or(0.0)),
        };
        let n_clusters = labels.iter().max().map_or(0, |last| *last as usize + 1);
        let mut cluster_sizes = vec![0; n_clusters];
        labels.iter().for_each(|&label| cluster_sizes[label as usize] += 1);
        Ok(AgglomerativeClusteringModel {
            n_clusters,
            n_leaves: tree.rows(),
            cluster_sizes,
            children: Matrix::from_fn(tree.children.len(), 2, |i, j| {
                f64::from(tree.children[i][j])
            }),
            distances: tree.heights,
            labels,
            n_connected_components: parts,
        })
    }
}

impl AgglomerativeClusteringModel {
    fn validate(&self) -> Result<()> {
        let sum = self.cluster_sizes.iter().try_fold(0_u64, |sum, &size| sum.checked_add(size));
        let good = self.cluster_sizes.iter().all(|&size| size > 0)
            && self.cluster_sizes.len() == self.n_clusters
            && sum == Some(self.n_leaves as u64);
        if good { Ok(()) } else { Err(invalid("sizes of clusters that do not add up")) }
    }

    fn table(&self, _names: &Names) -> Answer {
        size_table("Agglomerative clustering", &self.cluster_sizes)
    }
}

/// A report of sizes.
pub(super) fn size_table(title: &str, sizes: &[u64]) -> Answer {
    let mut table = Columns::new("Clusters", &["cluster", "rows"]);
    for (cluster, &rows) in sizes.iter().enumerate() {
        table.push(vec![Cell::Count(cluster as i64), Cell::Count(rows as i64)]);
    }
    let mut answer = Answer::new(title);
    answer.tables.push(table);
    answer
}

impl Clusterer for AgglomerativeClusteringModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.iter().copied().map(Some).collect()
    }
}
