//! Logistic regression for two or more classes.
//!
//! Minimises  Σ w_i (ln Σ_k exp(s_ik) - s_iy) + ((1 - r) |W|² / 2 + r Σ |W_kj|) / C  with
//! s_k = W_k x + b_k and r the `l1_ratio`; intercepts are free. Two classes have one row of weights, the score of the second class; more have one row a
//! class, summing to zero over classes if r = 0. With r > 0 solved by proximal Newton; else relative to the first class: its score is 0, and the
//! penalty of the others is that of the symmetric form.
//! Newton by Cholesky up to 501 parameters of two classes or 100 of more, else L-BFGS in the
//! coordinates where the Hessian at zero is the identity. Stops when a full step promises to lower
//! the mean objective by at most tol² (L-BFGS: tol² for every eight weights); unpenalised Newton, when it is
//! shorter than tol standard errors. Far more columns than rows: `logistic_wide`. With two classes a column may be an
//! offset o of the score, s = W x + b + o; the null deviance is then that of an intercept beside it. A row with score 0 is of the second class; equal scores of more go to the first.
//!
//! Hosmer, Lemeshow and Sturdivant (2013), Applied Logistic Regression; Albert and Anderson (1984),
//! Biometrika 71, 1–10, for separation.

use super::coefficient_table::{Likelihood, Scale, with_tests, without_tests};
use super::generalized::asked::QUESTIONS;
use super::likelihood::inference::LogisticInference;
use super::likelihood::{Pass, Summary};
use super::logistic_fit::{Fit, Stage};
use super::logistic_route::{newton_fits, newton_pays, rows_pay};
use super::logistic_wide::KeptRows;
use learnt_core::error::plain;
use learnt_core::estimator::shares_of_scores;
use learnt_core::linalg::linear_predict;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Logistic regression: class probabilities from linear scores, binary or multinomial.
///
/// `l1_ratio` and `C` say what the penalty is; `penalty` says the same in the older way, where none
/// is an infinite `C`. All solvers reach the same optimum, so that their names are hints: with an L1
/// part the method is always proximal Newton. There are no `dual` and `intercept_scaling`: they
/// belong to a solver that is not here.
///
/// Penalised weights of more than two classes are symmetric, one row a class. Unpenalised ones are
/// determined relative to the first class only, which is how the tables of tests show them; `coef`
/// then has the symmetric form with the same predictions, whose rows sum to zero.
///
/// ```
/// use learnt::{linear::LogisticRegression, prelude::*};
/// let x = Matrix::column_vector(vec![0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
/// let labels = [0, 0, 1, 0, 1, 1].map(Label::Int);
/// let data = OwnedDataset::classification(x, &labels);
/// let model = LogisticRegression::default().fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct LogisticRegression {
    /// The penalty (regularization) of the weights.
    #[param(positional, default = Penalty::Auto)]
    pub penalty: Penalty,
    /// Inverse of the regularization strength; `inf` is no penalty.
    #[param(name = "C", default = 1.0, above = 0.0, range = ..=f64::INFINITY, search = log(1e-4, 1e4))]
    pub c: f64,
    /// Share of the L1 penalty: 0 is L2 alone, 1 is L1 alone, which sets weights to zero.
    #[param(default = 0.0, range = 0.0..=1.0)]
    pub l1_ratio: f64,
    /// Stop when a step promises to lower the mean objective by no more than the square of this, with
    /// `lbfgs` for every eight weights; without a penalty, when it is shorter than this many standard errors.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// Whether there are intercepts; they are not penalised.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Weights of the classes, which multiply the row weights.
    #[param(default = ClassWeight::Equal)]
    pub class_weight: ClassWeight,
    /// The optimization algorithm; the optimum is the same.
    #[param(default = LogisticSolver::Auto)]
    pub solver: LogisticSolver,
    /// Maximum number of iterations.
    #[param(default = 100, range = 0..)]
    pub max_iter: usize,
    /// A column that is added to the score of the second class as it is, with a coefficient of 1; for two classes.
    pub offset: Option<String>,
}

/// Penalties of the weights.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// What `l1_ratio` says: by default L2.
    Auto,
    /// The sum of absolute values divided by `C`.
    L1,
    /// The sum of squares divided by `2 C`.
    L2,
    /// Both, in the proportion of `l1_ratio`.
    #[choice(name = "elasticnet")]
    ElasticNet,
    /// None: maximum likelihood, with standard errors.
    #[choice(none)]
    Nothing,
}

/// Weights of the classes, which multiply the row weights.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassWeight {
    /// All 1.
    #[choice(none)]
    Equal,
    /// Inverse to the weight of the class, so that every class counts the same.
    Balanced,
}

/// Methods of minimisation.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogisticSolver {
    /// `newton-cholesky` or `lbfgs`, whichever takes less arithmetic.
    Auto,
    /// Quasi-Newton steps: cheap with many columns and classes.
    Lbfgs,
    /// Newton steps: few, each with the matrix of second derivatives.
    #[choice(name = "newton-cholesky")]
    NewtonCholesky,
    /// Accepted: the same as `auto`, with the same optimum.
    #[choice(name = "newton-cg")]
    NewtonCg,
    /// Accepted: the same as `auto`, with the same optimum.
    Sag,
    /// Accepted: the same as `auto`, with the same optimum.
    Saga,
    /// Accepted: the same as `auto`. The intercept is free, where the original penalises it, and
    /// more than two classes are fitted jointly.
    Liblinear,
}

/// A fitted [`LogisticRegression`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, report = table, converged = converged)]
#[model(questions = QUESTIONS, looks)]
pub struct LogisticRegressionModel {
    /// Weights: one row for two classes, else one a class (n_classes × n_features).
    #[shape(rows, columns)]
    #[finite]
    pub coef: Matrix,
    /// Intercepts, one for each row of the weights; 0 without intercept.
    #[shape(rows)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Steps made.
    pub n_iter: Vec<usize>,
    /// Standard errors and fit, for maximum likelihood that converged to a finite estimate.
    #[model(hidden)]
    pub inference: Option<LogisticInference>,
    pub(super) converged: bool,
    pub(super) notes: Vec<String>,
    /// The column that is added to the score as it is; its weight is 1.
    #[model(later)]
    pub(super) offset: Option<usize>,
}

impl Estimator for LogisticRegression {
    type Model = LogisticRegressionModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::classifier("linear_model.LogisticRegression")
        .volumes()
        .alias(&["logistic"])
        .weights()
        .decision_scores()
        .threads()
        .iterations()
        .monotone()
        .streaming()
        .complexity(20)
        .cost("n p² time a step by Newton, n p K by L-BFGS; p² memory")
        .reference("Hosmer, Lemeshow and Sturdivant (2013), Applied Logistic Regression")
        .exempt(&[("weights_scale", "the penalty's strength is absolute, as in scikit-learn")]);
}

impl Rounds for LogisticRegression {
    /// The first pass is at weights of zero, where only a value that is not finite makes the likelihood so.
    const NOTICES: Notices = Notices::All;

    type State = Fit;
    type Summary = Summary;
    type Output = LogisticRegressionModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Fit> {
        let columns = outline.schema.len() as u64;
        let (l1, l2) = self.strengths();
        let shifted = self.offset.is_some();
        if l1 == 0.0 && l2 > 0.0 && !shifted && rows_pay(outline.rows, outline.schema.len()) {
            let bytes = 8 * outline.rows * (3 * columns + 4 * outline.rows);
            run.claim(bytes, &format!("the rows of {columns} columns and their products"))?;
        }
        Fit::new(self, outline)
    }

    fn summarize(&self, fit: &Fit, block: &Block, _: &mut Memo, _: &Context) -> Result<Summary> {
        if matches!(fit.stage, Stage::Rows) {
            let rows = KeptRows::of(&block.data, &fit.factors)?;
            return Ok(Summary::of_rows(rows, fit.weights.nrows() + 1));
        }
        let first = matches!(fit.stage, Stage::Start);
        let free = self.is_free();
        let active = match &fit.stage {
            Stage::Proximal(proximal) => proximal.columns(),
            _ => None,
        };
        let data = &block.data;
        let shifted = fit.offset.map(|column| {
            let others: Vec<usize> = (0..data.x.ncols()).filter(|&j| j != column).collect();
            (data.x.select(&others), data.x.values().column(column))
        });
        let x = shifted.as_ref().map_or(data.x, |(table, _)| table.frame());
        let pass = Pass {
            offsets: shifted.as_ref().map(|(_, offsets)| offsets.as_slice()),
            weights: &fit.weights,
            intercept: self.fit_intercept,
            factors: &fit.factors,
            second: fit.second(),
            every: fit.every,
            active,
            ranges: first && free,
            margins: free,
        };
        pass.over(&Dataset { x, ..*data })
    }

    fn advance(
        &self,
        fit: Fit,
        all: Summary,
        run: &Context,
    ) -> Result<Step<Fit, LogisticRegressionModel>> {
        fit.advance(self, all, run)
    }
}

impl LogisticRegression {
    /// The penalties must say one thing.
    fn constraints(&self) -> Result<()> {
        let expected = match (self.penalty, self.l1_ratio) {
            (Penalty::L2, ratio) if ratio != 0.0 => "0 with penalty='l2'",
            (Penalty::L1, ratio) if ratio != 0.0 && ratio != 1.0 => "1 with penalty='l1'",
            _ => return Ok(()),
        };
        Err(Error::parameter("l1_ratio", expected, self.l1_ratio)
            .hint("leave `penalty` out: `l1_ratio` alone says what it is"))
    }

    /// λ₁ in λ₁ Σ |w| and λ₂ in λ₂ |W|² / 2.
    pub(super) fn strengths(&self) -> (f64, f64) {
        let share = match self.penalty {
            Penalty::Nothing => return (0.0, 0.0),
            Penalty::L1 => 1.0,
            Penalty::L2 => 0.0,
            Penalty::Auto | Penalty::ElasticNet => self.l1_ratio,
        };
        (share * self.c.recip(), (1.0 - share) * self.c.recip())
    }

    /// λ₂, the strength of the smooth penalty.
    pub(super) fn strength(&self) -> f64 {
        self.strengths().1
    }

    /// Whether there is no penalty at all.
    pub(super) fn is_free(&self) -> bool {
        self.strengths() == (0.0, 0.0)
    }

    /// Whether to use Newton for `others` rows of `columns` weights.
    pub(super) fn uses_newton(&self, rows: u64, others: usize, columns: usize) -> bool {
        match self.solver {
            LogisticSolver::NewtonCholesky => true,
            LogisticSolver::Lbfgs => false,
            // Maximum likelihood has standard errors, from second derivatives.
            _ if self.is_free() => newton_fits(others, columns),
            _ => newton_pays(rows, others, columns),
        }
    }
}

impl Classifier for LogisticRegressionModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        linear_predict(x, &self.coef, &self.intercept, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(shares_of_scores(self.decision_scores_in(x, run)?, run))
    }
}

impl LogisticRegressionModel {
    pub(super) fn class_count(&self) -> usize {
        if self.coef.nrows() == 1 { 2 } else { self.coef.nrows() }
    }

    /// The names of the columns that have weights.
    fn weighted(&self, names: &Names) -> Vec<String> {
        let own = names.columns.iter().enumerate().filter(|(j, _)| Some(*j) != self.offset);
        own.map(|(_, name)| name.clone()).collect()
    }

    fn validate(&self) -> Result<()> {
        let others = self.class_count() - 1;
        let columns = self.coef.ncols().saturating_sub(usize::from(self.offset.is_some()));
        if self.offset.is_some_and(|offset| offset >= self.coef.ncols() || others != 1) {
            return Err(invalid("an offset beyond the columns, or of more than two classes"));
        }
        let inference_fits = self.inference.as_ref().is_none_or(|inference| {
            inference.fits(others, columns) || inference.fits(others, columns + 1)
        });
        match inference_fits {
            true => Ok(()),
            false => Err(invalid("weights do not fit the classes and columns")),
        }
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new(format!(
            "Logistic regression, classes {}",
            names.classes.iter().map(|class| plain(class)).collect::<Vec<_>>().join(", ")
        ));
        let tested = match &self.inference {
            Some(inference) => self.add_inference(inference, names, &mut report).map(|()| true),
            None => Ok(false),
        };
        match tested {
            Ok(true) => {}
            Ok(false) => self.add_weights(names, &mut report),
            Err(why) => {
                report.tables.clear();
                self.add_weights(names, &mut report);
                report.notes.push(why.message().to_string());
            }
        }
        report.notes.extend(self.notes.iter().cloned());
        if self.inference.is_none() && self.notes.is_empty() {
            let note = "no standard errors and tests: they need penalty none, and no class weights";
            report.notes.push(note.to_string());
        }
        if let Some(offset) = self.offset.and_then(|offset| names.columns.get(offset)) {
            report.notes.push(format!("{offset} is added to the score as it is"));
        }
        report
    }

    /// Tables relative to the first class; an error says why there is none.
    fn add_inference(
        &self,
        inference: &LogisticInference,
        names: &Names,
        report: &mut Answer,
    ) -> Result<()> {
        let columns = self.weighted(names);
        for k in 0..self.class_count() - 1 {
            let (class, first) = (names.class(k + 1), names.class(0));
            let title = format!("class {} against {}", plain(&class), plain(&first));
            let tests = inference.tests(k, &columns, 0.95)?;
            report.tables.push(with_tests(&title, Scale::Normal.letter(), &tests, &[]));
        }
        let likelihood = Likelihood {
            log_likelihood: Some(inference.log_likelihood),
            deviance: inference.deviance(),
            null_deviance: Some(inference.null_deviance()),
            aic: Some(inference.aic()),
            bic: Some(inference.bic()),
            pseudo_r2: Some(inference.pseudo_r_squared()),
            overall: inference.likelihood_ratio(columns.len()),
        };
        likelihood.add_to(report);
        Ok(())
    }

    fn add_weights(&self, names: &Names, report: &mut Answer) {
        let columns = self.weighted(names);
        for k in 0..self.coef.nrows() {
            let class = names.scored_class(k, self.coef.nrows());
            let title = format!("class {}", plain(&class));
            let own = self.coef.row(k).iter().enumerate().filter(|(j, _)| Some(*j) != self.offset);
            let weights: Vec<f64> = own.map(|(_, weight)| *weight).collect();
            let intercept = Some(self.intercept[k]);
            report.tables.push(without_tests(&title, intercept, &columns, &weights));
        }
    }
}
