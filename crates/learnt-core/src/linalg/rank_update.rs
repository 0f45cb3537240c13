//! Sums of outer products: rows are gathered in a buffer that the cache holds, and Rᵀ R of the
//! buffer is added to a lower triangle when it is full.
//!
//! A tile of the result stays in registers for all rows of the buffer, which are so few that what a tile
//! reads of them stays in the first cache. Rows are an odd number of cache lines apart, so that a column of
//! tiles never falls into few cache sets. There are two buffers: while rows come into one, from memory,
//! tiles of the other are summed in between, so that neither waits for the other.
//!
//! Fused multiply-adds: processors without them give other last digits.

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
    /// The rows that come in.
    buffer: Vec<f64>,
    held: usize,
    /// The number of rows at which there is work to do.
    pace: usize,
    /// A full buffer, and the next of its blocks of tiles.
    full: Vec<f64>,
    next: Place,
    lower: Matrix,
}

/// A block of the lower triangle, in blocks; columns of blocks come one after the other.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
}

/// The side of a block: every tile's height and width divide it.
const GRAIN: usize = 24;
const CACHE_LINE: usize = 8;

impl RankUpdate {
    /// A sum over rows of this width, zero so far.
    pub fn new(width: usize) -> Self {
        let side = width.div_ceil(GRAIN).max(1);
        let lines = side * GRAIN / CACHE_LINE;
        let stride = (lines | 1) * CACHE_LINE;
        let rows = (32_768 / stride).clamp(64, 128);
        RankUpdate {
            width,
            stride,
            buffer: vec![0.0; stride * rows],
            held: 0,
            pace: rows,
            full: vec![0.0; stride * rows],
            next: Place { row: 0, column: side },
            lower: Matrix::zeros(width, width),
        }
    }

    /// Adds the row that `fill` writes; it finds the values of some earlier row.
    #[inline(always)]
    pub fn push(&mut self, mut fill: impl FnMut(&mut [f64])) {
        let start = self.held * self.stride;
        fill(&mut self.buffer[start..start + self.width]);
        self.held += 1;
        if self.held == self.pace {
            self.work();
        }
    }

    /// The whole symmetric sum.
    pub fn finish(mut self) -> Matrix {
        while self.sum_block() {}
        self.turn();
        self.full.truncate(self.held * self.stride);
        while self.sum_block() {}
        mirror_lower(&mut self.lower);
        self.lower
    }

    /// Sums the blocks of the full buffer that are due, and takes the other one when that is full.
    #[inline(never)]
    fn work(&mut self) {
        let rows = self.buffer.len() / self.stride;
        let side = self.side();
        let count = side * (side + 1) / 2;
        // One block a row, or more where there are more blocks than rows.
        for _ in 0..count.div_ceil(rows) {
            self.sum_block();
        }
        if self.held == rows {
            while self.sum_block() {}
            self.turn();
            self.held = 0;
        }
        self.pace = (self.held + rows.div_ceil(count)).min(rows);
    }

    fn side(&self) -> usize {
        self.width.div_ceil(GRAIN).max(1)
    }

    /// The buffers change places.
    fn turn(&mut self) {
        std::mem::swap(&mut self.full, &mut self.buffer);
        self.next = Place { row: 0, column: 0 };
    }

    /// Adds the next block of the full buffer; false if there is none.
    fn sum_block(&mut self) -> bool {
        let Place { row, column } = self.next;
        let side = self.side();
        if column >= side {
            return false;
        }
        if !stop::asked() {
            super::run(AddBlock {
                stride: self.stride,
                rows: &self.full,
                place: self.next,
                lower: &mut self.lower,
            });
        }
        self.next = match row + 1 < side {
            true => Place { row: row + 1, column },
            false => Place { row: column + 1, column: column + 1 },
        };
        true
    }
}

struct AddBlock<'a> {
    stride: usize,
    rows: &'a [f64],
    place: Place,
    lower: &'a mut Matrix,
}

impl Kernel for AddBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.with_lanes::<S, 8, 3>(simd),
            _ => self.with_lanes::<S, 6, 2>(simd),
        }
    }
}

impl AddBlock<'_> {
    /// Adds every tile of `HEIGHT` rows and `VECTORS` vectors in the block that reaches the lower
    /// triangle.
    #[inline(always)]
    fn with_lanes<S: Simd, const HEIGHT: usize, const VECTORS: usize>(self, simd: S) {
        let width = self.lower.ncols();
        let (top, left) = (self.place.row * GRAIN, self.place.column * GRAIN);
        for column in (left..width.min(left + GRAIN)).step_by(VECTORS * S::F64_LANES) {
            for row in (top..width.min(top + GRAIN)).step_by(HEIGHT) {
                if row + HEIGHT <= column {
                    continue;
                }
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
        for (width, count) in
            [1, 2, 3, 11, 12, 13, 24, 25, 47, 50, 101, 250].into_iter().zip((250..).step_by(43))
        {
            let rows = Matrix::from_fn(count, width, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
            let mut sum = RankUpdate::new(width);
            for row in rows.rows() {
                sum.push(|out| out.copy_from_slice(row));
            }
            // Small whole numbers: every order of summation is exact.
            assert_eq!(sum.finish(), matmul(rows.view().transposed(), rows.view()));
        }
    }
}
