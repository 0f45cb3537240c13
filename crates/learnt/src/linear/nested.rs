//! The F test of two nested least-squares models, from their residual sums alone.
//!
//! F = ((RSS₀ - RSS₁) / q) / (RSS₁ / df₁) with q the columns that the larger model adds; with many
//! rows q F against χ² with q degrees of freedom.

use super::evidence::absent;
use super::inference::{Sampling, Test, chi_squared_test, f_test_of};
use super::linear_regression::LinearRegressionModel;
use learnt_core::prelude::*;

/// Whether the larger model fits better than chance, both fitted to the same rows. Models whose
/// columns are not nested are refused.
///
/// ```
/// use learnt::linear::{LinearRegression, Sampling, nested_test};
/// use learnt::prelude::*;
/// let x = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 8.0]];
/// let data = OwnedDataset::regression(Matrix::from_rows(&x)?, vec![1.0, 3.0, 2.0, 5.0, 4.0]);
/// let narrow = OwnedDataset { x: data.x.frame().select(&[0]), ..data.clone() };
/// let learner = LinearRegression::default();
/// let (small, large) = (learner.fit(&narrow.view())?, learner.fit(&data.view())?);
/// let test = nested_test(&small, &large, 0, Sampling::Exact)?;
/// assert!((test.statistic - 40.893617).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
pub fn nested_test(
    small: &LinearRegressionModel,
    large: &LinearRegressionModel,
    output: usize,
    sampling: Sampling,
) -> Result<Test> {
    check_nested(small, large)?;
    let (noise, df) = (large.evidence.noise(output)?, large.evidence.freedom()?);
    let added = small.evidence.freedom()? - df;
    if added <= 0.0 {
        return Err(absent("the larger model adds no independent column"));
    }
    let before = small.evidence.residual.row(output)[output];
    let after = large.evidence.residual.row(output)[output];
    let statistic = ((before - after) / added).max(0.0) / noise;
    Ok(match sampling {
        Sampling::Exact => f_test_of(statistic, added, df),
        Sampling::LargeSample => chi_squared_test(added * statistic, added),
    })
}

fn check_nested(small: &LinearRegressionModel, large: &LinearRegressionModel) -> Result<()> {
    let (inner, outer) = (&small.evidence, &large.evidence);
    if let Some(name) = inner.names.iter().find(|name| !outer.names.contains(name)) {
        return Err(not_nested(format!(
            "column '{name}' of the smaller model is not in the larger one"
        )));
    }
    if inner.intercept && !outer.intercept {
        return Err(not_nested("the smaller model has an intercept and the larger has none"));
    }
    let outputs = (inner.total.len(), outer.total.len());
    // Sums over other blocks may differ by rounding.
    let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * a.abs().max(b.abs());
    let weighed = same((&inner.weight, &outer.weight));
    if inner.rows != outer.rows || !weighed || outputs.0 != outputs.1 {
        return Err(not_nested(format!(
            "they were fitted to {} and {} rows of weight {} and {}, with {} and {} outputs",
            inner.rows, outer.rows, inner.weight, outer.weight, outputs.0, outputs.1
        )));
    }
    let comparable = inner.intercept == outer.intercept;
    match !comparable || inner.total.iter().zip(&outer.total).all(same) {
        true => Ok(()),
        false => Err(not_nested("they were fitted to different targets")),
    }
}

fn not_nested(why: impl std::fmt::Display) -> Error {
    Error::new(Code::Usage, format!("the models are not nested: {why}"))
        .hint("fit both to the same rows, the smaller on some of the larger's columns")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(40, 3, |i, j| ((i * (2 * j + 3) + j * j) % 13) as f64);
        let y = (0..40).map(|i| x[(i, 0)] + ((i * 5) % 7) as f64).collect();
        OwnedDataset::regression(x, y)
    }

    fn on(data: &OwnedDataset, columns: &[usize]) -> LinearRegressionModel {
        let x = data.x.frame().select(columns);
        LinearRegression::default().fit(&OwnedDataset { x, ..data.clone() }.view()).unwrap()
    }

    #[test]
    fn two_fits_give_the_test_of_the_columns_between_them() {
        let data = data();
        let (small, large) = (on(&data, &[1]), on(&data, &[0, 1, 2]));
        let test = nested_test(&small, &large, 0, Sampling::Exact).unwrap();
        let direct = large.test_columns(0, &["x0", "x2"]).unwrap();
        assert!((test.statistic - direct.statistic).abs() < 1e-10 * direct.statistic);
        assert!((test.p - direct.p).abs() < 1e-8 * direct.p);
        let many = nested_test(&small, &large, 0, Sampling::LargeSample).unwrap();
        assert!((many.statistic - 2.0 * test.statistic).abs() < 1e-12 * many.statistic);
        assert!(many.p < test.p && many.df_residual == f64::INFINITY);
        // With one column F is the square of t.
        let pair = nested_test(&on(&data, &[0, 1]), &large, 0, Sampling::Exact).unwrap();
        let t = large.inference(0, 0.95).unwrap().coefficients[3].t;
        assert!((pair.statistic - t * t).abs() < 1e-9 * pair.statistic);
    }

    #[test]
    fn models_that_are_not_nested_are_refused_with_the_reason() {
        let data = data();
        let large = on(&data, &[0, 1]);
        let refuse = |small: &LinearRegressionModel| {
            nested_test(small, &large, 0, Sampling::Exact).unwrap_err()
        };
        assert!(refuse(&on(&data, &[2])).message().contains("'x2'"));
        assert!(refuse(&on(&data, &[0, 1])).message().contains("adds no"));
        let fewer = data.view().gather(&(0..30).collect::<Vec<_>>());
        assert!(refuse(&on(&fewer, &[0])).message().contains("30 and 40 rows"));
        let mut other = data.clone();
        other.y = Some(OwnedTarget::Real(Matrix::from_fn(40, 1, |i, _| (i * i % 11) as f64)));
        assert!(refuse(&on(&other, &[0])).message().contains("different targets"));
        assert!(nested_test(&on(&data, &[0]), &large, 3, Sampling::Exact).is_err());
    }
}
