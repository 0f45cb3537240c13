//! Standard scaling: z = (x - mean) / sd, column by column.
//!
//! The divisor of the variance is n (`ddof` 0) or n - 1 (`ddof` 1). A column without spread is
//! centred and keeps scale 1. Missing values are left out of the moments and stay missing. One pass.
//! Scaling can hide clusters when the spread of a column is due to them.

use super::affine::{known_weights, map_columns, too_large, with_more};
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;

/// Standardises columns: subtracts the mean and divides by the standard deviation.
///
/// ```
/// use learnt::{prepare::StandardScaler, prelude::*};
/// let houses = Matrix::column_vector(vec![1656.0, 896.0, 1329.0, 2110.0]);
/// let data = OwnedDataset::unsupervised(houses);
/// let model = StandardScaler::default().fit(&data.view())?;
/// let z = model.transform(&data.x.frame())?;
/// assert!((z.values()[(0, 0)] - 0.355983823059).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct StandardScaler {
    /// Subtract the mean.
    #[param(default = true)]
    pub with_mean: bool,
    /// Divide by the standard deviation.
    #[param(default = true)]
    pub with_std: bool,
    /// Subtracted from the number of rows in the divisor of the variance.
    #[param(default = 0, range = 0..=1)]
    pub ddof: usize,
}

/// A fitted [`StandardScaler`].
#[derive(Model, Clone, Debug)]
#[model(transformer, looks)]
pub struct StandardScalerModel {
    /// Mean of each column.
    #[shape(columns)]
    pub mean: Vec<f64>,
    /// Variance of each column.
    #[shape(columns)]
    pub var: Vec<f64>,
    /// Divisor of each column: the standard deviation, or 1 where there is no spread.
    #[shape(columns)]
    #[positive]
    pub scale: Vec<f64>,
    /// Number of rows.
    pub n_samples_seen: u64,
    #[model(later)]
    weight: Vec<f64>,
    with_mean: bool,
    with_std: bool,
}

impl Estimator for StandardScaler {
    type Model = StandardScalerModel;
    type Fit = Pass<ColumnMoments>;
    const ABOUT: &'static About = &About::transformer("preprocessing.StandardScaler")
        .volumes()
        .alias(&["standardize", "scale"])
        .weights()
        .missing()
        .inverse_transform()
        .streaming()
        .online()
        .threads()
        .units("standard deviations")
        .complexity(5)
        .cost("n p time, p memory");

    /// Merges the moments of more rows: updates equal a fit of all rows, up to rounding.
    fn update(
        &self,
        model: Option<&StandardScalerModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<StandardScalerModel> {
        let all = with_more(model.map(|model| model.moments(self.ddof)), data, run)?;
        self.finish(all, &Outline::of(data))
    }
}

impl OnePass<ColumnMoments> for StandardScaler {
    fn finish(&self, all: ColumnMoments, outline: &Outline) -> Result<StandardScalerModel> {
        let var = all.variance(self.ddof as f64);
        if let Some(j) = var.iter().zip(&all.mean).position(|(v, m)| !(v + m).is_finite()) {
            return Err(too_large(outline.schema, j));
        }
        let scale =
            (0..var.len())
                .map(|j| {
                    if has_spread(var[j], all.mean[j], all.weight[j]) { var[j].sqrt() } else { 1.0 }
                })
                .collect();
        Ok(StandardScalerModel {
            mean: all.mean,
            weight: all.weight,
            var,
            scale,
            n_samples_seen: all.rows,
            with_mean: self.with_mean,
            with_std: self.with_std,
        })
    }
}

/// Whether a variance is more than the rounding errors of computing it.
fn has_spread(variance: f64, mean: f64, weight: f64) -> bool {
    let rounding = weight * f64::EPSILON;
    variance > rounding * variance + (rounding * mean) * (rounding * mean)
}

impl StandardScalerModel {
    /// What it knows of its rows.
    fn moments(&self, ddof: usize) -> ColumnMoments {
        let weight = known_weights(&self.weight, self.n_samples_seen, self.mean.len());
        let squares = self.var.iter().zip(&weight).map(|(v, w)| v * (w - ddof as f64).max(0.0));
        ColumnMoments {
            rows: self.n_samples_seen,
            squares: squares.collect(),
            mean: self.mean.clone(),
            low: vec![f64::INFINITY; weight.len()],
            high: vec![f64::NEG_INFINITY; weight.len()],
            weight,
        }
    }

    fn shift(&self, j: usize) -> f64 {
        if self.with_mean { self.mean[j] } else { 0.0 }
    }

    fn divisor(&self, j: usize) -> f64 {
        if self.with_std { self.scale[j] } else { 1.0 }
    }

    /// Intercept and coefficients of a linear model on scaled columns, in the original units.
    pub fn original_units(&self, intercept: f64, coef: &[f64]) -> (f64, Vec<f64>) {
        let slopes: Vec<f64> = coef.iter().enumerate().map(|(j, c)| c / self.divisor(j)).collect();
        let moved: f64 = slopes.iter().enumerate().map(|(j, c)| c * self.shift(j)).sum();
        (intercept - moved, slopes)
    }

    /// What is subtracted from each column, and then what it is divided by.
    fn line(&self) -> (Vec<f64>, Vec<f64>) {
        let columns = 0..self.mean.len();
        columns.map(|j| (self.shift(j), self.divisor(j))).unzip()
    }
}

impl Transformer for StandardScalerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let (shift, divisor) = self.line();
        map_columns(x, [&shift, &divisor], run, |v, shift, divisor| (v - shift) / divisor)
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let (shift, divisor) = self.line();
        map_columns(x, [&shift, &divisor], run, |v, shift, divisor| v * divisor + shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_is_centred_and_not_divided() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(5, 1, |_, _| 0.1));
        let model = StandardScaler::default().fit(&data.view()).unwrap();
        assert_eq!(model.scale, [1.0]);
        assert!(
            model
                .transform(&data.x.frame())
                .unwrap()
                .values()
                .as_slice()
                .iter()
                .all(|z| z.abs() < 1e-15)
        );
    }

    #[test]
    fn coefficients_return_to_original_units() {
        let data =
            OwnedDataset::unsupervised(Matrix::column_vector(vec![1656.0, 896.0, 1329.0, 2110.0]));
        let model = StandardScaler::default().fit(&data.view()).unwrap();
        let (intercept, slopes) = model.original_units(184.0, &[51.290_914_057_3]);
        assert!((intercept - 11.191_018_286_2).abs() < 1e-7);
        assert!((slopes[0] - 0.115_379_056_394).abs() < 1e-10);
    }

    #[test]
    fn numbers_too_large_to_square_are_reported_by_column() {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1e308, -1e308]));
        let error = StandardScaler::default().fit(&data.view()).unwrap_err();
        assert!(error.message().contains("'x0' overflows"), "{error}");
    }
}
