"""Parameters by name: scikit-learn's protocol of `get_params` and `set_params`, and what is shown."""

import inspect
from html import escape

from .errors import ParameterError

EXECUTION = ("random_state", "n_jobs")


class Parameters:
    """An object whose parameters are the arguments of its `__init__`, kept under the same names."""

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

    def _native_params(self):
        """What the native learner is built from: everything but how to run."""
        return {k: v for k, v in self.get_params(deep=False).items() if k not in EXECUTION}

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
        and (is_learner(item[1]) or item[1] in ("passthrough", "drop"))
    ]


def _short(value, longest=200):
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
