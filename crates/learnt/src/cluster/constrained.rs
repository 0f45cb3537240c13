//! Hierarchical clustering under constraints, and linkages by likelihood and by graph degree.
//!
//! Rows that must be together begin together; two clusters that hold rows which must not be together
//! never merge; with `n_neighbors`, clusters merge only where the graph of nearest neighbours has an
//! edge between them. The nearest pair merges, the lowest pair of equals, until `n_clusters` are left or
//! no merger is allowed.
//!
//! `single`, `complete`, `average`, `ward` as in `cluster.linkage`. `probability`: n ln|S| - a ln|A| -
//! b ln|B|, twice the log-likelihood ratio of two normal laws against one, with the covariances of all,
//! of the first and of the second cluster, to each of which a hundredth of the mean variance of the
//! columns is added. `graph_degree`: -ln Σ d⁻ d⁺ over the rows of both clusters, d⁻ and d⁺ the mean weight of
//! edges from and to the other cluster; edges lead to the nearest rows with weight exp(-d²/σ²), σ² the
//! mean squared length of edges.
//!
//! K. Wagstaff et al. (2001), ICML, 577-584; W. Zhang et al. (2012), ECCV, 428-441.

use super::dbscan::Forest;
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::linalg::{Cholesky, squared_distance};
use learnt_core::prelude::*;

/// Rows, and pairs of rows that must or must not be together.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndPairs<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// Pairs of rows that must be in one cluster, from 0, one pair a line.
    #[input(apart)]
    pub must_link: Option<MatRef<'a>>,
    /// Pairs of rows that must not be in one cluster.
    #[input(apart)]
    pub cannot_link: Option<MatRef<'a>>,
}

/// The distance between clusters.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstrainedLinkageKind {
    /// The root of twice the increase of the sum of squares.
    Ward,
    /// The largest distance of two rows.
    Complete,
    /// The mean distance of two rows.
    Average,
    /// The least distance of two rows.
    Single,
    /// Twice the log-likelihood ratio of two normal laws against one.
    Probability,
    /// The degrees of the rows of one cluster in the other, in the graph of nearest neighbours.
    GraphDegree,
}

/// Hierarchical clustering with must-link and cannot-link pairs, connectivity, and linkages by
/// likelihood and by graph degree.
#[derive(Params, Clone, Debug)]
pub struct ConstrainedLinkage {
    /// Number of clusters to end with.
    #[param(positional, default = 2, range = 1..)]
    pub n_clusters: usize,
    /// The distance between clusters.
    #[param(positional, default = ConstrainedLinkageKind::Average)]
    pub method: ConstrainedLinkageKind,
    /// Neighbours of each row in the graph that mergers follow; none allows all mergers.
    #[param(range = 1..)]
    pub n_neighbors: Option<usize>,
    /// Neighbours of each row in the graph of `graph_degree`.
    #[param(default = 10, range = 1..)]
    pub degree_neighbors: usize,
}

/// Clusters and the mergers that led to them.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ConstrainedClusters {
    /// The cluster of each row, numbered by first rows.
    pub value: Vec<u64>,
    /// Mergers: the lowest rows of both clusters, and their distance; must-link pairs have none.
    pub mergers: Matrix,
    /// Number of clusters.
    pub n_clusters: u64,
    /// Whether no further merger was allowed although more clusters are left than asked for.
    pub blocked: bool,
}

/// What distances between clusters are computed from.
struct Space<'a> {
    x: &'a Matrix,
    method: ConstrainedLinkageKind,
    floor: f64,
    /// Weights of edges of each row, by their ends.
    edges: Vec<Vec<(u32, f64)>>,
}

impl Function for ConstrainedLinkage {
    type Inputs<'a> = RowsAndPairs<'a>;
    type Output = ConstrainedClusters;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.constrained_linkage", FunctionKind::Analysis)
            .threads()
            .reference("Wagstaff et al. (2001), ICML, 577-584; Zhang et al. (2012), ECCV, 428-441");

    fn call(&self, given: RowsAndPairs, run: &Context) -> Result<ConstrainedClusters> {
        let x = given.x.to_matrix();
        let n = x.nrows();
        run.claim(9 * (n * n) as u64, "the distances and constraints of all pairs")?;
        let must = pairs(given.must_link, n, "must_link")?;
        let cannot = pairs(given.cannot_link, n, "cannot_link")?;
        let mut forest = Forest::new(n);
        must.iter().for_each(|&(a, b)| forest.join(a, b));
        if let Some((a, b)) = cannot.iter().find(|&&(a, b)| forest.root(a) == forest.root(b)) {
            let message = format!("rows {a} and {b} must and must not be in one cluster");
            return Err(Error::new(Code::Usage, message).hint("drop one of the pairs"));
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); n];
        (0..n).for_each(|i| members[forest.root(i)].push(i));
        let space = self.space(&x, run)?;
        let allowed = self.allowed(&x, &cannot, &mut forest, run)?;
        let mut state = State { members, allowed, distances: vec![f64::INFINITY; n * n], n };
        state.measure_all(&space, run)?;
        state.merge_down(self.n_clusters, &space, run)
    }
}

/// Pairs of rows, checked.
fn pairs(given: Option<MatRef>, n: usize, name: &str) -> Result<Vec<(usize, usize)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if given.ncols() != 2 {
        return Err(Error::shape(name, "2 columns", format!("{} columns", given.ncols())));
    }
    let row = |value: f64| match value >= 0.0 && value.fract() == 0.0 && value < n as f64 {
        true => Ok(value as usize),
        false => Err(Error::parameter(name, format!("rows from 0 to {}", n - 1), value)),
    };
    (0..given.nrows()).map(|i| Ok((row(given.at(i, 0))?, row(given.at(i, 1))?))).collect()
}

impl ConstrainedLinkage {
    fn space<'a>(&self, x: &'a Matrix, run: &Context) -> Result<Space<'a>> {
        let (n, d) = (x.nrows() as f64, x.ncols());
        let variance = |j: usize| {
            let column = x.column(j);
            let mean = column.iter().sum::<f64>() / n;
            column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n
        };
        let floor = 0.01 * (0..d).map(variance).sum::<f64>() / d as f64;
        let edges = match self.method {
            ConstrainedLinkageKind::GraphDegree => edges(x, self.degree_neighbors, run)?,
            _ => Vec::new(),
        };
        let floor = if floor > 0.0 { floor } else { 1.0 };
        match floor.is_finite() {
            true => Ok(Space { x, method: self.method, floor, edges }),
            false => Err(Error::numeric("squares overflow: the values are too large")),
        }
    }

    /// Which pairs of clusters (by their lowest rows) may merge.
    fn allowed(
        &self,
        x: &Matrix,
        cannot: &[(usize, usize)],
        forest: &mut Forest,
        run: &Context,
    ) -> Result<Vec<Link>> {
        let n = x.nrows();
        let start = if self.n_neighbors.is_some() { Link::Apart } else { Link::Allowed };
        let mut out = vec![start; n * n];
        let set = |out: &mut Vec<Link>, a: usize, b: usize, link: Link| {
            out[a * n + b] = link;
            out[b * n + a] = link;
        };
        if let Some(k) = self.n_neighbors {
            for (i, near) in nearest(x, k, run)?.into_iter().enumerate() {
                for (j, _) in near {
                    let (a, b) = (forest.root(i), forest.root(j as usize));
                    set(&mut out, a, b, Link::Allowed);
                }
            }
        }
        for &(a, b) in cannot {
            let (a, b) = (forest.root(a), forest.root(b));
            set(&mut out, a, b, Link::Never);
        }
        Ok(out)
    }
}

/// The nearest other rows of each row, with their distances.
fn nearest(x: &Matrix, k: usize, run: &Context) -> Result<Vec<Vec<(u32, f64)>>> {
    let n = x.nrows();
    let structure = Structure::suited(Metric::Euclidean, n, x.ncols());
    let index = Index::build(x.view(), Metric::Euclidean, structure, 30, run)?;
    let found = index.nearest(x.view(), (k + 1).min(n), run)?;
    let others = |i: usize| {
        let all = found.rows(i).iter().copied().zip(found.distances(i).iter().copied());
        all.filter(|&(row, _)| row as usize != i).take(k).collect()
    };
    Ok((0..n).map(others).collect())
}

fn edges(x: &Matrix, k: usize, run: &Context) -> Result<Vec<Vec<(u32, f64)>>> {
    let mut near = nearest(x, k, run)?;
    let squares: Vec<f64> = near.iter().flatten().map(|(_, d)| d * d).collect();
    let scale = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let scale = if scale > 0.0 { scale } else { 1.0 };
    near.iter_mut().flatten().for_each(|(_, d)| *d = (-*d * *d / scale).exp());
    Ok(near)
}

/// Whether two clusters may merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Allowed,
    /// Not neighbours in the graph.
    Apart,
    /// Kept apart by a pair.
    Never,
}

/// Clusters by their lowest rows.
struct State {
    members: Vec<Vec<usize>>,
    allowed: Vec<Link>,
    distances: Vec<f64>,
    n: usize,
}

impl State {
    fn live(&self) -> Vec<usize> {
        (0..self.n).filter(|&i| !self.members[i].is_empty()).collect()
    }

    fn measure_all(&mut self, space: &Space, run: &Context) -> Result<()> {
        let live = self.live();
        for (place, &a) in live.iter().enumerate() {
            self.measure(a, &live[place + 1..], space, run)?;
        }
        Ok(())
    }

    /// Distances from one cluster to others that it may merge with.
    fn measure(&mut self, a: usize, others: &[usize], space: &Space, run: &Context) -> Result<()> {
        run.checkpoint()?;
        let (members, allowed, n) = (&self.members, &self.allowed, self.n);
        let found = run.try_par_map(others.len(), |k| {
            let b = others[k];
            Ok(match allowed[a * n + b] {
                Link::Allowed => space.distance(&members[a], &members[b]),
                _ => f64::INFINITY,
            })
        })?;
        for (&b, distance) in others.iter().zip(found) {
            if distance.is_nan() {
                return Err(Error::numeric("a distance between clusters is not a number"));
            }
            self.distances[a * n + b] = distance;
            self.distances[b * n + a] = distance;
        }
        Ok(())
    }

    fn merge_down(
        mut self,
        wanted: usize,
        space: &Space,
        run: &Context,
    ) -> Result<ConstrainedClusters> {
        let mut live = self.live();
        let mut mergers: Vec<[f64; 3]> = Vec::new();
        let mut blocked = false;
        while live.len() > wanted {
            let mut best: Option<(f64, usize, usize)> = None;
            for (place, &a) in live.iter().enumerate() {
                for &b in &live[place + 1..] {
                    let distance = self.distances[a * self.n + b];
                    if distance < best.map_or(f64::INFINITY, |best| best.0) {
                        best = Some((distance, a, b));
                    }
                }
            }
            let Some((distance, a, b)) = best else {
                blocked = true;
                break;
            };
            mergers.push([a as f64, b as f64, distance]);
            self.join(a, b, &live);
            live.retain(|&i| i != b);
            let others: Vec<usize> = live.iter().copied().filter(|&i| i != a).collect();
            self.measure(a, &others, space, run)?;
        }
        if blocked {
            let message = format!("no further merger is allowed: {} clusters are left", live.len());
            run.warn(Code::NotConverged, message);
        }
        let mut value = vec![0; self.n];
        for (number, &cluster) in live.iter().enumerate() {
            self.members[cluster].iter().for_each(|&row| value[row] = number as u64);
        }
        let mergers = match mergers.is_empty() {
            true => Matrix::zeros(0, 3),
            false => Matrix::from_rows(&mergers)?,
        };
        Ok(ConstrainedClusters { value, mergers, n_clusters: live.len() as u64, blocked })
    }

    /// The second cluster joins the first; what either may not, both may not.
    fn join(&mut self, a: usize, b: usize, live: &[usize]) {
        let moved = std::mem::take(&mut self.members[b]);
        self.members[a].extend(moved);
        let n = self.n;
        for &c in live.iter().filter(|&&c| c != a && c != b) {
            let (own, other) = (self.allowed[a * n + c], self.allowed[b * n + c]);
            let link = match (own, other) {
                (Link::Never, _) | (_, Link::Never) => Link::Never,
                (Link::Allowed, _) | (_, Link::Allowed) => Link::Allowed,
                _ => Link::Apart,
            };
            self.allowed[a * n + c] = link;
            self.allowed[c * n + a] = link;
        }
    }
}

impl Space<'_> {
    fn distance(&self, a: &[usize], b: &[usize]) -> f64 {
        let all = || {
            a.iter().flat_map(|&i| {
                b.iter().map(move |&j| squared_distance(self.x.row(i), self.x.row(j)).sqrt())
            })
        };
        let (na, nb) = (a.len() as f64, b.len() as f64);
        match self.method {
            ConstrainedLinkageKind::Single => all().fold(f64::INFINITY, f64::min),
            ConstrainedLinkageKind::Complete => all().fold(0.0, f64::max),
            ConstrainedLinkageKind::Average => all().sum::<f64>() / (na * nb),
            ConstrainedLinkageKind::Ward => {
                let apart = squared_distance(&self.mean(a), &self.mean(b));
                (2.0 * na * nb / (na + nb) * apart).sqrt()
            }
            ConstrainedLinkageKind::Probability => {
                let both: Vec<usize> = a.iter().chain(b).copied().collect();
                let parts = [(&both[..], na + nb, 1.0), (a, na, -1.0), (b, nb, -1.0)];
                parts.iter().map(|(rows, n, sign)| sign * n * self.ln_determinant(rows)).sum()
            }
            ConstrainedLinkageKind::GraphDegree => -self.affinity(a, b).ln(),
        }
    }

    fn mean(&self, rows: &[usize]) -> Vec<f64> {
        let mut mean = vec![0.0; self.x.ncols()];
        for &row in rows {
            mean.iter_mut().zip(self.x.row(row)).for_each(|(m, v)| *m += v / rows.len() as f64);
        }
        mean
    }

    /// ln of the determinant of the covariance of rows, with the floor.
    fn ln_determinant(&self, rows: &[usize]) -> f64 {
        let d = self.x.ncols();
        let mean = self.mean(rows);
        let mut covariance = Matrix::from_fn(d, d, |i, j| if i == j { self.floor } else { 0.0 });
        for &row in rows {
            let values = self.x.row(row);
            for i in 0..d {
                for j in 0..d {
                    let product = (values[i] - mean[i]) * (values[j] - mean[j]);
                    covariance[(i, j)] += product / rows.len() as f64;
                }
            }
        }
        Cholesky::new(&covariance).map_or(f64::NAN, |factor| factor.ln_determinant())
    }

    fn affinity(&self, a: &[usize], b: &[usize]) -> f64 {
        // Σ over edges from rows of one to rows of the other, at either end.
        let degrees = |own: &[usize], other: &[usize]| -> f64 {
            let size = other.len() as f64;
            own.iter()
                .map(|&i| {
                    let out: f64 = self.edges[i]
                        .iter()
                        .filter(|(j, _)| other.contains(&(*j as usize)))
                        .map(|(_, w)| w)
                        .sum();
                    let into: f64 = other
                        .iter()
                        .flat_map(|&j| &self.edges[j])
                        .filter(|(k, _)| *k as usize == i)
                        .map(|(_, w)| w)
                        .sum();
                    out / size * (into / size)
                })
                .sum()
        };
        degrees(a, b) + degrees(b, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Linkage, link_rows};

    const ALL: [ConstrainedLinkageKind; 6] = [
        ConstrainedLinkageKind::Ward,
        ConstrainedLinkageKind::Complete,
        ConstrainedLinkageKind::Average,
        ConstrainedLinkageKind::Single,
        ConstrainedLinkageKind::Probability,
        ConstrainedLinkageKind::GraphDegree,
    ];

    fn rows() -> Matrix {
        Matrix::from_fn(36, 2, |i, j| {
            let middle = [[0.0, 0.0], [9.0, 1.0], [4.0, 8.0]][i % 3][j];
            middle + ((i * (7 + 5 * j)) as f64 * 0.7).sin()
        })
    }

    fn given<'a>(
        x: &'a Matrix,
        must: Option<&'a Matrix>,
        cannot: Option<&'a Matrix>,
    ) -> RowsAndPairs<'a> {
        RowsAndPairs {
            x: x.view(),
            must_link: must.map(Matrix::view),
            cannot_link: cannot.map(Matrix::view),
        }
    }

    #[test]
    fn pairs_are_kept_by_every_linkage() {
        let x = rows();
        let must = Matrix::from_rows(&[[0.0, 1.0], [1.0, 5.0]]).unwrap();
        let cannot = Matrix::from_rows(&[[0.0, 3.0], [4.0, 7.0], [2.0, 8.0]]).unwrap();
        for method in ALL {
            for n_clusters in [1, 2, 3, 5] {
                let learner = ConstrainedLinkage { n_clusters, method, ..Default::default() };
                let found = learner.compute(given(&x, Some(&must), Some(&cannot))).unwrap();
                let l = &found.value;
                assert!(l[0] == l[1] && l[1] == l[5], "{method:?}");
                for pair in cannot.rows() {
                    assert_ne!(l[pair[0] as usize], l[pair[1] as usize], "{method:?}");
                }
                assert!(found.n_clusters as usize >= n_clusters.max(2));
                assert_eq!(found.blocked, found.n_clusters as usize > n_clusters);
            }
        }
    }

    #[test]
    fn without_constraints_known_linkages_have_their_heights_and_all_find_the_groups() {
        let x = rows();
        for (method, linkage) in ALL[..4].iter().zip([
            Linkage::Ward,
            Linkage::Complete,
            Linkage::Average,
            Linkage::Single,
        ]) {
            let learner =
                ConstrainedLinkage { n_clusters: 1, method: *method, ..Default::default() };
            let found = learner.compute(given(&x, None, None)).unwrap();
            let run = Context::default();
            let tree = link_rows(x.view(), linkage, Metric::Euclidean, &run).unwrap();
            for (got, expected) in found.mergers.column(2).iter().zip(&tree.heights) {
                assert!((got - expected).abs() < 1e-9 * expected.max(1.0), "{method:?}");
            }
        }
        for method in ALL {
            let learner = ConstrainedLinkage { n_clusters: 3, method, ..Default::default() };
            let found = learner.compute(given(&x, None, None)).unwrap();
            assert!((0..36).all(|i| found.value[i] == found.value[i % 3]), "{method:?}");
        }
    }

    #[test]
    fn mergers_follow_the_graph_and_contradictions_are_refused() {
        // Two long rows of points: single neighbours along each, none across.
        let x = Matrix::from_fn(
            20,
            2,
            |i, j| if j == 0 { (i / 2) as f64 } else { (i % 2) as f64 * 3.0 },
        );
        let learner = ConstrainedLinkage {
            n_clusters: 1,
            method: ConstrainedLinkageKind::Complete,
            n_neighbors: Some(2),
            ..Default::default()
        };
        let found = learner.compute(given(&x, None, None)).unwrap();
        assert!(found.blocked && found.n_clusters == 2);
        assert!((0..20).all(|i| found.value[i] == (i % 2) as u64));
        let pair = Matrix::from_rows(&[[0.0, 1.0]]).unwrap();
        let error = learner.compute(given(&x, Some(&pair), Some(&pair))).unwrap_err();
        assert_eq!(error.code(), Code::Usage);
        let beyond = Matrix::from_rows(&[[0.0, 99.0]]).unwrap();
        assert!(learner.compute(given(&x, Some(&beyond), None)).is_err());
    }
}
