//! Core distances and the single-linkage tree of mutual reachability distances. Equal rows are one
//! row with a number: among many of them every search would be one of all.

use crate::cluster::dbscan::check_distances;
use crate::cluster::{Edge, Tree, boruvka, prim};
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::prelude::*;

/// Core distances, and the tree of mergers.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The core distance of each row.
    pub cores: Vec<f64>,
    /// Single linkage of mutual reachability distances.
    pub tree: Tree,
}

/// Columns up to which a tree of boxes finds the spanning tree.
const FEW_COLUMNS: usize = 12;

/// Of rows under a metric; the core distance is that to the `k`-th row, a row itself the first.
pub fn reachability(
    x: MatRef,
    metric: Metric,
    k: usize,
    alpha: f64,
    run: &Context,
) -> Result<Reach> {
    let distinct = Distinct::new(x);
    let rows = distinct.first.len();
    let near = k.min(rows);
    let unique = x.gather_rows(&distinct.first);
    let structure = Structure::suited(metric, rows, x.ncols());
    let index = Index::build(unique.view(), metric, structure, 30, run)?;
    let found = index.nearest(unique.view(), near, run)?;
    let core = |i: usize| {
        let mut count = 0;
        for (&row, &distance) in found.rows(i).iter().zip(found.distances(i)) {
            count += distinct.copies[row as usize];
            if count >= k {
                return distance;
            }
        }
        found.distances(i).last().copied().unwrap_or(0.0)
    };
    let cores: Vec<f64> = (0..rows).map(core).collect();
    let boxes = metric == Metric::Euclidean && x.ncols() <= FEW_COLUMNS && alpha == 1.0;
    let mut edges = match boxes {
        true => {
            let near =
                |i: usize| found.rows(i).iter().copied().filter(|&j| j as usize != i).collect();
            boruvka(unique.view(), &cores, near, run)?
        }
        false => {
            let points = scaled(index.to_matrix(), metric, alpha);
            prim(points.view(), metric, Some(&cores), run)?
        }
    };
    for edge in &mut edges {
        let [a, b] = [edge.a, edge.b].map(|i| distinct.first[i as usize] as u32);
        *edge = Edge::new(a, b, edge.length);
    }
    for (row, &group) in distinct.group.iter().enumerate() {
        let first = distinct.first[group as usize];
        if row != first {
            edges.push(Edge::new(first as u32, row as u32, cores[group as usize]));
        }
    }
    let tree = Tree::from_edges(x.nrows(), edges)?;
    let cores = distinct.group.iter().map(|&group| cores[group as usize]).collect();
    Ok(Reach { cores, tree })
}

/// Of a table of distances between rows.
pub fn reachability_of_distances(
    distances: MatRef,
    k: usize,
    alpha: f64,
    run: &Context,
) -> Result<Reach> {
    check_distances(distances, run)?;
    let n = distances.nrows();
    let cores = core_distances(distances, k, run)?;
    let edges = match alpha == 1.0 {
        true => prim(distances, None::<Metric>, Some(&cores), run)?,
        false => {
            run.claim_table(n, n, "the distances divided by alpha")?;
            let divided = Matrix::from_fn(n, n, |i, j| distances.at(i, j) / alpha);
            prim(divided.view(), None::<Metric>, Some(&cores), run)?
        }
    };
    Ok(Reach { cores, tree: Tree::from_edges(n, edges)? })
}

/// The `k`-th smallest distance of each row, its own of zero the first.
pub(in crate::cluster) fn core_distances(
    distances: MatRef,
    k: usize,
    run: &Context,
) -> Result<Vec<f64>> {
    run.try_par_map(distances.nrows(), |i| {
        let from = |j: usize| if i == j { 0.0 } else { distances.at(i, j) };
        let mut row: Vec<f64> = (0..distances.ncols()).map(from).collect();
        Ok(*row.select_nth_unstable_by(k - 1, f64::total_cmp).1)
    })
}

/// Rows whose distances are divided by alpha. Angles have no scale: `cosine` keeps its rows.
fn scaled(mut rows: Matrix, metric: Metric, alpha: f64) -> Matrix {
    if alpha != 1.0 && metric != Metric::Cosine {
        rows.as_mut_slice().iter_mut().for_each(|value| *value /= alpha);
    }
    rows
}

/// Rows that differ.
struct Distinct {
    /// The first row of each group of equal rows.
    first: Vec<usize>,
    /// The group of each row.
    group: Vec<u32>,
    /// Rows of each group.
    copies: Vec<usize>,
}

impl Distinct {
    fn new(x: MatRef) -> Distinct {
        let (n, width) = (x.nrows(), x.ncols());
        let rows = x.to_matrix();
        // Zero and minus zero are equal.
        let bits = |i: u32| rows.row(i as usize).iter().map(|value| (value + 0.0).to_bits());
        let mut order: Vec<u32> = (0..n as u32).collect();
        let key = |i: u32| if width > 0 { (rows[(i as usize, 0)] + 0.0).to_bits() } else { 0 };
        order.sort_by(|&a, &b| {
            key(a).cmp(&key(b)).then_with(|| bits(a).cmp(bits(b))).then(a.cmp(&b))
        });
        let mut leader = vec![0_u32; n];
        let mut at = 0;
        for i in 0..n {
            if i > 0 && !bits(order[i]).eq(bits(order[i - 1])) {
                at = i;
            }
            leader[order[i] as usize] = order[at];
        }
        let mut out = Distinct { first: Vec::new(), group: vec![0; n], copies: Vec::new() };
        for row in 0..n {
            let first = leader[row] as usize;
            if first == row {
                out.group[row] = out.first.len() as u32;
                out.first.push(row);
                out.copies.push(0);
            }
            out.group[row] = out.group[first];
            out.copies[out.group[row] as usize] += 1;
        }
        out
    }
}
