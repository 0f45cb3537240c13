"""Splitters: rows divided into training and test parts, wherever `cv=` is taken."""

import numbers

import numpy as np

from . import _native
from ._base import default_threads, seed_of
from ._functions import _encode


class Splitter:
    """What every splitter can do, as scikit-learn's."""

    _path = None
    _inputs = ()

    def split(self, X, y=None, groups=None):
        """Pairs of arrays: the numbers of the training and of the test rows."""
        params = {k: v for k, v in vars(self).items() if k != "random_state"}
        params["n_samples"] = _rows(X, y, groups)
        ranges = _RANGES.get(self._path, _no_ranges)(params["n_samples"], self)
        if ranges is not None:
            yield from ranges
            return
        given = {"y": y, "groups": groups}
        used = [None if given[name] is None else np.asarray(given[name]) for name in self._inputs]
        self._check(dict(zip(self._inputs, used)))
        codes, classes = _encode([array for array in used if array is not None])
        codes = iter(codes)
        inputs = [None if array is None else next(codes) for array in used]
        fixed = getattr(self, "shuffle", True) is False
        seed = 0 if fixed else seed_of(getattr(self, "random_state", 0))
        values, _ = _native.call(self._path, params, inputs, classes, seed, default_threads())
        for train, test in zip(*values):
            yield train, test

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many pairs there will be."""
        if hasattr(self, "n_splits"):
            return self.n_splits * getattr(self, "n_repeats", 1)
        if "groups" in self._inputs:
            self._check({"groups": groups})
            return len(np.unique(groups))
        return _rows(X, y, groups)

    @staticmethod
    def _check(given):
        for name, array in given.items():
            if array is None:
                raise ValueError(f"The '{name}' parameter should not be None.")
            if name == "y" and array.dtype.kind == "f" and np.any(array != np.floor(array)):
                raise ValueError("the target is continuous, and strata need classes")

    def __repr__(self):
        parts = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parts})"


def _whole(value, least):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= least


def _no_ranges(n, splitter):
    """None, as for parameters that only the native half refuses."""


def _consecutive(n, splitter):
    """Consecutive folds, one after the other."""
    folds = splitter.n_splits
    if splitter.shuffle is not False or not _whole(folds, 2) or folds > n:
        return None
    size, larger = divmod(n, folds)
    starts = [k * size + min(k, larger) for k in range(folds + 1)]
    rows = np.arange(n)
    return (
        (np.concatenate([rows[:start], rows[end:]]), np.arange(start, end))
        for start, end in zip(starts, starts[1:])
    )


def _in_time(n, splitter):
    """Test parts at the end, each trained on what came before it: views of the numbers of all rows."""
    folds, size = splitter.n_splits, splitter.test_size
    gap, most = splitter.gap, splitter.max_train_size
    if not _whole(folds, 2) or not _whole(gap, 0) or folds >= n:
        return None
    if not all(value is None or _whole(value, 1) for value in (size, most)):
        return None
    size = n // (folds + 1) if size is None else size
    tested = folds * size
    if tested + gap >= n:
        return None
    rows = np.arange(n)
    ends = [(test - gap, test) for test in range(n - tested, n, size)]
    return (
        (rows[0 if most is None else max(0, end - most) : end], rows[test : test + size])
        for end, test in ends
    )


_RANGES = {"model_selection.KFold": _consecutive, "model_selection.TimeSeriesSplit": _in_time}


def _rows(*given):
    for item in given:
        if item is not None:
            return item.shape[0] if hasattr(item, "shape") else len(item)
    raise ValueError("X, y or groups must be given")
