//! Folds: iterators of training and test rows.
//!
//! Without shuffling, folds are those of scikit-learn: consecutive rows, the first n mod k folds one
//! larger; stratified ones deal the rows of each class in turn; grouped ones put the largest group
//! left into the emptiest fold, equals by number; stratified grouped ones put the group whose classes
//! are most uneven first where the shares of the classes then differ least between folds. Every row is
//! tested exactly once a repetition, but for splits in time, whose first rows are only trained on.

use super::split::{Size, train_test};
use learnt_core::context::Rng;
use learnt_core::error::{nearest, plain};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::collections::{BTreeMap, BTreeSet};

/// One pair of training and test rows, each in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
}

/// A way to make pairs of training and test rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Splitter {
    /// Folds whose sizes differ by at most one.
    KFold {
        /// Number of folds.
        n_splits: usize,
        /// In random order, else in the order of the rows.
        shuffle: bool,
    },
    /// Folds with the shares of the classes.
    StratifiedKFold {
        /// Number of folds.
        n_splits: usize,
        /// In random order, else in the order of the rows.
        shuffle: bool,
    },
    /// Folds that keep groups, or sequences, whole.
    GroupKFold {
        /// Number of folds.
        n_splits: usize,
    },
    /// Folds that keep groups, or sequences, whole, with nearly the shares of the classes.
    StratifiedGroupKFold {
        /// Number of folds.
        n_splits: usize,
        /// Groups in random order where they are equally uneven, else in the order of their numbers.
        shuffle: bool,
    },
    /// Each group, or sequence, alone.
    LeaveOneGroupOut,
    /// Rows in the order of time: each test part follows its training part.
    TimeSeriesSplit(TimeOrder),
    /// Each row alone.
    LeaveOneOut,
    /// Independent random splits.
    ShuffleSplit {
        /// Number of splits.
        n_splits: usize,
        /// Size of the test part.
        test: Size,
        /// Keep the shares of the classes.
        stratify: bool,
    },
    /// Another splitter several times, each time with other random numbers.
    Repeated {
        /// Number of repetitions.
        n_repeats: usize,
        /// What is repeated.
        inner: Box<Splitter>,
    },
    /// These splits.
    Given(Vec<Split>),
}

/// How rows in the order of time are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOrder {
    /// Number of splits.
    pub n_splits: usize,
    /// Number of test rows; none divides the rows into one part more than there are splits.
    pub test_size: Option<usize>,
    /// Rows left out between training and test.
    pub gap: usize,
    /// Most training rows: the last ones; none takes all that came before.
    pub max_train_size: Option<usize>,
}

impl TimeOrder {
    /// So many splits, each trained on everything before its test rows.
    pub fn new(n_splits: usize) -> TimeOrder {
        TimeOrder { n_splits, test_size: None, gap: 0, max_train_size: None }
    }

    fn splits(&self, n: usize) -> Result<Vec<Split>> {
        let TimeOrder { n_splits, gap, .. } = *self;
        enough(n_splits.saturating_add(1), n, "rows")?;
        let size = self.test_size.unwrap_or(n / (n_splits + 1));
        let tested = n_splits.saturating_mul(size);
        if tested.saturating_add(gap) >= n {
            let message = format!(
                "{n_splits} test parts of {size} rows with a gap of {gap} leave none of {n} rows to train on"
            );
            return Err(Error::new(Code::TooFew, message).hint("use fewer or smaller test parts"));
        }
        let split = |k: usize| {
            let test = n - tested + k * size;
            let end = test - gap;
            let start = self.max_train_size.map_or(0, |most| end.saturating_sub(most));
            Split { train: (start..end).collect(), test: (test..test + size).collect() }
        };
        Ok((0..n_splits).map(split).collect())
    }
}

/// Pairs of training and test rows, made one at a time.
#[derive(Clone, Debug)]
pub struct Splits {
    plans: Vec<Plan>,
    plan: usize,
    next: usize,
}

#[derive(Clone, Debug)]
enum Plan {
    /// The fold of each row.
    Folds(Vec<u32>, usize),
    /// Each of so many rows alone.
    Alone(usize),
    /// As they are.
    Listed(Vec<Split>),
}

impl Splitter {
    /// What [`Splitter::named`] knows.
    pub const NAMES: [&'static str; 8] = [
        "k-fold",
        "stratified",
        "group",
        "stratified-group",
        "leave-one-out",
        "leave-one-group-out",
        "shuffle",
        "time",
    ];

    /// The splitter of this name with so many splits; random where it can be.
    pub fn named(name: &str, n_splits: usize) -> Result<Splitter> {
        Ok(match name {
            "k-fold" => Splitter::KFold { n_splits, shuffle: true },
            "stratified" => Splitter::StratifiedKFold { n_splits, shuffle: true },
            "group" => Splitter::GroupKFold { n_splits },
            "stratified-group" => Splitter::StratifiedGroupKFold { n_splits, shuffle: true },
            "leave-one-out" => Splitter::LeaveOneOut,
            "leave-one-group-out" => Splitter::LeaveOneGroupOut,
            "shuffle" => Splitter::ShuffleSplit { n_splits, test: Size::USUAL, stratify: false },
            "time" => Splitter::TimeSeriesSplit(TimeOrder::new(n_splits)),
            other => return Err(Error::unknown("splitter", other, Splitter::NAMES)),
        })
    }

    /// What a title calls it.
    pub fn title(&self) -> String {
        match self {
            Splitter::KFold { n_splits, .. } => format!("{n_splits}-fold cv"),
            Splitter::StratifiedKFold { n_splits, .. } => format!("{n_splits}-fold stratified cv"),
            Splitter::GroupKFold { n_splits } => format!("{n_splits}-fold grouped cv"),
            Splitter::StratifiedGroupKFold { n_splits, .. } => {
                format!("{n_splits}-fold stratified grouped cv")
            }
            Splitter::LeaveOneGroupOut => "leave-one-group-out cv".to_string(),
            Splitter::LeaveOneOut => "leave-one-out cv".to_string(),
            Splitter::TimeSeriesSplit(order) => format!("{} splits in time", order.n_splits),
            Splitter::ShuffleSplit { n_splits, .. } => format!("{n_splits} random splits"),
            Splitter::Repeated { n_repeats, inner } => {
                format!("{n_repeats} times {}", inner.title())
            }
            Splitter::Given(splits) => format!("{} given splits", splits.len()),
        }
    }

    /// The splits of these rows.
    pub fn splits(&self, data: &Dataset, run: &Context) -> Result<Splits> {
        Ok(Splits { plans: self.plans(data, run)?, plan: 0, next: 0 })
    }

    fn plans(&self, data: &Dataset, run: &Context) -> Result<Vec<Plan>> {
        let n = data.nrows();
        Ok(match self {
            Splitter::KFold { n_splits, shuffle } => {
                enough(*n_splits, n, "rows")?;
                vec![Plan::Folds(consecutive(n, *n_splits, *shuffle, run), *n_splits)]
            }
            Splitter::StratifiedKFold { n_splits, shuffle } => {
                let (codes, classes) = data.class_target()?;
                enough_of_each_class(*n_splits, codes, classes)?;
                vec![Plan::Folds(dealt(codes, *n_splits, *shuffle, run), *n_splits)]
            }
            Splitter::GroupKFold { n_splits } => {
                vec![Plan::Folds(packed(&groups_of(data)?, *n_splits)?, *n_splits)]
            }
            Splitter::StratifiedGroupKFold { n_splits, shuffle } => {
                let (codes, classes) = data.class_target()?;
                enough_of_each_class(*n_splits, codes, classes)?;
                let groups = groups_of(data)?;
                let mut rng = shuffle.then(|| run.rng(FOLDS));
                let fold_of = balanced(&groups, (codes, classes.len()), *n_splits, rng.as_mut())?;
                vec![Plan::Folds(fold_of, *n_splits)]
            }
            Splitter::LeaveOneGroupOut => {
                let groups = groups_of(data)?;
                let names: BTreeSet<u32> = groups.iter().copied().collect();
                enough(2, names.len(), "groups")?;
                let place: BTreeMap<u32, u32> = names.into_iter().zip(0..).collect();
                let fold_of = groups.iter().map(|group| place[group]).collect();
                vec![Plan::Folds(fold_of, place.len())]
            }
            Splitter::TimeSeriesSplit(order) => vec![Plan::Listed(order.splits(n)?)],
            Splitter::LeaveOneOut => {
                enough(2, n, "rows")?;
                vec![Plan::Alone(n)]
            }
            Splitter::ShuffleSplit { n_splits, test, stratify } => {
                let one = |k: usize| {
                    let parts = train_test(data, *test, *stratify, &run.child(k as u64))?;
                    Ok(Split { train: parts.train, test: parts.test })
                };
                vec![Plan::Listed((0..*n_splits).map(one).collect::<Result<_>>()?)]
            }
            Splitter::Repeated { n_repeats, inner } => {
                let mut plans = Vec::new();
                for k in 0..*n_repeats {
                    plans.extend(inner.plans(data, &run.child(k as u64))?);
                }
                plans
            }
            Splitter::Given(splits) => {
                let rows = splits.iter().flat_map(|split| split.train.iter().chain(&split.test));
                if let Some(row) = rows.into_iter().find(|&&row| row >= n) {
                    return Err(Error::shape("split", format!("rows below {n}"), row));
                }
                vec![Plan::Listed(splits.clone())]
            }
        })
    }
}

/// The stream of random numbers that folds use.
const FOLDS: u64 = 0x0066_6f6c_6473;

fn enough(n_splits: usize, available: usize, what: &str) -> Result<()> {
    if n_splits < 2 {
        return Err(Error::parameter("n_splits", "at least 2", n_splits));
    }
    match available >= n_splits {
        true => Ok(()),
        false => {
            let message =
                format!("{n_splits} folds need {n_splits} {what}, and there are {available}");
            let hint = match available {
                0 | 1 => format!("at least two {what} are needed"),
                _ => format!("use at most {available} folds"),
            };
            Err(Error::new(Code::TooFew, message).hint(hint))
        }
    }
}

fn enough_of_each_class(n_splits: usize, codes: &[u32], classes: &[Label]) -> Result<()> {
    enough(n_splits, codes.len(), "rows")?;
    let mut counts = vec![0_usize; classes.len()];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    if counts.iter().filter(|&&count| count > 0).count() < 2 {
        let message = "the target has one class, and stratified folds need two";
        return Err(Error::new(Code::OneClass, message));
    }
    let present = counts.iter().zip(classes).filter(|(count, _)| **count > 0);
    match present.min_by_key(|(count, _)| **count) {
        Some((&count, class)) if count < n_splits => {
            let message = format!(
                "class '{class}' has {count} rows, and {n_splits} stratified folds need {n_splits}"
            );
            let others: Vec<String> =
                classes.iter().filter(|other| *other != class).map(ToString::to_string).collect();
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let alike = nearest(&class.to_string(), &others);
            let text = matches!(class, Label::Text(_));
            let hint = match (count, alike.filter(|_| text)) {
                (1, Some(near)) => {
                    format!("is it '{}' misspelt? Else leave the class out", plain(near))
                }
                (1, None) => "leave the class out, or give it more rows".to_string(),
                _ => format!("use at most {count} folds"),
            };
            Err(Error::new(Code::TooFew, message).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Rows in order, or shuffled, cut into nearly equal pieces.
fn consecutive(n: usize, folds: usize, shuffle: bool, run: &Context) -> Vec<u32> {
    let mut order: Vec<usize> = (0..n).collect();
    if shuffle {
        sample::shuffle(&mut run.rng(FOLDS), &mut order);
    }
    let mut fold_of = vec![0; n];
    let (size, larger) = (n / folds, n % folds);
    let mut places = order.into_iter();
    for fold in 0..folds {
        for i in places.by_ref().take(size + usize::from(fold < larger)) {
            fold_of[i] = fold as u32;
        }
    }
    fold_of
}

/// Rows sorted by class are dealt to the folds in turn, which fixes how many of each class a fold
/// gets; the rows of a class then fill the folds in order, or shuffled.
fn dealt(codes: &[u32], folds: usize, shuffle: bool, run: &Context) -> Vec<u32> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, &code) in codes.iter().enumerate() {
        members.entry(code).or_default().push(i);
    }
    // Classes in order of their first row, as scikit-learn has them.
    let mut classes: Vec<Vec<usize>> = members.into_values().collect();
    classes.sort_by_key(|rows| rows[0]);
    let mut rng = run.rng(FOLDS);
    let mut fold_of = vec![0; codes.len()];
    let mut dealt_before = 0;
    for rows in classes {
        let deals = dealt_before..dealt_before + rows.len();
        let mut turns: Vec<usize> = deals.map(|place| place % folds).collect();
        turns.sort_unstable();
        if shuffle {
            sample::shuffle(&mut rng, &mut turns);
        }
        rows.iter().zip(turns).for_each(|(&i, fold)| fold_of[i] = fold as u32);
        dealt_before += rows.len();
    }
    fold_of
}

fn groups_of(data: &Dataset) -> Result<Vec<u32>> {
    data.together().ok_or_else(|| {
        Error::new(Code::Usage, "grouped folds need a column of groups").hint("add --group COLUMN")
    })
}

/// The largest group left goes into the emptiest fold.
fn packed(groups: &[u32], folds: usize) -> Result<Vec<u32>> {
    let mut names = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    enough(folds, names.len(), "groups")?;
    // Groups are mostly numbered from zero; then each is its own place.
    let numbered = names.last().is_some_and(|&last| last as usize + 1 == names.len());
    let place = |group: &u32| match numbered {
        true => *group as usize,
        false => names.partition_point(|name| name < group),
    };
    let mut sizes = vec![0_usize; names.len()];
    groups.iter().for_each(|group| sizes[place(group)] += 1);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(sizes[place]), place));
    let mut filled = vec![0; folds];
    let mut fold_of = vec![0; names.len()];
    for group in order {
        let emptiest = (0..folds).min_by_key(|&fold| filled[fold]).unwrap_or_default();
        filled[emptiest] += sizes[group];
        fold_of[group] = emptiest as u32;
    }
    Ok(groups.iter().map(|group| fold_of[place(group)]).collect())
}

/// Groups, the most uneven in classes first, each into the fold after which the shares of the classes
/// differ least between folds; where those agree to five digits, into an emptier one that comes later.
fn balanced(
    groups: &[u32],
    (codes, classes): (&[u32], usize),
    folds: usize,
    rng: Option<&mut Rng>,
) -> Result<Vec<u32>> {
    let mut counts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut totals = vec![0.0; classes];
    for (&group, &code) in groups.iter().zip(codes) {
        counts.entry(group).or_insert_with(|| vec![0.0; classes])[code as usize] += 1.0;
        totals[code as usize] += 1.0;
    }
    enough(folds, counts.len(), "groups")?;
    let present: Vec<usize> = (0..classes).filter(|&class| totals[class] > 0.0).collect();
    let mut order: Vec<(u32, Vec<f64>)> = counts.into_iter().collect();
    if let Some(rng) = rng {
        sample::shuffle(rng, &mut order);
    }
    let uneven = |of: &[f64]| spread(present.iter().map(|&class| of[class]));
    order.sort_by(|(_, a), (_, b)| uneven(b).total_cmp(&uneven(a)));
    let mut filled = vec![vec![0.0; classes]; folds];
    let mut fold_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (group, of) in order {
        let mut best = (f64::INFINITY, f64::INFINITY, 0);
        for fold in 0..folds {
            add(&mut filled[fold], &of, 1.0);
            let share = |held: &Vec<f64>, class: usize| held[class] / totals[class];
            let between = |class| spread(filled.iter().map(|held| share(held, class)));
            let apart: f64 = present.iter().map(|&class| between(class)).sum();
            let apart = apart / present.len() as f64;
            let rows: f64 = filled[fold].iter().sum();
            add(&mut filled[fold], &of, -1.0);
            let equal = (apart - best.0).abs() <= 1e-8 + 1e-5 * best.0;
            if apart < best.0 || (equal && rows < best.1) {
                best = (apart, rows, fold);
            }
        }
        add(&mut filled[best.2], &of, 1.0);
        fold_of.insert(group, best.2 as u32);
    }
    Ok(groups.iter().map(|group| fold_of[group]).collect())
}

fn add(held: &mut [f64], of: &[f64], sign: f64) {
    held.iter_mut().zip(of).for_each(|(held, of)| *held += sign * of);
}

/// The standard deviation, with divisor n.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}

impl Plan {
    fn len(&self) -> usize {
        match self {
            Plan::Folds(_, folds) => *folds,
            Plan::Alone(rows) => *rows,
            Plan::Listed(splits) => splits.len(),
        }
    }

    fn split(&self, k: usize) -> Split {
        match self {
            Plan::Folds(fold_of, _) => {
                // Every row is written to both, and counts in one: nothing is predicted wrongly.
                let tested = fold_of.iter().filter(|&&fold| fold as usize == k).count();
                let mut train = vec![0; fold_of.len() - tested + 1];
                let mut test = vec![0; tested + 1];
                let (mut trained, mut tested) = (0, 0);
                for (i, &fold) in fold_of.iter().enumerate() {
                    let inside = usize::from(fold as usize == k);
                    (train[trained], test[tested]) = (i, i);
                    (trained, tested) = (trained + 1 - inside, tested + inside);
                }
                train.truncate(trained);
                test.truncate(tested);
                Split { train, test }
            }
            Plan::Alone(n) => Split { train: (0..*n).filter(|&i| i != k).collect(), test: vec![k] },
            Plan::Listed(splits) => splits[k].clone(),
        }
    }
}

impl Iterator for Splits {
    type Item = Split;

    fn next(&mut self) -> Option<Split> {
        while self.next >= self.plans.get(self.plan)?.len() {
            (self.plan, self.next) = (self.plan + 1, 0);
        }
        self.next += 1;
        Some(self.plans[self.plan].split(self.next - 1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let all: usize = self.plans.iter().skip(self.plan).map(Plan::len).sum();
        let left = all.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Splits {}

#[cfg(test)]
mod tests;
