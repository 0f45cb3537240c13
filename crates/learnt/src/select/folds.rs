//! Folds: iterators of training and test rows.
//!
//! Without shuffling, folds are those of scikit-learn: consecutive rows, the first n mod k folds one
//! larger; stratified ones deal the rows of each class in turn; grouped ones put the largest group
//! left into the emptiest fold, equals by number. Every row is tested exactly once a repetition.

use super::split::{Size, train_test};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::collections::BTreeMap;

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
                let groups = data.together().ok_or_else(|| {
                    Error::new(Code::Usage, "grouped folds need a column of groups")
                })?;
                vec![Plan::Folds(packed(&groups, *n_splits)?, *n_splits)]
            }
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
            Err(Error::new(Code::TooFew, message).hint(format!("use at most {available} folds")))
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
            let hint = match count {
                1 => "leave the class out, or give it more rows".to_string(),
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

/// The largest group left goes into the emptiest fold.
fn packed(groups: &[u32], folds: usize) -> Result<Vec<u32>> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    groups.iter().for_each(|&group| *sizes.entry(group).or_default() += 1);
    enough(folds, sizes.len(), "groups")?;
    let mut order: Vec<(u32, usize)> = sizes.into_iter().collect();
    order.sort_by_key(|&(group, size)| (std::cmp::Reverse(size), group));
    let mut filled = vec![0; folds];
    let mut fold_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (group, size) in order {
        let emptiest = (0..folds).min_by_key(|&fold| filled[fold]).unwrap_or_default();
        filled[emptiest] += size;
        fold_of.insert(group, emptiest as u32);
    }
    Ok(groups.iter().map(|group| fold_of[group]).collect())
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
                let (test, train) = (0..fold_of.len()).partition(|&i| fold_of[i] as usize == k);
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
mod tests {
    use super::*;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(23, 1, |i, _| i as f64);
        let labels: Vec<Label> = (0..23).map(|i| Label::Int(i64::from(i % 3 == 0))).collect();
        let mut data = OwnedDataset::classification(x, &labels);
        data.groups = Some((0..23).map(|i| i / 3).collect());
        data
    }

    fn splits(splitter: &Splitter) -> Vec<Split> {
        splitter.splits(&data().view(), &Context::default()).unwrap().collect()
    }

    #[test]
    fn every_row_is_tested_exactly_once() {
        let splitters = [
            Splitter::KFold { n_splits: 5, shuffle: false },
            Splitter::KFold { n_splits: 5, shuffle: true },
            Splitter::StratifiedKFold { n_splits: 5, shuffle: true },
            Splitter::GroupKFold { n_splits: 4 },
            Splitter::LeaveOneOut,
        ];
        for splitter in splitters {
            let splits = splits(&splitter);
            let mut tested: Vec<usize> = splits.iter().flat_map(|s| s.test.clone()).collect();
            tested.sort_unstable();
            assert_eq!(tested, (0..23).collect::<Vec<_>>(), "{splitter:?}");
            assert!(splits.iter().all(|s| s.train.len() + s.test.len() == 23));
            let sizes: Vec<usize> = splits.iter().map(|s| s.test.len()).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(
                most - least <= if matches!(splitter, Splitter::GroupKFold { .. }) { 3 } else { 1 }
            );
        }
    }

    #[test]
    fn plain_folds_are_those_of_scikit_learn() {
        let sizes: Vec<usize> = splits(&Splitter::KFold { n_splits: 5, shuffle: false })
            .iter()
            .map(|split| split.test.len())
            .collect();
        assert_eq!(sizes, [5, 5, 5, 4, 4]);
        let stratified = splits(&Splitter::StratifiedKFold { n_splits: 3, shuffle: false });
        assert_eq!(stratified[0].test, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(stratified[2].test, [16, 17, 18, 19, 20, 21, 22]);
    }

    #[test]
    fn stratified_folds_differ_by_one_row_of_a_class() {
        for split in splits(&Splitter::StratifiedKFold { n_splits: 4, shuffle: true }) {
            let ones = split.test.iter().filter(|&&i| i % 3 == 0).count();
            assert!(ones == 2, "{ones}");
        }
    }

    #[test]
    fn more_folds_than_rows_of_a_class_are_refused_by_its_name() {
        let splitter = Splitter::StratifiedKFold { n_splits: 9, shuffle: true };
        let error = splitter.splits(&data().view(), &Context::default()).unwrap_err();
        assert_eq!(error.code(), Code::TooFew);
        assert!(error.message().contains("class '1' has 8 rows"), "{error}");
    }

    #[test]
    fn repetitions_differ_and_count() {
        let inner = Box::new(Splitter::KFold { n_splits: 5, shuffle: true });
        let splitter = Splitter::Repeated { n_repeats: 3, inner };
        let iterator = splitter.splits(&data().view(), &Context::default()).unwrap();
        assert_eq!(iterator.len(), 15);
        let all: Vec<Split> = iterator.collect();
        assert_ne!(all[0], all[5]);
    }

    #[test]
    fn groups_are_never_on_both_sides() {
        for split in splits(&Splitter::GroupKFold { n_splits: 4 }) {
            assert!(split.test.iter().all(|i| split.train.iter().all(|j| i / 3 != j / 3)));
        }
    }
}
