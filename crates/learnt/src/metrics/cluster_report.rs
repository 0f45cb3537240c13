//! Clusters for people: how many rows each has, its centre, the row that stands for it, and how tight it is.
//!
//! The centre is the mean of the rows; the exemplar the row nearest to it, the first of equals; the spread
//! the mean squared distance to the centre; the objective the sum of squared distances over all clusters.
//! Noise is counted and left out.
//!
//! Reference: Kaufman and Rousseeuw (1990), Finding groups in data.

use super::cluster_scores::Clustered;
use learnt_core::prelude::*;

/// Sizes, centres, exemplars and spreads of clusters, with the sum of squared distances.
#[derive(Params, Clone, Debug)]
pub struct ClusterReport {}

/// What a reader wants to know of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ClusterReportFound {
    /// Sum of squared distances from the centres.
    pub objective: f64,
    /// The cluster of each row of the report.
    pub cluster: Vec<u64>,
    /// Number of rows.
    pub size: Vec<u64>,
    /// Share of the rows that are no noise.
    pub share: Vec<f64>,
    /// Place of the row nearest to the centre.
    pub exemplar: Vec<u64>,
    /// Mean squared distance from the centre.
    pub spread: Vec<f64>,
    /// The centres, one row each.
    pub centers: Matrix,
    /// Rows without a cluster.
    pub noise: u64,
}

impl Function for ClusterReport {
    type Inputs<'a> = Clustered<'a>;
    type Output = ClusterReportFound;
    const ABOUT: &'static Callable = &Callable::new("metrics.cluster_report", FunctionKind::Metric)
        .reference("Kaufman and Rousseeuw (1990), Finding groups in data");

    fn call(&self, given: Clustered, _run: &Context) -> Result<ClusterReportFound> {
        let most = given.labels.iter().flatten().max();
        let Some(&most) = most else {
            return Err(Error::new(Code::Undefined, "every row is noise"));
        };
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); most as usize + 1];
        for (i, label) in given.labels.iter().enumerate() {
            if let Some(label) = label {
                members[*label as usize].push(i);
            }
        }
        let width = given.X.ncols();
        let counted: usize = members.iter().map(Vec::len).sum();
        let mut centers = Vec::new();
        let mut out = ClusterReportFound {
            objective: 0.0,
            cluster: Vec::new(),
            size: Vec::new(),
            share: Vec::new(),
            exemplar: Vec::new(),
            spread: Vec::new(),
            centers: Matrix::zeros(0, width),
            noise: (given.labels.len() - counted) as u64,
        };
        for (label, rows) in members.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let size = rows.len() as f64;
            let mean = |j: usize| rows.iter().map(|&i| given.X.at(i, j)).sum::<f64>() / size;
            let center: Vec<f64> = (0..width).map(mean).collect();
            let distance = |&i: &usize| {
                (0..width).map(|j| (given.X.at(i, j) - center[j]).powi(2)).sum::<f64>()
            };
            let distances: Vec<f64> = rows.iter().map(distance).collect();
            let nearest = (0..rows.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
            let total: f64 = distances.iter().sum();
            out.objective += total;
            out.cluster.push(label as u64);
            out.size.push(rows.len() as u64);
            out.share.push(size / counted as f64);
            out.exemplar.push(rows[nearest.unwrap_or(0)] as u64);
            out.spread.push(total / size);
            centers.push(center);
        }
        out.centers = Matrix::from_rows(&centers)?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_centres_exemplars_and_the_objective_by_hand() {
        let x = Matrix::column_vector(vec![1.0, 2.0, 10.0, 12.0, 13.0, 50.0]);
        let labels = [Some(0), Some(0), Some(1), Some(1), Some(1), None];
        let found =
            ClusterReport::default().compute(Clustered { X: x.view(), labels: &labels }).unwrap();
        assert_eq!((found.size.clone(), found.noise), (vec![2, 3], 1));
        assert_eq!(found.size.iter().sum::<u64>() + found.noise, 6);
        assert_eq!(found.exemplar, [0, 3]);
        // 0.25 + 0.25, and 35/3 = 11.67: 2.78 + 0.11 + 1.78.
        assert!((found.objective - (0.5 + 14.0 / 3.0)).abs() < 1e-12, "{found:?}");
        assert!((found.centers[(1, 0)] - 35.0 / 3.0).abs() < 1e-12);
    }
}
