//! What principal components and random projections lose, and how a covariance of two columns reads.
//!
//! The mean squared distance of rows from their projections on the first P principal components is the
//! sum of the variances left out (with the divisor of both alike). For two columns the first direction
//! is that of angle ½ atan2(2 c₁₂, c₁₁ - c₂₂). A projection that keeps all distances of m rows within 1 ± ε
//! changes the sum of squares of any partition of them by a factor in the same range, for it is a mean
//! of squared distances within clusters.
//!
//! K. Pearson (1901); C. Boutsidis, A. Zouzias and P. Drineas (2010), NIPS, 298-306.

use super::{GaussianRandomProjection, PCA, ProjectionTarget};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;

/// Rows of a table.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToReduce<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// Reconstruction error of principal components: what the first P of them lose, for every P.
#[derive(Params, Clone, Debug)]
pub struct ReconstructionError {
    /// Rows less this number divide the squares: 0 for a mean, 1 to compare with sample variances.
    #[param(default = 0.0, range = 0.0..=1.0)]
    pub ddof: f64,
}

/// Errors by the number of components.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Reconstruction {
    /// Number of components, from 0.
    pub components: Vec<u64>,
    /// Mean squared distance of the rows from their projections.
    pub error: Vec<f64>,
    /// Sum of the variances left out: the same by theory.
    pub left_out: Vec<f64>,
    /// Share of the variance that is kept.
    pub share: Vec<f64>,
}

impl Function for ReconstructionError {
    type Inputs<'a> = RowsToReduce<'a>;
    type Output = Reconstruction;
    const ABOUT: &'static Callable =
        &Callable::new("decomposition.reconstruction_error", FunctionKind::Analysis)
            .threads()
            .reference("Pearson (1901)");

    fn call(&self, given: RowsToReduce, run: &Context) -> Result<Reconstruction> {
        let n = given.x.nrows() as f64;
        if n < 2.0 {
            return Err(Error::new(Code::TooFew, "one row has no principal components"));
        }
        let data = OwnedDataset::unsupervised(given.x.to_matrix());
        let model = PCA::default().fit_in(&data.view(), run)?;
        let scores = model.transform_in(&data.x.frame(), run)?.into_parts().0;
        let divisor = n - self.ddof;
        let total: f64 = model.explained_variance.iter().sum::<f64>() * (n - 1.0) / divisor;
        let most = model.components.nrows();
        let mut rest: Vec<Vec<f64>> = data
            .x
            .values()
            .rows()
            .map(|row| row.iter().zip(&model.mean).map(|(x, m)| x - m).collect())
            .collect();
        let mut out = Reconstruction {
            components: (0..=most as u64).collect(),
            error: Vec::new(),
            left_out: Vec::new(),
            share: Vec::new(),
        };
        for kept in 0..=most {
            run.checkpoint()?;
            if let Some(last) = kept.checked_sub(1) {
                // What is left of each row without its part along one more component.
                let axis = model.components.row(last);
                for (i, rest) in rest.iter_mut().enumerate() {
                    let score = scores[(i, last)];
                    rest.iter_mut().zip(axis).for_each(|(r, a)| *r -= score * a);
                }
            }
            let squares: f64 = rest.iter().flatten().map(|r| r * r).sum();
            let left: f64 = model.explained_variance[kept..].iter().sum();
            out.error.push(squares / divisor);
            out.left_out.push(left * (n - 1.0) / divisor);
            out.share.push(if total > 0.0 { 1.0 - squares / divisor / total } else { 1.0 });
        }
        Ok(out)
    }

    fn chart(&self, found: &Reconstruction) -> Option<Chart> {
        let k: Vec<f64> = found.components.iter().map(|&k| k as f64).collect();
        let panel = Panel::new("components", "mean squared distance")
            .mark(Mark::line("error", k.clone(), found.error.clone()).unnamed())
            .mark(Mark::points("error", k, found.error.clone()).unnamed());
        let text = "What the first components lose of the rows.";
        Some(Chart::new("Reconstruction error", text).panel(panel))
    }
}

/// Two columns read by their covariance: which way they point, and how much lies across.
#[derive(Params, Clone, Debug)]
pub struct ReadCovariance {
    /// Rows less this number divide the products.
    #[param(default = 1.0, range = 0.0..=1.0)]
    pub ddof: f64,
}

/// A covariance of two columns, read.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CovarianceReading {
    /// Variance of the first column.
    pub c11: f64,
    /// Variance of the second column.
    pub c22: f64,
    /// Their covariance.
    pub c12: f64,
    /// The first principal direction, its larger part positive.
    pub direction: Vec<f64>,
    /// Its angle from the first column, in degrees.
    pub angle: f64,
    /// Variances along and across it.
    pub variances: Vec<f64>,
    /// What this says, in a sentence.
    pub reading: String,
    /// The mean of the rows.
    pub mean: Vec<f64>,
    /// The rows.
    pub rows: Matrix,
}

impl Function for ReadCovariance {
    type Inputs<'a> = RowsToReduce<'a>;
    type Output = CovarianceReading;
    const ABOUT: &'static Callable =
        &Callable::new("decomposition.read_covariance", FunctionKind::Analysis)
            .reference("Pearson (1901)");

    fn call(&self, given: RowsToReduce, _run: &Context) -> Result<CovarianceReading> {
        let (x, n) = (given.x, given.x.nrows() as f64);
        if x.ncols() != 2 {
            return Err(Error::shape("X", "2 columns", format!("{} columns", x.ncols())));
        }
        if n <= self.ddof {
            return Err(Error::new(Code::TooFew, "one row has no covariance"));
        }
        let columns = [x.column(0), x.column(1)];
        let mean = [0, 1].map(|j| {
            let first = columns[j][0];
            first + columns[j].iter().map(|v| v - first).sum::<f64>() / n
        });
        let product = |a: usize, b: usize| {
            let pairs = columns[a].iter().zip(&columns[b]);
            pairs.map(|(p, q)| (p - mean[a]) * (q - mean[b])).sum::<f64>() / (n - self.ddof)
        };
        let (c11, c22, c12) = (product(0, 0), product(1, 1), product(0, 1));
        if !(c11 + c22).is_finite() {
            return Err(Error::numeric("squares overflow: the values are too large"));
        }
        let middle = (c11 + c22) / 2.0;
        let reach = ((c11 - c22) / 2.0).hypot(c12);
        let turn = 0.5 * (2.0 * c12).atan2(c11 - c22);
        let mut direction = vec![turn.cos(), turn.sin()];
        let larger = if direction[0].abs() >= direction[1].abs() - 1e-12 { 0 } else { 1 };
        if direction[larger] < 0.0 {
            direction.iter_mut().for_each(|value| *value = -*value);
        }
        let angle = direction[1].atan2(direction[0]).to_degrees();
        Ok(CovarianceReading {
            reading: reading(c11, c22, c12, reach),
            variances: vec![middle + reach, (middle - reach).max(0.0)],
            mean: mean.to_vec(),
            rows: x.to_matrix(),
            c11,
            c22,
            c12,
            direction,
            angle,
        })
    }

    fn chart(&self, found: &CovarianceReading) -> Option<Chart> {
        let (m, v) = (&found.mean, &found.direction);
        let (mut x, mut y, mut x2, mut y2) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut reach = (0.0_f64, 0.0_f64);
        for row in found.rows.rows() {
            let along = (row[0] - m[0]) * v[0] + (row[1] - m[1]) * v[1];
            reach = (reach.0.min(along), reach.1.max(along));
            x.push(row[0]);
            y.push(row[1]);
            x2.push(m[0] + along * v[0]);
            y2.push(m[1] + along * v[1]);
        }
        let end = |t: f64| (m[0] + t * v[0], m[1] + t * v[1]);
        let (a, b) = (end(1.1 * reach.0), end(1.1 * reach.1));
        let panel = Panel::new("first column", "second column")
            .size(460.0, 420.0)
            .mark(Mark::links("residuals", (x.clone(), y.clone()), (x2, y2)).muted().weight(0.6))
            .mark(Mark::line("first direction", vec![a.0, b.0], vec![a.1, b.1]))
            .mark(Mark::points("rows", x, y))
            .mark(Mark::points("mean", vec![m[0]], vec![m[1]]).muted().weight(2.5));
        Some(Chart::new("Covariance of two columns", found.reading.clone()).panel(panel))
    }
}

/// The sentence about a covariance.
fn reading(c11: f64, c22: f64, c12: f64, reach: f64) -> String {
    let total = c11 + c22;
    if total == 0.0 {
        return "All rows are equal: there is no direction.".into();
    }
    if reach <= 1e-12 * total {
        return "Equal variances and no covariance: every direction is alike.".into();
    }
    let wide = match (c11 - c22) / total {
        d if d.abs() <= 1e-12 => "Both columns vary alike",
        d if d > 0.0 => "The first column varies more",
        _ => "The second column varies more",
    };
    let together = match c12 / total {
        c if c.abs() <= 1e-12 => "they do not vary together, so the direction is a column's own",
        c if c > 0.0 => "they rise together, so the direction points up",
        _ => "one falls as the other rises, so the direction points down",
    };
    format!("{wide}; {together}.")
}

/// Rows with a fixed partition.
#[derive(Inputs, Clone, Copy)]
pub struct PartitionedRows<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The cluster of each row; noise is left out.
    pub labels: &'a [Option<u32>],
}

/// Projected clusters: the sum of squares of a fixed partition before and after random projection.
#[derive(Params, Clone, Debug)]
pub struct ProjectedPartition {
    /// Number of new columns; by default that of Johnson and Lindenstrauss for `eps`.
    #[param(positional, range = 1..)]
    pub n_components: Option<usize>,
    /// The error that the default number of columns allows.
    #[param(default = 0.3, above = 0.0, below = 1.0)]
    pub eps: f64,
}

/// Sums of squares before and after.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ProjectedSums {
    /// The sum after over the sum before.
    pub value: f64,
    /// Sum of squares within clusters.
    pub before: f64,
    /// The same of the projected rows.
    pub after: f64,
    /// Columns after the projection.
    pub n_components: u64,
}

impl Function for ProjectedPartition {
    type Inputs<'a> = PartitionedRows<'a>;
    type Output = ProjectedSums;
    const ABOUT: &'static Callable =
        &Callable::new("random_projection.projected_partition", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Boutsidis, Zouzias and Drineas (2010), NIPS, 298-306");

    fn call(&self, given: PartitionedRows, run: &Context) -> Result<ProjectedSums> {
        let data = OwnedDataset::unsupervised(given.x.to_matrix());
        let n_components = match self.n_components {
            Some(count) => ProjectionTarget::Count(count),
            None => ProjectionTarget::Auto,
        };
        let learner = GaussianRandomProjection { n_components, eps: self.eps };
        let model = learner.fit_in(&data.view(), run)?;
        let projected = model.transform_in(&data.x.frame(), run)?.into_parts().0;
        let before = within(data.x.values(), given.labels);
        let after = within(&projected, given.labels);
        match before > 0.0 && before.is_finite() {
            true => Ok(ProjectedSums {
                value: after / before,
                before,
                after,
                n_components: projected.ncols() as u64,
            }),
            false => Err(Error::new(Code::Undefined, "the clusters have no spread to compare")),
        }
    }
}

/// The sum of squares within clusters.
fn within(x: &Matrix, labels: &[Option<u32>]) -> f64 {
    let mut numbers: Vec<u32> = labels.iter().flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |k: &u32| {
        let rows: Vec<usize> = (0..x.nrows()).filter(|&i| labels[i] == Some(*k)).collect();
        let mut mean = vec![0.0; x.ncols()];
        for &i in &rows {
            mean.iter_mut().zip(x.row(i)).for_each(|(m, v)| *m += v / rows.len() as f64);
        }
        rows.iter().map(|&i| squared_distance(x.row(i), &mean)).sum::<f64>()
    };
    numbers.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::uniform;

    #[test]
    fn errors_are_the_variances_left_out() {
        let four =
            Matrix::from_rows(&[[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]]).unwrap();
        let found =
            ReconstructionError::default().compute(RowsToReduce { x: four.view() }).unwrap();
        for (got, expected) in found.error.iter().zip([5.0, 1.0, 0.0]) {
            assert!((got - expected).abs() < 1e-12, "{:?}", found.error);
        }
        assert!((found.share[1] - 0.8).abs() < 1e-12);
        let x = Matrix::from_fn(50, 6, |i, j| ((i * (3 + j)) as f64 * 0.7).sin() * (j + 1) as f64);
        for ddof in [0.0, 1.0] {
            let found = ReconstructionError { ddof }.compute(RowsToReduce { x: x.view() }).unwrap();
            for (error, left) in found.error.iter().zip(&found.left_out) {
                assert!((error - left).abs() < 1e-10, "{error} {left}");
            }
        }
    }

    #[test]
    fn equal_variances_that_rise_together_point_along_the_diagonal() {
        let four =
            Matrix::from_rows(&[[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]]).unwrap();
        let read = |x: &Matrix| {
            ReadCovariance { ddof: 0.0 }.compute(RowsToReduce { x: x.view() }).unwrap()
        };
        let found = read(&four);
        assert_eq!((found.c11, found.c22, found.c12), (2.5, 2.5, 1.5));
        let half = 0.5_f64.sqrt();
        assert!(found.direction.iter().all(|v| (v - half).abs() < 1e-15));
        assert!(
            (found.variances[0] - 4.0).abs() < 1e-12 && (found.variances[1] - 1.0).abs() < 1e-12
        );
        assert!((found.angle - 45.0).abs() < 1e-12 && found.reading.contains("rise together"));
        // Falling, and along single columns.
        let fall =
            Matrix::from_rows(&[[3.0, -1.0], [-3.0, 1.0], [0.5, 1.0], [-0.5, -1.0]]).unwrap();
        let found = read(&fall);
        assert!(found.angle < 0.0 && found.angle > -45.0 && found.reading.contains("falls"));
        let up = Matrix::from_rows(&[[0.0, 3.0], [0.0, -3.0], [1.0, 0.0], [-1.0, 0.0]]).unwrap();
        let found = read(&up);
        assert!(found.direction[0].abs() < 1e-12 && (found.direction[1] - 1.0).abs() < 1e-12);
        assert!(ReadCovariance::default().chart(&found).is_some());
    }

    #[test]
    fn any_partition_keeps_its_sum_of_squares_at_the_dimension_of_the_bound() {
        let mut rng = Context::default().rng(3);
        let x = Matrix::from_fn(40, 900, |_, _| uniform(&mut rng));
        for (seed, parts) in [(1, 2), (2, 3), (3, 5), (4, 8)] {
            let labels: Vec<Option<u32>> = (0..40).map(|i| Some((i * 7 + i / 3) % parts)).collect();
            let run = Context::default().with_seed(seed);
            let learner = ProjectedPartition::default();
            let given = PartitionedRows { x: x.view(), labels: &labels };
            let found = learner.call(given, &run).unwrap();
            assert!((found.value - 1.0).abs() <= 0.3, "{found:?}");
            assert!(found.n_components < 900);
        }
    }
}
