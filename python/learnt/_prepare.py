"""Missing values under marks of their own."""

import numbers

import numpy as np

from ._validation import is_missing, level_name
from .errors import DataError, ParameterError


class Marked:
    """A learner that is told what stands for a missing value."""

    def _read(self, X, volumes=False):
        table, mark = super()._read(X, volumes), self.missing_values
        if is_missing(mark):
            return table
        if not isinstance(mark, (numbers.Real, str)):
            raise ParameterError(f"`missing_values` must be NaN, a number or a text, got {mark!r}")
        values = np.array(table.values, dtype=np.float64)
        texts = {place: levels for place, levels, _ in table.levels}
        for place in range(values.shape[1]):
            column, levels = values[:, place], texts.get(place)
            if np.isnan(column).any():
                raise DataError(f"Input X contains NaN, and missing values are marked {mark!r}.")
            if levels is None:
                found = column == mark if isinstance(mark, numbers.Real) else np.zeros(len(column), bool)
            else:
                name = level_name(mark)
                found = column == levels.index(name) if name in levels else np.zeros(len(column), bool)
            column[found] = np.nan
        table.values = values
        return table
