"""Cross-validation and search on an engine: a task a setting and split, and nothing to merge but scores.

Every worker holds the whole table, so it must fit one; where it is files, each reads them itself.
"""

import os
import pickle

import numpy as np

from .. import _cross_validation
from .._search import _Engine
from ._drive import answers_of
from ._worker import _PYTHON as MARK


def dumped(value):
    """Bytes of a value; functions of a script too, where an engine's own pickler is there."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(value, protocol=5)
    return cloudpickle.dumps(value, protocol=5)


def table_of(X, y):
    """Rows and target, read from files if they are files."""
    if not isinstance(X, (str, os.PathLike)):
        return X, y
    import pyarrow.dataset as dataset

    frame = dataset.dataset(os.fspath(X)).to_table().to_pandas()
    return frame.drop(columns=y), frame[y]


def mapped(runner, shared, items):
    """What the shared worker gives for every item, in their order."""
    job = MARK + dumped(shared)
    tasks = [dumped(item) for item in items]
    options = {"keep": 0, "threads": runner.threads}
    return [pickle.loads(answer) for answer in answers_of(runner, job, b"", tasks, options)]


class Splits:
    """A worker that cross-validates on one split."""

    def __init__(self, estimator, X, y, arguments):
        self.estimator, self.X, self.y, self.arguments = estimator, X, y, arguments

    def open(self):
        """Reads the table, once a process."""
        self.X, self.y = table_of(self.X, self.y)
        return self

    def __call__(self, split):
        return _cross_validation.cross_validate(
            self.estimator, self.X, self.y, cv=[split], **self.arguments
        )


def cross_validate(runner, estimator, X, y, groups, cv, arguments):
    """`cross_validate` with a task a split."""
    rows, target = table_of(X, y)
    splits = list(_cross_validation.splits_of(estimator, rows, target, groups, cv))
    parts = mapped(runner, Splits(estimator, X, y, arguments), splits)
    out = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        if name == "indices":
            out[name] = {k: tuple(v for value in values for v in value[k]) for k in values[0]}
        elif name == "estimator":
            out[name] = [model for value in values for model in value]
        else:
            out[name] = np.concatenate(values)
    return out


class Settings:
    """A worker that scores one setting on one split, as a search does."""

    def __init__(self, search, X, y, params):
        self.search, self.X, self.y, self.params = search, X, y, params

    def open(self):
        """Reads the table, once a process."""
        X, y = table_of(self.X, self.y)
        self.engine = _Engine(self.search, X, y, None, self.params)
        return self

    def __call__(self, item):
        learner, native, split = item
        way = self.engine._natively if native else self.engine._in_python
        (cell,) = way([learner], [split])
        return cell


class Spread(_Engine):
    """Settings on splits, each on a worker."""

    def __init__(self, runner, search, X, y, groups, params):
        super().__init__(search, X, y, groups, params)
        alone = type(search)(**search.get_params(deep=False))
        alone.cv = []
        self.runner, self.shared = runner, Settings(alone, X, y, params)

    def _natively(self, learners, splits):
        return self._spread(learners, splits, True)

    def _in_python(self, learners, splits):
        return self._spread(learners, splits, False)

    def _spread(self, learners, splits, native):
        items = [(learner, native, split) for learner in learners for split in splits]
        cells = mapped(self.runner, self.shared, items)
        count = len(splits)
        out = [_joined(cells[k : k + count]) for k in range(0, len(cells), count)]
        self.failures += [reason for cell in out for reason in cell[4] if reason is not None]
        return out


def _joined(cells):
    """The cells of one setting on all splits as one."""

    def by_name(parts):
        first = parts[0]
        return {
            name: None if first[name] is None else np.concatenate([part[name] for part in parts])
            for name in first
        }

    tests, seen, fit_times, score_times, reasons = zip(*cells)
    times = (np.concatenate(fit_times), np.concatenate(score_times))
    return by_name(tests), by_name(seen), *times, [r for part in reasons for r in part]
