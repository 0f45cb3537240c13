"""Settings of clusterers that scikit-learn's have: given distances, graphs, first centres, weights of zero."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import cluster as other
from sklearn.neighbors import kneighbors_graph

from learnt.cluster import DBSCAN, HDBSCAN, OPTICS, AgglomerativeClustering, KMeans, MeanShift, MiniBatchKMeans

LINKAGES = ["ward", "complete", "average", "single"]


def rows(count=90, seed=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 2)) * 0.4 + np.array([[0, 0], [4, 0], [0, 4]])[np.arange(count) % 3]


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)


@pytest.mark.parametrize("cls", [DBSCAN, HDBSCAN, OPTICS])
def test_given_distances_have_the_clusters_of_the_rows(cls):
    X = rows()
    D = cdist(X, X)
    own = cls().fit(X)
    given = cls(metric="precomputed").fit(D)
    np.testing.assert_array_equal(own.labels_, given.labels_)
    theirs = getattr(other, cls.__name__)(metric="precomputed").fit(D.copy())
    assert same_partition(given.labels_, theirs.labels_)
    assert cls(metric="precomputed").__sklearn_tags__().input_tags.pairwise
    with pytest.raises(ValueError, match="square table of distances"):
        cls(metric="precomputed").fit(X)


@pytest.mark.parametrize("cls", [DBSCAN, HDBSCAN, OPTICS])
def test_a_function_of_two_rows_is_a_distance(cls):
    X = rows(45)
    by_name = cls(metric="manhattan").fit(X)
    by_function = cls(metric=lambda a, b, factor=2: factor / 2 * np.abs(a - b).sum(), metric_params={"factor": 2})
    np.testing.assert_array_equal(by_function.fit(X).labels_, by_name.labels_)
    assert by_function.n_features_in_ == 2


def test_centres_of_given_distances_are_refused_and_those_by_a_function_are_kept():
    X = rows()
    with pytest.raises(ValueError, match="Cannot store centers"):
        HDBSCAN(metric="precomputed", store_centers="medoid").fit(cdist(X, X))
    by_name = HDBSCAN(metric="manhattan", store_centers="both").fit(X)
    by_function = HDBSCAN(metric=lambda a, b: np.abs(a - b).sum(), store_centers="both").fit(X)
    np.testing.assert_array_equal(by_function.medoids_, by_name.medoids_)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_mergers_along_a_graph_are_those_of_scikit_learn(linkage):
    X = rows()
    graph = kneighbors_graph(X, 40, include_self=False)
    settings = {"n_clusters": 5, "linkage": linkage, "connectivity": graph, "compute_full_tree": True}
    own = AgglomerativeClustering(**settings, compute_distances=True).fit(X)
    theirs = other.AgglomerativeClustering(**settings, compute_distances=True).fit(X)
    np.testing.assert_allclose(own.distances_, theirs.distances_, rtol=1e-9)
    assert same_partition(own.labels_, theirs.labels_)
    assert own.n_connected_components_ == theirs.n_connected_components_ == 1
    dense = own.set_params(connectivity=graph.toarray()).fit(X).labels_
    pairs = own.set_params(connectivity=np.argwhere(graph.toarray())).fit(X).labels_
    function = own.set_params(connectivity=lambda X: kneighbors_graph(X, 40, include_self=False)).fit(X).labels_
    np.testing.assert_array_equal(dense, pairs)
    np.testing.assert_array_equal(dense, function)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(own.set_params(connectivity=graph).fit(X))).labels_, dense)


def test_parts_of_a_graph_are_joined_with_a_warning():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    graph = np.zeros((5, 5), dtype=int)
    graph[[0, 1, 3], [1, 2, 4]] = 1
    for metric, table in [("euclidean", X), ("precomputed", np.abs(X - X.T))]:
        learner = AgglomerativeClustering(2, metric=metric, linkage="average", connectivity=graph)
        with pytest.warns(UserWarning, match="number of connected components of the connectivity matrix is 2 > 1"):
            learner.fit(table)
        assert learner.labels_.tolist() == [0, 0, 0, 1, 1]
        assert learner.n_connected_components_ == 2
    with pytest.raises(ValueError, match="Wrong shape for connectivity matrix"):
        AgglomerativeClustering(connectivity=np.ones((4, 4))).fit(X)
    with pytest.raises(ValueError, match="with connectivity"):
        AgglomerativeClustering(connectivity=graph, linkage="median").fit(X)


@pytest.mark.parametrize("cls", [KMeans, MiniBatchKMeans])
def test_first_centres_may_come_from_a_function(cls):
    X = rows()

    def init(X, k, random_state):
        return X[random_state.permutation(len(X))[:k]]

    by_function = cls(3, init=init, random_state=3).fit(X)
    centres = init(X, 3, np.random.RandomState(3))
    np.testing.assert_array_equal(
        by_function.cluster_centers_, cls(3, init=centres, random_state=3).fit(X).cluster_centers_
    )
    with pytest.raises(ValueError, match="The shape of the initial centers"):
        cls(3, init=lambda X, k, random_state: X[:2]).fit(X)


def test_batches_are_counted_beside_passes():
    X = rows(300)
    model = MiniBatchKMeans(3, batch_size=20, random_state=0).fit(X)
    assert model.n_iter_ == np.ceil(model.n_steps_ * 20 / 300)
    assert model.get_feature_names_out()[0] == "minibatchkmeans0"
    assert KMeans(3, random_state=0).fit(X).get_feature_names_out()[0] == "kmeans0"


def test_rows_of_weight_zero_are_in_clusters_and_count_for_nobody():
    X = np.random.default_rng(0).normal(size=(80, 2))
    weights = np.random.default_rng(1).integers(0, 5, 80)
    own, theirs = (cls(eps=0.4).fit(X, sample_weight=weights) for cls in (DBSCAN, other.DBSCAN))
    np.testing.assert_array_equal(own.core_sample_indices_, theirs.core_sample_indices_)
    np.testing.assert_array_equal(own.components_, theirs.components_)
    np.testing.assert_array_equal(own.labels_, theirs.labels_)
    with pytest.raises(ValueError, match="weights"):
        DBSCAN().fit(X, sample_weight=np.zeros(80))


def test_climbs_begin_at_seeds_or_cells():
    X = rows()
    for settings in ({"seeds": X[:6]}, {"bin_seeding": True}, {"bin_seeding": True, "min_bin_freq": 3}):
        own = MeanShift(bandwidth=2.0, **settings).fit(X)
        theirs = other.MeanShift(bandwidth=2.0, **settings).fit(X)
        assert same_partition(own.labels_, theirs.labels_)
    with pytest.raises(ValueError, match="No point was within bandwidth"):
        MeanShift(bandwidth=0.1, seeds=[[-9, -9], [-10, -10]]).fit(X)


def test_valleys_larger_than_the_table_are_refused():
    with pytest.raises(ValueError, match="must be no greater than the number of samples"):
        OPTICS(min_cluster_size=91).fit(rows(90))
