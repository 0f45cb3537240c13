//! Nearest-neighbour regression: the mean of the k nearest training rows.
//!
//! y(x) = Σ w_i y_i / Σ w_i over the k nearest rows, with w_i = 1, 1 / d_i, 1 / d_i² or a
//! kernel of d_i over the distance of the next row. Equal distances go to the lower row number. Consistent
//! as k grows and k / n falls; the prediction jumps where the set of neighbours changes.
//!
//! Stone (1977), Annals of Statistics 5(4), 595-620.

use super::index::Neighbors;
use super::neighborhood::{Algorithm, MetricName, NeighborWeights, Neighborhood, Settings};
use super::questions::QUESTIONS;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// k-nearest neighbours (kNN) regression: the mean target of the nearest training rows.
///
/// A function as `weights`, of the distances of all neighbours, exists in Python only and cannot be
/// saved; a function as `metric`, and `metric_params`, do not exist. A row of weight w counts as w of the
/// neighbours.
///
/// ```
/// use learnt::{neighbors::KNeighborsRegressor, prelude::*};
/// let x = Matrix::from_rows(&[[0.0], [1.0], [2.0], [9.0]])?;
/// let data = OwnedDataset::regression(x, vec![1.0, 2.0, 6.0, 0.0]);
/// let model = KNeighborsRegressor { n_neighbors: 3, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame().rows(0, 1))?.row(0), [3.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct KNeighborsRegressor {
    /// Number of neighbours (k) whose target is averaged.
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

/// A fitted [`KNeighborsRegressor`].
#[derive(Model, Clone, Debug)]
#[model(regressor, validate = validate, questions = QUESTIONS, sure = is_sure)]
pub struct KNeighborsRegressorModel {
    /// The distance in use.
    pub effective_metric: String,
    /// Number of training rows.
    #[shape(rows)]
    pub n_samples_fit: usize,
    #[shape(rows, outputs)]
    #[finite]
    targets: Matrix,
    neighborhood: Neighborhood,
}

impl KNeighborsRegressor {
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

impl Estimator for KNeighborsRegressor {
    type Model = KNeighborsRegressorModel;
    type Fit = WholeNoticed;
    const ABOUT: &'static About = &About::regressor("neighbors.KNeighborsRegressor")
        .alias(&["knn"])
        .weights()
        .many_outputs()
        .scaling()
        .rows_stored()
        .threads()
        .complexity(50)
        .cost("n p log n time to fit; n p a query by brute force, less by trees; n p memory")
        .reference("Stone (1977), Consistent nonparametric regression")
        .exempt(&[("weights_scale", "neighbours are counted by weight")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KNeighborsRegressorModel> {
        let targets = data.real_target()?.to_matrix();
        let neighborhood = self.settings().train(data, run)?;
        Ok(KNeighborsRegressorModel {
            effective_metric: neighborhood.index.metric().name().to_string(),
            n_samples_fit: targets.nrows(),
            targets,
            neighborhood,
        })
    }
}

impl KNeighborsRegressorModel {
    fn validate(&self) -> Result<()> {
        let index = &self.neighborhood.index;
        let good =
            self.effective_metric == index.metric().name() && self.n_samples_fit == index.nrows();
        if good { Ok(()) } else { Err(invalid("targets of training rows")) }
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

impl Regressor for KNeighborsRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.neighborhood.predict(x, self.targets.ncols(), run, |rows, counts, out| {
            let total: f64 = counts.iter().sum();
            let first = self.targets.row(rows[0] as usize);
            for (&row, &count) in rows.iter().zip(counts) {
                let target = self.targets.row(row as usize);
                for ((out, y), base) in out.iter_mut().zip(target).zip(first) {
                    // Halves, because the difference of two huge targets would overflow.
                    *out += count / total * (y / 2.0 - base / 2.0);
                }
            }
            out.iter_mut().zip(first).for_each(|(out, base)| *out = (base / 2.0 + *out) * 2.0);
        })
    }
}
