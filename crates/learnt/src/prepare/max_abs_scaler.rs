//! Max-abs scaling: z = x / max |x|, column by column, so that values lie in [-1, 1] and zero stays zero.
//!
//! A column of zeros keeps scale 1. Missing values are left out and stay missing. One pass.

use super::affine::{limited, map_columns, with_more};
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;

/// Scales each column by its maximum absolute value.
///
/// ```
/// use learnt::{prepare::MaxAbsScaler, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1.0, -4.0, 2.0]));
/// let model = MaxAbsScaler::default().fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().as_slice(), [0.25, -1.0, 0.5]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MaxAbsScaler {
    /// Cut new values to [-1, 1].
    #[param(default = false)]
    pub clip: bool,
}

/// A fitted [`MaxAbsScaler`].
#[derive(Model, Clone, Debug)]
#[model(transformer, looks)]
pub struct MaxAbsScalerModel {
    /// Largest absolute value of each column.
    #[shape(columns)]
    pub max_abs: Vec<f64>,
    /// Divisor of each column: `max_abs`, or 1 for a column of zeros.
    #[shape(columns)]
    #[positive]
    pub scale: Vec<f64>,
    /// Number of rows.
    pub n_samples_seen: u64,
    clip: bool,
}

impl Estimator for MaxAbsScaler {
    type Model = MaxAbsScalerModel;
    type Fit = Pass<ColumnMoments>;
    const ABOUT: &'static About = &About::transformer("preprocessing.MaxAbsScaler")
        .volumes()
        .alias(&["maxabs"])
        .missing()
        .inverse_transform()
        .streaming()
        .online()
        .threads()
        .units("shares of the largest size")
        .complexity(5)
        .cost("n p time, p memory");

    /// Merges the moments of more rows: updates equal a fit of all rows, up to rounding.
    fn update(
        &self,
        model: Option<&MaxAbsScalerModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<MaxAbsScalerModel> {
        let all = with_more(model.map(MaxAbsScalerModel::moments), data, run)?;
        self.finish(all, &Outline::of(data))
    }
}

impl OnePass<ColumnMoments> for MaxAbsScaler {
    fn finish(&self, all: ColumnMoments, _: &Outline) -> Result<MaxAbsScalerModel> {
        let largest = |j: usize| match all.weight[j] > 0.0 {
            true => all.low[j].abs().max(all.high[j].abs()),
            false => 0.0,
        };
        let max_abs: Vec<f64> = (0..all.mean.len()).map(largest).collect();
        let scale = max_abs.iter().map(|&m| if m > 10.0 * f64::MIN_POSITIVE { m } else { 1.0 });
        Ok(MaxAbsScalerModel {
            scale: scale.collect(),
            max_abs,
            n_samples_seen: all.rows,
            clip: self.clip,
        })
    }
}

impl MaxAbsScalerModel {
    /// What it knows of its rows: their largest sizes.
    fn moments(&self) -> ColumnMoments {
        let width = self.max_abs.len();
        ColumnMoments {
            rows: self.n_samples_seen,
            weight: vec![self.n_samples_seen as f64; width],
            mean: vec![0.0; width],
            squares: vec![0.0; width],
            low: self.max_abs.iter().map(|largest| -largest).collect(),
            high: self.max_abs.clone(),
        }
    }
}

impl Transformer for MaxAbsScalerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let limits = if self.clip { (-1.0, 1.0) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        map_columns(x, [&self.scale, &self.scale], run, move |v, scale, _| {
            limited(v / scale, limits)
        })
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        map_columns(x, [&self.scale, &self.scale], run, |v, scale, _| v * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_zeros_stays_zero() {
        let data = OwnedDataset::unsupervised(Matrix::zeros(3, 1));
        let model = MaxAbsScaler::default().fit(&data.view()).unwrap();
        assert_eq!(model.transform(&data.x.frame()).unwrap().values().as_slice(), [0.0; 3]);
    }

    /// Numbers of scikit-learn 1.9.1 (`tests/golden/generate/max_abs_scaler.py`).
    #[test]
    fn iris_agrees_with_the_reference() {
        let iris = crate::datasets::load("iris").unwrap();
        let model = MaxAbsScaler::default().fit(&iris.view()).unwrap();
        assert_eq!(model.max_abs, [7.9, 4.4, 6.9, 2.5]);
        let row = model.transform(&iris.x.frame()).unwrap().values().row(0).to_vec();
        let expected = [0.6455696202531644, 0.7954545454545454, 0.20289855072463767, 0.08];
        for (a, b) in row.iter().zip(expected) {
            assert!((a - b).abs() < 1e-15);
        }
    }
}
