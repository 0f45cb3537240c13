//! DBSCAN: clusters are rows joined through dense places.
//!
//! A row is a core row if the rows within `eps` of it, itself included, weigh at least `min_samples`.
//! Core rows within `eps` of each other are of one cluster; other rows near a core row are border rows and join
//! the first of their clusters, that of their nearest core row (the lowest row of equals), or all of them; the
//! rest is noise. Clusters are numbered by their first core row. Euclidean
//! distances over up to three columns go by a grid of cells ([`dbscan_grid`](super::dbscan_grid)), up to
//! fifteen by a tree of boxes ([`dbscan_tree`](super::dbscan_tree)); others by searches of the neighbour
//! index, or of given distances, to count and to join; of no more rows than columns the distances of all pairs are
//! taken once. Memory never grows with the number of neighbours. Of rows that are mostly copies the different ones are clustered, with the weight of their copies.
//!
//! M. Ester, H.-P. Kriegel, J. Sander and X. Xu (1996), KDD, 226-231.

use super::copies::Different;
use super::dbscan_grid;
use super::dbscan_tree::Vicinity;
use crate::metrics::tiles;
use crate::neighbors::{Algorithm, Grid, Index, Metric, RowDistance, Structure};
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
    #[param(default = RowDistance::EUCLIDEAN)]
    pub metric: RowDistance,
    /// How neighbours are found; the result is the same.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// Rows in a leaf of a tree; only time depends on it.
    #[param(default = 30, range = 1..)]
    pub leaf_size: usize,
    /// Power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
    /// Which cluster border rows join.
    #[param(default = Border::First)]
    pub border: Border,
}

/// Which cluster border rows join.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Border {
    /// The first of those that have a core row near them.
    First,
    /// That of the nearest core row.
    Nearest,
    /// All of them: labels are those of `first`, and the others are listed beside.
    All,
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
    /// Border rows and the clusters with a core row near them, one pair a line; only where they join all.
    #[model(transient)]
    pub border_memberships: Option<Matrix>,
    #[model(transient)]
    labels: Vec<Option<u32>>,
}

impl DBSCAN {
    fn constraints(&self) -> Result<()> {
        match self.metric.with_power(self.p) {
            Some(metric) => self.algorithm.structure(metric, usize::MAX, 1).check(metric),
            None => Ok(()),
        }
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
        if let Some(clusters) = self.dense_clusters(data, run)? {
            let search = || self.search(data.x.values(), run);
            return Ok(DBSCANModel::new(self.with_borders(clusters, search, run)?));
        }
        let different = match data.nrows() > MANY && self.metric != RowDistance::Precomputed {
            true => Some(Different::of(data.x.values(), run)?).filter(Different::are_few),
            false => None,
        };
        match different {
            None => Ok(DBSCANModel::new(self.by_search(data, run)?)),
            Some(different) => {
                let found = self.by_search(&different.table(data).view(), run)?;
                Ok(DBSCANModel::new(found.spread(&different)))
            }
        }
    }
}

/// Rows from which copies are looked for.
const MANY: usize = 5000;

/// Core rows, clusters, and the clusters of border rows that join all.
struct Found {
    core: Vec<bool>,
    labels: Vec<Option<u32>>,
    memberships: Option<Matrix>,
}

impl Found {
    /// The same for every copy of the rows.
    fn spread(self, different: &Different) -> Found {
        let places = || different.of_row.iter().map(|&place| place as usize);
        let memberships = self.memberships.map(|pairs| {
            let mut by_place: Vec<Vec<f64>> = vec![Vec::new(); different.firsts.len()];
            pairs.rows().for_each(|pair| by_place[pair[0] as usize].push(pair[1]));
            let lines = places().enumerate().flat_map(|(i, place)| {
                by_place[place].iter().map(move |&cluster| [i as f64, cluster])
            });
            let lines: Vec<[f64; 2]> = lines.collect();
            Matrix::from_fn(lines.len(), 2, |i, j| lines[i][j])
        });
        Found {
            core: places().map(|place| self.core[place]).collect(),
            labels: places().map(|place| self.labels[place]).collect(),
            memberships,
        }
    }
}

impl DBSCAN {
    fn by_search(&self, data: &Dataset, run: &Context) -> Result<Found> {
        let search = self.search(data.x.values(), run)?;
        let core = self.core_rows(data, &search, run)?;
        let labels = join(&search, &core, run)?;
        self.with_borders((core, labels), || Ok(search), run)
    }

    fn with_borders<'a>(
        &self,
        clusters: Clusters,
        search: impl FnOnce() -> Result<Search<'a>>,
        run: &Context,
    ) -> Result<Found> {
        let (core, mut labels) = clusters;
        let memberships = match self.border {
            Border::First => None,
            Border::Nearest => {
                to_nearest(&search()?, &core, &mut labels, run)?;
                None
            }
            Border::All => Some(memberships(&search()?, &core, &labels, run)?),
        };
        Ok(Found { core, labels, memberships })
    }
}

impl DBSCANModel {
    fn new(found: Found) -> DBSCANModel {
        let Found { core, labels, memberships: border_memberships } = found;
        let clusters = labels.iter().flatten().map(|label| *label as usize + 1).max().unwrap_or(0);
        let mut cluster_sizes = vec![0; clusters];
        labels.iter().flatten().for_each(|label| cluster_sizes[*label as usize] += 1);
        let n_noise = labels.iter().filter(|label| label.is_none()).count() as u64;
        let core_sample_indices = (0..core.len()).filter(|&i| core[i]).map(|i| i as u32).collect();
        DBSCANModel { core_sample_indices, cluster_sizes, n_noise, border_memberships, labels }
    }
}

/// Searches within one radius.
enum Search<'a> {
    Rows { x: MatRef<'a>, index: Index, radius: f64 },
    Given { d: MatRef<'a>, radius: f64 },
    Pairs { d: Matrix, radius: f64 },
}

impl Search<'_> {
    /// Calls `f` with each of these rows, the rows within the radius and their distances, in order.
    fn each(
        &self,
        rows: &[usize],
        run: &Context,
        mut f: impl FnMut(usize, &[u32], &[f64]),
    ) -> Result<()> {
        let (d, radius) = match self {
            Search::Rows { x, index, radius } => {
                return index.each_within(*x, rows, *radius, run, |i, near, distances| {
                    f(i, near, distances);
                    Ok(())
                });
            }
            Search::Given { d, radius } => (*d, *radius),
            Search::Pairs { d, radius } => (d.view(), *radius),
        };
        let (mut near, mut distances) = (Vec::new(), Vec::new());
        for (k, &i) in rows.iter().enumerate() {
            if k % 256 == 0 {
                run.checkpoint()?;
            }
            near.clear();
            distances.clear();
            for j in 0..d.ncols() {
                let distance = if i == j { 0.0 } else { d.at(i, j) };
                if distance <= radius {
                    near.push(j as u32);
                    distances.push(distance);
                }
            }
            f(i, &near, &distances);
        }
        Ok(())
    }
}

/// The distances of all pairs of rows.
fn all_pairs(x: MatRef, metric: Metric, run: &Context) -> Result<Matrix> {
    let n = x.nrows();
    let (rows, mut d) = (x.to_matrix(), Matrix::zeros(n, n));
    let lines = d.as_mut_slice().chunks_exact_mut(n.max(1)).enumerate();
    let mut later: Vec<&mut [f64]> = lines.map(|(i, line)| &mut line[i..]).collect();
    tiles::distances(&rows, &rows, (metric, false), &mut later, run)?;
    for i in 0..n {
        for j in 0..i {
            d[(i, j)] = d[(j, i)];
        }
    }
    Ok(d)
}

/// Refuses a table that holds no distances between its rows.
pub(super) fn check_distances(d: MatRef, run: &Context) -> Result<()> {
    let n = d.nrows();
    if d.ncols() != n {
        let found = format!("{n} x {}", d.ncols());
        return Err(Error::shape("X", "a square table of distances", found));
    }
    for i in 0..n {
        if i % 256 == 0 {
            run.checkpoint()?;
        }
        for j in 0..i {
            let (there, back) = (d.at(i, j), d.at(j, i));
            if there < 0.0 || back < 0.0 {
                let message = format!(
                    "the distance between rows {} and {} is {}, below 0",
                    j + 1,
                    i + 1,
                    there.min(back)
                );
                return Err(Error::new(Code::Usage, message));
            }
            if (there - back).abs() > 1e-9 * there.max(back) {
                let message = format!(
                    "the distance from row {} to row {} is {back}, and {there} back",
                    j + 1,
                    i + 1
                );
                return Err(
                    Error::new(Code::Usage, message).hint("take (D + D') / 2, which is symmetric")
                );
            }
        }
    }
    Ok(())
}

impl DBSCAN {
    /// The searches around rows, or in given distances.
    fn search<'a>(&self, x: MatRef<'a>, run: &Context) -> Result<Search<'a>> {
        let radius = self.eps;
        let Some(metric) = self.metric.with_power(self.p) else {
            check_distances(x, run)?;
            return Ok(Search::Given { d: x, radius });
        };
        let structure = self.algorithm.structure(metric, x.nrows(), x.ncols());
        let (n, columns) = (x.nrows() as u64, x.ncols() as u64);
        // The distances, the copy that is compared, and that in groups.
        let bytes = 8 * n.saturating_mul(n + 2 * columns);
        let few = n <= columns && run.has_room(bytes);
        // Rows of length one have sums of their own.
        if few && structure == Structure::Brute && metric != Metric::Cosine {
            return Ok(Search::Pairs { d: all_pairs(x, metric, run)?, radius });
        }
        Ok(Search::Rows {
            x,
            index: Index::build(x, metric, structure, self.leaf_size, run)?,
            radius,
        })
    }

    /// Core rows and clusters by a grid or a tree of boxes, where there can be one and no other search
    /// is asked for.
    fn dense_clusters(&self, data: &Dataset, run: &Context) -> Result<Option<Clusters>> {
        let x = data.x.values();
        let metric = self.metric.with_power(self.p);
        if self.algorithm != Algorithm::Auto || metric != Some(Metric::Euclidean) {
            return Ok(None);
        }
        let least = self.min_samples as f64;
        if let Some(grid) = Grid::new(x, self.eps, run)? {
            return dbscan_grid::clusters(&grid, data, self.eps, least, run).map(Some);
        }
        let structure = self.algorithm.structure(Metric::Euclidean, x.nrows(), x.ncols());
        if structure != Structure::KdTree {
            return Ok(None);
        }
        let near = Vicinity::new(data, self.eps, run)?;
        let core = near.core_rows(least, run)?;
        let labels = near.borders(near.join(&core, run)?, run)?;
        Ok(Some((core, labels)))
    }

    /// Whether the neighbours of each row weigh enough.
    fn core_rows(&self, data: &Dataset, search: &Search, run: &Context) -> Result<Vec<bool>> {
        let all: Vec<usize> = (0..data.nrows()).collect();
        let mut core = Vec::with_capacity(data.nrows());
        search.each(&all, run, |_, neighbours, _| {
            let weight: f64 = neighbours.iter().map(|&row| data.weight(row as usize)).sum();
            core.push(weight >= self.min_samples as f64);
        })?;
        Ok(core)
    }
}

/// Which rows are core rows, and the cluster of each row.
type Clusters = (Vec<bool>, Vec<Option<u32>>);

/// Border rows: in a cluster, but no core rows.
fn border_rows(core: &[bool], labels: &[Option<u32>]) -> Vec<usize> {
    (0..core.len()).filter(|&i| !core[i] && labels[i].is_some()).collect()
}

/// Border rows take the cluster of their nearest core row, the lowest row of equals.
fn to_nearest(
    search: &Search,
    core: &[bool],
    labels: &mut [Option<u32>],
    run: &Context,
) -> Result<()> {
    let clusters = labels.to_vec();
    search.each(&border_rows(core, &clusters), run, |i, near, distances| {
        let cores = near.iter().zip(distances).filter(|(row, _)| core[**row as usize]);
        let nearest = cores.min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(b.0)));
        if let Some((&row, _)) = nearest {
            labels[i] = clusters[row as usize];
        }
    })
}

/// Border rows with each of the clusters that have a core row near them.
fn memberships(
    search: &Search,
    core: &[bool],
    labels: &[Option<u32>],
    run: &Context,
) -> Result<Matrix> {
    let mut pairs: Vec<[f64; 2]> = Vec::new();
    search.each(&border_rows(core, labels), run, |i, near, _| {
        let cores = near.iter().map(|&row| row as usize).filter(|&row| core[row]);
        let mut clusters: Vec<u32> = cores.filter_map(|row| labels[row]).collect();
        clusters.sort_unstable();
        clusters.dedup();
        pairs.extend(clusters.into_iter().map(|cluster| [i as f64, f64::from(cluster)]));
    })?;
    Ok(Matrix::from_fn(pairs.len(), 2, |i, j| pairs[i][j]))
}

/// Clusters of core rows that are near each other, and of the rows near to those.
fn join(search: &Search, core: &[bool], run: &Context) -> Result<Vec<Option<u32>>> {
    let (inner, others): (Vec<usize>, Vec<usize>) = (0..core.len()).partition(|&i| core[i]);
    let mut forest = Forest::new(core.len());
    search.each(&inner, run, |i, neighbours, _| {
        let near = neighbours.iter().map(|&row| row as usize).filter(|&row| core[row]);
        near.for_each(|row| forest.join(i, row));
    })?;
    let root = |i: usize| core[i].then(|| forest.root(i) as u32);
    let number = numbered(&(0..core.len()).map(root).collect::<Vec<_>>());
    let mut labels = number.clone();
    search.each(&others, run, |i, neighbours, _| {
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
        if let Some(pairs) = &self.border_memberships {
            let rows: Vec<f64> = pairs.column(0);
            let later = rows.windows(2).filter(|pair| pair[0] == pair[1]).count();
            answer.push("memberships of border rows", rows.len());
            answer.push("of them beside the first", later);
        }
        answer
    }
}

impl Clusterer for DBSCANModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }
}

#[cfg(test)]
mod tests;
