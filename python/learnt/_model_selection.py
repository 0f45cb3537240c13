"""Functions of model selection that take anything with rows."""

import numpy as np

from ._compare import compare
from ._cross_validation import cross_val_predict, cross_val_score, cross_validate, rows_of, take
from ._decision import decide
from ._functions import call
from ._halving import HalvingGridSearchCV, HalvingRandomSearchCV
from ._parzen import ParzenSearchCV
from ._search import GridSearchCV, RandomizedSearchCV, one_standard_error
from ._splits import LeavePGroupsOut, LeavePOut, ParameterGrid, PredefinedSplit, check_cv

__all__ = [
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "LeavePGroupsOut",
    "LeavePOut",
    "ParameterGrid",
    "ParzenSearchCV",
    "PredefinedSplit",
    "RandomizedSearchCV",
    "check_cv",
    "compare",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "decide",
    "one_standard_error",
    "train_test_split",
]


def train_test_split(
    *arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None
):
    """Divides the rows of each array into training and test rows.

    Parameters
    ----------
    *arrays : arrays, lists, frames or sparse matrices
        All with the same number of rows.
    test_size : float, int or None, default=None
        Test rows as a share or a number; what training leaves, or a quarter.
    train_size : float, int or None, default=None
        Training rows as a share or a number; what testing leaves by default.
    random_state : default=None
        Seed of the random draws; None takes one from NumPy's global generator.
    shuffle : bool, default=True
        Draw at random; else the first rows are for training and the next for testing.
    stratify : array or None, default=None
        Classes whose shares both parts keep.

    Returns
    -------
    list
        The training and the test rows of each array in turn.
    """
    if not arrays:
        raise ValueError("At least one array required as input")
    lengths = [rows_of(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {lengths}; all arrays need as "
            "many rows"
        )
    if stratify is not None and getattr(stratify, "ndim", 1) == 2:
        # Several targets are classes together.
        stratify = np.array([" ".join(map(str, row)) for row in np.asarray(stratify).tolist()])
    sizes = {"test_size": test_size, "train_size": train_size, "validation_size": None}
    parts = call(
        "model_selection.train_test_rows",
        ("labels", "labels"),
        (stratify, None),
        {"n_samples": lengths[0], "shuffle": shuffle, **sizes},
        ("train", "test", "validation"),
        random_state=random_state if shuffle else 0,
    )
    return [take(array, rows) for array in arrays for rows in (parts.train, parts.test)]

