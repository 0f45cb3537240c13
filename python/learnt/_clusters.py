"""What clusterers know beside their labels, under scikit-learn's names."""

import numpy as np

from . import _validation
from ._params import NO_TABLE
from ._sklearn import Scored
from .errors import ParameterError


class Inertia(Scored):
    """A clusterer with centres."""

    def score(self, X, y=None, sample_weight=None):
        """Minus the weighted sum of squared distances to the centres."""
        labels, centres = self.predict(X), self.cluster_centers_
        rows = _validation.read_table(X, estimator=type(self).__name__).values
        weights = _validation.read_weights(sample_weight, len(rows))
        squares = ((rows - centres[labels]) ** 2).sum(axis=1)
        return -float(squares.sum() if weights is None else squares @ weights)


class Measured:
    """A clusterer by distances: by name, given, or by a function of two rows."""

    def _fit(self, X, *args, **kwargs):
        if not callable(self.metric):
            return super()._fit(X, *args, **kwargs)
        table = _validation.read_table(X, estimator=type(self).__name__)
        super()._fit(self._distances(table.values), *args, **kwargs)
        self.n_features_in_ = table.values.shape[1]
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        return self

    def _distances(self, rows):
        from ._neighbors import distances_by
        from .metrics import pairwise_distances

        if not callable(self.metric):
            return np.asarray(pairwise_distances(rows, metric=self.metric, p=self.p))
        more = self.metric_params or {}
        return distances_by(rows, lambda a, b: self.metric(a, b, **more))

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        if callable(params["metric"]):
            params["metric"] = "precomputed"
        if params["p"] is None:
            del params["p"]
        return params

    def _metric_params(self, params):
        return {} if callable(self.metric) else super()._metric_params(params)


class Components(Measured):
    """A clusterer with core rows."""

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        rows = _validation.read_table(X, estimator=type(self).__name__).values
        if sample_weight is not None and not isinstance(sample_weight, str):
            # A row of weight zero adds nothing to its neighbours, and is a row of a cluster all the same.
            weights = _validation.read_weights(sample_weight, len(rows))
            if (weights > 0).any():
                sample_weight = np.where(weights == 0, np.finfo(float).tiny, weights)
        super()._fit(X, y, sample_weight, **kwargs)
        self.__dict__.pop("core_sample_indices_", None)
        if not hasattr(self, "core_sample_indices_"):
            # No row is a core.
            self.core_sample_indices_ = np.empty(0, dtype=np.intp)
        self.components_ = rows[self.core_sample_indices_]
        return self


class Connected:
    """A clusterer whose mergers may follow a graph."""

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        graph = params["connectivity"]
        if graph is None or table is None or table is NO_TABLE:
            return {**params, "connectivity": None}
        rows = np.asarray(table.values)
        graph = graph(rows) if callable(graph) else graph
        return {**params, "connectivity": _pairs(graph, rows.shape)}


def _pairs(graph, shape):
    """The pairs of different rows that a matrix has entries for; or pairs as they are given."""
    count = shape[0]
    if hasattr(graph, "tocoo"):
        found, graph = graph.shape, graph.tocoo()
        pairs = np.stack([graph.row, graph.col], axis=1)[graph.data != 0]
    else:
        graph = np.asarray(graph)
        found = graph.shape
        given = graph.ndim == 2 and found[1] == 2 and found != (count, count)
        pairs = graph if given else np.argwhere(graph)
        found = (count, count) if given else found
    if found != (count, count):
        raise ParameterError(
            f"Wrong shape for connectivity matrix: {found} when X is {shape}; give a matrix of {count} x {count}, "
            "or pairs of rows"
        )
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64), axis=1)
    return np.unique(pairs, axis=0).tolist()


class Begun:
    """A clusterer whose first centres may come from a function of the rows."""

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        if callable(params["init"]):
            known = table is not None and table is not NO_TABLE
            params["init"] = self._first_centres(table.values) if known else "k-means++"
        return params

    def _first_centres(self, rows):
        random = np.random.RandomState(self._seed() % 2**32)
        centres = np.asarray(self.init(rows, self.n_clusters, random_state=random), dtype=np.float64)
        wanted = (self.n_clusters, rows.shape[1])
        if centres.shape != wanted:
            raise ParameterError(
                f"The shape of the initial centers {centres.shape} does not match the number of clusters "
                f"{wanted[0]} and the number of features of the data {wanted[1]}: let `init` give an array of "
                f"{wanted[0]} x {wanted[1]}."
            )
        return centres


class Hierarchy:
    """A clusterer that keeps the tree of mergers."""

    def _fit(self, X, *args, **kwargs):
        if self.store_centers is not None and isinstance(self.metric, str) and self.metric == "precomputed":
            raise ParameterError(
                "Cannot store centers when using a precomputed distance matrix: fit the rows, or leave out "
                "`store_centers`."
            )
        super()._fit(X, *args, **kwargs)
        for name in ("centroids_", "medoids_"):
            self.__dict__.pop(name, None)
        if self.store_centers is not None:
            rows = _validation.read_table(X, estimator=type(self).__name__).values
            self._keep_centres(rows)
        return self

    def _keep_centres(self, rows):
        labels, strengths = self.labels_, self.probabilities_
        count = int(labels.max(initial=-1)) + 1
        centroids, medoids = np.empty((2, count, rows.shape[1]))
        for k in range(count):
            members = labels == k
            own, strength = rows[members], strengths[members]
            centroids[k] = np.average(own, weights=strength, axis=0)
            if self.store_centers != "centroid":
                distances = self._distances(own)
                medoids[k] = own[(distances * strength).sum(axis=1).argmin()]
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = centroids
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = medoids

    def dbscan_clustering(self, cut_distance, min_cluster_size=5):
        """The clusters of DBSCAN's rule without borders, at one height of the tree of mergers."""
        tree = np.asarray(self.single_linkage_tree_)
        count = len(tree) + 1
        parents = np.arange(2 * count - 1)
        for k, (a, b, height, _) in enumerate(tree):
            if height <= cut_distance:
                parents[[int(a), int(b)]] = count + k
        for node in range(2 * count - 3, -1, -1):
            parents[node] = parents[parents[node]]
        roots, first, places, sizes = np.unique(
            parents[:count], return_index=True, return_inverse=True, return_counts=True
        )
        kept = [root for root in np.argsort(first) if sizes[root] >= min_cluster_size]
        names = np.full(len(roots), -1)
        names[kept] = np.arange(len(kept))
        return names[places.ravel()]


class Shares:
    """A clusterer whose counts of rows may be shares of all rows."""

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        for name, usual in (("min_samples", 5), ("min_cluster_size", None)):
            value = params[name]
            if isinstance(value, (float, np.floating)):
                if not 0 < value <= 1:
                    raise ParameterError(f"`{name}` must be a count or a share in (0, 1], got {value!r}")
                known = table is not None and table is not NO_TABLE
                params[name] = max(2, int(value * len(table.values))) if known else usual
        return params


class Resumed:
    """A mixture whose fit may begin where the last one ended."""

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return params
        before = {
            "weights_init": self.weights_,
            "means_init": self.means_,
            "precisions_init": self.precisions_,
        }
        return {**params, **before, "n_init": 1}
