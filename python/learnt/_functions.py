"""How every function of the library is called: inputs read and coded here, computed by the native half."""

from contextvars import ContextVar

import numpy as np

from . import _datasets, _native, _validation
from ._base import _labels as known_labels
from ._base import default_threads, seed_of, threads_of
from .errors import DataError
from .plot import Picture


class Result(tuple):
    """Several results in their order, also by name; draws itself in a notebook where it has a picture."""

    def __new__(cls, values, names, path, params, notes, fields=None):
        self = super().__new__(cls, values)
        self._names, self._path, self._params, self.notes = tuple(names), path, params, notes
        self._fields = tuple(fields or names)
        return self

    def __getattribute__(self, name):
        # Before the methods of tuples: a result may be called `count`.
        names = object.__getattribute__(self, "__dict__").get("_names", ())
        if name in names:
            return tuple.__getitem__(self, names.index(name))
        return super().__getattribute__(name)

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else super().__getitem__(key)

    def __dir__(self):
        return [*super().__dir__(), *self._names]

    def __reduce__(self):
        given = (list(self), self._names, self._path, self._params, self.notes, self._fields)
        return Result, given

    def to_dict(self):
        """The results by name."""
        return dict(zip(self._names, self))

    def to_pandas(self):
        """The results that have one length, as columns of a frame of pandas."""
        import pandas

        return pandas.DataFrame(_columns(self.to_dict()))

    def to_polars(self):
        """The results that have one length, as columns of a frame of polars."""
        import polars

        return polars.DataFrame(_columns(self.to_dict()))

    def plot(self):
        """The picture of the results, or None."""
        found = _native.picture(self._path, self._params, [self.to_dict().get(f) for f in self._fields])
        return None if found is None else Picture(found)

    def _repr_html_(self):
        picture = self.plot()
        return None if picture is None else picture.svg

    def __repr__(self):
        with np.printoptions(threshold=20, edgeitems=3, precision=6):
            parts = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{self._path.rpartition('.')[2]}({parts})"


def _columns(values):
    arrays = {name: value for name, value in values.items() if np.ndim(value) == 1}
    if not arrays:
        return {name: [value] for name, value in values.items()}
    longest = max(len(value) for value in arrays.values())
    return {name: value for name, value in arrays.items() if len(value) == longest}


def call(path, kinds, inputs, params, outputs, random_state=0, n_jobs=None):
    """Computes a function: `inputs` are as the user gave them, of these kinds, in their order."""
    name = path.rpartition(".")[2]
    coded = [
        i for i, kind in enumerate(kinds) if kind in ("labels", "clusters") and inputs[i] is not None
    ]
    given = [_read(value, kind, name) for value, kind in zip(inputs, kinds)]
    if path.startswith("metrics."):
        _one_type(kinds, given, name)
    codes, classes = _encode([given[i] for i in coded])
    for i, array in zip(coded, codes):
        given[i] = array.astype(np.int64) if kinds[i] == "clusters" else array
    params = {key: _word(value) for key, value in params.items()}
    values, notes = _native.call(
        path, params, given, classes, seed_of(random_state), threads_of(n_jobs)
    )
    values = [_unpack(value) for value in values]
    # Numbers for numbers; what was not given is neither.
    single = [kind == "numbers" and np.ndim(value) == 0 for kind, value in zip(kinds, inputs) if value is not None]
    if single and all(single):
        values = [value[0] if isinstance(value, np.ndarray) and value.size == 1 else value for value in values]
    if outputs[0] == "value" and not _WHOLE.get():
        more = [v for v, name in zip(values[1:], outputs[1:]) if params.get(f"return_{name}", False)]
        first = values[0] if isinstance(values[0], tuple) else (values[0],)
        return (*first, *more) if more else values[0]
    # A parameter `return_x` says whether the result has the field `x`.
    kept = [i for i, name in enumerate(outputs) if params.get(f"return_{name}", True)]
    names = [outputs[i] for i in kept]
    return Result([values[i] for i in kept], names, path, params, notes, outputs)


# Whether results come whole, with what pictures need beside the value.
_WHOLE = ContextVar("whole", default=False)


def whole(function, *args, **kwargs):
    """All that a function of this package gives, also where it returns one value."""
    token = _WHOLE.set(True)
    try:
        return function(*args, **kwargs)
    finally:
        _WHOLE.reset(token)


def _word(value):
    """NaN by its name, which parameters know; anything else as it is."""
    return "nan" if isinstance(value, float) and value != value else value


def _read(value, kind, name):
    if value is None:
        return None
    if kind in ("labels", "clusters"):
        array = _labels(_validation.read_vector(value, name), name)
        if array.ndim > 1:
            raise DataError(
                f"{name} takes one class a row, got an array of shape {array.shape}; take one column after the other"
            )
        return array
    if kind == "table":
        table = _validation.read_table(value, estimator=name)
        return table.values, table.columns
    array = np.asarray(_validation.unmasked(value), dtype=None)
    if array.dtype.kind == "c" or array.dtype.names is not None:
        raise DataError(f"{name} takes numbers, got an array of {array.dtype}")
    if array.dtype.kind not in "biuf":
        array = _validation.read_numbers(array, name)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim > (1 if kind == "numbers" else 2):
        array = array.reshape(len(array), -1)
        if kind == "numbers" and array.shape[1] != 1:
            raise ValueError(f"{name} takes one number a row, got an array of shape {np.shape(value)}")
        if kind == "numbers":
            array = array[:, 0]
    return array if array.dtype == np.float64 else array.astype(np.float64)


def _labels(array, name):
    """Labels of one type, none of them missing; numbers that stand in objects as numbers."""
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise DataError(f"{name}: a label is missing in row {int(np.argmax(np.isnan(array))) + 1}")
    if array.dtype.kind != "O":
        return array
    different, _ = _validation.distinct(array.ravel())
    if any(_validation.is_missing(label) for label in different):
        raise DataError(f"{name}: a label is missing")
    texts = [isinstance(label, (str, bytes)) for label in different]
    if any(texts) and not all(texts):
        raise DataError(f"{name}: labels are texts and numbers, which are never equal; make them one type")
    return array if any(texts) or array.ndim != 1 else np.array(array.tolist())


def _one_type(kinds, arrays, name):
    """Refuses to compare classes that are texts with classes that are numbers; clusterings need no common names."""
    texts = {array.dtype.kind in "USOT" for kind, array in zip(kinds, arrays) if kind == "labels" and array is not None}
    if len(texts) == 2 and len(kinds) > 2:
        raise DataError(
            f"{name}: some labels are texts and others numbers, which are never equal; make them one type"
        )


def _encode(arrays):
    """Labels as codes of one sorted list of classes."""
    arrays = [np.asarray(array) for array in arrays]
    if not arrays:
        return [], []
    if all(array.dtype.kind == "i" or array.dtype.kind == "u" and array.itemsize < 8 for array in arrays):
        codes, classes = _native.encode([np.ascontiguousarray(a, dtype=np.int64) for a in arrays])
        return codes, classes
    texts = [array.dtype.kind in "USO" for array in arrays]
    codes, classes = [None] * len(arrays), []
    # Numbers come before texts in the order of classes.
    for kind in (False, True):
        members = [i for i, is_text in enumerate(texts) if is_text == kind]
        if not members:
            continue
        found, own = _distinct(np.concatenate([arrays[i] for i in members]))
        own = (own.ravel() + len(classes)).astype(np.uint32)
        for i, part in zip(members, np.split(own, np.cumsum([len(arrays[i]) for i in members])[:-1])):
            codes[i] = np.ascontiguousarray(part)
        classes += known_labels(found)
    return codes, classes


def _distinct(labels):
    """Sorted different labels and the place of each among them; texts without sorting every row."""
    if labels.dtype.kind == "U" and labels.size and labels.dtype.itemsize and labels.dtype.isnative:
        return _distinct_texts(np.ascontiguousarray(labels))
    if labels.dtype.kind == "O" and (found := _validation.text_levels(labels)) is not None:
        places, levels = found
        if not np.isnan(places).any():
            return np.array(levels, dtype=object), places.astype(np.uint32)
    return np.unique(labels, return_inverse=True)


def _distinct_texts(texts):
    """The same for texts of one width: eight bytes of each are coded as one number, then the next eight."""
    points = texts.view(np.uint32).reshape(len(texts), -1)
    width = points.shape[1]
    kind = np.uint8 if width > 2 and points.max() < 256 else np.uint32
    in_word = 8 // np.dtype(kind).itemsize
    words = np.zeros((len(texts), -(-width // in_word) * in_word), dtype=kind)
    words[:, :width] = points
    words = words.view(np.int64)
    codes = None
    for column in range(words.shape[1]):
        word = np.ascontiguousarray(words[:, column])
        (own,), _ = _native.encode([word])
        if codes is not None:
            (own,), _ = _native.encode([codes.astype(np.int64) << 32 | own])
        codes = own
    row = np.empty(int(codes.max()) + 1, dtype=np.intp)
    row[codes] = np.arange(len(codes))
    order = np.argsort(texts[row])
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    return texts[row[order]], place[codes]


def _unpack(value):
    """Rows with their target as scikit-learn gives them: X and y."""
    if isinstance(value, tuple) and len(value) == 3:
        rows, described, target = value
        rows = _with_texts(rows, described)
        return rows if target is None else (rows, np.asarray(target))
    return value


def _with_texts(rows, described):
    """Rows whose columns hold text as a frame of pandas, as objects without it; others as they are."""
    columns, levels = described
    if not levels:
        return rows
    try:
        return _datasets._frame(rows, columns, levels)
    except ImportError:
        return _datasets._array(rows, levels)
