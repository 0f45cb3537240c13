"""Errors and warnings of learnt, each with the code that `learnt help CODE` explains.

Every error is a `ValueError`, so that existing `except` clauses work. Where scikit-learn is loaded,
errors and warnings that it also has (`NotFittedError`, `ConvergenceWarning`,
`DataConversionWarning`) are raised as a class that is both.
"""

import sys
import warnings


class LearntError(ValueError):
    """An error of learnt.

    Attributes
    ----------
    code : str
        The stable code, such as ``E014``.
    hint : str or None
        What to do instead.
    column, row : str, int or None
        Where it happened; rows count from 1.
    """

    code = "E001"
    hint = None
    column = None
    row = None


class ParameterError(LearntError, TypeError):
    """A parameter, name or combination of arguments that is not accepted, by its value or its type."""

    code = "E002"


class UnsupportedError(LearntError):
    """Something that this learner or model cannot do."""

    code = "E004"


class DataError(LearntError):
    """Data that a learner cannot take: empty, missing, infinite, of the wrong type or shape."""

    code = "E010"


class DataTypeError(DataError, TypeError):
    """Data of a type that cannot be read as a table."""

    code = "E013"


class SchemaError(DataError):
    """Columns or categories that differ from those of the training data."""

    code = "E014"


class NumericError(LearntError):
    """Arithmetic that could not go on."""

    code = "E040"


class ModelFileError(LearntError):
    """A model file that is damaged, invalid or of a newer version."""

    code = "E050"


class ResourceError(LearntError, MemoryError):
    """More memory than allowed."""

    code = "E060"


class CancelledError(LearntError):
    """Stopped before the end."""

    code = "E062"


class SystemFailure(LearntError, OSError):
    """Something that the operating system refused."""

    code = "E070"


class InternalError(LearntError, RuntimeError):
    """A mistake in learnt. Please report it."""

    code = "E900"


class NotFittedError(LearntError, AttributeError):
    """A model was asked for something before `fit`."""

    code = "E001"


class LearntWarning(UserWarning):
    """Something the user should know that did not stop the work."""


class ConvergenceWarning(LearntWarning):
    """An iteration limit was reached before convergence."""


class UndefinedMetricWarning(LearntWarning):
    """A score that does not exist for these rows, and is taken as what is usual instead."""


class DataConversionWarning(LearntWarning):
    """Data was taken in another shape than it was given."""


_CLASSES = {
    ("E001", "E002", "E003"): ParameterError,
    ("E004",): UnsupportedError,
    ("E013", "E024"): DataError,
    ("E014", "E022"): SchemaError,
    ("E040", "E041", "E042", "E043"): NumericError,
    ("E050", "E051", "E052", "E053", "E054"): ModelFileError,
    ("E060",): ResourceError,
    ("E062",): CancelledError,
    ("E070",): SystemFailure,
    ("E900",): InternalError,
}
_BY_CODE = {code: cls for codes, cls in _CLASSES.items() for code in codes}
_MERGED = {}


def from_native(code, message, hint=None, column=None, row=None):
    """The exception for an error of the native half."""
    text = f"{message} ({hint})" if hint else message
    error = _BY_CODE.get(code, DataError)(text)
    error.code, error.hint, error.column, error.row = code, hint, column, row
    return error


def warn_native(code, message):
    """Issues a warning of the native half, at the caller's line."""
    cls = {"E042": ConvergenceWarning, "E043": UndefinedMetricWarning}.get(code, LearntWarning)
    warn(f"{message} [{code}]", cls)


def warn(message, cls):
    """Issues a warning at the first line outside this package."""
    level, frame = 1, sys._getframe(0)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("learnt."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, also_sklearn(cls), stacklevel=level)


def also_sklearn(cls):
    """The class, or one that is also scikit-learn's of the same name, where that is loaded."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), cls.__name__, None)
    if theirs is None:
        return cls
    if cls not in _MERGED:
        _MERGED[cls] = type(cls.__name__, (cls, theirs), {"__module__": __name__})
    return _MERGED[cls]


def not_fitted(estimator):
    """The error for using an estimator before `fit`."""
    name = type(estimator).__name__
    return also_sklearn(NotFittedError)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before "
        "using this estimator."
    )
