"""Splits and settings that are lists: given folds, all choices of rows or groups, grids."""

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from ._splitters import _rows


class _Listed:
    """A splitter whose test rows are listed."""

    def split(self, X=None, y=None, groups=None):
        """Pairs of arrays: the numbers of the training and of the test rows."""
        rows = np.arange(self._count(X, y, groups))
        for test in self._tests(X, y, groups):
            held = np.zeros(len(rows), dtype=bool)
            held[test] = True
            yield rows[~held], rows[held]

    def _count(self, X, y, groups):
        return _rows(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many pairs there will be."""
        return sum(1 for _ in self._tests(X, y, groups))

    def __repr__(self):
        parts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parts})"


class PredefinedSplit(_Listed):
    """Folds that are given.

    Parameters
    ----------
    test_fold : array of whole numbers
        The fold in which each row is tested; -1 is none.

    Examples
    --------
    >>> from learnt.model_selection import PredefinedSplit
    >>> [test.tolist() for _, test in PredefinedSplit([0, 1, -1, 1]).split()]
    [[0], [1, 3]]
    """

    def __init__(self, test_fold):
        self.test_fold = np.asarray(test_fold, dtype=int).ravel()

    def _count(self, X, y, groups):
        return len(self.test_fold)

    def _tests(self, X=None, y=None, groups=None):
        folds = np.unique(self.test_fold)
        return [np.flatnonzero(self.test_fold == fold) for fold in folds[folds != -1]]


class LeavePOut(_Listed):
    """Every choice of so many rows is tested once.

    Parameters
    ----------
    p : int
        How many rows are tested together.

    Examples
    --------
    >>> from learnt.model_selection import LeavePOut
    >>> LeavePOut(2).get_n_splits([[0], [1], [2], [3]])
    6
    """

    def __init__(self, p):
        self.p = p

    def _tests(self, X=None, y=None, groups=None):
        count = _rows(X, y, groups)
        if count <= self.p:
            raise ValueError(f"p={self.p} must be strictly less than the number of samples={count}")
        return (list(rows) for rows in combinations(range(count), self.p))


class LeavePGroupsOut(_Listed):
    """Every choice of so many groups is tested once.

    Parameters
    ----------
    n_groups : int
        How many groups are tested together.

    Examples
    --------
    >>> from learnt.model_selection import LeavePGroupsOut
    >>> LeavePGroupsOut(2).get_n_splits(groups=[1, 1, 2, 3])
    3
    """

    def __init__(self, n_groups):
        self.n_groups = n_groups

    def _tests(self, X=None, y=None, groups=None):
        if groups is None:
            raise ValueError("The 'groups' parameter should not be None.")
        groups = np.asarray(groups)
        different = np.unique(groups)
        if self.n_groups >= len(different):
            raise ValueError(
                f"The groups parameter contains fewer than (or equal to) n_groups ({self.n_groups}) "
                f"numbers of unique groups ({different}). LeavePGroupsOut expects that at least n_groups + "
                f"1 ({self.n_groups + 1}) unique groups be present"
            )
        return (np.flatnonzero(np.isin(groups, some)) for some in combinations(different, self.n_groups))


class _Splits:
    """Pairs of rows as a splitter."""

    def __init__(self, pairs):
        self.pairs = [(np.asarray(train), np.asarray(test)) for train, test in pairs]

    def split(self, X=None, y=None, groups=None):
        """The pairs that were given."""
        yield from self.pairs

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many they are."""
        return len(self.pairs)


def check_cv(cv=5, y=None, *, classifier=False):
    """A splitter from a number of folds, a splitter or pairs of rows.

    Parameters
    ----------
    cv : int, splitter, iterable or None, default=5
        What `cv=` takes; None is 5 folds.
    y : array or None, default=None
        The target.
    classifier : bool, default=False
        Whether folds keep the shares of the classes of `y`.

    Returns
    -------
    splitter

    Examples
    --------
    >>> from learnt.model_selection import check_cv
    >>> check_cv(3, [0, 1, 0], classifier=True)
    StratifiedKFold(n_splits=3, shuffle=False, random_state=None)
    """
    from .model_selection import KFold, StratifiedKFold

    cv = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)):
        values = None if y is None else np.asarray(y)
        strata = classifier and values is not None and values.ndim == 1
        if strata and values.dtype.kind == "f":
            strata = bool(np.all(values == np.floor(values)))
        return (StratifiedKFold if strata else KFold)(int(cv))
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    if isinstance(cv, str) or not hasattr(cv, "__iter__"):
        raise ValueError(
            "Expected `cv` as an integer, a cross-validation object (from sklearn.model_selection), or "
            f"an iterable yielding (train, test) splits as arrays of indices. Got {cv}."
        )
    return _Splits(cv)


class ParameterGrid:
    """All combinations of the values of parameters.

    Parameters
    ----------
    param_grid : dict or list of dict
        Values by name; of several dictionaries, the combinations of each in turn.

    Examples
    --------
    >>> from learnt.model_selection import ParameterGrid
    >>> list(ParameterGrid({"a": [1, 2], "b": [True]}))
    [{'a': 1, 'b': True}, {'a': 2, 'b': True}]
    """

    def __init__(self, param_grid):
        if not isinstance(param_grid, (Mapping, list, tuple)):
            raise TypeError(f"Parameter grid should be a dict or a list, got: {param_grid!r} of type "
                            f"{type(param_grid).__name__}")  # fmt: skip
        self.param_grid = [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
        for grid in self.param_grid:
            if not isinstance(grid, dict):
                raise TypeError(f"Parameter grid is not a dict ({grid!r})")
            for name, values in grid.items():
                self._check(name, values)

    @staticmethod
    def _check(name, values):
        if isinstance(values, np.ndarray) and values.ndim > 1:
            raise ValueError(f"Parameter array for {name!r} should be one-dimensional, got: {values!r} "
                             f"with shape {values.shape}")  # fmt: skip
        if isinstance(values, str) or not isinstance(values, (np.ndarray, list, tuple, range)):
            raise TypeError(
                f"Parameter grid for parameter {name!r} needs to be a list or a numpy array, but got "
                f"{values!r} (of type {type(values).__name__}) instead. Single values need to be wrapped "
                "in a list with one element."
            )
        if len(values) == 0:
            raise ValueError(
                f"Parameter grid for parameter {name!r} need to be a non-empty sequence, got: {values!r}"
            )

    def __iter__(self):
        for grid in self.param_grid:
            names = sorted(grid)
            for values in product(*(grid[name] for name in names)):
                yield dict(zip(names, values))

    def __len__(self):
        return sum(int(np.prod([len(v) for v in grid.values()])) if grid else 1 for grid in self.param_grid)

    def __getitem__(self, place):
        for k, setting in enumerate(self):
            if k == place:
                return setting
        raise IndexError("ParameterGrid index out of range")
