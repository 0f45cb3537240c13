//! Studies around DBSCAN: what kind of point every row is, which radius suits, how the result hangs
//! on it, and what the exact problem costs.

use super::choose_k::{RowsToCluster, farthest_below_chord};
use super::dbscan::{Border, DBSCAN};
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Kinds of points: 2 core rows, 1 border rows, 0 noise; and the clusters that border rows share.
#[derive(Params, Clone, Debug)]
pub struct PointTypes {
    /// Distance up to which rows are neighbours.
    #[param(positional, default = 0.5, above = 0.0)]
    pub eps: f64,
    /// Number of a core row's neighbours, itself included.
    #[param(positional, default = 5, range = 1..)]
    pub min_samples: usize,
}

/// What every row is.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct KindsOfPoints {
    /// 2 for core rows, 1 for border rows, 0 for noise.
    pub value: Vec<i64>,
    /// Rows within the radius, the row itself included.
    pub neighbors: Vec<u64>,
    /// Number of core rows.
    pub n_core: u64,
    /// Number of border rows.
    pub n_border: u64,
    /// Number of noise rows.
    pub n_noise: u64,
    /// Border rows, from 0, once for each cluster with a core row near them.
    pub border_rows: Vec<u64>,
    /// The clusters near them.
    pub border_clusters: Vec<u64>,
}

impl Function for PointTypes {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = KindsOfPoints;
    const ABOUT: &'static Callable = &Callable::new("cluster.point_types", FunctionKind::Analysis)
        .threads()
        .reference("Ester, Kriegel, Sander and Xu (1996)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<KindsOfPoints> {
        let n = given.x.nrows();
        let all: Vec<usize> = (0..n).collect();
        let mut neighbors = Vec::with_capacity(n);
        index(given.x, run)?.each_within(given.x, &all, self.eps, run, |_, rows, _| {
            neighbors.push(rows.len() as u64);
            Ok(())
        })?;
        let (eps, min_samples) = (self.eps, self.min_samples);
        let learner = DBSCAN { eps, min_samples, border: Border::All, ..DBSCAN::default() };
        let data = OwnedDataset::unsupervised(given.x.to_matrix());
        let model = learner.fit_in(&data.view(), run)?;
        let mut value: Vec<i64> =
            model.labels().iter().map(|label| i64::from(label.is_some())).collect();
        model.core_sample_indices.iter().for_each(|&row| value[row as usize] = 2);
        let count = |kind: i64| value.iter().filter(|&&value| value == kind).count() as u64;
        let (n_core, n_border, n_noise) = (count(2), count(1), count(0));
        let shared = model.border_memberships.unwrap_or_else(|| Matrix::zeros(0, 2));
        let (border_rows, border_clusters) =
            shared.rows().map(|pair| (pair[0] as u64, pair[1] as u64)).unzip();
        Ok(KindsOfPoints {
            value,
            neighbors,
            n_core,
            n_border,
            n_noise,
            border_rows,
            border_clusters,
        })
    }
}

fn index(x: MatRef, run: &Context) -> Result<Index> {
    let structure = Structure::suited(Metric::Euclidean, x.nrows(), x.ncols());
    Index::build(x, Metric::Euclidean, structure, 30, run)
}

/// k-distance curve: distances to the k-th neighbour in order, and the radius at its knee.
#[derive(Params, Clone, Debug)]
pub struct KDistance {
    /// Which neighbour, not counting the row itself.
    #[param(positional, default = 4, range = 1..)]
    pub k: usize,
}

/// Sorted distances.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct KDistances {
    /// The distances, rising.
    pub value: Vec<f64>,
    /// The distance at the knee: a radius to try.
    pub knee: f64,
}

impl Function for KDistance {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = KDistances;
    const ABOUT: &'static Callable = &Callable::new("cluster.k_distance", FunctionKind::Analysis)
        .threads()
        .reference("Ester, Kriegel, Sander and Xu (1996)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<KDistances> {
        let n = given.x.nrows();
        if self.k >= n {
            let message = format!("{n} rows have no {}-th neighbour", self.k);
            return Err(Error::new(Code::TooFew, message).hint("lower k"));
        }
        let index = index(given.x, run)?;
        let mut value = Vec::with_capacity(n);
        for first in (0..n).step_by(4096) {
            let end = (first + 4096).min(n);
            let found = index.nearest(given.x.rows(first, end), self.k + 1, run)?;
            value.extend((0..end - first).map(|i| found.distances(i)[self.k]));
        }
        value.sort_by(f64::total_cmp);
        let knee = value[farthest_below_chord(&value)];
        Ok(KDistances { value, knee })
    }

    fn chart(&self, found: &KDistances) -> Option<Chart> {
        let x = (0..found.value.len()).map(|i| i as f64).collect();
        let name = format!("distance to neighbour {}", self.k);
        let panel = Panel::new("rows in order", name)
            .mark(Mark::line("distance", x, found.value.clone()).unnamed())
            .mark(Mark::horizontal("knee", vec![found.knee]).dashed());
        Some(Chart::new("k-distances", "Where the curve bends, noise begins.").panel(panel))
    }
}

/// DBSCAN over several radii: clusters, core rows and noise of each.
#[derive(Params, Clone, Debug)]
pub struct EpsStudy {
    /// The radii; without any, ten between the distances of the nearest and the farthest neighbours.
    #[param(positional)]
    pub eps: Option<Vec<f64>>,
    /// Number of a core row's neighbours, itself included.
    #[param(default = 5, range = 1..)]
    pub min_samples: usize,
}

/// What each radius gives.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct RadiusStudy {
    /// The radii.
    pub eps: Vec<f64>,
    /// Clusters.
    pub clusters: Vec<u64>,
    /// Core rows.
    pub core: Vec<u64>,
    /// Rows that are noise.
    pub noise: Vec<u64>,
}

impl Function for EpsStudy {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = RadiusStudy;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.eps_study", FunctionKind::Study).threads();

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<RadiusStudy> {
        let eps = match &self.eps {
            Some(given) => given.clone(),
            None => {
                let k = (self.min_samples.max(2) - 1).min(given.x.nrows().saturating_sub(1)).max(1);
                let found = KDistance { k }.call(given, run)?.value;
                let (low, high) = (found[0], found[found.len() - 1]);
                (1..=10).map(|i| low + (high - low) * f64::from(i) / 10.0).collect()
            }
        };
        if let Some(bad) = eps.iter().find(|eps| !(**eps > 0.0 && eps.is_finite())) {
            return Err(Error::parameter("eps", "radii > 0", bad));
        }
        let data = OwnedDataset::unsupervised(given.x.to_matrix());
        let mut study =
            RadiusStudy { eps, clusters: Vec::new(), core: Vec::new(), noise: Vec::new() };
        for &eps in &study.eps {
            let learner = DBSCAN { eps, min_samples: self.min_samples, ..DBSCAN::default() };
            let model = learner.fit_in(&data.view(), run)?;
            study.clusters.push(model.cluster_sizes.len() as u64);
            study.core.push(model.core_sample_indices.len() as u64);
            study.noise.push(model.n_noise);
        }
        Ok(study)
    }

    fn chart(&self, found: &RadiusStudy) -> Option<Chart> {
        let numbers = |values: &[u64]| values.iter().map(|&value| value as f64).collect();
        let clusters = Panel::new("eps", "clusters")
            .mark(Mark::line("clusters", found.eps.clone(), numbers(&found.clusters)).unnamed());
        let rows = Panel::new("eps", "rows")
            .mark(Mark::line("core", found.eps.clone(), numbers(&found.core)))
            .mark(Mark::line("noise", found.eps.clone(), numbers(&found.noise)));
        let text = "Clusters, core rows and noise of DBSCAN against its radius.";
        Some(Chart::new("Radius of DBSCAN", text).panel(clusters).panel(rows))
    }
}

/// Exponent of n in the time of exact DBSCAN in d dimensions, logarithms left out.
#[derive(Params, Clone, Debug)]
pub struct DbscanCost {
    /// Number of columns.
    #[param(required, positional, range = 1..=1_000_000)]
    pub d: Option<usize>,
}

/// Bounds of the exponent.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CostExponent {
    /// Exponent of the best known method.
    pub value: f64,
    /// Exponent that no method is below, unless Hopcroft's problem is easier than is believed.
    pub lower: f64,
}

impl Function for DbscanCost {
    type Inputs<'a> = ();
    type Output = CostExponent;
    const ABOUT: &'static Callable = &Callable::new("cluster.dbscan_cost", FunctionKind::Theory)
        .reference("Gan and Tao (2015), SIGMOD, 519-530");

    fn call(&self, _given: (), _run: &Context) -> Result<CostExponent> {
        let d = self.d.unwrap_or(1);
        let value = match d {
            1 | 2 => 1.0,
            3 => 4.0 / 3.0,
            _ => 2.0 - 2.0 / (d.div_ceil(2) as f64 + 1.0),
        };
        Ok(CostExponent { value, lower: if d <= 2 { 1.0 } else { 4.0 / 3.0 } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_have_the_known_kinds() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0, 10.0]);
        let found =
            PointTypes { eps: 1.0, min_samples: 3 }.compute(RowsToCluster { x: x.view() }).unwrap();
        assert_eq!(found.value, [1, 2, 2, 1, 0]);
        assert_eq!((found.n_core, found.n_border, found.n_noise), (2, 2, 1));
    }

    #[test]
    fn distances_rise_and_core_rows_grow_with_the_radius() {
        let x = Matrix::from_fn(120, 2, |i, j| ((i * (3 + j)) as f64 * 0.61).sin() * 4.0);
        let given = RowsToCluster { x: x.view() };
        let curve = KDistance { k: 4 }.compute(given).unwrap();
        assert!(curve.value.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(curve.value.contains(&curve.knee));
        let study = EpsStudy::default().compute(given).unwrap();
        assert!(study.core.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(study.eps.len(), 10);
    }

    #[test]
    fn costs_are_those_of_the_table() {
        let of = |d| DbscanCost { d: Some(d) }.compute(()).unwrap().value;
        assert_eq!(of(2), 1.0);
        for (d, expected) in [(4, 4.0 / 3.0), (5, 1.5), (6, 1.5), (8, 1.6), (10, 5.0 / 3.0)] {
            assert!((of(d) - expected).abs() < 1e-12);
        }
    }
}
