//! Sums, smallest and largest values of the columns of rows that stand one after the other.
//!
//! Columns are taken in groups as wide as some vectors, whose sums stay in registers while the rows pass by. Every
//! column is summed row after row, so that bits do not depend on the groups.

/// Sums, smallest and largest values of columns. What is missing or infinite shows in the sum of its column.
#[derive(Clone)]
pub(crate) struct ColumnSums {
    pub(crate) sum: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl ColumnSums {
    /// Of no rows.
    pub(crate) fn new(width: usize) -> ColumnSums {
        ColumnSums {
            sum: vec![0.0; width],
            low: vec![f64::INFINITY; width],
            high: vec![f64::NEG_INFINITY; width],
        }
    }

    /// Adds rows, each times its weight.
    #[inline(always)]
    pub(crate) fn add(&mut self, rows: &[f64], weights: Option<&[f64]>) {
        match weights {
            None => self.add_by(rows, |_| 1.0),
            Some(weights) => self.add_by(rows, |i| weights[i]),
        }
    }

    #[inline(always)]
    fn add_by(&mut self, rows: &[f64], weight: impl Fn(usize) -> f64) {
        let width = self.sum.len();
        in_groups(
            width,
            #[inline(always)]
            |first, group| match group {
                16 => self.add_group::<16>(rows, first, &weight),
                8 => self.add_group::<8>(rows, first, &weight),
                4 => self.add_group::<4>(rows, first, &weight),
                _ => self.add_group::<1>(rows, first, &weight),
            },
        );
    }

    #[inline(always)]
    fn add_group<const G: usize>(
        &mut self,
        rows: &[f64],
        first: usize,
        weight: &impl Fn(usize) -> f64,
    ) {
        let width = self.sum.len();
        let sum = load::<G>(&self.sum, first);
        let (low, high) = (load::<G>(&self.low, first), load::<G>(&self.high, first));
        let (mut sum, mut low, mut high) = (sum, low, high);
        for (i, row) in rows.chunks_exact(width).enumerate() {
            let (x, weight) = (load::<G>(row, first), weight(i));
            for k in 0..G {
                sum[k] += weight * x[k];
                low[k] = if x[k] < low[k] { x[k] } else { low[k] };
                high[k] = if x[k] > high[k] { x[k] } else { high[k] };
            }
        }
        self.sum[first..first + G].copy_from_slice(&sum);
        self.low[first..first + G].copy_from_slice(&low);
        self.high[first..first + G].copy_from_slice(&high);
    }
}

/// Adds w (x - m)² to the squares and w (x - m) to the drift of each column, m its mean.
#[inline(always)]
pub(crate) fn add_differences(
    rows: &[f64],
    weights: Option<&[f64]>,
    mean: &[f64],
    squares: &mut [f64],
    drift: &mut [f64],
) {
    match weights {
        None => add_differences_by(rows, |_| 1.0, mean, squares, drift),
        Some(weights) => add_differences_by(rows, |i| weights[i], mean, squares, drift),
    }
}

#[inline(always)]
fn add_differences_by(
    rows: &[f64],
    weight: impl Fn(usize) -> f64,
    mean: &[f64],
    squares: &mut [f64],
    drift: &mut [f64],
) {
    in_groups(
        mean.len(),
        #[inline(always)]
        |first, group| match group {
            16 => group_differences::<16>(rows, first, &weight, mean, squares, drift),
            8 => group_differences::<8>(rows, first, &weight, mean, squares, drift),
            4 => group_differences::<4>(rows, first, &weight, mean, squares, drift),
            _ => group_differences::<1>(rows, first, &weight, mean, squares, drift),
        },
    );
}

#[inline(always)]
fn group_differences<const G: usize>(
    rows: &[f64],
    first: usize,
    weight: &impl Fn(usize) -> f64,
    mean: &[f64],
    squares: &mut [f64],
    drift: &mut [f64],
) {
    let middle = load::<G>(mean, first);
    let (mut square, mut sum) = (load::<G>(squares, first), load::<G>(drift, first));
    for (i, row) in rows.chunks_exact(mean.len()).enumerate() {
        let (x, weight) = (load::<G>(row, first), weight(i));
        for k in 0..G {
            let difference = x[k] - middle[k];
            square[k] += weight * difference * difference;
            sum[k] += weight * difference;
        }
    }
    squares[first..first + G].copy_from_slice(&square);
    drift[first..first + G].copy_from_slice(&sum);
}

/// Calls `f` with the first column and the size of each group.
#[inline(always)]
fn in_groups(width: usize, mut f: impl FnMut(usize, usize)) {
    let mut first = 0;
    while first < width {
        let group = match width - first {
            16.. => 16,
            8.. => 8,
            4.. => 4,
            _ => 1,
        };
        f(first, group);
        first += group;
    }
}

/// Some neighbours.
#[inline(always)]
fn load<const G: usize>(values: &[f64], first: usize) -> [f64; G] {
    values[first..].first_chunk::<G>().copied().unwrap_or([0.0; G])
}
