//! OPTICS: the order in which density clusters of all radii are met, and clusters as its valleys.
//!
//! The core distance of a row is that to its `min_samples`-th neighbour, itself the first, if within
//! `max_eps`. Rows are visited in order of reachability max(core of the visited, distance), the lowest
//! row of equals; where none is reached, the lowest row begins anew. `xi` finds valleys whose sides
//! fall and rise by a share `xi` between neighbours; `dbscan` cuts at `eps`. Clusters are numbered in
//! the order in which they are met; of nested valleys the smallest labels its rows.
//!
//! M. Ankerst, M. Breunig, H.-P. Kriegel and J. Sander (1999), SIGMOD, 49-60.

use super::agglomerative::size_table;
use super::dbscan::check_distances;
use super::hdbscan::core_distances;
use super::linkage::{Rule, visit};
use crate::neighbors::{Index, Metric, MetricName, RowDistance, Structure};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Density clusters of different densities, from an order of the rows.
///
/// `algorithm`, `leaf_size` and `memory` do not exist.
///
/// ```
/// use learnt::{cluster::{Extraction, OPTICS}, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 1.1, 1.2, 8.0, 8.3, 8.6, 20.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let cut = OPTICS { cluster_method: Extraction::Dbscan, eps: Some(1.0), ..Default::default() };
/// let model = OPTICS { min_samples: 2, ..cut }.fit(&data.view())?;
/// let labels: Vec<i64> = model.labels().iter().map(|l| l.map_or(-1, i64::from)).collect();
/// assert_eq!(labels, [0, 0, 0, 1, 1, 1, -1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct OPTICS {
    /// Which neighbour has the core distance, the row itself the first.
    #[param(positional, default = 5, range = 2.., search = linear(2, 20))]
    pub min_samples: usize,
    /// Largest distance between neighbours.
    #[param(default = Limit::Infinite)]
    pub max_eps: Limit,
    /// The distance.
    #[param(default = RowDistance::Named(MetricName::Minkowski))]
    pub metric: RowDistance,
    /// Power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
    /// How clusters are found.
    #[param(default = Extraction::Xi)]
    pub cluster_method: Extraction,
    /// Radius of the cut `dbscan`; `max_eps` by default.
    #[param(range = 0.0..)]
    pub eps: Option<f64>,
    /// Least steepness of a valley's sides.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub xi: f64,
    /// Whether valleys end where rows were reached from outside.
    #[param(default = true)]
    pub predecessor_correction: bool,
    /// Rows of the smallest valley; `min_samples` by default.
    #[param(range = 2..)]
    pub min_cluster_size: Option<usize>,
}

/// Largest distance between neighbours.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// None.
    #[choice(name = "inf")]
    Infinite,
    /// This.
    #[choice(above = 0.0)]
    Distance(f64),
}

/// How clusters are found.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Extraction {
    /// Valleys with steep sides.
    Xi,
    /// A cut at one radius.
    Dbscan,
}

/// A fitted [`OPTICS`]. What it says about single rows is in memory only.
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table)]
pub struct OPTICSModel {
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// Number of rows in no cluster.
    pub n_noise: u64,
    /// Rows in the order of visits.
    #[model(transient)]
    pub ordering: Vec<u32>,
    /// Reachability of each row; infinite for new beginnings.
    #[model(transient)]
    pub reachability: Vec<f64>,
    /// Core distance of each row; infinite for rows that are not core rows.
    #[model(transient)]
    pub core_distances: Vec<f64>,
    /// The row that each row was reached from; -1 for new beginnings.
    #[model(transient)]
    pub predecessor: Vec<i64>,
    /// First and last place of every valley in the order of visits, smaller valleys first.
    #[model(transient)]
    pub cluster_hierarchy: Matrix,
    #[model(transient)]
    labels: Vec<Option<u32>>,
}

impl OPTICS {
    fn constraints(&self) -> Result<()> {
        match (self.eps, self.max_eps) {
            (Some(eps), Limit::Distance(most)) if eps > most => {
                Err(Error::parameter("eps", format!("at most max_eps={most}"), eps))
            }
            _ => Ok(()),
        }
    }

    fn limit(&self) -> f64 {
        match self.max_eps {
            Limit::Infinite => f64::INFINITY,
            Limit::Distance(limit) => limit,
        }
    }

    fn cores(&self, x: MatRef, metric: Option<Metric>, run: &Context) -> Result<Vec<f64>> {
        let mut out = match metric {
            Some(metric) => self.cores_of_rows(x, metric, run)?,
            None => {
                check_distances(x, run)?;
                core_distances(x, self.min_samples, run)?
            }
        };
        let limit = self.limit();
        out.iter_mut().filter(|core| **core > limit).for_each(|core| *core = f64::INFINITY);
        Ok(out)
    }

    fn cores_of_rows(&self, x: MatRef, metric: Metric, run: &Context) -> Result<Vec<f64>> {
        let structure = Structure::suited(metric, x.nrows(), x.ncols());
        let index = Index::build(x, metric, structure, 30, run)?;
        let mut out = Vec::with_capacity(x.nrows());
        for first in (0..x.nrows()).step_by(4096) {
            let end = (first + 4096).min(x.nrows());
            let found = index.nearest(x.rows(first, end), self.min_samples, run)?;
            out.extend((0..end - first).map(|i| found.distances(i)[self.min_samples - 1]));
        }
        Ok(out)
    }
}

impl Estimator for OPTICS {
    type Model = OPTICSModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.OPTICS")
        .threads()
        .scaling()
        .complexity(45)
        .cost("n² p time, n p memory")
        .reference("Ankerst, Breunig, Kriegel and Sander (1999), SIGMOD, 49-60")
        .exempt(&[(
            "same_bytes_large",
            "time grows with the square of the rows; fewer rows have the same bytes",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<OPTICSModel> {
        let x = data.x.values();
        let n = x.nrows();
        if self.min_samples > n {
            let message = format!(
                "min_samples must be no greater than n_samples ({n}), got {}",
                self.min_samples
            );
            return Err(Error::new(Code::TooFew, message).hint("lower min_samples"));
        }
        if let Some(least) = self.min_cluster_size.filter(|least| *least > n) {
            let message = format!(
                "min_cluster_size must be no greater than the number of samples ({n}). Got {least}"
            );
            return Err(Error::new(Code::TooFew, message).hint("lower min_cluster_size"));
        }
        let metric = self.metric.with_power(self.p);
        let cores = self.cores(x, metric, run)?;
        let none = vec![0.0; n];
        let rule = Rule { leaving: &cores, entering: &none, limit: self.limit() };
        let visits = visit(x, metric, rule, run)?;
        let (mut reachability, mut predecessor) = (vec![f64::INFINITY; n], vec![-1; n]);
        for seen in &visits {
            reachability[seen.row as usize] = seen.reach;
            predecessor[seen.row as usize] = seen.from.map_or(-1, i64::from);
        }
        if reachability.iter().all(|reach| *reach == f64::INFINITY) {
            let message = "All reachability values are inf. Set a larger max_eps: no row is within it of \
                           another, and all rows are noise";
            run.warn(Code::TooFew, message.to_string());
        }
        let ordering: Vec<u32> = visits.iter().map(|seen| seen.row).collect();
        let (labels, valleys) = match self.cluster_method {
            Extraction::Xi => {
                let plot = Plot::new(&ordering, &reachability, &predecessor);
                let least = self.min_cluster_size.unwrap_or(self.min_samples);
                let valleys =
                    plot.valleys(self.xi, self.min_samples, least, self.predecessor_correction);
                (plot.labels(&valleys), valleys)
            }
            Extraction::Dbscan => {
                let eps = self.eps.unwrap_or(self.limit());
                (cut(&ordering, &reachability, &cores, eps), Vec::new())
            }
        };
        let clusters = labels.iter().flatten().map(|label| *label as usize + 1).max().unwrap_or(0);
        let mut cluster_sizes = vec![0; clusters];
        labels.iter().flatten().for_each(|label| cluster_sizes[*label as usize] += 1);
        Ok(OPTICSModel {
            cluster_sizes,
            n_noise: labels.iter().filter(|label| label.is_none()).count() as u64,
            cluster_hierarchy: Matrix::from_fn(valleys.len(), 2, |i, j| {
                if j == 0 { valleys[i].0 as f64 } else { valleys[i].1 as f64 }
            }),
            ordering,
            reachability,
            core_distances: cores,
            predecessor,
            labels,
        })
    }
}

/// Clusters of DBSCAN without some border rows: a core row that was not reached begins one.
fn cut(order: &[u32], reach: &[f64], cores: &[f64], eps: f64) -> Vec<Option<u32>> {
    let mut labels = vec![None; order.len()];
    let mut count = 0_u32;
    for &row in order {
        let row = row as usize;
        if reach[row] > eps {
            if cores[row] <= eps {
                count += 1;
                labels[row] = Some(count - 1);
            }
        } else {
            labels[row] = count.checked_sub(1);
        }
    }
    labels
}

/// Reachabilities in the order of visits, with a wall behind the last.
struct Plot<'a> {
    order: &'a [u32],
    reach: Vec<f64>,
    from: Vec<i64>,
}

/// A steep descent: where it begins and ends, and the highest place since.
#[derive(Clone, Copy)]
struct Descent {
    start: usize,
    end: usize,
    highest: f64,
}

impl Plot<'_> {
    fn new<'a>(order: &'a [u32], reachability: &[f64], predecessor: &[i64]) -> Plot<'a> {
        let mut reach: Vec<f64> = order.iter().map(|&row| reachability[row as usize]).collect();
        reach.push(f64::INFINITY);
        let from = order.iter().map(|&row| predecessor[row as usize]).collect();
        Plot { order, reach, from }
    }

    /// How a place compares with the next: a ratio, 1 for two infinite ones.
    fn ratio(&self, i: usize) -> f64 {
        let (here, next) = (self.reach[i], self.reach[i + 1]);
        if here == next { 1.0 } else { here / next }
    }

    /// The last place of a steep region: it may hold up to `patience` places in a row that are not
    /// steep, and none that goes the other way.
    fn extend(
        &self,
        start: usize,
        patience: usize,
        steep: impl Fn(f64) -> bool,
        back: impl Fn(f64) -> bool,
    ) -> usize {
        let (mut end, mut flat) = (start, 0);
        for i in start..self.order.len() {
            let ratio = self.ratio(i);
            if steep(ratio) {
                (end, flat) = (i, 0);
            } else if back(ratio) {
                break;
            } else {
                flat += 1;
                if flat > patience {
                    break;
                }
            }
        }
        end
    }

    /// First and last places of all valleys, smaller ones before those around them.
    fn valleys(
        &self,
        xi: f64,
        patience: usize,
        least: usize,
        correct: bool,
    ) -> Vec<(usize, usize)> {
        let keep = 1.0 - xi;
        let falls = |ratio: f64| ratio >= 1.0 / keep;
        let rises = |ratio: f64| ratio <= keep;
        let mut descents: Vec<Descent> = Vec::new();
        let mut out = Vec::new();
        let (mut next, mut highest) = (0, 0.0_f64);
        for at in 0..self.order.len() {
            let ratio = self.ratio(at);
            if at < next || !(falls(ratio) || rises(ratio)) {
                continue;
            }
            highest = self.reach[next..=at].iter().copied().fold(highest, f64::max);
            self.forget(&mut descents, highest, keep);
            if falls(ratio) {
                let end = self.extend(at, patience, falls, |ratio| ratio < 1.0);
                descents.push(Descent { start: at, end, highest: 0.0 });
                next = end + 1;
            } else {
                let end = self.extend(at, patience, rises, |ratio| ratio > 1.0);
                next = end + 1;
                let found = descents
                    .iter()
                    .rev()
                    .filter_map(|descent| self.valley(*descent, (at, end), keep, least, correct));
                out.extend(found);
            }
            highest = self.reach[next];
        }
        out
    }

    /// Leaves out descents that something higher has closed since.
    fn forget(&self, descents: &mut Vec<Descent>, highest: f64, keep: f64) {
        descents.retain(|descent| highest <= self.reach[descent.start] * keep);
        if highest == f64::INFINITY {
            descents.clear();
        }
        for descent in descents {
            descent.highest = descent.highest.max(highest);
        }
    }

    /// The valley between a descent and an ascent, if there is one.
    fn valley(
        &self,
        descent: Descent,
        (up, end): (usize, usize),
        keep: f64,
        least: usize,
        correct: bool,
    ) -> Option<(usize, usize)> {
        let (top, edge) = (self.reach[descent.start], self.reach[end + 1]);
        if edge * keep < descent.highest {
            return None;
        }
        let (mut first, mut last) = (descent.start, end);
        if top * keep >= edge {
            while self.reach[first + 1] > edge && first < descent.end {
                first += 1;
            }
        } else if edge * keep >= top {
            while last > up && self.reach[last - 1] > top {
                last -= 1;
            }
        }
        if correct {
            last = self.corrected(first, last)?;
        }
        let good = last + 1 >= first + least && first <= descent.end && last >= up;
        good.then_some((first, last))
    }

    /// The last place up to which a valley's last row was reached from inside it.
    fn corrected(&self, first: usize, mut last: usize) -> Option<usize> {
        while first < last {
            let inside =
                || self.order[first..last].iter().any(|&row| i64::from(row) == self.from[last]);
            if self.reach[first] > self.reach[last] || inside() {
                return Some(last);
            }
            last -= 1;
        }
        None
    }

    /// Rows of valleys that hold no other valley's rows yet.
    fn labels(&self, valleys: &[(usize, usize)]) -> Vec<Option<u32>> {
        let mut by_place: Vec<Option<u32>> = vec![None; self.order.len()];
        let mut count = 0;
        for &(first, last) in valleys {
            if by_place[first..=last].iter().all(Option::is_none) {
                by_place[first..=last].fill(Some(count));
                count += 1;
            }
        }
        let mut out = vec![None; self.order.len()];
        for (&row, label) in self.order.iter().zip(by_place) {
            out[row as usize] = label;
        }
        out
    }
}

impl OPTICSModel {
    fn validate(&self) -> Result<()> {
        match self.cluster_sizes.iter().all(|&size| size > 0) {
            true => Ok(()),
            false => Err(invalid("a cluster without rows")),
        }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("OPTICS", &self.cluster_sizes);
        answer.push("noise", self.n_noise);
        answer
    }
}

impl Clusterer for OPTICSModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::DBSCAN;

    fn groups(n: usize) -> OwnedDataset {
        OwnedDataset::unsupervised(Matrix::from_fn(n, 2, |i, j| {
            let spread = 0.3 + 0.3 * (i % 3) as f64;
            (i % 3) as f64 * 6.0 + spread * ((i * (7 + 4 * j) + 3 * j) as f64 * 0.618).sin()
        }))
    }

    #[test]
    fn every_row_is_visited_once_and_reached_as_defined() {
        let data = groups(120);
        let model = OPTICS::default().fit(&data.view()).unwrap();
        let x = data.x.values();
        let mut seen = model.ordering.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &row)| i as u32 == row));
        let mut visited: Vec<usize> = Vec::new();
        for &row in &model.ordering {
            let row = row as usize;
            let reach = visited
                .iter()
                .map(|&v: &usize| {
                    Metric::Euclidean.distance(x.row(v), x.row(row)).max(model.core_distances[v])
                })
                .fold(f64::INFINITY, f64::min);
            assert!(
                (reach - model.reachability[row]).abs() < 1e-12 || reach == model.reachability[row]
            );
            visited.push(row);
        }
    }

    #[test]
    fn a_cut_has_the_core_rows_of_dbscan_in_the_same_clusters() {
        let data = groups(150);
        for eps in [0.15, 0.3, 0.8] {
            let learner =
                OPTICS { cluster_method: Extraction::Dbscan, eps: Some(eps), ..Default::default() };
            let cut = learner.fit(&data.view()).unwrap().labels();
            let dbscan = DBSCAN { eps, ..Default::default() }.fit(&data.view()).unwrap();
            let of = dbscan.labels();
            let core: Vec<usize> =
                dbscan.core_sample_indices.iter().map(|&row| row as usize).collect();
            for &i in &core {
                for &j in &core {
                    assert_eq!(cut[i] == cut[j], of[i] == of[j], "eps {eps}");
                }
            }
        }
    }

    #[test]
    fn three_groups_of_different_density_are_three_valleys() {
        let data = groups(150);
        let learner = OPTICS { min_samples: 10, min_cluster_size: Some(30), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let labels = model.labels();
        assert_eq!(model.cluster_sizes.len(), 3, "{:?}", model.cluster_sizes);
        for i in 0..150 {
            for j in 0..150 {
                if let (Some(a), Some(b)) = (labels[i], labels[j]) {
                    assert_eq!(a == b, i % 3 == j % 3);
                }
            }
        }
    }

    #[test]
    fn given_distances_have_the_order_of_the_rows_that_they_are_of() {
        let data = groups(90);
        let x = data.x.values();
        let table = Matrix::from_fn(90, 90, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
        let table = OwnedDataset::unsupervised(table);
        for max_eps in [Limit::Infinite, Limit::Distance(0.3)] {
            let learner = OPTICS { max_eps, ..Default::default() };
            let given = OPTICS { metric: RowDistance::Precomputed, ..learner.clone() };
            let (own, given) =
                (learner.fit(&data.view()).unwrap(), given.fit(&table.view()).unwrap());
            assert_eq!(own.ordering, given.ordering);
            assert_eq!(own.predecessor, given.predecessor);
            assert_eq!(own.labels(), given.labels());
        }
        let given = OPTICS { metric: RowDistance::Precomputed, ..Default::default() };
        assert_eq!(given.fit(&data.view()).unwrap_err().code(), Code::Shape);
    }
}
