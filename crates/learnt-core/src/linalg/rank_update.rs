//! Sums of outer products: rows are gathered in a buffer that the cache holds, and Rᵀ R of the
//! buffer is added to a lower triangle when it is full.
//!
//! A tile of the result stays in registers for all rows of the buffer, which are so few that what a tile
//! reads of them stays in the first cache. Rows are an odd number of cache lines apart, so that a column of
//! tiles never falls into few cache sets. There are two buffers: while rows come into one, from memory,
//! tiles of the other are summed in between, so that neither waits for the other.
//!
//! Rows of single precision are multiplied and summed as such within a buffer, and in double precision
//! from one buffer to the next: twice the speed for products that are right to seven digits.
//!
//! Fused multiply-adds: processors without them give other last digits.

use super::{Kernel, Lines, mirror_lower};
use crate::data::Matrix;
use crate::stop;
use pulp::Simd;
use pulp::bytemuck::{NoUninit, Pod, cast_slice};

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
pub struct RankUpdate<T = f64> {
    width: usize,
    stride: usize,
    /// Rows that a buffer holds.
    rows: usize,
    /// The rows that come in.
    buffer: Lines<T>,
    held: usize,
    /// The number of rows at which there is work to do.
    pace: usize,
    /// A full buffer, its rows, and the next of its blocks of tiles.
    full: Lines<T>,
    filled: usize,
    next: Place,
    lower: Matrix,
}

/// A block of the lower triangle, in blocks; columns of blocks come one after the other.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
}

/// The numbers that rows are made of.
pub trait Element: Pod + Sync {
    /// The side of a block: every tile's height and width divide it.
    const GRAIN: usize;
    /// Numbers in a cache line.
    const CACHE_LINE: usize;
    /// A vector register of them.
    type Vector<S: Simd>: Copy + NoUninit;

    /// Reads numbers as vectors.
    fn vectors<S: Simd>(numbers: &[Self]) -> &[Self::Vector<S>];
    /// The number in every lane.
    fn splat<S: Simd>(self, simd: S) -> Self::Vector<S>;
    /// a b + c.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The number in double precision.
    fn widen(self) -> f64;
    /// Adds a block of tiles whose sums, vectors and one factor fit the registers.
    fn add_block<S: Simd>(simd: S, block: AddBlock<Self>);
}

impl Element for f64 {
    const GRAIN: usize = 24;
    const CACHE_LINE: usize = 8;
    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn vectors<S: Simd>(numbers: &[f64]) -> &[S::f64s] {
        S::as_simd_f64s(numbers).0
    }

    #[inline(always)]
    fn splat<S: Simd>(self, simd: S) -> S::f64s {
        simd.splat_f64s(self)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_f64s(a, b, c)
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn add_block<S: Simd>(simd: S, block: AddBlock<f64>) {
        match S::F64_LANES {
            8 => block.with_tiles::<S, 8, 3>(simd, 24),
            lanes => block.with_tiles::<S, 6, 2>(simd, 2 * lanes),
        }
    }
}

impl Element for f32 {
    const GRAIN: usize = 32;
    const CACHE_LINE: usize = 16;
    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn vectors<S: Simd>(numbers: &[f32]) -> &[S::f32s] {
        S::as_simd_f32s(numbers).0
    }

    #[inline(always)]
    fn splat<S: Simd>(self, simd: S) -> S::f32s {
        simd.splat_f32s(self)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_f32s(a, b, c)
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn add_block<S: Simd>(simd: S, block: AddBlock<f32>) {
        match S::F32_LANES {
            16 => block.with_tiles::<S, 8, 2>(simd, 32),
            lanes => block.with_tiles::<S, 4, 2>(simd, 2 * lanes),
        }
    }
}

impl<T: Element> RankUpdate<T> {
    /// A sum over rows of this width, zero so far.
    pub fn new(width: usize) -> Self {
        let side = width.div_ceil(T::GRAIN).max(1);
        let lines = side * T::GRAIN / T::CACHE_LINE;
        let stride = (lines | 1) * T::CACHE_LINE;
        let rows = (4096 * T::CACHE_LINE / stride).clamp(64, 128);
        RankUpdate {
            width,
            stride,
            rows,
            buffer: Lines::zeros(stride * rows),
            held: 0,
            pace: rows,
            full: Lines::zeros(stride * rows),
            filled: 0,
            next: Place { row: 0, column: side },
            lower: Matrix::zeros(width, width),
        }
    }

    /// Adds the row that `fill` writes; it finds the values of some earlier row.
    #[inline(always)]
    pub fn push(&mut self, mut fill: impl FnMut(&mut [T])) {
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
        while self.sum_block() {}
        mirror_lower(&mut self.lower);
        self.lower
    }

    /// Sums the blocks of the full buffer that are due, and takes the other one when that is full.
    #[inline(never)]
    fn work(&mut self) {
        let rows = self.rows;
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
        self.width.div_ceil(T::GRAIN).max(1)
    }

    /// The buffers change places.
    fn turn(&mut self) {
        std::mem::swap(&mut self.full, &mut self.buffer);
        self.filled = self.held;
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
                rows: &self.full[..self.filled * self.stride],
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

/// One block of the lower triangle, and the rows to sum over.
pub struct AddBlock<'a, T> {
    stride: usize,
    rows: &'a [T],
    place: Place,
    lower: &'a mut Matrix,
}

impl<T: Element> Kernel for AddBlock<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        T::add_block(simd, self);
    }
}

impl<T: Element> AddBlock<'_, T> {
    /// Adds every tile of `HEIGHT` rows and `VECTORS` vectors, `columns` wide, in the block that reaches the lower
    /// triangle.
    #[inline(always)]
    fn with_tiles<S: Simd, const HEIGHT: usize, const VECTORS: usize>(
        mut self,
        simd: S,
        columns: usize,
    ) {
        let width = self.lower.ncols();
        let (top, left) = (self.place.row * T::GRAIN, self.place.column * T::GRAIN);
        for column in (left..width.min(left + T::GRAIN)).step_by(columns) {
            for row in (top..width.min(top + T::GRAIN)).step_by(HEIGHT) {
                if row + HEIGHT <= column {
                    continue;
                }
                // Vectors right of the diagonal are not summed.
                let reached = (row + HEIGHT).min(width) - column;
                match reached.div_ceil(columns / VECTORS) {
                    1 => self.add_tile::<S, HEIGHT, 1>(simd, row, column),
                    2 => self.add_tile::<S, HEIGHT, 2>(simd, row, column),
                    _ => self.add_tile::<S, HEIGHT, VECTORS>(simd, row, column),
                }
            }
        }
    }

    /// Adds a tile from (row, column) on, where it reaches the lower triangle.
    #[inline(always)]
    fn add_tile<S: Simd, const HEIGHT: usize, const VECTORS: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
    ) {
        let width = self.lower.ncols();
        let tile = tile::<T, S, HEIGHT, VECTORS>(simd, self.rows, self.stride, row, column);
        for (k, vectors) in tile.iter().enumerate() {
            let i = row + k;
            if i < width && i >= column {
                let sums: &[T] = cast_slice(vectors);
                let out = &mut self.lower.row_mut(i)[column..=i];
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum.widen());
            }
        }
    }
}

/// Σ r[i..i + HEIGHT] ⊗ r[j..j + VECTORS vectors] over the rows r.
#[inline(always)]
fn tile<T: Element, S: Simd, const HEIGHT: usize, const VECTORS: usize>(
    simd: S,
    rows: &[T],
    stride: usize,
    i: usize,
    j: usize,
) -> [[T::Vector<S>; VECTORS]; HEIGHT] {
    let mut sums = [[T::zeroed().splat(simd); VECTORS]; HEIGHT];
    for row in rows.chunks_exact(stride) {
        let vectors = T::vectors::<S>(&row[j..]);
        let (Some(factors), Some(vectors)) =
            (row[i..].first_chunk::<HEIGHT>(), vectors.first_chunk::<VECTORS>())
        else {
            break;
        };
        // Plain indices: an iterator that is not inlined here costs more than the products.
        for k in 0..HEIGHT {
            let factor = factors[k].splat(simd);
            for v in 0..VECTORS {
                sums[k][v] = T::mul_add(simd, factor, vectors[v], sums[k][v]);
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
            let mut single = RankUpdate::<f32>::new(width);
            for row in rows.rows() {
                single.push(|out| out.iter_mut().zip(row).for_each(|(out, v)| *out = *v as f32));
            }
            // Small whole numbers: every order of summation is exact.
            let product = matmul(rows.view().transposed(), rows.view());
            assert_eq!(sum.finish(), product);
            assert_eq!(single.finish(), product);
        }
    }
}
