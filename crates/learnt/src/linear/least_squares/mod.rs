//! Least squares by passes over the data, with or without an L2 penalty.
//!
//! Minimises Σ w ‖y - a - Bx‖² + alpha ‖B‖². The first pass sums moments. Scaled to a unit diagonal,
//! the normal equations are solved by Cholesky; with condition κ the relative error is about κ eps.
//!
//! - κ <= 1e3 and at least κ 1e-6 of the variance left: that is the answer.
//! - κ <= 1e6: a second pass forms residuals, and one step of refinement (the corrected seminormal
//!   equations) brings the error of an orthogonal factorisation.
//! - Otherwise a second pass takes Householder triangles block by block.
//!
//! A table in single precision with many columns has its moments summed as such, to about seven digits. With
//! κ <= 1e3 one step of refinement in double precision follows; else, or where squares leave the range of single
//! precision, they are summed again in double precision.
//!
//! No more rows than columns: the rows themselves are gathered and solved by Cholesky of their
//! products where that is accurate, else by singular values.
//!
//! Björck (1987), Linear Algebra and its Applications 88/89, 31-48.

mod dense;
mod dual;
mod from_moments;
mod gradient;
mod moments;
mod nonnegative;
mod normal;
mod orthogonal;
mod refine;

pub(super) use dense::mirror_of;
pub(super) use from_moments::SecondMoments;
use gradient::{Anchor, Gradient};
use learnt_core::linalg::{dot, singular_values};
use learnt_core::prelude::*;
use learnt_core::rounds::Singles;
pub(super) use moments::{Moments, copy_joined};
use normal::{Factor, System};
pub(super) use orthogonal::Rows;

/// What is to be minimised, and how.
#[derive(Clone, Debug, Default)]
pub struct LeastSquares {
    /// With an intercept.
    pub(super) intercept: bool,
    /// Penalties: none, one, or one for each output.
    pub(super) alpha: Vec<f64>,
    /// The intercept is penalised like a coefficient.
    pub(super) penalize_intercept: bool,
    /// Coefficients must not be negative.
    pub(super) positive: bool,
    /// Most steps that keep them so; none is ten for each column.
    pub(super) max_iter: Option<usize>,
    /// Never by the normal equations.
    pub(super) orthogonal: bool,
}

/// Where a fit is; also its checkpoint.
#[derive(Stored, Clone, Debug)]
pub struct Stage {
    names: Vec<String>,
    outputs: usize,
    pass: Pass,
}

/// What the next pass computes.
#[derive(Stored, Clone, Debug)]
enum Pass {
    Moments { single: bool },
    Rows,
    Refine { moments: Moments, anchor: Anchor, converged: bool },
    Triangle { moments: Moments },
}

/// What a pass brings back.
#[derive(Stored, Clone, Debug, Merge)]
enum Sums {
    Moments(Moments),
    Rows(Rows),
    Gradient(Gradient),
    Triangle(#[merge(with = orthogonal::stack)] Matrix),
}

/// What a pass brings back.
#[derive(Stored, Clone, Debug, Merge)]
pub struct Summary {
    sums: Sums,
}

/// The result, with what inference needs.
#[derive(Clone, Debug)]
pub struct Solution {
    /// (n_outputs × n_features).
    pub(super) coef: Matrix,
    pub(super) intercept: Vec<f64>,
    /// Names of the inputs.
    pub(super) names: Vec<String>,
    pub(super) rank: usize,
    /// Singular values of the centred inputs, largest first; empty above [`DETAILED`] columns.
    pub(super) singular: Vec<f64>,
    /// Condition of the inputs with their column of ones; absent like `singular`.
    pub(super) condition: Option<f64>,
    /// Columns that depend on earlier ones.
    pub(super) aliased: Vec<usize>,
    /// M (n_features × rank) with M Mᵀ = (XᵀX)⁺; absent above [`DETAILED`] columns.
    pub(super) root: Option<Matrix>,
    /// Effective degrees of freedom of each output, with the intercept's.
    pub(super) freedom: Option<Vec<f64>>,
    /// Σ w r rᵀ.
    pub(super) residual: Matrix,
    /// Σ w (y - mean)², about the origin without an intercept.
    pub(super) total: Vec<f64>,
    pub(super) rows: u64,
    pub(super) weight: f64,
    pub(super) ln_weight: f64,
    /// Means of the inputs, then the outputs; zeros without an intercept.
    pub(super) mean: Vec<f64>,
    pub(super) converged: bool,
}

/// Up to this many columns a fit also gives what costs the cube of their number beside it.
pub(super) const DETAILED: usize = 1000;
/// Condition up to which the normal equations alone are accurate.
const DIRECT: f64 = 1e3;
/// Condition up to which one step of refinement makes them accurate.
const REFINED: f64 = 1e6;
/// Columns from which products in single precision, and the refinement that they need, take less time than products
/// in double precision.
const MANY_IN_SINGLE: usize = 64;
/// Variance from which squares in single precision keep their digits: 2²⁴ times the least normal number, and more.
const LEAST_IN_SINGLE: f64 = 1e-30;
/// The residual sum is taken from the moments up to this product of κ and total over residual: its relative error is
/// about eps times the product.
const CANCELLED: f64 = 1e6;

impl Rounds for LeastSquares {
    const NOTICES: Notices = Notices::All;

    type State = Stage;
    type Summary = Summary;
    type Output = Solution;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Stage> {
        let (d, k) = (outline.schema.len(), outline.outputs);
        if self.alpha.len() > 1 && self.alpha.len() != k {
            let expected = format!("one number, or {k}, one for each output");
            return Err(Error::parameter("alpha_per_target", expected, self.alpha.len()));
        }
        let wide = outline.rows <= d as u64 && !self.positive;
        let side = if wide { outline.rows } else { (d + k) as u64 };
        let threads = run.threads() as u64;
        let bytes = ((2 + threads) * 8 * side).saturating_mul((d + k) as u64);
        run.claim(bytes, &format!("sums of products of {d} columns"))?;
        Ok(Stage {
            names: outline.names(),
            outputs: k,
            pass: if wide { Pass::Rows } else { Pass::Moments { single: self.single(d + k) } },
        })
    }

    fn summarize(
        &self,
        stage: &Stage,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<Summary> {
        let data = &block.data;
        let sums = match &stage.pass {
            Pass::Moments { .. } => Sums::Moments(Moments::of(data, self.centred())?),
            Pass::Rows => Sums::Rows(Rows::of(data)?),
            Pass::Refine { anchor, .. } => Sums::Gradient(Gradient::of(data, anchor)?),
            Pass::Triangle { moments } => {
                Sums::Triangle(orthogonal::triangle(data, &moments.mean)?)
            }
        };
        Ok(Summary { sums })
    }

    fn summarize_singles(&self, stage: &Stage, rows: &Singles) -> Option<Result<Summary>> {
        let sums = match &stage.pass {
            Pass::Moments { single: true } => {
                Moments::of_singles(rows, self.centred()).map(Sums::Moments)
            }
            Pass::Refine { anchor, .. } => Gradient::of_singles(rows, anchor).map(Sums::Gradient),
            _ => return None,
        };
        Some(sums.map(|sums| Summary { sums }))
    }

    fn advance(&self, stage: Stage, all: Summary, run: &Context) -> Result<Step<Stage, Solution>> {
        let Stage { names, outputs, pass } = stage;
        let next = match (pass, all.sums) {
            (Pass::Moments { .. }, Sums::Moments(moments)) => {
                if !moments.single {
                    check_finite(&moments, &names)?;
                }
                self.after_moments(moments, outputs, run)?
            }
            (Pass::Rows, Sums::Rows(rows)) => Next::Done(self.after_rows(rows, outputs, run)?),
            (Pass::Refine { moments, anchor, converged }, Sums::Gradient(gradient)) => {
                Next::Done(self.refine(&moments, &anchor, &gradient, converged)?)
            }
            (Pass::Triangle { moments }, Sums::Triangle(triangle)) => {
                Next::Done(self.after_triangles(&moments, &triangle, outputs)?)
            }
            _ => return Err(Error::internal("the sums of another pass")),
        };
        Ok(match next {
            Next::Pass(pass) => Step::Again(Stage { names, outputs, pass }),
            Next::Done(solution) => Step::Done(Solution { names, ..solution }),
        })
    }
}

impl LeastSquares {
    /// Whether moments in single precision are a start. They save up to half of the products, a number of them for
    /// each column, and cost a pass of refinement, which few columns do not earn.
    fn single(&self, columns: usize) -> bool {
        columns >= MANY_IN_SINGLE && !self.positive && !self.orthogonal
    }

    /// Whether sums are taken about the mean.
    fn centred(&self) -> bool {
        self.intercept
    }

    fn penalizes_intercept(&self) -> bool {
        self.intercept && self.penalize_intercept && !self.alpha.is_empty()
    }

    fn alpha_of(&self, output: usize) -> f64 {
        match self.alpha.as_slice() {
            [] => 0.0,
            [one] => *one,
            many => many.get(output).copied().unwrap_or(0.0),
        }
    }

    /// Solves the normal equations and decides whether that is enough.
    fn after_moments(&self, moments: Moments, outputs: usize, run: &Context) -> Result<Next> {
        let system = System::new(&moments, self, outputs);
        if self.positive {
            let d = moments.mean.len() - outputs;
            let most = self.max_iter.unwrap_or(d.saturating_mul(10).max(100));
            let (coef, converged) = self.nonnegative(&system, most, run)?;
            let anchor = self.anchor(&moments, &system, &coef);
            return Ok(Next::Pass(Pass::Refine { moments, anchor, converged }));
        }
        if self.orthogonal {
            return Ok(Next::Pass(Pass::Triangle { moments }));
        }
        // Each of these steps goes over the square of the columns, with thousands of them a good part of a second.
        run.checkpoint()?;
        let factors = self.factors(&system, outputs).unwrap_or_default();
        run.checkpoint()?;
        let worst = |worst: f64, factor: &Factor| worst.max(factor.condition);
        let condition = match factors.as_slice() {
            [] => f64::INFINITY,
            factors => factors.iter().fold(1.0, worst),
        };
        if moments.single && !(condition <= DIRECT && in_reach(&moments)) {
            return Ok(Next::Pass(Pass::Moments { single: false }));
        }
        if condition > REFINED {
            return Ok(Next::Pass(Pass::Triangle { moments }));
        }
        let solve = |t: usize| factors[t % factors.len()].solve(system.right.row(t));
        let coef = Matrix::from_rows(&(0..outputs).map(solve).collect::<Vec<_>>())?;
        let residual = system.residual(&coef);
        let enough_left =
            |t: usize| residual[(t, t)] * CANCELLED >= condition * system.total[(t, t)];
        let unpenalised = self.alpha.is_empty();
        let direct = condition <= DIRECT && !moments.single;
        if direct && (!unpenalised || (0..outputs).all(enough_left)) {
            let anchor = self.anchor(&moments, &system, &coef);
            return Ok(Next::Done(self.solution(&moments, &system, &factors, anchor, residual)));
        }
        let anchor = self.anchor(&moments, &system, &coef);
        Ok(Next::Pass(Pass::Refine { moments, anchor, converged: true }))
    }

    /// One factor, or one for each output where penalties differ.
    fn factors(&self, system: &System, outputs: usize) -> Option<Vec<Factor>> {
        let count = if self.alpha.len() > 1 { outputs } else { 1 };
        (0..count).map(|t| Factor::new(system, self.alpha_of(t))).collect()
    }

    /// Coefficients of the system's columns as coefficients of all, with the fit at the mean.
    fn anchor(&self, moments: &Moments, system: &System, coef: &Matrix) -> Anchor {
        let outputs = coef.nrows();
        let d = moments.mean.len() - outputs;
        let mut all = Matrix::zeros(outputs, d);
        let mut offset = vec![0.0; outputs];
        for t in 0..outputs {
            for (k, &j) in system.columns.iter().enumerate() {
                match j == d {
                    true => offset[t] = coef[(t, k)],
                    false => all[(t, j)] = coef[(t, k)],
                }
            }
            if self.penalizes_intercept() {
                offset[t] += dot(all.row(t), &moments.mean[..d]) - moments.mean[d + t];
            }
        }
        Anchor { mean: moments.mean.clone(), coef: all, offset }
    }

    fn nonnegative(
        &self,
        system: &System,
        max_iter: usize,
        run: &Context,
    ) -> Result<(Matrix, bool)> {
        let mut out = Matrix::zeros(system.right.nrows(), system.columns.len());
        let mut all_converged = true;
        for t in 0..out.nrows() {
            let (matrix, scale) = system.scaled(self.alpha_of(t));
            let right: Vec<f64> =
                system.right.row(t).iter().zip(&scale).map(|(r, s)| r / s).collect();
            let (x, converged) = nonnegative::solve(&matrix, &right, max_iter, run)?;
            out.row_mut(t).iter_mut().zip(x.iter().zip(&scale)).for_each(|(b, (x, s))| *b = x / s);
            all_converged &= converged;
        }
        Ok((out, all_converged))
    }

    /// The solution of well-conditioned normal equations.
    fn solution(
        &self,
        moments: &Moments,
        system: &System,
        factors: &[Factor],
        anchor: Anchor,
        residual: Matrix,
    ) -> Solution {
        let d = anchor.coef.ncols();
        let mut out = self.plain(moments, anchor, residual);
        let varying = system.columns.iter().filter(|&&j| j < d).count();
        out.aliased = (0..d).filter(|j| !system.columns.contains(j)).collect();
        out.rank = varying;
        if d > DETAILED {
            return out;
        }
        if let (Some(factor), true) = (factors.first(), self.alpha.is_empty()) {
            let kept = factor.inverse_root();
            let mut root = Matrix::zeros(d, varying);
            for (k, &j) in system.columns.iter().enumerate() {
                root.row_mut(j).copy_from_slice(kept.row(k));
            }
            out.root = Some(root);
            out.set_spectrum(&factor.triangle(), d, self.intercept);
        } else if !self.alpha.is_empty() && !self.positive {
            let of = |t: usize| {
                let factor = &factors[t % factors.len()];
                let inverse: f64 = factor.inverse_root().as_slice().iter().map(|m| m * m).sum();
                self.freedom(system.columns.len() as f64 - self.alpha_of(t) * inverse)
            };
            let each: Vec<f64> = (0..factors.len()).map(of).collect();
            let outputs = out.coef.nrows();
            out.freedom = Some((0..outputs).map(|t| each[t % each.len()]).collect());
        }
        out
    }

    /// Degrees of freedom with the free intercept's.
    fn freedom(&self, columns: f64) -> f64 {
        columns + f64::from(self.intercept && !self.penalizes_intercept())
    }

    /// The solution without its details.
    fn plain(&self, moments: &Moments, anchor: Anchor, residual: Matrix) -> Solution {
        let (outputs, d) = (anchor.coef.nrows(), anchor.coef.ncols());
        let at = |t: usize| {
            let fit = moments.mean[d + t] + anchor.offset[t];
            fit - dot(anchor.coef.row(t), &moments.mean[..d])
        };
        let intercept: Vec<f64> = match self.intercept {
            true => (0..outputs).map(at).collect(),
            false => vec![0.0; outputs],
        };
        Solution {
            intercept,
            names: Vec::new(),
            rank: d,
            singular: Vec::new(),
            condition: None,
            aliased: Vec::new(),
            root: None,
            freedom: None,
            residual,
            total: moments.output_squares(outputs),
            rows: moments.rows,
            weight: moments.weight,
            ln_weight: moments.ln_weight,
            mean: moments.mean.clone(),
            converged: true,
            coef: anchor.coef,
        }
    }
}

/// A pass, or the end.
enum Next {
    Pass(Pass),
    Done(Solution),
}

/// Whether squares were within the reach of single precision: none overflowed, and none were so small that they
/// may have been lost. A constant column looks like the latter.
fn in_reach(moments: &Moments) -> bool {
    let least = LEAST_IN_SINGLE * moments.weight;
    let seen = (0..moments.mean.len()).all(|j| moments.scatter[(j, j)] >= least);
    seen && first_infinite(moments).is_none()
}

/// The first column whose squares overflow.
fn first_infinite(moments: &Moments) -> Option<usize> {
    let bad = |&j: &usize| !moments.scatter[(j, j)].is_finite() || !moments.mean[j].is_finite();
    (0..moments.mean.len()).find(bad)
}

/// Sums of squares that overflow name the column.
fn check_finite(moments: &Moments, names: &[String]) -> Result<()> {
    match first_infinite(moments) {
        None => Ok(()),
        Some(j) => {
            let name = names.get(j).map_or("the target", String::as_str);
            let message = format!("the squares of '{name}' are too large for double precision");
            Err(Error::new(Code::NotFinite, message)
                .column(name)
                .hint("divide it by its largest value"))
        }
    }
}

impl Solution {
    /// Singular values and condition from F with FᵀF the centred products.
    fn set_spectrum(&mut self, factor: &Matrix, d: usize, intercept: bool) {
        self.singular = singular_values(factor.view()).unwrap_or_default();
        self.singular.resize(d.min(self.rows as usize), 0.0);
        let root = self.weight.sqrt();
        let kept: Vec<usize> = (0..d).filter(|j| !self.aliased.contains(j)).collect();
        let extra = usize::from(intercept);
        let whole = factor.ncols() == d;
        let column = |j: usize| if whole { j } else { kept[j] };
        let design =
            Matrix::from_fn(factor.nrows() + extra, factor.ncols() + extra, |i, j| {
                match (i < extra, j < extra) {
                    (true, true) => root,
                    (true, false) => root * self.mean[column(j - extra)],
                    (false, true) => 0.0,
                    (false, false) => factor[(i - extra, j - extra)],
                }
            });
        let values = singular_values(design.view()).unwrap_or_default();
        self.condition = match (values.first(), values.last()) {
            (Some(first), Some(last)) if self.aliased.is_empty() && *last > 0.0 => {
                Some(first / last)
            }
            _ => None,
        };
    }
}
