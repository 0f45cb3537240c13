"""Learners with learners among their parameters.

Where every part is a learner of this package, fitting and predicting are native. Where a part is
another estimator that keeps scikit-learn's contract, the composite runs in Python (`_foreign`).
"""

from . import _base, _foreign
from ._params import foreign_parts, learners_inside
from .errors import ParameterError


class Bunch(dict):
    """A dictionary whose entries are also attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Composed:
    """A learner that has learners as parameters."""

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        if not self._is_foreign():
            return super()._fit(X, y, sample_weight, **kwargs)
        if getattr(self, "warm_start", False):
            raise ParameterError("warm_start=True is for learners of learnt; take warm_start=False")
        model = _foreign.fit(self, X, y, sample_weight)
        names = _foreign.text_columns(X)
        self._remember(model, names, _foreign.width(X), getattr(model, "classes_", None), True)
        return self

    def _is_foreign(self):
        """Whether a part is no learner of this package."""
        return bool(foreign_parts(self.get_params(deep=False)))

    def _runs_in_python(self):
        return isinstance(self.__dict__.get("_model"), _foreign.Model)

    # Whether the parts are fitted with the target that the whole is given.
    _passes_target = False

    def _facts(self):
        if self._is_foreign():
            return _foreign.facts(self, super())
        facts = super()._facts()
        if facts["target"] != "none" or not self._passes_target:
            return facts
        inside = learners_inside(self.get_params(deep=False))
        wanted = {learner._facts()["target"] for learner in inside} - {"none"}
        target = "classes" if "classes" in wanted else next(iter(wanted), "none")
        return {**facts, "target": target}

    def _call(self, method, X, *args):
        if self._runs_in_python():
            return self._model.call(method, X)
        return super()._call(method, X, *args)

    def _predict(self, X):
        return self._model.predict(X) if self._runs_in_python() else super()._predict(X)

    def __getstate__(self):
        if not self._runs_in_python():
            return super().__getstate__()
        return {**self.__dict__, "_cache": {}}

    def _parts(self):
        """The fitted parts: pairs of a name and a fitted learner."""
        parts = self._fitted().parts()
        if self._runs_in_python():
            return parts
        return [(name, _base.from_model(model)) for name, model in parts]

    @property
    def estimators_(self):
        """The fitted learners inside, in their order."""
        return [learner for _, learner in self._parts()]


class Steps(Composed):
    """Steps one after the other."""

    _passes_target = True

    @property
    def named_steps(self):
        """The steps by name: fitted if the pipeline is, else as they were given."""
        if not self.__sklearn_is_fitted__():
            return Bunch(self._pairs())
        parts = self._parts()
        if parts and not self._runs_in_python() and "clusterer" in self._roles():
            parts[-1][1]._kept_outcome = self._outcome()
        return Bunch(parts)

    def _pairs(self):
        return [tuple(s) if isinstance(s, (list, tuple)) else (str(s), s) for s in self.steps]

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, which):
        """The step of a name or place; for a slice, a pipeline of those steps as they were given."""
        if isinstance(which, slice):
            return type(self)(self.steps[which])
        steps = self.named_steps
        return steps[which] if isinstance(which, str) else list(steps.values())[which]


class Columns(Composed):
    """Groups of columns side by side."""

    _passes_target = True

    @property
    def named_transformers_(self):
        """The fitted transformers by name."""
        return Bunch(self._parts())

    @property
    def transformers_(self):
        """Name, fitted transformer and columns of each group."""
        fitted = self.named_transformers_
        return [(name, fitted.get(name, given), columns) for name, given, columns in self.transformers]
