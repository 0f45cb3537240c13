"""Cross-validation of any estimator with scikit-learn's contract: of this package or of another."""

import time
from contextlib import nullcontext

import numpy as np

from ._base import threads, threads_of
from ._foreign import clone, role_of
from ._scoring import scorers
from .errors import DataError, LearntWarning, ParameterError, warn


def cross_validate(
    estimator,
    X,
    y=None,
    *,
    groups=None,
    scoring=None,
    cv=None,
    n_jobs=None,
    verbose=0,
    params=None,
    pre_dispatch="2*n_jobs",
    return_train_score=False,
    return_estimator=False,
    return_indices=False,
    error_score=np.nan,
):
    """Fits an estimator on the training rows of every split and scores it on the test rows.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another with `fit` and `predict`.
    X : array, frame or sparse matrix
        The rows.
    y : array or None, default=None
        The target.
    groups : array or None, default=None
        The group of each row, for splitters that keep groups whole.
    scoring : str, callable, list, dict or None, default=None
        A metric by name (`accuracy`, `rmse`, scikit-learn's `neg_log_loss`), a function of
        (estimator, X, y), or several; None takes the estimator's own `score`.
    cv : int, splitter, iterable or None, default=None
        Number of folds (5 if None; stratified for classifiers), or what makes the splits.
    n_jobs : int or None, default=None
        Threads of each fit; None means all.
    verbose, pre_dispatch
        Taken for scikit-learn's sake; nothing is printed and folds are fitted one after the other.
    params : dict or None, default=None
        More arguments of `fit`; those with a value for each row are split with the rows.
    return_train_score, return_estimator, return_indices : bool, default=False
        Whether to score the training rows, and to give the fitted estimators and the rows of splits.
    error_score : float or "raise", default=nan
        The score of a fit that failed.

    Returns
    -------
    dict
        Arrays by name, one entry a split: `fit_time`, `score_time`, `test_score` (or `test_NAME`), and
        what else was asked for.
    """
    named, several = scorers(scoring)
    splits = list(splits_of(estimator, X, y, groups, cv))
    out = {"fit_time": [], "score_time": []}
    fitted, found = [], []
    for train, test in splits:
        with _threads(n_jobs):
            start = time.perf_counter()
            model, failure = _try_fit(estimator, X, y, train, params, error_score)
            fit_time = time.perf_counter() - start
            rows = rows_for(estimator, X, test, train), take(y, test)
            scores = _score(named, model, *rows, error_score, callable(scoring))
            out["fit_time"].append(fit_time)
            out["score_time"].append(time.perf_counter() - start - fit_time)
            if return_train_score:
                rows = rows_for(estimator, X, train, train), take(y, train)
                more = _score(named, model, *rows, error_score, callable(scoring))
        found.append((scores, more if return_train_score else {}))
        fitted.append((model, failure))
    failures = [failure for _, failure in fitted if failure is not None]
    if failures:
        message = f"{len(failures)} of {len(splits)} fits failed: {failures[0]}"
        if len(failures) == len(splits):
            raise ValueError(f"all the {message}") from failures[0]
        warn(message, LearntWarning)
    out = {name: np.array(values) for name, values in out.items()}
    # A function may give several scores by name; a split without a model has none of them.
    names = list(dict.fromkeys(name for scores, _ in found for name in scores))
    names = [name for name in names if name not in named or all(name in scores for scores, _ in found)]
    for name in names:
        out[f"test_{name}"] = np.array([scores.get(name, error_score) for scores, _ in found])
        if return_train_score:
            out[f"train_{name}"] = np.array([more.get(name, error_score) for _, more in found])
    if return_estimator:
        out["estimator"] = [model for model, _ in fitted]
    if return_indices:
        train, test = zip(*splits)
        out["indices"] = {"train": train, "test": test}
    return out


def cross_val_score(
    estimator,
    X,
    y=None,
    *,
    groups=None,
    scoring=None,
    cv=None,
    n_jobs=None,
    verbose=0,
    params=None,
    pre_dispatch="2*n_jobs",
    error_score=np.nan,
):
    """The score of an estimator in every split: `test_score` of `cross_validate`."""
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ParameterError("`scoring` must be one metric; cross_validate takes several")
    found = cross_validate(
        estimator, X, y, groups=groups, scoring=scoring, cv=cv, n_jobs=n_jobs, params=params,
        error_score=error_score,
    )  # fmt: skip
    if "test_score" not in found:
        raise ParameterError("`scoring` must give one score; cross_validate takes several")
    return found["test_score"]


def cross_val_predict(
    estimator,
    X,
    y=None,
    *,
    groups=None,
    cv=None,
    n_jobs=None,
    verbose=0,
    params=None,
    pre_dispatch="2*n_jobs",
    method="predict",
):
    """The prediction for each row by the estimator that did not see it.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch
        As in `cross_validate`; every row must be tested exactly once.
    method : str, default="predict"
        What is asked of the estimator: `predict`, `predict_proba`, `predict_log_proba` or
        `decision_function`. Columns are the classes of all rows, sorted; a class that a split lacks
        has the probability 0 and the least score.

    Returns
    -------
    array
        The predictions, in the order of the rows.
    """
    count = rows_of(X)
    splits = list(splits_of(estimator, X, y, groups, cv))
    tested = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(tested), np.arange(count)):
        raise ValueError("cross_val_predict only works for partitions: test each row once")
    classes = None
    if method != "predict" and role_of(estimator) == "classifier":
        classes = np.unique(np.asarray(y))
    parts = []
    for train, test in splits:
        with _threads(n_jobs):
            model = _fit(estimator, X, y, train, params)
            found = np.asarray(getattr(model, method)(rows_for(estimator, X, test, train)))
        if classes is not None:
            found = _all_classes(found, np.asarray(model.classes_), classes, method)
        parts.append(found)
    order = np.empty(count, dtype=np.int64)
    order[tested] = np.arange(count)
    return np.concatenate(parts)[order]


def _all_classes(found, own, classes, method):
    """Columns for all classes, where the training rows of a split lacked some."""
    if len(own) == len(classes):
        return found
    if found.ndim == 1:
        raise DataError(
            f"a split has only the classes {own.tolist()} of {classes.tolist()}; stratify the splits"
        )
    least = 0.0 if method == "predict_proba" else np.finfo(found.dtype).min
    wide = np.full((len(found), len(classes)), least, dtype=found.dtype)
    wide[:, np.searchsorted(classes, own)] = found
    return wide


def splits_of(estimator, X, y, groups, cv):
    """Pairs of training and test rows from a number of folds, a splitter or an iterable."""
    from .model_selection import KFold, StratifiedKFold

    if cv is None or isinstance(cv, (int, np.integer)):
        folds = 5 if cv is None else int(cv)
        stratified = y is not None and role_of(estimator) == "classifier"
        cv = (StratifiedKFold if stratified else KFold)(folds)
    if hasattr(cv, "split"):
        return cv.split(X, y, groups)
    if isinstance(cv, str) or not hasattr(cv, "__iter__"):
        raise ParameterError(f"`cv` must be a number of folds, a splitter or splits, got {cv!r}")
    return ((np.asarray(train), np.asarray(test)) for train, test in cv)


def rows_of(array):
    """How many rows an array, list or frame has."""
    return array.shape[0] if hasattr(array, "shape") else len(array)


def take(array, rows):
    """These rows, in the same kind of container."""
    if array is None:
        return None
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if hasattr(array, "tocsr"):
        return array.tocsr()[rows]
    if hasattr(array, "shape"):
        return array[rows]
    return [array[i] for i in rows]


def rows_for(estimator, X, rows, train):
    """Rows for an estimator; of tables of distances or kernels, their columns are the training rows."""
    part = take(X, rows)
    if not _is_pairwise(estimator):
        return part
    return part.iloc[:, train] if hasattr(part, "iloc") else np.asarray(part)[:, train]


def _is_pairwise(estimator):
    if hasattr(estimator, "_path"):
        metric = getattr(estimator, "metric", None)
        return isinstance(metric, str) and metric == "precomputed"
    if not hasattr(estimator, "__sklearn_tags__"):
        return False
    return bool(estimator.__sklearn_tags__().input_tags.pairwise)


def _threads(n_jobs):
    return nullcontext() if n_jobs is None else threads(threads_of(n_jobs))


def _fit(estimator, X, y, train, params):
    count = rows_of(X)
    each = {
        name: take(value, train) if np.ndim(value) > 0 and rows_of(value) == count else value
        for name, value in (params or {}).items()
    }
    model, rows = clone(estimator), rows_for(estimator, X, train, train)
    if y is None:
        return model.fit(rows, **each)
    return model.fit(rows, take(y, train), **each)


def _try_fit(estimator, X, y, train, params, error_score):
    """The fitted copy, or why there is none."""
    if error_score == "raise":
        return _fit(estimator, X, y, train, params), None
    try:
        return _fit(estimator, X, y, train, params), None
    except Exception as error:  # noqa: BLE001 - whatever a learner of another package raises
        return None, error


def _score(named, model, X, y, error_score, several=False):
    """Every score of a fitted model; with `several`, a function may give a dictionary of them."""
    if model is None:
        return dict.fromkeys(named, error_score)
    arguments = (X,) if y is None else (X, y)
    scores = {}
    for name, scorer in named.items():
        try:
            found = scorer(model, *arguments)
            if several and isinstance(found, dict):
                scores.update({key: float(value) for key, value in found.items()})
            else:
                scores[name] = float(found)
        except Exception as error:
            if error_score == "raise":
                raise
            warn(f"{name} has no value in a split: {error}", LearntWarning)
            scores[name] = error_score
    return scores
