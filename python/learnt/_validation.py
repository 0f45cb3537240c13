"""Reads what users pass: arrays, lists, data frames and Arrow tables, targets and weights.

A table becomes an array with the names and the levels of its columns. Numbers stay as they are:
the native half reads `float64` in place and converts the rest.
"""

import datetime

import numpy as np

from . import _native
from .errors import DataConversionWarning, DataError, DataTypeError, SchemaError, warn

# The widest range of whole numbers that are counted one by one.
MOST_COUNTED = 1 << 16
# Values whose temporary copies stay in the cache of a core.
NEAR = 1 << 15


class Table:
    """An array of two dimensions with its columns: (names or None, [(place, levels, ordered)]), the numbers
    of columns that have no names, and the sides of a volume whose cells these are."""

    __slots__ = ("values", "names", "levels", "numbers", "volume")

    def __init__(self, values, names=None, levels=(), volume=None):
        self.values, self.names, self.levels = values, names, list(levels)
        self.numbers, self.volume = None, volume

    @property
    def columns(self):
        return Columns(self.names, self.levels, self.volume)


class Columns:
    """Names, levels and sides, as the native half reads them."""

    __slots__ = ("names", "levels", "volume")

    def __init__(self, names, levels, volume=None):
        self.names, self.levels, self.volume = names, levels, volume


def read_table(X, *, estimator, least_rows=1, volumes=False):
    """A table from anything that holds rows and columns; with `volumes`, images (rows, height, width)
    and volumes (rows, height, width, depth) too, cells in the order of C."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataTypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert "
            "to a dense array."
        )
    columns = _frame_columns(X)
    table = _from_array(X, estimator, volumes) if columns is None else _from_columns(X, *columns)
    rows, width = table.values.shape
    if width == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required "
            f"by {estimator}."
        )
    if rows < least_rows:
        raise DataError(
            f"Found array with {rows} sample(s) (shape={rows, width}) while a minimum of "
            f"{least_rows} is required by {estimator}."
        )
    return table


def _from_array(X, estimator, volumes=False):
    values = np.asarray(unmasked(X)) if isinstance(X, np.ndarray) else _to_array(X)
    if values.dtype.kind == "c":
        raise DataError(f"Complex data not supported\n{values}\n")
    if volumes and values.ndim in (3, 4) and values.dtype.kind in "biuf" and values.size:
        return Table(values.reshape(len(values), -1), volume=list(values.shape[1:]))
    if values.ndim != 2:
        got = f"{values.ndim}D array" if values.ndim else "scalar array"
        advice = (
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
        raise DataError(
            f"Expected 2D array, got {got} instead:\narray={values}.\n{advice}"
            if values.ndim < 2
            else f"Found array with dim {values.ndim}, while dim <= 2 is required by {estimator}."
        )
    if values.dtype.kind in "biuf":
        say_lost_digits(values, "X")
        return Table(values)
    if values.dtype.kind in "OUSTM" or values.dtype.names is None:
        return _from_parts([_column(values[:, j]) for j in range(values.shape[1])], len(values))
    raise DataTypeError(f"an array of {values.dtype} is no table")


def unmasked(values):
    """An array in which masked values are missing ones: NaN among numbers, None among other values."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return values
    if values.dtype.kind in "biuf":
        return values.astype(np.float64).filled(np.nan)
    return values.astype(object).filled(None)


def say_lost_digits(values, what):
    """Warns of whole numbers that float64 cannot tell from their neighbours."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return
    if max(-int(values.min()), int(values.max())) <= 2**53:
        return
    with np.errstate(invalid="ignore"):
        lost = int((values.astype(np.float64).astype(values.dtype) != values).sum())
    # The largest numbers of a type round up to one that it does not have.
    lost = max(lost, int((values == np.iinfo(values.dtype).max).sum()))
    if lost:
        warn(
            f"{what}: {lost} whole numbers beyond 2**53 lose digits as float64; pass them as text if they "
            "are names",
            DataConversionWarning,
        )


def _to_array(X):
    if isinstance(X, str) or X is None:
        raise DataTypeError(f"X must be a table of rows and columns, got {X!r}")
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"X cannot be read as rows of equal length: {error}") from error


def _frame_columns(X):
    """Names of the columns of a data frame or an Arrow table, and what gives the columns; None for anything else."""
    module = type(X).__module__.partition(".")[0]
    if isinstance(X, np.ndarray) or isinstance(X, (list, tuple)):
        return None
    if module == "pandas" and hasattr(X, "columns"):
        return list(X.columns), lambda: _by_place(X)
    if module == "polars" and hasattr(X, "get_columns"):
        return list(X.columns), X.get_columns
    if module == "pyarrow" and hasattr(X, "column_names"):
        return list(X.column_names), lambda: X.columns
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        import pyarrow

        return _frame_columns(pyarrow.table(X))
    if module != "pandas" and hasattr(X, "columns") and hasattr(X, "iloc"):
        return list(X.columns), lambda: _by_place(X)
    return None


def _by_place(X):
    """The columns of a pandas frame; two may have the same name."""
    return [X.iloc[:, j] for j in range(X.shape[1])]


def _from_columns(X, names, parts):
    values = _whole(X)
    if values is None:
        table = _from_parts([_named_column(*part) for part in zip(names, parts())], len(X))
    else:
        if any(dtype.kind in "iu" for dtype in X.dtypes):
            for name, part in zip(names, parts()):
                if part.dtype.kind in "iu":
                    say_lost_digits(part.to_numpy(), f"column {name!r}")
        table = Table(values)
    table.names = column_names(names)
    table.numbers = None if table.names else list(names)
    return table


def same_order(known, numbers):
    """Refuses columns without names whose numbers are those of training in another order."""
    if known and numbers and known != numbers and set(known) == set(numbers):
        raise SchemaError(
            f"the columns are {numbers}, and were {known} in training: columns that are numbers are not "
            "matched; bring them into that order, or name them by texts"
        )


def _whole(X):
    """The array behind a pandas frame that holds numbers of one type only."""
    dtypes = getattr(X, "dtypes", None)
    if hasattr(X, "iloc") and dtypes is not None and len(dtypes):
        kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
        if kinds <= set("biuf") and all(isinstance(dtype, np.dtype) for dtype in dtypes):
            return X.to_numpy()
    return None


def column_names(names):
    """Names as text; None if they are only positions."""
    text = [isinstance(name, str) for name in names]
    if all(text) and names:
        return [str(name) for name in names]
    if any(text):
        kinds = sorted({type(name).__name__ for name in names})
        raise DataTypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types. If you want feature names to "
            "be stored and validated, you must convert them all to strings, by using X.columns = "
            "X.columns.astype(str) for example. Otherwise you can remove feature / column names "
            "from your input data, or convert them all to a non-string data type."
        )
    return None


def _from_parts(parts, rows):
    """A table from columns that are arrays of numbers, or (codes, levels, ordered): of float32 if all columns are."""
    single = parts and all(getattr(part, "dtype", None) == np.float32 for part in parts)
    values = np.empty((rows, len(parts)), dtype=np.float32 if single else np.float64, order="F")
    levels = []
    for j, part in enumerate(parts):
        if isinstance(part, tuple):
            values[:, j] = part[0]
            levels.append((j, part[1], part[2]))
        else:
            values[:, j] = part
    return Table(values, None, levels)


def _named_column(name, part):
    """One column; what is wrong with it names it."""
    try:
        found = _column(part)
    except DataTypeError as error:
        raise DataTypeError(f"column {name!r}: {error}") from error
    if isinstance(found, np.ndarray):
        say_lost_digits(found, f"column {name!r}")
    return found


def _column(part):
    """One column as an array of numbers with NaN for missing, or as (codes, levels, ordered)."""
    module = type(part).__module__.partition(".")[0]
    if module == "pandas":
        return _pandas_column(part)
    if module == "polars":
        return _polars_column(part)
    if module == "pyarrow":
        return _arrow_column(part)
    return _numbers_or_levels(np.asarray(part))


def _pandas_column(series):
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        codes = series.cat.codes.to_numpy().astype(np.float64)
        codes[codes < 0] = np.nan
        return codes, [level_name(c) for c in dtype.categories], bool(dtype.ordered)
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":
        if isinstance(dtype, np.dtype):
            return series.to_numpy()
        if kind in "iu" and not series.hasnans:
            return series.to_numpy(dtype=f"{kind}8")
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "mM":
        _refuse_times(dtype)
    missing = series.isna().to_numpy()
    objects = series.to_numpy(dtype=object)
    return _numbers_or_levels(np.where(missing, None, objects) if missing.any() else objects)


def _polars_column(series):
    import polars

    if series.dtype == polars.Float32 or series.dtype.is_integer() and series.null_count() == 0:
        return series.to_numpy()
    if series.dtype.is_numeric() or series.dtype == polars.Boolean or series.dtype == polars.Null:
        return series.cast(polars.Float64).to_numpy()
    ordered = series.dtype == polars.Enum
    if ordered or series.dtype == polars.Categorical:
        words = series.cast(polars.String)
        known = series.dtype.categories.to_list() if ordered else None
        return _levels(words.to_list(), known, ordered=False)
    return _numbers_or_levels(_objects(series.to_list()))


def _arrow_column(column):
    import pyarrow

    kind = column.type
    if pyarrow.types.is_boolean(kind):
        column = column.cast(pyarrow.int8())
    if pyarrow.types.is_dictionary(kind):
        return _levels(column.cast(kind.value_type).to_pylist(), None, ordered=bool(kind.ordered))
    if not (pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)):
        return _numbers_or_levels(_objects(column.to_pylist()))
    return column.to_numpy() if column.null_count == 0 else np.array(
        [np.nan if x is None else x for x in column.to_pylist()], dtype=np.float64
    )


def _numbers_or_levels(objects):
    """Numbers where every value is one, else categories of texts."""
    if objects.dtype.kind in "biuf":
        return objects
    if objects.dtype.kind in "mM":
        _refuse_times(objects.dtype)
    try:
        return objects.astype(np.float64)
    except OverflowError as error:
        raise DataError(f"a number is too large: {error}") from error
    except (TypeError, ValueError) as error:
        found = text_levels(objects)
        return _mixed_levels(objects, error) if found is None else (*found, False)


def _mixed_levels(objects, error):
    """A column that is neither numbers nor texts alone, and why it is no column of numbers."""
    if isinstance(error, ValueError):
        different, places = distinct(objects)
        _refuse_nested(different)
        codes, levels, ordered = _levels(different, None, ordered=False)
        return codes if places is None else codes[places], levels, ordered
    present = [x for x in objects.tolist() if not is_missing(x)]
    if any(isinstance(x, str) for x in present) and all(is_scalar(x) for x in present):
        return _levels(objects.tolist(), None, ordered=False)
    if all(isinstance(x, (int, float, np.number)) for x in present):
        return np.array([np.nan if is_missing(x) else x for x in objects], dtype=np.float64)
    _refuse_nested(present)
    if any(isinstance(x, (datetime.date, datetime.time, datetime.timedelta)) for x in present):
        _refuse_times(type(present[0]).__name__)
    raise DataTypeError(str(error)) from error


def _objects(values):
    """An array of one dimension, whatever its values are."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _refuse_times(kind):
    raise DataTypeError(f"dates and times ({kind}) are no numbers; turn them into numbers or text first")


def _refuse_nested(values):
    for kind in set(map(type, values)):
        if issubclass(kind, (list, tuple, dict, set, np.ndarray)):
            raise DataTypeError(
                f"cells that hold a {kind.__name__} are no table: an argument must be a string or a number; make a "
                "column of each of its values"
            )


def text_levels(objects):
    """Codes, NaN for missing, and sorted levels of a column of texts; None if it holds anything else."""
    if objects.dtype.kind == "U":
        objects = objects.astype(object)
    return _native.text_levels(objects) if objects.dtype.kind == "O" else None


def distinct(objects):
    """The different objects of a column and where they stand; all of them and None where that saves nothing."""
    found = _native.repeated_objects(objects) if objects.dtype.kind == "O" else None
    return (objects.tolist(), None) if found is None else found


def _levels(words, known, ordered):
    if set(map(type, words)) <= {str}:
        names = words
    else:
        names = [None if is_missing(word) else level_name(word) for word in words]
    levels = known if known is not None else sorted({name for name in names if name is not None})
    code = {level: float(i) for i, level in enumerate(levels)}
    return np.array([np.nan if n is None else code[n] for n in names]), levels, ordered


def is_scalar(value):
    """Whether a value can be a category."""
    return isinstance(value, (str, bytes, int, float, np.generic))


def is_missing(value):
    """None, NaN, and the missing values of pandas."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return type(value).__name__ == "NAType"


def level_name(value):
    """The name of a category: 1, 1.0 and "1" are one level."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_vector(y, name):
    """A target or other vector as an array, without a change of its values."""
    module = type(y).__module__.partition(".")[0]
    if module == "polars" and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif module == "pyarrow":
        y = np.asarray(y.to_pylist())
    elif module == "pandas" and getattr(y, "dtype", None) is not None:
        if not isinstance(y.dtype, np.dtype):
            kind = getattr(y.dtype, "kind", "O")
            y = y.astype(object) if kind not in "biuf" or y.isna().any() else y.to_numpy(kind)
    if hasattr(y, "toarray") and hasattr(y, "nnz"):
        raise DataTypeError(f"Sparse data was passed for {name}, but dense data is required.")
    if np.ma.is_masked(y):
        row = int(np.flatnonzero(np.ma.getmaskarray(y))[0]) + 1
        raise DataError(f"{name} has masked values (first: value {row}); leave those rows out")
    values = np.asarray(y)
    if values.dtype.kind == "c":
        raise DataError(f"Complex data not supported\n{values}\n")
    if values.dtype.names is not None:
        raise DataTypeError(f"{name} is an array of {values.dtype}; pass one of its fields")
    return values


def read_target(y, rows, *, many=False):
    """A target of numbers or labels: one dimension, or two where `many` columns are accepted."""
    values = read_vector(y, "y")
    if values.ndim == 2 and values.shape[1] == 1 and not many:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim not in ((1, 2) if many else (1,)):
        raise DataError(
            f"y should be a 1d array, got an array of shape {values.shape} instead."
        )
    same_rows(rows, len(values))
    return values


def read_lengths(lengths):
    """The number of rows of each sequence, as whole numbers; None is one sequence."""
    if lengths is None:
        return None
    values = np.asarray(lengths)
    if values.ndim != 1 or values.dtype.kind not in "iu" or (values < 1).any():
        raise DataError("lengths must be whole numbers >= 1, one for each sequence")
    return values.tolist()


def read_groups(groups, rows):
    """The group of each row as a code; None without groups."""
    if groups is None:
        return None
    values = read_vector(groups, "groups")
    if values.ndim != 1:
        raise DataError(f"groups should be a 1d array, got an array of shape {values.shape} instead.")
    same_rows(rows, len(values))
    return np.unique(values, return_inverse=True)[1].astype(np.uint32).ravel()


def same_rows(rows, others):
    """Refuses inputs and targets of different length."""
    if rows != others:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{rows}, {others}]"
        )


def read_numbers(y, what):
    """A target of numbers as an array of numbers."""
    if y.dtype.kind in "biuf":
        say_lost_digits(y, what)
        return y
    if y.dtype.kind in "mM":
        _refuse_times(y.dtype)
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{what} must be numeric: {error} (texts are classes, which classifiers take)"
        ) from error


def encode_classes(y):
    """Codes and sorted classes of a target of labels."""
    places = None
    if y.dtype.kind == "f":
        _refuse_fractions(y)
    elif y.dtype.kind in "OU" and (found := text_levels(y.ravel())) is not None:
        codes, levels = found
        if np.isnan(codes).any():
            raise DataError("Input y contains NaN.")
        return codes.astype(np.uint32), np.array(levels, dtype=y.dtype)
    elif y.dtype.kind == "O":
        labels, places = distinct(y.ravel())
        if any(is_missing(label) for label in labels):
            raise DataError("Input y contains NaN.")
        if not all(isinstance(label, (str, bool, int, float, np.generic)) for label in labels):
            raise DataError("Unknown label type: unknown. Classes must be numbers or text.")
        if places is not None:
            y = np.array(labels, dtype=object)
    elif y.dtype.kind not in "biuUST":
        raise DataError(f"Unknown label type: {y.dtype}. Classes must be numbers or text.")
    try:
        classes, codes = _near_numbers(y) or np.unique(y, return_inverse=True)
    except TypeError as error:
        raise DataError(f"Unknown label type: classes of different types ({error})") from error
    codes = codes.astype(np.uint32, copy=False).ravel()
    return codes if places is None else codes[places], classes


def _refuse_fractions(y):
    """Refuses classes that are no whole numbers."""
    for part in _parts(y):
        if (part == np.floor(part)).all() and np.isfinite(part).all():
            continue
        if not np.isfinite(y).all():
            raise DataError("Input y contains NaN or infinity.")
        raise DataError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values."
        )


def _near_numbers(y):
    """Sorted whole numbers and their codes, by counting instead of sorting; None where they are far apart."""
    if y.dtype.kind not in "iuf" or y.size == 0:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= MOST_COUNTED or max(abs(low), abs(high)) >= 2**53:
        return None
    present = np.zeros(high - low + 1, dtype=bool)
    for part in _parts(y):
        present[part.astype(np.int64) - low] = True
    present = np.flatnonzero(present)
    code = np.zeros(high - low + 1, dtype=np.uint32)
    code[present] = np.arange(len(present))
    codes = np.empty(y.size, dtype=np.uint32)
    for part, out in zip(_parts(y), _parts(codes)):
        out[:] = code[part.astype(np.int64) - low]
    return (present + low).astype(y.dtype), codes


def _parts(y):
    """Pieces of a vector whose temporary copies stay near."""
    y = y.ravel()
    return (y[start : start + NEAR] for start in range(0, len(y), NEAR))


def class_codes(y, classes):
    """Codes of labels among known classes."""
    codes = np.searchsorted(classes, y).clip(0, len(classes) - 1)
    unknown = classes[codes] != y
    if unknown.any():
        raise DataError(f"y has labels that training did not see: {np.unique(y[unknown]).tolist()}")
    return codes.astype(np.uint32).ravel()


def read_weights(sample_weight, rows):
    """Row weights as an array of numbers; a single number is the weight of every row."""
    if sample_weight is None:
        return None
    weights = read_vector(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise DataError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise DataError(
            f"sample_weight.shape == {weights.shape}, expected {(rows,)}: one weight a row"
        )
    weights = np.ascontiguousarray(read_numbers(weights, "sample_weight"), dtype=np.float64)
    if weights.size and weights.min() < 0:
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(
            f"Negative values in data passed to `sample_weight`: {weights[row]:g} in row {row + 1}; "
            "weights must be finite and >= 0"
        )
    return weights


def class_weights(given, classes):
    """The weight of each class from a dictionary; classes that it lacks weigh 1."""
    known = classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown:
        raise DataError(f"class_weight names classes that y does not have: {unknown}")
    return np.array([float(given.get(label, 1.0)) for label in known])
