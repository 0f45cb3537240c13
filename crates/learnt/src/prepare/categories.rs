//! The values that a column takes: the engine under the encoders and the mode imputer.
//!
//! Categorical columns are counted by level, numeric ones by distinct value; missing values are
//! counted apart. Counts add, so any order of blocks gives the same result.

use learnt_core::persist::{Shaped, Side, Sizes};
use learnt_core::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The distinct values of a column with their counts.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
#[stored(validate = validate)]
pub struct Counts {
    /// Levels in sorted order, or in their own order if that means something; empty for numbers.
    pub levels: Arc<Vec<String>>,
    /// Numbers in rising order; empty for levels.
    pub numbers: Vec<f64>,
    /// How often each was seen.
    pub counts: Vec<f64>,
    /// How often the value was missing.
    pub missing: f64,
}

/// The counts of every column.
#[derive(Stored, Clone, Debug, Default, PartialEq, Merge)]
pub struct TableCounts {
    /// One entry a column.
    pub columns: Vec<Counts>,
}

impl TableCounts {
    /// Counts the values of a block.
    pub fn of(data: &Dataset) -> TableCounts {
        /// Columns whose values of a row share lines of the cache, where rows stand together.
        const TOGETHER: usize = 16;
        let width = data.x.ncols();
        let mut columns = Vec::with_capacity(width);
        for first in (0..width).step_by(TOGETHER) {
            columns.extend(of_columns(data, first..(first + TOGETHER).min(width)));
        }
        TableCounts { columns }
    }
}

/// The counts of some columns.
fn of_columns(data: &Dataset, columns: Range<usize>) -> Vec<Counts> {
    /// Rows whose values stay in cache.
    const ROWS: usize = 2048;
    let levels = |j: usize| data.x.schema().column(j).shared_levels();
    let start = |j: usize| levels(j).is_none().then(Few::new);
    let mut few: Vec<Option<Few>> = columns.clone().map(start).collect();
    for first in (0..data.nrows()).step_by(ROWS) {
        let rows = first..(first + ROWS).min(data.nrows());
        for (few, j) in few.iter_mut().zip(columns.clone()) {
            if few.as_mut().is_some_and(|few| few.add(data, j, rows.clone()).is_none()) {
                *few = None;
            }
        }
    }
    let counts = |(few, j): (Option<Few>, usize)| match (levels(j), few) {
        (Some(levels), _) => count_levels(data, j, levels),
        (None, Some(few)) => few.in_order(),
        (None, None) => count_numbers(data, j),
    };
    few.into_iter().zip(columns).map(counts).collect()
}

/// Numbers with few different values, which are found by their bits.
struct Few {
    /// One more than the place of the value in `counts`; 0 for none.
    places: Box<[u16; Few::SLOTS]>,
    counts: Counts,
}

impl Few {
    const SLOTS: usize = 4096;
    /// The most values.
    const MOST: usize = 1024;

    fn new() -> Few {
        Few { places: Box::new([0; Few::SLOTS]), counts: Counts::default() }
    }

    /// Adds rows of a column; `None` if it has too many values.
    fn add(&mut self, data: &Dataset, j: usize, rows: Range<usize>) -> Option<()> {
        let Counts { numbers, counts, missing, .. } = &mut self.counts;
        for i in rows {
            let (value, weight) = (data.x.values().at(i, j) + 0.0, data.weight(i));
            if value.is_nan() {
                *missing += weight;
                continue;
            }
            let hash = value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
            let mut slot = hash as usize % Few::SLOTS;
            loop {
                match usize::from(self.places[slot]).checked_sub(1) {
                    Some(place) if numbers[place] == value => break counts[place] += weight,
                    Some(_) => slot = (slot + 1) % Few::SLOTS,
                    None if numbers.len() == Few::MOST => return None,
                    None => {
                        numbers.push(value);
                        counts.push(weight);
                        self.places[slot] = numbers.len() as u16;
                        break;
                    }
                }
            }
        }
        Some(())
    }

    fn in_order(self) -> Counts {
        let Counts { numbers, counts, missing, .. } = self.counts;
        let mut pairs: Vec<(f64, f64)> = numbers.into_iter().zip(counts).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (numbers, counts) = pairs.into_iter().unzip();
        Counts { numbers, counts, missing, ..Counts::default() }
    }
}

impl Summarize for TableCounts {
    fn of(data: &Dataset) -> Result<Self> {
        Ok(TableCounts::of(data))
    }
}

fn count_levels(data: &Dataset, j: usize, levels: &Arc<Vec<String>>) -> Counts {
    let mut counts =
        Counts { levels: levels.clone(), counts: vec![0.0; levels.len()], ..Counts::default() };
    for i in 0..data.nrows() {
        let value = data.x.values().at(i, j);
        match counts.counts.get_mut(value as usize) {
            Some(count) if !value.is_nan() => *count += data.weight(i),
            _ => counts.missing += data.weight(i),
        }
    }
    counts
}

fn count_numbers(data: &Dataset, j: usize) -> Counts {
    let mut counts = Counts::default();
    let mut known = Vec::with_capacity(data.nrows());
    for i in 0..data.nrows() {
        let value = data.x.values().at(i, j) + 0.0;
        match value.is_nan() {
            true => counts.missing += data.weight(i),
            false => known.push((value, i)),
        }
    }
    match data.weights {
        None => {
            let mut numbers: Vec<f64> = known.into_iter().map(|(value, _)| value).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            numbers.into_iter().for_each(|value| counts.add_last(value, 1.0));
        }
        // Stable, so that weights are added in the order of their rows.
        Some(weights) => {
            known.sort_by(|a, b| a.0.total_cmp(&b.0));
            known.into_iter().for_each(|(value, i)| counts.add_last(value, weights[i]));
        }
    }
    counts
}

impl Counts {
    /// Adds to the number of the last value, or to that of a new one after it.
    fn add_last(&mut self, value: f64, weight: f64) {
        match (self.numbers.last(), self.counts.last_mut()) {
            (Some(last), Some(count)) if *last == value => *count += weight,
            _ => {
                self.numbers.push(value);
                self.counts.push(weight);
            }
        }
    }
}

impl Merge for Counts {
    fn merge(self, later: Self) -> Result<Self> {
        let missing = self.missing + later.missing;
        if !self.levels.is_empty() || !later.levels.is_empty() {
            let counts = self.counts.iter().zip(&later.counts).map(|(a, b)| a + b).collect();
            return Ok(Counts { counts, missing, ..self });
        }
        let mut merged = Counts { missing, ..Counts::default() };
        let (mut a, mut b) = (0, 0);
        while a < self.numbers.len() || b < later.numbers.len() {
            let left = self.numbers.get(a).copied().unwrap_or(f64::INFINITY);
            let right = later.numbers.get(b).copied().unwrap_or(f64::INFINITY);
            let value = left.min(right);
            let mut count = 0.0;
            if left == value && a < self.numbers.len() {
                count += self.counts[a];
                a += 1;
            }
            if right == value && b < later.numbers.len() {
                count += later.counts[b];
                b += 1;
            }
            merged.numbers.push(value);
            merged.counts.push(count);
        }
        Ok(merged)
    }
}

impl Shaped for Counts {
    fn fits(&self, _: &mut Sizes, sides: &[Side]) -> bool {
        sides.is_empty()
    }
}

impl Counts {
    /// Only what was seen, levels in sorted order unless `ordered`.
    #[must_use]
    pub fn seen(&self, ordered: bool) -> Counts {
        if self.levels.is_empty() {
            return self.clone();
        }
        let mut kept: Vec<usize> =
            (0..self.levels.len()).filter(|&k| self.counts[k] > 0.0).collect();
        if !ordered {
            kept.sort_by(|&a, &b| self.levels[a].cmp(&self.levels[b]));
        }
        let unchanged = kept.len() == self.levels.len() && kept.is_sorted();
        Counts {
            levels: match unchanged {
                true => self.levels.clone(),
                false => Arc::new(kept.iter().map(|&k| self.levels[k].clone()).collect()),
            },
            numbers: Vec::new(),
            counts: kept.iter().map(|&k| self.counts[k]).collect(),
            missing: self.missing,
        }
    }

    /// Number of categories, without missing.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// What the k-th category is called.
    pub fn name(&self, k: usize) -> String {
        match self.levels.get(k) {
            Some(level) => level.clone(),
            None => self.numbers.get(k).map_or_else(String::new, ToString::to_string),
        }
    }

    /// The position of the category that each name is, if it is one.
    fn find_all(&self, names: &[String]) -> Vec<Option<usize>> {
        if self.levels.as_slice() == names {
            return (0..names.len()).map(Some).collect();
        }
        let own: Vec<Cow<str>> = match self.levels.is_empty() {
            true => self.numbers.iter().map(|number| number.to_string().into()).collect(),
            false => self.levels.iter().map(|level| level.as_str().into()).collect(),
        };
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|&a, &b| own[a].cmp(&own[b]));
        let place = |name: &String| order.binary_search_by(|&k| own[k].as_ref().cmp(name)).ok();
        names.iter().map(|name| place(name).map(|place| order[place])).collect()
    }

    /// Position of the most frequent category; the first of equals.
    pub fn mode(&self) -> Option<usize> {
        let most = self.counts.iter().copied().fold(0.0, f64::max);
        self.counts.iter().position(|&count| count == most && most > 0.0)
    }

    /// Proves that a stored value is what `seen` can make.
    pub fn validate(&self) -> Result<()> {
        let rising = self.numbers.windows(2).all(|pair| pair[0] < pair[1]);
        let lengths = self.levels.len() + self.numbers.len() == self.counts.len()
            && (self.levels.is_empty() || self.numbers.is_empty());
        let finite = self.counts.iter().chain([&self.missing]).all(|count| *count >= 0.0);
        match rising && lengths && finite {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("categories and counts differ")),
        }
    }
}

/// From the values of a column to positions among its categories.
pub(super) struct Lookup<'a> {
    categories: &'a Counts,
    by_code: Option<Vec<Option<usize>>>,
}

/// What a value is among the categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The category at this position.
    Category(usize),
    /// A missing value.
    Missing,
    /// A value that training did not see.
    Unseen,
}

impl<'a> Lookup<'a> {
    /// For a column as it is coded now: levels may stand in another order than in training.
    pub(super) fn new(categories: &'a Counts, column: &Column) -> Lookup<'a> {
        let by_code = column.levels().map(|levels| categories.find_all(levels));
        Lookup { categories, by_code }
    }

    /// What the value is.
    pub(super) fn find(&self, value: f64) -> Found {
        if value.is_nan() {
            return Found::Missing;
        }
        let position = match &self.by_code {
            Some(codes) => codes.get(value as usize).copied().flatten(),
            None => self.categories.numbers.binary_search_by(|x| x.total_cmp(&(value + 0.0))).ok(),
        };
        position.map_or(Found::Unseen, Found::Category)
    }
}

/// The error for values that training did not see.
pub(super) fn unseen_error(x: &Frame, j: usize, lookup: &Lookup) -> Error {
    let column = x.schema().column(j);
    let mut unseen: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..x.nrows() {
        let value = x.values().at(i, j);
        if lookup.find(value) == Found::Unseen {
            let name = match column.levels() {
                Some(levels) => levels.get(value as usize).cloned().unwrap_or_default(),
                None => value.to_string(),
            };
            *unseen.entry(name).or_default() += 1;
        }
    }
    let shown: Vec<String> = unseen
        .iter()
        .take(5)
        .map(|(name, count)| format!("'{}' ({count})", learnt_core::error::plain(name)))
        .collect();
    let name = learnt_core::error::plain(&column.name);
    let message = format!(
        "found unknown categories: column '{name}' holds {} that training did not see: {}",
        unseen.len(),
        shown.join(", ")
    );
    Error::new(Code::Category, message).column(name).hint("set handle_unknown at fit to allow them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_merge_into_sorted_distinct_values() {
        let table =
            Table::unnamed(Matrix::column_vector(vec![3.0, 1.0, f64::NAN, 3.0, 2.0, -0.0, 0.0]));
        let data = Dataset::new(table.frame());
        let whole = TableCounts::of(&data);
        let merged =
            TableCounts::of(&data.rows(0, 3)).merge(TableCounts::of(&data.rows(3, 7))).unwrap();
        assert_eq!(merged, whole);
        assert_eq!(whole.columns[0].numbers, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(whole.columns[0].counts, [2.0, 1.0, 1.0, 2.0]);
        assert_eq!(whole.columns[0].missing, 1.0);
    }

    #[test]
    fn few_and_many_different_numbers_are_counted_as_sorting_would() {
        let n = 5000;
        let x = Matrix::from_fn(n, 19, |i, j| match (i * 7 + j) % 13 {
            3 => f64::NAN,
            // From 19 to 5,000 different values, on either side of what is few.
            _ => ((i * 7919) % (19 + 277 * j)) as f64 - 9.0,
        });
        let table = Table::unnamed(x);
        let weights: Vec<f64> = (0..n).map(|i| 0.1 + (i % 7) as f64).collect();
        for weights in [None, Some(weights.as_slice())] {
            let data = Dataset { weights, ..Dataset::new(table.frame()) };
            for (j, found) in TableCounts::of(&data).columns.iter().enumerate() {
                assert_eq!(*found, count_numbers(&data, j), "column {j}");
            }
        }
    }

    #[test]
    fn levels_are_found_by_name_in_any_order() {
        let trained = Counts {
            levels: Arc::new(vec!["a".into(), "b".into()]),
            counts: vec![1.0, 1.0],
            ..Counts::default()
        };
        let column = Column::categorical("c", vec!["b".into(), "z".into(), "a".into()]);
        let lookup = Lookup::new(&trained, &column);
        assert_eq!(lookup.find(0.0), Found::Category(1));
        assert_eq!(lookup.find(1.0), Found::Unseen);
        assert_eq!(lookup.find(f64::NAN), Found::Missing);
        let ordered = Counts { levels: Arc::new(vec!["b".into(), "a".into()]), ..trained.clone() };
        let lookup = Lookup::new(&ordered, &column);
        assert_eq!(lookup.find(2.0), Found::Category(1));
        let numbers = Counts { numbers: vec![2.0, 10.0], ..trained };
        let numbers = Counts { levels: Arc::default(), ..numbers };
        let column = Column::categorical("c", vec!["10".into(), "2".into(), "3".into()]);
        let lookup = Lookup::new(&numbers, &column);
        assert_eq!(
            [0.0, 1.0, 2.0].map(|code| lookup.find(code)),
            [Found::Category(1), Found::Category(0), Found::Unseen]
        );
    }

    #[test]
    fn levels_that_were_all_seen_in_order_are_shared() {
        let levels = Arc::new(vec!["a".to_string(), "b".to_string()]);
        let all = Counts { levels, counts: vec![1.0, 2.0], ..Counts::default() };
        assert!(Arc::ptr_eq(&all.seen(false).levels, &all.levels));
        let some = Counts { counts: vec![0.0, 2.0], ..all };
        assert_eq!(*some.seen(false).levels, ["b"]);
    }
}
