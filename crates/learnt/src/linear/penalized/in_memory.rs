//! Moments of a table in memory, for many columns: cut by columns of the result instead of rows, so
//! that no thread keeps a matrix of its own and nothing is merged.
//!
//! Means first, then chunks of centred rows; every panel of columns of the scatter adds the product
//! of its chunk with all later columns.

use crate::linear::least_squares::Moments;
use learnt_core::linalg::matmul_into;
use learnt_core::prelude::*;

/// From this many columns on, cutting by columns is faster than by rows.
pub(super) const MANY: usize = 256;
/// Columns of a panel: small enough that threads share the work evenly.
const PANEL: usize = 64;
/// Rows of a chunk.
const ROWS: usize = 1024;

/// Columns `first..` of the scatter, on and below its diagonal.
struct Panel {
    first: usize,
    last: usize,
    /// (width - first) × (last - first).
    sums: Vec<f64>,
}

/// Moments of inputs and outputs, about the mean if `centred`, else about the origin.
pub(super) fn moments(data: &Dataset, centred: bool, run: &Context) -> Result<Moments> {
    let y = data.real_target()?;
    let width = data.x.ncols() + y.ncols();
    let weight: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
    let ln_weight = (0..data.nrows()).map(|i| data.weight(i).ln()).sum();
    let mean = match centred {
        true => means(data, y, weight, run),
        false => vec![0.0; width],
    };
    let mut panels: Vec<Panel> = (0..width).step_by(PANEL).map(|j| Panel::new(j, width)).collect();
    let mut chunk = vec![0.0; ROWS.min(data.nrows()) * width];
    for start in (0..data.nrows()).step_by(ROWS) {
        run.checkpoint()?;
        let end = (start + ROWS).min(data.nrows());
        let rows = &mut chunk[..(end - start) * width];
        run.par_fill(rows, 64 * width, |place, rows| {
            for (k, row) in rows.chunks_exact_mut(width).enumerate() {
                let i = start + place / width + k;
                copy_joined(data, y, i, row);
                let root = data.weight(i).sqrt();
                row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = root * (*x - mean));
            }
        });
        let rows = MatRef::row_major(rows, end - start, width)?;
        run.par_fill(&mut panels, 1, |_, panels| panels.iter_mut().for_each(|p| p.add(rows)));
    }
    let scatter = assembled(&panels, width);
    let rest = vec![0.0; width];
    Ok(Moments { rows: data.nrows() as u64, weight, ln_weight, mean, rest, scatter })
}

fn copy_joined(data: &Dataset, y: MatRef, i: usize, out: &mut [f64]) {
    let (inputs, outputs) = out.split_at_mut(data.x.ncols());
    data.x.values().copy_row(i, inputs);
    y.copy_row(i, outputs);
}

/// Means as the first row plus mean differences from it: exact for constant columns.
fn means(data: &Dataset, y: MatRef, weight: f64, run: &Context) -> Vec<f64> {
    let width = data.x.ncols() + y.ncols();
    let mut first = vec![0.0; width];
    copy_joined(data, y, 0, &mut first);
    let sums = run.par_ranges(data.nrows(), ROWS, |range| {
        let (mut sums, mut row) = (vec![0.0; width], vec![0.0; width]);
        for i in range {
            copy_joined(data, y, i, &mut row);
            let weight = data.weight(i);
            for ((sum, x), first) in sums.iter_mut().zip(&row).zip(&first) {
                *sum += weight * (x - first);
            }
        }
        sums
    });
    for part in sums {
        first.iter_mut().zip(part).for_each(|(mean, part)| *mean += part / weight);
    }
    first
}

impl Panel {
    fn new(first: usize, width: usize) -> Panel {
        let last = (first + PANEL).min(width);
        Panel { first, last, sums: vec![0.0; (width - first) * (last - first)] }
    }

    fn add(&mut self, rows: MatRef) {
        let later = rows.columns(self.first, rows.ncols()).transposed();
        let own = rows.columns(self.first, self.last);
        matmul_into(&mut self.sums, true, 1.0, later, own);
    }
}

/// The whole symmetric matrix.
fn assembled(panels: &[Panel], width: usize) -> Matrix {
    let mut out = Matrix::zeros(width, width);
    for panel in panels {
        let own = panel.last - panel.first;
        for (k, sums) in panel.sums.chunks_exact(own).enumerate() {
            let i = panel.first + k;
            let within = own.min(k + 1);
            out.row_mut(i)[panel.first..panel.first + within].copy_from_slice(&sums[..within]);
        }
        for (k, j) in (panel.first..panel.last).enumerate() {
            let below = panel.sums.chunks_exact(own).skip(k + 1).map(|sums| sums[k]);
            out.row_mut(j)[j + 1..].iter_mut().zip(below).for_each(|(out, sum)| *out = sum);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    #[test]
    fn columns_and_rows_give_the_same_moments_on_any_number_of_threads() {
        let mut rng = Context::default().rng(1);
        for (n, d) in [(1500, 130), (40, 63), (3, 64)] {
            let x = Matrix::from_fn(n, d, |_, j| match j {
                3 => 0.1,
                _ => 1e3 * j as f64 + standard_normal(&mut rng),
            });
            let y = (0..n).map(|i| i as f64).collect();
            let weights = Some((0..n).map(|i| 1.0 + (i % 3) as f64).collect());
            let data = OwnedDataset { weights, ..OwnedDataset::regression(x, y) };
            for centred in [true, false] {
                let run = Context::default();
                let one = moments(&data.view(), centred, &run.with_threads(1)).unwrap();
                let two = moments(&data.view(), centred, &run.with_threads(2)).unwrap();
                assert_eq!(one.scatter, two.scatter);
                let blocks = Moments::of(&data.view(), centred).unwrap();
                assert_eq!((one.rows, one.weight), (blocks.rows, blocks.weight));
                for (i, (a, b)) in
                    one.scatter.as_slice().iter().zip(blocks.scatter.as_slice()).enumerate()
                {
                    let scale = (blocks.scatter[(i / (d + 1), i / (d + 1))]
                        * blocks.scatter[(i % (d + 1), i % (d + 1))])
                        .sqrt();
                    assert!((a - b).abs() <= 1e-9 * scale, "{a} {b}");
                }
                assert!(!centred || one.scatter[(3, 3)] == 0.0);
            }
        }
    }
}
