//! A uniform grid over few columns: cells so small that any two rows of one are within the radius.
//!
//! Rows are sorted by cell, cells by their coordinates, the last one fastest. Rows within the radius
//! of a row lie in cells at most `reach` steps away along each column; cells that differ in the last
//! coordinate alone are neighbours in the order, so that they are one range of rows. Cells are a
//! millionth smaller than the radius over √d, more than the rounding of coordinates.

use learnt_core::prelude::*;
use std::ops::Range;

/// Columns for which there may be a grid.
const MOST_COLUMNS: usize = 3;

/// Cells along a column at most: coordinates stay exact to a millionth of a cell.
const MOST_CELLS: f64 = 1_048_576.0;

/// Rows sorted by cell.
#[derive(Clone, Debug)]
pub struct Grid {
    reach: u64,
    /// The row at each place.
    order: Vec<u32>,
    /// Columns in the order of places.
    columns: Vec<Vec<f64>>,
    /// The first place of each cell, and the end.
    starts: Vec<u32>,
    /// The coordinates of each cell as one number.
    keys: Vec<u64>,
}

/// Bits of a coordinate in a key; there is room for `reach` beyond both ends.
const BITS: u32 = 21;
/// Coordinates begin here, so that those below them are not negative.
const ORIGIN: u64 = 8;

impl Grid {
    /// Over finite rows; none where there are too many columns, or cells beyond what is exact.
    pub fn new(x: MatRef, radius: f64, run: &Context) -> Result<Option<Grid>> {
        let (n, width) = (x.nrows(), x.ncols());
        if width == 0 || width > MOST_COLUMNS || n == 0 || n >= u32::MAX as usize {
            return Ok(None);
        }
        run.claim((n * (28 + 8 * width)) as u64, "the grid")?;
        let side = radius / (width as f64).sqrt() * (1.0 - 1e-6);
        let columns: Vec<Vec<f64>> = (0..width).map(|j| x.column(j)).collect();
        let mut keyed: Vec<(u64, u32)> = (0..n as u32).map(|i| (0, i)).collect();
        for column in &columns {
            let low = column.iter().copied().fold(f64::INFINITY, f64::min);
            let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let cells = (high - low) / side;
            if cells.is_nan() || cells >= MOST_CELLS {
                return Ok(None);
            }
            for (key, &value) in keyed.iter_mut().zip(column) {
                key.0 = key.0 << BITS | (((value - low) / side) as u64 + ORIGIN);
            }
        }
        sort(&mut keyed, run);
        let columns = columns
            .iter()
            .map(|column| keyed.iter().map(|&(_, row)| column[row as usize]).collect())
            .collect();
        let (mut starts, mut keys) = (Vec::new(), Vec::new());
        for (place, &(key, _)) in keyed.iter().enumerate() {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(place as u32);
            }
        }
        starts.push(n as u32);
        let order = keyed.into_iter().map(|(_, row)| row).collect();
        let reach = (radius / side + 1e-5) as u64 + 1;
        Ok(Some(Grid { reach, order, columns, starts, keys }))
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.keys.len()
    }

    /// The row at each place.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The places of a cell.
    pub fn places(&self, cell: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// A column in the order of places.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.columns[j]
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// A walk over cells in order from this one on.
    pub fn walk(&self, from: usize) -> Walk<'_> {
        let reach = self.reach as i64;
        let mut offsets = vec![0_i64];
        for _ in 1..self.width() {
            offsets = offsets
                .iter()
                .flat_map(|&offset| {
                    (-reach..=reach).map(move |step| (offset << BITS) + (step << BITS))
                })
                .collect();
        }
        let ranges = vec![0..0; offsets.len()];
        let mut walk = Walk { grid: self, offsets, ranges, started: false };
        walk.go(from);
        walk
    }
}

/// The cells around one cell, as ranges of cells; steps to later cells are cheap.
pub struct Walk<'a> {
    grid: &'a Grid,
    offsets: Vec<i64>,
    ranges: Vec<Range<usize>>,
    started: bool,
}

impl Walk<'_> {
    /// Moves on to a later cell.
    pub fn go(&mut self, cell: usize) {
        let keys = &self.grid.keys;
        let Some(&key) = keys.get(cell) else { return };
        for (&offset, range) in self.offsets.iter().zip(&mut self.ranges) {
            let middle = key.wrapping_add_signed(offset);
            let (low, high) = (middle - self.grid.reach, middle + self.grid.reach);
            if !self.started {
                range.start = keys.partition_point(|&key| key < low);
                range.end = range.start;
            }
            while range.start < keys.len() && keys[range.start] < low {
                range.start += 1;
            }
            range.end = range.end.max(range.start);
            while range.end < keys.len() && keys[range.end] <= high {
                range.end += 1;
            }
        }
        self.started = true;
    }

    /// Ranges of cells that may hold rows within the radius, none empty.
    pub fn cells(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.ranges.iter().filter(|range| !range.is_empty()).cloned()
    }

    /// The same as ranges of places.
    pub fn places(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = &self.grid.starts;
        self.cells().map(|cells| starts[cells.start] as usize..starts[cells.end] as usize)
    }
}

/// Sorts pieces on all threads and merges them; all pairs differ, so there is one result.
fn sort(pairs: &mut [(u64, u32)], run: &Context) {
    const PIECE: usize = 131_072;
    if pairs.len() <= 2 * PIECE {
        pairs.sort_unstable();
        return;
    }
    run.par_fill(pairs, PIECE, |_, piece| piece.sort_unstable());
    // A stable sort finds the sorted pieces and merges them.
    pairs.sort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_around_a_cell_hold_all_rows_within_the_radius() {
        let run = Context::default();
        for width in 1..=3 {
            let x = Matrix::from_fn(400, width, |i, j| ((i * (3 + j)) as f64 * 0.37).sin() * 5.0);
            let grid = Grid::new(x.view(), 0.8, &run).unwrap().unwrap();
            let mut walk = grid.walk(0);
            for cell in 0..grid.cells() {
                walk.go(cell);
                let around: Vec<usize> = walk.places().flatten().collect();
                for place in grid.places(cell) {
                    let own = x.row(grid.order()[place] as usize);
                    for (other, &row) in grid.order().iter().enumerate() {
                        let near = learnt_core::linalg::squared_distance(own, x.row(row as usize));
                        assert!(near.sqrt() > 0.8 || around.contains(&other));
                    }
                }
                for other in grid.places(cell) {
                    let a = x.row(grid.order()[other] as usize);
                    let b = x.row(grid.order()[grid.places(cell).start] as usize);
                    assert!(learnt_core::linalg::squared_distance(a, b).sqrt() <= 0.8);
                }
            }
        }
    }

    #[test]
    fn a_walk_from_the_middle_is_the_walk_from_the_start() {
        let x = Matrix::from_fn(500, 2, |i, j| ((i * (3 + j)) as f64 * 0.37).sin() * 9.0);
        let grid = Grid::new(x.view(), 0.5, &Context::default()).unwrap().unwrap();
        let mut walk = grid.walk(0);
        for cell in 0..grid.cells() {
            walk.go(cell);
            let from_here: Vec<Range<usize>> = grid.walk(cell).cells().collect();
            assert_eq!(walk.cells().collect::<Vec<_>>(), from_here);
        }
    }

    #[test]
    fn cells_beyond_what_is_exact_have_no_grid() {
        let x = Matrix::column_vector(vec![0.0, 1e9]);
        assert!(Grid::new(x.view(), 1e-3, &Context::default()).unwrap().is_none());
        assert!(Grid::new(Matrix::zeros(5, 4).view(), 1.0, &Context::default()).unwrap().is_none());
    }
}
