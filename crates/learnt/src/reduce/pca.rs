//! Principal components: orthonormal directions v, each with the largest variance of v·(x - mean)
//! that those before it leave.
//!
//! `covariance_eigh` sums products about the mean in one pass and takes eigenvectors; `full` merges
//! QR triangles and takes singular vectors, which keeps directions of tiny variance exact.
//! `randomized` and `arpack` build a Krylov space, one pass a step: six passes, or until the residuals
//! are 1e-9 of the largest variance. `auto` takes the cheapest for the shape (`pca_route`). Variances
//! are divided by n - 1. In each component the largest loading by size, the first of equals, is
//! positive. The number of components may follow from a share of variance, or from Minka's
//! approximate likelihood.
//!
//! K. Pearson (1901); T. Minka (2000), "Automatic choice of dimensionality for PCA".

use super::krylov::{Found, Krylov, Product};
use super::minka::likeliest_rank;
use super::pca_route::Route;
use crate::charts::components::scree;
use learnt_core::linalg::{self, Projection, Scatter, Triangle};
use learnt_core::prelude::*;

/// Principal component analysis (PCA): uncorrelated components, the largest variance first.
///
/// The settings of scikit-learn's iterations (`tol`, `iterated_power`, `n_oversamples`,
/// `power_iteration_normalizer`, `random_state`) do not exist: `randomized` and `arpack` start from
/// fixed directions and say by themselves when they are done. Weights count as copies of rows.
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
    /// The cheapest: `randomized` for few of many components, `covariance_eigh` with ten rows a
    /// column, else `full`.
    Auto,
    /// Singular vectors of the centred table.
    Full,
    /// Eigenvectors of the covariance: faster, with half the digits for small variances.
    CovarianceEigh,
    /// A Krylov space of six passes: exact for the components that stand out.
    Randomized,
    /// The same until it has converged; fewer components than rows and columns.
    Arpack,
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
    krylov: Option<Krylov>,
    schema: Schema,
}

/// Second moments of rows.
#[derive(Stored, Clone, Debug, Merge)]
pub enum PCASummary {
    /// As sums of products.
    Scatter(Scatter),
    /// As a triangle.
    Triangle(Triangle),
    /// As products with a few directions.
    Product(Product),
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
        let route = self.route(rows, width)?;
        let side = match route {
            Route::Covariance => width,
            Route::Triangle => width.min(rows),
            Route::Krylov { wanted, .. } => 10 * (wanted as u64 + 10),
        };
        let what = format!("principal components of {width} columns");
        run.claim(side.saturating_mul(width).saturating_mul(32), &what)?;
        let krylov = match route {
            Route::Krylov { wanted, tol, passes } => {
                Some(Krylov::new(wanted, rows, outline.schema.len(), tol, passes))
            }
            Route::Covariance | Route::Triangle => None,
        };
        let covariance = route == Route::Covariance;
        Ok(PCAState { covariance, krylov, schema: outline.schema.clone() })
    }

    fn summarize(
        &self,
        state: &PCAState,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<PCASummary> {
        Ok(match (&state.krylov, state.covariance) {
            (Some(krylov), _) => {
                let mean = krylov.mean.as_deref();
                PCASummary::Product(Product::of(&block.data, &krylov.next, mean))
            }
            (None, true) => PCASummary::Scatter(Scatter::of(&block.data)),
            (None, false) => PCASummary::Triangle(Triangle::of(&block.data)),
        })
    }

    fn advance(
        &self,
        mut state: PCAState,
        all: PCASummary,
        run: &Context,
    ) -> Result<Step<PCAState, PCAModel>> {
        let axes = match all {
            PCASummary::Scatter(all) => Axes::of_scatter(all, &state.schema)?,
            PCASummary::Triangle(all) => Axes::of_triangle(all, &state.schema)?,
            PCASummary::Product(all) => {
                let krylov = state.krylov.as_mut().ok_or_else(|| Error::internal("no space"))?;
                check_finite(&all.mean, &all.product.transposed(), &state.schema)?;
                match krylov.tell(&all)? {
                    None => return Ok(Step::Again(state)),
                    Some(found) => Axes::of_space(all, found, self.svd_solver, run)?,
                }
            }
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
    /// Variance of all directions, and how many there are, where not all were found.
    whole: Option<(f64, usize)>,
}

impl Axes {
    fn of_scatter(all: Scatter, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.scatter, schema)?;
        let divisor = divisor(all.weight)?;
        let eigen = linalg::eigh(&all.scatter)?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = eigen.values[..count].iter().map(|v| v.max(0.0) / divisor).collect();
        let vectors = eigen.vectors;
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors, whole: None })
    }

    fn of_triangle(all: Triangle, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.factor, schema)?;
        let divisor = divisor(all.weight)?;
        let svd = linalg::svd(all.factor.view())?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = svd.s.iter().take(count).map(|s| s * (s / divisor)).collect();
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors: svd.v, whole: None })
    }

    fn of_space(all: Product, found: Found, solver: PcaSolver, run: &Context) -> Result<Axes> {
        let divisor = divisor(all.weight)?;
        if solver == PcaSolver::Arpack && !found.converged {
            let message = "the principal components did not converge; use svd_solver='full'";
            run.warn(Code::NotConverged, message.to_string());
        }
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        Ok(Axes {
            rows: all.rows,
            divisor,
            mean: all.mean,
            variances: found.values.iter().map(|v| v / divisor).collect(),
            vectors: found.vectors,
            whole: Some((all.squares / divisor, count)),
        })
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
        let Axes { rows, divisor, mean, variances, vectors, whole } = axes;
        let found: f64 = variances.iter().sum();
        let (total, count) = whole.unwrap_or((found, variances.len()));
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
        let left = variances[kept..].iter().sum::<f64>() + (total - found).max(0.0);
        let noise_variance = if count > kept { left / (count - kept) as f64 } else { 0.0 };
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

pub(super) fn make_largest_positive(row: &mut [f64]) {
    let largest = row.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
    if largest < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

impl PCAModel {
    /// Divisor of each component: its standard deviation if whitened.
    fn scales(&self) -> Vec<f64> {
        let scale = |v: &f64| if self.whiten { v.sqrt().max(f64::EPSILON) } else { 1.0 };
        self.explained_variance.iter().map(scale).collect()
    }

    fn table(&self, _: &Names) -> Answer {
        let names: Vec<String> = (0..self.n_components).map(|k| format!("pca{k}")).collect();
        let (variances, shares) = (&self.explained_variance, &self.explained_variance_ratio);
        let mut answer = report(&names, variances, shares, &self.components, &self.schema);
        answer.push("noise variance", self.noise_variance);
        answer
    }
}

/// Variances of components, and their loadings.
pub(super) fn report(
    names: &[String],
    variances: &[f64],
    ratios: &[f64],
    components: &Matrix,
    schema: &Schema,
) -> Answer {
    let head = ["component", "variance", "share", "cumulative share"];
    let mut shares = Columns::new("Variance", &head);
    let mut sum = 0.0;
    for (k, ratio) in ratios.iter().enumerate() {
        sum += ratio;
        shares.push(vec![
            Cell::Text(names[k].clone()),
            Cell::Number(variances[k]),
            Cell::Number(*ratio),
            Cell::Number(sum),
        ]);
    }
    let mut report = Answer::new("Principal components");
    report.tables = vec![shares, loadings(names, components, schema)];
    report.charts.push(scree(names, ratios));
    report
}

/// The first components, column by column.
fn loadings(names: &[String], components: &Matrix, schema: &Schema) -> Columns {
    let shown = names.len().min(6);
    let head: Vec<&str> =
        ["column"].into_iter().chain(names[..shown].iter().map(String::as_str)).collect();
    let mut table = Columns::new("Loadings", &head);
    for (j, name) in schema.names().enumerate() {
        let numbers = (0..shown).map(|k| Cell::Number(components[(k, j)]));
        table.push([Cell::Text(name.to_string())].into_iter().chain(numbers).collect());
    }
    table
}

pub(super) fn check_width(x: &Frame, width: usize, of: &str) -> Result<()> {
    match x.ncols() == width {
        true => Ok(()),
        false => {
            let got = format!("{} columns", x.ncols());
            Err(Error::shape("x", format!("{width} columns as {of}"), got))
        }
    }
}

/// Products of rows with directions, changed by `f(value, direction)`.
pub(super) fn project(
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
#[path = "pca_tests.rs"]
mod tests;
