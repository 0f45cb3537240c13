//! Iteratively reweighted least squares as rounds.
//!
//! Minimises D(b) / 2 + n alpha |b|² / 2 with D the deviance and n the sum of weights: half the mean
//! deviance plus alpha |b|² / 2, times n. A survey of columns and target, then steps of Fisher
//! scoring, (Σ w W z zᵀ + n alpha) step = gradient, with step halving. Starts where all rows have the
//! mean of the target; logit and probit at zero; without an intercept, from means close to the
//! targets. Ends as the learner's [`Tolerance`] says, or when rounding allows no further decrease.
//! With a penalty and more columns than rows the steps are taken by rows, where that is less work (`by_rows`).
//!
//! McCullagh and Nelder (1989), Generalized Linear Models, section 2.5.

use super::alias::{Aliases, in_order};
use super::by_rows::{self, Goal, rows_pay};
use super::family::{Family, Law, Link};
use super::model::{Finished, GeneralizedModel};
use super::pass::{Gathered, Pass, Summary, Sums, Survey};
use crate::linear::least_squares::Rows;
use crate::linear::likelihood::geometry::quadratic_form;
use learnt_core::error::plain;
use learnt_core::linalg::Cholesky;
use learnt_core::optimize::{Evaluation, Minimizer, Newton, Stop, Verdict};
use learnt_core::prelude::*;

/// A step of this size, in standardised columns, along which the curvature has fallen to this share
/// of that at the start, leads to estimates at infinity.
const LARGE: f64 = 1e-2;
const FLAT: f64 = 1e-6;

/// What to fit.
#[derive(Clone, Debug)]
pub struct Scoring {
    pub(super) law: Law,
    pub(super) alpha: f64,
    pub(super) intercept: bool,
    pub(super) max_iter: usize,
    pub(super) tolerance: Tolerance,
    /// The column that is added to the linear predictor as it is.
    pub(super) offset: Option<String>,
}

/// The stopping criterion: AIC, BIC and others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tolerance {
    /// |change| / (|objective| + 0.1) of twice the objective, the deviance if there is no penalty.
    Change(f64),
    /// The largest derivative of the mean objective by a coefficient in the units of its column.
    Gradient(f64),
}

/// What every block must know in a round.
#[derive(Clone, Debug, Stored)]
pub struct Fit {
    names: Vec<String>,
    rows: u64,
    /// The column whose coefficient stays 1: it is not centred, has no penalty and no derivative.
    offset: Option<usize>,
    survey: Option<Survey>,
    /// Reciprocals of the columns' units, 0 for columns that are left out.
    factor: Vec<f64>,
    aliases: Aliases,
    null_deviance: f64,
    start: Matrix,
    newton: Option<Newton>,
    best: Best,
    /// Whether the rows are gathered for steps by rows.
    by_rows: bool,
}

/// Where the steps ended.
#[derive(Default)]
struct End {
    point: Vec<f64>,
    damped: bool,
    information: Matrix,
    n_iter: usize,
    converged: bool,
}

/// What the last accepted pass said.
#[derive(Clone, Debug, Default, Stored)]
struct Best {
    deviance: f64,
    pearson: f64,
    margin: f64,
}

impl Rounds for Scoring {
    type State = Fit;
    type Summary = Summary;
    type Output = GeneralizedModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Fit> {
        let d = outline.schema.len();
        let offset = self.offset.as_deref().map(|name| outline.schema.find(name)).transpose()?;
        let by_rows = self.alpha > 0.0 && offset.is_none() && rows_pay(outline.rows, d);
        match by_rows {
            true => {
                let bytes = outline.rows.saturating_mul(32 * (outline.rows + d as u64));
                run.claim(bytes, &format!("products of {} rows", outline.rows))?;
            }
            false => claim_for_columns(d, run)?,
        }
        Ok(Fit {
            names: outline.names(),
            rows: outline.rows,
            offset,
            survey: None,
            factor: Vec::new(),
            aliases: Aliases::default(),
            null_deviance: 0.0,
            start: Matrix::default(),
            newton: None,
            best: Best::default(),
            by_rows,
        })
    }

    fn summarize(&self, fit: &Fit, block: &Block, _: &mut Memo, _: &Context) -> Result<Summary> {
        let Some(survey) = &fit.survey else {
            return Survey::of(block, self.law).map(Summary::Survey);
        };
        if fit.by_rows {
            return Rows::of(&block.data).map(|rows| Summary::Rows(Gathered { rows }));
        }
        let first = fit.newton.is_none();
        let zero = fit.with_offset(vec![0.0; fit.names.len() + usize::from(self.intercept)]);
        let origin = vec![0.0; fit.names.len()];
        let pass = Pass {
            law: self.law,
            centre: if self.intercept { &survey.mean } else { &origin },
            factor: &fit.factor,
            intercept: self.intercept,
            coefficients: fit.newton.as_ref().map_or(&zero, |newton| newton.point()),
            from_targets: first.then_some(survey.target),
            null_mean: match fit.offset {
                None => fit.start.as_slice().is_empty().then(|| self.null_mean(survey)),
                Some(_) => None,
            },
        };
        pass.over(&block.data).map(Summary::Sums)
    }

    fn advance(
        &self,
        mut fit: Fit,
        all: Summary,
        run: &Context,
    ) -> Result<Step<Fit, GeneralizedModel>> {
        let sums = match all {
            Summary::Survey(survey) => return self.after_survey(fit, survey).map(Step::Again),
            Summary::Rows(gathered) => return self.by_rows(fit, gathered.rows, run),
            Summary::Sums(sums) => sums,
        };
        if fit.start.as_slice().is_empty() {
            self.set_up(&mut fit, &sums)?;
        }
        if fit.newton.is_none() {
            let point = fit.near_targets(self, &sums)?;
            fit.newton = Some(newton_at(point));
            return Ok(Step::Again(fit));
        }
        self.tell(fit, sums, run)
    }
}

impl Scoring {
    /// The mean of every row without inputs.
    fn null_mean(&self, survey: &Survey) -> f64 {
        match self.intercept {
            true => survey.target,
            false => self.law.link.mean(0.0),
        }
    }

    /// Units of the columns, and where to start if that needs no look at the rows.
    fn after_survey(&self, mut fit: Fit, mut survey: Survey) -> Result<Fit> {
        // What rows have on average from the offset is taken from the start.
        let shift = fit.offset.map_or(0.0, |j| std::mem::take(&mut survey.mean[j]));
        let about_zero = |j: usize| survey.spread[j] + survey.weight * survey.mean[j].powi(2);
        for (j, name) in fit.names.iter().enumerate() {
            let sum = if self.intercept { survey.spread[j] } else { about_zero(j) };
            let unit = (sum / survey.weight).sqrt();
            if !unit.is_finite() {
                let message = format!("the squares of column '{}' overflow", plain(name));
                return Err(Error::new(Code::Numeric, message).column(name).hint("scale it down"));
            }
            let factor = unit.recip();
            fit.factor.push(if factor.is_finite() { factor } else { 0.0 });
        }
        if let Some(j) = fit.offset {
            fit.factor[j] = 1.0;
        }
        let (zero, law) = (vec![0.0; fit.names.len()], self.law);
        let everywhere = law.family == Family::Power(0.0) && law.link == Link::Identity;
        if self.intercept {
            let start = if law.link.starts_at_zero() { 0.0 } else { law.link.of(survey.target) };
            let certain = law.family == Family::Binomial && matches!(survey.target, 0.0 | 1.0);
            if certain || !start.is_finite() {
                return Err(no_mean(law, survey.target));
            }
            fit.newton = Some(newton_at(fit.with_offset([zero, vec![start - shift]].concat())));
        } else if law.link.starts_at_zero() || everywhere {
            fit.newton = Some(newton_at(fit.with_offset(zero)));
        }
        // By rows a fit starts where all have one mean.
        fit.by_rows &= fit.newton.is_some();
        fit.survey = Some(survey);
        Ok(fit)
    }

    /// All steps by rows; steps by columns from the start if those give up.
    fn by_rows(
        &self,
        mut fit: Fit,
        rows: Rows,
        run: &Context,
    ) -> Result<Step<Fit, GeneralizedModel>> {
        let d = fit.names.len();
        let (Some(survey), Some(newton)) = (&fit.survey, &fit.newton) else {
            return Err(Error::internal("rows before their survey"));
        };
        let start = if self.intercept { newton.point()[d] } else { 0.0 };
        let Scoring { law, alpha, intercept, max_iter, tolerance, .. } = *self;
        let goal = Goal { law, alpha, intercept, max_iter, tolerance };
        let Some(found) = by_rows::minimize(goal, survey, rows, start, run)? else {
            fit.by_rows = false;
            claim_for_columns(d, run)?;
            return Ok(Step::Again(fit));
        };
        // Coefficients are in the units of the columns already; constant ones are left out.
        fit.factor.iter_mut().for_each(|factor| *factor = f64::from(*factor > 0.0));
        let columns: Vec<usize> = (0..d).filter(|&j| fit.factor[j] == 0.0).collect();
        let dependence = Matrix::zeros(d, columns.len());
        fit.aliases = Aliases { columns, dependence };
        fit.null_deviance = f64::INFINITY;
        let best = Best { deviance: found.deviance, pearson: found.pearson, margin: 0.0 };
        let point = [found.coef, vec![found.level; usize::from(intercept)]].concat();
        let end = End { point, n_iter: found.n_iter, converged: found.converged, ..End::default() };
        Fit { best, ..fit }.ended(self, end, run).map(Step::Done)
    }

    /// Leaves out dependent columns and keeps what later rounds compare with.
    fn set_up(&self, fit: &mut Fit, sums: &Sums) -> Result<()> {
        if !sums.deviance.is_finite() {
            return Err(self.no_start());
        }
        let penalties = fit.penalties(self);
        let d = fit.names.len();
        let unit = |factor: &f64| if *factor > 0.0 { factor.recip() } else { 1.0 };
        let units: Vec<f64> = fit.factor.iter().map(unit).collect();
        let apart = fit.apart(&sums.information);
        let aliases = in_order(&apart, &penalties, d, self.intercept);
        // An intercept without information: weights and variances are beyond what numbers hold.
        let lost = sums.information.as_slice().iter().any(|value| !value.is_finite());
        if lost || aliases.columns.contains(&d) {
            return Err(self.no_start());
        }
        fit.aliases = aliases.in_units(&units);
        for &j in &fit.aliases.columns {
            fit.factor[j] = 0.0;
        }
        let none = fit.offset.is_some();
        fit.null_deviance = if none { f64::INFINITY } else { sums.null_deviance };
        fit.start = fit.information(&sums.information, &penalties);
        Ok(())
    }

    fn no_start(&self) -> Error {
        let message = format!(
            "the {} family has no finite deviance at the start, so the steps cannot begin",
            self.law.family.name()
        );
        Error::numeric(message).hint("use link='log', fit an intercept, or scale the target")
    }

    fn tell(&self, mut fit: Fit, sums: Sums, run: &Context) -> Result<Step<Fit, GeneralizedModel>> {
        let penalties = fit.penalties(self);
        let (at, slopes) = fit.evaluation(&sums, &penalties);
        let Some(newton) = &mut fit.newton else {
            return Err(Error::internal("a step without a method"));
        };
        let started = newton.value().is_finite();
        if !started && !at.value.is_finite() {
            return Err(self.no_start());
        }
        let (before, made) = (newton.value(), newton.iterations());
        let verdict = newton.tell(at)?;
        let (value, iterations) = (newton.value(), newton.iterations());
        run.record("generalised linear model", iterations as u64, value);
        let accepted = !started || iterations > made;
        if accepted {
            let Sums { deviance, pearson, margin, .. } = sums;
            fit.best = Best { deviance, pearson, margin };
        }
        let settled = accepted
            && match self.tolerance {
                Tolerance::Change(most) => {
                    started && 2.0 * (before - value).abs() <= most * (2.0 * value + 0.1)
                }
                Tolerance::Gradient(most) => fit.largest_slope(self, &slopes) <= most,
            };
        let converged = settled || verdict != Verdict::Again;
        let separated = self.alpha == 0.0 && fit.best.margin > 0.0 && fit.is_binomial(self);
        match converged || separated || iterations >= self.max_iter {
            true => fit.finish(self, converged, run).map(Step::Done),
            false => Ok(Step::Again(fit)),
        }
    }
}

/// Room for second derivatives by columns.
fn claim_for_columns(d: usize, run: &Context) -> Result<()> {
    let entries = (d as u64 + 1).saturating_mul(d as u64 + 1);
    let copies = 8 * (run.threads() as u64 + 4);
    let what = format!("matrices of second derivatives by {d} columns");
    run.claim(entries.saturating_mul(copies), &what)
}

fn newton_at(point: Vec<f64>) -> Newton {
    Newton::new(point, Stop { gradient: 0.0, decrease: 0.0 })
}

/// A row and a column that are 1 on the diagonal and 0 elsewhere.
fn clear(matrix: &mut Matrix, j: usize) {
    (0..matrix.ncols()).for_each(|k| matrix[(j, k)] = 0.0);
    (0..matrix.nrows()).for_each(|k| matrix[(k, j)] = 0.0);
    matrix[(j, j)] = 1.0;
}

/// An intercept alone would be infinite.
fn no_mean(law: Law, mean: f64) -> Error {
    let message = format!(
        "the mean of the target is {mean}, where this link of the {} family is not finite",
        law.family.name()
    );
    Error::new(Code::Target, message)
        .hint("a target that is constant at the end of its range has nothing to fit")
}

impl Fit {
    fn weight(&self) -> f64 {
        self.survey.as_ref().map_or(1.0, |survey| survey.weight)
    }

    fn is_binomial(&self, problem: &Scoring) -> bool {
        problem.law.family == Family::Binomial
    }

    /// n alpha in standardised columns; the intercept is free.
    fn penalties(&self, problem: &Scoring) -> Vec<f64> {
        let strength = problem.alpha * self.weight();
        let own = self.factor.iter().enumerate();
        let own = own.map(|(j, factor)| match self.offset == Some(j) {
            true => 0.0,
            false => strength * factor * factor,
        });
        own.chain(problem.intercept.then_some(0.0)).collect()
    }

    /// The point with a coefficient of 1 for the offset.
    fn with_offset(&self, mut point: Vec<f64>) -> Vec<f64> {
        if let Some(j) = self.offset {
            point[j] = 1.0;
        }
        point
    }

    /// Whether a column has a coefficient to estimate.
    fn is_free(&self, j: usize) -> bool {
        self.offset != Some(j) && self.factor.get(j) != Some(&0.0)
    }

    /// The information with 1 on the diagonal of the offset, and nothing else.
    fn apart(&self, information: &Matrix) -> Matrix {
        let mut out = information.clone();
        if let Some(j) = self.offset {
            clear(&mut out, j);
        }
        out
    }

    /// The information with its penalties; columns that are left out have 1 on the diagonal.
    fn information(&self, sums: &Matrix, penalties: &[f64]) -> Matrix {
        let mut out = sums.clone();
        for (j, penalty) in penalties.iter().enumerate() {
            out[(j, j)] += penalty;
        }
        (0..self.factor.len()).filter(|&j| !self.is_free(j)).for_each(|j| clear(&mut out, j));
        out
    }

    /// (Σ w W z zᵀ + P) b = Σ w (s + W η) z.
    fn near_targets(&self, problem: &Scoring, sums: &Sums) -> Result<Vec<f64>> {
        let mut point = sums.gradient.clone();
        for j in (0..self.factor.len()).filter(|&j| !self.is_free(j)) {
            point[j] = 0.0;
        }
        let factor = Cholesky::new(&self.start).ok_or_else(|| problem.no_start())?;
        factor.solve_in_place(&mut point);
        Ok(self.with_offset(point))
    }

    /// Value, gradient and information of the objective at the point of the pass.
    fn evaluation(&self, sums: &Sums, penalties: &[f64]) -> (Evaluation, Vec<f64>) {
        let point = self.newton.as_ref().map_or(&[][..], |newton| newton.point());
        let mut value = sums.deviance;
        let mut gradient: Vec<f64> = sums.gradient.iter().map(|g| -g).collect();
        for (j, (b, penalty)) in point.iter().zip(penalties).enumerate() {
            value += penalty * b * b;
            gradient[j] += penalty * b;
            if !self.is_free(j) {
                gradient[j] = 0.0;
            }
        }
        let hessian = Some(self.information(&sums.information, penalties));
        (Evaluation { value: 0.5 * value, gradient: gradient.clone(), hessian }, gradient)
    }

    /// The largest derivative of the mean objective, in the units of the columns.
    fn largest_slope(&self, problem: &Scoring, gradient: &[f64]) -> f64 {
        let Some(survey) = &self.survey else { return 0.0 };
        let d = self.factor.len();
        let level = if problem.intercept { gradient[d] } else { 0.0 };
        let slope = |j: usize| match self.factor[j] {
            0.0 => 0.0,
            factor => gradient[j] / factor + level * survey.mean[j],
        };
        (0..d).map(|j| slope(j).abs()).fold(level.abs(), f64::max) / survey.weight
    }

    /// Whether the last steps go on although the likelihood has become flat along them.
    fn is_flat(&self) -> bool {
        let Some(newton) = &self.newton else { return false };
        let step = newton.direction();
        let large = step.iter().any(|step| step.abs() > LARGE);
        let now = quadratic_form(newton.hessian(), step);
        large && now < FLAT * quadratic_form(&self.start, step)
    }

    /// Why the likelihood has no maximum, if it has none.
    fn divergence(&self, problem: &Scoring) -> Option<String> {
        const END: &str =
            "so estimates are infinite and only the predictions mean something; use alpha > 0";
        let zeros = matches!(problem.law.family, Family::Power(p) if (1.0..2.0).contains(&p));
        if problem.alpha > 0.0 {
            return None;
        }
        match (self.is_binomial(problem), zeros) {
            (true, _) if self.best.margin > 0.0 => {
                Some(format!("the inputs separate the zeros of the target from the ones, {END}"))
            }
            (true, _) if self.is_flat() => Some(format!(
                "the inputs separate some zeros or ones of the target from the rest, {END}"
            )),
            (false, true) if self.is_flat() => {
                Some(format!("the inputs single out rows where the target is always 0, {END}"))
            }
            _ => None,
        }
    }

    fn finish(self, problem: &Scoring, converged: bool, run: &Context) -> Result<GeneralizedModel> {
        let Some(newton) = &self.newton else {
            return Err(Error::internal("a fit that ends before it began"));
        };
        let end = End {
            point: newton.best().to_vec(),
            damped: newton.damped(),
            information: newton.hessian().clone(),
            n_iter: newton.iterations(),
            converged,
        };
        self.ended(problem, end, run)
    }

    fn ended(self, problem: &Scoring, end: End, run: &Context) -> Result<GeneralizedModel> {
        let divergence = self.divergence(problem);
        let Some(survey) = self.survey else {
            return Err(Error::internal("a fit that ends before it began"));
        };
        let End { point, damped, information, n_iter, converged } = end;
        if let Some(message) = &divergence {
            run.warn(Code::Separation, message.clone());
        } else if !converged {
            let message = format!(
                "did not converge in {n_iter} iterations, deviance {:.6e}; raise max_iter",
                self.best.deviance
            );
            run.warn(Code::NotConverged, message);
        }
        let finished = Finished {
            law: problem.law,
            alpha: problem.alpha,
            intercept: problem.intercept,
            names: self.names,
            rows: self.rows,
            offset: self.offset,
            aliases: self.aliases,
            factor: self.factor,
            point,
            damped,
            information,
            n_iter,
            converged,
            divergence,
            deviance: self.best.deviance,
            null_deviance: self.null_deviance,
            pearson: self.best.pearson,
            survey,
        };
        finished.into_model(run)
    }
}
