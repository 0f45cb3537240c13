//! One pass over rows: a survey of the columns and the target, the sums of a step, or the rows themselves.
//!
//! Rows are standardised as z = (x - centre) / scale in chunks that stay in cache, so that far
//! origins and unequal units cost no digits. A step's sums are Σ w W z zᵀ, Σ w s z, the deviance and
//! Pearson's Σ w (y - μ)² / V, with W and s of [`Law::at`](super::family::Law::at).

use super::family::Law;
use crate::linear::least_squares::Rows;
use crate::linear::likelihood::copy_padded;
use crate::linear::likelihood::kernels::{add_gradient, padded, scores};
use learnt_core::linalg::{self, Lines, add_scaled};
use learnt_core::prelude::*;

/// What a pass brings back.
#[derive(Clone, Debug, Stored)]
pub enum Summary {
    /// Before the first step.
    Survey(Survey),
    /// At some coefficients.
    Sums(Sums),
    /// The rows themselves.
    Rows(Gathered),
}

/// Rows, inputs and target side by side.
#[derive(Clone, Debug, Stored, Merge)]
pub struct Gathered {
    pub(super) rows: Rows,
}

/// Weight, means and spreads.
#[derive(Clone, Debug, Stored)]
pub struct Survey {
    pub(super) weight: f64,
    /// Number of rows, and Σ ln w.
    pub(super) rows: f64,
    pub(super) ln_weight: f64,
    pub(super) mean: Vec<f64>,
    /// Σ w (x - mean)² of each column.
    pub(super) spread: Vec<f64>,
    pub(super) target: f64,
    /// Σ w of [`Family::constant`](super::family::Family::constant).
    pub(super) constant: f64,
}

/// The sums of a step.
#[derive(Clone, Debug, Stored)]
pub struct Sums {
    pub(super) deviance: f64,
    /// At the mean that all rows have without inputs.
    pub(super) null_deviance: f64,
    pub(super) pearson: f64,
    /// Smallest η with the sign of the row's side; negative infinity if a row is on none.
    pub(super) margin: f64,
    /// Σ w s z, or Σ w (s + W η) z from targets.
    pub(super) gradient: Vec<f64>,
    /// Σ w W z zᵀ, lower triangle.
    pub(super) information: Matrix,
}

impl Merge for Summary {
    fn merge(self, later: Self) -> Result<Self> {
        match (self, later) {
            (Summary::Survey(a), Summary::Survey(b)) => Ok(Summary::Survey(a.merge(&b))),
            (Summary::Sums(a), Summary::Sums(b)) => Ok(Summary::Sums(a.merge(&b))),
            (Summary::Rows(a), Summary::Rows(b)) => a.merge(b).map(Summary::Rows),
            _ => Err(Error::internal("summaries of two kinds in one round")),
        }
    }
}

impl Survey {
    fn merge(mut self, later: &Survey) -> Survey {
        let weight = self.weight + later.weight;
        let share = later.weight / weight;
        for j in 0..self.mean.len() {
            let difference = later.mean[j] - self.mean[j];
            self.spread[j] += later.spread[j] + self.weight * share * difference * difference;
            self.mean[j] += share * difference;
        }
        self.target += share * (later.target - self.target);
        self.constant += later.constant;
        self.rows += later.rows;
        self.ln_weight += later.ln_weight;
        self.weight = weight;
        self
    }

    /// Of the rows of a block, about its first row; refuses targets that the family cannot have.
    pub(super) fn of(block: &Block, law: Law) -> Result<Survey> {
        let data = &block.data;
        let (x, y) = (data.x.values(), data.real_target()?);
        let d = x.ncols();
        let (mut origin, mut row) = (vec![0.0; d], vec![0.0; d]);
        let (mut sums, mut squares) = (vec![0.0; d], vec![0.0; d]);
        let (mut weight, mut target, mut constant) = (0.0, 0.0, 0.0);
        let mut ln_weight = 0.0;
        for i in 0..data.nrows() {
            let (w, value) = (data.weight(i), y.at(i, 0));
            if !law.family.allows(value) {
                return Err(refused(law, value, block.first_row + i as u64 + 1));
            }
            x.copy_row(i, if i == 0 { &mut origin } else { &mut row });
            if i > 0 {
                for j in 0..d {
                    let shifted = row[j] - origin[j];
                    sums[j] += w * shifted;
                    squares[j] += w * shifted * shifted;
                }
            }
            weight += w;
            ln_weight += if w == 1.0 { 0.0 } else { w.ln() };
            target += w * value;
            constant += w * law.family.constant(value);
        }
        for j in 0..d {
            squares[j] = (squares[j] - sums[j] * (sums[j] / weight)).max(0.0);
            origin[j] += sums[j] / weight;
        }
        let target = target / weight;
        let rows = data.nrows() as f64;
        Ok(Survey { weight, rows, ln_weight, mean: origin, spread: squares, target, constant })
    }
}

fn refused(law: Law, value: f64, row: u64) -> Error {
    let allowed = law.family.allowed().unwrap_or("numbers");
    let message = format!(
        "the target is {value} in row {row}, and the {} family takes {allowed}",
        law.family.name()
    );
    Error::new(Code::Target, message).row(row).hint("choose another family, or leave out such rows")
}

impl Sums {
    fn empty(columns: usize) -> Sums {
        Sums {
            deviance: 0.0,
            null_deviance: 0.0,
            pearson: 0.0,
            margin: f64::INFINITY,
            gradient: vec![0.0; columns],
            information: Matrix::zeros(columns, columns),
        }
    }

    fn merge(mut self, later: &Sums) -> Sums {
        self.deviance += later.deviance;
        self.null_deviance += later.null_deviance;
        self.pearson += later.pearson;
        self.margin = self.margin.min(later.margin);
        add_scaled(&mut self.gradient, 1.0, &later.gradient);
        add_scaled(self.information.as_mut_slice(), 1.0, later.information.as_slice());
        self
    }
}

/// Where to take the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass<'a> {
    pub(super) law: Law,
    pub(super) centre: &'a [f64],
    /// Reciprocal of each column's unit; 0 leaves the column out.
    pub(super) factor: &'a [f64],
    pub(super) intercept: bool,
    /// In standardised columns, the intercept last.
    pub(super) coefficients: &'a [f64],
    /// The typical target, if means are to be taken close to the targets instead.
    pub(super) from_targets: Option<f64>,
    /// The mean of all rows without inputs, if its deviance is wanted.
    pub(super) null_mean: Option<f64>,
}

impl Pass<'_> {
    pub(super) fn over(&self, data: &Dataset) -> Result<Sums> {
        let y = data.real_target()?;
        let (inputs, columns) = (self.centre.len(), self.coefficients.len());
        if data.x.ncols() != inputs || columns != inputs + usize::from(self.intercept) {
            return Err(Error::internal("a block of another shape than its state"));
        }
        let width = padded(columns.max(1));
        let rows = ((1 << 16) / (8 * width)).clamp(16, 256);
        let mut total = Sums::empty(columns);
        let mut gradient = vec![0.0; width];
        let mut coefficients = Lines::zeros(width);
        coefficients[..columns].copy_from_slice(self.coefficients);
        let mut z = Lines::zeros(rows * width);
        let mut eta = vec![0.0; rows];
        let mut roots = vec![0.0; rows];
        for start in (0..data.nrows()).step_by(rows) {
            let part = data.rows(start, (start + rows).min(data.nrows()));
            let n = part.nrows();
            let (z, eta, roots) = (&mut z[..n * width], &mut eta[..n], &mut roots[..n]);
            self.load(part.x.values(), z, width);
            scores(z, &coefficients, width, eta);
            self.contribute(&part, y.rows(start, start + n), eta, roots, &mut total);
            add_gradient(z, eta, width, &mut gradient);
            for (row, root) in z.chunks_exact_mut(width).zip(roots.iter()) {
                row.iter_mut().for_each(|z| *z *= root);
            }
            let scaled = MatRef::strided(z, n, columns, width, 1)?;
            linalg::add_gram(total.information.as_mut_slice(), scaled);
        }
        total.gradient.copy_from_slice(&gradient[..columns]);
        Ok(total)
    }

    fn load(&self, x: MatRef, z: &mut [f64], width: usize) {
        let inputs = self.centre.len();
        copy_padded(x, z, width);
        for row in z.chunks_exact_mut(width) {
            for ((z, centre), factor) in row.iter_mut().zip(self.centre).zip(self.factor) {
                *z = (*z - centre) * factor;
            }
            if self.intercept {
                row[inputs] = 1.0;
            }
        }
    }

    /// η becomes w s, `roots` √(w W); the rest is added to the total.
    fn contribute(
        &self,
        part: &Dataset,
        y: MatRef,
        eta: &mut [f64],
        roots: &mut [f64],
        total: &mut Sums,
    ) {
        for (i, (eta, root)) in eta.iter_mut().zip(roots).enumerate() {
            let (w, y) = (part.weight(i), y.at(i, 0));
            let at = match self.from_targets {
                Some(typical) => self.law.near(y, typical),
                None => *eta,
            };
            let row = self.law.at(y, at);
            let side = if y == 1.0 {
                at
            } else if y == 0.0 {
                -at
            } else {
                f64::NEG_INFINITY
            };
            total.margin = total.margin.min(side);
            total.deviance += w * row.deviance;
            total.pearson += w * row.pearson;
            if let Some(mean) = self.null_mean {
                total.null_deviance += w * self.law.deviance_at(y, mean);
            }
            // Before the steps η is the offset alone.
            let working = if self.from_targets.is_some() { row.weight * (at - *eta) } else { 0.0 };
            *eta = w * (row.score + working);
            *root = (w * row.weight).sqrt();
        }
    }
}
