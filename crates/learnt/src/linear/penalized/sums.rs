//! The pass over the data that a problem is made from: moments, or the rows themselves.

use super::in_memory;
use super::lasso::Lasso;
use super::problem::Problem;
use crate::linear::least_squares::{Moments, Rows};
use learnt_core::linalg::add_scaled;
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Merger, Source, block_rows};

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
#[derive(Stored, Clone, Debug, Merge)]
pub struct Summary {
    sums: Sums,
}

#[derive(Stored, Clone, Debug, Merge)]
enum Sums {
    Moments(Moments),
    Rows(Rows),
}

/// From this many columns on, products of columns are computed where they are needed.
const WIDE: usize = 4000;
/// The same for one penalty with an L1 part, which few columns will pass, in tables up to this size.
const MANY_FOR_ONE: usize = 512;
const VALUES_FOR_ONE: u64 = 80_000_000;

impl Stage {
    /// Before the pass over the data.
    pub(super) fn begin(outline: &Outline, run: &Context) -> Result<Stage> {
        Self::for_rows(outline, outline.rows, run)
    }

    /// Before the pass, for one penalty. All products cost n p² steps; on demand s columns that enter
    /// cost n s² and a few times n p.
    pub(super) fn for_one(outline: &Outline, l1: f64, run: &Context) -> Result<Stage> {
        let d = outline.schema.len();
        let small = outline.rows.saturating_mul(d as u64) <= VALUES_FOR_ONE;
        match l1 > 0.0 && d >= MANY_FOR_ONE && small {
            true => Self::claimed(outline, true, run),
            false => Self::begin(outline, run),
        }
    }

    /// The same for a part of the rows.
    pub(super) fn for_rows(outline: &Outline, rows: u64, run: &Context) -> Result<Stage> {
        let d = outline.schema.len();
        Self::claimed(outline, rows < d as u64 || d > WIDE, run)
    }

    fn claimed(outline: &Outline, wide: bool, run: &Context) -> Result<Stage> {
        let (d, k) = (outline.schema.len(), outline.outputs);
        let side = if wide { outline.rows } else { (d + k) as u64 };
        let copies = if wide { 3 } else { 4 + run.threads() as u64 };
        let bytes = (copies * 8 * side).saturating_mul((d + k) as u64);
        run.claim(bytes, &format!("products of {d} columns"))?;
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

    /// The problem of a data set in memory whose products are computed on demand, without gathering
    /// its rows; `None` for others.
    pub(super) fn on_demand(
        &self,
        data: &Dataset,
        centred: bool,
        run: &Context,
    ) -> Result<Option<Problem>> {
        if !self.wide {
            return Ok(None);
        }
        let problem = Problem::from_data(data, centred, run)?;
        problem.check(&self.names)?;
        Ok(Some(problem))
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
            Sums::Moments(moments) => Problem::from_moments(moments, self.outputs)?,
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
