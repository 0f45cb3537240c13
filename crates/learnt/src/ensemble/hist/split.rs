//! The best split of a node from its histograms.
//!
//! With G and H the sums of gradients and second derivatives of a side, its score is G²/(H + l2), and
//! the gain of a split score(left) + score(right) - score(node). Under constraints the scores are those
//! of the values that the sides may have. Missing values go right, then left. Levels of a category are
//! put in the order of G/(H + 10) first; rare ones stay right. Of many levels at most 32 leave the others,
//! from either end of the order: the order follows the rows of the node, and cuts in its middle follow
//! their noise. The largest gain wins, of equals the first column, then the first cut.
//!
//! Where the second derivative depends on the score, a side needs as much of it as `min_samples_leaf` average rows
//! of the node have. Rows that are all but certain of their class have next to none: of twenty such rows with one
//! label that is wrong, G/H is as long as that label wants, and rows of the test pay for it. Counting rows by their
//! curvature is what LightGBM does.

use super::blocks::{Cell, Layout, Scale};
use crate::tree::binned::Kind;
use learnt_core::prelude::Stored;

/// Levels with less support than this stay right, and this much smooths their order.
const SUPPORT: f64 = 10.0;
/// The most levels that leave the others, where there are more than twice as many.
const LEAVING: usize = 32;
/// Least sum of second derivatives of a side, for rows of weight one.
const LEAST_CURVATURE: f64 = 1e-3;

/// What a split must respect.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) min_rows: usize,
    /// Whether a side also needs the curvature that so many rows of its node have on average.
    pub(super) by_curvature: bool,
    pub(super) l2: f64,
    /// Mean weight of a row.
    pub(super) unit: f64,
    /// Direction of each column: 1 rising, -1 falling, 0 free.
    pub(super) directions: Vec<i8>,
}

/// The values that a node may have.
#[derive(Stored, Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    pub(super) const FREE: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn are_free(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }
}

/// A split of a node.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) feature: usize,
    pub(super) threshold: f64,
    pub(super) goes_left: Vec<bool>,
    pub(super) missing_left: bool,
    pub(super) gain: f64,
    pub(super) left: Cell,
    /// Bins that hold rows of the node.
    pub(super) present: Vec<bool>,
}

/// A node to split.
pub(super) struct Question<'a> {
    pub(super) kinds: &'a [Kind],
    pub(super) layout: &'a Layout,
    pub(super) histogram: &'a [Cell],
    pub(super) total: Cell,
    pub(super) scale: Scale,
    pub(super) rules: &'a Rules,
    pub(super) bounds: Bounds,
}

/// The best cut of one column so far.
#[derive(Clone, Copy)]
struct Best {
    gain: f64,
    /// How many bins of which order go left.
    taken: usize,
    order: usize,
    missing_left: bool,
    left: Cell,
}

impl Question<'_> {
    /// The least curvature of a side.
    fn least_curvature(&self) -> f64 {
        let Rules { min_rows, by_curvature, unit, .. } = *self.rules;
        let rows = self.scale.count(self.total).max(1) as f64;
        let share = if by_curvature { min_rows as f64 / rows } else { 0.0 };
        (share * self.scale.curvature(self.total)).max(LEAST_CURVATURE * unit)
    }

    /// The value of a side: the minimum of its quadratic, within bounds.
    pub(super) fn value(&self, cell: Cell) -> f64 {
        value(&self.scale, self.rules.l2, cell, self.bounds)
    }

    /// The best split of a column.
    pub(super) fn best(&self, feature: usize) -> Option<Found> {
        let cells = &self.histogram[self.layout.bins(feature)];
        let kind = &self.kinds[feature];
        let orders = match kind {
            Kind::Ordered { .. } => vec![(0..kind.bins() as u16).collect()],
            Kind::Levels { bins, .. } => self.orders(cells, *bins),
        };
        let best = self.best_cut(feature, cells, &orders)?;
        let order = &orders[best.order];
        let mut goes_left = vec![false; cells.len()];
        order[..best.taken].iter().for_each(|&bin| goes_left[bin as usize] = true);
        let larger_left = 2 * self.scale.count(best.left) > self.scale.count(self.total);
        let has_missing = self.scale.count(cells[kind.missing()]) > 0;
        let missing_left = if has_missing { best.missing_left } else { larger_left };
        goes_left[kind.missing()] = missing_left;
        let threshold = match (kind, order.get(best.taken)) {
            (Kind::Levels { .. }, _) => 0.0,
            (_, None) => f64::INFINITY,
            (_, Some(&next)) => kind.cut(order[best.taken - 1].into(), next.into()),
        };
        let present = cells.iter().map(|cell| self.scale.count(*cell) > 0).collect();
        let Best { gain, left, .. } = best;
        Some(Found { feature, threshold, goes_left, missing_left, gain, left, present })
    }

    /// The best cut of these orders of bins.
    fn best_cut(&self, feature: usize, cells: &[Cell], orders: &[Vec<u16>]) -> Option<Best> {
        let missing = cells[self.kinds[feature].missing()];
        let sides = if self.scale.count(missing) > 0 { 2 } else { 1 };
        let free = self.bounds.are_free() && self.rules.directions[feature] == 0;
        let mut best: Option<Best> = None;
        for (number, order) in orders.iter().enumerate() {
            let before = best.map(|best| best.gain);
            for side in &[None, Some(missing)][..sides] {
                match free {
                    true => self.scan(cells, order, *side, &mut best),
                    false => self.scan_within(cells, order, *side, feature, &mut best),
                }
            }
            best = best.map(|best| match before == Some(best.gain) {
                true => best,
                false => Best { order: number, ..best },
            });
        }
        best
    }

    /// Levels with enough support, by their smoothed value; of many, both ends.
    fn orders(&self, cells: &[Cell], bins: usize) -> Vec<Vec<u16>> {
        let factor =
            self.scale.count(self.total) as f64 / self.scale.curvature(self.total).max(1e-300);
        let key = |bin: u16| {
            let cell = cells[usize::from(bin)];
            self.scale.gradient(cell) / (self.scale.curvature(cell) + SUPPORT * self.rules.unit)
        };
        let mut keyed: Vec<(f64, u16)> = (0..bins as u16)
            .filter(|&bin| factor * self.scale.curvature(cells[usize::from(bin)]) >= SUPPORT)
            .map(|bin| (key(bin), bin))
            .collect();
        keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let bins = keyed.iter().map(|&(_, bin)| bin);
        match keyed.len() > 2 * LEAVING {
            true => vec![bins.clone().take(LEAVING).collect(), bins.rev().take(LEAVING).collect()],
            false => vec![bins.collect()],
        }
    }

    /// All cuts in order, without constraints.
    fn scan(&self, cells: &[Cell], order: &[u16], missing: Option<Cell>, best: &mut Option<Best>) {
        let Rules { min_rows, l2, .. } = *self.rules;
        let least = self.least_curvature();
        let rows = self.scale.count(self.total);
        let base = score(&self.scale, l2, self.total);
        let mut left = missing.unwrap_or_default();
        let mut bar = best.map_or(0.0, |best| best.gain) + base;
        for (place, &bin) in order.iter().enumerate() {
            let cell = cells[bin as usize];
            if cell.curvature == 0 {
                continue;
            }
            left.add(cell);
            let count = self.scale.count(left);
            if count < min_rows {
                continue;
            }
            if rows - count < min_rows {
                break;
            }
            let right = self.total.less(left);
            let (h_left, h_right) = (self.scale.curvature(left), self.scale.curvature(right));
            if h_left.min(h_right) < least {
                continue;
            }
            let (g_left, g_right) = (self.scale.gradient(left), self.scale.gradient(right));
            let (h_left, h_right) = (h_left + l2, h_right + l2);
            let both =
                (g_left * g_left * h_right + g_right * g_right * h_left) / (h_left * h_right);
            if both > bar {
                bar = both;
                let missing_left = missing.is_some();
                let (gain, taken) = (both - base, place + 1);
                *best = Some(Best { gain, taken, order: 0, missing_left, left });
            }
        }
    }

    /// All cuts in order whose sides keep to the bounds and the direction of the column.
    fn scan_within(
        &self,
        cells: &[Cell],
        order: &[u16],
        missing: Option<Cell>,
        feature: usize,
        best: &mut Option<Best>,
    ) {
        let min_rows = self.rules.min_rows;
        let least = self.least_curvature();
        let rows = self.scale.count(self.total);
        let base = self.explained(self.total);
        let direction = f64::from(self.rules.directions[feature]);
        let mut left = missing.unwrap_or_default();
        for (place, &bin) in order.iter().enumerate() {
            left.add(cells[bin as usize]);
            let count = self.scale.count(left);
            let right = self.total.less(left);
            let curvature = self.scale.curvature(left).min(self.scale.curvature(right));
            if count < min_rows || rows - count < min_rows || curvature < least {
                continue;
            }
            if direction * (self.value(right) - self.value(left)) < 0.0 {
                continue;
            }
            let gain = self.explained(left) + self.explained(right) - base;
            if gain > best.map_or(0.0, |best| best.gain) {
                let missing_left = missing.is_some();
                *best = Some(Best { gain, taken: place + 1, order: 0, missing_left, left });
            }
        }
    }

    /// Twice the decrease of the quadratic by the value of a side.
    fn explained(&self, cell: Cell) -> f64 {
        let value = self.value(cell);
        let curvature = self.scale.curvature(cell) + self.rules.l2;
        -(2.0 * self.scale.gradient(cell) * value + curvature * value * value)
    }
}

/// The minimum of the quadratic of a side, within bounds.
pub(super) fn value(scale: &Scale, l2: f64, cell: Cell, bounds: Bounds) -> f64 {
    let curvature = scale.curvature(cell) + l2;
    let value = if curvature > 0.0 { -scale.gradient(cell) / curvature } else { 0.0 };
    value.clamp(bounds.low, bounds.high)
}

/// G²/(H + l2).
pub(super) fn score(scale: &Scale, l2: f64, cell: Cell) -> f64 {
    let gradient = scale.gradient(cell);
    gradient * gradient / (scale.curvature(cell) + l2).max(1e-300)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best split of twenty rows that are all but certain of their class, one of them wrongly, and twenty rows
    /// that are not.
    fn found(by_curvature: bool, min_rows: usize) -> Option<Found> {
        let scale = Scale::new(40, 40.0, 10.0);
        let mut histogram = vec![Cell::default(); 256];
        for row in 0..20 {
            let certain = if row == 0 { -0.999 } else { 0.001 };
            histogram[0].add(scale.cell(certain, 0.001 * 0.999));
            histogram[1].add(scale.cell(0.1, 0.25));
        }
        let mut total = histogram[0];
        total.add(histogram[1]);
        let (low, high) = (vec![0.0, 1.0], vec![0.0, 1.0]);
        let rules = Rules { min_rows, by_curvature, l2: 0.0, unit: 1.0, directions: vec![0] };
        let kinds = [Kind::Ordered { low, high }];
        let (rules, bounds, layout) = (&rules, Bounds::FREE, &Layout::new(&kinds));
        let (kinds, histogram) = (&kinds[..], &histogram[..]);
        Question { kinds, layout, histogram, total, scale, rules, bounds }.best(0)
    }

    #[test]
    fn rows_that_hardly_count_are_no_leaf_of_their_own() {
        // A Newton step over the certain rows alone would be one of length 49.
        let alone = found(false, 20).unwrap();
        assert!(alone.gain > 0.0 && alone.threshold == 0.5);
        assert!(found(true, 20).is_none());
        // Their curvature is that of 0.16 rows of the node.
        assert!(found(true, 1).is_none());
        assert!(found(true, 0).is_some());
    }
}
