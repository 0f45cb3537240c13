"""Transformed tables as arrays, or as frames of pandas, polars or Arrow."""

import sys

import numpy as np

from .errors import ParameterError

KINDS = ("default", "pandas", "polars", "arrow")


def check_kind(kind):
    """Refuses a kind of output that nothing makes."""
    if kind not in KINDS:
        raise ParameterError(f"`transform` must be one of {', '.join(KINDS)}, got {kind!r}")


def configured(estimator):
    """The kind of output that the estimator, or else scikit-learn's configuration, asks for."""
    own = estimator.__dict__.get("_sklearn_output_config", {}).get("transform")
    if own is None and "sklearn" in sys.modules:
        own = sys.modules["sklearn"].get_config().get("transform_output")
    return own or "default"


def wrap(kind, values, columns, X):
    """The table as the kind asks; `X` lends its index to a frame of pandas."""
    names, levels = columns
    if kind == "default":
        return decode(values, levels)
    parts = {name: values[:, j] for j, name in enumerate(names)}
    if kind == "pandas":
        import pandas

        index = X.index if isinstance(X, (pandas.DataFrame, pandas.Series)) else None
        frame = pandas.DataFrame(values, columns=names, index=index, copy=False)
        for j, words, ordered in levels:
            codes = np.nan_to_num(values[:, j], nan=-1).astype(int)
            column = pandas.Categorical.from_codes(codes, words, ordered=ordered)
            frame[names[j]] = pandas.Series(column, index=frame.index)
        return frame
    for j, words, _ in levels:
        parts[names[j]] = _words(values[:, j], words)
    if kind == "polars":
        import polars

        return polars.DataFrame(parts)
    import pyarrow

    return pyarrow.table(parts)


def decode(values, levels):
    """An array whose categories are their names; of objects only if there are any."""
    if not levels:
        return values
    out = values.astype(object)
    for j, words, _ in levels:
        out[:, j] = _words(values[:, j], words)
    return out


def _words(codes, words):
    return [None if np.isnan(code) else words[int(code)] for code in codes]
