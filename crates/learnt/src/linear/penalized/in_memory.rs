//! Moments of a table in memory, for many columns: cut by columns of the result instead of rows, so
//! that no thread keeps a matrix of its own and nothing is merged.
//!
//! Means first, then products of centred rows.

use crate::linear::least_squares::{Moments, copy_joined};
use learnt_core::linalg::ColumnProducts;
use learnt_core::prelude::*;

/// From this many columns on, cutting by columns is faster than by rows.
pub(super) const MANY: usize = 256;
/// Rows that are packed at a time.
const ROWS: usize = 512;

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
    let mut products = ColumnProducts::new(width);
    for start in (0..data.nrows()).step_by(ROWS) {
        run.checkpoint()?;
        let rows = ROWS.min(data.nrows() - start);
        let fill = |k: usize, row: &mut [f64]| {
            copy_joined(data, y, start + k, row);
            let root = data.weight(start + k).sqrt();
            row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = root * (*x - mean));
        };
        products.add(rows, fill, run);
    }
    let scatter = products.finish();
    let rest = vec![0.0; width];
    Ok(Moments { rows: data.nrows() as u64, weight, ln_weight, mean, rest, scatter, single: false })
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
