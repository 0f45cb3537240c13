//! Sums of outer products: rows are gathered in a buffer that the cache holds, and Rᵀ R of the
//! buffer is added to a lower triangle whenever it is full.
//!
//! A tile of the result stays in registers for all rows of the buffer. Rows are an odd number of
//! cache lines apart, so that a column of tiles never falls into few cache sets.

use super::{Kernel, mirror_lower};
use crate::data::Matrix;
use crate::stop;
use pulp::Simd;

/// Adds up Σ r rᵀ over rows r of a fixed width. An element is summed row after row in chunks of a
/// size that depends on the width alone.
///
/// ```
/// # use learnt_core::linalg::RankUpdate;
/// let mut sum = RankUpdate::new(2);
/// sum.push(|row| row.copy_from_slice(&[1.0, 2.0]));
/// sum.push(|row| row.copy_from_slice(&[0.0, 3.0]));
/// assert_eq!(sum.finish().as_slice(), [1.0, 2.0, 2.0, 13.0]);
/// ```
pub struct RankUpdate {
    width: usize,
    stride: usize,
    buffer: Vec<f64>,
    held: usize,
    lower: Matrix,
}

/// Every tile's height and width divide it.
const GRAIN: usize = 24;
const CACHE_LINE: usize = 8;

impl RankUpdate {
    /// A sum over rows of this width, zero so far.
    pub fn new(width: usize) -> Self {
        let lines = width.div_ceil(GRAIN).max(1) * GRAIN / CACHE_LINE;
        let stride = (lines | 1) * CACHE_LINE;
        // About half of a core's second cache.
        let rows = (32_768 / stride).clamp(64, 256);
        RankUpdate {
            width,
            stride,
            buffer: vec![0.0; stride * rows],
            held: 0,
            lower: Matrix::zeros(width, width),
        }
    }

    /// Adds the row that `fill` writes; it finds the values of some earlier row.
    #[inline(always)]
    pub fn push(&mut self, mut fill: impl FnMut(&mut [f64])) {
        let start = self.held * self.stride;
        fill(&mut self.buffer[start..start + self.width]);
        self.held += 1;
        if start + self.stride == self.buffer.len() {
            self.flush();
        }
    }

    /// The whole symmetric sum.
    pub fn finish(mut self) -> Matrix {
        self.flush();
        mirror_lower(&mut self.lower);
        self.lower
    }

    fn flush(&mut self) {
        if !stop::asked() {
            let rows = &self.buffer[..self.held * self.stride];
            super::run(AddTiles { stride: self.stride, rows, lower: &mut self.lower });
        }
        self.held = 0;
    }
}

struct AddTiles<'a> {
    stride: usize,
    rows: &'a [f64],
    lower: &'a mut Matrix,
}

impl Kernel for AddTiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.with_lanes::<S, 8, 3>(simd),
            _ => self.with_lanes::<S, 6, 2>(simd),
        }
    }
}

impl AddTiles<'_> {
    /// Adds every tile of `HEIGHT` rows and `VECTORS` vectors that reaches the lower triangle.
    #[inline(always)]
    fn with_lanes<S: Simd, const HEIGHT: usize, const VECTORS: usize>(self, simd: S) {
        let width = self.lower.ncols();
        for column in (0..width).step_by(VECTORS * S::F64_LANES) {
            for row in (column - column % HEIGHT..width).step_by(HEIGHT) {
                let tile = tile::<S, HEIGHT, VECTORS>(simd, self.rows, self.stride, row, column);
                for (k, vectors) in tile.iter().enumerate() {
                    let i = row + k;
                    if i < width && i >= column {
                        let sums: &[f64] = pulp::bytemuck::cast_slice(vectors);
                        let out = &mut self.lower.row_mut(i)[column..=i];
                        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
                    }
                }
            }
        }
    }
}

/// Σ r[i..i + HEIGHT] ⊗ r[j..j + VECTORS vectors] over the rows r. The sums, the vectors and one
/// factor must fit the registers: 6 × 2 of 16, 8 × 3 of 32.
#[inline(always)]
fn tile<S: Simd, const HEIGHT: usize, const VECTORS: usize>(
    simd: S,
    rows: &[f64],
    stride: usize,
    i: usize,
    j: usize,
) -> [[S::f64s; VECTORS]; HEIGHT] {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; HEIGHT];
    for row in rows.chunks_exact(stride) {
        let (vectors, _) = S::as_simd_f64s(&row[j..]);
        let (Some(factors), Some(vectors)) =
            (row[i..].first_chunk::<HEIGHT>(), vectors.first_chunk::<VECTORS>())
        else {
            break;
        };
        // Plain indices: an iterator that is not inlined here costs more than the products.
        for k in 0..HEIGHT {
            let factor = simd.splat_f64s(factors[k]);
            for v in 0..VECTORS {
                sums[k][v] = simd.mul_add_f64s(factor, vectors[v], sums[k][v]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;

    #[test]
    fn sums_of_outer_products_equal_the_product_for_every_width() {
        for width in [1, 2, 3, 11, 12, 13, 24, 25, 47, 50, 101] {
            let rows = Matrix::from_fn(300, width, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
            let mut sum = RankUpdate::new(width);
            for row in rows.rows() {
                sum.push(|out| out.copy_from_slice(row));
            }
            // Small whole numbers: every order of summation is exact.
            assert_eq!(sum.finish(), matmul(rows.view().transposed(), rows.view()));
        }
    }
}
