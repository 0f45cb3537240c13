//! Trees of clusters as functions, in the forms of scipy: a table of mergers has a row each, with two
//! nodes, their distance and the rows below; rows are nodes 0 to n - 1, merger i is node n + i.

use super::linkage::{Linkage, Tree};
use crate::neighbors::RowDistance;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;
use std::collections::BTreeSet;

/// Rows to be clustered, or their distances.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToLink<'a> {
    /// The rows, or a square table of their distances.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// A table of mergers.
#[derive(Inputs, Clone, Copy)]
pub struct Mergers<'a> {
    /// The table: two nodes, their distance, the rows below.
    #[input(name = "Z")]
    pub z: MatRef<'a>,
}

/// Hierarchical clustering: the table of mergers of the rows, with its dendrogram.
#[derive(Params, Clone, Debug)]
pub struct LinkageTable {
    /// The distance between clusters.
    #[param(default = Linkage::Single, positional)]
    pub method: Linkage,
    /// The distance between rows.
    #[param(default = RowDistance::EUCLIDEAN, positional)]
    pub metric: RowDistance,
    /// Coefficients alpha_i, alpha_j, beta, gamma of one's own for the update of Lance and Williams,
    /// instead of those of `method`; see `lance_williams`.
    pub coefficients: Option<Vec<f64>>,
}

impl Function for LinkageTable {
    type Inputs<'a> = RowsToLink<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable = &Callable::new("cluster.linkage", FunctionKind::Analysis)
        .alias(&["dendrogram"])
        .threads()
        .reference("Müllner (2011), Modern hierarchical, agglomerative clustering algorithms");

    fn call(&self, given: RowsToLink, run: &Context) -> Result<Matrix> {
        let tree = match self.coefficients.as_deref() {
            None => self.metric.link(given.x, self.method, run)?,
            Some(&[a, b, c, g]) if [a, b, c, g].iter().all(|v| v.is_finite()) => {
                self.metric.link_by(given.x, &|_, _, _| [a, b, c, g], run)?
            }
            Some(others) => {
                let got = format!("{others:?}");
                return Err(Error::parameter("coefficients", "4 finite numbers", got));
            }
        };
        Ok(tree.to_matrix())
    }

    fn chart(&self, found: &Matrix) -> Option<Chart> {
        Tree::from_matrix(found.view()).ok().map(|tree| tree.chart(None))
    }

    fn notes(&self, found: &Matrix) -> Vec<String> {
        match Tree::from_matrix(found.view()) {
            Ok(tree) if !tree.is_monotone() => {
                vec!["Some mergers are lower than their parts: the tree inverts.".to_string()]
            }
            _ => Vec::new(),
        }
    }
}

/// What a cut goes by.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Mergers above the distance `t` do not happen.
    Distance,
    /// At most `t` clusters are left.
    Maxclust,
}

/// The clusters below a cut of a tree, numbered from 1.
#[derive(Params, Clone, Debug)]
pub struct FlatClusters {
    /// The distance or the number of clusters.
    #[param(required, positional, range = 0.0..)]
    pub t: Option<f64>,
    /// What the cut goes by.
    #[param(default = Criterion::Distance, positional)]
    pub criterion: Criterion,
}

impl Function for FlatClusters {
    type Inputs<'a> = Mergers<'a>;
    type Output = Vec<i64>;
    const ABOUT: &'static Callable = &Callable::new("cluster.fcluster", FunctionKind::Analysis);

    fn call(&self, given: Mergers, _run: &Context) -> Result<Vec<i64>> {
        let tree = Tree::from_matrix(given.z)?;
        let t = self.t.unwrap_or(0.0);
        let labels = match self.criterion {
            Criterion::Distance => tree.cut_height(t),
            Criterion::Maxclust if t < 1.0 => {
                return Err(Error::parameter("t", "at least 1 cluster", t));
            }
            Criterion::Maxclust => tree.cut_count(t.min(1e15) as usize),
        };
        Ok(labels.into_iter().map(|label| i64::from(label) + 1).collect())
    }
}

/// Cophenetic distances: the height at which each pair of rows merges, pairs (0,1), (0,2), ...
#[derive(Params, Clone, Debug)]
pub struct Cophenet {}

impl Function for Cophenet {
    type Inputs<'a> = Mergers<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("cluster.cophenet", FunctionKind::Analysis)
        .reference("Sokal and Rohlf (1962)");

    fn call(&self, given: Mergers, run: &Context) -> Result<Vec<f64>> {
        Tree::from_matrix(given.z)?.cophenetic(run)
    }
}

/// Whether no merger of a tree is lower than one of its parts.
#[derive(Params, Clone, Debug)]
pub struct IsMonotonic {}

impl Function for IsMonotonic {
    type Inputs<'a> = Mergers<'a>;
    type Output = bool;
    const ABOUT: &'static Callable = &Callable::new("cluster.is_monotonic", FunctionKind::Analysis);

    fn call(&self, given: Mergers, _run: &Context) -> Result<bool> {
        Ok(Tree::from_matrix(given.z)?.is_monotone())
    }
}

/// Two clusterings of the same rows.
#[derive(Inputs, Clone, Copy)]
pub struct TwoPartitions<'a> {
    /// The finer clusters, one a row.
    pub fine: Classes<'a>,
    /// The coarser clusters, one a row.
    pub coarse: Classes<'a>,
}

/// Nestedness: whether every fine cluster lies in one coarse cluster, as the levels of a tree do.
#[derive(Params, Clone, Debug)]
pub struct IsNested {}

/// Whether clusters lie in clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Nestedness {
    /// Whether no fine cluster is cut.
    pub value: bool,
    /// Number of fine clusters with rows in two or more coarse ones.
    pub cut: u64,
    /// Number of fine clusters.
    pub n_fine: u64,
    /// Number of coarse clusters.
    pub n_coarse: u64,
}

impl Function for IsNested {
    type Inputs<'a> = TwoPartitions<'a>;
    type Output = Nestedness;
    const ABOUT: &'static Callable = &Callable::new("cluster.is_nested", FunctionKind::Analysis);

    fn call(&self, given: TwoPartitions, _run: &Context) -> Result<Nestedness> {
        let pairs = given.fine.codes.iter().zip(given.coarse.codes);
        let pairs: BTreeSet<(u32, u32)> = pairs.map(|(&a, &b)| (a, b)).collect();
        let fine: BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
        let coarse: BTreeSet<u32> = pairs.iter().map(|pair| pair.1).collect();
        let homes = |cluster: u32| pairs.range((cluster, 0)..=(cluster, u32::MAX)).count();
        let cut = fine.iter().filter(|&&cluster| homes(cluster) > 1).count() as u64;
        let (n_fine, n_coarse) = (fine.len() as u64, coarse.len() as u64);
        Ok(Nestedness { value: cut == 0, cut, n_fine, n_coarse })
    }
}

/// Lance-Williams coefficients: how the distance to a merger follows from the distances to its parts.
#[derive(Params, Clone, Debug)]
pub struct LanceWilliams {
    /// The distance between clusters.
    #[param(default = Linkage::Ward, positional)]
    pub method: Linkage,
    /// Rows of the first part.
    #[param(default = 1, range = 1..)]
    pub n_i: usize,
    /// Rows of the second part.
    #[param(default = 1, range = 1..)]
    pub n_j: usize,
    /// Rows of the other cluster.
    #[param(default = 1, range = 1..)]
    pub n_r: usize,
}

/// d(ij, r) = alpha_i d(i,r) + alpha_j d(j,r) + beta d(i,j) + gamma |d(i,r) - d(j,r)|.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// Of the distance to the first part.
    pub alpha_i: f64,
    /// Of the distance to the second part.
    pub alpha_j: f64,
    /// Of the distance between the parts.
    pub beta: f64,
    /// Of the difference of the distances.
    pub gamma: f64,
    /// Whether the distances are squared.
    pub squared: bool,
}

impl Function for LanceWilliams {
    type Inputs<'a> = ();
    type Output = Coefficients;
    const ABOUT: &'static Callable = &Callable::new("cluster.lance_williams", FunctionKind::Theory)
        .reference("Lance and Williams (1967)");

    fn call(&self, _given: (), _run: &Context) -> Result<Coefficients> {
        let [n_i, n_j, n_r] = [self.n_i, self.n_j, self.n_r].map(|n| n as f64);
        let [alpha_i, alpha_j, beta, gamma] = self.method.update(n_i, n_j, n_r);
        let squared = self.method.needs_means();
        Ok(Coefficients { alpha_i, alpha_j, beta, gamma, squared })
    }
}

/// Number of ways to divide n objects into k groups that are not empty (Stirling, second kind).
#[derive(Params, Clone, Debug)]
pub struct NumberOfPartitions {
    /// Number of objects.
    #[param(required, positional, range = 0..)]
    pub n: Option<usize>,
    /// Number of groups.
    #[param(required, positional, range = 0..)]
    pub k: Option<usize>,
}

impl Function for NumberOfPartitions {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.number_of_partitions", FunctionKind::Theory);

    fn call(&self, _given: (), _run: &Context) -> Result<f64> {
        let (n, k) = (self.n.unwrap_or(0), self.k.unwrap_or(0));
        if n > 10_000 {
            return Err(Error::parameter("n", "at most 10000", n));
        }
        // S(n, k) = k S(n-1, k) + S(n-1, k-1): exact up to 2^53, then rounded.
        let mut line = vec![0.0; k.min(n) + 1];
        line[0] = 1.0;
        for _ in 0..n {
            for j in (1..line.len()).rev() {
                line[j] = line[j] * j as f64 + line[j - 1];
            }
            line[0] = 0.0;
        }
        finite(if k > n { 0.0 } else { line[k] })
    }
}

/// Numbers of trees of n objects.
#[derive(Params, Clone, Debug)]
pub struct NumberOfDendrograms {
    /// Number of objects.
    #[param(required, positional, range = 1..)]
    pub n: Option<usize>,
}

/// How many trees there are.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TreeCounts {
    /// Shapes with named leaves: (2n - 3)!!.
    pub shapes: f64,
    /// Orders of mergers: n! (n - 1)! / 2^(n - 1).
    pub orders: f64,
}

impl Function for NumberOfDendrograms {
    type Inputs<'a> = ();
    type Output = TreeCounts;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.number_of_dendrograms", FunctionKind::Theory);

    fn call(&self, _given: (), _run: &Context) -> Result<TreeCounts> {
        let n = self.n.unwrap_or(1).min(1_000_000);
        let shapes = (1..n).map(|i| (2 * i - 1) as f64).product();
        let orders = (2..=n).map(|i| (i * (i - 1) / 2) as f64).product();
        Ok(TreeCounts { shapes: finite(shapes)?, orders: finite(orders)? })
    }
}

fn finite(value: f64) -> Result<f64> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(Error::numeric("the number is above 1.8e308").hint("ask for fewer objects")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_and_trees_are_counted() {
        let partitions = |n, k| NumberOfPartitions { n: Some(n), k: Some(k) }.compute(()).unwrap();
        assert_eq!(partitions(4, 2), 7.0);
        assert_eq!(partitions(10, 3), 9330.0);
        assert_eq!(partitions(10, 4), 34105.0);
        assert_eq!((partitions(0, 0), partitions(3, 0), partitions(3, 5)), (1.0, 0.0, 0.0));
        let trees = |n| NumberOfDendrograms { n: Some(n) }.compute(()).unwrap();
        assert_eq!(trees(4), TreeCounts { shapes: 15.0, orders: 18.0 });
        assert_eq!(trees(10).shapes, 34_459_425.0);
    }

    #[test]
    fn cuts_are_numbered_from_one() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 5.0, 6.0, 20.0]);
        let z = LinkageTable::default().compute(RowsToLink { x: x.view() }).unwrap();
        let cut = |t, criterion| {
            FlatClusters { t: Some(t), criterion }.compute(Mergers { z: z.view() }).unwrap()
        };
        assert_eq!(cut(1.0, Criterion::Distance), [1, 1, 2, 2, 3]);
        assert_eq!(cut(2.0, Criterion::Maxclust), [1, 1, 1, 1, 2]);
        assert!(IsMonotonic {}.compute(Mergers { z: z.view() }).unwrap());
        let bad = Matrix::from_rows(&[[0.0, 7.0, 1.0, 2.0]]).unwrap();
        assert!(Cophenet {}.compute(Mergers { z: bad.view() }).is_err());
    }

    #[test]
    fn levels_of_a_tree_are_nested_and_other_clusterings_are_not() {
        let x = Matrix::from_fn(30, 2, |i, j| ((i * (3 + j)) as f64 * 1.3).sin() * 5.0);
        let learner = LinkageTable { method: Linkage::Average, ..Default::default() };
        let z = learner.compute(RowsToLink { x: x.view() }).unwrap();
        let tree = Tree::from_matrix(z.view()).unwrap();
        let names: Vec<Label> = (0..30).map(Label::Int).collect();
        let nested = |fine: &[u32], coarse: &[u32]| {
            let of = |codes| Classes { codes, classes: &names };
            IsNested {}.compute(TwoPartitions { fine: of(fine), coarse: of(coarse) }).unwrap()
        };
        for (many, few) in [(9, 4), (4, 2), (30, 1), (5, 5)] {
            let found = nested(&tree.cut_count(many), &tree.cut_count(few));
            assert_eq!((found.value, found.cut), (true, 0));
            assert_eq!((found.n_fine, found.n_coarse), (many as u64, few as u64));
        }
        assert!(!nested(&tree.cut_count(2), &tree.cut_count(3)).value);
        let odd: Vec<u32> = (0..30).map(|i| i % 2).collect();
        assert_eq!(nested(&tree.cut_count(1), &odd).cut, 1);
    }

    #[test]
    fn coefficients_of_ones_own_give_known_and_flexible_linkages() {
        let x = Matrix::from_fn(23, 2, |i, j| ((i * (3 + j)) as f64 * 1.3).sin() * 5.0);
        let link = |method, coefficients| {
            let learner = LinkageTable { method, coefficients, ..Default::default() };
            learner.compute(RowsToLink { x: x.view() })
        };
        for (method, own) in [
            (Linkage::Single, [0.5, 0.5, 0.0, -0.5]),
            (Linkage::Complete, [0.5, 0.5, 0.0, 0.5]),
            (Linkage::Weighted, [0.5, 0.5, 0.0, 0.0]),
        ] {
            let expected = link(method, None).unwrap();
            let found = link(Linkage::Ward, Some(own.to_vec())).unwrap();
            for i in 0..22 {
                assert!((found[(i, 2)] - expected[(i, 2)]).abs() < 1e-12, "{method:?}");
                assert_eq!(found[(i, 3)], expected[(i, 3)]);
            }
        }
        // Flexible with beta = -1/4: by the definition, from the whole table each time.
        let found = link(Linkage::Ward, Some(vec![0.625, 0.625, -0.25, 0.0])).unwrap();
        let distance = |i: usize, j: usize| (x[(i, 0)] - x[(j, 0)]).hypot(x[(i, 1)] - x[(j, 1)]);
        let mut d: Vec<Vec<f64>> =
            (0..23).map(|i| (0..23).map(|j| distance(i, j)).collect()).collect();
        let mut live: Vec<usize> = (0..23).collect();
        for step in 0..22 {
            let pairs = live.iter().flat_map(|&a| live.iter().map(move |&b| (a, b)));
            let (a, b) = pairs
                .filter(|(a, b)| a < b)
                .min_by(|p, q| d[p.0][p.1].total_cmp(&d[q.0][q.1]))
                .unwrap();
            assert!((found[(step, 2)] - d[a][b]).abs() < 1e-12);
            live.retain(|&other| other != a);
            let between = d[a][b];
            for &other in live.iter().filter(|&&other| other != b) {
                let new = 0.625 * (d[a][other] + d[b][other]) - 0.25 * between;
                (d[b][other], d[other][b]) = (new, new);
            }
        }
        assert!(link(Linkage::Ward, Some(vec![0.5; 3])).is_err());
        let error = link(Linkage::Ward, Some(vec![0.5, 0.5, -5.0, 0.0])).unwrap_err();
        assert!(error.to_string().contains("negative"), "{error}");
    }

    #[test]
    fn a_centroid_tree_that_inverts_says_so() {
        let x = Matrix::from_rows(&[[0.0, 0.0], [2.0, 0.0], [1.0, 1.8]]).unwrap();
        let learner = LinkageTable { method: Linkage::Centroid, ..Default::default() };
        let z = learner.compute(RowsToLink { x: x.view() }).unwrap();
        assert_eq!((z[(0, 2)], z[(1, 2)]), (2.0, 1.8));
        assert!(!IsMonotonic {}.compute(Mergers { z: z.view() }).unwrap());
        assert_eq!(learner.notes(&z).len(), 1);
    }
}
