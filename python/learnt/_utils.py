"""Weights of classes and rows with scikit-learn's signatures."""

import numpy as np

from ._functions import call


def compute_class_weight(class_weight, *, classes, y, sample_weight=None):
    """A weight for each class, so that rare classes count as much as frequent ones.

    Parameters
    ----------
    class_weight : dict, "balanced", "median_frequency" or None
        Weights by class, or how they follow from the numbers of rows; None is 1 for each.
    classes : array
        The classes, in the order wanted.
    y : array of classes
        The class of each row.
    sample_weight : array of numbers, default=None
        How much each row counts.

    Returns
    -------
    array
        The weights, in the order of `classes`.
    """
    classes = np.asarray(classes)
    if class_weight is None or isinstance(class_weight, dict):
        given = class_weight or {}
        return np.array([float(given.get(c, 1.0)) for c in classes.tolist()])
    return call(
        "utils.class_weights",
        ("labels", "numbers"),
        (y, sample_weight),
        {"class_weight": class_weight, "classes": classes.tolist()},
        ("value",),
    )


def compute_sample_weight(class_weight, y, *, indices=None):
    """A weight for each row from its class.

    Parameters
    ----------
    class_weight : dict, "balanced", "median_frequency" or None
        Weights by class, or how they follow from the numbers of rows; None is 1 for each.
    y : array of classes
        The class of each row.
    indices : array of whole numbers, default=None
        Rows that count, perhaps several times; all by default.

    Returns
    -------
    array
        The weights of the rows.
    """
    y = np.asarray(y)
    counted = y if indices is None else y[np.asarray(indices)]
    classes = np.unique(counted)
    weights = compute_class_weight(class_weight, classes=classes, y=counted)
    known = dict(zip(classes.tolist(), weights))
    default = 0.0
    if isinstance(class_weight, dict):
        known, default = class_weight, 1.0
    elif class_weight is None:
        default = 1.0
    return np.array([float(known.get(c, default)) for c in y.tolist()])
