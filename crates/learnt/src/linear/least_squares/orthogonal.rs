//! Passes that keep rows or triangles instead of products, and their solutions.

use super::dense::{Spectrum, in_order};
use super::gradient::Anchor;
use super::moments::{Moments, fill, for_each_row};
use super::{DETAILED, LeastSquares, Solution};
use learnt_core::linalg::{dot, triangle_of};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// All rows, for tables with no more rows than columns.
#[derive(Stored, Clone, Debug)]
pub(in crate::linear) struct Rows {
    /// The weight of each row.
    pub(in crate::linear) weights: Vec<f64>,
    /// Inputs, then outputs.
    pub(in crate::linear) values: Matrix,
}

impl Rows {
    /// The rows of one block, inputs and outputs side by side.
    pub(in crate::linear) fn of(data: &Dataset) -> Result<Rows> {
        let y = data.real_target()?;
        let (mut weights, mut values) = (Vec::new(), Vec::new());
        for_each_row(data, y, |i, inputs, outputs| {
            if data.weight(i) > 0.0 {
                weights.push(data.weight(i));
                values.extend_from_slice(inputs);
                values.extend_from_slice(outputs);
            }
        });
        let values = Matrix::from_vec(weights.len(), data.x.ncols() + y.ncols(), values)?;
        Ok(Rows { weights, values })
    }

    /// Moments with the scatter of the outputs alone.
    fn moments(&self, outputs: usize, centred: bool) -> Moments {
        let width = self.values.ncols();
        let weight: f64 = self.weights.iter().sum();
        let mean = match centred {
            true => self.means(weight),
            false => vec![0.0; width],
        };
        let scatter = Matrix::from_fn(outputs, outputs, |t, s| {
            let (i, j) = (width - outputs + t, width - outputs + s);
            let product = |(w, row): (&f64, &[f64])| w * (row[i] - mean[i]) * (row[j] - mean[j]);
            self.weights.iter().zip(self.values.rows()).map(product).sum()
        });
        let ln_weight = self.weights.iter().map(|w| w.ln()).sum();
        let rest = vec![0.0; width];
        Moments {
            rows: self.weights.len() as u64,
            weight,
            ln_weight,
            mean,
            rest,
            scatter,
            single: false,
        }
    }

    /// The mean of each column, as the first value plus the mean difference from it.
    fn means(&self, weight: f64) -> Vec<f64> {
        let width = self.values.ncols();
        let first = self.values.rows().next().map_or(vec![0.0; width], <[f64]>::to_vec);
        let mut sums = vec![0.0; width];
        vectorized!(for (w, row) in self.weights.iter().zip(self.values.rows()) {
            for ((sum, x), first) in sums.iter_mut().zip(row).zip(&first) {
                *sum += w * (x - first);
            }
        });
        first.iter().zip(&sums).map(|(first, sum)| first + sum / weight).collect()
    }
}

impl Merge for Rows {
    fn merge(mut self, later: Self) -> Result<Self> {
        self.weights.extend(later.weights);
        let (rows, width) = (self.weights.len(), self.values.ncols());
        let mut values = self.values.into_vec();
        values.extend(later.values.into_vec());
        Ok(Rows { weights: self.weights, values: Matrix::from_vec(rows, width, values)? })
    }
}

/// The triangle of √w (z - mean) over one block.
pub(super) fn triangle(data: &Dataset, mean: &[f64]) -> Result<Matrix> {
    let y = data.real_target()?;
    let mut rows = Matrix::zeros(data.nrows(), mean.len());
    for_each_row(data, y, |i, inputs, outputs| {
        fill(rows.row_mut(i), data.weight(i).sqrt(), inputs, outputs, mean);
    });
    Ok(triangle_of(rows.view()))
}

/// √w (z - mean) in the place of rows z.
fn centred(mut rows: Matrix, weights: &[f64], mean: &[f64], run: &Context) -> Matrix {
    let width = mean.len().max(1);
    run.par_fill(rows.as_mut_slice(), width, |start, row| {
        let root = weights[start / width].sqrt();
        vectorized!(for (x, mean) in row.iter_mut().zip(mean) {
            *x = root * (*x - mean);
        });
    });
    rows
}

/// The triangle of one above the other.
pub(super) fn stack(a: Matrix, b: Matrix) -> Matrix {
    let (n, d) = (a.nrows(), a.ncols());
    let both =
        Matrix::from_fn(n + b.nrows(), d, |i, j| if i < n { a[(i, j)] } else { b[(i - n, j)] });
    triangle_of(both.view())
}

impl LeastSquares {
    /// The solution from the triangle of the centred columns.
    pub(super) fn after_triangles(
        &self,
        moments: &Moments,
        triangle: &Matrix,
        outputs: usize,
    ) -> Result<Solution> {
        let d = moments.mean.len() - outputs;
        let root = moments.weight.sqrt();
        let joined = match self.penalizes_intercept() {
            false => triangle.clone(),
            // A row √w (mean, 1, mean of y) brings back what centring took away.
            true => Matrix::from_fn(d + outputs + 1, d + 1 + outputs, |i, j| {
                let column = if j < d { Some(j) } else { (j > d).then(|| j - 1) };
                match (column, i < d + outputs) {
                    (Some(column), true) => triangle[(i, column)],
                    (Some(column), false) => root * moments.mean[column],
                    (None, true) => 0.0,
                    (None, false) => root,
                }
            }),
        };
        match self.alpha.is_empty() {
            true => self.by_columns(moments, &joined, outputs),
            false => self.shrunk(moments, &joined, outputs),
        }
    }

    /// The solution from the rows themselves.
    pub(super) fn after_rows(&self, rows: Rows, outputs: usize, run: &Context) -> Result<Solution> {
        let moments = rows.moments(outputs, self.intercept);
        let d = moments.mean.len() - outputs;
        let Rows { weights, values } = rows;
        let joined = match self.penalizes_intercept() {
            false => centred(values, &weights, &moments.mean, run),
            true => Matrix::from_fn(weights.len(), d + 1 + outputs, |i, j| {
                let root = weights[i].sqrt();
                if j == d { root } else { root * values[(i, if j < d { j } else { j - 1 })] }
            }),
        };
        if joined.as_slice().iter().any(|x| !x.is_finite()) {
            return Err(Error::new(Code::NotFinite, "values are too large for double precision"));
        }
        if let Some(solution) = self.by_row_products(&weights, &moments, &joined, outputs, run)? {
            return Ok(solution);
        }
        run.checkpoint()?;
        match self.alpha.is_empty() {
            true => self.by_singular_values(&moments, &joined, outputs),
            false => self.shrunk(&moments, &joined, outputs),
        }
    }

    /// Columns in order; those that depend on earlier ones are aliased.
    fn by_columns(&self, moments: &Moments, joined: &Matrix, outputs: usize) -> Result<Solution> {
        let d = joined.ncols() - outputs;
        let tolerance = (moments.rows.max(d as u64) as f64 * f64::EPSILON).max(1e-13);
        let found = in_order(joined, d, tolerance)?;
        let anchor = self.anchor_of(moments, found.coef);
        let mut out = self.plain(moments, anchor, found.residual);
        out.rank = d - found.aliased.len();
        out.aliased = found.aliased;
        if d <= DETAILED {
            out.root = Some(found.root);
            let factor = joined.view().columns(0, d).to_matrix();
            out.set_spectrum(&factor, d, self.intercept);
        }
        Ok(out)
    }

    /// The solution of smallest norm.
    fn by_singular_values(
        &self,
        moments: &Moments,
        joined: &Matrix,
        outputs: usize,
    ) -> Result<Solution> {
        let spectrum = Spectrum::new(joined, joined.ncols() - outputs)?;
        let rank = spectrum.svd.rank();
        let smallest = if rank > 0 { spectrum.svd.s[rank - 1] } else { f64::INFINITY };
        let invert = |s: f64| if s >= smallest { 1.0 / s } else { 0.0 };
        let coef: Vec<Vec<f64>> = (0..outputs).map(|t| spectrum.solve(t, invert)).collect();
        let anchor = self.anchor_of(moments, Matrix::from_rows(&coef)?);
        let mut out = self.plain(moments, anchor, spectrum.residual(rank));
        out.rank = rank;
        out.singular = spectrum.svd.s;
        Ok(out)
    }

    /// B = V diag(s / (s² + alpha)) UᵀY.
    fn shrunk(&self, moments: &Moments, joined: &Matrix, outputs: usize) -> Result<Solution> {
        let p = joined.ncols() - outputs;
        let spectrum = Spectrum::new(joined, p)?;
        let rank = spectrum.svd.rank();
        let smallest = if rank > 0 { spectrum.svd.s[rank - 1] } else { f64::INFINITY };
        let of = |t: usize| {
            let alpha = self.alpha_of(t);
            let shrink = move |s: f64| if s >= smallest { s / (s * s + alpha) } else { 0.0 };
            let freedom: f64 = spectrum.svd.s.iter().map(|&s| s * shrink(s)).sum();
            (spectrum.solve(t, shrink), self.freedom(freedom))
        };
        let (coef, freedom): (Vec<Vec<f64>>, Vec<f64>) = (0..outputs).map(of).unzip();
        let anchor = self.anchor_of(moments, Matrix::from_rows(&coef)?);
        let mut out = self.plain(moments, anchor, Matrix::zeros(outputs, outputs));
        out.freedom = Some(freedom);
        out.rank = rank.min(moments.mean.len() - outputs);
        Ok(out)
    }

    /// Coefficients of all columns, a penalised intercept last, as an anchor.
    pub(super) fn anchor_of(&self, moments: &Moments, coef: Matrix) -> Anchor {
        let outputs = coef.nrows();
        let d = moments.mean.len() - outputs;
        let all = Matrix::from_fn(outputs, d, |t, j| coef[(t, j)]);
        let offset = |t: usize| match self.penalizes_intercept() {
            true => coef[(t, d)] + dot(all.row(t), &moments.mean[..d]) - moments.mean[d + t],
            false => 0.0,
        };
        Anchor { mean: moments.mean.clone(), offset: (0..outputs).map(offset).collect(), coef: all }
    }
}
