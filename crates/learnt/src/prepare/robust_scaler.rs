//! Robust scaling: z = (x - median) / (upper - lower quantile), column by column.
//!
//! Quantiles are linear (type 7) without weights; with weights they are those of the weighted
//! distribution (type 2), which weights times a constant do not change. A column whose quantiles
//! agree keeps scale 1. Missing values are left out of the quantiles and stay missing. One sort a
//! column.

use super::affine::map_columns;
use super::order::column_quantiles;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::summary::{self, Quantiles};

/// Scaling robust to outliers: subtracts the median, divides by the interquartile range.
///
/// ```
/// use learnt::{prepare::RobustScaler, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0, 1000.0]));
/// let model = RobustScaler::default().fit(&data.view())?;
/// assert_eq!((model.center[0], model.scale[0]), (2.0, 2.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RobustScaler {
    /// Subtract the median.
    #[param(default = true)]
    pub with_centering: bool,
    /// Divide by the range between the quantiles.
    #[param(default = true)]
    pub with_scaling: bool,
    /// The two quantiles, in percent.
    #[param(default = vec![25.0, 75.0], range = 0.0..=100.0)]
    pub quantile_range: Vec<f64>,
    /// Divide so that a normal column gets variance 1.
    #[param(default = false)]
    pub unit_variance: bool,
}

/// A fitted [`RobustScaler`].
#[derive(Model, Clone, Debug)]
#[model(transformer, looks)]
pub struct RobustScalerModel {
    /// Median of each column.
    #[shape(columns)]
    #[finite]
    pub center: Vec<f64>,
    /// Divisor of each column.
    #[shape(columns)]
    #[positive]
    pub scale: Vec<f64>,
    with_centering: bool,
    with_scaling: bool,
}

impl RobustScaler {
    fn constraints(&self) -> Result<()> {
        match self.quantile_range.as_slice() {
            [low, high] if low < high => Ok(()),
            _ => {
                let got =
                    Value::List(self.quantile_range.iter().map(|&p| Value::Real(p)).collect());
                Err(Error::parameter("quantile_range", "two rising numbers", got))
            }
        }
    }

    /// What a normal column of variance 1 has between the quantiles; 1 if that is not asked for.
    fn normal_range(&self, low: f64, high: f64) -> f64 {
        match (self.unit_variance, Normal::new(0.0, 1.0)) {
            (true, Some(normal)) => normal.quantile(high) - normal.quantile(low),
            _ => 1.0,
        }
    }
}

/// Why weights differ from repeated rows.
const LINEAR: &str =
    "linear quantiles, scikit-learn's without weights, change when all rows are repeated";

impl Estimator for RobustScaler {
    type Model = RobustScalerModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("preprocessing.RobustScaler")
        .weights()
        .missing()
        .inverse_transform()
        .threads()
        .units("interquartile ranges")
        .complexity(5)
        .cost("n p time (n p log n with weights), n memory a thread")
        .exempt(&[
            ("weights_repeat", LINEAR),
            ("sklearn:check_sample_weight_equivalence_on_dense_data", LINEAR),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RobustScalerModel> {
        let (low, high) = (self.quantile_range[0] / 100.0, self.quantile_range[1] / 100.0);
        let unit = self.normal_range(low, high);
        let places = [low, 0.5, high];
        let at_once = match data.weights {
            Some(_) => None,
            None => column_quantiles(data.x.values(), &places, Quantiles::Linear, run)?,
        };
        let columns = run.try_par_map(data.x.ncols(), |j| {
            let found = match &at_once {
                Some(columns) => columns[j][1..4].to_vec(),
                None => quantiles_of(data, j, &places).unwrap_or_else(|| vec![0.0; 3]),
            };
            let (center, range) = (found[1], (found[2] - found[0]) / unit);
            match center.is_finite() && range.is_finite() {
                true => Ok((center, if range > 0.0 { range } else { 1.0 })),
                false => Err(super::affine::too_large(data.x.schema(), j)),
            }
        })?;
        let (center, scale) = columns.into_iter().unzip();
        let (with_centering, with_scaling) = (self.with_centering, self.with_scaling);
        Ok(RobustScalerModel { center, scale, with_centering, with_scaling })
    }
}

fn quantiles_of(data: &Dataset, j: usize, places: &[f64]) -> Option<Vec<f64>> {
    let (values, weights) = known(data, j);
    match weights.as_deref() {
        None => summary::quantiles(&values, places),
        weights => summary::averaged_quantiles(&values, weights, places),
    }
}

/// The values of a column that are not missing, with their weights.
fn known(data: &Dataset, j: usize) -> (Vec<f64>, Option<Vec<f64>>) {
    let column = data.x.values().column(j);
    if !column.iter().any(|x| x.is_nan()) {
        return (column, data.weights.map(<[f64]>::to_vec));
    }
    let kept: Vec<usize> = (0..column.len()).filter(|&i| !column[i].is_nan()).collect();
    let weights = data.weights.map(|weights| kept.iter().map(|&i| weights[i]).collect());
    (kept.iter().map(|&i| column[i]).collect(), weights)
}

impl RobustScalerModel {
    fn shift(&self, j: usize) -> f64 {
        if self.with_centering { self.center[j] } else { 0.0 }
    }

    fn divisor(&self, j: usize) -> f64 {
        if self.with_scaling { self.scale[j] } else { 1.0 }
    }

    /// What is subtracted from each column, and then what it is divided by.
    fn line(&self) -> (Vec<f64>, Vec<f64>) {
        let columns = 0..self.center.len();
        columns.map(|j| (self.shift(j), self.divisor(j))).unzip()
    }
}

impl Transformer for RobustScalerModel {
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
    fn missing_values_are_left_out_and_stay_missing() {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1.0, f64::NAN, 3.0, 2.0]));
        let model = RobustScaler::default().fit(&data.view()).unwrap();
        assert_eq!((model.center[0], model.scale[0]), (2.0, 1.0));
        assert!(model.transform(&data.x.frame()).unwrap().values()[(1, 0)].is_nan());
    }

    #[test]
    fn a_normal_column_gets_unit_variance_when_asked() {
        let learner = RobustScaler { unit_variance: true, ..Default::default() };
        let normal = Normal::new(5.0, 3.0).unwrap();
        let values = (1..1000).map(|i| normal.quantile(f64::from(i) / 1000.0)).collect();
        let data = OwnedDataset::unsupervised(Matrix::column_vector(values));
        assert!((learner.fit(&data.view()).unwrap().scale[0] - 3.0).abs() < 0.02);
    }

    #[test]
    fn quantiles_in_the_wrong_order_are_refused() {
        let learner = RobustScaler { quantile_range: vec![75.0, 25.0], ..Default::default() };
        assert!(learner.check().is_err());
    }
}
