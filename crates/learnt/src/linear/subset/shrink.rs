//! A set of columns that shrinks: a square root of (XᵀX)⁻¹ under orthogonal reflections.
//!
//! With T Tᵀ = (XᵀX)⁻¹ and z = TᵀXᵀy, b = Tz. A reflection that moves a column's row of T into the
//! last place takes that column out: without that row and place T and z are those of the others,
//! and the residual sum has risen by the last z². That is b²/v of the column, v its diagonal element
//! of (XᵀX)⁻¹: the square of its t statistic times the noise.

use super::grow::Grow;
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::vectorized;

/// Columns of a model, the fixed ones first.
#[derive(Clone, Debug, Default)]
pub(super) struct Shrink {
    pub(super) columns: Vec<usize>,
    /// Number of columns that stay.
    pub(super) fixed: usize,
    /// Residual sum of squares, as a share of the total.
    pub(super) rss: f64,
    /// T, row by row.
    root: Vec<f64>,
    /// z.
    along: Vec<f64>,
    /// b.
    pub(super) coefficients: Vec<f64>,
    /// The diagonal of T Tᵀ.
    pub(super) variances: Vec<f64>,
    mirror: Vec<f64>,
}

impl Shrink {
    /// The columns chosen so far.
    pub(super) fn new(grown: &Grow) -> Shrink {
        let rows = grown.inverse();
        let along = grown.along();
        Shrink {
            columns: grown.chosen.clone(),
            fixed: 0,
            rss: grown.rss(),
            coefficients: grown.coefficients(),
            variances: rows.iter().map(|row| dot(row, row)).collect(),
            root: rows.concat(),
            along,
            mirror: Vec::new(),
        }
    }

    /// How much the residual sum rises without the i-th column.
    pub(super) fn cost(&self, i: usize) -> f64 {
        self.coefficients[i] * self.coefficients[i] / self.variances[i]
    }

    /// Position of the column whose loss costs least, the lowest column of equals.
    pub(super) fn cheapest(&self, tie: f64) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for i in self.fixed..self.columns.len() {
            let cost = self.cost(i);
            let better = best.is_none_or(|(b, least)| {
                cost < least - tie || (cost <= least + tie && self.columns[i] < self.columns[b])
            });
            if better {
                best = Some((i, cost));
            }
        }
        best
    }

    /// The model without the i-th column, its columns taken in this order.
    pub(super) fn without(&self, i: usize, order: &[usize], fixed: usize, out: &mut Shrink) {
        vectorized!(self.write_without(i, order, fixed, out));
    }

    #[inline(always)]
    fn write_without(&self, i: usize, order: &[usize], fixed: usize, out: &mut Shrink) {
        let m = self.columns.len();
        let row = |k: usize| &self.root[k * m..][..m];
        let Shrink { columns, root, along, coefficients, variances, mirror, .. } = out;
        let length = self.variances[i].sqrt();
        mirror.clear();
        mirror.extend_from_slice(row(i));
        mirror[m - 1] += length.copysign(mirror[m - 1]);
        let scale = (2.0 / dot(mirror, mirror)).sqrt();
        mirror.iter_mut().for_each(|v| *v *= scale);
        along.clear();
        along.extend_from_slice(&self.along);
        let turn = dot(mirror, along);
        add_scaled(along, -turn, mirror);
        let lost = along.pop().unwrap_or(0.0);
        out.rss = self.rss + lost * lost;
        out.fixed = fixed;
        columns.clear();
        root.clear();
        coefficients.clear();
        variances.clear();
        for &k in order {
            let turn = dot(row(k), mirror);
            let start = root.len();
            root.extend_from_slice(&row(k)[..m - 1]);
            let own = &mut root[start..];
            add_scaled(own, -turn, &mirror[..m - 1]);
            coefficients.push(dot(own, along));
            variances.push(dot(own, own));
            columns.push(self.columns[k]);
        }
    }

    /// Drops the i-th column; the others keep their order.
    pub(super) fn drop(&mut self, i: usize) {
        let order: Vec<usize> = (0..self.columns.len()).filter(|&k| k != i).collect();
        let mut out = Shrink::default();
        self.without(i, &order, 0, &mut out);
        *self = out;
    }

    /// The rows of T.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.root.chunks_exact(self.columns.len().max(1))
    }
}
