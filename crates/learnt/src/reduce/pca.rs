//! Principal components: orthonormal directions v, each with the largest variance of v·(x - mean)
//! that those before it leave.
//!
//! `covariance_eigh` sums products about the mean in one pass and takes eigenvectors; `full` merges
//! QR triangles and takes singular vectors, which keeps directions of tiny variance exact.
//! `randomized` and `arpack` build a Krylov space, one pass a step: six passes, or until the residuals
//! are 1e-9 of the largest variance. `auto` takes the cheapest for the shape (`pca_route`). Variances
//! are divided by n - `ddof`. In each component the largest loading by size, the first of equals, is
//! positive; `proper_rotation` may turn the last. The number of components may follow from a share of
//! variance, from Minka's approximate likelihood, or from the least variance that counts.
//!
//! K. Pearson (1901); T. Minka (2000), "Automatic choice of dimensionality for PCA".

use super::form::{ComponentForm, Loadings};
use super::krylov::{Found, Krylov, Product};
use super::minka::likeliest_rank;
use super::pca_route::Route;
use learnt_core::linalg::{self, Scatter, Triangle};
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
    /// The form of the components.
    #[param(flatten)]
    pub form: ComponentForm,
    /// The algorithm: eigendecomposition or singular values (SVD).
    #[param(default = PcaSolver::Auto)]
    pub svd_solver: PcaSolver,
    /// Variance (eigenvalue) that a component must exceed to be kept; none keeps all that
    /// `n_components` says.
    #[param(range = 0.0.., below = f64::INFINITY)]
    pub min_variance: Option<f64>,
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
#[model(transformer, report = table, looks)]
pub struct PCAModel {
    /// Directions in rows (n_components × n_features).
    #[shape(kept, columns)]
    #[finite]
    pub components: Matrix,
    /// Variance along each component, divisor n - ddof.
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
            ("weights_scale", "variances divide by the weight less ddof"),
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
    /// Every value goes into the means, which are checked.
    const NOTICES: Notices = Notices::All;

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
            PCASummary::Scatter(all) => Axes::of_scatter(all, &self.form, &state.schema)?,
            PCASummary::Triangle(all) => Axes::of_triangle(all, &self.form, &state.schema)?,
            PCASummary::Product(all) => {
                let krylov = state.krylov.as_mut().ok_or_else(|| Error::internal("no space"))?;
                check_finite(&all.mean, &all.product.transposed(), &state.schema)?;
                match krylov.tell(&all)? {
                    None => return Ok(Step::Again(state)),
                    Some(found) => Axes::of_space(all, found, self, run)?,
                }
            }
        };
        self.keep(axes, state.schema).map(Step::Done)
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
    fn of_scatter(all: Scatter, form: &ComponentForm, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.scatter, schema)?;
        let divisor = form.divisor(all.weight)?;
        let eigen = linalg::eigh(&all.scatter)?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = eigen.values[..count].iter().map(|v| v.max(0.0) / divisor).collect();
        let vectors = eigen.vectors;
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors, whole: None })
    }

    fn of_triangle(all: Triangle, form: &ComponentForm, schema: &Schema) -> Result<Axes> {
        check_finite(&all.mean, &all.factor, schema)?;
        let divisor = form.divisor(all.weight)?;
        let svd = linalg::svd(all.factor.view())?;
        let count = all.mean.len().min(usize::try_from(all.rows).unwrap_or(usize::MAX));
        let variances = svd.s.iter().take(count).map(|s| s * (s / divisor)).collect();
        Ok(Axes { rows: all.rows, divisor, mean: all.mean, variances, vectors: svd.v, whole: None })
    }

    fn of_space(all: Product, found: Found, learner: &PCA, run: &Context) -> Result<Axes> {
        let divisor = learner.form.divisor(all.weight)?;
        if learner.svd_solver == PcaSolver::Arpack && !found.converged {
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
    fn keep(&self, axes: Axes, schema: Schema) -> Result<PCAModel> {
        let Axes { rows, divisor, mean, variances, vectors, whole } = axes;
        let found: f64 = variances.iter().sum();
        let (total, count) = whole.unwrap_or((found, variances.len()));
        let share = |v: &f64| if total > 0.0 { v / total } else { 0.0 };
        let ratios: Vec<f64> = variances.iter().map(share).collect();
        let kept = match self.n_components {
            Components::All => variances.len(),
            Components::Count(count) => count.min(variances.len()),
            Components::Share(wanted) => enough(&ratios, wanted),
            Components::Mle => likeliest_rank(&variances, divisor + self.form.ddof as f64),
        };
        let kept = self.above_least(&variances[..kept])?;
        let components = self.form.components(&vectors, kept);
        let left = variances[kept..].iter().sum::<f64>() + (total - found).max(0.0);
        let noise_variance = if count > kept { left / (count - kept) as f64 } else { 0.0 };
        Ok(PCAModel {
            components,
            singular_values: variances[..kept].iter().map(|v| (v * divisor).sqrt()).collect(),
            explained_variance: variances[..kept].to_vec(),
            explained_variance_ratio: ratios[..kept].to_vec(),
            mean,
            n_components: kept,
            n_samples: rows,
            noise_variance,
            whiten: self.form.whiten,
            schema,
        })
    }

    /// How many variances, the largest first, exceed the least that counts.
    fn above_least(&self, variances: &[f64]) -> Result<usize> {
        let Some(least) = self.min_variance else { return Ok(variances.len()) };
        match variances.iter().take_while(|v| **v > least).count() {
            0 => {
                let largest = variances.first().copied().unwrap_or(0.0);
                let expected = format!("below the largest variance of a component, {largest}");
                Err(Error::parameter("min_variance", expected, least))
            }
            kept => Ok(kept),
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

impl PCAModel {
    fn loadings(&self) -> Loadings<'_> {
        Loadings {
            components: &self.components,
            variances: &self.explained_variance,
            ratios: &self.explained_variance_ratio,
            mean: &self.mean,
            whiten: self.whiten,
            schema: &self.schema,
            prefix: "pca",
        }
    }

    fn table(&self, _: &Names) -> Answer {
        let mut answer = self.loadings().report();
        answer.push("noise variance", self.noise_variance);
        answer
    }
}

impl Transformer for PCAModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.loadings().transform(x, run)
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.loadings().inverse(x, run)
    }
}

#[cfg(test)]
#[path = "pca_tests.rs"]
mod tests;
