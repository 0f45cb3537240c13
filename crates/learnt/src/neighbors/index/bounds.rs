//! Lower bounds of the distance from a query to all rows below a node, for eight nodes at once.
//!
//! A box holds the smallest and largest value of each column; no row is nearer than the box. A ball
//! holds a centre c and the largest distance r of a row from it; no row is nearer than d(q, c) - r.

use super::leaves::{LANES, Lanes, sums};
use super::metric::{Kernel, between, larger};
use learnt_core::prelude::*;

/// What is known about the rows below eight nodes, as a slice of lanes.
pub(super) trait Bounds: Copy + Send + Sync {
    /// Lanes needed for this many columns.
    fn width(self, columns: usize) -> usize;

    /// Writes what is known about one node with these rows.
    fn describe<K: Kernel>(
        self,
        kernel: K,
        rows: &Matrix,
        members: &[u32],
        lane: usize,
        out: &mut [Lanes],
    );

    /// For each node, a sum that is not above that of any of its rows.
    fn lower<K: Kernel>(self, kernel: K, group: &[Lanes], query: &[f64]) -> Lanes;
}

/// The smallest values of all columns, then the largest.
#[derive(Clone, Copy)]
pub(super) struct Boxes;

impl Bounds for Boxes {
    fn width(self, columns: usize) -> usize {
        2 * columns
    }

    fn describe<K: Kernel>(
        self,
        _kernel: K,
        rows: &Matrix,
        members: &[u32],
        lane: usize,
        out: &mut [Lanes],
    ) {
        let (low, high) = out.split_at_mut(rows.ncols());
        low.iter_mut().for_each(|low| low[lane] = f64::INFINITY);
        high.iter_mut().for_each(|high| high[lane] = f64::NEG_INFINITY);
        for &member in members {
            for (j, &x) in rows.row(member as usize).iter().enumerate() {
                low[j][lane] = low[j][lane].min(x);
                high[j][lane] = high[j][lane].max(x);
            }
        }
    }

    #[inline(always)]
    fn lower<K: Kernel>(self, kernel: K, group: &[Lanes], query: &[f64]) -> Lanes {
        let (low, high) = group.split_at(group.len() / 2);
        let mut sums = [K::START; LANES];
        for ((low, high), &x) in low.iter().zip(high).zip(query) {
            for lane in 0..LANES {
                let gap = larger(larger(low[lane] - x, x - high[lane]), 0.0);
                sums[lane] = kernel.add(sums[lane], gap, 0.0);
            }
        }
        sums.map(|sum| sum * K::SLACK)
    }
}

/// The centre, then one lane of radii.
#[derive(Clone, Copy)]
pub(super) struct Balls;

/// More than the relative error of a distance over this many columns.
fn rounding(columns: usize) -> f64 {
    (columns as f64 + 16.0) * 4.0 * f64::EPSILON + 1e-12
}

impl Bounds for Balls {
    fn width(self, columns: usize) -> usize {
        columns + 1
    }

    fn describe<K: Kernel>(
        self,
        kernel: K,
        rows: &Matrix,
        members: &[u32],
        lane: usize,
        out: &mut [Lanes],
    ) {
        let mut center = vec![0.0; rows.ncols()];
        for &member in members {
            for (center, &x) in center.iter_mut().zip(rows.row(member as usize)) {
                *center += x / members.len() as f64;
            }
        }
        let sums = members.iter().map(|&i| between(kernel, rows.row(i as usize), &center));
        let radius = kernel.distance(sums.fold(0.0, larger));
        for (out, center) in out.iter_mut().zip(&center) {
            out[lane] = *center;
        }
        // The absolute part covers squares that underflow.
        out[rows.ncols()][lane] = radius * (1.0 + rounding(rows.ncols())) + 1e-150;
    }

    #[inline(always)]
    fn lower<K: Kernel>(self, kernel: K, group: &[Lanes], query: &[f64]) -> Lanes {
        let keep = 1.0 - rounding(query.len());
        let mut lower = sums(kernel, group, query);
        if let Some(radius) = group.last() {
            for lane in 0..LANES {
                let gap = kernel.distance(lower[lane]) * keep - radius[lane];
                // An overflow says nothing about the rows.
                let useful = gap > 0.0 && gap < f64::INFINITY;
                lower[lane] = if useful { kernel.sum(gap) * keep } else { 0.0 };
            }
        }
        lower
    }
}
