//! One block of queries against one structure, compiled for the vectors of this machine.

use super::best::Best;
use super::bounds::{Balls, Bounds, Boxes};
use super::engine::Engine;
use super::metric::Kernel;
use super::scan;
use super::tree::Tree;
use learnt_core::prelude::*;
use learnt_core::stop;
use pulp::Simd;

/// What is looked for, one place for each query.
pub(super) enum Goal<'a> {
    /// The nearest rows.
    Nearest(&'a mut [Best]),
    /// The rows within a radius, with their distances.
    Within(f64, &'a mut [Vec<(u32, f64)>]),
    /// The leaf that a search begins with.
    Leaf(&'a mut [u32]),
}

/// A block of queries and what is looked for.
pub(super) struct Search<'a, K> {
    pub(super) kernel: K,
    pub(super) engine: &'a Engine,
    pub(super) queries: &'a Matrix,
    pub(super) goal: Goal<'a>,
}

impl<K: Kernel> learnt_core::linalg::Kernel for Search<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match self.engine {
            Engine::Rows(rows) => match self.goal {
                Goal::Nearest(best) => scan::nearest_of_few(self.kernel, rows, self.queries, best),
                Goal::Within(radius, found) => {
                    scan::within_of_few(self.kernel, rows, self.queries, radius, found);
                }
                Goal::Leaf(leaf) => leaf.fill(0),
            },
            Engine::Scan(rows) => match self.goal {
                Goal::Nearest(best) => scan::nearest(self.kernel, rows, self.queries, best),
                Goal::Within(radius, found) => {
                    scan::within(self.kernel, rows, self.queries, radius, found);
                }
                Goal::Leaf(leaf) => leaf.fill(0),
            },
            Engine::Product(product) => match self.goal {
                Goal::Nearest(best) => product.nearest(simd, self.kernel, self.queries, best),
                Goal::Within(radius, found) => {
                    product.within(simd, self.kernel, self.queries, radius, found);
                }
                Goal::Leaf(leaf) => leaf.fill(0),
            },
            Engine::Boxes(tree) => in_tree(self.kernel, Boxes, tree, self.queries, self.goal),
            Engine::Balls(tree) => in_tree(self.kernel, Balls, tree, self.queries, self.goal),
        }
    }
}

#[inline(always)]
fn in_tree<K: Kernel, B: Bounds>(kernel: K, bounds: B, tree: &Tree, queries: &Matrix, goal: Goal) {
    let mut stack = Vec::new();
    match goal {
        Goal::Nearest(best) => {
            for (query, best) in queries.rows().zip(best).take_while(|_| !stop::asked_in_passing())
            {
                tree.nearest(kernel, bounds, query, &mut stack, best);
            }
        }
        Goal::Within(radius, found) => {
            for (query, found) in
                queries.rows().zip(found).take_while(|_| !stop::asked_in_passing())
            {
                tree.within(kernel, bounds, query, radius, &mut stack, found);
            }
        }
        Goal::Leaf(leaf) => {
            for (query, leaf) in queries.rows().zip(leaf) {
                *leaf = tree.locate(kernel, bounds, query, &mut stack);
            }
        }
    }
}
