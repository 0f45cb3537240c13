//! Best subset regression: of each number of columns the set with the smallest residual sum.
//!
//! Minimises Σ w (y - a - bᵀx)² over b with k nonzero elements, for each k, by branch and bound
//! (see `search`): the answer is that of trying all 2^p sets. k is the best by the criterion, by
//! cross-validation with the whole search inside every fold, or given. Weights count rows.
//! Ties go to lower columns. Columns given by earlier ones are left out, with a warning.
//!
//! Furnival and Wilson (1974), Technometrics 16(4), 499-511.

use super::folds::{FoldErrors, Folds};
use super::model::{Choice, SubsetRegressionModel};
use super::reduced::{Reduced, Sums, claim};
use super::search::best_subsets;
use super::table::{Measure, SizeTable};
use learnt_core::prelude::*;

/// Best subset selection: least squares on the best of all sets of columns.
///
/// Weights count rows: 2 is the same as the row twice, also in the criteria.
///
/// ```
/// use learnt::{linear::BestSubsetRegression, prelude::*};
/// let x = Matrix::from_fn(30, 4, |i, j| ((i * (2 * j + 3) + j) % 11) as f64);
/// let y = (0..30).map(|i| 3.0 * x[(i, 2)] + (i % 2) as f64).collect();
/// let model = BestSubsetRegression::default().fit(&OwnedDataset::regression(x, y).view())?;
/// assert_eq!(model.selected, ["x2"]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct BestSubsetRegression {
    /// Number of columns to choose; none leaves the number to the criterion.
    #[param(default = None, range = 0..)]
    pub n_features: Option<usize>,
    /// The selection criterion: AIC, BIC, adjusted R² and others.
    #[param(default = BestSubsetCriterion::Bic)]
    pub criterion: BestSubsetCriterion,
    /// Number of folds of the criterion `cv`.
    #[param(default = 10, range = 2..)]
    pub cv: usize,
    /// With `cv`, take the smallest number of columns within one standard error of the best.
    #[param(default = false)]
    pub one_standard_error: bool,
    /// Fit an intercept, which is always in.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Search even with more than 40 columns, which may take very long.
    #[param(default = false)]
    pub force: bool,
}

/// Ways to choose the number of columns.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestSubsetCriterion {
    /// The smallest AIC: good predictions, often a column too many.
    Aic,
    /// The smallest BIC: the right columns, given enough rows.
    Bic,
    /// The smallest Cp of Mallows.
    Cp,
    /// The largest adjusted R².
    #[choice(name = "adjusted-r2")]
    AdjustedR2,
    /// The smallest cross-validated error.
    Cv,
}

/// The most columns that are searched without `force`.
const MOST: usize = 40;

impl BestSubsetRegression {
    fn refuse(&self, columns: usize) -> Result<()> {
        if let Some(size) = self.n_features
            && size > columns
        {
            return Err(Error::parameter("n_features", format!("at most {columns}"), size));
        }
        match columns > MOST && !self.force {
            false => Ok(()),
            true => {
                let message = format!(
                    "the best of all subsets of {columns} columns may take very long: more than {MOST} need `force`"
                );
                let hint = "set force, or use StepwiseRegression or Lasso";
                Err(Error::new(Code::Parameter, message).hint(hint))
            }
        }
    }

    /// The best set of each size.
    fn sets(&self, reduced: &Reduced, run: &Context) -> Result<Vec<Vec<usize>>> {
        let (columns, dependent) = reduced.independent();
        super::steps::enough_rows(reduced, columns.len())?;
        super::steps::warn_of(reduced, &dependent, run);
        if let Some(size) = self.n_features
            && size > columns.len()
        {
            let expected = format!("at most {}, the independent columns", columns.len());
            return Err(Error::parameter("n_features", expected, size));
        }
        best_subsets(reduced, &columns, self.n_features.unwrap_or(columns.len()), run)
    }

    fn model(
        &self,
        reduced: &Reduced,
        errors: Option<FoldErrors>,
        run: &Context,
    ) -> Result<SubsetRegressionModel> {
        let table = SizeTable::new(reduced, self.sets(reduced, run)?);
        let by = |measure: Measure, name: &str| -> Result<(usize, String)> {
            Ok((table.preferred(measure)?, format!("the size is that of the {name}")))
        };
        let (chosen, rule) = match (self.n_features, self.criterion, &errors) {
            (Some(size), ..) => (size, format!("the size was given: {size}")),
            (_, BestSubsetCriterion::Aic, _) => by(Measure::Aic, "smallest AIC")?,
            (_, BestSubsetCriterion::Bic, _) => by(Measure::Bic, "smallest BIC")?,
            (_, BestSubsetCriterion::Cp, _) => by(Measure::Cp, "smallest Cp")?,
            (_, BestSubsetCriterion::AdjustedR2, _) => {
                by(Measure::AdjustedR2, "largest adjusted R2")?
            }
            (_, BestSubsetCriterion::Cv, errors) => {
                let size = errors.as_ref().map_or(0, |e| e.size(self.one_standard_error));
                (size, super::steps::cv_rule(self.cv, self.one_standard_error))
            }
        };
        let chosen = chosen.min(table.subsets.len() - 1);
        let choice = Choice { table, path: Vec::new(), chosen, errors, rule };
        SubsetRegressionModel::new(reduced, choice)
    }

    fn folded(&self) -> bool {
        self.criterion == BestSubsetCriterion::Cv && self.n_features.is_none()
    }
}

impl Estimator for BestSubsetRegression {
    type Model = SubsetRegressionModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::regressor("linear_model.BestSubsetRegression")
        .full_rank()
        .alias(&["best-subset"])
        .weights()
        .groups()
        .only_by_name()
        .threads()
        .randomness()
        .streaming()
        .complexity(20)
        .cost("n p² time for the rows, at worst 2^p for the search; p² memory")
        .reference("Furnival and Wilson (1974), Technometrics 16(4), 499-511")
        .exempt(&[
            ("weights_scale", "criteria take the weight as the number of rows"),
            ("seeds_differ", "only the folds of the criterion `cv` are drawn"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "it gives lists of rows as folds, and `cv` is a number of folds",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<SubsetRegressionModel> {
        if !self.folded() {
            return rounds::train(self, data, run);
        }
        self.refuse(data.x.ncols())?;
        let select = |reduced: &Reduced, run: &Context| self.sets(reduced, run);
        let folds = Folds::new(data, self.cv, self.fit_intercept, run)?;
        let errors = folds.errors(run, select)?;
        self.model(&folds.reduced(None)?, Some(errors), run)
    }

    fn job(&self) -> Option<Box<dyn rounds::Job>> {
        if self.folded() { None } else { rounds::job(self) }
    }
}

impl Rounds for BestSubsetRegression {
    type State = Vec<String>;
    type Summary = Sums;
    type Output = SubsetRegressionModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Vec<String>> {
        self.refuse(outline.schema.len())?;
        claim(outline.schema.len(), run)?;
        Ok(outline.names())
    }

    fn summarize(
        &self,
        _names: &Vec<String>,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<Sums> {
        Sums::of(&block.data)
    }

    fn advance(
        &self,
        names: Vec<String>,
        all: Sums,
        run: &Context,
    ) -> Result<Step<Vec<String>, SubsetRegressionModel>> {
        let reduced = Reduced::new(&names, all, self.fit_intercept)?;
        self.model(&reduced, None, run).map(Step::Done)
    }
}
