"""Splitters and samples, beside scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.model_selection as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from learnt import datasets, theory, utils
from learnt import model_selection as ours

X = np.arange(46.0).reshape(23, 2)
y = np.arange(23) % 3
groups = np.repeat(np.arange(7), [1, 2, 3, 4, 5, 6, 2])


def same(left, right):
    left, right = list(left), list(right)
    assert len(left) == len(right)
    for (a, b), (c, d) in zip(left, right):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_folds_without_chance_are_scikit_learns():
    for n in [2, 5, 23]:
        same(ours.KFold(n).split(X), theirs.KFold(n).split(X))
    for labels in [y, np.sort(y), np.array(list("abc"))[y], y[::-1]]:
        same(ours.StratifiedKFold(4).split(X, labels), theirs.StratifiedKFold(4).split(X, labels))
    same(ours.LeaveOneOut().split(X), theirs.LeaveOneOut().split(X))
    distinct = np.repeat(np.arange(6), [1, 2, 3, 4, 6, 7])
    same(ours.GroupKFold(3).split(X, y, distinct), theirs.GroupKFold(3).split(X, y, distinct))
    same(ours.LeaveOneGroupOut().split(X, y, groups), theirs.LeaveOneGroupOut().split(X, y, groups))
    assert ours.LeaveOneGroupOut().get_n_splits(X, y, groups) == 7
    for times in [{}, {"gap": 2}, {"test_size": 3}, {"max_train_size": 4, "gap": 1}]:
        same(ours.TimeSeriesSplit(4, **times).split(X), theirs.TimeSeriesSplit(4, **times).split(X))


@pytest.mark.parametrize("seed", range(20))
def test_stratified_folds_of_groups_are_scikit_learns(seed):
    draw = np.random.default_rng(seed)
    labels, blocks = draw.integers(0, 3, 120), draw.integers(0, 25, 120)
    table = np.zeros((120, 1))
    same(
        ours.StratifiedGroupKFold(4).split(table, labels, blocks),
        theirs.StratifiedGroupKFold(4).split(table, labels, blocks),
    )


def test_divided_groups_have_the_sizes_of_scikit_learn_and_stay_whole():
    for sizes in [{}, {"test_size": 0.4}, {"test_size": 2, "train_size": 3}]:
        ways = [module.GroupShuffleSplit(3, random_state=0, **sizes) for module in (ours, theirs)]
        for (train, test), (wanted_train, wanted_test) in zip(*(way.split(X, y, groups) for way in ways)):
            assert len(set(groups[train])) == len(set(groups[wanted_train]))
            assert len(set(groups[test])) == len(set(groups[wanted_test]))
            assert not set(groups[train]) & set(groups[test])


def test_random_splits_have_the_sizes_of_scikit_learn():
    cases = [{}, {"test_size": 0.25}, {"train_size": 0.4}, {"test_size": 5, "train_size": 9}]
    for sizes in cases:
        for name in ["ShuffleSplit", "StratifiedShuffleSplit"]:
            if name.startswith("Strat") and not sizes:
                continue
            a = getattr(ours, name)(4, random_state=0, **sizes)
            b = getattr(theirs, name)(4, random_state=0, **sizes)
            pairs = list(zip(a.split(X, y), b.split(X, y)))
            assert len(pairs) == a.get_n_splits() == 4
            for (train, test), (wanted_train, wanted_test) in pairs:
                assert len(train) == len(wanted_train) and len(test) == len(wanted_test)
                assert not set(train) & set(test)


@pytest.mark.parametrize("name", ["RepeatedKFold", "RepeatedStratifiedKFold"])
def test_repetitions_differ_and_test_each_row_once(name):
    splitter = getattr(ours, name)(n_splits=3, n_repeats=4, random_state=1)
    splits = list(splitter.split(X, y))
    assert len(splits) == splitter.get_n_splits() == 12
    for k in range(0, 12, 3):
        tested = np.sort(np.concatenate([test for _, test in splits[k : k + 3]]))
        np.testing.assert_array_equal(tested, np.arange(23))
    assert not np.array_equal(splits[0][1], splits[3][1])
    same(splits, getattr(ours, name)(n_splits=3, n_repeats=4, random_state=1).split(X, y))


def test_splitters_are_taken_wherever_scikit_learn_takes_cv():
    data, target = datasets.load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500)
    a = theirs.cross_val_score(model, data, target, cv=ours.StratifiedKFold(4))
    b = theirs.cross_val_score(model, data, target, cv=theirs.StratifiedKFold(4))
    np.testing.assert_allclose(a, b)
    grid = {"C": [0.1, 1.0]}
    search = theirs.GridSearchCV(model, grid, cv=ours.RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert search.fit(data, target).n_splits_ == 6
    blocks = np.arange(len(data)) // 5
    scores = theirs.cross_val_score(model, data, target, groups=blocks, cv=ours.GroupKFold(3))
    assert len(scores) == 3


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match="groups"):
        list(ours.GroupKFold(3).split(X, y))
    with pytest.raises(ValueError, match="continuous"):
        list(ours.StratifiedKFold(3).split(X, np.linspace(0, 1, 23)))
    with pytest.raises(ValueError):
        list(ours.KFold(30).split(X))


@pytest.mark.parametrize("sizes", [{}, {"test_size": 0.2}, {"train_size": 7}, {"test_size": 3, "train_size": 0.5}])
@pytest.mark.parametrize("shuffle", [True, False])
def test_train_test_split_has_the_parts_of_scikit_learn(sizes, shuffle):
    frame = pd.DataFrame(X, columns=["a", "b"])
    given = [X, y, frame, list(y), scipy.sparse.csr_array(X)]
    a = ours.train_test_split(*given, random_state=0, shuffle=shuffle, **sizes)
    b = theirs.train_test_split(*given, random_state=0, shuffle=shuffle, **sizes)
    assert len(a) == len(b) == 10
    for left, right in zip(a, b):
        assert type(left) is type(right)
        assert np.shape(left)[0] == np.shape(right)[0]
    if not shuffle:
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[3], b[3])
    np.testing.assert_array_equal(a[0], a[4].to_numpy())
    np.testing.assert_array_equal(a[3], a[7])


def test_stratified_parts_keep_the_shares():
    labels = np.repeat(["a", "b"], [40, 20])
    rows = np.arange(60)
    train, test = ours.train_test_split(rows, stratify=labels, test_size=0.3, random_state=5)
    assert (labels[test] == "a").sum() == 12 and len(train) == 42
    other = ours.train_test_split(rows, stratify=labels, test_size=0.3, random_state=6)
    assert not np.array_equal(np.sort(test), np.sort(other[1]))
    with pytest.raises(ValueError, match="rows"):
        ours.train_test_split(rows, labels[:10])


def test_class_weights_are_scikit_learns():
    labels = np.array(["a", "b", "b", "b", "c", "c"])
    classes = np.array(["c", "a", "b"])
    for how in ["balanced", None, {"a": 3.0}]:
        mine = utils.compute_class_weight(how, classes=classes, y=labels)
        np.testing.assert_allclose(mine, compute_class_weight(how, classes=classes, y=labels))
        np.testing.assert_allclose(
            utils.compute_sample_weight(how, labels), compute_sample_weight(how, labels)
        )
    rows = [0, 1, 1, 4]
    np.testing.assert_allclose(
        utils.compute_sample_weight("balanced", labels, indices=rows),
        compute_sample_weight("balanced", labels, indices=rows),
    )
    with pytest.raises(ValueError):
        utils.compute_class_weight("balanced", classes=["z"], y=labels)


def test_samples():
    drawn = ours.bootstrap_sample(50, random_state=1)
    assert len(drawn.rows) == 50
    np.testing.assert_array_equal(drawn.out_of_bag, np.setdiff1d(np.arange(50), drawn.rows))
    share = theory.expected_distinct_share(50)
    assert share == pytest.approx(1 - (1 - 1 / 50) ** 50)
    rows = ours.weighted_resample([0.0, 1.0, 3.0], draws=4000, random_state=0)
    assert np.bincount(rows)[2] / 4000 == pytest.approx(0.75, abs=0.03) and 0 not in rows
    labels = np.repeat([0, 1], [30, 6])
    for balance, each in [("over", 30), ("under", 6), (20, 10)]:
        rows = ours.balanced_sample(labels, balance=balance, random_state=0)
        np.testing.assert_array_equal(np.bincount(labels[rows]), [each, each])


def test_consecutive_parts_are_made_one_at_a_time_and_bad_numbers_are_refused():
    table = np.zeros((10**6, 0))
    parts = ours.KFold(10**5).split(table)
    train, test = next(parts)
    assert len(train) == 10**6 - 10 and test.tolist() == list(range(10))
    train[:] = 0
    train, test = next(parts)
    assert train[:10].tolist() == list(range(10)) and test.tolist() == list(range(10, 20))
    train, test = next(ours.TimeSeriesSplit(10**5).split(table))
    assert train[-1] + 1 == test[0] and len(test) == 9
    for splitter in (ours.KFold(1), ours.KFold(4), ours.TimeSeriesSplit(3), ours.TimeSeriesSplit(2, gap=-1)):
        with pytest.raises(ValueError):
            list(splitter.split(np.zeros((3, 1))))
