//! The rows of a tree while it grows: a node is a range of them in every column's list.
//!
//! Finding a split looks at each candidate column and keeps the best, the first of equals; dividing
//! a node moves its left rows to the front of its range, in order, so that nothing is sorted twice.
//! Columns are searched on several threads where a node is large.

use super::Settings;
use super::columns::{Codes, MISSING, MISSING_BIN, Store, Values, level, midpoint};
use super::criterion::{Criterion, Summary};
use super::draw::random_split;
use super::levels::{arrange, best_partition};
use super::monotone::{Bounds, Monotone};
use super::scan::{
    Cut, Group, Limits, Sequence, best_group_cut, better, code_of, entry, row_of, tolerance,
};
use super::split::{Split, level_split, rearranged};
use super::surrogate::{Sides, surrogates};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::ops::Range;

/// Nodes with at least this many rows times columns are searched on several threads.
const PARALLEL_CELLS: usize = 1 << 16;

/// Up to this many rows, comparing bins costs less than counting them.
const FEW_ROWS: usize = 128;

/// What is known of a node beside its rows: its name in random draws, and its bounds.
type Place<'a> = (u64, &'a Bounds);

/// Rows of a (part of a) table, arranged by node.
pub(super) struct Space<'a, C: Criterion> {
    codes: &'a [Codes],
    criterion: std::borrow::Cow<'a, C>,
    settings: &'a Settings,
    store: Store,
    /// Beside sorted entries, what their codes stand for.
    values: Option<Values<'a>>,
    /// Row numbers, ascending within each node.
    rows: Vec<u32>,
    /// Whether a row goes left in the division under way, as bits: they stay in the near caches.
    left: Vec<u64>,
    /// Room for what goes right: entries, and rows.
    scratch: Vec<u64>,
    scratch_rows: Vec<u32>,
}

impl<'a, C: Criterion> Space<'a, C> {
    /// All rows in one node.
    pub(super) fn new(
        codes: &'a [Codes],
        store: Store,
        values: Option<Values<'a>>,
        rows: usize,
        criterion: &'a C,
        settings: &'a Settings,
    ) -> Self {
        Space {
            codes,
            criterion: std::borrow::Cow::Borrowed(criterion),
            settings,
            left: room_for_sides(&store, rows),
            store,
            values,
            rows: (0..rows as u32).collect(),
            scratch: Vec::new(),
            scratch_rows: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nodes read values by row number, of the columns that they look at alone.
    pub(super) fn reads_values(&self) -> bool {
        matches!(self.store, Store::Values(_))
    }

    pub(super) fn summary(&self, node: &Range<usize>) -> Summary {
        self.criterion.summary(&self.rows[node.clone()])
    }

    /// One node as a space of its own, its rows numbered from 0.
    pub(super) fn extract(&self, node: &Range<usize>) -> Space<'a, C> {
        let rows = &self.rows[node.clone()];
        let places = Places::new(rows);
        let renumbered = |list: &Vec<u64>| {
            let entries = list[node.clone()].iter();
            entries.map(|&e| entry(code_of(e), places.of(row_of(e)))).collect()
        };
        let store = match &self.store {
            Store::Sorted(lists) => Store::Sorted(lists.iter().map(renumbered).collect()),
            Store::Ranks(columns) => Store::Ranks(columns.iter().map(|c| pick(c, rows)).collect()),
            Store::Bins(columns) => Store::Bins(columns.iter().map(|c| pick(c, rows)).collect()),
            Store::Values(columns) => {
                Store::Values(columns.iter().map(|c| pick(c, rows)).collect())
            }
        };
        Space {
            codes: self.codes,
            criterion: std::borrow::Cow::Owned(self.criterion.gather(rows)),
            settings: self.settings,
            left: room_for_sides(&store, rows.len()),
            store,
            values: self.values.as_ref().map(|values| values.of_rows(rows)),
            rows: (0..rows.len() as u32).collect(),
            scratch: Vec::new(),
            scratch_rows: Vec::new(),
        }
    }

    /// The best split of a node; `key` names the node in random draws.
    pub(super) fn find(
        &self,
        node: &Range<usize>,
        summary: &Summary,
        key: u64,
        bounds: &Bounds,
        run: &Context,
    ) -> Option<Split> {
        let candidates = self.candidates(node, key, run);
        let wide = node.len().saturating_mul(candidates.len()) >= PARALLEL_CELLS;
        let search = |k: usize| self.search(candidates[k], node, summary, (key, bounds), run);
        let threads = if wide { run.threads() } else { 1 };
        let found = run.with_threads(threads).par_map(candidates.len(), search);
        let mut best: Option<Split> = None;
        for split in found.into_iter().flatten() {
            if better(split.gain, best.as_ref().map(|best| best.gain), tolerance(summary)) {
                best = Some(split);
            }
        }
        best.map(|split| self.with_surrogates(split, node, summary))
    }

    /// A split with the cuts that stand for it where its value is missing.
    fn with_surrogates(&self, mut split: Split, node: &Range<usize>, summary: &Summary) -> Split {
        let Store::Ranks(ranks) = &self.store else { return split };
        if self.settings.surrogates == 0 {
            return split;
        }
        let primary = &ranks[split.feature];
        let known = self.rows[node.clone()].iter().copied();
        let rows: Vec<u32> = known.filter(|&row| primary[row as usize] != MISSING).collect();
        let left: Vec<bool> =
            rows.iter().map(|&row| split.sends_left(primary[row as usize], MISSING)).collect();
        let weight = |&row: &u32| self.criterion.case_weight(summary, row as usize);
        let weights: Vec<f64> = rows.iter().map(weight).collect();
        let sides = Sides { rows: &rows, left: &left, weights: &weights };
        split.missing_left = sides.heavier_left();
        split.surrogates =
            surrogates(&sides, split.feature, self.settings.surrogates, self.codes, ranks);
        split
    }

    /// The columns to look at, in their order: `max_features` drawn at random, and more until one
    /// of them varies in the node.
    fn candidates(&self, node: &Range<usize>, key: u64, run: &Context) -> Vec<usize> {
        let (all, wanted) = (self.codes.len(), self.settings.max_features);
        if wanted >= all {
            return (0..all).collect();
        }
        let once = self.settings.columns_once;
        let key = if once { super::ROOT_KEY } else { key };
        // Draws of few columns are the first draws of all.
        let mut chosen = sample::choose(&mut run.rng(key), all, wanted);
        if !once && !chosen.iter().any(|&feature| self.varies(feature, node)) {
            let drawn = sample::choose(&mut run.rng(key), all, all);
            let varying = drawn.iter().position(|&feature| self.varies(feature, node));
            chosen = drawn[..varying.map_or(wanted, |place| place + 1)].to_vec();
        }
        chosen.sort_unstable();
        chosen
    }

    fn varies(&self, feature: usize, node: &Range<usize>) -> bool {
        let rows = &self.rows[node.clone()];
        let mixed = |code: &dyn Fn(u32) -> u32| rows.iter().any(|&row| code(row) != code(rows[0]));
        match &self.store {
            Store::Sorted(lists) => {
                let list = &lists[feature][node.clone()];
                code_of(list[0]) != code_of(list[list.len() - 1])
            }
            Store::Ranks(columns) => mixed(&|row| columns[feature][row as usize]),
            Store::Bins(columns) => mixed(&|row| u32::from(columns[feature][row as usize])),
            Store::Values(columns) => {
                let bits = |row: u32| columns[feature][row as usize].to_bits();
                rows.iter().any(|&row| bits(row) != bits(rows[0]))
            }
        }
    }

    /// The best split on one column.
    fn search(
        &self,
        feature: usize,
        node: &Range<usize>,
        summary: &Summary,
        place: Place,
        run: &Context,
    ) -> Option<Split> {
        match &self.store {
            Store::Sorted(lists) => {
                self.search_entries(feature, &lists[feature][node.clone()], summary, place, run)
            }
            Store::Ranks(columns) => {
                let ranks = &columns[feature];
                let rows = self.rows[node.clone()].iter();
                let mut entries: Vec<u64> =
                    rows.map(|&row| entry(ranks[row as usize], row)).collect();
                entries.sort_unstable();
                self.search_entries(feature, &entries, summary, place, run)
            }
            Store::Values(columns) => {
                let (column, rows) = (&columns[feature], &self.rows[node.clone()]);
                if let Codes::Levels(levels) = self.codes[feature] {
                    let code = |row: u32| level(column[row as usize], levels).unwrap_or(MISSING);
                    let mut entries: Vec<u64> =
                        rows.iter().map(|&row| entry(code(row), row)).collect();
                    entries.sort_unstable();
                    return self.search_entries(feature, &entries, summary, place, run);
                }
                let limits = self.limits(feature, place);
                let draw = (place.0, run);
                random_split(&*self.criterion, (feature, column), (rows, summary), &limits, draw)
            }
            Store::Bins(columns) if node.len() <= self.criterion.few_rows() => {
                let entries = entries_of(&columns[feature], &self.rows[node.clone()]);
                self.search_entries(feature, &entries, summary, place, run)
            }
            Store::Bins(columns) => {
                let groups = self.histogram(&columns[feature], node, summary);
                self.search_groups(feature, groups, summary, place, run)
            }
        }
    }

    /// What cuts of a column must respect in a node.
    fn limits(&self, feature: usize, (_, &bounds): Place) -> Limits {
        let given = self.settings.directions.get(feature).filter(|&&direction| direction != 0);
        let monotone = given.map(|&direction| Monotone { direction, bounds });
        Limits { monotone, ..self.settings.limits }
    }

    fn search_entries(
        &self,
        feature: usize,
        entries: &[u64],
        summary: &Summary,
        place: Place,
        run: &Context,
    ) -> Option<Split> {
        let (known, missing) =
            entries.split_at(entries.partition_point(|&e| code_of(e) != MISSING));
        let (&first, &last) = known.first().zip(known.last())?;
        if code_of(first) == code_of(last) && missing.is_empty() {
            return None;
        }
        if self.settings.surrogates > 0 && !missing.is_empty() {
            // Surrogates say where missing values go, so the split is that of the known ones.
            let rows: Vec<u32> = known.iter().map(|&e| row_of(e) as u32).collect();
            let summary = self.criterion.summary(&rows);
            return self.search_entries(feature, known, &summary, place, run);
        }
        match &self.codes[feature] {
            Codes::Ordered { low, high } => {
                let value = |e: u64, of_code: &[f64]| match &self.values {
                    Some(values) => values.at(row_of(e), feature),
                    None => of_code[code_of(e) as usize],
                };
                let draw = |cut: f64| known.partition_point(|&e| value(e, high) <= cut);
                let (bottom, top) = (value(first, high), value(last, high));
                let (only, drawn) =
                    self.settings.draw_cut(feature, bottom, top, draw, place.0, run);
                let limits = Limits { only, ..self.limits(feature, place) };
                let sequence = Sequence { known, missing };
                let cut = self.criterion.best_cut(summary, &sequence, &limits)?;
                let left = known[cut.position - 1];
                let next = known.get(cut.position).map(|&e| value(e, low));
                let between = Between { last_left: code_of(left), below: value(left, high), next };
                let node = (entries.len(), !missing.is_empty());
                Some(ordered_split(feature, &cut, &between, drawn, node))
            }
            Codes::Levels(levels) => {
                let mut groups = self.level_groups(known, summary);
                if self.settings.exhaustive {
                    let missing = self.level_groups(missing, summary).pop();
                    let (cut, taken) = best_partition(
                        &*self.criterion,
                        summary,
                        &mut groups,
                        missing.as_ref(),
                        &self.limits(feature, place),
                    )?;
                    return Some(level_split(
                        feature,
                        &cut,
                        &groups,
                        taken,
                        *levels,
                        entries.len(),
                    ));
                }
                arrange(&*self.criterion, &mut groups);
                let arranged = rearranged(known, &groups, *levels);
                let only = self.settings.draw_position(feature, &groups, known.len(), place.0, run);
                let limits = Limits { only, ..self.limits(feature, place) };
                let sequence = Sequence { known: &arranged, missing };
                let cut = self.criterion.best_cut(summary, &sequence, &limits)?;
                let taken = code_of(arranged[cut.position - 1]) as usize + 1;
                Some(level_split(feature, &cut, &groups, taken, *levels, entries.len()))
            }
        }
    }

    fn search_groups(
        &self,
        feature: usize,
        mut groups: Vec<Group>,
        summary: &Summary,
        place: Place,
        run: &Context,
    ) -> Option<Split> {
        let missing = groups.pop_if(|group| group.code == u32::from(MISSING_BIN));
        if groups.is_empty() || (groups.len() == 1 && missing.is_none()) {
            return None;
        }
        let rows: usize = groups.iter().chain(&missing).map(|group| group.rows).sum();
        let best = |groups: &[Group], only| {
            let limits = Limits { only, ..self.limits(feature, place) };
            best_group_cut(&*self.criterion, summary, groups, missing.as_ref(), &limits)
        };
        match &self.codes[feature] {
            Codes::Ordered { low: starts, high } => {
                let value = |group: &Group| high[group.code as usize];
                let draw = |x: f64| groups.partition_point(|group| value(group) <= x);
                let (low, top) = (value(&groups[0]), value(&groups[groups.len() - 1]));
                let (only, drawn) = self.settings.draw_cut(feature, low, top, draw, place.0, run);
                let cut = best(&groups, only)?;
                let left = &groups[cut.position - 1];
                let next = groups.get(cut.position).map(|group| starts[group.code as usize]);
                let between = Between { last_left: left.code, below: value(left), next };
                let node = (rows, missing.is_some());
                Some(ordered_split(feature, &cut, &between, drawn, node))
            }
            Codes::Levels(levels) if self.settings.exhaustive => {
                let limits = &self.limits(feature, place);
                let (cut, taken) = best_partition(
                    &*self.criterion,
                    summary,
                    &mut groups,
                    missing.as_ref(),
                    limits,
                )?;
                Some(level_split(feature, &cut, &groups, taken, *levels, rows))
            }
            Codes::Levels(levels) => {
                arrange(&*self.criterion, &mut groups);
                let only = self.settings.draw_group(feature, groups.len(), place.0, run);
                let cut = best(&groups, only)?;
                Some(level_split(feature, &cut, &groups, cut.position, *levels, rows))
            }
        }
    }

    /// Sums of each bin of a column over a node; bins without rows are left out.
    fn histogram(&self, bins: &[u8], node: &Range<usize>, summary: &Summary) -> Vec<Group> {
        let width = self.criterion.width();
        let mut sums = vec![0.0; 256 * width];
        let mut counts = [(0_usize, 0.0_f64); 256];
        for &row in &self.rows[node.clone()] {
            let bin = bins[row as usize] as usize;
            let sum = &mut sums[bin * width..(bin + 1) * width];
            counts[bin].1 += self.criterion.add(summary, sum, row as usize);
            counts[bin].0 += 1;
        }
        let full = counts.iter().enumerate().filter(|(_, (rows, _))| *rows > 0);
        full.map(|(bin, &(rows, weight))| Group {
            code: bin as u32,
            rows,
            weight,
            sums: sums[bin * width..(bin + 1) * width].to_vec(),
        })
        .collect()
    }

    /// Sums of each level; the entries are sorted by it.
    fn level_groups(&self, known: &[u64], summary: &Summary) -> Vec<Group> {
        let group = |entries: &[u64]| {
            let mut sums = vec![0.0; self.criterion.width()];
            let add = |&e: &u64| self.criterion.add(summary, &mut sums, row_of(e));
            let weight = entries.iter().map(add).sum();
            Group { code: code_of(entries[0]), rows: entries.len(), weight, sums }
        };
        known.chunk_by(|a, b| code_of(*a) == code_of(*b)).map(group).collect()
    }

    /// Moves the rows that go left to the front of the node's range; returns where the right begins.
    pub(super) fn divide(&mut self, node: &Range<usize>, split: &Split, run: &Context) -> usize {
        let Space { codes, rows, left, store, scratch, scratch_rows, .. } = self;
        let range = &mut rows[node.clone()];
        let lefts = match store {
            Store::Sorted(lists) => {
                for &e in &lists[split.feature][node.clone()] {
                    let (word, bit) = (&mut left[row_of(e) / 64], row_of(e) % 64);
                    let goes_left = split.sends_left(code_of(e), MISSING);
                    *word = *word & !(1 << bit) | u64::from(goes_left) << bit;
                }
                let left = |row: usize| left[row / 64] >> (row % 64) & 1 == 1;
                let goes_left = |e: &u64| left(row_of(*e));
                if node.len().saturating_mul(lists.len()) >= PARALLEL_CELLS {
                    run.par_fill(lists, 1, |_, lists| {
                        for list in lists {
                            partition(&mut list[node.clone()], &mut Vec::new(), goes_left);
                        }
                    });
                } else {
                    for list in lists {
                        partition(&mut list[node.clone()], scratch, goes_left);
                    }
                }
                partition(range, scratch_rows, |&row| left(row as usize))
            }
            Store::Ranks(columns) => partition(range, scratch_rows, |&row| {
                split.routes_left(|feature| columns[feature][row as usize])
            }),
            Store::Values(columns) => {
                let (column, codes) = (&columns[split.feature], &codes[split.feature]);
                partition(range, scratch_rows, |&row| {
                    split.sends_value_left(column[row as usize], codes)
                })
            }
            Store::Bins(columns) => {
                let column = &columns[split.feature];
                partition(range, scratch_rows, |&row| {
                    split.sends_left(u32::from(column[row as usize]), u32::from(MISSING_BIN))
                })
            }
        };
        node.start + lefts
    }
}

/// What stands beside a cut of quantities.
struct Between {
    /// The last code that goes left, and the largest value of it.
    last_left: u32,
    below: f64,
    /// The smallest value on the right, if any.
    next: Option<f64>,
}

fn ordered_split(
    feature: usize,
    cut: &Cut,
    between: &Between,
    drawn: Option<f64>,
    (rows, has_missing): (usize, bool),
) -> Split {
    let threshold = match between.next {
        None => f64::INFINITY,
        // A cut inside a bin would part rows that training kept together.
        Some(next) => {
            drawn.filter(|&cut| next > cut).unwrap_or_else(|| midpoint(between.below, next))
        }
    };
    Split {
        feature,
        threshold,
        last_left: between.last_left,
        levels: None,
        missing_left: cut.missing_left,
        rows_left: cut.rows_left,
        gain: cut.gain,
        surrogates: Vec::new(),
    }
    .with_larger_default(rows, has_missing)
}

/// The rows of a node, which ascend, in the order of their bins.
fn entries_of(bins: &[u8], rows: &[u32]) -> Vec<u64> {
    let entry_of = |&row: &u32| match bins[row as usize] {
        MISSING_BIN => entry(MISSING, row),
        bin => entry(u32::from(bin), row),
    };
    if rows.len() <= FEW_ROWS {
        let mut entries: Vec<u64> = rows.iter().map(entry_of).collect();
        entries.sort_unstable();
        return entries;
    }
    let mut starts = [0_usize; 256];
    rows.iter().for_each(|&row| starts[bins[row as usize] as usize] += 1);
    let mut before = 0;
    for start in &mut starts {
        before += std::mem::replace(start, before);
    }
    let mut entries = vec![0; rows.len()];
    for row in rows {
        let start = &mut starts[bins[*row as usize] as usize];
        entries[*start] = entry_of(row);
        *start += 1;
    }
    entries
}

/// Where the rows of a node stand among them. It is as large as the node, and not as the table.
struct Places<'a> {
    /// Ascending.
    rows: &'a [u32],
    /// For each group of neighbouring row numbers where it begins among the rows.
    starts: Vec<u32>,
    /// Row numbers of a group, as a power of two.
    shift: u32,
}

impl<'a> Places<'a> {
    fn new(rows: &'a [u32]) -> Self {
        let last = rows.last().map_or(0, |&row| row as usize);
        let shift = (last / rows.len().max(1)).max(1).ilog2();
        let mut starts = vec![0; (last >> shift) + 2];
        for (place, &row) in rows.iter().enumerate() {
            starts[(row as usize >> shift) + 1] = place as u32 + 1;
        }
        for group in 1..starts.len() {
            starts[group] = starts[group].max(starts[group - 1]);
        }
        Places { rows, starts, shift }
    }

    /// The place of a row that is there.
    fn of(&self, row: usize) -> u32 {
        let group = row >> self.shift;
        let (start, end) = (self.starts[group], self.starts[group + 1]);
        let inside = &self.rows[start as usize..end as usize];
        start + inside.partition_point(|&other| (other as usize) < row) as u32
    }
}

/// A bit a row, where sorted columns are divided one after another.
fn room_for_sides(store: &Store, rows: usize) -> Vec<u64> {
    match store {
        Store::Sorted(_) => vec![0; rows.div_ceil(64)],
        _ => Vec::new(),
    }
}

fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

/// Moves what belongs left to the front and keeps the order on both sides; returns the count.
fn partition<T: Copy + Default>(
    items: &mut [T],
    scratch: &mut Vec<T>,
    left: impl Fn(&T) -> bool,
) -> usize {
    if scratch.len() < items.len() {
        scratch.resize(items.len(), T::default());
    }
    let (mut lefts, mut rights) = (0, 0);
    for i in 0..items.len() {
        let item = items[i];
        let goes_left = usize::from(left(&item));
        items[lefts] = item;
        scratch[rights] = item;
        lefts += goes_left;
        rights += 1 - goes_left;
    }
    items[lefts..].copy_from_slice(&scratch[..rights]);
    lefts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_that_are_counted_have_the_order_of_bins_that_are_compared() {
        let bins: Vec<u8> = (0..3000_u32).map(|row| (row * 97 % 256) as u8).collect();
        let rows: Vec<u32> = (0..3000).filter(|row| row % 7 != 3).collect();
        let mut pieces: Vec<u64> =
            rows.chunks(FEW_ROWS).flat_map(|rows| entries_of(&bins, rows)).collect();
        pieces.sort_unstable();
        assert!(pieces.iter().any(|&e| code_of(e) == MISSING));
        assert_eq!(entries_of(&bins, &rows), pieces);
    }

    #[test]
    fn rows_are_found_at_their_places_however_far_apart_they_are() {
        let crowded = (0..5000).chain([4_000_000_000]).collect();
        let lists: [Vec<u32>; 5] =
            [vec![], vec![7], (0..100).collect(), (0..999).map(|k| k * k * 3).collect(), crowded];
        for rows in lists {
            let places = Places::new(&rows);
            assert!(rows.iter().zip(0..).all(|(&row, place)| places.of(row as usize) == place));
            assert!(places.starts.len() <= 2 * rows.len() + 2, "{}", places.starts.len());
        }
    }
}
