//! Least squares as a quadratic in the coefficients, and the duality gap of its L1 and L2 penalties.
//!
//! In means: G = Σ w (x - x̄)(x - x̄)ᵀ / Σ w, c = Σ w (x - x̄)(y - ȳ) / Σ w. With r the residuals and
//! v = c - Gb their products with the columns, θ = κ r is feasible in the dual for
//! κ = min(1, l1 / max |v - l2 b|), and
//! gap = ½ (1 - κ)² (mean r² + l2 ‖b‖²) + l1 ‖b‖₁ - κ bᵀ(v - l2 b);
//! where l2 > 0, also Σ (l1 |b| + ½ l2 b² - b v + max(|v| - l1, 0)² / (2 l2)). The lesser counts.

use super::columns::Columns;
use super::in_memory;
use super::lasso::Lasso;
use super::quadratic::{Descent, Penalty, Products, Search};
use crate::linear::least_squares::{Moments, Rows};
use learnt_core::linalg::{Cholesky, add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Merger, Source, block_rows};

/// G as a matrix, or as the columns it is made of.
pub(super) enum Gram {
    Whole(Matrix),
    Columns(Columns),
}

impl Products for Gram {
    fn size(&self) -> usize {
        match self {
            Gram::Whole(matrix) => matrix.size(),
            Gram::Columns(columns) => columns.size(),
        }
    }

    fn diagonal(&self, j: usize) -> f64 {
        match self {
            Gram::Whole(matrix) => matrix.diagonal(j),
            Gram::Columns(columns) => columns.diagonal(j),
        }
    }

    fn row(&self, j: usize, others: &[usize], out: &mut [f64]) {
        match self {
            Gram::Whole(matrix) => Products::row(matrix, j, others, out),
            Gram::Columns(columns) => columns.row(j, others, out),
        }
    }

    fn add(&self, slope: &mut [f64], columns: &[usize], change: &[f64], run: &Context) {
        match self {
            Gram::Whole(matrix) => matrix.add(slope, columns, change, run),
            Gram::Columns(own) => own.add(slope, columns, change, run),
        }
    }

    fn most_new(&self, held: usize) -> usize {
        match self {
            Gram::Whole(matrix) => matrix.most_new(held),
            Gram::Columns(columns) => columns.most_new(held),
        }
    }
}

/// Least squares of every output on the same columns.
pub(super) struct Problem {
    pub(super) gram: Gram,
    /// c of each output.
    pub(super) right: Vec<Vec<f64>>,
    /// Mean of (y - ȳ)² of each output.
    pub(super) total: Vec<f64>,
    /// Means of inputs, then outputs; zeros without an intercept.
    pub(super) mean: Vec<f64>,
    /// Sum of the weights.
    pub(super) weight: f64,
}

/// What to minimise and how long to try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) positive: bool,
    pub(super) max_iter: usize,
    pub(super) tol: f64,
    pub(super) random: bool,
}

/// Coefficients of one output.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub(super) coef: Vec<f64>,
    pub(super) gap: f64,
    pub(super) n_iter: usize,
    pub(super) converged: bool,
    /// Mean of r².
    pub(super) residual: f64,
}

impl Problem {
    /// The problem of a data set and the names of its columns, after the checks that a learner's fit
    /// makes.
    pub(super) fn of(
        data: &Dataset,
        centred: bool,
        run: &Context,
    ) -> Result<(Problem, Vec<String>)> {
        checked(data, run, |data| {
            let stage = Stage::begin(&InMemory::new(*data).outline(), run)?;
            stage.gather(data, centred, run)
        })
    }

    /// The same, always with the products of columns.
    pub(super) fn of_products(
        data: &Dataset,
        centred: bool,
        run: &Context,
    ) -> Result<(Problem, Vec<String>)> {
        checked(data, run, |data| {
            let stage = Stage::begin(&InMemory::new(*data).outline(), run)?;
            Stage { wide: false, ..stage }.gather(data, centred, run)
        })
    }

    /// From moments of inputs and outputs.
    pub(super) fn from_moments(moments: Moments, outputs: usize) -> Problem {
        let width = moments.mean.len();
        let (d, weight) = (width - outputs, moments.weight);
        let scatter = &moments.scatter;
        let right = |t: usize| scatter.row(t)[..d].iter().map(|c| c / weight).collect();
        let right: Vec<Vec<f64>> = (d..width).map(right).collect();
        let total = (d..width).map(|t| scatter[(t, t)] / weight).collect();
        let mut gram = Vec::with_capacity(d * d);
        for row in scatter.rows().take(d) {
            gram.extend(row[..d].iter().map(|g| g / weight));
        }
        let gram = Matrix::from_vec(d, d, gram).unwrap_or_default();
        Problem { gram: Gram::Whole(gram), right, total, mean: moments.mean, weight }
    }

    /// From the rows themselves.
    pub(super) fn from_rows(
        rows: &Rows,
        outputs: usize,
        centred: bool,
        run: &Context,
    ) -> Result<Problem> {
        let split = Columns::split(rows, outputs, centred, run)?;
        let right = (0..outputs).map(|t| split.inputs.against(&split.outputs, t, run)).collect();
        let total = (0..outputs).map(|t| split.outputs.diagonal(t)).collect();
        let gram = Gram::Columns(split.inputs);
        Ok(Problem { gram, right, total, mean: split.mean, weight: split.weight })
    }

    pub(super) fn columns(&self) -> usize {
        self.gram.size()
    }

    /// Whether products of columns are computed on demand.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.gram, Gram::Columns(_))
    }

    /// Coefficients of least squares for an output, if it has one solution.
    pub(super) fn least_squares(&self, t: usize) -> Option<Vec<f64>> {
        let Gram::Whole(gram) = &self.gram else { return None };
        let scale: Vec<f64> = (0..gram.nrows()).map(|j| gram[(j, j)].sqrt()).collect();
        if scale.contains(&0.0) {
            return None;
        }
        let matrix = Matrix::from_fn(gram.nrows(), gram.nrows(), |i, j| {
            gram[(i, j)] / (scale[i] * scale[j])
        });
        let factor = Cholesky::new(&matrix).filter(|factor| factor.condition_bound() < 1e13)?;
        let mut out: Vec<f64> = self.right[t].iter().zip(&scale).map(|(c, s)| c / s).collect();
        factor.solve_in_place(&mut out);
        out.iter_mut().zip(&scale).for_each(|(b, s)| *b /= s);
        Some(out)
    }

    /// Sums of squares that overflow name the column.
    pub(super) fn check(&self, names: &[String]) -> Result<()> {
        let d = self.columns();
        let bad = |&j: &usize| !self.gram.diagonal(j).is_finite() || !self.mean[j].is_finite();
        let column = (0..d).find(bad).and_then(|j| names.get(j)).map(String::as_str);
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let target_fits = finite(&self.total) && self.right.iter().all(|c| finite(c));
        match (column, target_fits) {
            (None, true) => Ok(()),
            (column, _) => {
                let name = column.unwrap_or("the target");
                let message = format!("the squares of '{name}' are too large for double precision");
                Err(Error::new(Code::NotFinite, message)
                    .column(name)
                    .hint("divide it by its largest value"))
            }
        }
    }

    /// The least penalty at which all coefficients of an output are zero.
    pub(super) fn largest_l1(&self, t: usize, positive: bool) -> f64 {
        let pull = |c: &f64| if positive { *c } else { c.abs() };
        self.right[t].iter().map(pull).fold(0.0, f64::max)
    }

    /// At zero coefficients of an output.
    pub(super) fn start(&self, t: usize) -> Descent<'_, Gram> {
        Descent::new(&self.gram, &self.right[t])
    }

    /// Goes on from where `descent` is.
    pub(super) fn solve(
        &self,
        t: usize,
        descent: &mut Descent<Gram>,
        (l1, l2): (f64, f64),
        reach: f64,
        settings: &Settings,
        run: &Context,
    ) -> Result<Solved> {
        let penalty = Penalty::uniform(self.columns(), l1, l2, settings.positive);
        let random = settings.random.then_some(t as u64);
        let search = Search { max_iter: settings.max_iter, reach, random };
        let accepted = settings.tol * self.total[t];
        let mut gap = f64::INFINITY;
        let mut optimal = |b: &[f64], slope: &[f64]| {
            gap = self.gap(t, b, slope, l1, l2, settings.positive);
            gap <= accepted
        };
        let ended = descent.minimize(&penalty, &search, &mut optimal, run)?;
        if descent.b.iter().any(|b| !b.is_finite()) {
            return Err(Error::numeric("coefficients became too large for double precision"));
        }
        Ok(Solved {
            coef: descent.b.clone(),
            gap,
            n_iter: ended.n_iter,
            converged: ended.converged,
            residual: self.residual(t, &descent.b, &descent.slope),
        })
    }

    /// Mean of r² from b and its slope Gb - c.
    pub(super) fn residual(&self, t: usize, b: &[f64], slope: &[f64]) -> f64 {
        (self.total[t] - dot(&self.right[t], b) + dot(b, slope)).max(0.0)
    }

    /// A bound of how far the objective is above its minimum. Without penalties, where no such
    /// bound is known, half the sum of what each coordinate alone could still gain.
    fn gap(&self, t: usize, b: &[f64], slope: &[f64], l1: f64, l2: f64, positive: bool) -> f64 {
        if l1 == 0.0 && l2 == 0.0 {
            let gain = |(j, slope): (usize, &f64)| match self.gram.diagonal(j) {
                g if g > 0.0 && !(positive && b[j] == 0.0 && *slope > 0.0) => slope * slope / g,
                _ => 0.0,
            };
            return 0.5 * slope.iter().enumerate().map(gain).sum::<f64>();
        }
        let outward = |x: f64| if positive { x.max(0.0) } else { x.abs() };
        let (mut steepest, mut size, mut squares, mut pulled, mut conjugate) =
            (0.0_f64, 0.0, 0.0, 0.0, 0.0);
        for (b, slope) in b.iter().zip(slope) {
            let v = -slope;
            steepest = steepest.max(outward(v - l2 * b));
            size += b.abs();
            squares += b * b;
            pulled += b * v;
            conjugate += (outward(v) - l1).max(0.0).powi(2);
        }
        let kappa = if steepest > l1 { l1 / steepest } else { 1.0 };
        let residual = self.residual(t, b, slope) + l2 * squares;
        let scaled =
            0.5 * (1.0 - kappa).powi(2) * residual + l1 * size - kappa * (pulled - l2 * squares);
        let smooth = match l2 > 0.0 {
            true => l1 * size + 0.5 * l2 * squares - pulled + conjugate / (2.0 * l2),
            false => f64::INFINITY,
        };
        scaled.min(smooth).max(0.0)
    }

    /// The intercept that belongs to coefficients of an output.
    pub(super) fn intercept(&self, t: usize, coef: &[f64]) -> f64 {
        let d = self.columns();
        self.mean[d + t] - dot(coef, &self.mean[..d])
    }
}

/// Calls `f` with the rows whose weight is not zero, after the checks that a learner's fit makes.
pub(super) fn checked<T>(
    data: &Dataset,
    run: &Context,
    f: impl FnOnce(&Dataset) -> Result<T>,
) -> Result<T> {
    data.check(Lasso::ABOUT.accepts, true, run)?;
    run.checkpoint()?;
    match data.weights {
        Some(weights) if weights.contains(&0.0) => {
            let kept: Vec<usize> = (0..data.nrows()).filter(|&i| weights[i] > 0.0).collect();
            f(&data.gather(&kept).view())
        }
        _ => f(data),
    }
}

/// Where a fit is; also its checkpoint.
#[derive(Stored, Clone, Debug)]
pub struct Stage {
    pub(super) names: Vec<String>,
    pub(super) outputs: usize,
    wide: bool,
}

/// What a pass brings back.
#[derive(Stored, Clone, Debug)]
pub struct Summary {
    sums: Sums,
}

#[derive(Stored, Clone, Debug)]
enum Sums {
    Moments(Moments),
    Rows(Rows),
}

/// From this many columns on, products of columns are computed where they are needed.
const WIDE: usize = 4000;

impl Stage {
    /// Before the pass over the data.
    pub(super) fn begin(outline: &Outline, run: &Context) -> Result<Stage> {
        Self::for_rows(outline, outline.rows, run)
    }

    /// The same for a part of the rows.
    pub(super) fn for_rows(outline: &Outline, rows: u64, run: &Context) -> Result<Stage> {
        let (d, k) = (outline.schema.len(), outline.outputs);
        let wide = rows < d as u64 || d > WIDE;
        let side = if wide { outline.rows } else { (d + k) as u64 };
        let copies = if wide { 3 } else { 4 + run.threads() as u64 };
        run.claim(copies * 8 * side * (d + k) as u64, "the products of columns")?;
        let names = outline.schema.names().map(str::to_string).collect();
        Ok(Stage { names, outputs: k, wide })
    }

    /// The problem of a data set in memory.
    pub(super) fn gather(
        &self,
        data: &Dataset,
        centred: bool,
        run: &Context,
    ) -> Result<(Problem, Vec<String>)> {
        let all = self.sum(data, centred, run)?;
        Ok((self.problem(all, centred, run)?, self.names.clone()))
    }

    /// The sums of rows in memory.
    pub(super) fn sum(&self, data: &Dataset, centred: bool, run: &Context) -> Result<Summary> {
        if !self.wide && data.x.ncols() >= in_memory::MANY {
            let moments = in_memory::moments(data, centred, run)?;
            return Ok(Summary { sums: Sums::Moments(moments) });
        }
        let size = block_rows(data.x.ncols());
        let blocks = data.nrows().div_ceil(size);
        let parts = run.try_par_map(blocks, |k| {
            let end = ((k + 1) * size).min(data.nrows());
            self.summarize(&data.rows(k * size, end), centred)
        })?;
        let mut merger = Merger::new(blocks as u64);
        for (k, part) in parts.into_iter().enumerate() {
            merger.add(k as u64, part, Merge::merge)?;
        }
        merger.total()
    }

    /// What a block adds.
    pub(super) fn summarize(&self, data: &Dataset, centred: bool) -> Result<Summary> {
        let sums = match self.wide {
            true => Sums::Rows(Rows::of(data)?),
            false => Sums::Moments(Moments::of(data, centred)?),
        };
        Ok(Summary { sums })
    }

    /// The problem that all blocks together make.
    pub(super) fn problem(&self, all: Summary, centred: bool, run: &Context) -> Result<Problem> {
        let problem = match all.sums {
            Sums::Rows(rows) => Problem::from_rows(&rows, self.outputs, centred, run)?,
            Sums::Moments(moments) => Problem::from_moments(moments, self.outputs),
        };
        problem.check(&self.names)?;
        Ok(problem)
    }
}

impl Summary {
    /// The sum of the weights.
    pub(super) fn weight(&self) -> f64 {
        match &self.sums {
            Sums::Moments(moments) => moments.weight,
            Sums::Rows(rows) => rows.weights.iter().sum(),
        }
    }

    /// From sums about the mean to sums about the origin.
    #[must_use]
    pub(super) fn about_origin(self) -> Summary {
        let Sums::Moments(mut moments) = self.sums else { return self };
        for i in 0..moments.mean.len() {
            let factor = moments.weight * moments.mean[i];
            add_scaled(moments.scatter.row_mut(i), factor, &moments.mean);
        }
        moments.mean.fill(0.0);
        moments.rest.fill(0.0);
        Summary { sums: Sums::Moments(moments) }
    }

    /// Mean of (y - intercept - x coef)² of an output, and of (y - ȳ)², from sums about the mean.
    pub(super) fn errors(&self, t: usize, coef: &[f64], intercept: f64) -> (f64, f64) {
        let d = coef.len();
        let used: Vec<usize> = (0..d).filter(|&j| coef[j] != 0.0).collect();
        match &self.sums {
            Sums::Moments(Moments { weight, mean, scatter, .. }) => {
                let row = scatter.row(d + t);
                let mut squares = row[d + t];
                for &i in &used {
                    let product: f64 = used.iter().map(|&j| scatter[(i, j)] * coef[j]).sum();
                    squares += coef[i] * (product - 2.0 * row[i]);
                }
                let fit: f64 = used.iter().map(|&j| coef[j] * mean[j]).sum();
                let offset = mean[d + t] - intercept - fit;
                (squares.max(0.0) / weight + offset * offset, row[d + t] / weight)
            }
            Sums::Rows(rows) => {
                let weight: f64 = rows.weights.iter().sum();
                let weighted = || rows.weights.iter().zip(rows.values.rows());
                let mean = weighted().map(|(w, row)| w * row[d + t]).sum::<f64>() / weight;
                let (mut error, mut total) = (0.0, 0.0);
                for (w, row) in weighted() {
                    let fit: f64 = used.iter().map(|&j| coef[j] * row[j]).sum();
                    error += w * (row[d + t] - intercept - fit).powi(2);
                    total += w * (row[d + t] - mean).powi(2);
                }
                (error / weight, total / weight)
            }
        }
    }
}

impl Merge for Summary {
    fn merge(self, later: Self) -> Result<Self> {
        let sums = match (self.sums, later.sums) {
            (Sums::Moments(a), Sums::Moments(b)) => Sums::Moments(a.merge(b)?),
            (Sums::Rows(a), Sums::Rows(b)) => Sums::Rows(a.merge(b)?),
            _ => return Err(Error::internal("sums of two kinds")),
        };
        Ok(Summary { sums })
    }
}
