//! Standard errors that do not trust the variances of the model.
//!
//! V = B (Σ s_i s_iᵀ) B with B = (Σ w W x xᵀ)⁻¹ and s_i the score of a row: w r x for least squares (White 1980), w
//! h'(y - μ)/V(μ) x for a generalised linear model. HC1 multiplies by n/(n - k); HC2 divides s_i by √(1 - h_i),
//! HC3 by 1 - h_i (MacKinnon and White 1985). With groups the scores of a group are summed before they are squared,
//! times G/(G - 1) (n - 1)/(n - k), as in Stata. Statistics of least squares are compared with Student's t on
//! n - k degrees of freedom, on G - 1 for groups; those of likelihoods with the normal distribution.

use super::coefficient_table::Scale;
use super::diagnostics;
use super::estimates::Estimates;
use super::linear_regression::LinearRegressionModel;
use learnt_core::linalg::matmul;
use learnt_core::prelude::*;
use std::collections::BTreeMap;

/// How residuals say what the variances are.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Robust {
    /// White's.
    HC0,
    /// Times n/(n - k).
    HC1,
    /// Residuals over √(1 - h).
    HC2,
    /// Residuals over 1 - h.
    #[default]
    HC3,
    /// Residuals of a group may go together; the data name it with --group.
    Cluster,
}

/// A robust covariance of the coefficients, the intercept first, and the degrees of freedom of its tests.
#[derive(Clone, Debug)]
pub struct RobustCovariance {
    /// The matrix.
    pub matrix: Matrix,
    /// Degrees of freedom.
    pub df: f64,
}

/// The sandwich of a bread with the scores of rows, whose leverages shrink them; `rank` is the number of
/// independent coefficients. Rows of weight zero do not count.
pub(super) fn sandwich(
    (bread, rank): (&Matrix, f64),
    mut scores: Matrix,
    leverage: &[f64],
    data: &Dataset,
    kind: Robust,
) -> Result<RobustCovariance> {
    for (i, &leverage) in leverage.iter().enumerate() {
        let rest = 1.0 - leverage;
        let divisor = match kind {
            Robust::HC2 => rest.max(0.0).sqrt(),
            Robust::HC3 => rest,
            _ => continue,
        };
        let row = scores.row_mut(i);
        if divisor <= 1e-6 && kind == Robust::HC3 && row.iter().any(|s| *s != 0.0) {
            let message = format!("row {} determines its own fit (leverage 1)", i + 1);
            return Err(Error::numeric(message).hint("ask for HC1"));
        }
        row.iter_mut().for_each(|s| *s /= divisor.max(1e-12));
    }
    let counted = (0..data.nrows()).filter(|&i| data.weight(i) > 0.0).count();
    let (n, k) = (counted as f64, rank);
    let (scores, factor, df) = match kind {
        Robust::Cluster => {
            let scores = summed(&scores, data)?;
            let groups = scores.nrows() as f64;
            (scores, groups / (groups - 1.0) * (n - 1.0) / (n - k), groups - 1.0)
        }
        Robust::HC1 => (scores, n / (n - k), n - k),
        _ => (scores, 1.0, n - k),
    };
    if df <= 0.0 {
        let message = "too few rows or groups for robust standard errors";
        return Err(Error::new(Code::TooFew, message));
    }
    let meat = matmul(scores.view().transposed(), scores.view());
    let mut matrix = matmul(matmul(bread.view(), meat.view()).view(), bread.view());
    matrix.as_mut_slice().iter_mut().for_each(|v| *v *= factor);
    Ok(RobustCovariance { matrix, df })
}

/// The rows of a table, with 1 for the intercept first, times a number each.
pub(super) fn scaled_rows(x: &Frame, extra: usize, scale: &[f64]) -> Matrix {
    Matrix::from_fn(x.nrows(), x.ncols() + extra, |i, j| match j < extra {
        true => scale[i],
        false => scale[i] * x.values().at(i, j - extra),
    })
}

/// The table of estimates with a robust covariance.
pub(super) fn robust_answer(
    estimates: &Estimates,
    found: RobustCovariance,
    scale: Scale,
    kind: Robust,
    level: f64,
) -> Result<Answer> {
    let title = format!("Coefficients with {} standard errors", kind.word());
    let df = found.df;
    let mut answer =
        estimates.with_covariance(found.matrix, scale).coefficient_answer(&title, level)?;
    answer.push("df", df);
    answer.push("level", level);
    Ok(answer)
}

impl LinearRegressionModel {
    /// The covariance of an output's coefficients from the rows of training.
    pub fn robust_covariance(
        &self,
        data: &Dataset,
        output: usize,
        kind: Robust,
    ) -> Result<RobustCovariance> {
        let found = diagnostics::influence(self, data, output)?;
        let noise = self.evidence.noise(output)?;
        let mut bread = self.covariance(output)?;
        bread.as_mut_slice().iter_mut().for_each(|v| *v /= noise);
        let scale: Vec<f64> =
            found.residual.iter().enumerate().map(|(i, r)| data.weight(i) * r).collect();
        let scores = scaled_rows(&data.x, usize::from(self.evidence.intercept), &scale);
        let rank = self.evidence.rank as f64 + f64::from(self.evidence.intercept);
        sandwich((&bread, rank), scores, &found.leverage, data, kind)
    }

    /// Coefficients with robust standard errors.
    pub(super) fn robust_report(
        &self,
        data: &Dataset,
        output: usize,
        kind: Robust,
        level: f64,
    ) -> Result<Answer> {
        let found = self.robust_covariance(data, output, kind)?;
        let scale = Scale::Student(found.df);
        robust_answer(&self.estimates(output)?, found, scale, kind, level)
    }
}

impl Robust {
    /// By what a question says.
    pub(super) fn of(asked: &Asked) -> Result<Robust> {
        let kinds = [Robust::HC0, Robust::HC1, Robust::HC2, Robust::HC3, Robust::Cluster];
        Ok(kinds[asked.choice("kind", &["hc0", "hc1", "hc2", "hc3", "cluster"])?])
    }

    /// Its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Robust::HC0 => "HC0",
            Robust::HC1 => "HC1",
            Robust::HC2 => "HC2",
            Robust::HC3 => "HC3",
            Robust::Cluster => "clustered",
        }
    }
}

/// Scores summed by group, groups in the order of their numbers.
fn summed(scores: &Matrix, data: &Dataset) -> Result<Matrix> {
    let groups = data.groups.ok_or_else(|| {
        Error::new(Code::Usage, "clustered standard errors need groups of rows")
            .hint("name their column with --group")
    })?;
    let mut sums: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let counted = |i: &usize| data.weight(*i) > 0.0;
    for (row, &group) in (0..data.nrows()).filter(counted).map(|i| (scores.row(i), &groups[i])) {
        let sum = sums.entry(group).or_insert_with(|| vec![0.0; scores.ncols()]);
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    Matrix::from_rows(&sums.into_values().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;
    use learnt_core::question::Terms;

    /// Miles per gallon of 32 cars by weight and power, with their cylinders.
    fn cars() -> OwnedDataset {
        let text = include_str!("../../../../tests/golden/data/mtcars.csv");
        let rows: Vec<Vec<&str>> =
            text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let at = |row: &[&str], j: usize| row[j].parse::<f64>().unwrap();
        let x = Matrix::from_fn(rows.len(), 2, |i, j| at(&rows[i], [6, 4][j]));
        let mut data = OwnedDataset::regression(x, rows.iter().map(|row| at(row, 1)).collect());
        data.groups = Some(rows.iter().map(|row| at(row, 2) as u32).collect());
        data
    }

    /// Numbers of statsmodels 0.15 for `mpg ~ wt + hp`, groups by cylinders.
    #[test]
    fn standard_errors_and_inflation_are_those_of_statsmodels() {
        let data = cars();
        let model = LinearRegression::default().fit(&data.view()).unwrap();
        let errors = |kind: Robust| {
            let found = model.robust_covariance(&data.view(), 0, kind).unwrap();
            [0, 1, 2].map(|j| found.matrix[(j, j)].sqrt())
        };
        let expected = [
            (Robust::HC0, [1.9389139564176738, 0.6199275052899704, 0.006646057908184088]),
            (Robust::HC1, [2.036735001913091, 0.6512037548100225, 0.006981361252022418]),
            (Robust::HC2, [2.0776099435147644, 0.6877654817359351, 0.007825029397516545]),
            (Robust::HC3, [2.2298054034363877, 0.7685190503579341, 0.009385137908649692]),
            (Robust::Cluster, [3.061229424612819, 0.6998808916297158, 0.00522482306617609]),
        ];
        for (kind, expected) in expected {
            for (a, b) in errors(kind).iter().zip(expected) {
                assert!((a - b).abs() < 1e-9 * b, "{kind:?} {a} {b}");
            }
        }
        let report = model.robust_report(&data.view(), 0, Robust::HC3, 0.95).unwrap();
        let p = report.column("p").unwrap().reals().unwrap()[2];
        assert!((p - 0.002056963626791508).abs() < 1e-9, "{p}");
        let clustered = model.robust_report(&data.view(), 0, Robust::Cluster, 0.95).unwrap();
        let p = clustered.column("p").unwrap().reals().unwrap()[1];
        assert!((p - 0.03106412123124261).abs() < 1e-8, "{p}");
        let estimates = model.estimates(0).unwrap();
        let terms = Terms::by_name(&estimates.names[1..]);
        let inflation = estimates.inflation_answer(&terms).unwrap();
        let inflation = inflation.column("VIF").unwrap().reals().unwrap();
        assert!(inflation.iter().all(|v| (v - 1.7666245792682789).abs() < 1e-9), "{inflation:?}");
    }

    #[test]
    fn groups_are_asked_for_where_they_are_needed() {
        let data = cars();
        let model = LinearRegression::default().fit(&data.view()).unwrap();
        let without = Dataset { groups: None, ..data.view() };
        let error = model.robust_covariance(&without, 0, Robust::Cluster).unwrap_err();
        assert_eq!(error.hint_text(), Some("name their column with --group"));
    }

    #[test]
    fn repeated_columns_and_rows_of_weight_zero_do_not_count() {
        let mut data = cars();
        data.weights = Some((0..32).map(|i| f64::from(i % 4)).collect());
        let kept: Vec<usize> = (0..32).filter(|i| i % 4 != 0).collect();
        let plain = data.view().gather(&kept);
        let x = data.x.values();
        let wide = Matrix::from_fn(32, 3, |i, j| if j < 2 { x[(i, j)] } else { 2.0 * x[(i, 1)] });
        let repeated = OwnedDataset { x: Table::unnamed(wide), ..data.clone() };
        for kind in [Robust::HC0, Robust::HC1, Robust::HC2, Robust::HC3, Robust::Cluster] {
            let found = |data: &OwnedDataset| {
                let model = LinearRegression::default().fit(&data.view()).unwrap();
                let found = model.robust_covariance(&data.view(), 0, kind).unwrap();
                (found.matrix[(0, 0)].sqrt(), found.matrix[(1, 1)].sqrt(), found.df)
            };
            let expected = found(&plain);
            for other in [&data, &repeated] {
                let got = found(other);
                assert!((got.0 - expected.0).abs() < 1e-9 * expected.0, "{kind:?} {got:?}");
                assert!((got.1 - expected.1).abs() < 1e-9 * expected.1, "{kind:?} {got:?}");
                assert_eq!(got.2, expected.2, "{kind:?}");
            }
        }
    }

    #[test]
    fn weight_two_is_the_row_twice() {
        let mut data = cars();
        data.weights = Some((0..32).map(|i| 1.0 + f64::from(i % 2)).collect());
        let rows: Vec<usize> = (0..32).flat_map(|i| vec![i; 1 + i % 2]).collect();
        let mut twice = data.view().gather(&rows);
        twice.weights = None;
        let inflation = |data: &OwnedDataset| {
            let model = LinearRegression::default().fit(&data.view()).unwrap();
            let estimates = model.estimates(0).unwrap();
            let report = estimates.inflation_answer(&Terms::by_name(&estimates.names[1..]));
            report.unwrap().column("VIF").unwrap().reals().unwrap()[0]
        };
        assert!((inflation(&data) - inflation(&twice)).abs() < 1e-9);
    }
}
