//! Bisecting k-means: one cluster is divided in two by k-means until there are enough.
//!
//! Next is the cluster of largest inertia (`biggest_inertia`) or of most weight (`largest_cluster`),
//! the earliest of equals; a cluster of equal rows is not divided. New rows walk down the tree of
//! divisions to the nearer of two centres, the first of equals.
//!
//! M. Steinbach, G. Karypis and V. Kumar (2000), KDD workshop on text mining.

use super::agglomerative::size_table;
use super::centres;
use super::k_means::{Algorithm, Init, KMeans, KMeansModel, Restarts};
use learnt_core::context::piece_rows;
use learnt_core::linalg::squared_distance;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Bisecting k-means: clusters by repeated division in two.
///
/// ```
/// use learnt::{cluster::BisectingKMeans, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 1.0, 10.0, 11.0, 30.0, 31.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let model = BisectingKMeans { n_clusters: 3, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.inertia, 1.5);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct BisectingKMeans {
    /// Number of clusters.
    #[param(positional, default = 8, range = 1.., search = linear(2, 20))]
    pub n_clusters: usize,
    /// The first centres of a division.
    #[param(default = DivisionStart::Random)]
    pub init: DivisionStart,
    /// Number of starts of a division.
    #[param(default = 1, range = 1..)]
    pub n_init: usize,
    /// Maximum number of iterations of a division.
    #[param(default = 300, range = 1..)]
    pub max_iter: usize,
    /// Shift of the centres at which a division ends, as in k-means.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// Which cluster is divided next.
    #[param(default = Bisecting::BiggestInertia)]
    pub bisecting_strategy: Bisecting,
}

/// The first centres of a division.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum DivisionStart {
    /// Rows drawn at random.
    Random,
    /// Rows drawn far from each other.
    #[choice(name = "k-means++")]
    Greedy,
}

/// Which cluster is divided next.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Bisecting {
    /// That of largest inertia.
    BiggestInertia,
    /// That of most rows.
    LargestCluster,
}

/// A fitted [`BisectingKMeans`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, transformer, validate = validate, report = table)]
pub struct BisectingKMeansModel {
    /// Centres (n_clusters × n_features).
    #[shape(clusters, columns)]
    #[finite]
    pub cluster_centers: Matrix,
    /// Weighted sum of squared distances of the training rows to their centres.
    pub inertia: f64,
    /// Number of rows in each cluster.
    #[shape(clusters)]
    pub cluster_sizes: Vec<u64>,
    /// Cluster of each training row.
    #[model(transient)]
    pub labels: Vec<u32>,
    /// Centres of all nodes of the tree of divisions.
    #[shape(nodes, columns)]
    #[finite]
    nodes: Matrix,
    /// The first of the two parts of each node, which are neighbours; 0 for clusters.
    #[shape(nodes)]
    parts: Vec<u32>,
    /// The cluster of each node that is one.
    #[shape(nodes)]
    clusters: Vec<u32>,
}

/// A cluster that may be divided.
struct Open {
    node: usize,
    rows: Vec<usize>,
    inertia: f64,
    weight: f64,
}

impl Open {
    /// The parts of a cluster, whose rows of the whole table are `rows`: one for each centre, at nodes from `first` on.
    fn parts(
        part: &Dataset,
        rows: &[usize],
        division: &KMeansModel,
        first: usize,
        run: &Context,
    ) -> Vec<Open> {
        const ROWS: usize = 4096;
        let centres = &division.cluster_centers;
        let none = |k| Open { node: first + k, rows: Vec::new(), inertia: 0.0, weight: 0.0 };
        let pieces = run.par_ranges(rows.len(), ROWS, |range| {
            let mut open: Vec<Open> = (0..centres.nrows()).map(none).collect();
            let mut row = vec![0.0; part.x.ncols()];
            let mut squares = vec![0.0; range.len()];
            vectorized!(for (i, square) in range.clone().zip(&mut squares) {
                part.x.values().copy_row(i, &mut row);
                *square = squared_distance(&row, centres.row(division.labels[i] as usize));
            });
            for (i, square) in range.zip(squares) {
                let open = &mut open[division.labels[i] as usize];
                open.rows.push(rows[i]);
                open.inertia += part.weight(i) * square;
                open.weight += part.weight(i);
            }
            open
        });
        let mut all: Vec<Open> = (0..centres.nrows()).map(none).collect();
        for piece in pieces {
            for (whole, part) in all.iter_mut().zip(piece) {
                whole.rows.extend_from_slice(&part.rows);
                whole.inertia += part.inertia;
                whole.weight += part.weight;
            }
        }
        all
    }
}

impl BisectingKMeans {
    fn learner(&self) -> KMeans {
        let init = match self.init {
            DivisionStart::Random => Init::Random,
            DivisionStart::Greedy => Init::Greedy,
        };
        KMeans {
            n_clusters: 2,
            init,
            n_init: Restarts::Count(self.n_init),
            max_iter: self.max_iter,
            tol: self.tol,
            algorithm: Algorithm::Lloyd,
        }
    }

    /// The place of the cluster that is divided next; none if all have equal rows alone.
    fn next(&self, open: &[Open]) -> Option<usize> {
        let size = |open: &Open| match self.bisecting_strategy {
            Bisecting::BiggestInertia => open.inertia,
            Bisecting::LargestCluster => open.weight,
        };
        let mut best: Option<usize> = None;
        for (k, candidate) in open.iter().enumerate() {
            let divisible = candidate.rows.len() > 1 && candidate.inertia > 0.0;
            if divisible && best.is_none_or(|best| size(candidate) > size(&open[best])) {
                best = Some(k);
            }
        }
        best
    }
}

impl Estimator for BisectingKMeans {
    type Model = BisectingKMeansModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.BisectingKMeans")
        .also_transformer()
        .weights()
        .assign()
        .randomness()
        .threads()
        .scaling()
        .complexity(30)
        .cost("n p log k time an iteration, n p memory")
        .iterations()
        .reference("Steinbach, Karypis and Kumar (2000)")
        .check_with(&[("n_clusters", "3")])
        .exempt(&[
            (
                "weights_repeat",
                "centres are drawn by row, and a row twice draws others than a row of weight two",
            ),
            ("sklearn:check_sample_weight_equivalence_on_dense_data", "centres are drawn by row"),
            ("trace", "each division is a k-means fit of its own, with an objective of its own"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<BisectingKMeansModel> {
        let n = data.nrows();
        if n < self.n_clusters {
            let message = format!("n_samples={n} should be >= n_clusters={}", self.n_clusters);
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        let all = KMeans { n_clusters: 1, ..self.learner() }.train(data, run)?;
        let mut nodes = vec![all.cluster_centers.row(0).to_vec()];
        let mut parts = vec![0_u32];
        let every: Vec<usize> = (0..n).collect();
        let mut open = Open::parts(data, &every, &all, 0, run);
        while open.len() < self.n_clusters {
            let Some(at) = self.next(&open) else {
                let message = format!("only {} of {} clusters differ", open.len(), self.n_clusters);
                run.warn(Code::TooFew, message);
                break;
            };
            let chosen = open.remove(at);
            let part = data.gather(&chosen.rows);
            let inner = run.child(nodes.len() as u64).with_threads(run.threads());
            let division = self.learner().train(&part.view(), &inner)?;
            parts[chosen.node] = nodes.len() as u32;
            open.extend(Open::parts(&part.view(), &chosen.rows, &division, nodes.len(), run));
            nodes.extend(division.cluster_centers.rows().map(<[f64]>::to_vec));
            parts.resize(nodes.len(), 0);
        }
        BisectingKMeansModel::new(&nodes, parts, &open, n)
    }
}

impl BisectingKMeansModel {
    fn new(nodes: &[Vec<f64>], parts: Vec<u32>, open: &[Open], n: usize) -> Result<Self> {
        let mut clusters = vec![0; nodes.len()];
        let mut labels = vec![0; n];
        for (cluster, leaf) in open.iter().enumerate() {
            clusters[leaf.node] = cluster as u32;
            leaf.rows.iter().for_each(|&row| labels[row] = cluster as u32);
        }
        let centres: Vec<&[f64]> = open.iter().map(|leaf| nodes[leaf.node].as_slice()).collect();
        Ok(BisectingKMeansModel {
            cluster_centers: Matrix::from_rows(&centres)?,
            inertia: open.iter().map(|leaf| leaf.inertia).sum(),
            cluster_sizes: open.iter().map(|leaf| leaf.rows.len() as u64).collect(),
            labels,
            nodes: Matrix::from_rows(nodes)?,
            parts,
            clusters,
        })
    }

    fn validate(&self) -> Result<()> {
        let nodes = self.parts.len();
        let later = |(node, &part): (usize, &u32)| {
            part == 0 || (part as usize > node && part as usize + 1 < nodes)
        };
        let known = |&cluster: &u32| (cluster as usize) < self.cluster_sizes.len();
        let good = self.parts.iter().enumerate().all(later) && self.clusters.iter().all(known);
        if good { Ok(()) } else { Err(invalid("a tree of divisions that does not end")) }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("Bisecting k-means", &self.cluster_sizes);
        answer.push("inertia", self.inertia);
        answer
    }

    fn check_width(&self, x: &Frame) -> Result<()> {
        let width = self.nodes.ncols();
        if x.ncols() == width {
            return Ok(());
        }
        let expected = format!("{width} columns as in training");
        Err(Error::shape("x", expected, format!("{} columns", x.ncols())))
    }

    fn walk(&self, row: &[f64]) -> u32 {
        let mut node = 0;
        while self.parts[node] > 0 {
            let part = self.parts[node] as usize;
            let [a, b] = [part, part + 1].map(|part| squared_distance(row, self.nodes.row(part)));
            node = if b < a { part + 1 } else { part };
        }
        self.clusters[node]
    }
}

impl Clusterer for BisectingKMeansModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.iter().copied().map(Some).collect()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let width = self.nodes.ncols();
        self.check_width(x)?;
        run.checkpoint()?;
        let mut out = vec![None; x.nrows()];
        run.par_fill(&mut out, piece_rows(width), |first, piece| {
            let mut row = vec![0.0; width];
            for (i, label) in piece.iter_mut().enumerate() {
                x.values().copy_row(first + i, &mut row);
                *label = Some(self.walk(&row));
            }
        });
        Ok(out)
    }
}

/// Distances to the centres.
impl Transformer for BisectingKMeansModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.check_width(x)?;
        centres::distances(&self.cluster_centers, "bisectingkmeans", x, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_rows_walk_to_their_own_clusters() {
        let x = Matrix::from_fn(400, 2, |i, j| (i % 7) as f64 * 5.0 + ((i * (3 + j)) as f64).sin());
        let data = OwnedDataset::unsupervised(x);
        for bisecting_strategy in [Bisecting::BiggestInertia, Bisecting::LargestCluster] {
            let learner =
                BisectingKMeans { n_clusters: 7, bisecting_strategy, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            assert_eq!(model.cluster_sizes.len(), 7);
            let walked = model.assign_in(&data.x.frame(), &Context::default()).unwrap();
            let same = walked.iter().zip(&model.labels).filter(|(a, b)| **a == Some(**b)).count();
            assert!(same >= 396, "{same}");
        }
    }

    #[test]
    fn rows_are_transformed_to_their_distances_to_the_centres() {
        let x =
            Matrix::from_fn(9000, 3, |i, j| ((i * (j + 3)) % 101) as f64 + (i % 4) as f64 * 90.0);
        let data = OwnedDataset::unsupervised(x);
        let learner = BisectingKMeans { n_clusters: 5, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let run = Context::default();
        let table = model.transform_in(&data.x.frame(), &run).unwrap();
        let names: Vec<&str> = table.schema().names().collect();
        assert_eq!(names[4], "bisectingkmeans4");
        let (x, centres) = (data.x.values(), &model.cluster_centers);
        for (i, row) in x.rows().enumerate().step_by(97) {
            for (k, centre) in centres.rows().enumerate() {
                let expected = squared_distance(row, centre).sqrt();
                assert!((table.values()[(i, k)] - expected).abs() <= 1e-13 * expected);
            }
        }
        // More rows than are added up together: the sums are those of all rows.
        let own = |i: usize| squared_distance(x.row(i), centres.row(model.labels[i] as usize));
        let inertia: f64 = (0..x.nrows()).map(own).sum();
        assert!((model.inertia - inertia).abs() <= 1e-12 * inertia);
        assert_eq!(model.cluster_sizes.iter().sum::<u64>(), 9000);
    }

    #[test]
    fn equal_rows_are_not_divided() {
        let data =
            OwnedDataset::unsupervised(Matrix::from_fn(10, 1, |i, _| f64::from(u8::from(i > 4))));
        let model =
            BisectingKMeans { n_clusters: 4, ..Default::default() }.fit(&data.view()).unwrap();
        assert_eq!((model.cluster_sizes, model.inertia), (vec![5, 5], 0.0));
    }
}
