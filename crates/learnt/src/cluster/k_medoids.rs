//! k-medoids: rows m that descend Σ w d(x, m(x)), m(x) the medoid nearest to x.
//!
//! FasterPAM: medoids are swapped with other rows as soon as a swap lowers the objective. For each
//! candidate one pass over the rows gives what every medoid's removal would cost, from the distances
//! to the nearest and the second nearest medoid. Ends when a whole pass over the candidates finds no
//! swap, or after `max_iter` passes. `build` starts greedily, `random` from rows drawn. Equal
//! distances go to the lowest medoid. Only distances are needed, which may violate the triangle
//! inequality. Up to 5,000 rows keep their distances; beyond, they are computed when needed.
//!
//! L. Kaufman and P. Rousseeuw (1990); E. Schubert and P. Rousseeuw (2021), Information Systems 101.

use super::agglomerative::size_table;
use super::copies::Different;
use crate::neighbors::{Metric, RowDistance};
use learnt_core::linalg::lane_sum;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::sample::choose;
use learnt_core::vectorized;

/// k-medoids (PAM): groups rows around rows of the table.
///
/// ```
/// use learnt::{cluster::KMedoids, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 11.0, 12.0, 14.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let model = KMedoids { n_clusters: 2, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.medoid_indices, [1, 4]);
/// assert_eq!(model.inertia, 5.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct KMedoids {
    /// Number of clusters.
    #[param(positional, default = 8, range = 1.., search = linear(2, 20))]
    pub n_clusters: usize,
    /// The distance between rows.
    #[param(default = RowDistance::EUCLIDEAN)]
    pub metric: RowDistance,
    /// The first medoids.
    #[param(default = MedoidStart::Build)]
    pub init: MedoidStart,
    /// Maximum number of passes over the candidates.
    #[param(default = 300, range = 0..)]
    pub max_iter: usize,
}

/// The first medoids.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MedoidStart {
    /// One after another, each the row that lowers the objective most.
    Build,
    /// Rows drawn at random.
    Random,
}

/// A fitted [`KMedoids`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table, converged = converged)]
pub struct KMedoidsModel {
    /// The medoids (n_clusters × n_features); with given distances, their rows of distances.
    #[shape(clusters, columns)]
    #[finite]
    pub cluster_centers: Matrix,
    /// Numbers of the medoids among the training rows.
    #[shape(clusters)]
    pub medoid_indices: Vec<u32>,
    /// Weighted sum of the distances of the training rows to their medoids.
    pub inertia: f64,
    /// Passes over the candidates.
    pub n_iter: usize,
    /// Number of rows in each cluster.
    #[shape(clusters)]
    pub cluster_sizes: Vec<u64>,
    /// Cluster of each training row.
    #[model(transient)]
    pub labels: Vec<u32>,
    metric: RowDistance,
    converged: bool,
}

/// Rows up to which all distances are kept.
const KEPT: usize = 5000;

/// Distances from one row to all.
struct Distances<'a> {
    rows: Matrix,
    /// The same column by column; empty where distances are given.
    columns: Matrix,
    metric: Option<Metric>,
    kept: Option<Matrix>,
    weights: Vec<f64>,
    /// Rows that may become medoids, ascending: in long tables, those that no earlier row equals.
    candidates: Vec<usize>,
    run: &'a Context<'a>,
}

impl<'a> Distances<'a> {
    fn new(data: &Dataset, metric: RowDistance, run: &'a Context<'a>) -> Result<Distances<'a>> {
        let rows = data.x.values().to_matrix();
        let n = rows.nrows();
        if metric.metric().is_none() {
            check_square(&rows)?;
        }
        let weights = (0..n).map(|i| data.weight(i)).collect();
        let metric = metric.metric();
        let columns = metric.map_or_else(Matrix::default, |_| rows.transposed());
        let candidates = match n > KEPT && metric.is_some() {
            true => Different::of(rows.view(), run)?.firsts,
            false => (0..n).collect(),
        };
        let mut out = Distances { rows, columns, metric, kept: None, weights, candidates, run };
        if let (Some(metric), true) = (metric, n <= KEPT) {
            run.claim_table(n, n, "the distances of all pairs of rows")?;
            let mut kept = Matrix::zeros(n, n);
            run.par_fill(kept.as_mut_slice(), n.max(1), |start, line| {
                metric.distances(out.rows.row(start / n), &out.columns, line);
            });
            run.checkpoint()?;
            out.kept = Some(kept);
        }
        Ok(out)
    }

    fn from(&self, i: usize) -> std::borrow::Cow<'_, [f64]> {
        match (&self.kept, self.metric) {
            (Some(kept), _) => kept.row(i).into(),
            (None, None) => self.rows.row(i).into(),
            (None, Some(metric)) => {
                let mut line = vec![0.0; self.count()];
                metric.distances(self.rows.row(i), &self.columns, &mut line);
                line.into()
            }
        }
    }

    fn count(&self) -> usize {
        self.rows.nrows()
    }
}

fn check_square(rows: &Matrix) -> Result<()> {
    if rows.nrows() != rows.ncols() {
        let found = format!("{} x {}", rows.nrows(), rows.ncols());
        return Err(Error::shape("distances", "a square table", found));
    }
    match rows.as_slice().iter().all(|value| *value >= 0.0) {
        true => Ok(()),
        false => Err(Error::new(Code::NotFinite, "a distance is negative")),
    }
}

/// The nearest and the second nearest medoid of a row.
#[derive(Clone, Copy, Debug)]
struct Near {
    first: u32,
    second: u32,
    to_first: f64,
    to_second: f64,
}

/// Medoids with what every row knows of them.
struct Swaps<'a> {
    distances: &'a Distances<'a>,
    medoids: Vec<usize>,
    near: Vec<Near>,
}

impl<'a> Swaps<'a> {
    fn new(distances: &'a Distances<'a>, medoids: Vec<usize>) -> Swaps<'a> {
        let nobody =
            Near { first: 0, second: 0, to_first: f64::INFINITY, to_second: f64::INFINITY };
        let mut swaps = Swaps { distances, medoids, near: vec![nobody; distances.count()] };
        swaps.look();
        swaps
    }

    /// Finds the nearest medoids of all rows anew.
    fn look(&mut self) {
        for near in &mut self.near {
            (near.to_first, near.to_second) = (f64::INFINITY, f64::INFINITY);
        }
        for (m, &medoid) in self.medoids.iter().enumerate() {
            for (near, &d) in self.near.iter_mut().zip(self.distances.from(medoid).iter()) {
                if d < near.to_first {
                    (near.second, near.to_second) = (near.first, near.to_first);
                    (near.first, near.to_first) = (m as u32, d);
                } else if d < near.to_second {
                    (near.second, near.to_second) = (m as u32, d);
                }
            }
        }
    }

    fn objective(&self) -> f64 {
        self.near.iter().zip(&self.distances.weights).map(|(near, w)| w * near.to_first).sum()
    }

    /// The medoid that is best replaced by a candidate, and by how much that lowers the objective.
    fn gain(&self, removal: &[f64], candidate: usize) -> (usize, f64) {
        let mut change = removal.to_vec();
        let mut shared = 0.0;
        let from = self.distances.from(candidate);
        for ((near, &d), &weight) in self.near.iter().zip(from.iter()).zip(&self.distances.weights)
        {
            if d < near.to_first {
                shared += weight * (d - near.to_first);
                if near.to_second < f64::INFINITY {
                    change[near.first as usize] += weight * (near.to_first - near.to_second);
                }
            } else if d < near.to_second {
                let before =
                    if near.to_second < f64::INFINITY { near.to_second } else { near.to_first };
                change[near.first as usize] += weight * (d - before);
            }
        }
        let mut best = 0;
        for (m, &value) in change.iter().enumerate() {
            if value < change[best] {
                best = m;
            }
        }
        (best, -(change[best] + shared))
    }

    /// What losing each medoid would add, all its rows going to their second medoid.
    fn removal(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.medoids.len()];
        for (near, weight) in self.near.iter().zip(&self.distances.weights) {
            if near.to_second < f64::INFINITY {
                out[near.first as usize] += weight * (near.to_second - near.to_first);
            }
        }
        out
    }

    /// Swaps until a whole pass finds nothing; gives passes and whether it ended so.
    fn improve(&mut self, max_iter: usize) -> Result<(usize, bool)> {
        let (n, candidates) = (self.distances.count(), &self.distances.candidates);
        // About 2²⁴ distances between two looks.
        let pace = ((1 << 24) / n.max(1)).clamp(1, 256);
        let mut objective = self.objective();
        let mut is_medoid = vec![false; n];
        self.medoids.iter().for_each(|&m| is_medoid[m] = true);
        let (mut still, mut removal) = (0, self.removal());
        for pass in 0..max_iter {
            for (k, &candidate) in candidates.iter().enumerate() {
                if still == candidates.len() {
                    return Ok((pass + usize::from(k > 0), true));
                }
                if k % pace == 0 {
                    self.distances.run.checkpoint()?;
                }
                still += 1;
                if is_medoid[candidate] {
                    continue;
                }
                let (medoid, gain) = self.gain(&removal, candidate);
                // Less than rounding is no gain: passes end.
                if gain <= 1e-12 * objective {
                    continue;
                }
                is_medoid[self.medoids[medoid]] = false;
                is_medoid[candidate] = true;
                self.medoids[medoid] = candidate;
                self.look();
                removal = self.removal();
                objective = self.objective();
                still = 1;
            }
            self.distances.run.record("sum of distances", pass as u64 + 1, objective);
        }
        Ok((max_iter, still == candidates.len()))
    }
}

/// Medoids one after another, each the row that lowers the objective most, the first of equals.
fn build(distances: &Distances, count: usize) -> Result<Vec<usize>> {
    let (n, candidates) = (distances.count(), &distances.candidates);
    let mut nearest = vec![f64::INFINITY; n];
    let mut medoids: Vec<usize> = Vec::new();
    while medoids.len() < count.min(candidates.len()) {
        let sums = distances.run.try_par_map(candidates.len(), |k| {
            let from = distances.from(candidates[k]);
            Ok(vectorized!(lowered(&from, &nearest, &distances.weights)))
        })?;
        let mut best = None;
        for (k, &sum) in sums.iter().enumerate() {
            let free = !medoids.contains(&candidates[k]);
            if free && best.is_none_or(|best: usize| sum < sums[best]) {
                best = Some(k);
            }
        }
        let Some(best) = best.map(|k| candidates[k]) else { break };
        for (near, &d) in nearest.iter_mut().zip(distances.from(best).iter()) {
            *near = near.min(d);
        }
        medoids.push(best);
    }
    // Fewer different rows than clusters: the rest are copies of medoids.
    let copies = (0..n).filter(|row| !medoids.contains(row));
    let copies: Vec<usize> = copies.take(count - medoids.len()).collect();
    Ok([medoids, copies].concat())
}

/// Σ w min(d, nearest), in eight interleaved sums.
#[inline(always)]
fn lowered(from: &[f64], nearest: &[f64], weights: &[f64]) -> f64 {
    let less = |d: f64, near: f64| if d < near { d } else { near };
    let (d8, d_rest) = from.as_chunks::<8>();
    let (near8, near_rest) = nearest.as_chunks::<8>();
    let (w8, w_rest) = weights.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for ((d, near), w) in d8.iter().zip(near8).zip(w8) {
        for k in 0..8 {
            sums[k] += w[k] * less(d[k], near[k]);
        }
    }
    let rest = d_rest.iter().zip(near_rest).zip(w_rest);
    lane_sum(sums) + rest.map(|((d, near), w)| w * less(*d, *near)).sum::<f64>()
}

impl Estimator for KMedoids {
    type Model = KMedoidsModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.KMedoids")
        .alias(&["pam"])
        .weights()
        .assign()
        .randomness()
        .threads()
        .iterations()
        .scaling()
        .complexity(40)
        .cost("n² p time a pass; n² distances up to 5,000 rows, else n p memory")
        .reference("Schubert and Rousseeuw (2021), Information Systems 101")
        .check_with(&[("n_clusters", "3"), ("init", "random")])
        .exempt(&[
            (
                "same_bytes_large",
                "time grows with the square of the rows; fewer rows have the same bytes",
            ),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "a random start draws other rows where rows are repeated",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KMedoidsModel> {
        let n = data.nrows();
        if self.n_clusters > n {
            let message = format!("n_samples={n} should be >= n_clusters={}", self.n_clusters);
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        let distances = Distances::new(data, self.metric, run)?;
        let start = match self.init {
            MedoidStart::Build => build(&distances, self.n_clusters)?,
            MedoidStart::Random => choose(&mut run.rng(0x6d65_646f), n, self.n_clusters),
        };
        let mut swaps = Swaps::new(&distances, start);
        let (n_iter, converged) = swaps.improve(self.max_iter)?;
        swaps.medoids.sort_unstable();
        swaps.look();
        let inertia = swaps.objective();
        if !inertia.is_finite() {
            return Err(Error::numeric("distances overflow: the values are too large"));
        }
        if !converged && self.max_iter > 0 {
            let message = format!("k-medoids did not converge in {n_iter} passes; raise max_iter");
            run.warn(Code::NotConverged, message);
        }
        let mut cluster_sizes = vec![0; self.n_clusters];
        swaps.near.iter().for_each(|near| cluster_sizes[near.first as usize] += 1);
        Ok(KMedoidsModel {
            cluster_centers: distances.rows.view().gather_rows(&swaps.medoids),
            medoid_indices: swaps.medoids.iter().map(|&m| m as u32).collect(),
            inertia,
            n_iter,
            cluster_sizes,
            labels: swaps.near.iter().map(|near| near.first).collect(),
            metric: self.metric,
            converged: converged || self.max_iter == 0,
        })
    }
}

impl KMedoidsModel {
    fn validate(&self) -> Result<()> {
        let width = self.cluster_centers.ncols() as u64;
        let given = self.metric == RowDistance::Precomputed;
        let inside = self.medoid_indices.iter().all(|&i| !given || u64::from(i) < width);
        let good = inside && !self.inertia.is_nan();
        if good { Ok(()) } else { Err(invalid("medoids beyond the rows")) }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("k-medoids", &self.cluster_sizes);
        answer.push("inertia", self.inertia);
        answer
    }
}

impl Clusterer for KMedoidsModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.iter().copied().map(Some).collect()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let width = self.cluster_centers.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let mut out = vec![0; x.nrows()];
        run.par_fill(&mut out, 1024, |first, piece| {
            let mut row = vec![0.0; width];
            for (i, label) in piece.iter_mut().enumerate() {
                x.values().copy_row(first + i, &mut row);
                let mut best = f64::INFINITY;
                for (m, &medoid) in self.medoid_indices.iter().enumerate() {
                    let distance = match self.metric.metric() {
                        Some(metric) => metric.distance(&row, self.cluster_centers.row(m)),
                        None => row[medoid as usize],
                    };
                    if distance < best {
                        (best, *label) = (distance, m as u32);
                    }
                }
            }
        });
        Ok(out.into_iter().map(Some).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> OwnedDataset {
        OwnedDataset::unsupervised(Matrix::from_fn(n, 2, |i, j| {
            (i % 4) as f64 * 3.0 + ((i * (5 + j)) as f64 * 0.618).sin()
        }))
    }

    fn cost(x: &Matrix, medoids: &[usize]) -> f64 {
        x.rows()
            .map(|row| {
                let d = medoids.iter().map(|&m| Metric::Euclidean.distance(row, x.row(m)));
                d.fold(f64::INFINITY, f64::min)
            })
            .sum()
    }

    #[test]
    fn no_single_swap_lowers_the_objective() {
        let data = rows(60);
        for init in [MedoidStart::Build, MedoidStart::Random] {
            let learner = KMedoids { n_clusters: 3, init, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            let medoids: Vec<usize> = model.medoid_indices.iter().map(|&m| m as usize).collect();
            let x = data.x.values();
            assert!((cost(x, &medoids) - model.inertia).abs() < 1e-9);
            for m in 0..3 {
                for candidate in 0..60 {
                    let mut other = medoids.clone();
                    other[m] = candidate;
                    assert!(cost(x, &other) >= model.inertia - 1e-9);
                }
            }
        }
    }

    #[test]
    fn given_distances_give_the_medoids_of_their_rows() {
        let data = rows(40);
        let x = data.x.values();
        let table = Matrix::from_fn(40, 40, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
        let learner = KMedoids { n_clusters: 4, ..Default::default() };
        let from_rows = learner.fit(&data.view()).unwrap();
        let given = KMedoids { metric: RowDistance::Precomputed, ..learner };
        let from_table = given.fit(&OwnedDataset::unsupervised(table).view()).unwrap();
        assert_eq!(from_rows.medoid_indices, from_table.medoid_indices);
        assert_eq!(from_rows.labels, from_table.labels);
    }

    /// Copies are not tried as medoids: a pass takes time in proportion to the different rows.
    #[test]
    fn rows_by_the_thousand_that_are_copies_cost_little() {
        let places = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [9.0, 9.0]];
        let x = Matrix::from_fn(60_000, 2, |i, j| places[i % 5][j]);
        let data = OwnedDataset::unsupervised(x);
        for init in [MedoidStart::Build, MedoidStart::Random] {
            let fit = |n_clusters| {
                let learner = KMedoids { n_clusters, init, ..Default::default() };
                learner.fit(&data.view()).unwrap()
            };
            assert_eq!(fit(5).inertia, 0.0);
            let few = fit(3);
            assert_eq!(few.inertia, 24_000.0);
            let mut sizes = few.cluster_sizes.clone();
            sizes.sort_unstable();
            assert_eq!(sizes, [12_000, 12_000, 36_000]);
            assert_eq!(fit(7).inertia, 0.0);
        }
    }

    #[test]
    fn one_cluster_has_the_row_of_least_total_distance() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 10.0, 11.0]);
        let data = OwnedDataset::unsupervised(x);
        let model = KMedoids { n_clusters: 1, ..Default::default() }.fit(&data.view()).unwrap();
        assert_eq!((model.medoid_indices[0], model.inertia), (2, 20.0));
        let error = KMedoids::default().fit(&data.view()).unwrap_err();
        assert!(error.message().contains("n_clusters=8"), "{error}");
    }
}
