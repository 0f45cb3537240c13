//! Diagnostics of a least-squares fit: influence of rows, and tests of the assumptions.
//!
//! - leverage h: how much a row determines its own fit; the sum is the number of coefficients
//! - Cook's distance: r² h / (k (1 - h)) of the standardised residual r, k coefficients
//! - linearity: RESET, an F test of powers of the fitted values (Ramsey 1969)
//! - equal variance: Breusch-Pagan, n R² of r² on the inputs (Koenker's studentised form, 1981)
//! - independence: Durbin-Watson, Σ (r_i - r_{i-1})² / Σ r²; 2 without correlation of neighbours
//! - normality: Jarque-Bera, n/6 (skewness² + (kurtosis - 3)² / 4) against χ² with 2 df

mod report;

pub use report::report;

use super::inference::{Test, chi_squared_test, f_test_of};
use super::{LinearRegression, LinearRegressionModel};
use learnt_core::linalg::matmul;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};

/// What each row does to the fit of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct Influence {
    /// The prediction.
    pub fitted: Vec<f64>,
    /// Target less prediction.
    pub residual: Vec<f64>,
    /// Diagonal of the hat matrix.
    pub leverage: Vec<f64>,
    /// √w r / (σ √(1 - h)); zero where h is 1.
    pub standardised: Vec<f64>,
    /// The same with σ estimated without the row; the same number where one degree of freedom is
    /// left.
    pub studentised: Vec<f64>,
    /// Cook's distance.
    pub cook: Vec<f64>,
    /// Σ w (r / (1 - h))²: squared errors of prediction with each row left out.
    pub press: f64,
}

/// Influence of the rows that the model was trained on.
pub fn influence(
    model: &LinearRegressionModel,
    data: &Dataset,
    output: usize,
) -> Result<Influence> {
    let (fitted, residual) = residuals(model, data, output)?;
    let (sigma2, df) = (model.evidence.noise(output)?, model.evidence.freedom()?);
    let count = model.evidence.rank as f64 + f64::from(model.evidence.intercept);
    let unit = model.unit_leverage(&data.x)?;
    let mut out = Influence {
        fitted,
        residual,
        leverage: Vec::new(),
        standardised: Vec::new(),
        studentised: Vec::new(),
        cook: Vec::new(),
        press: 0.0,
    };
    for (i, unit) in unit.iter().enumerate() {
        let weight = data.weight(i);
        let leverage = (weight * unit).min(1.0);
        let rest = 1.0 - leverage;
        let own = rest <= 1e-12;
        let scaled = weight.sqrt() * out.residual[i];
        let standardised = if own { 0.0 } else { scaled / (sigma2 * rest).sqrt() };
        let others = (df - standardised * standardised) / (df - 1.0);
        let studentised =
            if df > 1.0 && others > 0.0 { standardised / others.sqrt() } else { standardised };
        out.leverage.push(leverage);
        out.standardised.push(standardised);
        out.studentised.push(studentised);
        let ratio = if own { 0.0 } else { leverage / rest };
        out.cook.push(standardised * standardised * ratio / count);
        out.press += if own { 0.0 } else { (scaled / rest) * (scaled / rest) };
    }
    Ok(out)
}

/// The hat matrix H, (n_rows × n_rows): fitted = H y for weights of one. With weights it is that of the
/// rows times √w, so that it is always symmetric and idempotent, and its trace is the number of
/// independent coefficients. [`influence`] has its diagonal without the square of memory.
pub fn hat_matrix(model: &LinearRegressionModel, data: &Dataset, run: &Context) -> Result<Matrix> {
    let n = data.nrows();
    run.claim_table(n, n, "the hat matrix")?;
    let q = model.orthonormal_rows(data)?;
    Ok(matmul(q.view(), q.view().transposed()))
}

/// The log-likelihood of normal errors with this variance: -n/2 ln(2πσ²) - Σ(y - fitted)²/(2σ²), for
/// the fitted values of any mean function. Of all variances RSS/n makes it largest.
pub fn gaussian_log_likelihood(y: &[f64], fitted: &[f64], sigma2: f64) -> Result<f64> {
    if y.len() != fitted.len() {
        return Err(Error::shape("fitted", format!("{} values as in y", y.len()), fitted.len()));
    }
    if !(sigma2 > 0.0 && sigma2.is_finite()) {
        return Err(Error::parameter("sigma2", "a finite number above 0", sigma2));
    }
    let rss: f64 = y.iter().zip(fitted).map(|(y, fit)| (y - fit) * (y - fit)).sum();
    let ln_scale = (2.0 * std::f64::consts::PI).ln() + sigma2.ln();
    let value = -0.5 * (y.len() as f64 * ln_scale + rss / sigma2);
    match value.is_finite() {
        true => Ok(value),
        false => Err(Error::new(Code::NotFinite, "values are missing, infinite or too large")),
    }
}

/// Fitted values and residuals of one output.
fn residuals(
    model: &LinearRegressionModel,
    data: &Dataset,
    output: usize,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let y = data.real_target()?;
    if output >= y.ncols() || y.ncols() != model.coef.nrows() {
        let expected = format!("{} outputs as in training", model.coef.nrows());
        return Err(Error::shape("target", expected, format!("{} columns", y.ncols())));
    }
    let fitted = model.predict(&data.x)?.column(output);
    let residual = fitted.iter().enumerate().map(|(i, fit)| y.at(i, output) - fit).collect();
    Ok((fitted, residual))
}

/// Whether powers of the fitted values, the second to `power`, add to the fit (RESET).
pub fn reset(
    model: &LinearRegressionModel,
    data: &Dataset,
    output: usize,
    power: usize,
) -> Result<Test> {
    if power < 2 {
        return Err(Error::parameter("power", "a whole number >= 2", power));
    }
    let (fitted, _) = residuals(model, data, output)?;
    // Powers of values scaled to one are better conditioned and span the same space.
    let middle = fitted.iter().sum::<f64>() / fitted.len() as f64;
    let largest = fitted.iter().fold(0.0_f64, |m, f| m.max((f - middle).abs()));
    if largest == 0.0 {
        return Err(Error::numeric("the fitted values are all the same"));
    }
    let d = data.x.ncols();
    let powers = |i: usize, j: usize| match j < d {
        true => data.x.values().at(i, j),
        false => ((fitted[i] - middle) / largest).powi((j - d) as i32 + 2),
    };
    let wide = Table::unnamed(Matrix::from_fn(data.nrows(), d + power - 1, powers));
    let larger = fit_one(wide.frame(), data, &data.real_target()?.column(output), model)?;
    let added = larger.rank.saturating_sub(model.rank) as f64;
    let (before, after) =
        (model.evidence.residual[(output, output)], larger.evidence.residual[(0, 0)]);
    if added == 0.0 {
        return Err(Error::numeric("powers of the fitted values add no column"));
    }
    let (df, noise) = (larger.evidence.freedom()?, larger.evidence.noise(0)?);
    Ok(f_test_of(((before - after) / added).max(0.0) / noise, added, df))
}

/// Least squares of one target on other inputs, with the model's intercept and the same weights.
fn fit_one(
    x: Frame,
    data: &Dataset,
    y: &[f64],
    model: &LinearRegressionModel,
) -> Result<LinearRegressionModel> {
    let learner =
        LinearRegression { fit_intercept: model.evidence.intercept, ..LinearRegression::default() };
    let target = Target::Real(MatRef::from_column(y));
    learner.fit(&Dataset { y: Some(target), weights: data.weights, ..Dataset::new(x) })
}

/// Whether the variance of the residuals depends on the inputs (Breusch-Pagan, studentised).
pub fn breusch_pagan(model: &LinearRegressionModel, data: &Dataset, output: usize) -> Result<Test> {
    let (_, residual) = residuals(model, data, output)?;
    let squares: Vec<f64> =
        residual.iter().enumerate().map(|(i, r)| data.weight(i) * r * r).collect();
    let target = Target::Real(MatRef::from_column(&squares));
    let plain = Dataset { y: Some(target), ..Dataset::new(data.x) };
    let fit = LinearRegression::default().fit(&plain)?;
    let total = fit.evidence.total[0];
    let explained = if total > 0.0 { 1.0 - fit.evidence.residual[(0, 0)] / total } else { 0.0 };
    Ok(chi_squared_test(data.nrows() as f64 * explained, fit.rank as f64))
}

/// Σ (r_i - r_{i-1})² / Σ r², rows in order; an error where all residuals are zero.
pub fn durbin_watson(residual: &[f64]) -> Result<f64> {
    let squares: f64 = residual.iter().map(|r| r * r).sum();
    let steps: f64 =
        residual.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    match squares > 0.0 {
        true => Ok(steps / squares),
        false => Err(Error::numeric("all residuals are zero")),
    }
}

/// Whether residuals have the skewness and kurtosis of a normal distribution.
pub fn jarque_bera(residual: &[f64]) -> Result<Test> {
    let n = residual.len() as f64;
    let mean = residual.iter().sum::<f64>() / n;
    let moment = |power: i32| residual.iter().map(|r| (r - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if variance.is_nan() || variance <= 0.0 {
        return Err(Error::numeric("all residuals are the same"));
    }
    let skewness = moment(3) / variance.powf(1.5);
    let excess = moment(4) / (variance * variance) - 3.0;
    Ok(chi_squared_test(n / 6.0 * (skewness * skewness + excess * excess / 4.0), 2.0))
}

/// Pairs (normal quantile at (i - 0.5)/n, sorted value), for a normal plot.
pub fn normal_pairs(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let place = |i: usize| Normal::standard().quantile((i as f64 + 0.5) / n);
    sorted.into_iter().enumerate().map(|(i, value)| (place(i), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(outlier: f64) -> OwnedDataset {
        let x = Matrix::from_fn(40, 2, |i, j| ((i * (3 * j + 7) + j * j) % 13) as f64);
        let y = (0..40).map(|i| x[(i, 0)] + ((i * 5) % 7) as f64 + outlier * f64::from(i == 17));
        let y = y.collect();
        OwnedDataset::regression(x, y)
    }

    fn fit(data: &OwnedDataset) -> LinearRegressionModel {
        LinearRegression::default().fit(&data.view()).unwrap()
    }

    #[test]
    fn the_hat_matrix_is_a_projection_whose_trace_is_the_rank() {
        let plain = data(0.0);
        let weights = Some((0..40).map(|i| 1.0 + (i % 3) as f64).collect());
        for data in [plain.clone(), OwnedDataset { weights, ..plain }] {
            let model = fit(&data);
            let hat = hat_matrix(&model, &data.view(), &Context::default()).unwrap();
            let twice = matmul(hat.view(), hat.view());
            for i in 0..40 {
                for j in 0..40 {
                    assert!((hat[(i, j)] - hat[(j, i)]).abs() < 1e-14);
                    assert!((hat[(i, j)] - twice[(i, j)]).abs() < 1e-12);
                }
            }
            let trace: f64 = (0..40).map(|i| hat[(i, i)]).sum();
            assert!((trace - 3.0).abs() < 1e-12);
            let influence = influence(&model, &data.view(), 0).unwrap();
            let y = data.view().real_target().unwrap();
            for i in 0..40 {
                assert!((hat[(i, i)] - influence.leverage[i]).abs() < 1e-12);
                let root = |i: usize| data.view().weight(i).sqrt();
                let fitted: f64 = (0..40).map(|j| hat[(i, j)] * root(j) * y.at(j, 0)).sum();
                assert!((fitted / root(i) - influence.fitted[i]).abs() < 1e-10);
            }
        }
        let run = Context::default().with_memory_limit(Some(1000));
        let data = data(0.0);
        assert_eq!(hat_matrix(&fit(&data), &data.view(), &run).unwrap_err().code(), Code::Memory);
    }

    #[test]
    fn three_points_have_the_leverages_of_the_notes() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0]);
        let data = OwnedDataset::regression(x, vec![6.0, 0.0, 0.0]);
        let hat = hat_matrix(&fit(&data), &data.view(), &Context::default()).unwrap();
        for (i, expected) in [5.0 / 6.0, 1.0 / 3.0, 5.0 / 6.0].into_iter().enumerate() {
            assert!((hat[(i, i)] - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn the_report_starts_with_the_outlier_and_has_all_tests() {
        let data = data(60.0);
        let report = report(&fit(&data), &data.view()).unwrap();
        assert_eq!(report.tables[1].columns[0].reals().unwrap()[0], 18.0);
        let names: Vec<String> = (0..4).map(|i| report.tables[0].columns[1].text(i)).collect();
        assert_eq!(names, ["RESET", "Breusch-Pagan", "Durbin-Watson", "Jarque-Bera"]);
        assert!(report.tables[0].columns[4].reals().unwrap()[3] < 1e-6);
        let text = report.to_text();
        assert!(text.contains("PRESS") && !text.contains("NaN"), "{text}");
    }

    #[test]
    fn an_exact_fit_has_a_report_that_says_so() {
        let x = Matrix::from_fn(9, 1, |i, _| i as f64);
        let data = OwnedDataset::regression(x, (0..9).map(f64::from).collect());
        let report = report(&fit(&data), &data.view()).unwrap();
        assert!(report.notes[0].contains("exact"), "{report:?}");
        let other = OwnedDataset::regression(Matrix::zeros(9, 3), vec![0.0; 9]);
        assert!(super::report(&fit(&data), &other.view()).is_err());
    }

    #[test]
    fn the_likelihood_is_largest_at_the_mean_square() {
        let (y, fitted) = ([2.0, 4.0, 5.0, 4.0, 5.0], [2.8, 3.4, 4.0, 4.6, 5.2]);
        let at = |sigma2: f64| gaussian_log_likelihood(&y, &fitted, sigma2).unwrap();
        assert!((at(1.0) + 5.794_692_666_02).abs() < 1e-10);
        assert!(at(0.48) > at(0.47) && at(0.48) > at(0.49));
        let data = OwnedDataset::regression(Matrix::from_fn(5, 1, |i, _| i as f64), y.to_vec());
        let table = fit(&data).inference(0, 0.95).unwrap();
        assert!((table.log_likelihood - at(0.48)).abs() < 1e-12);
        assert!(gaussian_log_likelihood(&y, &fitted, 0.0).is_err());
        assert!(gaussian_log_likelihood(&y, &fitted[1..], 1.0).is_err());
        assert!(gaussian_log_likelihood(&[f64::NAN], &[1.0], 1.0).is_err());
    }
}
