//! Random projections: y = x Rᵀ with a random matrix R, which keeps squared distances between n rows
//! within 1 ± eps once there are about 4 ln n / (eps²/2 - eps³/3) of its rows.
//!
//! Gaussian: entries N(0, 1/k). Sparse: ±√(1/(s k)) with probability s/2 each, else 0, s the
//! `density` (1/√p by default; 1 gives random signs). R depends on the seed and the sizes alone.
//!
//! W. Johnson and J. Lindenstrauss (1984); D. Achlioptas (2003), JCSS 66, 671-687; P. Li, T. Hastie and
//! K. Church (2006), KDD, 287-296.

use learnt_core::linalg::Projection;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::sample::{fill_standard_normal, uniform};

/// Number of columns after the projection.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// So many that `eps` holds for all pairs of the rows (Johnson-Lindenstrauss).
    Auto,
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
}

/// Share of entries that are not zero.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ProjectionDensity {
    /// One over the root of the number of columns.
    Auto,
    /// This share.
    #[choice(above = 0.0, range = ..=1.0)]
    Share(f64),
}

/// Gaussian random projection: fewer columns that keep distances, by a matrix of normal numbers.
///
/// ```
/// use learnt::{prelude::*, reduce::{GaussianRandomProjection, ProjectionTarget}};
/// let x = Matrix::from_fn(5, 100, |i, j| (i * j) as f64);
/// let learner =
///     GaussianRandomProjection { n_components: ProjectionTarget::Count(20), ..Default::default() };
/// let data = OwnedDataset::unsupervised(x);
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().ncols(), 20);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GaussianRandomProjection {
    /// Number of columns after the projection.
    #[param(positional, default = Target::Auto)]
    pub n_components: Target,
    /// Largest relative change of a squared distance, for `auto`.
    #[param(default = 0.1, above = 0.0, below = 1.0)]
    pub eps: f64,
}

/// Sparse random projection: fewer columns that keep distances, by a matrix of few signs.
///
/// ```
/// use learnt::{prelude::*, reduce::{ProjectionTarget, SparseRandomProjection}};
/// let x = Matrix::from_fn(5, 100, |i, j| (i * j) as f64);
/// let learner =
///     SparseRandomProjection { n_components: ProjectionTarget::Count(20), ..Default::default() };
/// let data = OwnedDataset::unsupervised(x);
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().ncols(), 20);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct SparseRandomProjection {
    /// Number of columns after the projection.
    #[param(positional, default = Target::Auto)]
    pub n_components: Target,
    /// Share of entries that are not zero.
    #[param(default = ProjectionDensity::Auto)]
    pub density: ProjectionDensity,
    /// Largest relative change of a squared distance, for `auto`.
    #[param(default = 0.1, above = 0.0, below = 1.0)]
    pub eps: f64,
}

/// A fitted random projection.
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate, looks)]
pub struct RandomProjectionModel {
    /// The matrix (n_components × n_features).
    #[shape(kept, columns)]
    #[finite]
    pub components: Matrix,
    /// Share of entries that are not zero, as asked for.
    pub density: f64,
    prefix: String,
}

/// Columns that keep squared distances of n rows within 1 ± eps: 4 ln n / (eps²/2 - eps³/3), rounded
/// down as in scikit-learn.
pub fn least_dimension(n: f64, eps: f64) -> f64 {
    (4.0 * n.ln() / (eps * eps / 2.0 - eps * eps * eps / 3.0)).floor()
}

impl Target {
    fn count(self, data: &Dataset, eps: f64) -> Result<usize> {
        let Target::Count(count) = self else {
            let (n, p) = (data.nrows(), data.x.ncols());
            let wanted = least_dimension(n as f64, eps);
            if wanted <= 0.0 {
                let message =
                    format!("eps={eps} and n_samples={n} lead to a target dimension of {wanted}");
                return Err(Error::new(Code::TooFew, message).hint("set n_components"));
            }
            if wanted > p as f64 {
                let message = format!(
                    "eps={eps} and n_samples={n} lead to a target dimension of {wanted} which is \
                     larger than the original space with n_features={p}"
                );
                return Err(
                    Error::new(Code::TooFew, message).hint("set n_components, or raise eps")
                );
            }
            return Ok(wanted as usize);
        };
        Ok(count)
    }
}

const STREAM: u64 = 0x7270_726f;

/// A matrix whose rows are drawn one by one.
fn drawn(
    rows: usize,
    columns: usize,
    run: &Context,
    draw: impl Fn(&mut learnt_core::context::Rng, &mut [f64]) + Sync,
) -> Result<Matrix> {
    run.claim_table(rows, columns, "the projection")?;
    run.checkpoint()?;
    let mut out = Matrix::zeros(rows, columns);
    run.par_fill(out.as_mut_slice(), columns, |start, row| {
        let mut rng = run.row_rng(STREAM, (start / columns) as u64);
        draw(&mut rng, row);
    });
    Ok(out)
}

impl Estimator for GaussianRandomProjection {
    type Model = RandomProjectionModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("random_projection.GaussianRandomProjection")
        .randomness()
        .threads()
        .complexity(10)
        .cost("k p time to fit, k p a row; k p memory")
        .reference("Johnson and Lindenstrauss (1984)")
        .check_with(&[("n_components", "3")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RandomProjectionModel> {
        let count = self.n_components.count(data, self.eps)?;
        let scale = (count as f64).sqrt().recip();
        let components = drawn(count, data.x.ncols(), run, |rng, row| {
            fill_standard_normal(rng, row);
            row.iter_mut().for_each(|value| *value *= scale);
        })?;
        let prefix = "gaussianrandomprojection".to_string();
        Ok(RandomProjectionModel { components, density: 1.0, prefix })
    }
}

impl Estimator for SparseRandomProjection {
    type Model = RandomProjectionModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("random_projection.SparseRandomProjection")
        .randomness()
        .threads()
        .complexity(10)
        .cost("k p time to fit, k p a row; k p memory")
        .reference("Li, Hastie and Church (2006), KDD, 287-296")
        .check_with(&[("n_components", "3")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RandomProjectionModel> {
        let count = self.n_components.count(data, self.eps)?;
        let density = match self.density {
            ProjectionDensity::Auto => (data.x.ncols() as f64).sqrt().recip(),
            ProjectionDensity::Share(share) => share,
        };
        let size = (density * count as f64).sqrt().recip();
        let entry = |u: f64| match u < density {
            true => size.copysign(density / 2.0 - u),
            false => 0.0,
        };
        let components = drawn(count, data.x.ncols(), run, |rng, row| {
            row.iter_mut().for_each(|value| *value = entry(uniform(rng)));
        })?;
        let prefix = "sparserandomprojection".to_string();
        Ok(RandomProjectionModel { components, density, prefix })
    }
}

impl RandomProjectionModel {
    fn validate(&self) -> Result<()> {
        let good = self.density > 0.0 && self.density <= 1.0 && self.prefix.len() < 100;
        if good { Ok(()) } else { Err(invalid("the density of a projection")) }
    }
}

impl Transformer for RandomProjectionModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let (count, width) = (self.components.nrows(), self.components.ncols());
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.claim_table(x.nrows(), count, "the projected rows")?;
        run.checkpoint()?;
        let schema = Schema::numeric((0..count).map(|k| format!("{}{k}", self.prefix)))?;
        let projection = Projection::new(&self.components, &vec![0.0; width]);
        Table::new(projection.of_rows(x, run, |product, _| product)?, schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::squared_distance;

    #[test]
    fn squared_lengths_are_kept_in_the_mean_over_seeds() {
        let data =
            OwnedDataset::unsupervised(Matrix::from_fn(2, 40, |i, j| ((i + j * 3) as f64).sin()));
        let length = squared_distance(data.x.values().row(0), &[0.0; 40]);
        let n_components = Target::Count(8);
        let gaussian = GaussianRandomProjection { n_components, ..Default::default() };
        let sparse = SparseRandomProjection { n_components, ..Default::default() };
        let signs =
            SparseRandomProjection { density: ProjectionDensity::Share(1.0), ..sparse.clone() };
        let mut sums = [0.0; 3];
        let seeds = 3000;
        for seed in 0..seeds {
            let run = Context::default().with_seed(seed).with_threads(1);
            let models = [
                gaussian.fit_in(&data.view(), &run).unwrap(),
                sparse.fit_in(&data.view(), &run).unwrap(),
                signs.fit_in(&data.view(), &run).unwrap(),
            ];
            for (sum, model) in sums.iter_mut().zip(models) {
                let row = model.transform(&data.x.frame().rows(0, 1)).unwrap();
                *sum += squared_distance(row.values().row(0), &[0.0; 8]);
            }
        }
        for sum in sums {
            let ratio = sum / seeds as f64 / length;
            assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
        }
    }

    #[test]
    fn sixty_points_keep_their_distances_at_the_usual_error() {
        let noise = |i: usize, j: usize| {
            let z = ((i * 7919 + j * 104_729 + 13) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64
        };
        let data = OwnedDataset::unsupervised(Matrix::from_fn(60, 400, noise));
        // Ranges over seeds of the worst pairs, for 50, 200 and 1000 columns.
        for (k, low, high) in [
            (50, (0.34, 0.61), (1.54, 1.98)),
            (200, (0.60, 0.80), (1.17, 1.56)),
            (1000, (0.75, 0.96), (1.0, 1.31)),
        ] {
            let learner =
                GaussianRandomProjection { n_components: Target::Count(k), ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            let after = model.transform(&data.x.frame()).unwrap();
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            for i in 0..60 {
                for j in 0..i {
                    let ratio = squared_distance(after.values().row(i), after.values().row(j))
                        / squared_distance(data.x.values().row(i), data.x.values().row(j));
                    (least, most) = (least.min(ratio), most.max(ratio));
                }
            }
            assert!(least > low.0 && least < low.1, "{k}: {least}");
            assert!(most > high.0 && most < high.1, "{k}: {most}");
        }
    }

    #[test]
    fn too_few_columns_for_the_error_are_named() {
        let data = OwnedDataset::unsupervised(Matrix::zeros(100, 10));
        let error = GaussianRandomProjection::default().fit(&data.view()).unwrap_err();
        assert!(error.to_string().contains("n_features=10"), "{error}");
    }
}
