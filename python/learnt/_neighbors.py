"""Distances and weights by functions of one's own, and neighbours under scikit-learn's names."""

import numbers

import numpy as np

from ._params import Parameters
from .errors import DataError, ParameterError, UnsupportedError, not_fitted


def distances_by(X, distance, Y=None):
    """All distances between rows by any function, for what takes ``metric="precomputed"``.

    `DBSCAN`, `AgglomerativeClustering`, `KMedoids`, `linkage` and others cluster by the result;
    `check_distances` tells which properties of a metric it violates.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The rows; of numbers, texts or any objects.
    distance : callable
        ``distance(a, b)`` gives the distance of two rows as a number.
    Y : array of shape (n_others, n_columns), default=None
        The rows to compare with; the same by default.

    Returns
    -------
    array of shape (n_rows, n_others)
        The distances. Of one table with itself, each pair is asked for in both orders.

    Examples
    --------
    >>> from learnt.neighbors import distances_by
    >>> distances_by([["a", "b"], ["a", "c"]], lambda a, b: (a != b).sum()).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    X = np.asarray(X)
    Y = X if Y is None else np.asarray(Y)
    if X.ndim < 1 or Y.ndim < 1 or X.shape[1:] != Y.shape[1:]:
        raise DataError(f"rows of shape {X.shape[1:]} have no distance to rows of shape {Y.shape[1:]}")
    out = np.empty((len(X), len(Y)))
    for i, a in enumerate(X):
        for j, b in enumerate(Y):
            out[i, j] = distance(a, b)
    if np.isnan(out).any():
        i, j = np.argwhere(np.isnan(out))[0]
        raise ParameterError(f"`distance` gave NaN for rows {i} and {j}")
    return out


class Neighborly:
    """A learner that remembers its rows, with the methods of scikit-learn's neighbours."""

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Distances and numbers of the nearest training rows, nearest first.

        Without `X`, those of every training row but itself.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, numbers.Integral) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        self._fitted()
        if X is None:
            if k >= self.n_samples_fit_:
                raise ValueError(
                    f"Expected n_neighbors < n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                    f"{self.n_samples_fit_}, n_samples = {self.n_samples_fit_}"
                )
            columns = self.ask("training_neighbors", k=int(k)).tables()[0]
        else:
            columns = self.ask("neighbors", X, k=int(k)).tables()[0]
        rows = np.asarray(columns["neighbor"]).astype(np.intp).reshape(-1, k)
        if not return_distance:
            return rows
        return np.asarray(columns["distance"], dtype=float).reshape(-1, k), rows

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The graph of nearest training rows, as a sparse matrix of SciPy's."""
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ValueError(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
            )
        distances, rows = self.kneighbors(X, n_neighbors)
        values = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return csr_matrix((values, rows.ravel(), starts), shape=(len(rows), self.n_samples_fit_))

    @property
    def effective_metric_params_(self):
        """The power of Minkowski's distance where it is neither 1 nor 2."""
        self._fitted()
        return {"p": self.p} if self.effective_metric_ == "minkowski" else {}

    def _fit(self, X, y=None, *args, **kwargs):
        super()._fit(X, y, *args, **kwargs)
        self.__dict__.pop("_own_targets", None)
        if callable(self.weights):
            if args and args[0] is not None:
                raise ParameterError("`sample_weight` needs weights with a name, not a function")
            y = np.asarray(y)
            known = self.__dict__.get("classes_")
            self._own_targets = y if known is None else np.searchsorted(known, y.ravel())
        return self

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        if callable(params.get("weights")):
            params["weights"] = "uniform"
        return params

    def _own_weights(self, X):
        """Neighbours of rows and what the function of the user's own says they count."""
        distances, rows = self.kneighbors(X)
        weights = np.asarray(self.weights(distances), dtype=float)
        if weights.shape != distances.shape:
            raise ParameterError(
                f"`weights` must give one number a distance, of shape {distances.shape}, and gave "
                f"{weights.shape}"
            )
        # Neighbours of infinite weight count alone, as rows at distance 0 do.
        endless = np.isinf(weights)
        alone = endless.any(axis=1)
        weights[alone] = endless[alone]
        if np.isnan(weights).any() or (weights < 0).any():
            raise ParameterError("`weights` must give numbers, none negative")
        return weights, rows

    def _predict(self, X):
        if "_own_targets" not in self.__dict__:
            return super()._predict(X)
        if "classifier" in self._roles():
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        weights, rows = self._own_weights(X)
        targets = self._own_targets.reshape(len(self._own_targets), -1)[rows]
        sums = weights.sum(axis=1, keepdims=True)
        if (sums == 0).any():
            raise ParameterError("`weights` are 0 for all neighbours of a row")
        values = (weights[:, :, None] * targets).sum(axis=1) / sums
        return values.ravel() if self._own_targets.ndim == 1 else values

    def _call(self, method, X, lengths=None):
        if method != "probabilities" or "_own_targets" not in self.__dict__:
            return super()._call(method, X, lengths)
        weights, rows = self._own_weights(X)
        codes = self._own_targets[rows]
        votes = np.stack([(weights * (codes == k)).sum(axis=1) for k in range(len(self.classes_))], axis=1)
        sums = votes.sum(axis=1, keepdims=True)
        if (sums == 0).any():
            raise ParameterError("`weights` are 0 for all neighbours of a row")
        return votes / sums

    def save(self, path):
        """Writes the fitted model to a file that `learnt.load` and the command line read."""
        if "_own_targets" in self.__dict__:
            raise UnsupportedError(
                "a function as `weights` cannot be saved; pickle the learner, or take weights with a name"
            )
        super().save(path)


class Surrounded:
    """A learner that remembers its rows, with scikit-learn's methods for those within a radius."""

    @property
    def effective_metric_params_(self):
        """The power of Minkowski's distance where it is neither 1 nor 2."""
        self._fitted()
        return {"p": self.p} if self.effective_metric_ == "minkowski" else {}

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """Distances and numbers of the training rows within the radius, one array for each row.

        Without `X`, those of every training row but itself. They come in the order of the rows, with
        `sort_results` the nearest first.
        """
        radius = self.radius if radius is None else radius
        return _radius_neighbors(self, X, radius, return_distance, sort_results)

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """The graph of training rows within the radius, as a sparse matrix of SciPy's."""
        radius = self.radius if radius is None else radius
        return _radius_graph(self, X, radius, mode, sort_results)


class NearestNeighbors(Parameters):
    """The nearest rows of a table, and those within a radius, without a target.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows `kneighbors` finds.
    radius : float, default=1.0
        How far `radius_neighbors` looks.
    algorithm, leaf_size
        Accepted: the index is chosen by the shape of the table and changes no answer.
    metric : str, default="minkowski"
        The distance, as in `KNeighborsClassifier`.
    p : float, default=2
        The power of Minkowski's distance.
    metric_params : None
        Accepted for scikit-learn's sake.
    n_jobs : int or None, default=None
        Number of threads; None means all. The result does not depend on it.

    Examples
    --------
    >>> from learnt.neighbors import NearestNeighbors
    >>> distances, rows = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]]).kneighbors([[0.9]])
    >>> rows.tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Remembers the rows; `y` is not used."""
        from .neighbors import KNeighborsRegressor

        if self.metric_params is not None:
            raise ParameterError("`metric_params` must be None; the power of Minkowski's distance is `p`")
        shared = {name: getattr(self, name) for name in ("algorithm", "leaf_size", "metric", "p", "n_jobs")}
        nearest = KNeighborsRegressor(n_neighbors=self.n_neighbors, **shared).fit(X, np.zeros(len(X)))
        self._nearest = nearest
        for name in ("n_features_in_", "feature_names_in_", "n_samples_fit_", "effective_metric_"):
            if hasattr(nearest, name):
                setattr(self, name, getattr(nearest, name))
        self.effective_metric_params_ = nearest.effective_metric_params_
        return self

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Distances and numbers of the nearest rows of the table, nearest first.

        Without `X`, those of every row of the table but itself.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        return self._fitted("_nearest").kneighbors(X, k, return_distance)

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The graph of nearest rows, as a sparse matrix of SciPy's."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        return self._fitted("_nearest").kneighbors_graph(X, k, mode)

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """Distances and numbers of the rows of the table within the radius, one array for each row."""
        radius = self.radius if radius is None else radius
        return _radius_neighbors(self._fitted("_nearest"), X, radius, return_distance, sort_results)

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """The graph of rows within the radius, as a sparse matrix of SciPy's."""
        radius = self.radius if radius is None else radius
        return _radius_graph(self._fitted("_nearest"), X, radius, mode, sort_results)

    def _fitted(self, part):
        if part not in self.__dict__:
            raise not_fitted(self)
        return self.__dict__[part]


def _within(learner, X, radius):
    """Rows and distances of all neighbours one row after the other, and where those of each row start."""
    if X is None:
        answer = learner.ask("training_within", radius=float(radius))
    else:
        answer = learner.ask("within", X, radius=float(radius))
    counts, found = answer.tables()
    starts = np.concatenate([[0], np.cumsum(np.asarray(counts["neighbors"], dtype=np.intp))])
    return starts, np.asarray(found["neighbor"], dtype=np.intp), np.asarray(found["distance"], dtype=float)


def _radius_neighbors(learner, X, radius, return_distance, sort_results):
    learner._fitted()
    if sort_results and not return_distance:
        raise ValueError("return_distance must be True if sort_results is True.")
    starts, rows, distances = _within(learner, X, radius)
    if sort_results:
        rows, distances = _nearest_first(starts, rows, distances)
    found = _ragged(rows, starts)
    return (_ragged(distances, starts), found) if return_distance else found


def _radius_graph(learner, X, radius, mode, sort_results):
    from scipy.sparse import csr_matrix

    if mode not in ("connectivity", "distance"):
        raise ValueError(
            f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
        )
    learner._fitted()
    starts, rows, distances = _within(learner, X, radius)
    if sort_results:
        rows, distances = _nearest_first(starts, rows, distances)
    values = distances if mode == "distance" else np.ones(len(rows))
    return csr_matrix((values, rows, starts), shape=(len(starts) - 1, learner.n_samples_fit_))


def _nearest_first(starts, rows, distances):
    order = np.lexsort((distances, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
    return rows[order], distances[order]


def _ragged(values, starts):
    """An array of arrays."""
    out = np.empty(len(starts) - 1, dtype=object)
    out[:] = [values[start:end] for start, end in zip(starts[:-1].tolist(), starts[1:].tolist())]
    return out
