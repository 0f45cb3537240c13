//! Stepwise regression: columns enter or leave one at a time.
//!
//! Forward starts from the intercept and adds the column with the largest fall of the residual sum;
//! backward starts from all columns and drops the one with the smallest |t| (it needs more rows than
//! columns); both takes the better of the two moves, from the intercept on. Steps end when the
//! criterion stops falling, no F passes its threshold, or the number of columns is reached; or the
//! whole way is cross-validated, with its steps repeated inside every fold. Weights count rows.
//! Ties go to the lowest column.
//!
//! Efroymson (1960), Multiple regression analysis, in Mathematical Methods for Digital Computers.

use super::folds::{FoldErrors, Folds};
use super::model::{Choice, SubsetRegressionModel};
use super::reduced::{Reduced, Sums, claim};
use super::steps::{Rule, Steps, Way};
use super::table::{Measure, SizeTable};
use learnt_core::prelude::*;

/// Stepwise regression: least squares on columns selected one at a time, forward or backward.
///
/// Weights count rows: 2 is the same as the row twice, also in the criteria.
///
/// ```
/// use learnt::{linear::StepwiseRegression, prelude::*};
/// let x = Matrix::from_fn(30, 4, |i, j| ((i * (2 * j + 3) + j) % 11) as f64);
/// let y = (0..30).map(|i| 3.0 * x[(i, 2)] + (i % 2) as f64).collect();
/// let model = StepwiseRegression::default().fit(&OwnedDataset::regression(x, y).view())?;
/// assert_eq!(model.path[1], "+ x2");
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct StepwiseRegression {
    /// Direction of the selection: forward, backward or both.
    #[param(default = Direction::Forward)]
    pub direction: Direction,
    /// The stopping criterion: AIC, BIC and others.
    #[param(default = StepwiseCriterion::Aic)]
    pub criterion: StepwiseCriterion,
    /// Number of columns for the criterion `size`; with the others the most columns of forward steps
    /// and the fewest of backward ones.
    #[param(default = None, range = 0..)]
    pub n_features: Option<usize>,
    /// Smallest F statistic with which a column enters, for the criterion `f`.
    #[param(default = 4.0, range = 0.0..)]
    pub f_to_enter: f64,
    /// F statistic below which a column leaves, for the criterion `f`; at most `f_to_enter` counts.
    #[param(default = 3.9, range = 0.0..)]
    pub f_to_remove: f64,
    /// Number of folds of the criterion `cv`.
    #[param(default = 10, range = 2..)]
    pub cv: usize,
    /// With `cv`, take the smallest number of columns within one standard error of the best.
    #[param(default = false)]
    pub one_standard_error: bool,
    /// Fit an intercept, which is always in.
    #[param(default = true)]
    pub fit_intercept: bool,
}

/// Ways that steps go.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Columns are added.
    Forward,
    /// Columns are dropped.
    Backward,
    /// Columns are added, and dropped again where that is better.
    Both,
}

/// Ways to end.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepwiseCriterion {
    /// When AIC stops falling.
    Aic,
    /// When BIC stops falling.
    Bic,
    /// When the Cp of Mallows stops falling.
    Cp,
    /// When no F statistic passes `f_to_enter` or `f_to_remove`.
    F,
    /// When `n_features` columns are chosen.
    Size,
    /// At the number of columns with the smallest cross-validated error.
    Cv,
}

impl StepwiseRegression {
    fn constraints(&self) -> Result<()> {
        if self.criterion == StepwiseCriterion::Size && self.n_features.is_none() {
            return Err(Error::parameter("n_features", "given with the criterion 'size'", "none"));
        }
        let whole = matches!(self.criterion, StepwiseCriterion::Size | StepwiseCriterion::Cv);
        match whole && self.direction == Direction::Both {
            true => {
                let expected = "'forward' or 'backward' with the criteria 'size' and 'cv'";
                Err(Error::parameter("direction", expected, "both"))
            }
            false => Ok(()),
        }
    }

    fn rule(&self) -> Rule {
        match self.criterion {
            StepwiseCriterion::Aic => Rule::Falls(Measure::Aic),
            StepwiseCriterion::Bic => Rule::Falls(Measure::Bic),
            StepwiseCriterion::Cp => Rule::Falls(Measure::Cp),
            StepwiseCriterion::F => {
                Rule::F { enter: self.f_to_enter, remove: self.f_to_remove.min(self.f_to_enter) }
            }
            StepwiseCriterion::Size | StepwiseCriterion::Cv => Rule::Always,
        }
    }

    fn way(&self, reduced: &Reduced, run: &Context) -> Result<Way> {
        let steps = Steps::new(reduced, self.rule(), self.n_features, run)?;
        match self.direction {
            Direction::Forward => steps.forward(),
            Direction::Backward => steps.backward(),
            Direction::Both => steps.both(),
        }
    }

    fn model(
        &self,
        reduced: &Reduced,
        errors: Option<FoldErrors>,
        run: &Context,
    ) -> Result<SubsetRegressionModel> {
        let way = self.way(reduced, run)?;
        let last = way.sets.len() - 1;
        if let (StepwiseCriterion::Size, Some(size)) = (self.criterion, self.n_features)
            && way.sets[last].len() != size
        {
            let expected = format!("at most {}, the columns that can enter", way.sets[last].len());
            return Err(Error::parameter("n_features", expected, size));
        }
        let (chosen, rule) = match &errors {
            Some(errors) => {
                let size = errors.size(self.one_standard_error);
                let at = way.sets.iter().position(|set| set.len() == size).unwrap_or(last);
                (at, super::steps::cv_rule(self.cv, self.one_standard_error))
            }
            None => (last, self.ending()),
        };
        let table = SizeTable::with(reduced, way.sets, way.rss);
        let choice = Choice { table, path: way.moves, chosen, errors, rule };
        SubsetRegressionModel::new(reduced, choice)
    }

    fn ending(&self) -> String {
        match self.criterion {
            StepwiseCriterion::Aic => "steps ended when AIC stopped falling".into(),
            StepwiseCriterion::Bic => "steps ended when BIC stopped falling".into(),
            StepwiseCriterion::Cp => "steps ended when Cp stopped falling".into(),
            StepwiseCriterion::F => format!(
                "steps ended when no F passed {} to enter or {} to leave",
                self.f_to_enter,
                self.f_to_remove.min(self.f_to_enter)
            ),
            StepwiseCriterion::Size | StepwiseCriterion::Cv => {
                "steps ended at the given number of columns".into()
            }
        }
    }
}

impl Estimator for StepwiseRegression {
    type Model = SubsetRegressionModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::regressor("linear_model.StepwiseRegression")
        .full_rank()
        .alias(&["stepwise"])
        .weights()
        .groups()
        .threads()
        .randomness()
        .streaming()
        .complexity(20)
        .cost("n p² time for the rows, p² a step; p² memory")
        .reference("Efroymson (1960), Mathematical Methods for Digital Computers")
        .exempt(&[
            ("weights_scale", "criteria take the weight as the number of rows"),
            ("seeds_differ", "only the folds of the criterion `cv` are drawn"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "it gives lists of rows as folds, and `cv` is a number of folds",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<SubsetRegressionModel> {
        if self.criterion != StepwiseCriterion::Cv {
            return rounds::train(self, data, run);
        }
        let select = |reduced: &Reduced, run: &Context| {
            let mut sets = self.way(reduced, run)?.sets;
            sets.sort_by_key(Vec::len);
            match sets.first() {
                // Backward steps with a limit start above no columns: smaller sizes have no error.
                Some(set) if !set.is_empty() => Err(limited()),
                _ => Ok(sets),
            }
        };
        let folds = Folds::new(data, self.cv, self.fit_intercept, run)?;
        let errors = folds.errors(run, select)?;
        self.model(&folds.reduced(None)?, Some(errors), run)
    }

    fn job(&self) -> Option<Box<dyn rounds::Job>> {
        if self.criterion == StepwiseCriterion::Cv { None } else { rounds::job(self) }
    }
}

fn limited() -> Error {
    let expected = "none with backward steps and the criterion 'cv'";
    Error::parameter("n_features", expected, "a number")
}

impl Rounds for StepwiseRegression {
    type State = Vec<String>;
    type Summary = Sums;
    type Output = SubsetRegressionModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Vec<String>> {
        if let (StepwiseCriterion::Size, Some(size)) = (self.criterion, self.n_features)
            && size > outline.schema.len()
        {
            let expected = format!("at most {}", outline.schema.len());
            return Err(Error::parameter("n_features", expected, size));
        }
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
