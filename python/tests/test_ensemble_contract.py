"""What scikit-learn's ensembles and trees say and take, beside learnt's."""

import pickle

import numpy as np
import pytest

from learnt.dummy import DummyClassifier
from learnt.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from learnt.linear_model import LinearRegression, LogisticRegression, Perceptron
from learnt.naive_bayes import GaussianNB
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

theirs = pytest.importorskip("sklearn.ensemble")


def numbers(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).astype(np.float32).astype(float)
    return X, X[:, 0] - 2 * X[:, 1] + np.sin(3 * X[:, 2]) + 0.3 * rng.normal(size=rows)


def classes(rows=300, count=2):
    X, y = numbers(rows)
    return X, np.digitize(y, np.quantile(y, np.arange(1, count) / count))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_losses_of_rounds_are_counted_as_scikit_learn_counts_them(loss):
    X, y = numbers()
    ours = GradientBoostingRegressor(loss=loss, n_estimators=15).fit(X, y)
    expected = theirs.GradientBoostingRegressor(loss=loss, n_estimators=15).fit(X, y)
    assert ours.train_score_.shape == expected.train_score_.shape
    # Quantiles between two rows are cut otherwise, and Huber's bound is that of the rows after a round here.
    np.testing.assert_allclose(ours.train_score_, expected.train_score_, rtol=1e-6 if loss == "squared_error" else 0.1)


@pytest.mark.parametrize("loss, count", [("log_loss", 2), ("log_loss", 3), ("exponential", 2)])
def test_losses_of_classes_are_counted_as_scikit_learn_counts_them(loss, count):
    X, y = classes(count=count)
    ours = GradientBoostingClassifier(loss=loss, n_estimators=10).fit(X, y)
    expected = theirs.GradientBoostingClassifier(loss=loss, n_estimators=10).fit(X, y)
    np.testing.assert_allclose(ours.train_score_, expected.train_score_, rtol=1e-6)


def test_rows_that_rounds_did_not_draw_are_told():
    X, y = numbers(2000)
    ours = GradientBoostingRegressor(subsample=0.5, random_state=0).fit(X, y)
    expected = theirs.GradientBoostingRegressor(subsample=0.5, random_state=0).fit(X, y)
    assert ours.oob_improvement_.shape == ours.oob_scores_.shape == (100,)
    assert ours.oob_score_ == ours.oob_scores_[-1]
    assert ours.oob_score_ == pytest.approx(expected.oob_score_, rel=0.2)
    assert ours.oob_improvement_.sum() == pytest.approx(expected.oob_improvement_.sum(), rel=0.2)
    whole = GradientBoostingRegressor(n_estimators=2).fit(X, y)
    assert not any(hasattr(whole, name) for name in ("oob_score_", "oob_scores_", "oob_improvement_"))


@pytest.mark.parametrize("foreign", [False, True])
def test_rounds_begin_with_a_regressor(foreign):
    from sklearn.linear_model import LinearRegression as Theirs

    X, y = numbers()
    init = Theirs() if foreign else LinearRegression()
    ours = GradientBoostingRegressor(init=init, n_estimators=20).fit(X, y)
    expected = theirs.GradientBoostingRegressor(init=Theirs(), n_estimators=20).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), expected.predict(X), rtol=1e-3, atol=1e-3)
    stages = np.array(list(ours.staged_predict(X)))
    np.testing.assert_allclose(stages, list(expected.staged_predict(X)), rtol=1e-3, atol=1e-3)
    assert type(ours.init_) is type(init) and len(ours) == 20
    assert pickle.loads(pickle.dumps(ours)).predict(X) == pytest.approx(ours.predict(X))
    with pytest.raises(Exception, match="trees alone|native|no attribute|ask"):
        ours.contributions(X)


def test_rounds_begin_with_a_classifier_or_with_zero():
    from sklearn.naive_bayes import GaussianNB as Theirs

    X, y = classes(count=3)
    for ours, their in ((GaussianNB(), Theirs()), ("zero", "zero")):
        found = GradientBoostingClassifier(init=ours, n_estimators=10).fit(X, y)
        expected = theirs.GradientBoostingClassifier(init=their, n_estimators=10).fit(X, y)
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-4)
    assert found.init_ == "zero"
    default = GradientBoostingClassifier(n_estimators=2).fit(X, y)
    assert isinstance(default.init_, DummyClassifier)
    with pytest.raises(ValueError, match="probabilities"):
        GradientBoostingClassifier(init=Perceptron()).fit(X, y)


def test_a_monitor_sees_every_round_and_ends_them():
    X, y = numbers()
    seen = []
    learner = GradientBoostingRegressor(random_state=1, subsample=0.5)
    learner.fit(X, y, monitor=lambda i, model, more: seen.append((i, len(model))) or i == 6)
    assert seen == [(i, i + 1) for i in range(7)]
    assert (learner.n_estimators, learner.warm_start, learner.random_state) == (100, False, 1)
    once = GradientBoostingRegressor(random_state=1, subsample=0.5, n_estimators=7).fit(X, y)
    assert np.array_equal(learner.predict(X), once.predict(X))


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(5),
        AdaBoostClassifier(n_estimators=5),
        BaggingClassifier(n_estimators=5),
        GradientBoostingClassifier(n_estimators=5),
    ],
)
def test_an_ensemble_is_a_sequence_of_its_members(learner):
    X, y = classes()
    assert bool(learner)
    learner.fit(X, y)
    assert len(learner) == 5 == len(list(learner))
    first = learner[0]
    assert type(first) is type(learner.estimators_[0])


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor])
def test_members_tell_the_rows_that_they_drew(kind, bootstrap):
    X, y = np.zeros((30, 1)), np.arange(30.0) ** 2
    weights = np.ones(30)
    weights[:5] = 0
    model = kind(n_estimators=4, bootstrap=bootstrap, random_state=3).fit(X, y, sample_weight=weights)
    for member, rows in zip(model, model.estimators_samples_):
        assert len(rows) == 25 and rows.min() >= 5
        assert member.predict(np.zeros((1, 1)))[0] == pytest.approx(y[rows].mean())
        assert bootstrap or sorted(rows) == list(range(5, 30))


def test_bags_tell_columns_and_average_decision_scores():
    X, y = classes()
    model = BaggingClassifier(LogisticRegression(), max_features=0.5, random_state=0).fit(X, y)
    assert all(len(places) == 2 for places in model.estimators_features_)
    mean = np.mean(
        [
            LogisticRegression().fit(X[rows][:, places], y[rows]).decision_function(X[:, places])
            for rows, places in zip(model.estimators_samples_, model.estimators_features_)
        ],
        axis=0,
    )
    np.testing.assert_allclose(model.decision_function(X), mean, rtol=1e-4, atol=1e-4)
    assert isinstance(model.estimator_, LogisticRegression)
    trees = BaggingClassifier().fit(X, y)
    assert not hasattr(trees, "decision_function") and isinstance(trees.estimator_, DecisionTreeClassifier)
    assert not hasattr(trees, "oob_score_")


@pytest.mark.parametrize("kind", [RandomForestRegressor, BaggingRegressor])
def test_estimates_can_be_asked_for_later(kind):
    X, y = numbers()
    once = kind(n_estimators=30, oob_score=True, bootstrap=True, random_state=0).fit(X, y)
    later = kind(n_estimators=30, bootstrap=True, warm_start=True, random_state=0).fit(X, y)
    assert not hasattr(later, "oob_score_")
    later.set_params(oob_score=True).fit(X, y)
    assert later.oob_score_ == once.oob_score_ and len(later) == 30
    assert later.estimators_samples_[0].dtype == np.int32


def test_a_function_scores_rows_that_trees_did_not_draw():
    from sklearn.metrics import f1_score, mean_absolute_error

    X, y = classes()
    model = RandomForestClassifier(40, oob_score=f1_score, random_state=0).fit(X, y)
    said = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == f1_score(y, said)
    X, y = numbers()
    model = RandomForestRegressor(40, oob_score=mean_absolute_error, random_state=0).fit(X, y)
    assert model.oob_score_ == pytest.approx(mean_absolute_error(y, model.oob_prediction_))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_trees_with_directions_equal_scikit_learns(criterion):
    from sklearn.tree import DecisionTreeRegressor as Theirs

    X, y = numbers(80)
    y = np.maximum(y + 8, 0)
    given = {"criterion": criterion, "monotonic_cst": [1, -1, 0, 0], "max_depth": 3}
    ours, expected = DecisionTreeRegressor(**given).fit(X, y), Theirs(**given).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), expected.predict(X), rtol=1e-6)


def test_directions_may_be_named_and_are_refused_for_many_classes():
    pandas = pytest.importorskip("pandas")
    X, y = numbers()
    table = pandas.DataFrame(X, columns=list("abcd"))
    named = RandomForestRegressor(5, monotonic_cst={"b": -1}, random_state=0).fit(table, y)
    listed = RandomForestRegressor(5, monotonic_cst=[0, -1, 0, 0], random_state=0).fit(X, y)
    assert np.array_equal(named.predict(table), listed.predict(X))
    X, y = classes(count=3)
    for kind in (DecisionTreeClassifier, RandomForestClassifier):
        with pytest.raises(ValueError, match="multiclass"):
            kind(monotonic_cst=[1, 0, 0, 0]).fit(X, y)


def test_a_poisson_tree_predicts_no_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = rng.poisson(np.exp(np.clip(X[:, 0], None, 1)) * 0.1).astype(float) * rng.uniform(0.1, 0.7, 500)
    for splitter in ("best", "random"):
        tree = DecisionTreeRegressor(criterion="poisson", splitter=splitter, random_state=0).fit(X, y)
        assert tree.get_n_leaves() > 5 and (tree.predict(X) > 0).all()


@pytest.mark.parametrize("scoring", [None, "accuracy", lambda model, X, y: model.score(X, y)])
def test_a_score_ends_rounds_in_bins(scoring):
    X, y = classes(600)
    learner = HistGradientBoostingClassifier(
        early_stopping=True, scoring=scoring, n_iter_no_change=4, max_iter=200, random_state=0
    ).fit(X, y)
    scores = learner.validation_score_
    assert learner.n_iter_ < 200 and len(scores) == learner.n_iter_ + 1 == len(learner.train_score_)
    assert max(scores[-4:]) <= scores[-5] + learner.tol
    assert all(max(scores[k - 3 : k + 1]) > scores[k - 4] + learner.tol for k in range(4, learner.n_iter_))
    assert ((scores >= 0) & (scores <= 1)).all()


def test_given_rows_judge_rounds_in_bins():
    X, y = numbers(400)
    given = {"X_val": X[300:], "y_val": y[300:]}
    for scoring in ("loss", "neg_mean_squared_error"):
        learner = HistGradientBoostingRegressor(early_stopping=True, scoring=scoring, tol=0.0, max_iter=400)
        learner.fit(X[:300], y[:300], **given)
        factor = 2.0 if scoring == "loss" else 1.0
        error = np.mean((learner.predict(X[300:]) - y[300:]) ** 2)
        assert factor * learner.validation_score_[-1] == pytest.approx(-error) and learner.n_iter_ < 400
    with pytest.raises(ValueError, match="y_val was not provided"):
        learner.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="early_stopping=False"):
        HistGradientBoostingRegressor(early_stopping=False).fit(X, y, **given)
    with pytest.raises(ValueError, match="scoring"):
        HistGradientBoostingRegressor(early_stopping=True, scoring="nonsense").fit(X, y)


def test_losses_of_rounds_in_bins_are_negative_scores():
    X, y = numbers(400)
    learner = HistGradientBoostingRegressor(early_stopping=True, max_iter=5, random_state=0).fit(X, y)
    assert (np.diff(learner.train_score_) > 0).all() and (learner.train_score_ < 0).all()


def test_levels_that_boosting_never_saw_are_missing_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 5, 200)]).astype(float)
    X[::7, 1] = np.nan
    y = np.where(np.isnan(X[:, 1]), 9.0, X[:, 1])
    model = HistGradientBoostingRegressor(categorical_features=[1]).fit(X, y)
    known, unknown, missing = [[0.0, 2.0]], [[0.0, 30.0]], [[0.0, np.nan]]
    assert model.predict(unknown)[0] == model.predict(missing)[0] != model.predict(known)[0]


def test_the_arrays_of_a_tree_find_leaves_and_importances():
    X, y = classes()
    tree = DecisionTreeClassifier(max_depth=5).fit(X, y)
    assert np.array_equal(tree.tree_.apply(X), tree.apply(X))
    np.testing.assert_allclose(tree.tree_.compute_feature_importances(), tree.feature_importances_)
    np.testing.assert_allclose(tree.tree_.predict(X)[:, 0], tree.predict_proba(X))
    with pytest.raises(ValueError, match="not fitted"):
        DecisionTreeClassifier().feature_importances_


class Remembering:
    """A foreign estimator that keeps what it was fitted with."""

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y, sample_weight=None):
        self.seen = (np.asarray(X), np.asarray(y), sample_weight)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("max_samples, size", [(40, 40), (0.5, 3)])
def test_bags_of_foreign_learners_draw_by_weight_and_count_as_weights(max_samples, size):
    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 2
    weights = np.zeros(30)
    weights[[4, 5]] = 2, 4
    model = BaggingClassifier(Remembering(), max_samples=max_samples, n_estimators=3, random_state=0)
    model.fit(X, y, sample_weight=weights)
    for member, rows in zip(model, model.estimators_samples_):
        assert len(rows) == size and set(rows) <= {4, 5}
        assert np.array_equal(member.seen[0], X)
        assert np.array_equal(member.seen[2], np.bincount(rows, minlength=30))


@pytest.mark.parametrize("loss, count", [("log_loss", 2), ("log_loss", 3), ("exponential", 2)])
def test_rounds_begin_with_a_foreign_classifier(loss, count):
    from sklearn.naive_bayes import GaussianNB as Theirs

    X, y = classes(count=count)
    ours = GradientBoostingClassifier(loss=loss, init=Theirs(), n_estimators=12).fit(X, y)
    expected = theirs.GradientBoostingClassifier(loss=loss, init=Theirs(), n_estimators=12).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.train_score_, expected.train_score_, rtol=1e-3)
    stages = list(ours.staged_decision_function(X))
    np.testing.assert_allclose(stages, np.squeeze(list(expected.staged_decision_function(X))), atol=1e-3)
    np.testing.assert_allclose(ours.feature_importances_, expected.feature_importances_, atol=1e-2)
    assert type(ours.init_) is Theirs and ours.estimators_.shape == expected.estimators_.shape
    some = GradientBoostingClassifier(loss=loss, init=Theirs(), subsample=0.5, n_iter_no_change=3, n_estimators=300)
    some.fit(X, y)
    assert some.n_estimators_ < 300 and some.oob_scores_.shape == (some.n_estimators_,)
    assert np.array_equal(pickle.loads(pickle.dumps(some)).predict(X), some.predict(X))


def test_a_beginning_that_takes_no_weights_refuses_them():
    from sklearn.neighbors import KNeighborsClassifier

    X, y = classes()
    learner = GradientBoostingClassifier(init=KNeighborsClassifier(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="does not support sample weights"):
        learner.fit(X, y, sample_weight=np.ones(len(y)))
