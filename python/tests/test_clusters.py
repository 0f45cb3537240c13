"""Mixtures, incremental components and projected learners beside scikit-learn's."""

import numpy as np
import pytest
from sklearn import decomposition as other_decomposition
from sklearn import mixture as other_mixture
from sklearn.datasets import load_digits, load_iris

from learnt.cluster import KMeans, choose_k, exemplar, hdbscan_cut
from learnt.decomposition import PCA, IncrementalPCA
from learnt.linear_model import LinearRegression
from learnt.metrics import inertia
from learnt.mixture import GaussianMixture
from learnt.neighbors import InstanceBasedClassifier, KNeighborsClassifier, nearest_rows
from learnt.pipeline import Pipeline
from learnt.random_projection import GaussianRandomProjection, projected_partition

FLOWERS, SPECIES = load_iris(return_X_y=True)
DIGITS, DIGIT = load_digits(return_X_y=True)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_a_mixture_has_the_methods_and_numbers_of_scikit_learn(form):
    start = FLOWERS[[0, 60, 120]]
    settings = {"covariance_type": form, "means_init": start.tolist(), "tol": 1e-9, "max_iter": 1000}
    own = GaussianMixture(3, random_state=0, **settings).fit(FLOWERS)
    settings["means_init"] = start
    other = other_mixture.GaussianMixture(3, random_state=0, **settings).fit(FLOWERS)
    np.testing.assert_allclose(own.weights_, other.weights_, atol=1e-4)
    np.testing.assert_allclose(own.means_, other.means_, atol=1e-3)
    np.testing.assert_allclose(own.covariances_, other.covariances_, atol=1e-3)
    np.testing.assert_allclose(own.precisions_, other.precisions_, rtol=2e-2, atol=1e-2)
    np.testing.assert_allclose(own.predict_proba(FLOWERS), other.predict_proba(FLOWERS), atol=1e-3)
    np.testing.assert_allclose(own.score_samples(FLOWERS), other.score_samples(FLOWERS), atol=1e-2)
    np.testing.assert_array_equal(own.predict(FLOWERS), other.predict(FLOWERS))
    for name in ("score", "aic", "bic"):
        assert getattr(own, name)(FLOWERS) == pytest.approx(getattr(other, name)(FLOWERS), rel=1e-5)
    assert own.converged_ and own.n_iter_ >= 1
    assert own.lower_bound_ == pytest.approx(other.lower_bound_, abs=1e-5)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_a_mixture_draws_rows_with_their_components(form):
    model = GaussianMixture(3, covariance_type=form, random_state=0).fit(FLOWERS)
    X, y = model.sample(20_000, random_state=1)
    assert X.shape == (20_000, 4) and y.shape == (20_000,)
    np.testing.assert_allclose(np.bincount(y) / len(y), model.weights_, atol=0.02)
    for k in range(3):
        np.testing.assert_allclose(X[y == k].mean(axis=0), model.means_[k], atol=0.05)
    again, _ = model.sample(20_000, random_state=1)
    np.testing.assert_array_equal(X, again)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)


@pytest.mark.parametrize("settings", [{}, {"n_components": 2}, {"n_components": 3, "whiten": True}])
def test_incremental_components_are_those_of_scikit_learn(settings):
    own = IncrementalPCA(batch_size=20, **settings).fit(FLOWERS)
    other = other_decomposition.IncrementalPCA(batch_size=20, **settings).fit(FLOWERS)
    for name in (
        "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
        "mean_", "var_", "noise_variance_", "n_components_", "n_samples_seen_", "batch_size_",
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(own, name), getattr(other, name), atol=1e-9, err_msg=name)
    np.testing.assert_allclose(own.transform(FLOWERS), other.transform(FLOWERS), atol=1e-8)
    pieces = IncrementalPCA(**settings)
    for part in np.array_split(FLOWERS, 5):
        pieces.partial_fit(part)
    expected = other_decomposition.IncrementalPCA(**settings)
    for part in np.array_split(FLOWERS, 5):
        expected.partial_fit(part)
    np.testing.assert_allclose(pieces.components_, expected.components_, atol=1e-9)
    scores = own.transform(FLOWERS)
    np.testing.assert_allclose(
        own.inverse_transform(scores), other.inverse_transform(other.transform(FLOWERS)), atol=1e-8
    )


def test_learners_after_a_random_projection_lose_little():
    project = GaussianRandomProjection(40, random_state=0)
    plain = KMeans(10, n_init=5, random_state=0).fit(DIGITS)
    steps = [("project", project), ("cluster", KMeans(10, n_init=5, random_state=0))]
    labels = Pipeline(steps).fit(DIGITS).predict(DIGITS)
    assert inertia(DIGITS, labels) < 1.1 * plain.inertia_
    ratio = projected_partition(DIGITS, plain.labels_, 40, random_state=0)
    assert abs(ratio - 1) < 0.3
    near = KNeighborsClassifier(3)
    whole = near.fit(DIGITS[::2], DIGIT[::2]).score(DIGITS[1::2], DIGIT[1::2])
    reduced = Pipeline([("project", project), ("near", KNeighborsClassifier(3))])
    assert reduced.fit(DIGITS[::2], DIGIT[::2]).score(DIGITS[1::2], DIGIT[1::2]) > whole - 0.06
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 300))
    target = wide[:, 0]
    line = Pipeline([("project", GaussianRandomProjection(30, random_state=0)), ("fit", LinearRegression())])
    assert line.fit(wide[:200], target[:200]).score(wide[200:], target[200:]) > 0.999


def test_functions_of_clusterings_take_arrays():
    found = choose_k(FLOWERS, k_max=4, n_refs=3, random_state=0)
    assert found == 2 or found == 3
    medoid = exemplar(FLOWERS)
    assert any((FLOWERS == medoid).all(axis=1))
    labels = hdbscan_cut(FLOWERS, 0.8)
    assert set(np.unique(labels)) == {-1, 0, 1}
    near = nearest_rows(FLOWERS, k=3)
    np.testing.assert_array_equal(near.distances[:, 0], 0)
    assert PCA(2).fit(FLOWERS).n_components_ == 2


def test_instances_that_are_kept_classify_the_rest():
    rows = np.random.default_rng(0).permutation(150)
    model = InstanceBasedClassifier("ib2").fit(FLOWERS[rows], SPECIES[rows])
    assert len(model.cases_) < 40
    assert model.score(FLOWERS, SPECIES) > 0.9
