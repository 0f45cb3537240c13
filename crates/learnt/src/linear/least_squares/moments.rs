//! The first pass: count, means and scatter of inputs and outputs together.
//!
//! Each block is summed about its first row, which costs no pass of its own, keeps constant columns
//! exactly constant, and loses digits only where the first row is far from the mean in standard
//! deviations: then the block is summed again about its mean. Blocks merge by
//! S = S₁ + S₂ + (w₁w₂/w) δδᵀ with δ the difference of their means.
//!
//! Rows in single precision are multiplied and summed as such within some hundred rows, which gives moments to about
//! seven digits: enough to solve for coefficients that a second pass refines.
//!
//! Chan, Golub and LeVeque (1983), American Statistician 37(3), 242-247.

use learnt_core::linalg::{RankUpdate, prefetch_rows, rows_ahead};
use learnt_core::prelude::*;
use learnt_core::rounds::Singles;
use learnt_core::stop;
use learnt_core::vectorized;

/// Count, means and scatter Σ w (z - mean)(z - mean)ᵀ of z = (inputs, outputs).
#[derive(Stored, Clone, Debug)]
pub(in crate::linear) struct Moments {
    /// Rows with a weight above zero.
    pub(in crate::linear) rows: u64,
    /// Sum of the weights.
    pub(in crate::linear) weight: f64,
    /// Sum of their logarithms.
    pub(in crate::linear) ln_weight: f64,
    /// Means, or zeros where the scatter is about the origin.
    pub(in crate::linear) mean: Vec<f64>,
    /// What rounding took from the means: without it, merging columns far from zero loses digits.
    pub(in crate::linear) rest: Vec<f64>,
    /// The scatter about the mean; of the outputs alone where the rows are kept.
    pub(in crate::linear) scatter: Matrix,
    /// Products were summed in single precision.
    pub(in crate::linear) single: bool,
}

/// Squared distance from the first row to the mean, in variances, from which a block is summed
/// again: up to there at most two digits are lost.
const FAR: f64 = 256.0;
/// The same in single precision, where half a digit may be lost.
const FAR_IN_SINGLE: f64 = 8.0;

impl Moments {
    /// The moments of one block, about the mean if `centred`, else about the origin.
    pub(in crate::linear) fn of(data: &Dataset, centred: bool) -> Result<Moments> {
        let y = data.real_target()?;
        Ok(Self::over(&Doubles { data, y }, centred))
    }

    /// The same of rows in single precision.
    pub(super) fn of_singles(rows: &Singles, centred: bool) -> Result<Moments> {
        let Some(Target::Real(y)) = rows.y else {
            return Err(Error::internal("rows without a numeric target"));
        };
        Ok(Self::over(&InSingle { values: rows.values, width: rows.schema.len(), y }, centred))
    }

    fn over(rows: &impl Reader, centred: bool) -> Moments {
        let mut origin = vec![0.0; rows.width()];
        if !centred || !rows.first(&mut origin) {
            return rows.about(&origin, false);
        }
        let first = rows.about(&origin, true);
        let limit = if first.single { FAR_IN_SINGLE } else { FAR };
        let far = |j: usize| {
            let distance = first.mean[j] - origin[j];
            first.weight * distance * distance > limit * first.scatter[(j, j)]
        };
        match (0..origin.len()).any(far) {
            true => rows.about(&first.mean, true),
            false => first,
        }
    }

    /// From the sums of (z - origin, 1)(z - origin, 1)ᵀ.
    fn from_sums(sums: &Matrix, origin: &[f64], centred: bool) -> Moments {
        let width = origin.len();
        let weight = sums[(width, width)];
        let offset: Vec<f64> = match centred && weight > 0.0 {
            true => (0..width).map(|j| sums[(width, j)] / weight).collect(),
            false => vec![0.0; width],
        };
        let mean_and_rest = |(origin, offset): (&f64, &f64)| plus(*origin, *offset);
        let (mean, rest) = origin.iter().zip(&offset).map(mean_and_rest).unzip();
        let scatter = Matrix::from_fn(width, width, |i, j| {
            let value = sums[(i, j)] - weight * offset[i] * offset[j];
            if i == j && value < 0.0 { 0.0 } else { value }
        });
        Moments { rows: 0, weight, ln_weight: 0.0, mean, rest, scatter, single: false }
    }

    /// The diagonal of the scatter that belongs to the outputs.
    pub(super) fn output_squares(&self, outputs: usize) -> Vec<f64> {
        let last = self.scatter.nrows();
        (last - outputs..last).map(|j| self.scatter[(j, j)]).collect()
    }
}

/// The inputs and outputs of one row, side by side.
pub(in crate::linear) fn copy_joined(data: &Dataset, y: MatRef, i: usize, out: &mut [f64]) {
    let (inputs, outputs) = out.split_at_mut(data.x.ncols());
    data.x.values().copy_row(i, inputs);
    y.copy_row(i, outputs);
}

/// Rows of a block, with inputs and outputs.
trait Reader {
    /// Number of inputs and outputs.
    fn width(&self) -> usize;
    /// The first row, inputs and outputs side by side; false if there is none.
    fn first(&self, out: &mut [f64]) -> bool;
    /// The moments by sums of (z - origin, 1)(z - origin, 1)ᵀ.
    fn about(&self, origin: &[f64], centred: bool) -> Moments;
}

/// Rows in double precision.
struct Doubles<'a> {
    data: &'a Dataset<'a>,
    y: MatRef<'a>,
}

impl Reader for Doubles<'_> {
    fn width(&self) -> usize {
        self.data.x.ncols() + self.y.ncols()
    }

    fn first(&self, out: &mut [f64]) -> bool {
        if self.data.nrows() > 0 {
            copy_joined(self.data, self.y, 0, out);
        }
        self.data.nrows() > 0
    }

    fn about(&self, origin: &[f64], centred: bool) -> Moments {
        let width = origin.len();
        let mut sum = RankUpdate::new(width + 1);
        let (mut rows, mut ln_weight) = (0, 0.0);
        vectorized!({
            for_each_row(
                self.data,
                self.y,
                #[inline(always)]
                |i, inputs, outputs| {
                    let weight = self.data.weight(i);
                    if weight > 0.0 {
                        rows += 1;
                        ln_weight += if weight == 1.0 { 0.0 } else { weight.ln() };
                        let root = weight.sqrt();
                        sum.push(
                            #[inline(always)]
                            |row| {
                                fill(row, root, inputs, outputs, origin);
                                row[width] = root;
                            },
                        );
                    }
                },
            );
        });
        Moments { rows, ln_weight, ..Moments::from_sums(&sum.finish(), origin, centred) }
    }
}

/// Rows in single precision, without weights.
struct InSingle<'a> {
    values: &'a [f32],
    width: usize,
    y: MatRef<'a>,
}

impl Reader for InSingle<'_> {
    fn width(&self) -> usize {
        self.width + self.y.ncols()
    }

    fn first(&self, out: &mut [f64]) -> bool {
        let (inputs, outputs) = out.split_at_mut(self.width);
        let Some(row) = self.values.get(..self.width) else { return false };
        inputs.iter_mut().zip(row).for_each(|(out, &value)| *out = f64::from(value));
        self.y.copy_row(0, outputs);
        true
    }

    fn about(&self, origin: &[f64], centred: bool) -> Moments {
        let (d, width) = (self.width, origin.len());
        let near: Vec<f32> = origin.iter().map(|&value| value as f32).collect();
        let mut outputs = vec![0.0; self.y.ncols()];
        let mut sum = RankUpdate::<f32>::new(width + 1);
        vectorized!({
            for (i, inputs) in self.values.chunks_exact(d.max(1)).enumerate() {
                self.y.copy_row(i, &mut outputs);
                sum.push(
                    #[inline(always)]
                    |row| {
                        for ((out, value), near) in row.iter_mut().zip(inputs).zip(&near) {
                            *out = value - near;
                        }
                        for (t, value) in outputs.iter().enumerate() {
                            row[d + t] = (value - f64::from(near[d + t])) as f32;
                        }
                        row[width] = 1.0;
                    },
                );
            }
        });
        let near: Vec<f64> = near.iter().map(|&value| f64::from(value)).collect();
        let rows = (self.values.len() / d.max(1)) as u64;
        Moments { rows, single: true, ..Moments::from_sums(&sum.finish(), &near, centred) }
    }
}

/// The rounded sum, and what rounding took.
fn plus(large: f64, small: f64) -> (f64, f64) {
    let sum = large + small;
    (sum, small - (sum - large))
}

/// root (z - origin) of z = (inputs, outputs).
#[inline(always)]
pub(super) fn fill(out: &mut [f64], root: f64, inputs: &[f64], outputs: &[f64], origin: &[f64]) {
    let (first, second) = out.split_at_mut(inputs.len());
    let (origin_first, origin_second) = origin.split_at(inputs.len());
    for ((out, value), origin) in first.iter_mut().zip(inputs).zip(origin_first) {
        *out = (value - origin) * root;
    }
    for ((out, value), origin) in second.iter_mut().zip(outputs).zip(origin_second) {
        *out = (value - origin) * root;
    }
}

/// Calls `f` with each row's number, inputs and outputs, reading the table in its own memory order.
#[inline(always)]
pub(super) fn for_each_row(data: &Dataset, y: MatRef, mut f: impl FnMut(usize, &[f64], &[f64])) {
    const CHUNK: usize = 128;
    let d = data.x.ncols();
    let by_row = data.x.values().col_stride() == 1;
    let mut copy = if by_row { Vec::new() } else { vec![0.0; CHUNK * d] };
    let ahead = rows_ahead(d);
    let mut outputs = vec![0.0; y.ncols()];
    for start in (0..data.nrows()).step_by(CHUNK) {
        let end = (start + CHUNK).min(data.nrows());
        let x = data.x.values().rows(start, end);
        if !by_row {
            x.write_rows(&mut copy[..(end - start) * d]);
        }
        for i in start..end {
            prefetch_rows(data.x.values(), i + ahead, 1);
            y.copy_row(i, &mut outputs);
            match x.row_slice(i - start) {
                Some(row) if by_row => f(i, row, &outputs),
                _ => f(i, &copy[(i - start) * d..][..d], &outputs),
            }
        }
    }
}

impl Merge for Moments {
    fn merge(mut self, later: Self) -> Result<Self> {
        if later.weight == 0.0 {
            return Ok(self);
        }
        if self.weight == 0.0 {
            return Ok(later);
        }
        let weight = self.weight + later.weight;
        let delta: Vec<f64> = (0..self.mean.len())
            .map(|j| (later.mean[j] - self.mean[j]) + (later.rest[j] - self.rest[j]))
            .collect();
        let factor = self.weight * (later.weight / weight);
        for i in (0..delta.len()).take_while(|_| !stop::asked()) {
            let row = self.scatter.row_mut(i);
            for (j, out) in row.iter_mut().enumerate() {
                *out += later.scatter[(i, j)] + factor * delta[i] * delta[j];
            }
        }
        for (j, delta) in delta.iter().enumerate() {
            let step = self.rest[j] + delta * (later.weight / weight);
            (self.mean[j], self.rest[j]) = plus(self.mean[j], step);
        }
        self.rows += later.rows;
        self.ln_weight += later.ln_weight;
        self.weight = weight;
        self.single |= later.single;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::rounds::SinglePrecision;
    use learnt_core::trained::Trained;

    fn data(n: usize) -> OwnedDataset {
        let x = Matrix::from_fn(n, 3, |i, j| match j {
            0 => 1e9 + (i * 37 % 101) as f64,
            1 => 0.1,
            _ => (i * i % 17) as f64,
        });
        OwnedDataset::regression(x, (0..n).map(|i| i as f64).collect())
    }

    #[test]
    fn blocks_merge_to_the_moments_of_the_whole() {
        let data = data(1000);
        let whole = Moments::of(&data.view(), true).unwrap();
        let parts = [(0, 1), (1, 300), (300, 1000)]
            .map(|(a, b)| Moments::of(&data.view().rows(a, b), true).unwrap());
        let merged = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
        assert_eq!(merged.rows, 1000);
        for (a, b) in merged.scatter.as_slice().iter().zip(whole.scatter.as_slice()) {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn single_precision_gives_moments_to_six_digits() {
        let single: Vec<f32> = (0..900_u16).map(|i| f32::from(i * 37 % 101) * 0.1).collect();
        let wide: Vec<f64> = single.iter().copied().map(f64::from).collect();
        let x = Matrix::from_vec(300, 3, wide).unwrap();
        let data = OwnedDataset::regression(x, (0..300).map(f64::from).collect());
        let (view, schema) = (data.view(), data.x.schema());
        for centred in [true, false] {
            let rows = Singles { values: &single, schema, y: view.y };
            let found = Moments::of_singles(&rows, centred).unwrap();
            let exact = Moments::of(&view, centred).unwrap();
            assert!(found.single && !exact.single && found.rows == exact.rows);
            let deviation = |j: usize| exact.scatter[(j, j)].sqrt();
            for i in 0..4 {
                assert!((found.mean[i] - exact.mean[i]).abs() <= 1e-7 * deviation(i));
                for j in 0..4 {
                    let error = (found.scatter[(i, j)] - exact.scatter[(i, j)]).abs();
                    assert!(error <= 1e-6 * deviation(i) * deviation(j), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_constant_column_scatters_exactly_nothing() {
        let moments = Moments::of(&data(777).view(), true).unwrap();
        assert_eq!(moments.scatter[(1, 1)], 0.0);
        assert_eq!(moments.mean[1], 0.1);
    }

    #[test]
    fn a_far_first_row_does_not_cost_digits() {
        let mut values = vec![1e12];
        values.extend((0..5000).map(|i| f64::from(i % 2)));
        let data = OwnedDataset::regression(Matrix::column_vector(values), vec![0.0; 5001]);
        let rest = Moments::of(&data.view().rows(1, 5001), true).unwrap();
        assert_eq!(rest.scatter[(0, 0)], 1250.0);
        let all = Moments::of(&data.view(), true).unwrap();
        assert!((all.mean[0] * 5001.0 - (1e12 + 2500.0)).abs() < 1e-2);
    }

    /// Predictions of ridge regression for rows in single precision, and for the same rows in double.
    fn in_single_and_double(n: usize, d: usize) -> (Matrix, Matrix) {
        let value = |i: usize| ((i * i % 10_007) as f64 * 0.731).sin() as f32;
        let values: Vec<f32> = (0..n * d).map(value).collect();
        let x = Matrix::from_fn(n, d, |i, j| f64::from(values[i * d + j]));
        let y: Vec<f64> = x.rows().map(|row| row.iter().sum::<f64>() + row[0] * row[1]).collect();
        let (schema, run) = (Schema::unnamed(d), Context::default());
        let target = Target::Real(MatRef::from_column(&y));
        let source = SinglePrecision::new(&values, &schema, Some(target), None).unwrap();
        let learner = crate::linear::Ridge::default();
        let single = Trained::fit_source(&learner, &source, &[], &run).unwrap();
        let frame = Frame::new(x.view(), &schema).unwrap();
        let data = Dataset { y: Some(target), ..Dataset::new(frame) };
        let double = Trained::fit(&learner, &data, &[], &run).unwrap();
        let predict = |model: &Trained| model.predict(&frame, &run).unwrap().into_matrix();
        (predict(&single), predict(&double))
    }

    #[test]
    fn few_columns_in_single_precision_have_the_bits_of_their_conversion_and_many_come_near() {
        let (single, double) = in_single_and_double(3000, 5);
        assert_eq!(single, double);
        let (single, double) = in_single_and_double(3000, 90);
        assert!(single != double);
        for (a, b) in single.as_slice().iter().zip(double.as_slice()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}
