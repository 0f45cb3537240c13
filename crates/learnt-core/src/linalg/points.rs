//! Rows against a few points or directions: squared distances, projections.
//!
//! Eight points at a time are the lanes of vectors, whose sums go to memory as they are; six rows at a time are taken
//! through up to four such groups in registers. Rows are first copied, some tiles together: what comes from memory
//! is asked for at once, and no sum waits for it. Up to three directions would leave most lanes empty: their products
//! are sums along the rows. A row's numbers come from its own values alone, in an order that the width decides, so
//! that they have the same bits in any company and on any number of threads.

use super::linear_predict::{ABREAST, products};
use super::{Kernel, Lines, prefetch_rows};
use crate::context::{Context, piece_rows};
use crate::data::{Frame, MatRef, Matrix, refuse_overflow};
use crate::error::Result;
use pulp::Simd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Squared distances to some points, by differences.
pub struct Distances(Panel);

/// Products (x - origin)·v with some directions v.
pub struct Projection(Onto);

enum Onto {
    Many(Panel),
    Few(Few),
}

/// Directions, and what is subtracted from rows first.
struct Few {
    directions: Matrix,
    origin: Vec<f64>,
}

/// Points that are compared together: one vector of AVX-512, two of AVX2.
const GROUP: usize = 8;

/// Rows whose sums are in registers at the same time.
const ROWS: usize = 6;

/// So many directions are few, and from so many columns on their products are sums along the rows.
const FEW: usize = 3;
pub(super) const LONG: usize = 16;

/// Numbers of rows that are copied together: a small part of the first cache. Longer rows the processor sees coming.
const COPIED: usize = 1024;

/// Points in groups, column after column, and what is subtracted from rows first.
struct Panel {
    count: usize,
    origin: Vec<f64>,
    /// Group after group, of each the numbers of one column after the other; zeros where there is no point.
    columns: Lines<f64>,
}

impl Panel {
    /// The rows of `points`, for rows less `origin`.
    fn new(points: &Matrix, origin: Vec<f64>) -> Panel {
        let (count, width) = (points.nrows(), points.ncols());
        let mut columns = Lines::zeros(count.div_ceil(GROUP) * GROUP * width);
        for (i, point) in points.rows().enumerate() {
            let group = &mut columns[i / GROUP * GROUP * width..];
            for (column, &value) in group.chunks_exact_mut(GROUP).zip(point) {
                column[i % GROUP] = value;
            }
        }
        Panel { count, origin, columns }
    }

    /// The columns of a group, each of so many vectors that it has `GROUP` numbers.
    #[inline(always)]
    fn group<S: Simd>(&self, group: usize) -> &[S::f64s] {
        let length = self.origin.len() * GROUP;
        S::as_simd_f64s(&self.columns[group * length..(group + 1) * length]).0
    }
}

impl Distances {
    /// To the rows of `points`.
    pub fn new(points: &Matrix) -> Distances {
        Distances(Panel::new(points, vec![0.0; points.ncols()]))
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
        Projection(match directions.nrows() <= FEW && origin.len() >= LONG {
            true => Onto::Few(Few { directions: directions.clone(), origin: origin.to_vec() }),
            false => Onto::Many(Panel::new(directions, origin.to_vec())),
        })
    }

    /// The products of each row of `x`, direction by direction in `out`.
    pub fn of(&self, x: MatRef, out: &mut [f64]) {
        debug_assert!((x.nrows() * self.size().0, x.ncols()) == (out.len(), self.size().1));
        match &self.0 {
            Onto::Many(panel) => super::run(Measure { panel, x, out, squares: false }),
            Onto::Few(few) => super::run(Along { few, x, out }),
        }
    }

    /// Numbers of directions and of columns.
    fn size(&self) -> (usize, usize) {
        match &self.0 {
            Onto::Many(panel) => (panel.count, panel.origin.len()),
            Onto::Few(few) => (few.directions.nrows(), few.origin.len()),
        }
    }

    /// The products of all rows, changed by `finish(product, direction)`. Those that overflow are refused.
    pub fn of_rows(
        &self,
        x: &Frame,
        run: &Context,
        finish: impl Fn(f64, usize) -> f64 + Sync,
    ) -> Result<Matrix> {
        let (count, columns) = self.size();
        let width = count.max(1);
        run.checkpoint()?;
        let mut out = Matrix::zeros(x.nrows(), count);
        let finite = AtomicBool::new(true);
        let rows = piece_rows(width.max(columns));
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
            8 => self.with_vectors::<S, 1, 4>(simd),
            4 => self.with_vectors::<S, 2, 1>(simd),
            2 => self.with_vectors::<S, 4, 1>(simd),
            _ => self.with_vectors::<S, 8, 1>(simd),
        }
    }
}

impl Measure<'_> {
    /// With groups of `N` vectors, of which registers hold the sums of `G`.
    #[inline(always)]
    fn with_vectors<S: Simd, const N: usize, const G: usize>(self, simd: S) {
        let square = |x, point, sum| {
            let difference = simd.sub_f64s(x, point);
            simd.mul_add_f64s(difference, difference, sum)
        };
        match self.squares {
            true => self.with_step::<S, N, G>(simd, square),
            false => {
                self.with_step::<S, N, G>(simd, |x, point, sum| simd.mul_add_f64s(x, point, sum))
            }
        }
    }

    #[inline(always)]
    fn with_step<S: Simd, const N: usize, const G: usize>(
        self,
        simd: S,
        step: impl Fn(S::f64s, S::f64s, S::f64s) -> S::f64s + Copy,
    ) {
        let Panel { count, origin, .. } = self.panel;
        let width = origin.len();
        let tiles = (COPIED / (ROWS * width).max(1)).max(1);
        let mut copy = Lines::zeros(tiles * ROWS * width);
        for (c, out) in self.out.chunks_mut((tiles * ROWS * count).max(1)).enumerate() {
            copy_rows(&mut copy, self.x, c * tiles * ROWS, origin);
            for (t, out) in out.chunks_mut(ROWS * count).enumerate() {
                if width <= COPIED {
                    prefetch_rows(self.x, ((c + 1) * tiles + t) * ROWS, ROWS);
                }
                let tile = &copy[t * ROWS * width..(t + 1) * ROWS * width];
                let groups = count.div_ceil(GROUP);
                let mut group = 0;
                while group + G <= groups {
                    sum_over_columns::<S, N, G>(simd, self.panel, group, tile, step, out);
                    group += G;
                }
                for group in group..groups {
                    sum_over_columns::<S, N, 1>(simd, self.panel, group, tile, step, out);
                }
            }
        }
    }
}

struct Along<'a> {
    few: &'a Few,
    x: MatRef<'a>,
    out: &'a mut [f64],
}

impl Kernel for Along<'_> {
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

impl Along<'_> {
    /// With groups of columns of `N` vectors.
    #[inline(always)]
    fn with_vectors<S: Simd, const N: usize>(self, simd: S) {
        let Few { directions, origin } = self.few;
        let (count, width) = (directions.nrows(), origin.len());
        let tiles = (COPIED / (ABREAST * width)).max(1);
        let mut copy = Lines::zeros(tiles * ABREAST * width);
        for (c, out) in self.out.chunks_mut((tiles * ABREAST * count).max(1)).enumerate() {
            copy_rows(&mut copy, self.x, c * tiles * ABREAST, origin);
            for (t, out) in out.chunks_mut(ABREAST * count).enumerate() {
                if width <= COPIED {
                    prefetch_rows(self.x, ((c + 1) * tiles + t) * ABREAST, ABREAST);
                }
                let tile = &copy[t * ABREAST * width..(t + 1) * ABREAST * width];
                let row = |r: usize| &tile[r * width..(r + 1) * width];
                let rows = [row(0), row(1), row(2), row(3)];
                for (k, direction) in directions.rows().enumerate() {
                    let sums = products::<S, N>(simd, rows, direction);
                    for (out, sum) in out.chunks_exact_mut(count).zip(sums) {
                        out[k] = sum;
                    }
                }
            }
        }
    }
}

/// Copies rows from `first` on, less the origin; the last row of the table stands in for absent ones.
#[inline(always)]
fn copy_rows(copy: &mut [f64], x: MatRef, first: usize, origin: &[f64]) {
    let (last, width) = (x.nrows() - 1, origin.len());
    if width == 0 {
        return;
    }
    if x.col_stride() == 1 {
        for (r, out) in copy.chunks_exact_mut(width).enumerate() {
            let row = x.row_slice((first + r).min(last)).unwrap_or_default();
            for ((out, x), origin) in out.iter_mut().zip(row).zip(origin) {
                *out = x - origin;
            }
        }
        return;
    }
    let present = (copy.len() / width).min(x.nrows() - first);
    x.rows(first, first + present).write_rows(&mut copy[..present * width]);
    for row in copy[..present * width].chunks_exact_mut(width) {
        row.iter_mut().zip(origin).for_each(|(x, origin)| *x -= origin);
    }
    let (rows, absent) = copy.split_at_mut(present * width);
    let last = &rows[rows.len() - width..];
    absent.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(last));
}

/// Writes the sums over columns of a tile's rows and some groups of points to rows of `count` numbers.
///
/// Every index of `sums` is known when this is compiled, so that they stay in registers.
#[inline(always)]
fn sum_over_columns<S: Simd, const N: usize, const G: usize>(
    simd: S,
    panel: &Panel,
    first: usize,
    tile: &[f64],
    step: impl Fn(S::f64s, S::f64s, S::f64s) -> S::f64s,
    out: &mut [f64],
) {
    let width = panel.origin.len();
    let mut sums = [[[simd.splat_f64s(0.0); N]; G]; ROWS];
    let points: [&[S::f64s]; G] = std::array::from_fn(|g| panel.group::<S>(first + g));
    let row = |r: usize| &tile[r * width..(r + 1) * width];
    let (a, b, c, d, e, f) = (row(0), row(1), row(2), row(3), row(4), row(5));
    for j in 0..width {
        let x = [a[j], b[j], c[j], d[j], e[j], f[j]];
        for r in 0..ROWS {
            let x = simd.splat_f64s(x[r]);
            for g in 0..G {
                for v in 0..N {
                    sums[r][g][v] = step(x, points[g][j * N + v], sums[r][g][v]);
                }
            }
        }
    }
    // Lanes without a point fall on the next row where that is still to be written: a whole vector is written faster.
    let alone = panel.count <= GROUP;
    for r in 0..ROWS {
        let start = r * panel.count;
        let end = if alone { out.len() } else { start + panel.count };
        if start >= out.len() {
            break;
        }
        let out = &mut out[start..end];
        for g in 0..G {
            for v in 0..N {
                let place = (first + g) * GROUP + v * S::F64_LANES;
                write::<S>(sums[r][g][v], &mut out[place.min(panel.count)..]);
            }
        }
    }
}

/// Writes the lanes for which there is room.
#[inline(always)]
fn write<S: Simd>(lanes: S::f64s, out: &mut [f64]) {
    match S::as_mut_simd_f64s(out) {
        ([place, ..], _) => *place = lanes,
        ([], rest) => {
            let lanes = [lanes];
            let numbers: &[f64] = pulp::bytemuck::cast_slice(&lanes);
            rest.iter_mut().zip(numbers).for_each(|(out, number)| *out = *number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Nearest, squared_distance};

    fn sample(n: usize, d: usize, shift: f64) -> Matrix {
        Matrix::from_fn(n, d, |i, j| ((i * 7919 + j * 104_729 + i * j) % 97) as f64 + shift)
    }

    #[test]
    fn every_shape_and_memory_order_agrees_with_plain_sums() {
        for (n, d, k) in [(1, 1, 1), (5, 3, 2), (16, 4, 3), (33, 7, 5), (50, 17, 32), (70, 60, 9)] {
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
        for (k, width) in [(1, 3), (2, 3), (5, 3), (5, 50)] {
            let value = |i, j| if j == 1 { 0.0 } else { (i + j) as f64 };
            let points = Matrix::from_fn(k, width, value);
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for (n, d) in (0..3).flat_map(|d| [(1, d), (40, d), (77, d)]) {
                    let mut x = sample(n, width, 0.0);
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
        for (n, d, count) in [(20, 6, 3), (21, 16, 1), (30, 37, 3), (7, 1100, 2), (20, 37, 4)] {
            let (x, directions) = (sample(n, d, 0.0), sample(count, d, -40.0));
            let origin: Vec<f64> = (0..d).map(|j| (j % 6) as f64 + 1.0).collect();
            let turned = x.transposed();
            for view in [x.view(), turned.view().transposed()] {
                let mut out = vec![0.0; n * count];
                Projection::new(&directions, &origin).of(view, &mut out);
                for (i, row) in out.chunks_exact(count).enumerate() {
                    for (k, &found) in row.iter().enumerate() {
                        let term = |j: usize| (x[(i, j)] - origin[j]) * directions[(k, j)];
                        assert_eq!(found, (0..d).map(term).sum::<f64>(), "{d} columns, {count}");
                    }
                }
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
