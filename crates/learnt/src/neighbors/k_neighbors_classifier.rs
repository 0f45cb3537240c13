//! Nearest-neighbour classification: the vote of the k nearest training rows.
//!
//! p(class | x) = Σ w_i [y_i = class] / Σ w_i over the k nearest rows, with w_i = 1, 1 / d_i,
//! 1 / d_i² or a kernel of d_i over the distance of the next row. Equal distances go to the lower row
//! number, equal votes to the first class. Nothing is fitted but the index that finds the rows.
//!
//! Fix and Hodges (1951); Cover and Hart (1967), IEEE Transactions on Information Theory 13(1), 21-27.

use super::index::Neighbors;
use super::neighborhood::{
    Algorithm, MetricName, NeighborWeights, Neighborhood, Settings, class_totals,
};
use super::questions::QUESTIONS;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// k-nearest neighbours (kNN) classification: a vote of the nearest training rows.
///
/// A function as `weights`, of the distances of all neighbours, exists in Python only and cannot be
/// saved; a function as `metric`, and `metric_params`, do not exist. A row of weight w counts as w of the
/// neighbours.
///
/// ```
/// use learnt::{neighbors::KNeighborsClassifier, prelude::*};
/// let x = Matrix::from_rows(&[[0.0], [1.0], [2.0], [3.0]])?;
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = KNeighborsClassifier { n_neighbors: 3, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct KNeighborsClassifier {
    /// Number of neighbours (k) that vote.
    #[param(positional, default = 5, range = 1.., search = set(1, 3, 5, 9, 15, 25))]
    pub n_neighbors: usize,
    /// Weights of the neighbours.
    #[param(default = NeighborWeights::Uniform, search = set("uniform", "distance"))]
    pub weights: NeighborWeights,
    /// The search algorithm: tree or brute force; all give the same neighbours.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// Leaves of trees hold between this many rows and twice as many; only time depends on it.
    #[param(default = 30, range = 1..)]
    pub leaf_size: usize,
    /// The power of the metric `minkowski`: 1 is `manhattan`, 2 `euclidean`.
    #[param(default = 2.0, above = 0.0, search = set(1.0, 2.0))]
    pub p: f64,
    /// The distance metric between rows.
    #[param(default = MetricName::Minkowski)]
    pub metric: MetricName,
}

/// A fitted [`KNeighborsClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, questions = QUESTIONS, sure = is_sure)]
pub struct KNeighborsClassifierModel {
    /// The distance in use.
    pub effective_metric: String,
    /// Number of training rows.
    #[shape(rows)]
    pub n_samples_fit: usize,
    #[shape(rows)]
    #[below(classes)]
    codes: Vec<u32>,
    #[shape(classes)]
    class_totals: Vec<f64>,
    neighborhood: Neighborhood,
}

impl KNeighborsClassifier {
    fn settings(&self) -> Settings {
        Settings {
            n_neighbors: self.n_neighbors,
            weights: self.weights,
            algorithm: self.algorithm,
            leaf_size: self.leaf_size,
            p: self.p,
            metric: self.metric,
        }
    }

    fn constraints(&self) -> Result<()> {
        self.settings().constraints()
    }
}

impl Estimator for KNeighborsClassifier {
    type Model = KNeighborsClassifierModel;
    type Fit = WholeNoticed;
    const ABOUT: &'static About = &About::classifier("neighbors.KNeighborsClassifier")
        .volumes()
        .alias(&["knn"])
        .weights()
        .scaling()
        .rows_stored()
        .threads()
        .complexity(50)
        .cost("n p log n time to fit; n p a query by brute force, less by trees; n p memory")
        .reference("Cover and Hart (1967), Nearest neighbor pattern classification")
        .exempt(&[("weights_scale", "neighbours are counted by weight")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KNeighborsClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let class_totals = class_totals(data, codes, classes.len());
        let neighborhood = self.settings().train(data, run)?;
        Ok(KNeighborsClassifierModel {
            effective_metric: neighborhood.index.metric().name().to_string(),
            n_samples_fit: codes.len(),
            codes: codes.to_vec(),
            class_totals,
            neighborhood,
        })
    }
}

impl KNeighborsClassifierModel {
    fn validate(&self) -> Result<()> {
        let index = &self.neighborhood.index;
        let good =
            self.effective_metric == index.metric().name() && self.n_samples_fit == index.nrows();
        if good { Ok(()) } else { Err(invalid("classes of training rows")) }
    }

    fn is_sure(&self) -> bool {
        self.neighborhood.is_sure()
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        self.neighborhood.answer_question(asked)
    }

    /// The `k` nearest training rows of each row of `x`, with their distances, nearest first.
    pub fn neighbors(&self, x: &Frame, k: usize, run: &Context) -> Result<Neighbors> {
        self.neighborhood.neighbors(x, k, run)
    }
}

impl Classifier for KNeighborsClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.neighborhood.predict(x, self.class_totals.len(), run, |rows, counts, out| {
            let total: f64 = counts.iter().sum();
            for (&row, &count) in rows.iter().zip(counts) {
                out[self.codes[row as usize] as usize] += count;
            }
            out.iter_mut().for_each(|votes| *votes /= total);
        })
    }
}
