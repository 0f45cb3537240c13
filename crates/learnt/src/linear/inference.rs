//! Inference for least squares: noise, standard errors, tests, intervals and criteria.
//!
//! With M Mᵀ = (XᵀX)⁺ of the centred inputs, σ² = RSS / (n - rank - 1) and Var(b) = σ² M Mᵀ; the
//! intercept is ȳ - x̄ᵀb, so its variance is σ² (1/w + x̄ᵀ M Mᵀ x̄) with w the sum of weights.
//! t = b / se has n - rank - 1 degrees of freedom. The log-likelihood is that of normal errors at
//! σ² = RSS / n; AIC and BIC count σ² as a parameter.
//! The normal and χ² distributions may stand in for t and F ([`Sampling`]).
//! A coefficient that an aliased column makes undetermined has no test; nothing is ever NaN.

use super::coefficient_table::Scale;
use super::estimates::Estimates;
use super::linear_regression::LinearRegressionModel;
use learnt_core::linalg::dot;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous, FisherF};

/// The table of a fit, for one output.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// The intercept, if there is one, then the coefficients that the data determine.
    pub coefficients: Vec<CoefficientTest>,
    /// Columns whose coefficients the data do not determine.
    pub undetermined: Vec<String>,
    /// Estimated variance of the noise, RSS / df.
    pub sigma2: f64,
    /// Residual degrees of freedom.
    pub df: f64,
    /// Σ w r².
    pub rss: f64,
    /// Share of the variance explained; about the origin without an intercept. None for a
    /// constant target.
    pub r2: Option<f64>,
    /// The same, corrected for the number of coefficients.
    pub adjusted_r2: Option<f64>,
    /// That all coefficients but the intercept are zero.
    pub f_test: Option<Test>,
    /// At σ² = RSS / n.
    pub log_likelihood: f64,
    /// 2k - 2 ln L, k with the noise variance.
    pub aic: f64,
    /// k ln n - 2 ln L.
    pub bic: f64,
    /// Ratio of the extreme singular values of the inputs with their column of ones.
    pub condition: Option<f64>,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct CoefficientTest {
    /// The column, or `(intercept)`.
    pub name: String,
    /// The coefficient.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Estimate over standard error: a normal z where the dispersion is known.
    pub t: f64,
    /// Two-sided probability of a statistic at least as far from zero.
    pub p: f64,
    /// Lower end of the confidence interval.
    pub lower: f64,
    /// Upper end of the confidence interval.
    pub upper: f64,
}

/// A statistic with its degrees of freedom and p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The statistic.
    pub statistic: f64,
    /// Degrees of freedom (of the numerator of an F).
    pub df: f64,
    /// Degrees of freedom of the denominator; infinite for a χ².
    pub df_residual: f64,
    /// Probability of a statistic at least as large.
    pub p: f64,
}

/// The distributions that tests and intervals use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Student's t and Fisher's F with the residual degrees of freedom: exact with normal errors.
    Exact,
    /// The normal and the χ² distribution, which those become with many rows.
    LargeSample,
}

impl Sampling {
    pub(super) fn scale(self, df: f64) -> Scale {
        match self {
            Sampling::Exact => Scale::Student(df),
            Sampling::LargeSample => Scale::Normal,
        }
    }
}

/// What an interval is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalKind {
    /// The expected value.
    Mean,
    /// A new observation of weight 1.
    Observation,
}

impl LinearRegressionModel {
    /// The table of one output with confidence intervals of this level; an error says why there is
    /// none.
    pub fn inference(&self, output: usize, level: f64) -> Result<Inference> {
        self.inference_by(output, level, Sampling::Exact)
    }

    /// The same with tests and intervals by these distributions.
    pub fn inference_by(&self, output: usize, level: f64, sampling: Sampling) -> Result<Inference> {
        let evidence = &self.evidence;
        let (sigma2, df) = (evidence.noise(output)?, evidence.freedom()?);
        let root = evidence.root()?;
        let scale = sampling.scale(df);
        let half = scale.half_width(level)?;
        let mut coefficients = Vec::new();
        if evidence.intercept {
            let variance = self.unit_variance(root, None);
            let estimate = self.intercept[output];
            let error = (sigma2 * variance).sqrt();
            coefficients.push(scale.test("(intercept)", estimate, error, half)?);
        }
        let mut undetermined = Vec::new();
        let determined = evidence.determined(root)?;
        for (j, name) in evidence.names.iter().enumerate() {
            match determined[j] {
                false => undetermined.push(name.clone()),
                true => {
                    let variance = self.unit_variance(root, Some(j));
                    let estimate = self.coef[(output, j)];
                    let error = (sigma2 * variance).sqrt();
                    coefficients.push(scale.test(name, estimate, error, half)?);
                }
            }
        }
        Ok(self.with_fit(output, sigma2, df, coefficients, undetermined))
    }

    /// Var / σ² of a coefficient, or of the intercept.
    fn unit_variance(&self, root: &Matrix, column: Option<usize>) -> f64 {
        match column {
            Some(j) => dot(root.row(j), root.row(j)),
            None => {
                let along = root_times(root, &self.evidence.mean[..root.nrows()]);
                1.0 / self.evidence.weight + dot(&along, &along)
            }
        }
    }

    fn with_fit(
        &self,
        output: usize,
        sigma2: f64,
        df: f64,
        coefficients: Vec<CoefficientTest>,
        undetermined: Vec<String>,
    ) -> Inference {
        let evidence = &self.evidence;
        let (rss, total) = (evidence.residual[(output, output)], evidence.total[output]);
        let (n, rank) = (evidence.rows as f64, evidence.rank as f64);
        let spread = n - f64::from(evidence.intercept);
        let r2 = (total > 0.0).then(|| 1.0 - rss / total);
        let f_test = (rank > 0.0 && total > 0.0).then(|| {
            let statistic = ((total - rss) / rank).max(0.0) / sigma2;
            f_test_of(statistic, rank, df)
        });
        let ln_scale = match 2.0 * std::f64::consts::PI * rss / n {
            scale if scale.is_finite() => scale.ln(),
            _ => (2.0 * std::f64::consts::PI / n).ln() + rss.ln(),
        };
        let log_likelihood = 0.5 * (evidence.ln_weight - n * (ln_scale + 1.0));
        let parameters = rank + f64::from(evidence.intercept) + 1.0;
        Inference {
            coefficients,
            undetermined,
            sigma2,
            df,
            rss,
            r2,
            adjusted_r2: r2.map(|r2| 1.0 - (1.0 - r2) * spread / df),
            f_test,
            log_likelihood,
            aic: 2.0 * parameters - 2.0 * log_likelihood,
            bic: parameters * n.ln() - 2.0 * log_likelihood,
            condition: evidence.condition,
        }
    }

    /// Covariance of the intercept, if there is one, and the coefficients of an output.
    pub fn covariance(&self, output: usize) -> Result<Matrix> {
        let sigma2 = self.evidence.noise(output)?;
        let root = self.evidence.root()?;
        let extra = usize::from(self.evidence.intercept);
        let d = root.nrows();
        let along = root_times(root, &self.evidence.mean[..d]);
        Ok(Matrix::from_fn(d + extra, d + extra, |i, j| {
            let unit = match (i < extra, j < extra) {
                (true, true) => self.unit_variance(root, None),
                (true, false) => -dot(&along, root.row(j - extra)),
                (false, true) => -dot(&along, root.row(i - extra)),
                (false, false) => dot(root.row(i - extra), root.row(j - extra)),
            };
            sigma2 * unit
        }))
    }

    /// Unbiased covariance of the residuals of all outputs.
    pub fn residual_covariance(&self) -> Result<Matrix> {
        let df = self.evidence.freedom()?;
        let residual = &self.evidence.residual;
        Ok(Matrix::from_fn(residual.nrows(), residual.ncols(), |t, s| residual[(t, s)] / df))
    }

    /// F test that the coefficients of these columns are all zero: bᵀ V⁻¹ b / q for their
    /// covariance V, equal to the test of the two nested models.
    pub fn test_columns(&self, output: usize, columns: &[&str]) -> Result<Test> {
        self.estimates(output)?.test_of_columns(columns)
    }

    /// The estimates of an output with their covariance.
    pub(super) fn estimates(&self, output: usize) -> Result<Estimates> {
        let (evidence, covariance) = (&self.evidence, self.covariance(output)?);
        let determined = evidence.determined(evidence.root()?)?;
        let first = evidence.intercept.then_some(self.intercept[output]);
        let name = evidence.intercept.then(|| "(intercept)".to_string());
        Ok(Estimates {
            names: name.into_iter().chain(evidence.names.iter().cloned()).collect(),
            values: first.into_iter().chain(self.coef.row(output).iter().copied()).collect(),
            covariance,
            determined: evidence.intercept.then_some(true).into_iter().chain(determined).collect(),
            intercept: evidence.intercept,
            scale: Scale::Student(evidence.freedom()?),
            offset: None,
        })
    }

    /// Fit, lower and upper end for each row of `x`: an interval of this level for the mean or for
    /// a new observation.
    pub fn intervals(
        &self,
        x: &Frame,
        output: usize,
        level: f64,
        kind: IntervalKind,
    ) -> Result<Matrix> {
        let (sigma2, df) = (self.evidence.noise(output)?, self.evidence.freedom()?);
        let half = Sampling::Exact.scale(df).half_width(level)?;
        let fit = self.predict(x)?;
        let leverage = self.unit_leverage(x)?;
        let noise = if kind == IntervalKind::Observation { 1.0 } else { 0.0 };
        Ok(Matrix::from_fn(x.nrows(), 3, |i, j| {
            let width = half * (sigma2 * (noise + leverage[i])).sqrt();
            fit[(i, output)] + [0.0, -width, width][j]
        }))
    }

    /// √w (1/√W, (x - mean)ᵀM) for each row: orthonormal columns on the rows of training.
    pub(super) fn orthonormal_rows(&self, data: &Dataset) -> Result<Matrix> {
        let root = self.evidence.root()?;
        let extra = usize::from(self.evidence.intercept);
        self.check_width(&data.x)?;
        let mut row = vec![0.0; root.nrows()];
        let mut out = Matrix::zeros(data.nrows(), root.ncols() + extra);
        for i in 0..data.nrows() {
            let along = self.along(&data.x, i, &mut row, root);
            let scale = data.weight(i).sqrt();
            let (first, rest) = out.row_mut(i).split_at_mut(extra);
            first.fill(scale / self.evidence.weight.sqrt());
            rest.iter_mut().zip(along).for_each(|(out, along)| *out = scale * along);
        }
        Ok(out)
    }

    fn check_width(&self, x: &Frame) -> Result<()> {
        let d = self.evidence.names.len();
        match x.ncols() == d {
            true => Ok(()),
            false => {
                let expected = format!("{d} columns as in training");
                Err(Error::shape("input", expected, format!("{} columns", x.ncols())))
            }
        }
    }

    /// Mᵀ (x - mean) of one row, with `row` to work in.
    fn along(&self, x: &Frame, i: usize, row: &mut [f64], root: &Matrix) -> Vec<f64> {
        x.values().copy_row(i, row);
        row.iter_mut().zip(&self.evidence.mean).for_each(|(x, mean)| *x -= mean);
        root_times(root, row)
    }

    /// Var / σ² of the fit at each row.
    pub(super) fn unit_leverage(&self, x: &Frame) -> Result<Vec<f64>> {
        let root = self.evidence.root()?;
        self.check_width(x)?;
        let mut row = vec![0.0; root.nrows()];
        let base = if self.evidence.intercept { 1.0 / self.evidence.weight } else { 0.0 };
        let unit = |i: usize| {
            let along = self.along(x, i, &mut row, root);
            base + dot(&along, &along)
        };
        Ok((0..x.nrows()).map(unit).collect())
    }
}

/// Mᵀ x.
fn root_times(root: &Matrix, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; root.ncols()];
    for (row, &x) in root.rows().zip(x) {
        learnt_core::linalg::add_scaled(&mut out, x, row);
    }
    out
}

/// An error unless the level of confidence is above 0 and below 1.
pub(super) fn check_level(level: f64) -> Result<()> {
    match level > 0.0 && level < 1.0 {
        true => Ok(()),
        false => Err(Error::parameter("level", "a number above 0 and below 1", level)),
    }
}

/// The F test of a statistic; both degrees of freedom are positive.
pub(super) fn f_test_of(statistic: f64, df: f64, df_residual: f64) -> Test {
    let p = FisherF::new(df, df_residual).map_or(1.0, |f| f.sf(statistic));
    Test { statistic, df, df_residual, p }
}

/// The χ² test of a statistic.
pub(super) fn chi_squared_test(statistic: f64, df: f64) -> Test {
    let p = ChiSquared::new(df).map_or(1.0, |chi| chi.sf(statistic));
    Test { statistic, df, df_residual: f64::INFINITY, p }
}
