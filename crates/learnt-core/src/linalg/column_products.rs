//! Products of many columns, Rᵀ R, with the result shared out among threads.
//!
//! Rows are packed by panels of columns, so that a product of two panels reads two short streams
//! instead of a few values a page. A thread owns some panels of the result for all rows; an element
//! is summed over chunks of fixed size, one after the other, so the number of threads changes no
//! bit.

use super::matmul_into;
use crate::context::Context;
use crate::data::{MatRef, Matrix};

/// Columns of a panel.
const PANEL: usize = 36;
/// Rows of a chunk: two panels of a chunk fit the second cache.
const CHUNK: usize = 256;

/// Adds up Σ r rᵀ over rows r of a fixed, large width.
///
/// ```
/// # use learnt_core::{context::Context, linalg::ColumnProducts};
/// let mut sum = ColumnProducts::new(2);
/// let rows = [[1.0, 2.0], [0.0, 3.0]];
/// sum.add(2, |i, row| row.copy_from_slice(&rows[i]), &Context::default());
/// assert_eq!(sum.finish().as_slice(), [1.0, 2.0, 2.0, 13.0]);
/// ```
pub struct ColumnProducts {
    width: usize,
    panels: Vec<Panel>,
    packed: Vec<f64>,
}

/// Rows of the result, with the columns up to their own: blocks of PANEL × PANEL.
struct Panel {
    index: usize,
    blocks: Vec<f64>,
}

impl ColumnProducts {
    /// A sum over rows of this width, zero so far.
    pub fn new(width: usize) -> Self {
        let panel = |index: usize| Panel { index, blocks: vec![0.0; (index + 1) * PANEL * PANEL] };
        // The longest first, so that threads end together.
        let panels = (0..width.div_ceil(PANEL).max(1)).rev().map(panel).collect();
        ColumnProducts { width, panels, packed: Vec::new() }
    }

    /// Adds rows; `fill` writes the row of a number below `rows`.
    pub fn add(&mut self, rows: usize, fill: impl Fn(usize, &mut [f64]) + Sync, run: &Context) {
        let (width, size) = (self.width, self.panels.len() * CHUNK * PANEL);
        self.packed.resize(rows.div_ceil(CHUNK) * size, 0.0);
        run.par_fill(&mut self.packed, size, |start, chunk| {
            let mut row = vec![0.0; size / CHUNK];
            for k in 0..CHUNK {
                let i = start / size * CHUNK + k;
                match i < rows {
                    true => fill(i, &mut row[..width]),
                    false => row.fill(0.0),
                }
                let panels = chunk.chunks_exact_mut(CHUNK * PANEL);
                for (panel, part) in panels.zip(row.chunks_exact(PANEL)) {
                    panel[k * PANEL..(k + 1) * PANEL].copy_from_slice(part);
                }
            }
        });
        let packed = &self.packed;
        run.par_fill(&mut self.panels, 1, |_, panels| {
            for panel in panels {
                packed.chunks_exact(size).for_each(|chunk| panel.add(chunk));
            }
        });
    }

    /// The whole symmetric sum.
    pub fn finish(self) -> Matrix {
        let mut out = Matrix::zeros(self.width, self.width);
        for panel in &self.panels {
            for (j, block) in panel.blocks.chunks_exact(PANEL * PANEL).enumerate() {
                copy_twice(block, panel.index * PANEL, j * PANEL, &mut out);
            }
        }
        out
    }
}

impl Panel {
    /// Adds the products of its own columns with the earlier ones, over a chunk of rows.
    fn add(&mut self, chunk: &[f64]) {
        let columns = |k: usize| {
            let place = k * CHUNK * PANEL;
            MatRef::row_major(&chunk[place..place + CHUNK * PANEL], CHUNK, PANEL)
        };
        let Ok(own) = columns(self.index) else { return };
        for (j, block) in self.blocks.chunks_exact_mut(PANEL * PANEL).enumerate() {
            if let Ok(earlier) = columns(j) {
                matmul_into(block, true, 1.0, own.transposed(), earlier);
            }
        }
    }
}

/// The part of a block on and below the diagonal, and its mirror image.
fn copy_twice(block: &[f64], first_row: usize, first_column: usize, out: &mut Matrix) {
    let rows = PANEL.min(out.nrows() - first_row);
    for (r, values) in block.chunks_exact(PANEL).enumerate().take(rows) {
        let i = first_row + r;
        for (j, &value) in (first_column..=i).zip(values) {
            out[(i, j)] = value;
            out[(j, i)] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;

    #[test]
    fn sums_equal_the_product_for_every_width_and_number_of_rows() {
        for width in [1, 2, 35, 36, 37, 95, 130] {
            for count in [1, 255, 256, 300] {
                let rows =
                    Matrix::from_fn(count, width, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
                let mut sum = ColumnProducts::new(width);
                for start in (0..count).step_by(200) {
                    let more = 200.min(count - start);
                    let run = Context::default().with_threads(1 + width % 2);
                    sum.add(more, |i, out| out.copy_from_slice(rows.row(start + i)), &run);
                }
                // Small whole numbers: every order of summation is exact.
                let expected = matmul(rows.view().transposed(), rows.view());
                assert_eq!(sum.finish(), expected, "{count} x {width}");
            }
        }
    }
}
