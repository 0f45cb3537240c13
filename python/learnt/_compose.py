"""Learners with learners among their parameters.

Where every part is a learner of this package, fitting and predicting are native. Where a part is
another estimator that keeps scikit-learn's contract, the composite runs in Python (`_foreign`).
"""

import numpy as np

from . import _base, _foreign, _foreign_ensemble, _output
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
        self._check_parts()
        if not self._is_foreign():
            return super()._fit(X, y, sample_weight, **kwargs)
        if getattr(self, "warm_start", False):
            raise ParameterError("warm_start=True is for learners of learnt; take warm_start=False")
        return self._keep(_foreign.fit(self, X, y, sample_weight), X)

    def _keep(self, model, X):
        """Keeps a model that runs in Python."""
        names = _foreign.text_columns(X)
        self._remember(model, names, _foreign.width(X), getattr(model, "classes_", None), True)
        return self

    def _is_foreign(self):
        """Whether a part is no learner of this package."""
        return bool(foreign_parts(self.get_params(deep=False)))

    def _runs_in_python(self):
        return isinstance(self.__dict__.get("_model"), _foreign.Model)

    def _check_names(self, names):
        if len(set(names)) != len(names):
            raise ParameterError(f"Names provided are not unique: {names!r}")
        own = sorted(set(names) & set(self._defaults()))
        if own:
            raise ParameterError(f"Estimator names conflict with constructor arguments: {own!r}")
        wrong = [name for name in names if "__" in name]
        if wrong:
            raise ParameterError(f"Estimator names must not contain __: got {wrong!r}")

    def _check_parts(self):
        """Refuses a class in place of a learner."""
        for value in self.get_params(deep=False).values():
            items = value if isinstance(value, (list, tuple)) else [value]
            inside = [x for item in items for x in (item if isinstance(item, (list, tuple)) else [item])]
            for part in inside:
                if isinstance(part, type) and hasattr(part, "get_params"):
                    name = part.__name__
                    raise TypeError(
                        f"Expected an estimator instance ({name}()), got estimator class instead ({name})."
                    )

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
        return self._model.call("predict", X) if self._runs_in_python() else super()._predict(X)

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

    def _fit(self, X, y=None, sample_weight=None, fit_params=None, **kwargs):
        if not len(self.steps):
            raise ParameterError("The pipeline is empty. Please add steps.")
        self._check_parts()
        self._check_names([name for name, _ in self._pairs()])
        if not fit_params:
            return super()._fit(X, y, sample_weight, **kwargs)
        return self._keep(_foreign.Pipeline(self, X, y, sample_weight, fit_params), X)

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


class Members(Composed):
    """Learners side by side whose predictions are combined, by rule or by one more learner."""

    _also_transforms = True

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        self._check_members()
        return super()._fit(X, y, sample_weight, **kwargs)

    def _check_members(self):
        """Refuses a list of members that has none, or names that say something else."""
        if not isinstance(self.estimators, (list, tuple)) or not self.estimators:
            raise ParameterError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
                f"(string, estimator) tuples, got {self.estimators!r}"
            )
        if any(isinstance(item, (list, tuple)) for item in self.estimators):
            names = [item[0] for item in self.estimators if isinstance(item, (list, tuple))]
            if not all(isinstance(name, str) for name in names):
                raise ParameterError(
                    "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
                    f"(string, estimator) tuples, got names {names!r}"
                )
            self._check_names(names)
            if all(member == "drop" for _, member in self._pairs()):
                raise ParameterError("All estimators are dropped. At least one is required to be an estimator.")
        weights = getattr(self, "weights", None)
        if weights is not None and len(weights) != len(self.estimators):
            raise ParameterError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(weights)} weights, {len(self.estimators)} estimators"
            )

    def _pairs(self):
        items = self.estimators
        return [tuple(m) if isinstance(m, (list, tuple)) else (type(m).__name__.lower(), m) for m in items]

    def _is_foreign(self):
        cv = getattr(self, "cv", None)
        return super()._is_foreign() or not (cv is None or isinstance(cv, int))

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        if params.get("weights") is not None:
            kept = [member != "drop" for _, member in self._pairs()]
            weights = zip(params["weights"], kept, strict=True)
            params["weights"] = [float(weight) for weight, keep in weights if keep]
        if params.get("cv", 5) is None:
            params["cv"] = 5
        return params

    def _members(self):
        """The fitted members with their names, without the learner that combines them."""
        parts = self._parts()
        return parts[:-1] if hasattr(self, "final_estimator") else parts

    @property
    def estimators_(self):
        """The fitted members, in their order."""
        return [learner for _, learner in self._members()]

    @property
    def named_estimators(self):
        """The members as they were given, by name."""
        return Bunch(self._pairs())

    @property
    def named_estimators_(self):
        """The fitted members by name; those that are dropped as they were given."""
        fitted = dict(self._members())
        return Bunch((name, fitted.get(name, member)) for name, member in self._pairs())

    def transform(self, X):
        """What the members say about rows, side by side."""
        self._fitted()
        if not self._runs_in_python():
            self._finite_rows(X)
        pieces = self._said(X)
        if isinstance(pieces, np.ndarray):
            return pieces
        values = np.hstack([np.asarray(piece).reshape(len(piece), -1) for piece in pieces])
        names = list(self.get_feature_names_out())
        return _output.wrap(_output.configured(self), values, (names, []), X)

    def fit_transform(self, X, y=None, **fit_params):
        """Fits, and gives what the members say about the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def set_output(self, *, transform=None):
        """Chooses what `transform` gives: "default", "pandas", "polars" or "arrow"."""
        return _base.Transformer.set_output(self, transform=transform)

    def get_feature_names_out(self, input_features=None):
        """The names of the columns of `transform`."""
        given = self._names_in(input_features)
        own, names = type(self).__name__.lower(), []
        for name, columns in self._columns_said():
            names += [f"{own}_{name}{column}" for column in columns]
        if getattr(self, "passthrough", False):
            unnamed = [f"x{i}" for i in range(self.n_features_in_)]
            names += given or list(self.__dict__.get("feature_names_in_", unnamed))
        return np.array(names, dtype=object)


class Voters(Members):
    """Members whose votes, probabilities or numbers are averaged."""

    def _shares(self):
        return getattr(self, "voting", None) == "soft"

    def _said(self, X):
        if self._shares():
            said = [member.predict_proba(X) for member in self.estimators_]
            return said if self.flatten_transform else np.stack(said)
        said = [np.asarray(member.predict(X)) for member in self.estimators_]
        if "classifier" in self._roles():
            said = [np.searchsorted(self.classes_, found) for found in said]
        return said

    def _columns_said(self):
        if self._shares() and not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`"
            )
        columns = [str(i) for i in range(len(self.classes_))] if self._shares() else [""]
        return [(name, columns) for name, _ in self._members()]


class Stacked(Members):
    """Members whose predictions are the columns of one more learner."""

    @property
    def final_estimator_(self):
        """The fitted learner that combines the members."""
        return self._parts()[-1][1]

    def predict(self, X, **predict_params):
        """The predictions of the learner that combines the members, which takes the further arguments."""
        if not predict_params:
            return super().predict(X)
        return self.final_estimator_.predict(self.transform(X), **predict_params)

    @property
    def stack_method_(self):
        """What each member is asked."""
        return [self._method(member) for member in self.estimators_]

    def _method(self, member):
        return _foreign_ensemble.stack_method(self, member)

    def _said(self, X):
        said = [_foreign_ensemble.said(m, self._method(m), self, X) for m in self.estimators_]
        return [*said, _foreign_ensemble.dense_rows(X)] if self.passthrough else said

    def _columns_said(self):
        out = []
        for name, member in self._members():
            several = self._method(member) != "predict" and len(self.classes_) > 2
            out.append((name, [str(i) for i in range(len(self.classes_))] if several else [""]))
        return out


class _AsFinal(_base.Where):
    """A method that exists where the learner that combines the members has one of the same name."""

    @staticmethod
    def lack(obj, name):
        last = obj.final_estimator
        if last is None or hasattr(last, name):
            return None
        return (
            f"This {type(obj).__name__!r} has no attribute {name!r}: its final_estimator {type(last).__name__} has none"
        )


class StackedClassifier(Stacked):
    """Members whose predictions are the columns of one more classifier."""

    predict_proba = _AsFinal(_base.Probabilities.predict_proba)
    predict_log_proba = _AsFinal(_base.Probabilities.predict_log_proba)
    decision_function = _AsFinal(_base.DecisionScores.decision_function)


class Targeted(Composed):
    """A regressor of a changed target: by an expression, by functions or by a transformer."""

    def _is_foreign(self):
        functions = callable(self.func) or self.inverse_func is not None or self.transformer is not None
        return functions or super()._is_foreign()

    @property
    def regressor_(self):
        """The fitted regressor."""
        return self._parts()[0][1]

    @property
    def transformer_(self):
        """The fitted transformer of the target."""
        if not self._runs_in_python():
            raise AttributeError("an expression has no transformer; see `func`")
        return self._model.transformer
