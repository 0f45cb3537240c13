"""Mixtures, incremental components and projected learners beside scikit-learn's."""

import numpy as np
import pytest
from sklearn import cluster as other_cluster
from sklearn import decomposition as other_decomposition
from sklearn import mixture as other_mixture
from sklearn.datasets import load_digits, load_iris

from learnt import whole
from learnt.cluster import (
    DBSCAN,
    KMeans,
    choose_k,
    diana,
    exemplar,
    fcluster,
    gap_statistic,
    hdbscan_cut,
    is_nested,
    linkage,
    point_types,
)
from learnt.decomposition import PCA, IncrementalPCA, Whitening
from learnt.density import window_density
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.linear_model import LinearRegression
from learnt.metrics import inertia
from learnt.mixture import GaussianMixture
from learnt.neighbors import (
    InstanceBasedClassifier,
    KernelDensity,
    KNeighborsClassifier,
    KNeighborsRegressor,
    check_distances,
    check_invariance,
    distances_by,
    nearest_rows,
)
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


def test_a_window_of_ones_own_gives_the_density_of_the_definition():
    rows = np.array([[2.0], [3.0], [4.0], [8.0], [10.0], [11.0], [12.0]])
    places = [[1.0], [3.0]]
    cube = window_density(rows, places, lambda u: np.all(abs(u) <= 0.5, axis=1), bandwidth=3.0)
    np.testing.assert_allclose(cube, [1 / 21, 1 / 7])
    normal = window_density(rows, places, lambda u: np.exp(-(u[:, 0] ** 2) / 2) / np.sqrt(2 * np.pi))
    assert normal[1] == pytest.approx(0.1261264595)
    np.testing.assert_allclose(np.log(normal), KernelDensity().fit(rows).score_samples(places))
    # The same as values of a profile: a tent over two columns, of the mass pi / 3.
    tent = KernelDensity(bandwidth=0.7, profile=[1.0, 0.0]).fit(FLOWERS[:, :2])
    by_name = KernelDensity(bandwidth=0.7, kernel="linear").fit(FLOWERS[:, :2])
    own = window_density(
        FLOWERS[:, :2],
        FLOWERS[:40, :2],
        lambda u: np.maximum(0, 1 - np.linalg.norm(u, axis=1)) * 3 / np.pi,
        bandwidth=0.7,
    )
    np.testing.assert_allclose(np.exp(tent.score_samples(FLOWERS[:40, :2])), own)
    np.testing.assert_allclose(np.exp(by_name.score_samples(FLOWERS[:40, :2])), own)
    weights = np.arange(7.0)
    twice = window_density(rows, places, lambda u: (abs(u[:, 0]) <= 0.5) * 1.0, sample_weight=weights)
    np.testing.assert_allclose(twice, [0, 1 / 21])
    drawn = tent.sample(2000, random_state=0)
    assert np.linalg.norm(drawn[:, None] - FLOWERS[None, :, :2], axis=2).min(axis=1).max() <= 0.7
    with pytest.raises(ValueError, match="window"):
        window_density(rows, places, lambda u: 3.0)
    with pytest.raises(ValueError, match="profile"):
        KernelDensity(profile=[1.0]).fit(rows)


def test_transforms_of_ones_own_keep_or_change_distances():
    assert check_invariance(FLOWERS, FLOWERS + 3.0, "manhattan")
    assert check_invariance(FLOWERS[:, :2], matrix=[[0.6, -0.8], [0.8, 0.6]])
    assert not check_invariance(FLOWERS[:, :2], FLOWERS[:, :2] ** 3)
    assert not whole(check_invariance, FLOWERS[:, :2], FLOWERS[:, :2] ** 3).ordered
    squared = ((FLOWERS[:, None] - FLOWERS[None]) ** 2).sum(axis=2)
    found = whole(check_invariance, np.sqrt(squared), squared, precomputed=True)
    assert found.ordered and not found.scaled


def test_distances_that_are_given_have_the_clusters_of_their_rows():
    lengths = np.linalg.norm(FLOWERS[:, None] - FLOWERS[None], axis=2)
    rows = DBSCAN(eps=0.5).fit(FLOWERS)
    given = DBSCAN(eps=0.5, metric="precomputed").fit(lengths)
    other = other_cluster.DBSCAN(eps=0.5, metric="precomputed").fit(lengths)
    np.testing.assert_array_equal(given.labels_, rows.labels_)
    np.testing.assert_array_equal(given.labels_, other.labels_)
    np.testing.assert_array_equal(given.core_sample_indices_, other.core_sample_indices_)
    values = np.array([[0.0], [0.5], [1.0], [2.0], [3.0], [3.5], [4.0]])
    shared = DBSCAN(eps=1.0, min_samples=4, border="all").fit(values)
    pairs = shared.border_memberships_[shared.border_memberships_[:, 0] == 3]
    assert pairs[:, 1].tolist() == [0.0, 1.0]
    kinds = whole(point_types, values, 1.0, 4)
    assert [c for r, c in zip(kinds.border_rows, kinds.border_clusters) if r == 3] == [0, 1]


def test_linkages_by_coefficients_of_ones_own_are_those_of_scipy():
    from scipy.cluster.hierarchy import linkage as other_linkage

    for method, own in {
        "single": [0.5, 0.5, 0, -0.5],
        "complete": [0.5, 0.5, 0, 0.5],
        "weighted": [0.5, 0.5, 0, 0],
    }.items():
        tree = linkage(DIGITS[:80], coefficients=own)
        np.testing.assert_allclose(tree[:, 2], other_linkage(DIGITS[:80], method)[:, 2])


def test_settings_of_the_courses_reach_python():
    flat = PCA(ddof=0).fit(FLOWERS)
    np.testing.assert_allclose(flat.explained_variance_, np.linalg.eigvalsh(np.cov(FLOWERS.T, ddof=0))[::-1])
    assert PCA(min_variance=0.2).fit(FLOWERS).n_components_ == 2
    assert np.linalg.det(PCA(proper_rotation=True).fit(FLOWERS).components_) == pytest.approx(1)
    floor = Whitening("pca", tol=0.01, small_variances="floor").fit(FLOWERS)
    assert floor.matrix_.shape == (4, 4)
    model = KMeans(3, init="uniform", random_state=0).fit(FLOWERS)
    assert model.inertia_ == pytest.approx(78.851441, abs=1e-4)
    mixed = GaussianMixture(3, init_params="uniform", n_init=5, sort=True, random_state=0).fit(FLOWERS)
    assert (np.diff(mixed.means_[:, 0]) > 0).all()
    one = LinearDiscriminantAnalysis(n_components=1, reduced=True).fit(FLOWERS, SPECIES)
    z = one.transform(FLOWERS)[:, 0]
    means = np.array([z[SPECIES == k].mean() for k in range(3)])
    np.testing.assert_array_equal(one.predict(FLOWERS), abs(z[:, None] - means).argmin(axis=1))
    gaps = whole(gap_statistic, FLOWERS, clusters="ward", k_max=5, n_refs=5, random_state=0)
    assert len(gaps.gap) == 5
    split = whole(diana, FLOWERS, split="two_means", next="sum_of_squares", random_state=0)
    assert split.value.shape == (149, 4)


def test_kernels_weigh_neighbours_as_their_formulas_say():
    from sklearn.neighbors import KNeighborsRegressor as Other

    far = nearest_rows(FLOWERS, FLOWERS, 8)
    reach = np.asarray(far.distances)[:, 7]

    def tricube(distances):
        return (1 - (distances / reach[:, None]) ** 3) ** 3

    y = FLOWERS[:, 0] * 2
    own = KNeighborsRegressor(7, weights="tricube").fit(FLOWERS, y)
    other = Other(7, weights=tricube).fit(FLOWERS, y)
    np.testing.assert_allclose(own.predict(FLOWERS), other.predict(FLOWERS))


def test_distances_of_ones_own_are_clustered():
    words = np.array([["cat"], ["cut"], ["cot"], ["house"], ["mouse"], ["louse"]])

    def letters(a, b):
        longest = max(len(a[0]), len(b[0]))
        return sum(x != y for x, y in zip(a[0].ljust(longest), b[0].ljust(longest)))

    table = distances_by(words, letters)
    assert check_distances(table)
    found = DBSCAN(eps=1, min_samples=2, metric="precomputed").fit_predict(table)
    assert found.tolist() == [0, 0, 0, 1, 1, 1]
    assert fcluster(linkage(table, "average", "precomputed"), 2, "maxclust").tolist() == [1] * 3 + [2] * 3
    assert distances_by(words, letters, words[:2]).shape == (6, 2)
    with pytest.raises(ValueError, match="NaN"):
        distances_by(words, lambda a, b: float("nan"))
    fine, coarse = [0, 0, 1, 2, 2, 3], ["a", "a", "a", "b", "b", "b"]
    assert is_nested(fine, coarse) and not is_nested(coarse, fine)
    assert whole(is_nested, coarse, fine).cut == 2


def test_components_are_a_normal_law_as_in_scikit_learn():
    for count in (1, 2, 4):
        own, other = PCA(count).fit(FLOWERS), other_decomposition.PCA(count).fit(FLOWERS)
        np.testing.assert_allclose(own.get_covariance(), other.get_covariance(), atol=1e-12)
        np.testing.assert_allclose(own.get_precision(), other.get_precision(), rtol=1e-6)
        np.testing.assert_allclose(own.score_samples(FLOWERS), other.score_samples(FLOWERS))
        assert own.score(FLOWERS) == pytest.approx(other.score(FLOWERS))
    twice = np.column_stack([FLOWERS, FLOWERS[:, 0]])
    assert np.isneginf(PCA().fit(twice).score_samples(twice)).all()


def test_neighbours_are_those_of_scikit_learn_under_its_names():
    from sklearn.neighbors import KNeighborsClassifier as Other

    own, other = KNeighborsClassifier(4).fit(FLOWERS, SPECIES), Other(4).fit(FLOWERS, SPECIES)
    places = FLOWERS[::7] + 0.03
    for mine, theirs in zip(own.kneighbors(places, 3), other.kneighbors(places, 3)):
        np.testing.assert_allclose(mine, theirs)
    assert own.kneighbors(places, return_distance=False).shape == (22, 4)
    np.testing.assert_allclose(own.kneighbors()[0], other.kneighbors()[0])
    assert (own.kneighbors()[1] != np.arange(150)[:, None]).all()
    graph = own.kneighbors_graph(places, 2, mode="distance").toarray()
    np.testing.assert_allclose(graph, other.kneighbors_graph(places, 2, mode="distance").toarray())
    with pytest.raises(ValueError, match="n_neighbors > 0"):
        own.kneighbors(places, 0)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        own.kneighbors(n_neighbors=150)


def test_weights_of_neighbours_may_be_a_function(tmp_path):
    from sklearn.neighbors import KNeighborsClassifier as OtherClassifier
    from sklearn.neighbors import KNeighborsRegressor as OtherRegressor

    def near(distances):
        return np.exp(-3 * distances)

    places = FLOWERS[::7] + 0.03
    own = KNeighborsClassifier(9, weights=near).fit(FLOWERS, SPECIES)
    other = OtherClassifier(9, weights=near).fit(FLOWERS, SPECIES)
    np.testing.assert_allclose(own.predict_proba(places), other.predict_proba(places))
    np.testing.assert_array_equal(own.predict(places), other.predict(places))
    y = FLOWERS[:, :2]
    own = KNeighborsRegressor(9, weights=near).fit(FLOWERS, y)
    other = OtherRegressor(9, weights=near).fit(FLOWERS, y)
    np.testing.assert_allclose(own.predict(places), other.predict(places))
    with pytest.raises(ValueError, match="cannot be saved"):
        own.save(tmp_path / "model.learnt")
    with pytest.raises(ValueError, match="one number a distance"):
        KNeighborsRegressor(weights=lambda d: 1.0).fit(FLOWERS, y).predict(places)
