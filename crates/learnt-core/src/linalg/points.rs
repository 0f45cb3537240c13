//! Rows against a few points or directions: the nearest point, squared distances, projections.
//!
//! Sixteen rows at a time, or thirty-two where vectors have eight lanes, are turned so that each column is a short
//! vector; two points at a time are taken through it in registers, eight sums at least, so that no sum waits for
//! its last product. A row's numbers come from its own values alone, column after
//! column, so that they have the same bits in any company and on any number of threads.

use super::Kernel;
use crate::context::Context;
use crate::data::{Frame, MatRef, Matrix, refuse_overflow};
use crate::error::Result;
use pulp::Simd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Finds the nearest of some points, the first of equals.
///
/// Compares ‖p‖²/2 - x·p about the mean of the points, which orders points as their distances do
/// but for the rounding of nearly equal ones.
///
/// ```
/// # use learnt_core::{data::Matrix, linalg::Nearest};
/// let points = Matrix::column_vector(vec![0.0, 10.0]);
/// let x = Matrix::column_vector(vec![4.0, 5.0, 6.0]);
/// let mut found = [0; 3];
/// Nearest::new(&points).of(x.view(), &mut found);
/// assert_eq!(found, [0, 0, 1]);
/// ```
pub struct Nearest(Panel);

/// Squared distances to some points, by differences.
pub struct Distances(Panel);

/// Products (x - origin)·v with some directions v.
pub struct Projection(Panel);

/// Points two by two, column after column, and what is subtracted from rows first.
struct Panel {
    count: usize,
    origin: Vec<f64>,
    pairs: Vec<[f64; 2]>,
    starts: Vec<[f64; 2]>,
}

impl Panel {
    /// The rows of `points`; every sum over columns starts from `start` of its point.
    fn new(points: &Matrix, origin: Vec<f64>, start: impl Fn(&[f64]) -> f64, unused: f64) -> Panel {
        let (count, width) = (points.nrows(), points.ncols());
        let mut pairs = Vec::with_capacity(count.div_ceil(2) * width);
        let mut starts = Vec::with_capacity(count.div_ceil(2));
        for first in (0..count).step_by(2) {
            let second = (first + 1 < count).then(|| points.row(first + 1));
            let a = points.row(first);
            let b = second.unwrap_or(a);
            pairs.extend(a.iter().zip(b).map(|(&a, &b)| [a, b]));
            starts.push([start(a), second.map_or(unused, &start)]);
        }
        Panel { count, origin, pairs, starts }
    }

    /// Each pair of points with its starts.
    #[inline(always)]
    fn pairs(&self) -> impl Iterator<Item = (&[[f64; 2]], [f64; 2])> {
        self.pairs.chunks_exact(self.origin.len().max(1)).zip(self.starts.iter().copied())
    }
}

impl Nearest {
    /// Among the rows of `points`.
    pub fn new(points: &Matrix) -> Nearest {
        let share = 1.0 / points.nrows().max(1) as f64;
        let mut origin = vec![0.0; points.ncols()];
        for row in points.rows() {
            super::add_scaled(&mut origin, share, row);
        }
        let about =
            Matrix::from_fn(points.nrows(), points.ncols(), |i, j| points[(i, j)] - origin[j]);
        let half_square = |point: &[f64]| 0.5 * super::dot(point, point);
        Nearest(Panel::new(&about, origin, half_square, f64::INFINITY))
    }

    /// The nearest point of each row of `x`; `out` has one place a row. Whether the least numbers compared are
    /// finite, which shows finite rows: with a value that is not, no comparison of its row ends in a finite one.
    pub fn of(&self, x: MatRef, out: &mut [u32]) -> bool {
        debug_assert!(x.nrows() == out.len() && x.ncols() == self.0.origin.len());
        super::run(FindNearest { panel: &self.0, x, out })
    }
}

impl Distances {
    /// To the rows of `points`.
    pub fn new(points: &Matrix) -> Distances {
        Distances(Panel::new(points, vec![0.0; points.ncols()], |_| 0.0, 0.0))
    }

    /// The squared distances of each row of `x`, point by point in `out`.
    pub fn of(&self, x: MatRef, out: &mut [f64]) {
        debug_assert!(x.nrows() * self.0.count == out.len() && x.ncols() == self.0.origin.len());
        super::run(Measure { panel: &self.0, x, out, squares: true });
    }
}

impl Projection {
    /// Onto the rows of `directions`, from `origin`.
    pub fn new(directions: &Matrix, origin: &[f64]) -> Projection {
        Projection(Panel::new(directions, origin.to_vec(), |_| 0.0, 0.0))
    }

    /// The products of each row of `x`, direction by direction in `out`.
    pub fn of(&self, x: MatRef, out: &mut [f64]) {
        debug_assert!(x.nrows() * self.0.count == out.len() && x.ncols() == self.0.origin.len());
        super::run(Measure { panel: &self.0, x, out, squares: false });
    }

    /// The products of all rows, changed by `finish(product, direction)`. Those that overflow are refused.
    pub fn of_rows(
        &self,
        x: &Frame,
        run: &Context,
        finish: impl Fn(f64, usize) -> f64 + Sync,
    ) -> Result<Matrix> {
        let width = self.0.count.max(1);
        run.checkpoint()?;
        let mut out = Matrix::zeros(x.nrows(), self.0.count);
        let finite = AtomicBool::new(true);
        let rows = 16 * (1 + 4096 / width);
        run.par_fill(out.as_mut_slice(), rows * width, |start, piece| {
            let (first, end) = (start / width, (start + piece.len()) / width);
            self.of(x.values().rows(first, end), piece);
            finite.fetch_and(x.noticed(first, end, piece), Ordering::Relaxed);
            for row in piece.chunks_exact_mut(width) {
                row.iter_mut().enumerate().for_each(|(k, value)| *value = finish(*value, k));
            }
        });
        run.checkpoint()?;
        if !finite.into_inner() {
            refuse_overflow(&out, |_| false)?;
        }
        Ok(out)
    }
}

/// One column of a tile of rows, in whole cache lines: a vector that lies in two lines takes two loads.
#[derive(Clone)]
#[repr(align(64))]
struct Column<const ROWS: usize>([f64; ROWS]);

struct FindNearest<'a> {
    panel: &'a Panel,
    x: MatRef<'a>,
    out: &'a mut [u32],
}

impl Kernel for FindNearest<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        match S::F64_LANES {
            8 => self.with_tiles::<S, 4, 32>(simd),
            4 => self.with_tiles::<S, 4, 16>(simd),
            2 => self.with_tiles::<S, 8, 16>(simd),
            _ => self.with_tiles::<S, 16, 16>(simd),
        }
    }
}

impl FindNearest<'_> {
    /// With tiles of `ROWS` rows, which are `N` vectors.
    #[inline(always)]
    fn with_tiles<S: Simd, const N: usize, const ROWS: usize>(self, simd: S) -> bool {
        let mut tile = vec![Column([0.0; ROWS]); self.panel.origin.len()];
        let zero = simd.splat_f64s(0.0);
        let mut zeros = zero;
        for (t, out) in self.out.chunks_mut(ROWS).enumerate() {
            fill(&mut tile, self.x, t * ROWS, &self.panel.origin);
            let mut least = [simd.splat_f64s(f64::INFINITY); N];
            let mut place = [simd.splat_f64s(0.0); N];
            for (p, (pair, starts)) in self.panel.pairs().enumerate() {
                let step = |x, point, sum| simd.negate_mul_add_f64s(x, point, sum);
                let sums = sums_over_columns::<S, N, ROWS>(simd, &tile, pair, starts, step);
                for (side, sums) in sums.iter().enumerate() {
                    let point = simd.splat_f64s((2 * p + side) as f64);
                    for v in 0..N {
                        let nearer = simd.less_than_f64s(sums[v], least[v]);
                        least[v] = simd.select_f64s(nearer, sums[v], least[v]);
                        place[v] = simd.select_f64s(nearer, point, place[v]);
                    }
                }
            }
            least.iter().for_each(|&least| zeros = simd.mul_add_f64s(least, zero, zeros));
            let place: &[f64] = pulp::bytemuck::cast_slice(&place);
            for (out, &place) in out.iter_mut().zip(place) {
                *out = place as u32;
            }
        }
        simd.reduce_sum_f64s(zeros) == 0.0
    }
}

struct Measure<'a> {
    panel: &'a Panel,
    x: MatRef<'a>,
    out: &'a mut [f64],
    squares: bool,
}

impl Kernel for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.with_tiles::<S, 4, 32>(simd),
            4 => self.with_tiles::<S, 4, 16>(simd),
            2 => self.with_tiles::<S, 8, 16>(simd),
            _ => self.with_tiles::<S, 16, 16>(simd),
        }
    }
}

impl Measure<'_> {
    /// With tiles of `ROWS` rows, which are `N` vectors.
    #[inline(always)]
    fn with_tiles<S: Simd, const N: usize, const ROWS: usize>(self, simd: S) {
        let count = self.panel.count;
        let mut tile = vec![Column([0.0; ROWS]); self.panel.origin.len()];
        for (t, out) in self.out.chunks_mut(ROWS * count.max(1)).enumerate() {
            fill(&mut tile, self.x, t * ROWS, &self.panel.origin);
            for (p, (pair, starts)) in self.panel.pairs().enumerate() {
                let sums = match self.squares {
                    true => sums_over_columns::<S, N, ROWS>(
                        simd,
                        &tile,
                        pair,
                        starts,
                        |x, point, sum| {
                            let difference = simd.sub_f64s(x, point);
                            simd.mul_add_f64s(difference, difference, sum)
                        },
                    ),
                    false => sums_over_columns::<S, N, ROWS>(
                        simd,
                        &tile,
                        pair,
                        starts,
                        |x, point, sum| simd.mul_add_f64s(x, point, sum),
                    ),
                };
                for (point, sums) in (2 * p..count).zip(&sums) {
                    let sums: &[f64] = pulp::bytemuck::cast_slice(sums);
                    for (row, &sum) in out.chunks_exact_mut(count).zip(sums) {
                        row[point] = sum;
                    }
                }
            }
        }
    }
}

/// Both points' sums over columns for the rows of a tile.
#[inline(always)]
fn sums_over_columns<S: Simd, const N: usize, const ROWS: usize>(
    simd: S,
    tile: &[Column<ROWS>],
    pair: &[[f64; 2]],
    starts: [f64; 2],
    step: impl Fn(S::f64s, S::f64s, S::f64s) -> S::f64s,
) -> [[S::f64s; N]; 2] {
    let mut sums = starts.map(|start| [simd.splat_f64s(start); N]);
    for (column, point) in tile.iter().zip(pair) {
        let Some(x) = S::as_simd_f64s(&column.0).0.first_chunk::<N>() else { break };
        let (a, b) = (simd.splat_f64s(point[0]), simd.splat_f64s(point[1]));
        for v in 0..N {
            sums[0][v] = step(x[v], a, sums[0][v]);
            sums[1][v] = step(x[v], b, sums[1][v]);
        }
    }
    sums
}

/// Turns the rows of a tile from `first` on, less the origin; the last row stands in for absent ones.
#[inline(always)]
fn fill<const ROWS: usize>(tile: &mut [Column<ROWS>], x: MatRef, first: usize, origin: &[f64]) {
    let last = x.nrows() - 1;
    if x.col_stride() == 1 {
        for r in (0..ROWS).step_by(4) {
            let row = |k: usize| x.row_slice((first + r + k).min(last));
            if let (Some(a), Some(b), Some(c), Some(d)) = (row(0), row(1), row(2), row(3)) {
                turn(tile, r, [a, b, c, d], origin);
            }
        }
        return;
    }
    for (j, (column, origin)) in tile.iter_mut().zip(origin).enumerate() {
        let whole = x.column_slice(j).and_then(|x| x.get(first..)?.first_chunk::<ROWS>());
        if let Some(x) = whole {
            column.0.iter_mut().zip(x).for_each(|(value, x)| *value = x - origin);
            continue;
        }
        for (r, value) in column.0.iter_mut().enumerate() {
            *value = x.at((first + r).min(last), j) - origin;
        }
    }
}

/// Four rows into places `r..r + 4` of every column.
///
/// Plain indices: arrays that are mapped go through memory, which takes longer than the distances.
#[inline(always)]
fn turn<const ROWS: usize>(tile: &mut [Column<ROWS>], r: usize, rows: [&[f64]; 4], origin: &[f64]) {
    let width = tile.len();
    let [a, b, c, d] = [&rows[0][..width], &rows[1][..width], &rows[2][..width], &rows[3][..width]];
    let origin = &origin[..width];
    for j in 0..width {
        let Some(places) = tile[j].0[r..].first_chunk_mut::<4>() else { return };
        places[0] = a[j] - origin[j];
        places[1] = b[j] - origin[j];
        places[2] = c[j] - origin[j];
        places[3] = d[j] - origin[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::squared_distance;

    fn sample(n: usize, d: usize, shift: f64) -> Matrix {
        Matrix::from_fn(n, d, |i, j| ((i * 7919 + j * 104_729 + i * j) % 97) as f64 + shift)
    }

    #[test]
    fn every_shape_and_memory_order_agrees_with_plain_sums() {
        for (n, d, k) in [(1, 1, 1), (5, 3, 2), (16, 4, 3), (33, 7, 5), (50, 17, 32)] {
            let (x, points) = (sample(n, d, 1e6), sample(k, d, 1e6 - 0.25));
            let turned = x.transposed();
            for view in [x.view(), turned.view().transposed()] {
                let mut distances = vec![0.0; n * k];
                Distances::new(&points).of(view, &mut distances);
                let mut nearest = vec![0; n];
                Nearest::new(&points).of(view, &mut nearest);
                for i in 0..n {
                    let row = &distances[i * k..(i + 1) * k];
                    for (c, &distance) in row.iter().enumerate() {
                        assert_eq!(distance, squared_distance(x.row(i), points.row(c)));
                    }
                    let best = row.iter().copied().fold(f64::INFINITY, f64::min);
                    assert_eq!(row.iter().position(|&v| v == best), Some(nearest[i] as usize));
                }
            }
        }
    }

    #[test]
    fn finite_comparisons_show_finite_rows() {
        for k in [1, 2, 5] {
            let points = Matrix::from_fn(k, 3, |i, j| if j == 1 { 0.0 } else { (i + j) as f64 });
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for (n, d) in (0..3).flat_map(|d| [(1, d), (40, d), (77, d)]) {
                    let mut x = sample(n, 3, 0.0);
                    let mut out = vec![0; n];
                    assert!(Nearest::new(&points).of(x.view(), &mut out));
                    x[(n - 1, d)] = bad;
                    assert!(!Nearest::new(&points).of(x.view(), &mut out), "{k} {bad} {n} {d}");
                }
            }
        }
    }

    #[test]
    fn projections_are_products_from_the_origin() {
        let (x, directions) = (sample(20, 6, 0.0), sample(3, 6, -40.0));
        let origin = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut out = vec![0.0; 60];
        Projection::new(&directions, &origin).of(x.view(), &mut out);
        for i in 0..20 {
            for k in 0..3 {
                let product: f64 =
                    (0..6).map(|j| (x[(i, j)] - origin[j]) * directions[(k, j)]).sum();
                assert_eq!(out[i * 3 + k], product);
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_any_company() {
        let (x, points) = (sample(40, 9, 0.1), sample(6, 9, 0.3));
        let mut all = vec![0.0; 240];
        Distances::new(&points).of(x.view(), &mut all);
        for i in 0..40 {
            let mut alone = vec![0.0; 6];
            Distances::new(&points).of(x.view().rows(i, i + 1), &mut alone);
            assert_eq!(alone, all[i * 6..(i + 1) * 6]);
        }
    }
}
