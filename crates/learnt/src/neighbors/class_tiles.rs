//! Sums of classes about centres, by tiles of rows and columns on all threads.
//!
//! Tiles of rows are added up in order, so that bits are the same on any number of threads; their height decides the
//! last digits of tables of more rows.

use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Rows of a tile.
const HEIGHT: usize = 8192;

/// Columns of a tile.
const WIDTH: usize = 64;

/// The rows, their classes and their shares of the weight, to be summed by tiles.
pub(super) struct Tiles<'a> {
    pub(super) x: MatRef<'a>,
    pub(super) codes: &'a [u32],
    pub(super) members: &'a [Vec<usize>],
    pub(super) shares: &'a [f64],
}

/// Sums by shares of the weight, of each column about the value of the first row of a class.
pub(super) struct Sums {
    /// The first row of each class.
    bases: Matrix,
    /// Σ share (x - base) of each class.
    classes: Matrix,
    /// The first row, and Σ share (x - first) over all rows.
    first: Vec<f64>,
    all: Vec<f64>,
    /// Whether any column has two values.
    pub(super) varies: bool,
}

impl Sums {
    /// The mean of each class, whose weights are these.
    pub(super) fn centres(&self, weights: &[f64]) -> Matrix {
        Matrix::from_fn(self.bases.nrows(), self.bases.ncols(), |k, j| {
            self.bases[(k, j)] + self.classes[(k, j)] / weights[k]
        })
    }

    pub(super) fn overall(&self) -> Vec<f64> {
        self.first.iter().zip(&self.all).map(|(first, sum)| first + sum).collect()
    }
}

impl Tiles<'_> {
    /// Calls `f` with the first column, the first row and the values of each tile, which are row by row. The results
    /// come with the first column, tiles of the same columns in the order of their rows.
    fn each<T: Send>(
        &self,
        run: &Context,
        f: impl Fn(usize, usize, MatRef) -> T + Sync,
    ) -> Result<Vec<(usize, T)>> {
        let (n, p) = (self.x.nrows(), self.x.ncols());
        let heights = n.div_ceil(HEIGHT);
        let out = run.par_map(p.div_ceil(WIDTH) * heights, |tile| {
            let (left, top) = (tile / heights * WIDTH, tile % heights * HEIGHT);
            let (right, end) = ((left + WIDTH).min(p), (top + HEIGHT).min(n));
            let values = self.x.columns(left, right).rows(top, end);
            let found = match values.col_stride() == 1 {
                true => f(left, top, values),
                false => f(left, top, values.to_matrix().view()),
            };
            (left, found)
        });
        run.checkpoint()?;
        Ok(out)
    }

    pub(super) fn sums(&self, run: &Context) -> Result<Sums> {
        let (classes, p) = (self.members.len(), self.x.ncols());
        let bases: Vec<usize> = self.members.iter().map(|rows| rows[0]).collect();
        let bases = self.x.gather_rows(&bases);
        let first = self.x.gather_rows(&[0]).into_vec();
        let parts = self.each(run, |left, top, values| {
            vectorized!(self.sums_of_tile(&bases, &first, (left, top), values))
        })?;
        let mut sums = Matrix::zeros(classes + 1, p);
        let mut varies = false;
        for (left, (part, differ)) in parts {
            varies |= differ;
            for (k, part) in part.rows().enumerate() {
                add(&mut sums.row_mut(k)[left..], part);
            }
        }
        let all = sums.row(classes).to_vec();
        let classes = sums.view().rows(0, classes).to_matrix();
        Ok(Sums { bases, classes, first, all, varies })
    }

    /// The sums of each class and, last, of all rows, and whether any value differs from the first row's.
    #[inline(always)]
    fn sums_of_tile(
        &self,
        bases: &Matrix,
        first: &[f64],
        (left, top): (usize, usize),
        values: MatRef,
    ) -> (Matrix, bool) {
        let (classes, width) = (bases.nrows(), values.ncols());
        let mut sums = Matrix::zeros(classes + 1, width);
        let mut differ = false;
        for i in 0..values.nrows() {
            let row = values.row_slice(i).unwrap_or_default();
            let (class, share) = (self.codes[top + i] as usize, self.shares[top + i]);
            let base = &bases.row(class)[left..left + width];
            for ((sum, x), base) in sums.row_mut(class).iter_mut().zip(row).zip(base) {
                *sum += share * (x - base);
            }
            for ((sum, x), first) in sums.row_mut(classes).iter_mut().zip(row).zip(&first[left..]) {
                *sum += share * (x - first);
                differ |= x != first;
            }
        }
        (sums, differ)
    }

    /// For each column a unit, about the largest difference from the centres so that no square overflows, and the sum
    /// by shares of the squared differences in that unit.
    pub(super) fn squares(&self, centres: &Matrix, run: &Context) -> Result<(Vec<f64>, Vec<f64>)> {
        let p = self.x.ncols();
        let mut units = vec![0.0_f64; p];
        let largest = self.each(run, |left, top, values| {
            vectorized!(self.largest_of_tile(centres, (left, top), values))
        })?;
        for (left, part) in largest {
            units[left..].iter_mut().zip(part).for_each(|(unit, part)| *unit = unit.max(part));
        }
        let scales: Vec<f64> =
            units.iter().map(|unit| if unit.is_normal() { unit.recip() } else { 1.0 }).collect();
        let parts = self.each(run, |left, top, values| {
            vectorized!(self.squares_of_tile(centres, &scales, (left, top), values))
        })?;
        let mut squares = vec![0.0; p];
        parts.iter().for_each(|(left, part)| add(&mut squares[*left..], part));
        Ok((units, squares))
    }

    #[inline(always)]
    fn largest_of_tile(
        &self,
        centres: &Matrix,
        (left, top): (usize, usize),
        values: MatRef,
    ) -> Vec<f64> {
        let mut largest = vec![0.0; values.ncols()];
        for i in 0..values.nrows() {
            let row = values.row_slice(i).unwrap_or_default();
            let centre = &centres.row(self.codes[top + i] as usize)[left..];
            for ((most, x), centre) in largest.iter_mut().zip(row).zip(centre) {
                let apart = (x - centre).abs();
                *most = if apart > *most { apart } else { *most };
            }
        }
        largest
    }

    #[inline(always)]
    fn squares_of_tile(
        &self,
        centres: &Matrix,
        scales: &[f64],
        (left, top): (usize, usize),
        values: MatRef,
    ) -> Vec<f64> {
        let mut squares = vec![0.0; values.ncols()];
        for i in 0..values.nrows() {
            let row = values.row_slice(i).unwrap_or_default();
            let centre = &centres.row(self.codes[top + i] as usize)[left..];
            let columns = row.iter().zip(centre).zip(&scales[left..]);
            for (sum, ((x, centre), scale)) in squares.iter_mut().zip(columns) {
                let apart = (x - centre) * scale;
                *sum += self.shares[top + i] * (apart * apart);
            }
        }
        squares
    }
}

fn add(sums: &mut [f64], part: &[f64]) {
    sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

#[cfg(test)]
mod tests {
    use super::super::NearestCentroid;
    use super::*;

    #[test]
    fn tables_of_several_tiles_have_the_centres_and_deviations_of_plain_sums_in_any_memory_order() {
        let (n, p) = (HEIGHT + 100, WIDTH + 3);
        let x = Matrix::from_fn(n, p, |i, j| {
            ((i * (3 + j)) as f64 * 0.37).sin() + 1e3 + (i % 3) as f64
        });
        let labels: Vec<Label> = (0..n).map(|i| ["a", "b", "c"][i % 3].into()).collect();
        let data = OwnedDataset::classification(x, &labels);
        let run = |threads| Context::default().with_threads(threads);
        let fit = |run: &Context| NearestCentroid::default().fit_in(&data.view(), run).unwrap();
        let (model, again) = (fit(&run(1)), fit(&run(3)));
        assert_eq!(model.centroids, again.centroids);
        assert_eq!(model.within_class_std_dev, again.within_class_std_dev);
        let x = data.x.values().view();
        let centre = |k: usize, j: usize| {
            let own = (k..n).step_by(3);
            own.clone().map(|i| x.at(i, j)).sum::<f64>() / own.count() as f64
        };
        for j in [0, 1, WIDTH - 1, WIDTH, p - 1] {
            let squares = (0..n).map(|i| (x.at(i, j) - centre(i % 3, j)).powi(2));
            let within = (squares.sum::<f64>() / (n - 3) as f64).sqrt();
            let found = model.within_class_std_dev.as_ref().unwrap()[j];
            assert!((found / within - 1.0).abs() < 1e-10, "{found} {within}");
            (0..3).for_each(|k| assert!((model.centroids[(k, j)] - centre(k, j)).abs() < 1e-9));
        }
        let codes: Vec<u32> = (0..n).map(|i| i as u32 % 3).collect();
        let members: Vec<Vec<usize>> = (0..3).map(|k| (k..n).step_by(3).collect()).collect();
        let shares = vec![1.0 / n as f64; n];
        let turned = x.to_matrix().transposed();
        let sums = [x, turned.view().transposed()].map(|x| {
            let tiles = Tiles { x, codes: &codes, members: &members, shares: &shares };
            tiles.sums(&run(2)).unwrap().classes
        });
        assert_eq!(sums[0], sums[1]);
    }
}
