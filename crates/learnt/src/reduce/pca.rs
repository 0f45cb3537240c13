//! Principal components: orthonormal directions v, each with the largest variance of v·(x - mean)
//! that those before it leave.
//!
//! One pass. `covariance_eigh` sums products about the mean and takes eigenvectors; `full` merges
//! QR triangles and takes singular vectors, which keeps directions of tiny variance exact. Variances
//! are divided by n - 1. In each component the largest loading by size, the first of equals, is
//! positive. The number of components may follow from a share of variance, or from Minka's
//! approximate likelihood.
//!
//! K. Pearson (1901); T. Minka (2000), "Automatic choice of dimensionality for PCA".

use crate::charts::components::scree;
use learnt_core::linalg::{self, Projection, Scatter, Triangle};
use learnt_core::prelude::*;
use learnt_core::stats::special::ln_gamma;

/// Principal component analysis (PCA): uncorrelated components, the largest variance first.
///
/// scikit-learn's solver `arpack` and the settings of its iterations (`tol`, `iterated_power`,
/// `n_oversamples`, `power_iteration_normalizer`) do not exist: every solver here is exact. Weights
/// count as copies of rows.
///
/// ```
/// use learnt::{prelude::*, reduce::PCA};
/// let x = Matrix::from_rows(&[[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])?;
/// let model = PCA::default().fit(&OwnedDataset::unsupervised(x).view())?;
/// assert!((model.explained_variance_ratio[0] - 0.8).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct PCA {
    /// Number of components to keep.
    #[param(positional, default = Components::All)]
    pub n_components: Components,
    /// Divide the components by their standard deviations.
    #[param(default = false)]
    pub whiten: bool,
    /// The algorithm: eigendecomposition or singular values (SVD).
    #[param(default = PcaSolver::Auto)]
    pub svd_solver: PcaSolver,
}

/// Number of components to keep.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Components {
    /// All: the lesser of the numbers of rows and columns.
    #[choice(none)]
    All,
    /// The number of largest approximate likelihood.
    Mle,
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
    /// As few as explain more than this share of the variance.
    #[choice(above = 0.0, below = 1.0)]
    Share(f64),
}

/// The algorithm: eigendecomposition or singular values (SVD).
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum PcaSolver {
    /// `covariance_eigh` for up to 1000 columns and ten times as many rows, else `full`.
    Auto,
    /// Singular vectors of the centred table.
    Full,
    /// Eigenvectors of the covariance: faster, with half the digits for small variances.
    CovarianceEigh,
    /// The same as `auto`, which is exact and no slower.
    Randomized,
}

/// A fitted [`PCA`].
#[derive(Model, Clone, Debug)]
#[model(transformer, report = table)]
pub struct PCAModel {
    /// Directions in rows (n_components × n_features).
    #[shape(kept, columns)]
    #[finite]
    pub components: Matrix,
    /// Variance along each component, divisor n - 1.
    #[shape(kept)]
    #[nonnegative]
    pub explained_variance: Vec<f64>,
    /// Share of the total variance.
    #[shape(kept)]
    #[nonnegative]
    pub explained_variance_ratio: Vec<f64>,
    /// Singular values of the centred table.
    #[shape(kept)]
    #[nonnegative]
    pub singular_values: Vec<f64>,
    /// Mean of each column.
    #[shape(columns)]
    #[finite]
    pub mean: Vec<f64>,
    /// Number of components.
    #[shape(kept)]
    pub n_components: usize,
    /// Number of training rows.
    pub n_samples: u64,
    /// Mean variance of the components left out.
    pub noise_variance: f64,
    whiten: bool,
    #[shape(columns)]
    schema: Schema,
}

impl Estimator for PCA {
    type Model = PCAModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::transformer("decomposition.PCA")
        .volumes()
        .alias(&["pca"])
        .weights()
        .inverse_transform()
        .streaming()
        .threads()
        .complexity(15)
        .cost("n p² + p³ time, p² memory")
        .reference("Pearson (1901)")
        .exempt(&[
            ("weights_scale", "variances divide by the weight less one"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "with fewer rows than columns there are as many components as rows, repeated or not",
            ),
        ]);
}

/// What every block must know.
#[derive(Stored, Clone, Debug)]
pub struct PCAState {
    covariance: bool,
    schema: Schema,
}

/// Second moments of rows.
#[derive(Stored, Clone, Debug, Merge)]
pub enum PCASummary {
    /// As sums of products.
    Scatter(Scatter),
    /// As a triangle.
    Triangle(Triangle),
}

impl Rounds for PCA {
    type State = PCAState;
    type Summary = PCASummary;
    type Output = PCAModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<PCAState> {
        let (rows, width) = (outline.rows, outline.schema.len() as u64);
        if rows < 2 {
            let message = format!("{rows} row has no variance: n_samples=1, and 2 are needed");
            return Err(Error::new(Code::TooFew, message));
        }
        if let Components::Count(count) = self.n_components
            && count as u64 > rows.min(width)
        {
            let most = rows.min(width);
            let expected = format!("at most {most}, the lesser of {rows} rows and {width} columns");
            return Err(Error::parameter("n_components", expected, count));
        }
        if self.n_components == Components::Mle && rows < width {
            let got = format!("{rows} rows and {width} columns");
            return Err(Error::parameter("n_components", "other than 'mle' for a wide table", got));
        }
        let covariance = match self.svd_solver {
            PcaSolver::CovarianceEigh => true,
            PcaSolver::Full => false,
            PcaSolver::Auto | PcaSolver::Randomized => width <= 1000 && rows >= 10 * width,
        };
        let side = if covariance { width } else { width.min(rows) };
        let what = format!("principal components of {width} columns");
        run.claim(side.saturating_mul(width).saturating_mul(32), &what)?;
        Ok(PCAState { covariance, schema: outline.schema.clone() })
    }

    fn summarize(
        &self,
        state: &PCAState,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<PCASummary> {
        Ok(match state.covariance {
            true => PCASummary::Scatter(Scatter::of(&block.data)),
            false => PCASummary::Triangle(Triangle::of(&block.data)),
        })
    }

    fn advance(
        &self,
        state: PCAState,
        all: PCASummary,
        _run: &Context,
    ) -> Result<Step<PCAState, PCAModel>> {
        let axes = match all {
            PCASummary::Scatter(all) => Axes::of_scatter(all, &state.schema)?,
            PCASummary::Triangle(all) => Axes::of_triangle(all, &state.schema)?,
        };
        Ok(Step::Done(self.keep(axes, state.schema)))
    }
}

/// All axes, the largest variance first.
struct Axes {
    rows: u64,
    divisor: f64,
    mean: Vec<f64>,
    variances: Vec<f64>,
    /// Directions in columns.
    vectors: Matrix,
}

impl Axes {
    fn of_scatter(all: Scatter, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.scatter, schema)?;
        let divisor = divisor(all.weight)?;
        let eigen = linalg::eigh(&all.scatter)?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = eigen.values[..count].iter().map(|v| v.max(0.0) / divisor).collect();
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors: eigen.vectors })
    }

    fn of_triangle(all: Triangle, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.factor, schema)?;
        let divisor = divisor(all.weight)?;
        let svd = linalg::svd(all.factor.view())?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = svd.s.iter().take(count).map(|s| s * (s / divisor)).collect();
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors: svd.v })
    }
}

fn divisor(weight: f64) -> Result<f64> {
    match weight > 1.0 {
        true => Ok(weight - 1.0),
        false => Err(Error::new(
            Code::TooFew,
            format!("the weights sum to {weight}, and variances are divided by that sum less 1"),
        )
        .hint("scale the weights so that they count rows")),
    }
}

fn check_finite(mean: &[f64], moments: &Matrix, schema: &Schema) -> Result<()> {
    let finite =
        |j: usize| mean[j].is_finite() && (0..moments.nrows()).all(|i| moments[(i, j)].is_finite());
    match (0..mean.len()).find(|&j| !finite(j)) {
        None => Ok(()),
        Some(j) => {
            let name = learnt_core::error::plain(&schema.column(j).name);
            let message = format!("column '{name}' overflows: its values are too large to square");
            Err(Error::numeric(message).column(name).hint("divide it by a large constant first"))
        }
    }
}

impl PCA {
    fn keep(&self, axes: Axes, schema: Schema) -> PCAModel {
        let Axes { rows, divisor, mean, variances, vectors } = axes;
        let total: f64 = variances.iter().sum();
        let share = |v: &f64| if total > 0.0 { v / total } else { 0.0 };
        let ratios: Vec<f64> = variances.iter().map(share).collect();
        let kept = match self.n_components {
            Components::All => variances.len(),
            Components::Count(count) => count.min(variances.len()),
            Components::Share(wanted) => enough(&ratios, wanted),
            Components::Mle => likeliest_rank(&variances, divisor + 1.0),
        };
        let mut components = Matrix::from_fn(kept, mean.len(), |k, j| vectors[(j, k)]);
        (0..kept).for_each(|k| make_largest_positive(components.row_mut(k)));
        let left = &variances[kept..];
        let noise_variance = match left.len() {
            0 => 0.0,
            count => left.iter().sum::<f64>() / count as f64,
        };
        PCAModel {
            components,
            singular_values: variances[..kept].iter().map(|v| (v * divisor).sqrt()).collect(),
            explained_variance: variances[..kept].to_vec(),
            explained_variance_ratio: ratios[..kept].to_vec(),
            mean,
            n_components: kept,
            n_samples: rows,
            noise_variance,
            whiten: self.whiten,
            schema,
        }
    }
}

/// The least number of components whose shares sum to more than the wanted one.
fn enough(ratios: &[f64], wanted: f64) -> usize {
    let mut sum = 0.0;
    let short = ratios.iter().take_while(|&&ratio| {
        sum += ratio;
        sum <= wanted
    });
    (short.count() + 1).min(ratios.len())
}

fn make_largest_positive(row: &mut [f64]) {
    let largest = row.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
    if largest < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

/// The rank of largest evidence, the lowest of equals.
fn likeliest_rank(variances: &[f64], n: f64) -> usize {
    let mut best = (1, f64::NEG_INFINITY);
    for rank in 1..variances.len() {
        let evidence = ln_evidence(variances, rank, n);
        if evidence > best.1 {
            best = (rank, evidence);
        }
    }
    best.0
}

/// Minka's Laplace approximation of ln p(data | rank): uniform directions, then variances kept,
/// variance left, and the curvature at the best rotation.
fn ln_evidence(variances: &[f64], rank: usize, n: f64) -> f64 {
    const TINY: f64 = 1e-15;
    let p = variances.len();
    if variances[rank - 1] < TINY {
        return f64::NEG_INFINITY;
    }
    let (kept, left) = variances.split_at(rank);
    let noise = (left.iter().sum::<f64>() / left.len() as f64).max(TINY);
    let half = |i: usize| (p - i) as f64 / 2.0;
    let directions: f64 =
        (0..rank).map(|i| ln_gamma(half(i)) - half(i) * std::f64::consts::PI.ln()).sum::<f64>()
            - rank as f64 * std::f64::consts::LN_2;
    let of_kept = -0.5 * n * kept.iter().map(|v| v.ln()).sum::<f64>();
    let of_left = -0.5 * n * left.len() as f64 * noise.ln();
    let free = (p * rank - rank * (rank + 1) / 2 + rank) as f64;
    let mut curvature = 0.0;
    for i in 0..rank {
        for j in i + 1..p {
            let modelled = if j < rank { variances[j] } else { noise };
            let gap = (variances[i] - variances[j]) * (1.0 / modelled - 1.0 / variances[i]);
            curvature += gap.ln() + n.ln();
        }
    }
    directions + of_kept + of_left + 0.5 * free * std::f64::consts::TAU.ln()
        - 0.5 * curvature
        - 0.5 * rank as f64 * n.ln()
}

impl PCAModel {
    /// Divisor of each component: its standard deviation if whitened.
    fn scales(&self) -> Vec<f64> {
        let scale = |v: &f64| if self.whiten { v.sqrt().max(f64::EPSILON) } else { 1.0 };
        self.explained_variance.iter().map(scale).collect()
    }

    fn table(&self, _: &Names) -> Answer {
        let head = ["component", "variance", "share", "cumulative share"];
        let mut shares = Columns::new("Variance", &head);
        let mut sum = 0.0;
        for (k, ratio) in self.explained_variance_ratio.iter().enumerate() {
            sum += ratio;
            shares.push(vec![
                Cell::Text(format!("pca{k}")),
                Cell::Number(self.explained_variance[k]),
                Cell::Number(*ratio),
                Cell::Number(sum),
            ]);
        }
        let mut report = Answer::new("Principal components");
        report.tables = vec![shares, self.loadings()];
        report.push("noise variance", self.noise_variance);
        let names: Vec<String> = (0..self.n_components).map(|k| format!("pca{k}")).collect();
        report.charts.push(scree(&names, &self.explained_variance_ratio));
        report
    }

    /// The first components, column by column.
    fn loadings(&self) -> Columns {
        let shown = self.n_components.min(6);
        let names: Vec<String> = (0..shown).map(|k| format!("pca{k}")).collect();
        let head: Vec<&str> =
            ["column"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let mut table = Columns::new("Loadings", &head);
        for (j, name) in self.schema.names().enumerate() {
            let numbers = (0..shown).map(|k| Cell::Number(self.components[(k, j)]));
            table.push([Cell::Text(name.to_string())].into_iter().chain(numbers).collect());
        }
        table
    }
}

fn check_width(x: &Frame, width: usize, of: &str) -> Result<()> {
    match x.ncols() == width {
        true => Ok(()),
        false => {
            let got = format!("{} columns", x.ncols());
            Err(Error::shape("x", format!("{width} columns as {of}"), got))
        }
    }
}

/// Products of rows with directions, changed by `f(value, direction)`.
fn project(
    x: &Frame,
    directions: &Matrix,
    origin: &[f64],
    run: &Context,
    f: impl Fn(f64, usize) -> f64 + Sync,
) -> Matrix {
    let width = directions.nrows();
    let projection = Projection::new(directions, origin);
    let mut out = Matrix::zeros(x.nrows(), width);
    let rows = 16 * (1 + 8192 / width.max(1));
    run.par_fill(out.as_mut_slice(), rows * width, |start, piece| {
        let first = start / width;
        projection.of(x.values().rows(first, first + piece.len() / width), piece);
        for row in piece.chunks_exact_mut(width) {
            for (k, value) in row.iter_mut().enumerate() {
                *value = f(*value, k);
            }
        }
    });
    out
}

impl Transformer for PCAModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.mean.len(), "in training")?;
        let scales = self.scales();
        let values = project(x, &self.components, &self.mean, run, |v, k| v / scales[k]);
        Table::new(values, Schema::numeric((0..scales.len()).map(|k| format!("pca{k}")))?)
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.n_components, "there are components")?;
        let scales = self.scales();
        let directions = Matrix::from_fn(self.mean.len(), self.n_components, |j, k| {
            self.components[(k, j)] * scales[k]
        });
        let origin = vec![0.0; self.n_components];
        let values = project(x, &directions, &origin, run, |v, j| v + self.mean[j]);
        Table::new(values, self.schema.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::rounds::{InMemory, Source, block_rows};
    use learnt_core::trained::Trained;

    fn sample(n: usize, d: usize) -> OwnedDataset {
        let noise = |i: usize, j: usize| {
            let z = ((i * 7_919 + j * 104_729 + 13) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (z >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        OwnedDataset::unsupervised(Matrix::from_fn(n, d, |i, j| {
            100.0 + noise(i, 99) * (j + 1) as f64 + noise(i, j) / (1 + j) as f64
        }))
    }

    fn with(svd_solver: PcaSolver) -> PCA {
        PCA { svd_solver, ..Default::default() }
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
        let data = sample(2 * block_rows(5) + 777, 5);
        for solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
            let run = Context::default();
            let first = with(solver).fit_in(&data.view(), &run.with_threads(1)).unwrap();
            for threads in [2, 4] {
                let other = with(solver).fit_in(&data.view(), &run.with_threads(threads)).unwrap();
                assert_eq!(other.stored(), first.stored());
            }
            let source = Streamed(InMemory::new(data.view()));
            let streamed = Trained::fit_source(&with(solver), &source, &[], &run).unwrap();
            assert_eq!(streamed.model.stored(), first.stored());
        }
    }

    #[test]
    fn solvers_agree_on_tall_and_wide_tables() {
        for (n, d) in [(200, 6), (7, 20), (2, 3), (20, 20)] {
            let data = sample(n, d);
            let full = with(PcaSolver::Full).fit(&data.view()).unwrap();
            let eigh = with(PcaSolver::CovarianceEigh).fit(&data.view()).unwrap();
            assert_eq!(full.n_components, n.min(d));
            for k in 0..n.min(d) {
                let (a, b) = (full.explained_variance[k], eigh.explained_variance[k]);
                assert!((a - b).abs() < 1e-10 * full.explained_variance[0], "{n} x {d}: {a} {b}");
            }
            let gap: f64 = (0..d).map(|j| full.components[(0, j)] - eigh.components[(0, j)]).sum();
            assert!(gap.abs() < 1e-8);
        }
    }

    #[test]
    fn scores_are_uncorrelated_white_if_asked_and_lead_back() {
        let data = sample(300, 4);
        for whiten in [false, true] {
            let model = PCA { whiten, ..Default::default() }.fit(&data.view()).unwrap();
            let scores = model.transform(&data.x.frame()).unwrap();
            let again = Scatter::of(&Dataset::new(scores.frame()));
            for i in 0..4 {
                for j in 0..4 {
                    let expected = match (i == j, whiten) {
                        (false, _) => 0.0,
                        (true, true) => 1.0,
                        (true, false) => model.explained_variance[i],
                    };
                    assert!((again.scatter[(i, j)] / 299.0 - expected).abs() < 1e-10);
                }
            }
            let back = model.inverse_transform_in(&scores.frame(), &Context::default()).unwrap();
            for (a, b) in back.values().as_slice().iter().zip(data.x.values().as_slice()) {
                assert!((a - b).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_share_keeps_just_enough_components() {
        assert_eq!(enough(&[0.6, 0.3, 0.1], 0.5), 1);
        assert_eq!(enough(&[0.6, 0.3, 0.1], 0.6), 2);
        assert_eq!(enough(&[0.6, 0.3, 0.1], 0.95), 3);
        let data = sample(100, 5);
        let learner = PCA { n_components: Components::Share(0.99), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let sum: f64 = model.explained_variance_ratio.iter().sum();
        assert!(sum > 0.99 && sum - model.explained_variance_ratio[model.n_components - 1] <= 0.99);
    }

    #[test]
    fn weights_equal_repeated_rows() {
        let data = sample(90, 4);
        let weights: Vec<f64> = (0..90).map(|i| f64::from(1 + i % 3)).collect();
        let repeated: Vec<usize> = (0..90).flat_map(|i| vec![i; 1 + i % 3]).collect();
        for solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
            let a = with(solver).fit(&data.view().with_weights(&weights)).unwrap();
            let b = with(solver).fit(&data.view().gather(&repeated).view()).unwrap();
            for (x, y) in a.components.as_slice().iter().zip(b.components.as_slice()) {
                assert!((x - y).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_constant_table_has_no_variance_and_no_missing_numbers() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(50, 3, |_, _| 0.1));
        for solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
            let model = with(solver).fit(&data.view()).unwrap();
            assert_eq!(model.explained_variance, [0.0; 3]);
            assert_eq!(model.explained_variance_ratio, [0.0; 3]);
        }
    }

    #[test]
    fn the_triangle_keeps_variances_that_the_covariance_loses() {
        let x = Matrix::from_fn(400, 2, |i, j| {
            let along = f64::from(i as i32 % 20 - 10);
            if j == 0 { along } else { along + 1e-9 * f64::from(i as i32 / 20 % 2) }
        });
        let data = OwnedDataset::unsupervised(x);
        let model = with(PcaSolver::Full).fit(&data.view()).unwrap();
        let expected = 1e-18 / 4.0 / 2.0 * 400.0 / 399.0;
        assert!((model.explained_variance[1] / expected - 1.0).abs() < 1e-3);
    }

    #[test]
    fn too_many_components_are_refused_with_the_numbers() {
        let learner = PCA { n_components: Components::Count(5), ..Default::default() };
        let error = learner.fit(&sample(4, 9).view()).unwrap_err();
        assert!(error.message().contains("at most 4"), "{error}");
    }
}
