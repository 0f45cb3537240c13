//! Every row of a table against the rows of another, tile by tile.
//!
//! Eight of the others are the lanes of vectors; four rows at a time are taken through them in registers, and
//! as many others as a cache holds through the rows of a task. A pair's sum runs over its columns in order,
//! without fused steps: it has the bits of [`Metric::distance`] in any company, on any number of threads and
//! on every processor.

use crate::neighbors::Metric;
use learnt_core::linalg::{Kernel, Lines, norm, run};
use learnt_core::prelude::*;
use pulp::Simd;

/// Others that are compared together.
const GROUP: usize = 8;

/// Rows whose sums are in registers at the same time.
const ROWS: usize = 4;

/// The most rows of one task: of few rows a task has fewer, so that all threads have some.
const TASK: usize = 64;

/// Numbers of others that stay in a cache while the rows of a task pass.
const CACHED: usize = 1 << 15;

/// What is summed over the columns of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// (x - y)².
    Squares,
    /// |x - y|.
    Absolute,
    /// The largest |x - y| instead of a sum.
    Largest,
    /// x y.
    Products,
}

/// Rows to compare with: in groups, column after column; zeros where there is none.
pub(crate) struct Others {
    count: usize,
    width: usize,
    columns: Lines<f64>,
}

impl Others {
    pub(crate) fn new(rows: &Matrix) -> Others {
        let (count, width) = (rows.nrows(), rows.ncols());
        let mut columns = Lines::zeros(count.div_ceil(GROUP) * GROUP * width);
        for (i, row) in rows.rows().enumerate() {
            let group = &mut columns[i / GROUP * GROUP * width..];
            for (column, &value) in group.chunks_exact_mut(GROUP).zip(row) {
                column[i % GROUP] = value;
            }
        }
        Others { count, width, columns }
    }

    /// Fills a slice for each row of `x` with its sums; a slice shorter than there are others has those of the
    /// last of them. `finish(row, slice)` then changes a slice in the cache.
    pub(crate) fn fill(
        &self,
        step: Step,
        x: &Matrix,
        out: &mut [&mut [f64]],
        context: &Context,
        finish: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<()> {
        debug_assert!(x.nrows() >= out.len() && x.ncols() == self.width);
        let task = (out.len() / 16).next_multiple_of(ROWS).clamp(ROWS, TASK);
        context.par_fill(out, task, |first, out| {
            if context.checkpoint().is_ok() {
                run(Tiles { others: self, step, x, first, out });
                out.iter_mut().enumerate().for_each(|(r, out)| finish(first + r, out));
            }
        });
        context.checkpoint()
    }

    /// The columns of a group, each of so many vectors that it has `GROUP` numbers.
    #[inline(always)]
    fn group<S: Simd>(&self, group: usize) -> &[S::f64s] {
        let length = self.width * GROUP;
        S::as_simd_f64s(&self.columns[group * length..(group + 1) * length]).0
    }
}

/// The distances of rows to the last of the others, as [`Others::fill`] has them; squares of `euclidean` if asked.
pub(crate) fn distances(
    x: &Matrix,
    others: &Matrix,
    (metric, squares): (Metric, bool),
    out: &mut [&mut [f64]],
    context: &Context,
) -> Result<()> {
    let step = match metric {
        Metric::Euclidean => Step::Squares,
        Metric::Manhattan => Step::Absolute,
        Metric::Chebyshev => Step::Largest,
        Metric::Cosine => {
            let length = |row: &[f64]| norm(row);
            let (x, others) = (scaled(x, length), Others::new(&scaled(others, length)));
            return others.fill(Step::Products, &x, out, context, |_, out| {
                out.iter_mut().for_each(|product| *product = (1.0 - *product).clamp(0.0, 2.0));
            });
        }
        Metric::Minkowski(_) => return one_by_one(x, others, metric, out, context),
    };
    Others::new(others).fill(step, x, out, context, |_, out| {
        if step == Step::Squares && !squares {
            out.iter_mut().for_each(|square| *square = square.sqrt());
        }
    })
}

/// Rows divided by a number of each.
pub(crate) fn scaled(x: &Matrix, length: impl Fn(&[f64]) -> f64) -> Matrix {
    let mut out = x.clone();
    for i in 0..out.nrows() {
        let row = out.row_mut(i);
        let length = length(row);
        row.iter_mut().for_each(|value| *value /= length);
    }
    out
}

/// For powers, which have no vectors.
fn one_by_one(
    x: &Matrix,
    others: &Matrix,
    metric: Metric,
    out: &mut [&mut [f64]],
    context: &Context,
) -> Result<()> {
    context.par_fill(out, TASK, |first, out| {
        for (r, out) in out.iter_mut().enumerate() {
            if context.checkpoint().is_ok() {
                let start = others.nrows() - out.len();
                for (k, out) in out.iter_mut().enumerate() {
                    *out = metric.distance(x.row(first + r), others.row(start + k));
                }
            }
        }
    });
    context.checkpoint()
}

struct Tiles<'a, 'b> {
    others: &'a Others,
    step: Step,
    x: &'a Matrix,
    first: usize,
    out: &'a mut [&'b mut [f64]],
}

impl Kernel for Tiles<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.with_vectors::<S, 1>(simd),
            4 => self.with_vectors::<S, 2>(simd),
            2 => self.with_vectors::<S, 4>(simd),
            _ => self.with_vectors::<S, 8>(simd),
        }
    }
}

impl Tiles<'_, '_> {
    /// With groups of `N` vectors.
    #[inline(always)]
    fn with_vectors<S: Simd, const N: usize>(self, simd: S) {
        let apart = |x, y| simd.sub_f64s(x, y);
        match self.step {
            Step::Squares => self.with_step::<S, N>(simd, |x, y, sum| {
                let d = apart(x, y);
                simd.add_f64s(sum, simd.mul_f64s(d, d))
            }),
            Step::Absolute => self.with_step::<S, N>(simd, |x, y, sum| {
                simd.add_f64s(sum, simd.abs_f64s(apart(x, y)))
            }),
            Step::Largest => self.with_step::<S, N>(simd, |x, y, most| {
                simd.max_f64s(most, simd.abs_f64s(apart(x, y)))
            }),
            Step::Products => {
                self.with_step::<S, N>(simd, |x, y, sum| simd.add_f64s(sum, simd.mul_f64s(x, y)))
            }
        }
    }

    #[inline(always)]
    fn with_step<S: Simd, const N: usize>(
        self,
        simd: S,
        step: impl Fn(S::f64s, S::f64s, S::f64s) -> S::f64s + Copy,
    ) {
        let (others, last) = (self.others, self.x.nrows() - 1);
        let groups = others.count.div_ceil(GROUP);
        let at_once = (CACHED / (GROUP * others.width).max(1)).max(4);
        for begin in (0..groups).step_by(at_once) {
            let end = (begin + at_once).min(groups);
            for (tile, out) in self.out.chunks_mut(ROWS).enumerate() {
                let row = |r: usize| self.x.row((self.first + tile * ROWS + r).min(last));
                let rows = [row(0), row(1), row(2), row(3)];
                let longest = out.iter().map(|out| out.len()).max().unwrap_or(0);
                for group in begin.max((others.count - longest) / GROUP)..end {
                    let sums = sum_over_columns::<S, N>(simd, others, group, rows, step);
                    for (out, sums) in out.iter_mut().zip(&sums) {
                        write(pulp::bytemuck::cast_slice(sums), others.count, group * GROUP, out);
                    }
                }
            }
        }
    }
}

/// Sums of four rows and a group. Every index of `sums` is known when this is compiled, so that they stay in
/// registers.
#[inline(always)]
fn sum_over_columns<S: Simd, const N: usize>(
    simd: S,
    others: &Others,
    group: usize,
    rows: [&[f64]; ROWS],
    step: impl Fn(S::f64s, S::f64s, S::f64s) -> S::f64s,
) -> [[S::f64s; N]; ROWS] {
    let width = others.width;
    let mut sums = [[simd.splat_f64s(0.0); N]; ROWS];
    let points = &others.group::<S>(group)[..N * width];
    let [a, b, c, d] = [&rows[0][..width], &rows[1][..width], &rows[2][..width], &rows[3][..width]];
    for j in 0..width {
        let x = [a[j], b[j], c[j], d[j]];
        for r in 0..ROWS {
            let x = simd.splat_f64s(x[r]);
            for v in 0..N {
                sums[r][v] = step(x, points[j * N + v], sums[r][v]);
            }
        }
    }
    sums
}

/// Writes the numbers of the others from `first` on to a slice of the last of `count`.
#[inline(always)]
fn write(numbers: &[f64], count: usize, first: usize, out: &mut [f64]) {
    let start = count - out.len();
    if first >= start && first + GROUP <= count {
        out[first - start..first - start + GROUP].copy_from_slice(&numbers[..GROUP]);
        return;
    }
    for (lane, number) in numbers.iter().enumerate() {
        if let Some(out) = (first + lane).checked_sub(start).and_then(|place| out.get_mut(place)) {
            *out = *number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_the_bits_of_its_distance_alone() {
        let metrics =
            [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev, Metric::Minkowski(3.0)];
        for (n, count, width) in [(1, 1, 1), (7, 9, 3), (70, 130, 11), (9, 60, 5000)] {
            let x = Matrix::from_fn(n, width, |i, j| ((i * 7 + j * 3) as f64 * 0.37).sin() + 1.5);
            let y = Matrix::from_fn(count, width, |i, j| ((i + j * 5) as f64 * 0.73).cos());
            for metric in metrics {
                // Rows end at the last other, and each begins one later than the row before.
                let mut values = vec![vec![0.0; count]; n];
                let mut out: Vec<&mut [f64]> = values
                    .iter_mut()
                    .enumerate()
                    .map(|(i, row)| &mut row[i.min(count)..])
                    .collect();
                let run = Context::default().with_threads(3);
                distances(&x, &y, (metric, false), &mut out, &run).unwrap();
                for (i, row) in values.iter().enumerate() {
                    for (j, &found) in row.iter().enumerate().skip(i) {
                        assert_eq!(found, metric.distance(x.row(i), y.row(j)), "{metric:?}");
                    }
                }
            }
        }
    }
}
