"""Training that goes on: `partial_fit` in one call after the other."""

import pickle

import numpy as np
import pytest
from sklearn import preprocessing as other_preprocessing

from learnt import preprocessing
from learnt.errors import DataError
from learnt.linear_model import Perceptron, SGDClassifier, SGDRegressor
from learnt.naive_bayes import GaussianNB

CLASSIFIERS = [SGDClassifier(random_state=0), Perceptron(random_state=0), GaussianNB()]


def rows(count=120):
    rng = np.random.default_rng(3)
    y = np.arange(count) % 3
    return rng.normal(size=(count, 4)) + 4 * np.eye(3, 4)[y], np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda learner: type(learner).__name__)
def test_classes_come_first_and_stay(learner):
    X, y = rows()
    learner = pickle.loads(pickle.dumps(learner))
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        learner.partial_fit(X, y)
    learner.partial_fit(X[:10], np.full(10, "a"), classes=["c", "b", "a"])
    assert list(learner.classes_) == ["a", "b", "c"]
    for start in range(0, 120, 30):
        learner.partial_fit(X[start : start + 30], y[start : start + 30])
    assert learner.score(X, y) > 0.8
    with pytest.raises(ValueError, match="is not the same as on last call"):
        learner.partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(DataError, match="labels .'d'. that are not in classes"):
        learner.partial_fit(X[:5], np.full(5, "d"))
    with pytest.raises(ValueError, match="X has 3 features, but"):
        learner.partial_fit(X[:, :3], y)


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda learner: type(learner).__name__)
def test_pickling_between_calls_changes_no_bit(learner):
    X, y = rows()
    straight = pickle.loads(pickle.dumps(learner)).partial_fit(X[:50], y[:50], classes=list("abc"))
    resumed = pickle.loads(pickle.dumps(straight))
    straight.partial_fit(X[50:], y[50:])
    resumed.partial_fit(X[50:], y[50:])
    assert straight.to_bytes() == resumed.to_bytes()


def test_a_pass_over_the_rows_is_a_fit_for_naive_bayes():
    X, y = rows()
    pieces = GaussianNB()
    for start in range(0, 120, 7):
        pieces.partial_fit(X[start : start + 7], y[start : start + 7], classes=list("abc"))
    whole = GaussianNB().fit(X, y)
    np.testing.assert_allclose(pieces.theta_, whole.theta_, rtol=1e-12)
    np.testing.assert_allclose(pieces.var_, whole.var_, rtol=1e-9)


def test_numbers_need_no_classes_and_weights_scale_steps():
    X, _ = rows()
    y = X @ [1.0, -1.0, 0.5, 0.0]
    model = SGDRegressor(shuffle=False)
    for _ in range(30):
        model.partial_fit(X, y)
    assert model.t_ == 30 * 120 + 1
    assert model.score(X, y) > 0.95
    half = SGDRegressor(shuffle=False, penalty=None, learning_rate="constant", eta0=0.01)
    full = SGDRegressor(shuffle=False, penalty=None, learning_rate="constant", eta0=0.005)
    half.partial_fit(X, y, sample_weight=np.full(120, 0.5))
    np.testing.assert_allclose(half.coef_, full.partial_fit(X, y).coef_, rtol=1e-12)


def test_probabilities_exist_where_the_loss_has_them():
    X, y = rows()
    assert not hasattr(SGDClassifier(), "predict_proba")
    for loss in ("log_loss", "modified_huber", "multinomial"):
        model = SGDClassifier(loss, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize("name", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler"])
@pytest.mark.parametrize("holes", [False, True])
def test_scalers_of_pieces_are_scalers_of_all_rows(name, holes):
    X, _ = rows()
    X = X.copy()
    if holes:
        X[:50, 1] = np.nan
    own, theirs = getattr(preprocessing, name)(), getattr(other_preprocessing, name)().fit(X)
    for start in range(0, 120, 25):
        own.partial_fit(X[start : start + 25])
        own = pickle.loads(pickle.dumps(own))
    whole = getattr(preprocessing, name)().fit(X)
    for table in (own.transform(X), whole.transform(X)):
        np.testing.assert_allclose(table, theirs.transform(X), rtol=1e-10, atol=1e-12)
    assert own.n_samples_seen_ == whole.n_samples_seen_ == 120


def test_weights_count_in_pieces_of_a_scaler():
    X, _ = rows()
    weights = np.arange(120) % 4 + 0.5
    pieces = preprocessing.StandardScaler()
    for start in range(0, 120, 40):
        pieces.partial_fit(X[start : start + 40], sample_weight=weights[start : start + 40])
    whole = preprocessing.StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_allclose(pieces.mean_, whole.mean_, rtol=1e-12)
    np.testing.assert_allclose(pieces.var_, whole.var_, rtol=1e-12)


def test_mean_normalisation_in_pieces_subtracts_the_mean_of_all_rows():
    X, _ = rows()
    pieces = preprocessing.MinMaxScaler(center=True)
    for start in range(0, 120, 40):
        pieces.partial_fit(X[start : start + 40])
    whole = preprocessing.MinMaxScaler(center=True).fit(X)
    np.testing.assert_allclose(pieces.transform(X), whole.transform(X), rtol=1e-10, atol=1e-12)
