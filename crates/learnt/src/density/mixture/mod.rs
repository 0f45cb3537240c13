//! Gaussian mixtures: p(x) = Σ π_k N(x; μ_k, Σ_k) of greatest likelihood, by expectation maximisation.
//!
//! E: r_ik = π_k N(x_i; μ_k, Σ_k) / p(x_i), by log-sum-exp. M: weighted shares, means and covariances
//! with divisor Σ r, plus `reg_covar` on the variances. Stops when the mean log-likelihood changes by
//! less than `tol`, or the squared shifts of the means sum to at most `tol`, or at `max_iter`. The best of `n_init` starts is kept, the first of equals. A row
//! belongs to the component of largest responsibility, the first of equals. With a known variance
//! all components share it and have equal weights, and only means are estimated; as it goes to zero,
//! that is k-means. One round over the blocks a step, so that it streams.
//!
//! A. Dempster, N. Laird and D. Rubin (1977), JRSS B 39, 1-38; G. McLachlan and D. Peel (2000).

mod engine;
mod rounds;
mod triangle;

pub use engine::{Components, MixtureCovariance, Moments};
pub use rounds::{MixtureState, MixtureSummary};

use engine::respond_row;
use learnt_core::linalg::Cholesky;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::stats::sample::{standard_normal, uniform};

/// Gaussian mixture: soft clusters and a density, fitted by expectation maximisation (EM).
///
/// `k-means++` and `random_from_data` move their centres once, as k-means does, before the first step.
///
/// ```
/// use learnt::{density::GaussianMixture, prelude::*};
/// let values = [1.0, 1.3, 2.2, 2.6, 2.8, 5.0, 7.3, 7.4, 7.5, 7.7, 7.9];
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()));
/// let learner = GaussianMixture { n_components: 2, tol: 1e-12, reg_covar: 0.0, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// let mut means = model.means.as_slice().to_vec();
/// means.sort_by(f64::total_cmp);
/// assert!((means[0] - 1.98095).abs() < 1e-4 && (means[1] - 7.13382).abs() < 1e-4);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct GaussianMixture {
    /// Number of components.
    #[param(positional, default = 1, range = 1.., search = linear(1, 10))]
    pub n_components: usize,
    /// Form of the covariances.
    #[param(default = MixtureCovariance::Full, search = set("full", "tied", "diag", "spherical"))]
    pub covariance_type: MixtureCovariance,
    /// Change of the mean log-likelihood at which iterations end; see `stop`.
    #[param(default = 1e-3, range = 0.0..)]
    pub tol: f64,
    /// What `tol` bounds.
    #[param(default = MixtureStop::Likelihood)]
    pub stop: MixtureStop,
    /// Added to every variance, so that no component collapses onto few rows.
    #[param(default = 1e-6, range = 0.0..)]
    pub reg_covar: f64,
    /// Maximum number of iterations of one start.
    #[param(default = 100, range = 1..)]
    pub max_iter: usize,
    /// Number of starts, of which the one of highest likelihood is kept.
    #[param(default = 1, range = 1..)]
    pub n_init: usize,
    /// How the first responsibilities are found.
    #[param(default = InitParams::KMeans)]
    pub init_params: InitParams,
    /// First weights, one a component.
    pub weights_init: Option<Vec<f64>>,
    /// First means, one list a component.
    pub means_init: Option<Vec<Vec<f64>>>,
    /// First inverses of the covariances: a matrix each for `full`, one matrix for `tied`, a list
    /// each for `diag`, a number each for `spherical`.
    pub precisions_init: Option<Vec<Vec<Vec<f64>>>>,
    /// The variance, if it is known: all components have it and equal weights.
    #[param(above = 0.0)]
    pub known_variance: Option<f64>,
    /// Number the components by their means, those of the first column first.
    #[param(default = false)]
    pub sort: bool,
}

/// What ends the iterations.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MixtureStop {
    /// The change of the mean log-likelihood is below `tol`.
    Likelihood,
    /// The squared shifts of the means sum to at most `tol`.
    Means,
}

/// How the first responsibilities are found.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum InitParams {
    /// From the clusters of k-means.
    #[choice(name = "kmeans")]
    KMeans,
    /// From rows drawn far from each other.
    #[choice(name = "k-means++")]
    Greedy,
    /// At random.
    Random,
    /// From rows drawn at random.
    RandomFromData,
    /// Means drawn uniformly in the ranges of the columns, variances of one, equal weights.
    Uniform,
    /// Means at rows drawn at random, variances of all rows, equal weights.
    RandomPoints,
}

/// Numbers in as many dimensions as the form of a covariance needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Covariances {
    /// Its sides.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its numbers, the last index fastest.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Stored for Covariances {
    fn to_node(&self) -> Node {
        Node::Reals(self.shape.clone(), self.values.clone())
    }

    fn from_node(node: &Node) -> Result<Self> {
        match node {
            Node::Reals(shape, values) => {
                Ok(Covariances { shape: shape.clone(), values: values.clone() })
            }
            _ => Err(invalid("covariances that are no numbers")),
        }
    }
}

/// A fitted [`GaussianMixture`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, density, validate = validate, report = table, converged = converged, questions = QUESTIONS)]
pub struct GaussianMixtureModel {
    /// Share of each component.
    #[shape(components)]
    #[finite]
    pub weights: Vec<f64>,
    /// Means (n_components × n_features).
    #[shape(components, columns)]
    #[finite]
    pub means: Matrix,
    /// Covariances; the shape depends on their form.
    pub covariances: Covariances,
    /// Mean log-likelihood of the training rows before the last step.
    pub lower_bound: f64,
    /// Iterations of the start that was kept.
    pub n_iter: usize,
    /// Whether the start that was kept met the criterion.
    pub converged: bool,
    /// Component of each training row; empty after a streamed fit.
    #[model(transient)]
    pub labels: Vec<u32>,
    form: MixtureCovariance,
}

impl GaussianMixture {
    fn constraints(&self) -> Result<()> {
        let wrong = |name, found: usize| {
            let expected = format!("{}, one for each of n_components", self.n_components);
            Err(Error::parameter(name, expected, format!("{found}")))
        };
        if let Some(weights) = &self.weights_init {
            if weights.len() != self.n_components {
                return wrong("weights_init", weights.len());
            }
            let sum: f64 = weights.iter().sum();
            if !weights.iter().all(|w| *w >= 0.0) || (sum - 1.0).abs() > 1e-6 {
                return Err(Error::parameter("weights_init", "shares that sum to 1", sum));
            }
        }
        match &self.means_init {
            Some(means) if means.len() != self.n_components => wrong("means_init", means.len()),
            Some(means) if !means.iter().flatten().all(|v| v.is_finite()) => {
                Err(Error::parameter("means_init", "finite numbers", "others"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses given means and precisions that do not fit the columns.
    fn check_given(&self, columns: usize) -> Result<()> {
        if let Some(means) = &self.means_init
            && means.iter().any(|mean| mean.len() != columns)
        {
            let expected = format!("points of {columns} values, one a column");
            return Err(Error::parameter("means_init", expected, "another number"));
        }
        self.given_covariances(columns).map(drop)
    }

    /// The covariances that the user gave.
    fn given_covariances(&self, columns: usize) -> Result<Option<Vec<Matrix>>> {
        let k = self.n_components;
        if let Some(variance) = self.known_variance {
            let diagonal = |i: usize, j: usize| if i == j { variance } else { 0.0 };
            let full = Matrix::from_fn(columns, columns, diagonal);
            return Ok(Some(match self.covariance_type {
                MixtureCovariance::Full => vec![full; k],
                MixtureCovariance::Tied => vec![full],
                _ => vec![Matrix::from_fn(k, columns, |_, _| variance)],
            }));
        }
        let Some(given) = &self.precisions_init else { return Ok(None) };
        let values: Vec<f64> = given.iter().flatten().flatten().copied().collect();
        let wanted = match self.covariance_type {
            MixtureCovariance::Full => k * columns * columns,
            MixtureCovariance::Tied => columns * columns,
            MixtureCovariance::Diag => k * columns,
            MixtureCovariance::Spherical => k,
        };
        if values.len() != wanted {
            let got = format!("{} numbers", values.len());
            return Err(Error::parameter("precisions_init", format!("{wanted} numbers"), got));
        }
        let wrong = || Error::parameter("precisions_init", "positive definite matrices", "others");
        let covariances: Option<Vec<Matrix>> = match self.covariance_type {
            MixtureCovariance::Full | MixtureCovariance::Tied => values
                .chunks_exact(columns * columns)
                .map(|part| {
                    let matrix = Matrix::from_vec(columns, columns, part.to_vec()).ok()?;
                    Cholesky::new(&matrix).map(|factor| factor.inverse())
                })
                .collect(),
            _ => {
                let per = wanted / k;
                values.iter().all(|v| *v > 0.0).then(|| {
                    vec![Matrix::from_fn(k, columns, |c, j| values[c * per + j % per].recip())]
                })
            }
        };
        covariances.map(Some).ok_or_else(wrong)
    }

    /// The whole start, if means and covariances are given.
    fn given(&self, columns: usize) -> Result<Option<Components>> {
        let (Some(means), Some(covariances)) = (&self.means_init, self.given_covariances(columns)?)
        else {
            return Ok(None);
        };
        let equal = || vec![1.0 / self.n_components as f64; self.n_components];
        let weights = self.weights_init.clone().unwrap_or_else(equal);
        let means = Matrix::from_rows(means)?;
        Ok(Some(Components { form: self.covariance_type, weights, means, covariances }))
    }

    /// Puts what the user gave into a start.
    fn overwrite(&self, start: &mut Components) -> Result<()> {
        if let Some(means) = &self.means_init {
            start.means = Matrix::from_rows(means)?;
        }
        if let Some(weights) = &self.weights_init {
            start.weights = weights.clone();
        }
        if let Some(covariances) = self.given_covariances(start.means.ncols())? {
            start.covariances = covariances;
        }
        if self.known_variance.is_some() && self.weights_init.is_none() {
            start.weights = vec![1.0 / self.n_components as f64; self.n_components];
        }
        Ok(())
    }
}

impl Estimator for GaussianMixture {
    type Model = GaussianMixtureModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::clusterer("mixture.GaussianMixture")
        .also_density()
        .alias(&["gmm"])
        .weights()
        .assign()
        .randomness()
        .threads()
        .iterations()
        .streaming()
        .complexity(35)
        .cost("n p² k time an iteration (n p k for diag), k p² memory")
        .reference("Dempster, Laird and Rubin (1977)")
        .check_with(&[("n_components", "3")])
        .exempt(&[(
            "sklearn:check_sample_weight_equivalence_on_dense_data",
            "the first centres are drawn by row, so a row twice draws others than a row of weight two",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<GaussianMixtureModel> {
        let mut model = learnt_core::rounds::train(self, data, run)?;
        model.labels = model.components_of(&data.x, run)?;
        Ok(model)
    }
}

impl GaussianMixtureModel {
    fn new(parts: Components, lower_bound: f64, n_iter: usize, converged: bool) -> Self {
        let (k, p) = (parts.count(), parts.means.ncols());
        let all = || parts.covariances.iter().flat_map(|c| c.as_slice()).copied().collect();
        let (shape, values) = match parts.form {
            MixtureCovariance::Full => (vec![k, p, p], all()),
            MixtureCovariance::Tied => (vec![p, p], all()),
            MixtureCovariance::Diag => (vec![k, p], all()),
            MixtureCovariance::Spherical => (vec![k], parts.covariances[0].column(0)),
        };
        GaussianMixtureModel {
            weights: parts.weights,
            means: parts.means,
            covariances: Covariances { shape, values },
            lower_bound,
            n_iter,
            converged,
            labels: Vec::new(),
            form: parts.form,
        }
    }

    /// The parameters as the engine has them.
    pub fn components(&self) -> Result<Components> {
        let (k, p) = (self.weights.len(), self.means.ncols());
        let wanted = match self.form {
            MixtureCovariance::Full => vec![k, p, p],
            MixtureCovariance::Tied => vec![p, p],
            MixtureCovariance::Diag => vec![k, p],
            MixtureCovariance::Spherical => vec![k],
        };
        let values = &self.covariances.values;
        if self.covariances.shape != wanted || values.len() != wanted.iter().product::<usize>() {
            return Err(invalid("covariances of another shape"));
        }
        let square = |part: &[f64]| Matrix::from_vec(p, p, part.to_vec());
        let covariances = match self.form {
            MixtureCovariance::Full | MixtureCovariance::Tied => {
                values.chunks_exact(p * p).map(square).collect::<Result<_>>()?
            }
            MixtureCovariance::Diag => vec![Matrix::from_vec(k, p, values.clone())?],
            MixtureCovariance::Spherical => vec![Matrix::from_fn(k, p, |c, _| values[c])],
        };
        let (weights, means) = (self.weights.clone(), self.means.clone());
        Ok(Components { form: self.form, weights, means, covariances })
    }

    fn validate(&self) -> Result<()> {
        let parts = self.components()?;
        let numbers = &self.covariances.values;
        let finite = numbers.iter().all(|v| v.is_finite()) && !self.lower_bound.is_nan();
        let shares: f64 = self.weights.iter().sum();
        let good = finite && self.weights.iter().all(|w| *w >= 0.0) && (shares - 1.0).abs() < 1e-6;
        if !good || self.means.ncols() == 0 {
            return Err(invalid("parameters of a mixture that are none"));
        }
        parts.kernel().map(drop).map_err(|error| invalid(error.message()))
    }

    /// Free parameters.
    pub fn n_parameters(&self) -> usize {
        let (k, p) = (self.weights.len(), self.means.ncols());
        k - 1 + k * p + self.form.parameters(k, p)
    }

    /// Calls `f` with each row's log-joint densities, in pieces on all threads.
    fn each_row<T: Send + Clone + Default>(
        &self,
        x: &Frame,
        run: &Context,
        f: impl Fn(&mut [f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        const ROWS: usize = 1024;
        let width = self.means.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let parts = self.components()?;
        let kernel = parts.kernel()?;
        let count = kernel.count();
        let mut out = vec![T::default(); x.nrows()];
        run.par_fill(&mut out, ROWS, |first, piece| {
            let mut joint = vec![0.0; piece.len() * count];
            kernel.joint(x.values().rows(first, first + piece.len()), &mut joint);
            for (out, joint) in piece.iter_mut().zip(joint.chunks_exact_mut(count)) {
                *out = f(joint);
            }
        });
        Ok(out)
    }

    fn components_of(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.each_row(x, run, |joint| learnt_core::estimator::first_maximum(joint))
    }

    /// The responsibility of each component for each row.
    pub fn responsibilities(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let rows = self.each_row(x, run, |joint| {
            respond_row(joint, &self.weights);
            joint.to_vec()
        })?;
        Matrix::from_vec(x.nrows(), self.weights.len(), rows.concat())
    }

    fn table(&self, names: &Names) -> Answer {
        let mut heads: Vec<String> = vec!["component".into(), "weight".into()];
        heads.extend(names.columns.iter().map(|column| format!("mean of {column}")));
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut table = Columns::new("Components", &heads);
        for (k, (&weight, mean)) in self.weights.iter().zip(self.means.rows()).enumerate() {
            let mut row = vec![Cell::Count(k as i64), Cell::Number(weight)];
            row.extend(mean.iter().map(|&value| Cell::Number(value)));
            table.push(row);
        }
        let mut answer = Answer::new("Gaussian mixture");
        answer.tables.push(table);
        answer.push("mean log-likelihood", self.lower_bound);
        answer.push("iterations", self.n_iter);
        answer.push("parameters", self.n_parameters());
        answer
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let data = asked.data.ok_or_else(|| Error::internal("a question without rows"))?;
        if asked.name == "responsibilities" {
            let found = self.responsibilities(&data.x, &asked.run)?;
            let heads: Vec<String> = (0..found.ncols()).map(|k| format!("component {k}")).collect();
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            let mut table = Columns::new("Responsibilities", &heads);
            for row in found.rows() {
                table.push(row.iter().map(|&value| Cell::Number(value)).collect());
            }
            let mut answer = Answer::new("Responsibilities");
            answer.tables.push(table);
            return Ok(answer);
        }
        let logs = self.log_density_in(&data.x, &asked.run)?;
        let total: f64 = logs.iter().enumerate().map(|(i, log)| data.weight(i) * log).sum();
        let weight: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
        let count = self.n_parameters() as f64;
        let mut answer = Answer::new("Criteria of the mixture");
        answer.push("log_likelihood", total);
        answer.push("parameters", self.n_parameters());
        answer.push("aic", 2.0 * count - 2.0 * total);
        answer.push("bic", count * weight.ln() - 2.0 * total);
        Ok(answer)
    }
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

const QUESTIONS: &[Question] = &[
    Question {
        name: "criteria",
        doc: "Log-likelihood of the rows, number of parameters, AIC and BIC.",
        needs: Needs::Rows,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "responsibilities",
        doc: "The probability of each component, for each row.",
        needs: Needs::Rows,
        arguments: || Box::new(NoArguments::default()),
    },
];

impl Clusterer for GaussianMixtureModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.iter().copied().map(Some).collect()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        Ok(self.components_of(x, run)?.into_iter().map(Some).collect())
    }
}

impl Density for GaussianMixtureModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        self.each_row(x, run, |joint| respond_row(joint, &self.weights))
    }

    fn sample(&self, rows: usize, run: &Context) -> Result<Matrix> {
        const STREAM: u64 = 0x6d67_6d6d;
        let width = self.means.ncols();
        run.claim_table(rows, width, "the drawn rows")?;
        let parts = self.components()?;
        let factors: Option<Vec<Cholesky>> =
            (0..parts.count()).map(|k| Cholesky::new(&parts.covariance(k))).collect();
        let factors = factors.ok_or_else(|| Error::numeric("a covariance is singular"))?;
        let mut out = Matrix::zeros(rows, width);
        run.par_fill(out.as_mut_slice(), 256 * width, |start, piece| {
            for (i, row) in piece.chunks_exact_mut(width).enumerate() {
                let mut rng = run.row_rng(STREAM, (start / width + i) as u64);
                let k = place(&self.weights, uniform(&mut rng));
                let z: Vec<f64> = (0..width).map(|_| standard_normal(&mut rng)).collect();
                for (j, value) in row.iter_mut().enumerate() {
                    let lower = &factors[k].lower.row(j)[..=j];
                    let along: f64 = lower.iter().zip(&z).map(|(l, z)| l * z).sum();
                    *value = self.means[(k, j)] + along;
                }
            }
        });
        Ok(out)
    }
}

/// The component in which a number below one falls; never one without a share.
fn place(shares: &[f64], at: f64) -> usize {
    let (mut reached, mut last) = (0.0, 0);
    for (k, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        last = k;
        reached += share;
        if at < reached {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests;
