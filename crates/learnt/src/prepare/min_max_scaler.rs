//! Min-max scaling: each column to [0, 1] or another range.
//!
//! z = low + (x - min) / (max - min) * (high - low). A column without range maps to `low`. New values
//! outside the training range stay outside, or are clipped on request. With `center` the result is
//! (x - mean) / (max - min), mean normalisation. One pass; missing values stay missing.

use super::affine::{known_weights, limited, map_columns, too_large, with_more};
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;

/// Min-max scaling (normalisation): maps each column's range to `feature_range`.
///
/// ```
/// use learnt::{prepare::MinMaxScaler, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1656.0, 896.0, 1329.0, 2110.0]));
/// let model = MinMaxScaler::default().fit(&data.view())?;
/// let scaled = model.transform(&data.x.frame())?;
/// assert!((scaled.values()[(0, 0)] - 0.626029654036).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct MinMaxScaler {
    /// Smallest and largest value after scaling.
    #[param(positional, default = vec![0.0, 1.0])]
    pub feature_range: Vec<f64>,
    /// Cut new values to the range.
    #[param(default = false)]
    pub clip: bool,
    /// Mean normalisation: subtract the mean instead of the minimum.
    #[param(default = false)]
    pub center: bool,
}

/// A fitted [`MinMaxScaler`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate, looks)]
pub struct MinMaxScalerModel {
    /// Added to each column after multiplying.
    #[shape(columns)]
    pub min: Vec<f64>,
    /// Factor of each column.
    #[shape(columns)]
    #[positive]
    pub scale: Vec<f64>,
    /// Smallest training value of each column.
    #[shape(columns)]
    pub data_min: Vec<f64>,
    /// Largest training value of each column.
    #[shape(columns)]
    pub data_max: Vec<f64>,
    /// Difference of the two.
    #[shape(columns)]
    pub data_range: Vec<f64>,
    /// Number of rows.
    pub n_samples_seen: u64,
    #[model(later)]
    weight: Vec<f64>,
    clip: Vec<f64>,
}

impl MinMaxScaler {
    fn constraints(&self) -> Result<()> {
        match self.feature_range.as_slice() {
            [low, high] if low < high => Ok(()),
            _ => Err(Error::parameter(
                "feature_range",
                "two numbers, the smaller first",
                Value::List(self.feature_range.iter().map(|&x| Value::Real(x)).collect()),
            )),
        }
    }
}

impl Estimator for MinMaxScaler {
    type Model = MinMaxScalerModel;
    type Fit = Pass<ColumnMoments>;
    const ABOUT: &'static About = &About::transformer("preprocessing.MinMaxScaler")
        .volumes()
        .alias(&["minmax"])
        .missing()
        .inverse_transform()
        .streaming()
        .online()
        .threads()
        .units("shares of the range")
        .complexity(5)
        .cost("n p time, p memory");

    /// Merges the moments of more rows: updates equal a fit of all rows, up to rounding.
    fn update(
        &self,
        model: Option<&MinMaxScalerModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<MinMaxScalerModel> {
        let all = with_more(model.map(|model| model.moments(self.center)), data, run)?;
        self.finish(all, &Outline::of(data))
    }
}

impl OnePass<ColumnMoments> for MinMaxScaler {
    fn finish(&self, all: ColumnMoments, outline: &Outline) -> Result<MinMaxScalerModel> {
        let (low, high) = (self.feature_range[0], self.feature_range[1]);
        let known = |j: usize| all.weight[j] > 0.0;
        let data_min: Vec<f64> =
            (0..all.low.len()).map(|j| if known(j) { all.low[j] } else { 0.0 }).collect();
        let data_max: Vec<f64> =
            (0..all.low.len()).map(|j| if known(j) { all.high[j] } else { 0.0 }).collect();
        let data_range: Vec<f64> = data_max.iter().zip(&data_min).map(|(h, l)| h - l).collect();
        if let Some(j) = data_range.iter().position(|range| !range.is_finite()) {
            return Err(too_large(outline.schema, j));
        }
        let nonzero = |range: f64| if range > 10.0 * f64::MIN_POSITIVE { range } else { 1.0 };
        let scale: Vec<f64> =
            data_range.iter().map(|&range| (high - low) / nonzero(range)).collect();
        let origin = if self.center { &all.mean } else { &data_min };
        let start = if self.center { 0.0 } else { low };
        let min = (0..scale.len()).map(|j| start - origin[j] * scale[j]).collect();
        let clip = if self.clip { vec![low, high] } else { Vec::new() };
        let n_samples_seen = all.rows;
        Ok(MinMaxScalerModel {
            min,
            scale,
            data_min,
            data_max,
            data_range,
            n_samples_seen,
            weight: all.weight,
            clip,
        })
    }
}

impl MinMaxScalerModel {
    /// What it knows of its rows; their means where these are what it subtracts.
    fn moments(&self, center: bool) -> ColumnMoments {
        let width = self.scale.len();
        let weight = known_weights(&self.weight, self.n_samples_seen, width);
        let end = |j: usize, value: f64, none: f64| if weight[j] > 0.0 { value } else { none };
        let mean = |j: usize| if center { -self.min[j] / self.scale[j] } else { 0.0 };
        ColumnMoments {
            rows: self.n_samples_seen,
            mean: (0..width).map(mean).collect(),
            squares: vec![0.0; width],
            low: (0..width).map(|j| end(j, self.data_min[j], f64::INFINITY)).collect(),
            high: (0..width).map(|j| end(j, self.data_max[j], f64::NEG_INFINITY)).collect(),
            weight,
        }
    }

    fn validate(&self) -> Result<()> {
        match self.clip.as_slice() {
            [] => Ok(()),
            [low, high] if low < high => Ok(()),
            _ => Err(learnt_core::persist::invalid("a range that does not rise")),
        }
    }
}

impl Transformer for MinMaxScalerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let limits = match self.clip.as_slice() {
            [low, high] => (*low, *high),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        map_columns(x, [&self.scale, &self.min], run, move |v, scale, min| {
            limited(v * scale + min, limits)
        })
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        map_columns(x, [&self.scale, &self.min], run, |v, scale, min| (v - min) / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> OwnedDataset {
        OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()))
    }

    #[test]
    fn a_column_without_range_maps_to_the_low_end() {
        let data = column(&[7.0, 7.0]);
        let model = MinMaxScaler::default().fit(&data.view()).unwrap();
        assert_eq!(model.transform(&data.x.frame()).unwrap().values().as_slice(), [0.0, 0.0]);
    }

    #[test]
    fn new_values_are_clipped_only_on_request() {
        let data = column(&[0.0, 10.0]);
        let new = column(&[20.0]);
        let at = |clip| {
            let model = MinMaxScaler { clip, ..Default::default() }.fit(&data.view()).unwrap();
            model.transform(&new.x.frame()).unwrap().values()[(0, 0)]
        };
        assert_eq!((at(false), at(true)), (2.0, 1.0));
    }

    #[test]
    fn mean_normalisation_has_mean_zero_and_range_one() {
        let data = column(&[1.0, 2.0, 6.0]);
        let model = MinMaxScaler { center: true, ..Default::default() }.fit(&data.view()).unwrap();
        let z = model.transform(&data.x.frame()).unwrap().values().column(0);
        assert!(z.iter().sum::<f64>().abs() < 1e-15 && (z[2] - z[0] - 1.0).abs() < 1e-15);
    }
}
