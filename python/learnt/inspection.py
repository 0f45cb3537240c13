"""What any fitted estimator pays attention to: of this package or of another with scikit-learn's contract.

Models of trees answer more questions, and faster, with their own methods (`partial_dependence`,
`contributions`, `accumulated_effects` ...).
"""

import numbers

import numpy as np

from ._base import seed_of, threads, threads_of
from ._compose import Bunch
from ._cross_validation import rows_of, take
from ._foreign import role_of
from ._scoring import scorers
from .errors import DataError, ParameterError

__all__ = ["partial_dependence", "permutation_importance"]


def permutation_importance(
    estimator,
    X,
    y,
    *,
    scoring=None,
    n_repeats=5,
    n_jobs=None,
    random_state=None,
    sample_weight=None,
    max_samples=1.0,
):
    """How much the score of a fitted estimator falls when the values of a column are shuffled.

    Parameters
    ----------
    estimator : fitted estimator
        Of this package or of another.
    X : array or frame
        The rows, of training or better of none.
    y : array or None
        The target.
    scoring : str, callable, list, dict or None, default=None
        As in `model_selection.cross_validate`.
    n_repeats : int, default=5
        How often each column is shuffled.
    n_jobs : int or None, default=None
        Threads of each prediction; None means all.
    random_state : int, generator of NumPy's or None, default=None
        Seed of the shuffles. Each column has draws of its own, so the order of columns has no part.
    sample_weight : array or None, default=None
        Row weights, for scores that take them.
    max_samples : int or float, default=1.0
        Rows that each shuffle looks at: a number, or a share of all.

    Returns
    -------
    Bunch
        `importances` (columns times repeats), `importances_mean` and `importances_std`; with several
        scores one of these for each name.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inspection import permutation_importance
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> model = LinearRegression().fit(X, X[:, 0])
    >>> found = permutation_importance(model, X, X[:, 0], random_state=0)
    >>> bool(found.importances_mean[0] > 0.1), bool(abs(found.importances_mean[1]) < 1e-9)
    (True, True)
    """
    if not isinstance(n_repeats, numbers.Integral) or n_repeats < 1:
        raise ParameterError(f"`n_repeats` must be a whole number >= 1, got {n_repeats!r}")
    X = X if hasattr(X, "shape") else np.asarray(X)
    rows, seed = rows_of(X), seed_of(random_state)
    size = _rows_wanted(max_samples, rows)
    extra = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
    named, several = _named_scorers(scoring, estimator, X, y, extra)
    with threads(threads_of(n_jobs) or threads_of(-1)):
        whole = {name: _score(scorer, estimator, X, y, extra) for name, scorer in named.items()}
        falls = {name: np.empty((X.shape[1], n_repeats)) for name in named}
        for column in range(X.shape[1]):
            rng = np.random.default_rng([seed, column])
            some = rng.choice(rows, size, replace=False) if size < rows else None
            held, target = (X, y) if some is None else (take(X, some), take(y, some))
            weights = {k: v if some is None else v[some] for k, v in extra.items()}
            for repeat in range(n_repeats):
                shuffled = _with_column(held, column, rng.permutation(rows_of(held)))
                for name, scorer in named.items():
                    score = _score(scorer, estimator, shuffled, target, weights)
                    falls[name][column, repeat] = whole[name] - score
    found = {name: _summary(fall) for name, fall in falls.items()}
    return Bunch(found) if several else found["score"]


def _rows_wanted(max_samples, rows):
    if isinstance(max_samples, numbers.Integral):
        if not 1 <= max_samples <= rows:
            raise ParameterError("max_samples must be <= n_samples and >= 1")
        return int(max_samples)
    if not 0 < max_samples <= 1:
        raise ParameterError(f"`max_samples` must be a share in (0, 1] or a count, got {max_samples!r}")
    return max(1, int(max_samples * rows))


def _named_scorers(scoring, estimator, X, y, extra):
    """Scorers by name, and whether there are several; a function may give several scores by name."""
    named, several = scorers(scoring)
    found = _asked(scoring, estimator, X, y, extra) if callable(scoring) else None
    if not isinstance(found, dict):
        return named, several

    def one(name):
        return lambda *rows, **more: scoring(*rows, **more)[name]

    return {name: one(name) for name in found}, True


def _asked(scorer, estimator, X, y, extra):
    return scorer(estimator, X, **extra) if y is None else scorer(estimator, X, y, **extra)


def _score(scorer, estimator, X, y, extra):
    return float(_asked(scorer, estimator, X, y, extra))


def _summary(falls):
    mean, deviation = falls.mean(axis=1), falls.std(axis=1)
    return Bunch(importances_mean=mean, importances_std=deviation, importances=falls)


def _with_column(X, column, order):
    """A copy of the rows with one column in another order."""
    if hasattr(X, "iloc"):
        values = X.iloc[order, column]
        values.index = X.index
        return X.assign(**{X.columns[column]: values}) if _text(X) else _replaced(X, column, values)
    if hasattr(X, "with_columns"):
        name = X.columns[column]
        return X.with_columns(X[name][order.tolist()].alias(name))
    out = np.array(X)
    out[:, column] = out[order, column]
    return out


def _text(X):
    return all(isinstance(name, str) for name in X.columns)


def _replaced(X, column, values):
    out = X.copy()
    out[X.columns[column]] = values
    return out


def partial_dependence(
    estimator,
    X,
    features,
    *,
    sample_weight=None,
    categorical_features=None,
    feature_names=None,
    response_method="auto",
    percentiles=(0.05, 0.95),
    grid_resolution=100,
    custom_values=None,
    method="auto",
    kind="average",
):
    """The mean prediction of a fitted estimator over rows in which some columns have given values.

    Parameters
    ----------
    estimator : fitted estimator
        A classifier or regressor of this package or of another.
    X : array or frame
        The rows that predictions are averaged over.
    features : int, str, list of these or mask
        The columns: places, names, or True for each column that is meant.
    sample_weight : array or None, default=None
        How much each row counts in the mean.
    categorical_features : list or None, default=None
        Columns (places, names or a mask) whose every value is tried.
    feature_names : list of str or None, default=None
        Names of the columns; those of the frame by default.
    response_method : "auto", "predict_proba" or "decision_function", default="auto"
        What classifiers are asked; "auto" is probabilities where there are any.
    percentiles : pair of numbers, default=(0.05, 0.95)
        Where the values of a column begin and end, as shares of its rows.
    grid_resolution : int, default=100
        How many values of a column are tried.
    custom_values : dict or None, default=None
        Values of one's own by column.
    method : "auto" or "brute", default="auto"
        Predictions of all rows at every value; `tree_dependence` of a model of trees walks its trees.
    kind : "average", "individual" or "both", default="average"
        The mean over rows, the curve of each row, or both.

    Returns
    -------
    Bunch
        `grid_values`, and `average` (outputs times values) or `individual` (outputs times rows times
        values) or both.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.inspection import partial_dependence
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> model = LinearRegression().fit(X, 2 * X[:, 0])
    >>> partial_dependence(model, X, [0])["average"].round(6).tolist()
    [[0.0, 2.0, 4.0, 6.0]]
    """
    _check(estimator, method, kind, response_method)
    X = X if hasattr(X, "shape") else np.asarray(X)
    names = list(getattr(X, "columns", range(X.shape[1]))) if feature_names is None else list(feature_names)
    alone = isinstance(features, (str, numbers.Integral))
    places = _places([features] if alone else features, names, "features")
    every = set(_places([] if categorical_features is None else categorical_features, names, "categorical_features"))
    custom = {_place(k, names): v for k, v in (custom_values or {}).items()}
    grids = []
    for j in places:
        given = custom.get(j)
        grids.append(_grid(_column(X, j), percentiles, grid_resolution, j in every) if given is None else np.asarray(given))
    points = [point.ravel() for point in np.meshgrid(*grids, indexing="ij")]
    ask = _asks(estimator, response_method)
    curves = np.stack([ask(_filled(X, places, values)) for values in zip(*points)], axis=-1)
    shape = [len(grid) for grid in grids]
    out = Bunch(grid_values=grids)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if kind in ("average", "both"):
        out["average"] = np.average(curves, axis=1, weights=weights).reshape(-1, *shape)
    if kind in ("individual", "both"):
        out["individual"] = curves.reshape(*curves.shape[:2], *shape)
    return out


def _check(estimator, method, kind, response_method):
    if role_of(estimator) not in ("classifier", "regressor"):
        raise ValueError("'estimator' must be a fitted regressor or classifier.")
    if method not in ("auto", "brute"):
        raise ParameterError(f"`method` must be 'auto' or 'brute', got {method!r} (see `tree_dependence`)")
    if kind not in ("average", "individual", "both"):
        raise ParameterError(f"`kind` must be 'average', 'individual' or 'both', got {kind!r}")
    if response_method not in ("auto", "predict_proba", "decision_function"):
        raise ParameterError(f"`response_method` is no method of classifiers: {response_method!r}")
    if role_of(estimator) == "regressor" and response_method != "auto":
        raise ValueError("The response_method parameter is ignored for regressors and must be 'auto'.")


def _place(feature, names):
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"Feature {feature!r} not in feature_names")
        return names.index(feature)
    if not -len(names) <= feature < len(names) or feature < 0:
        raise ValueError(f"all features must be in [0, {len(names) - 1}]")
    return int(feature)


def _places(wanted, names, what):
    """The places of columns from places, names or a mask."""
    if len(wanted) and all(isinstance(flag, (bool, np.bool_)) for flag in wanted):
        if len(wanted) != len(names):
            raise ValueError(
                f"When `{what}` is a boolean array-like, the array should be of shape (n_features,). "
                f"Got {len(wanted)} elements while `X` contains {len(names)} features."
            )
        return [j for j, flag in enumerate(wanted) if flag]
    return [_place(feature, names) for feature in wanted]


def _column(X, j):
    if hasattr(X, "iloc"):
        return X.iloc[:, j].to_numpy()
    return X[:, j].to_numpy() if hasattr(X, "with_columns") else np.asarray(X)[:, j]


def _grid(values, percentiles, count, every):
    """All values of a column where there are few, else equal steps between two quantiles."""
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ValueError("percentiles[0] must be strictly less than percentiles[1], both in [0, 1]")
    if count <= 1:
        raise ValueError("'grid_resolution' must be strictly greater than 1.")
    known = values[~np.array([value != value for value in values], dtype=bool)]
    different = np.unique(known)
    if every or len(different) < count:
        return different
    if different.dtype.kind not in "biuf":
        raise DataError("a column of texts with many levels: name it in categorical_features")
    ends = [_quantile(np.sort(known.astype(float)), share) for share in (low, high)]
    if np.allclose(*ends):
        raise ValueError(
            "percentiles are too close to each other, unable to build the grid. Please choose "
            "percentiles that are further apart."
        )
    return np.linspace(*ends, num=count, endpoint=True)


def _quantile(ordered, share):
    """Cunnane's quantile of sorted values."""
    place = len(ordered) * share + 0.4 + 0.2 * share
    k = int(np.clip(place, 1, len(ordered) - 1))
    part = np.clip(place - k, 0.0, 1.0)
    return (1 - part) * ordered[k - 1] + part * ordered[k]


def _asks(estimator, response_method):
    """Outputs times rows of what an estimator says; of two classes the second."""
    if role_of(estimator) == "regressor":
        way = "predict"
    elif response_method == "auto":
        way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    else:
        way = response_method
    if not hasattr(estimator, way):
        raise ValueError(f"The estimator has no {way} method.")

    def ask(X):
        found = np.asarray(getattr(estimator, way)(X), dtype=float)
        found = found.reshape(len(found), -1)
        return found[:, 1:].T if way == "predict_proba" and found.shape[1] == 2 else found.T

    return ask


def _filled(X, places, values):
    """A copy of the rows with the same value in each row of some columns."""
    if hasattr(X, "with_columns"):
        import polars

        return X.with_columns(**{X.columns[j]: polars.lit(v) for j, v in zip(places, values)})
    if hasattr(X, "iloc"):
        out = X.copy()
        for j, value in zip(places, values):
            out[X.columns[j]] = value
        return out
    # Steps between whole numbers are no whole numbers.
    out = np.array(X, dtype=float if np.asarray(X).dtype.kind in "biu" else None)
    out[:, places] = values
    return out
