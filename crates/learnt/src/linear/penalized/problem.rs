//! Least squares as a quadratic in the coefficients, and the duality gap of its L1 and L2 penalties.
//!
//! In means: G = Σ w (x - x̄)(x - x̄)ᵀ / Σ w, c = Σ w (x - x̄)(y - ȳ) / Σ w. With r the residuals and
//! v = c - Gb their products with the columns, θ = κ r is feasible in the dual for
//! κ = min(1, l1 / max |v - l2 b|), and
//! gap = ½ (1 - κ)² (mean r² + l2 ‖b‖²) + l1 ‖b‖₁ - κ bᵀ(v - l2 b);
//! where l2 > 0, also Σ (l1 |b| + ½ l2 b² - b v + max(|v| - l1, 0)² / (2 l2)). The lesser counts.

use super::columns::{Columns, Split};
use super::quadratic::{Descent, Penalty, Products, Search};
use crate::linear::least_squares::{Moments, Rows};
use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;

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

    fn rows(&self, new: &[usize], others: &[usize], run: &Context) -> Matrix {
        match self {
            Gram::Whole(matrix) => Products::rows(matrix, new, others, run),
            Gram::Columns(columns) => columns.rows(new, others, run),
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
    /// From moments of inputs and outputs.
    pub(super) fn from_moments(moments: Moments, outputs: usize) -> Result<Problem> {
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
        let gram = Gram::Whole(Matrix::from_vec(d, d, gram)?);
        Ok(Problem { gram, right, total, mean: moments.mean, weight })
    }

    /// From the rows themselves.
    pub(super) fn from_rows(
        rows: &Rows,
        outputs: usize,
        centred: bool,
        run: &Context,
    ) -> Result<Problem> {
        Ok(Self::from_split(Columns::split(rows, outputs, centred, run)?, outputs, run))
    }

    /// From a table in memory, with products of columns on demand.
    pub(super) fn from_data(data: &Dataset, centred: bool, run: &Context) -> Result<Problem> {
        let outputs = data.real_target()?.ncols();
        Ok(Self::from_split(Columns::of_data(data, centred, run)?, outputs, run))
    }

    fn from_split(split: Split, outputs: usize, run: &Context) -> Problem {
        let right = (0..outputs).map(|t| split.inputs.against(&split.outputs, t, run)).collect();
        let total = (0..outputs).map(|t| split.outputs.diagonal(t)).collect();
        let gram = Gram::Columns(match outputs {
            1 => split.inputs,
            _ => split.inputs.settled(run),
        });
        Problem { gram, right, total, mean: split.mean, weight: split.weight }
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
        let (mut gap, mut looks) = (f64::INFINITY, 0);
        let mut optimal = |b: &[f64], slope: &[f64]| {
            looks += 1;
            run.record("coordinate descent", looks, self.objective(t, b, slope, l1, l2));
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

    /// ½ mean r² + l1 ‖b‖₁ + ½ l2 ‖b‖².
    fn objective(&self, t: usize, b: &[f64], slope: &[f64], l1: f64, l2: f64) -> f64 {
        let size: f64 = b.iter().map(|b| b.abs()).sum();
        0.5 * self.residual(t, b, slope) + l1 * size + 0.5 * l2 * dot(b, b)
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
