//! What searches the rows of an index, made by the question for which it pays.
//!
//! Models are fitted, saved and loaded more often than they are asked much. An index holds its rows as they came and
//! answers its first few queries by looking at all of them; the query that comes after those makes the structure, on
//! all threads of its run, which takes the place of the rows. Either way gives the same bits.

use super::bounds::{Balls, Boxes};
use super::leaves::Leaves;
use super::metric::{Metric, with_kernel};
use super::product::Product;
use super::tree::Tree;
use super::{Structure, scan};
use learnt_core::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Queries before a structure is made. To make one takes as long as looking at all rows for some tens of queries.
const FEW: usize = 32;

/// What searches rows.
#[derive(Debug)]
pub(super) enum Engine {
    /// The rows as they came, for few queries.
    Rows(Arc<Matrix>),
    Scan(Leaves),
    Product(Product),
    Boxes(Tree),
    Balls(Tree),
}

impl Engine {
    /// Prepares rows for many queries.
    fn new(rows: &Arc<Matrix>, kind: Kind, run: &Context) -> Result<Engine> {
        let Kind { metric, structure, leaf_size } = kind;
        let leaves = Tree::leaf_count(rows.nrows(), leaf_size);
        let bytes = Leaves::bytes(rows.nrows(), rows.ncols(), leaves);
        run.claim(bytes, "the neighbour index")?;
        let products = matches!(metric, Metric::Euclidean | Metric::Cosine);
        Ok(match structure {
            Structure::Brute if products => {
                Engine::Product(Product::new(Arc::clone(rows), metric != Metric::Cosine, run))
            }
            Structure::Brute => Engine::Scan(scan::blocks(rows, run)),
            Structure::KdTree => Engine::Boxes(
                with_kernel!(metric, kernel => Tree::new(kernel, Boxes, rows, leaf_size, run))?,
            ),
            Structure::BallTree => Engine::Balls(
                with_kernel!(metric, kernel => Tree::new(kernel, Balls, rows, leaf_size, run))?,
            ),
        })
    }

    /// The rows in their original order.
    pub(super) fn to_matrix(&self) -> Matrix {
        match self {
            Engine::Rows(rows) => rows.as_ref().clone(),
            Engine::Scan(leaves) => leaves.to_matrix(),
            Engine::Product(product) => product.rows().clone(),
            Engine::Boxes(tree) | Engine::Balls(tree) => tree.leaves().to_matrix(),
        }
    }
}

/// What a structure is made by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) metric: Metric,
    pub(super) structure: Structure,
    pub(super) leaf_size: usize,
}

/// The engine of an index, now and later.
#[derive(Debug)]
pub(super) struct Lazy {
    engine: RwLock<Arc<Engine>>,
    asked: AtomicUsize,
}

impl Clone for Lazy {
    fn clone(&self) -> Self {
        let asked = AtomicUsize::new(self.asked.load(Ordering::Relaxed));
        Lazy { engine: RwLock::new(self.now()), asked }
    }
}

impl Lazy {
    /// The rows, before any query.
    pub(super) fn new(rows: Matrix) -> Lazy {
        let engine = Arc::new(Engine::Rows(Arc::new(rows)));
        Lazy { engine: RwLock::new(engine), asked: AtomicUsize::new(0) }
    }

    /// What there is.
    pub(super) fn now(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is to answer so many queries. Questions that begin side by side may each make a structure: waiting for
    /// another one inside a pool of threads could be waiting for itself.
    pub(super) fn ready(&self, queries: usize, kind: Kind, run: &Context) -> Result<Arc<Engine>> {
        let engine = self.now();
        let Engine::Rows(rows) = &*engine else { return Ok(engine) };
        let before = self.asked.fetch_add(queries.min(FEW + 1), Ordering::Relaxed);
        if before.saturating_add(queries) <= FEW {
            return Ok(engine);
        }
        let made = Arc::new(Engine::new(rows, kind, run)?);
        let mut place = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(**place, Engine::Rows(_)) {
            *place = made;
        }
        Ok(Arc::clone(&place))
    }
}
