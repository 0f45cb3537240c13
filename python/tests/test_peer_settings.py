"""Settings of scikit-learn's learners and functions, with scikit-learn's answers."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn import decomposition as other_decomposition
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor as OtherForest
from sklearn.inspection import permutation_importance as other_importance
from sklearn.linear_model import Ridge as OtherRidge

from learnt.decomposition import PCA
from learnt.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from learnt.inspection import partial_dependence, permutation_importance
from learnt.linear_model import LinearRegression, LogisticRegression
from learnt.mixture import GaussianMixture
from learnt.model_selection import train_test_split
from learnt.neighbors import KernelDensity

FLOWERS, SPECIES = load_iris(return_X_y=True)
PATIENTS, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "r2", "rmse"])
def test_importances_are_weighted(scoring):
    # Rows of weight zero say nothing: a column that matters only there has no importance.
    rng = np.random.default_rng(0)
    X, kept = rng.normal(size=(200, 2)), np.arange(200) < 100
    y = np.where(kept, X[:, 0], X[:, 1])
    model = LinearRegression().fit(X, y)
    settings = {"scoring": scoring, "n_repeats": 3, "random_state": 0}
    found = permutation_importance(model, X, y, sample_weight=kept.astype(float), **settings)
    alone = permutation_importance(model, X[kept], y[kept], **settings)
    assert np.sign(found.importances_mean[0]) == np.sign(alone.importances_mean[0]) != 0
    whole = permutation_importance(model, X, y, **settings)
    assert abs(found.importances_mean[0] - alone.importances_mean[0]) < abs(
        whole.importances_mean[0] - alone.importances_mean[0]
    )


def test_a_scorer_may_give_several_scores():
    model = LogisticRegression().fit(FLOWERS, SPECIES)

    def scores(model, X, y):
        return {"right": model.score(X, y), "wrong": -model.score(X, y)}

    own = permutation_importance(model, FLOWERS, SPECIES, scoring=scores, random_state=0, n_repeats=2)
    assert set(own) == set(other_importance(model, FLOWERS, SPECIES, scoring=scores, n_repeats=2)) == {"right", "wrong"}
    np.testing.assert_allclose(own["right"].importances, -own["wrong"].importances)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "average_precision", "f1"])
def test_names_of_scorers_take_weights(scoring):
    two = SPECIES < 2
    X, y = FLOWERS[two] + np.random.default_rng(0).normal(size=(100, 4)), SPECIES[two]
    model, weights = LogisticRegression().fit(X, y), np.arange(100) % 3 + 1.0
    settings = {"scoring": scoring, "n_repeats": 2, "random_state": 0}
    own = permutation_importance(model, X, y, sample_weight=weights, **settings)
    repeated = permutation_importance(model, X, y, **settings)
    assert np.isfinite(own.importances).all() and not np.allclose(own.importances, repeated.importances)


def test_several_targets_are_classes_together():
    both = np.stack([np.arange(80) % 2, np.arange(80) // 2 % 2], axis=1)
    _, test = train_test_split(both, test_size=0.25, stratify=both, random_state=0)
    _, counts = np.unique(test, axis=0, return_counts=True)
    assert counts.tolist() == [5, 5, 5, 5]


def test_monotone_columns_by_name():
    frame = pd.DataFrame(PATIENTS[:, :3], columns=["a", "b", "c"])
    by_name = HistGradientBoostingRegressor(max_iter=5, monotonic_cst={"c": 1}).fit(frame, PROGRESS)
    by_place = HistGradientBoostingRegressor(max_iter=5, monotonic_cst=[0, 0, 1]).fit(frame, PROGRESS)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(frame))
    with pytest.raises(ValueError, match=r"1 unexpected feature names: \['d'\]"):
        HistGradientBoostingRegressor(monotonic_cst={"d": 1}).fit(frame, PROGRESS)
    with pytest.raises(ValueError, match="needs columns with names"):
        HistGradientBoostingRegressor(monotonic_cst={"a": 1}).fit(PATIENTS, PROGRESS)


def test_bags_of_foreign_learners_have_several_outputs_and_sparse_rows():
    both = np.stack([PROGRESS, -2 * PROGRESS], axis=1)
    bags = BaggingRegressor(OtherRidge(), n_estimators=5, oob_score=True, random_state=0)
    found = bags.fit(PATIENTS, both)
    assert found.predict(PATIENTS).shape == found.oob_prediction_.shape == both.shape
    np.testing.assert_allclose(found.predict(PATIENTS)[:, 1], -2 * found.predict(PATIENTS)[:, 0])
    single = BaggingRegressor(OtherRidge(), n_estimators=5, oob_score=True, random_state=0).fit(PATIENTS, PROGRESS)
    np.testing.assert_allclose(single.predict(PATIENTS), found.predict(PATIENTS)[:, 0])
    assert single.oob_score_ == pytest.approx(found.oob_score_)
    sparse = BaggingRegressor(OtherRidge(), n_estimators=5, max_features=0.5, random_state=0)
    dense = sparse.fit(PATIENTS, PROGRESS).predict(PATIENTS)
    np.testing.assert_allclose(sparse.fit(csr_matrix(PATIENTS), PROGRESS).predict(csr_matrix(PATIENTS)), dense)


def test_arpack_finds_all_components_but_one():
    own, theirs = (cls(svd_solver="arpack").fit(FLOWERS) for cls in (PCA, other_decomposition.PCA))
    assert own.n_components_ == theirs.n_components_ == 3
    np.testing.assert_allclose(own.explained_variance_, theirs.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_a_mixture_goes_on_where_it_ended(form):
    settings = {"covariance_type": form, "random_state": 0, "tol": 0.0}
    whole = GaussianMixture(3, max_iter=10, **settings)
    parts = GaussianMixture(3, max_iter=5, warm_start=True, **settings)
    with pytest.warns(UserWarning):
        whole.fit(FLOWERS)
        parts.fit(FLOWERS)
        first = parts.score(FLOWERS)
        parts.fit(FLOWERS)
    assert parts.score(FLOWERS) > first
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-3)


def test_names_of_the_euclidean_distance_are_the_same_density():
    expected = KernelDensity().fit(FLOWERS).score_samples(FLOWERS)
    for metric in ("l2", "minkowski"):
        np.testing.assert_array_equal(KernelDensity(metric=metric).fit(FLOWERS).score_samples(FLOWERS), expected)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_an_allowed_error_of_a_density_is_kept_far_from_all_rows(kernel):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(2, 100, 3))
    exact = np.exp(KernelDensity(kernel=kernel, bandwidth=0.01).fit(X).score_samples(Y))
    found = np.exp(KernelDensity(kernel=kernel, bandwidth=0.01, atol=1e-6).fit(X).score_samples(Y))
    np.testing.assert_allclose(found, exact, atol=1e-6)


def test_columns_of_a_dependence_may_be_a_mask():
    model = LogisticRegression().fit(FLOWERS, SPECIES)
    by_mask = partial_dependence(model, FLOWERS, [True, False, True, False], grid_resolution=5)
    by_place = partial_dependence(model, FLOWERS, [0, 2], grid_resolution=5)
    np.testing.assert_array_equal(by_mask["average"], by_place["average"])
    with pytest.raises(ValueError, match="`features` is a boolean array-like"):
        partial_dependence(model, FLOWERS, [True, False])


@pytest.mark.parametrize("outputs", [1, 2])
def test_out_of_bag_predictions_have_the_shape_of_the_target(outputs):
    y = PROGRESS if outputs == 1 else np.stack([PROGRESS, -PROGRESS], axis=1)
    settings = {"n_estimators": 30, "oob_score": True, "random_state": 0}
    forest = RandomForestRegressor(**settings).fit(PATIENTS, y)
    assert forest.oob_prediction_.shape == OtherForest(**settings).fit(PATIENTS, y).oob_prediction_.shape
    assert not hasattr(RandomForestRegressor(n_estimators=3).fit(PATIENTS, y), "oob_prediction_")
    assert not hasattr(RandomForestRegressor(), "oob_prediction_")
