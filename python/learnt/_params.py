"""Parameters by name: scikit-learn's protocol of `get_params` and `set_params`, and what is shown."""

import inspect
from html import escape

import numpy as np

from .errors import ParameterError, warn

EXECUTION = ("warm_start", "random_state", "n_jobs")
# In place of a table, where only the kinds of learners matter and not their columns.
NO_TABLE = object()


# Values of parameters that are taken for scikit-learn's sake and change no answer.
_FLAGS = (False, True)
_TAKEN = {
    "copy": _FLAGS,
    "copy_X": _FLAGS,
    "copy_x": _FLAGS,
    "compute_distances": _FLAGS,
    "compute_labels": _FLAGS,
    "breadth_first": _FLAGS,
    "dense_output": _FLAGS,
    "flatten_transform": _FLAGS,
    "warm_start": _FLAGS,
    "sparse_output": (False,),
    "metric": ("euclidean", "l2", "minkowski"),
    "dual": (False,),
    "loss": ("log_loss",),
    "gcv_mode": (None, "auto", "svd", "eigen"),
    "algorithm": ("auto", "brute", "kd_tree", "ball_tree", "kdtree", "balltree", "lloyd", "elkan"),
    "power_iteration_normalizer": ("auto", "QR", "LU", "none"),
    "compute_full_tree": ("auto", False, True),
    "store_centers": (None, "centroid", "medoid", "both"),
}


class Parameters:
    """An object whose parameters are the arguments of its `__init__`, kept under the same names."""

    # Names of parameters that the native half does not know.
    _carried = ()

    @classmethod
    def _defaults(cls):
        """Names and defaults of the parameters, in the order of the signature."""
        if "_signature" not in cls.__dict__:
            arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
            cls._signature = {argument.name: argument.default for argument in arguments}
        return cls._signature

    def get_params(self, deep=True):
        """Parameters by name; with `deep`, also those of nested learners as ``name__parameter``."""
        out = {}
        for name in self._defaults():
            value = getattr(self, name)
            out[name] = value
            if not deep:
                continue
            if is_learner(value):
                out.update((f"{name}__{k}", v) for k, v in value.get_params().items())
            for step, learner in _named(value):
                out[step] = learner
                if is_learner(learner):
                    out.update((f"{step}__{k}", v) for k, v in learner.get_params().items())
        return out

    def set_params(self, **params):
        """Sets parameters by name; ``name__parameter`` reaches into nested learners."""
        nested = {}
        for key, value in params.items():
            name, inner, rest = key.partition("__")
            if inner:
                nested.setdefault(name, {})[rest] = value
            elif name in self._defaults():
                setattr(self, name, value)
            elif not self._replace(name, value):
                raise self._unknown(name)
        for name, values in nested.items():
            learner = getattr(self, name) if name in self._defaults() else self._step(name)
            if learner is None:
                raise self._unknown(name)
            learner.set_params(**values)
        return self

    def _step(self, name):
        for parameter in self._defaults():
            for step, learner in _named(getattr(self, parameter)):
                if step == name:
                    return learner
        return None

    def _replace(self, name, learner):
        """Puts another learner into the step of this name; False if there is none."""
        for parameter in self._defaults():
            steps = getattr(self, parameter)
            if any(step == name for step, _ in _named(steps)):
                new = [(s[0], learner, *s[2:]) if s[0] == name else s for s in steps]
                setattr(self, parameter, new)
                return True
        return False

    def _unknown(self, name):
        known = list(self._defaults())
        return ParameterError(
            f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}."
        )

    def _native_params(self, X=None, table=None):
        """What the native learner is built from: everything but how to run.

        With a table, columns that are given by place, mask, slice or function become names.
        """
        self._check_carried()
        # A subclass of a user's own may take other parameters: those of the learner are what it set.
        learner = next((cls for cls in type(self).__mro__ if "_path" in cls.__dict__), type(self))
        params = {
            name: _resolved(getattr(self, name), X, table)
            for name in learner._defaults()
            if name not in EXECUTION and name not in self._carried
        }
        return {**params, **self._metric_params(params)}

    def _metric_params(self, params):
        """More parameters of a distance, given as a dictionary."""
        given = getattr(self, "metric_params", None) if "metric_params" in self._carried else None
        if given and "p" in given and params.get("p") not in (None, 2):
            warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is "
                "ignored.",
                SyntaxWarning,
            )
        unknown = [name for name in given or {} if name != "p"]
        if unknown or (given and params.get("metric") != "minkowski"):
            raise ParameterError(
                f"`metric_params` of {type(self).__name__} may have `p` with metric='minkowski', got {given!r}"
            )
        return given or {}

    def _check_carried(self):
        """Refuses values that scikit-learn would refuse of parameters that nothing else reads."""
        for name in self._carried:
            value, taken = getattr(self, name), _TAKEN.get(name)
            if taken is not None and not any(value is one or (value == one) is True for one in taken):
                words = ", ".join(repr(one) for one in taken)
                raise ParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be one of {words}. Got "
                    f"{value!r} instead."
                )

    def _changed(self):
        """Parameters that differ from their defaults."""
        for name, default in self._defaults().items():
            value = getattr(self, name)
            if value is not default and repr(value) != repr(default):
                yield name, value

    def __repr__(self):
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self._changed())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self):
        changed = {name for name, _ in self._changed()}
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{'<b>' if name in changed else ''}"
            f"{escape(_short(getattr(self, name)))}{'</b>' if name in changed else ''}</td></tr>"
            for name in self._defaults()
        )
        state = "fitted" if self.__sklearn_is_fitted__() else "not fitted"
        return (
            f"<details><summary><code>{escape(repr(self))}</code> <small>{state}</small></summary>"
            f"<table>{rows}</table></details>"
        )


def is_learner(value):
    """Whether a value is a learner rather than a class or plain data."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def _named(value):
    """The (name, learner) pairs of a list of steps."""
    if not isinstance(value, (list, tuple)):
        return []
    return [
        (item[0], item[1])
        for item in value
        if isinstance(item, (list, tuple))
        and len(item) >= 2
        and isinstance(item[0], str)
        and (is_learner(item[1]) or is_word(item[1]))
    ]


def learners_inside(params):
    """The learners among parameters, alone or in lists."""
    inside = [value for value in params.values() if is_learner(value)]
    for value in params.values():
        items = value if isinstance(value, (list, tuple)) else ()
        inside += [item for item in items if is_learner(item)]
        inside += [learner for _, learner in _named(value) if is_learner(learner)]
    return inside


def foreign_parts(params):
    """The learners among parameters that are not of this package, or have such inside."""

    def is_foreign(learner):
        return not hasattr(learner, "_path") or getattr(learner, "_is_foreign", bool)()

    return [learner for learner in learners_inside(params) if is_foreign(learner)]


def is_word(value):
    """Whether a step is a word instead of a learner."""
    return isinstance(value, str) and value in ("passthrough", "drop")


class _Resolved:
    """A learner whose parameters were resolved against a table."""

    def __init__(self, learner, X, table):
        self._path, self._params = learner._path, learner._native_params(X, table)

    def _native_params(self):
        return self._params


def _resolved(value, X, table):
    """Groups of columns by name, also those in the first of several steps; no idle steps."""
    steps = _named(value)
    if steps and len(steps) == len(value) and all(len(item) == 2 for item in value):
        value = [item for item in value if not is_word(item[1])]
        steps = _named(value)
    if not steps or len(steps) != len(value) or table is None:
        return value
    if all(len(item) == 3 for item in value):
        return _by_name(value, X, table)
    (name, first), *others = steps
    if hasattr(first, "_native_params"):
        return [(name, _Resolved(first, X, table)), *others]
    return value


def _by_name(triples, X, table):
    """(name, learner, columns) with the names of the columns."""
    if table is NO_TABLE:
        return [(name, learner, []) for name, learner, _ in triples]
    names = table.names or [f"x{i}" for i in range(table.values.shape[1])]

    def resolve(columns):
        columns = columns(X) if callable(columns) else columns
        if isinstance(columns, str):
            return [columns]
        if isinstance(columns, slice) and any(isinstance(e, str) for e in _ends(columns)):
            first = 0 if columns.start is None else names.index(columns.start)
            last = len(names) if columns.stop is None else names.index(columns.stop) + 1
            return names[first : last : columns.step]
        if isinstance(columns, slice):
            return names[columns]
        columns = [columns] if isinstance(columns, int) else list(columns)
        if columns and all(isinstance(flag, (bool, np.bool_)) for flag in columns):
            return [name for name, flag in zip(names, columns) if flag]
        return [column if isinstance(column, str) else names[column] for column in columns]

    return [(name, learner, resolve(columns)) for name, learner, columns in triples]


def _ends(columns):
    return columns.start, columns.stop


def _short(value, longest=200):
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
