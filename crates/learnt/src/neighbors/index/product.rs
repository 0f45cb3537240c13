//! Brute force by matrix product, for `euclidean` and `cosine` distances.
//!
//! ||x - y||² / 2 = ||x||² / 2 + (||y||² / 2 - x'y), and the bracket for eight queries against sixteen
//! rows is a small matrix product, taken in single precision from rows that are centred and divided
//! by the longest one. It only rules rows out: a row whose estimate is above the k-th best sum by
//! more than the largest possible error cannot be among the k best. The others are computed by
//! differences in double precision, so that the result is that of the plain scan, whatever the
//! blocks. The error of a sum of d products is at most d u |x||y|, u = 2^-24 (Higham 2002, sec. 3.1).

use super::best::Best;
use super::metric::{Kernel, between};
use learnt_core::linalg::norm;
use learnt_core::prelude::*;
use learnt_core::stop;
use pulp::Simd;
use pulp::bytemuck::cast_slice;
use std::sync::Arc;

/// Rows of a block.
const ROWS: usize = 16;

/// Queries that pass a block together: sums enough that none waits for its last product.
const QUERIES: usize = 8;

/// Rows that a thread prepares at a time.
const ROWS_AT_ONCE: usize = 64 * ROWS;

/// One column of a block of rows: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row16([f32; ROWS]);

/// The rows, and the blocks that estimate distances to them.
#[derive(Clone, Debug)]
pub(super) struct Product {
    rows: Arc<Matrix>,
    estimates: Estimates,
}

/// Rows in single precision, centred and divided by the longest one.
#[derive(Clone, Debug)]
struct Estimates {
    center: Vec<f64>,
    scale: f64,
    blocks: Vec<Row16>,
    half_squares: Vec<Row16>,
}

impl Product {
    /// Of finite rows. The sums of `cosine` are as exact as rows of length one are, and not more
    /// so near the center: those rows must not be centred.
    pub(super) fn new(rows: Arc<Matrix>, centred: bool, run: &Context) -> Product {
        let estimates = Estimates::new(&rows, centred, run);
        Product { rows, estimates }
    }

    /// The rows.
    pub(super) fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// The nearest rows of each query.
    #[inline(always)]
    pub(super) fn nearest<K: Kernel, V: Simd>(
        &self,
        simd: V,
        kernel: K,
        queries: &Matrix,
        best: &mut [Best],
    ) {
        let largest = |best: &mut [Best], i: usize| best[i].worst() * K::SQUARE_SCALE;
        self.candidates(simd, queries, best, largest, |best, i, row| {
            let sum = between(kernel, self.rows.row(row), queries.row(i));
            best[i].offer(sum, row as u32);
        });
    }

    /// All rows within the radius of each query.
    #[inline(always)]
    pub(super) fn within<K: Kernel, V: Simd>(
        &self,
        simd: V,
        kernel: K,
        queries: &Matrix,
        radius: f64,
        found: &mut [Vec<(u32, f64)>],
    ) {
        let limit = kernel.limit(radius) * K::SQUARE_SCALE;
        self.candidates(
            simd,
            queries,
            found,
            |_, _| limit,
            |found, i, row| {
                let sum = between(kernel, self.rows.row(row), queries.row(i));
                let distance = kernel.distance(sum);
                if distance <= radius {
                    found[i].push((row as u32, distance));
                }
            },
        );
    }

    /// Calls `visit(query, row)`, rows ascending, for all pairs but those whose squared distance is
    /// surely above `largest(query)`.
    #[inline(always)]
    fn candidates<S, V: Simd>(
        &self,
        simd: V,
        queries: &Matrix,
        state: &mut [S],
        largest: impl Fn(&mut [S], usize) -> f64,
        mut visit: impl FnMut(&mut [S], usize, usize),
    ) {
        let made = &self.estimates;
        let mut groups: Vec<Group> = (0..queries.nrows())
            .step_by(QUERIES)
            .map(|first| Group::new(made, queries, first))
            .collect();
        for group in &mut groups {
            for q in 0..group.count {
                group.limit(q, largest(state, group.first + q), made.scale);
            }
        }
        // About 2²² products of a query with a row's column between two looks.
        let pace = ((1 << 22) / (ROWS * queries.nrows() * self.rows.ncols()).max(1)).max(1);
        for (b, block) in made.blocks.chunks_exact(self.rows.ncols()).enumerate() {
            if b % pace == 0 && stop::asked() {
                return;
            }
            for group in &mut groups {
                let estimates = group.estimates(simd, block, &made.half_squares[b]);
                for (q, estimates) in estimates.iter().enumerate().take(group.count) {
                    let limit = group.limits[q];
                    if !estimates.0.iter().fold(false, |hit, &e| hit | !ruled_out(e, limit)) {
                        continue;
                    }
                    for (lane, &estimate) in estimates.0.iter().enumerate() {
                        let (i, row) = (group.first + q, b * ROWS + lane);
                        if row < self.rows.nrows() && !ruled_out(estimate, group.limits[q]) {
                            visit(state, i, row);
                            group.limit(q, largest(state, i), made.scale);
                        }
                    }
                }
            }
        }
    }
}

impl Estimates {
    fn new(rows: &Matrix, centred: bool, run: &Context) -> Estimates {
        let (n, d) = (rows.nrows(), rows.ncols());
        let center = if centred { mean(rows) } else { vec![0.0; d] };
        let lengths = run.par_ranges(n, ROWS_AT_ONCE, |range| {
            let mut buffer = vec![0.0; d];
            let length = |i| {
                let moved = shifted(rows.row(i), &center, 1.0);
                buffer.iter_mut().zip(moved).for_each(|(out, value)| *out = value);
                norm(&buffer)
            };
            range.map(length).collect::<Vec<f64>>()
        });
        let lengths = lengths.concat();
        let longest = lengths.iter().fold(0.0, |m: f64, &x| m.max(x));
        // Rows that are all equal, or too far apart for the arithmetic, are left to differences.
        let scale = if longest > 1e-140 && longest < 1e140 { 1.0 / longest } else { f64::NAN };
        let mut blocks = vec![Row16([0.0; ROWS]); n.div_ceil(ROWS) * d];
        run.par_fill(&mut blocks, ROWS_AT_ONCE / ROWS * d.max(1), |first, blocks| {
            for (b, block) in blocks.chunks_mut(d.max(1)).enumerate() {
                for (lane, i) in ((first / d + b) * ROWS..n).take(ROWS).enumerate() {
                    let moved = shifted(rows.row(i), &center, scale);
                    block.iter_mut().zip(moved).for_each(|(out, x)| out.0[lane] = x as f32);
                }
            }
        });
        let mut half_squares = vec![Row16([f32::INFINITY; ROWS]); n.div_ceil(ROWS)];
        for (i, length) in lengths.iter().enumerate() {
            let length = length * scale;
            half_squares[i / ROWS].0[i % ROWS] = (0.5 * length * length) as f32;
        }
        Estimates { center, scale, blocks, half_squares }
    }
}

/// Whether the estimate is too large; one that is not a number rules nothing out.
#[inline(always)]
fn ruled_out(estimate: f32, limit: f32) -> bool {
    estimate > limit
}

/// Eight queries, negated, centred and scaled as the rows are.
struct Group {
    first: usize,
    count: usize,
    negated: Vec<[f32; QUERIES]>,
    half_square: [f64; QUERIES],
    error: [f64; QUERIES],
    limits: [f32; QUERIES],
}

impl Group {
    fn new(made: &Estimates, queries: &Matrix, first: usize) -> Group {
        let count = QUERIES.min(queries.nrows() - first);
        let mut group = Group {
            first,
            count,
            negated: vec![[0.0; QUERIES]; queries.ncols()],
            half_square: [0.0; QUERIES],
            error: [0.0; QUERIES],
            limits: [f32::NEG_INFINITY; QUERIES],
        };
        for q in 0..count {
            let query =
                shifted(queries.row(first + q), &made.center, made.scale).collect::<Vec<f64>>();
            for (out, value) in group.negated.iter_mut().zip(&query) {
                out[q] = -*value as f32;
            }
            let length = norm(&query);
            group.half_square[q] = 0.5 * length * length;
            group.error[q] = error(queries.ncols(), length);
        }
        group
    }

    /// ||y||² / 2 - x'y. Vectors are spelled out: left to itself, the compiler takes queries for lanes where
    /// vectors are long, and gathers their numbers one by one.
    #[inline(always)]
    fn estimates<V: Simd>(
        &self,
        simd: V,
        block: &[Row16],
        half_squares: &Row16,
    ) -> [Row16; QUERIES] {
        match V::F32_LANES {
            16 => self.sums::<V, 1, 8>(simd, block, half_squares),
            8 => self.sums::<V, 2, 4>(simd, block, half_squares),
            4 => self.sums::<V, 4, 2>(simd, block, half_squares),
            _ => self.sums::<V, ROWS, 1>(simd, block, half_squares),
        }
    }

    /// The same with `N` vectors for sixteen rows, for `Q` queries after each other `Q` that the registers hold.
    #[inline(always)]
    fn sums<V: Simd, const N: usize, const Q: usize>(
        &self,
        simd: V,
        block: &[Row16],
        half_squares: &Row16,
    ) -> [Row16; QUERIES] {
        let mut out = [*half_squares; QUERIES];
        let Some(&start) = V::as_simd_f32s(&half_squares.0).0.first_chunk::<N>() else {
            return out;
        };
        for first in (0..self.count).step_by(Q) {
            let mut sums = [start; Q];
            for (y, x) in block.iter().zip(&self.negated) {
                let (y, x) = (V::as_simd_f32s(&y.0).0, x[first..].first_chunk::<Q>());
                let (Some(y), Some(x)) = (y.first_chunk::<N>(), x) else { break };
                for q in 0..Q {
                    let factor = simd.splat_f32s(x[q]);
                    for v in 0..N {
                        sums[q][v] = simd.mul_add_f32s(factor, y[v], sums[q][v]);
                    }
                }
            }
            for q in 0..Q {
                out[first + q].0.copy_from_slice(cast_slice(&sums[q]));
            }
        }
        out
    }

    /// Notes the largest estimate that a row within this squared distance can have.
    #[inline(always)]
    fn limit(&mut self, q: usize, largest: f64, scale: f64) {
        let exact = 0.5 * largest * scale * scale - self.half_square[q] + self.error[q];
        self.limits[q] = (exact + exact.abs() * f64::from(f32::EPSILON)) as f32;
    }
}

/// More than the error of an estimate in single precision and of all else in double precision, for
/// a query of this length and rows of length at most 1.
fn error(columns: usize, length: f64) -> f64 {
    if length.is_nan() || length > 1e15 {
        return f64::INFINITY;
    }
    let single = (columns as f64 + 8.0) * f64::from(f32::EPSILON) / 2.0;
    let double = (columns as f64 + 16.0) * 4.0 * f64::EPSILON;
    single * (length + 1.0) + double * (length + 1.0) * (length + 1.0)
}

/// The mean of each column, by parts that cannot overflow.
fn mean(rows: &Matrix) -> Vec<f64> {
    let share = 1.0 / rows.nrows() as f64;
    let mut center = vec![0.0; rows.ncols()];
    for row in rows.rows() {
        center.iter_mut().zip(row).for_each(|(center, x)| *center += x * share);
    }
    center
}

/// (x - c) s.
fn shifted(x: &[f64], center: &[f64], scale: f64) -> impl Iterator<Item = f64> {
    x.iter().zip(center).map(move |(x, c)| (x - c) * scale)
}
