"""Splitters: rows divided into training and test parts, wherever `cv=` is taken."""

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


def _rows(*given):
    for item in given:
        if item is not None:
            return item.shape[0] if hasattr(item, "shape") else len(item)
    raise ValueError("X, y or groups must be given")
