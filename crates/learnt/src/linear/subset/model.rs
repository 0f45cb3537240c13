//! What selection leaves behind: a linear function, and the sets that were compared.

use super::folds::FoldErrors;
use super::reduced::Reduced;
use super::table::{Fitted, SizeTable};
use learnt_core::prelude::*;

/// A least-squares fit on chosen columns.
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, validate = validate, report = report)]
pub struct SubsetRegressionModel {
    /// Coefficients, (1 × n_features); zero for the columns left out.
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept; zero without `fit_intercept`.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Whether each column was chosen.
    #[shape(columns)]
    pub support: Vec<bool>,
    /// The names of the chosen columns.
    pub selected: Vec<String>,
    /// The compared sets, as column numbers: by size, or after each move.
    pub subsets: Vec<Vec<usize>>,
    /// The moves of stepwise selection: nothing, then `+ column` or `- column`; empty for best
    /// subsets.
    pub path: Vec<String>,
    /// Which of the compared sets was chosen.
    pub chosen: usize,
    /// Residual sum of squares of each set.
    #[shape(subsets)]
    pub rss: Vec<f64>,
    /// n ln(RSS/n) + 2k of each set, k with the intercept.
    #[shape(subsets)]
    pub aic: Vec<f64>,
    /// n ln(RSS/n) + k ln n of each set.
    #[shape(subsets)]
    pub bic: Vec<f64>,
    /// RSS/s² - n + 2k of each set, s² the noise beside all columns; none where that cannot be told.
    #[shape(subsets)]
    pub cp: Option<Vec<f64>>,
    /// Share of variance explained, corrected for the number of coefficients; none for a constant
    /// target.
    #[shape(subsets)]
    pub adjusted_r2: Option<Vec<f64>>,
    /// Cross-validated mean squared error by number of columns; none without cross-validation.
    pub cv_error: Option<Vec<f64>>,
    /// Standard error of `cv_error` over the folds.
    pub cv_standard_error: Option<Vec<f64>>,
    #[shape(columns)]
    names: Vec<String>,
    with_intercept: bool,
    standard_error: Option<Vec<f64>>,
    rule: String,
}

/// What a search met, and which set it chose.
pub(super) struct Choice {
    pub(super) table: SizeTable,
    pub(super) path: Vec<String>,
    pub(super) chosen: usize,
    pub(super) errors: Option<FoldErrors>,
    /// How the choice was made, for the report.
    pub(super) rule: String,
}

impl SubsetRegressionModel {
    pub(super) fn new(reduced: &Reduced, choice: Choice) -> Result<SubsetRegressionModel> {
        let mut set = choice.table.subsets.get(choice.chosen).cloned().unwrap_or_default();
        set.sort_unstable();
        let fitted = Fitted::new(reduced, &set);
        let finite = fitted.coef.iter().chain([&fitted.intercept]).all(|b| b.is_finite());
        if !finite {
            let message = "coefficients are too large for double precision";
            return Err(Error::numeric(message).hint("bring columns and target to similar scales"));
        }
        let (cv_error, cv_standard_error) =
            choice.errors.map(|errors| (errors.mean, errors.standard_error)).unzip();
        let table = choice.table;
        Ok(SubsetRegressionModel {
            coef: Matrix::from_vec(1, reduced.width(), fitted.coef)?,
            intercept: vec![fitted.intercept],
            support: (0..reduced.width()).map(|j| set.contains(&j)).collect(),
            selected: set.iter().map(|&j| reduced.names[j].clone()).collect(),
            subsets: table.subsets,
            path: choice.path,
            chosen: choice.chosen,
            rss: table.rss,
            aic: table.aic,
            bic: table.bic,
            cp: table.cp,
            adjusted_r2: table.adjusted_r2,
            cv_error,
            cv_standard_error,
            names: reduced.names.clone(),
            with_intercept: reduced.intercept,
            standard_error: fitted.standard_error,
            rule: choice.rule,
        })
    }

    fn validate(&self) -> Result<()> {
        let (d, rows) = (self.coef.ncols(), self.subsets.len());
        let table = self.rss.len() == rows
            && (self.path.is_empty() || self.path.len() == rows)
            && self.chosen < rows
            && self.subsets.iter().all(|set| set.iter().all(|&j| j < d));
        let count = self.selected.len() + usize::from(self.with_intercept);
        let errors = self.standard_error.as_ref().is_none_or(|errors| errors.len() == count);
        match table && errors {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("the parts of the selection do not agree")),
        }
    }

    fn report(&self, _: &Names) -> Answer {
        let count = self.selected.len();
        let mut report =
            Answer::new(format!("Least squares on {count} of {} columns", self.names.len()));
        report.tables.push(self.coefficient_table());
        report.tables.push(self.comparison_table());
        report.push("RSS", self.rss[self.chosen]);
        let r2 = self.adjusted_r2.as_ref().map(|all| all[self.chosen]);
        report.push_some("adjusted R2", r2);
        report.notes.push(self.rule.clone());
        report.notes.push(
            "standard errors ignore the selection, so p-values from them would be too small; none are given"
                .into(),
        );
        report
    }

    fn coefficient_table(&self) -> Columns {
        let mut table = Columns::new("", &["term", "coefficient", "std. error"]);
        let mut terms: Vec<(&str, f64)> = Vec::new();
        if self.with_intercept {
            terms.push(("(intercept)", self.intercept[0]));
        }
        for (name, (&b, &chosen)) in
            self.names.iter().zip(self.coef.row(0).iter().zip(&self.support))
        {
            if chosen {
                terms.push((name, b));
            }
        }
        for (k, (name, b)) in terms.into_iter().enumerate() {
            let error = self.standard_error.as_ref().and_then(|errors| errors.get(k));
            let cell = error.map_or(Cell::Empty("no noise is left".into()), |e| Cell::Number(*e));
            table.push(vec![name.into(), Cell::Number(b), cell]);
        }
        table
    }

    /// By size with the sets, or by move.
    fn comparison_table(&self) -> Columns {
        let stepwise = !self.path.is_empty();
        let first = if stepwise { "move" } else { "subset" };
        let title = if stepwise { "Moves" } else { "Best subset of each size" };
        let head = ["", first, "columns", "RSS", "Cp", "AIC", "BIC", "adj. R2", "CV error"];
        let count = if self.cv_error.is_some() { head.len() } else { head.len() - 1 };
        let mut table = Columns::new(title, &head[..count]);
        let optional = |column: &Option<Vec<f64>>, row: usize, why: &str| {
            let value = column.as_ref().and_then(|column| column.get(row));
            value.map_or(Cell::Empty(why.into()), |value| Cell::Number(*value))
        };
        for (row, set) in self.subsets.iter().enumerate() {
            let names: Vec<&str> = set.iter().map(|&j| self.names[j].as_str()).collect();
            let label = if stepwise { self.path[row].clone() } else { names.join(" ") };
            let mark = if row == self.chosen { "*" } else { "" };
            let mut cells = vec![
                mark.into(),
                Cell::Text(label),
                Cell::Count(set.len() as i64),
                Cell::Number(self.rss[row]),
                optional(&self.cp, row, "no noise beside all columns"),
                Cell::Number(self.aic[row]),
                Cell::Number(self.bic[row]),
                optional(&self.adjusted_r2, row, "constant target"),
            ];
            if self.cv_error.is_some() {
                cells.push(optional(&self.cv_error, set.len(), "not reached in every fold"));
            }
            table.push(cells);
        }
        table
    }
}
