//! The best split of a node among columns drawn at random.
//!
//! A column's rows are added up by bin; cuts between neighbouring bins that hold rows are tried from
//! the smallest value on, with missing values on the right, then on the left. Levels are put in order
//! first, as in `grow/levels.rs`. With `random`, one cut is drawn between the smallest and largest
//! value; sums of its sides are all that is needed then, and small tables make no histogram. Columns are drawn until enough were looked at and one of them varies. Draws belong to a
//! node's way from the root, so it does not matter when, where and by whom it is split. The largest gain wins; of equals the first column, then the first cut; scores that differ by 1e-12 of themselves
//! are equal.

use super::grower::Item;
use super::measure::Measure;
use super::table::{Kind, MISSING};
use crate::tree::grow::{Settings, order_of_levels};
use crate::tree::nodes::Tree;
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::ops::Range;

/// The way to the root.
pub(crate) const ROOT_PATH: u64 = 0x726f_6f74;

/// The way to a child, left or right, as a whole number that files hold.
pub(crate) fn way(path: u64, right: bool) -> u64 {
    let mixed = path.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(right) + 1);
    (mixed ^ (mixed >> 29)) >> 1
}

/// Above this many rows, bins that hold rows are found by looking at all of them.
const MANY: usize = 512;

/// In tables of up to this many rows, which have about as many bins as rows, both sides of a cut that is drawn take
/// less time than a histogram; in larger ones they took a little more.
pub(super) const FEW_DRAWN: usize = 1024;

/// A split.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) feature: usize,
    /// Values up to it go left.
    threshold: f64,
    /// Whether each bin goes left.
    pub(crate) goes_left: Box<[bool; 256]>,
    /// Bins that hold rows of the node, as bits.
    present: [u64; 4],
    has_missing: bool,
    pub(crate) gain: f64,
}

impl Found {
    /// Makes a node of so many rows ask for its column, where so many go left.
    pub(crate) fn ask(
        &self,
        tree: &mut Tree,
        id: u32,
        kinds: &[Kind],
        (left, rows): (usize, usize),
    ) {
        let kind = &kinds[self.feature];
        let larger_left = 2 * left > rows;
        let missing_left = match self.has_missing {
            true => self.goes_left[MISSING as usize],
            false => larger_left,
        };
        let bits = match kind {
            Kind::Ordered { .. } => None,
            Kind::Levels { .. } => {
                let present = |bin: usize| self.present[bin / 64] >> (bin % 64) & 1 == 1;
                Some(kind.level_bits(&self.goes_left[..], present, larger_left))
            }
        };
        tree.ask(id, self.feature, self.threshold, missing_left, bits.as_deref());
    }
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

/// A node to split.
pub(crate) struct Sought<'a, M: Measure> {
    pub(crate) measure: &'a M,
    pub(crate) kinds: &'a [Kind],
    pub(crate) settings: &'a Settings,
    /// Sums over its rows.
    pub(crate) cell: M::Cell,
    pub(crate) rows: usize,
    /// Stands for its way from the root.
    pub(crate) path: u64,
    /// The run of the tree.
    pub(crate) run: &'a Context<'a>,
}

/// Columns in the order in which a node looks at them.
pub(crate) struct Order {
    columns: Vec<u32>,
    /// What was exchanged since the columns stood in their own order.
    swaps: Vec<(usize, usize)>,
    /// Whether all nodes have one order.
    once: bool,
}

impl Order {
    /// For nodes of the tree of this run.
    pub(crate) fn new(columns: usize, settings: &Settings, run: &Context) -> Self {
        let once = settings.columns_once;
        let mut order = Order { columns: (0..columns as u32).collect(), swaps: Vec::new(), once };
        if once && settings.max_features < columns {
            let mut rng = run.rng(ROOT_PATH);
            (0..settings.max_features).for_each(|place| order.draw(place, &mut rng));
        }
        order
    }

    /// Puts a column that was not drawn yet in this place.
    fn draw(&mut self, place: usize, rng: &mut Rng) {
        let other = place + sample::below(rng, (self.columns.len() - place) as u64) as usize;
        self.columns.swap(place, other);
        self.swaps.push((place, other));
    }

    /// Back to the order of the table.
    fn restore(&mut self) {
        while let Some((a, b)) = self.swaps.pop() {
            self.columns.swap(a, b);
        }
    }

    /// The columns at some places of a node's order.
    pub(crate) fn columns(
        &mut self,
        settings: &Settings,
        path: u64,
        places: Range<usize>,
        run: &Context,
    ) -> Vec<usize> {
        if self.draws(settings) {
            self.restore();
            let mut rng = run.rng(path);
            (0..places.end).for_each(|place| self.draw(place, &mut rng));
        }
        self.columns[places].iter().map(|&column| column as usize).collect()
    }

    /// Whether each node has an order of its own.
    fn draws(&self, settings: &Settings) -> bool {
        !self.once && settings.max_features < self.columns.len()
    }
}

/// Sums by bin of one column.
pub(crate) struct Bins<M: Measure> {
    cells: Box<[M::Cell; 256]>,
    counts: Box<[u32; 256]>,
    present: [u64; 4],
    /// A cut that was drawn while rows were added up.
    drawn: Option<f64>,
}

impl<M: Measure> Bins<M> {
    /// Adds rows up beside a cut that `draw` finds between the ends of their values: the sums of a side stand in its
    /// bin next to the cut, and its other bins are empty. `high` are the largest values of bins.
    pub(super) fn part(
        &mut self,
        measure: &M,
        column: &[u8],
        items: &[Item<M::Point>],
        high: &[f64],
        draw: impl Fn(f64, f64) -> f64,
    ) {
        let (mut first, mut last, mut holes) = (MISSING, 0, false);
        for item in items {
            let bin = column[item.row as usize];
            first = first.min(bin);
            last = last.max(if bin == MISSING { 0 } else { bin });
            holes |= bin == MISSING;
        }
        self.mark(first);
        if first == MISSING || (first == last && !holes) {
            return;
        }
        let drawn = draw(high[first as usize], high[last as usize]);
        self.drawn = Some(drawn);
        // Neighbouring rows go into sums of their own, so that none waits for the one before.
        let mut sides = [M::Cell::default(); 4];
        let (mut inner, mut rows) = ([first, last], [0, 0]);
        for (place, item) in items.iter().enumerate() {
            let bin = column[item.row as usize];
            if bin == MISSING {
                measure.add(&mut self.cells[MISSING as usize], &item.point);
                self.counts[MISSING as usize] += 1;
                continue;
            }
            let right = usize::from(high[bin as usize] > drawn);
            measure.add(&mut sides[2 * (place % 2) + right], &item.point);
            rows[0] += 1 - right as u32;
            rows[1] += right as u32;
            inner[0] = inner[0].max(if right == 0 { bin } else { first });
            inner[1] = inner[1].min(if right == 1 { bin } else { last });
        }
        self.mark(last);
        if holes {
            self.mark(MISSING);
        }
        for side in 0..2 {
            let [mut sum, more] = [sides[side], sides[2 + side]];
            M::join(&mut sum, &more);
            self.put(inner[side], sum, rows[side]);
        }
    }

    fn mark(&mut self, bin: u8) {
        self.present[bin as usize / 64] |= 1 << (bin % 64);
    }

    /// Adds rows up by bin.
    pub(super) fn gather(
        &mut self,
        measure: &M,
        column: &[u8],
        items: &[Item<M::Point>],
        count: bool,
    ) {
        let cells = &mut *self.cells;
        if count {
            for item in items {
                self.counts[column[item.row as usize] as usize] += 1;
            }
        }
        if items.len() > MANY {
            for item in items {
                measure.add(&mut cells[column[item.row as usize] as usize], &item.point);
            }
            for (bin, cell) in cells.iter().enumerate() {
                self.present[bin / 64] |= u64::from(M::weight(cell) > 0.0) << (bin % 64);
            }
            return;
        }
        for item in items {
            let bin = column[item.row as usize] as usize;
            measure.add(&mut cells[bin], &item.point);
            self.present[bin / 64] |= 1 << (bin % 64);
        }
    }

    /// Takes the sums of a bin that others have added up.
    pub(crate) fn put(&mut self, bin: u8, cell: M::Cell, rows: u32) {
        if rows > 0 {
            self.cells[bin as usize] = cell;
            self.counts[bin as usize] = rows;
            self.mark(bin);
        }
    }

    fn single_bin(&self) -> bool {
        self.present.iter().map(|word| word.count_ones()).sum::<u32>() <= 1
    }

    /// Empties the bins that were filled.
    fn clear(&mut self) {
        self.drawn = None;
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
}

/// Sums by bin, and columns in the order of drawing.
pub(crate) struct Search<M: Measure> {
    bins: Bins<M>,
    order: Vec<u8>,
    columns: Order,
}

impl<M: Measure> Search<M> {
    pub(crate) fn new(columns: Order) -> Self {
        let bins = Bins {
            cells: Box::new([M::Cell::default(); 256]),
            counts: Box::new([0; 256]),
            present: [0; 4],
            drawn: None,
        };
        Search { bins, order: Vec::with_capacity(256), columns }
    }

    /// The best split of a node among columns in some places of its order, none of the earlier of which varies;
    /// whether it would look at none behind them. `fill` adds up a column.
    pub(crate) fn best(
        &mut self,
        node: &Sought<M>,
        places: Range<usize>,
        mut fill: impl FnMut(&mut Bins<M>, usize),
    ) -> (Option<Found>, bool) {
        let Settings { max_features, columns_once: once, .. } = *node.settings;
        let base = node.measure.score(&node.cell);
        let all = self.columns.columns.len();
        let draws = self.columns.draws(node.settings);
        let mut rng = node.run.rng(node.path);
        if draws {
            self.columns.restore();
            (0..places.start).for_each(|place| self.columns.draw(place, &mut rng));
        }
        let mut best: Option<Found> = None;
        let mut varied = false;
        for looked in places.clone() {
            if looked >= max_features && (varied || once) {
                break;
            }
            if draws {
                self.columns.draw(looked, &mut rng);
            }
            let feature = self.columns.columns[looked] as usize;
            fill(&mut self.bins, feature);
            if self.bins.single_bin() {
                self.bins.clear();
                continue;
            }
            varied = true;
            if let Some(cut) = self.cut(node, feature) {
                let gain = cut.score - base;
                let better = best.as_ref().is_none_or(|found| {
                    let equal = (gain - found.gain).abs() <= 1e-12 * cut.score.abs();
                    if equal { feature < found.feature } else { gain > found.gain }
                });
                if better && gain > f64::NEG_INFINITY {
                    best = Some(self.found(feature, &node.kinds[feature], cut, gain));
                }
            }
            self.bins.clear();
        }
        let enough = places.end >= all || (places.end >= max_features && (varied || once));
        (best, enough)
    }

    /// Bins of known values that hold rows, in the order in which they are cut.
    fn arrange(&mut self, measure: &M, kind: &Kind) {
        self.order.clear();
        for (word, &bits) in self.bins.present.iter().enumerate() {
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
                self.order.iter().map(|&b| &self.bins.cells[b as usize]).collect();
            let responses: Vec<Vec<f64>> = cells.iter().map(|c| measure.responses(c)).collect();
            let weights: Vec<f64> = cells.iter().map(|c| M::weight(c)).collect();
            let places = order_of_levels(&responses, &weights);
            self.order = places.into_iter().map(|place| self.order[place]).collect();
        }
    }

    /// The best cut of the gathered column, or a random one.
    fn cut(&mut self, node: &Sought<M>, feature: usize) -> Option<Cut> {
        let kind = &node.kinds[feature];
        self.arrange(node.measure, kind);
        let (only, drawn) = match node.settings.random {
            true => self.draw(kind, &mut node.run.row_rng(node.path, feature as u64)),
            false => (None, None),
        };
        let has_missing = self.bins.present[3] >> 63 == 1;
        let mut best: Option<Cut> = None;
        for missing_left in [false, true] {
            if missing_left && !has_missing {
                break;
            }
            self.scan(node, (has_missing, missing_left), only, &mut best);
        }
        best.map(|cut| Cut { drawn, ..cut })
    }

    fn scan(
        &self,
        node: &Sought<M>,
        (has_missing, missing_left): (bool, bool),
        only: Option<usize>,
        best: &mut Option<Cut>,
    ) {
        let Sought { measure, cell, rows, .. } = node;
        let limits = &node.settings.limits;
        let mut left = M::Cell::default();
        let mut count = 0;
        if missing_left {
            left = self.bins.cells[MISSING as usize];
            count = self.bins.counts[MISSING as usize] as usize;
        }
        let mut bar = best.as_ref().map_or(f64::NEG_INFINITY, |cut| raised(cut.score));
        // All known rows may go left only if the missing ones stay right.
        let last = self.order.len() - usize::from(missing_left || !has_missing);
        for (place, &bin) in self.order[..last].iter().enumerate() {
            M::join(&mut left, &self.bins.cells[bin as usize]);
            count += self.bins.counts[bin as usize] as usize;
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
            if only.is_some() {
                break;
            }
        }
    }

    /// A random cut: how many bins go left, and the value that was drawn.
    fn draw(&self, kind: &Kind, rng: &mut Rng) -> (Option<usize>, Option<f64>) {
        let bins = self.order.len();
        match kind {
            Kind::Ordered { high, .. } => {
                let value = |place: usize| high[self.order[place] as usize];
                let between = || between((value(0), value(bins - 1)), rng);
                let drawn = self.bins.drawn.unwrap_or_else(between);
                let taken = self.order.partition_point(|&bin| high[bin as usize] <= drawn);
                (Some(taken), Some(drawn))
            }
            Kind::Levels { .. } => {
                let below = bins.saturating_sub(1).max(1) as u64;
                (Some(1 + sample::below(rng, below) as usize), None)
            }
        }
    }

    fn found(&self, feature: usize, kind: &Kind, cut: Cut, gain: f64) -> Found {
        let mut goes_left = Box::new([false; 256]);
        match (kind, self.order[..cut.taken].last()) {
            // All bins up to the cut, whether or not sums stand in them.
            (Kind::Ordered { .. }, Some(&last)) => goes_left[..=last as usize].fill(true),
            _ => self.order[..cut.taken].iter().for_each(|&bin| goes_left[bin as usize] = true),
        }
        goes_left[MISSING as usize] = cut.missing_left;
        let threshold = match (kind, self.order.get(cut.taken)) {
            (Kind::Levels { .. }, _) => 0.0,
            (_, None) => f64::INFINITY,
            (Kind::Ordered { low, .. }, Some(&next)) => cut
                .drawn
                .filter(|&drawn| low[next as usize] > drawn)
                .unwrap_or_else(|| kind.cut(self.order[cut.taken - 1].into(), next.into())),
        };
        Found {
            feature,
            threshold,
            goes_left,
            present: self.bins.present,
            has_missing: self.bins.present[3] >> 63 == 1,
            gain,
        }
    }
}

/// A number drawn from the lower to below the upper of two, or the lower.
pub(super) fn between((low, top): (f64, f64), rng: &mut Rng) -> f64 {
    let share = sample::uniform(rng);
    let drawn = low * (1.0 - share) + top * share;
    if drawn >= low && drawn < top { drawn } else { low }
}

/// What a later score must exceed to count as more.
fn raised(score: f64) -> f64 {
    score + 1e-12 * score.abs()
}

#[cfg(test)]
mod tests {
    use super::super::measure::{ClassGini, ClassMeasure};
    use super::*;
    use crate::tree::Growth;
    use crate::tree::Splitter;

    #[test]
    fn cuts_that_are_drawn_are_those_of_a_histogram() {
        let measure = ClassMeasure::<ClassGini, 4>::new(3);
        // The second bin of each column holds no row of the table.
        let mut low: Vec<f64> = (0..200).map(|bin| f64::from(bin) * 2.0).collect();
        let mut high: Vec<f64> = low.iter().map(|least| least + 1.0).collect();
        (low[1], high[1]) = (f64::INFINITY, f64::NEG_INFINITY);
        let kinds = vec![Kind::Ordered { low, high }; 6];
        let settings =
            Growth { min_samples_leaf: crate::tree::MinSamplesLeaf::Count(3), ..Growth::default() }
                .settings(Splitter::Random, 900, 6, 900.0);
        let mut splits = 0;
        for (path, rows) in (0..60).zip([900, 40, 7, 2].into_iter().cycle()) {
            let run = &Context::default().with_seed(path);
            let column = |j: usize| -> Vec<u8> {
                let bin = |i: usize| match (i * (j + 5) * 7 + path as usize) % (3 + 60 * j) {
                    0 if j % 2 == 1 => MISSING,
                    1 => 2,
                    k => (k % 200) as u8,
                };
                (0..rows).map(bin).collect()
            };
            let columns: Vec<Vec<u8>> = (0..6).map(column).collect();
            let items: Vec<_> = (0..rows as u32)
                .map(|row| Item { row, point: measure.point(f64::from(row * row % 3), 1.0) })
                .collect();
            let cell = super::super::grower::total(&measure, &items);
            let (measure, kinds, settings) = (&measure, &kinds[..], &settings);
            let node = Sought { measure, kinds, settings, cell, rows, path, run };
            let mut search = Search::new(Order::new(6, settings, run));
            let (whole, _) = search.best(&node, 0..6, |bins, feature| {
                bins.gather(measure, &columns[feature], &items, true);
            });
            let (parted, _) = search.best(&node, 0..6, |bins, feature| {
                let Kind::Ordered { high, .. } = &kinds[feature] else { return };
                let draw = |low, top| between((low, top), &mut run.row_rng(path, feature as u64));
                bins.part(measure, &columns[feature], &items, high, draw);
            });
            assert_eq!(whole.is_some(), parted.is_some());
            let Some((whole, parted)) = whole.zip(parted) else { continue };
            splits += 1;
            assert_eq!((whole.feature, whole.threshold), (parted.feature, parted.threshold));
            assert_eq!((whole.gain, whole.has_missing), (parted.gain, parted.has_missing));
            let goes = |found: &Found| -> Vec<bool> {
                columns[found.feature].iter().map(|&bin| found.goes_left[bin as usize]).collect()
            };
            assert_eq!(goes(&whole), goes(&parted));
        }
        assert!(splits > 30, "{splits}");
    }
}
