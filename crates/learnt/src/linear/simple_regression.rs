//! Simple regression: a line through points.
//!
//! slope = cov(x, y) / var(x), intercept = ȳ - slope x̄; through the origin slope = Σxy / Σx². With
//! σ² = RSS / df the variance of the slope is σ² / Σ(x - x̄)², of the intercept σ² (1/w + x̄²/Σ(x - x̄)²).
//! Weights are known precisions, as in `LinearRegression`: df counts rows.

use learnt_core::prelude::*;

/// A fitted line.
#[derive(Output, Clone, Copy, Debug, PartialEq)]
pub struct SimpleRegression {
    /// Change of y for one unit of x.
    pub slope: f64,
    /// The line at zero; zero through the origin.
    pub intercept: f64,
    /// Standard error of the slope; none where no noise is left to estimate it from.
    pub slope_standard_error: Option<f64>,
    /// Standard error of the intercept; none through the origin, and as for the slope.
    pub intercept_standard_error: Option<f64>,
    /// Correlation of x and y, about the origin for a line through it; none for a constant y.
    pub r: Option<f64>,
    /// Σ w (y - intercept - slope x)².
    pub rss: f64,
    /// Residual degrees of freedom.
    pub df: usize,
}

impl SimpleRegression {
    /// The line at x.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Fits a line; rows of weight zero do not count. A constant x is an error.
///
/// ```
/// use learnt::linear::simple_regression;
/// let line = simple_regression(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 5.0, 4.0, 5.0], None, false)?;
/// assert!((line.slope - 0.6).abs() < 1e-12 && (line.intercept - 2.2).abs() < 1e-12);
/// # Ok::<(), learnt::error::Error>(())
/// ```
pub fn simple_regression(
    x: &[f64],
    y: &[f64],
    weights: Option<&[f64]>,
    through_origin: bool,
) -> Result<SimpleRegression> {
    check(x, y, weights)?;
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let sum = |f: &dyn Fn(usize) -> f64| (0..x.len()).map(|i| weight(i) * f(i)).sum::<f64>();
    let total = sum(&|_| 1.0);
    let centre = |values: &[f64]| match through_origin {
        true => 0.0,
        // About the first value, so that a constant is exactly its own mean.
        false => values[0] + sum(&|i| values[i] - values[0]) / total,
    };
    let (mean_x, mean_y) = (centre(x), centre(y));
    let square = sum(&|i| (x[i] - mean_x) * (x[i] - mean_x));
    let product = sum(&|i| (x[i] - mean_x) * (y[i] - mean_y));
    let spread = sum(&|i| (y[i] - mean_y) * (y[i] - mean_y));
    if square <= 0.0 {
        let what = if through_origin { "zero" } else { "constant" };
        return Err(Error::numeric(format!("x is {what}, so there is no slope")));
    }
    let slope = product / square;
    let intercept = mean_y - slope * mean_x;
    let rss = sum(&|i| (y[i] - mean_y - slope * (x[i] - mean_x)).powi(2));
    if !(slope.is_finite() && intercept.is_finite() && rss.is_finite()) {
        return Err(Error::new(Code::NotFinite, "squares are too large for double precision")
            .hint("divide x and y by their largest values"));
    }
    let rows = (0..x.len()).filter(|&i| weight(i) > 0.0).count();
    let df = rows.saturating_sub(2 - usize::from(through_origin));
    let noise = (df > 0 && rss > 0.0).then(|| rss / df as f64);
    let at_zero = 1.0 / total + mean_x * mean_x / square;
    Ok(SimpleRegression {
        slope,
        intercept,
        slope_standard_error: noise.map(|noise| (noise / square).sqrt()),
        intercept_standard_error: noise
            .filter(|_| !through_origin)
            .map(|noise| (noise * at_zero).sqrt()),
        r: (spread > 0.0).then(|| (product / square.sqrt() / spread.sqrt()).clamp(-1.0, 1.0)),
        rss,
        df,
    })
}

fn check(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<()> {
    if x.len() != y.len() {
        return Err(Error::shape("y", format!("{} values as in x", x.len()), y.len()));
    }
    if x.is_empty() {
        return Err(Error::new(Code::Empty, "no points"));
    }
    if let Some(i) = (0..x.len()).find(|&i| !x[i].is_finite() || !y[i].is_finite()) {
        let message = format!("row {} holds ({}, {})", i + 1, x[i], y[i]);
        return Err(Error::new(Code::NotFinite, message).row(i as u64 + 1));
    }
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != x.len() {
        return Err(Error::shape("weights", format!("{} values as in x", x.len()), weights.len()));
    }
    let valid = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
    match valid && weights.iter().any(|&w| w > 0.0) {
        true => Ok(()),
        false => Err(Error::new(Code::Weights, "weights must be finite, >= 0 and not all zero")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    #[test]
    fn a_line_is_least_squares_on_one_column() {
        let x = [1656.0, 896.0, 1329.0, 2110.0];
        let y = [215.0, 105.0, 172.0, 244.0];
        let weights = [1.0, 2.0, 0.5, 3.0];
        for weights in [None, Some(&weights[..])] {
            for through_origin in [false, true] {
                let line = simple_regression(&x, &y, weights, through_origin).unwrap();
                let data = OwnedDataset {
                    weights: weights.map(<[f64]>::to_vec),
                    ..OwnedDataset::regression(Matrix::column_vector(x.to_vec()), y.to_vec())
                };
                let learner =
                    LinearRegression { fit_intercept: !through_origin, ..Default::default() };
                let model = learner.fit(&data.view()).unwrap();
                let table = model.inference(0, 0.95).unwrap();
                let last = table.coefficients.last().unwrap();
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-10 * b.abs();
                assert!(near(line.slope, last.estimate) && near(line.rss, table.rss));
                assert!(near(line.slope_standard_error.unwrap(), last.standard_error));
                assert!(near(line.r.unwrap().powi(2), table.r2.unwrap()));
                assert_eq!(line.df as f64, table.df);
                match line.intercept_standard_error {
                    Some(error) => assert!(near(error, table.coefficients[0].standard_error)),
                    None => assert!(through_origin && line.intercept == 0.0),
                }
            }
        }
    }

    #[test]
    fn hopeless_points_are_refused() {
        assert!(simple_regression(&[0.1; 5], &[1.0, 2.0, 3.0, 4.0, 5.0], None, false).is_err());
        assert!(simple_regression(&[0.0; 2], &[1.0, 2.0], None, true).is_err());
        assert!(simple_regression(&[1.0], &[1.0, 2.0], None, false).is_err());
        assert!(simple_regression(&[], &[], None, false).is_err());
        assert!(simple_regression(&[1.0, 1e300], &[1e300, 1.0], None, false).is_err());
        assert!(simple_regression(&[1.0, 2.0], &[1.0, f64::NAN], None, false).is_err());
    }

    #[test]
    fn two_points_and_a_flat_target_have_no_errors_to_tell() {
        let line = simple_regression(&[1.0, 2.0], &[3.0, 5.0], None, false).unwrap();
        assert_eq!((line.slope, line.at(0.0), line.slope_standard_error), (2.0, 1.0, None));
        let flat = simple_regression(&[1.0, 2.0, 4.0], &[3.0; 3], None, false).unwrap();
        assert_eq!((flat.slope, flat.r), (0.0, None));
    }
}
