"""Classes by a threshold on a probability, or by what mistakes cost."""

import numpy as np

from . import _native
from .errors import ParameterError, UnsupportedError


def decide(estimator, X, *, pos_label=None, threshold=None, costs=None):
    """Classes of rows, decided otherwise than by `predict`: `learnt predict --threshold` and `--cost`.

    Parameters
    ----------
    estimator : fitted classifier
        Of this package or of another, with `classes_` and `predict_proba`.
    X : array or frame
        The rows.
    pos_label : class or None, default=None
        The positive class; the last of two, in sorted order, if None.
    threshold : float or None, default=None
        The positive class is predicted from this probability on, else the most probable of the others.
    costs : dict, array or None, default=None
        Rows get the class of least expected cost. `{"Yes": 5}` says what a row of that class costs where
        it is called another, `{("Yes", "No"): 5}` where it is called that one; other mistakes cost 1. An
        array has a row for each actual and a column for each predicted class.

    Returns
    -------
    array
        The class of each row.
    """
    if (threshold is None) == (costs is None):
        raise ParameterError("decide needs either `threshold` or `costs`")
    if not hasattr(estimator, "predict_proba"):
        raise UnsupportedError(f"{type(estimator).__name__} gives no probabilities to decide by")
    classes = np.asarray(estimator.classes_)
    found = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    place, table = place_of(classes, pos_label, "pos_label"), cost_table(classes, costs)
    return classes[_native.decide(classes.tolist(), found, place, threshold, table)]


def place_of(classes, label, name):
    """Where a class stands among all."""
    if label is None:
        return None
    found = np.flatnonzero(classes == label)
    if len(found) == 0:
        raise ParameterError(f"`{name}` must be one of {classes.tolist()}, got {label!r}")
    return int(found[0])


def cost_table(classes, costs):
    """Costs of mistakes as rows for actual and columns for predicted classes."""
    if costs is None:
        return None
    count = len(classes)
    if not isinstance(costs, dict):
        table = np.asarray(costs, dtype=np.float64)
        if table.shape != (count, count):
            raise ParameterError(f"`costs` must be {count} x {count} for the classes {classes.tolist()}")
        return table.tolist()
    table = 1.0 - np.eye(count)
    # What is said of one mistake counts more than what is said of a class.
    for key, cost in sorted(costs.items(), key=lambda item: isinstance(item[0], tuple)):
        pair = key if isinstance(key, tuple) else (key,)
        row, *called = [place_of(classes, label, "costs") for label in pair]
        table[row, called or [k for k in range(count) if k != row]] = float(cost)
    return table.tolist()
