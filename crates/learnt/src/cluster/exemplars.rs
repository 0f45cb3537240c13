//! One point for a group of rows, and a clustering in figures that an expert reads.
//!
//! `mean` Σx/n; `geometric_mean` exp Σ ln x / n, for numbers above zero; `medoid` the row of least total
//! distance to the others, the first of equals; `spatial_median` the point of least total distance, by
//! Weiszfeld's steps from the mean with the correction of Vardi and Zhang at rows, until a step is below
//! 1e-12 of the spread. A report says of each cluster its rows, its sum of squares, its centre, the row
//! nearest to the centre, and its mean silhouette.
//!
//! E. Weiszfeld (1937); Y. Vardi and C.-H. Zhang (2000), PNAS 97, 1423-1426.

use super::choose_k::RowsToCluster;
use crate::metrics::{Clustered, Compactness};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;

/// What stands for a group.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExemplarKind {
    /// The arithmetic mean.
    Mean,
    /// The geometric mean, of numbers above zero.
    GeometricMean,
    /// The row of least total distance to the others.
    Medoid,
    /// The point of least total distance to the rows.
    SpatialMedian,
}

/// A point that stands for a group of rows: mean, geometric mean, medoid or spatial median.
#[derive(Params, Clone, Debug)]
pub struct Exemplar {
    /// Which point.
    #[param(positional, default = ExemplarKind::Medoid)]
    pub kind: ExemplarKind,
}

/// A point with its total distance to the rows.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ExemplarFound {
    /// The point.
    pub value: Vec<f64>,
    /// Sum of its distances to the rows.
    pub total_distance: f64,
    /// The number of the row that it is, from 0; nothing for points that are no row by their nature.
    pub row: Option<u64>,
}

impl Function for Exemplar {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = ExemplarFound;
    const ABOUT: &'static Callable = &Callable::new("cluster.exemplar", FunctionKind::Analysis)
        .threads()
        .reference("Vardi and Zhang (2000), PNAS 97, 1423-1426");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<ExemplarFound> {
        let x = given.x.to_matrix();
        let (value, row) = match self.kind {
            ExemplarKind::Mean => (mean(&x), None),
            ExemplarKind::GeometricMean => (geometric_mean(&x)?, None),
            ExemplarKind::Medoid => {
                let row = medoid(&x, run)?;
                (x.row(row).to_vec(), Some(row as u64))
            }
            ExemplarKind::SpatialMedian => (spatial_median(&x, run)?, None),
        };
        let total_distance = total(&x, &value);
        match total_distance.is_finite() {
            true => Ok(ExemplarFound { value, total_distance, row }),
            false => Err(Error::numeric("distances overflow: the values are too large")),
        }
    }
}

fn total(x: &Matrix, at: &[f64]) -> f64 {
    x.rows().map(|row| squared_distance(row, at).sqrt()).sum()
}

fn mean(x: &Matrix) -> Vec<f64> {
    let n = x.nrows() as f64;
    let of = |j: usize| {
        let first = x[(0, j)];
        first + x.rows().map(|row| (row[j] - first) / n).sum::<f64>()
    };
    (0..x.ncols()).map(of).collect()
}

fn geometric_mean(x: &Matrix) -> Result<Vec<f64>> {
    if let Some(bad) = x.as_slice().iter().find(|value| **value <= 0.0) {
        let message = format!("a geometric mean needs numbers above zero, and one is {bad}");
        return Err(Error::new(Code::Undefined, message).hint("take the mean or the medoid"));
    }
    let n = x.nrows() as f64;
    let of = |j: usize| (x.rows().map(|row| row[j].ln()).sum::<f64>() / n).exp();
    Ok((0..x.ncols()).map(of).collect())
}

fn medoid(x: &Matrix, run: &Context) -> Result<usize> {
    let totals = run.try_par_map(x.nrows(), |i| {
        if i % 64 == 0 {
            run.checkpoint()?;
        }
        Ok(total(x, x.row(i)))
    })?;
    Ok((1..totals.len()).fold(0, |best, i| if totals[i] < totals[best] { i } else { best }))
}

fn spatial_median(x: &Matrix, run: &Context) -> Result<Vec<f64>> {
    const STEPS: usize = 100_000;
    let mut at = mean(x);
    let spread = total(x, &at) / x.nrows() as f64;
    let scale = spread.max(f64::MIN_POSITIVE);
    for step in 0..STEPS {
        if step % 256 == 0 {
            run.checkpoint()?;
        }
        let (mut pull, mut weight, mut here) = (vec![0.0; at.len()], 0.0, 0.0);
        for row in x.rows() {
            let distance = squared_distance(row, &at).sqrt();
            if distance <= 1e-14 * scale {
                here += 1.0;
                continue;
            }
            weight += distance.recip();
            pull.iter_mut().zip(row).zip(&at).for_each(|((p, x), a)| *p += (x - a) / distance);
        }
        let force = learnt_core::linalg::norm(&pull);
        // At a row that holds against the pull of the others, nothing is better.
        if weight == 0.0 || force <= here {
            return Ok(at);
        }
        let length = (1.0 - here / force) / weight;
        at.iter_mut().zip(&pull).for_each(|(a, p)| *a += length * p);
        if length * force <= 1e-12 * scale {
            return Ok(at);
        }
    }
    run.warn(Code::NotConverged, format!("the spatial median did not settle in {STEPS} steps"));
    Ok(at)
}

/// A clustering in figures: rows, sum of squares, centre, nearest row and silhouette of each cluster.
#[derive(Params, Clone, Debug)]
pub struct ClusterReport {
    /// Whether silhouettes are computed, which takes time with the square of the rows.
    #[param(default = true)]
    pub silhouettes: bool,
}

/// What a report holds, one entry a cluster.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ClusterFigures {
    /// Number of each cluster.
    pub cluster: Vec<i64>,
    /// Its rows.
    pub rows: Vec<u64>,
    /// Their share of all rows.
    pub share: Vec<f64>,
    /// Sum of squared distances from its centre.
    pub inertia: Vec<f64>,
    /// Root mean squared distance from its centre.
    pub spread: Vec<f64>,
    /// The row nearest to its centre, from 0, the first of equals.
    pub exemplar: Vec<u64>,
    /// Mean silhouette of its rows; none with one cluster.
    pub silhouette: Vec<f64>,
    /// Centres, one a row.
    pub centers: Matrix,
    /// Sum of squares of all clusters: what k-means makes small.
    pub total_inertia: f64,
    /// Number of rows in no cluster.
    pub n_noise: u64,
}

impl Function for ClusterReport {
    type Inputs<'a> = Clustered<'a>;
    type Output = ClusterFigures;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.cluster_report", FunctionKind::Analysis).threads();

    fn call(&self, given: Clustered, run: &Context) -> Result<ClusterFigures> {
        let x = given.X.to_matrix();
        let mut numbers: Vec<u32> = given.labels.iter().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Err(Error::new(Code::Undefined, "no row is in a cluster"));
        }
        let members: Vec<Vec<usize>> = numbers
            .iter()
            .map(|&k| (0..x.nrows()).filter(|&i| given.labels[i] == Some(k)).collect())
            .collect();
        let mut centers = Vec::new();
        let (mut inertia, mut exemplar) = (Vec::new(), Vec::new());
        for rows in &members {
            let own = x.view().gather_rows(rows);
            let centre = mean(&own);
            let squares: Vec<f64> = own.rows().map(|row| squared_distance(row, &centre)).collect();
            let near = (1..rows.len()).fold(0, |b, i| if squares[i] < squares[b] { i } else { b });
            inertia.push(squares.iter().sum::<f64>());
            exemplar.push(rows[near] as u64);
            centers.push(centre);
        }
        let silhouette = match self.silhouettes && numbers.len() > 1 {
            true => Compactness::new(given.X, given.labels)?.silhouette_by_cluster(run)?,
            false => vec![f64::NAN; numbers.len()],
        };
        let sizes = members.iter().map(|rows| rows.len() as f64);
        let total_inertia: f64 = inertia.iter().sum();
        if !total_inertia.is_finite() {
            return Err(Error::numeric("squares overflow: the values are too large"));
        }
        Ok(ClusterFigures {
            cluster: numbers.into_iter().map(i64::from).collect(),
            rows: members.iter().map(|rows| rows.len() as u64).collect(),
            share: sizes.clone().map(|size| size / x.nrows() as f64).collect(),
            spread: inertia.iter().zip(sizes).map(|(sum, size)| (sum / size).sqrt()).collect(),
            inertia,
            exemplar,
            silhouette,
            centers: Matrix::from_rows(&centers)?,
            total_inertia,
            n_noise: given.labels.iter().filter(|label| label.is_none()).count() as u64,
        })
    }

    fn chart(&self, found: &ClusterFigures) -> Option<Chart> {
        let names = found.cluster.iter().map(|k| format!("cluster {k}")).collect();
        let places = (0..found.rows.len()).map(|k| k as f64).collect();
        let rows = found.rows.iter().map(|&rows| rows as f64).collect();
        let panel = Panel::new("cluster", "rows")
            .categories_x(names)
            .mark(Mark::bars("rows", places, rows).unnamed());
        Some(Chart::new("Sizes of clusters", "The number of rows of each cluster.").panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ExemplarKind, x: &Matrix) -> ExemplarFound {
        Exemplar { kind }.compute(RowsToCluster { x: x.view() }).unwrap()
    }

    #[test]
    fn the_medoid_is_a_row_of_least_total_distance() {
        let x = Matrix::from_fn(40, 3, |i, j| ((i * (3 + j)) as f64 * 0.7).sin() * 5.0);
        let found = of(ExemplarKind::Medoid, &x);
        let row = found.row.unwrap() as usize;
        assert_eq!(found.value, x.row(row));
        assert!(x.rows().all(|other| total(&x, other) >= found.total_distance));
    }

    #[test]
    fn the_spatial_median_is_better_than_every_row_and_every_step_away() {
        let x = Matrix::from_fn(31, 2, |i, j| ((i * (3 + j)) as f64 * 0.7).sin() * 5.0);
        let found = of(ExemplarKind::SpatialMedian, &x);
        assert!(found.total_distance <= of(ExemplarKind::Medoid, &x).total_distance);
        for step in [[1e-3, 0.0], [-1e-3, 0.0], [0.0, 1e-3], [0.0, -1e-3]] {
            let away: Vec<f64> = found.value.iter().zip(step).map(|(v, s)| v + s).collect();
            assert!(total(&x, &away) > found.total_distance);
        }
        // In one column it is the median, also where it is a row.
        let line = Matrix::column_vector(vec![1.0, 2.0, 4.0, 50.0, 3.0]);
        assert!((of(ExemplarKind::SpatialMedian, &line).value[0] - 3.0).abs() < 1e-9);
    }

    #[test]
    fn means_are_those_by_hand_and_geometric_ones_need_positive_numbers() {
        let x = Matrix::from_rows(&[[1.0, 2.0], [4.0, 8.0], [16.0, 4.0]]).unwrap();
        let mean = of(ExemplarKind::Mean, &x).value;
        assert!((mean[0] - 7.0).abs() < 1e-12 && (mean[1] - 14.0 / 3.0).abs() < 1e-12);
        let geometric = of(ExemplarKind::GeometricMean, &x).value;
        assert!((geometric[0] - 4.0).abs() < 1e-12 && (geometric[1] - 4.0).abs() < 1e-12);
        let zero = Matrix::column_vector(vec![1.0, 0.0]);
        let error = Exemplar { kind: ExemplarKind::GeometricMean }
            .compute(RowsToCluster { x: zero.view() })
            .unwrap_err();
        assert_eq!(error.code(), Code::Undefined);
    }

    #[test]
    fn sizes_sum_to_the_rows_and_exemplars_are_members() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 10.0, 12.0, 50.0]);
        let labels = [Some(0), Some(0), Some(0), Some(3), Some(3), None];
        let given = Clustered { X: x.view(), labels: &labels };
        let found = ClusterReport::default().compute(given).unwrap();
        assert_eq!(found.rows.iter().sum::<u64>() + found.n_noise, 6);
        assert_eq!((&found.cluster, &found.exemplar), (&vec![0, 3], &vec![1, 3]));
        assert_eq!((found.inertia, found.total_inertia), (vec![2.0, 2.0], 4.0));
        assert_eq!(found.centers.as_slice(), [1.0, 11.0]);
        assert!(found.silhouette.iter().all(|s| *s > 0.7));
    }
}
