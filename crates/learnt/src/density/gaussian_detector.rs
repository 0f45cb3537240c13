//! Gaussian detector: rows of low density under one normal distribution are outliers.
//!
//! The score of a row is ln p(x), with mean and covariance of maximum likelihood; the threshold is the
//! quantile of the training rows' scores at `contamination`, averaged where it falls between two (type 2),
//! with weights as repetitions. The estimate is not robust: outliers in training widen it.

use super::gaussian::{CovarianceType, log_densities, validate};
use super::gaussian_density::{GaussianDensity, GaussianDensityModel};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::summary::averaged_quantiles;

/// Takes rows for outliers where the fitted normal distribution is thin.
///
/// ```
/// use learnt::{density::GaussianDetector, prelude::*};
/// let mut values: Vec<f64> = (0..99).map(|i| f64::from(i % 10)).collect();
/// values.push(60.0);
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(values));
/// let model = GaussianDetector { contamination: 0.01, ..Default::default() }.fit(&data.view())?;
/// let scores = model.scores_in(&data.x.frame(), &Context::default())?;
/// let outliers = scores.iter().filter(|score| **score < model.threshold()).count();
/// assert!(outliers == 1 && scores[99] < model.threshold());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GaussianDetector {
    /// Share of the training rows that are taken for outliers.
    #[param(default = 0.1, above = 0.0, range = ..=0.5)]
    pub contamination: f64,
    /// Form of the covariance.
    #[param(default = CovarianceType::Full)]
    pub covariance_type: CovarianceType,
    /// Added to every variance, so that the covariance has an inverse.
    #[param(default = 1e-6, range = 0.0..)]
    pub reg_covar: f64,
}

/// A fitted [`GaussianDetector`]: also the density of its rows.
#[derive(Model, Clone, Debug)]
#[model(detector, density, validate = validate)]
pub struct GaussianDetectorModel {
    /// Mean of each column.
    pub location: Vec<f64>,
    /// Covariances (n_features × n_features).
    pub covariance: Matrix,
    /// Log-density below which rows are outliers.
    pub offset: f64,
    lower: Matrix,
}

impl Estimator for GaussianDetector {
    type Model = GaussianDetectorModel;
    type Fit = rounds::Whole;
    const ABOUT: &'static About = &About::detector("density.GaussianDetector")
        .also_density()
        .alias(&["gaussian-outliers"])
        .weights()
        .threads()
        .complexity(10)
        .cost("n p² time, p² memory and n scores")
        .reference("Anderson (2003), An Introduction to Multivariate Statistical Analysis, ch. 3");

    fn train(&self, data: &Dataset, run: &Context) -> Result<GaussianDetectorModel> {
        let GaussianDetector { covariance_type, reg_covar, .. } = *self;
        let density = GaussianDensity { covariance_type, reg_covar, ddof: 0 };
        let GaussianDensityModel { mean, covariance, lower } = density.train(data, run)?;
        let scores = log_densities(&mean, &lower, &data.x, run)?;
        let offset =
            averaged_quantiles(&scores, data.weights, &[self.contamination]).map(|found| found[0]);
        let offset =
            offset.ok_or_else(|| Error::numeric("the densities of the training rows overflow"))?;
        Ok(GaussianDetectorModel { location: mean, covariance, offset, lower })
    }
}

impl GaussianDetectorModel {
    fn validate(&self) -> Result<()> {
        validate(&self.location, &self.covariance, &self.lower)?;
        if self.offset.is_finite() { Ok(()) } else { Err(invalid("the threshold is not finite")) }
    }
}

impl Detector for GaussianDetectorModel {
    fn scores_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        log_densities(&self.location, &self.lower, x, run)
    }

    fn threshold(&self) -> f64 {
        self.offset
    }
}

impl Density for GaussianDetectorModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        log_densities(&self.location, &self.lower, x, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_outliers_among_the_training_rows_is_the_contamination() {
        let x = Matrix::from_fn(1000, 2, |i, j| ((i * (7 + j) + 3 * j) as f64 * 0.618).sin());
        let data = OwnedDataset::unsupervised(x);
        for contamination in [0.05, 0.1, 0.5] {
            let model =
                GaussianDetector { contamination, ..Default::default() }.fit(&data.view()).unwrap();
            let scores = model.scores_in(&data.x.frame(), &Context::default()).unwrap();
            let share = scores.iter().filter(|s| **s < model.threshold()).count() as f64 / 1000.0;
            assert!((share - contamination).abs() < 2e-3, "{share}");
        }
    }

    #[test]
    fn the_scores_are_the_density_of_the_density_learner() {
        let x = Matrix::from_fn(50, 3, |i, j| ((i * (3 + j)) as f64).sin());
        let data = OwnedDataset::unsupervised(x);
        let run = Context::default();
        let detector = GaussianDetector::default().fit(&data.view()).unwrap();
        let density = GaussianDensity::default().fit(&data.view()).unwrap();
        assert_eq!(
            detector.scores_in(&data.x.frame(), &run).unwrap(),
            density.log_density_in(&data.x.frame(), &run).unwrap()
        );
    }
}
