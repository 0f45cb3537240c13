//! The fit as rounds: k-means or random responsibilities, then one round a step of EM.

use super::engine::{Components, LANES, MixtureCovariance, Moments, maximize};
use super::{GaussianMixture, GaussianMixtureModel, InitParams, MixtureStop};
use crate::cluster::{Init, KMeans, KMeansState, KMeansSummary, Restarts};
use learnt_core::linalg::{ColumnMoments, Nearest, squared_distance};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Where a fit stands between rounds.
#[derive(Stored, Clone, Debug)]
pub struct MixtureState {
    stage: Stage,
    start: usize,
    fresh: KMeansState,
    best: Option<Outcome>,
}

#[derive(Stored, Clone, Debug)]
enum Stage {
    Columns,
    Centres(KMeansState),
    Assign { centres: Matrix },
    Random { origin: Vec<f64> },
    Climb(Climb),
}

/// A step of EM to come.
#[derive(Stored, Clone, Debug)]
struct Climb {
    components: Components,
    n_iter: usize,
    bound: f64,
}

/// Where one start ended.
#[derive(Stored, Clone, Debug)]
struct Outcome {
    components: Components,
    n_iter: usize,
    bound: f64,
    converged: bool,
    ended: bool,
}

/// What a block answers in each stage.
#[derive(Stored, Clone, Debug, Merge)]
pub enum MixtureSummary {
    /// Moments of the columns.
    Columns(ColumnMoments),
    /// A round of k-means.
    Centres(KMeansSummary),
    /// Weighted moments of the components.
    Moments(Moments),
}

/// Seeds of the draws.
const STREAM: u64 = 0x6d69_7874;

impl From<Components> for Climb {
    fn from(components: Components) -> Climb {
        Climb { components, n_iter: 0, bound: f64::NEG_INFINITY }
    }
}

impl GaussianMixture {
    /// The k-means that a start begins with.
    fn centres(&self) -> KMeans {
        let (init, max_iter) = match self.init_params {
            InitParams::KMeans | InitParams::Random => (Init::Greedy, 300),
            InitParams::Greedy => (Init::Greedy, 1),
            InitParams::RandomFromData | InitParams::RandomPoints => (Init::Random, 1),
            InitParams::Uniform => (Init::Uniform, 1),
        };
        let n_init = Restarts::Count(1);
        KMeans { n_clusters: self.n_components, init, n_init, max_iter, ..KMeans::default() }
    }

    fn starts(&self, columns: usize) -> Result<usize> {
        Ok(if self.given(columns)?.is_some() { 1 } else { self.n_init })
    }

    fn first_stage(&self, columns: usize, fresh: &KMeansState) -> Result<Stage> {
        if let Some(components) = self.given(columns)? {
            return Ok(Stage::Climb(Climb::from(components)));
        }
        Ok(match self.init_params {
            InitParams::Random => Stage::Columns,
            _ => Stage::Centres(fresh.clone()),
        })
    }

    /// The parameters that hard or random responsibilities give, with those that the user gave.
    fn started(&self, means: &Matrix, moments: &Moments) -> Result<Stage> {
        let width = means.ncols();
        let form = self.covariance_type;
        let unit = |rows: usize| {
            Matrix::from_fn(rows, width, |i, j| f64::from(u8::from(i == j || !form.has_triangle())))
        };
        let covariances = match form {
            MixtureCovariance::Full => vec![unit(width); means.nrows()],
            MixtureCovariance::Tied => vec![unit(width)],
            _ => vec![unit(means.nrows())],
        };
        let weights = vec![1.0 / means.nrows() as f64; means.nrows()];
        let before = Components { form, weights, means: means.clone(), covariances };
        let mut components = maximize(&before, moments, self.reg_covar)?;
        self.overwrite(&mut components)?;
        Ok(Stage::Climb(Climb::from(components)))
    }

    /// Components at points, with one variance for each column; none where a start has clusters.
    fn placed(&self, all: &KMeansSummary, run: &Context) -> Result<Option<Stage>> {
        if !matches!(self.init_params, InitParams::Uniform | InitParams::RandomPoints) {
            return Ok(None);
        }
        let (means, mut variances) = self.centres().first_points(0, all, run)?;
        if self.init_params == InitParams::Uniform {
            variances.fill(1.0);
        }
        variances.iter_mut().for_each(|v| *v = v.max(f64::MIN_POSITIVE) + self.reg_covar);
        let (count, width) = (means.nrows(), means.ncols());
        let diagonal =
            Matrix::from_fn(width, width, |i, j| if i == j { variances[j] } else { 0.0 });
        let mean = variances.iter().sum::<f64>() / width as f64;
        let covariances = match self.covariance_type {
            MixtureCovariance::Full => vec![diagonal; count],
            MixtureCovariance::Tied => vec![diagonal],
            MixtureCovariance::Diag => vec![Matrix::from_fn(count, width, |_, j| variances[j])],
            MixtureCovariance::Spherical => vec![Matrix::from_fn(count, width, |_, _| mean)],
        };
        let (form, weights) = (self.covariance_type, vec![1.0 / count as f64; count]);
        let mut components = Components { form, weights, means, covariances };
        self.overwrite(&mut components)?;
        Ok(Some(Stage::Climb(Climb::from(components))))
    }

    /// One step of EM from the moments.
    fn step(&self, climb: Climb, moments: &Moments, run: &Context) -> Result<Outcome> {
        let old = climb.components;
        let total: f64 = moments.weights.iter().sum();
        let bound = moments.log_likelihood / total;
        if !bound.is_finite() {
            return Err(Error::numeric("the likelihood of the rows is not finite")
                .hint("standardise the columns, or raise reg_covar"));
        }
        let mut components = maximize(&old, moments, self.reg_covar)?;
        let shift = squared_distance(components.means.as_slice(), old.means.as_slice());
        if self.known_variance.is_some() {
            components.covariances = old.covariances;
            components.weights = old.weights;
        }
        let n_iter = climb.n_iter + 1;
        run.record("mean log-likelihood", n_iter as u64, bound);
        let converged = match self.stop {
            MixtureStop::Likelihood => (bound - climb.bound).abs() < self.tol,
            MixtureStop::Means => shift <= self.tol,
        };
        let ended = converged || n_iter >= self.max_iter;
        Ok(Outcome { components, n_iter, bound, converged, ended })
    }

    fn finish(&self, best: Option<Outcome>, run: &Context) -> Result<GaussianMixtureModel> {
        let mut best = best.ok_or_else(mixed)?;
        if self.sort {
            best.components = best.components.sorted();
        }
        best.components.kernel()?;
        let lost = best.components.weights.iter().filter(|weight| **weight == 0.0).count();
        if lost > 0 {
            let message = format!("{lost} of {} components have no rows", self.n_components);
            run.warn(Code::TooFew, message);
        }
        let collapsed = best.components.collapsed(self.reg_covar);
        if let Some(first) = collapsed.first() {
            let message = format!(
                "{} of {} components have collapsed onto one point, component {first} first: \
                 their variances are reg_covar alone; ask for fewer components or raise reg_covar",
                collapsed.len(),
                self.n_components
            );
            run.warn(Code::Numeric, message);
        }
        if !best.converged {
            let message = format!(
                "EM did not converge in {} iterations, mean log-likelihood {:.6e}; raise max_iter or tol",
                best.n_iter, best.bound
            );
            run.warn(Code::NotConverged, message);
        }
        Ok(GaussianMixtureModel::new(best.components, best.bound, best.n_iter, best.converged))
    }
}

/// The outcome of higher likelihood, the earlier of equals.
fn better(best: Option<Outcome>, new: Outcome) -> Outcome {
    match best {
        Some(best) if best.bound >= new.bound => best,
        _ => new,
    }
}

fn mixed() -> Error {
    Error::internal("summaries of different stages")
}

/// Of a block whose rows belong to their nearest centre alone.
fn assigned(data: &Dataset, centres: &Matrix, form: MixtureCovariance) -> Moments {
    let nearest = Nearest::new(centres);
    let mut labels = vec![0; data.nrows()];
    nearest.of(data.x.values(), &mut labels);
    Moments::of(data, centres, form, |first, _, inside, r| {
        r.fill([0.0; LANES]);
        for lane in 0..inside {
            r[labels[first + lane] as usize][lane] = 1.0;
        }
    })
}

/// Of a block whose rows belong to components at random, about one origin.
fn scattered(
    block: &Block,
    origin: &[f64],
    count: usize,
    form: MixtureCovariance,
    run: &Context,
) -> Moments {
    let means = Matrix::from_fn(count, origin.len(), |_, j| origin[j]);
    Moments::of(&block.data, &means, form, |first, _, inside, r| {
        r.fill([0.0; LANES]);
        for lane in 0..inside {
            let mut rng = run.row_rng(STREAM, block.first_row + (first + lane) as u64);
            let drawn: Vec<f64> = (0..count).map(|_| sample::uniform_positive(&mut rng)).collect();
            let total: f64 = drawn.iter().sum();
            r.iter_mut().zip(drawn).for_each(|(r, share)| r[lane] = share / total);
        }
    })
}

impl Rounds for GaussianMixture {
    type State = MixtureState;
    type Summary = MixtureSummary;
    type Output = GaussianMixtureModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<MixtureState> {
        if outline.rows < self.n_components as u64 {
            let message = format!(
                "Expected n_samples >= n_components but got n_samples = {}, n_components = {}",
                outline.rows, self.n_components
            );
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer components"));
        }
        self.check_given(outline.schema.len())?;
        let fresh = self.centres().begin(outline, run)?;
        let stage = self.first_stage(outline.schema.len(), &fresh)?;
        Ok(MixtureState { stage, start: 0, fresh, best: None })
    }

    fn summarize(
        &self,
        state: &MixtureState,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<MixtureSummary> {
        let inner = run.child(state.start as u64);
        let form = self.covariance_type;
        Ok(match &state.stage {
            Stage::Columns => MixtureSummary::Columns(ColumnMoments::of(&block.data)),
            Stage::Centres(centres) => {
                let summary = self.centres().summarize(centres, block, memo, &inner)?;
                MixtureSummary::Centres(summary)
            }
            Stage::Assign { centres } => {
                MixtureSummary::Moments(assigned(&block.data, centres, form))
            }
            Stage::Random { origin } => {
                MixtureSummary::Moments(scattered(block, origin, self.n_components, form, &inner))
            }
            Stage::Climb(climb) => {
                let kernel = climb.components.kernel()?;
                MixtureSummary::Moments(Moments::expected(&block.data, &kernel))
            }
        })
    }

    fn advance(
        &self,
        mut state: MixtureState,
        all: MixtureSummary,
        run: &Context,
    ) -> Result<Step<MixtureState, GaussianMixtureModel>> {
        state.stage = match (state.stage, all) {
            (Stage::Columns, MixtureSummary::Columns(all)) => Stage::Random { origin: all.mean },
            (Stage::Centres(centres), MixtureSummary::Centres(all)) => {
                let inner = run.child(state.start as u64);
                if let Some(stage) = self.placed(&all, &inner)? {
                    state.stage = stage;
                    return Ok(Step::Again(state));
                }
                match self.centres().advance(centres, all, &inner)? {
                    Step::Again(centres) => Stage::Centres(centres),
                    Step::Done(model) => Stage::Assign { centres: model.cluster_centers },
                }
            }
            (Stage::Assign { centres }, MixtureSummary::Moments(all)) => {
                self.started(&centres, &all)?
            }
            (Stage::Random { origin }, MixtureSummary::Moments(all)) => {
                let count = self.n_components;
                let means = Matrix::from_fn(count, origin.len(), |_, j| origin[j]);
                self.started(&means, &all)?
            }
            (Stage::Climb(climb), MixtureSummary::Moments(all)) => {
                let outcome = self.step(climb, &all, run)?;
                if !outcome.ended {
                    let Outcome { components, n_iter, bound, .. } = outcome;
                    state.stage = Stage::Climb(Climb { components, n_iter, bound });
                    return Ok(Step::Again(state));
                }
                let columns = outcome.components.means.ncols();
                state.start += 1;
                state.best = Some(better(state.best, outcome));
                if state.start == self.starts(columns)? {
                    return self.finish(state.best, run).map(Step::Done);
                }
                self.first_stage(columns, &state.fresh)?
            }
            _ => return Err(mixed()),
        };
        Ok(Step::Again(state))
    }
}
