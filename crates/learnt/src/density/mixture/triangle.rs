//! Lower triangles that are solved for tiles of eight rows: L z = d by forward substitution.
//!
//! Narrow ones column by column. Wide ones in blocks of eight equations whose sums stay in registers, with fused
//! multiply-adds, which decide the last digits on processors that have them. A row's numbers come from its own
//! values alone, in the order of the unknowns however many equations go together.

use super::engine::{LANES, Lanes};
use learnt_core::linalg::{self, Kernel};
use learnt_core::prelude::*;
use pulp::Simd;

/// Columns up to which triangles are solved column by column: blocks would be mostly padding.
const SMALL: usize = 12;

/// Equations of a block of a triangle.
const BLOCK: usize = 8;

/// A lower triangle in the order in which it is read: by columns up to [`SMALL`] columns, else by blocks.
pub(super) fn packed(lower: &Matrix) -> Vec<f64> {
    match lower.nrows() <= SMALL {
        true => by_columns(lower),
        false => by_blocks(lower),
    }
}

/// A lower triangle column by column, its diagonal as reciprocals.
fn by_columns(lower: &Matrix) -> Vec<f64> {
    let width = lower.nrows();
    let mut out = Vec::with_capacity(width * (width + 1) / 2);
    for j in 0..width {
        out.push(lower[(j, j)].recip());
        out.extend((j + 1..width).map(|i| lower[(i, j)]));
    }
    out
}

/// A lower triangle in blocks of equations: of each the coefficients of one unknown after the other up to its last,
/// the diagonal as reciprocals, and zeros where there is none.
fn by_blocks(lower: &Matrix) -> Vec<f64> {
    let width = lower.nrows();
    let mut out = Vec::with_capacity((width + BLOCK) * (width + BLOCK) / 2);
    for first in (0..width).step_by(BLOCK) {
        for (j, i) in (0..first + BLOCK).flat_map(|j| (first..first + BLOCK).map(move |i| (j, i))) {
            out.push(match i < width && j <= i {
                true if i == j => lower[(i, i)].recip(),
                true => lower[(i, j)],
                false => 0.0,
            });
        }
    }
    out
}

/// Zeros for one tile, to whole blocks of columns.
pub(super) fn padded(width: usize) -> Vec<Lanes> {
    vec![[0.0; LANES]; width.next_multiple_of(BLOCK)]
}

/// ‖L⁻¹ d‖²; d becomes L⁻¹ d. The triangle is [`packed`], and d [`padded`].
#[inline(always)]
pub(super) fn solved_square(triangle: &[f64], width: usize, d: &mut [Lanes]) -> Lanes {
    match width <= SMALL {
        true => solved_by_columns(triangle, &mut d[..width]),
        false => linalg::run(Solve { triangle, d }),
    }
}

#[inline(always)]
fn solved_by_columns(columns: &[f64], d: &mut [Lanes]) -> Lanes {
    let mut square = [0.0; LANES];
    let mut rest = columns;
    for j in 0..d.len() {
        let (column, later) = rest.split_at(d.len() - j);
        rest = later;
        let mut z = d[j];
        for lane in 0..LANES {
            z[lane] *= column[0];
            square[lane] += z[lane] * z[lane];
        }
        d[j] = z;
        for (d, &l) in d[j + 1..].iter_mut().zip(&column[1..]) {
            for lane in 0..LANES {
                d[lane] -= l * z[lane];
            }
        }
    }
    square
}

/// Forward substitution by blocks of equations, for as many as `d` has.
struct Solve<'a> {
    triangle: &'a [f64],
    d: &'a mut [Lanes],
}

impl Kernel for Solve<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Lanes {
        match S::F64_LANES {
            8 => self.with_vectors::<S, 1, 8>(simd),
            4 => self.with_vectors::<S, 2, 4>(simd),
            2 => self.with_vectors::<S, 4, 2>(simd),
            _ => self.with_vectors::<S, 8, 1>(simd),
        }
    }
}

impl Solve<'_> {
    /// With rows as `N` vectors and the sums of `E` equations in registers. Every sum runs over the unknowns in
    /// order, however many equations go together.
    #[inline(always)]
    fn with_vectors<S: Simd, const N: usize, const E: usize>(self, simd: S) -> Lanes {
        let d = S::as_mut_simd_f64s(self.d.as_flattened_mut()).0;
        let mut square = [simd.splat_f64s(0.0); N];
        let mut rest = self.triangle;
        for first in (0..d.len() / N).step_by(BLOCK) {
            let (block, later) = rest.split_at((first + BLOCK) * BLOCK);
            rest = later;
            for inner in (0..BLOCK).step_by(E) {
                let start = first + inner;
                let (known, unknown) = d.split_at_mut(start * N);
                let unknown = &mut unknown[..E * N];
                let mut sums = [[simd.splat_f64s(0.0); N]; E];
                for e in 0..E {
                    for v in 0..N {
                        sums[e][v] = unknown[e * N + v];
                    }
                }
                let coefficients = block.chunks_exact(BLOCK);
                for (z, coefficients) in known.chunks_exact(N).zip(coefficients) {
                    let coefficients = &coefficients[inner..inner + E];
                    for e in 0..E {
                        let coefficient = simd.splat_f64s(coefficients[e]);
                        for v in 0..N {
                            sums[e][v] = simd.negate_mul_add_f64s(coefficient, z[v], sums[e][v]);
                        }
                    }
                }
                for e in 0..E {
                    let column = &block[(start + e) * BLOCK + inner..][..E];
                    for v in 0..N {
                        let z = simd.mul_f64s(sums[e][v], simd.splat_f64s(column[e]));
                        unknown[e * N + v] = z;
                        square[v] = simd.mul_add_f64s(z, z, square[v]);
                        for later in e + 1..E {
                            let coefficient = simd.splat_f64s(column[later]);
                            sums[later][v] =
                                simd.negate_mul_add_f64s(coefficient, z, sums[later][v]);
                        }
                    }
                }
            }
        }
        let mut out = [0.0; LANES];
        out.copy_from_slice(pulp::bytemuck::cast_slice(&square));
        out
    }
}
