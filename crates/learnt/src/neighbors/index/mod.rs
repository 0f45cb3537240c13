//! The neighbour index: the k nearest rows, or all rows within a radius, for many queries at once.
//!
//! Brute force, k-d tree and ball tree give the same rows and the same bits of distance: all compare
//! one sum per pair of rows ([`Metric`]), equal sums go to the lower row number, and bounds only
//! ever rule out rows that are worse. A ball is closed: distance ≤ radius.

mod best;
mod bounds;
mod engine;
mod found;
mod leaves;
mod metric;
mod product;
mod scan;
mod search;
pub(super) mod tree;

pub use found::{Neighbors, Within};
pub use metric::Metric;

use best::Best;
use engine::{Engine, Kind, Lazy};
use learnt_core::data::all_finite;
use learnt_core::linalg;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use leaves::Leaves;
use metric::{Kernel, with_kernel};
use search::{Goal, Search};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tree::Tree;

/// Queries that are searched together.
const QUERY_BLOCK: usize = 64;

/// How rows are searched.
#[derive(Stored, Clone, Copy, Debug, PartialEq)]
pub enum Structure {
    /// Every query against every row.
    Brute,
    /// A tree of boxes.
    KdTree,
    /// A tree of balls.
    BallTree,
}

impl Structure {
    /// The structure that is fastest as a rule: trees for many rows of few columns.
    pub fn suited(metric: Metric, rows: usize, columns: usize) -> Structure {
        match metric {
            Metric::Cosine => Structure::Brute,
            _ if columns <= 15 && rows >= 256 => Structure::KdTree,
            _ => Structure::Brute,
        }
    }

    /// An error if it cannot search by the metric.
    pub fn check(self, metric: Metric) -> Result<()> {
        let possible = match self {
            Structure::Brute => true,
            Structure::KdTree => metric != Metric::Cosine,
            Structure::BallTree => metric.is_metric(),
        };
        if possible {
            return Ok(());
        }
        let name = if self == Structure::KdTree { "kd_tree" } else { "ball_tree" };
        let got = match metric {
            Metric::Minkowski(p) => format!("'{name}' with p = {p} < 1"),
            other => format!("'{name}' with the metric '{}'", other.name()),
        };
        Err(Error::parameter("algorithm", "'brute' or 'auto'", got))
    }
}

/// Rows that can be searched.
///
/// ```
/// use learnt::neighbors::{Index, Metric, Structure};
/// use learnt::prelude::*;
/// let rows = Matrix::from_rows(&[[0.0], [1.0], [5.0]])?;
/// let run = Context::default();
/// let index = Index::build(rows.view(), Metric::Euclidean, Structure::KdTree, 30, &run)?;
/// let found = index.nearest(Matrix::from_rows(&[[0.9]])?.view(), 2, &run)?;
/// assert_eq!(found.rows(0), [1, 0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Index {
    kind: Kind,
    nrows: usize,
    ncols: usize,
    rows: Lazy,
}

impl Index {
    /// Keeps rows for searching. `leaf_size` bounds the leaves of trees: between it and twice it.
    pub fn build(
        rows: MatRef,
        metric: Metric,
        structure: Structure,
        leaf_size: usize,
        run: &Context,
    ) -> Result<Index> {
        structure.check(metric)?;
        let (n, d) = (rows.nrows(), rows.ncols());
        let leaves = Tree::leaf_count(n.max(1), leaf_size);
        run.claim(Leaves::bytes(n, d, leaves) + 8 * (n * d) as u64, "the neighbour index")?;
        let mut rows = finite_copy(rows, run)?;
        if metric == Metric::Cosine {
            to_unit_length(&mut rows)?;
        }
        Index::over(rows, Kind { metric, structure, leaf_size })
    }

    /// Over rows that are finite, and of unit length for `cosine`.
    fn over(rows: Matrix, kind: Kind) -> Result<Index> {
        kind.metric.check()?;
        let (nrows, ncols) = (rows.nrows(), rows.ncols());
        if nrows == 0 || ncols == 0 || nrows >= u32::MAX as usize {
            let size = format!("{nrows} x {ncols}");
            return Err(Error::shape("neighbour index", "1 to 2^32 - 2 rows, 1 column", size));
        }
        kind.structure.check(kind.metric)?;
        Ok(Index { kind, nrows, ncols, rows: Lazy::new(rows) })
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// The distance.
    pub fn metric(&self) -> Metric {
        self.kind.metric
    }

    /// The structure.
    pub fn structure(&self) -> Structure {
        self.kind.structure
    }

    /// The rows in their original order; of unit length for `cosine`.
    pub fn to_matrix(&self) -> Matrix {
        self.rows.now().to_matrix()
    }

    /// The k nearest rows of each query, nearest first, the lower row number first of equals.
    pub fn nearest(&self, queries: MatRef, k: usize, run: &Context) -> Result<Neighbors> {
        let n = queries.nrows();
        if k == 0 || k > self.nrows() {
            let message =
                format!("{k} neighbours of {} rows: there must be 1 to as many", self.nrows());
            return Err(Error::new(Code::TooFew, message));
        }
        run.claim(24 * (n as u64) * (k as u64), "the neighbours")?;
        let (engine, order) = self.begin(queries, run)?;
        let blocks = run.try_par_map(n.div_ceil(QUERY_BLOCK), |block| {
            let members = &order[block * QUERY_BLOCK..((block + 1) * QUERY_BLOCK).min(n)];
            let queries = self.prepare(queries, members)?;
            Ok(self.nearest_of_block(&engine, &queries, k))
        })?;
        // Searches that were left early found nothing.
        run.checkpoint()?;
        let mut out = Neighbors { k, rows: vec![0; n * k], distances: vec![0.0; n * k] };
        for (&query, best) in order.iter().zip(blocks.iter().flatten()) {
            let place = query as usize * k..(query as usize + 1) * k;
            out.rows[place.clone()].copy_from_slice(best.rows());
            out.distances[place].copy_from_slice(best.sums());
        }
        with_kernel!(self.kind.metric, kernel => {
            out.distances.iter_mut().for_each(|sum| *sum = kernel.distance(*sum));
        });
        Ok(out)
    }

    /// All rows within the radius of each query, in the order of their numbers.
    pub fn within(&self, queries: MatRef, radius: f64, run: &Context) -> Result<Within> {
        let n = queries.nrows();
        let (engine, order) = self.begin(queries, run)?;
        let at_once = self.queries_at_once(run);
        let blocks = run.try_par_map(n.div_ceil(QUERY_BLOCK), |block| {
            let members = &order[block * QUERY_BLOCK..((block + 1) * QUERY_BLOCK).min(n)];
            self.within_of_block(&engine, queries, members, radius, at_once, run)
        })?;
        run.checkpoint()?;
        let found: Vec<Vec<(u32, f64)>> = blocks.into_iter().flatten().collect();
        let total: usize = found.iter().map(Vec::len).sum();
        run.claim(28 * total as u64, "the rows within the radius")?;
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(i, &query)| place[query as usize] = i);
        let mut out = Within {
            starts: vec![0],
            rows: Vec::with_capacity(total),
            distances: Vec::with_capacity(total),
        };
        for place in place {
            out.rows.extend(found[place].iter().map(|(row, _)| row));
            out.distances.extend(found[place].iter().map(|(_, distance)| distance));
            out.starts.push(out.rows.len());
        }
        Ok(out)
    }

    /// Calls `f` with each of these rows of `x`, the rows within the radius of it and their distances, in
    /// order. Searches in pieces, so that memory does not grow with the number of neighbours of all rows:
    /// as many rows at once as have about a million neighbours, and never more than have 2²⁶ of them
    /// where all rows are neighbours.
    pub fn each_within(
        &self,
        x: MatRef,
        rows: &[usize],
        radius: f64,
        run: &Context,
        mut f: impl FnMut(usize, &[u32], &[f64]) -> Result<()>,
    ) -> Result<()> {
        let most = ((1 << 26) / self.nrows().max(1)).clamp(1, 1024);
        let (mut done, mut piece) = (0, most.min(64));
        while done < rows.len() {
            run.checkpoint()?;
            let part = &rows[done..(done + piece).min(rows.len())];
            let found = self.within(x.gather_rows(part).view(), radius, run)?;
            for (k, &row) in part.iter().enumerate() {
                f(row, found.rows(k), found.distances(k))?;
            }
            done += part.len();
            let mean = found.rows.len() / part.len() + 1;
            piece = ((1 << 20) / mean).clamp(1, most.min(2 * piece));
        }
        Ok(())
    }

    /// What is to answer, and an order of queries in which neighbours search the same leaves.
    fn begin(&self, queries: MatRef, run: &Context) -> Result<(Arc<Engine>, Vec<u32>)> {
        if queries.ncols() != self.ncols || queries.nrows() >= u32::MAX as usize {
            let expected = format!("{} columns as in training", self.ncols);
            return Err(Error::shape("x", expected, format!("{} columns", queries.ncols())));
        }
        let all: Vec<u32> = (0..queries.nrows() as u32).collect();
        let engine = self.rows.ready(all.len(), self.kind, run)?;
        let (Engine::Boxes(_) | Engine::Balls(_)) = &*engine else { return Ok((engine, all)) };
        let pieces = run.try_par_map(all.len().div_ceil(QUERY_BLOCK), |block| {
            let end = ((block + 1) * QUERY_BLOCK).min(all.len());
            let queries = self.prepare(queries, &all[block * QUERY_BLOCK..end])?;
            Ok(self.leaves_of_block(&engine, &queries))
        })?;
        let mut keys: Vec<(u32, u32)> = pieces.concat().into_iter().zip(all).collect();
        keys.sort_unstable();
        let order = keys.into_iter().map(|(_, query)| query).collect();
        Ok((engine, order))
    }

    /// A copy of some queries, checked, and of unit length for `cosine`.
    fn prepare(&self, queries: MatRef, members: &[u32]) -> Result<Matrix> {
        let mut out = Matrix::zeros(members.len(), queries.ncols());
        for (i, &member) in members.iter().enumerate() {
            queries.copy_row(member as usize, out.row_mut(i));
        }
        check_finite(&out)?;
        if self.kind.metric == Metric::Cosine {
            to_unit_length(&mut out)?;
        }
        Ok(out)
    }

    fn search(&self, engine: &Engine, queries: &Matrix, goal: Goal) {
        with_kernel!(self.kind.metric, kernel => {
            learnt_core::linalg::run(Search { kernel, engine, queries, goal });
        });
    }

    fn leaves_of_block(&self, engine: &Engine, queries: &Matrix) -> Vec<u32> {
        let mut leaves = vec![0; queries.nrows()];
        self.search(engine, queries, Goal::Leaf(&mut leaves));
        leaves
    }

    fn nearest_of_block(&self, engine: &Engine, queries: &Matrix, k: usize) -> Vec<Best> {
        let mut best: Vec<Best> = (0..queries.nrows()).map(|_| Best::new(k)).collect();
        self.search(engine, queries, Goal::Nearest(&mut best));
        best
    }

    /// How many queries may search together, each of which may find all rows: as many as a quarter of the
    /// memory that is left holds, on every thread.
    fn queries_at_once(&self, run: &Context) -> usize {
        const PLENTY: u64 = 16 << 20;
        let row = (self.nrows().max(1) * size_of::<Pair>()) as u64;
        if row * QUERY_BLOCK as u64 <= PLENTY {
            return QUERY_BLOCK;
        }
        (run.room() / 4 / run.threads() as u64 / row).clamp(1, QUERY_BLOCK as u64) as usize
    }

    /// The rows within the radius of some queries. Room for more is claimed once there is much.
    fn within_of_block(
        &self,
        engine: &Engine,
        queries: MatRef,
        members: &[u32],
        radius: f64,
        at_once: usize,
        run: &Context,
    ) -> Result<Vec<Vec<Pair>>> {
        const MUCH: usize = 1 << 20;
        let (mut out, mut total) = (Vec::with_capacity(members.len()), 0);
        for members in members.chunks(at_once) {
            if total * size_of::<Pair>() > MUCH {
                let most = members.len() * self.nrows() * size_of::<Pair>();
                run.checkpoint()?;
                run.claim(most as u64, "the rows within the radius")?;
            }
            let queries = self.prepare(queries, members)?;
            let mut found: Vec<Vec<Pair>> = vec![Vec::new(); queries.nrows()];
            self.search(engine, &queries, Goal::Within(radius, &mut found));
            for mut found in found {
                found.sort_unstable_by_key(|&(row, _)| row);
                found.shrink_to_fit();
                total += found.len();
                out.push(found);
            }
        }
        Ok(out)
    }
}

/// A row and its distance.
type Pair = (u32, f64);

fn check_finite(rows: &Matrix) -> Result<()> {
    if all_finite(rows.as_slice()) { Ok(()) } else { Err(not_finite()) }
}

fn not_finite() -> Error {
    Error::new(Code::NotFinite, "distances need finite numbers, and x has NaN or infinity")
}

/// A copy row by row, looked at on the way.
fn finite_copy(rows: MatRef, run: &Context) -> Result<Matrix> {
    match rows.memory().get(..rows.nrows() * rows.ncols()) {
        Some(memory) if rows.col_stride() == 1 && rows.row_stride() == rows.ncols() => {
            let values = finite_values(memory, run)?;
            Matrix::from_vec(rows.nrows(), rows.ncols(), values)
        }
        _ => finite_turned(rows, run),
    }
}

/// A copy of numbers.
fn finite_values(values: &[f64], run: &Context) -> Result<Vec<f64>> {
    const TOGETHER: usize = 16;
    let (chunks, rest) = values.as_chunks::<TOGETHER>();
    let found = AtomicBool::new(false);
    let copy = run.par_each(chunks, |chunk| {
        if !chunk.iter().fold(true, |finite, x| finite & (x.abs() < f64::INFINITY)) {
            found.store(true, Ordering::Relaxed);
        }
        *chunk
    });
    let mut copy = copy.into_flattened();
    copy.extend_from_slice(rest);
    let finite = !found.into_inner() && all_finite(rest);
    if finite { Ok(copy) } else { Err(not_finite()) }
}

/// A copy of rows that do not stand one after the other.
fn finite_turned(rows: MatRef, run: &Context) -> Result<Matrix> {
    const IN_CACHE: usize = 2048;
    let d = rows.ncols().max(1);
    let at_once = 1 + IN_CACHE / d;
    let found = AtomicBool::new(false);
    let mut out = Matrix::zeros(rows.nrows(), rows.ncols());
    run.par_fill(out.as_mut_slice(), 32 * at_once * d, |start, piece| {
        for (c, piece) in piece.chunks_mut(at_once * d).enumerate() {
            let first = start / d + c * at_once;
            rows.rows(first, first + piece.len() / d).write_rows(piece);
            if !all_finite(piece) {
                found.store(true, Ordering::Relaxed);
            }
        }
    });
    if found.into_inner() { Err(not_finite()) } else { Ok(out) }
}

fn to_unit_length(rows: &mut Matrix) -> Result<()> {
    for i in 0..rows.nrows() {
        let length = linalg::norm(rows.row(i));
        if length == 0.0 || !length.is_finite() {
            let message = format!("row {} has length {length}, and so no direction", i + 1);
            return Err(Error::numeric(message).hint("drop such rows or use another metric"));
        }
        rows.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    Ok(())
}

const FIELDS: &[&str] = &["rows", "metric", "structure", "leaf_size"];

/// The rows are stored; the structure is made again when it is needed, which gives the same one.
impl Stored for Index {
    fn to_node(&self) -> Node {
        let nodes = [
            self.to_matrix().to_node(),
            self.kind.metric.to_node(),
            self.kind.structure.to_node(),
            self.kind.leaf_size.to_node(),
        ];
        Node::Map(BTreeMap::from_iter(FIELDS.iter().map(ToString::to_string).zip(nodes)))
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("index", FIELDS)?;
        let rows: Matrix = node.field("rows")?;
        if check_finite(&rows).is_err() {
            return Err(invalid("rows of a neighbour index that are not finite"));
        }
        let (metric, structure) = (node.field("metric")?, node.field("structure")?);
        let kind = Kind { metric, structure, leaf_size: node.field("leaf_size")? };
        Index::over(rows, kind).map_err(|error| invalid(error.message()))
    }
}

#[cfg(test)]
mod tests;
