//! Diagnostics of a least-squares fit: influence of rows, and tests of the assumptions.
//!
//! - leverage h: how much a row determines its own fit; the sum is the number of coefficients
//! - Cook's distance: r² h / (k (1 - h)) of the standardised residual r, k coefficients
//! - linearity: RESET, an F test of powers of the fitted values (Ramsey 1969)
//! - equal variance: Breusch-Pagan, n R² of r² on the inputs (Koenker's studentised form, 1981)
//! - independence: Durbin-Watson, Σ (r_i - r_{i-1})² / Σ r²; 2 without correlation of neighbours
//! - normality: Jarque-Bera, n/6 (skewness² + (kurtosis - 3)² / 4) against χ² with 2 df

use super::inference::{Test, f_test_of};
use super::{LinearRegression, LinearRegressionModel};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous, Normal};

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
    learner.fit(&Dataset { x, y: Some(target), weights: data.weights, groups: None })
}

/// Whether the variance of the residuals depends on the inputs (Breusch-Pagan, studentised).
pub fn breusch_pagan(model: &LinearRegressionModel, data: &Dataset, output: usize) -> Result<Test> {
    let (_, residual) = residuals(model, data, output)?;
    let squares: Vec<f64> =
        residual.iter().enumerate().map(|(i, r)| data.weight(i) * r * r).collect();
    let target = Target::Real(MatRef::from_column(&squares));
    let plain = Dataset { x: data.x, y: Some(target), weights: None, groups: None };
    let fit = LinearRegression::default().fit(&plain)?;
    let total = fit.evidence.total[0];
    let explained = if total > 0.0 { 1.0 - fit.evidence.residual[(0, 0)] / total } else { 0.0 };
    Ok(chi_squared(data.nrows() as f64 * explained, fit.rank as f64))
}

fn chi_squared(statistic: f64, df: f64) -> Test {
    let p = ChiSquared::new(df).map_or(1.0, |chi| chi.sf(statistic));
    Test { statistic, df, df_residual: f64::INFINITY, p }
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
    Ok(chi_squared(n / 6.0 * (skewness * skewness + excess * excess / 4.0), 2.0))
}

/// Pairs (normal quantile at (i - 0.5)/n, sorted value), for a normal plot.
pub fn normal_pairs(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let place = |i: usize| Normal::standard().quantile((i as f64 + 0.5) / n);
    sorted.into_iter().enumerate().map(|(i, value)| (place(i), value)).collect()
}
