//! Standard errors of least squares that do not trust equal variances, inflation of variances, and tests of
//! whole factors.
//!
//! V = B (Σ s_i s_iᵀ) B with B = (XᵀWX)⁻¹ and s_i = w_i r_i x_i (White 1980). HC1 multiplies by n/(n - k); HC2
//! divides r_i² by 1 - h_i, HC3 by its square (MacKinnon and White 1985). With groups the scores of a group are
//! summed before they are squared, times G/(G - 1) (n - 1)/(n - k), as in Stata. Statistics are compared with
//! Student's t on n - k degrees of freedom, and on G - 1 for groups.
//!
//! The inflation of a variance is Var(b_j) Σ w (x_j - mean)² / σ²: what the other columns do to it. A factor is
//! tested by the F test that all of its columns have coefficient zero while the others stay, as `drop1` in R.

use super::coefficient_table::{Scale, with_tests};
use super::diagnostics;
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
        let usual = self.covariance(output)?;
        let bread = Matrix::from_fn(usual.nrows(), usual.ncols(), |i, j| usual[(i, j)] / noise);
        let scores = self.scores(data, &found, kind)?;
        let (n, k) = (data.nrows() as f64, bread.nrows() as f64);
        let (scores, factor, df) = match kind {
            Robust::Cluster => {
                let scores = summed(&scores, data.groups)?;
                let groups = scores.nrows() as f64;
                (scores, groups / (groups - 1.0) * (n - 1.0) / (n - k), groups - 1.0)
            }
            Robust::HC1 => (scores, n / (n - k), n - k),
            _ => (scores, 1.0, n - k),
        };
        if df <= 0.0 {
            return Err(Error::new(
                Code::TooFew,
                "too few rows or groups for robust standard errors",
            ));
        }
        let meat = matmul(scores.view().transposed(), scores.view());
        let matrix = matmul(matmul(bread.view(), meat.view()).view(), bread.view());
        let matrix =
            Matrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| factor * matrix[(i, j)]);
        Ok(RobustCovariance { matrix, df })
    }

    /// w r x of each row, with 1 for the intercept first.
    fn scores(
        &self,
        data: &Dataset,
        found: &diagnostics::Influence,
        kind: Robust,
    ) -> Result<Matrix> {
        let extra = usize::from(self.evidence.intercept);
        let width = data.x.ncols() + extra;
        let mut out = Matrix::zeros(data.nrows(), width);
        for i in 0..data.nrows() {
            let rest = 1.0 - found.leverage[i];
            let divisor = match kind {
                Robust::HC2 => rest.sqrt(),
                Robust::HC3 => rest,
                _ => 1.0,
            };
            if divisor <= 1e-6 && found.residual[i] != 0.0 && kind == Robust::HC3 {
                let message = format!("row {} determines its own fit (leverage 1)", i + 1);
                return Err(Error::numeric(message).hint("ask for HC1"));
            }
            let scale = data.weight(i) * found.residual[i] / divisor.max(1e-12);
            let row = out.row_mut(i);
            row[..extra].fill(scale);
            for (j, cell) in row[extra..].iter_mut().enumerate() {
                *cell = scale * data.x.values().at(i, j);
            }
        }
        Ok(out)
    }

    /// Coefficients with robust standard errors.
    pub(super) fn robust_report(
        &self,
        data: &Dataset,
        output: usize,
        kind: Robust,
        level: f64,
    ) -> Result<Answer> {
        let RobustCovariance { matrix, df } = self.robust_covariance(data, output, kind)?;
        let extra = usize::from(self.evidence.intercept);
        let scale = Scale::Student(df);
        let half = scale.half_width(level)?;
        let intercept = extra == 1;
        let names = intercept.then(|| "(intercept)".to_string()).into_iter();
        let names = names.chain(self.evidence.names.iter().cloned());
        let values = intercept.then(|| self.intercept[output]).into_iter();
        let values = values.chain(self.coef.row(output).iter().copied());
        let mut tests = Vec::new();
        for (j, (name, value)) in names.zip(values).enumerate() {
            tests.push(scale.test(&name, value, matrix[(j, j)].sqrt(), half)?);
        }
        let mut answer = Answer::new(format!("Coefficients with {} standard errors", word(kind)));
        answer.tables.push(with_tests("", "t", &tests, &[]));
        answer.push("df", df);
        answer.push("level", level);
        Ok(answer)
    }

    /// Inflation of the variance of each coefficient by the other columns.
    pub(super) fn inflation_report(&self, data: &Dataset) -> Result<Answer> {
        let noise = self.evidence.noise(0)?;
        let covariance = self.covariance(0)?;
        let extra = usize::from(self.evidence.intercept);
        let mut table = Columns::new("", &["term", "VIF", "tolerance"]);
        for (j, name) in self.evidence.names.iter().enumerate() {
            let mean = if extra == 1 { self.evidence.mean[j] } else { 0.0 };
            let deviation = |i: usize| data.x.values().at(i, j) - mean;
            let squares: f64 =
                (0..data.nrows()).map(|i| data.weight(i) * deviation(i).powi(2)).sum();
            let inflation = covariance[(j + extra, j + extra)] * squares / noise;
            table.push(vec![
                Cell::Text(name.clone()),
                Cell::Number(inflation),
                Cell::Number(1.0 / inflation),
            ]);
        }
        let mut answer = Answer::new("Inflation of variances by the other columns");
        answer.tables.push(table);
        answer.notes.push("above 10 a column nearly follows from the others".to_string());
        Ok(answer)
    }

    /// The F test of each column, and of the columns of one category together.
    pub(super) fn factor_report(&self, output: usize) -> Result<Answer> {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for name in &self.evidence.names {
            let factor = name.split_once(": ").map_or(name.as_str(), |(factor, _)| factor);
            match groups.last_mut() {
                Some((known, members)) if *known == factor => members.push(name),
                _ => groups.push((factor, vec![name])),
            }
        }
        let mut table = Columns::new("", &["term", "df", "F", "p"]);
        for (factor, members) in groups {
            let test = self.test_columns(output, &members)?;
            table.push(vec![
                Cell::Text(factor.to_string()),
                Cell::Number(test.df),
                Cell::Number(test.statistic),
                Cell::Probability(test.p),
            ]);
        }
        let mut answer = Answer::new("Each term against the model without it");
        answer.tables.push(table);
        answer.push("df of residuals", self.evidence.freedom()?);
        Ok(answer)
    }
}

fn word(kind: Robust) -> &'static str {
    match kind {
        Robust::HC0 => "HC0",
        Robust::HC1 => "HC1",
        Robust::HC2 => "HC2",
        Robust::HC3 => "HC3",
        Robust::Cluster => "clustered",
    }
}

/// Scores summed by group, groups in the order of their numbers.
fn summed(scores: &Matrix, groups: Option<&[u32]>) -> Result<Matrix> {
    let groups = groups.ok_or_else(|| {
        Error::new(Code::Usage, "clustered standard errors need groups of rows")
            .hint("name their column with --group")
    })?;
    let mut sums: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (row, &group) in scores.rows().zip(groups) {
        let sum = sums.entry(group).or_insert_with(|| vec![0.0; scores.ncols()]);
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    Matrix::from_rows(&sums.into_values().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

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
        let inflation = model.inflation_report(&data.view()).unwrap();
        let inflation = inflation.column("VIF").unwrap().reals().unwrap().to_vec();
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
    fn weight_two_is_the_row_twice() {
        let mut data = cars();
        data.weights = Some((0..32).map(|i| 1.0 + f64::from(i % 2)).collect());
        let rows: Vec<usize> = (0..32).flat_map(|i| vec![i; 1 + i % 2]).collect();
        let mut twice = data.view().gather(&rows);
        twice.weights = None;
        let inflation = |data: &OwnedDataset| {
            let model = LinearRegression::default().fit(&data.view()).unwrap();
            let report = model.inflation_report(&data.view()).unwrap();
            report.column("VIF").unwrap().reals().unwrap()[0]
        };
        assert!((inflation(&data) - inflation(&twice)).abs() < 1e-9);
    }
}
