//! Splitters as functions: pairs of training and test rows by scikit-learn's names.
//!
//! Each is a struct of parameters over one engine, [`Splitter`]; without shuffling the folds are
//! scikit-learn's own.

use super::folds::{Splitter, TimeOrder};
use super::split::Size;
use learnt_core::prelude::*;
use std::collections::BTreeMap;

/// Pairs of training and test rows, numbered from 0.
#[derive(Output, Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// Rows to train on, one list for each pair.
    pub train: Vec<Vec<usize>>,
    /// Rows to test on, one list for each pair.
    pub test: Vec<Vec<usize>>,
}

/// The class of each row.
#[derive(Inputs, Clone, Copy)]
pub struct ClassOfRow<'a> {
    /// The class of each row.
    pub y: Classes<'a>,
}

/// The group of each row.
#[derive(Inputs, Clone, Copy)]
pub struct GroupOfRow<'a> {
    /// The group of each row; rows of one group stay together.
    pub groups: Classes<'a>,
}

/// The class and the group of each row.
#[derive(Inputs, Clone, Copy)]
pub struct ClassAndGroupOfRow<'a> {
    /// The class of each row.
    pub y: Classes<'a>,
    /// The group of each row; rows of one group stay together.
    pub groups: Classes<'a>,
}

/// Folds whose sizes differ by at most one row.
#[derive(Params, Clone, Debug)]
pub struct KFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(positional, default = 5, range = 2..)]
    pub n_splits: usize,
    /// Whether rows are shuffled before they are divided.
    #[param(default = false)]
    pub shuffle: bool,
}

/// Folds with the shares of the classes.
#[derive(Params, Clone, Debug)]
pub struct StratifiedKFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(positional, default = 5, range = 2..)]
    pub n_splits: usize,
    /// Whether the rows of each class are shuffled before they are divided.
    #[param(default = false)]
    pub shuffle: bool,
}

/// Folds that keep groups whole: the largest group left goes into the emptiest fold.
#[derive(Params, Clone, Debug)]
pub struct GroupKFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(positional, default = 5, range = 2..)]
    pub n_splits: usize,
}

/// Folds that keep groups whole, with nearly the shares of the classes.
#[derive(Params, Clone, Debug)]
pub struct StratifiedGroupKFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(positional, default = 5, range = 2..)]
    pub n_splits: usize,
    /// Whether groups that are equally uneven in classes come in random order.
    #[param(default = false)]
    pub shuffle: bool,
}

/// Each group alone is the test part once.
#[derive(Params, Clone, Debug)]
pub struct LeaveOneGroupOut {
    /// Number of rows.
    pub n_samples: usize,
}

/// Independent random divisions of the groups.
#[derive(Params, Clone, Debug)]
pub struct GroupShuffleSplit {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of divisions.
    #[param(positional, default = 5, range = 1..)]
    pub n_splits: usize,
    /// Groups to test on: a share or a number; what training leaves, or a fifth.
    pub test_size: Option<PartSize>,
    /// Groups to train on: a share or a number; what testing leaves by default.
    pub train_size: Option<PartSize>,
}

/// Rows in the order of time: each test part follows its training part.
#[derive(Params, Clone, Debug)]
pub struct TimeSeriesSplit {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of splits.
    #[param(positional, default = 5, range = 2..)]
    pub n_splits: usize,
    /// Most training rows, the last ones; all that came before by default.
    #[param(range = 1..)]
    pub max_train_size: Option<usize>,
    /// Number of test rows; n / (n_splits + 1), rounded down, by default.
    #[param(range = 1..)]
    pub test_size: Option<usize>,
    /// Rows left out between training and test.
    #[param(default = 0)]
    pub gap: usize,
}

/// Each row alone is the test part once.
#[derive(Params, Clone, Debug)]
pub struct LeaveOneOut {
    /// Number of rows.
    pub n_samples: usize,
}

/// Independent random divisions into training and test rows.
#[derive(Params, Clone, Debug)]
pub struct ShuffleSplit {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of divisions.
    #[param(positional, default = 10, range = 1..)]
    pub n_splits: usize,
    /// Test rows: a share or a number; what training leaves, or a tenth.
    pub test_size: Option<PartSize>,
    /// Training rows: a share or a number; what testing leaves by default.
    pub train_size: Option<PartSize>,
}

/// Independent random divisions with the shares of the classes.
#[derive(Params, Clone, Debug)]
pub struct StratifiedShuffleSplit {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of divisions.
    #[param(positional, default = 10, range = 1..)]
    pub n_splits: usize,
    /// Test rows: a share or a number; what training leaves, or a tenth.
    pub test_size: Option<PartSize>,
    /// Training rows: a share or a number; what testing leaves by default.
    pub train_size: Option<PartSize>,
}

/// Shuffled folds several times.
#[derive(Params, Clone, Debug)]
pub struct RepeatedKFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub n_splits: usize,
    /// Number of repetitions.
    #[param(default = 10, range = 1..)]
    pub n_repeats: usize,
}

/// Shuffled folds with the shares of the classes several times.
#[derive(Params, Clone, Debug)]
pub struct RepeatedStratifiedKFold {
    /// Number of rows.
    pub n_samples: usize,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub n_splits: usize,
    /// Number of repetitions.
    #[param(default = 10, range = 1..)]
    pub n_repeats: usize,
}

/// How large a part is.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum PartSize {
    /// This many rows.
    #[choice(range = 1..)]
    Rows(usize),
    /// This share of all rows.
    #[choice(above = 0.0, below = 1.0)]
    Share(f64),
}

/// Training and test rows of `n`, as scikit-learn counts them: a share of the test rows is rounded
/// up, one of the training rows down, and a part that is not given is what the other leaves.
pub(super) fn part_sizes(
    n: usize,
    train: Option<PartSize>,
    test: Option<PartSize>,
    usual: f64,
) -> Result<(usize, usize)> {
    let up = |size| match size {
        PartSize::Rows(rows) => rows,
        PartSize::Share(share) => (share * n as f64).ceil() as usize,
    };
    let down = |size| match size {
        PartSize::Rows(rows) => rows,
        PartSize::Share(share) => (share * n as f64).floor() as usize,
    };
    let (train, test) = match (train, test) {
        (Some(train), Some(test)) => (down(train), up(test)),
        (Some(train), None) => (down(train), n.saturating_sub(down(train))),
        (None, test) => {
            let test = up(test.unwrap_or(PartSize::Share(usual)));
            (n.saturating_sub(test), test)
        }
    };
    match train > 0 && test > 0 && train.saturating_add(test) <= n {
        true => Ok((train, test)),
        false => {
            let message =
                format!("{n} rows cannot be divided into {train} to train and {test} to test");
            Err(Error::new(Code::TooFew, message))
        }
    }
}

/// Rows without columns, which is all that splitters look at.
pub(super) fn bare_rows(
    n: usize,
    classes: Option<Classes>,
    groups: Option<Classes>,
) -> Result<OwnedDataset> {
    for (name, given) in [("y", classes), ("groups", groups)] {
        if let Some(given) = given.filter(|given| given.codes.len() != n) {
            return Err(Error::shape(name, format!("{n} rows"), given.codes.len()));
        }
    }
    let target = |given: Classes| OwnedTarget::Class {
        codes: given.codes.to_vec(),
        classes: given.classes.to_vec(),
    };
    Ok(OwnedDataset {
        x: Table::unnamed(Matrix::zeros(n, 0)),
        y: classes.map(target),
        groups: groups.map(|given| given.codes.to_vec()),
        ..OwnedDataset::default()
    })
}

fn folds(
    splitter: &Splitter,
    n: usize,
    classes: Option<Classes>,
    groups: Option<Classes>,
    run: &Context,
) -> Result<Folds> {
    let data = bare_rows(n, classes, groups)?;
    let splits = splitter.splits(&data.view(), run)?;
    run.claim((splits.len() as u64).saturating_mul(n as u64).saturating_mul(8), "the row numbers")?;
    let (train, test) = splits.map(|split| (split.train, split.test)).unzip();
    Ok(Folds { train, test })
}

/// Random divisions whose training part may be smaller than what the test part leaves.
fn shuffled(
    n: usize,
    n_splits: usize,
    sizes: (usize, usize),
    classes: Option<Classes>,
    run: &Context,
) -> Result<Folds> {
    let data = bare_rows(n, classes, None)?;
    let (train, test) = sizes;
    let rest = n - train - test;
    run.claim((n_splits as u64).saturating_mul(n as u64).saturating_mul(8), "the row numbers")?;
    let one = |k: usize| {
        super::split::holdout(
            &data.view(),
            Size::Rows(rest),
            Size::Rows(test),
            classes.is_some(),
            &run.child(k as u64),
        )
        .map(|parts| (parts.train, parts.test))
    };
    let (train, test) = (0..n_splits).map(one).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok(Folds { train, test })
}

/// Random divisions of the groups, as rows.
fn shuffled_groups(split: &GroupShuffleSplit, groups: Classes, run: &Context) -> Result<Folds> {
    bare_rows(split.n_samples, None, Some(groups))?;
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (row, &code) in groups.codes.iter().enumerate() {
        members.entry(code).or_default().push(row);
    }
    let members: Vec<Vec<usize>> = members.into_values().collect();
    let count = members.len();
    let sizes = part_sizes(count, split.train_size, split.test_size, 0.2)
        .map_err(|error| error.hint("sizes are numbers or shares of groups, not of rows"))?;
    let rows = (split.n_splits as u64).saturating_mul(split.n_samples as u64);
    run.claim(rows.saturating_mul(8), "the row numbers")?;
    let drawn = shuffled(count, split.n_splits, sizes, None, run)?;
    let rows_of = |parts: Vec<Vec<usize>>| {
        let of = |part: Vec<usize>| {
            let mut rows: Vec<usize> =
                part.iter().flat_map(|&group| &members[group]).copied().collect();
            rows.sort_unstable();
            rows
        };
        parts.into_iter().map(of).collect()
    };
    Ok(Folds { train: rows_of(drawn.train), test: rows_of(drawn.test) })
}

/// Makes functions of splitters.
macro_rules! splitters {
    ($($type:ty, $path:literal, $inputs:ty, $about:ident => |$self:ident, $given:pat_param, $run:ident| $body:expr;)*) => {
        $(impl Function for $type {
            type Inputs<'a> = $inputs;
            type Output = Folds;
            const ABOUT: &'static Callable = &$about($path);

            fn call(&self, $given: Self::Inputs<'_>, $run: &Context) -> Result<Folds> {
                let $self = self;
                $body
            }
        })*

        /// The splitters.
        pub const SPLITTERS: &[FunctionEntry] = &[$(function::<$type>(),)*];
    };
}

const fn fixed(path: &'static str) -> Callable {
    Callable::new(path, FunctionKind::Split)
}

const fn random(path: &'static str) -> Callable {
    Callable::new(path, FunctionKind::Split).randomness()
}

splitters! {
    KFold, "model_selection.KFold", (), random => |s, (), run| {
        let (n_splits, shuffle) = (s.n_splits, s.shuffle);
        folds(&Splitter::KFold { n_splits, shuffle }, s.n_samples, None, None, run)
    };
    StratifiedKFold, "model_selection.StratifiedKFold", ClassOfRow<'a>, random => |s, given, run| {
        let (n_splits, shuffle) = (s.n_splits, s.shuffle);
        let splitter = Splitter::StratifiedKFold { n_splits, shuffle };
        folds(&splitter, s.n_samples, Some(given.y), None, run)
    };
    GroupKFold, "model_selection.GroupKFold", GroupOfRow<'a>, fixed => |s, given, run| {
        let splitter = Splitter::GroupKFold { n_splits: s.n_splits };
        folds(&splitter, s.n_samples, None, Some(given.groups), run)
    };
    StratifiedGroupKFold, "model_selection.StratifiedGroupKFold", ClassAndGroupOfRow<'a>, random => |s, given, run| {
        let (n_splits, shuffle) = (s.n_splits, s.shuffle);
        let splitter = Splitter::StratifiedGroupKFold { n_splits, shuffle };
        folds(&splitter, s.n_samples, Some(given.y), Some(given.groups), run)
    };
    LeaveOneGroupOut, "model_selection.LeaveOneGroupOut", GroupOfRow<'a>, fixed => |s, given, run| {
        folds(&Splitter::LeaveOneGroupOut, s.n_samples, None, Some(given.groups), run)
    };
    GroupShuffleSplit, "model_selection.GroupShuffleSplit", GroupOfRow<'a>, random => |s, given, run| {
        shuffled_groups(s, given.groups, run)
    };
    TimeSeriesSplit, "model_selection.TimeSeriesSplit", (), fixed => |s, (), run| {
        let TimeSeriesSplit { n_splits, test_size, gap, max_train_size, .. } = *s;
        let order = TimeOrder { n_splits, test_size, gap, max_train_size };
        folds(&Splitter::TimeSeriesSplit(order), s.n_samples, None, None, run)
    };
    LeaveOneOut, "model_selection.LeaveOneOut", (), fixed => |s, (), run| {
        folds(&Splitter::LeaveOneOut, s.n_samples, None, None, run)
    };
    ShuffleSplit, "model_selection.ShuffleSplit", (), random => |s, (), run| {
        let sizes = part_sizes(s.n_samples, s.train_size, s.test_size, 0.1)?;
        shuffled(s.n_samples, s.n_splits, sizes, None, run)
    };
    StratifiedShuffleSplit, "model_selection.StratifiedShuffleSplit", ClassOfRow<'a>, random => |s, given, run| {
        let sizes = part_sizes(s.n_samples, s.train_size, s.test_size, 0.1)?;
        shuffled(s.n_samples, s.n_splits, sizes, Some(given.y), run)
    };
    RepeatedKFold, "model_selection.RepeatedKFold", (), random => |s, (), run| {
        let inner = Box::new(Splitter::KFold { n_splits: s.n_splits, shuffle: true });
        folds(&Splitter::Repeated { n_repeats: s.n_repeats, inner }, s.n_samples, None, None, run)
    };
    RepeatedStratifiedKFold, "model_selection.RepeatedStratifiedKFold", ClassOfRow<'a>, random => |s, given, run| {
        let inner = Box::new(Splitter::StratifiedKFold { n_splits: s.n_splits, shuffle: true });
        let splitter = Splitter::Repeated { n_repeats: s.n_repeats, inner };
        folds(&splitter, s.n_samples, Some(given.y), None, run)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_folds_are_consecutive_rows() {
        let folds = KFold { n_samples: 7, n_splits: 3, shuffle: false }.compute(()).unwrap();
        assert_eq!(folds.test, [vec![0, 1, 2], vec![3, 4], vec![5, 6]]);
        assert_eq!(folds.train[1], [0, 1, 2, 5, 6]);
    }

    #[test]
    fn sizes_are_rounded_as_in_scikit_learn() {
        let share = |x| Some(PartSize::Share(x));
        assert_eq!(part_sizes(10, None, share(0.25), 0.1).unwrap(), (7, 3));
        assert_eq!(part_sizes(10, share(0.25), None, 0.1).unwrap(), (2, 8));
        assert_eq!(part_sizes(15, None, None, 0.1).unwrap(), (13, 2));
        assert_eq!(part_sizes(10, Some(PartSize::Rows(4)), share(0.5), 0.1).unwrap(), (4, 5));
        assert_eq!(
            part_sizes(3, None, Some(PartSize::Rows(3)), 0.1).unwrap_err().code(),
            Code::TooFew
        );
    }

    #[test]
    fn divided_groups_stay_whole() {
        let codes: Vec<u32> = (0..30).map(|i| i % 10).collect();
        let names: Vec<Label> = (0..10).map(Label::Int).collect();
        let groups = Classes { codes: &codes, classes: &names };
        let splitter = GroupShuffleSplit {
            n_samples: 30,
            n_splits: 3,
            test_size: Some(PartSize::Share(0.3)),
            train_size: Some(PartSize::Rows(5)),
        };
        let folds = splitter.compute(GroupOfRow { groups }).unwrap();
        for (train, test) in folds.train.iter().zip(&folds.test) {
            assert_eq!((train.len(), test.len()), (15, 9));
            assert!(test.iter().all(|i| train.iter().all(|j| i % 10 != j % 10)));
        }
        assert_ne!(folds.test[0], folds.test[1]);
    }

    #[test]
    fn both_parts_can_be_smaller_than_the_whole() {
        let splitter = ShuffleSplit {
            n_samples: 20,
            n_splits: 4,
            test_size: Some(PartSize::Rows(5)),
            train_size: Some(PartSize::Share(0.5)),
        };
        let folds = splitter.compute(()).unwrap();
        for (train, test) in folds.train.iter().zip(&folds.test) {
            assert_eq!((train.len(), test.len()), (10, 5));
            assert!(test.iter().all(|row| !train.contains(row)));
        }
        assert_ne!(folds.test[0], folds.test[1]);
    }
}
