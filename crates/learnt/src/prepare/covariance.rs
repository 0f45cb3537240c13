//! Covariance and correlation matrices.
//!
//! C = Σ w (x - x̄)(x - x̄)' / (Σ w - ddof) by the two-pass form: the shortcut Σ xy - n x̄ȳ cancels.
//! Correlations are C_ij / √(C_ii C_jj), in [-1, 1]; a constant column has none.

use learnt_core::linalg;
use learnt_core::prelude::*;

/// The covariance matrix of the columns.
///
/// ```
/// use learnt::{prepare::covariance_matrix, prelude::*};
/// let x = Matrix::from_rows(&[[1.0, 2.0], [2.0, 4.0], [3.0, 5.0], [4.0, 4.0], [5.0, 5.0]])?;
/// let covariance = covariance_matrix(x.view(), None, 1.0)?;
/// assert!((covariance[(0, 1)] - 1.5).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
pub fn covariance_matrix(x: MatRef, weights: Option<&[f64]>, ddof: f64) -> Result<Matrix> {
    if let Some(weights) = weights
        && weights.len() != x.nrows()
    {
        return Err(Error::shape("weights", format!("{} rows", x.nrows()), weights.len()));
    }
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..x.nrows()).map(weight).sum();
    if total.is_nan() || total <= ddof {
        let message = format!("a covariance with ddof {ddof} needs more weight than {total}");
        return Err(Error::new(Code::TooFew, message));
    }
    let mean = |j: usize| {
        let first = x.at(0, j);
        first + (0..x.nrows()).map(|i| weight(i) * (x.at(i, j) - first)).sum::<f64>() / total
    };
    let means: Vec<f64> = (0..x.ncols()).map(mean).collect();
    let centred =
        Matrix::from_fn(x.nrows(), x.ncols(), |i, j| weight(i).sqrt() * (x.at(i, j) - means[j]));
    let mut covariance = linalg::gram(centred.view());
    covariance.as_mut_slice().iter_mut().for_each(|value| *value /= total - ddof);
    match covariance.as_slice().iter().all(|value| value.is_finite()) {
        true => Ok(covariance),
        false => Err(Error::numeric("the covariance is not finite: missing or too large values")),
    }
}

/// The correlation matrix of the columns; a column without spread is an error that names it.
pub fn correlation_matrix(x: &Frame, weights: Option<&[f64]>) -> Result<Matrix> {
    let covariance = covariance_matrix(x.values(), weights, 0.0)?;
    let spread = |j: usize| covariance[(j, j)].sqrt();
    let constant = |j: &usize| {
        let size = x.values().column(*j).iter().fold(0.0_f64, |size, v| size.max(v.abs()));
        spread(*j) <= f64::EPSILON * size
    };
    if let Some(j) = (0..x.ncols()).find(constant) {
        let name = learnt_core::error::plain(&x.schema().column(j).name);
        let message = format!("column '{name}' is constant, so it has no correlation");
        return Err(Error::numeric(message).column(name));
    }
    Ok(Matrix::from_fn(x.ncols(), x.ncols(), |i, j| match i == j {
        true => 1.0,
        false => (covariance[(i, j)] / spread(i) / spread(j)).clamp(-1.0, 1.0),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::unnamed(Matrix::from_fn(9, 3, |i, j| 1e6 + ((i * 7 + j * 5 + i * j) % 11) as f64))
    }

    #[test]
    fn scaling_by_a_scales_by_a_squared_and_cauchy_schwarz_holds() {
        let table = table();
        let c = covariance_matrix(table.values().view(), None, 1.0).unwrap();
        let twice = Matrix::from_fn(9, 3, |i, j| 2.0 * table.values()[(i, j)]);
        let scaled = covariance_matrix(twice.view(), None, 1.0).unwrap();
        for (a, b) in c.as_slice().iter().zip(scaled.as_slice()) {
            assert!((4.0 * a - b).abs() < 1e-6);
        }
        assert!(c[(0, 1)] * c[(0, 1)] <= c[(0, 0)] * c[(1, 1)]);
    }

    #[test]
    fn weight_two_equals_a_repeated_row() {
        let table = table();
        let mut weights = vec![1.0; 9];
        weights[4] = 2.0;
        let rows: Vec<usize> = (0..9).chain([4]).collect();
        let repeated = table.frame().gather(&rows);
        let a = correlation_matrix(&table.frame(), Some(&weights)).unwrap();
        let b = correlation_matrix(&repeated.frame(), None).unwrap();
        for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn a_constant_column_is_named() {
        let table =
            Table::unnamed(Matrix::from_fn(4, 2, |i, j| if j == 1 { 0.1 } else { i as f64 }));
        let error = correlation_matrix(&table.frame(), None).unwrap_err();
        assert_eq!(error.column_name(), Some("x1"));
    }
}
