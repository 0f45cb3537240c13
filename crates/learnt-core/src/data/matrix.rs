//! Dense matrices: an owned row-major one, and views of any layout.

use crate::error::{Error, Result};
use std::ops::Range;

/// A dense matrix of `f64`, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    nrows: usize,
    ncols: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(nrows: usize, ncols: usize) -> Self {
        Matrix { nrows, ncols, values: vec![0.0; nrows * ncols] }
    }

    /// From values row by row; the count must be `nrows * ncols`.
    pub fn from_vec(nrows: usize, ncols: usize, values: Vec<f64>) -> Result<Self> {
        match nrows.checked_mul(ncols) {
            Some(count) if count == values.len() => Ok(Matrix { nrows, ncols, values }),
            _ => Err(Error::shape("matrix", format!("{nrows} x {ncols} values"), values.len())),
        }
    }

    /// From a function of row and column.
    pub fn from_fn(nrows: usize, ncols: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(nrows * ncols);
        for i in 0..nrows {
            values.extend((0..ncols).map(|j| value(i, j)));
        }
        Matrix { nrows, ncols, values }
    }

    /// From rows of equal length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let ncols = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * ncols);
        for row in rows {
            if row.as_ref().len() != ncols {
                return Err(Error::shape("row", format!("{ncols} values"), row.as_ref().len()));
            }
            values.extend_from_slice(row.as_ref());
        }
        Ok(Matrix { nrows: rows.len(), ncols, values })
    }

    /// One column.
    pub fn column_vector(values: Vec<f64>) -> Self {
        Matrix { nrows: values.len(), ncols: 1, values }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// A view of it all.
    pub fn view(&self) -> MatRef<'_> {
        MatRef {
            values: &self.values,
            nrows: self.nrows,
            ncols: self.ncols,
            row_stride: self.ncols,
            col_stride: 1,
        }
    }

    /// A row.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.ncols..(i + 1) * self.ncols]
    }

    /// A row to write to.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.ncols..(i + 1) * self.ncols]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.nrows).map(|i| self.row(i))
    }

    /// A column, copied.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.nrows).map(|i| self[(i, j)]).collect()
    }

    /// All values, row by row.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// All values, row by row, to write to.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All values, row by row, given away.
    pub fn into_vec(self) -> Vec<f64> {
        self.values
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.ncols, self.nrows, |i, j| self[(j, i)])
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.ncols);
        &self.values[i * self.ncols + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.ncols);
        &mut self.values[i * self.ncols + j]
    }
}

/// A view of a matrix with any row and column stride, so that arrays of other programs are read in
/// place.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a> {
    values: &'a [f64],
    nrows: usize,
    ncols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a> MatRef<'a> {
    /// A view of `values` where element (i, j) is at `i * row_stride + j * col_stride`.
    pub fn strided(
        values: &'a [f64],
        nrows: usize,
        ncols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Result<Self> {
        let last = |count: usize, stride: usize| count.saturating_sub(1).checked_mul(stride);
        let needed = match nrows == 0 || ncols == 0 {
            true => Some(0),
            false => last(nrows, row_stride)
                .zip(last(ncols, col_stride))
                .and_then(|(rows, cols)| rows.checked_add(cols)?.checked_add(1)),
        };
        match needed {
            Some(needed) if needed <= values.len() => {
                Ok(MatRef { values, nrows, ncols, row_stride, col_stride })
            }
            _ => Err(Error::shape("view", format!("{nrows} x {ncols} values"), values.len())),
        }
    }

    /// A view of values stored row by row.
    pub fn row_major(values: &'a [f64], nrows: usize, ncols: usize) -> Result<Self> {
        Self::strided(values, nrows, ncols, ncols, 1)
    }

    /// A view of values stored column by column.
    pub fn column_major(values: &'a [f64], nrows: usize, ncols: usize) -> Result<Self> {
        Self::strided(values, nrows, ncols, 1, nrows)
    }

    /// A view of one column of contiguous values.
    pub fn from_column(values: &'a [f64]) -> Self {
        MatRef { values, nrows: values.len(), ncols: 1, row_stride: 1, col_stride: values.len() }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Distance in memory between neighbours in a column.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Distance in memory between neighbours in a row.
    pub fn col_stride(&self) -> usize {
        self.col_stride
    }

    /// The memory behind the view, from its first element on.
    pub fn memory(&self) -> &'a [f64] {
        self.values
    }

    /// The element in row `i`, column `j`.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        debug_assert!(i < self.nrows && j < self.ncols);
        self.values[i * self.row_stride + j * self.col_stride]
    }

    /// A row, if its values are neighbours in memory.
    #[inline]
    pub fn row_slice(&self, i: usize) -> Option<&'a [f64]> {
        let start = i * self.row_stride;
        (self.col_stride == 1 || self.ncols == 1).then(|| &self.values[start..start + self.ncols])
    }

    /// A column, if its values are neighbours in memory.
    #[inline]
    pub fn column_slice(&self, j: usize) -> Option<&'a [f64]> {
        let start = j * self.col_stride;
        (self.row_stride == 1 || self.nrows == 1).then(|| &self.values[start..start + self.nrows])
    }

    /// Copies a row.
    pub fn copy_row(&self, i: usize, out: &mut [f64]) {
        match self.row_slice(i) {
            Some(row) => out.copy_from_slice(row),
            None => (0..self.ncols).for_each(|j| out[j] = self.at(i, j)),
        }
    }

    /// Copies a column.
    pub fn copy_column(&self, j: usize, out: &mut [f64]) {
        match self.column_slice(j) {
            Some(column) => out.copy_from_slice(column),
            None => (0..self.nrows).for_each(|i| out[i] = self.at(i, j)),
        }
    }

    /// A column as a new vector.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.nrows];
        self.copy_column(j, &mut out);
        out
    }

    /// Rows `start..end`.
    #[must_use]
    #[inline]
    pub fn rows(&self, start: usize, end: usize) -> MatRef<'a> {
        debug_assert!(start <= end && end <= self.nrows);
        let offset = (start * self.row_stride).min(self.values.len());
        MatRef { values: &self.values[offset..], nrows: end - start, ..*self }
    }

    /// Columns `start..end`.
    #[must_use]
    pub fn columns(&self, start: usize, end: usize) -> MatRef<'a> {
        debug_assert!(start <= end && end <= self.ncols);
        let offset = (start * self.col_stride).min(self.values.len());
        MatRef { values: &self.values[offset..], ncols: end - start, ..*self }
    }

    /// Rows and columns exchanged, without a copy.
    #[must_use]
    pub fn transposed(&self) -> MatRef<'a> {
        MatRef {
            values: self.values,
            nrows: self.ncols,
            ncols: self.nrows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
        }
    }

    /// A copy, row by row. Walks the source in its own memory order.
    pub fn to_matrix(&self) -> Matrix {
        let mut out = Matrix::zeros(self.nrows, self.ncols);
        self.write_rows(out.as_mut_slice());
        out
    }

    /// Copies all rows, one after the other, into `out`.
    pub fn write_rows(&self, out: &mut [f64]) {
        /// Rows that stay in the near cache, and columns that are turned at once.
        const TILE: usize = 64;
        const TOGETHER: usize = 4;
        if self.col_stride == 1 {
            if self.row_stride == self.ncols {
                let count = self.nrows * self.ncols;
                return out[..count].copy_from_slice(&self.values[..count]);
            }
            for i in 0..self.nrows {
                self.copy_row(i, &mut out[i * self.ncols..(i + 1) * self.ncols]);
            }
            return;
        }
        let width = self.ncols.max(1);
        for (t, out) in out.chunks_mut(TILE * width).enumerate() {
            let tile = self.rows(t * TILE, (t * TILE + TILE).min(self.nrows));
            for first in (0..self.ncols).step_by(TOGETHER) {
                let columns: [Option<&[f64]>; TOGETHER] =
                    std::array::from_fn(|k| tile.column_slice((first + k).min(width - 1)));
                match columns {
                    [Some(a), Some(b), Some(c), Some(d)] if first + TOGETHER <= width => {
                        let columns = a.iter().zip(b).zip(c.iter().zip(d));
                        for (row, ((a, b), (c, d))) in out.chunks_exact_mut(width).zip(columns) {
                            row[first..first + TOGETHER].copy_from_slice(&[*a, *b, *c, *d]);
                        }
                    }
                    _ => tile.write_columns(first..(first + TOGETHER).min(width), out),
                }
            }
        }
    }

    /// Copies some columns into rows that stand one after the other.
    fn write_columns(&self, columns: Range<usize>, out: &mut [f64]) {
        for (i, row) in out.chunks_exact_mut(self.ncols).enumerate() {
            columns.clone().for_each(|j| row[j] = self.at(i, j));
        }
    }

    /// A copy of the chosen rows, in the given order.
    pub fn gather_rows(&self, rows: &[usize]) -> Matrix {
        let mut out = Matrix::zeros(rows.len(), self.ncols);
        for (to, &from) in rows.iter().enumerate() {
            self.copy_row(from, out.row_mut(to));
        }
        out
    }

    /// A copy of the chosen columns, in the given order.
    pub fn gather_columns(&self, columns: &[usize]) -> Matrix {
        Matrix::from_fn(self.nrows, columns.len(), |i, j| self.at(i, columns[j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_from_any_layout() {
        for (n, d) in [(1, 1), (3, 4), (130, 3), (67, 9), (5, 0)] {
            let x = Matrix::from_fn(n, d, |i, j| (100 * i + j) as f64);
            let turned = x.transposed();
            let wide = Matrix::from_fn(n, 2 * d, |i, j| (100 * i + j / 2) as f64);
            let with_gaps = wide.transposed();
            let gaps = MatRef::strided(with_gaps.as_slice(), n, d, 1, 2 * n).unwrap();
            for view in [x.view(), turned.view().transposed(), gaps] {
                let mut out = vec![-1.0; n * d];
                view.write_rows(&mut out);
                assert_eq!(out, x.as_slice());
            }
        }
    }

    #[test]
    fn row_and_column_major_views_agree() {
        let by_row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let by_column = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let a = MatRef::row_major(&by_row, 2, 3).unwrap();
        let b = MatRef::column_major(&by_column, 2, 3).unwrap();
        assert_eq!(a.to_matrix(), b.to_matrix());
        assert_eq!(a.rows(1, 2).to_matrix(), b.rows(1, 2).to_matrix());
        assert_eq!(a.columns(1, 3).to_matrix(), b.columns(1, 3).to_matrix());
        assert_eq!(a.transposed().to_matrix(), b.to_matrix().transposed());
    }

    #[test]
    fn a_view_outside_its_memory_is_refused() {
        assert!(MatRef::row_major(&[1.0; 5], 2, 3).is_err());
        assert!(MatRef::strided(&[1.0; 5], usize::MAX, 2, usize::MAX, 1).is_err());
    }
}
