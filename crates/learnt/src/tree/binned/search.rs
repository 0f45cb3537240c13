//! The best split of a node among columns drawn at random.
//!
//! A column's rows are added up by bin; cuts between neighbouring bins that hold rows are tried from
//! the smallest value on, with missing values on the right, then on the left. Levels are put in order
//! first, as in `grow/levels.rs`. With `random`, one cut is drawn between the smallest and largest
//! value. Columns are drawn until enough were looked at and one of them varies. The largest gain
//! wins; of equals the first column, then the first cut; scores that differ by 1e-12 of themselves
//! are equal.

use super::grower::{Item, View};
use super::measure::Measure;
use super::table::{Kind, MISSING};
use crate::tree::grow::{Settings, order_of_levels};
use learnt_core::context::Rng;
use learnt_core::stats::sample;

/// Above this many rows, bins that hold rows are found by looking at all of them.
const MANY: usize = 512;

/// A split.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) feature: usize,
    /// Values up to it go left.
    pub(super) threshold: f64,
    /// Whether each bin goes left.
    pub(super) goes_left: Box<[bool; 256]>,
    /// Bins that hold rows of the node, as bits.
    pub(super) present: [u64; 4],
    pub(super) has_missing: bool,
    pub(super) gain: f64,
}

/// A cut of one column.
struct Cut {
    /// How many of the bins in order go left.
    taken: usize,
    missing_left: bool,
    score: f64,
    /// A threshold that was drawn, if it lies between the bins beside it.
    drawn: Option<f64>,
}

/// Sums by bin, and columns in the order of drawing.
pub(super) struct Search<M: Measure> {
    cells: Box<[M::Cell; 256]>,
    counts: Box<[u32; 256]>,
    present: [u64; 4],
    columns: Vec<u32>,
    order: Vec<u8>,
    rng: Rng,
    /// Whether a node has drawn its columns.
    drawn: bool,
}

impl<M: Measure> Search<M> {
    pub(super) fn new(columns: usize, rng: Rng) -> Self {
        Search {
            cells: Box::new([M::Cell::default(); 256]),
            counts: Box::new([0; 256]),
            present: [0; 4],
            columns: (0..columns as u32).collect(),
            order: Vec::with_capacity(256),
            rng,
            drawn: false,
        }
    }

    /// The best split of a node with these sums.
    pub(super) fn best(
        &mut self,
        measure: &M,
        kinds: &[Kind],
        view: View,
        items: &[Item<M::Point>],
        cell: &M::Cell,
        settings: &Settings,
    ) -> Option<Found> {
        let base = measure.score(cell);
        let all = self.columns.len();
        let mut best: Option<Found> = None;
        let mut varied = false;
        let once = settings.columns_once;
        for looked in 0..all {
            if looked >= settings.max_features && (varied || once) {
                break;
            }
            // Columns that are drawn once stand in front from the first node on.
            if settings.max_features < all && !(once && self.drawn) {
                let other = looked + sample::below(&mut self.rng, (all - looked) as u64) as usize;
                self.columns.swap(looked, other);
            }
            let feature = self.columns[looked] as usize;
            let column = view.column(feature);
            self.gather(column, items, settings.limits.min_rows > 1);
            if self.single_bin() {
                self.clear();
                continue;
            }
            varied = true;
            if let Some(cut) = self.cut(measure, &kinds[feature], items.len(), cell, settings) {
                let gain = cut.score - base;
                let better = best.as_ref().is_none_or(|found| {
                    let equal = (gain - found.gain).abs() <= 1e-12 * cut.score.abs();
                    if equal { feature < found.feature } else { gain > found.gain }
                });
                if better && gain > f64::NEG_INFINITY {
                    best = Some(self.found(feature, &kinds[feature], cut, gain));
                }
            }
            self.clear();
        }
        self.drawn = true;
        best
    }

    /// Adds rows up by bin.
    fn gather(&mut self, column: &[u8], items: &[Item<M::Point>], count: bool) {
        let cells = &mut *self.cells;
        if count {
            for item in items {
                self.counts[column[item.row as usize] as usize] += 1;
            }
        }
        if items.len() > MANY {
            for item in items {
                M::add(&mut cells[column[item.row as usize] as usize], &item.point);
            }
            for (bin, cell) in cells.iter().enumerate() {
                self.present[bin / 64] |= u64::from(M::weight(cell) > 0.0) << (bin % 64);
            }
            return;
        }
        for item in items {
            let bin = column[item.row as usize] as usize;
            M::add(&mut cells[bin], &item.point);
            self.present[bin / 64] |= 1 << (bin % 64);
        }
    }

    fn single_bin(&self) -> bool {
        self.present.iter().map(|word| word.count_ones()).sum::<u32>() <= 1
    }

    /// Empties the bins that were filled.
    fn clear(&mut self) {
        for (word, bits) in self.present.iter_mut().enumerate() {
            let mut left = std::mem::take(bits);
            while left != 0 {
                let bin = (word * 64 + left.trailing_zeros() as usize) & 255;
                self.cells[bin] = M::Cell::default();
                self.counts[bin] = 0;
                left &= left - 1;
            }
        }
    }

    /// Bins of known values that hold rows, in the order in which they are cut.
    fn arrange(&mut self, measure: &M, kind: &Kind) {
        self.order.clear();
        for (word, &bits) in self.present.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                self.order.push((word * 64) as u8 + left.trailing_zeros() as u8);
                left &= left - 1;
            }
        }
        if self.order.last() == Some(&MISSING) {
            self.order.pop();
        }
        if let Kind::Levels { .. } = kind {
            let cells: Vec<&M::Cell> =
                self.order.iter().map(|&b| &self.cells[b as usize]).collect();
            let responses: Vec<Vec<f64>> = cells.iter().map(|c| measure.responses(c)).collect();
            let weights: Vec<f64> = cells.iter().map(|c| M::weight(c)).collect();
            let places = order_of_levels(&responses, &weights);
            self.order = places.into_iter().map(|place| self.order[place]).collect();
        }
    }

    /// The best cut of the gathered column, or a random one.
    fn cut(
        &mut self,
        measure: &M,
        kind: &Kind,
        rows: usize,
        cell: &M::Cell,
        settings: &Settings,
    ) -> Option<Cut> {
        self.arrange(measure, kind);
        let (only, drawn) = match settings.random {
            true => self.draw(kind),
            false => (None, None),
        };
        let has_missing = self.present[3] >> 63 == 1;
        let mut best: Option<Cut> = None;
        for missing_left in [false, true] {
            if missing_left && !has_missing {
                break;
            }
            self.scan(measure, (rows, has_missing, missing_left), cell, settings, only, &mut best);
        }
        best.map(|cut| Cut { drawn, ..cut })
    }

    fn scan(
        &self,
        measure: &M,
        (rows, has_missing, missing_left): (usize, bool, bool),
        cell: &M::Cell,
        settings: &Settings,
        only: Option<usize>,
        best: &mut Option<Cut>,
    ) {
        let limits = &settings.limits;
        let mut left = M::Cell::default();
        let mut count = 0;
        if missing_left {
            left = self.cells[MISSING as usize];
            count = self.counts[MISSING as usize] as usize;
        }
        let mut bar = best.as_ref().map_or(f64::NEG_INFINITY, |cut| raised(cut.score));
        // All known rows may go left only if the missing ones stay right.
        let last = self.order.len() - usize::from(missing_left || !has_missing);
        for (place, &bin) in self.order[..last].iter().enumerate() {
            M::join(&mut left, &self.cells[bin as usize]);
            count += self.counts[bin as usize] as usize;
            if only.is_some_and(|only| only != place + 1) {
                continue;
            }
            if limits.min_rows > 1 && (count < limits.min_rows || rows - count < limits.min_rows) {
                continue;
            }
            let right = M::without(cell, &left);
            if limits.min_weight > 0.0
                && M::weight(&left).min(M::weight(&right)) < limits.min_weight
            {
                continue;
            }
            let score = measure.score(&left) + measure.score(&right);
            if score > bar {
                bar = raised(score);
                *best = Some(Cut { taken: place + 1, missing_left, score, drawn: None });
            }
        }
    }

    /// A random cut: how many bins go left, and the value that was drawn.
    fn draw(&mut self, kind: &Kind) -> (Option<usize>, Option<f64>) {
        let bins = self.order.len();
        match kind {
            Kind::Ordered { high, .. } => {
                let value = |place: usize| high[self.order[place] as usize];
                let share = sample::uniform(&mut self.rng);
                let (low, top) = (value(0), value(bins - 1));
                let drawn = low * (1.0 - share) + top * share;
                let drawn = if drawn >= low && drawn < top { drawn } else { low };
                let taken = self.order.partition_point(|&bin| high[bin as usize] <= drawn);
                (Some(taken), Some(drawn))
            }
            Kind::Levels { .. } => {
                let below = bins.saturating_sub(1).max(1) as u64;
                (Some(1 + sample::below(&mut self.rng, below) as usize), None)
            }
        }
    }

    fn found(&self, feature: usize, kind: &Kind, cut: Cut, gain: f64) -> Found {
        let mut goes_left = Box::new([false; 256]);
        self.order[..cut.taken].iter().for_each(|&bin| goes_left[bin as usize] = true);
        goes_left[MISSING as usize] = cut.missing_left;
        let threshold = match (kind, self.order.get(cut.taken)) {
            (Kind::Levels { .. }, _) => 0.0,
            (_, None) => f64::INFINITY,
            (Kind::Ordered { low, .. }, Some(&next)) => cut
                .drawn
                .filter(|&drawn| low[next as usize] > drawn)
                .unwrap_or_else(|| kind.cut(self.order[cut.taken - 1], next)),
        };
        Found {
            feature,
            threshold,
            goes_left,
            present: self.present,
            has_missing: self.present[3] >> 63 == 1,
            gain,
        }
    }
}

/// What a later score must exceed to count as more.
fn raised(score: f64) -> f64 {
    score + 1e-12 * score.abs()
}
