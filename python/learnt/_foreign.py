"""Composites with parts that are no learners of this package, run in Python by scikit-learn's contract.

A part is fitted with `fit` (or `fit_transform`) on a fresh copy, and then asked with `transform`,
`predict`, `predict_proba` or `decision_function`. The results are those of the native composites.
"""

import copy
import inspect

import numpy as np

from ._params import _by_name, is_learner, is_word
from .errors import DataError, LearntWarning, ParameterError, UnsupportedError, warn


def fit(composite, X, y, sample_weight):
    """The fitted model of a composite with foreign parts."""
    from ._foreign_boosting import KINDS as boosters
    from ._foreign_ensemble import KINDS as ensembles

    kind = {**KINDS, **ensembles, **boosters}.get(composite._path)
    if kind is None:
        raise ParameterError(f"{type(composite).__name__} takes learners of learnt only")
    return kind(composite, X, y, sample_weight)


def facts(composite, native):
    """What the registry says about a learner, with the roles of its foreign parts."""
    own = native._facts() if composite._path != "pipeline.Pipeline" else _no_roles(composite)
    accepts = dict.fromkeys(own["accepts"], True)
    return {**own, "accepts": accepts}


def _no_roles(pipeline):
    from ._base import registry

    own = registry()[pipeline._path]
    role = role_of(pipeline._last())
    target = {"classifier": "classes", "regressor": "numbers"}.get(role, "none")
    return {**own, "roles": [role], "target": target}


def role_of(estimator):
    """The role of an estimator, by its tags, its type or its methods."""
    if hasattr(estimator, "_roles"):
        return (estimator._roles() or ["transformer"])[0]
    kind = None
    if hasattr(estimator, "__sklearn_tags__"):
        kind = estimator.__sklearn_tags__().estimator_type
    kind = kind or getattr(estimator, "_estimator_type", None)
    if kind in ("classifier", "regressor", "clusterer"):
        return kind
    return "transformer" if hasattr(estimator, "transform") else "regressor"


def clone(value):
    """An unfitted copy of a learner with the same parameters."""
    if not is_learner(value):
        return copy.deepcopy(value)
    return type(value)(**{k: _clone_inside(v) for k, v in value.get_params(deep=False).items()})


def _clone_inside(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_clone_inside(item) for item in value)
    return clone(value)


def text_columns(X):
    """The names of the columns, if they are text."""
    names = list(getattr(X, "columns", []))
    return names if names and all(isinstance(name, str) for name in names) else None


def width(X):
    """The number of columns."""
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def _by_step(fit_params, names):
    """Arguments of `fit` by the step that their names begin with."""
    out = {}
    for key, value in fit_params.items():
        step, inner, name = key.partition("__")
        if not inner or step not in names:
            raise ValueError(
                f"Pipeline.fit does not accept the {key} parameter. You can pass parameters to specific "
                "steps of your pipeline using the stepname__parameter format, e.g. "
                "`Pipeline.fit(X, y, logisticregression__sample_weight=sample_weight)`."
            )
        out.setdefault(step, {})[name] = value
    return out


def _fitted(estimator, X, y, sample_weight, given=None):
    """A fitted copy; weights are given to learners that take them, other arguments as they are."""
    estimator = clone(estimator)
    takes = "sample_weight" in inspect.signature(estimator.fit).parameters
    extra = {"sample_weight": sample_weight} if takes and sample_weight is not None else {}
    extra.update(given or {})
    alone = y is None and "y" not in inspect.signature(estimator.fit).parameters
    return estimator.fit(X, **extra) if alone else estimator.fit(X, y, **extra)


def _dense(values):
    return values.toarray() if hasattr(values, "toarray") else values


class Model:
    """A fitted composite with the methods of the native model."""

    def parts(self):
        """The fitted parts: pairs of a name and a fitted learner."""
        return list(self.fitted)

    def call(self, method, X):
        """The answer to what the native model would be asked."""
        return getattr(self, method)(X)

    def attributes(self):
        """Nothing of its own: the parts have their attributes."""
        return {}

    def labels(self):
        """The clusters of the training rows, if the last part has them."""
        return getattr(self.fitted[-1][1], "labels_", None)

    def loss_curve(self):
        """None is kept."""
        return None

    def report(self):
        """None is made."""
        return None

    def to_bytes(self):
        """Refused: a model file is data, and parts of other packages are code."""
        others = [type(p).__name__ for _, p in self.fitted if not hasattr(p, "_path")]
        raise UnsupportedError(
            "a model file holds learners of learnt only, and this model has parts of other "
            f"packages ({', '.join(sorted(set(others)))}); use pickle"
        )

    def save(self, path):
        """Refused, as `to_bytes` is."""
        self.to_bytes()


class Pipeline(Model):
    """Transformers one after the other, then a learner."""

    def __init__(self, composite, X, y, sample_weight, fit_params=None):
        self.fitted = []
        *before, (last_name, last) = composite._pairs()
        given = _by_step(fit_params or {}, [name for name, _ in composite._pairs()])
        for name, step in before:
            if is_word(step) or step is None:
                continue
            if not hasattr(step, "transform"):
                raise ParameterError(
                    f"Pipeline: step '{name}' ({type(step).__name__}) is not a transformer"
                )
            step = _fitted(step, X, y, sample_weight, given.get(name))
            self.fitted.append((name, step))
            X = step.transform(X)
        if not (is_word(last) or last is None):
            last = _fitted(last, X, y, sample_weight, given.get(last_name))
            self.fitted.append((last_name, last))
        classes = getattr(self.fitted[-1][1], "classes_", None) if self.fitted else None
        if classes is not None:
            self.classes_ = classes

    def _before(self, X):
        for _, step in self.fitted[:-1]:
            X = step.transform(X)
        return X

    def _last(self, method, X):
        return getattr(self.fitted[-1][1], method)(self._before(X))

    def predict(self, X):
        """The predictions of the last step."""
        return self._last("predict", X)

    def probabilities(self, X):
        """The probabilities of the last step."""
        return self._last("predict_proba", X)

    def decision_scores(self, X):
        """The decision scores of the last step, in two dimensions."""
        scores = np.asarray(self._last("decision_function", X))
        return scores.reshape(len(scores), -1)

    def log_density(self, X):
        """The logarithms of the densities of the last step."""
        return self._last("score_samples", X)

    def transform(self, X):
        """The rows after all steps, with the names of their columns."""
        values = _dense(self._last("transform", X))
        return np.asarray(values), (self.names_out(None, values), [])

    def names_out(self, names, values=None):
        """The names of the columns that the last step gives."""
        last = self.fitted[-1][1]
        known = getattr(values, "columns", None)
        if known is not None:
            return [str(name) for name in known]
        try:
            return [str(name) for name in last.get_feature_names_out()]
        except (AttributeError, ValueError):
            count = 0 if values is None else np.shape(values)[1]
            return [f"x{i}" for i in range(count)]

    def inverse_transform(self, values, threads, single=False):
        """The rows before all steps."""
        for _, step in reversed(self.fitted):
            values = step.inverse_transform(values)
        return np.asarray(values), (None, [])


class ColumnTransformer(Model):
    """Groups of columns through their transformers, side by side."""

    def __init__(self, composite, X, y, sample_weight):
        self.verbose = composite.verbose_feature_names_out
        names = text_columns(X) or [f"x{i}" for i in range(width(X))]
        table = _Names(names, X)
        self.names, self.fitted, self.groups, used = names, [], [], set()
        for name, part, columns in _by_name(composite.transformers, X, table):
            places = table.places(columns)
            used.update(places)
            if part == "drop" or not places:
                continue
            if not is_word(part):
                if not hasattr(part, "transform"):
                    raise ParameterError(
                        f"ColumnTransformer: `{name}` must be a transformer, got "
                        f"{type(part).__name__}"
                    )
                part = _fitted(part, _take(X, places), y, sample_weight)
                self.fitted.append((name, part))
            self.groups.append((name, part, places))
        if composite.remainder == "passthrough":
            rest = [j for j in range(len(names)) if j not in used]
            self.groups.append(("remainder", "passthrough", rest))

    def transform(self, X):
        """The transformed columns side by side, with their names."""
        if width(X) != len(self.names):
            raise DataError(
                f"X has {width(X)} features, but ColumnTransformer is expecting "
                f"{len(self.names)} features as input."
            )
        pieces, names = [], []
        for name, part, places in self.groups:
            piece = _take(X, places)
            piece = _dense(part.transform(piece)) if not is_word(part) else piece
            names += self._names(name, part, places, piece)
            pieces.append(np.asarray(piece).reshape(len(piece), -1))
        values = np.hstack(pieces) if pieces else np.empty((len(X), 0))
        return values, (names, [])

    def _names(self, name, part, places, piece):
        own = [self.names[j] for j in places]
        if not is_word(part):
            try:
                own = [str(column) for column in part.get_feature_names_out(own)]
            except (AttributeError, TypeError, ValueError):
                own = [str(i) for i in range(np.shape(piece)[1])]
        return [f"{name}__{column}" if self.verbose else column for column in own]

    def names_out(self, names):
        """The names of the transformed columns."""
        out = []
        for name, part, places in self.groups:
            out += self._names(name, part, places, np.empty((0, 0)))
        return out


class _Names:
    """Names of columns, as `_by_name` reads them, and where they stand."""

    def __init__(self, names, X):
        self.names, self.X, self.values = names, X, np.empty((0, len(names)))

    def places(self, columns):
        """Positions of columns by name; `:numeric`, `:categorical` and `:all` are several."""
        out = []
        for column in columns:
            if column in (":numeric", ":categorical", ":all"):
                out += [j for j in range(len(self.names)) if self._is(column, j)]
            elif column in self.names:
                out.append(self.names.index(column))
            else:
                raise ParameterError(f"ColumnTransformer: no column named {column!r}")
        return out

    def _is(self, kind, j):
        kinds = getattr(self.X, "dtypes", None)
        dtype = kinds.iloc[j] if kinds is not None else np.asarray(self.X).dtype
        numeric = getattr(dtype, "kind", "O") in "biufc"
        return kind == ":all" or numeric == (kind == ":numeric")


def _take(X, places):
    return X.iloc[:, places] if hasattr(X, "iloc") else np.asarray(X)[:, places]


class _Multiclass(Model):
    """A two-class classifier for each of several problems."""

    def __init__(self, composite, X, y, sample_weight):
        estimator = composite.estimator
        if role_of(estimator) != "classifier":
            raise ParameterError(
                f"{type(composite).__name__}: `estimator` must be a classifier, got "
                f"{type(estimator).__name__}"
            )
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise DataError("the target has one class, and two are needed")
        weights = None if sample_weight is None else np.asarray(sample_weight)
        self.fitted = self._problems(estimator, X, y, weights)

    def labels(self):
        """None: these are classes."""
        return None

    def _only(self):
        return self.fitted[0][1] if len(self.classes_) == 2 else None

    def predict(self, X):
        """The class of the largest score, the first of equals."""
        if self._only() is not None:
            return self._only().predict(X)
        return self.classes_[np.argmax(self.decision_scores(X), axis=1)]


def _scores(classifier, X):
    """Scores of the second of two classes, 0 on the boundary."""
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X), dtype=float).ravel()
    return np.asarray(classifier.predict_proba(X))[:, 1] - 0.5


class OneVsRest(_Multiclass):
    """One problem for each class: itself against all others."""

    def _problems(self, estimator, X, y, weights):
        if len(self.classes_) == 2:
            return [(f"class {self.classes_[1]} against the rest", _fitted(estimator, X, y, weights))]
        return [
            (f"class {c} against the rest", _fitted(estimator, X, y == c, weights))
            for c in self.classes_
        ]

    def decision_scores(self, X):
        """One column a class; one alone for two classes."""
        return np.column_stack([_scores(part, X) for _, part in self.fitted])

    def probabilities(self, X):
        """Probabilities of the problems divided by their sum."""
        if self._only() is not None:
            return self._only().predict_proba(X)
        out = np.column_stack([np.asarray(p.predict_proba(X))[:, 1] for _, p in self.fitted])
        total = out.sum(axis=1, keepdims=True)
        return np.where(total > 0, out / np.where(total > 0, total, 1), 1 / out.shape[1])


class OneVsOne(_Multiclass):
    """One problem for each pair of classes; the problems vote."""

    def _problems(self, estimator, X, y, weights):
        out, self.pairs = [], []
        for i, first in enumerate(self.classes_):
            for second in self.classes_[i + 1 :]:
                rows = np.flatnonzero((y == first) | (y == second))
                own = None if weights is None else weights[rows]
                part = _fitted(estimator, _rows(X, rows), y[rows], own)
                out.append((f"class {second} against {first}", part))
                self.pairs.append((i, int(np.searchsorted(self.classes_, second))))
        return out

    def decision_scores(self, X):
        """Votes, with the sum of scores squeezed into a third of a vote."""
        if self._only() is not None:
            return _scores(self._only(), X).reshape(-1, 1)
        votes, sums = np.zeros((2, len(X), len(self.classes_)))
        for (first, second), (_, part) in zip(self.pairs, self.fitted):
            scores, chosen = _scores(part, X), part.predict(X) == self.classes_[second]
            votes[:, second] += chosen
            votes[:, first] += ~chosen
            sums[:, second] += scores
            sums[:, first] -= scores
        return votes + sums / (3 * (np.abs(sums) + 1))


def _rows(X, rows):
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


class IterativeImputer(Model):
    """Each column predicted from the others, in turn, until nothing moves."""

    def __init__(self, composite, X, y, sample_weight):
        if composite.classifier is not None:
            raise ParameterError("IterativeImputer: a foreign estimator fills numbers only")
        if role_of(composite.estimator) != "regressor":
            raise ParameterError(
                "IterativeImputer: `estimator` must be a regressor, got "
                f"{type(composite.estimator).__name__}"
            )
        values = np.array(X, dtype=float)
        gaps = np.isnan(values)
        known = np.where(gaps, 0.0, values)
        counts = np.maximum((~gaps).sum(axis=0), 1)
        self.initial, self.fitted, self.order = known.sum(axis=0) / counts, [], []
        largest = np.abs(known).max(initial=0.0)
        values = np.where(gaps, self.initial, values)
        order = np.argsort(gaps.sum(axis=0), kind="stable")
        order = [j for j in order if gaps[:, j].any() or not composite.skip_complete]
        self.n_iter, names = 0, text_columns(X) or [f"x{i}" for i in range(values.shape[1])]
        for _ in range(composite.max_iter):
            before = values.copy()
            for j in order:
                rows = ~gaps[:, j]
                if values.shape[1] < 2 or not rows.any():
                    continue
                others = np.delete(values, j, axis=1)
                own = None if sample_weight is None else np.asarray(sample_weight)[rows]
                part = _fitted(composite.estimator, others[rows], values[rows, j], own)
                self.fitted.append((names[j], part))
                self.order.append(j)
                if gaps[:, j].any():
                    values[gaps[:, j], j] = np.ravel(part.predict(others[gaps[:, j]]))
            self.n_iter += 1
            if np.abs(values - before).max(initial=0.0) <= composite.tol * largest:
                break
        self.columns = names

    def labels(self):
        """None."""
        return None

    def attributes(self):
        """What missing values start from, and the rounds made."""
        return {"initial": self.initial, "n_iter": self.n_iter}

    def transform(self, X):
        """The rows with their gaps filled."""
        values = np.array(X, dtype=float)
        gaps = np.isnan(values)
        values = np.where(gaps, self.initial, values)
        for j, (_, part) in zip(self.order, self.fitted):
            if gaps[:, j].any():
                others = np.delete(values, j, axis=1)[gaps[:, j]]
                values[gaps[:, j], j] = np.ravel(part.predict(others))
        return values, (self.columns, [])

    def names_out(self, names):
        """The names of the columns."""
        return names or self.columns


class _Functions:
    """A function and the one that undoes it, as a transformer."""

    def __init__(self, func, inverse_func):
        self.func, self.inverse_func = func, inverse_func

    def fit(self, y):
        """Nothing is learnt."""
        return self

    def transform(self, y):
        """The changed numbers."""
        return y if self.func is None else self.func(y)

    def inverse_transform(self, y):
        """The numbers before the change."""
        return y if self.inverse_func is None else self.inverse_func(y)


class TransformedTarget(Model):
    """A regressor of a changed target."""

    def __init__(self, composite, X, y, sample_weight):
        if composite.offset is not None:
            raise ParameterError("`offset` is for expressions and learners of this package")
        y = np.asarray(y)
        self.single, table = y.ndim == 1, y.reshape(len(y), -1)
        self.transformer = self._transformer(composite).fit(table)
        if composite.check_inverse:
            self._check(table)
        changed = np.asarray(self.transformer.transform(table))
        if changed.ndim == 2 and changed.shape[1] == 1:
            changed = changed[:, 0]
        regressor = composite.regressor
        if regressor is None:
            from .linear_model import LinearRegression

            regressor = LinearRegression()
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.fitted = [("regressor", clone(regressor).fit(X, changed, **extra))]

    def _transformer(self, composite):
        func, inverse = composite.func, composite.inverse_func
        if composite.transformer is not None:
            if func is not None or inverse is not None:
                raise ParameterError(
                    "'transformer' and functions 'func'/'inverse_func' cannot both be set."
                )
            return clone(composite.transformer)
        if (func is None) != (inverse is None):
            lacks, has = ("inverse_func", "func") if inverse is None else ("func", "inverse_func")
            raise ParameterError(f"When {has!r} is provided, {lacks!r} must also be provided")
        if isinstance(func, str):
            raise ParameterError("`func` as an expression needs a regressor of this package")
        return _Functions(func, inverse)

    def _check(self, table):
        some = table[:: max(1, len(table) // 10)]
        if not np.allclose(some, self.transformer.inverse_transform(self.transformer.transform(some))):
            warn(
                "The provided functions or transformer are not strictly inverse of each other. If you "
                "are sure you want to proceed regardless, set 'check_inverse=False'",
                LearntWarning,
            )

    def labels(self):
        """None."""
        return None

    def predict(self, X):
        """The predictions, changed back."""
        found = np.asarray(self.fitted[0][1].predict(X))
        back = np.asarray(self.transformer.inverse_transform(found.reshape(len(found), -1)))
        return back.ravel() if self.single and back.ndim == 2 and back.shape[1] == 1 else back


KINDS = {
    "compose.TransformedTargetRegressor": TransformedTarget,
    "pipeline.Pipeline": Pipeline,
    "compose.ColumnTransformer": ColumnTransformer,
    "multiclass.OneVsRestClassifier": OneVsRest,
    "multiclass.OneVsOneClassifier": OneVsOne,
    "impute.IterativeImputer": IterativeImputer,
}
