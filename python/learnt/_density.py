"""Kernel densities by a window that is a function of one's own."""

import numpy as np

from .errors import DataError, ParameterError

_PIECE = 1 << 22


def window_density(X, at, window, *, bandwidth=1.0, sample_weight=None):
    """Kernel density by any window: the sum of ``window((x - x_i) / h)`` over all rows.

    Every row is summed for every place. `neighbors.KernelDensity` has windows with names and, as
    `profile`, windows given by their values; `density.check_window` tells whether a window is one.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The rows.
    at : array of shape (n_places, n_columns)
        Where the density is wanted.
    window : callable
        ``window(u)`` gives the values, none negative, of differences in bandwidths, an array of shape
        (n, n_columns). It must sum to one over all differences for the result to be a density.
    bandwidth : float, default=1.0
        Width h of the window.
    sample_weight : array of numbers or None, default=None
        How much each row counts.

    Returns
    -------
    array of shape (n_places,)
        The density at each place.

    Examples
    --------
    >>> from learnt.density import window_density
    >>> cube = lambda u: (abs(u) <= 0.5).all(axis=1)
    >>> rows = [[2.0], [3.0], [4.0], [8.0], [10.0], [11.0], [12.0]]
    >>> window_density(rows, [[1.0], [3.0]], cube, bandwidth=3.0).round(6).tolist()
    [0.047619, 0.142857]
    """
    X, at = _table(X, "X"), _table(at, "at")
    if X.shape[1] != at.shape[1]:
        raise DataError(f"`at` has {at.shape[1]} columns, and X has {X.shape[1]}")
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise ParameterError(f"`bandwidth` must be above 0, got {bandwidth}")
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weights.shape != (len(X),) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(f"`sample_weight` must be {len(X)} numbers, none negative")
    if weights.sum() <= 0:
        raise ParameterError("`sample_weight` is 0 for every row")
    out = np.empty(len(at))
    step = max(1, _PIECE // max(1, X.size))
    for first in range(0, len(at), step):
        places = at[first : first + step]
        u = (places[:, None, :] - X[None, :, :]) / bandwidth
        values = np.asarray(window(u.reshape(-1, X.shape[1])), dtype=float)
        if values.shape != (len(places) * len(X),):
            raise ParameterError(
                f"`window` must give one value a row: {len(places) * len(X)}, and gave the shape "
                f"{values.shape}"
            )
        if not (values >= 0).all():
            raise ParameterError("`window` must give numbers, none negative")
        out[first : first + step] = values.reshape(len(places), len(X)) @ weights
    return out / (weights.sum() * float(bandwidth) ** X.shape[1])


def _table(values, name):
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.size == 0:
        raise DataError(f"`{name}` must be a table of rows and columns, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ParameterError(f"`{name}` has NaN or infinity")
    return values
