//! DBSCAN: clusters are rows joined through dense places.
//!
//! A row is a core row if the rows within `eps` of it, itself included, weigh at least `min_samples`.
//! Core rows within `eps` of each other are of one cluster; other rows near a core row join the first
//! of their clusters, and the rest is noise. Clusters are numbered by their first core row. Euclidean
//! distances over up to three columns go by a grid of cells ([`dbscan_grid`](super::dbscan_grid)), up to
//! fifteen by a tree of boxes ([`dbscan_tree`](super::dbscan_tree)); others by searches of the neighbour
//! index, to count and to join. Memory never grows with the number of neighbours.
//!
//! M. Ester, H.-P. Kriegel, J. Sander and X. Xu (1996), KDD, 226-231.

use super::dbscan_grid;
use super::dbscan_tree::Vicinity;
use crate::neighbors::{Algorithm, Grid, Index, Metric, MetricName, Structure};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Groups rows that lie densely, of any shape, and leaves out noise.
///
/// ```
/// use learnt::{cluster::DBSCAN, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let model = DBSCAN { eps: 1.0, min_samples: 4, ..Default::default() }.fit(&data.view())?;
/// let labels: Vec<i64> = model.labels().iter().map(|l| l.map_or(-1, i64::from)).collect();
/// assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, -1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct DBSCAN {
    /// Distance up to which rows are neighbours.
    #[param(positional, default = 0.5, above = 0.0, search = log(1e-2, 1e2))]
    pub eps: f64,
    /// Weight of a core row's neighbours, itself included.
    #[param(default = 5, range = 1.., search = linear(2, 20))]
    pub min_samples: usize,
    /// The distance.
    #[param(default = MetricName::Euclidean)]
    pub metric: MetricName,
    /// How neighbours are found; the result is the same.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// Rows in a leaf of a tree; only time depends on it.
    #[param(default = 30, range = 1..)]
    pub leaf_size: usize,
    /// Power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
}

/// A fitted [`DBSCAN`]. The clusters of the training rows are in memory only.
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table)]
pub struct DBSCANModel {
    /// Numbers of the core rows.
    #[model(transient)]
    pub core_sample_indices: Vec<u32>,
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// Number of rows in no cluster.
    pub n_noise: u64,
    #[model(transient)]
    labels: Vec<Option<u32>>,
}

impl DBSCAN {
    fn constraints(&self) -> Result<()> {
        let metric = self.metric.with_power(self.p);
        self.algorithm.structure(metric, usize::MAX, 1).check(metric)
    }
}

impl Estimator for DBSCAN {
    type Model = DBSCANModel;
    type Fit = rounds::Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.DBSCAN")
        .weights()
        .threads()
        .scaling()
        .complexity(40)
        .cost("n log n time for few columns, whatever the number of neighbours, else n² p; n p memory")
        .reference("Ester, Kriegel, Sander and Xu (1996), KDD, 226-231");

    fn train(&self, data: &Dataset, run: &Context) -> Result<DBSCANModel> {
        let x = data.x.values();
        let metric = self.metric.with_power(self.p);
        let structure = self.algorithm.structure(metric, x.nrows(), x.ncols());
        let least = self.min_samples as f64;
        let dense = self.algorithm == Algorithm::Auto && metric == Metric::Euclidean;
        let (core, labels) = match self.grid(x, metric, run)? {
            Some(grid) => dbscan_grid::clusters(&grid, data, self.eps, least, run)?,
            None if dense && structure == Structure::KdTree => {
                let near = Vicinity::new(data, self.eps, run)?;
                let core = near.core_rows(least, run)?;
                let labels = near.borders(near.join(&core, run)?, run)?;
                (core, labels)
            }
            None => {
                let index = Index::build(x, metric, structure, self.leaf_size, run)?;
                let search = Search { x, index: &index, radius: self.eps };
                let core = self.core_rows(data, &search, run)?;
                let labels = join(&search, &core, run)?;
                (core, labels)
            }
        };
        let clusters = labels.iter().flatten().map(|label| *label as usize + 1).max().unwrap_or(0);
        let mut cluster_sizes = vec![0; clusters];
        labels.iter().flatten().for_each(|label| cluster_sizes[*label as usize] += 1);
        let n_noise = labels.iter().filter(|label| label.is_none()).count() as u64;
        let core_sample_indices = (0..core.len()).filter(|&i| core[i]).map(|i| i as u32).collect();
        Ok(DBSCANModel { core_sample_indices, cluster_sizes, n_noise, labels })
    }
}

/// Searches within one radius.
struct Search<'a> {
    x: MatRef<'a>,
    index: &'a Index,
    radius: f64,
}

impl Search<'_> {
    /// Calls `f` with each of these rows and the rows within the radius, in order.
    fn each(&self, rows: &[usize], run: &Context, mut f: impl FnMut(usize, &[u32])) -> Result<()> {
        const CHUNK: usize = 1024;
        for rows in rows.chunks(CHUNK) {
            run.checkpoint()?;
            let found = self.index.within(self.x.gather_rows(rows).view(), self.radius, run)?;
            rows.iter().enumerate().for_each(|(k, &i)| f(i, found.rows(k)));
        }
        Ok(())
    }
}

impl DBSCAN {
    /// The grid, where there can be one and no other search is asked for.
    fn grid(&self, x: MatRef, metric: Metric, run: &Context) -> Result<Option<Grid>> {
        match self.algorithm == Algorithm::Auto && metric == Metric::Euclidean {
            true => Grid::new(x, self.eps, run),
            false => Ok(None),
        }
    }

    /// Whether the neighbours of each row weigh enough.
    fn core_rows(&self, data: &Dataset, search: &Search, run: &Context) -> Result<Vec<bool>> {
        let all: Vec<usize> = (0..data.nrows()).collect();
        let mut core = Vec::with_capacity(data.nrows());
        search.each(&all, run, |_, neighbours| {
            let weight: f64 = neighbours.iter().map(|&row| data.weight(row as usize)).sum();
            core.push(weight >= self.min_samples as f64);
        })?;
        Ok(core)
    }
}

/// Clusters of core rows that are near each other, and of the rows near to those.
fn join(search: &Search, core: &[bool], run: &Context) -> Result<Vec<Option<u32>>> {
    let (inner, others): (Vec<usize>, Vec<usize>) = (0..core.len()).partition(|&i| core[i]);
    let mut forest = Forest::new(core.len());
    search.each(&inner, run, |i, neighbours| {
        let near = neighbours.iter().map(|&row| row as usize).filter(|&row| core[row]);
        near.for_each(|row| forest.join(i, row));
    })?;
    let root = |i: usize| core[i].then(|| forest.root(i) as u32);
    let number = numbered(&(0..core.len()).map(root).collect::<Vec<_>>());
    let mut labels = number.clone();
    search.each(&others, run, |i, neighbours| {
        labels[i] = neighbours.iter().filter_map(|&row| number[row as usize]).min();
    })?;
    Ok(labels)
}

/// The largest square whose root is not above the radius.
pub(super) fn largest_square(radius: f64) -> f64 {
    if radius == f64::INFINITY {
        return radius;
    }
    let mut square = radius * radius;
    while square.sqrt() > radius {
        square = square.next_down();
    }
    while square.next_up().sqrt() <= radius {
        square = square.next_up();
    }
    square
}

/// Groups as numbers from 0, in the order of their first rows.
pub(super) fn numbered(groups: &[Option<u32>]) -> Vec<Option<u32>> {
    let largest = groups.iter().flatten().max().map_or(0, |&group| group as usize + 1);
    let mut numbers: Vec<Option<u32>> = vec![None; largest];
    let mut count = 0;
    let number = |group: &Option<u32>| {
        group.map(|group| {
            *numbers[group as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        })
    };
    groups.iter().map(number).collect()
}

/// Trees of joined rows; the root is the lowest row of its tree.
pub(super) struct Forest {
    parent: Vec<u32>,
}

impl Forest {
    pub(super) fn new(rows: usize) -> Forest {
        Forest { parent: (0..rows as u32).collect() }
    }

    pub(super) fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] as usize != i {
            self.parent[i] = self.parent[self.parent[i] as usize];
            i = self.parent[i] as usize;
        }
        i
    }

    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}

impl DBSCANModel {
    fn validate(&self) -> Result<()> {
        match self.cluster_sizes.iter().all(|&size| size > 0) {
            true => Ok(()),
            false => Err(invalid("a cluster without rows")),
        }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut table = Columns::new("Clusters", &["cluster", "rows"]);
        for (cluster, &rows) in self.cluster_sizes.iter().enumerate() {
            table.push(vec![Cell::Count(cluster as i64), Cell::Count(rows as i64)]);
        }
        let mut answer = Answer::new("DBSCAN");
        answer.tables.push(table);
        answer.push("noise", self.n_noise);
        answer
    }
}

impl Clusterer for DBSCANModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(rows: usize) -> OwnedDataset {
        let x = Matrix::from_fn(rows, 2, |i, j| {
            let (angle, radius) = ((i / 2) as f64 * 2.399_963, 1.0 + 3.0 * (i % 2) as f64);
            radius * if j == 0 { angle.cos() } else { angle.sin() }
        });
        OwnedDataset::unsupervised(x)
    }

    #[test]
    fn a_ring_inside_a_ring_is_two_clusters_by_every_search() {
        let data = rings(600);
        let expected: Vec<Option<u32>> = (0..600).map(|i| Some((i % 2) as u32)).collect();
        for algorithm in [Algorithm::Auto, Algorithm::Brute, Algorithm::KdTree, Algorithm::BallTree]
        {
            let model = DBSCAN { eps: 0.5, algorithm, ..Default::default() };
            assert_eq!(model.fit(&data.view()).unwrap().labels(), expected);
        }
    }

    #[test]
    fn clusters_are_those_of_the_definition() {
        let x = Matrix::from_fn(120, 2, |i, j| ((i * (5 + 2 * j) % 37) as f64 * 0.21).sin() * 3.0);
        let data = OwnedDataset::unsupervised(x);
        let learner = DBSCAN { eps: 0.45, min_samples: 4, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let near = |a: usize, b: usize| {
            let (a, b) = (data.x.values().row(a), data.x.values().row(b));
            (a[0] - b[0]).hypot(a[1] - b[1]) <= 0.45
        };
        let core = |i: usize| (0..120).filter(|&k| near(i, k)).count() >= 4;
        // Labels by flooding from each core row in turn.
        let mut labels: Vec<Option<u32>> = vec![None; 120];
        let mut next = 0;
        for seed in 0..120 {
            if labels[seed].is_some() || !core(seed) {
                continue;
            }
            let mut stack = vec![seed];
            while let Some(i) = stack.pop() {
                if labels[i].is_some() {
                    continue;
                }
                labels[i] = Some(next);
                if core(i) {
                    stack.extend((0..120).filter(|&k| near(i, k)));
                }
            }
            next += 1;
        }
        assert!(next > 1 && labels.contains(&None), "{next} clusters");
        assert_eq!(model.labels(), labels);
    }

    #[test]
    fn the_largest_square_is_found_for_every_radius() {
        assert_eq!(largest_square(f64::INFINITY), f64::INFINITY);
        for radius in [1e-300, 3e-162, 0.1, 1.0, 7.3, 1e154, 1e200, f64::MAX] {
            let square = largest_square(radius);
            assert!(square.sqrt() <= radius && square.next_up().sqrt() > radius, "{radius}");
        }
    }

    #[test]
    fn grid_and_boxes_give_what_the_searches_give() {
        let few =
            [(1, 0.003, 3), (2, 0.2, 4), (2, 0.02, 2), (3, 0.4, 5), (3, 1.2, 30), (2, 3.0, 9)];
        let more = [(4, 0.9, 4), (5, 1.2, 9), (6, 1.1, 3), (8, 1.5, 5), (4, 9.0, 600)];
        let mut several = 0;
        for (width, eps, min_samples) in few.into_iter().chain(more) {
            let x = Matrix::from_fn(700, width, |i, j| {
                ((i * (5 + 2 * j) % 331) as f64 * 0.21).sin() * 3.0
            });
            let mut data = OwnedDataset::unsupervised(x);
            for weighted in [false, true] {
                if weighted {
                    data.weights = Some((0..700).map(|i| f64::from(i % 3 + 1) / 2.0).collect());
                }
                let fit = |algorithm| {
                    let learner = DBSCAN { eps, min_samples, algorithm, ..Default::default() };
                    learner.fit(&data.view()).unwrap()
                };
                let (grid, tree) = (fit(Algorithm::Auto), fit(Algorithm::KdTree));
                assert_eq!(grid.labels(), tree.labels());
                assert_eq!(grid.core_sample_indices, tree.core_sample_indices);
                let mixed = grid.cluster_sizes.len() > 1 && grid.n_noise > 0;
                several += u32::from(width > 3 && mixed);
            }
        }
        assert!(several == 8, "{several} cases with clusters and noise");
    }

    #[test]
    fn two_sets_are_near_where_a_cluster_of_single_rows_holds_both() {
        use crate::neighbors::{AnyWithin, TwoSets};
        let mut answers = [0, 0];
        for seed in 0..20 {
            let place = |i: usize, j: usize| ((i * (3 + j) + 17 * seed) as f64 * 1.3).sin() * 30.0;
            let a = Matrix::from_fn(9, 2, place);
            let b = Matrix::from_fn(8, 2, |i, j| place(i + 50, j));
            let both = Matrix::from_fn(17, 2, |i, j| if i < 9 { a[(i, j)] } else { b[(i - 9, j)] });
            let data = OwnedDataset::unsupervised(both);
            for eps in [0.5, 2.0, 5.0] {
                let near = AnyWithin { radius: eps };
                let near = near.compute(TwoSets { a: a.view(), b: b.view() }).unwrap();
                let learner = DBSCAN { eps, min_samples: 1, ..Default::default() };
                let labels = learner.fit(&data.view()).unwrap().labels();
                let mixed = (0..9).any(|i| (9..17).any(|j| labels[i] == labels[j]));
                assert_eq!(near, mixed, "{seed} {eps}");
                answers[usize::from(near)] += 1;
            }
        }
        assert!(answers.iter().all(|count| *count > 0));
    }

    #[test]
    fn half_a_million_equal_rows_are_one_cluster() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(500_000, 2, |_, _| 0.1));
        let model = DBSCAN::default().fit(&data.view()).unwrap();
        assert_eq!((model.cluster_sizes.as_slice(), model.n_noise), (&[500_000][..], 0));
    }

    #[test]
    fn a_weight_counts_as_so_many_rows() {
        let x = Matrix::column_vector(vec![0.0, 0.4, 5.0]);
        let mut data = OwnedDataset::unsupervised(x);
        let learner = DBSCAN { min_samples: 3, ..Default::default() };
        assert_eq!(learner.fit(&data.view()).unwrap().labels(), [None; 3]);
        data.weights = Some(vec![2.0, 1.0, 1.0]);
        assert_eq!(learner.fit(&data.view()).unwrap().labels(), [Some(0), Some(0), None]);
    }
}
