//! Random splits into training, validation and test rows.
//!
//! Parts are disjoint and cover all rows; their rows are in rising order. A stratified part holds
//! each class in proportion, within one row. A grouped split keeps rows of one group together: groups
//! are taken in random order while they fit, so sizes are near what was asked for.

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::collections::BTreeMap;

/// How large a part is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// This share of all rows, rounded to the nearest number.
    Share(f64),
    /// This many rows.
    Rows(usize),
}

/// Rows for training, for choosing and for the final estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows to choose by.
    pub validation: Vec<usize>,
    /// Rows for the final estimate.
    pub test: Vec<usize>,
}

impl Size {
    /// The usual share of validation rows.
    pub const USUAL: Size = Size::Share(0.2);

    fn rows(self, n: usize, what: &str) -> Result<usize> {
        match self {
            Size::Share(share) if !(0.0..1.0).contains(&share) => {
                Err(Error::parameter(what, "a share in [0, 1)", share))
            }
            Size::Share(share) => Ok((share * n as f64).round() as usize),
            Size::Rows(rows) => Ok(rows),
        }
    }
}

/// Splits rows in two; `stratify` keeps the shares of the classes, groups are kept whole.
pub fn train_test(data: &Dataset, test: Size, stratify: bool, run: &Context) -> Result<Parts> {
    holdout(data, Size::Rows(0), test, stratify, run)
}

/// Splits rows in three; `stratify` keeps the shares of the classes, groups are kept whole.
pub fn holdout(
    data: &Dataset,
    validation: Size,
    test: Size,
    stratify: bool,
    run: &Context,
) -> Result<Parts> {
    let n = data.nrows();
    let (v, t) = (validation.rows(n, "validation")?, test.rows(n, "test")?);
    if v.saturating_add(t) >= n || t + v == 0 {
        let message =
            format!("{n} rows cannot be split: {v} to validate, {t} to test, and some to train");
        return Err(Error::new(Code::TooFew, message));
    }
    let mut rng = run.rng(SPLIT);
    let taken = match (data.together(), stratify) {
        (Some(_), true) => {
            return Err(Error::new(Code::Usage, "a split is stratified or grouped, not both"));
        }
        (Some(groups), false) => by_group(&groups, [t, v], &mut rng),
        (None, true) => by_class(data.class_target()?.0, [t, v], &mut rng),
        (None, false) => by_class(&vec![0; n], [t, v], &mut rng),
    };
    let [test, validation] = taken;
    let mut free = vec![true; n];
    test.iter().chain(&validation).for_each(|&i| free[i] = false);
    let train: Vec<usize> = (0..n).filter(|&i| free[i]).collect();
    match train.is_empty() {
        true => Err(Error::new(Code::TooFew, "no rows are left to train on")),
        false => Ok(Parts { train, validation, test }),
    }
}

/// The stream of random numbers that splits use.
const SPLIT: u64 = 0x0073_706c_6974;

/// Takes rows of each class in proportion, in random order.
fn by_class(codes: &[u32], sizes: [usize; 2], rng: &mut Rng) -> [Vec<usize>; 2] {
    let mut classes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, &code) in codes.iter().enumerate() {
        classes.entry(code).or_default().push(i);
    }
    let mut members: Vec<Vec<usize>> = classes.into_values().collect();
    members.iter_mut().for_each(|rows| sample::shuffle(rng, rows));
    let full: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut owed = vec![0.0; members.len()];
    sizes.map(|size| {
        let counts = shares(&full, size, codes.len(), &mut owed);
        let mut taken = Vec::with_capacity(size);
        for (rows, count) in members.iter_mut().zip(counts) {
            taken.extend(rows.drain(rows.len().saturating_sub(count)..));
        }
        taken.sort_unstable();
        taken
    })
}

/// How many of `size` rows come from each class: its share rounded down, the rest to the classes
/// with the largest remainders, where `owed` carries what earlier parts took too little.
fn shares(full: &[usize], size: usize, n: usize, owed: &mut [f64]) -> Vec<usize> {
    let exact: Vec<f64> = full.iter().map(|&f| f as f64 * size as f64 / n as f64).collect();
    let mut counts: Vec<usize> = exact.iter().map(|share| share.floor() as usize).collect();
    let mut order: Vec<usize> = (0..full.len()).collect();
    let remainder = |k: usize| exact[k] - exact[k].floor() + owed[k];
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let missing = size.saturating_sub(counts.iter().sum());
    order.iter().filter(|&&k| exact[k].fract() > 0.0).take(missing).for_each(|&k| counts[k] += 1);
    for k in 0..full.len() {
        owed[k] += exact[k] - counts[k] as f64;
    }
    counts
}

/// Takes whole groups in random order while they fit.
fn by_group(groups: &[u32], sizes: [usize; 2], rng: &mut Rng) -> [Vec<usize>; 2] {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, &group) in groups.iter().enumerate() {
        members.entry(group).or_default().push(i);
    }
    let mut members: Vec<Vec<usize>> = members.into_values().collect();
    sample::shuffle(rng, &mut members);
    let mut rest = members.into_iter().peekable();
    let mut left: Vec<Vec<usize>> = Vec::new();
    sizes.map(|size| {
        let mut taken: Vec<usize> = Vec::new();
        while let Some(rows) = left.pop().or_else(|| rest.next()) {
            let room = size.saturating_sub(taken.len());
            if rows.len() <= 2 * room {
                taken.extend(rows);
            } else {
                left.push(rows);
                break;
            }
        }
        taken.sort_unstable();
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(counts: &[usize]) -> OwnedDataset {
        let mut labels = Vec::new();
        for (k, &count) in counts.iter().enumerate() {
            labels.extend(std::iter::repeat_n(Label::Int(k as i64), count));
        }
        let x = Matrix::from_fn(labels.len(), 1, |i, _| i as f64);
        OwnedDataset::classification(x, &labels)
    }

    fn covers(parts: &Parts, n: usize) -> bool {
        let mut all = [parts.train.clone(), parts.validation.clone(), parts.test.clone()].concat();
        all.sort_unstable();
        all == (0..n).collect::<Vec<_>>()
    }

    #[test]
    fn the_same_seed_gives_the_same_disjoint_parts() {
        let data = classes(&[50, 30]);
        let run = Context::default().with_seed(3);
        let split = || holdout(&data.view(), Size::USUAL, Size::Rows(7), false, &run).unwrap();
        assert_eq!(split(), split());
        assert_eq!((split().validation.len(), split().test.len()), (16, 7));
        assert!(covers(&split(), 80));
        let other = holdout(&data.view(), Size::USUAL, Size::Rows(7), false, &run.with_seed(4));
        assert_ne!(other.unwrap(), split());
    }

    #[test]
    fn classes_keep_their_shares_within_one_row() {
        for counts in [vec![50, 30, 20], vec![7, 11, 13, 3, 1], vec![3; 20]] {
            let data = classes(&counts);
            let n: usize = counts.iter().sum();
            let run = Context::default();
            let parts =
                holdout(&data.view(), Size::Share(0.21), Size::Share(0.33), true, &run).unwrap();
            assert!(covers(&parts, n));
            let view = data.view();
            let codes = view.class_target().unwrap().0;
            for part in [&parts.train, &parts.validation, &parts.test] {
                for (k, &count) in counts.iter().enumerate() {
                    let got = part.iter().filter(|&&i| codes[i] as usize == k).count() as f64;
                    let share = count as f64 * part.len() as f64 / n as f64;
                    assert!((got - share).abs() <= 1.0, "{got} of class {k}, share {share}");
                }
            }
        }
    }

    #[test]
    fn groups_stay_together() {
        let mut data = classes(&[60]);
        data.groups = Some((0..60).map(|i| i / 4).collect());
        let parts =
            holdout(&data.view(), Size::Share(0.2), Size::Share(0.2), false, &Context::default())
                .unwrap();
        assert!(covers(&parts, 60));
        let group_of = |rows: &[usize]| rows.iter().map(|i| i / 4).collect::<Vec<_>>();
        assert!(group_of(&parts.test).iter().all(|g| !group_of(&parts.train).contains(g)));
        assert_eq!((parts.test.len(), parts.validation.len()), (12, 12));
    }

    #[test]
    fn sizes_that_leave_nothing_to_train_on_are_refused() {
        let data = classes(&[5]);
        let run = Context::default();
        let error = train_test(&data.view(), Size::Rows(5), false, &run).unwrap_err();
        assert_eq!(error.code(), Code::TooFew);
        assert!(train_test(&data.view(), Size::Share(1.0), false, &run).is_err());
    }
}
