"""`warm_start`: scikit-learn's contract, by the claims of its own tests, and the bits of one fit."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from learnt import ensemble
from learnt.errors import LearntError
from learnt.tree import DecisionTreeRegressor
from sklearn.tree import DecisionTreeClassifier as TheirTree

X, Y = make_classification(n_samples=300, n_features=6, n_informative=4, n_classes=3, random_state=1)

FORESTS = [
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
    ensemble.BaggingClassifier,
    ensemble.BaggingRegressor,
]
BOOSTING = [
    (ensemble.GradientBoostingClassifier, "n_estimators"),
    (ensemble.GradientBoostingRegressor, "n_estimators"),
    (ensemble.HistGradientBoostingClassifier, "max_iter"),
    (ensemble.HistGradientBoostingRegressor, "max_iter"),
]
ALL = [(forest, "n_estimators") for forest in FORESTS] + BOOSTING


@pytest.mark.parametrize("kind, count", ALL)
def test_fits_that_go_on_have_the_bytes_of_one_fit(kind, count):
    model = kind(random_state=42, warm_start=True, **{count: 5}).fit(X, Y)
    model.set_params(**{count: 10})
    assert model.fit(X, Y) is model
    whole = kind(random_state=42, **{count: 10}).fit(X, Y)
    assert model.to_bytes() == whole.to_bytes()
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("kind, count", ALL)
def test_without_it_a_fit_begins_anew(kind, count):
    model = kind(random_state=2, warm_start=True, **{count: 5}).fit(X, Y)
    model.set_params(warm_start=False, random_state=1).fit(X, Y)
    fresh = kind(random_state=1, **{count: 5}).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), fresh.predict(X))


@pytest.mark.parametrize("kind, count", ALL)
def test_fewer_members_are_refused(kind, count):
    model = kind(warm_start=True, random_state=0, **{count: 5}).fit(X, Y)
    with pytest.raises(ValueError, match=f"{count}.*at least 5"):
        model.set_params(**{count: 4}).fit(X, Y)


@pytest.mark.parametrize("kind", FORESTS)
def test_as_many_members_change_nothing_and_warn(kind):
    model = kind(n_estimators=5, warm_start=True, random_state=1).fit(X, Y)
    before = model.to_bytes()
    model.set_params(random_state=2)
    with pytest.warns(UserWarning, match="Warm-start fitting without increasing n_estimators"):
        model.fit(X, Y)
    assert model.to_bytes() == before


@pytest.mark.parametrize("kind", [ensemble.RandomForestClassifier, ensemble.BaggingClassifier])
def test_out_of_bag_scores_are_those_of_all_members(kind):
    model = kind(n_estimators=15, warm_start=True, bootstrap=True, random_state=1).fit(X, Y)
    assert getattr(model, "oob_score_", None) is None
    model.set_params(oob_score=True, n_estimators=30).fit(X, Y)
    whole = kind(n_estimators=30, bootstrap=True, oob_score=True, random_state=1).fit(X, Y)
    assert model.oob_score_ == whole.oob_score_


@pytest.mark.parametrize("kind, count", ALL)
def test_other_columns_and_new_classes_are_refused(kind, count):
    model = kind(warm_start=True, random_state=0, **{count: 3}).fit(X, Y)
    model.set_params(**{count: 5})
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :4], Y)
    if hasattr(model, "classes_"):
        with pytest.raises(LearntError, match="class"):
            model.fit(X, np.where(Y == 1, 7, Y))


def test_foreign_members_do_not_go_on():
    model = ensemble.BaggingClassifier(TheirTree(), n_estimators=2, warm_start=True)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, Y)


def test_parameters_of_members_may_change_between_fits():
    model = ensemble.BaggingRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=2)
    model.set_params(warm_start=True, random_state=0).fit(X, Y)
    model.set_params(estimator=DecisionTreeRegressor(max_depth=4), n_estimators=4).fit(X, Y)
    assert [tree.depth_ for tree in model.estimators_] == [1, 1, 4, 4]
