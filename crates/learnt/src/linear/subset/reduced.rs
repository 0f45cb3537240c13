//! A table reduced to its triangle: all that selection needs to know of the rows.
//!
//! One pass gives means and R with RᵀR the products of the centred columns (X y). Columns are
//! scaled to unit length, so sums of squares are shares of the total. Errors grow with the condition
//! of the inputs, not with its square as they would from sums of products.

use learnt_core::linalg::{Triangle, dot, norm, triangle_of};
use learnt_core::prelude::*;

/// The sums of one pass over rows of (inputs, target).
#[derive(Stored, Clone, Debug, Merge)]
pub struct Sums {
    triangle: Triangle,
}

impl Sums {
    /// Of one block.
    pub(super) fn of(data: &Dataset) -> Result<Sums> {
        let (x, y) = (data.x.values(), data.real_target()?);
        let width = x.ncols() + 1;
        let joined = Matrix::from_fn(data.nrows(), width, |i, j| match j + 1 < width {
            true => x.at(i, j),
            false => y.at(i, 0),
        });
        let table = Table::unnamed(joined);
        let rows = Dataset { weights: data.weights, ..Dataset::new(table.frame()) };
        Ok(Sums { triangle: Triangle::of(&rows) })
    }

    /// Mean squared error of intercept + coefᵀx on these rows.
    pub(super) fn error(&self, coef: &[f64], intercept: f64) -> f64 {
        let Triangle { weight, mean, factor, .. } = &self.triangle;
        let (inputs, target) = mean.split_at(coef.len());
        let shift = target.iter().sum::<f64>() - intercept - dot(inputs, coef);
        let left = |row: &[f64]| row[coef.len()] - dot(&row[..coef.len()], coef);
        let squares: f64 = factor.rows().map(|row| left(row) * left(row)).sum();
        squares / weight + shift * shift
    }
}

/// Refuses tables whose sums are estimated to need more memory than allowed.
pub(super) fn claim(columns: usize, run: &Context) -> Result<()> {
    let width = columns as u64 + 1;
    let block = rounds::block_rows(columns) as u64;
    let threads = run.threads() as u64;
    let bytes = (3 * threads * block + 2 * width).saturating_mul(8 * width);
    run.claim(bytes, &format!("triangles of blocks of rows of {columns} columns"))
}

/// The triangle of a table with its columns at unit length.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) names: Vec<String>,
    pub(super) intercept: bool,
    /// Sum of the weights: a weight of 2 counts as two rows.
    pub(super) weight: f64,
    /// Means of the inputs, then of the target; zeros without an intercept.
    pub(super) mean: Vec<f64>,
    /// Lengths of the centred inputs, then of the target.
    pub(super) length: Vec<f64>,
    /// The columns of the triangle at unit length, the target last; zero where constant.
    pub(super) columns: Vec<Vec<f64>>,
    /// Share of a column below which nothing but rounding is left of it.
    pub(super) tolerance: f64,
    /// Share of the target's squares that rounding alone leaves.
    pub(super) rounding: f64,
}

impl Reduced {
    pub(super) fn new(names: &[String], sums: Sums, intercept: bool) -> Result<Reduced> {
        let Triangle { rows, weight, mut mean, factor } = sums.triangle;
        let width = factor.ncols();
        let root = weight.sqrt();
        let far = root * mean.last().copied().unwrap_or(0.0);
        let factor = match intercept {
            true => triangle_of(factor.view()),
            // A row √w mean brings back what centring took away.
            false => {
                let n = factor.nrows();
                let stacked = Matrix::from_fn(n + 1, width, |i, j| match i < n {
                    true => factor[(i, j)],
                    false => root * mean[j],
                });
                mean.fill(0.0);
                triangle_of(stacked.view())
            }
        };
        let mut columns: Vec<Vec<f64>> = (0..width).map(|j| factor.column(j)).collect();
        let mut length = Vec::with_capacity(width);
        for (j, column) in columns.iter_mut().enumerate() {
            let own = norm(column);
            check_length(own, mean[j], names.get(j))?;
            let scale = if own >= f64::MIN_POSITIVE { 1.0 / own } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= scale);
            length.push(if scale > 0.0 { own } else { 0.0 });
        }
        let target = length[width - 1];
        let shift = if target > 0.0 { far / target } else { 0.0 };
        let rounding = 16.0 * f64::EPSILON * f64::EPSILON * rows as f64 * (1.0 + shift * shift);
        let tolerance = (rows.max(width as u64) as f64 * f64::EPSILON).max(1e-13);
        let names = names.to_vec();
        Ok(Reduced { names, intercept, weight, mean, length, columns, tolerance, rounding })
    }

    /// Number of inputs.
    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// Residual degrees of freedom with this many columns.
    pub(super) fn freedom(&self, size: usize) -> f64 {
        self.weight - size as f64 - f64::from(self.intercept)
    }

    /// Columns in order without those that are constant or given by earlier ones, and the others.
    pub(super) fn independent(&self) -> (Vec<usize>, Vec<usize>) {
        let mut grown = super::grow::Grow::new(self);
        (0..self.width()).partition(|&j| grown.is_free(j) && grown.add(j))
    }

    /// Whether two sums of squares, as shares of the total, differ by rounding alone.
    pub(super) fn tie(&self) -> f64 {
        64.0 * f64::EPSILON
    }
}

fn check_length(length: f64, mean: f64, name: Option<&String>) -> Result<()> {
    let square = length * length;
    if square.is_finite() && mean.is_finite() {
        return Ok(());
    }
    let name = name.map_or("the target", String::as_str);
    let message = format!("the squares of '{name}' are too large for double precision");
    let error = Error::new(Code::NotFinite, message).column(name);
    Err(error.hint("divide it by its largest value"))
}
