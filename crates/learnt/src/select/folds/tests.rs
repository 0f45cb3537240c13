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
        Splitter::StratifiedGroupKFold { n_splits: 4, shuffle: false },
        Splitter::LeaveOneGroupOut,
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
        let whole_groups = matches!(
            splitter,
            Splitter::GroupKFold { .. }
                | Splitter::StratifiedGroupKFold { .. }
                | Splitter::LeaveOneGroupOut
        );
        assert!(most - least <= if whole_groups { 4 } else { 1 }, "{splitter:?}");
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
    for splitter in [
        Splitter::GroupKFold { n_splits: 4 },
        Splitter::StratifiedGroupKFold { n_splits: 4, shuffle: true },
        Splitter::LeaveOneGroupOut,
    ] {
        for split in splits(&splitter) {
            assert!(split.test.iter().all(|i| split.train.iter().all(|j| i / 3 != j / 3)));
        }
    }
    assert_eq!(splits(&Splitter::LeaveOneGroupOut).len(), 8);
}

#[test]
fn the_numbers_of_groups_change_no_fold() {
    let dense: Vec<u32> = (0..97).map(|i| (i * i) % 13 % 9).collect();
    let names: std::collections::BTreeSet<u32> = dense.iter().copied().collect();
    let dense: Vec<u32> = dense.iter().map(|group| names.range(..group).count() as u32).collect();
    let sparse: Vec<u32> = dense.iter().map(|group| 1_000_000 * group + 7).collect();
    assert_eq!(packed(&dense, 3).unwrap(), packed(&sparse, 3).unwrap());
    assert_eq!(packed(&[5, 5, 9, 2, 9, 5], 3).unwrap(), [0, 0, 1, 2, 1, 0]);
}

#[test]
fn groups_of_one_class_are_spread_over_the_folds() {
    // Sixteen groups of three rows, each of one class: four folds of two groups of each class.
    let labels: Vec<Label> = (0..48).map(|i| Label::Int(i64::from(i >= 24))).collect();
    let x = Matrix::from_fn(48, 1, |i, _| i as f64);
    let mut data = OwnedDataset::classification(x, &labels);
    data.groups = Some((0..48).map(|i| i / 3).collect());
    let splitter = Splitter::StratifiedGroupKFold { n_splits: 4, shuffle: false };
    for split in splitter.splits(&data.view(), &Context::default()).unwrap() {
        assert_eq!(split.test.iter().filter(|&&i| i >= 24).count(), 6);
        assert_eq!(split.test.len(), 12);
    }
}

#[test]
fn the_future_is_never_trained_on() {
    let order = TimeOrder { gap: 2, max_train_size: Some(6), ..TimeOrder::new(3) };
    let found = splits(&Splitter::TimeSeriesSplit(order));
    let tests: Vec<&[usize]> = found.iter().map(|split| &split.test[..]).collect();
    assert_eq!(tests, [&[8, 9, 10, 11, 12][..], &[13, 14, 15, 16, 17], &[18, 19, 20, 21, 22]]);
    assert_eq!(found[0].train, [0, 1, 2, 3, 4, 5]);
    assert_eq!(found[2].train, [10, 11, 12, 13, 14, 15]);
    let crowded = TimeOrder { test_size: Some(8), ..TimeOrder::new(3) };
    let crowded = Splitter::TimeSeriesSplit(crowded);
    let error = crowded.splits(&data().view(), &Context::default()).unwrap_err();
    assert_eq!(error.code(), Code::TooFew);
}
