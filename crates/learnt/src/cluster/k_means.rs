//! k-means: centres c that descend Σ w ‖x - c(x)‖², c(x) the centre nearest to x.
//!
//! Lloyd's rounds from greedy k-means++ centres: 2 + ln k candidates a step, drawn in proportion to
//! w D², the best kept; above 65,536 rows the best of some such starts on a sample. Stops when the centres' squared shifts sum to at most `tol` times the mean
//! variance of the columns, or nothing changes, or at `max_iter`. Equal distances go to the lowest
//! cluster; nearness is compared as ‖c‖²/2 - x·c about the centres' mean, in fit and prediction
//! alike. An empty cluster takes the row farthest from its centre (the earliest of equals) that does
//! not empty another; with fewer distinct rows than clusters it stays empty, with a warning.
//!
//! S. Lloyd (1982), IEEE Trans. Inf. Theory 28; D. Arthur and S. Vassilvitskii (2007), SODA.

use super::centres::{self, Cost, Leaders, Race, Sample, SeedMemo, Sums};
use learnt_core::context::piece_rows;
use learnt_core::linalg::{ColumnMoments, Nearest};
use learnt_core::prelude::*;
use learnt_core::stats::sample::uniform;

/// k-means clustering: groups rows around centroids, each the mean of the rows nearest to it.
///
/// Restarts keep scikit-learn's default: one from k-means++ or given centres, ten from random rows.
/// A weight counts as so many copies of a row. With `init='random'`, or beyond one block of rows,
/// draws fall on other rows than with real copies.
///
/// ```
/// use learnt::{cluster::{Init, KMeans}, prelude::*};
/// let values = [2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 20.0, 25.0, 30.0];
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()));
/// let init = Init::Centers(vec![vec![2.0], vec![4.0]]);
/// let model = KMeans { n_clusters: 2, init, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.cluster_centers.as_slice(), [7.0, 25.0]);
/// assert_eq!(model.inertia, 150.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct KMeans {
    /// Number of clusters.
    #[param(positional, default = 8, range = 1.., search = linear(2, 20))]
    pub n_clusters: usize,
    /// Initialization of the centroids.
    #[param(default = Init::Greedy)]
    pub init: Init,
    /// Number of random restarts, of which the lowest inertia is kept.
    #[param(default = Restarts::Auto)]
    pub n_init: Restarts,
    /// Maximum number of iterations of one start.
    #[param(default = 300, range = 1..)]
    pub max_iter: usize,
    /// Sum of the centres' squared shifts at which iterations end, as a multiple of the mean
    /// variance of the columns.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// How rows find their centres; the result is the same.
    #[param(default = Algorithm::Lloyd)]
    pub algorithm: Algorithm,
}

/// Initialization of the centroids.
#[derive(Choice, Clone, Debug, PartialEq)]
pub enum Init {
    /// Rows drawn one after another, far from those drawn before.
    #[choice(name = "k-means++")]
    Greedy,
    /// Rows drawn at random.
    Random,
    /// Points drawn uniformly in the ranges of the columns.
    Uniform,
    /// At these points, one list a cluster.
    Centers(Vec<Vec<f64>>),
}

/// Number of starts.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Restarts {
    /// 10 from random rows or points, else 1.
    Auto,
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
}

/// How rows find their centres.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// By the distances to all centres.
    Lloyd,
    /// Accepted for scikit-learn's sake: the same as lloyd, which is faster here.
    Elkan,
}

/// A fitted [`KMeans`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, transformer, report = table, converged = converged, looks)]
pub struct KMeansModel {
    /// Centres (n_clusters × n_features).
    #[shape(clusters, columns)]
    #[finite]
    pub cluster_centers: Matrix,
    /// Cluster of each training row; empty after a streamed fit.
    #[model(transient)]
    pub labels: Vec<u32>,
    /// Weighted sum of squared distances of the training rows to their centres.
    pub inertia: f64,
    /// Iterations of the start that was kept.
    pub n_iter: usize,
    /// Batches that centres followed; only of a fit by batches.
    #[model(later)]
    pub n_steps: Option<usize>,
    #[shape(clusters)]
    pub(super) weights: Vec<f64>,
    converged: bool,
}

impl KMeans {
    fn constraints(&self) -> Result<()> {
        let Init::Centers(centers) = &self.init else { return Ok(()) };
        if centers.len() != self.n_clusters {
            let expected = format!("{} points, one for each of n_clusters", self.n_clusters);
            return Err(Error::parameter("init", expected, format!("{} points", centers.len())));
        }
        let width = centers.first().map_or(0, Vec::len);
        match centers.iter().all(|c| c.len() == width && c.iter().all(|v| v.is_finite())) {
            true => Ok(()),
            false => {
                Err(Error::parameter("init", "points of one width and finite values", "others"))
            }
        }
    }

    fn starts(&self) -> usize {
        match (self.n_init, &self.init) {
            (_, Init::Centers(_)) => 1,
            (Restarts::Count(count), _) => count,
            (Restarts::Auto, Init::Random | Init::Uniform) => 10,
            (Restarts::Auto, Init::Greedy) => 1,
        }
    }

    /// Candidates of a k-means++ step.
    fn candidates(&self) -> usize {
        2 + (self.n_clusters as f64).ln() as usize
    }
}

impl Estimator for KMeans {
    type Model = KMeansModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::clusterer("cluster.KMeans")
        .also_transformer()
        .alias(&["kmeans"])
        .weights()
        .assign()
        .randomness()
        .threads()
        .iterations()
        .monotone()
        .streaming()
        .online()
        .scaling()
        .complexity(30)
        .cost("n p k time an iteration, n memory beside the table")
        .reference("Lloyd (1982); Arthur and Vassilvitskii (2007)")
        .exempt(&[(
            "sklearn:check_sample_weight_equivalence_on_dense_data",
            "the first centres are drawn by row, so a row twice draws others than a row of weight two",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KMeansModel> {
        run.claim(12 * data.nrows() as u64, "k-means labels and distances")?;
        // A table by columns is turned once where memory allows, not in every pass.
        let by_rows = match data.x.values().col_stride() {
            1 => None,
            _ => run.claim(8 * (data.nrows() * data.x.ncols()) as u64, "rows of k-means").ok(),
        };
        let turned = by_rows.map(|()| data.x.values().to_matrix());
        let x = turned.as_ref().map_or(data.x.values(), Matrix::view);
        let data = &Dataset { x: Frame::new(x, data.x.schema())?, ..*data };
        let mut model = rounds::train(self, data, run)?;
        model.labels = model.nearest(&data.x, run)?;
        Ok(model)
    }

    /// Running means from the centres of the first rows.
    fn update(
        &self,
        model: Option<&KMeansModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<KMeansModel> {
        match model {
            None => self.train(data, run),
            Some(model) if model.cluster_centers.nrows() == self.n_clusters => {
                model.with_more(data, run)
            }
            Some(model) => Err(Error::parameter(
                "n_clusters",
                format!("{} as before", model.cluster_centers.nrows()),
                self.n_clusters,
            )),
        }
    }
}

/// Where a fit stands between rounds.
#[derive(Stored, Clone, Debug)]
pub struct KMeansState {
    stage: Stage,
    start: usize,
    tolerance: f64,
    origin: Vec<f64>,
    /// Σ w ‖x - origin‖².
    scatter: f64,
    /// The objective after each iteration of this start.
    objectives: Vec<f64>,
    best: Option<Outcome>,
    /// Share of the rows that first centres are drawn from; 0 for all of them.
    sample: f64,
}

#[derive(Stored, Clone, Debug)]
enum Stage {
    Begin,
    Seed { chosen: Matrix, candidates: Matrix },
    Move { centres: Matrix, n_iter: usize },
    Refill { centres: Matrix, n_iter: usize, moved: Sums },
    Measure { centres: Matrix, n_iter: usize, converged: bool },
}

/// Where one start ended.
#[derive(Stored, Clone, Debug)]
struct Outcome {
    centres: Matrix,
    n_iter: usize,
    converged: bool,
    cost: Cost,
    objectives: Vec<f64>,
}

/// What a block answers in each stage.
#[derive(Stored, Clone, Debug, Merge)]
pub enum KMeansSummary {
    /// Moments of the columns, and rows drawn at random.
    Begin(Beginning),
    /// The candidates for the next centre.
    Seed(Race),
    /// Sums of the clusters.
    Move(Sums),
    /// Rows far from their centres.
    Refill(Leaders),
    /// The objective.
    Measure(Cost),
}

/// Moments of the columns, and rows drawn at random.
#[derive(Stored, Clone, Debug, Merge)]
pub struct Beginning {
    moments: ColumnMoments,
    drawn: Leaders,
    sample: Sample,
}

fn mixed() -> Error {
    Error::internal("summaries of different stages")
}

impl Rounds for KMeans {
    type State = KMeansState;
    type Summary = KMeansSummary;
    type Output = KMeansModel;

    fn begin(&self, outline: &Outline, _run: &Context) -> Result<KMeansState> {
        if outline.rows < self.n_clusters as u64 {
            let message =
                format!("n_samples={} should be >= n_clusters={}", outline.rows, self.n_clusters);
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        if let Init::Centers(centers) = &self.init
            && let Some(first) = centers.first()
            && first.len() != outline.schema.len()
        {
            let expected = format!("points of {} values, one a column", outline.schema.len());
            return Err(Error::parameter("init", expected, format!("{} values", first.len())));
        }
        Ok(KMeansState {
            stage: Stage::Begin,
            start: 0,
            tolerance: 0.0,
            origin: Vec::new(),
            scatter: 0.0,
            objectives: Vec::new(),
            best: None,
            sample: match self.init {
                Init::Greedy => centres::share(outline.rows, self.n_clusters),
                Init::Random | Init::Uniform | Init::Centers(_) => 0.0,
            },
        })
    }

    fn summarize(
        &self,
        state: &KMeansState,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<KMeansSummary> {
        let stream = (state.start as u64) << 32;
        Ok(match &state.stage {
            Stage::Begin => {
                let drawn = match self.init {
                    Init::Greedy => centres::draw_row(block, stream, run),
                    Init::Random => centres::draw_rows(block, self.n_clusters, stream, run),
                    Init::Uniform | Init::Centers(_) => Leaders::new(0),
                };
                let sample = Sample::of(block, state.sample, stream + 1, run);
                let moments = ColumnMoments::of(&block.data);
                KMeansSummary::Begin(Beginning { moments, drawn, sample })
            }
            Stage::Seed { chosen, candidates } => {
                let stream = stream + 1 + chosen.nrows() as u64;
                let draws = self.candidates();
                let race = centres::race(
                    block,
                    chosen,
                    candidates,
                    draws,
                    memo.of::<SeedMemo>(),
                    stream,
                    run,
                );
                KMeansSummary::Seed(race)
            }
            Stage::Move { centres, .. } => {
                let of = |data: &Dataset| Sums::of(data, centres, &state.origin);
                KMeansSummary::Move(centres::by_parts(&block.data, centres, run, of)?)
            }
            Stage::Refill { centres, .. } => {
                KMeansSummary::Refill(centres::farthest(&block.data, centres))
            }
            Stage::Measure { centres, .. } => {
                let of = |data: &Dataset| Cost::of(data, centres);
                KMeansSummary::Measure(centres::by_parts(&block.data, centres, run, of)?)
            }
        })
    }

    fn advance(
        &self,
        mut state: KMeansState,
        all: KMeansSummary,
        run: &Context,
    ) -> Result<Step<KMeansState, KMeansModel>> {
        let stage = std::mem::replace(&mut state.stage, Stage::Begin);
        state.stage = match (stage, all) {
            (Stage::Begin, KMeansSummary::Begin(all)) => {
                state.tolerance = self.tol * mean_variance(&all.moments)?;
                state.scatter = all.moments.squares.iter().sum();
                state.origin.clone_from(&all.moments.mean);
                let stream = ((state.start as u64) << 32) + 1;
                let (count, trials) = (self.n_clusters, self.candidates());
                let drawn = match state.sample > 0.0 {
                    true => all.sample.centres(count, trials, &state.origin, stream, run)?,
                    false => None,
                };
                match drawn {
                    Some(centres) => Stage::Move { centres, n_iter: 0 },
                    None => self.first_stage(&all, stream, run)?,
                }
            }
            (Stage::Seed { chosen, candidates }, KMeansSummary::Seed(race)) => {
                self.next_seed(&chosen, &candidates, &race)?
            }
            (Stage::Move { centres, n_iter }, KMeansSummary::Move(moved)) => {
                match moved.has_empty() {
                    true => Stage::Refill { centres, n_iter, moved },
                    false => self.shifted(&mut state, &centres, &moved, n_iter + 1),
                }
            }
            (Stage::Refill { centres, n_iter, mut moved }, KMeansSummary::Refill(far)) => {
                moved.refill(&far, &centres, &state.origin);
                self.shifted(&mut state, &centres, &moved, n_iter + 1)
            }
            (Stage::Measure { centres, n_iter, converged }, KMeansSummary::Measure(cost)) => {
                state.start += 1;
                run.record("start of k-means", state.start as u64, cost.inertia);
                let objectives = std::mem::take(&mut state.objectives);
                let outcome = Outcome { centres, n_iter, converged, cost, objectives };
                state.best = Some(better(state.best, outcome));
                if state.start == self.starts() {
                    return self.finish(state.best, run).map(Step::Done);
                }
                Stage::Begin
            }
            _ => return Err(mixed()),
        };
        Ok(Step::Again(state))
    }
}

fn mean_variance(moments: &ColumnMoments) -> Result<f64> {
    let variance = moments.variance(0.0);
    let mean = variance.iter().sum::<f64>() / variance.len().max(1) as f64;
    // The variance of a column that overflows may be infinite, missing or cut to zero.
    let reach = |j: usize| moments.high[j].abs().max(moments.low[j].abs());
    let square: f64 = (0..variance.len()).map(|j| 4.0 * reach(j) * reach(j)).sum();
    match mean.is_finite() && square.is_finite() {
        true => Ok(mean),
        false => Err(Error::numeric("the columns overflow: their values are too large to square")
            .hint("divide them by a large constant first")),
    }
}

/// The outcome of lower inertia, the earlier of equals.
fn better(best: Option<Outcome>, new: Outcome) -> Outcome {
    match best {
        Some(best) if best.cost.inertia <= new.cost.inertia => best,
        _ => new,
    }
}

impl KMeans {
    fn first_stage(&self, all: &Beginning, stream: u64, run: &Context) -> Result<Stage> {
        let rows: Vec<&[f64]> = all.drawn.rows.iter().map(|row| row.values.as_slice()).collect();
        Ok(match &self.init {
            Init::Centers(centers) => {
                Stage::Move { centres: Matrix::from_rows(centers)?, n_iter: 0 }
            }
            Init::Greedy if !rows.is_empty() => {
                let candidates = Matrix::from_rows(&rows)?;
                Stage::Seed { chosen: Matrix::zeros(0, candidates.ncols()), candidates }
            }
            Init::Random if rows.len() == self.n_clusters => {
                Stage::Move { centres: Matrix::from_rows(&rows)?, n_iter: 0 }
            }
            Init::Uniform => {
                let mut rng = run.rng(stream);
                let ColumnMoments { low, high, .. } = &all.moments;
                let place = |_: usize, j: usize| {
                    let share = uniform(&mut rng);
                    (1.0 - share) * low[j] + share * high[j]
                };
                let centres = Matrix::from_fn(self.n_clusters, low.len(), place);
                Stage::Move { centres, n_iter: 0 }
            }
            _ => {
                let message = format!(
                    "n_samples={} with a weight above zero should be >= n_clusters={}",
                    rows.len(),
                    self.n_clusters
                );
                return Err(Error::new(Code::TooFew, message));
            }
        })
    }

    /// Takes the best candidate as the next centre. Where nothing is left to draw, because every
    /// row is at a centre, the last centre stands for the rest.
    fn next_seed(&self, chosen: &Matrix, candidates: &Matrix, race: &Race) -> Result<Stage> {
        let (best, next) = race.best();
        let mut rows: Vec<&[f64]> = chosen.rows().collect();
        rows.push(candidates.row(best));
        if next.is_empty() {
            rows.resize(self.n_clusters, candidates.row(best));
        }
        let chosen = Matrix::from_rows(&rows)?;
        match chosen.nrows() < self.n_clusters {
            true => Ok(Stage::Seed { chosen, candidates: Matrix::from_rows(&next)? }),
            false => Ok(Stage::Move { centres: chosen, n_iter: 0 }),
        }
    }

    /// The means of the clusters as centres.
    fn shifted(&self, state: &mut KMeansState, old: &Matrix, moved: &Sums, n_iter: usize) -> Stage {
        let centres = moved.means(old, &state.origin);
        state.objectives.push((state.scatter - moved.between()).max(0.0));
        let converged = centres::total_shift(old, &centres) <= state.tolerance;
        match converged || n_iter >= self.max_iter {
            true => Stage::Measure { centres, n_iter, converged },
            false => Stage::Move { centres, n_iter },
        }
    }

    fn finish(&self, best: Option<Outcome>, run: &Context) -> Result<KMeansModel> {
        let best = best.ok_or_else(mixed)?;
        for (i, &objective) in best.objectives.iter().enumerate() {
            run.record("k-means", i as u64 + 1, objective);
        }
        let found = best.cost.weights.iter().filter(|w| **w > 0.0).count();
        if found < self.n_clusters {
            let message = format!(
                "only {found} of {} clusters have rows: there are too few distinct rows",
                self.n_clusters
            );
            run.warn(Code::TooFew, message);
        }
        if !best.converged {
            let message = format!(
                "k-means did not converge in {} iterations, inertia {:.6e}; raise max_iter or tol",
                best.n_iter, best.cost.inertia
            );
            run.warn(Code::NotConverged, message);
        }
        Ok(KMeansModel {
            cluster_centers: best.centres,
            labels: Vec::new(),
            inertia: best.cost.inertia,
            n_iter: best.n_iter,
            n_steps: None,
            weights: best.cost.weights,
            converged: best.converged,
        })
    }
}

impl KMeans {
    /// The centres that a start from points begins with, and the variance of each column (divisor n),
    /// from the first round of a fit.
    pub(crate) fn first_points(
        &self,
        start: usize,
        all: &KMeansSummary,
        run: &Context,
    ) -> Result<(Matrix, Vec<f64>)> {
        let KMeansSummary::Begin(all) = all else { return Err(mixed()) };
        match self.first_stage(all, ((start as u64) << 32) + 1, run)? {
            Stage::Move { centres, .. } => Ok((centres, all.moments.variance(0.0))),
            _ => Err(mixed()),
        }
    }
}

impl KMeansModel {
    fn table(&self, _: &Names) -> Answer {
        let mut table = Columns::new("Clusters", &["cluster", "weight", "share"]);
        let total: f64 = self.weights.iter().sum();
        for (c, &weight) in self.weights.iter().enumerate() {
            let share = if total > 0.0 { weight / total } else { 0.0 };
            table.push(vec![Cell::Count(c as i64), Cell::Number(weight), Cell::Number(share)]);
        }
        let mut report = Answer::new("k-means");
        report.tables.push(table);
        report.push("inertia", self.inertia);
        report.push("iterations", self.n_iter);
        report
    }

    pub(super) fn check_width(&self, x: &Frame) -> Result<()> {
        let width = self.cluster_centers.ncols();
        match x.ncols() == width {
            true => Ok(()),
            false => Err(Error::shape(
                "x",
                format!("{width} columns as in training"),
                format!("{} columns", x.ncols()),
            )),
        }
    }

    /// The cluster of each row.
    pub(super) fn nearest(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.check_width(x)?;
        run.checkpoint()?;
        let nearest = Nearest::new(&self.cluster_centers);
        let mut labels = vec![0; x.nrows()];
        run.par_fill(&mut labels, piece_rows(x.ncols()), |first, piece| {
            let end = first + piece.len();
            let finite = nearest.of(x.values().rows(first, end), piece);
            x.noticed_as(first, end, finite);
        });
        Ok(labels)
    }
}

impl Clusterer for KMeansModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.iter().copied().map(Some).collect()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        Ok(self.nearest(x, run)?.into_iter().map(Some).collect())
    }
}

/// Distances to the centres.
impl Transformer for KMeansModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.check_width(x)?;
        let name = if self.n_steps.is_some() { "minibatchkmeans" } else { "kmeans" };
        centres::distances(&self.cluster_centers, name, x, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::context::{Quiet, Recorder};
    use learnt_core::rounds::{InMemory, Source, block_rows};
    use learnt_core::trained::Trained;

    fn blobs(rows: usize, clusters: usize) -> OwnedDataset {
        let noise = |i: usize, j: usize| {
            let z = ((i * 2_654_435_761 + j * 40_503) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (z >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        OwnedDataset::unsupervised(Matrix::from_fn(rows, 3, |i, j| {
            noise(i % clusters + 1_000_000, j) * 40.0 + 3.0 * noise(i, j)
        }))
    }

    fn given(rows: &[&[f64]]) -> KMeans {
        let centers = rows.iter().map(|row| row.to_vec()).collect();
        KMeans { n_clusters: rows.len(), init: Init::Centers(centers), ..Default::default() }
    }

    struct Streamed<'a>(InMemory<'a>);
    impl Source for Streamed<'_> {
        fn outline(&self) -> Outline<'_> {
            self.0.outline()
        }
        fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
            self.0.with(index, f)
        }
    }

    #[test]
    fn streams_and_threads_give_the_same_bits() {
        let data = blobs(2 * block_rows(3) + 777, 7);
        for init in [Init::Greedy, Init::Random] {
            let learner =
                KMeans { n_clusters: 7, init, n_init: Restarts::Count(2), ..Default::default() };
            let run = Context::default().with_seed(3);
            let first = learner.fit_in(&data.view(), &run.with_threads(1)).unwrap();
            for threads in [2, 4] {
                let other = learner.fit_in(&data.view(), &run.with_threads(threads)).unwrap();
                assert_eq!(other.stored(), first.stored());
            }
            let source = Streamed(InMemory::new(data.view()));
            let streamed = Trained::fit_source(&learner, &source, &[], &run).unwrap();
            let in_memory = KMeansModel { labels: Vec::new(), ..first };
            assert_eq!(streamed.model.stored(), in_memory.stored());
        }
    }

    #[test]
    fn labels_are_the_prediction_and_the_nearest_centre() {
        let data = blobs(500, 5);
        let model = KMeans { n_clusters: 5, ..Default::default() }.fit(&data.view()).unwrap();
        assert_eq!(model.assign_in(&data.x.frame(), &Context::default()).unwrap(), model.labels());
        let distances = model.transform(&data.x.frame()).unwrap();
        let mut inertia = 0.0;
        for (row, &label) in distances.values().rows().zip(&model.labels) {
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(row[label as usize], least);
            inertia += least * least;
        }
        assert!((inertia - model.inertia).abs() < 1e-9 * inertia);
    }

    #[test]
    fn weights_equal_repeated_rows() {
        let data = blobs(120, 4);
        let weights: Vec<f64> = (0..120).map(|i| f64::from(1 + i % 3)).collect();
        let repeated: Vec<usize> = (0..120).flat_map(|i| vec![i; 1 + i % 3]).collect();
        let learner = KMeans { n_clusters: 4, ..Default::default() };
        let a = learner.fit(&data.view().with_weights(&weights)).unwrap();
        let b = learner.fit(&data.view().gather(&repeated).view()).unwrap();
        for (x, y) in a.cluster_centers.as_slice().iter().zip(b.cluster_centers.as_slice()) {
            assert!((x - y).abs() < 1e-12 * x.abs().max(1.0));
        }
        assert!((a.inertia - b.inertia).abs() < 1e-9 * a.inertia);
    }

    #[test]
    fn identical_rows_end_at_once_with_a_warning() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(40, 2, |_, _| 0.1));
        for init in [Init::Greedy, Init::Random] {
            let recorder = Recorder::new(&Quiet);
            let run = Context::default().observed_by(&recorder);
            let learner = KMeans { n_clusters: 3, init, ..Default::default() };
            let model = learner.fit_in(&data.view(), &run).unwrap();
            assert_eq!((model.inertia, model.n_iter), (0.0, 1));
            assert!(recorder.warnings()[0].message.contains("only 1 of 3 clusters"));
        }
    }

    #[test]
    fn more_clusters_than_rows_are_refused_with_both_numbers() {
        let error = KMeans::default().fit(&blobs(5, 2).view()).unwrap_err();
        assert!(error.message().contains("n_samples=5 should be >= n_clusters=8"), "{error}");
    }

    #[test]
    fn a_uniform_start_lies_in_the_ranges_and_ends_where_others_do() {
        let data = blobs(400, 4);
        let uniform = KMeans { n_clusters: 4, init: Init::Uniform, ..Default::default() };
        let run = Context::default().with_seed(1);
        let fit = |learner: &KMeans| learner.fit_in(&data.view(), &run).unwrap();
        let best = fit(&KMeans { init: Init::Greedy, ..uniform.clone() });
        assert!((fit(&uniform).inertia - best.inertia).abs() < 1e-9 * best.inertia);
        // One value: the centres of a first step come from points between the ends of the ranges.
        let values = Matrix::column_vector((0..1000).map(f64::from).collect());
        let line = OwnedDataset::unsupervised(values);
        let n_init = Restarts::Count(1);
        let one = KMeans { n_clusters: 2, max_iter: 1, n_init, ..uniform };
        let mut first = Vec::new();
        for seed in 0..200 {
            let run = Context::default().with_seed(seed);
            let model = one.fit_in(&line.view(), &run).unwrap();
            // Means of two halves of the line lie 500 apart; their middle tells that of the points.
            first.push(model.cluster_centers.as_slice().iter().sum::<f64>() - 499.5);
        }
        assert!(first.iter().all(|middle| (0.0..=999.0).contains(middle)));
        let mean = first.iter().sum::<f64>() / 200.0;
        assert!((mean - 499.5).abs() < 60.0, "{mean}");
        let equal = OwnedDataset::unsupervised(Matrix::from_fn(9, 2, |_, _| 3.0));
        let model = KMeans { n_clusters: 2, ..one }.fit(&equal.view()).unwrap();
        assert_eq!(model.inertia, 0.0);
    }

    #[test]
    fn an_empty_cluster_takes_the_farthest_row() {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![0.0, 1.0, 2.0, 50.0]));
        let one = KMeans { max_iter: 1, ..given(&[&[1.0], &[1e6]]) };
        let model = one.fit(&data.view()).unwrap();
        assert_eq!(model.cluster_centers.as_slice(), [1.0, 50.0]);
        let model = given(&[&[0.0], &[1e6], &[-1e6]]).fit(&data.view()).unwrap();
        assert!(model.weights.iter().all(|w| *w > 0.0), "{:?}", model.weights);
    }

    #[test]
    fn a_tie_goes_to_the_lowest_cluster() {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![0.0, 1.0, 2.0]));
        let model = KMeans { max_iter: 1, ..given(&[&[0.0], &[2.0]]) }.fit(&data.view()).unwrap();
        assert_eq!(model.cluster_centers.as_slice(), [0.5, 2.0]);
    }

    #[test]
    fn digits_survive_an_origin_far_away() {
        let far = Matrix::from_fn(300, 2, |i, j| {
            1e8 + f64::from(u8::from(i % 3 == j)) * 4.0 + (i % 7) as f64 / 8.0
        });
        let data = OwnedDataset::unsupervised(far);
        let model = KMeans { n_clusters: 3, ..Default::default() }.fit(&data.view()).unwrap();
        let mut found: Vec<u32> = model.labels[..3].to_vec();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2]);
        assert!((0..300).all(|i| model.labels[i] == model.labels[i % 3]));
    }
}
