"""Bundled data as scikit-learn hands it out."""

import numpy as np

from . import _native


class Bunch(dict):
    """A dictionary whose keys are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __dir__(self):
        return list(self)


def names():
    """The names of all bundled data sets."""
    return _native.dataset_names()


def load(name, *, return_X_y=False, as_frame=False):
    """A bundled data set by its name.

    Parameters
    ----------
    name : str
        One of `names()`.
    return_X_y : bool, default=False
        The pair of rows and target instead of everything.
    as_frame : bool, default=False
        Frames of pandas instead of arrays; text becomes categories.

    Returns
    -------
    Bunch
        `data` (float64, or objects where columns hold text), `target` (numbers; classes that are
        text are coded in the order of `target_names`), `feature_names`, `target_names`, `frame`,
        `sample_weight` where the set has weights, and `DESCR`.
    """
    (values, (columns, levels), target), weights, about = _native.dataset(name)
    target, target_names = _coded(target)
    data = _frame(values, columns, levels) if as_frame else _array(values, levels)
    frame = None
    if as_frame and target is not None:
        import pandas

        target = pandas.Series(target, name=about["target"])
        frame = pandas.concat([data, target], axis=1)
    elif as_frame:
        frame = data
    if return_X_y:
        return data, target
    text = f"{about['about']}\n\nSource: {about['source']}\nTerms: {about['licence']}\n"
    bunch = Bunch(
        data=data, target=target, frame=frame, feature_names=columns, DESCR=text
    )
    if target_names is not None:
        bunch.target_names = target_names
    if weights is not None:
        bunch.sample_weight = weights
    return bunch


def _coded(target):
    """The target as numbers, and the names of its classes."""
    if target is None:
        return None, None
    if isinstance(target, np.ndarray):
        whole = target.dtype.kind == "i"
        return target, np.unique(target) if whole else None
    classes, codes = np.unique(np.asarray(target), return_inverse=True)
    return codes.astype(np.int64), classes


def _array(values, levels):
    """Numbers, or objects with the words of the columns that hold text."""
    if not levels:
        return values
    out = values.astype(object)
    for place, words, _ in levels:
        known = ~np.isnan(values[:, place])
        words = np.asarray(words, dtype=object)
        out[known, place] = words[values[known, place].astype(np.int64)]
    return out


def _frame(values, columns, levels):
    import pandas

    frame = pandas.DataFrame(values, columns=columns)
    for place, words, ordered in levels:
        codes = np.where(np.isnan(values[:, place]), -1, values[:, place]).astype(np.int64)
        frame[columns[place]] = pandas.Categorical.from_codes(codes, words, ordered=ordered)
    return frame
