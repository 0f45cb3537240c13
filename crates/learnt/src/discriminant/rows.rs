//! Tables with no more rows than columns: the rows themselves instead of products of columns.
//!
//! With Z the rows less their class means, over √(N - K) and the deviations of the columns, the
//! correlation within classes is ZᵀZ. Its eigenvectors other than null are Zᵀu/√λ for those u of
//! ZZᵀ, which has as many rows as the table: n²p + n³ steps and n p numbers, not n p² + p³ and p².

use super::scatter::ClassScatter;
use super::sphering::floor;
use learnt_core::linalg::{add_scaled, eigh, matmul_in, row_products_in};
use learnt_core::prelude::*;

/// Whether products of rows cost less than products of columns.
pub(super) fn is_wide(rows: u64, columns: usize) -> bool {
    rows <= columns as u64
}

/// All rows.
#[derive(Stored, Clone, Debug)]
pub struct ClassRows {
    codes: Vec<u32>,
    weights: Vec<f64>,
    values: Matrix,
}

impl ClassRows {
    /// The rows of one block.
    pub(super) fn of(data: &Dataset) -> Result<ClassRows> {
        let (codes, _) = data.class_target()?;
        Ok(ClassRows {
            codes: codes.to_vec(),
            weights: (0..codes.len()).map(|i| data.weight(i)).collect(),
            values: data.x.values().to_matrix(),
        })
    }

    /// Rows, weights and means of the classes, without a scatter. A mean is the first row plus the
    /// mean difference from it: exact for columns that are constant in a class.
    pub(super) fn means(&self, classes: usize) -> ClassScatter {
        let columns = self.values.ncols();
        let mut out = ClassScatter {
            rows: vec![0; classes],
            weight: vec![0.0; classes],
            mean: Matrix::zeros(classes, columns),
            scatter: Vec::new(),
        };
        let mut sums = Matrix::zeros(classes, columns);
        for ((&code, &weight), row) in self.codes.iter().zip(&self.weights).zip(self.values.rows())
        {
            let k = code as usize;
            if weight <= 0.0 {
                continue;
            }
            if out.rows[k] == 0 {
                out.mean.row_mut(k).copy_from_slice(row);
            }
            out.rows[k] += 1;
            out.weight[k] += weight;
            let origin = out.mean.row(k);
            for ((sum, x), origin) in sums.row_mut(k).iter_mut().zip(row).zip(origin) {
                *sum += weight * (x - origin);
            }
        }
        for k in (0..classes).filter(|&k| out.rows[k] > 0) {
            add_scaled(out.mean.row_mut(k), out.weight[k].recip(), sums.row(k));
        }
        out
    }

    /// Directions (rank × n_features) on which the covariance within classes is the identity, of
    /// singular values above `tol` in scaled columns, the largest first.
    pub(super) fn sphering(&self, all: &ClassScatter, tol: f64, run: &Context) -> Result<Matrix> {
        let (n, p) = (self.values.nrows(), self.values.ncols());
        let mut z = self.values.clone();
        let mut squares = vec![0.0; p];
        for i in 0..n {
            let root = (self.weights[i] / all.freedom()).sqrt();
            let mean = all.mean.row(self.codes[i] as usize);
            for ((z, mean), square) in z.row_mut(i).iter_mut().zip(mean).zip(&mut squares) {
                *z = root * (*z - mean);
                *square += *z * *z;
            }
        }
        let invert = |square: f64| if square > 0.0 { square.sqrt().recip() } else { 0.0 };
        let scales: Vec<f64> = squares.into_iter().map(invert).collect();
        for i in 0..n {
            z.row_mut(i).iter_mut().zip(&scales).for_each(|(z, scale)| *z *= scale);
        }
        let eigen = eigh(&row_products_in(z.view(), run)?)?;
        run.checkpoint()?;
        let rank = eigen.values.iter().take_while(|&&value| value > floor(tol, p)).count();
        let mut out = matmul_in(eigen.vectors.view().columns(0, rank).transposed(), z.view(), run)?;
        for (k, value) in eigen.values[..rank].iter().enumerate() {
            out.row_mut(k).iter_mut().zip(&scales).for_each(|(v, scale)| *v *= scale / value);
        }
        Ok(out)
    }
}

impl Merge for ClassRows {
    fn merge(mut self, later: Self) -> Result<Self> {
        self.codes.extend(later.codes);
        self.weights.extend(later.weights);
        let (rows, columns) = (self.codes.len(), self.values.ncols());
        let mut values = self.values.into_vec();
        values.extend(later.values.into_vec());
        Ok(ClassRows { values: Matrix::from_vec(rows, columns, values)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discriminant::sphering::Correlation;
    use learnt_core::linalg::matmul;
    use learnt_core::stats::sample::standard_normal;

    fn sample(n: usize, p: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(5);
        let x = Matrix::from_fn(n, p, |i, j| match j {
            1 => 0.1 + (i % 3) as f64,
            j => 100.0 + (1.0 + j as f64) * (standard_normal(&mut rng) + (i % 3) as f64),
        });
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % 3) as i64)).collect();
        let weights = (0..n).map(|i| f64::from(1 + i as u32 % 2)).collect();
        OwnedDataset { weights: Some(weights), ..OwnedDataset::classification(x, &labels) }
    }

    #[test]
    fn rows_and_columns_span_the_same_sphere_on_both_sides_of_the_crossover() {
        for (n, p) in [(20, 19), (20, 20), (20, 21), (12, 40)] {
            let (data, run) = (sample(n, p), Context::default());
            let scatter = ClassScatter::of(&data.view(), false).unwrap();
            let by_columns = Correlation::new(&scatter.pooled()).sphering(1e-4).unwrap();
            let rows = ClassRows::of(&data.view()).unwrap();
            let by_rows = rows.sphering(&rows.means(3), 1e-4, &run).unwrap();
            assert_eq!(by_rows.nrows(), by_columns.nrows());
            let inverse = |w: &Matrix| matmul(w.view().transposed(), w.view());
            let (a, b) = (inverse(&by_rows), inverse(&by_columns));
            for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
                assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{n} x {p}: {a} {b}");
            }
        }
    }

    #[test]
    fn the_crossover_is_where_rows_are_as_many_as_columns() {
        assert!(is_wide(20, 20) && !is_wide(21, 20));
    }
}
