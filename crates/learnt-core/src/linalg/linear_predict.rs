//! Linear predictions.
//!
//! Up to three outputs are products row by row: of whole groups of eight columns in eight interleaved sums, of the
//! other columns one after the other. Columns that lie in memory one after the other are added up in the same order,
//! for some rows at a time. More outputs are sums of a [`Projection`], which reads a row once for all of them.
//!
//! Fused multiply-adds: processors without them give other last digits.

use super::{Kernel, Projection};
use crate::context::piece_rows;
use crate::data::refuse_overflow;
use crate::prelude::*;
use pulp::Simd;
use std::sync::atomic::{AtomicBool, Ordering};

/// From so many outputs on, all are summed together.
const TOGETHER: usize = 4;
/// Columns of a group, each with a sum of its own.
const GROUP: usize = 8;
/// Rows whose products are in registers at the same time.
pub(super) const ABREAST: usize = 4;
/// Rows that are summed column by column together.
const TILE: usize = 64;

/// intercept + coef x for each row of `x`: coef is (n_outputs × n_features). A row gives the same
/// bits alone and among others, because each product is one sum in a fixed order. Sums that overflow are
/// refused.
pub fn linear_predict(
    x: &Frame,
    coef: &Matrix,
    intercept: &[f64],
    run: &Context,
) -> Result<Matrix> {
    let (n, d, outputs) = (x.nrows(), coef.ncols(), coef.nrows());
    if x.ncols() != d || intercept.len() != outputs {
        let expected = format!("{d} columns as in training");
        return Err(Error::shape("input", expected, format!("{} columns", x.ncols())));
    }
    run.checkpoint()?;
    let mut out = Matrix::zeros(n, outputs);
    let finite = AtomicBool::new(true);
    let together = (outputs >= TOGETHER).then(|| Projection::new(coef, &vec![0.0; d]));
    let rows = piece_rows(d.max(outputs));
    run.par_fill(out.as_mut_slice(), rows * outputs.max(1), |start, piece| {
        let first = start / outputs.max(1);
        let end = first + piece.len() / outputs.max(1);
        let rows = x.values().rows(first, end);
        match &together {
            Some(projection) => {
                projection.of(rows, piece);
                for row in piece.chunks_exact_mut(outputs) {
                    row.iter_mut().zip(intercept).for_each(|(out, b)| *out += b);
                }
            }
            None => predict_rows(rows, coef, intercept, piece),
        }
        finite.fetch_and(x.noticed(first, end, piece), Ordering::Relaxed);
    });
    if !finite.into_inner() {
        refuse_overflow(&out, |t| !intercept[t].is_finite())?;
    }
    Ok(out)
}

/// Output after output.
fn predict_rows(x: MatRef, coef: &Matrix, intercept: &[f64], out: &mut [f64]) {
    let outputs = intercept.len();
    let in_place = x.col_stride() == 1 || x.row_stride() == 1;
    let copy = (!in_place).then(|| x.to_matrix());
    let x = copy.as_ref().map_or(x, Matrix::view);
    for (t, &intercept) in intercept.iter().enumerate() {
        let out = &mut out[t..];
        super::run(Predict { x, weights: coef.row(t), intercept, out, step: outputs });
    }
}

/// One output, in every `step`-th place of `out`.
struct Predict<'a> {
    x: MatRef<'a>,
    weights: &'a [f64],
    intercept: f64,
    out: &'a mut [f64],
    step: usize,
}

impl Kernel for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match (self.x.col_stride() == 1, self.weights.len()) {
            (false, _) => self.by_columns(),
            (true, 1) => self.narrow::<1>(),
            (true, 2) => self.narrow::<2>(),
            (true, 3) => self.narrow::<3>(),
            (true, 4) => self.narrow::<4>(),
            (true, 5) => self.narrow::<5>(),
            (true, 6) => self.narrow::<6>(),
            (true, 7) => self.narrow::<7>(),
            _ => match S::F64_LANES {
                8 => self.by_rows::<S, 1>(simd),
                4 => self.by_rows::<S, 2>(simd),
                2 => self.by_rows::<S, 4>(simd),
                _ => self.by_rows::<S, 8>(simd),
            },
        }
    }
}

impl Predict<'_> {
    /// Rows of fewer columns than a group.
    #[inline(always)]
    fn narrow<const D: usize>(self) {
        let Some(weights) = self.weights.first_chunk::<D>() else { return };
        let memory = self.x.memory();
        let places = self.out.iter_mut().step_by(self.step);
        if self.x.row_stride() == D {
            for (out, row) in places.zip(memory.as_chunks::<D>().0) {
                *out = self.intercept + in_turn(row, weights);
            }
            return;
        }
        for (i, out) in places.enumerate().take(self.x.nrows()) {
            let row =
                memory.get(i * self.x.row_stride()..).and_then(|rest| rest.first_chunk::<D>());
            *out = self.intercept + row.map_or(0.0, |row| in_turn(row, weights));
        }
    }

    /// Groups of columns are `N` vectors.
    #[inline(always)]
    fn by_rows<S: Simd, const N: usize>(self, simd: S) {
        let (n, d) = (self.x.nrows(), self.weights.len());
        let mut places = self.out.iter_mut().step_by(self.step);
        for first in (0..n).step_by(ABREAST) {
            let row = |r: usize| self.x.row_slice((first + r).min(n - 1)).unwrap_or_default();
            let rows = [row(0), row(1), row(2), row(3)];
            if rows.iter().any(|row| row.len() < d) {
                return;
            }
            let sums = products::<S, N>(simd, rows, self.weights);
            for (out, sum) in places.by_ref().take(ABREAST).zip(sums) {
                *out = self.intercept + sum;
            }
        }
    }

    /// The sums of [`products`], or those of [`in_turn`] for few columns, of some rows at a time.
    #[inline(always)]
    fn by_columns(self) {
        let (n, whole) = (self.x.nrows(), self.weights.len() / GROUP * GROUP);
        let mut places = self.out.iter_mut().step_by(self.step);
        for first in (0..n).step_by(TILE) {
            let (mut sums, mut rest) = ([[0.0_f64; TILE]; GROUP], [0.0_f64; TILE]);
            for (j, &weight) in self.weights.iter().enumerate() {
                let column = self.x.column_slice(j).and_then(|column| column.get(first..n));
                let sums = if j < whole { &mut sums[j % GROUP] } else { &mut rest };
                for (sum, &x) in sums.iter_mut().zip(column.unwrap_or_default()) {
                    *sum = x.mul_add(weight, *sum);
                }
            }
            let [a, b, c, d, e, f, g, h] = &sums;
            for i in 0..TILE {
                let groups = ((a[i] + e[i]) + (c[i] + g[i])) + ((b[i] + f[i]) + (d[i] + h[i]));
                rest[i] = self.intercept + (groups + rest[i]);
            }
            places.by_ref().take(TILE).zip(&rest).for_each(|(out, sum)| *out = *sum);
        }
    }
}

/// x · w, column after column.
#[inline(always)]
fn in_turn(x: &[f64], weights: &[f64]) -> f64 {
    x.iter().zip(weights).fold(0.0, |sum, (&x, &weight)| x.mul_add(weight, sum))
}

/// x · w of some rows: eight interleaved sums, of which later halves are added to earlier ones, and then the
/// columns that are left.
#[inline(always)]
pub(super) fn products<S: Simd, const N: usize>(
    simd: S,
    rows: [&[f64]; ABREAST],
    weights: &[f64],
) -> [f64; ABREAST] {
    let whole = weights.len() / GROUP * GROUP;
    let (vectors, rest) = weights.split_at(whole);
    let vectors = S::as_simd_f64s(vectors).0;
    let [a, b, c, d] = rows.map(|row| S::as_simd_f64s(&row[..whole]).0);
    let mut sums = [[simd.splat_f64s(0.0); N]; ABREAST];
    for first in (0..vectors.len()).step_by(N) {
        for v in 0..N {
            let weight = vectors[first + v];
            sums[0][v] = simd.mul_add_f64s(a[first + v], weight, sums[0][v]);
            sums[1][v] = simd.mul_add_f64s(b[first + v], weight, sums[1][v]);
            sums[2][v] = simd.mul_add_f64s(c[first + v], weight, sums[2][v]);
            sums[3][v] = simd.mul_add_f64s(d[first + v], weight, sums[3][v]);
        }
    }
    let mut out = [0.0; ABREAST];
    for r in 0..ABREAST {
        let mut half = N / 2;
        while half > 0 {
            for v in 0..half {
                sums[r][v] = simd.add_f64s(sums[r][v], sums[r][v + half]);
            }
            half /= 2;
        }
        out[r] = simd.reduce_sum_f64s(sums[r][0]) + in_turn(&rows[r][whole..], rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_alone_and_among_others_gives_the_same_bits() {
        for (width, outputs) in [(1, 1), (5, 2), (7, 3), (8, 1), (13, 2), (31, 1), (13, 4), (6, 11)]
        {
            check_bits(width, outputs);
        }
    }

    /// Predictions agree with plain sums, and in bits however the rows lie in memory.
    fn check_bits(width: usize, outputs: usize) {
        let value = |i: usize, j: usize| ((i * 31 + j * 17) as f64).sin();
        let x = Table::unnamed(Matrix::from_fn(3000, width, value));
        let coef = Matrix::from_fn(outputs, width, |t, j| ((t * 5 + j) as f64).cos());
        let intercept: Vec<f64> = (0..outputs).map(|t| 0.1 - 7.0 * t as f64).collect();
        let run = Context::default().with_threads(2);
        let all = linear_predict(&x.frame(), &coef, &intercept, &run).unwrap();
        for (i, t) in [(0, 0), (1024, outputs - 1), (2999, 0)] {
            let sum: f64 = (0..width).map(|j| value(i, j) * coef[(t, j)]).sum();
            assert!((all[(i, t)] - intercept[t] - sum).abs() < 1e-12);
        }
        let by_column = x.values().transposed();
        let view = by_column.view().transposed();
        let turned = Frame::new(view, x.schema()).unwrap();
        assert_eq!(linear_predict(&turned, &coef, &intercept, &run).unwrap(), all);
        let padded =
            Matrix::from_fn(3000, 2 * width, |i, j| if j < width { value(i, j) } else { 1.0 });
        let part = MatRef::strided(padded.as_slice(), 3000, width, 2 * width, 1).unwrap();
        let part = Frame::new(part, x.schema()).unwrap();
        assert_eq!(linear_predict(&part, &coef, &intercept, &run).unwrap(), all);
        for i in [0, 1, 1023, 1024, 2999] {
            let one = linear_predict(&x.frame().rows(i, i + 1), &coef, &intercept, &run).unwrap();
            assert_eq!(one.row(0), all.row(i));
        }
    }

    #[test]
    fn sums_that_overflow_are_refused_by_row() {
        let x =
            Table::unnamed(Matrix::from_fn(3000, 2, |i, _| if i == 2000 { 1e308 } else { 1.0 }));
        let coef = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let error = linear_predict(&x.frame(), &coef, &[0.0], &Context::default()).unwrap_err();
        assert_eq!((error.code(), error.row_number()), (Code::Numeric, Some(2001)));
    }

    #[test]
    fn another_width_is_refused() {
        let x = Table::unnamed(Matrix::zeros(2, 3));
        let error = linear_predict(&x.frame(), &Matrix::zeros(1, 4), &[0.0], &Context::default());
        assert_eq!(error.unwrap_err().code(), Code::Shape);
    }
}
