"""Searches against scikit-learn's on the same folds."""

import pickle

import numpy as np
import pytest

import learnt
from learnt.errors import LearntWarning, ParameterError
from learnt.linear_model import LogisticRegression, Ridge
from learnt.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    ParzenSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    one_standard_error,
)
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler
from learnt.tree import DecisionTreeClassifier

sklearn = pytest.importorskip("sklearn")
import sklearn.linear_model as peer_linear  # noqa: E402
import sklearn.model_selection as peer  # noqa: E402
import sklearn.neighbors as peer_neighbors  # noqa: E402
import sklearn.pipeline as peer_pipeline  # noqa: E402
import sklearn.preprocessing as peer_preprocessing  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def close(ours, theirs, names):
    for name in names:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_mean_absolute_error", "r2"])
def test_a_grid_of_ridge_has_scikit_learns_results(scoring):
    grid = {"alpha": [0.001, 0.01, 0.1, 1.0, 10.0], "fit_intercept": [True, False]}
    arguments = {"scoring": scoring, "cv": peer.KFold(4), "return_train_score": True}
    ours = GridSearchCV(Ridge(), grid, **arguments).fit(*DIABETES)
    theirs = peer.GridSearchCV(peer_linear.Ridge(), grid, **arguments).fit(*DIABETES)
    splits = [f"split{k}_{part}_score" for k in range(4) for part in ("test", "train")]
    close(ours, theirs, [*splits, "mean_test_score", "std_test_score", "rank_test_score", "mean_train_score"])
    assert ours.best_params_ == theirs.best_params_ and ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert set(theirs.cv_results_) == set(ours.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.cv_results_["param_alpha"].tolist() == theirs.cv_results_["param_alpha"].tolist()
    np.testing.assert_allclose(ours.predict(DIABETES[0]), theirs.predict(DIABETES[0]), rtol=1e-7)
    assert ours.score(*DIABETES) == pytest.approx(theirs.score(*DIABETES))
    assert ours.n_splits_ == 4 and ours.n_features_in_ == 10


def test_a_pipeline_is_searched_by_nested_names_and_natively():
    grid = {"scale__with_mean": [True, False], "knn__n_neighbors": [1, 5, 25]}
    steps = lambda a, b: [("scale", a), ("knn", b)]  # noqa: E731
    own = Pipeline(steps(StandardScaler(), KNeighborsClassifier()))
    other = peer_pipeline.Pipeline(
        steps(peer_preprocessing.StandardScaler(), peer_neighbors.KNeighborsClassifier())
    )
    ours = GridSearchCV(own, grid, scoring=["accuracy", "neg_log_loss"], refit="accuracy", cv=5).fit(*IRIS)
    theirs = peer.GridSearchCV(other, grid, scoring=["accuracy", "neg_log_loss"], refit="accuracy", cv=5)
    theirs.fit(*IRIS)
    close(ours, theirs, ["mean_test_accuracy", "rank_test_accuracy", "mean_test_neg_log_loss"])
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.predict_proba(IRIS[0]), theirs.predict_proba(IRIS[0]))
    assert ours.multimetric_ and set(ours.scorer_) == {"accuracy", "neg_log_loss"}
    table = ours.summary()
    assert "chosen" in str(table) and "n_neighbors" in str(table)


def test_native_and_python_engines_agree():
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 10]}
    tree = DecisionTreeClassifier(random_state=3)
    native = GridSearchCV(tree, grid, scoring="accuracy", cv=3).fit(*IRIS)
    by_hand = GridSearchCV(tree, grid, scoring=lambda m, X, y: np.mean(m.predict(X) == y), cv=3).fit(*IRIS)
    close(native, by_hand, ["mean_test_score", "split2_test_score", "rank_test_score"])
    best = cross_val_score(DecisionTreeClassifier(random_state=3, **native.best_params_), *IRIS, cv=3)
    assert native.best_score_ == pytest.approx(best.mean(), abs=1e-15)


def test_estimators_of_scikit_learn_are_searched_too():
    grid = [{"C": [0.1, 1.0]}, {"C": [10.0], "fit_intercept": [False]}]
    other = peer_linear.LogisticRegression(max_iter=500)
    ours = GridSearchCV(other, grid, cv=4).fit(*IRIS)
    theirs = peer.GridSearchCV(other, grid, cv=4).fit(*IRIS)
    close(ours, theirs, ["mean_test_score", "rank_test_score"])
    assert ours.cv_results_["param_fit_intercept"].mask.tolist() == [True, True, False]
    assert ours.best_params_ == theirs.best_params_
    assert ours.classes_.tolist() == [0, 1, 2]
    with pytest.raises(AttributeError):
        _ = ours.transform


def test_searches_are_cloned_pickled_and_nested_in_scikit_learn():
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=3)
    copy = sklearn.base.clone(search)
    assert copy.get_params()["estimator__alpha"] == 1.0 and copy is not search
    nested = peer.cross_val_score(search, *DIABETES, cv=3)
    assert nested.shape == (3,) and np.isfinite(nested).all()
    own = cross_val_score(search, *DIABETES, cv=3)
    np.testing.assert_allclose(own, nested)
    fitted = pickle.loads(pickle.dumps(search.fit(*DIABETES)))
    np.testing.assert_array_equal(fitted.predict(DIABETES[0]), search.predict(DIABETES[0]))
    assert sklearn.base.is_regressor(search)
    with pytest.raises(Exception, match="not fitted"):
        GridSearchCV(Ridge(), {"alpha": [1.0]}).predict(DIABETES[0])


def test_lower_is_better_for_metrics_of_this_package():
    grid = {"alpha": [0.001, 1000.0]}
    ours = GridSearchCV(Ridge(), grid, scoring="rmse", cv=3).fit(*DIABETES)
    same = GridSearchCV(Ridge(), grid, scoring="neg_root_mean_squared_error", cv=3).fit(*DIABETES)
    assert ours.best_params_ == same.best_params_ == {"alpha": 0.001}
    assert ours.best_score_ == pytest.approx(-same.best_score_)


def test_one_standard_error_takes_the_simplest_near_the_best():
    grid = {"n_neighbors": [60, 30, 15, 9, 5, 1]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=KFold(10, shuffle=True, random_state=0))
    plain = sklearn.base.clone(search).fit(*IRIS)
    simple = search.set_params(refit=one_standard_error).fit(*IRIS)
    means, k = plain.cv_results_["mean_test_score"], plain.best_index_
    scores = [plain.cv_results_[f"split{i}_test_score"][k] for i in range(10)]
    error = np.std(scores, ddof=1) / np.sqrt(10)
    assert simple.best_index_ == np.flatnonzero(means >= means[k] - error)[0]
    assert not hasattr(simple, "best_score_") and simple.best_estimator_ is not None


def test_random_draws_are_scikit_learns_for_distributions_and_different_for_lists():
    stats = pytest.importorskip("scipy.stats")
    space = {"alpha": stats.loguniform(1e-3, 1e3), "fit_intercept": [True, False]}
    arguments = {"n_iter": 8, "random_state": 5, "cv": peer.KFold(3)}
    ours = RandomizedSearchCV(Ridge(), space, **arguments).fit(*DIABETES)
    theirs = peer.RandomizedSearchCV(peer_linear.Ridge(), space, **arguments).fit(*DIABETES)
    close(ours, theirs, ["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_
    few = {"alpha": [1.0, 2.0, 3.0]}
    drawn = RandomizedSearchCV(Ridge(), few, n_iter=2, random_state=0, cv=3).fit(*DIABETES)
    assert len({s["alpha"] for s in drawn.cv_results_["params"]}) == 2
    with pytest.warns(LearntWarning, match="fewer than n_iter"):
        RandomizedSearchCV(Ridge(), few, n_iter=9, random_state=0, cv=3).fit(*DIABETES)


def test_halving_has_scikit_learns_rungs():
    grid = {"n_neighbors": [1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 19, 23]}
    for more in ({}, {"min_resources": "smallest"}, {"min_resources": 20, "factor": 2},
                 {"min_resources": 60, "aggressive_elimination": True}):  # fmt: skip
        arguments = {"random_state": 0, "cv": 3, **more}
        ours = HalvingGridSearchCV(KNeighborsClassifier(), grid, **arguments).fit(*IRIS)
        theirs = peer.HalvingGridSearchCV(peer_neighbors.KNeighborsClassifier(), grid, **arguments).fit(*IRIS)
        for name in ("n_resources_", "n_candidates_", "n_iterations_", "min_resources_", "max_resources_",
                     "n_possible_iterations_", "n_required_iterations_", "n_remaining_candidates_"):  # fmt: skip
            assert getattr(ours, name) == getattr(theirs, name), (name, more)
        assert ours.cv_results_["iter"].tolist() == theirs.cv_results_["iter"].tolist()
        assert ours.cv_results_["iter"][ours.best_index_] == ours.n_iterations_ - 1
        assert "mean_train_score" in ours.cv_results_


def test_halving_by_a_parameter_has_scikit_learns_choice():
    from learnt.ensemble import RandomForestClassifier

    arguments = {"resource": "n_estimators", "max_resources": 27, "min_resources": 3, "cv": 3}
    arguments = {**arguments, "random_state": 0, "n_candidates": 9}
    space = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5, 20]}
    search = HalvingRandomSearchCV(RandomForestClassifier(random_state=1), space, **arguments).fit(*IRIS)
    assert search.n_resources_ == [3, 9, 27] and search.best_params_["n_estimators"] == 27
    assert search.best_estimator_.n_estimators == 27
    with pytest.raises(ParameterError, match="max_resources"):
        HalvingRandomSearchCV(RandomForestClassifier(), space, resource="n_estimators").fit(*IRIS)


def test_parzen_search_finds_a_good_penalty_and_repeats_itself():
    space = {"C": (1e-4, 1e4, "log"), "fit_intercept": [True, False]}
    make = lambda: ParzenSearchCV(  # noqa: E731
        LogisticRegression(), space, n_iter=20, scoring="log-loss", cv=4, random_state=3
    )
    first, second = make().fit(*IRIS), make().fit(*IRIS)
    assert first.best_params_ == second.best_params_ and len(first.cv_results_["params"]) == 20
    plain = cross_val_score(LogisticRegression(), *IRIS, scoring="log-loss", cv=4).mean()
    assert first.best_score_ < plain
    assert "log-loss" in str(first.summary())


def test_failures_are_visible_and_never_averaged_away():
    grid = {"alpha": [-1.0, 1.0]}
    with pytest.warns(LearntWarning, match="alpha"):
        search = GridSearchCV(Ridge(), grid, cv=3).fit(*DIABETES)
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(Exception, match="alpha"):
        GridSearchCV(Ridge(), grid, cv=3, error_score="raise").fit(*DIABETES)
    with pytest.raises(ValueError, match="all the"):
        GridSearchCV(Ridge(), {"alpha": [-1.0]}, cv=3).fit(*DIABETES)
    with pytest.raises(ParameterError, match="alhpa"):
        GridSearchCV(Ridge(), {"alhpa": [1.0]}, cv=3).fit(*DIABETES)
    with pytest.raises(ParameterError, match="known"):
        GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring="rmes", cv=3).fit(*DIABETES)
    with pytest.raises(ParameterError, match="refit"):
        GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=["r2", "rmse"], cv=3).fit(*DIABETES)
    with pytest.raises(ValueError, match="empty"):
        GridSearchCV(Ridge(), {"alpha": []}).fit(*DIABETES)
    with pytest.raises(TypeError, match="list"):
        GridSearchCV(Ridge(), {"alpha": 1.0}).fit(*DIABETES)
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    with pytest.warns(LearntWarning):
        lacking = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring="roc_auc_ovr", cv=folds).fit(*IRIS)
    assert np.isnan(lacking.best_score_)


def test_threads_do_not_change_a_search():
    grid = {"alpha": [0.1, 1.0, 10.0]}
    one, four = (GridSearchCV(Ridge(), grid, cv=5, n_jobs=n).fit(*DIABETES) for n in (1, 4))
    for k in range(5):
        np.testing.assert_array_equal(
            one.cv_results_[f"split{k}_test_score"], four.cv_results_[f"split{k}_test_score"]
        )


def test_two_learners_are_tested_against_each_other():
    found = learnt.model_selection.versus(KNeighborsClassifier(), DecisionTreeClassifier(max_depth=1), *IRIS)
    assert found.difference > 0.2 and found.t_pvalue < 0.01 and found.mcnemar_pvalue < 1e-6
    assert found.wins + found.ties + found.losses == 10
    ranks = learnt.stats.critical_difference([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5]])
    assert ranks.mean_ranks.tolist() == [1.0, 2.0, 3.0]
    test = learnt.stats.mcnemar([1, 1, 1, 0, 1], [0, 0, 1, 1, 0])
    assert (test.only_first, test.only_second) == (3, 1) and test.pvalue == pytest.approx(0.625)
