//! Rows against a few points: the nearest of them.
//!
//! Of few columns, some rows at a time are turned so that each column is a few vectors, and four points at a time are
//! taken through them in registers. Of many columns, where the search for the least product is nothing beside the
//! products, those are a [`Projection`]'s, which takes rows as they lie in memory. Of two points the sign of one product
//! tells, with the way from the first to the second. Either way a row's number depends on its own values alone, in an
//! order that the width decides: the same in any company and on any number of threads.

use super::points::LONG;
use super::{Kernel, Projection, prefetch_rows};
use crate::data::{MatRef, Matrix, all_finite};
use crate::vectorized;
use pulp::Simd;

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
pub struct Nearest(Way);

enum Way {
    Across(Across),
    Tiles(Points),
    Products(Products),
}

/// From the middle of two points towards the second (of one point, nowhere), and how far along a row must be to be nearer to
/// that: no more than what the middle was rounded by.
struct Across {
    towards: Projection,
    least: f64,
}

/// Points four by four.
struct Points {
    origin: Vec<f64>,
    /// Column after column of each group of points, about the origin.
    columns: Vec<[f64; POINTS]>,
    /// Half the squares of each group's points; endless where there is no point.
    starts: Vec<[f64; POINTS]>,
}

/// Products with points, and half the squares of these.
struct Products {
    about: Projection,
    half_squares: Vec<f64>,
}

/// Points that are taken through a tile together.
const POINTS: usize = 4;

/// So many columns are many.
const MANY: usize = 48;

impl Nearest {
    /// Among the rows of `points`.
    pub fn new(points: &Matrix) -> Nearest {
        let (count, width) = (points.nrows(), points.ncols());
        let share = 1.0 / count.max(1) as f64;
        let mut origin = vec![0.0; width];
        for row in points.rows() {
            super::add_scaled(&mut origin, share, row);
        }
        let about = Matrix::from_fn(count, width, |i, j| points[(i, j)] - origin[j]);
        let half_square = |point: &[f64]| 0.5 * super::dot(point, point);
        if (1..=2).contains(&count) && width >= LONG {
            let across = Matrix::from_fn(1, width, |_, j| points[(count - 1, j)] - points[(0, j)]);
            let towards = Projection::new(&across, &origin);
            let least = half_square(about.row(count - 1)) - half_square(about.row(0));
            return Nearest(Way::Across(Across { towards, least }));
        }
        if width >= MANY {
            let half_squares = about.rows().map(half_square).collect();
            let about = Projection::new(&about, &origin);
            return Nearest(Way::Products(Products { about, half_squares }));
        }
        let mut columns = Vec::with_capacity(count.div_ceil(POINTS) * width);
        let mut starts = Vec::with_capacity(count.div_ceil(POINTS));
        for first in (0..count).step_by(POINTS) {
            let member = |k: usize| (first + k < count).then(|| about.row(first + k));
            let members: [Option<&[f64]>; POINTS] = std::array::from_fn(member);
            columns.extend((0..width).map(|j| members.map(|point| point.map_or(0.0, |p| p[j]))));
            starts.push(members.map(|point| point.map_or(f64::INFINITY, half_square)));
        }
        Nearest(Way::Tiles(Points { origin, columns, starts }))
    }

    /// The nearest point of each row of `x`; `out` has one place a row. Whether the least numbers compared are
    /// finite, which shows finite rows: with a value that is not, no comparison of its row ends in a finite one.
    pub fn of(&self, x: MatRef, out: &mut [u32]) -> bool {
        debug_assert!(x.nrows() == out.len());
        match &self.0 {
            Way::Across(across) => across.of(x, out),
            Way::Tiles(points) => super::run(Find { points, x, out }),
            Way::Products(products) => products.of(x, out),
        }
    }
}

impl Across {
    fn of(&self, x: MatRef, out: &mut [u32]) -> bool {
        const ROWS: usize = 256;
        let mut products = [0.0; ROWS];
        let mut finite = true;
        for (t, out) in out.chunks_mut(ROWS).enumerate() {
            let products = &mut products[..out.len()];
            self.towards.of(x.rows(t * ROWS, t * ROWS + out.len()), products);
            finite &= all_finite(products);
            let nearer = products.iter().map(|product| u32::from(*product > self.least));
            out.iter_mut().zip(nearer).for_each(|(out, nearer)| *out = nearer);
        }
        finite
    }
}

impl Products {
    fn of(&self, x: MatRef, out: &mut [u32]) -> bool {
        const ROWS: usize = 48;
        let count = self.half_squares.len();
        let mut products = vec![0.0; ROWS * count];
        let mut zeros = 0.0;
        for (t, out) in out.chunks_mut(ROWS).enumerate() {
            let products = &mut products[..out.len() * count];
            self.about.of(x.rows(t * ROWS, t * ROWS + out.len()), products);
            zeros += vectorized!({
                let mut zeros = 0.0;
                for (out, row) in out.iter_mut().zip(products.chunks_exact(count.max(1))) {
                    let (least, place) = first_least(&self.half_squares, row);
                    zeros += least * 0.0;
                    *out = place as u32;
                }
                zeros
            });
        }
        zeros == 0.0
    }
}

/// The least of s - p and its place, the first of equals: of eight interleaved ones each, and then of these.
#[inline(always)]
fn first_least(half_squares: &[f64], products: &[f64]) -> (f64, f64) {
    let (s8, s_rest) = half_squares.as_chunks::<8>();
    let (p8, p_rest) = products.as_chunks::<8>();
    let (mut least, mut place) = ([f64::INFINITY; 8], [0.0; 8]);
    let mut first = 0.0;
    for (s, p) in s8.iter().zip(p8) {
        for k in 0..8 {
            let value = s[k] - p[k];
            let nearer = value < least[k];
            least[k] = if nearer { value } else { least[k] };
            place[k] = if nearer { first + k as f64 } else { place[k] };
        }
        first += 8.0;
    }
    let rest = s_rest.iter().zip(p_rest).enumerate().map(|(k, (s, p))| (s - p, first + k as f64));
    // Otherwise the compiler keeps the lanes in memory through the loop, because they are read by index here.
    let lanes = std::hint::black_box(least).into_iter().zip(std::hint::black_box(place));
    lanes.chain(rest).fold((f64::INFINITY, 0.0), |best, next| {
        let nearer = next.0 < best.0 || (next.0 == best.0 && next.1 < best.1);
        if nearer { next } else { best }
    })
}

struct Find<'a> {
    points: &'a Points,
    x: MatRef<'a>,
    out: &'a mut [u32],
}

impl Kernel for Find<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        match S::F64_LANES {
            8 => self.with_tiles::<S, 4, 32, 4>(simd),
            4 => self.with_tiles::<S, 4, 16, 2>(simd),
            2 => self.with_tiles::<S, 4, 8, 4>(simd),
            _ => self.with_tiles::<S, 4, 4, 2>(simd),
        }
    }
}

impl Find<'_> {
    /// With tiles of `ROWS` rows, which are `N` vectors, and `K` points in registers.
    #[inline(always)]
    fn with_tiles<S: Simd, const N: usize, const ROWS: usize, const K: usize>(
        self,
        simd: S,
    ) -> bool {
        let Points { origin, columns, starts } = self.points;
        let mut tile = vec![Column([0.0; ROWS]); origin.len()];
        let zero = simd.splat_f64s(0.0);
        let mut zeros = zero;
        for (t, out) in self.out.chunks_mut(ROWS).enumerate() {
            fill(&mut tile, self.x, t * ROWS, origin);
            prefetch_rows(self.x, (t + 1) * ROWS, ROWS);
            let mut least = [simd.splat_f64s(f64::INFINITY); N];
            let mut place = [zero; N];
            for (group, starts) in starts.iter().enumerate() {
                let columns = &columns[group * tile.len()..(group + 1) * tile.len()];
                for first in (0..POINTS).step_by(K) {
                    let sums =
                        sums_over_columns::<S, N, ROWS, K>(simd, &tile, columns, starts, first);
                    for k in 0..K {
                        let point = simd.splat_f64s((POINTS * group + first + k) as f64);
                        for v in 0..N {
                            let nearer = simd.less_than_f64s(sums[k][v], least[v]);
                            least[v] = simd.select_f64s(nearer, sums[k][v], least[v]);
                            place[v] = simd.select_f64s(nearer, point, place[v]);
                        }
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

/// ‖p‖²/2 - x·p of `K` points of a group, from `first` on, and the rows of a tile.
#[inline(always)]
fn sums_over_columns<S: Simd, const N: usize, const ROWS: usize, const K: usize>(
    simd: S,
    tile: &[Column<ROWS>],
    points: &[[f64; POINTS]],
    starts: &[f64; POINTS],
    first: usize,
) -> [[S::f64s; N]; K] {
    let mut sums = [[simd.splat_f64s(0.0); N]; K];
    for k in 0..K {
        sums[k] = [simd.splat_f64s(starts[first + k]); N];
    }
    for (column, points) in tile.iter().zip(points) {
        let Some(x) = S::as_simd_f64s(&column.0).0.first_chunk::<N>() else { break };
        for k in 0..K {
            let point = simd.splat_f64s(points[first + k]);
            for v in 0..N {
                sums[k][v] = simd.negate_mul_add_f64s(x[v], point, sums[k][v]);
            }
        }
    }
    sums
}

/// One column of a tile of rows, in whole cache lines: a vector that lies in two lines takes two loads.
#[derive(Clone)]
#[repr(align(64))]
struct Column<const ROWS: usize>([f64; ROWS]);

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
        // Opaque, so that columns are written one by one: of several at once the compiler would scatter the numbers.
        let column = std::hint::black_box(&mut tile[j]);
        let Some(places) = column.0[r..].first_chunk_mut::<4>() else { return };
        places[0] = a[j] - origin[j];
        places[1] = b[j] - origin[j];
        places[2] = c[j] - origin[j];
        places[3] = d[j] - origin[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_are_told_apart() {
        let large = 9_007_199_254_740_992.0;
        let points = Matrix::from_fn(2, LONG, |i, _| large + 2.0 + 2.0 * i as f64);
        let mut found = [9; 2];
        assert!(Nearest::new(&points).of(points.view(), &mut found));
        assert_eq!(found, [0, 1]);
    }

    #[test]
    fn the_first_of_equal_points_is_the_nearest_whatever_the_width() {
        let shapes = [
            (3, 21),
            (3, 2),
            (LONG, 1),
            (LONG, 2),
            (77, 2),
            (MANY - 1, 7),
            (MANY, 7),
            (60, 8),
            (60, 21),
        ];
        for (width, count) in shapes {
            let value = |i: usize, j: usize| ((i % 5 * 37 + j * 11) % 17) as f64;
            let points = Matrix::from_fn(count, width, value);
            let mut found = vec![0; count];
            assert!(Nearest::new(&points).of(points.view(), &mut found));
            for (i, &place) in found.iter().enumerate() {
                assert_eq!(place as usize, i % count.min(5), "{width} columns, {count} points");
            }
        }
    }
}
