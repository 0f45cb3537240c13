//! Gaussian density: the multivariate normal distribution of greatest likelihood.
//!
//! p(x) = exp(-½ (x - μ)ᵀ Σ⁻¹ (x - μ)) / √((2π)ᵖ det Σ), with the weighted mean μ and covariance Σ of
//! the rows (divisor n, or n - 1 with `ddof` 1), plus `reg_covar` on the diagonal. One pass. Rows are
//! drawn as μ + L z, z standard normal and Σ = L Lᵀ.

use super::gaussian::{CovarianceType, Gaussian, log_densities, validate};
use learnt_core::linalg::Scatter;
use learnt_core::prelude::*;
use learnt_core::stats::sample::standard_normal;

/// The normal distribution that fits the rows best.
///
/// ```
/// use learnt::{density::GaussianDensity, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![-2.0, 2.0]));
/// let model = GaussianDensity { reg_covar: 0.0, ..Default::default() }.fit(&data.view())?;
/// let at_zero = Table::unnamed(Matrix::column_vector(vec![0.0]));
/// let density = model.log_density_in(&at_zero.frame(), &Context::default())?[0].exp();
/// assert!((density - 0.1994711402).abs() < 1e-10);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GaussianDensity {
    /// Form of the covariance.
    #[param(default = CovarianceType::Full)]
    pub covariance_type: CovarianceType,
    /// Added to every variance, so that the covariance has an inverse.
    #[param(default = 1e-6, range = 0.0..)]
    pub reg_covar: f64,
    /// Subtracted from the number of rows in the divisor: 0 for maximum likelihood, 1 for an unbiased
    /// covariance.
    #[param(default = 0, range = 0..=1)]
    pub ddof: usize,
}

/// A fitted [`GaussianDensity`].
#[derive(Model, Clone, Debug)]
#[model(density, validate = validate)]
pub struct GaussianDensityModel {
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Covariances (n_features × n_features).
    pub covariance: Matrix,
    pub(super) lower: Matrix,
}

impl Estimator for GaussianDensity {
    type Model = GaussianDensityModel;
    type Fit = rounds::Pass<Scatter>;
    const ABOUT: &'static About = &About::density("density.GaussianDensity")
        .alias(&["multivariate-gaussian", "multivariate-normal"])
        .weights()
        .threads()
        .streaming()
        .complexity(10)
        .cost("n p² time in one pass, p² memory")
        .reference("Anderson (2003), An Introduction to Multivariate Statistical Analysis, ch. 3");
}

impl OnePass<Scatter> for GaussianDensity {
    fn finish(&self, all: Scatter, _outline: &Outline) -> Result<GaussianDensityModel> {
        let ddof = self.ddof as f64;
        let Gaussian { mean, covariance, lower } =
            Gaussian::estimate(all, self.covariance_type, ddof, self.reg_covar)?;
        Ok(GaussianDensityModel { mean, covariance, lower })
    }
}

impl GaussianDensityModel {
    fn validate(&self) -> Result<()> {
        validate(&self.mean, &self.covariance, &self.lower)
    }
}

impl Density for GaussianDensityModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        log_densities(&self.mean, &self.lower, x, run)
    }

    fn sample(&self, rows: usize, run: &Context) -> Result<Matrix> {
        const STREAM: u64 = 0x6761_7573;
        let width = self.mean.len();
        run.claim_table(rows, width, "the drawn rows")?;
        let mut out = Matrix::zeros(rows, width);
        run.par_fill(out.as_mut_slice(), 256 * width, |start, piece| {
            for (i, row) in piece.chunks_exact_mut(width).enumerate() {
                let mut rng = run.row_rng(STREAM, (start / width + i) as u64);
                let z: Vec<f64> = (0..width).map(|_| standard_normal(&mut rng)).collect();
                for (j, value) in row.iter_mut().enumerate() {
                    let along: f64 =
                        self.lower.row(j)[..=j].iter().zip(&z).map(|(l, z)| l * z).sum();
                    *value = self.mean[j] + along;
                }
            }
        });
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> OwnedDataset {
        let x = Matrix::from_fn(60, 2, |i, j| {
            let t = i as f64 * 0.7;
            if j == 0 { t.sin() * 3.0 } else { t.sin() + (1.3 * t).cos() }
        });
        OwnedDataset::unsupervised(x)
    }

    #[test]
    fn the_density_of_two_columns_by_hand() {
        // Mean (170, 70) and covariance [[100, 50], [50, 225]] of four rows.
        let (a, b) = (100.0_f64.sqrt(), 50.0 / 100.0_f64.sqrt());
        let c = (225.0 - b * b).sqrt();
        let signs = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let x: Vec<[f64; 2]> =
            signs.iter().map(|(u, v)| [170.0 + a * u, 70.0 + b * u + c * v]).collect();
        let data = OwnedDataset::unsupervised(Matrix::from_rows(&x).unwrap());
        let learner = GaussianDensity { reg_covar: 0.0, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let middle = Table::unnamed(Matrix::from_rows(&[[170.0, 70.0]]).unwrap());
        let density = model.log_density_in(&middle.frame(), &Context::default()).unwrap()[0].exp();
        assert!((density - 0.001_125_395_40).abs() < 1e-11, "{density}");
    }

    #[test]
    fn independent_columns_have_the_product_of_their_densities() {
        let data = rows();
        let learner =
            GaussianDensity { covariance_type: CovarianceType::Diag, ..Default::default() };
        let run = Context::default();
        let both = learner.fit(&data.view()).unwrap();
        let both = both.log_density_in(&data.x.frame(), &run).unwrap();
        let single = |j: usize| {
            let table = data.x.frame().select(&[j]);
            let data = Dataset::new(table.frame());
            learner.fit(&data).unwrap().log_density_in(&table.frame(), &run).unwrap()
        };
        let (first, second) = (single(0), single(1));
        for i in 0..both.len() {
            assert!((both[i] - first[i] - second[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn drawn_rows_have_the_moments_of_the_model() {
        let model = GaussianDensity::default().fit(&rows().view()).unwrap();
        let drawn = model.sample(40_000, &Context::default().with_seed(3)).unwrap();
        let again =
            GaussianDensity::default().fit(&OwnedDataset::unsupervised(drawn).view()).unwrap();
        for (a, b) in model.covariance.as_slice().iter().zip(again.covariance.as_slice()) {
            assert!((a - b).abs() < 0.05 * model.covariance[(0, 0)], "{a} {b}");
        }
        for (a, b) in model.mean.iter().zip(&again.mean) {
            assert!((a - b).abs() < 0.05, "{a} {b}");
        }
    }

    #[test]
    fn dependent_columns_without_a_ridge_are_an_error_that_says_what_to_do() {
        let x = Matrix::from_fn(20, 2, |i, j| i as f64 * (j + 1) as f64);
        let learner = GaussianDensity { reg_covar: 0.0, ..Default::default() };
        let error = learner.fit(&OwnedDataset::unsupervised(x).view()).unwrap_err();
        assert_eq!(error.code(), Code::Numeric);
        assert!(error.to_string().contains("reg_covar"), "{error}");
    }
}
