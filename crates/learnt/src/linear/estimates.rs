//! Estimates with their covariance: what tests, intervals, ratios and inflation of variances need, whatever
//! model they are of.
//!
//! Wald: b_Sᵀ V_SS⁻¹ b_S for a set S of coefficients is χ² with |S| degrees of freedom where the dispersion is
//! known, and |S| times an F where it is estimated. The generalised inflation of a term's variances is
//! det R₁₁ det R₂₂ / det R for the correlations R of the estimates without the intercept (Fox and Monette 1992,
//! Journal of the American Statistical Association 87, 178-183), which for one column is 1 / (1 - R²).

use super::coefficient_table::{Scale, with_tests_at};
use super::evidence::absent;
use super::inference::{CoefficientTest, Test, chi_squared_test, f_test_of};
use crate::charts::coefficients::{self, Group};
use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;
use learnt_core::question::Terms;

/// Estimates with their covariance.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    /// The intercept first, if there is one.
    pub(super) names: Vec<String>,
    pub(super) values: Vec<f64>,
    pub(super) covariance: Matrix,
    /// Which the data determine.
    pub(super) determined: Vec<bool>,
    pub(super) intercept: bool,
    pub(super) scale: Scale,
    /// The input column without an estimate: an offset.
    pub(super) offset: Option<usize>,
}

impl Estimates {
    /// The position of an input column's estimate.
    pub(super) fn of_column(&self, column: usize) -> usize {
        let before = self.offset.is_some_and(|offset| offset < column);
        column + usize::from(self.intercept) - usize::from(before)
    }

    fn standard_error(&self, k: usize) -> f64 {
        self.covariance[(k, k)].sqrt()
    }

    /// The table with intervals of this level, of the estimates that the data determine.
    pub(super) fn tests(&self, level: f64) -> Result<Vec<CoefficientTest>> {
        let half = self.scale.half_width(level)?;
        let determined = (0..self.names.len()).filter(|&k| self.determined[k]);
        determined
            .map(|k| self.scale.test(&self.names[k], self.values[k], self.standard_error(k), half))
            .collect()
    }

    fn undetermined(&self) -> Vec<String> {
        let pairs = self.names.iter().zip(&self.determined);
        pairs.filter(|(_, known)| !**known).map(|(name, _)| name.clone()).collect()
    }

    /// Estimates with standard errors, tests and intervals.
    pub(super) fn coefficient_answer(&self, title: &str, level: f64) -> Result<Answer> {
        let tests = self.tests(level)?;
        let title = format!("{title}, level {level}");
        Ok(table_answer(&title, self.scale.letter(), &tests, &self.undetermined(), level))
    }

    /// The same for other ends of the intervals.
    pub(super) fn with_ends(&self, title: &str, ends: &[(f64, f64)], level: f64) -> Result<Answer> {
        let mut tests = self.tests(level)?;
        for (test, ends) in tests.iter_mut().zip(ends) {
            (test.lower, test.upper) = *ends;
        }
        let title = format!("{title}, level {level}");
        Ok(table_answer(&title, self.scale.letter(), &tests, &self.undetermined(), level))
    }

    /// The covariance matrix.
    pub(super) fn covariance_answer(&self) -> Answer {
        let head: Vec<&str> =
            std::iter::once("term").chain(self.names.iter().map(String::as_str)).collect();
        let mut table = Columns::new("", &head);
        for (name, row) in self.names.iter().zip(self.covariance.rows()) {
            let cells = row.iter().map(|&value| Cell::Number(value));
            table.push(std::iter::once(Cell::Text(name.clone())).chain(cells).collect());
        }
        Answer { tables: vec![table], ..Answer::new("Covariance of the coefficients") }
    }

    /// The test that these estimates are all zero.
    pub(super) fn wald(&self, chosen: &[usize]) -> Result<Test> {
        let q = chosen.len();
        if q == 0 {
            return Err(Error::new(Code::Usage, "no columns to test"));
        }
        if let Some(&k) = chosen.iter().find(|&&k| !self.determined[k]) {
            let name = &self.names[k];
            return Err(absent(format!("the data do not determine the coefficient of '{name}'")));
        }
        let scale: Vec<f64> = chosen.iter().map(|&k| self.standard_error(k)).collect();
        let correlation = Matrix::from_fn(q, q, |a, b| {
            self.covariance[(chosen[a], chosen[b])] / (scale[a] * scale[b])
        });
        let factor = Cholesky::new(&correlation)
            .ok_or_else(|| absent("the coefficients depend on each other"))?;
        let mut along: Vec<f64> =
            chosen.iter().zip(&scale).map(|(&k, s)| self.values[k] / s).collect();
        factor.solve_lower_in_place(&mut along);
        let statistic = dot(&along, &along);
        Ok(match self.scale {
            Scale::Student(df) => f_test_of(statistic / q as f64, q as f64, df),
            Scale::Normal => chi_squared_test(statistic, q as f64),
        })
    }

    /// The test that the estimates of these columns are all zero.
    pub(super) fn test_of_columns(&self, columns: &[&str]) -> Result<Test> {
        let mut chosen = Vec::new();
        for name in columns {
            let known = &self.names;
            let unknown = || Error::unknown("column", name, known.iter().map(String::as_str));
            let k = known.iter().position(|known| known == name).ok_or_else(unknown)?;
            if !chosen.contains(&k) {
                chosen.push(k);
            }
        }
        self.wald(&chosen)
    }

    /// One line about a test of some columns.
    pub(super) fn column_answer(&self, columns: &[String]) -> Result<Answer> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let test = self.test_of_columns(&names)?;
        let mut table = match test.df_residual.is_finite() {
            true => Columns::new("", &["columns", "F", "df", "df of residuals", "p"]),
            false => Columns::new("", &["columns", "chi2", "df", "p"]),
        };
        let mut cells = vec![Cell::Text(columns.join(", ")), Cell::Number(test.statistic)];
        cells.push(Cell::Number(test.df));
        if test.df_residual.is_finite() {
            cells.push(Cell::Number(test.df_residual));
        }
        cells.push(Cell::Probability(test.p));
        table.push(cells);
        Ok(Answer { tables: vec![table], ..Answer::new("Test that the coefficients are all zero") })
    }

    /// The estimates of a term's columns; for several classes those of each.
    pub(super) fn of_term(&self, columns: &[usize]) -> Vec<usize> {
        columns.iter().map(|&j| self.of_column(j)).filter(|&k| k < self.names.len()).collect()
    }

    /// Each term against the model without it.
    pub(super) fn term_answer(
        &self,
        terms: &Terms,
        of_term: impl Fn(&[usize]) -> Vec<usize>,
    ) -> Result<Answer> {
        let statistic = if matches!(self.scale, Scale::Normal) { "chi2" } else { "F" };
        let mut table = Columns::new("", &["term", "df", statistic, "p"]);
        for (name, columns) in terms.names.iter().zip(&terms.columns) {
            let known: Vec<usize> =
                of_term(columns).into_iter().filter(|&k| self.determined[k]).collect();
            let mut cells = vec![Cell::Text(name.clone())];
            match self.wald(&known) {
                Ok(test) => cells.extend([
                    Cell::Number(test.df),
                    Cell::Number(test.statistic),
                    Cell::Probability(test.p),
                ]),
                Err(why) => cells.extend((0..3).map(|_| Cell::Empty(why.message().to_string()))),
            }
            table.push(cells);
        }
        let title = "Each term against the model without it (Wald)";
        let mut answer = Answer { tables: vec![table], ..Answer::new(title) };
        if let Scale::Student(df) = self.scale {
            answer.push("df of residuals", df);
        }
        Ok(answer)
    }

    /// Inflation of the variances of each term by the others.
    pub(super) fn inflation_answer(&self, terms: &Terms) -> Result<Answer> {
        let extra = usize::from(self.intercept);
        let known: Vec<usize> = (extra..self.names.len()).filter(|&k| self.determined[k]).collect();
        let ln_det = |chosen: &[usize]| -> Result<f64> {
            if chosen.is_empty() {
                return Ok(0.0);
            }
            let correlation = Matrix::from_fn(chosen.len(), chosen.len(), |a, b| {
                let (i, j) = (chosen[a], chosen[b]);
                self.covariance[(i, j)] / (self.standard_error(i) * self.standard_error(j))
            });
            let factor = Cholesky::new(&correlation)
                .ok_or_else(|| absent("the columns depend on each other too closely"))?;
            Ok((0..chosen.len()).map(|k| 2.0 * factor.lower[(k, k)].ln()).sum())
        };
        let whole = ln_det(&known)?;
        let mut table = Columns::new("", &["term", "df", "VIF", "VIF^(1/(2 df))"]);
        for (name, columns) in terms.names.iter().zip(&terms.columns) {
            let own: Vec<usize> =
                self.of_term(columns).into_iter().filter(|k| known.contains(k)).collect();
            if own.is_empty() {
                continue;
            }
            let rest: Vec<usize> = known.iter().copied().filter(|k| !own.contains(k)).collect();
            let inflation = (ln_det(&own)? + ln_det(&rest)? - whole).exp();
            table.push(vec![
                Cell::Text(name.clone()),
                Cell::Number(own.len() as f64),
                Cell::Number(inflation),
                Cell::Number(inflation.powf(0.5 / own.len() as f64)),
            ]);
        }
        let mut answer = Answer::new("Inflation of variances by the other terms");
        answer.tables.push(table);
        answer.notes.push("above 10 a column nearly follows from the others".to_string());
        Ok(answer)
    }

    /// The same estimates with another covariance.
    pub(super) fn with_covariance(&self, covariance: Matrix, scale: Scale) -> Estimates {
        Estimates { covariance, scale, ..self.clone() }
    }
}

/// A table of tests with its picture.
fn table_answer(
    title: &str,
    statistic: &str,
    tests: &[CoefficientTest],
    undetermined: &[String],
    level: f64,
) -> Answer {
    let table = with_tests_at("", statistic, tests, undetermined, ["lower", "upper"]);
    let group = Group {
        title: String::new(),
        terms: tests.iter().map(|test| test.name.clone()).collect(),
        estimates: tests.iter().map(|test| test.estimate).collect(),
        intervals: tests.iter().map(|test| (test.lower, test.upper)).collect(),
    };
    let chart = coefficients::intervals(&[group.of_slopes()], level);
    Answer { tables: vec![table], charts: vec![chart], ..Answer::new(title) }
}

/// Ratios exp(b) with their intervals: of odds, of rates, of means.
pub(super) fn ratio_answer(word: &str, tests: &[CoefficientTest], level: f64) -> Answer {
    let mut table = Columns::new("", &["term", word, "lower", "upper", "p"]);
    for test in tests {
        table.push(vec![
            Cell::Text(test.name.clone()),
            Cell::Number(test.estimate.exp()),
            Cell::Number(test.lower.exp()),
            Cell::Number(test.upper.exp()),
            Cell::Probability(test.p),
        ]);
    }
    let first = word.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let title = format!("{first}{}s, level {level}", &word[1..]);
    Answer { tables: vec![table], ..Answer::new(title) }
}

/// The terms that a question is about: those of a step in front, or what the names of columns say.
pub(super) fn terms_of(asked: &Asked, names: &[String]) -> Terms {
    match &asked.terms {
        Some(terms) if terms.columns.iter().flatten().all(|&j| j < names.len()) => terms.clone(),
        _ => Terms::by_name(names),
    }
}
